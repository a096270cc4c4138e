"""Collect the wheels that install crfdeid on a machine without a network.

    python deploy/bundle.py bundle/ --extras serve --platform linux-x86_64

Copy the folder to that machine, and install there, with the same version of Python as here:

    pip install --no-index --find-links bundle/ --require-hashes -r bundle/requirements.txt

``requirements.txt`` has the version and the SHA-256 of each wheel, so that pip refuses one that changed on the way.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1]
PLATFORMS = {
    "linux-x86_64": ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"),
    "linux-aarch64": (
        "manylinux_2_28_aarch64",
        "manylinux_2_27_aarch64",
        "manylinux_2_17_aarch64",
        "manylinux2014_aarch64",
    ),
    "macos-arm64": ("macosx_14_0_arm64",),
    "windows": ("win_amd64",),
}
"""Tags of the wheels that each platform can install; pip adds older ones of macOS."""
ONLY_ON = {"windows": ("colorama",)}
"""Requirements with a condition: pip decides it for the machine on which it runs."""


def collect(folder: Path, extras: str, platform: str | None) -> Path:
    """Write the wheels and their ``requirements.txt`` into a new folder.

    Args:
        folder: it must not exist.
        extras: names of extras, joined by commas, or "".
        platform: a key of `PLATFORMS`; None for this machine's.

    Returns:
        The file of requirements.

    Raises:
        FileExistsError: the folder exists.
        subprocess.CalledProcessError: pip failed; it has printed why.
    """
    folder.mkdir(parents=True)
    _pip("wheel", "--no-deps", "--wheel-dir", folder, SOURCE)
    (wheel,) = folder.glob("*.whl")
    tags = [argument for tag in PLATFORMS.get(platform or "", ()) for argument in ("--platform", tag)]
    more = ONLY_ON.get(platform or "", ())
    wanted = f"{wheel}[{extras}]" if extras else wheel
    _pip("download", "--only-binary", ":all:", "--dest", folder, *tags, wanted, *more)
    requirements = folder / "requirements.txt"
    requirements.write_text("".join(_requirement(path) for path in sorted(folder.glob("*.whl"))), encoding="utf-8")
    return requirements


def _pip(*arguments: object) -> None:
    subprocess.run([sys.executable, "-m", "pip", "--quiet", *map(str, arguments)], check=True)


def _requirement(wheel: Path) -> str:
    name, version, *_ = wheel.name.split("-")
    return f"{name}=={version} --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n"


def main() -> int:
    """Collect the wheels that the command line asks for; the exit code is 1 where that fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="new folder for the wheels")
    parser.add_argument("--extras", default="", metavar="NAMES", help="such as serve,parquet; default: none")
    parser.add_argument("--platform", choices=PLATFORMS, help="default: that of this machine")
    options = parser.parse_args()
    try:
        requirements = collect(options.folder, options.extras, options.platform)
    except FileExistsError:
        print(f"error: {options.folder} exists: name a new folder", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError:
        print(f"error: pip failed; remove {options.folder} before another try", file=sys.stderr)
        return 1
    print(f"install with: pip install --no-index --find-links {options.folder} --require-hashes -r {requirements}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

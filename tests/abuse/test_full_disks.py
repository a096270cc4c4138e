"""A file that cannot grow any more, as on a full disk: the error names it, and nothing half-written has its name."""

import json
import random
import re
import shlex
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from attack import NOTE, PHI, REDACT, TAG
from full_disk import file_size_limit

from crfdeid.cli import main

LIMIT = 20_000  # bytes: more than a run of one note keeps for itself
LONG = "Leg pain.\n" * 3000 + NOTE


def noise(seed: int) -> str:
    """A text that cannot be compressed."""
    return random.Random(seed).randbytes(10_000).hex()


def long_note(box: Path, suffix: str) -> None:
    """Put a note in the place of the box's that is too long for the limit."""
    (box / "notes" / "note.txt").unlink()
    file = box / "notes" / f"note{suffix}"
    if suffix == ".parquet":
        pq.write_table(pa.table({"text": [noise(row) for row in range(9)]}), file)
    elif suffix == ".jsonl":
        file.write_text(json.dumps({"text": LONG}) + "\n")
    else:
        file.write_text(LONG if suffix == ".txt" else f'text\n"{LONG}"\n')


CASES = [
    *((suffix, REDACT, f"error: out/note{suffix}") for suffix in (".txt", ".csv", ".jsonl", ".parquet")),
    (".txt", f"{TAG} --output-format jsonl", "error: out/note.jsonl"),
    (".txt", f"{TAG} --output-format brat", "failed: note.txt: cannot be written"),
    (".txt", "convert train.jsonl --output c.jsonl", "error: c.jsonl"),
    (".txt", "evaluate train.jsonl --predicted train.jsonl --output r.html", "error: r.html"),
]


@pytest.mark.parametrize(("suffix", "command", "named"), CASES)
def test_an_error_of_the_disk_names_the_file(
    suffix: str, command: str, named: str, box: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long_note(box, suffix)
    with file_size_limit(100 if "convert" in command else LIMIT):
        assert main(shlex.split(command)) == 1
    err = capsys.readouterr().err
    assert re.search(f"^{re.escape(named)}.*: .*File too large$", err, re.MULTILINE), err
    assert not [value for value in PHI if value in err]
    assert not list(box.glob("[rs].*")) and not list(box.glob("out/note*"))


@pytest.mark.parametrize("size", [0, 200, 500])
def test_an_error_of_the_disk_names_the_file_of_a_run(size: int, box: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with file_size_limit(size):
        assert main(shlex.split(f"{REDACT} --report a.json")) == 1
    line = capsys.readouterr().err.splitlines()[-1]
    assert line.startswith(("error: out/.crfdeid/", "error: a.json: ")) and line.endswith("File too large"), line
    assert not (box / "a.json").exists()

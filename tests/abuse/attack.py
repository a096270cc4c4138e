"""What every attack is: something bad is put into a box, a command is run there, and it must answer well.

    Attack("a bit of the card", flip("model/card.json", 0.5), "redact --model model ...", 1, "card")

However the command answers, `carry_out` demands that

- it ends with the exit code that is named, and prints what is named on standard error;
- it prints no traceback, and no word of a note;
- one line says "error:" where the exit code is 1 or 2;
- no file that `redact` wrote holds PHI of the notes, whatever else was done to them;
- no other file of the box is changed, made or removed.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from crfdeid.cli import main

SECRET = "0123456789abcdef0123456789abcdef"
PHI = ("Quill", "Marsh", "3/14/2031", "555-1037")
NOTE = "Patient Quill was seen on 3/14/2031.\nAttending: Dr. Orla Marsh, call 555-1037.\n"
REDACT = "redact model notes --output out"
TAG = "tag model notes --output out"

SetUp = Callable[[Path], None]


class Attack(NamedTuple):
    """One attack.

    Attributes:
        what: what is attacked, for the name of the test.
        set_up: changes the box: a folder with ``model/`` and ``notes/note.txt``.
        command: the arguments of ``crfdeid``; the box is the current folder.
        code: the exit code that it must end with.
        says: an expression that standard error must hold.
    """

    what: str
    set_up: SetUp
    command: str
    code: int
    says: str = ""


def name(value: object) -> str:
    """The name of a test: what is attacked."""
    return value.what.replace(" ", "-") if isinstance(value, Attack) else str(value)


def carry_out(attack: Attack, box: Path, captured: pytest.CaptureFixture[str]) -> None:
    """Carry an attack out, and check all that must hold."""
    attack.set_up(box)
    before = _files(box)
    code = main(shlex.split(attack.command))
    out, err = captured.readouterr()
    assert code == attack.code, err
    assert re.search(attack.says, err), err
    assert "Traceback" not in err
    assert not [value for value in PHI if value in err]
    if code in (1, 2):
        assert [line.startswith("error: ") for line in err.splitlines()].count(True) == 1, err
        assert out == ""
    after = _files(box)
    assert {path: after.get(path) for path in before} == before
    for path in after.keys() - before.keys():
        assert path.parts[0] == "out", path
        assert attack.command.startswith("tag") or not [value for value in PHI if value.encode() in after[path]], path


def _files(box: Path) -> dict[Path, bytes]:
    return {path.relative_to(box): path.read_bytes() for path in box.rglob("*") if path.is_file()}


def nothing(box: Path) -> None:
    """The command alone is the attack."""


def both(*set_ups: SetUp) -> SetUp:
    """One after the other."""

    def do(box: Path) -> None:
        for set_up in set_ups:
            set_up(box)

    return do


def write(file: str, content: str | bytes) -> SetUp:
    """Write a file; its folders are made."""

    def do(box: Path) -> None:
        path = box / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    return do


def edit(file: str, change: Callable[[bytes], bytes]) -> SetUp:
    """Change a file's content."""

    def do(box: Path) -> None:
        before = (box / file).read_bytes()
        (box / file).write_bytes(change(before))
        assert (box / file).read_bytes() != before

    return do


def flip(file: str, place: float) -> SetUp:
    """Change one bit; ``place`` is 0 for the file's first byte, and near 1 for its last."""

    def change(content: bytes) -> bytes:
        at = int(place * len(content))
        return content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :]

    return edit(file, change)


def remove(file: str) -> SetUp:
    """Remove a file."""
    return lambda box: (box / file).unlink()


def redacted(command: str = REDACT) -> SetUp:
    """Run a command that works, before the attack."""

    def do(box: Path) -> None:
        assert main(shlex.split(command)) == 0

    return do

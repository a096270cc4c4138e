"""Standard streams that are closed, full or endless: one line where a stream is left for it, and no exit code of 0."""

import shlex
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest
from attack import NOTE, PHI

from crfdeid.cli import main

STDIN = "redact model -"
CLOSED, FULL = "standard output: Bad file descriptor", "standard output: No space left on device"
CODE = "import sys; from crfdeid.cli import main; sys.exit(main())"


class Case(NamedTuple):
    """A command, the files that are its standard input and output (None: closed), and what it must say."""

    what: str
    command: str
    says: str
    stdin: str | None = "notes/note.txt"
    stdout: str | None = "/dev/full"


CASES = [
    Case("a result to a closed output", STDIN, CLOSED, stdout=None),
    Case("a result to a full disk", STDIN, FULL),
    Case("a report to a closed output", "info model", CLOSED, stdout=None),
    Case("a report to a full disk", "info model", FULL),
    Case("help to a closed output", "redact --help", CLOSED, stdout=None),
    Case("help to a full disk", "--help", FULL),
    Case("a closed input", STDIN, "standard input: cannot be read: Bad file descriptor", stdin=None),
    Case("an endless input", f"{STDIN} --max-chars 1000", "standard input: longer than 1,000", stdin="/dev/zero"),
    Case("an endless text to explain", "explain model -", "standard input: longer", stdin="/dev/zero"),
]


@pytest.mark.parametrize("unbuffered", [False, True])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.what.replace(" ", "-"))
def test_output_that_is_lost_is_an_error(
    case: Case, unbuffered: bool, box: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ExitStack() as opened:
        stdin = None if case.stdin is None else opened.enter_context(Path(case.stdin).open(encoding="utf-8"))
        stdout = None if case.stdout is None else opened.enter_context(Path(case.stdout).open("w", encoding="utf-8"))
        if stdout is not None:
            stdout.reconfigure(write_through=unbuffered)
        for name, stream in {"stdin": stdin, "__stdin__": stdin, "stdout": stdout, "__stdout__": stdout}.items():
            monkeypatch.setattr(sys, name, stream)
        assert main(shlex.split(case.command)) == 1
    err = capsys.readouterr().err
    assert err.splitlines()[-1].startswith(f"error: {case.says}")
    assert err.count("error: ") == 1 and "Traceback" not in err
    assert not [value for value in PHI if value in err]


def in_shell(command: str) -> subprocess.CompletedProcess[str]:
    script = f'exec "$0" -c "$1" {command}'
    return subprocess.run(["/bin/sh", "-c", script, sys.executable, CODE], capture_output=True, text=True, check=False)


def test_a_folder_is_redacted_with_all_streams_closed(box: Path) -> None:
    done = in_shell("redact model notes --output out <&- >&- 2>&-")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert [path.name for path in (box / "out").iterdir() if path.name != ".crfdeid"] == ["note.txt"]
    text = (box / "out" / "note.txt").read_text()
    assert len(text.split()) == len(NOTE.split()) - 1 and not [value for value in PHI if value in text]


@pytest.mark.parametrize("where", ["/dev/full", "&-"])
def test_an_error_that_cannot_be_shown_is_an_exit_code(where: str) -> None:
    done = in_shell(f"redact nowhere nowhere --output nowhere 2>{where}")
    assert (done.returncode, done.stdout, done.stderr, Path("nowhere").exists()) == (1, "", "", False)

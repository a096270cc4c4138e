"""What a run left in its output folder, edited by somebody else before it is gone on with."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from attack import NOTE, REDACT, Attack, SetUp, both, carry_out, edit, name, nothing, redacted, remove, write

RESUME = f"{REDACT} --resume"
STATE = "out/.crfdeid"
VICTIM = "a file that is none of the run's business"


def outputs(*names: str) -> SetUp:
    """Let the list of finished files claim other outputs, for an input that has changed since."""

    def claimed(content: bytes) -> bytes:
        lines = [json.loads(line) for line in content.splitlines()]
        return b"".join(
            json.dumps({**line, "outputs": dict.fromkeys(names, "0")} if "outputs" in line else line).encode() + b"\n"
            for line in lines
        )

    changed = write("notes/note.txt", "Patient Quill was seen on 3/14/2031, and again.\n")
    return both(write("victim.txt", VICTIM), redacted(), edit(f"{STATE}/finished.jsonl", claimed), changed)


def linked(path: str, target: str) -> SetUp:
    """Put a link in the place of a file or folder of the output."""

    def do(box: Path) -> None:
        (box / target).mkdir(parents=True, exist_ok=True)
        (box / target / "part").mkdir(exist_ok=True)
        (box / target / "part" / "victim.txt").write_text(VICTIM)
        (box / path).parent.mkdir(parents=True, exist_ok=True)
        (box / path).symlink_to(box / target)

    return do


def after(file: str, content: str | bytes) -> SetUp:
    """Write a file of a run that is done."""
    return both(redacted(), write(f"{STATE}/{file}", content))


def withdrawn(file: str) -> SetUp:
    """Redact two files, and take one of them away."""
    more = both(write("notes/more.txt", NOTE), write("notes/note.csv", f'text\n"{NOTE}"\n'))
    return both(more, redacted(), remove(f"notes/{file}"))


def edited(change: Callable[[bytes], bytes]) -> SetUp:
    """Let somebody change a result of a run that is done."""
    return both(redacted(), edit("out/note.txt", change))


def listed(change: Callable[[bytes], bytes]) -> SetUp:
    """Let somebody change the list of finished files."""
    return both(redacted(), edit(f"{STATE}/finished.jsonl", change))


def recounted(count: int) -> SetUp:
    """Let somebody change the words of a finished note."""
    return listed(lambda lines: re.sub(rb'"words": \d+', b'"words": %d' % count, lines))


CHANGED = "note.txt: move them elsewhere"
WITHDRAWN = "withdrawn: note.txt\n(.*\n)*error: --resume: .* no longer has 1 .*--withdrawn remove.*--withdrawn keep"
VICTIMS = ("../victim.txt", "../../box/victim.txt", "/etc/hostname", "a/../../victim.txt", "..", "", ".crfdeid/lock")
ATTACKS = [
    *(Attack(f"an output called {victim}", outputs(victim), RESUME, 1, "damaged") for victim in VICTIMS),
    Attack("a list that is no text", after("finished.jsonl", b"\xff\xfe\n"), RESUME, 1, "damaged"),
    Attack("a line of another form", after("finished.jsonl", "[1]\n"), RESUME, 1, "damaged"),
    Attack("a line of deep lists", after("finished.jsonl", "[" * 100_000 + "\n"), RESUME, 1, "damaged"),
    *(
        Attack(f"a count of {str(count)[:9]}", recounted(count), RESUME, 1, "line 1: damaged")
        for count in (-5, 10**19, 10**400)
    ),
    Attack("a list with all entries twice", listed(lambda lines: lines * 2), RESUME, 1, "damaged"),
    Attack("settings that are no JSON", after("settings.json", "{"), RESUME, 1, "damaged"),
    Attack("settings that are a list", after("settings.json", "[]"), RESUME, 1, "damaged"),
    Attack("the run's folder is a link", linked(STATE, "elsewhere"), REDACT, 2, "is a link"),
    Attack("the folder of parts is a link", linked(f"{STATE}/part", "elsewhere"), REDACT, 2, "link"),
    Attack("an output that is not empty", write("out/other.txt", "other"), REDACT, 2, "not empty"),
    Attack("an output that is a file", write("out", "other"), REDACT, 2, "is a file"),
    Attack("an output in the input", nothing, REDACT.replace("--output out", "--output notes/out"), 2, "apart"),
    Attack("an input in the output", nothing, REDACT.replace("--output out", "--output ."), 2, "apart"),
    Attack("other options than before", redacted(), f"{RESUME} --operator mask", 2, "another operators"),
    Attack("a note that was withdrawn", withdrawn("note.txt"), RESUME, 2, WITHDRAWN),
    Attack("a table that was withdrawn", withdrawn("note.csv"), RESUME, 2, WITHDRAWN.replace("txt", "csv")),
    Attack("a note that was withdrawn and kept", withdrawn("note.txt"), f"{RESUME} --withdrawn keep", 0, "withdrawn: "),
    Attack("withdrawn notes of a new run", nothing, f"{REDACT} --withdrawn keep", 2, "is for --resume"),
    Attack("a result cut short", edited(lambda text: text[:-3]), RESUME, 1, CHANGED),
    Attack("a result of the same size", edited(lambda text: text.replace(b"[", b"(")), RESUME, 1, CHANGED),
    Attack("another run without --resume", redacted(), REDACT, 2, "not empty"),
]


@pytest.mark.parametrize("attack", ATTACKS, ids=name)
def test_a_run_that_goes_on_touches_its_own_files_alone(
    attack: Attack, box: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    carry_out(attack, box, capsys)

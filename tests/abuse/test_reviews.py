"""What people mark, plan and export: a file that was broken or altered on its way is said, and nothing is written."""

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attack import NOTE, REDACT, SECRET, Attack, SetUp, both, carry_out, name, nothing, redacted, write

from crfdeid.io.records import Columns
from crfdeid.review.plan import SampledNote, draw_plan, list_notes, write_plan

MARKS = "review certify marks.jsonl --redacted notes"
CERTIFY = "review certify marks.jsonl --redacted clean --plan plan"
REVIEW = "review page raw clean --plan plan --output r.html"
PLAN = "review plan notes --count"
SIDES = "notes notes"
BOMB = '<!DOCTYPE x [<!ENTITY a "Quill">]><xmi:XMI xmlns:xmi="http://www.omg.org/XMI">&a;</xmi:XMI>'


def task(**value: object) -> str:
    region = {"type": "labels", "value": {"labels": ["PATIENT"], **value}}
    return json.dumps([{"id": 1, "data": {"text": NOTE}, "annotations": [{"result": [region]}]}])


def mark(**more: object) -> str:
    line = {
        "id": "Quill",
        "text": NOTE,
        "spans": [],
        "read": True,
        "false_negatives": [],
        "false_positives": [],
        "sha256": "0",
        "marks": 2,
        "replaced": "compared",
    }
    return json.dumps({**line, **more})


def doccano(*label: object) -> str:
    return json.dumps({"id": 1, "text": NOTE, "label": [[*label]]})


def learned(what: str, file: str, content: str, says: str) -> Attack:
    """A file of an annotation tool that is to be learned from."""
    form = {"t.json": "label-studio", "d.jsonl": "doccano", "x/a.xmi": "xmi"}[file]
    command = f"train --model crf {file} --format {form} --output out"
    return Attack(what, write(file, content), command, 1, says)


def marked(what: str, content: str, says: str) -> Attack:
    """A file that a review page is said to have given."""
    return Attack(what, write("marks.jsonl", content), MARKS, 1, says)


COUNTS = "leaked,tokens,tokens\n0,9,8\n"


def plan_of_one(box: Path) -> tuple[SampledNote, ...]:
    """Draw one of the redacted notes, and write the plan."""
    plan = draw_plan(list_notes(box / "clean", Columns(use_id_key=True)), 1, seed=1)
    write_plan(plan, box / "plan")
    return plan.selected


def reviewed(change: Callable[[Path, str, str], None], **more: object) -> SetUp:
    """Two redacted notes, one of which is drawn and read; then something is changed.

    Args:
        change: gets the folder of redacted notes, the name of the note that was read, and that of the other.
        more: what the marks say instead.
    """

    def do(box: Path) -> None:
        for note in ("a", "b"):
            write(f"raw/{note}.txt", NOTE)(box)
            write(f"clean/{note}.txt", f"Seen by [DOCTOR], {note}.")(box)
        (read,) = plan_of_one(box)
        write("marks.jsonl", mark(**{"id": read.id, "sha256": read.sha256, **more}))(box)
        change(box / "clean", read.id, "ab".replace(read.id, ""))

    return do


def in_the_clear(place: str) -> Callable[[Path, str, str], None]:
    """Puts a raw note in the place of the one that was "read", of the "other", or beside them as a "new" one."""

    def change(clean: Path, read: str, other: str) -> None:
        name = {"read": read, "other": other, "new": "new"}[place]
        (clean / f"{name}.txt").write_text(NOTE)

    return change


def redrawn(clean: Path, read: str, other: str) -> None:
    """The note that was read is put into the clear, and a new plan is drawn of the notes as they are then."""
    (clean / f"{read}.txt").write_text(NOTE)
    (clean.parent / "plan").unlink()
    plan_of_one(clean.parent)


def removed(clean: Path, read: str, other: str) -> None:
    (clean / f"{other}.txt").unlink()


def unread(name: str) -> Callable[[Path, str, str], None]:
    """Adds a raw note under a name that no reader of notes reads."""
    return lambda clean, read, other: write(name, NOTE)(clean)


def no_record(box: Path) -> None:
    """The folder as its owner hands it on."""
    shutil.rmtree(box / "out" / ".crfdeid")


def unchanged(clean: Path, read: str, other: str) -> None:
    """The marks alone are the attack."""


def certified(what: str, set_up: SetUp, says: str, command: str = CERTIFY) -> Attack:
    """Notes or marks that are not what was drawn and read."""
    return Attack(what, set_up, command, 1, says)


def replanned(change: Callable[[dict[str, Any]], object]) -> Callable[[Path, str, str], None]:
    """Changes the plan itself, as for a draw in which no note leaks."""

    def do(clean: Path, read: str, other: str) -> None:
        path = clean.parent / "plan"
        plan = json.loads(path.read_text())
        change(plan)
        path.write_text(json.dumps(plan))

    return do


def drawn(plan: dict[str, Any]) -> list[str]:
    return [note["id"] for note in plan["selected"]]


PLANS: dict[str, Callable[[dict[str, Any]], object]] = {
    "seed": lambda plan: plan.update(seed=next(n for n in range(9) if random.Random(n).sample("ab", 1) != drawn(plan))),
    "size": lambda plan: plan["kinds"].update({"": 10**9}),
    "kinds": lambda plan: plan["kinds"].update(ward=1),
    "negative kind": lambda plan: plan["kinds"].update({"": 4, "ward": -2}),
    "no notes": lambda plan: plan.update(selected=[]),
}
ANOTHER = "not the notes that the plan was drawn from"
UNDONE = json.dumps([{"id": 1, "data": {"text": NOTE}, "annotations": []}])
AWAY = json.dumps({"id": "../../Quill", "text": NOTE})
ATTACKS = [
    learned("tasks that are deep lists", "t.json", "[" * 100_000, "not valid JSON"),
    learned("tasks of no list", "t.json", "{}", "expected a list of tasks"),
    learned("a region that is shifted", "t.json", task(start=9, end=14, text="Quill"), "the text of a region"),
    learned("a region from true to 3", "t.json", task(start=True, end=3), "no labelled text"),
    learned("a region without end", "t.json", task(start=8, end=10**30), "outside the text"),
    learned("a task that nobody did", "t.json", UNDONE, "task 1: it has no annotation"),
    learned("a label without end", "d.jsonl", doccano(8, 10**30, "A"), "line 1: an offset of"),
    learned("a label from true to 3", "d.jsonl", doccano(True, 3, "A"), "line 1: expected a label"),
    learned("a label of no type", "d.jsonl", doccano(8, 13, ""), "line 1: expected a label"),
    learned("labels under two names", "d.jsonl", doccano(8, 13, "A")[:-1] + ', "labels": []}', "line 1: .label. and"),
    learned("a key of doccano's twice", "d.jsonl", doccano(8, 13, "A")[:-1] + ', "label": []}', "line 1: a key that"),
    learned("a task with a key twice", "t.json", f'[\n{task(start=8, end=13)[1:-2]},\n"id": 2}}]', "t.json, line 3: a"),
    learned("an altered text", "d.jsonl", doccano(8, 13, "A")[:-1] + ', "sha256": "0"}', "the tool altered it"),
    learned("an XMI that defines entities", "x/a.xmi", BOMB, "defines XML entities"),
    learned("an XMI cut short", "x/a.xmi", BOMB[BOMB.index("<xmi") : -9], "not well-formed"),
    learned("an XMI without a text", "x/a.xmi", BOMB[BOMB.index("<xmi") :].replace("&a;", ""), "with one text"),
    marked("marks that are no JSON", "Quill\n", "marks.jsonl, line 1: not valid JSON"),
    marked("marks of no page", '{"id": "1", "text": "a", "spans": []}', "line 1: no line of a review page"),
    marked(
        "a mark twice", mark()[:-1] + ', "false_negatives": []}', "marks.jsonl, line 1: a key that an object has twice"
    ),
    marked(
        "a mark outside its note", mark(false_negatives=[{"start": 1, "end": 999, "label": "A"}]), "none of its text"
    ),
    certified("marks of an older redaction", reviewed(redrawn), "another redaction: marks.jsonl, line 1"),
    certified("a note in the clear that was read", reviewed(in_the_clear("read")), ANOTHER),
    certified("a note in the clear that was not drawn", reviewed(in_the_clear("other")), ANOTHER),
    certified("a raw note added", reviewed(in_the_clear("new")), f"{ANOTHER} .3 notes now, 2 then"),
    certified("a raw note in a hidden folder", reviewed(unread(".old/new.txt")), r"new.txt: no file of notes"),
    certified("a raw note of another kind", reviewed(unread("sub/new.md")), r"new.md: no file of notes"),
    certified("a page beside a hidden raw note", reviewed(unread(".new.txt")), r"no file of notes", REVIEW),
    certified("a note removed", reviewed(removed), f"{ANOTHER} .1 notes now, 2 then"),
    certified("a page of a note in the clear", reviewed(in_the_clear("read")), ANOTHER, REVIEW),
    certified("a page beside a note in the clear", reviewed(in_the_clear("other")), ANOTHER, REVIEW),
    certified("a page beside a raw note added", reviewed(in_the_clear("new")), ANOTHER, REVIEW),
    certified("a page beside a note removed", reviewed(removed), ANOTHER, REVIEW),
    *(
        certified(
            f"a plan of another {what}, {command.split()[1]}", reviewed(replanned(change)), "changed after", command
        )
        for what, change in PLANS.items()
        for command in (CERTIFY, REVIEW)
    ),
    certified("marks without a digest", reviewed(unchanged, sha256=None), "line 1: marks without the digest"),
    certified("marks of gold", reviewed(unchanged, sha256=""), "line 1: marks without the digest"),
    certified("marks of a note that is not there", reviewed(unchanged, id="Quill"), "not among the redacted ones"),
    Attack("marks without the notes", write("marks.jsonl", mark()), MARKS[:26], 2, "REVIEWS needs --redacted"),
    marked("marks of a note that was not read", mark(read=False), "no note in it was read to the end"),
    Attack(
        "a plan that is none",
        write("p", "Quill"),
        f"review page --plan p {SIDES} --output r.html",
        1,
        "no sampling plan",
    ),
    Attack(
        "a plan with a key twice",
        write("p", '{\n"plan": 1,\n"plan": 1}'),
        f"review page --plan p {SIDES} --output r.html",
        1,
        "p, line 3: a key",
    ),
    Attack(
        "counts of a column twice",
        write("c.csv", COUNTS),
        "review certify --counts c.csv",
        1,
        "c.csv, line 1: columns 2 and",
    ),
    Attack("a plan over a file", write("p", "Quill"), f"{PLAN} 1 --output p", 2, "is there already"),
    Attack("a plan among the notes", nothing, f"{PLAN} 1 --output notes/p", 2, "lies in the folder of REDACTED"),
    Attack(
        "a page over a file", write("r.html", "Quill"), f"review page {SIDES} --output r.html", 2, "is there already"
    ),
    Attack(
        "a page over a note",
        nothing,
        f"review page {SIDES} --output notes/note.txt",
        2,
        "lies in the folder of ORIGINAL",
    ),
    Attack(
        "renamed notes and another secret",
        both(redacted(f"{REDACT} --rename-files"), write("secret", SECRET[::-1]), no_record),
        "review page notes out --secret-file secret --output r.html",
        1,
        "with the secret of that run",
    ),
    Attack(
        "a plan of hidden notes", write("notes/.old.txt", NOTE), f"{PLAN} 1 --output p", 1, r"old.txt: no file of notes"
    ),
    Attack("a plan of too many notes", nothing, f"{PLAN} 9 --output p", 2, "9 notes to draw of 1"),
    Attack(
        "a sample over a file",
        write("s/a", "Quill"),
        "annotate sample notes --output s --count 1",
        2,
        "not an empty folder",
    ),
    Attack(
        "a sample into the notes",
        nothing,
        "annotate sample notes --output notes --count 1",
        2,
        "lies in the folder of NOTES",
    ),
    Attack(
        "a note that leads away",
        write("in/a.jsonl", AWAY),
        "annotate sample in --output out --count 1",
        1,
        "its id cannot",
    ),
]


@pytest.mark.parametrize("attack", ATTACKS, ids=name)
def test_what_was_broken_on_its_way_is_said(attack: Attack, box: Path, capsys: pytest.CaptureFixture[str]) -> None:
    carry_out(attack, box, capsys)

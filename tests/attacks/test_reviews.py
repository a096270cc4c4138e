"""What people mark, plan and export: a file that was broken or altered on its way is said, and nothing is written."""

import json
from pathlib import Path

import pytest
from attack import NOTE, Attack, carry_out, name, nothing, write

MARKS = "certify --marks marks.jsonl"
PLAN = "certify --input notes --reviewed"
SIDES = "--original notes --redacted notes"
BOMB = '<!DOCTYPE x [<!ENTITY a "Quill">]><xmi:XMI xmlns:xmi="http://www.omg.org/XMI">&a;</xmi:XMI>'


def task(**value: object) -> str:
    region = {"type": "labels", "value": {"labels": ["PATIENT"], **value}}
    return json.dumps([{"id": 1, "data": {"text": NOTE}, "annotations": [{"result": [region]}]}])


def mark(**more: object) -> str:
    line = {"id": "Quill", "text": NOTE, "spans": [], "read": True, "missed": [], "needless": []}
    return json.dumps({**line, **more})


def doccano(*label: object) -> str:
    return json.dumps({"id": 1, "text": NOTE, "label": [[*label]]})


def learned(what: str, file: str, content: str, says: str) -> Attack:
    """A file of an annotation tool that is to be learned from."""
    form = {"t.json": "label-studio", "d.jsonl": "doccano", "x/a.xmi": "xmi"}[file]
    command = f"train --model crf --train {file} --format {form} --out out"
    return Attack(what, write(file, content), command, 1, says)


def marked(what: str, content: str, says: str) -> Attack:
    """A file that a review page is said to have given."""
    return Attack(what, write("marks.jsonl", content), MARKS, 1, says)


COUNTS = "leaked,tokens,tokens\n0,9,8\n"
UNDONE = json.dumps([{"id": 1, "data": {"text": NOTE}, "annotations": []}])
AWAY = json.dumps({"id": "../../Quill", "text": NOTE})
ATTACKS = [
    learned("tasks that are deep lists", "t.json", "[" * 100_000, "not valid JSON"),
    learned("tasks of no list", "t.json", "{}", "expected a list of tasks"),
    learned("a region that is shifted", "t.json", task(start=9, end=14, text="Quill"), "the text of a region"),
    learned("a region from true to 3", "t.json", task(start=True, end=3), "no labelled text"),
    learned("a region without end", "t.json", task(start=8, end=10**30), "outside the text"),
    learned("a task that nobody did", "t.json", UNDONE, "task 1: nobody annotated it"),
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
    marked("a mark twice", mark()[:-1] + ', "missed": []}', "marks.jsonl, line 1: a key that stands twice"),
    marked("a mark outside its note", mark(missed=[{"start": 1, "end": 999, "label": "A"}]), "none of its text"),
    marked("marks of a note that was not read", mark(read=False), "no note in it was read to the end"),
    Attack(
        "a plan that is none", write("p", "Quill"), f"review --planned p {SIDES} --out r.html", 1, "no sampling plan"
    ),
    Attack(
        "a plan with a key twice",
        write("p", '{\n"plan": 1,\n"plan": 1}'),
        f"review --planned p {SIDES} --out r.html",
        1,
        "p, line 3: a key",
    ),
    Attack(
        "counts of a column twice", write("c.csv", COUNTS), "certify --counts c.csv", 1, "c.csv, line 1: columns 2 and"
    ),
    Attack("a plan over a file", write("p", "Quill"), f"{PLAN} 1 --plan p", 2, "is there already"),
    Attack("a plan among the notes", nothing, f"{PLAN} 1 --plan notes/p", 2, "lies in the folder of --input"),
    Attack("a page over a file", write("r.html", "Quill"), f"review {SIDES} --out r.html", 2, "is there already"),
    Attack(
        "a page over a note", nothing, f"review {SIDES} --out notes/note.txt", 2, "lies in the folder of --original"
    ),
    Attack("a plan of too many notes", nothing, f"{PLAN} 9 --plan p", 2, "9 notes to draw of 1"),
    Attack(
        "a sample over a file", write("s/a", "Quill"), "sample --input notes --out s -n 1", 2, "not an empty folder"
    ),
    Attack(
        "a sample into the notes", nothing, "sample --input notes --out notes -n 1", 2, "lies in the folder of --input"
    ),
    Attack("a note that leads away", write("in/a.jsonl", AWAY), "sample --input in --out out -n 1", 1, "its id cannot"),
]


@pytest.mark.parametrize("attack", ATTACKS, ids=name)
def test_what_was_broken_on_its_way_is_said(attack: Attack, box: Path, capsys: pytest.CaptureFixture[str]) -> None:
    carry_out(attack, box, capsys)

"""Annotated notes named by what must not be said, a patient or a record number: messages say where they are."""

import json
from pathlib import Path
from typing import Any

import pytest
from attack import Attack, SetUp, both, carry_out, name, write

SCORE = "evaluate --predicted found gold"
TRAIN = "train gold --output out"
SPAN = {"start": 4, "end": 9, "label": "PATIENT"}


def lines(side: str, *notes: dict[str, Any]) -> SetUp:
    """Write JSON Lines: notes called Quill, but for what is given."""
    note = {"id": "Quill", "text": "Mr. Quill left.", "spans": [SPAN]}
    return write(f"{side}/notes.jsonl", "".join(json.dumps(note | other) + "\n" for other in notes))


def files(side: str, **contents: str) -> SetUp:
    """Write files; the name's underscore is its full stop."""
    return both(*(write(f"{side}/{file.replace('_', '.')}", text) for file, text in contents.items()))


def records(*texts: str) -> str:
    """XML as of the challenge of 2006, with the same id for each record."""
    found = (f'<RECORD ID="Quill"><TEXT>{text}</TEXT></RECORD>' for text in texts)
    return f"<ROOT>{''.join(found)}</ROOT>"


OTHER = {"id": "Marsh"}
COLUMNS = "-DOCSTART-\tQuill\tO\n\nMr.\tO\nQuill\tB-PATIENT\n\n"
ONE = lines("gold", {})
TWICE = '\n{"id": "1", "text": "Quill", "no": "", "spans": [{"start": 0, "end": 5, "label": "ID", "label": "DATE"}]}\n'
ATTACKS = [
    Attack(
        "a note not found", both(lines("gold", OTHER, {}), lines("found", OTHER)), SCORE, 1, r"jsonl, line 2: score"
    ),
    Attack("a note not in gold", both(ONE, lines("found", {}, OTHER)), SCORE, 1, r"NOTES: found.notes.jsonl, line 2"),
    Attack("another text", both(ONE, lines("found", {"text": "Mr.", "spans": []})), SCORE, 1, r"line 1, offset 3"),
    Attack("another text found", both(ONE, lines("found", {"text": "Mr. Quill."})), SCORE, 1, r"line 1, offset 9: the"),
    Attack("an id twice in lines", lines("gold", {}, {}), TRAIN, 1, r"line 2: the same id as gold.notes.jsonl, line 1"),
    Attack("an id twice in columns", files("gold", a_conll=COLUMNS * 2), TRAIN, 1, r"line 6: the same id as .*line 1"),
    Attack("an id twice in records", files("gold", a_xml=records("x", "y")), TRAIN, 1, r"record 2: the same id"),
    Attack("a nested mark", files("gold", a_xml=records("<PHI TYPE='ID'><PHI/></PHI>")), TRAIN, 1, r"record 1, offset"),
    Attack("an empty mark", files("gold", a_xml=records("x<PHI TYPE='ID'/>")), TRAIN, 1, r"record 1, offset 1"),
    Attack("a record without text", write("gold/a.xml", '<R><RECORD ID="Quill"/></R>'), TRAIN, 1, r"record 1: "),
    Attack("a span outside", lines("gold", {"spans": [SPAN | {"end": 99}]}), TRAIN, 1, r"jsonl, line 1, offset 4"),
    Attack("a type of two lines", lines("gold", {"spans": [SPAN | {"label": "A\nB"}]}), TRAIN, 1, r"line 1, offset 4"),
    Attack("a text twice", write("gold/a.jsonl", TWICE.replace("no", "text")), TRAIN, 1, r"a.jsonl, line 2: a key"),
    Attack("a label twice", write("gold/a.jsonl", TWICE), TRAIN, 1, r"a.jsonl, line 2: a key that an object has twice"),
    Attack("half a character", lines("gold", {"id": "Quill\ud800"}), TRAIN, 1, r"line 1, offset 5: a lone"),
]


@pytest.mark.parametrize("attack", ATTACKS, ids=name)
def test_a_message_says_where_a_note_is_and_not_how_it_is_called(
    attack: Attack, box: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    carry_out(attack, box, capsys)

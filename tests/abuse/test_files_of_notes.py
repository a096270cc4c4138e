"""Files that are no notes, or are not as they should be: each is said, with its place, and the others are done."""

import json
import os
import socket
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from attack import NOTE, REDACT, TAG, Attack, SetUp, both, carry_out, name, nothing, redacted, remove, write

ROW = json.dumps({"text": NOTE})


def fifo(file: str) -> SetUp:
    """Make a pipe that nobody writes to."""
    return lambda box: os.mkfifo(box / file)


def link(file: str, target: str) -> SetUp:
    """Make a link."""
    return lambda box: (box / file).symlink_to(target)


def parquet(table: dict[str, list[object]]) -> SetUp:
    """Write a Parquet file."""
    return lambda box: pq.write_table(pa.table(table), box / "notes" / "note.parquet")


JSONL, CSV = "notes/note.jsonl", "notes/note.csv"
ATTACKS = [
    Attack("a note that is no UTF-8", write("notes/bad.txt", b"Quill \xff"), REDACT, 1, "bad.txt.*not UTF-8"),
    Attack("a note in UTF-16", write("notes/bad.txt", NOTE.encode("utf-16")), REDACT, 1, "bad.txt.*UTF-16"),
    Attack("a line in UTF-16", write(JSONL, ROW.encode("utf-16")), REDACT, 1, "note.jsonl.*UTF-16"),
    Attack("a table in UTF-16", write(CSV, "text\nQuill\n".encode("utf-16")), REDACT, 1, "note.csv.*UTF-16"),
    Attack("a line that is no JSON", write(JSONL, ROW + "\nQuill\n"), REDACT, 1, "note.jsonl.*2.*not valid JSON"),
    Attack("a line of deep lists", write(JSONL, "[" * 100_000 + "\n"), REDACT, 1, "note.jsonl.*not valid JSON"),
    Attack("a line without a text", write(JSONL, '{"note": "Quill"}\n'), REDACT, 1, "note.jsonl.*no 'text'"),
    Attack("a text that is a number", write(JSONL, '{"text": 5551037}\n'), REDACT, 1, "note.jsonl"),
    Attack("a key that stands twice", write(JSONL, '{"text": "Quill", "text": "Marsh"}\n'), REDACT, 1, "twice"),
    Attack(
        "a key twice further in", write(JSONL, '{"text": "x", "of": {"a": 1, "a": 2}}\n'), REDACT, 1, "row 1: a key"
    ),
    Attack("a column twice", write(CSV, "text,Quill,Quill\nx,1,2\n"), REDACT, 1, "note.csv, line 1: columns 2 and 3"),
    Attack("a lone surrogate", write(JSONL, '{"text": "Quill \\ud800"}\n'), REDACT, 1, "note.jsonl.*surrogate"),
    Attack(
        "a quote that never ends", write(CSV, 'text\nok\n"Quill\nMarsh\n'), REDACT, 1, r"note.csv.*line 3|note.csv:3"
    ),
    Attack("a quote in the middle", write(CSV, 'text\n"a" Quill\n'), REDACT, 1, r"note.csv.*line 2|note.csv:2"),
    Attack("a row of too many fields", write(CSV, "text,n\nQuill,Marsh,3\n"), REDACT, 1, "note.csv.*3 fields"),
    Attack("a column that is missing", write(CSV, "note\nQuill\n"), REDACT, 1, "note.csv.*no column 'text'"),
    Attack("a column named twice", write(CSV, "text,text\nQuill,Marsh\n"), REDACT, 1, "note.csv.*'text'"),
    Attack("a file of Parquet that is none", write("notes/note.parquet", "Quill"), REDACT, 1, "note.parquet"),
    Attack("Parquet without the column", parquet({"note": ["Quill"]}), REDACT, 1, "note.parquet.*'text'"),
    Attack("Parquet with numbers for texts", parquet({"text": [5551037]}), REDACT, 1, "note.parquet"),
    Attack("a pipe among the notes", fifo("notes/pipe.txt"), REDACT, 1, "pipe.txt"),
    Attack("a link to nowhere", link("notes/link.txt", "nowhere"), REDACT, 1, "link.txt"),
    Attack("a link that leads round", link("notes/round", "."), REDACT, 1, "round"),
    Attack("a name of 251 characters", write(f"notes/{'n' * 247}.txt", NOTE), REDACT, 0),
    Attack("its results in a longer name", write(f"notes/{'n' * 251}.txt", NOTE), TAG, 1, "too long"),
    Attack("two files for one result", write("notes/note.jsonl", ROW), TAG, 2, "two files would be written"),
    Attack("no notes", remove("notes/note.txt"), REDACT, 1, "holds no notes"),
    Attack("notes of no known kind", both(remove("notes/note.txt"), write("notes/n.doc", "")), REDACT, 1, "no notes"),
    Attack("an input that is not there", nothing, REDACT.replace("notes", "nowhere"), 2, "no such file"),
    Attack("an output that is called a file", nothing, f"{REDACT}.csv", 2, "name a folder"),
    Attack("no output", nothing, "redact model notes", 2, "--output is needed"),
    Attack("a format for one note alone", write(JSONL, ROW), f"{TAG} --output-format brat", 2, "txt"),
]


# Files that are pipes, sockets or devices, by the command that reads them. A pipe would be waited for without end.
TRAIN = "train --model crf --output out --dev train.jsonl"
SECRET_FILE = f"{REDACT} --operator surrogate --locale en_US --secret-file"
NO_DATA = "p(:| is) a (pipe, socket or device: give a file|link that leads to no file)"
READERS = {
    "notes": "redact --output out model p",
    "notes to draw from": "annotate sample --trained model --output out --count 1 p",
    "a text to explain": "explain model p",
    "training notes": f"{TRAIN} p",
    "training notes of a format": f"{TRAIN} p --format brat",
    "gold notes": "evaluate p --predicted train.jsonl",
    "a site's file": f"{REDACT} --lists p",
    "a file of patients": f"{REDACT} --record-file p",
    "a secret": f"{SECRET_FILE} p",
    "marks": "review certify --redacted notes p",
    "counts": "review certify --counts p",
    "a plan": "review page notes notes --output r.html --plan p",
    "vectors": "pseudonymise train.jsonl --output p.jsonl --vectors p",
}


def endless(path: Path, kind: str) -> None:
    """Make something that is no file."""
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        with socket.socket(socket.AF_UNIX) as opened:
            opened.bind(path.name)  # its whole path can be too long


@pytest.mark.parametrize("kind", ["pipe", "device", "socket"])
@pytest.mark.parametrize("what", READERS)
def test_what_is_no_file_is_refused_at_once(
    what: str, kind: str, box: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = 2 if what == "notes" else 1
    carry_out(Attack(what, lambda _: endless(box / "p", kind), READERS[what], code, NO_DATA), box, capsys)


@pytest.mark.parametrize("file", ["model.json", "card.json", "weights.npz"])
@pytest.mark.parametrize("command", [REDACT, "info model"])
def test_what_is_no_file_of_a_model_is_refused_at_once(
    file: str, command: str, box: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    attack = Attack(file, lambda _: endless(box / "model" / file, "pipe"), command, 1, "a pipe, socket or device")
    carry_out(attack, box, capsys)


@pytest.mark.parametrize("file", ["settings.json", "finished.jsonl"])
def test_what_is_no_file_of_a_run_is_refused_at_once(file: str, box: Path, capsys: pytest.CaptureFixture[str]) -> None:
    redacted()(box)
    capsys.readouterr()
    place = box / "out" / ".crfdeid" / file
    attack = Attack(file, lambda _: endless(place, "pipe"), f"{REDACT} --resume", 1, f"{file}: a pipe, socket")
    carry_out(attack, box, capsys)


@pytest.mark.parametrize("attack", ATTACKS, ids=name)
def test_a_file_that_cannot_be_read_fails_alone(attack: Attack, box: Path, capsys: pytest.CaptureFixture[str]) -> None:
    carry_out(attack, box, capsys)
    if attack.code == 1 and "no notes" not in attack.says and attack.command == REDACT:
        assert "[PATIENT]" in (box / "out" / "note.txt").read_text()

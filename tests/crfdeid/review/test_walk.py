"""docs/review.md from raw notes to a signed figure: every command, on invented notes, with people played by gold."""

import json
import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from crfdeid.cli import main
from crfdeid.corpora import read_corpus, write_corpus
from crfdeid.corpora.synthetic import generate_notes
from crfdeid.documents import Document

PAGE = Path(__file__).parents[3] / "docs" / "review.md"
# What the page does on thousands of notes is done here on a few, and quickly.
SMALLER = {f"--count {long}": f"--count {short}" for long, short in ((50, 5), (200, 6), (100, 10))}
SMALLER["--target-leak-rate 0.01"] = "--target-leak-rate 0.2"
QUICKLY = ["--model", "crf", "--set", "max_iterations=5", "--augment", "none"]


@pytest.fixture(scope="module")
def gold() -> dict[str, Document]:
    return {document.id: document for document in generate_notes(40, seed=8)}


def commands(*, walk: bool) -> list[list[list[str]]]:
    """The commands of each block: those after ``<!-- walk -->``, or the others."""
    text = PAGE.read_text(encoding="utf-8")
    for long, short in SMALLER.items():
        text = text.replace(long, short)
    found = re.findall(r"(<!-- walk -->\n)?```\w*\n(.*?)```", text, re.DOTALL)
    blocks = [block.strip().splitlines() for mark, block in found if bool(mark) == walk and block.startswith("crfdeid")]
    return [[shlex.split(line)[1:] for line in block] for block in blocks]


def annotate(gold: dict[str, Document], tasks: Path, export: Path) -> None:
    """What Label Studio exports once somebody has annotated tasks."""
    drawn = [gold[task["data"]["note"]] for task in json.loads(tasks.read_text(encoding="utf-8"))]
    export.parent.mkdir(exist_ok=True)
    write_corpus(drawn, export, format="label-studio")


def read_notes_of(page: Path, marks: Path) -> None:
    """What the page lets a reviewer download who read all its notes, and saw no leak in any but the first."""
    content = page.read_text(encoding="utf-8").split('id="data">')[1].split("</script>")[0]
    lines = []
    for number, note in enumerate(json.loads(content)["notes"]):
        spans = [{"start": start, "end": end, "label": label} for start, end, label, _ in note["spans"]]
        leak = [{"start": 0, "end": 1, "label": "PHI"}] if number == 0 else []
        kept = {key: note[key] for key in ("id", "text", "sha256")}
        lines.append({**kept, "spans": [*spans, *leak], "read": True, "false_negatives": leak, "false_positives": []})
    marks.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def people(gold: dict[str, Document]) -> list[Callable[[], None]]:
    """What people do after each block of commands."""

    def two_annotators() -> None:
        annotate(gold, Path("test/notes.json"), Path("anna.json"))
        theirs = [replace(one, spans=one.spans[1:]) for one in read_corpus("anna.json")]
        write_corpus(theirs, "ben.json", format="label-studio")

    def settle() -> None:
        assert "second alone" in Path("settle.html").read_text(encoding="utf-8")
        write_corpus(read_corpus("anna.json"), "test.jsonl", format="jsonl")

    return [
        two_annotators,
        settle,
        lambda: annotate(gold, Path("first/notes.json"), Path("annotated/first.json")),
        lambda: annotate(gold, Path("second/notes.json"), Path("annotated/second.json")),
        lambda: None,
        lambda: read_notes_of(Path("review.html"), Path("marks.jsonl")),
        lambda: None,
    ]


@pytest.mark.slow
def test_the_whole_way_from_raw_notes_to_a_signed_figure(gold, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("notes").mkdir()
    for name, document in gold.items():
        Path("notes", f"{name}.txt").write_bytes(document.text.encode())
    blocks = commands(walk=True)
    steps = people(gold)
    assert [block[0][0] for block in blocks] == [
        *("annotate", "annotate", "annotate", "train", "train", "review", "review"),
    ]
    for block, then in zip(blocks, steps, strict=True):
        for command in block:
            capsys.readouterr()
            assert main([*command, *(QUICKLY if command[0] == "train" else [])]) == 0, capsys.readouterr().err
        then()
    certificate = capsys.readouterr().out
    assert "of the notes leak" in certificate
    assert "notes in all: 40" in certificate
    assert "found to leak: 1" in certificate
    assert "Signature" in certificate
    drawn = [
        {line.split(",")[0] for line in Path(f"{name}/drawn.csv").read_text().splitlines()[1:]}
        for name in ("test", "first", "second")
    ]
    assert len(set.union(*drawn)) == 26  # no note twice
    assert {document.id for document in read_corpus("marks.jsonl")} <= set(gold)

    Path("model2").rename("model")
    for name in ("anna", "ben", "gold", "tagged"):
        write_corpus(list(gold.values()), name, format="brat")
    others = commands(walk=False)
    assert {command[0] for block in others for command in block} <= {"annotate", "evaluate", "review"}
    for command in (command for block in others for command in block):
        assert main(command) == 0, capsys.readouterr().err

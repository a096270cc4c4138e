"""``crfdeid score``: what it prints, and what it refuses."""

import json
from pathlib import Path

import pytest

from crfdeid.cli import main
from crfdeid.corpora import write_corpus
from crfdeid.documents import Document, Span

GOLD = [
    Document("1", "Seen by Ann Doe on 03/14.", (Span(8, 15, "DOCTOR"), Span(19, 24, "DATE"))),
    Document("2", "Nothing."),
]


def write(folder: Path, documents: list[Document], form: str = "jsonl") -> Path:
    path = folder / ("notes" if form == "brat" else "notes.jsonl")
    write_corpus(documents, path, format=form)
    return path


@pytest.fixture
def paths(tmp_path: Path) -> tuple[str, str]:
    found = [Document("1", GOLD[0].text, (Span(8, 11, "DOCTOR"), Span(19, 24, "DATE"))), GOLD[1]]
    return str(write(tmp_path / "gold", GOLD)), str(write(tmp_path / "found", found, "brat"))


def test_each_mode_has_a_table(paths: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "scores.json"
    modes = "strict,relaxed,token,binary,i2b2,meddocan"
    assert main(["score", "--gold", paths[0], "--predicted", paths[1], "--mode", modes, "--json", str(out)]) == 0
    printed = capsys.readouterr().out
    for mode in modes.split(","):
        assert f"| {mode} " in printed
    scores = json.loads(out.read_text())
    assert scores["strict"]["micro"]["f1"] == 0.5
    assert scores["relaxed"]["micro"]["f1"] == 1.0
    assert scores["binary"]["micro"] == {"precision": 1.0, "recall": 0.8, "f1": 8 / 9, "tp": 4, "fp": 0, "fn": 1}
    assert scores["i2b2"]["strict, HIPAA, micro"]["f1"] == 1.0
    assert scores["meddocan"]["leak score"] == {"leak": 0.5}
    assert main(["score", "--gold", paths[0], "--predicted", paths[1], "--json", str(out)]) == 2


def test_types_are_mapped_on_both_sides(paths: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "--gold", paths[0], "--predicted", paths[1], "--types", "binary", "--mode", "strict"]) == 0
    assert "| PHI " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        (GOLD[:1], "2: no prediction for this document"),
        ([*GOLD, Document("3", "x")], "3: predicted, but not among the gold documents"),
        ([GOLD[0], Document("2", "NothinG.")], "2, offset 6: the text is not that of the gold document"),
        ([GOLD[0], Document("2", "Nothing")], "2, offset 7: the text is not that of the gold document"),
    ],
)
def test_other_notes_are_refused(documents, message, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold, found = write(tmp_path / "gold", GOLD), write(tmp_path / "found", documents)
    assert main(["score", "--gold", str(gold), "--predicted", str(found)]) == 1
    assert message in capsys.readouterr().err


def test_an_unknown_mode_is_refused(paths: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "--gold", paths[0], "--predicted", paths[1], "--mode", "fuzzy"]) == 2
    assert "unknown mode 'fuzzy': choose from strict, relaxed" in capsys.readouterr().err


@pytest.mark.corpora
def test_a_corpus_agrees_with_itself_in_another_format(data_folder: Path, tmp_path: Path) -> None:
    dev = data_folder / "meddocan" / "dev"
    gold, found, out = str(dev / "brat"), str(dev / "xml"), tmp_path / "scores.json"
    modes = "strict,token,i2b2,meddocan"
    assert main(["score", "--gold", gold, "--predicted", found, "--mode", modes, "--json", str(out)]) == 0
    scores = json.loads(out.read_text())
    assert scores["strict"]["micro"]["tp"] == 5801
    assert all(row["f1"] == 1 for mode in scores.values() for row in mode.values() if row.get("tp"))
    assert scores["meddocan"]["leak score"] == {"leak": 0}

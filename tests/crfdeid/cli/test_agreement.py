"""The command annotate agreement."""

import json

import pytest

from crfdeid.cli import main
from crfdeid.corpora import write_corpus
from crfdeid.documents import Document, Span

TEXT = "Ann Doe came on 03/14."
FIRST = Document("1", TEXT, (Span(0, 7, "PATIENT"), Span(16, 21, "DATE")))
SECOND = Document("1", TEXT, (Span(0, 7, "PATIENT"),))


def paths(folder, second):
    write_corpus([FIRST], folder / "first.jsonl", format="jsonl")
    write_corpus([second], folder / "second", format="brat")
    return [str(folder / "first.jsonl"), str(folder / "second")]


def test_it_prints_f_by_type_and_kappa(tmp_path, capsys):
    assert main(["annotate", "agreement", *paths(tmp_path, SECOND)]) == 0
    out = capsys.readouterr().out
    assert "| DATE " in out
    assert "F (type and both boundaries): 66.67 %" in out
    assert "Cohen's kappa of tokens: 0." in out
    assert "notes annotated alike: 0 of 1" in out


def test_for_scripts_it_prints_one_object(tmp_path, capsys):
    assert main(["annotate", "agreement", *paths(tmp_path, SECOND), "--json", "--types", "binary"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["f1"] == pytest.approx(2 / 3)
    assert found["kappa"] == found["kappa_phi"]
    assert list(found["by_type"]) == ["PHI"]


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        (Document("2", TEXT), "missing in SECOND"),
        (Document("1", "Ann Doe left on 03/14."), "offset 8: the text is not that of the note of FIRST"),
    ],
)
def test_other_notes_are_refused(tmp_path, capsys, second, expected):
    assert main(["annotate", "agreement", *paths(tmp_path, second)]) == 1
    out = capsys.readouterr()
    assert expected in out.err
    assert "Ann" not in out.err
    assert out.out == ""

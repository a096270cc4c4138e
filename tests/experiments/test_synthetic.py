"""Printing notes of the synthetic corpus."""

from importlib.metadata import version
from pathlib import Path

import pytest

from crfdeid.corpora import read_corpus
from crfdeid.corpora.synthetic import generate
from experiments.synthetic import main


def test_notes_are_printed_with_their_phi_marked_and_counted(capsys):
    assert main(["--notes", "2", "--seed", "7"]) == 0
    out = capsys.readouterr().out
    assert out.count("=====") == 4
    assert "|DATE]" in out
    assert "| DATE | 1038 | 188 | 498 |" in out


def test_an_unknown_profile_exits_with_2(capsys):
    assert main(["--profile", "none"]) == 2
    assert "invalid choice" in capsys.readouterr().err


def test_the_corpus_is_written_as_brat(tmp_path, capsys):
    assert main(["--seed", "7", "--out", str(tmp_path / "notes")]) == 0
    written = {name: read_corpus(tmp_path / "notes" / name) for name in ("train", "dev", "test")}
    assert written == {name: list(part) for name, part in generate("default", seed=7)._asdict().items()}
    assert main(["--out", str(tmp_path / "notes")]) == 2
    assert "not an empty folder" in capsys.readouterr().err


def test_the_documentation_shows_what_the_command_prints(capsys):
    page = (Path(__file__).parents[2] / "docs" / "synthetic-corpus.md").read_text(encoding="utf-8")
    if f"version {version('Faker')}" not in page:
        pytest.skip("another version of Faker draws other names than those on the page")
    main(["--notes", "5", "--seed", "8"])
    notes, counts = capsys.readouterr().out.split("\n| | train", 1)
    assert notes.strip() in page
    assert f"| | train{counts}".strip() in page


@pytest.mark.slow
def test_texts_of_all_types_are_counted_and_shown_as_documented(capsys):
    page = (Path(__file__).parents[2] / "docs" / "synthetic-corpus.md").read_text(encoding="utf-8")
    assert main(["--types", "all", "--notes", "14"]) == 0
    texts, counts = capsys.readouterr().out.split("\n| | train", 1)
    assert texts.count("===== train-") == 14
    assert "\n| MEDICALRECORD | " in counts
    if f"version {version('Faker')}" in page:
        assert texts.strip() in page
        assert f"| | train{counts}".strip() in page

"""Printing notes of the synthetic corpus."""

from importlib.metadata import version
from pathlib import Path

import pytest

from experiments.synthetic import main


def test_notes_are_printed_with_their_phi_marked_and_counted(capsys):
    assert main(["--notes", "2", "--seed", "7"]) == 0
    out = capsys.readouterr().out
    assert out.count("=====") == 4
    assert "|DATE]" in out
    assert "| DATE | 1038 | 188 | 498 |" in out


def test_an_unknown_profile_exits_with_2(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["--profile", "none"])
    assert "invalid choice" in capsys.readouterr().err


def test_the_documentation_shows_what_the_command_prints(capsys):
    page = (Path(__file__).parents[2] / "docs" / "synthetic-corpus.md").read_text(encoding="utf-8")
    if f"version {version('Faker')}" not in page:
        pytest.skip("another version of Faker draws other names than those on the page")
    main(["--notes", "5", "--seed", "8"])
    notes, counts = capsys.readouterr().out.split("\n| | train", 1)
    assert notes.strip() in page
    assert f"| | train{counts}".strip() in page

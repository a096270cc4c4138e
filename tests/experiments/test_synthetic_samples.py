"""Printing notes of the synthetic corpus."""

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

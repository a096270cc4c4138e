"""How far a training is: a bar on a terminal, and lines now and then anywhere else."""

from __future__ import annotations

import io
import re
import sys
import time

import pytest

from crfdeid.cli import progress
from crfdeid.cli.progress import training_bar
from crfdeid.tagger import FitProgress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_a_bar_shows_steps_of_how_many_and_dev_f(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    with training_bar("training elman") as step:
        for number in range(1, 4):
            step(FitProgress(step=number, total=40, dev_f1=0.9))
            time.sleep(0.11)
        shown = sys.stderr.getvalue()  # type: ignore[attr-defined]
    assert "training elman" in shown and re.search(r" [23]/40 ", shown) and "dev F 90.00" in shown


def test_without_a_terminal_a_line_comes_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "LINE_EVERY", 0.02)
    with training_bar("training crf") as step:
        for number in range(1, 4):
            step(FitProgress(step=number, total=1000, dev_f1=0.5))
            time.sleep(0.03)
        lines = capsys.readouterr().err.splitlines()
    assert lines
    assert all(re.fullmatch(r"training crf: step [123] of 1000, \S+, \S+ left, dev F 50\.00", line) for line in lines)
    assert capsys.readouterr().err == "", "after the training nothing is said"


def test_a_short_training_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with training_bar("training crf") as step:
        step(FitProgress(step=1, total=1))
    assert capsys.readouterr() == ("", "")

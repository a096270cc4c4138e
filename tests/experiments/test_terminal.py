"""Bars are for a terminal, and only for one."""

from __future__ import annotations

import io
from functools import partial

import pytest
from tqdm import tqdm

from crfdeid.tagger import FitProgress
from experiments.core.command import Bars
from experiments.core.systems import Cell, System


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def use(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr("tqdm.tqdm", partial(tqdm, mininterval=0))
    with Bars(2) as bars:
        for step in range(1, 4):
            bars.step(Cell(System("elman", "elman"), 4), FitProgress(step, 3, 0.25, 0.5))
        bars.step(Cell(System("crf", "crf"), 0), FitProgress(10, 100))
        bars.done(Cell(System("elman", "elman"), 4))
        bars.done(Cell(System("quick", "quick"), 0))
    return stream.getvalue()


def test_nothing_is_written_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert use(io.StringIO(), monkeypatch) == ""


def test_a_terminal_shows_each_model_its_steps_and_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = use(Terminal(), monkeypatch)
    assert "elman, seed 4" in shown
    assert "3/3" in shown
    assert "loss=0.2500, dev F=0.5000" in shown
    assert "crf, seed 0" in shown
    assert "models trained" in shown

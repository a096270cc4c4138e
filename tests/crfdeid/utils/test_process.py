"""Signals that wait for what must not be given up half-way."""

import signal

import pytest

from crfdeid.utils.process import signals_held


def test_ctrl_c_waits_for_what_is_started_and_comes_then(answers_ctrl_c: None) -> None:
    started = []

    def start() -> None:
        with signals_held():
            signal.raise_signal(signal.SIGINT)
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # as what is started may do
            started.append("all of it")

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        start()
    assert started == ["all of it"]
    assert signal.getsignal(signal.SIGINT) == before


def test_what_cannot_be_started_says_so_whatever_signal_came() -> None:
    with pytest.raises(OSError, match="no Java"), signals_held():
        signal.raise_signal(signal.SIGTERM)
        raise OSError("no Java")

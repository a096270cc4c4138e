"""Ctrl-C and SIGTERM as exceptions that end a command even if Python or a library drops the first one."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import Any

# Seconds between checks that the exception was not lost.
_INTERVAL = 0.2
_ENDS = (KeyboardInterrupt, SystemExit)


class Ending:
    """Handler that turns the signal to end this process into an exception.

    Attributes:
        number: the first such signal; None before one arrives.
    """

    def __init__(self) -> None:
        self.number: int | None = None
        self._over = False
        self._hook = sys.unraisablehook

    @property
    def code(self) -> int:
        """Exit code of the signal, by the convention of shells."""
        return 128 + (self.number or 0)

    def _asked(self, number: int, _: object) -> None:
        """Raise the exception, so that clean-up runs and no file is left half-written."""
        self.number = self.number or number
        if self._over:
            return
        sys.unraisablehook = self._unraisable
        signal.setitimer(signal.ITIMER_REAL, _INTERVAL, _INTERVAL)
        self._raise()

    def _look(self, *_: object) -> None:
        """Raise the exception again if it was lost.

        Python drops exceptions of finalisers and of weak references' callbacks, and C code may drop any. While clean-up
        runs, the exception is being handled, and a second one would stop the clean-up.
        """
        handled = sys.exception()
        while handled is not None:
            if isinstance(handled, _ENDS):
                return
            handled = handled.__context__
        if not self._over:
            self._raise()

    def _raise(self) -> None:
        raise KeyboardInterrupt if self.number == signal.SIGINT else SystemExit(self.code)

    def _unraisable(self, dropped: Any) -> None:
        """Suppress the traceback of a dropped exception that will be raised again."""
        if not isinstance(dropped.exc_value, _ENDS):
            self._hook(dropped)

    @contextmanager
    def answered(self) -> Iterator[None]:
        """Turn Ctrl-C and SIGTERM into an exception until leaving; in other threads than the main one, do nothing."""
        if current_thread() is not main_thread():
            yield
            return
        # A command that a shell starts in the background ignores Ctrl-C, and must continue to.
        asks = [one for one in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(one) is not signal.SIG_IGN]
        before = {signal.SIGALRM: signal.signal(signal.SIGALRM, self._look)}
        before |= {number: signal.signal(number, self._asked) for number in asks}
        try:
            yield
        finally:
            self._over = True
            signal.setitimer(signal.ITIMER_REAL, 0)
            for number, handler in before.items():
                signal.signal(number, handler)
            sys.unraisablehook = self._hook

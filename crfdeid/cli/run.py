"""Running of a command: exit codes, one line for an error, and handling of signals."""

from __future__ import annotations

import contextlib
import io
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import click

_PIPE_CLOSED = 141  # 128 and SIGPIPE
# Seconds between checks that the exception was not lost.
_INTERVAL = 0.2
_ENDS = (KeyboardInterrupt, SystemExit)
_HAS_TIMER = hasattr(signal, "setitimer")  # Windows has none: a dropped exception is lost there.


def run_command(work: Callable[[], int | None], *, interrupted: str, out_of_memory: str) -> int:
    """Do a command's work, including imports and parsing of options; print an error as one line, with a remedy.

    Returns:
        The exit code: 0, 1 for unreadable data or an error of the system, 2 for an invalid option, 130 after Ctrl-C,
        141 if the reader of the output has closed it, 143 after SIGTERM.
    """
    ending, code, problem = Ending(), 0, ""
    try:
        with ending.answered(), _standard_streams():
            code, problem = _outcome(work, out_of_memory)
    except KeyboardInterrupt:
        ending.number = ending.number or signal.SIGINT
    except BaseException:  # Also what clean-up made of the signal's exception.
        if ending.number is None:
            raise
    if ending.number is not None:
        what = "interrupted" if ending.number == signal.SIGINT else "ended by SIGTERM"
        code, problem = ending.code, f"{what}: {interrupted}"
    if problem:
        from crfdeid.errors import escape_unprintable  # noqa: PLC0415

        try:
            print(f"error: {escape_unprintable(problem)}", file=sys.stderr, flush=True)
        except OSError:  # Such as a full disk: the exit code alone says it.
            _discard(sys.stderr)
    return code


def _outcome(work: Callable[[], int | None], out_of_memory: str) -> tuple[int, str]:
    """Exit code of a command, and its error message; "" without an error."""
    # Imported here, where signals are handled.
    from crfdeid import errors  # noqa: PLC0415

    problem = ""
    try:
        from crfdeid.cli.progress import show_messages  # noqa: PLC0415

        with errors.panics_as_errors(), show_messages():
            try:
                code = work() or 0
            finally:
                sys.stdout.flush()  # also after --help, which leaves by SystemExit
    except (errors.DataError, errors.UsageError) as wrong:
        return wrong.exit_status, str(wrong)
    except ValueError as wrong:
        from features.languages import LanguagePackError  # noqa: PLC0415

        if not isinstance(wrong, LanguagePackError):
            raise
        return 2, str(wrong)
    except ModuleNotFoundError as missing:
        extra = errors.missing_extra(missing)
        if not isinstance(extra, errors.UsageError):
            raise
        return extra.exit_status, str(extra)
    except BrokenPipeError:  # Its reader has gone, as of `| head`.
        _discard(sys.stdout)
        return _PIPE_CLOSED, ""
    except OSError as refused:  # Such as a full disk. It names files only.
        _discard(sys.stdout)
        return 1, f"{refused.filename}: {refused.strerror}" if refused.filename else str(refused)
    except errors.PanicError as panic:
        code, problem = 1, f"{panic}, below {errors.raised_at(panic).partition(' in ')[2]}: report it"
    except MemoryError:
        code, problem = 1, f"out of memory: {out_of_memory}"
    return code, problem


def run_click(command: click.Command, name: str, arguments: Sequence[str]) -> int:
    """Run a command of click without its handling of errors; return the exit code."""
    import click  # noqa: PLC0415

    from crfdeid.errors import UsageError  # noqa: PLC0415

    try:
        with command.make_context(name, list(arguments)) as context:
            return command.invoke(context) or 0
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.UsageError as wrong:
        message = re.sub(r"\S*://\S*", "(a URL)", " ".join(wrong.format_message().split()))  # It may hold a key.
        raise UsageError(f"{message} (--help lists the options)") from None


class _Output(io.FileIO):
    """Standard output, named in errors."""

    def write(self, content: Any) -> int:
        try:
            return super().write(content)
        except OSError as error:
            error.filename = error.filename or "standard output"
            raise


def _is_file(stream: io.TextIOWrapper) -> bool:
    """True if a stream writes bytes to a file or pipe, whether buffered or not (`python -u`)."""
    return isinstance(getattr(stream.buffer, "raw", stream.buffer), io.FileIO)


@contextlib.contextmanager
def _standard_streams() -> Iterator[None]:
    """Let errors name standard output, and reopen closed streams (`>&-`).

    Otherwise the next file would get the number of a closed stream, and the printed text with it. Reading from such a
    stream, or writing to standard output, fails as if it were still closed; messages are lost.
    """
    for name, mode, flags in (("stdin", "r", os.O_WRONLY), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_RDWR)):
        if getattr(sys, name) is None:
            number = os.open(os.devnull, flags)
            os.set_inheritable(number, True)
            stream = os.fdopen(number, mode, encoding="utf-8", closefd=False)
            setattr(sys, f"__{name}__", stream)
            setattr(sys, name, stream)
    before = sys.stdout
    # A console of Windows is no file: it takes characters, not bytes.
    if isinstance(before, io.TextIOWrapper) and before is sys.__stdout__ and _is_file(before):
        before.flush()
        output = io.BufferedWriter(_Output(before.fileno(), "w", closefd=False))
        by_line = before.line_buffering or before.write_through
        # A terminal without "±" shows \xb1.
        sys.stdout = io.TextIOWrapper(output, before.encoding, "backslashreplace", line_buffering=by_line)
    try:
        yield
    finally:
        sys.stdout = before


def _discard(stream: Any) -> None:
    """Drop unwritten output: Python would try again at its exit, and complain."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class Ending:
    """Handler that turns Ctrl-C or SIGTERM into an exception, also if Python or a library drops the first one.

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
        if _HAS_TIMER:
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

    @contextlib.contextmanager
    def answered(self) -> Iterator[None]:
        """Turn Ctrl-C and SIGTERM into an exception until leaving; in other threads than the main one, do nothing."""
        if current_thread() is not main_thread():
            yield
            return
        # A command that a shell starts in the background ignores Ctrl-C, and must continue to.
        asks = [one for one in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(one) is not signal.SIG_IGN]
        before = {signal.SIGALRM: signal.signal(signal.SIGALRM, self._look)} if _HAS_TIMER else {}
        before |= {number: signal.signal(number, self._asked) for number in asks}
        try:
            yield
        finally:
            self._over = True
            if _HAS_TIMER:
                signal.setitimer(signal.ITIMER_REAL, 0)
            for number, handler in before.items():
                signal.signal(number, handler)
            sys.unraisablehook = self._hook

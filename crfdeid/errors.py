"""The two kinds of error a user can mend; each says what is wrong, where, and what to do.

Messages name files, lines and offsets, never the text of a note: a message ends up in a log.
"""

from __future__ import annotations

import traceback
from pathlib import Path

# The packages whose functions a message may name.
_OURS = ("features", "crfdeid", "rnn")


class UsageError(ValueError):
    """An option, a name or a combination of settings that cannot work. Commands exit with 2."""


class DataError(ValueError):
    """A file or document that cannot be read as what it should be. Commands exit with 1.

    Args:
        problem: what is wrong and what to do, without any of the document's text.
        path: the file, or a text that says where in which file; "" is None.
        line: the line in the file, from 1.
        offset: the code-point offset in the document's text, from 0.
    """

    def __init__(
        self, problem: str, *, path: Path | str | None = None, line: int | None = None, offset: int | None = None
    ) -> None:
        place = str(path or "")
        if line is not None:
            place += f", line {line}" if place else f"line {line}"
        if offset is not None:
            place += f", offset {offset}" if place else f"offset {offset}"
        super().__init__(f"{place}: {problem}" if place else problem)
        self.problem, self.path, self.line, self.offset = problem, path or None, line, offset


def raised_at(problem: BaseException) -> str:
    """Where an unforeseen error came from: its type, and the innermost function of ours. Never its message.

    A message of Python's or of a library's can quote the text of a note, so that only this can be written down.

    Example:
        >>> raised_at(error)  # doctest: +SKIP
        'KeyError in crfdeid.consistency.make_consistent, line 88'
    """
    ours = [
        (frame.f_globals["__name__"], frame.f_code.co_qualname, line)
        for frame, line in traceback.walk_tb(problem.__traceback__)
        if str(frame.f_globals.get("__name__")).partition(".")[0] in _OURS
    ]
    kind = type(problem).__name__
    return "{} in {}.{}, line {}".format(kind, *ours[-1]) if ours else kind

"""Workers that process batches of notes: what the runner requires of them, and their refusal of mojibake."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Protocol

from crfdeid.errors import EncodingError, UsageError, panics_as_errors
from crfdeid.io.records import Failure, Note, NoteResult

Result = NoteResult | Failure
Worker = Callable[[Sequence[Note]], list[Result]]
"""Gives one result per note, in order."""


# --- mojibake


# Bytes 80 to BF in Windows-1252; as control characters where that has none, or in Latin-1.
_HIGH = "\x80-\x9f€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ"
_FOLLOWS = f"{_HIGH}\xa0-\xbf"
# Correct Portuguese, Swedish and French text can have a closing quote, a dash or a hard space after a capital that ends
# a word, so one such pair is no proof.
_CLOSES = "’”…–—™»\xa0"
_REPLACEMENT = "\ufffd"  # of decoders, such as Spark's, for bytes that they cannot read
_PAIR = re.compile(f"[Â-ð][{_FOLLOWS}]")  # in all mojibake, and in little correct text: a fast first test
_MOJIBAKE = re.compile(
    rf"[ÂÃÄÅ](?![{_CLOSES}])[{_FOLLOWS}]"  # Latin letters and signs
    rf"|â(?:€|\x80|[‚\x82]¬|[„\x84]¢)|ï»¿|ï¬[\x81\x82‚]|ð[Ÿ\x9f]"  # quotes, dashes, euro; byte order mark; emoji
    rf"|(?:[Â-ß][{_FOLLOWS}]){{2}}|(?:[à-ï][{_FOLLOWS}]{{2}}){{2}}"  # any alphabet: two letters in a row
)


def find_mojibake(text: str) -> int | None:
    """Offset of the first characters that only a wrong encoding produces ("JosÃ©"); None without any.

    Mojibake is UTF-8 that was read as Latin-1 or Windows-1252 and written again, once or more often.

    Example:
        >>> find_mojibake("José"), find_mojibake("JosÃ©")
        (None, 3)
    """
    found = _MOJIBAKE.search(text) if not text.isascii() and _PAIR.search(text) else None
    return None if found is None else found.start()


def require_no_mojibake(text: str) -> None:
    """Refuse a note with mojibake, or with the character U+FFFD for lost bytes, in which a model would miss PHI.

    Raises:
        EncodingError: the note has either; the message has the offset, but no text.
    """
    offset = text.find(_REPLACEMENT)
    if offset >= 0:
        problem = (
            "U+FFFD in place of bytes that were no UTF-8: take the notes from their source in its encoding, or give "
            "--allow-mojibake and expect misses"
        )
        raise EncodingError(problem, offset=offset)
    found = find_mojibake(text)
    if found is not None:
        problem = (
            "letters are damaged: UTF-8 was read as Latin-1 or Windows-1252 and written again; "
            "take the notes from their source as UTF-8, or give --allow-mojibake and expect misses"
        )
        raise EncodingError(problem, offset=found)


# --- workers


class WorkerTask(Protocol):
    """A task that can be sent to another process, and started there."""

    def start(self) -> Worker:
        """Load the model, and return the worker."""


def isolate_failures(work: Worker) -> Worker:
    """Make only the failing note fail: the other notes of its batch are processed again, one by one.

    A `UsageError` is raised, since no note causes it.
    """

    def careful(notes: Sequence[Note]) -> list[Result]:
        try:
            with panics_as_errors():
                return list(work(notes))
        except UsageError:
            raise
        except Exception as problem:  # Any error is listed, and the note has no output.
            if len(notes) == 1:
                return [Failure.of(problem)]
        return [result for note in notes for result in careful([note])]

    return careful

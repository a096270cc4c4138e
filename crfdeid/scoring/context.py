"""One line of text around an error. It shows the document's text: print it for synthetic data, or where asked to."""

from __future__ import annotations

import re

from crfdeid.documents import Document, Span
from crfdeid.scoring.errors import EntityError

# Everything that `str.splitlines` takes for a line's end.
_LINE_END = re.compile("\r\n|[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")


def in_context(document: Document, error: EntityError, *, width: int = 40) -> str:
    """The text around an error on one line, gold marked ``[gold|TYPE]`` and the prediction ``{prediction|TYPE}``.

    Args:
        document: the document the error is in.
        error: from `find_errors`.
        width: characters shown before and after.

    Returns:
        One line; line ends are shown as "⏎", text that was cut off as "…".

    Example:
        >>> note = Document("n1", "Seen by Ann Doe", (Span(8, 15, "DOCTOR"),))
        >>> in_context(note, EntityError("n1", "boundary", note.spans[0], Span(8, 11, "PATIENT")))
        'Seen by [{Ann|PATIENT} Doe|DOCTOR]'
    """
    text = document.text
    marks = _marks(error.gold, error.predicted)
    here = max(0, marks[0][0] - width)
    stop = min(len(text), marks[-1][0] + width)
    pieces = ["…" if here > 0 else ""]
    for position, mark in marks:
        pieces += [text[here:position], mark]
        here = position
    pieces += [text[here:stop], "…" if stop < len(text) else ""]
    return _LINE_END.sub("⏎", "".join(pieces))


def _marks(gold: Span | None, predicted: Span | None) -> list[tuple[int, str]]:
    """(offset, mark) in the order of writing: at one offset closing marks first, and the longer span outside."""
    sides = [(gold, "[", "]"), (predicted, "{", "}")]
    marks = []
    for rank, (span, opening, closing) in enumerate(sides):
        if span is not None:
            marks.append(((span.start, 1, -span.end, rank), opening))
            marks.append(((span.end, 0, -span.start, -rank), f"|{span.label}{closing}"))
    return [(key[0], mark) for key, mark in sorted(marks)]

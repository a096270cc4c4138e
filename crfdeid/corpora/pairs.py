"""The same documents read from two places: matched by id, with the spans of the one as offsets in the other's text.

Messages say where a document stands and not its id, which can be PHI.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from crfdeid.documents import Document, Span
from crfdeid.errors import DataError
from crfdeid.system.files import MARK

_MOST_LISTED = 5


def pair_by_id(
    first: Sequence[Document], second: Sequence[Document], *, sides: tuple[str, str], remedy: str
) -> list[tuple[Document, Document]]:
    """Each document of the first side with the one of the second side that has its id.

    Args:
        first: documents with unique ids; the pairs are in their order.
        second: likewise.
        sides: what messages call the two.
        remedy: what messages tell to do.

    Raises:
        DataError: a document is missing on one side.
    """
    others = {document.id: document for document in second}
    ids = {document.id for document in first}
    lacking = (
        (sides[1], [document.place for document in first if document.id not in others]),
        (sides[0], [document.place for document in second if document.id not in ids]),
    )
    missing = [f"missing in {side}: {listed(places, between='; ')}" for side, places in lacking if places]
    if missing:
        raise DataError(f"{'. '.join(missing)}: {remedy}")
    return [(document, others[document.id]) for document in first]


def same_notes(
    first: Sequence[Document], second: Sequence[Document], *, sides: tuple[str, str], doing: str
) -> dict[str, list[Span]]:
    """The spans of the second side for each document of the first, by id, which must be the same with the same text.

    Args:
        first: documents with unique ids.
        second: likewise.
        sides: what messages call the two.
        doing: what is done with the two, for messages, such as "score".

    Raises:
        DataError: a document is missing on one side: what is skipped would count as perfect. Or its text differs.
    """
    remedy = f"{doing} the same notes on both sides, under the same ids, those without findings too"
    problem = (
        f"the text is not that of the note of {sides[0]} from here on: {doing} what was marked in the same notes, in a "
        "format that keeps the text (column formats do not)"
    )
    pairs = pair_by_id(first, second, sides=sides, remedy=remedy)
    return {document.id: spans_in(document, other, problem=problem) for document, other in pairs}


def spans_in(document: Document, other: Document, *, problem: str) -> list[Span]:
    """The spans of another reading of a document, as offsets in this one's text.

    Some formats count a file's byte-order mark, others drop it: this is the one difference that the texts may have.

    Args:
        document: the document.
        other: the same document, read from elsewhere.
        problem: what is wrong, and what to do, where the two texts differ.

    Raises:
        DataError: the texts differ; it names the place and the offset in ``document``.

    Example:
        >>> read, found = Document("1", "\\ufeffDoe"), Document("1", "Doe", (Span(0, 3, "DOCTOR"),))
        >>> spans_in(read, found, problem="the texts differ")
        [Span(start=1, end=4, label='DOCTOR')]
    """
    texts = document.text, other.text
    marks = [text.startswith(MARK) for text in texts]
    if texts[0].removeprefix(MARK) != texts[1].removeprefix(MARK):
        bare = [text.removeprefix(MARK) for text in texts]
        pairs = enumerate(zip(*bare, strict=False))
        offset = next((i for i, (a, b) in pairs if a != b), min(map(len, bare)))
        raise DataError(problem, path=document.place, offset=offset + marks[0])
    shift = marks[0] - marks[1]
    moved = ((max(start + shift, 0), end + shift, label) for start, end, label in other.spans)
    return [Span(*span) for span in moved if span[1] > 0]


def listed(names: Iterable[str], *, between: str = ", ") -> str:
    """The first few of some names, and how many more there are.

    Example:
        >>> listed("abcdefgh")
        'a, b, c, d, e and 3 more'
    """
    found = list(names)
    more = f" and {len(found) - _MOST_LISTED} more" if len(found) > _MOST_LISTED else ""
    return between.join(found[:_MOST_LISTED]) + more

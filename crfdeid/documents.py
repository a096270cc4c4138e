"""The data model: a text, the spans marked in it, and tagged sentences. Offsets are half-open Unicode code points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from crfdeid.errors import DataError
from features.tokens import Sentence, split_sentences

PHI = "phi"
"""The annotation layer of what has to be found and hidden."""


class Span(NamedTuple):
    """A labelled stretch of text, ``text[start:end]``. Spans sort by place."""

    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True)
class Document:
    """A text with its annotated spans.

    Args:
        id: the document's name, unique in its corpus.
        text: the text, exactly as in the file.
        spans: what is marked in it, sorted by place; spans may overlap, as some corpora nest them.
        given_sentences: the tokenisation that came with the data (column formats); None where the text is to be
            tokenised by `features.tokens`.

    Raises:
        DataError: a span is empty or reaches outside the text.
    """

    id: str
    text: str
    spans: tuple[Span, ...] = ()
    given_sentences: tuple[Sentence, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "spans", tuple(sorted(self.spans)))
        for start, end, label in self.spans:
            if not 0 <= start < end <= len(self.text):
                raise DataError(
                    f"the {label} span [{start}, {end}) is empty or outside the text of {len(self.text)} characters",
                    path=self.id,
                    offset=start,
                )

    def sentences(self) -> tuple[Sentence, ...]:
        """The tokenised sentences: as given with the data, else by `features.tokens.split_sentences`."""
        if self.given_sentences is not None:
            return self.given_sentences
        return tuple(split_sentences(self.text))


class LabelledSentence(NamedTuple):
    """A sentence and one tag a token, in IOB2 ("B-DATE", "I-DATE", "O"); and the id of the document it is from.

    Sentences made by hand may leave the document out: they then count as one document.
    """

    sentence: Sentence
    tags: tuple[str, ...]
    document: str = ""


def lone_surrogate(text: str) -> int | None:
    """The offset of the first lone surrogate; None where there is none, as in all Unicode text.

    A lone surrogate is half of a surrogate pair. JSON and Python can spell it, but it is no character and has no UTF-8.

    Example:
        >>> lone_surrogate("Dr. Quill"), lone_surrogate("Dr. \\ud800")
        (None, 4)
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return error.start
    return None

"""A trained model at work on text: `Deidentifier` marks the PHI of a note, whatever the model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from crfdeid.bio import decode
from crfdeid.documents import Document, Span
from crfdeid.models import load_tagger
from crfdeid.tagger import Tagger

# Notes are tagged together until so many characters have come in: enough to keep a network busy, little enough that
# the first results are there soon and that memory does not grow with the number of notes.
_BATCH_CHARACTERS = 1 << 18


class Deidentifier:
    """Finds the PHI of notes with a trained tagger.

    It holds no state but the model: several threads may use one at once.

    Args:
        tagger: a trained model.

    Example:
        >>> from crfdeid.corpora.synthetic import generate  # doctest: +SKIP
        >>> model = crfdeid.load("model/")  # doctest: +SKIP
        >>> model.annotate("Seen by Dr. Quill.").spans  # doctest: +SKIP
        (Span(start=12, end=17, label='DOCTOR'),)
    """

    def __init__(self, tagger: Tagger) -> None:
        self.tagger = tagger

    def annotate(self, text: str, *, id: str = "") -> Document:
        """The document of a text, with its PHI as spans.

        Raises:
            DataError: the text has a lone surrogate: it is no Unicode text.
        """
        (document,) = self.annotate_documents([Document(id, text)])
        return document

    def annotate_all(self, texts: Iterable[str]) -> Iterator[Document]:
        """A document for each text, in order, as soon as it is done; ids are the texts' numbers, from 0.

        Texts are read as they are needed, some 260,000 characters ahead, so memory does not grow with their number.
        """
        return self.annotate_documents(Document(str(number), text) for number, text in enumerate(texts))

    def annotate_documents(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The same documents with the PHI that the model finds as their spans; spans they had are dropped."""
        waiting: list[Document] = []
        characters = 0
        for document in documents:
            waiting.append(document)
            characters += len(document.text)
            if characters >= _BATCH_CHARACTERS:
                yield from self._annotate(waiting)
                waiting, characters = [], 0
        yield from self._annotate(waiting)

    def _annotate(self, documents: list[Document]) -> Iterator[Document]:
        sentences = [document.sentences() for document in documents]
        rows = iter(self.tagger.predict([sentence for group in sentences for sentence in group]))
        for document, group in zip(documents, sentences, strict=True):
            spans: list[Span] = []
            for sentence in group:
                spans += decode(sentence, next(rows))
            yield replace(document, spans=tuple(spans))


def load(folder: Path | str) -> Deidentifier:
    """A trained model from its folder, ready to annotate text.

    Raises:
        DataError: the folder holds no model, or a damaged one.
    """
    return Deidentifier(load_tagger(folder))

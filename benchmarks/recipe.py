"""The usual CRF recipe: sklearn-crfsuite with a dictionary of features for each token, as tutorials have it.

Its tokens are runs of characters without white space, its lines are its sentences, and a word that shares a character
with a span of PHI has the span's type.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from crfdeid.bio import OUTSIDE
from crfdeid.documents import Document, Span

_WORD = re.compile(r"\S+")


def word_features(words: list[str], i: int) -> dict[str, Any]:
    """The features of a word."""
    word = words[i]
    features: dict[str, Any] = {
        "bias": 1.0,
        "word": word.lower(),
        "last3": word[-3:],
        "last2": word[-2:],
        "upper": word.isupper(),
        "title": word.istitle(),
        "digit": word.isdigit(),
    }
    for offset in (-1, 1):
        if 0 <= i + offset < len(words):
            near = words[i + offset]
            features[f"{offset}:word"] = near.lower()
            features[f"{offset}:title"] = near.istitle()
            features[f"{offset}:upper"] = near.isupper()
        else:
            features["begin" if offset < 0 else "end"] = True
    return features


class Recipe:
    """A CRF as tutorials train it.

    Args:
        documents: what it is trained on.
    """

    def __init__(self, documents: Sequence[Document]) -> None:
        from sklearn_crfsuite import CRF  # noqa: PLC0415

        rows, tags = [], []
        for document in documents:
            for places, words in _lines(document.text):
                rows.append([word_features(words, i) for i in range(len(words))])
                tags.append([_label(document.spans, *place) for place in places])
        self._crf = CRF(algorithm="lbfgs", c1=0.1, c2=0.1, max_iterations=100, all_possible_transitions=True)
        self._crf.fit(rows, tags)

    def find(self, text: str) -> list[Span]:
        """The PHI that it finds: runs of words of one type in a line."""
        found: list[Span] = []
        for places, words in _lines(text):
            before = OUTSIDE
            for (start, end), label in zip(
                places, self._crf.predict_single([word_features(words, i) for i in range(len(words))]), strict=True
            ):
                if label != OUTSIDE:
                    first = found.pop().start if label == before else start
                    found.append(Span(first, end, label))
                before = label
        return found


def _lines(text: str) -> Iterator[tuple[list[tuple[int, int]], list[str]]]:
    """Where the words of each line stand, and the words."""
    start = 0
    for line in text.splitlines(keepends=True):
        found = list(_WORD.finditer(line))
        if found:
            yield [(start + match.start(), start + match.end()) for match in found], [match[0] for match in found]
        start += len(line)


def _label(spans: Sequence[Span], start: int, end: int) -> str:
    return next((span.label for span in spans if span.start < end and start < span.end), OUTSIDE)

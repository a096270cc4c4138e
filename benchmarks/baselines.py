"""Other de-identifiers that benchmarks time and score: Presidio's patterns, and the CRF of sklearn-crfsuite's tutorial.

The tutorial's tokens are runs of characters without white space, its sentences are lines, and a word that shares a
character with a PHI span has the span's type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from crfdeid.bio import OUTSIDE
from crfdeid.documents import Document, Span

_WORD = re.compile(r"\S+")


def word_features(words: list[str], i: int) -> dict[str, Any]:
    """Features of one word and its neighbours."""
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


class TutorialCrf:
    """sklearn-crfsuite with a dictionary of features for each token, as tutorials train it.

    Args:
        documents: training documents with their spans.
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
        """Runs of words of one type in a line."""
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
    """Offsets and texts of the words of each line."""
    start = 0
    for line in text.splitlines(keepends=True):
        found = list(_WORD.finditer(line))
        if found:
            yield [(start + match.start(), start + match.end()) for match in found], [match[0] for match in found]
        start += len(line)


def _label(spans: Sequence[Span], start: int, end: int) -> str:
    return next((span.label for span in spans if span.start < end and start < span.end), OUTSIDE)


def _presidio_analyser() -> Any:
    """Presidio's analyser with its patterns and a blank English pipeline of spaCy."""
    import spacy  # noqa: PLC0415
    from presidio_analyzer import AnalyzerEngine, RecognizerRegistry  # noqa: PLC0415
    from presidio_analyzer.nlp_engine import SpacyNlpEngine  # noqa: PLC0415

    class Blank(SpacyNlpEngine):
        def __init__(self) -> None:
            super().__init__()
            self.nlp = {"en": spacy.blank("en")}

        def is_loaded(self) -> bool:
            return True

    registry = RecognizerRegistry()
    registry.load_predefined_recognizers(languages=["en"])
    registry.remove_recognizer("SpacyRecognizer")
    return AnalyzerEngine(registry=registry, nlp_engine=Blank(), supported_languages=["en"])


def presidio_finder() -> Callable[[str], list[Span]]:
    """Presidio's patterns as a function from a text to spans of its types."""
    analyser = _presidio_analyser()
    return lambda text: [Span(one.start, one.end, one.entity_type) for one in analyser.analyze(text, language="en")]


def presidio() -> Callable[[Sequence[str]], list[str]]:
    """Presidio's patterns and its anonymiser: raw texts to redacted ones."""
    from presidio_anonymizer import AnonymizerEngine  # noqa: PLC0415

    analyser, anonymiser = _presidio_analyser(), AnonymizerEngine()

    def work(texts: Sequence[str]) -> list[str]:
        return [anonymiser.anonymize(text, analyser.analyze(text, language="en")).text for text in texts]

    return work

"""Token scores: recall and precision of PHI tokens, by type or as PHI against not PHI."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from crfdeid.bio import OUTSIDE
from crfdeid.documents import PHI, Document, LabelledSentence, Span, overlapping, positions_in, tokens_of
from crfdeid.evaluation.entities import Predictions, Scores, pair_up, scores_from_totals
from crfdeid.label_schemes import BINARY
from crfdeid.tagger import VocabularyProbe
from features.tokenizer import Token

# (gold type, predicted type) -> tokens; "" is a token outside every span.
TokenPairs = Mapping[tuple[str, str], int]


def score_tokens(gold: Sequence[Document], predicted: Predictions, *, binary: bool = False) -> Scores:
    """Count the tokens of a corpus that were given the right type.

    The tokens are those of `Document.sentences`. A token has the type of the span that holds any of its characters;
    where several do, of the longest, then of the earliest, then of the first type by name. A span over
    white space alone holds no token: it counts in the entity scores only.

    Args:
        gold: the annotated documents.
        predicted: for each of them, by id, the predicted spans.
        binary: ignore types: one type, "PHI". Tokens inside a span of the wrong type are then right.

    Example:
        >>> note = Document("n1", "Seen by Ann Doe", (Span(8, 15, "DOCTOR"),))
        >>> score_tokens([note], {"n1": [Span(8, 11, "PATIENT")]}, binary=True).micro
        Counts(tp=1, fp=0, fn=1)
    """
    return token_scores(count_token_pairs(gold, predicted), binary=binary)


def count_token_pairs(gold: Sequence[Document], predicted: Predictions) -> Counter[tuple[str, str]]:
    """Count tokens by (gold type, predicted type); "" is no type.

    Tokenising is the slow step: count once, then give the counts to `token_scores` with types and without.
    """
    pairs: Counter[tuple[str, str]] = Counter()
    for document, spans in pair_up(gold, predicted):
        tokens = tokens_of(document)
        pairs.update(zip(token_types(tokens, document.spans), token_types(tokens, spans), strict=True))
    return pairs


def token_scores(pairs: TokenPairs, *, binary: bool = False) -> Scores:
    """Scores from the counts of `count_token_pairs`.

    Example:
        >>> token_scores({("DOCTOR", "PATIENT"): 1, ("", ""): 7}, binary=True).by_type
        {'PHI': Counts(tp=1, fp=0, fn=0)}
    """
    if binary:
        pairs = binary_pairs(pairs)
    return scores_from_totals(
        matched=_totals((right, count) for (right, found), count in pairs.items() if right == found),
        gold=_totals((right, count) for (right, _), count in pairs.items()),
        predicted=_totals((found, count) for (_, found), count in pairs.items()),
    )


def binary_pairs(pairs: TokenPairs) -> Counter[tuple[str, str]]:
    """The counts of `count_token_pairs` with one type, "PHI"."""
    binary: Counter[tuple[str, str]] = Counter()
    for (first, second), count in pairs.items():
        binary[first and BINARY, second and BINARY] += count
    return binary


def _totals(counts: Iterable[tuple[str, int]]) -> Counter[str]:
    """The sum of the counts of each type; tokens without a type do not count."""
    total: Counter[str] = Counter()
    for label, count in counts:
        if label:
            total[label] += count
    return total


def token_types(tokens: Sequence[Token], spans: Sequence[Span]) -> list[str]:
    """The type of each token, as `score_tokens` says; "" where there is none.

    Args:
        tokens: by place, from `crfdeid.documents.tokens_of`.
        spans: the spans, in any order.
    """
    types = [""] * len(tokens)
    for span in sorted(spans, key=lambda s: (s.start - s.end, s)):
        for i in positions_in(tokens, span):
            types[i] = types[i] or span.label
    return types


class MissedToken(NamedTuple):
    """A token of PHI that was not marked at all.

    Attributes:
        number: its index among the document's tokens.
        adjacent_found: the token before or after it is marked PHI (johnson2020, section 4.2).
    """

    number: int
    adjacent_found: bool


def missed_tokens(gold: Sequence[str], found: Sequence[str]) -> list[MissedToken]:
    """The tokens of PHI in a document that were not marked, whatever their types.

    Args:
        gold: the type of each token, "" for none (`token_types`).
        found: likewise, of the predictions.

    Example:
        >>> missed_tokens(["NAME", "NAME", "", "DATE"], ["NAME", "", "", ""])
        [MissedToken(number=1, adjacent_found=True), MissedToken(number=3, adjacent_found=False)]
    """
    right = [bool(type_ and other) for type_, other in zip(gold, found, strict=True)]
    padded = [False, *right, False]
    return [
        MissedToken(i, padded[i] or padded[i + 2])
        for i, (type_, other) in enumerate(zip(gold, found, strict=True))
        if type_ and not other
    ]


@dataclass(frozen=True, slots=True)
class Proportion:
    """A count and its total.

    Args:
        count: of these.
        total: of all.
    """

    count: int
    total: int

    @property
    def fraction(self) -> float:
        """``count / total``; 0 for a total of 0."""
        return self.count / max(self.total, 1)

    def interval(self, level: float = 0.05) -> tuple[float, float]:
        """Wilson's interval for the share, as if each of the things came by chance alone.

        Tokens of one note do not: their true range is wider.

        Args:
            level: the share of cases in which it may miss: 0.05 for a 95 % interval.

        Example:
            >>> low, high = Proportion(0, 100).interval()
            >>> round(low, 3), round(high, 3)
            (0.0, 0.037)

        Reference:
            Wilson 1927 (JASA), Probable inference, the law of succession, and statistical inference.
        """
        from scipy.stats import binomtest  # noqa: PLC0415  It takes long to import.

        if not self.total:
            return 0.0, 1.0
        ends = binomtest(self.count, self.total).proportion_ci(1 - level, method="wilson")
        return float(ends.low), float(ends.high)

    def to_dict(self) -> dict[str, Any]:
        """As plain data: "count", "total", and the ends of the 95 % interval, "low" and "high", fractions."""
        low, high = self.interval()
        return {"count": self.count, "total": self.total, "low": low, "high": high}


def leaks_by_type(gold: Sequence[Document], predictions: Predictions) -> dict[str, Proportion]:
    """The share of each type's tokens that no predicted span of any type touches; by gold's types, sorted.

    A doctor tagged as a patient is hidden, and does not leak.

    Example:
        >>> from crfdeid.documents import Span
        >>> note = Document("1", "Ann saw Dr. Doe", (Span(0, 3, "PATIENT"), Span(12, 15, "DOCTOR")))
        >>> leaks_by_type([note], {"1": [Span(0, 3, "DOCTOR")]})
        {'DOCTOR': Proportion(count=1, total=1), 'PATIENT': Proportion(count=0, total=1)}
    """
    pairs = count_token_pairs(gold, predictions)
    total = _totals((right, count) for (right, _), count in pairs.items())
    missed = _totals((right, count) for (right, found), count in pairs.items() if not found)
    return {label: Proportion(missed[label], total[label]) for label in sorted(total)}


def hidden_concepts(
    gold: Sequence[Document], concepts: Mapping[str, Sequence[Span]], predictions: Predictions
) -> dict[str, Proportion]:
    """The share of each type's concepts that a predicted span touches by mistake: clinical words lost to redaction.

    Concepts that touch gold PHI are not counted: they are hidden rightly.

    Args:
        gold: the documents with their PHI.
        concepts: the concepts of each, by its id.
        predictions: the predicted PHI of each.

    Example:
        >>> note = Document("1", "Dr. Doe: aspirin", (Span(4, 7, "DOCTOR"),))
        >>> hidden_concepts([note], {"1": [Span(9, 16, "DRUG")]}, {"1": [Span(9, 16, "PATIENT")]})
        {'DRUG': Proportion(count=1, total=1)}
    """
    total: Counter[str] = Counter()
    hidden: Counter[str] = Counter()
    for document, spans in pair_up(gold, predictions):
        own = concepts[document.id]
        rightly = set(overlapping(own, document.spans))
        counted = [span for span in own if span not in rightly]
        total.update(span.label for span in counted)
        hidden.update(span.label for span in overlapping(counted, spans))
    return {label: Proportion(hidden[label], total[label]) for label in sorted(total)}


def words_only_phi(sentences: Iterable[LabelledSentence]) -> list[str]:
    """The words with a letter that are nothing but PHI in some annotated sentences, sorted.

    A word that also occurs elsewhere, in capitals or small letters, is not among them: that a name is stored which is
    also a word says nothing. Numbers are left out, since models read them by their shape.

    Args:
        sentences: sentences; those without PHI annotation count as text without PHI.

    Example:
        >>> from features.tokens import Sentence
        >>> sentence = Sentence.from_words(["Rose", "Quill", "likes", "a", "rose"])
        >>> words_only_phi([LabelledSentence(sentence, ("B-NAME", "I-NAME", "O", "O", "O"))])
        ['Quill']
    """
    words = {
        (word, PHI in item.annotated and tag != OUTSIDE)
        for item in sentences
        for word, tag in zip(item.sentence.words, item.tags, strict=True)
    }
    elsewhere = {word.casefold() for word, is_phi in words if not is_phi}
    return sorted(
        word for word, is_phi in words if is_phi and word.casefold() not in elsewhere and any(map(str.isalpha, word))
    )


def memorised_phi_rate(model: VocabularyProbe, train: Iterable[LabelledSentence]) -> Proportion:
    """The share of words that occur in training only as PHI and that a model has stored.

    For a model of PHI and concepts, the part that tags concepts counts.

    Args:
        model: a trained model.
        train: the sentences that it was trained on.
    """
    words = words_only_phi(train)
    return Proportion(sum(model.stores(words)), len(words))

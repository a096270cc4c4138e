"""The scores of the 2014 i2b2/UTHealth de-identification challenge: token, strict and relaxed; all PHI and HIPAA's.

- strict: same type, start and end. relaxed: the end may be off by two characters. token: each token of a span by
  itself; the tokens are this library's, so that "03/14/72" is five.
- Each once over all PHI and once over the types that HIPAA names alone.
- micro: counts over all notes together. macro: precision and recall of each note, and their means over the notes. F is
  that of the two means. Our own rule, where the description has none: a note without gold and prediction has both 1.

Reference:
    Stubbs, Kotfila and Uzuner (2015), sections 4 and 5: the measures, and which of the types HIPAA names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from crfdeid.documents import Document, Span
from crfdeid.scoring.counts import Counts
from crfdeid.scoring.entities import Predictions, pair_up
from crfdeid.scoring.tokens import count_token_pairs

_FREE_CHARACTERS = 2

_HIPAA_TYPES = """
    PATIENT AGE DATE PHONE FAX EMAIL STREET CITY ZIP ORGANIZATION
    ACCOUNT BIOID DEVICE HEALTHPLAN IDNUM LICENSE MEDICALRECORD SSN VEHICLE
"""
HIPAA = frozenset(_HIPAA_TYPES.split())
"""The 2014 types that HIPAA names. Doctors, hospitals, states, countries, jobs and user names are not among them."""

MODES = ("token", "strict", "relaxed")


class Score(NamedTuple):
    """One mode on one set of types.

    Attributes:
        mode: one of `MODES`.
        subset: "all PHI" or "HIPAA".
        micro: counts over all notes.
        precision: the mean of the notes' precisions.
        recall: the mean of their recalls.
    """

    mode: str
    subset: str
    micro: Counts
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """The F of the mean precision and recall."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def score_i2b2(gold: Sequence[Document], predicted: Predictions) -> list[Score]:
    """All six scores of the challenge.

    Args:
        gold: the annotated documents, with the types of 2014.
        predicted: for each of them, by id, what was found.

    Raises:
        DataError: as for `crfdeid.scoring.score_entities`.
    """
    pairs = [(document, list(spans)) for document, spans in pair_up(gold, predicted)]
    return [
        _score(mode, subset, [count(document, spans, wanted) for document, spans in pairs])
        for subset, wanted in (("all PHI", _is_any), ("HIPAA", HIPAA.__contains__))
        for mode, count in _COUNTS.items()
    ]


def _score(mode: str, subset: str, notes: Sequence[Counts]) -> Score:
    precisions = [_share(note.tp, note.tp + note.fp, note) for note in notes]
    recalls = [_share(note.tp, note.tp + note.fn, note) for note in notes]
    count = max(len(notes), 1)
    return Score(mode, subset, sum(notes, Counts()), sum(precisions) / count, sum(recalls) / count)


def _share(part: int, whole: int, note: Counts) -> float:
    return part / whole if whole else float(note == Counts())


_Wanted = Callable[[str], bool]


def _is_any(label: str) -> bool:
    return True


def _only(spans: Sequence[Span], wanted: _Wanted) -> list[Span]:
    return [span for span in spans if wanted(span.label)]


def _strict(document: Document, spans: Sequence[Span], wanted: _Wanted) -> Counts:
    gold, found = Counter(_only(document.spans, wanted)), Counter(_only(spans, wanted))
    return _counts((gold & found).total(), gold.total(), found.total())


def _relaxed(document: Document, spans: Sequence[Span], wanted: _Wanted) -> Counts:
    """One-to-one: gold spans in order of their ends, each with the first end that is near enough and free."""
    gold, found = _only(document.spans, wanted), _only(spans, wanted)
    free: dict[tuple[int, str], list[int]] = {}
    for span in sorted(found):
        free.setdefault((span.start, span.label), []).append(span.end)
    matched = 0
    for span in sorted(gold):
        ends = free.get((span.start, span.label), [])
        near = next((end for end in ends if abs(end - span.end) <= _FREE_CHARACTERS), None)
        if near is not None:
            ends.remove(near)
            matched += 1
    return _counts(matched, len(gold), len(found))


def _tokens(document: Document, spans: Sequence[Span], wanted: _Wanted) -> Counts:
    pairs: Mapping[tuple[str, str], int] = count_token_pairs([document], {document.id: spans})
    gold = sum(n for (right, _), n in pairs.items() if right and wanted(right))
    found = sum(n for (_, found), n in pairs.items() if found and wanted(found))
    matched = sum(n for (right, found), n in pairs.items() if right and right == found and wanted(right))
    return _counts(matched, gold, found)


def _counts(matched: int, gold: int, found: int) -> Counts:
    return Counts(matched, found - matched, gold - matched)


_COUNTS = {"token": _tokens, "strict": _strict, "relaxed": _relaxed}

"""Scores of a model on rewritten notes: how much of the recall each rewrite costs, and where most."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crfdeid.augmentation.perturbations import PERTURBATIONS, perturb
from crfdeid.documents import Document, Span, tokens_of
from crfdeid.evaluation.entities import Predictions
from crfdeid.evaluation.probabilities import tokens_in
from crfdeid.evaluation.significance import bootstrap_ratios, percentile_interval

WORST = 10
"""Number of notes that are named."""


class NoteRecall(NamedTuple):
    """PHI tokens of a note, found whatever their type.

    Attributes:
        found: number found.
        tokens: number of all.
    """

    found: int
    tokens: int

    @classmethod
    def of(cls, gold: Document, spans: Sequence[Span]) -> NoteRecall:
        """Count the tokens of a note that a gold span touches, and those that a predicted span touches too."""
        tokens = tokens_of(gold)
        is_phi = tokens_in(tokens, gold.spans)
        return cls(int((is_phi & tokens_in(tokens, spans)).sum()), int(is_phi.sum()))


class WorstNote(NamedTuple):
    """A rewritten note with many new misses.

    Attributes:
        id: the note's.
        rewrite: name of the perturbation.
        before: PHI tokens of the note.
        after: those of the rewritten note.
    """

    id: str
    rewrite: str
    before: NoteRecall
    after: NoteRecall

    @property
    def lost(self) -> float:
        """Share of PHI tokens found before, less that after."""
        return self.before.found / max(self.before.tokens, 1) - self.after.found / max(self.after.tokens, 1)


class PerturbedRecall(NamedTuple):
    """Recall of PHI tokens on notes that a perturbation changes, before and after, as fractions.

    Attributes:
        rewrite: name of the perturbation.
        notes: number of notes that it changes.
        tokens: PHI tokens in the rewritten notes.
        before: recall in these notes as they are.
        after: recall in the rewritten notes.
        low: lower end of the 95 % interval of after - before: percentiles over resampled pairs of notes.
        high: upper end.
        worst: the notes with the largest loss, the first `WORST`.
    """

    rewrite: str
    notes: int
    tokens: int
    before: float
    after: float
    low: float
    high: float
    worst: Sequence[WorstNote]

    def to_dict(self) -> dict[str, Any]:
        """As JSON data, without the notes."""
        return {name: value for name, value in self._asdict().items() if name != "worst"}


def score_perturbations(
    find: Callable[[Sequence[Document]], Iterable[Document]],
    gold: Sequence[Document],
    found: Predictions,
    kinds: Sequence[str],
    *,
    samples: int = 2000,
) -> list[PerturbedRecall]:
    """Compare what a model finds in notes and in rewritten ones; perturbations that change no note are left out.

    Args:
        find: marks PHI in notes, in order, as `crfdeid.Deidentifier.annotate_documents`.
        gold: the annotated notes.
        found: by id, what it found in them.
        kinds: of `PERTURBATIONS`.
        samples: resampled corpora for the intervals.
    """
    before = {document.id: NoteRecall.of(document, found[document.id]) for document in gold}
    scores = []
    for kind in kinds:
        for name, rewrite in PERTURBATIONS[kind].items():
            copies = perturb(name, rewrite, gold)
            marked = [NoteRecall.of(copy, own.spans) for copy, own in zip(copies, find(copies), strict=True)]
            pairs = [(before[copy.id], after) for copy, after in zip(copies, marked, strict=True)]
            if any(pair[0].tokens and pair[1].tokens for pair in pairs):
                notes = [WorstNote(copy.id, name, *pair) for copy, pair in zip(copies, pairs, strict=True)]
                scores.append(_score(name, notes, samples))
    return scores


def worst_notes(scores: Iterable[PerturbedRecall]) -> list[WorstNote]:
    """The rewritten notes with the largest loss of all perturbations, the first `WORST`."""
    return sorted((note for score in scores for note in score.worst), key=lambda note: -note.lost)[:WORST]


def _score(name: str, notes: Sequence[WorstNote], samples: int) -> PerturbedRecall:
    counts: NDArray[np.float64] = np.array([(note.before, note.after) for note in notes], float)  # [N, 2, 2]
    sums = counts.sum(axis=0)
    recall = sums[:, 0] / np.maximum(sums[:, 1], 1)
    drawn = bootstrap_ratios(counts, samples=samples)  # [samples, 2]
    low, high = percentile_interval(drawn[:, 1] - drawn[:, 0])
    worst = sorted((note for note in notes if note.lost > 0), key=lambda note: -note.lost)[:WORST]
    return PerturbedRecall(
        name, len(notes), int(sums[1, 1]), float(recall[0]), float(recall[1]), float(low), float(high), worst
    )

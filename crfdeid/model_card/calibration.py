"""Calibration: a threshold with which, with confidence, at most a given share of notes leaks.

The thresholds of a fixed list are tested from the safest on. The hypothesis "with threshold t more than a share R of
notes leak" is rejected where so few of n notes leak that their exact upper bound is at most R. The first threshold that
is not rejected ends the sequence, and the last one that was is chosen. Each true hypothesis comes after rejected ones
alone, so that with the confidence of one test no chosen threshold leaks more than R: learn then test, with the fixed
sequence. It needs annotations that neither trained nor tuned the model, and no assumption about the thresholds.

Labels by machine (`crfdeid.silver`) may have trained the model if all notes of a site had them, the annotated ones too:
the model is then the same whichever notes are drawn to be annotated, and the claim is about all of them. Were only the
annotated ones left out of training, it would be about new notes alone.

Reference:
    Angelopoulos, Bates, Candès, Jordan and Lei 2021, Learn then test (arXiv 2110.01052), section 2.1 and algorithm 1;
    Clopper and Pearson 1934, for the bound (`crfdeid.review.bounds`).
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crfdeid.bio import phi_probabilities
from crfdeid.consistency import TokenTable
from crfdeid.documents import Document, tokens_of
from crfdeid.errors import DataError, EmptyInputError, SettingError
from crfdeid.evaluation.probabilities import tokens_in
from crfdeid.label_schemes import is_direct
from crfdeid.model_card.card import read_card, update_card
from crfdeid.pipeline import Deidentifier
from crfdeid.review.bounds import CONFIDENCE_LEVEL, leaks_allowed, notes_to_read, upper_bound
from crfdeid.serialization import ModelFolder, model_files
from crfdeid.thresholds import LeakClaim, phi_spans
from crfdeid.utils.files import open_owner_file
from crfdeid.utils.folders import require_new, whole_folder
from crfdeid.validation import LEAK_IDENTIFIERS, LEAK_UNITS, require_choice, require_number

SHOWN_RATES = (0.1, 0.05, 0.02, 0.01)
"""Leak rates whose cost is shown."""
TESTED_THRESHOLDS = tuple(float(f"{value:.3g}") for value in np.geomspace(1e-5, 0.5, 48))
"""The thresholds that are tested, from the safest, which hides most, on: ten in each power of ten."""


@dataclass(frozen=True, slots=True)
class LeakTarget:
    """A share of leaking notes that is to be proved.

    Args:
        rate: the largest share of units that leak, a fraction between 0 and 1.
        confidence: the confidence, from 0.5 to below 1.
        units: one of `LEAK_UNITS`.
        identifiers: one of `LEAK_IDENTIFIERS`.

    Raises:
        SettingError: a value out of range.
    """

    rate: float
    confidence: float = CONFIDENCE_LEVEL
    units: str = LEAK_UNITS[0]
    identifiers: str = LEAK_IDENTIFIERS[0]

    def __post_init__(self) -> None:
        require_number("rate", self.rate, "a share between 0 and 1, such as 0.05", lambda v: 0 < v < 1)
        require_number(
            "confidence", self.confidence, "a share from 0.5 to below 1, such as 0.95", lambda v: 0.5 <= v < 1
        )
        require_choice(self, "units", LEAK_UNITS)
        require_choice(self, "identifiers", LEAK_IDENTIFIERS)

    def allowed(self, count: int) -> int:
        """The most leaking units of some that prove it; -1 for none."""
        return leaks_allowed(count, self.rate, level=self.confidence)

    def require_enough(self, documents: Sequence[Document]) -> None:
        """Refuse notes that are too few, also without a leak, before long work.

        Raises:
            DataError: they are, or the patient of a note is unknown and patients are the units.
        """
        count = len(set(self.keys(documents)))
        if self.allowed(count) < 0:
            least = upper_bound(count, 0, level=self.confidence)
            needed = notes_to_read(self.rate, level=self.confidence)
            raise EmptyInputError(
                f"{count} {self.units} can prove a leak rate of {least:.2g} at best, and {self.rate:g} needs at least "
                f"{needed:,} without a leak: give more annotated notes, or a higher rate"
            )

    def keys(self, documents: Sequence[Document]) -> list[str]:
        """The unit that each note belongs to."""
        if self.units == LEAK_UNITS[0]:
            return [str(number) for number in range(len(documents))]
        for document in documents:
            if document.patient is None:
                raise DataError(
                    "the note has no patient: name the column or folder, or count notes", path=document.source
                )
        return [str(document.patient) for document in documents]


class LeakCurve(NamedTuple):
    """Leaks and costs of `TESTED_THRESHOLDS` on annotated notes.

    Attributes:
        leaking: units that leak with each threshold: [J].
        needless: tokens hidden with each that are no PHI: [J].
        total: number of units.
        tokens: number of tokens that are no PHI.
    """

    leaking: NDArray[np.int64]
    needless: NDArray[np.int64]
    total: int
    tokens: int


def leak_curve(model: Deidentifier, documents: Sequence[Document], target: LeakTarget) -> LeakCurve:
    """Count what each threshold leaks and hides, as redaction with it would.

    Args:
        model: the model; its own threshold has no effect.
        documents: annotated notes.
        target: says what a unit is, and whose leaks count.

    Raises:
        DataError: the patient of a note is unknown, and patients are the units.
    """
    leaking: dict[str, NDArray[np.bool_]] = {}
    needless, tokens = np.zeros(len(TESTED_THRESHOLDS), np.int64), 0
    for key, document in zip(target.keys(documents), documents, strict=True):
        note = note_leaks(model, document, target.identifiers)
        leaking[key] = leaking.get(key, False) | note.leaks
        needless += note.needless
        tokens += note.tokens
    return LeakCurve(np.sum(list(leaking.values()), axis=0), needless, len(leaking), tokens)


class NoteLeaks(NamedTuple):
    """What each of `TESTED_THRESHOLDS` does to one note.

    Attributes:
        leaks: whether a token of PHI, or of a direct identifier, is left: [J].
        needless: tokens hidden that are no PHI: [J].
        tokens: number of tokens that are no PHI.
    """

    leaks: NDArray[np.bool_]
    needless: NDArray[np.int64]
    tokens: int


def note_leaks(model: Deidentifier, document: Document, identifiers: str = LEAK_IDENTIFIERS[0]) -> NoteLeaks:
    """What each threshold leaves and hides in an annotated note, with the model's lists and document consistency."""
    document = document.in_languages(model.tagger.languages)
    sentences, tokens = document.sentences(), tokens_of(document)
    tables, tags = model.tagger.marginals(sentences), model.tagger.tags
    probable = np.concatenate([np.empty(0), *(phi_probabilities(table, tags) for table in tables)])
    table = TokenTable(tokens)
    hidden = np.zeros((len(TESTED_THRESHOLDS), len(tokens)), bool)
    for j, threshold in enumerate(TESTED_THRESHOLDS):
        if j and not ((probable >= TESTED_THRESHOLDS[j - 1]) & (probable < threshold)).any():
            hidden[j] = hidden[j - 1]  # the same tokens
            continue
        pairs = zip(sentences, tables, strict=True)
        spans = chain.from_iterable(phi_spans(sentence, own, tags, threshold) for sentence, own in pairs)
        found = model.complete(replace(document, spans=tuple(spans)), tokens=table)
        hidden[j] = tokens_in(tokens, found.spans)
    is_phi = tokens_in(tokens, document.spans)
    every = identifiers == LEAK_IDENTIFIERS[0]
    counted = is_phi if every else tokens_in(tokens, [span for span in document.spans if is_direct(span.label)])
    return NoteLeaks(np.any(counted & ~hidden, axis=1), (hidden & ~is_phi).sum(axis=1), int((~is_phi).sum()))


def rejected(leaking: ArrayLike, allowed: int) -> NDArray[np.int64]:
    """The number of thresholds, from the safest on, before the first with more leaks than allowed.

    Args:
        leaking: leaking units with each threshold: [..., J].
        allowed: of `LeakTarget.allowed`.

    Returns:
        [...], from 0 to J.

    Example:
        >>> rejected([0, 2, 5, 1], 3)
        array(2)
    """
    return np.asarray((np.asarray(leaking) <= allowed).cumprod(axis=-1).sum(axis=-1))


def claim_of(curve: LeakCurve, target: LeakTarget) -> LeakClaim | None:
    """The claim that a curve proves; None where even the safest threshold leaks too often."""
    last = int(rejected(curve.leaking, target.allowed(curve.total))) - 1
    if last < 0:
        return None
    return LeakClaim(
        max_leak_rate=target.rate,
        confidence=target.confidence,
        units=target.units,
        total=curve.total,
        leaking=int(curve.leaking[last]),
        threshold=TESTED_THRESHOLDS[last],
        needless_per_1000=1000 * int(curve.needless[last]) / max(curve.tokens, 1),
        identifiers=target.identifiers,
    )


class Calibration(NamedTuple):
    """Result of a calibration.

    Attributes:
        claim: what was asked for.
        costs: the claims that the same notes would have proved of `SHOWN_RATES`, by rate; None for none. They show the
            cost: a rate that is chosen after a look at them has no confidence.
    """

    claim: LeakClaim
    costs: Mapping[float, LeakClaim | None]


def calibrate(model: Deidentifier, documents: Sequence[Document], target: LeakTarget) -> Calibration:
    """Choose the threshold that hides least of those that keep the leak rate, from annotated notes.

    Args:
        model: the model with the lists it is used with.
        documents: notes whose annotations neither trained nor tuned it, drawn like those that will be redacted.
        target: the claim.

    Raises:
        DataError: the notes are too few or leak too often, or the patient of one is unknown.
    """
    target.require_enough(documents)
    curve = leak_curve(model, documents, target)
    claim = claim_of(curve, target)
    if claim is None:
        least = upper_bound(curve.total, int(curve.leaking[0]), level=target.confidence)
        raise DataError(
            f"{curve.leaking[0]} of {curve.total} {target.units} leak with the lowest threshold, so that a leak rate "
            f"of {least:.2g} can be proved at best: train on more notes, give lists or records, or a higher rate"
        )
    return Calibration(claim, {rate: claim_of(curve, replace(target, rate=rate)) for rate in SHOWN_RATES})


def require_card(model: Path | ModelFolder) -> dict[str, Any]:
    """Return the card of a model, in which a claim is stored.

    Raises:
        DataError: the model is damaged.
        SettingError: it has no card.
    """
    card = read_card(model)
    if card is None:
        raise SettingError(f"{model} has no card to store a claim in: train a model with crfdeid train")
    return card


def store_claim(folder: Path, claim: LeakClaim) -> dict[str, Any]:
    """Store a claim in the card of a model, in place of an earlier one; return the card.

    Raises:
        DataError: the model is damaged, or the card cannot be written.
        SettingError: it has no card.
    """
    return update_card(folder, require_card(folder), leak_claim=claim._asdict())


def copy_with_claim(model: ModelFolder, output: Path, claim: LeakClaim) -> dict[str, Any]:
    """Write a copy of a model with a claim in its card, whole or not at all; return the card.

    Raises:
        DataError: as of `store_claim`.
        SettingError: the model has no card, or the folder is not empty.
    """
    with whole_folder(output) as partial:
        require_new(output)
        for path in model_files(model):
            with path.open("rb") as source, open_owner_file(partial / path.name) as target:
                shutil.copyfileobj(source, target)
        return store_claim(partial, claim)

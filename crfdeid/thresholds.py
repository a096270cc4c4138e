"""Thresholds on the probability of PHI: how they are chosen, stored in a model's card, and applied.

A model gives each token a probability of being PHI, 1 - P(O). Hiding every token with at least the probability of a
threshold finds a share of the PHI tokens (sensitivity) and hides others too (false positives). The threshold for a
required sensitivity is the highest one that reaches it, which has the fewest false positives of all that do. (The
caption of johnson2020, Table 5, says "lowest"; the lowest of all hides everything.)

- Choose: `operating_points` on annotated notes, `threshold_curve` and `ThresholdCosts` for all sensitivities at once,
  `type_thresholds` for a threshold of each type.
- Store: `card_thresholds` makes the part "thresholds" of a card, `thresholds_problem` checks it, `threshold_in` and
  `operating_point` read it.
- Claim: `LeakClaim` is a threshold with a bounded share of leaking notes (`crfdeid.model_card.calibration` proves it).
- Apply: `chosen_threshold` is the one that a policy asks for; `phi_spans` marks tokens for a threshold, `mark_probable`
  for the thresholds of types.

Reference:
    johnson2020, section 4.1 and Table 5.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from operator import ge, gt, le
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from crfdeid.bio import OUTSIDE, phi_probabilities, type_probabilities
from crfdeid.documents import Span, in_characters, merge
from crfdeid.errors import DataError, SettingError, UsageError
from crfdeid.label_schemes import BINARY
from crfdeid.validation import LEAK_IDENTIFIERS, MOST_PROBABLE, Sensitivity, require_sensitivity
from features.tokens import Sentence

if TYPE_CHECKING:
    from crfdeid.evaluation.entities import Counts

USUAL_SENSITIVITIES = (0.99, 0.997, 0.999)
"""The sensitivities that a card shows as examples (johnson2020, Table 5)."""
_MAX_IN_CARD = 0.5
"""The highest threshold of a card: above it, less would be hidden than by the most probable tags."""
_MOST_PROBABLE, _LEAST_PROBABLE = 0.5, 0.01  # thresholds by type
_LEAST_PPV = 0.5
"""Precision of a threshold below which a warning is logged."""
_ROUNDING = 1e-9  # 0.99 * 100 is 99, also in binary
_log = logging.getLogger(__name__)


class OperatingPoint(NamedTuple):
    """A threshold and its counts on some notes.

    Attributes:
        required: the required sensitivity, a fraction; None without one.
        threshold: tokens with at least this probability of being PHI are hidden; None for the most probable tags.
        counts: PHI tokens found and missed, and other tokens hidden.
        tokens: all tokens.
    """

    required: float | None
    threshold: float | None
    counts: Counts
    tokens: int

    def to_dict(self) -> dict[str, float | int | None]:
        """As plain data: sensitivity (recall), PPV (precision) and F1 as fractions; FN and FP in 1,000 tokens.

        ``missed`` of ``phi_tokens`` PHI tokens are below the threshold; a small number makes it uncertain.
        """
        counts, tokens = self.counts, max(self.tokens, 1)
        return {
            "required": self.required,
            "threshold": self.threshold,
            "sensitivity": counts.recall,
            "ppv": counts.precision,
            "f1": counts.f1,
            "false_negatives_per_1000": 1000 * counts.fn / tokens,
            "false_positives_per_1000": 1000 * counts.fp / tokens,
            "tokens": self.tokens,
            "phi_tokens": counts.tp + counts.fn,
            "missed": counts.fn,
        }


class ThresholdCosts(NamedTuple):
    """Costs of several thresholds on some notes, as plain data.

    Attributes:
        tokens: number of all tokens.
        phi_tokens: number of PHI tokens.
        missed: PHI tokens below each threshold.
        false_positives: other tokens at or above each threshold.
    """

    tokens: int
    phi_tokens: int
    missed: list[int]
    false_positives: list[int]

    @classmethod
    def of(cls, thresholds: Sequence[float], probabilities: np.ndarray, is_phi: np.ndarray) -> ThresholdCosts:
        """Count the costs of hiding tokens from each threshold on; arguments as of `operating_points`."""
        phi, others = np.sort(probabilities[is_phi]), np.sort(probabilities[~is_phi])
        missed, below = (ranked.searchsorted(thresholds).tolist() for ranked in (phi, others))
        return cls(len(is_phi), len(phi), missed, [len(others) - count for count in below])

    def reaching(self, sensitivity: float) -> int:
        """Index of the first threshold that reaches a sensitivity; the thresholds descend, and the last finds all.

        Of M PHI tokens at most ``(1 - sensitivity) M`` may be missed, and at least one is found. Tokens of equal
        probability are hidden together. A PHI token that the model gives no probability at all is found only by the
        threshold 0, which hides everything.
        """
        allowed = min((1 - sensitivity) * self.phi_tokens + _ROUNDING, self.phi_tokens - 1)
        return next(index for index, missed in enumerate(self.missed) if missed <= allowed)

    def point(self, index: int, threshold: float, required: float | None = None) -> OperatingPoint:
        """The operating point of one of the thresholds."""
        from crfdeid.evaluation.entities import Counts  # noqa: PLC0415  Redaction needs no scores.

        counts = Counts(self.phi_tokens - self.missed[index], self.false_positives[index], self.missed[index])
        return OperatingPoint(required, threshold, counts, self.tokens)


def operating_points(
    probabilities: np.ndarray, is_phi: np.ndarray, *, required: Sequence[float]
) -> list[OperatingPoint]:
    """The highest threshold that reaches each required sensitivity, and its counts.

    Args:
        probabilities: of being PHI, for each token: [N].
        is_phi: true for tokens of PHI: [N], bool.
        required: sensitivities above 0, at most 1.

    Raises:
        DataError: no token is PHI, so that no threshold can be chosen.
        UsageError: a sensitivity out of range.

    Example:
        >>> is_phi = np.array([True, True, False, False])
        >>> (point,) = operating_points(np.array([0.9, 0.2, 0.6, 0.1]), is_phi, required=[1.0])
        >>> point.threshold, point.counts
        (0.2, Counts(tp=2, fp=1, fn=0))
    """
    for sensitivity in required:
        if not 0 < sensitivity <= 1:
            raise UsageError(f"a required sensitivity of {sensitivity}: give a fraction above 0, at most 1")
    if not is_phi.any():
        raise DataError("the notes hold no PHI, so no threshold can be chosen on them: give annotated notes")
    thresholds = np.unique(probabilities[is_phi])[::-1].tolist()
    costs = ThresholdCosts.of(thresholds, probabilities, is_phi)
    chosen = [(costs.reaching(sensitivity), sensitivity) for sensitivity in required]
    return [costs.point(index, thresholds[index], sensitivity) for index, sensitivity in chosen]


def at_threshold(threshold: float, probabilities: np.ndarray, is_phi: np.ndarray) -> OperatingPoint:
    """Apply a threshold, for instance one that was chosen on other notes; arguments as of `operating_points`."""
    return ThresholdCosts.of([threshold], probabilities, is_phi).point(0, threshold)


def threshold_curve(
    probabilities: np.ndarray, is_phi: np.ndarray, *, highest: float = 1.0, points: int = 300
) -> list[float]:
    """The thresholds at which the number of found PHI tokens changes, from the highest to the lowest.

    The lowest finds all. If there are more thresholds than points, they are thinned evenly in the logarithm of the
    number of missed tokens, so that those that matter for high sensitivities stay.

    Args:
        probabilities: of being PHI, for each token, [N], and so is `is_phi`.
        is_phi: true for tokens of PHI, bool.
        highest: the first threshold.
        points: the most thresholds.

    Example:
        >>> threshold_curve(np.array([0.9, 0.2, 0.6, 0.1]), np.array([True, True, False, True]), highest=0.5)
        [0.5, 0.2, 0.1]
    """
    below = np.unique(probabilities[is_phi & (probabilities < highest)])  # ascending
    if len(below) >= points:
        below = below[np.unique(np.geomspace(1, len(below), points - 1).round().astype(int)) - 1]
    return [highest, *below[::-1].tolist()]


def type_thresholds(
    tables: Sequence[np.ndarray], tags: Sequence[str], gold: Sequence[Sequence[str]], *, miss_cost: float
) -> dict[str, float]:
    """Each type's threshold below 0.5 with the lowest cost; types for which none pays are left out.

    A token counts for the type with its largest probability, B and I together, whatever its gold type. One number for
    all types would be wrong for most: a model is surer of types with many examples.

    Args:
        tables: marginals of each sentence, [T, K].
        tags: the tags of the columns.
        gold: the right tags of each sentence.
        miss_cost: wrongly marked tokens that a missed token of PHI is worth.

    Example:
        >>> table = np.array([[0.7, 0.3], [0.8, 0.2], [0.9, 0.1]])
        >>> type_thresholds([table], ["O", "B-DATE"], [["B-DATE", "O", "O"]], miss_cost=1.0)
        {'DATE': 0.3}
    """
    table = np.concatenate(tables)
    labels, begin, inside = type_probabilities(table, tags)
    if not labels:
        return {}
    probabilities = phi_probabilities(table, tags)
    best = (begin + inside).argmax(axis=1)
    is_phi = np.array([tag != OUTSIDE for row in gold for tag in row])
    chosen = {}
    for number, label in enumerate(labels):
        own = np.flatnonzero((best == number) & (probabilities < _MOST_PROBABLE) & (probabilities >= _LEAST_PROBABLE))
        own = own[np.argsort(-probabilities[own], kind="stable")]
        gains = np.where(is_phi[own], miss_cost, -1.0).cumsum()  # of marking the tokens down to each
        if len(own) and gains.max() > 0:
            chosen[label] = float(probabilities[own[gains.argmax()]])
    return chosen


_COSTS = {"tokens": int, "phi_tokens": int, "missed": [int], "false_positives": [int]}
THRESHOLDS = {"curve": [float], "dev": _COSTS, "test?": _COSTS}
"""Shape of the part "thresholds" of a card: the curve, and the `ThresholdCosts` on the development and test notes."""


def card_thresholds(tokens: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> dict[str, Any]:
    """The part "thresholds" of a card: thresholds for all sensitivities on the development notes, and their costs.

    Args:
        tokens: for "dev", and "test" if there are test notes, the tokens' probabilities and which are PHI, [N] each.
    """
    curve = threshold_curve(*tokens["dev"], highest=_MAX_IN_CARD)
    return {"curve": curve, **{name: ThresholdCosts.of(curve, *pair)._asdict() for name, pair in tokens.items()}}


def thresholds_problem(thresholds: Mapping[str, Any]) -> str | None:
    """The first thing in the part "thresholds" of a card, of the right shape, that cannot be; None if all can."""
    curve, costs = thresholds["curve"], [thresholds[name] for name in ("dev", "test") if name in thresholds]
    if not (curve and curve[0] <= 1 and curve[-1] >= 0 and all(map(gt, curve, curve[1:]))):
        return "thresholds.curve is not of descending probabilities"
    for counts in costs:
        missed, wrong = counts["missed"], counts["false_positives"]
        falls = all(map(ge, [counts["phi_tokens"], *missed], [*missed, 0]))
        rises = all(map(le, [0, *wrong], [*wrong, counts["tokens"] - counts["phi_tokens"]]))
        if not (falls and rises and len(missed) == len(wrong) == len(curve)):
            return "thresholds has counts that do not follow its curve"
    return "thresholds.dev finds not all PHI" if thresholds["dev"]["missed"][-1] else None


def chosen_sensitivity(
    card: Mapping[str, Any] | None, asked: Sensitivity, max_leak_rate: float | None = None
) -> float | None:
    """The sensitivity that is asked for, or the model's default; None where no sensitivity chooses the threshold.

    Args:
        card: the model's, from `crfdeid.model_card.card.read_card`. Built-in models have a default.
        asked: a fraction, "none", or None for the default.
        max_leak_rate: a leak rate that is asked for in its place.
    """
    if max_leak_rate is not None:
        return None
    if asked is None:
        return None if card is None else card.get("sensitivity")
    return None if asked == MOST_PROBABLE else cast("float", asked)


class LeakClaim(NamedTuple):
    """Claim that a threshold leaks at most a share of notes, with a confidence (`crfdeid.model_card.calibration`).

    Attributes:
        max_leak_rate: the share, a fraction.
        confidence: of the claim, a fraction.
        units: what is counted: "notes" or "patients".
        total: number of annotated units that prove it.
        leaking: those that leaked.
        threshold: tokens with at least this probability of being PHI are hidden.
        needless_per_1000: tokens hidden, of 1,000 that are no PHI.
        identifiers: whose leaks count, one of `crfdeid.validation.LEAK_IDENTIFIERS`.
    """

    max_leak_rate: float
    confidence: float
    units: str
    total: int
    leaking: int
    threshold: float
    needless_per_1000: float
    identifiers: str = LEAK_IDENTIFIERS[0]

    def __str__(self) -> str:
        what = "" if self.identifiers == LEAK_IDENTIFIERS[0] else " a direct identifier"
        return (
            f"at most {100 * self.max_leak_rate:g} % of {self.units} leak{what}, with {100 * self.confidence:g} % "
            f"confidence ({self.leaking} of {self.total:,} annotated {self.units} did)"
        )


LEAK_CLAIM = {
    "max_leak_rate": float,
    "confidence": float,
    "units": str,
    "total": int,
    "leaking": int,
    "threshold": float,
    "needless_per_1000": float,
    "identifiers?": str,
}
"""Shape of the part "leak_claim" of a card."""
VOIDS_CLAIM = (
    "drift; notes of another hospital, time or kind, or drawn otherwise than the annotated ones; notes that trained "
    "the model with labels by machine, unless the annotated ones did so too; annotations that trained or tuned it, or "
    "missed PHI; several notes of one patient where notes are counted"
)
"""What voids a claim, for its readers."""


def claim_problem(claim: Mapping[str, Any] | None) -> str | None:
    """The first thing in the part "leak_claim" of a card, of the right shape, that cannot be; None if all can."""
    if claim is None:
        return None
    if not all(0 <= claim[name] <= 1 for name in ("max_leak_rate", "confidence", "threshold")):
        return "leak_claim has a share that is no fraction"
    return None if 0 <= claim["leaking"] <= claim["total"] else "leak_claim has counts that cannot be"


def claim_in(card: Mapping[str, Any] | None, max_leak_rate: float) -> LeakClaim:
    """The claim of a model's card that proves a leak rate: that of the same rate, or of a lower one.

    Raises:
        SettingError: the card has none, or one of a higher rate.
    """
    stored = None if card is None else card.get("leak_claim")
    remedy = "run crfdeid calibrate on notes whose annotations neither trained nor tuned the model"
    if stored is None:
        raise SettingError(f"the model claims no leak rate: {remedy}")
    claim = LeakClaim(**stored)
    if claim.max_leak_rate > max_leak_rate:
        raise SettingError(
            f"the model claims a leak rate of {claim.max_leak_rate:g}, not {max_leak_rate:g}: accept that, or {remedy}"
        )
    return claim


def chosen_threshold(
    card: Mapping[str, Any] | None, sensitivity: Sensitivity, max_leak_rate: float | None = None
) -> float | None:
    """The threshold of a leak rate, else of a sensitivity, else the model's; None for the most probable tags.

    A model's own is that of its default sensitivity, or the one that its built-in member has by default.

    Args:
        card: the model's, from `crfdeid.model_card.card.read_card`.
        sensitivity: as of `chosen_sensitivity`.
        max_leak_rate: the largest share of notes that leak, a fraction; None for none.

    Raises:
        SettingError: the card supports neither.
    """
    if max_leak_rate is not None:
        return claim_in(card, max_leak_rate).threshold
    share = chosen_sensitivity(card, sensitivity)
    if share is not None:
        return threshold_in(card, share)
    return None if card is None or sensitivity == MOST_PROBABLE else card.get("threshold")


def threshold_in(card: Mapping[str, Any] | None, sensitivity: float) -> float:
    """The highest threshold of a model's card that reaches a sensitivity on the development notes.

    Args:
        card: the model's, from `crfdeid.model_card.card.read_card`.
        sensitivity: a fraction above 0 and below 1.

    Raises:
        SettingError: the sensitivity is out of range, or the development notes have too few PHI tokens to support it:
            with fewer than 1 / (1 - sensitivity), not even one may be missed.
        UsageError: there is no card.
    """
    threshold, _ = _stored_costs(card, sensitivity)
    return threshold


def warn_of_low_ppv(card: Mapping[str, Any] | None, sensitivity: float) -> None:
    """Log a warning if most tokens that a threshold hid in the development notes were no PHI."""
    _, costs = _stored_costs(card, sensitivity)
    hidden = costs["dev"].phi_tokens - costs["dev"].missed[0]
    ppv = hidden / (hidden + costs["dev"].false_positives[0])
    if ppv < _LEAST_PPV:
        problem = (
            "a sensitivity of %g costs much text: of the tokens that it hid in the development notes, %.1f %% were "
            "PHI (PPV). Choose a lower one, or none"
        )
        _log.warning(problem, sensitivity, 100 * ppv)


def operating_point(card: Mapping[str, Any], sensitivity: float) -> dict[str, Any]:
    """The threshold of a sensitivity in a card and its costs, as `OperatingPoint.to_dict` has them.

    The costs on the test notes, if there are any, are under "test".
    """
    threshold, costs = _stored_costs(card, sensitivity)
    points = {name: one.point(0, threshold, sensitivity).to_dict() for name, one in costs.items()}
    return {**points.pop("dev"), **points}


def usual_points(card: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The operating points of those `USUAL_SENSITIVITIES` that the development notes support."""
    tokens = card["thresholds"]["dev"]["phi_tokens"]
    return [operating_point(card, share) for share in USUAL_SENSITIVITIES if tokens >= _least_tokens(share)]


def _least_tokens(sensitivity: float) -> int:
    """PHI tokens that development notes need to support a sensitivity."""
    return math.ceil((1 - _ROUNDING) / (1 - sensitivity))


def _stored_costs(card: Mapping[str, Any] | None, sensitivity: float) -> tuple[float, dict[str, ThresholdCosts]]:
    """A card's threshold for a sensitivity, and the costs of it alone on the development and test notes."""
    if card is None:
        raise UsageError("the model has no card, so no thresholds: train it with crfdeid train")
    require_sensitivity(sensitivity)
    costs = {name: ThresholdCosts(**counts) for name, counts in card["thresholds"].items() if name != "curve"}
    tokens, least = costs["dev"].phi_tokens, _least_tokens(sensitivity)
    if tokens < least:
        problem = f"a sensitivity of {sensitivity:g} needs {least:,} PHI tokens in the development notes"
        raise SettingError(f"{problem}, which have {tokens:,}: give a lower one, or train with more development notes")
    i = costs["dev"].reaching(sensitivity)
    alone = {
        name: one._replace(missed=[one.missed[i]], false_positives=[one.false_positives[i]])
        for name, one in costs.items()
    }
    return float(card["thresholds"]["curve"][i]), alone


def phi_spans(sentence: Sentence, table: np.ndarray, tags: Sequence[str], threshold: float) -> list[Span]:
    """The spans of all tokens whose probability of being PHI reaches a threshold.

    Such a token has the type with the largest probability, B and I together. If O is at least as probable as that type,
    only the threshold marks the token, and its type is `BINARY` ("PHI"). Neighbours of one type form one span, unless
    the later token is more probably the beginning than the inside of an entity.

    Args:
        sentence: the T tokens.
        table: their marginals, [T, K].
        tags: the tags of the columns.
        threshold: a probability.

    Example:
        >>> table = np.array([[0.9, 0.1, 0.0], [0.3, 0.6, 0.1], [0.6, 0.1, 0.3]])
        >>> phi_spans(Sentence.from_words(["by", "Dr", "Doe"]), table, ("O", "B-DOCTOR", "I-DOCTOR"), 0.25)
        [Span(start=3, end=5, label='DOCTOR'), Span(start=6, end=9, label='PHI')]
    """
    labels, begin, inside = type_probabilities(table, tags)
    if not labels:
        return []
    by_type = begin + inside
    best = by_type.argmax(axis=1)  # [T]
    outside = table[:, list(tags).index(OUTSIDE)] if OUTSIDE in tags else np.zeros(len(table))
    is_typed = by_type.max(axis=1) > outside  # [T]

    def is_same_entity(whole: Span, span: Span) -> bool:
        i = span.start
        begins = bool(is_typed[i]) and bool(begin[i, best[i]] > inside[i, best[i]])
        return whole.end == i and whole.label == span.label and not begins

    marked = np.flatnonzero(phi_probabilities(table, tags) >= threshold).tolist()
    single = (Span(i, i + 1, labels[best[i]] if is_typed[i] else BINARY) for i in marked)
    return in_characters(sentence.tokens, merge(single, joins=is_same_entity))


def mark_probable(row: list[str], table: np.ndarray, tags: Sequence[str], thresholds: Mapping[str, float]) -> None:
    """Tag untagged tokens whose probability of being PHI reaches the threshold of their most probable type.

    Args:
        row: the tags of a sentence, which change.
        table: its marginals, [T, K].
        tags: the tags of the columns.
        thresholds: from `type_thresholds`.

    Example:
        >>> row, tags = ["O", "O", "B-ID"], ("O", "B-DATE", "I-DATE", "B-ID")
        >>> table = np.array([[0.7, 0.3, 0.0, 0.0], [0.7, 0.1, 0.2, 0.0], [0.1, 0.0, 0.0, 0.9]])
        >>> mark_probable(row, table, tags, {"DATE": 0.25})
        >>> row
        ['B-DATE', 'I-DATE', 'B-ID']
    """
    labels, begin, inside = type_probabilities(table, tags)
    best = (begin + inside).argmax(axis=1)
    least = np.array([thresholds.get(label, np.inf) for label in labels])
    for i in np.flatnonzero(phi_probabilities(table, tags) >= least[best]).tolist():
        if row[i] == OUTSIDE:
            label = labels[best[i]]
            begins = i == 0 or row[i - 1][2:] != label or begin[i, best[i]] > inside[i, best[i]]
            row[i] = f"{'B' if begins else 'I'}-{label}"

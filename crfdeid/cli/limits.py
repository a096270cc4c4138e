"""Limits on scores, which fail a command: for the continuous integration of a model in use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from operator import gt, lt
from typing import TYPE_CHECKING, NamedTuple

from crfdeid.cli.shell import names, number_between
from crfdeid.documents import Document
from crfdeid.errors import UnknownNameError

if TYPE_CHECKING:
    from crfdeid.evaluation import Predictions
    from crfdeid.evaluation.perturbed import PerturbedRecall

FAILED = 3
"""Exit code where a limit of --fail-under is not kept."""


class Limit(NamedTuple):
    """Measure that --fail-under can bound.

    Attributes:
        text: what it is.
        fails: whether a value does not keep a limit.
    """

    text: str
    fails: Callable[[float, float], bool]


LIMITS = {
    "recall": Limit("of PHI tokens", lt),
    "precision": Limit("of PHI tokens", lt),
    "f1": Limit("of entities, strict", lt),
    "leaks": Limit("share of notes with a miss, at most", gt),
    "perturbed": Limit("lowest recall of --perturb", lt),
}


def parse_limits(text: str) -> dict[str, float]:
    """Parse the limits of --fail-under: "recall=0.98,leaks=0.1"."""
    limits: dict[str, float] = {}
    for part in names(text):
        name, _, value = part.partition("=")
        if name not in LIMITS or name in limits:
            raise UnknownNameError(f"'{name}' is no limit, or a second one: choose from {', '.join(LIMITS)}")
        limits[name] = number_between(0, 1)(value)
    return limits


def judge(
    limits: Mapping[str, float] | None,
    gold: Sequence[Document],
    predictions: Predictions,
    perturbed: Sequence[PerturbedRecall],
) -> int:
    """Print the limits that are not kept, in one line; return the exit code, 0 or `FAILED`.

    Args:
        limits: from `parse_limits`; None for none.
        gold: the annotated notes.
        predictions: the predicted spans of each, by its id.
        perturbed: the scores of rewritten notes, for the limit "perturbed".
    """
    failures = []
    for name, limit in (limits or {}).items():
        if name == "perturbed":
            value = min((one.after for one in perturbed), default=0.0)
        else:
            value = _measure(name, gold, predictions)
        if LIMITS[name].fails(value, limit):
            failures.append(f"{name} {value:.4f}, limit {limit:g}")
    if failures:
        print(f"failed: {'; '.join(failures)}", file=sys.stderr)
    return FAILED if failures else 0


def _measure(name: str, gold: Sequence[Document], predictions: Predictions) -> float:
    """One of `LIMITS` on the notes as they are."""
    from crfdeid import evaluation  # noqa: PLC0415
    from crfdeid.evaluation.evaluate import count_leaking_documents  # noqa: PLC0415

    if name == "leaks":
        return count_leaking_documents(gold, predictions) / len(gold)
    if name == "f1":
        return evaluation.score_entities(gold, predictions, match="strict").micro.f1
    return float(getattr(evaluation.score_tokens(gold, predictions, binary=True).micro, name))

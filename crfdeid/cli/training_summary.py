"""Summary of a training on standard error, after the card."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from crfdeid.cli.progress import duration
from crfdeid.documents import CONCEPT
from crfdeid.model_card.card import usual_points
from crfdeid.model_card.render import render_card


def print_training(model: str, folder: Path, card: Mapping[str, Any], seconds: float) -> None:
    """Print the card of a new model, and a summary on standard error: data, misses, path and digest of the model.

    Args:
        model: its name.
        folder: the model's.
        card: its card.
        seconds: duration.
    """
    print(render_card(folder, card), flush=True)
    for line in _summary(model, folder, card, seconds):
        print(line, file=sys.stderr)


def _summary(model: str, folder: Path, card: Mapping[str, Any], seconds: float) -> Iterator[str]:
    splits, points = card["corpus"]["splits"], usual_points(card)
    yield f"trained {model} in {duration(seconds)}"
    for name, split in splits.items():
        concepts = _concept_counts(split) if "layers" in card else ""
        size = f"{split['sentences']} sentences" if split["documents"] is None else f"{split['documents']} notes"
        yield f"{name}: {size}, {split['spans']} spans of PHI ({_by_type(split)}){concepts}"
    for name in (name for name in splits if name in card):
        found = card[name]["consistent"]
        binary, leaking = found["token_binary"]["micro"], found["leaking_documents"]
        yield (
            f"{name}: strict F {100 * found['entity_strict']['micro']['f1']:.2f}; "
            f"{binary['fn']} of {binary['tp'] + binary['fn']} PHI tokens missed, "
            f"in {leaking['count']} of {leaking['total']} notes"
        )
        if "concepts" in card[name]:
            f1 = card[name]["concepts"]["entity_strict"]["micro"]["f1"]
            yield f"{name}: strict F of concepts {100 * f1:.2f}"
    if points:
        each = (f"{one['required']:g} on {one['missed']} (PPV {100 * one['ppv']:.1f} %)" for one in points)
        yield f"thresholds rest on the PHI tokens they miss, of {points[0]['phi_tokens']}: {', '.join(each)}"
    yield f"model: {folder}, digest {card['sha256']}"


def _concept_counts(split: Mapping[str, Any]) -> str:
    """The number of concepts in a split, by type."""
    counts = split.get("layers", {}).get(CONCEPT, {"spans": 0, "spans_by_type": {}})
    return f", {counts['spans']} concepts ({_by_type(counts)})"


def _by_type(counts: Mapping[str, Any]) -> str:
    return ", ".join(f"{count} {label}" for label, count in counts["spans_by_type"].items())

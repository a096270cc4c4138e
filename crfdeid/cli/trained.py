"""What the commands that train say when they are done."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from crfdeid.cli.shell import duration
from crfdeid.documents import CONCEPT


def print_training(model: str, folder: Path, card: Mapping[str, Any], seconds: float) -> None:
    """Print the card of a model that was just trained, and sum up on standard error; arguments as of `summary`."""
    from crfdeid.model_card.render import render_card  # noqa: PLC0415

    print(render_card(folder, card), flush=True)
    print(training_summary(model, folder, card, seconds), file=sys.stderr)


def training_summary(model: str, folder: Path, card: Mapping[str, Any], seconds: float) -> str:
    """A training in a few lines: what was learned from, what the model misses, where it is and which one it is.

    Args:
        model: what was trained.
        folder: the model's.
        card: its card.
        seconds: how long it took.
    """
    splits = card["corpus"]["splits"]
    lines = [f"trained {model} in {duration(seconds)}"]
    for name, split in splits.items():
        concepts = _concepts(split) if "layers" in card else ""
        size = f"{split['sentences']} sentences" if split["documents"] is None else f"{split['documents']} notes"
        lines.append(f"{name}: {size}, {split['spans']} spans of PHI ({_by_type(split)}){concepts}")
    for name in (name for name in splits if name in card):
        found = card[name]["consistent"]
        binary, leaking = found["token_binary"]["micro"], found["leaking_documents"]
        lines.append(
            f"{name}: strict F {100 * found['entity_strict']['micro']['f1']:.2f}; "
            f"{binary['fn']} of {binary['tp'] + binary['fn']} PHI tokens missed, "
            f"in {leaking['count']} of {leaking['total']} notes"
        )
        if "concepts" in card[name]:
            f1 = card[name]["concepts"]["entity_strict"]["micro"]["f1"]
            lines.append(f"{name}: strict F of concepts {100 * f1:.2f}")
    lines += _thresholds(card["operating_points"])
    lines.append(f"model: {folder}, digest {card['sha256']}")
    return "\n".join(lines)


def _thresholds(points: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The PHI tokens that each threshold rests on, and its PPV."""
    if points:
        each = (f"{100 * one['required']:g} % on {one['missed']} (PPV {100 * one['ppv']:.1f} %)" for one in points)
        yield f"thresholds rest on the PHI tokens they miss, of {points[0]['phi_tokens']}: {', '.join(each)}"


def _concepts(split: Mapping[str, Any]) -> str:
    """How many concepts some notes have."""
    counts = split.get("layers", {}).get(CONCEPT, {"spans": 0, "spans_by_type": {}})
    return f", {counts['spans']} concepts ({_by_type(counts)})"


def _by_type(counts: Mapping[str, Any]) -> str:
    return ", ".join(f"{count} {label}" for label, count in counts["spans_by_type"].items())

"""The tables on a model's card, in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tabulate import tabulate

from crfdeid.documents import CONCEPT


def corpus_table(splits: Mapping[str, Mapping[str, Any]], *, concepts: bool) -> str:
    """How much there was to learn and measure on; with the concepts, where the model finds any."""
    names = ("documents", "sentences", "tokens", "spans", "unaligned")
    head, rows = ["notes", *names], []
    for split, facts in splits.items():
        further = [of_concepts(facts).get(name, 0) for name in ("spans", "unaligned")] if concepts else []
        rows.append([split, *("-" if facts[name] is None else facts[name] for name in names), *further])
    return _table([*head, *(["concepts", "unaligned concepts"] if concepts else [])], rows)


def shared_table(files: Sequence[Mapping[str, Any]]) -> str:
    """The files of shared notes that were learned from, by the beginning of their checksums."""
    names = ("sentences", "tokens", "spans")
    return _table(["shared file", *names], [[file["sha256"][:16], *(file[name] for name in names)] for file in files])


def score_table(scores: Mapping[str, Any]) -> str:
    """Strict entity scores by type."""
    rows = [[label, *_prf(counts)] for label, counts in scores["by_type"].items()]
    rows.append(["all", *_prf(scores["micro"])])
    return _table(["type (strict)", "P", "R", "F", "marked", "found", "missed"], rows)


def _prf(counts: Mapping[str, Any]) -> list[Any]:
    figures = [f"{100 * counts[name]:.2f}" for name in ("precision", "recall", "f1")]
    return [*figures, counts["tp"] + counts["fn"], counts["tp"], counts["fn"]]


def use_table(found: Mapping[str, Any]) -> str:
    """PHI tokens found, whatever their type, and notes that would leak, with and without document consistency."""
    rows = []
    for name, text in (("alone", "the model alone"), ("consistent", "with document consistency, the default")):
        micro = found[name]["token_binary"]["micro"]
        leaking = found[name]["leaking_documents"]
        rows.append(
            [
                text,
                *(f"{100 * micro[m]:.2f}" for m in ("recall", "precision")),
                micro["fn"],
                f"{leaking['count']} of {leaking['total']}",
                _interval(leaking),
            ]
        )
    head = ["PHI tokens of any type", "sensitivity", "PPV", "missed tokens", "notes with a miss", "95 % interval"]
    return _table(head, rows)


def leak_table(leaks: Mapping[str, Mapping[str, Any]]) -> str:
    """The share of each type's PHI tokens that nothing marked."""
    rows = [
        [label, f"{leak['count']} of {leak['total']}", f"{_share(leak):.2f}", _interval(leak)]
        for label, leak in leaks.items()
    ]
    return _table(["type", "missed tokens", "leak %", "95 % interval"], rows)


def _share(part: Mapping[str, Any]) -> float:
    return 100 * part["count"] / max(part["total"], 1)


def _interval(part: Mapping[str, Any]) -> str:
    return f"{100 * part['low']:.2f} to {100 * part['high']:.2f}"


def point_table(points: Sequence[Mapping[str, Any]]) -> str:
    """Thresholds and what they give on the development notes, and on the test notes where there are any."""
    costs = ["PHI tokens missed", "sensitivity", "PPV", "F1", "FN/1000 tokens", "FP/1000 tokens"]
    head = ["required %", "threshold", *costs]
    if any("test" in point for point in points):
        head += [f"test {name}" for name in costs]
    rows = []
    for point in points:
        measured = [point, *([point["test"]] if "test" in point else [])]
        rows.append(
            [
                f"{100 * point['required']:g}",
                f"{point['threshold']:.3g}",
                *(cell for cost in measured for cell in _cost(cost)),
            ]
        )
    return _table(head, rows)


def _cost(point: Mapping[str, Any]) -> list[str]:
    return [
        f"{point['missed']} of {point['phi_tokens']}",
        *(f"{100 * point[name]:.2f}" for name in ("sensitivity", "ppv", "f1")),
        *(f"{point[name]:.2f}" for name in ("false_negatives_per_1000", "false_positives_per_1000")),
    ]


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    align = ["left", *["right"] * (len(head) - 1)]
    return tabulate(rows, head, tablefmt="pipe", disable_numparse=True, colalign=align)


def of_concepts(split: Mapping[str, Any]) -> Mapping[str, Any]:
    """The counts of the concepts of some notes, as the card has them; empty where nobody annotated any."""
    counts: Mapping[str, Any] = split.get("layers", {}).get(CONCEPT, {})
    return counts

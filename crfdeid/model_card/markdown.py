"""A model's card as Markdown, for `crfdeid inspect` and for the people who decide about a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tabulate import tabulate

from crfdeid.saving import read_description

_WITHOUT_CARD = (
    "It has no card: `crfdeid train` writes one, with what the model was trained on, its scores and its thresholds."
)
_LIMITS = (
    "These figures are for the development notes, which also chose the thresholds (and a network's best epoch). They "
    "promise nothing for notes of another hospital, time or kind: have people check a sample of the redacted notes."
)


def render_card(folder: Path, card: Mapping[str, Any] | None) -> str:
    """A model's card in Markdown.

    Args:
        folder: the model's.
        card: what `crfdeid.model_card.card.read_card` gives; None where there is none.

    Raises:
        DataError: the folder holds no model, or a damaged one.
    """
    description = read_description(folder)
    parts = [f"# Model card: {folder.resolve().name}", _facts(description, card)]
    if card is None:
        return "\n\n".join([*parts, _WITHOUT_CARD])
    corpus, dev = card["corpus"], card["dev"]
    parts += [
        "## Trained and measured on",
        _corpus_table(corpus["splits"]),
        *corpus["notices"],
        "## On the development notes",
        _score_table(dev["consistent"]["entity_strict"]),
        _use_table(dev),
        "## Operating points",
        _point_table(card["operating_points"]),
        "`crfdeid redact --sensitivity 99.7` uses the threshold of that line.",
        "## What this does not say",
        _LIMITS,
    ]
    return "\n\n".join(parts)


def _facts(description: Mapping[str, Any], card: Mapping[str, Any] | None) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in description.get("versions", {}).items())
    settings = ", ".join(f"{name}={value}" for name, value in description.get("settings", {}).items())
    rows = [
        ("Model", description["model"]),
        ("Settings", settings),
        ("Versions", versions),
        ("Vocabulary", _VOCABULARY.get(description.get("vocabulary", "readable"), "unknown")),
    ]
    if card is not None:
        corpus = card["corpus"]
        rows += [
            ("Trained", card["trained"]),
            ("Corpus", f"{Path(corpus['name']).name}, format {corpus['format']}, types {corpus['type_map']}"),
            ("Types", ", ".join(corpus["types"])),
            ("Rewritten copies", _COPIES.get(card["augment"], card["augment"])),
        ]
    return "\n".join(f"- {name}: {text}" for name, text in rows)


_COPIES = {
    "none": "none: expect it to miss more where notes are in small letters, in capitals, or without accents",
    "accents": "of training notes, without accents",
    "case": "of training notes, in small letters and in capitals",
    "both": "of training notes, without accents, in small letters and in capitals",
}
_VOCABULARY = {
    "readable": "readable: words of the training notes stand in the model's files; keep them as confidential as the "
    "notes",
    "hashed": "words are stored as keyed hashes; the secret is needed to use the model",
}


def _corpus_table(splits: Mapping[str, Mapping[str, Any]]) -> str:
    names = ("documents", "sentences", "tokens", "spans", "unaligned")
    return _table(["notes", *names], [[split, *(facts[name] for name in names)] for split, facts in splits.items()])


def _score_table(scores: Mapping[str, Any]) -> str:
    """Strict entity scores by type."""
    rows = [[label, *_prf(counts)] for label, counts in scores["by_type"].items()]
    rows.append(["all", *_prf(scores["micro"])])
    return _table(["type (strict)", "P", "R", "F", "marked", "found", "missed"], rows)


def _prf(counts: Mapping[str, Any]) -> list[Any]:
    figures = [f"{100 * counts[name]:.2f}" for name in ("precision", "recall", "f1")]
    return [*figures, counts["tp"] + counts["fn"], counts["tp"], counts["fn"]]


def _use_table(dev: Mapping[str, Any]) -> str:
    """PHI tokens found, whatever their type, and notes that would leak, with and without document consistency."""
    rows = []
    for name, text in (("alone", "the model alone"), ("consistent", "with document consistency, the default")):
        micro = dev[name]["token_binary"]["micro"]
        leaking = f"{dev[name]['leaking_documents']} of {dev[name]['documents']}"
        rows.append([text, *(f"{100 * micro[m]:.2f}" for m in ("recall", "precision")), micro["fn"], leaking])
    return _table(["PHI tokens of any type", "sensitivity", "PPV", "missed tokens", "notes with a miss"], rows)


def _point_table(points: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        [
            f"{100 * point['required']:g}",
            f"{point['threshold']:.3g}",
            *(f"{100 * point[name]:.2f}" for name in ("sensitivity", "ppv", "f1")),
            *(f"{point[name]:.2f}" for name in ("false_negatives_per_1000", "false_positives_per_1000")),
        ]
        for point in points
    ]
    return _table(["required %", "threshold", "sensitivity", "PPV", "F1", "FN/1000 tokens", "FP/1000 tokens"], rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    align = ["left", *["right"] * (len(head) - 1)]
    return tabulate(rows, head, tablefmt="pipe", disable_numparse=True, colalign=align)

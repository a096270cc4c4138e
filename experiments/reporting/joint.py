"""Findings on PHI and concepts, as sentences computed from the results: the cost of hiding PHI."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from experiments.tables.cells import percent
from experiments.tables.frames import OVERALL, Results
from experiments.tables.layers import LAYERS


def joint_sentences(results: Results) -> list[str]:
    """Sentences on the systems, every tested difference in F, and the amount of PHI that the models store."""
    systems, scored = results["tables"]["compared"], results["corpus"]["splits"][results["corpus"]["test"]]
    summary = (
        f"{len(systems)} systems were compared on {scored['documents']:,} documents of {results['corpus']['name']}, "
        f"the {results['corpus']['test']} split: {', '.join(systems)}."
    )
    return [summary, *_differences(results), *_rows(results), *_held(results)]


def joint_cautions(results: Results) -> list[str]:
    """Limits of the claim that a model of concepts stores no PHI."""
    return [
        "What is hidden is the PHI that was found: what was missed is read by the part for concepts, and can be stored "
        "there.",
        "Words that a model holds are not all that its weights can tell.",
    ]


def _differences(results: Results) -> Iterator[str]:
    for layer, what in LAYERS.items():
        for pair in _pairs(results, layer):
            yield f"{what}: {_said(results, layer, pair)}"


def _rows(results: Results) -> Iterator[str]:
    for pair in _pairs(results, "table_5"):
        way = results["tables"]["table_5"][pair["b"]]
        yield (f"Learned from {way['learns_from']}, read in {way['reads']} text: {_said(results, 'table_5', pair)}")


def _pairs(results: Results, tested: str) -> list[Mapping[str, Any]]:
    significance = results["significance"].get(tested)
    return [] if significance is None else [pair for pair in significance["pairs"] if pair["category"] == OVERALL]


def _said(results: Results, tested: str, pair: Mapping[str, Any]) -> str:
    holds = "holds" if pair["p_holm"] <= results["significance"][tested]["level"] else "may be chance"
    interval = f"95 % interval {100 * pair['low']:+.2f} to {100 * pair['high']:+.2f}"
    return (
        f"{pair['b']} has a strict F of {percent(pair['f1_b'])} %, {pair['a']} {percent(pair['f1_a'])} %: "
        f"{100 * pair['difference']:+.2f} points ({interval}), which {holds}."
    )


def _held(results: Results) -> Iterator[str]:
    for name in results["tables"]["compared"]:
        found = [run["phi_held"] for run in results["models"][name]["runs"] if run["phi_held"] is not None]
        if found:
            worst = max(found, key=lambda one: one["held"])
            yield f"{name} holds {worst['held']:,} of {worst['words']:,} words that are nothing but PHI in training."

"""Findings on private training data, as sentences computed from the results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from experiments.tables.cells import percent
from experiments.tables.frames import OVERALL, Results

HIDDEN = 0.55
"""Highest end of the 95 % interval of the worst fresh adversary's accuracy for a representation that hides."""
CHANCE = 0.5
STRONG = 0.75
"""Lowest accuracy without noise of an adversary whose failure with noise means something."""
CLOSE = {"pseudonyms": 0.015, "representation": 0.02, "dann": 0.02}
"""Kind of system -> largest loss of strict F against training on the notes themselves."""
_FEWEST_PAIRS = 2000


def private_sentences(results: Results) -> list[str]:
    """Sentences on F against training on the notes themselves, on the adversaries, and on the gain of pooling."""
    return [*_against_raw(results), *_hidden(results), *_pooling(results)]


def private_cautions(results: Results) -> list[str]:
    """Limits of any claim of privacy."""
    found = [
        "No figure here is a promise: it says how well these attacks did, not how well the next one will.",
        "Nothing protects words that are no PHI; the attacks table says how many of them can be read.",
    ]
    pairs = [attack["pairs"] for s in _attacked(results) if (attack := s["attacks"]["fresh"]) and "pairs" in attack]
    if pairs and min(pairs) < _FEWEST_PAIRS:
        found.append(f"The adversaries were tried on {min(pairs):,} pairs only, so the intervals are wide.")
    return found


def _against_raw(results: Results) -> Iterator[str]:
    raw = {s["embedding"]: s["scores"]["entity_strict"]["f1"] for s in results["systems"] if s["kind"] == "non-private"}
    for system in results["systems"]:
        if system["kind"] not in CLOSE or system["name"] not in results["models"] or system["embedding"] not in raw:
            continue
        f1 = system["scores"]["entity_strict"]["f1"]
        behind = raw[system["embedding"]] - f1
        close = "within" if behind <= CLOSE[system["kind"]] else "not within"
        yield (
            f"{system['name']}: strict F {percent(f1)} %, {-100 * behind:+.2f} points against the notes themselves: "
            f"{close} {100 * CLOSE[system['kind']]:g} of them."
        )


def _hidden(results: Results) -> Iterator[str]:
    for system in _attacked(results):
        fresh, bare = system["attacks"]["fresh"], system["attacks"]["no_noise"]
        if fresh is None:
            continue
        accuracy = (
            f"{system['name']}: the worst fresh adversary was right on {percent(fresh['accuracy'], 1)} % of the pairs "
            f"(95 % interval {percent(fresh['low'], 1)} to {percent(fresh['high'], 1)}): "
        )
        if fresh["low"] > CHANCE and fresh["high"] > HIDDEN:
            yield accuracy + "the representation leaks."
        elif fresh["high"] > HIDDEN:
            yield accuracy + "these are too few pairs to tell whether it hides."
        elif bare is not None and bare["accuracy"] < STRONG:
            yield accuracy + f"but without noise only on {percent(bare['accuracy'], 1)} %, so it is too weak to tell."
        else:
            yield accuracy + "it cannot tell real pairs from fake ones."


def _attacked(results: Results) -> list[Mapping[str, Any]]:
    """Every system, including the pooling ones."""
    return [*results["systems"], *(results["pooling"] or {"systems": []})["systems"]]


def _pooling(results: Results) -> Iterator[str]:
    if results["pooling"] is None:
        return
    pairs = [pair for pair in results["pooling"]["significance"]["pairs"] if pair["category"] == OVERALL]
    level = results["pooling"]["significance"]["level"]
    for pair in pairs:
        if pair["a"].startswith("alone-hospital") and pair["b"].startswith("pooled-rep"):
            holds = "holds" if pair["p_holm"] <= level else "may be chance"
            yield (
                f"{pair['b']} against {pair['a']}: strict F {percent(pair['f1_b'])} and {percent(pair['f1_a'])} %, "
                f"a difference of {100 * pair['difference']:+.2f} points, which {holds}."
            )

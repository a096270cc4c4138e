"""Report on private training data: Table 2, the figures' numbers, the attacks, pooling, and findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from crfdeid.documents import PHI
from experiments.core.experiment import Report, heading
from experiments.papers import friedrich2019
from experiments.plots import comparison_plots
from experiments.private.options import POOLED
from experiments.private.plots import private_plots
from experiments.results.schema import Results, View, view
from experiments.tables import comparison_tables
from experiments.tables.frames import OVERALL
from experiments.tables.published import printed_cells
from experiments.tables.scores import interval_table, overview_table, pair_table
from experiments.tables.table import NO_VALUE, Table, percent, score_notes

Described = Mapping[str, Any]
"""An entry of `described`."""

ACCURACIES = {
    "fresh": "fresh",
    "continued": "grown up with it",
    "zeroed": "control: vectors set to 0",
    "no_noise": "control: no noise",
}
"""Attack by pairs of sentences: kind of adversary -> its name in tables."""

_NOTES = (
    "Fresh: the highest accuracy of adversaries trained from scratch on the frozen representation, over T1, T2, their "
    "average, seeds and numbers of epochs; under 50 % counts as its mirror image. 50 % is chance.",
    "With vectors set to 0 and symmetric pairs nobody can be right more often than by chance (of the paper's one-sided "
    "pairs an odd word tells); with the noise off the adversary must be, above 75 %, or it is too weak for its 50 % to "
    "mean anything.",
)

_SCALE = "For a scale: non-private, the attacks on the word vectors themselves; pseudonyms, on those of pseudonyms."
_SCORES = {"binary_hipaa": "token_binary_hipaa", "entity_strict": "entity_strict"}
HIDDEN = 0.55
"""Highest end of the 95 % interval of the worst fresh adversary's accuracy for a representation that hides."""
CHANCE = 0.5
STRONG = 0.75
"""Lowest accuracy without noise of an adversary whose failure with noise means something."""
CLOSE = {"pseudonyms": 0.015, "representation": 0.02, "dann": 0.02}
"""Kind of system -> largest loss of strict F against training on the notes themselves."""
_FEWEST_PAIRS = 2000


def private_report(results: Results, *, published: bool) -> Report:
    """Tables, plots and findings."""
    systems = described(results)
    seen = view(results, systems=[system["name"] for system in systems if _main(results, system)])
    tables = private_tables(results, systems, published=published) | comparison_tables(seen, published=False)
    return Report(
        heading=heading(list(seen["systems"]), results["datasets"]),
        tables=tables,
        plots=partial(_plots, seen, systems),
        findings=[*_against_raw(results, systems), *_hidden(systems), *_gains(results)],
        cautions=_cautions(systems),
        views={PHI: seen},
    )


def _plots(seen: View, systems: Sequence[Described]) -> dict[str, Figure]:
    return private_plots(seen, _unpooled(systems)) | comparison_plots(seen)


def _unpooled(systems: Sequence[Described]) -> list[Described]:
    return [system for system in systems if system["kind"] not in POOLED]


def private_tables(results: Results, systems: Sequence[Described], *, published: bool) -> dict[str, Table]:
    """Every table that the results have data for, by name, in order.

    Args:
        results: the content of results.json.
        systems: from `described`.
        published: add the paper's scores to Table 2.
    """
    unpooled, pooled = _unpooled(systems), [system for system in systems if system["kind"] in POOLED]
    found = {"private": systems_table(results, unpooled, published=published), "attacks": attack_table(unpooled)}
    if any(system["neighbours"] is not None for system in unpooled):
        found["neighbours"] = neighbours_table(unpooled)
    if pooled:
        seen = view(results, systems=[system["name"] for system in pooled], comparison="pooling")
        tables = {"scores": overview_table(seen), "intervals": interval_table(seen), "significance": pair_table(seen)}
        for name, table in {**tables, "attacks": attack_table(pooled)}.items():
            found[f"pooling-{name}"] = replace(table, title=f"Pooling: {table.title}", notes=_pooling_notes(table))
    return found


def described(results: Results) -> list[Described]:
    """Every system with the means over its runs; of the adversaries' accuracies, the highest of any run."""
    runs: dict[str, list[Mapping[str, Any]]] = {}
    for run in results["runs"]:
        runs.setdefault(run["system"], []).append(run)
    return [_described(name, system, runs[name]) for name, system in results["systems"].items()]


def _described(name: str, system: Mapping[str, Any], runs: Sequence[Mapping[str, Any]]) -> Described:
    return {
        "name": name,
        "kind": system["model"],
        "neighbours": system["settings"].get("neighbours"),
        "embedding": system["embedding"],
        "size": system["settings"].get("representation size"),
        "seeds": len(runs),
        "scores": {score: {"f1": _f1(runs, key)} for score, key in _SCORES.items()},
        "attacks": {attack: _attack(attack, [run["attacks"][attack] for run in runs]) for attack in runs[0]["attacks"]},
        "remains": _means([run.get("remains") for run in runs]),
    }


def _f1(runs: Sequence[Mapping[str, Any]], key: str) -> float | None:
    """Mean of a kind of F; None where the types do not allow it."""
    found = [s[key]["micro"]["f1"] for run in runs if key in (s := run["evaluations"][0]["scores"])]
    return fmean(found) if found else None


def _attack(name: str, found: Sequence[Any]) -> Any:
    if name not in ACCURACIES:
        return _means(found)
    tried = [one for one in found if one is not None]
    return max(tried, key=lambda one: one["accuracy"]) if tried else None


def _means(found: Sequence[Any]) -> Any:
    """Mean of numbers, or of each number in objects of one form; None for no numbers."""
    there = [one for one in found if one is not None]
    if not there:
        return None
    if isinstance(there[0], Mapping):
        return {key: _means([one[key] for one in there]) for key in there[0]}
    return fmean(there)


def systems_frame(systems: Sequence[Described]) -> pd.DataFrame:
    """One row a system: name, kind, embedding, neighbours, binary_hipaa, entity_strict, and each accuracy's ends."""
    rows = []
    for system in systems:
        row = {name: system[name] for name in ("name", "kind", "embedding", "neighbours", "size", "seeds")}
        row |= {name: system["scores"][name]["f1"] for name in ("binary_hipaa", "entity_strict")}
        for name in ACCURACIES:
            for end in ("accuracy", "low", "high"):
                row[f"{name} {end}"] = (system["attacks"][name] or {}).get(end)
        rows.append(row)
    return pd.DataFrame(rows)


def systems_table(results: Results, systems: Sequence[Described], *, published: bool) -> Table:
    """Table 2: F of each system, and the accuracy of its adversaries."""
    rows = {system["name"]: _row(system, published=published) for system in systems if _main(results, system)}
    seeds = max(system["seeds"] for system in systems)
    notes = [
        "F in %: binary HIPAA token by token, as the 2014 i2b2 challenge counts, and strict entities"
        + (f"; means of {seeds} seeds." if seeds > 1 else "."),
        *_NOTES,
        *score_notes(view(results))[:1],
    ]
    if published:
        notes += friedrich2019.PAPER.printed["table-2"].notes
    cells = pd.DataFrame.from_dict(rows, orient="index")
    return Table("Private training data (Table 2 of friedrich2019)", cells, tuple(notes), systems_frame(systems))


def _main(results: Results, system: Described) -> bool:
    """Test for a system of Table 2."""
    return system["kind"] not in POOLED and system["neighbours"] in (None, results["command"]["neighbours"])


def _row(system: Described, *, published: bool) -> dict[str, str]:
    fresh = system["attacks"]["fresh"]
    row = {
        "N": NO_VALUE if system["neighbours"] is None else str(system["neighbours"]),
        "Binary HIPAA F": percent(system["scores"]["binary_hipaa"]["f1"]),
        "Strict F": percent(system["scores"]["entity_strict"]["f1"]),
        "Fresh adversary": percent(fresh and fresh["accuracy"]),
        "95 % interval": f"{percent(fresh['low'])} to {percent(fresh['high'])}" if fresh else NO_VALUE,
    }
    if published:
        row |= printed_cells(friedrich2019.PAPER.printed["table-2"], (system["kind"], system["embedding"]))
    return row


def attack_table(systems: Sequence[Described]) -> Table:
    """Result of each attack (rows) on each system."""
    shown = [system for system in systems if any(value is not None for value in system["attacks"].values())]
    columns = {system["name"]: dict(_attacks(system)) for system in shown}
    # In the order of the system with most of them: not every attack is made on every system.
    rows = dict.fromkeys(row for found in sorted(columns.values(), key=len, reverse=True) for row in found)
    cells = pd.DataFrame(
        {name: [found.get(row, NO_VALUE) for row in rows] for name, found in columns.items()}, list(rows)
    )
    notes = (
        *_NOTES,
        "Averaging: who has the representation tries every candidate, takes the mean over so many draws of noise, and "
        "the nearest one; among a name's N neighbours, and among all names seen: the first, and the first ten.",
        "Linking: how often two vectors of one name are more alike than those of two of its type; 50 % is chance.",
        "Inversion: words that a decoder reads out of the vectors; it was taught on the training sentences.",
        *([_SCALE] if any(system["kind"] in ("non-private", "pseudonyms") for system in shown) else []),
    )
    return Table("Attacks (%)", cells, notes, _attack_frame(systems))


def _attacks(system: Described) -> Iterator[tuple[str, str]]:
    """Figures of a system's attacks, in per cent, by their names."""
    attacks = system["attacks"]
    for name, title in ACCURACIES.items():
        if attacks[name]:
            found = attacks[name]
            interval = f"({percent(found['low'], 1)} to {percent(found['high'], 1)})"
            yield f"pairs, {title}", f"{percent(found['accuracy'], 1)} {interval}"
    for name, among in (("averaging", "neighbours"), ("averaging_names", "all names")):
        for draws, hits in (attacks[name] or {}).items():
            text = f"{percent(hits['top1'], 1)} / {percent(hits['top10'], 1)}"
            yield f"averaging, {among}, draws {draws}: first / first ten", text
        if attacks[name]:
            yield f"averaging, {among}: chance", percent(next(iter(attacks[name].values()))["chance"], 1)
    if attacks["linking"]:
        yield "linking, AUC", percent(attacks["linking"]["auc"], 1)
    for name, words in (("", "PHI"), ("others_", "other words")):
        if attacks["inversion"]:
            yield f"inversion, {words} read", percent(attacks["inversion"][f"{name}recovered"], 1)
            yield f"inversion, {words} by frequency", percent(attacks["inversion"][f"{name}by_frequency"], 1)


def _attack_frame(systems: Sequence[Described]) -> pd.DataFrame:
    rows = []
    for system in systems:
        for path, value in _numbers(system["attacks"]):
            rows.append((system["name"], " ".join(path), value))
    return pd.DataFrame(rows, columns=["system", "figure", "value"])


def _numbers(found: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], float]]:
    """Every number in nested objects, with its path."""
    if isinstance(found, Mapping):
        for name, inner in found.items():
            yield from _numbers(inner, (*path, name))
    elif found is not None:
        yield path, found


def neighbours_table(systems: Sequence[Described]) -> Table:
    """F and accuracy by the number of neighbours: the numbers of Figures 4 and 5, and the PHI that pseudonyms leave."""
    shown = sorted(
        (system for system in systems if system["neighbours"] is not None),
        key=lambda system: (system["kind"], system["embedding"], system["neighbours"]),
    )
    rows = {system["name"]: {**_row(system, published=False), **_remains(system)} for system in shown}
    notes = (
        "Figures 4 and 5 of friedrich2019.",
        "Unchanged, holding: the shares of PHI tokens whose pseudonym is the word itself, or holds it.",
        "Neighbours that hold it: how many of a word's neighbours do, the mean over the words of PHI; in the paper "
        + " and ".join(f"{value} by {name}" for name, value in friedrich2019.CONTAINING.items())
        + ", of 100.",
    )
    return Table(
        "By the number of neighbours", pd.DataFrame.from_dict(rows, orient="index"), notes, systems_frame(systems)
    )


def _remains(system: Described) -> dict[str, str]:
    found = system["remains"]
    shares = {"Unchanged": "unchanged", "Holding": "containing"}
    cells = {title: percent(found and found[name]) for title, name in shares.items()}
    return {**cells, "Neighbours that hold it": f"{found['neighbours_that_contain']:.2f}" if found else NO_VALUE}


def _pooling_notes(table: Table) -> tuple[str, ...]:
    return (
        *table.notes,
        "The training documents are shared out among a provider and two hospitals, a third each, by a fixed seed; word "
        "vectors, neighbours and the representation are learned from the provider's part alone. Who attacks has that "
        "part as text; attacked is what both hospitals publish.",
    )


def _against_raw(results: Results, systems: Sequence[Described]) -> Iterator[str]:
    raw = {s["embedding"]: s["scores"]["entity_strict"]["f1"] for s in systems if s["kind"] == "non-private"}
    for system in systems:
        if system["kind"] not in CLOSE or not _main(results, system) or system["embedding"] not in raw:
            continue
        f1 = system["scores"]["entity_strict"]["f1"]
        behind = raw[system["embedding"]] - f1
        close = "within" if behind <= CLOSE[system["kind"]] else "not within"
        yield (
            f"{system['name']}: strict F {percent(f1)} %, {-100 * behind:+.2f} points against the notes themselves: "
            f"{close} {100 * CLOSE[system['kind']]:g} of them."
        )


def _hidden(systems: Sequence[Described]) -> Iterator[str]:
    for system in systems:
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


def _cautions(systems: Sequence[Described]) -> list[str]:
    """Limits of any claim of privacy."""
    found = [
        "No figure here is a promise: it says how well these attacks did, not how well the next one will.",
        "Nothing protects words that are no PHI; the attacks table says how many of them can be read.",
    ]
    pairs = [attack["pairs"] for s in systems if (attack := s["attacks"]["fresh"]) and "pairs" in attack]
    if pairs and min(pairs) < _FEWEST_PAIRS:
        found.append(f"The adversaries were tried on {min(pairs):,} pairs only, so the intervals are wide.")
    return found


def _gains(results: Results) -> Iterator[str]:
    """Gain of pooling over one hospital's notes alone."""
    comparison = results["comparisons"].get("pooling", {"pairs": []})
    for pair in comparison["pairs"]:
        if (
            pair["category"] == OVERALL
            and pair["a"].startswith("alone-hospital")
            and pair["b"].startswith("pooled-rep")
        ):
            holds = "holds" if pair["p_holm"] <= comparison["level"] else "may be chance"
            yield (
                f"{pair['b']} against {pair['a']}: strict F {percent(pair['f1_b'])} and {percent(pair['f1_a'])} %, "
                f"a difference of {100 * pair['difference']:+.2f} points, which {holds}."
            )

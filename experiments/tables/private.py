"""Tables of the experiment on private training data: Table 2, the figures' numbers, the attacks, and pooling."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from experiments.papers import friedrich2019
from experiments.tables.cells import NO_VALUE, Table, percent, score_notes
from experiments.tables.frames import Results
from experiments.tables.scores import interval_table, overview_table, pair_table

System = Mapping[str, Any]

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


def private_tables(results: Results, *, published: bool) -> dict[str, Table]:
    """Every table that the results have data for, by name, in order."""
    found = {"private": systems_table(results, published=published), "attacks": attack_table(results)}
    if any(system["neighbours"] is not None for system in results["systems"]):
        found["neighbours"] = neighbours_table(results)
    if results["pooling"] is not None:
        pooled = {**results, **results["pooling"]}
        for name, make in _POOLING.items():
            table = make(pooled)
            found[f"pooling-{name}"] = replace(table, title=f"Pooling: {table.title}", notes=_pooling_notes(table))
    return found


def systems_frame(results: Results) -> pd.DataFrame:
    """One row a system: name, kind, embedding, neighbours, binary_hipaa, entity_strict, and each accuracy's ends."""
    rows = []
    for system in results["systems"]:
        row = {name: system[name] for name in ("name", "kind", "embedding", "neighbours", "size", "seeds")}
        row |= {name: system["scores"][name]["f1"] for name in ("binary_hipaa", "entity_strict")}
        for name in ACCURACIES:
            for end in ("accuracy", "low", "high"):
                row[f"{name} {end}"] = (system["attacks"][name] or {}).get(end)
        rows.append(row)
    return pd.DataFrame(rows)


def systems_table(results: Results, *, published: bool) -> Table:
    """Table 2: F of each system, and the accuracy of its adversaries."""
    rows = {
        system["name"]: _row(system, published=published) for system in results["systems"] if _main(results, system)
    }
    seeds = max(system["seeds"] for system in results["systems"])
    notes = [
        "F in %: binary HIPAA token by token, as the 2014 i2b2 challenge counts, and strict entities"
        + (f"; means of {seeds} seeds." if seeds > 1 else "."),
        *_NOTES,
        *score_notes(results)[:1],
    ]
    if published:
        notes.append(
            "Published: Table 2 of friedrich2019, i2b2 2014; not to be compared with ours of another corpus or types."
        )
    cells = pd.DataFrame.from_dict(rows, orient="index")
    return Table("Private training data (Table 2 of friedrich2019)", cells, tuple(notes), systems_frame(results))


def _main(results: Results, system: System) -> bool:
    """Test for a system of Table 2."""
    return system["neighbours"] in (None, results["settings"]["command"]["neighbours"])


def _row(system: System, *, published: bool) -> dict[str, str]:
    fresh = system["attacks"]["fresh"]
    row = {
        "N": NO_VALUE if system["neighbours"] is None else str(system["neighbours"]),
        "Binary HIPAA F": percent(system["scores"]["binary_hipaa"]["f1"]),
        "Strict F": percent(system["scores"]["entity_strict"]["f1"]),
        "Fresh adversary": percent(fresh and fresh["accuracy"]),
        "95 % interval": f"{percent(fresh['low'])} to {percent(fresh['high'])}" if fresh else NO_VALUE,
    }
    if published:
        printed = friedrich2019.PRIVATE.get((system["kind"], system["embedding"]))
        row["Published F"] = NO_VALUE if printed is None else f"{printed:.2f}"
    return row


def attack_table(results: Results) -> Table:
    """Result of each attack (rows) on each system."""
    shown = [system for system in results["systems"] if any(value is not None for value in system["attacks"].values())]
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
    return Table("Attacks (%)", cells, notes, _attack_frame(results))


def _attacks(system: System) -> Iterator[tuple[str, str]]:
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


def _attack_frame(results: Results) -> pd.DataFrame:
    rows = []
    for system in results["systems"]:
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


def neighbours_table(results: Results) -> Table:
    """F and accuracy by the number of neighbours: the numbers of Figures 4 and 5, and the PHI that pseudonyms leave."""
    systems = sorted(
        (system for system in results["systems"] if system["neighbours"] is not None),
        key=lambda system: (system["kind"], system["embedding"], system["neighbours"]),
    )
    rows = {system["name"]: {**_row(system, published=False), **_remains(system)} for system in systems}
    notes = (
        "Figures 4 and 5 of friedrich2019.",
        "Unchanged, holding: the shares of PHI tokens whose pseudonym is the word itself, or holds it.",
        "Neighbours that hold it: how many of a word's neighbours do, the mean over the words of PHI; in the paper "
        + " and ".join(f"{value} by {name}" for name, value in friedrich2019.CONTAINING.items())
        + ", of 100.",
    )
    return Table(
        "By the number of neighbours", pd.DataFrame.from_dict(rows, orient="index"), notes, systems_frame(results)
    )


def _remains(system: System) -> dict[str, str]:
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


_POOLING: Mapping[str, Callable[[Results], Table]] = {
    "scores": overview_table,
    "intervals": interval_table,
    "significance": pair_table,
    "attacks": attack_table,
}
"""Tables of the pooling systems."""


def history_frame(results: Results) -> pd.DataFrame:
    """Training of representations: system, epoch, phase, loss, held_out, input_deviation, output_deviation."""
    names = ("phase", "loss", "held_out", "input_deviation", "output_deviation")
    rows = [
        (system, number, *(epoch[name] for name in names))
        for system, found in results["models"].items()
        for run in found["runs"][:1]
        for number, epoch in enumerate(run.get("history", []), start=1)
    ]
    return pd.DataFrame(rows, columns=["system", "epoch", *names])


def of_kind(results: Results, kinds: Sequence[str]) -> list[System]:
    """Systems of some kinds that have a number of neighbours."""
    return [s for s in results["systems"] if s["kind"] in kinds and s["neighbours"] is not None]

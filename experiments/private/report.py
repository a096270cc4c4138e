"""Report on private training data: Table 2, the figures' numbers, the attacks, pooling, and findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from crfdeid.documents import PHI
from experiments.core.experiment import Report, heading
from experiments.papers import friedrich2019
from experiments.plots import comparison_plots
from experiments.private.options import POOLED
from experiments.private.plots import private_plots
from experiments.results.measurements import OVERALL
from experiments.results.schema import Results
from experiments.results.view import View, frame_of, view
from experiments.tables import comparison_tables
from experiments.tables.frames import rows_of, select
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
_COLUMNS = ("name", "kind", "embedding", "neighbours", "size", "seeds", "binary_hipaa", "entity_strict")
_KINDS = (*ACCURACIES, "averaging", "averaging_names", "linking", "inversion")
"""Attacks, in the order of tables."""
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
    """Every system: its entry, its strict and binary F, and each measure, as means over its runs.

    "values" has (kind, category, measure) -> value. Those of an adversary are of the run in which it was most accurate.
    """
    frame, found = frame_of(results), list[Described]()
    for name, system in results["systems"].items():
        rows = frame[frame["system"] == name]
        values = _values(rows)
        settings = system["settings"]
        found.append(
            {
                "name": name,
                "kind": system["model"],
                "embedding": system["embedding"],
                "neighbours": settings.get("neighbours"),
                "size": settings.get("representation size"),
                "seeds": rows["seed"].nunique(),
                "binary_hipaa": values.get(("token_binary_hipaa", OVERALL, "f1")),
                "entity_strict": values.get(("entity_strict", OVERALL, "f1")),
                "values": values,
            }
        )
    return found


def _values(rows: pd.DataFrame) -> dict[tuple[str, str, str], float]:
    parts = []
    for kind, found in rows.groupby("kind", sort=False):
        best = select(found, str(kind), measure="accuracy", category=OVERALL).set_index("seed")["value"]
        parts.append(found[found["seed"] == best.idxmax()] if kind in ACCURACIES else found)
    means = pd.concat(parts).groupby(["kind", "category", "measure"], sort=False)["value"].mean().reset_index()
    return {(row["kind"], row["category"], row["measure"]): row["value"] for row in rows_of(means)}


def of_attack(system: Described, kind: str, measure: str, category: str = OVERALL) -> float | None:
    """A measure of an attack; None where it does not apply."""
    found: float | None = system["values"].get((kind, category, measure))
    return found


def systems_frame(systems: Sequence[Described]) -> pd.DataFrame:
    """One row a system: name, kind, embedding, neighbours, size, seeds, F, and each accuracy's ends."""
    rows = []
    for system in systems:
        row = {name: system[name] for name in _COLUMNS}
        for kind in ACCURACIES:
            row |= {f"{kind} {end}": of_attack(system, kind, end) for end in ("accuracy", "low", "high")}
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
    accuracy, low, high = (of_attack(system, "fresh", name) for name in ("accuracy", "low", "high"))
    row = {
        "N": NO_VALUE if system["neighbours"] is None else str(system["neighbours"]),
        "Binary HIPAA F": percent(system["binary_hipaa"]),
        "Strict F": percent(system["entity_strict"]),
        "Fresh adversary": percent(accuracy),
        "95 % interval": NO_VALUE if accuracy is None else f"{percent(low)} to {percent(high)}",
    }
    if published:
        row |= printed_cells(friedrich2019.PAPER.printed["table-2"], (system["kind"], system["embedding"]))
    return row


def attack_table(systems: Sequence[Described]) -> Table:
    """Result of each attack (rows) on each system."""
    columns = {system["name"]: found for system in systems if (found := dict(_attacks(system)))}
    # In the order of the system with most of them: not every attack is made on every system.
    rows = dict.fromkeys(row for found in sorted(columns.values(), key=len, reverse=True) for row in found)
    cells = pd.DataFrame(
        {name: [found.get(row, NO_VALUE) for row in rows] for name, found in columns.items()}, list(rows)
    )
    is_scale = any(system["kind"] in ("non-private", "pseudonyms") and system["name"] in columns for system in systems)
    notes = (
        *_NOTES,
        "Averaging: who has the representation tries every candidate, takes the mean over so many draws of noise, and "
        "the nearest one; among a name's N neighbours, and among all names seen: the first, and the first ten.",
        "Linking: how often two vectors of one name are more alike than those of two of its type; 50 % is chance.",
        "Inversion: words that a decoder reads out of the vectors; it was taught on the training sentences.",
        *([_SCALE] if is_scale else []),
    )
    data = [
        (system["name"], _figure(*key), system["values"][key])
        for system in systems
        for kind in _KINDS
        for key in system["values"]
        if key[0] == kind
    ]
    return Table("Attacks (%)", cells, notes, pd.DataFrame(data, columns=["system", "figure", "value"]))


def _figure(kind: str, category: str, measure: str) -> str:
    """Name of a measure of an attack in the table's CSV."""
    if category == OVERALL:
        return f"{kind} {measure}"
    return f"{kind} by_adversary {category}" if kind in ACCURACIES else f"{kind} {category} {measure}"


def _attacks(system: Described) -> Iterator[tuple[str, str]]:
    """Figures of a system's attacks, in per cent, by their names."""
    for kind, title in ACCURACIES.items():
        accuracy, low, high = (of_attack(system, kind, name) for name in ("accuracy", "low", "high"))
        if accuracy is not None:
            yield f"pairs, {title}", f"{percent(accuracy, 1)} ({percent(low, 1)} to {percent(high, 1)})"
    for kind, among in (("averaging", "neighbours"), ("averaging_names", "all names")):
        draws = [category for found, category, measure in system["values"] if (found, measure) == (kind, "top1")]
        for number in draws:
            hits = (percent(of_attack(system, kind, name, number), 1) for name in ("top1", "top10"))
            yield f"averaging, {among}, draws {number}: first / first ten", " / ".join(hits)
        if draws:
            yield f"averaging, {among}: chance", percent(of_attack(system, kind, "chance", draws[0]), 1)
    if ("linking", OVERALL, "auc") in system["values"]:
        yield "linking, AUC", percent(of_attack(system, "linking", "auc"), 1)
    for name, words in (("", "PHI"), ("others_", "other words")):
        if ("inversion", OVERALL, "recovered") in system["values"]:
            yield f"inversion, {words} read", percent(of_attack(system, "inversion", f"{name}recovered"), 1)
            by_frequency = of_attack(system, "inversion", f"{name}by_frequency")
            yield f"inversion, {words} by frequency", percent(by_frequency, 1)


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
    shares = {"Unchanged": "unchanged", "Holding": "containing"}
    cells = {title: percent(of_attack(system, "remains", name)) for title, name in shares.items()}
    number = of_attack(system, "remains", "neighbours_that_contain")
    return {**cells, "Neighbours that hold it": NO_VALUE if number is None else f"{number:.2f}"}


def _pooling_notes(table: Table) -> tuple[str, ...]:
    return (
        *table.notes,
        "The training documents are shared out among a provider and two hospitals, a third each, by a fixed seed; word "
        "vectors, neighbours and the representation are learned from the provider's part alone. Who attacks has that "
        "part as text; attacked is what both hospitals publish.",
    )


def _against_raw(results: Results, systems: Sequence[Described]) -> Iterator[str]:
    raw = {s["embedding"]: s["entity_strict"] for s in systems if s["kind"] == "non-private"}
    for system in systems:
        if system["kind"] not in CLOSE or not _main(results, system) or system["embedding"] not in raw:
            continue
        f1 = system["entity_strict"]
        behind = raw[system["embedding"]] - f1
        close = "within" if behind <= CLOSE[system["kind"]] else "not within"
        yield (
            f"{system['name']}: strict F {percent(f1)} %, {-100 * behind:+.2f} points against the notes themselves: "
            f"{close} {100 * CLOSE[system['kind']]:g} of them."
        )


def _hidden(systems: Sequence[Described]) -> Iterator[str]:
    for system in systems:
        fresh, low, high = (of_attack(system, "fresh", name) for name in ("accuracy", "low", "high"))
        bare = of_attack(system, "no_noise", "accuracy")
        if fresh is None or low is None or high is None:
            continue
        accuracy = (
            f"{system['name']}: the worst fresh adversary was right on {percent(fresh, 1)} % of the pairs "
            f"(95 % interval {percent(low, 1)} to {percent(high, 1)}): "
        )
        if low > CHANCE and high > HIDDEN:
            yield accuracy + "the representation leaks."
        elif high > HIDDEN:
            yield accuracy + "these are too few pairs to tell whether it hides."
        elif bare is not None and bare < STRONG:
            yield accuracy + f"but without noise only on {percent(bare, 1)} %, so it is too weak to tell."
        else:
            yield accuracy + "it cannot tell real pairs from fake ones."


def _cautions(systems: Sequence[Described]) -> list[str]:
    """Limits of any claim of privacy."""
    found = [
        "No figure here is a promise: it says how well these attacks did, not how well the next one will.",
        "Nothing protects words that are no PHI; the attacks table says how many of them can be read.",
    ]
    fewest = min((n for system in systems if (n := of_attack(system, "fresh", "pairs")) is not None), default=None)
    if fewest is not None and fewest < _FEWEST_PAIRS:
        found.append(f"The adversaries were tried on {fewest:,.0f} pairs only, so the intervals are wide.")
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

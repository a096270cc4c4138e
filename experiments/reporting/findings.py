"""Findings of a comparison, as sentences computed from a view: the first screen of the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import Any

from experiments.papers import PAPERS, Paper
from experiments.results.measurements import OVERALL
from experiments.results.schema import Results, is_plain
from experiments.results.view import View
from experiments.tables.frames import percent, select

_ERRORS = {
    "missed": "missed entities",
    "wrong": "entities of the wrong type",
    "boundary": "wrong boundaries",
    "spurious": "spurious entities",
}


@dataclass(frozen=True)
class Standing:
    """One system's rank; fractions are means over its seeds.

    Args:
        system: its name.
        seeds: number of its runs.
        f1: strict entity F.
        interval: its confidence interval, (low, high), if there is one.
        uncovered: share of the tokens of PHI that it does not mark as PHI, and would leak.
        behind: difference of its F to the best system's.
        p: of that difference, corrected for the number of comparisons; None for the best, or without a test.
        holds: true for a difference that holds at the test's level; None where ``p`` is.
    """

    system: str
    seeds: int
    f1: float
    interval: tuple[float, float] | None
    uncovered: float
    behind: float
    p: float | None
    holds: bool | None


def ranking(view: View) -> list[Standing]:
    """Systems by strict entity F, the best first."""
    f1 = _means(view, "entity_strict", "f1")
    covered = _means(view, "token_binary", "recall")
    best = max(f1, key=lambda system: f1[system])
    return [
        Standing(
            system,
            len(view["systems"][system]["seeds"]),
            f1[system],
            _interval(view, system),
            1 - covered[system],
            f1[best] - f1[system],
            p := _p(view, best, system),
            None if p is None else p <= view["comparison"]["level"],
        )
        for system in sorted(f1, key=lambda system: -f1[system])
    ]


def sentences(view: View) -> list[str]:
    """Sentences on the systems, the best one, the significance of differences, leaks and common errors."""
    standings = ranking(view)
    found = [_compared(view), *_best(view, standings), *_against_papers(view, standings)]
    return [*found, _leaks(standings), *_hardest(view, standings[0]), *_commonest(view, standings[0])]


def cautions(results: Results) -> list[str]:
    """Limits of any experiment that its reader must know."""
    found = []
    if any(dataset["format"] == "synthetic" for dataset in results["datasets"].values()):
        found.append(
            "The corpus is synthetic: cleaner and more regular than real notes. It compares models; it does not show "
            "how well they would do on a hospital's notes."
        )
    found += notices(results)
    unaligned = sum(dataset["splits"][dataset["test"]]["unaligned"] for dataset in results["datasets"].values())
    if unaligned:
        found.append(f"{unaligned:,} of the scored entities fit no tokens: every system misses them.")
    if all(count == 1 for count in Counter(run["system"] for run in results["runs"] if is_plain(run)).values()):
        found.append(
            "Each system was trained once. A network trained with another seed gives other scores; how much they "
            "spread is not in these results."
        )
    return found


def notices(results: Results) -> list[str]:
    """Remarks on the corpora, each with its corpus's name where there are several."""
    several = len(results["datasets"]) > 1
    return [
        f"{name}: {notice}" if several else notice
        for name, dataset in results["datasets"].items()
        for notice in dataset["notices"]
    ]


def probability(p: float) -> str:
    """A p-value with its significant decimals.

    Example:
        >>> probability(0.00002), probability(0.0314)
        ('< 0.001', '0.031')
    """
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def _means(view: View, match: str, measure: str) -> dict[str, float]:
    """Mean of an overall score by system."""
    rows = select(view["measurements"], match, measure=measure, category=OVERALL)
    return {str(system): fmean(values) for system, values in rows.groupby("system", sort=False)["value"]}


def _interval(view: View, system: str) -> tuple[float, float] | None:
    significance = view["comparison"]
    found = significance and significance["intervals"].get(system, {}).get(OVERALL)
    return (found["low"], found["high"]) if found else None


def _p(view: View, best: str, other: str) -> float | None:
    pairs = view["comparison"]["pairs"] if view["comparison"] else []
    for pair in pairs:
        if {pair["a"], pair["b"]} == {best, other} and pair["category"] == OVERALL:
            return float(pair["p_holm"])
    return None


def _compared(view: View) -> str:
    corpus, systems = view["dataset"], view["systems"]
    scored = corpus["splits"][corpus["test"]]
    one = len(systems) == 1
    return (
        f"{_count(len(systems), 'system')} {'was' if one else 'were'} {'scored' if one else 'compared'} on the "
        f"{corpus['test']} split of {corpus['name']}: {_count(scored['documents'], 'document')} with "
        f"{_count(scored['spans'], 'marked entity', 'marked entities')} of {_count(len(corpus['types']), 'type')}."
    )


def _best(view: View, standings: Sequence[Standing]) -> Iterator[str]:
    best, *others = standings
    mean = f", the mean of {best.seeds} seeds" if best.seeds > 1 else ""
    between = f" (95 % interval {percent(best.interval[0])} to {percent(best.interval[1])})" if best.interval else ""
    yield f"Best overall: {best.system}, strict entity F {percent(best.f1)} %{between}{mean}."
    if others and any(other.holds is not None for other in others):
        yield _lead(view["comparison"], best, others)
    elif others:
        yield "Whether its lead holds was not tested."


def _lead(significance: Mapping[str, Any], best: Standing, others: Sequence[Standing]) -> str:
    beaten = [other for other in others if other.holds]
    open_ = [other for other in others if other.holds is False]
    test = f"{significance['test']}, {significance['permutations']:,} permutations, level {significance['level']:g}"
    basis = f"({test}, Holm's correction for the number of comparisons)"
    if not open_:
        every = "" if len(beaten) == 1 else "every one of "
        return f"Its lead over {every}{_names(beaten)} holds {basis}."
    if not beaten:
        return f"Its lead over {_names(open_)} may be chance: the data do not decide between them {basis}."
    return f"Its lead over {_names(beaten)} holds; over {_names(open_)} it may be chance {basis}."


def _against_papers(view: View, standings: Sequence[Standing]) -> Iterator[str]:
    """Sentences on the papers' orders: of models, each with its best embedding on dev, and of a model's embeddings."""
    about, on_dev = view["systems"], _means(view, "dev", "f1")
    chosen = sorted(standings, key=lambda standing: on_dev.get(standing.system, 0.0))
    best = {about[standing.system]["model"]: standing for standing in chosen}
    with_embedding = {
        (about[standing.system]["model"], about[standing.system]["embedding"]): standing for standing in standings
    }
    for paper in PAPERS.values():
        for order in paper.orders:
            if order.what == "models":
                yield from _order(view, paper, "models", {name: best.get(name) for name in order.names})
                continue
            for model in paper.models.values():
                there = {name: with_embedding.get((model, name)) for name in order.names}
                yield from _order(view, paper, f"embeddings for {model}", there)


def _order(view: View, paper: Paper, what: str, standings: Mapping[str, Standing | None]) -> Iterator[str]:
    """One sentence on the systems of a paper's order that were compared, the worst first; none for fewer than two."""
    named = {name: standing for name, standing in standings.items() if standing is not None}
    if len(named) < 2:
        return
    steps = []
    for worse, better in pairwise(named.values()):
        sign = "<" if worse.f1 < better.f1 else ">" if worse.f1 > better.f1 else "="
        p = _p(view, worse.system, better.system)
        known = "not tested" if p is None else "holds" if p <= view["comparison"]["level"] else "may be chance"
        steps.append(f"{worse.system} {sign} {better.system} ({known})")
    holds = all(worse.f1 < better.f1 for worse, better in pairwise(named.values()))
    same = "the same" if holds else "not the same"
    yield f"The order of {what} in {paper.name}, {' < '.join(named)}, is {same} here: {', '.join(steps)}."


def _leaks(standings: Sequence[Standing]) -> str:
    best, safest = standings[0], min(standings, key=lambda standing: standing.uncovered)
    lead = f"What would leak: {best.system} leaves {percent(best.uncovered)} % of the PHI's tokens unmarked"
    if safest.uncovered < best.uncovered:
        return f"{lead}; {safest.system} leaves the least, {percent(safest.uncovered)} %."
    return f"{lead}{', the least of all' if len(standings) > 1 else ''}."


def _hardest(view: View, best: Standing) -> Iterator[str]:
    rows = select(view["measurements"], "entity_strict", measure="f1")
    found = rows[rows["system"] == best.system].groupby("category")["value"].sum()
    in_gold = view["dataset"]["splits"][view["dataset"]["test"]]["spans_by_type"]
    f1 = {label: found.get(label, 0.0) / best.seeds for label in view["dataset"]["types"] if in_gold.get(label)}
    if len(f1) > 1:
        hard, easy = min(f1, key=lambda label: f1[label]), max(f1, key=lambda label: f1[label])
        easiest = f"easiest: {easy} ({percent(f1[easy])} %)"
        yield f"Hardest type for {best.system}: {hard} (F {percent(f1[hard])} %); {easiest}."


def _commonest(view: View, best: Standing) -> Iterator[str]:
    rows = select(view["measurements"], "errors", category=OVERALL)
    means = rows[rows["system"] == best.system].groupby("measure")["value"].mean()
    counts = {name: means[name] for name in _ERRORS}
    total, most = sum(counts.values()), max(counts, key=lambda name: counts[name])
    if total:
        each = f" (mean of {best.seeds} seeds)" if best.seeds > 1 else ""
        yield f"Its commonest errors{each}: {_ERRORS[most]}, {counts[most]:.0f} of {total:.0f}."


def _names(standings: Sequence[Standing]) -> str:
    names = [standing.system for standing in standings]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"

"""Report on private training data: Table 2, the figures' numbers, the attacks, pooling, and findings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pandas as pd
from matplotlib.figure import Figure

from crfdeid.documents import PHI
from crfdeid.evaluation.tokens import Proportion
from experiments.core.experiment import Report, heading
from experiments.papers import friedrich2019
from experiments.plots import comparison_plots
from experiments.private.options import POOLED, PSEUDONYMS, RAW
from experiments.private.plots import private_plots
from experiments.results.measurements import OVERALL
from experiments.results.schema import Results
from experiments.results.view import View, frame_of, view
from experiments.tables import comparison_tables
from experiments.tables.frames import NO_VALUE, percent, select
from experiments.tables.published import with_printed_columns
from experiments.tables.scores import interval_table, overview_table, pair_table
from experiments.tables.table import Table, score_notes

ACCURACIES = {
    "fresh": "fresh",
    "continued": "grown up with it",
    "zeroed": "control: vectors set to 0",
    "no_noise": "control: no noise",
}
"""Attack by pairs of sentences: kind of adversary -> its name in tables."""

_NOTES = (
    "Fresh: accuracy of the best adversary trained from scratch on the frozen representation, among T1, T2, their "
    "average, seeds and numbers of epochs; other pairs chose it, and whether its answers are inverted. 50 % is chance.",
    "With vectors set to 0 no adversary can be right more often than by chance; with the noise off it must be, above "
    "75 %, or it is too weak for its 50 % to mean anything.",
)

_SCALE = "For a scale: non-private, the attacks on the word vectors themselves; pseudonyms, on those of pseudonyms."
HIDDEN = 0.55
"""Highest end of the interval of the best fresh adversary's accuracy for a representation that hides."""
CHANCE = 0.5
LEVEL = 0.05
"""Highest probability that any of the runs is called leaking by chance."""
STRONG = 0.75
"""Lowest accuracy without noise of an adversary whose failure with noise means something."""
CLOSE = {"pseudonyms": 0.015, "representation": 0.02, "dann": 0.02}
"""Kind of system -> largest loss of strict F against training on the notes themselves."""
_FEWEST_PAIRS = 2000


def private_report(results: Results, *, published: bool) -> Report:
    """Tables, plots and findings."""
    systems = described(results)
    seen = view(results, systems=_main(results, systems).index)
    tables = private_tables(results, systems, published=published) | comparison_tables(seen, published=False)
    return Report(
        heading=heading(list(seen["systems"]), results["datasets"]),
        tables=tables,
        plots=partial(_plots, seen, systems),
        findings=[*_against_raw(results, systems), *_hidden(systems), *_gains(results)],
        cautions=_cautions(systems),
        views={PHI: seen},
    )


def _plots(seen: View, systems: pd.DataFrame) -> dict[str, Figure]:
    return private_plots(seen, systems[~systems["kind"].isin(POOLED)]) | comparison_plots(seen)


def private_tables(results: Results, systems: pd.DataFrame, *, published: bool) -> dict[str, Table]:
    """Every table that the results have data for, by name, in order.

    Args:
        results: the content of results.json.
        systems: from `described`.
        published: add the paper's scores to Table 2.
    """
    is_pooled = systems["kind"].isin(POOLED)
    unpooled, pooled = systems[~is_pooled], systems[is_pooled]
    found = {"private": systems_table(results, unpooled, published=published), "attacks": attack_table(unpooled)}
    if unpooled["neighbours"].notna().any():
        found["neighbours"] = neighbours_table(unpooled)
    if len(pooled):
        seen = view(results, systems=pooled.index, comparison="pooling")
        tables = {"scores": overview_table(seen), "intervals": interval_table(seen), "significance": pair_table(seen)}
        for name, table in {**tables, "attacks": attack_table(pooled)}.items():
            found[f"pooling-{name}"] = replace(table, title=f"Pooling: {table.title}", notes=_pooling_notes(table))
    return found


def described(results: Results) -> pd.DataFrame:
    """The measurements as a pivot: a row for each system, a column for each "KIND MEASURE [CATEGORY]", means over runs.

    Those of an adversary are of the run in which it was most accurate. Further columns: kind, embedding, neighbours,
    size (of the representation), seeds.
    """
    rows = frame_of(results)
    accuracy = pd.concat([select(rows, kind, measure="accuracy", category=OVERALL) for kind in ACCURACIES])
    worst = accuracy.loc[accuracy.groupby(["system", "kind"])["value"].idxmax()].set_index(["system", "kind"])["seed"]
    seed = pd.Series(pd.MultiIndex.from_frame(rows[["system", "kind"]]).map(worst.to_dict()), rows.index)
    shown = rows[seed.isna() | (seed == rows["seed"])]
    name = shown["kind"] + " " + shown["measure"] + shown["category"].map(lambda c: "" if c == OVERALL else f" {c}")
    values = shown.assign(name=name).groupby(["system", "name"], sort=False)["value"].mean().unstack(sort=False)
    facts = {
        system: {
            "kind": about["model"],
            "embedding": about["embedding"],
            "neighbours": about["settings"].get("neighbours"),
            "size": about["settings"].get("representation size"),
            "seeds": rows["seed"][rows["system"] == system].nunique(),
        }
        for system, about in results["systems"].items()
    }
    found = pd.DataFrame.from_dict(facts, orient="index").join(values)
    always = ("token_binary_hipaa f1", "fresh accuracy", "fresh low", "fresh high", "fresh pairs", "no_noise accuracy")
    return found.reindex(columns=list(dict.fromkeys([*found, *always])))


def systems_table(results: Results, systems: pd.DataFrame, *, published: bool) -> Table:
    """Table 2: F of each system, and the accuracy of its adversaries."""
    shown = _main(results, systems)
    seeds = systems["seeds"].max()
    notes = [
        "F in %: binary HIPAA token by token, as the 2014 i2b2 challenge counts, and strict entities"
        + (f"; means of {seeds} seeds." if seeds > 1 else "."),
        *_NOTES,
        *score_notes(view(results))[:1],
    ]
    cells = _cells(shown)
    if published:
        printed = friedrich2019.PAPER.printed["table-2"]
        notes += printed.notes
        cells = with_printed_columns(cells, printed, zip(shown["kind"], shown["embedding"], strict=True))
    return Table("Private training data (Table 2 of friedrich2019)", cells, tuple(notes), _data(systems))


def _data(systems: pd.DataFrame) -> pd.DataFrame:
    return systems.rename_axis("system").reset_index()


def _main(results: Results, systems: pd.DataFrame) -> pd.DataFrame:
    """The systems of Table 2."""
    of_table = systems["neighbours"].isna() | (systems["neighbours"] == results["command"]["neighbours"])
    return systems[~systems["kind"].isin(POOLED) & of_table]


def _cells(systems: pd.DataFrame) -> pd.DataFrame:
    low, high = systems["fresh low"].map(percent), systems["fresh high"].map(percent)
    return pd.DataFrame(
        {
            "N": systems["neighbours"].map(lambda count: NO_VALUE if pd.isna(count) else f"{count:.0f}"),
            "Binary HIPAA F": systems["token_binary_hipaa f1"].map(percent),
            "Strict F": systems["entity_strict f1"].map(percent),
            "Fresh adversary": systems["fresh accuracy"].map(percent),
            "95 % interval": (low + " to " + high).mask(systems["fresh accuracy"].isna(), NO_VALUE),
        }
    )


def attack_table(systems: pd.DataFrame) -> Table:
    """Result of each attack (rows) on each system."""
    rows = dict(_attacks(systems))
    cells = pd.DataFrame(rows, index=systems.index).dropna(how="all").dropna(axis=1, how="all").fillna(NO_VALUE).T
    notes = (
        *_NOTES,
        "Averaging: who has the representation tries every candidate, takes the mean over so many draws of noise, and "
        "the nearest one; among a name's N neighbours, and among all names seen: the first, and the first ten.",
        "Linking: how often two vectors of one name are more alike than those of two of its type; 50 % is chance.",
        "Inversion: words that a decoder reads out of the vectors; it was taught on the training sentences.",
        *([_SCALE] if systems["kind"].reindex(cells.columns).isin([RAW, PSEUDONYMS]).any() else []),
    )
    return Table("Attacks (%)", cells, notes, _data(systems))


def _attacks(systems: pd.DataFrame) -> Iterator[tuple[str, pd.Series]]:
    """Figures of each attack, in per cent, by its name; missing for a system on which it is not made."""

    def figures(column: str) -> pd.Series:
        none = pd.Series(None, systems.index, dtype=object)
        found = systems.get(column, none)
        return found.map(lambda value: percent(value, 1)).where(found.notna(), None)

    for kind, title in ACCURACIES.items():
        accuracy, low, high = (figures(f"{kind} {name}") for name in ("accuracy", "low", "high"))
        yield f"pairs, {title}", accuracy + " (" + low + " to " + high + ")"
        yield f"pairs, {title}, mean of seeds", figures(f"{kind} mean")
    for kind, among in (("averaging", "neighbours"), ("averaging_names", "all names")):
        draws = [name.rpartition(" ")[2] for name in map(str, systems) if name.startswith(f"{kind} top1 ")]
        for number in draws:
            hits = [figures(f"{kind} {name} {number}") for name in ("top1", "top10")]
            yield f"averaging, {among}, draws {number}: first / first ten", hits[0] + " / " + hits[1]
        if draws:
            yield f"averaging, {among}: chance", figures(f"{kind} chance {draws[0]}")
    yield "linking, AUC", figures("linking auc")
    for name, words in (("", "PHI"), ("others_", "other words")):
        yield f"inversion, {words} read", figures(f"inversion {name}recovered")
        yield f"inversion, {words} by frequency", figures(f"inversion {name}by_frequency")


def neighbours_table(systems: pd.DataFrame) -> Table:
    """F and accuracy by the number of neighbours: the numbers of Figures 4 and 5, and the PHI that pseudonyms leave."""
    shown = systems[systems["neighbours"].notna()].sort_values(["kind", "embedding", "neighbours"], kind="stable")
    remains = {"Unchanged": ("unchanged", percent), "Holding": ("containing", percent)}
    remains["Neighbours that hold it"] = ("neighbours_that_contain", "{:.2f}".format)
    cells = _cells(shown)
    for title, (name, text) in remains.items():
        found = shown.get(f"remains {name}", pd.Series(None, shown.index, dtype=float))
        cells[title] = found.map(text).where(found.notna(), NO_VALUE)
    notes = (
        "Figures 4 and 5 of friedrich2019.",
        "Unchanged, holding: the shares of PHI tokens whose pseudonym is the word itself, or holds it.",
        "Neighbours that hold it: how many of a word's neighbours do, the mean over the words of PHI; in the paper "
        + " and ".join(f"{value} by {name}" for name, value in friedrich2019.CONTAINING.items())
        + ", of 100.",
    )
    return Table("By the number of neighbours", cells, notes, _data(shown))


def _pooling_notes(table: Table) -> tuple[str, ...]:
    return (
        *table.notes,
        "The training documents are shared out among a provider and two hospitals, a third each, by a fixed seed; word "
        "vectors, neighbours and the representation are learned from the provider's part alone. Who attacks has that "
        "part as text; attacked is what both hospitals publish.",
    )


def _against_raw(results: Results, systems: pd.DataFrame) -> Iterator[str]:
    raw = systems[systems["kind"] == RAW].set_index("embedding")["entity_strict f1"].to_dict()
    shown = _main(results, systems)
    for name, kind, embedding, f1 in shown[["kind", "embedding", "entity_strict f1"]].itertuples():
        if kind in CLOSE and embedding in raw:
            behind = raw[embedding] - f1
            close = "within" if behind <= CLOSE[kind] else "not within"
            yield (
                f"{name}: strict F {percent(f1)} %, {-100 * behind:+.2f} points against the notes themselves: "
                f"{close} {100 * CLOSE[kind]:g} of them."
            )


def corrected_interval(accuracy: float, pairs: float, *, runs: int) -> tuple[float, float]:
    """Wilson's interval with Bonferroni's correction.

    The probability that the intervals of ``runs`` representations of zeros are not all around 50 % is at most `LEVEL`.

    Args:
        accuracy: share of the pairs that an adversary classified right; other pairs chose the adversary.
        pairs: number of pairs.
        runs: number of attacked representations.
    """
    return Proportion(round(accuracy * pairs), round(pairs)).interval(LEVEL / runs)


def _hidden(systems: pd.DataFrame) -> Iterator[str]:
    names = ["fresh accuracy", "fresh pairs", "seeds", "no_noise accuracy"]
    attacked = systems.dropna(subset=names[:2])[names]
    runs = int(attacked["seeds"].sum())
    for name, fresh, pairs, _, bare in attacked.itertuples():
        low, high = corrected_interval(fresh, pairs, runs=runs)
        accuracy = (
            f"{name}: the best fresh adversary was right on {percent(fresh, 1)} % of the pairs "
            f"(95 % interval, corrected for the number of runs, {percent(low, 1)} to {percent(high, 1)}): "
        )
        if low > CHANCE and high > HIDDEN:
            yield accuracy + "the representation leaks."
        elif high > HIDDEN:
            yield accuracy + "these are too few pairs to tell whether it hides."
        elif bare < STRONG:
            yield accuracy + f"but without noise only on {percent(bare, 1)} %, so it is too weak to tell."
        else:
            yield accuracy + "it cannot tell real pairs from fake ones."


def _cautions(systems: pd.DataFrame) -> list[str]:
    """Limits of any claim of privacy."""
    found = [
        "No figure here is a promise: it says how well these attacks did, not how well the next one will.",
        "Nothing protects words that are no PHI; the attacks table says how many of them can be read.",
    ]
    if (fewest := systems["fresh pairs"].min()) < _FEWEST_PAIRS:  # NaN, without adversaries, is not.
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

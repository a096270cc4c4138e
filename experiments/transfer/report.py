"""Report on transfer: Tables 2 to 6 of johnson2020, the neighbours of missed tokens, matrices, and findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from crfdeid.documents import PHI
from crfdeid.evaluation import Counts
from crfdeid.label_schemes import PHI_GROUPS, in_order
from experiments.core.experiment import Report
from experiments.papers.johnson2020 import PAPER
from experiments.plots.style import CHARACTER, canvas, finish, heat_map
from experiments.reporting.findings import notices
from experiments.results.measurements import OVERALL
from experiments.results.schema import Results
from experiments.results.view import frame_of, view
from experiments.tables import example_table
from experiments.tables.frames import corpus_frame, rows_of, select, wide
from experiments.tables.published import printed_table, with_printed_rows
from experiments.tables.setting import time_table
from experiments.tables.table import MARK, NO_VALUE, Table, long_form, percent, run_notes
from experiments.transfer.options import DEFAULT, LEVEL

CLINICAL_MEASURES = {"f1": "F1", "recall": "Sensitivity", "precision": "PPV"}
"""The three blocks of Table 4."""

COMPARED = {
    "binary": "PHI or not",
    "categories": "PHI of the right category",
    "name": "names alone",
}
TOKENS = "Scores of tokens, which are this library's: punctuation is a token of its own."
_ROW = dict[str, str]
_CAUTIONS = (
    "What a model loses on another corpus it may lose to other people and other words, or to another idea of what "
    "PHI is: the corpora were annotated by different rules, and the figures do not tell which.",
    "Thresholds of the operating points were chosen on the documents that they are shown for.",
)


def transfer_report(results: Results, *, published: bool) -> Report:
    """Tables, plots and findings."""
    return Report(
        heading=f"{', '.join(labels(results))} between {', '.join(results['datasets'])}",
        tables=transfer_tables(results, published=published),
        plots=lambda: transfer_plots(results),
        findings=[_summary(results), *_lost(results), *_missed(results)],
        cautions=_CAUTIONS,
        views={PHI: view(results)},
        text_tables=lambda texts, gold, predictions: {"table-6": example_table(results, texts, gold, predictions)},
        ranks=False,
    )


def labels(results: Results) -> list[str]:
    """The models, each once."""
    return list(dict.fromkeys(system["label"] for system in results["systems"].values()))


def transfer_tables(results: Results, *, published: bool) -> dict[str, Table]:
    """Every table that the results have data for, by name, in order."""
    found = {f"table-4-{measure}": matrix_table(results, measure) for measure in CLINICAL_MEASURES}
    found["table-2"] = model_table(results, published=published)
    found["table-3"] = category_table(results, published=published)
    found["table-5"] = point_table(results)
    found["missed"] = missed_table(results)
    if published:
        alone = (*(f"table-4-{measure}" for measure in CLINICAL_MEASURES), "table-5")
        found |= {f"published-{name}": printed_table(PAPER.printed[name]) for name in alone}
    return found | {"time": time_table(view(results))}


def corpora_table(results: Results) -> Table:
    """Spans of each category in each part of each corpus: the form of Table 1."""
    corpora = results["datasets"]
    frames = {name: corpus_frame(corpus) for name, corpus in corpora.items()}
    whole = pd.concat([frame.add_prefix(f"{name}: ") for name, frame in frames.items()], axis="columns")
    types = [label for corpus in corpora.values() for label in corpus["types"]]
    sums = [name for name in whole.index if name not in types]
    whole = whole.reindex([*in_order(types, PHI_GROUPS), *sums]).fillna(0).astype(int)
    notes = (
        "Types are the seven categories of johnson2020 (docs/reference/types.md); spans of no category are left out.",
        *notices(results),
    )
    return Table("Corpora: spans of each category", whole.map("{:,}".format), notes, long_form(whole, "count", "part"))


def own_scores(results: Results) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Each model, each corpus, and the scores in its test documents of the model that was trained on it (`scored`)."""
    for system in results["systems"]:
        about = results["systems"][system]
        yield about["label"], about["trained_on"], scored(results, system, about["trained_on"])


def scored(results: Results, system: str, dataset: str) -> dict[str, Any]:
    """Tables 2 and 3, and section 4.2: scores of tokens over all runs of a system, and counts of missed tokens.

    Returns:
        "multi_class", "binary" and "by_category", by category, with counts and scores; "missed".
    """
    frame = frame_of(results)
    rows = frame[(frame["system"] == system) & (frame["dataset"] == dataset)]
    sums = rows.groupby(["kind", "category", "measure"], sort=False)["value"].sum()

    def total(kind: str, category: str = OVERALL) -> dict[str, Any]:
        return Counts(*(int(sums[kind, category, name]) for name in ("tp", "fp", "fn"))).to_dict()

    labels = select(rows, "token", measure="tp")["category"]
    return {
        "multi_class": total("token"),
        "binary": total("token_binary"),
        "by_category": {label: total("token", label) for label in labels.unique() if label != OVERALL},
        "missed": {name: int(sums["missed", OVERALL, name]) for name in ("tokens", "adjacent_found")},
    }


def matrix_frame(results: Results) -> pd.DataFrame:
    """Table 4 as one fact a row: model, trained_on, tested_on, measure, value, low, high."""
    rows = []
    for system in results["systems"].values():
        for tested, cell in system["tested"].items():
            for measure in CLINICAL_MEASURES:
                prefix = "" if measure == "f1" else f"{measure}_"
                ends = cell[f"{prefix}low"], cell[f"{prefix}high"]
                rows.append((system["label"], system["trained_on"], tested, measure, cell[measure], *ends))
    return pd.DataFrame(rows, columns=["model", "trained_on", "tested_on", "measure", "value", "low", "high"])


def matrix_table(results: Results, measure: str) -> Table:
    """Table 4: a measure by training corpus (rows) and test corpus (columns)."""
    frame = matrix_frame(results)
    frame = frame[frame["measure"] == measure]
    rows: dict[str, _ROW] = {}
    for found in rows_of(frame):
        mark = MARK if found["trained_on"] == found["tested_on"] else ""
        cell = f"{percent(found['value'])} [{percent(found['low'], 1)}, {percent(found['high'], 1)}]{mark}"
        rows.setdefault(f"{found['model']}: {found['trained_on']}", {})[found["tested_on"]] = cell
    notes = (
        f"Rows: trained on; columns: tested on; {MARK}: on the test documents of the same corpus.",
        f"What is compared: {COMPARED[results['command']['types']]}. {TOKENS}",
        f"[ ]: {100 * (1 - LEVEL):g} % intervals by drawing test documents, {results['command']['samples']:,} times.",
        *run_notes(view(results), "Over"),
    )
    title = f"{CLINICAL_MEASURES[measure]} by corpus in % (Table 4 of johnson2020)"
    return Table(title, pd.DataFrame.from_dict(rows, orient="index"), notes, frame)


def model_table(results: Results, *, published: bool) -> Table:
    """Table 2: each model on its training corpus, by category and as PHI or not."""
    kinds = {"multi_class": "Multi-class", "binary": "PHI or not"}
    rows = {
        f"{model}: {corpus}": {
            f"{title} {letter}": percent(found[kind][measure])
            for kind, title in kinds.items()
            for measure, letter in (("precision", "PPV"), ("recall", "Se"), ("f1", "F1"))
        }
        for model, corpus, found in own_scores(results)
    }
    cells = pd.DataFrame.from_dict(rows, orient="index")
    data = long_form(cells, "model", "measure")
    notes = ("Trained and tested on one corpus. PHI or not: the same predictions without their categories.", TOKENS)
    table = Table("Models by category and as PHI or not in % (Table 2 of johnson2020)", cells, notes, data, group=3)
    return with_printed_rows(table, PAPER.printed["table-2"]) if published else table


def category_table(results: Results, *, published: bool) -> Table:
    """Table 3: each model on its training corpus, by category."""
    rows: dict[str, _ROW] = {}
    models = labels(results)
    seeds = {about["label"]: len(about["seeds"]) for about in view(results)["systems"].values()}
    for model, corpus, found in own_scores(results):
        for label in in_order(found["by_category"], PHI_GROUPS):
            counts = found["by_category"][label]
            number = (counts["tp"] + counts["fn"]) // seeds[model]
            row = rows.setdefault(f"{corpus}: {label}", {"n": f"{number:,}"})
            row |= {f"{model} {letter}": percent(counts[name]) for letter, name in _LETTERS.items()}
    columns = ["n", *(f"{model} {letter}" for model in models for letter in _LETTERS)]
    cells = pd.DataFrame.from_dict(rows, orient="index", columns=columns).fillna(NO_VALUE)
    notes = ("Trained and tested on one corpus. n: tokens of the category in its test documents.", TOKENS)
    table = Table(
        "Models by category in % (Table 3 of johnson2020)", cells, notes, long_form(cells, "category", "measure")
    )
    return with_printed_rows(table, PAPER.printed["table-3"]) if published else table


_LETTERS = {"P": "precision", "R": "recall", "F1": "f1"}


def point_table(results: Results) -> Table:
    """Table 5: threshold for each required sensitivity, and its precision."""
    rows: dict[str, _ROW] = {}
    seen = view(results)
    points = select(seen["measurements"], "operating_points").rename(columns={"category": "required"})
    facts = wide(points, "system", "required", "seed")
    for mean in rows_of(facts.groupby(["system", "required"], sort=False).mean().reset_index()):
        about, required = seen["systems"][mean["system"]], mean["required"]
        is_default = required == DEFAULT
        name = DEFAULT if is_default else f"{100 * float(required):g}"
        rows[f"{about['label']}: {about['trained_on']}, {name}"] = {
            "Sensitivity": percent(mean["sensitivity"]),
            "PPV": percent(mean["ppv"]),
            "F1": percent(mean["f1"]),
            "FN/1000": f"{mean['false_negatives_per_1000']:.2f}",
            "FP/1000": f"{mean['false_positives_per_1000']:.2f}",
            "Threshold": NO_VALUE if is_default else f"{mean['threshold']:.3g}",
        }
    data = pd.concat([own for _, own in facts.groupby(["system", "required"], sort=False)]).reset_index()
    names = {name: (about["label"], about["trained_on"]) for name, about in seen["systems"].items()}
    data.insert(0, "model", [names[system][0] for system in data["system"]])
    data.insert(1, "corpus", [names[system][1] for system in data.pop("system")])
    data.insert(2, "required", data.pop("required").replace(DEFAULT, None).astype(float))
    data = data.drop(columns="seed").astype({name: int for name in ("tokens", "phi_tokens", "missed") if name in facts})
    notes = (
        "Trained and tested on one corpus. FN/1000, FP/1000: tokens of PHI that are left, and others that are hidden, "
        "in 1,000 tokens.",
        "A threshold is chosen on the test documents themselves, as in the paper: the highest one that has the "
        "sensitivity. On other notes it will have a little more or less. Default: the most probable tags.",
        *run_notes(view(results), "Means of"),
    )
    title = "Operating points: required sensitivity in % (Table 5 of johnson2020)"
    return Table(title, pd.DataFrame.from_dict(rows, orient="index"), notes, data)


def missed_table(results: Results) -> Table:
    """Section 4.2: unmarked tokens of PHI, and the number of them directly next to a marked one."""
    rows: dict[str, _ROW] = {}
    facts = []
    for name, system in results["systems"].items():
        model, trained = system["label"], system["trained_on"]
        for tested in results["datasets"]:
            found = scored(results, name, tested)
            missed = found["missed"]
            share = missed["adjacent_found"] / missed["tokens"] if missed["tokens"] else None
            mark = MARK if trained == tested else ""
            rows[f"{model}: {trained} to {tested}{mark}"] = {
                "Tokens of PHI": f"{found['binary']['tp'] + found['binary']['fn']:,}",
                "Missed": f"{missed['tokens']:,}",
                "Beside found PHI": f"{missed['adjacent_found']:,}",
                "Beside found PHI (%)": percent(share, 1),
            }
            facts.append((model, trained, tested, missed["tokens"], missed["adjacent_found"]))
    notes = (
        "Tokens of PHI that are not marked at all, whatever their category; beside: the token before or after is PHI "
        f"that was found. {MARK}: tested on the corpus trained on. In johnson2020 (section 4.2) 493 of 632, 78 %.",
        *run_notes(view(results), "Sums over"),
    )
    data = pd.DataFrame(facts, columns=["model", "trained_on", "tested_on", "missed", "adjacent_found"])
    return Table("Missed tokens of PHI", pd.DataFrame.from_dict(rows, orient="index"), notes, data)


def transfer_plots(results: Results) -> dict[str, Figure]:
    """A figure for each model, by the name of its files."""
    frame = matrix_frame(results)
    return {f"transfer-{model}": _matrices(results, frame, model) for model in labels(results)}


def _matrices(results: Results, frame: pd.DataFrame, model: str) -> Figure:
    """F, sensitivity and PPV of a model by the corpus that it was trained on and tested on, side by side."""
    names = list(results["datasets"])
    longest = CHARACTER * max(map(len, names))
    figure, panels = canvas(0.7 + 0.45 * len(names) + longest, columns=len(CLINICAL_MEASURES))
    for column, (panel, (measure, title)) in enumerate(zip(panels, CLINICAL_MEASURES.items(), strict=True)):
        found = frame[(frame["model"] == model) & (frame["measure"] == measure)]
        table = found.pivot_table(index="trained_on", columns="tested_on", values="value").loc[names, names]
        texts = table.map(lambda value: percent(value, 1))
        for name in names:
            texts.loc[name, name] += MARK
        heat_map(panel, texts, table.to_numpy())
        panel.tick_params(axis="x", rotation=90)
        panel.set_xlabel(f"{title}: tested on")
        panel.xaxis.set_label_position("top")
        if column:
            panel.set_yticklabels([])
        else:
            panel.set_ylabel("trained on")
    caption = (
        f"Tokens, {COMPARED[results['command']['types']]}, in per cent; {MARK}: tested on the corpus it was trained on."
    )
    return finish(figure, f"{model} between corpora", caption)


def _summary(results: Results) -> str:
    return (
        f"{', '.join(labels(results))}: trained on each of {', '.join(results['datasets'])}, and tested on all; "
        f"scores of tokens, {COMPARED[results['command']['types']]}."
    )


def _lost(results: Results) -> Iterator[str]:
    """For each model and training corpus: F there, and the best and the worst F elsewhere."""
    for system in results["systems"].values():
        model, trained, by_tested = system["label"], system["trained_on"], system["tested"]
        others = {name: cell for name, cell in by_tested.items() if name != trained}
        own = by_tested[trained]
        here = f"{model}, trained on {trained}: F {percent(own['f1'])} % there"
        interval = f" (95 % interval {percent(own['low'], 1)} to {percent(own['high'], 1)})"
        if not others:
            yield f"{here}{interval}."
            continue
        ranked = sorted(others, key=lambda name: others[name]["f1"])
        ends = " to ".join(
            f"{percent(others[name]['f1'])} % ({name})" for name in dict.fromkeys((ranked[0], ranked[-1]))
        )
        yield f"{here}{interval}, elsewhere {ends}."


def _missed(results: Results) -> Iterator[str]:
    for model, corpus, found in own_scores(results):
        missed = found["missed"]
        if missed["tokens"]:
            share = percent(missed["adjacent_found"] / missed["tokens"], 1)
            yield f"{model}, {corpus}: {share} % of the missed tokens of PHI are next to PHI that was found."

"""Report on transfer: Tables 2 to 6 of johnson2020, the neighbours of missed tokens, matrices, and findings."""

from __future__ import annotations

from collections.abc import Iterator
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
from experiments.tables.frames import NO_VALUE, corpus_frame, long_form, percent, pivot, select, wide
from experiments.tables.published import printed_table, with_printed_rows
from experiments.tables.setting import time_table
from experiments.tables.table import MARK, Table, run_notes
from experiments.transfer.options import DEFAULT, LEVEL

CLINICAL_MEASURES = {"f1": "F1", "recall": "Sensitivity", "precision": "PPV"}
"""The three blocks of Table 4."""

COMPARED = {
    "binary": "PHI or not",
    "categories": "PHI of the right category",
    "name": "names alone",
}
TOKENS = "Scores of tokens, which are this library's: punctuation is a token of its own."
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


def _with_encoders(results: Results) -> dict[str, str]:
    """Model -> its name next to printed ones of other encoders: with the name and the size of its own."""
    encoders = {system["label"]: system.get("encoder") for system in results["systems"].values()}
    return {label: f"{label} ({encoder})" if encoder else label for label, encoder in encoders.items()}


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


def token_scores(results: Results) -> pd.DataFrame:
    """Counts and scores of tokens over all runs, by model, training corpus, test corpus, kind and category."""
    frame = frame_of(results)
    rows = frame[frame["kind"].isin(["token", "token_binary"]) & frame["measure"].isin(["tp", "fp", "fn"])]
    keys = ["system", "dataset", "kind", "category", "measure"]
    sums = rows.groupby(keys, sort=False)["value"].sum().unstack(sort=False)
    scores = [Counts(*map(int, counts)).to_dict() for counts in sums[["tp", "fp", "fn"]].to_numpy()]
    found = pd.DataFrame(scores, sums.index).reset_index()
    for column, entry in (("trained_on", "trained_on"), ("model", "label")):
        found.insert(0, column, found["system"].map({name: about[entry] for name, about in results["systems"].items()}))
    return found.rename(columns={"dataset": "tested_on"})


def _at_home(scores: pd.DataFrame) -> pd.DataFrame:
    """Scores of each model in the test documents of its training corpus."""
    return scores[scores["trained_on"] == scores["tested_on"]]


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
    marks = (frame["trained_on"] == frame["tested_on"]).map({True: MARK, False: ""})
    ends = [frame[end].map(lambda value: percent(value, 1)) for end in ("low", "high")]
    texts = frame["value"].map(percent) + " [" + ends[0] + ", " + ends[1] + "]" + marks
    texts.index = pd.MultiIndex.from_arrays([frame["model"] + ": " + frame["trained_on"], frame["tested_on"]])
    notes = (
        f"Rows: trained on; columns: tested on; {MARK}: on the test documents of the same corpus.",
        f"What is compared: {COMPARED[results['command']['types']]}. {TOKENS}",
        f"[ ]: {100 * (1 - LEVEL):g} % intervals by drawing test documents, {results['command']['samples']:,} times.",
        *run_notes(view(results), "Over"),
    )
    cells = pivot(texts, texts.index.unique(0), {name: name for name in frame["tested_on"].unique()})
    return Table(f"{CLINICAL_MEASURES[measure]} by corpus in % (Table 4 of johnson2020)", cells, notes, frame)


def model_table(results: Results, *, published: bool) -> Table:
    """Table 2: each model on its training corpus, by category and as PHI or not."""
    rows = _at_home(token_scores(results))
    rows = rows[rows["category"] == OVERALL]
    rows = rows.assign(row=rows["model"].map(_with_encoders(results)) + ": " + rows["trained_on"])
    kinds, letters = (
        {"token": "Multi-class", "token_binary": "PHI or not"},
        {"precision": "PPV", "recall": "Se", "f1": "F1"},
    )
    columns = {(m, kind): f"{title} {letter}" for kind, title in kinds.items() for m, letter in letters.items()}
    texts: Any = rows.set_index(["row", "kind"])[[*letters]].map(percent).rename_axis("measure", axis=1).stack()
    cells = pivot(texts.swaplevel(), rows["row"].unique(), columns)
    notes = ("Trained and tested on one corpus. PHI or not: the same predictions without their categories.", TOKENS)
    table = Table("Models by category and as PHI or not in % (Table 2 of johnson2020)", cells, notes, rows, group=3)
    return with_printed_rows(table, PAPER.printed["table-2"]) if published else table


def category_table(results: Results, *, published: bool) -> Table:
    """Table 3: each model on its training corpus, by category."""
    rows = _at_home(token_scores(results))
    rows = rows[(rows["kind"] == "token") & (rows["category"] != OVERALL)]
    rows = rows.assign(row=rows["trained_on"] + ": " + rows["category"])
    seeds = {name: len(about["seeds"]) for name, about in view(results)["systems"].items()}
    tokens = ((rows["tp"] + rows["fn"]) // rows["system"].map(seeds)).groupby(rows["row"]).first()
    texts: Any = rows.set_index(["row", "model"])[[*_LETTERS]].map(percent).rename_axis("measure", axis=1).stack()
    found = {corpus: set(own["category"]) for corpus, own in rows.groupby("trained_on")}
    shown = [f"{corpus}: {label}" for corpus in results["datasets"] for label in in_order(found[corpus], PHI_GROUPS)]
    columns = {
        (model, measure): f"{name} {letter}"
        for model, name in _with_encoders(results).items()
        for measure, letter in _LETTERS.items()
    }
    cells = pivot(texts, shown, columns)
    cells.insert(0, "n", [f"{tokens[row]:,}" for row in shown])
    notes = ("Trained and tested on one corpus. n: tokens of the category in its test documents.", TOKENS)
    table = Table("Models by category in % (Table 3 of johnson2020)", cells, notes, rows)
    return with_printed_rows(table, PAPER.printed["table-3"]) if published else table


_LETTERS = {"precision": "P", "recall": "R", "f1": "F1"}


def point_table(results: Results) -> Table:
    """Table 5: threshold for each required sensitivity, and its precision."""
    seen = view(results)
    rows = select(seen["measurements"], "operating_points")
    means = wide(rows, "system", "category", "seed").groupby(["system", "category"], sort=False).mean()
    is_default = means.index.get_level_values("category") == DEFAULT
    cells = pd.DataFrame(
        {
            "Sensitivity": means["sensitivity"].map(percent),
            "PPV": means["ppv"].map(percent),
            "F1": means["f1"].map(percent),
            "FN/1000": means["false_negatives_per_1000"].map("{:.2f}".format),
            "FP/1000": means["false_positives_per_1000"].map("{:.2f}".format),
            "Threshold": means["threshold"].map("{:.3g}".format).mask(is_default, NO_VALUE),
        }
    )
    abouts = seen["systems"]
    names = {name: f"{about['label']}: {about['trained_on']}" for name, about in abouts.items()}
    cells.index = pd.Index(
        [f"{names[s]}, {point if point == DEFAULT else f'{100 * float(point):g}'}" for s, point in means.index]
    )
    notes = (
        "Trained and tested on one corpus. FN/1000, FP/1000: tokens of PHI that are left, and others that are hidden, "
        "in 1,000 tokens.",
        "A threshold is chosen on the test documents themselves, as in the paper: the highest one that has the "
        "sensitivity. On other notes it will have a little more or less. Default: the most probable tags.",
        *run_notes(seen, "Means of"),
    )
    return Table("Operating points: required sensitivity in % (Table 5 of johnson2020)", cells, notes, rows)


def missed_frame(results: Results) -> pd.DataFrame:
    """Section 4.2, over all runs: model, trained_on, tested_on, phi, tokens (missed), adjacent_found, and the share."""
    rows = select(frame_of(results), "missed")
    sums = rows.groupby(["system", "dataset", "measure"], sort=False)["value"].sum().unstack(sort=False)
    scores = token_scores(results)
    phi = scores[(scores["kind"] == "token_binary") & (scores["category"] == OVERALL)]
    found = phi.merge(sums.reset_index(), left_on=["system", "tested_on"], right_on=["system", "dataset"])
    found = found.assign(phi=found["tp"] + found["fn"], share=found["adjacent_found"] / found["tokens"])
    return found[["model", "trained_on", "tested_on", "phi", "tokens", "adjacent_found", "share"]]


def missed_table(results: Results) -> Table:
    """Section 4.2: unmarked tokens of PHI, and the number of them directly next to a marked one."""
    frame = missed_frame(results)
    marks = (frame["trained_on"] == frame["tested_on"]).map({True: MARK, False: ""})
    counts = {"Tokens of PHI": "phi", "Missed": "tokens", "Beside found PHI": "adjacent_found"}
    cells = pd.DataFrame({title: frame[name].map("{:,.0f}".format) for title, name in counts.items()})
    cells["Beside found PHI (%)"] = frame["share"].map(lambda share: percent(share, 1))
    cells.index = pd.Index(frame["model"] + ": " + frame["trained_on"] + " to " + frame["tested_on"] + marks)
    notes = (
        "Tokens of PHI that are not marked at all, whatever their category; beside: the token before or after is PHI "
        f"that was found. {MARK}: tested on the corpus trained on. In johnson2020 (section 4.2) 493 of 632, 78 %.",
        *run_notes(view(results), "Sums over"),
    )
    return Table("Missed tokens of PHI", cells, notes, frame)


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
    home = _at_home(missed_frame(results)).query("tokens > 0")
    for model, corpus, share in zip(home["model"], home["trained_on"], home["share"], strict=True):
        next_to = f"{percent(share, 1)} % of the missed tokens of PHI are next to PHI that was found."
        yield f"{model}, {corpus}: {next_to}"

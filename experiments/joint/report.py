"""Report on PHI and concepts: Tables 2 to 5 of lange2020, the PHI that each model stores, and findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from crfdeid.documents import CONCEPT, PHI
from experiments.core.experiment import Report, heading
from experiments.joint.options import TABLE_5
from experiments.papers.lange2020 import PAPER
from experiments.plots import comparison_plots, entitled
from experiments.results.measurements import OVERALL
from experiments.results.schema import CONCEPT_ANNOTATED_TEXT, LAYERS, Results
from experiments.results.view import View, dataset_of_layer, frame_of, view
from experiments.tables import corpus_table
from experiments.tables.frames import means, percent, pivot, select, wide
from experiments.tables.published import with_printed_columns
from experiments.tables.scores import (
    confusion_table,
    error_table,
    interval_table,
    pair_table,
    replicate_table,
    score_table,
)
from experiments.tables.setting import time_table
from experiments.tables.table import MARK, Table, name_of_test

_PRINTED = PAPER.printed
_CAUTIONS = (
    "What is hidden is the PHI that was found: what was missed is read by the part for concepts, and can be stored "
    "there.",
    "Words that a model holds are not all that its weights can tell.",
)


def joint_report(results: Results, *, published: bool) -> Report:
    """Tables, plots and findings, by annotation layer."""
    compared = _compared(results)
    views = {layer: view(results, layer=layer, systems=compared) for layer in (PHI, CONCEPT)}
    return Report(
        heading=heading(compared, results["datasets"]),
        tables=joint_tables(results, published=published),
        plots=partial(_plots, views),
        findings=[_summary(results), *_differences(results), *_rows(results), *_held(results)],
        cautions=_CAUTIONS,
        views=views,
    )


def _plots(views: Mapping[str, View]) -> dict[str, Figure]:
    """Plots of each annotation layer that a system was scored in."""
    return {
        f"{layer}-{name}": entitled(figure, LAYERS[layer])
        for layer, seen in views.items()
        if seen["systems"]
        for name, figure in comparison_plots(seen).items()
    }


def _compared(results: Results) -> list[str]:
    """Systems of Tables 2 and 3."""
    return [name for name, system in results["systems"].items() if system["compared"]]


def _of_table(results: Results, table: str) -> dict[str, Any]:
    """Systems of Table 4 or 5: name -> its row."""
    return {name: row for name, system in results["systems"].items() if (row := system[table]) is not None}


def joint_tables(results: Results, *, published: bool) -> dict[str, Table]:
    """Every table that the results have data for, by name, in order."""
    found = {}
    if any(PHI in results["systems"][name]["tags"] for name in _compared(results)):
        found["table-2"] = deid_table(results, published=published)
    found["table-3"] = concept_table(results, published=published)
    if _of_table(results, "table_4"):
        found["table-4"] = embedding_scores(results, published=published)
    if _of_table(results, "table_5"):
        found["table-5"] = text_table(results, published=published)
    found["phi-held"] = held_table(results)
    for layer, name in LAYERS.items():
        if layer in results["comparisons"]:
            found |= {f"{layer}-{kind}": table for kind, table in _of_layer(results, layer, name)}
    time = time_table(view(results, layer=CONCEPT))
    together = "The pipelines of one seed are trained together: each is given its share of that time."
    return found | {
        "time": replace(time, notes=(*time.notes, together) if _of_table(results, "table_5") else time.notes)
    }


def concept_corpus_table(dataset: Mapping[str, Any]) -> Table:
    """Concepts by type and split, from an entry of the ``datasets`` part of results.json."""
    layered = dataset_of_layer({**dataset, "notices": []}, CONCEPT)
    return replace(corpus_table(layered), title="Corpus: concepts of each type")


def _of_layer(results: Results, layer: str, name: str) -> Iterator[tuple[str, Table]]:
    """Tables of a comparison, for one layer; for the scores without unsourced text, only intervals and tests."""
    seen = view(results, layer=layer, systems=_compared(results))
    if not seen["systems"]:
        return
    makers: dict[str, Callable[[View], Table]] = {"intervals": interval_table}
    if seen["comparison"]["pairs"]:
        makers["significance"] = pair_table
    if layer != CONCEPT_ANNOTATED_TEXT:
        makers = {"scores": score_table, "replicates": replicate_table, **makers, "errors": error_table}
        makers |= {f"confusions-{one}": partial(confusion_table, system=one) for one in seen["systems"]}
    for kind, make in makers.items():
        table = make(seen)
        yield kind, replace(table, title=f"{name}: {table.title}")


def deid_table(results: Results, *, published: bool) -> Table:
    """Table 2: scores of each system for PHI."""
    names = [name for name in _compared(results) if PHI in results["systems"][name]["tags"]]
    cells, rows = _cells(results, names, layer=PHI, tested=PHI)
    if published:
        cells = with_printed_columns(cells, _PRINTED["table-2"], names)
    notes = _notes(results, PHI, published=published)
    return Table("De-identification: strict F (Table 2 of lange2020)", cells, notes, rows)


def concept_table(results: Results, *, published: bool) -> Table:
    """Table 3: scores of each system for concepts; a column says if the PHI that it found is hidden from them."""
    names = _compared(results)
    cells, rows = _cells(results, names, tested=CONCEPT)
    cells.insert(0, "No PHI", ["yes" if results["systems"][name]["hides_phi"] else "no" for name in names])
    if published:
        cells = with_printed_columns(cells, _PRINTED["table-3"], names)
    notes = (
        "No PHI: whether the part for concepts learns from and reads text in which the PHI that was found is hidden; "
        "what was not found is there.",
        *_notes(results, CONCEPT, published=published),
        *(_PRINTED["table-3"].notes if published else ()),
        *_sourced_notes(results),
    )
    return Table("Concepts: strict F (Table 3 of lange2020)", cells, notes, rows)


def embedding_scores(results: Results, *, published: bool) -> Table:
    """Table 4: concepts in unchanged text, by the inputs of a BiLSTM-CRF."""
    embeddings = _of_table(results, "table_4")
    cells, rows = _cells(results, embeddings)
    facts = [results["embeddings"][results["systems"][name]["embedding"]] for name in embeddings]
    unknown = [one["out_of_vocabulary"][_dataset(results)["test"]]["tokens"] for one in facts]
    cells.insert(0, "Dimension", [str(one["dim"]) for one in facts])
    cells.insert(1, "Unknown tokens (%)", [percent(share) for share in unknown])
    if published:
        cells = with_printed_columns(cells, _PRINTED["table-4"], embeddings.values())
    notes = (
        "Each row but the last two reads word vectors and nothing else; characters: with random word vectors; "
        "concatenated: all but the random ones side by side, and characters.",
        *_notes(results, None, published=published),
    )
    return Table("Concepts by embedding: strict F (Table 4 of lange2020)", cells, notes, rows)


def text_table(results: Results, *, published: bool) -> Table:
    """Table 5: concepts, by training text and test text."""
    ways = _of_table(results, "table_5")
    shown = {name: f"({number}) {name}" for number, name in enumerate((n for n in TABLE_5 if n in ways), start=1)}
    cells, rows = _cells(results, shown, tested="table_5")
    for place, (title, key) in enumerate((("Learned from", "learns_from"), ("Read in", "reads"))):
        cells.insert(place, title, [ways[name][key] for name in shown])
    if published:
        cells = with_printed_columns(cells, _PRINTED["table-5"], [tuple(ways[name].values()) for name in shown])
    notes = (
        "Original: the text as it is; gold, predicted: with the annotated or the found PHI hidden. What is learned "
        "from is hidden by models that have not seen it. Rows that learn from the same text are one model.",
        *_notes(results, "table_5", published=published),
    )
    return Table("Concepts by the text learned from and read: strict F (Table 5 of lange2020)", cells, notes, rows)


def held_table(results: Results) -> Table:
    """Amount of PHI that each model's part for concepts stores."""
    compared, texts = _compared(results), _of_table(results, "table_5")
    # Rows of Table 5 that are not among the compared systems, one for each training text.
    others = {texts[name]["learns_from"]: name for name in TABLE_5 if name in texts and name not in compared}
    known = {texts[name]["learns_from"] for name in compared if name in texts}
    rows = select(frame_of(results), "phi_held")
    shown = (*compared, *(name for way, name in others.items() if way not in known))
    found = rows.pivot_table("value", "system", "measure").reindex([n for n in shown if n in set(rows["system"])])
    cells = pd.DataFrame(
        {
            "Words of PHI": found["words"].map("{:,.0f}".format),
            "Held": found["held"].map(lambda held: f"{held:,.1f}".removesuffix(".0")),
            "Held (%)": (found["held"] / found["words"].clip(lower=1)).map(percent),
        }
    )
    notes = (
        "Words with a letter that are nothing but PHI in the training documents, and those of them that the part for "
        "concepts has stored. A name that is also a word is not among them. What was not found as PHI is not hidden.",
        "A model that stores only words which it has seen more than once holds fewer for that reason too.",
    )
    return Table("PHI that the part for concepts holds", cells.rename_axis(None), notes, rows)


def _dataset(results: Results) -> Mapping[str, Any]:
    (dataset,) = results["datasets"].values()
    return dataset


_COLUMNS = {"precision": "P", "recall": "R", "f1": "F"}


def _cells(
    results: Results, systems: Sequence[str] | Mapping[str, str], *, layer: str = CONCEPT, tested: str | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Precision, recall and F of the best seed on dev; mean and deviation of F; F without unannotated regions.

    Args:
        results: the content of results.json.
        systems: the rows, with their names where these are others.
        layer: the annotation layer.
        tested: the comparison by which F gets a mark where the difference holds; None for no marks.

    Returns:
        The cells, and the measurements that they show.
    """
    seen, sourced = view(results, layer=layer), view(results, layer=CONCEPT_ANNOTATED_TEXT)
    rows = select(seen["measurements"], "entity_strict", category=OVERALL)
    rows = rows[rows["system"].isin(list(systems))]
    dev = select(seen["measurements"], "dev", measure="f1")
    best = dev.loc[dev.groupby("system")["value"].idxmax()].set_index("system")["seed"]
    parts, columns = [rows[rows["measure"].isin(list(_COLUMNS))]], dict(_COLUMNS)
    if layer == CONCEPT and len(sourced["measurements"]):
        free = select(sourced["measurements"], "entity_strict", measure="f1", category=OVERALL)
        parts.append(free.assign(measure="sourced"))
    chosen = pd.concat([part[part["seed"] == part["system"].map(best)] for part in parts])
    texts = chosen.set_index(["system", "measure"])["value"].map(percent)
    for name in _differing(results["comparisons"][tested]) if tested is not None else ():
        if (name, "f1") in texts:
            texts[name, "f1"] += MARK
    if _seeds(results) > 1:
        texts = pd.concat([texts, means(rows[rows["measure"] == "f1"].assign(measure="mean"), "system", "measure")])
        columns["mean"] = "Mean F"
    if len(parts) > 1:
        columns["sourced"] = "F, sourced"
    return pivot(texts, systems, columns), rows


def _differing(significance: Mapping[str, Any]) -> set[str]:
    level = significance["level"]
    return {pair["b"] for pair in significance["pairs"] if pair["category"] == OVERALL and pair["p_holm"] <= level}


def _seeds(results: Results) -> int:
    return max(Counter(run["system"] for run in results["runs"]).values())


def _notes(results: Results, tested: str | None, *, published: bool) -> tuple[str, ...]:
    """Notes for the reader of F: split, choice of seed, test."""
    dataset = _dataset(results)
    several = _seeds(results) > 1
    chosen = f", of the best of {_seeds(results)} seeds on dev, and the mean of all" if several else ""
    notes = [f"In %, on the {dataset['test']} split of {dataset['name']}{chosen}."]
    if tested is not None and results["comparisons"][tested]["pairs"]:
        first = results["comparisons"][tested]["pairs"][0]["a"]
        averaged = ", counts averaged over seeds" if several else ""
        test = name_of_test({"comparison": results["comparisons"][tested]})
        notes.append(f"F marked with {MARK} differs from that of {first}: {test}{averaged}.")
    return (*notes, *([PAPER.warning] if published else ()))


def _sourced_notes(results: Results) -> tuple[str, ...]:
    if CONCEPT_ANNOTATED_TEXT not in results["comparisons"]:
        return ()
    return ("F, sourced: without spans that lie wholly in text that the annotators of concepts never saw.",)


def _summary(results: Results) -> str:
    systems, dataset = _compared(results), _dataset(results)
    scored = dataset["splits"][dataset["test"]]
    return (
        f"{len(systems)} systems were compared on {scored['documents']:,} documents of {dataset['name']}, "
        f"the {dataset['test']} split: {', '.join(systems)}."
    )


def _differences(results: Results) -> Iterator[str]:
    for layer, what in LAYERS.items():
        for pair in _pairs(results, layer):
            yield f"{what}: {_said(results, layer, pair)}"


def _rows(results: Results) -> Iterator[str]:
    for pair in _pairs(results, "table_5"):
        way = results["systems"][pair["b"]]["table_5"]
        yield (f"Learned from {way['learns_from']}, read in {way['reads']} text: {_said(results, 'table_5', pair)}")


def _pairs(results: Results, tested: str) -> list[Mapping[str, Any]]:
    pairs = results["comparisons"].get(tested, {"pairs": []})["pairs"]
    return [pair for pair in pairs if pair["category"] == OVERALL]


def _said(results: Results, tested: str, pair: Mapping[str, Any]) -> str:
    holds = "holds" if pair["p_holm"] <= results["comparisons"][tested]["level"] else "may be chance"
    interval = f"95 % interval {100 * pair['low']:+.2f} to {100 * pair['high']:+.2f}"
    return (
        f"{pair['b']} has a strict F of {percent(pair['f1_b'])} %, {pair['a']} {percent(pair['f1_a'])} %: "
        f"{100 * pair['difference']:+.2f} points ({interval}), which {holds}."
    )


def _held(results: Results) -> Iterator[str]:
    found = wide(select(frame_of(results), "phi_held"), "system", "seed").reset_index()
    for name in _compared(results):
        if len(own := found[found["system"] == name]):
            worst = own.sort_values("held", kind="stable").iloc[-1]
            counts = f"{worst['held']:,.0f} of {worst['words']:,.0f}"
            yield f"{name} holds {counts} words that are nothing but PHI in training."

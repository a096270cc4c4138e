"""Report on PHI and concepts: Tables 2 to 5 of lange2020, the PHI that each model stores, and findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from statistics import fmean, stdev
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
from experiments.tables.frames import select
from experiments.tables.published import printed_cells
from experiments.tables.scores import (
    confusion_table,
    error_table,
    interval_table,
    pair_table,
    replicate_table,
    score_table,
)
from experiments.tables.setting import time_table
from experiments.tables.table import MARK, NO_VALUE, Table, name_of_test, percent

_ROW = dict[str, str]
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
    seen = view(results, layer=PHI)
    rows = {name: _cells(results, seen, name, PHI) for name in names}
    if published:
        rows = {name: {**row, **printed_cells(_PRINTED["table-2"], name)} for name, row in rows.items()}
    return _table("De-identification: strict F (Table 2 of lange2020)", rows, _notes(results, PHI, published=published))


def concept_table(results: Results, *, published: bool) -> Table:
    """Table 3: scores of each system for concepts; a column says if the PHI that it found is hidden from them."""
    rows: dict[str, _ROW] = {}
    seen, sourced = _concepts(results)
    for name in _compared(results):
        hides = {"No PHI": "yes" if results["systems"][name]["hides_phi"] else "no"}
        rows[name] = {**hides, **_cells(results, seen, name, CONCEPT), **_sourced(seen, sourced, name)}
        if published:
            rows[name] |= printed_cells(_PRINTED["table-3"], name)
    notes = (
        "No PHI: whether the part for concepts learns from and reads text in which the PHI that was found is hidden; "
        "what was not found is there.",
        *_notes(results, CONCEPT, published=published),
        *_sourced_notes(results),
    )
    return _table("Concepts: strict F (Table 3 of lange2020)", rows, notes)


def embedding_scores(results: Results, *, published: bool) -> Table:
    """Table 4: concepts in unchanged text, by the inputs of a BiLSTM-CRF."""
    rows: dict[str, _ROW] = {}
    seen, sourced = _concepts(results)
    for name, embedding in _of_table(results, "table_4").items():
        facts = results["embeddings"][results["systems"][name]["embedding"]]
        unknown = percent(facts["out_of_vocabulary"][_dataset(results)["test"]]["tokens"])
        rows[embedding] = {"Dimension": str(facts["dim"]), "Unknown tokens (%)": unknown}
        rows[embedding] |= {**_cells(results, seen, name), **_sourced(seen, sourced, name)}
        if published:
            rows[embedding] |= printed_cells(_PRINTED["table-4"], embedding)
    notes = (
        "Each row but the last two reads word vectors and nothing else; characters: with random word vectors; "
        "concatenated: all but the random ones side by side, and characters.",
        *_notes(results, None, published=published),
    )
    return _table("Concepts by embedding: strict F (Table 4 of lange2020)", rows, notes)


def text_table(results: Results, *, published: bool) -> Table:
    """Table 5: concepts, by training text and test text."""
    rows: dict[str, _ROW] = {}
    ways, (seen, sourced) = _of_table(results, "table_5"), _concepts(results)
    for number, (name, way) in enumerate(((name, ways[name]) for name in TABLE_5 if name in ways), start=1):
        row = {"Learned from": way["learns_from"], "Read in": way["reads"]}
        rows[f"({number}) {name}"] = row | {**_cells(results, seen, name, "table_5"), **_sourced(seen, sourced, name)}
        if published:
            rows[f"({number}) {name}"] |= printed_cells(_PRINTED["table-5"], (way["learns_from"], way["reads"]))
    notes = (
        "Original: the text as it is; gold, predicted: with the annotated or the found PHI hidden. What is learned "
        "from is hidden by models that have not seen it. Rows that learn from the same text are one model.",
        *_notes(results, "table_5", published=published),
    )
    return _table("Concepts by the text learned from and read: strict F (Table 5 of lange2020)", rows, notes)


def held_table(results: Results) -> Table:
    """Amount of PHI that each model's part for concepts stores."""
    rows: dict[str, _ROW] = {}
    compared, texts = _compared(results), _of_table(results, "table_5")
    # Rows of Table 5 that are not among the compared systems, one for each training text.
    others = {texts[name]["learns_from"]: name for name in TABLE_5 if name in texts and name not in compared}
    known = {texts[name]["learns_from"] for name in compared if name in texts}
    found = _phi_held(results)
    for name in (*compared, *(name for way, name in others.items() if way not in known)):
        if name in found:
            held, words = found[name]["held"].mean(), found[name]["words"].iloc[0]
            rows[name] = {"Words of PHI": f"{words:,.0f}", "Held": f"{held:,.1f}".removesuffix(".0")}
            rows[name] |= {"Held (%)": percent(held / max(words, 1))}
    notes = (
        "Words with a letter that are nothing but PHI in the training documents, and those of them that the part for "
        "concepts has stored. A name that is also a word is not among them. What was not found as PHI is not hidden.",
        "A model that stores only words which it has seen more than once holds fewer for that reason too.",
    )
    return _table("PHI that the part for concepts holds", rows, notes)


def _phi_held(results: Results) -> dict[str, pd.DataFrame]:
    """Each system's words of PHI, "words", and those that it has stored, "held", one row a run."""
    rows = select(frame_of(results), "phi_held")
    return {str(name): own.pivot_table("value", "seed", "measure") for name, own in rows.groupby("system")}


def _table(title: str, rows: dict[str, _ROW], notes: tuple[str, ...]) -> Table:
    cells = pd.DataFrame.from_dict(rows, orient="index").fillna(NO_VALUE)
    return Table(title, cells, notes, cells.rename_axis("system").reset_index())


def _dataset(results: Results) -> Mapping[str, Any]:
    (dataset,) = results["datasets"].values()
    return dataset


def _cells(results: Results, seen: View, name: str, tested: str | None = None) -> dict[str, str]:
    """Precision, recall and F of the best seed on dev; mean and deviation of F; a mark where the difference holds."""
    rows = select(seen["measurements"], "entity_strict", category=OVERALL)
    scores = rows[rows["system"] == name].pivot_table("value", "seed", "measure", sort=False)
    best = scores.loc[_best_seed(seen, name)]
    mark = MARK if tested is not None and name in _differing(results["comparisons"][tested]) else ""
    found = {"P": percent(best["precision"]), "R": percent(best["recall"]), "F": percent(best["f1"]) + mark}
    if _seeds(results) > 1:
        f1 = [*scores["f1"]]
        found["Mean F"] = percent(fmean(f1)) + (f" ± {percent(stdev(f1))}" if len(f1) > 1 else "")
    return found


def _best_seed(seen: View, name: str) -> Any:
    """The seed with the best F on dev."""
    rows = select(seen["measurements"], "dev", measure="f1")
    return rows[rows["system"] == name].set_index("seed")["value"].idxmax()


def _sourced(seen: View, sourced: View, name: str) -> dict[str, str]:
    """F without the regions that have no annotation, of the best seed on dev."""
    rows = select(sourced["measurements"], "entity_strict", measure="f1", category=OVERALL)
    found = rows[(rows["system"] == name) & (rows["seed"] == _best_seed(seen, name))]["value"]
    return {"F, sourced": percent(found.iloc[0])} if len(found) else {}


def _concepts(results: Results) -> tuple[View, View]:
    """Views of the concepts in all of the text, and without the regions that have no annotation."""
    return view(results, layer=CONCEPT), view(results, layer=CONCEPT_ANNOTATED_TEXT)


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
    found = _phi_held(results)
    for name in _compared(results):
        if name in found:
            worst = found[name].sort_values("held", kind="stable").iloc[-1]
            counts = f"{worst['held']:,.0f} of {worst['words']:,.0f}"
            yield f"{name} holds {counts} words that are nothing but PHI in training."

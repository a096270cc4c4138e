"""Tables of the experiment on PHI and concepts: Tables 2 to 5 of lange2020, and the PHI that each model stores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from statistics import fmean, stdev
from typing import Any

import pandas as pd

from crfdeid.documents import CONCEPT, PHI
from experiments.papers import lange2020
from experiments.running.joint.systems import CONCEPT_ANNOTATED_TEXT
from experiments.tables.cells import MARK, NO_VALUE, Table, name_of_test, percent
from experiments.tables.errors import confusion_table, error_table
from experiments.tables.frames import OVERALL, Results
from experiments.tables.layers import LAYERS, corpus_of_layer, of_layer
from experiments.tables.scores import interval_table, pair_table, replicate_table, score_table
from experiments.tables.setting import corpus_table, time_table

_ROW = dict[str, str]


def joint_tables(results: Results, *, published: bool) -> dict[str, Table]:
    """Every table that the results have data for, by name, in order."""
    found = {}
    if any(_scored_in(results, name, PHI) for name in results["tables"]["compared"]):
        found["table-2"] = deid_table(results, published=published)
    found["table-3"] = concept_table(results, published=published)
    if results["tables"]["table_4"]:
        found["table-4"] = embedding_scores(results, published=published)
    if results["tables"]["table_5"]:
        found["table-5"] = text_table(results, published=published)
    found["phi-held"] = held_table(results)
    for layer, name in LAYERS.items():
        if layer in results["significance"]:
            found |= {f"{layer}-{kind}": table for kind, table in _of_layer(results, layer, name)}
    time = time_table(of_layer(results, CONCEPT, systems=results["models"]))
    together = "The pipelines of one seed are trained together: each is given its share of that time."
    return found | {
        "time": replace(time, notes=(*time.notes, together) if results["tables"]["table_5"] else time.notes)
    }


def concept_corpus_table(corpus: Mapping[str, Any]) -> Table:
    """Concepts by type and split, from the ``corpus`` part of results.json."""
    layered = corpus_of_layer({**corpus, "notices": []}, CONCEPT)
    return replace(corpus_table(layered), title="Corpus: concepts of each type")


def _of_layer(results: Results, scored: str, name: str) -> Iterator[tuple[str, Table]]:
    """Tables of a comparison, for one layer; for the scores without unsourced text, only intervals and tests."""
    layer = CONCEPT if scored == CONCEPT_ANNOTATED_TEXT else scored
    seen = of_layer(results, layer, scores=scored)
    if not seen["models"]:
        return
    makers: dict[str, Callable[[Results], Table]] = {"intervals": interval_table}
    if results["significance"][scored]["pairs"]:
        makers["significance"] = pair_table
    if scored != CONCEPT_ANNOTATED_TEXT:
        makers = {"scores": score_table, "replicates": replicate_table, **makers, "errors": error_table}
        makers |= {f"confusions-{one}": partial(confusion_table, system=one) for one in seen["models"]}
    for kind, make in makers.items():
        table = make(seen)
        yield kind, replace(table, title=f"{name}: {table.title}")


def deid_table(results: Results, *, published: bool) -> Table:
    """Table 2: scores of each system for PHI."""
    names = [name for name in results["tables"]["compared"] if _scored_in(results, name, PHI)]
    rows = {name: _cells(results, name, PHI, PHI) for name in names}
    if published:
        rows = {name: {**row, **_printed(lange2020.TABLE_2.get(name))} for name, row in rows.items()}
    return _table("De-identification: strict F (Table 2 of lange2020)", rows, _notes(results, PHI, published=published))


def concept_table(results: Results, *, published: bool) -> Table:
    """Table 3: scores of each system for concepts; a column says if the PHI that it found is hidden from them."""
    rows: dict[str, _ROW] = {}
    for name in results["tables"]["compared"]:
        hides = {"No PHI": "yes" if results["models"][name]["hides_phi"] else "no"}
        rows[name] = {**hides, **_cells(results, name, CONCEPT, CONCEPT), **_sourced(results, name)}
        if published:
            rows[name] |= _printed(lange2020.TABLE_3.get(name))
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
    for embedding, name in results["tables"]["table_4"].items():
        system = results["models"][name]
        facts = results["embeddings"][system["embedding"]]
        unknown = percent(facts["out_of_vocabulary"][results["corpus"]["test"]]["tokens"])
        rows[embedding] = {"Dimension": str(facts["dim"]), "Unknown tokens (%)": unknown}
        rows[embedding] |= {**_cells(results, name, CONCEPT), **_sourced(results, name)}
        if published:
            rows[embedding] |= _printed(lange2020.TABLE_4.get(embedding))
    notes = (
        "Each row but the last two reads word vectors and nothing else; characters: beside random word vectors; "
        "concatenated: all but the random ones side by side, and characters.",
        *_notes(results, None, published=published),
    )
    return _table("Concepts by embedding: strict F (Table 4 of lange2020)", rows, notes)


def text_table(results: Results, *, published: bool) -> Table:
    """Table 5: concepts, by training text and test text."""
    rows: dict[str, _ROW] = {}
    for number, (name, way) in enumerate(results["tables"]["table_5"].items(), start=1):
        row = {"Learned from": way["learns_from"], "Read in": way["reads"]}
        rows[f"({number}) {name}"] = row | {**_cells(results, name, CONCEPT, "table_5"), **_sourced(results, name)}
        if published:
            dev, test = lange2020.TABLE_5[way["learns_from"], way["reads"]]
            rows[f"({number}) {name}"] |= {"Published dev": f"{dev:.1f}", "Published test": f"{test:.1f}"}
    notes = (
        "Original: the text as it is; gold, predicted: with the annotated or the found PHI hidden. What is learned "
        "from is hidden by models that have not seen it. Rows that learn from the same text are one model.",
        *_notes(results, "table_5", published=published),
    )
    return _table("Concepts by the text learned from and read: strict F (Table 5 of lange2020)", rows, notes)


def held_table(results: Results) -> Table:
    """Amount of PHI that each model's part for concepts stores."""
    rows: dict[str, _ROW] = {}
    compared, texts = results["tables"]["compared"], results["tables"]["table_5"]
    # Rows of Table 5 that are not among the compared systems, one for each training text.
    others = {way["learns_from"]: name for name, way in texts.items() if name not in compared}
    known = {texts[name]["learns_from"] for name in compared if name in texts}
    for name in (*compared, *(name for way, name in others.items() if way not in known)):
        found = [run["phi_held"] for run in results["models"][name]["runs"] if run["phi_held"] is not None]
        if found:
            held, words = fmean(one["held"] for one in found), found[0]["words"]
            rows[name] = {"Words of PHI": f"{words:,}", "Held": f"{held:,.1f}".removesuffix(".0")}
            rows[name] |= {"Held (%)": percent(held / max(words, 1))}
    notes = (
        "Words with a letter that are nothing but PHI in the training documents, and those of them that the part for "
        "concepts has stored. A name that is also a word is not among them. What was not found as PHI is not hidden.",
        "A model that stores only words which it has seen more than once holds fewer for that reason too.",
    )
    return _table("PHI that the part for concepts holds", rows, notes)


def _table(title: str, rows: dict[str, _ROW], notes: tuple[str, ...]) -> Table:
    cells = pd.DataFrame.from_dict(rows, orient="index").fillna(NO_VALUE)
    return Table(title, cells, notes, cells.rename_axis("system").reset_index())


def _scored_in(results: Results, name: str, layer: str) -> bool:
    return all(layer in run["scores"] for run in results["models"][name]["runs"])


def _cells(results: Results, name: str, layer: str, tested: str | None = None) -> dict[str, str]:
    """Precision, recall and F of the best seed on dev; mean and deviation of F; a mark where the difference holds."""
    runs = results["models"][name]["runs"]
    best = max(runs, key=lambda run: run["dev_f1"][layer])["scores"][layer]["entity_strict"]["micro"]
    every = [run["scores"][layer]["entity_strict"]["micro"]["f1"] for run in runs]
    mark = MARK if tested is not None and name in _differing(results["significance"][tested]) else ""
    found = {"P": percent(best["precision"]), "R": percent(best["recall"]), "F": percent(best["f1"]) + mark}
    if _seeds(results) > 1:
        found["Mean F"] = percent(fmean(every)) + (f" ± {percent(stdev(every))}" if len(every) > 1 else "")
    return found


def _sourced(results: Results, name: str) -> dict[str, str]:
    """F without the regions that have no annotation, of the best seed on dev."""
    runs = results["models"][name]["runs"]
    best = max(runs, key=lambda run: run["dev_f1"][CONCEPT])["scores"]
    return (
        {"F, sourced": percent(best[CONCEPT_ANNOTATED_TEXT]["entity_strict"]["micro"]["f1"])}
        if CONCEPT_ANNOTATED_TEXT in best
        else {}
    )


def _differing(significance: Mapping[str, Any]) -> set[str]:
    level = significance["level"]
    return {pair["b"] for pair in significance["pairs"] if pair["category"] == OVERALL and pair["p_holm"] <= level}


def _printed(printed: lange2020.LanguageScores | None) -> dict[str, str]:
    english, spanish = printed or (None, None)
    columns = {"Published English": english, "Published Spanish": spanish}
    return {name: NO_VALUE if value is None else f"{value:.1f}" for name, value in columns.items()}


def _seeds(results: Results) -> int:
    return max(len(system["runs"]) for system in results["models"].values())


def _notes(results: Results, tested: str | None, *, published: bool) -> tuple[str, ...]:
    """Notes for the reader of F: split, choice of seed, test."""
    corpus = results["corpus"]
    several = _seeds(results) > 1
    chosen = f", of the best of {_seeds(results)} seeds on dev, beside the mean of all" if several else ""
    notes = [f"In %, on the {corpus['test']} split of {corpus['name']}{chosen}."]
    if tested is not None and results["significance"][tested]["pairs"]:
        first = results["significance"][tested]["pairs"][0]["a"]
        averaged = ", counts averaged over seeds" if several else ""
        test = name_of_test({"significance": results["significance"][tested]})
        notes.append(f"F marked with {MARK} differs from that of {first}: {test}{averaged}.")
    return (*notes, *([lange2020.WARNING] if published else ()))


def _sourced_notes(results: Results) -> tuple[str, ...]:
    if CONCEPT_ANNOTATED_TEXT not in results["significance"]:
        return ()
    return ("F, sourced: without spans that lie wholly in text that the annotators of concepts never saw.",)

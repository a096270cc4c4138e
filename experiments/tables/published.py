"""Tables that set the scores printed in papers (`experiments.papers`) against ours, for ``--published``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from experiments.papers import Paper, johnson2020
from experiments.papers.johnson2020 import PrintedRow
from experiments.papers.paper import Printed, SystemRow, SystemTable, TypeTable
from experiments.results.views import View
from experiments.tables.cells import NO_VALUE, Table, hipaa_notes, percent, run_counts
from experiments.tables.frames import HIPAA_TOKENS, MEASURES, OVERALL, SCORES, score_frame, summary_frame

_COLUMNS = ["system", "source", "category", "measure", "value"]


def published_tables(view: View, papers: Iterable[Paper]) -> dict[str, Table]:
    """Every printed table of these papers with our systems in it, by the name of its files."""
    return {
        f"published-{printed.name}": (
            _by_type(view, paper, printed) if isinstance(printed, TypeTable) else _by_system(view, paper, printed)
        )
        for paper in papers
        for printed in paper.tables
    }


def _by_type(view: View, paper: Paper, printed: TypeTable) -> Table:
    """Each of the paper's models, followed by our systems of the same model; then our others."""
    frame = _means_of_both(view, paper, printed)
    frame = frame[frame["measure"].isin(printed.measures)]
    texts = frame.set_index(["category", "system", "measure"])["value"].map(percent).to_dict()
    categories = list(dict.fromkeys([*printed.scores, *frame["category"]]))
    types = [category for category in categories if category != OVERALL]
    letters = {measure: f" {MEASURES[measure]}" for measure in MEASURES if measure in printed.measures}
    if len(letters) == 1:  # The title says which.
        letters = dict.fromkeys(letters, "")
    rows = {
        category: {
            f"{system}{letter}": texts.get((category, system, measure), NO_VALUE)
            for system in frame["system"].unique()
            for measure, letter in letters.items()
        }
        for category in [*types, OVERALL]
    }
    cells = pd.DataFrame.from_dict(rows, orient="index")
    notes = (*_notes(view, paper, "entity_strict"), *printed.notes)
    return Table(printed.title, cells, notes, frame, group=len(letters))


def _means_of_both(view: View, paper: Paper, printed: TypeTable) -> pd.DataFrame:
    """System, source ("published", "ours"), category, measure, value (a mean); each paper's model before our own."""
    ours = summary_frame(score_frame(view), "system", "category", "measure").rename(columns={"mean": "value"})
    ours = ours[ours["category"].isin([*view["dataset"]["types"], OVERALL])].assign(source="ours")[_COLUMNS]
    systems = {system: found["model"] for system, found in view["systems"].items()}
    parts = []
    for number, (name, model) in enumerate(paper.models.items()):
        rows = [
            (f"{name} ({paper.year})", "published", category, measure, value)
            for category, scores in printed.scores.items()
            for measure, value in _fractions(scores[number]).items()
        ]
        parts.append(pd.DataFrame(rows, columns=_COLUMNS))
        same = [system for system, found in systems.items() if found == model]
        parts.append(ours[ours["system"].isin(same)])
    others = [system for system, found in systems.items() if found not in paper.models.values()]
    parts.append(ours[ours["system"].isin(others)])
    return pd.concat([part for part in parts if len(part)], ignore_index=True)


def _by_system(view: View, paper: Paper, printed: SystemTable) -> Table:
    """Each printed row, followed by those of our systems that belong to it."""
    found = score_frame(view, printed.match)
    means = found[found["category"] == OVERALL].groupby(["system", "measure"])["value"].mean()
    rows = []
    for row in printed.rows:
        rows.append({"system": row.label, "source": "published", "dim": row.dim, **_fractions(row.printed)})
        for system in _belonging(view, row):
            about = view["systems"][system]
            label = ": ".join(name for name in (about["model"], about["embedding"]) if name)
            dim = view["embeddings"][about["embedding"]]["dim"] if about["embedding"] else None
            ours = {measure: means.get((system, measure)) for measure in MEASURES}
            rows.append({"system": label, "source": "ours", "dim": dim, **ours})
    data = pd.DataFrame(rows, columns=["system", "source", "dim", *MEASURES])
    texts = {
        "Dimension": data["dim"].map(lambda dim: NO_VALUE if pd.isna(dim) else f"{dim:.0f}"),
        "Precision": data["precision"].map(percent),
        "Recall": data["recall"].map(percent),
        "F": data["f1"].map(percent),
    }
    cells = pd.DataFrame({name: column for name, column in texts.items() if (column != NO_VALUE).any()})
    cells.index = pd.Index(data["system"])
    return Table(printed.title, cells, (*_notes(view, paper, printed.match), *printed.notes), data)


def _belonging(view: View, row: SystemRow) -> Iterator[str]:
    if row.model is None and row.embedding is None:
        return
    for system, about in view["systems"].items():
        if about["model"] == (row.model or about["model"]) and about["embedding"] == (
            row.embedding or about["embedding"]
        ):
            yield system


def _fractions(printed: Printed) -> Mapping[str, Any]:
    # Rounded, so that 89.22 % is 0.8922 and not 0.8922000000000001.
    return {name: None if value is None else round(value / 100, 4) for name, value in printed._asdict().items()}


def _notes(view: View, paper: Paper, match: str) -> tuple[str, ...]:
    corpus = view["dataset"]
    several = max(run_counts(view).values()) > 1
    return (
        paper.warning,
        f"({paper.year}): printed in {paper.source}.",
        f"Ours: {SCORES[match]}, on the {corpus['test']} split of {corpus['name']}"
        + (", means of the seeds." if several else "."),
        *(hipaa_notes(view) if match == HIPAA_TOKENS else ()),
    )


def with_printed_models(table: Table) -> Table:
    """Table 2, ours first."""
    rows = {
        f"{name} (2020)": [*_texts(multi_class), *_texts(binary)]
        for name, (multi_class, binary) in johnson2020.TABLE_2.items()
    }
    printed = pd.DataFrame.from_dict(rows, orient="index", columns=table.cells.columns)
    notes = (*table.notes, johnson2020.WARNING, *johnson2020.NOTES_2)
    return replace(table, cells=pd.concat([table.cells, printed]), notes=notes)


def with_printed_categories(table: Table) -> Table:
    """Table 3: the rows of the paper's models below ours."""
    names = ("BERT base (2020)", "Dernoncourt et al. (2020)")
    rows = {}
    for category, (n, *printed) in johnson2020.TABLE_3.items():
        row = {"n": f"{n:,}"}
        for name, scores in zip(names, printed, strict=True):
            row |= {f"{name} {letter}": text for letter, text in zip(("P", "R", "F1"), _texts(scores), strict=True)}
        rows[f"i2b2 2014: {category}"] = row
    cells = pd.concat([table.cells, pd.DataFrame.from_dict(rows, orient="index")]).fillna(NO_VALUE)
    return replace(table, cells=cells, notes=(*table.notes, johnson2020.WARNING, *johnson2020.NOTES_3))


def printed_matrix(measure: str, name: str) -> Table:
    """A block of Table 4."""
    rows = [[f"{value:.2f}" for value in row] for row in johnson2020.TABLE_4[measure]]
    cells = pd.DataFrame(rows, list(johnson2020.CORPORA), list(johnson2020.CORPORA))
    notes = (
        "BERT base. Rows: trained on; columns: tested on.",
        johnson2020.WARNING,
        *johnson2020.NOTES_4,
    )
    return Table(f"Published: {name} by corpus in % (Table 4 of johnson2020)", cells, notes, cells)


def printed_points() -> Table:
    """Table 5."""
    names = ("PPV", "F1", "FN/1000", "FP/1000")
    rows = {f"{required:g}": [f"{value:g}" for value in row] for required, row in johnson2020.TABLE_5.items()}
    cells = pd.DataFrame.from_dict(rows, orient="index", columns=list(names))
    notes = ("BERT base, i2b2 2014.", johnson2020.WARNING, *johnson2020.NOTES_5)
    return Table("Published: operating points (Table 5 of johnson2020)", cells, notes, cells)


def _texts(row: PrintedRow | None) -> list[str]:
    return [NO_VALUE] * 3 if row is None else [f"{value:.2f}" for value in row]

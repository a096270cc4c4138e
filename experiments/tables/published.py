"""Tables that set the scores printed in papers (`experiments.papers`) against ours, for ``--published``."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from experiments.papers import Paper
from experiments.papers.paper import Printed, PrintedTable, SystemRow, SystemTable, TypeTable
from experiments.results.measurements import MEASURES, OVERALL
from experiments.results.view import View
from experiments.tables.frames import HIPAA_TOKENS, NO_VALUE, SCORES, percent, pivot, score_frame
from experiments.tables.table import Table, hipaa_notes, run_counts

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
    types = [category for category in dict.fromkeys([*printed.scores, *frame["category"]]) if category != OVERALL]
    letters = {measure: f" {MEASURES[measure]}" for measure in MEASURES if measure in printed.measures}
    if len(letters) == 1:  # The title says which.
        letters = dict.fromkeys(letters, "")
    columns = {(s, measure): f"{s}{letter}" for s in frame["system"].unique() for measure, letter in letters.items()}
    texts = frame.set_index(["category", "system", "measure"])["value"].map(percent)
    cells = pivot(texts, [*types, OVERALL], columns)
    notes = (*_notes(view, paper, "entity_strict"), *printed.notes)
    return Table(printed.title, cells, notes, frame, group=len(letters))


def _means_of_both(view: View, paper: Paper, printed: TypeTable) -> pd.DataFrame:
    """System, source ("published", "ours"), category, measure, value (a mean); each paper's model before our own."""
    ours = score_frame(view).groupby(["system", "category", "measure"], sort=False)["value"].mean().reset_index()
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


def printed_table(printed: PrintedTable) -> Table:
    """A printed table alone."""
    cells = with_printed_columns(pd.DataFrame(index=list(printed.rows)), printed, printed.rows)
    return Table(printed.title, cells, printed.notes, cells)


def with_printed_columns(cells: pd.DataFrame, printed: PrintedTable, rows: Iterable[Hashable]) -> pd.DataFrame:
    """Cells of ours, and after them the columns of a printed table; `NO_VALUE` for what is not printed.

    Args:
        cells: ours.
        printed: the printed table.
        rows: its row for each row of ours.
    """
    none = (None,) * len(printed.columns)
    texts = [[_text(value, printed.digits) for value in printed.rows.get(row, none)] for row in rows]
    return pd.concat([cells, pd.DataFrame(texts, cells.index, list(printed.columns))], axis=1)


def with_printed_rows(table: Table, printed: PrintedTable) -> Table:
    """A table of ours, and below it the rows of a printed one."""
    cells = pd.concat([table.cells, printed_table(printed).cells]).fillna(NO_VALUE)
    return replace(table, cells=cells, notes=(*table.notes, *printed.notes))


def _text(value: float | None, digits: int | None) -> str:
    if value is None:
        return NO_VALUE
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:g}" if digits is None else f"{value:.{digits}f}"

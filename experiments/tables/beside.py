"""The published scores of the paper beside ours, for ``--published``."""

from __future__ import annotations

from typing import Any

import pandas as pd

from experiments.papers import yadav2016 as published
from experiments.papers.yadav2016 import Printed
from experiments.tables.cells import NO_VALUE, Table, percent, run_counts
from experiments.tables.frames import MEASURES, OVERALL, Results, score_frame, summary_frame

_YEAR = "(2016)"


def published_score_table(results: Results) -> Table:
    """The paper's Table 5, each model followed by our systems of the same model."""
    frame = _beside(results)
    texts = frame.set_index(["category", "system", "measure"])["value"].map(percent).to_dict()
    categories = list(dict.fromkeys([*published.TABLE_5, *frame["category"]]))
    types = [category for category in categories if category != OVERALL]
    rows = {
        category: {
            f"{system} {letter}": texts.get((category, system, measure), NO_VALUE)
            for system in frame["system"].unique()
            for measure, letter in MEASURES.items()
        }
        for category in [*types, OVERALL]
    }
    title = "Published scores of another corpus beside ours (recall, precision, F in %; the paper's Table 5)"
    cells = pd.DataFrame.from_dict(rows, orient="index")
    return Table(title, cells, (*_notes(results), *published.NOTES_5), frame, group=3)


def published_f_table(results: Results) -> Table:
    """The numbers of the paper's Figure 2, the F of its Table 5, beside ours."""
    table = published_score_table(results)
    letter = f" {MEASURES['f1']}"
    cells = table.cells[[column for column in table.cells.columns if column.endswith(letter)]]
    data = table.data[table.data["measure"] == "f1"]
    title = "Published F of another corpus beside ours (F in %; the paper's Figure 2)"
    return Table(title, cells.rename(columns=lambda name: name.removesuffix(letter)), _notes(results), data)


def published_embedding_table(results: Results) -> Table:
    """The paper's Table 4, each embedding followed by our systems that use it."""
    found = score_frame(results)
    means = found[found["category"] == OVERALL].groupby(["system", "measure"])["value"].mean()
    rows = []
    for embedding, (dimension, printed) in published.TABLE_4.items():
        rows.append(_row(f"E-RNN {_YEAR}: {embedding}", "published", dimension, _fractions(printed)))
        for system, about in results["models"].items():
            if about["embedding"] == embedding:
                size = results["embeddings"][embedding]["dim"]
                rows.append(_row(f"{about['model']}: {embedding}", "ours", size, means[system].to_dict()))
    data = pd.DataFrame(rows)
    cells = data[["dim", "precision", "recall", "f1"]].set_index(data["system"])
    cells = cells.assign(**{name: cells[name].map(percent) for name in ("precision", "recall", "f1")})
    cells = cells.rename(columns={"dim": "Dimension", "precision": "Precision", "recall": "Recall", "f1": "F"})
    title = "Published scores by embedding, of another corpus, beside ours (%; the paper's Table 4)"
    return Table(title, cells.astype(str), (*_notes(results), *published.NOTES_4), data)


def _row(system: str, source: str, dimension: int, scores: dict[str, float]) -> dict[str, Any]:
    return {"system": system, "source": source, "dim": dimension, **{name: scores[name] for name in MEASURES}}


def _fractions(printed: Printed) -> dict[str, float]:
    # Rounded, so that 89.22 % is 0.8922 and not 0.8922000000000001.
    return {measure: round(value / 100, 4) for measure, value in printed._asdict().items()}


def _beside(results: Results) -> pd.DataFrame:
    """System, source ("published", "ours"), category, measure, value (a mean); each paper's model before our own."""
    ours = summary_frame(score_frame(results), "system", "category", "measure").rename(columns={"mean": "value"})
    ours = ours[ours["category"].isin([*results["corpus"]["types"], OVERALL])]
    systems = {system: found["model"] for system, found in results["models"].items()}
    parts = []
    for number, (name, model) in enumerate(published.MODELS.items()):
        rows = [
            (f"{name} {_YEAR}", "published", category, measure, value)
            for category, printed in published.TABLE_5.items()
            for measure, value in _fractions(printed[number]).items()
        ]
        parts.append(pd.DataFrame(rows, columns=["system", "source", "category", "measure", "value"]))
        same = [system for system, found in systems.items() if found == model]
        parts.append(ours[ours["system"].isin(same)])
    others = [system for system, found in systems.items() if found not in published.MODELS.values()]
    parts.append(ours[ours["system"].isin(others)])
    beside = pd.concat([part for part in parts if len(part)], ignore_index=True)
    return beside[["system", "source", "category", "measure", "value"]].fillna({"source": "ours"})


def _notes(results: Results) -> tuple[str, ...]:
    corpus = results["corpus"]
    several = max(run_counts(results).values()) > 1
    return (
        published.WARNING,
        f"{_YEAR}: printed in {published.SOURCE}.",
        f"Ours: strict entity scores on the {corpus['test']} split of {corpus['name']}"
        + (", means of the seeds." if several else "."),
    )

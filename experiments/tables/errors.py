"""Tables of errors: by category and cause, by gold and predicted type, and missed tokens in their text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from crfdeid.documents import Document, Span, tokens_of
from crfdeid.evaluation import ERROR_CAUSES
from crfdeid.evaluation.tokens import missed_tokens, token_types
from experiments.results.schema import Results, View
from experiments.tables.cells import Table, count, long_form, run_counts, run_notes, score_notes
from experiments.tables.frames import (
    ALL_ERRORS,
    BOUNDARY,
    MISSED,
    SPURIOUS,
    confusion_frame,
    error_frame,
)

ERROR_NAMES = {
    "missed": "Missed entity",
    "wrong": "Wrong entity",
    "boundary": "Boundary",
    "spurious": "Spurious",
}
TOP_CONFUSIONS = 5
PER_SYSTEM = 4
AROUND = 2
"""Number of tokens before and after the missed one."""

Spans = Mapping[str, Sequence[Span]]


def error_table(view: View) -> Table:
    """Error categories by system, with causes and the most frequent confusions of types."""
    frame, runs = error_frame(view), run_counts(view)
    totals = frame.groupby(["category", "cause", "system"])["count"].sum().to_dict()

    def row(category: str, cause: str) -> list[str]:
        return [count(totals.get((category, cause, s), 0) / runs[s], mean=runs[s] > 1) for s in runs]

    rows = {}
    for category, name in ERROR_NAMES.items():
        rows[name] = row(category, "")
        for cause in _shown_causes(frame, category):
            rows[f"{name}: {cause}"] = row(category, cause)
    rows[ALL_ERRORS] = row(ALL_ERRORS, "")
    cells = pd.DataFrame.from_dict(rows, orient="index", columns=list(runs))
    notes = ("One error can have several causes, or none.", *run_notes(view, "Means of"), *score_notes(view))
    return Table("Errors: entities by category and cause", cells, notes, frame)


def _shown_causes(frame: pd.DataFrame, category: str) -> list[str]:
    """Causes that occur; of confusions, the most frequent ones in all systems together."""
    counts = frame[(frame["category"] == category) & (frame["cause"] != "")].groupby("cause")["count"].sum()
    causes = [cause for cause in ERROR_CAUSES if cause in counts.index]
    return [*causes, *counts.drop(index=causes).nlargest(TOP_CONFUSIONS).index]


def confusion_table(view: View, system: str) -> Table:
    """Gold types against predicted types of one system, with margins so that it adds up to the strict scores."""
    frame, mean = confusion_frame(view, system), len(view["systems"][system]["runs"]) > 1
    with_sums = frame.assign(Gold=frame.sum(axis=1))
    types = [label for label in frame.index if label not in (BOUNDARY, SPURIOUS)]
    with_sums.loc["Predicted"] = with_sums.sum(axis=0)
    cells = with_sums.map(lambda value: count(value, mean=mean) if value else "0")
    # Rows without predictions and columns without gold have no meaningful sum.
    cells.loc["Predicted", [BOUNDARY, MISSED, "Gold"]] = ""
    cells.loc[[BOUNDARY, SPURIOUS], [BOUNDARY, MISSED, "Gold"]] = ""
    notes = (
        "Rows: gold types; columns: predicted types. On the diagonal: right in type and both boundaries; beside it: "
        "the right place with another type.",
        f"{BOUNDARY}: an overlap with other boundaries; {MISSED}: gold that no prediction touches; {SPURIOUS}: a "
        "prediction that touches no gold. A row adds up to its type's gold spans, a column to its predictions.",
        *run_notes({"systems": {system: view["systems"][system]}}, "Means of"),
    )
    data = long_form(frame, "gold", "predicted").rename(columns={"value": "count"})
    impossible = ~data["gold"].isin(types) & data["predicted"].isin([BOUNDARY, MISSED])
    return Table(f"Confusion of types: {system}", cells, notes, data[~impossible])


class _Example(NamedTuple):
    """A missed token in the middle, with its neighbours; one text for each token and row."""

    tokens: list[str]
    found: list[str]
    gold: list[str]


def example_table(
    results: Results, texts: Mapping[str, str], gold: Spans, predictions: Callable[[str, int], Spans]
) -> Table:
    """Some missed tokens of each model in its training corpus, evenly spread over the test documents.

    Args:
        results: the content of results.json.
        texts: by document id.
        gold: the gold spans, by document id.
        predictions: returns a system's predicted spans with a seed, by document id.
    """
    found = {}
    for system, about in results["systems"].items():
        every = predictions(system, next(run["seed"] for run in results["runs"] if run["system"] == system))
        found[system] = {name: spans for name, spans in every.items() if name.startswith(f"{about['trained_on']}/")}
    columns = [*(f"{n} before" for n in range(AROUND, 0, -1)), "missed", *(f"{n} after" for n in range(1, AROUND + 1))]
    rows = {
        f"{system} {number}, {name}": row
        for system, own in found.items()
        for number, example in enumerate(_spread(list(_examples(texts, gold, own))), start=1)
        for name, row in zip(("token", "prediction", "truth"), example, strict=True)
    }
    cells = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    notes = (
        "Each token in the middle is PHI that was not marked. System: a model @ the corpus that it was trained on, "
        "whose test documents these are; its first seed.",
        "This table quotes the notes: of real ones it is PHI.",
    )
    return Table("False negatives in their text (Table 6 of johnson2020)", cells, notes, cells)


def _spread(examples: Sequence[_Example]) -> Sequence[_Example]:
    return examples[:: max(1, len(examples) // PER_SYSTEM)][:PER_SYSTEM]


def _examples(texts: Mapping[str, str], gold: Spans, found: Spans) -> Iterator[_Example]:
    for name, spans in found.items():
        tokens = tokens_of(Document(name, texts[name]))
        right, marked = (token_types(tokens, some) for some in (gold[name], spans))
        shown = [" ".join(token.text.split()) for token in tokens]
        for missed in missed_tokens(right, marked):
            yield _Example(*(_around(row, missed.number) for row in (shown, marked, right)))


def _around(row: Sequence[str], index: int) -> list[str]:
    padded = [*[""] * AROUND, *row, *[""] * AROUND]
    return padded[index : index + 2 * AROUND + 1]

"""Tables of ``crfdeid evaluate``: the rows of each mode, as text and as plain data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from crfdeid.documents import Document
from crfdeid.evaluation import (
    TAB_MEASURES,
    Averages,
    Counts,
    Predictions,
    Scores,
    score_entities,
    score_i2b2,
    score_meddocan,
    score_tab,
    score_tokens,
)
from crfdeid.evaluation.evaluate import count_leaking_documents
from crfdeid.utils.tables import markdown_table

SCORE_MEASURES = ("P", "R", "F", "right", "spurious", "missed")


class TableRow(NamedTuple):
    """A row of a mode's table.

    Attributes:
        name: its first cell.
        cells: the others, of `MEASURES`; those at the end may be missing.
        data: the same unrounded, by name, for a JSON file.
    """

    name: str
    cells: Sequence[str]
    data: Mapping[str, float]


def score_rows(mode: str, gold: Sequence[Document], predicted: Predictions) -> list[TableRow]:
    """The rows of a mode's table.

    Args:
        mode: one of `crfdeid.cli.evaluate.SCORE_MODES`.
        gold: the annotated documents.
        predicted: for each of them, by id, the predicted spans.
    """
    return list(_ROWS[mode](gold, predicted))


def render_table(mode: str, rows: Sequence[TableRow]) -> str:
    """Rows as a Markdown table."""
    return markdown_table([mode, *SCORE_MEASURES], [[row.name, *row.cells] for row in rows])


def _counted(name: str, counts: Counts) -> TableRow:
    return TableRow(name, [*_shares(counts), str(counts.tp), str(counts.fp), str(counts.fn)], counts.to_dict())


def _averaged(name: str, averages: Averages) -> TableRow:
    return TableRow(name, _shares(averages), averages._asdict())


def _shares(values: Counts | Averages) -> list[str]:
    return [f"{100 * share:.2f}" for share in (values.precision, values.recall, values.f1)]


def type_rows(scores: Scores) -> Iterator[TableRow]:
    """A row for each type, one for all, and one for their mean."""
    for label, counts in scores.by_type.items():
        yield _counted(label, counts)
    yield _counted("micro", scores.micro)
    yield _averaged("macro", scores.macro)


def _binary(gold: Sequence[Document], predicted: Predictions) -> Iterator[TableRow]:
    yield _counted("PHI", score_tokens(gold, predicted, binary=True).micro)
    leaking = count_leaking_documents(gold, predicted)
    yield TableRow("notes with a miss", [f"{leaking} of {len(gold)}"], {"notes": leaking, "of": len(gold)})


def _i2b2(gold: Sequence[Document], predicted: Predictions) -> Iterator[TableRow]:
    for score in score_i2b2(gold, predicted):
        name = f"{score.mode}, {score.subset}"
        yield _counted(f"{name}, micro", score.micro)
        yield _averaged(f"{name}, macro", score.macro)


def _meddocan(gold: Sequence[Document], predicted: Predictions) -> Iterator[TableRow]:
    scores = score_meddocan(gold, predicted)
    yield _counted("NER", scores.ner)
    yield _counted("span strict", scores.span_strict)
    yield _counted("span merged", scores.span_merged)
    yield _counted("span merged, as published", scores.span_merged_as_published)
    yield TableRow("leak score", [f"{scores.leak:.4f}"], {"leak": scores.leak, "sentences": scores.sentences})


def _tab(gold: Sequence[Document], predicted: Predictions) -> Iterator[TableRow]:
    for field, found in vars(score_tab([gold], predicted)).items():
        name, measure = TAB_MEASURES[field]
        data = {measure: found.fraction, "count": found.count, "of": found.total}
        yield TableRow(name, [*[""] * (measure == "recall"), f"{100 * found.fraction:.2f}"], data)


_ROWS: dict[str, Callable[[Sequence[Document], Predictions], Iterator[TableRow]]] = {
    "strict": lambda gold, predicted: type_rows(score_entities(gold, predicted, match="strict")),
    "relaxed": lambda gold, predicted: type_rows(score_entities(gold, predicted, match="relaxed")),
    "token": lambda gold, predicted: type_rows(score_tokens(gold, predicted)),
    "binary": _binary,
    "i2b2": _i2b2,
    "meddocan": _meddocan,
    "tab": _tab,
}

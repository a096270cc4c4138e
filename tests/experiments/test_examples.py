"""Errors in their text: a few of each kind."""

from __future__ import annotations

from crfdeid.corpora.splits import Split
from crfdeid.documents import PHI, Document, Span
from crfdeid.evaluation import EntityError
from experiments.core.command import error_examples
from experiments.core.systems import Cell, System
from experiments.core.training import Found, Run


def run_with(model: str, *errors: EntityError) -> Run:
    return Run(Cell(System(model, model), 0), {}, {PHI: Found({}, errors)})


def test_examples_are_few_spread_and_of_every_model_and_category() -> None:
    documents = [Document(f"n{i}", f"Seen by Doe{i}.", (Span(8, 12, "DOCTOR"),)) for i in range(9)]
    missed = [EntityError(document.id, "missed", document.spans[0], None, ("unseen",)) for document in documents]
    spurious = EntityError("n2", "spurious", None, Span(0, 4, "ID"))
    runs = [run_with("crf", *missed), run_with("net", spurious)]
    assert list(error_examples(runs, Split.of(documents), per_kind=3)) == [
        "crf, missed (unseen): Seen by [Doe0|DOCTOR].",
        "crf, missed (unseen): Seen by [Doe3|DOCTOR].",
        "crf, missed (unseen): Seen by [Doe6|DOCTOR].",
        "net, spurious: {Seen|ID} by Doe2.",
    ]

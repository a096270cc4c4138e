"""False negatives in their text: the form of Table 6 of johnson2020. Real notes are PHI."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from crfdeid.documents import Document, Span, tokens_of
from crfdeid.evaluation.tokens import missed_tokens, token_types
from experiments.tables.cells import Table
from experiments.tables.frames import Results

Spans = Mapping[str, Sequence[Span]]

PER_SYSTEM = 4
AROUND = 2
"""Tokens before and after the one that was missed."""


class _Example(NamedTuple):
    """A missed token in the middle, with its neighbours; one text a place in each row."""

    tokens: list[str]
    found: list[str]
    gold: list[str]


def example_table(
    results: Results, texts: Mapping[str, str], gold: Spans, predictions: Callable[[str, int], Spans]
) -> Table:
    """Some missed tokens of each model in the corpus that it was trained on, evenly spread over its documents.

    Args:
        results: what results.json holds.
        texts: by document id.
        gold: the gold spans, by document id.
        predictions: gives what a system found with a seed, by document id.
    """
    found = {}
    for system, about in results["models"].items():
        every = predictions(system, about["runs"][0]["seed"])
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
            yield _Example(*(_around(row, missed.place) for row in (shown, marked, right)))


def _around(row: Sequence[str], place: int) -> list[str]:
    padded = [*[""] * AROUND, *row, *[""] * AROUND]
    return padded[place : place + 2 * AROUND + 1]

"""A published paper: name of its profile, printed scores, and orders that it claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple


class Printed(NamedTuple):
    """Three printed numbers, in per cent; None for one that is not printed."""

    recall: float | None
    precision: float | None
    f1: float


class Order(NamedTuple):
    """A ranking that a paper's scores give.

    Attributes:
        what: "models", or the model whose word vectors are ranked.
        names: ours, from the lowest F to the highest.
    """

    what: Literal["models", "embeddings"]
    names: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class TypeTable:
    """A printed table with one row for each type of entity, and the measures of each model side by side.

    Args:
        name: of its files, after "published-".
        title: content and place in the paper.
        scores: type, or "Overall" -> scores of each of the paper's models, in their order.
        measures: the measures to show.
        notes: remarks for its reader, a sentence each.
    """

    name: str
    title: str
    scores: Mapping[str, tuple[Printed, ...]]
    measures: tuple[str, ...] = ("recall", "precision", "f1")
    notes: tuple[str, ...] = ()


class SystemRow(NamedTuple):
    """A row of a `SystemTable`.

    Attributes:
        label: name in the table.
        printed: its scores.
        dim: dimension of its word vectors, where the paper says so.
        model: our model to compare it with; None for any, where word vectors are compared.
        embedding: our word vectors to compare it with; None for any, where models are compared.
    """

    label: str
    printed: Printed
    dim: int | None = None
    model: str | None = None
    embedding: str | None = None


@dataclass(frozen=True, kw_only=True)
class SystemTable:
    """A printed table with one row for each system, of scores over all types together.

    Args:
        name: of its files, after "published-".
        title: content and place in the paper.
        rows: the printed rows. Our systems follow the row of their model or embedding; no system of ours follows a row
            that has neither.
        match: the kind of score, a key of a run's ``scores`` in results.json.
        notes: remarks for its reader, a sentence each.
    """

    name: str
    title: str
    rows: tuple[SystemRow, ...]
    match: str = "entity_strict"
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PrintedTable:
    """A printed table of which an experiment makes its own: by columns next to our rows, by rows below ours, or alone.

    Args:
        columns: names of its columns, as our tables show them.
        rows: the paper's row -> its numbers; None for one that is not printed. Whole numbers are counts.
        title: of the table, where it is shown alone.
        digits: decimals of the other numbers; None for as many as each one needs.
        notes: remarks for its reader, a sentence each, first why its numbers and ours cannot be compared.
    """

    columns: tuple[str, ...]
    rows: Mapping[Any, Sequence[float | None]]
    title: str = ""
    digits: int | None = 2
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper whose experiment can be repeated here.

    Args:
        name: of its profile: first author and year.
        year: of publication.
        source: authors, year and title.
        warning: the reason why its scores and ours are not directly comparable.
        models: its name of a model -> ours, a name in `crfdeid.registry.MODELS`.
        tables: its printed scores, for the tables of a comparison.
        printed: its further tables by name, for those of its own experiment.
        orders: the rankings that its scores give.
        seeds: number of its runs of a network, 1 where it gives none.
        embedding: word vectors of its networks, a kind in `experiments.core.embeddings.EMBEDDING_KINDS`.
        synthetic: the profile of the synthetic corpus (`crfdeid.corpora.synthetic.PROFILES`) that is most like its
            corpus.
    """

    name: str
    year: int
    source: str
    warning: str
    models: Mapping[str, str]
    tables: tuple[TypeTable | SystemTable, ...] = ()
    printed: Mapping[str, PrintedTable] = field(default_factory=dict)
    orders: tuple[Order, ...] = ()
    seeds: int = 1
    embedding: str = "random"
    synthetic: str = "default"

"""What can be particular to one paper: its settings' name, the scores it prints, and the orders it claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple


class Printed(NamedTuple):
    """Three printed numbers, in per cent; None for one that is not printed."""

    recall: float | None
    precision: float | None
    f1: float


class Order(NamedTuple):
    """An order that a paper's scores have.

    Attributes:
        what: what is ordered: models, or the word vectors of one model.
        names: ours, from the lowest F to the highest.
    """

    what: Literal["models", "embeddings"]
    names: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class TypeTable:
    """A printed table with one row a type of entity, and the measures of each model side by side.

    Args:
        name: of its files, after "published-".
        title: what it shows, and where it is printed.
        scores: type, or "Overall", -> the scores of each of the paper's models, in their order.
        measures: those to show.
        notes: what a reader must know of it, a sentence each.
    """

    name: str
    title: str
    scores: Mapping[str, tuple[Printed, ...]]
    measures: tuple[str, ...] = ("recall", "precision", "f1")
    notes: tuple[str, ...] = ()


class SystemRow(NamedTuple):
    """A row of a `SystemTable`.

    Attributes:
        label: how the table calls it.
        printed: its scores.
        dim: the size of its word vectors, where the paper says so.
        model: which of our models it is compared with; None for any, where it is compared by its word vectors.
        embedding: which of our word vectors it is compared with; None for any, where it is compared by its model.
    """

    label: str
    printed: Printed
    dim: int | None = None
    model: str | None = None
    embedding: str | None = None


@dataclass(frozen=True, kw_only=True)
class SystemTable:
    """A printed table with one row a system, of scores over all types together.

    Args:
        name: of its files, after "published-".
        title: what it shows, and where it is printed.
        rows: the printed ones. A row with neither a model nor an embedding stands alone; ours stand below each other
            row that they belong to.
        match: the kind of score, a key of a run's ``scores`` in results.json.
        notes: what a reader must know of it, a sentence each.
    """

    name: str
    title: str
    rows: tuple[SystemRow, ...]
    match: str = "entity_strict"
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper whose experiment can be repeated here.

    Args:
        name: of the profile with its settings: its first author and year.
        year: when it was published.
        source: authors, year and title.
        warning: why its scores and ours cannot be compared directly.
        models: its names of the models -> ours, a name in `crfdeid.registry.MODELS`.
        tables: its printed scores.
        orders: what its scores put in order.
        synthetic: the profile of the synthetic corpus (`crfdeid.corpora.synthetic.PROFILES`) that comes nearest to its
            corpus.
    """

    name: str
    year: int
    source: str
    warning: str
    models: Mapping[str, str]
    tables: tuple[TypeTable | SystemTable, ...] = ()
    orders: tuple[Order, ...] = ()
    synthetic: str = "default"

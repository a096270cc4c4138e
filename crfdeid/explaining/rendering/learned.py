"""What `explain_weights` gives, as blocks."""

from __future__ import annotations

from collections.abc import Iterator

from crfdeid.explaining.contents import Contents, CrfContents, Matrix, NetworkContents
from crfdeid.explaining.rendering.blocks import Block, Cell, Lines, Table, Title

WARNING = (
    "Feature strings and vocabularies are words of the notes that the model was trained on: names of patients can be "
    "among them. Keep this as safe as the notes."
)
HASHES = "The model's words are keyed hashes, and are shown as such."


def learned_blocks(found: Contents, *, level: int = 1) -> Iterator[Block]:
    """What a model learned.

    Args:
        found: the model's contents.
        level: of the title.
    """
    yield Title(f"What {found.model} learned", level)
    if found.crf is not None or found.network is not None:
        yield Lines((HASHES if found.hashed else WARNING,))
    if found.crf is not None:
        yield from _of_crf(found.crf)
    if found.network is not None:
        yield from _of_network(found.network)
    if found.rules:
        columns = ("rule", "type", "share of its finds in training that were right")
        yield Table("Rules that are trusted", columns, found.rules)
    if found.crf is None and found.network is None and not found.rules and not found.members:
        yield Lines(("Its weights say nothing by themselves. Ask why it tags a word: `crfdeid explain --text`.",))
    for member in found.members:
        yield from learned_blocks(member, level=level + 1)


def _of_crf(found: CrfContents) -> Iterator[Block]:
    yield _matrix(found.transitions)
    columns: tuple[str, ...] = ("kind", "features", "weights", "L1", "L2")
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (kind.kind, kind.features, kind.weights, kind.l1, kind.l2) for kind in found.kinds
    )
    if any(kind.share is not None for kind in found.kinds):
        columns += ("share of the log-odds of what is tagged",)
        rows = tuple((*row, kind.share) for row, kind in zip(rows, found.kinds, strict=True))
    yield Table("What each kind of feature carries", columns, rows)
    for tag in found.features:
        for said, features in (("for", tag.largest), ("against", tag.smallest)):
            if features:
                title = f"What speaks most {said} {tag.tag}"
                yield Table(title, ("feature", "weight"), features, frozenset({1}))


def _of_network(found: NetworkContents) -> Iterator[Block]:
    yield from (_matrix(matrix) for matrix in found.matrices)
    if found.facts:
        yield Lines(tuple(f"{what}: {value:.3g}" for what, value in found.facts))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (norm.name, "x".join(map(str, norm.shape)), norm.norm, norm.typical) for norm in found.norms
    )
    yield Table("How large the weights are", ("array", "shape", "norm", "typical weight"), rows)
    near: tuple[tuple[Cell, ...], ...] = tuple(
        (item.word, "has no vector of its own" if item.near is None else _listed(item.near)) for item in found.words
    )
    if near:
        yield Table("Nearest words by the vectors it learned (cosine)", ("word", "nearest"), near)


def _listed(near: tuple[tuple[str, float], ...]) -> str:
    return ", ".join(f"{word} ({cosine:.2f})" for word, cosine in near)


def _matrix(found: Matrix) -> Table:
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (name, *values) for name, values in zip(found.names, found.values, strict=True)
    )
    signed = frozenset(range(1, len(found.names) + 1))
    return Table(found.title, ("before \\ after", *found.names), rows, signed, shaded=True)

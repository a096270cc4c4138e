"""What `explain_prediction` gives, as blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crfdeid.explaining.explanation import CrfSum, Explanation, Gradients, WordTerm
from crfdeid.explaining.rendering.blocks import Block, Lines, Table, Title


def prediction_blocks(found: Explanation, *, top: int = 10, level: int = 1) -> Iterator[Block]:
    """Why a token has its tag.

    Args:
        found: the explanation.
        top: the most features of a CRF that are shown; the sum has all of them.
        level: of the title.
    """
    yield Title(f"{found.words[found.token]}: {found.tag}, and not {found.rival} ({found.model})", level)
    yield Lines(tuple(_facts(found)))
    if found.crf is not None:
        yield from _crf_tables(found.crf, top)
    if found.rules:
        rows = tuple((rule.name, rule.label, rule.share, " ".join(rule.words)) for rule in found.rules)
        yield Table("Rules that find it", ("rule", "type", "right in training", "finds"), rows)
    if found.occlusion:
        yield _words("Occlusion: what the log-odds lose without the word", found.occlusion)
    if found.gradients is not None:
        yield _gradients(found.gradients)
    for member in found.members:
        yield from prediction_blocks(member, top=top, level=level + 1)


def _facts(found: Explanation) -> Iterator[str]:
    yield (
        f"P({found.tag}) = {found.probability:.4g}, P({found.rival}) = {found.rival_probability:.4g}: "
        f"log-odds {found.log_odds:+.3f}; probability of being PHI {found.phi:.4g}"
    )
    if found.altered is not None:
        words = " ".join(found.altered.words)
        yield (
            f"With other words ({words}): {found.altered.tag}, P = {found.altered.probability:.4g}; the log-odds would "
            f"be {found.altered.log_odds:+.3f}"
        )


def _crf_tables(found: CrfSum, top: int) -> Iterator[Block]:
    shown, rest = found.features[:top], found.features[top:]
    rows: list[tuple[str | float | None, ...]] = [
        (_counted(term.name, term.count), term.kind, term.weight, term.rival_weight, term.value) for term in shown
    ]
    if rest:
        value = sum(term.value for term in rest)
        rows.append((f"{len(rest)} further features", "", None, None, value))
    rows += [
        ("the words before", "neighbours", None, None, found.before),
        ("the words after", "neighbours", None, None, found.after),
        ("log-odds", "", None, None, found.total),
    ]
    columns = ("feature", "kind", "for the tag", "for the rival", "adds")
    yield Table("The exact sum of a CRF", columns, tuple(rows), frozenset({2, 3, 4}))
    kinds = tuple(found.by_kind.items())
    yield Table("The same by kinds of features", ("kind", "adds"), kinds, frozenset({1}))
    if found.unknown:
        yield Lines((f"{len(found.unknown)} features of this token have no weight: the model did not learn them",))


def _counted(name: str, count: int) -> str:
    return name if count == 1 else f"{name} (x {count})"


def _words(title: str, terms: Sequence[WordTerm]) -> Table:
    rows = tuple((term.word, _place(term.place), term.value) for term in terms)
    return Table(title, ("word", "place", "adds"), rows, frozenset({2}))


def _gradients(found: Gradients) -> Table:
    rows = (
        *((term.word, _place(term.place), term.value) for term in found.words),
        ("around the sentence", "", found.around),
        ("without any vectors", "", found.baseline),
        ("sum", "", found.total),
        ("log-odds", "", found.log_odds),
    )
    return Table("Integrated gradients on the words' vectors", ("word", "place", "adds"), rows, frozenset({2}))


def _place(place: int | None) -> str:
    return "" if place is None else "the word" if place == 0 else f"{place:+d}"

"""Explanations as text, Markdown, data frames and JSON: first as blocks, then in each format."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tabulate import tabulate

from crfdeid.documents import CONSISTENCY, LIST, MODEL, RECORD, RULE
from crfdeid.errors import escape_unprintable
from crfdeid.explain.data import (
    CrfSum,
    CrfSummary,
    Decision,
    DocumentExplanation,
    Explanation,
    Gradients,
    NetworkSummary,
    TagMatrix,
    WeightSummary,
    WordTerm,
)

_CellValue = str | int | float | None
_WORD_COLUMNS = ("word", "place", "adds")
_MARKUP = re.compile(r"([\\`*_{}\[\]<>|#])")


@dataclass(frozen=True, slots=True)
class TitleBlock:
    """A title.

    Attributes:
        text: the title.
        level: heading level, from 1.
    """

    text: str
    level: int = 1


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Sentences, one per line."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TableBlock:
    """A table.

    Attributes:
        title: title of the table.
        columns: names of the columns.
        rows: the cells; floats are rendered with three decimals, and with their sign in ``signed`` columns.
        signed: indices of the columns with signed values.
        shaded: shade the cells by their values, as for a matrix.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[_CellValue, ...], ...]
    signed: frozenset[int] = field(default=frozenset())
    shaded: bool = False

    def written(self, row: tuple[_CellValue, ...]) -> list[str]:
        """The cells of a row as text."""
        return [_format_cell(cell, signed=column in self.signed) for column, cell in enumerate(row)]


RenderBlock = TitleBlock | TextBlock | TableBlock


def _format_cell(cell: _CellValue, *, signed: bool = False) -> str:
    """A cell as text.

    Example:
        >>> _format_cell(0.5, signed=True), _format_cell(1200), _format_cell(None), _format_cell("a\\tb")
        ('+0.500', '1,200', '–', 'a\\\\tb')
    """
    if cell is None:
        return "–"
    if isinstance(cell, str):
        return escape_unprintable(cell)
    if isinstance(cell, int):
        return f"{cell:,}"
    return f"{cell:+.3f}" if signed else f"{cell:.3f}"


def blocks_text(blocks: Iterable[RenderBlock]) -> str:
    """Blocks as text for a terminal.

    Example:
        >>> print(blocks_text([TitleBlock("Why"), TextBlock(("Because.",))]))
        Why
        ===
        <BLANKLINE>
        Because.
    """
    return "\n\n".join(_rendered(block, markdown=False) for block in blocks)


def blocks_markdown(blocks: Iterable[RenderBlock]) -> str:
    """Blocks as Markdown, with markup in the text escaped."""
    return "\n\n".join(_rendered(block, markdown=True) for block in blocks) + "\n"


def _rendered(block: RenderBlock, *, markdown: bool) -> str:
    escaped = _without_markup if markdown else escape_unprintable
    match block:
        case TitleBlock(text, level):
            title = escaped(text)
            return f"{'#' * level} {title}" if markdown else f"{title}\n{('=' if level == 1 else '-') * len(title)}"
        case TextBlock(lines):
            return ("\n\n" if markdown else "\n").join(map(escaped, lines))
        case TableBlock():
            head, *rows = (map(escaped, row) for row in (block.columns, *map(block.written, block.rows)))
            form = "pipe" if markdown else "simple"
            table = tabulate(rows, list(head), tablefmt=form, disable_numparse=True, colalign=alignment(block))
            return f"{escaped(block.title)}:\n\n{table}"


def _without_markup(text: str) -> str:
    return _MARKUP.sub(r"\\\1", escape_unprintable(text))


def alignment(table: TableBlock) -> Sequence[str]:
    """Alignment of the columns: right for numbers, by the first cell that is not None."""
    columns = zip(*table.rows, strict=True) if table.rows else [()] * len(table.columns)
    firsts = (next((cell for cell in column if cell is not None), "") for column in columns)
    return ["left" if isinstance(first, str) else "right" for first in firsts]


def explanation_json(data: Any) -> str:
    """Dataclasses of this package, or lists or dictionaries of them, as JSON, without computed properties.

    Example:
        >>> from crfdeid.explain.data import WordTerm
        >>> print(explanation_json(WordTerm("Dr", -1, 0.5)))
        {
         "word": "Dr",
         "place": -1,
         "value": 0.5
        }
    """
    return json.dumps(data, default=_plain, ensure_ascii=False, indent=1)


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value) if field.repr}
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no data")


def prediction_blocks(explanation: Explanation, *, top: int = 10, level: int = 1) -> Iterator[RenderBlock]:
    """The explanation of a token's tag as blocks.

    Args:
        explanation: the explanation.
        top: number of CRF features to list; the sum includes all of them.
        level: level of the title.
    """
    word, tag, contrast_tag = explanation.words[explanation.token], explanation.tag, explanation.contrast_tag
    yield TitleBlock(f"{word}: {tag}, and not {contrast_tag} ({explanation.model})", level)
    facts = [
        f"P({tag}) = {explanation.probability:.4g}, P({contrast_tag}) = {explanation.contrast_probability:.4g}: "
        f"log-odds {explanation.log_odds:+.3f}; probability of being PHI {explanation.phi:.4g}"
    ]
    if other := explanation.counterfactual:
        facts.append(
            f"With other words ({' '.join(other.words)}): {other.tag}, P = {other.probability:.4g}; "
            f"the log-odds would be {other.log_odds:+.3f}"
        )
    yield TextBlock(tuple(facts))
    if explanation.crf is not None:
        yield from _crf_tables(explanation.crf, top)
    if explanation.rules:
        rows = tuple((rule.name, rule.label, rule.share, " ".join(rule.words)) for rule in explanation.rules)
        yield TableBlock("Rules that find it", ("rule", "type", "right in training", "finds"), rows)
    if explanation.occlusion:
        title = "Occlusion: what the log-odds lose without the word"
        yield TableBlock(title, _WORD_COLUMNS, tuple(word_rows(explanation.occlusion)), frozenset({2}))
    if explanation.gradients is not None:
        yield _gradients(explanation.gradients)
    for member in explanation.members:
        yield from prediction_blocks(member, top=top, level=level + 1)


def _crf_tables(crf: CrfSum, top: int) -> Iterator[RenderBlock]:
    rows = (*sum_rows(crf, top), ("log-odds", "", None, None, crf.total))
    columns = ("feature", "kind", "for the tag", "for the rival", "adds")
    yield TableBlock("The exact sum of a CRF", columns, rows, frozenset({2, 3, 4}))
    yield TableBlock("The same by kinds of features", ("kind", "adds"), tuple(crf.by_kind.items()), frozenset({1}))
    if crf.unknown:
        yield TextBlock((f"{len(crf.unknown)} features of this token have no weight: the model did not learn them",))


def sum_rows(crf: CrfSum, top: int) -> Iterator[tuple[_CellValue, ...]]:
    """The terms of a CRF's sum: name, kind, weight for the tag and for its contrast tag, value."""
    shown, rest = crf.features[:top], crf.features[top:]
    for term in shown:
        name = term.name if term.count == 1 else f"{term.name} (x {term.count})"
        yield name, term.kind, term.weight, term.contrast_weight, term.value
    if rest:
        yield f"{len(rest)} further features", "", None, None, sum(term.value for term in rest)
    yield "the words before", "neighbours", None, None, crf.before
    yield "the words after", "neighbours", None, None, crf.after


def word_rows(terms: Iterable[WordTerm]) -> Iterator[tuple[_CellValue, ...]]:
    """The word of each term, its distance, and the value."""
    for term in terms:
        distance = "" if term.place is None else "the word" if term.place == 0 else f"{term.place:+d}"
        yield term.word, distance, term.value


def _gradients(gradients: Gradients) -> TableBlock:
    rows = (
        *word_rows(gradients.words),
        ("around the sentence", "", gradients.around),
        ("without any vectors", "", gradients.baseline),
        ("sum", "", gradients.total),
        ("log-odds", "", gradients.log_odds),
    )
    return TableBlock("Integrated gradients on the words' vectors", _WORD_COLUMNS, rows, frozenset({2}))


CONFIDENTIAL_WARNING = (
    "Feature strings and vocabularies are words of the notes that the model was trained on: names of patients can be "
    "among them. Keep this as safe as the notes."
)
HASHED_NOTICE = "The model's words are keyed hashes, and are shown as such."


def weight_blocks(summary: WeightSummary, *, level: int = 1) -> Iterator[RenderBlock]:
    """The learned weights of a model as blocks.

    Args:
        summary: the weights.
        level: level of the title.
    """
    yield TitleBlock(f"What {summary.model} learned", level)
    if summary.crf is not None or summary.network is not None:
        yield TextBlock((HASHED_NOTICE if summary.hashed else CONFIDENTIAL_WARNING,))
    if summary.crf is not None:
        yield from _of_crf(summary.crf)
    if summary.network is not None:
        yield from _of_network(summary.network)
    if summary.rules:
        columns = ("rule", "type", "share of its finds in training that were right")
        yield TableBlock("Rules that are trusted", columns, summary.rules)
    if summary.crf is None and summary.network is None and not summary.rules and not summary.members:
        yield TextBlock(("Its weights say nothing by themselves. Ask why it tags a word: `crfdeid explain --text`.",))
    for member in summary.members:
        yield from weight_blocks(member, level=level + 1)


def _of_crf(summary: CrfSummary) -> Iterator[RenderBlock]:
    yield _matrix(summary.transitions)
    columns: tuple[str, ...] = ("kind", "features", "weights", "L1", "L2")
    rows: tuple[tuple[_CellValue, ...], ...] = tuple(
        (kind.kind, kind.features, kind.weights, kind.l1, kind.l2) for kind in summary.kinds
    )
    if any(kind.share is not None for kind in summary.kinds):
        columns += ("share of the log-odds of what is tagged",)
        rows = tuple((*row, kind.share) for row, kind in zip(rows, summary.kinds, strict=True))
    yield TableBlock("What each kind of feature carries", columns, rows)
    for tag in summary.features:
        for direction, features in (("for", tag.largest), ("against", tag.smallest)):
            if features:
                title = f"What speaks most {direction} {tag.tag}"
                yield TableBlock(title, ("feature", "weight"), features, frozenset({1}))


def _of_network(summary: NetworkSummary) -> Iterator[RenderBlock]:
    yield from (_matrix(matrix) for matrix in summary.matrices)
    if summary.facts:
        yield TextBlock(tuple(f"{what}: {value:.3g}" for what, value in summary.facts))
    rows: tuple[tuple[_CellValue, ...], ...] = tuple(
        (norm.name, "x".join(map(str, norm.shape)), norm.norm, norm.typical) for norm in summary.norms
    )
    yield TableBlock("How large the weights are", ("array", "shape", "norm", "typical weight"), rows)
    near: tuple[tuple[_CellValue, ...], ...] = tuple(
        (item.word, "has no vector")
        if item.near is None
        else (item.word, ", ".join(f"{word} ({cosine:.2f})" for word, cosine in item.near))
        for item in summary.words
    )
    if near:
        yield TableBlock("Nearest words by the vectors it learned (cosine)", ("word", "nearest"), near)


def _matrix(matrix: TagMatrix) -> TableBlock:
    rows: tuple[tuple[_CellValue, ...], ...] = tuple(
        (name, *values) for name, values in zip(matrix.names, matrix.values, strict=True)
    )
    signed = frozenset(range(1, len(matrix.names) + 1))
    return TableBlock(matrix.title, ("before \\ after", *matrix.names), rows, signed, shaded=True)


def decision_blocks(explanation: DocumentExplanation, name: str) -> Iterator[RenderBlock]:
    """The reason of each hidden span as blocks.

    Args:
        explanation: the explanation.
        name: display name of the model.
    """
    yield TitleBlock(f"What {name} hides, and why")
    if not explanation.decisions:
        yield TextBlock(("Nothing.",))
    rows = tuple(
        (one.value, one.span.label, f"{one.span.start}–{one.span.end}", reason_text(one, explanation.threshold))
        for one in explanation.decisions
    )
    if rows:
        yield TableBlock("Hidden", ("value", "type", "characters", "because"), rows)
    text = explanation.document.text
    allowed = tuple((text[start:end], label, f"{start}–{end}") for start, end, label in explanation.allowed)
    if allowed:
        title = "Found by the model, and left because the site's list allows it"
        yield TableBlock(title, ("value", "type", "characters"), allowed)


def reason_text(decision: Decision, threshold: float | None = None) -> str:
    """The reason of a decision in words.

    Args:
        decision: the decision.
        threshold: the model's threshold; None for the most probable tags.

    Example:
        >>> from crfdeid.documents import Span
        >>> reason_text(Decision(Span(0, 4, "EMAIL"), "a@b.c", "rule:e-mail", 0.9, None))
        'the rule `e-mail` matched (90.0 % of its matches in training were right)'
    """
    score = "precision not measured" if decision.score is None else _percent(decision.score)
    if decision.source.startswith(RULE):
        share = score if decision.score is None else f"{score} of its matches in training were right"
        return f"the rule `{decision.source.removeprefix(RULE)}` matched ({share})"
    origin = decision.origin or decision.span
    reaches = "" if threshold is None else f"; threshold: {_percent(threshold)}"
    texts = {
        MODEL: f"the model found it (least probability of being PHI: {score}{reaches})",
        LIST: "a term or a pattern of the deny lists",
        RECORD: "an identifier of the patient's record",
        CONSISTENCY: f"the value at characters {origin.start}–{origin.end}, which is {origin.label}, occurs here again",
    }
    return texts[decision.source]


def _percent(share: float) -> str:
    """A probability in per cent, with enough digits to differ from 0 and 1.

    Example:
        >>> _percent(0.5), _percent(0.99997), _percent(0.000012)
        ('50.0 %', '99.997 %', '0.001 %')
    """
    near = min(share, 1 - share)
    digits = 1 if near >= 0.001 else 3 if near >= 0.00001 else 5
    return f"{100 * share:.{digits}f} %"

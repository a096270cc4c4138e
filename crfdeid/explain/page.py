"""HTML pages: rendered blocks, and a text with an explanation for every word."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from crfdeid.errors import escape_unprintable
from crfdeid.explain.data import DocumentExplanation, Explanation
from crfdeid.explain.prediction import ExplainRequest, default_methods, explain_tokens
from crfdeid.explain.render import (
    RenderBlock,
    TableBlock,
    TextBlock,
    TitleBlock,
    alignment,
    decision_blocks,
    reason_text,
    sum_rows,
    word_rows,
)
from crfdeid.pipeline import Deidentifier
from crfdeid.tagger import Tagger
from crfdeid.utils.html import render_page
from features.tokens import Sentence

_SHADES = 5  # on either side of 0
_FEATURES = 8  # features of a CRF's sum on the page; the others are one row


class ModelView(NamedTuple):
    """A model on a page.

    Attributes:
        name: display name of the model.
        model: the pipeline with the model.
        found: its explanation of the text.
    """

    name: str
    model: Deidentifier
    found: DocumentExplanation


def blocks_page(title: str, blocks: Iterable[RenderBlock], *, warning: str) -> str:
    """A page of blocks.

    Args:
        title: title of the page.
        blocks: content of the page.
        warning: notice at the top of the page.
    """
    return _render(title=title, warning=warning, data=None, blocks=blocks)


def text_page(views: Sequence[ModelView], *, warning: str, chosen: int | None = None, synthetic: bool = False) -> str:
    """A page with a text, the spans that one or more models hide in it, and an explanation of each word's tag.

    Args:
        views: the models, all with the same text.
        warning: notice at the top of the page.
        chosen: index of the word to explain first; None: the first hidden one.
        synthetic: True for an invented text.
    """
    document = views[0].found.document
    sentences = document.sentences()
    data = {
        "text": document.text,
        "chosen": chosen,
        "tokens": [[token.start, token.end] for sentence in sentences for token in sentence.tokens],
        "models": [_of_model(view) for view in views],
    }
    title = f"Why these words? {' and '.join(view.name for view in views)}"
    blocks = [block for view in views for block in decision_blocks(view.found, view.name)]
    return _render(title=title, warning=warning, data=data, blocks=blocks, invented=synthetic)


def _of_model(view: ModelView) -> dict[str, Any]:
    """Page data of a model: its spans with their reason, and each token's explanation."""
    tokens = [
        explanation
        for sentence in view.found.document.sentences()
        for explanation in word_data(view.model.tagger, sentence, range(len(sentence.tokens)))
    ]
    spans = [[*one.span, [reason_text(one, view.found.threshold)]] for one in view.found.decisions]
    return {"name": view.name, "spans": spans, "tokens": tokens}


def word_data(tagger: Tagger, sentence: Sentence, words: Sequence[int]) -> list[dict[str, Any]]:
    """Page data of the explanations of some words, by their positions in a sentence."""
    # Of occlusion and gradients, which agree, the page shows one.
    wanted = ExplainRequest(methods=[method for method in default_methods(tagger) if method != "gradients"])
    return [
        {
            "tag": explanation.tag,
            "contrast_tag": explanation.contrast_tag,
            "probability": round(explanation.probability, 6),
            "contrast_probability": round(explanation.contrast_probability, 6),
            "phi": round(explanation.phi, 6),
            "parts": list(_parts(explanation, "")),
        }
        for explanation in explain_tokens(tagger, sentence, words, wanted)
    ]


def _parts(explanation: Explanation, name: str) -> Iterator[dict[str, Any]]:
    """Contributions to a tag: titles, and terms with name, kind and value."""
    tags, log_odds = f"{explanation.tag} against {explanation.contrast_tag}", f"{explanation.log_odds:+.2f}"
    if explanation.crf is not None:
        title = f"{name}exact sum for {tags}: log-odds {log_odds}"
        yield {"title": title, "terms": _terms(sum_rows(explanation.crf, _FEATURES))}
    if explanation.occlusion:
        title = f"{name}what the log-odds {log_odds} of {tags} lose without a word"
        yield {"title": title, "terms": _terms(word_rows(explanation.occlusion))}
    for rule in explanation.rules:
        share = f"{100 * rule.share:.0f} % of its finds in training were right"
        title = f"{name}the rule {rule.name} matches “{' '.join(rule.words)}” as {rule.label} ({share})"
        yield {"title": title, "terms": []}
    for member in explanation.members:
        yield from _parts(member, f"{name}{member.model}: ")


def _terms(rows: Iterable[Sequence[Any]]) -> list[list[Any]]:
    """Name, kind and rounded value of each term."""
    return [[row[0], row[1], round(row[-1], 4)] for row in rows]


def _render(*, blocks: Iterable[RenderBlock], data: dict[str, Any] | None, invented: bool = False, **parts: Any) -> str:
    shown = [_block(block) for block in blocks]
    templates = files("crfdeid.explain") / "templates"
    return render_page(templates, "explanation", blocks=shown, data=data, invented=invented, **parts)


def _block(block: RenderBlock) -> dict[str, Any]:
    """A block as data for the template."""
    match block:
        case TitleBlock(text, level):
            return {"kind": "title", "text": text, "level": min(level + 1, 4)}
        case TextBlock(lines):
            return {"kind": "lines", "lines": [escape_unprintable(line) for line in lines]}
        case TableBlock():
            rows = [list(zip(block.written(row), _shades(block, row), strict=True)) for row in block.rows]
            kinds = ("words" if side == "left" else "" for side in alignment(block))
            columns = list(zip(block.columns, kinds, strict=True))
            return {"kind": "table", "title": block.title, "columns": columns, "rows": rows}


def _shades(table: TableBlock, row: Sequence[Any]) -> list[str]:
    """The CSS class of each cell: the shade of a matrix cell, from s-5 to s5, or "words" for text."""
    if not table.shaded:
        return ["words" if isinstance(cell, str) else "" for cell in row]
    largest = max((abs(cell) for line in table.rows for cell in line if isinstance(cell, float)), default=0.0) or 1.0
    return [f"s{round(_SHADES * cell / largest)}" if isinstance(cell, float) else "" for cell in row]

"""Output of ``crfdeid explain``: the weights of models, or their decisions on a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from crfdeid.corpora import read_corpus
from crfdeid.errors import UsageError
from crfdeid.explain.decisions import explain_document
from crfdeid.explain.page import ModelView, blocks_page, text_page
from crfdeid.explain.prediction import ExplainRequest, explain_tokens, model_of
from crfdeid.explain.render import (
    CONFIDENTIAL_WARNING,
    HASHED_NOTICE,
    RenderBlock,
    TextBlock,
    blocks_markdown,
    blocks_text,
    decision_blocks,
    escape_unprintable,
    explanation_json,
    prediction_blocks,
    weight_blocks,
)
from crfdeid.explain.weights import explain_weights
from crfdeid.pipeline import Deidentifier
from features.tokens import Sentence

_MOST_WORDS = 200  # of a text that are numbered for --token
_TEXT_WARNING = (
    "It quotes a text, and words of the notes that the model was trained on. Keep it as safe as the notes themselves."
)


def model_names(folders: Sequence[str], models: Sequence[Deidentifier]) -> list[str]:
    """Names of the models: their kind, with the folder where two are of one kind."""
    kinds = [model_of(model.tagger) for model in models]
    alike = len(set(kinds)) < len(kinds)
    return [f"{kind} ({folder})" if alike else kind for kind, folder in zip(kinds, folders, strict=True)]


def weights_output(options: SimpleNamespace, models: Mapping[str, Deidentifier], kind: str) -> str:
    """The weights of the models.

    Args:
        options: the command's.
        models: the models, by name.
        kind: format of the output.

    Raises:
        UsageError: a model has no such type.
        DataError: the development notes cannot be read.
    """
    notes = () if options.dev is None else read_corpus(options.dev)
    sentences = [sentence for note in notes for sentence in note.sentences()]
    found = [
        explain_weights(model.tagger, types=options.labels, top=options.top, words=options.words, sentences=sentences)
        for model in models.values()
    ]
    blocks = [block for contents in found for block in weight_blocks(contents)]
    if kind == "html":
        hashed = all(contents.hashed for contents in found)
        title = f"What {' and '.join(models)} learned"
        return blocks_page(title, blocks, warning=HASHED_NOTICE if hashed else CONFIDENTIAL_WARNING)
    return _plain(kind, models, found, blocks)


def decisions_output(options: SimpleNamespace, models: Mapping[str, Deidentifier], kind: str, text: str) -> str:
    """Reasons for the spans that the models hide in a text, or for their tags of one word.

    Args:
        options: the command's.
        models: the models, by name.
        kind: format of the output.
        text: the text.

    Raises:
        UsageError: there is no such word or tag.
        DataError: the text holds a lone surrogate.
    """
    found = [explain_document(model, text) for model in models.values()]
    sentences = found[0].document.sentences()
    number = None if options.token is None else _token_number(sentences, options.token)
    if kind == "html":
        views = [ModelView(*parts) for parts in zip(models, models.values(), found, strict=True)]
        return text_page(views, warning=_TEXT_WARNING, chosen=number)
    if number is None:
        hidden = [block for name, one in zip(models, found, strict=True) for block in decision_blocks(one, name)]
        return _plain(kind, models, found, [*hidden, *_numbered(sentences)])
    sentence, index = [(sentence, index) for sentence in sentences for index in range(len(sentence.tokens))][number]
    first = number - index
    for other, _ in options.replace:
        if not first <= other < first + len(sentence.tokens):
            where = f"its sentence has the words {first} to {first + len(sentence.tokens) - 1}"
            raise UsageError(f"--replace {other}=: not in the sentence of --token: {where}")
    replacing = {other - first: word for other, word in options.replace}
    wanted = ExplainRequest(options.tag, options.contrast_tag, options.window, options.methods, replacing)
    explained = [explain_tokens(model.tagger, sentence, [index], wanted)[0] for model in models.values()]
    blocks = [block for one in explained for block in prediction_blocks(one, top=options.top)]
    return _plain(kind, models, explained, blocks)


def _numbered(sentences: Sequence[Sentence]) -> Iterator[RenderBlock]:
    """The words of a text with the numbers for --token."""
    words = [word for sentence in sentences for word in sentence.words]
    listed = " ".join(f"{number}:{escape_unprintable(word)}" for number, word in enumerate(words[:_MOST_WORDS]))
    more = f" … ({len(words)} words)" if len(words) > _MOST_WORDS else ""
    if words:
        yield TextBlock((f"Ask about a word with --token: {listed}{more}",))


def _token_number(sentences: Sequence[Sentence], token: str) -> int:
    """The number of a token of a text, which is named by itself or by its number."""
    words = [word for sentence in sentences for word in sentence.words]
    number = int(token) if token.isdecimal() and len(token) < 10 else words.index(token) if token in words else -1
    if not 0 <= number < len(words):
        raise UsageError(f"--token: no such word: the text has {len(words)} words, numbered from 0")
    return number


def _plain(kind: str, models: Iterable[str], found: Iterable[Any], blocks: Sequence[RenderBlock]) -> str:
    """The findings of each model as JSON, or their blocks as Markdown or text."""
    if kind == "json":
        return explanation_json(dict(zip(models, found, strict=True))) + "\n"
    return blocks_markdown(blocks) if kind == "markdown" else blocks_text(blocks) + "\n"

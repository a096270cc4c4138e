"""`crfdeid explain`: the weights of models, or the reasons for the spans that they hide in a text."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from crfdeid.cli import options as shared
from crfdeid.cli.shell import Argument, Mode, Option, choice, command, file_path, names, whole_number
from crfdeid.errors import UsageError

if TYPE_CHECKING:
    from crfdeid.explain.render import RenderBlock
    from crfdeid.pipeline import Deidentifier
    from features.tokens import Sentence

_ENDINGS = {".txt": "text", ".md": "markdown", ".html": "html", ".json": "json"}
_MOST_WORDS = 200  # of a text that are numbered for --token
_TEXT_WARNING = (
    "It quotes a text, and words of the notes that the model was trained on. Keep it as safe as the notes themselves."
)


def _replacement(text: str) -> tuple[int, str | None]:
    """The number of a word and its replacement: "3=doe", or "3=" for nothing."""
    number, equals, word = text.partition("=")
    if not (equals and number.isdecimal() and len(number) < 10) or any(c.isspace() for c in word):
        raise UsageError("expected the number of a word and another word, such as 3=doe, or 3=")
    return int(number), word or None


def _has_text(options: SimpleNamespace) -> bool:
    return options.text is not None or options.note is not None


_TEXT = Mode("a text: NOTE or --text", _has_text)
_WEIGHTS = Mode("a model without a text", lambda options: not _has_text(options))
_TOKEN = Mode("--token", lambda options: options.token is not None)
_TOP = Mode("--token, or a model without a text", lambda options: not _has_text(options) or options.token is not None)
_PLAIN = Mode("formats other than html", lambda options: _rendering(options) != "html")
_of_token = partial(Option, only=(_TOKEN, _PLAIN), rare=True)
_of_weights = partial(Option, only=(_WEIGHTS,), rare=True)


def _rendering(options: SimpleNamespace) -> str:
    """The format of --output-format, or of the output file's suffix."""
    suffix = "" if options.output is None else options.output.suffix.lower()
    return str(options.output_format or _ENDINGS.get(suffix, "text"))


@command(
    shared.MODEL,
    Argument("note", file_path, required=False, help="Text file to explain the findings in, or - for standard input."),
    Option("--text", metavar="TEXT", help="Text to explain, instead of NOTE."),
    Option("--token", only=(_TEXT,), metavar="WORD", help="Word of the text to explain, or its number from 0."),
    Option("--compare", metavar="MODEL", help="Second model, for a comparison."),
    Option("--top", whole_number(1), only=(_TOP,), default=20, help="Number of features."),
    shared.SENSITIVITY.but(only=(_TEXT,)),
    shared.LISTS.but(only=(_TEXT,)),
    shared.OUTPUT.but(required=False, help="New file for the explanation; default: standard output."),
    choice(
        "--output-format",
        tuple(_ENDINGS.values()),
        metavar="FORMAT",
        help=f"Format to write: {', '.join(_ENDINGS.values())}; default: by the name of --output, else text.",
    ),
    _of_token("--tag", metavar="TAG", help="Tag to explain; default: the model's own."),
    _of_token(
        "--contrast-tag", metavar="TAG", help="Tag to compare with; default: the most probable tag of another type."
    ),
    _of_token(
        "--replace",
        _replacement,
        multiple=True,
        metavar="N=WORD",
        help="Replacement of word N of the same sentence, N= for none, to see the effect.",
    ),
    _of_token("--methods", names, help="Methods, from sum,occlusion,gradients; default: those of the model."),
    _of_token(
        "--window",
        whole_number(0),
        default=5,
        help="Number of words on each side to hide from the model, one at a time.",
    ),
    _of_weights(
        "--labels", names, default=(), metavar="TYPES", help="Types of PHI whose features are shown; default: all."
    ),
    _of_weights(
        "--words",
        names,
        default=(),
        metavar="WORDS",
        help="Words whose nearest words a network shows; default: some frequent ones.",
    ),
    _of_weights(
        "--dev",
        file_path,
        metavar="PATH",
        help="Annotated notes for development, for the effect of each kind of feature on the scores.",
    ),
    shared.MAX_LEAK_RATE.but(only=(_TEXT,), rare=True),
    shared.NO_CONSISTENCY.but(only=(_TEXT,)),
    shared.KEY_FILE,
    details="Without a text: features, weights and rules. With a text: the reason for each span, and for one word the "
    "evidence for its tag.",
    examples=(
        'crfdeid explain model/ --text "Seen by Dr. Huntington." --token Huntington',
        "crfdeid explain model/ --output model.html",
    ),
)
def run(options: SimpleNamespace) -> None:
    """Print or write the explanation."""
    from crfdeid.utils.files import write_files  # noqa: PLC0415
    from crfdeid.utils.process import one_thread  # noqa: PLC0415

    one_thread()
    if options.text is not None and options.note is not None:
        raise UsageError("NOTE and --text: give one of them")
    if options.output is not None:
        shared.require_new_file(options.output, {"--dev": options.dev})
    text = _text_of(options)
    folders = [options.model] if options.compare is None else [options.model, options.compare]
    models = [shared.load_model(options, folder) for folder in folders]
    named, kind = dict(zip(_model_names(folders, models), models, strict=True)), _rendering(options)
    shown = _weights_output(options, named, kind) if text is None else _decisions_output(options, named, kind, text)
    if options.output is None:
        sys.stdout.buffer.write(shown.encode("utf-8", errors="backslashreplace"))
    else:
        write_files({options.output: shown})


def _text_of(options: SimpleNamespace) -> str | None:
    from crfdeid.cli.note_run import read_stdin  # noqa: PLC0415
    from crfdeid.io.records import LONGEST_NOTE  # noqa: PLC0415
    from crfdeid.utils.files import read_text  # noqa: PLC0415

    if options.note == shared.STDIN:
        return read_stdin(LONGEST_NOTE)
    return options.text if options.note is None else read_text(options.note)


def _model_names(folders: Sequence[str], models: Sequence[Deidentifier]) -> list[str]:
    """Names of the models: their kind, with the folder where two are of one kind."""
    from crfdeid.explain.prediction import model_of  # noqa: PLC0415

    kinds = [model_of(model.tagger) for model in models]
    alike = len(set(kinds)) < len(kinds)
    return [f"{kind} ({folder})" if alike else kind for kind, folder in zip(kinds, folders, strict=True)]


def _weights_output(options: SimpleNamespace, models: Mapping[str, Deidentifier], kind: str) -> str:
    """The weights of the models."""
    from crfdeid.corpora import read_corpus  # noqa: PLC0415
    from crfdeid.explain import explain_weights, page, render  # noqa: PLC0415

    notes = () if options.dev is None else read_corpus(options.dev)
    sentences = [sentence for note in notes for sentence in note.sentences()]
    learned = [
        explain_weights(model.tagger, types=options.labels, top=options.top, words=options.words, sentences=sentences)
        for model in models.values()
    ]
    blocks = [block for contents in learned for block in render.weight_blocks(contents)]
    if kind == "html":
        hashed = all(contents.hashed for contents in learned)
        title = f"What {' and '.join(models)} learned"
        warning = render.HASHED_NOTICE if hashed else render.CONFIDENTIAL_WARNING
        return page.blocks_page(title, blocks, warning=warning)
    return _plain(kind, models, learned, blocks)


def _decisions_output(options: SimpleNamespace, models: Mapping[str, Deidentifier], kind: str, text: str) -> str:
    """Reasons for the spans that the models hide in a text, or for their tags of one word."""
    from crfdeid.explain import explain_document, page, render  # noqa: PLC0415
    from crfdeid.explain.prediction import ExplainRequest, explain_tokens  # noqa: PLC0415

    decisions = [explain_document(model, text) for model in models.values()]
    sentences = decisions[0].document.sentences()
    number = None if options.token is None else _token_number(sentences, options.token)
    if kind == "html":
        views = [page.ModelView(*parts) for parts in zip(models, models.values(), decisions, strict=True)]
        return page.text_page(views, warning=_TEXT_WARNING, chosen=number)
    if number is None:
        named = zip(models, decisions, strict=True)
        blocks = [block for name, one in named for block in render.decision_blocks(one, name)]
        return _plain(kind, models, decisions, [*blocks, *_numbered(sentences)])
    sentence, index = [(sentence, index) for sentence in sentences for index in range(len(sentence.tokens))][number]
    first = number - index
    for other, _ in options.replace:
        if not first <= other < first + len(sentence.tokens):
            where = f"its sentence has the words {first} to {first + len(sentence.tokens) - 1}"
            raise UsageError(f"--replace {other}=: not in the sentence of --token: {where}")
    replacing = {other - first: word for other, word in options.replace}
    wanted = ExplainRequest(options.tag, options.contrast_tag, options.window, options.methods, replacing)
    explained = [explain_tokens(model.tagger, sentence, [index], wanted)[0] for model in models.values()]
    blocks = [block for one in explained for block in render.prediction_blocks(one, top=options.top)]
    return _plain(kind, models, explained, blocks)


def _numbered(sentences: Sequence[Sentence]) -> Iterator[RenderBlock]:
    """The words of a text with the numbers for --token."""
    from crfdeid.errors import escape_unprintable  # noqa: PLC0415
    from crfdeid.explain.render import TextBlock  # noqa: PLC0415

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


def _plain(kind: str, models: Iterable[str], explanations: Iterable[Any], blocks: Sequence[RenderBlock]) -> str:
    """The explanation of each model as JSON, or their blocks as Markdown or text."""
    from crfdeid.explain import render  # noqa: PLC0415

    if kind == "json":
        return render.explanation_json(dict(zip(models, explanations, strict=True))) + "\n"
    return render.blocks_markdown(blocks) if kind == "markdown" else render.blocks_text(blocks) + "\n"

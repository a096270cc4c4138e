"""`crfdeid explain`: the weights of models, or the reasons for the spans that they hide in a text."""

from __future__ import annotations

import sys
from types import SimpleNamespace

from crfdeid.cli.options import (
    KEY_FILE,
    LISTS,
    MODEL,
    NO_CONSISTENCY,
    OUTPUT,
    SENSITIVITY,
    STDIN,
    load_model,
    require_new_file,
)
from crfdeid.cli.shell import Argument, Mode, Option, choice, command, file_path, names, whole_number
from crfdeid.errors import UsageError

_ENDINGS = {".txt": "text", ".md": "markdown", ".html": "html", ".json": "json"}


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


def _rendering(options: SimpleNamespace) -> str:
    """The format of --output-format, or of the output file's suffix."""
    suffix = "" if options.output is None else options.output.suffix.lower()
    return str(options.output_format or _ENDINGS.get(suffix, "text"))


@command(
    MODEL,
    Argument("note", file_path, required=False, help="Text file to explain the findings in, or - for standard input."),
    Option("--text", metavar="TEXT", help="Text to explain, instead of NOTE."),
    Option("--token", only=(_TEXT,), metavar="WORD", help="Word of the text to explain, or its number from 0."),
    Option("--compare", metavar="MODEL", help="Second model, for a comparison."),
    Option("--top", whole_number(1), only=(_TOP,), default=20, metavar="N", help="Number of features."),
    SENSITIVITY.but(only=(_TEXT,)),
    LISTS.but(only=(_TEXT,)),
    OUTPUT.but(required=False, help="New file for the explanation; default: standard output."),
    choice(
        "--output-format",
        tuple(_ENDINGS.values()),
        metavar="FORMAT",
        help=f"Format to write: {', '.join(_ENDINGS.values())}; default: by the name of --output, else text.",
    ),
    Option("--tag", only=(_TOKEN, _PLAIN), rare=True, metavar="TAG", help="Tag to explain; default: the model's own."),
    Option(
        "--contrast-tag",
        only=(_TOKEN, _PLAIN),
        rare=True,
        metavar="TAG",
        help="Tag to compare with; default: the most probable tag of another type.",
    ),
    Option(
        "--replace",
        _replacement,
        multiple=True,
        only=(_TOKEN, _PLAIN),
        rare=True,
        metavar="N=WORD",
        help="Replacement of word N of the same sentence, N= for none, to see the effect.",
    ),
    Option(
        "--methods",
        names,
        only=(_TOKEN, _PLAIN),
        rare=True,
        metavar="NAMES",
        help="Methods, from sum,occlusion,gradients; default: those of the model.",
    ),
    Option(
        "--window",
        whole_number(0),
        only=(_TOKEN, _PLAIN),
        rare=True,
        default=5,
        metavar="N",
        help="Number of words on each side to hide from the model, one at a time.",
    ),
    Option(
        "--labels",
        names,
        only=(_WEIGHTS,),
        rare=True,
        default=(),
        metavar="TYPES",
        help="Types of PHI whose features are shown; default: all.",
    ),
    Option(
        "--words",
        names,
        only=(_WEIGHTS,),
        rare=True,
        default=(),
        metavar="WORDS",
        help="Words whose nearest words a network shows; default: some frequent ones.",
    ),
    Option(
        "--dev",
        file_path,
        only=(_WEIGHTS,),
        rare=True,
        metavar="PATH",
        help="Annotated notes for development, for the effect of each kind of feature on the scores.",
    ),
    NO_CONSISTENCY.but(only=(_TEXT,)),
    KEY_FILE,
    details="Without a text: features, weights and rules. With a text: the reason for each span, and for one word the "
    "evidence for its tag.",
    examples=(
        'crfdeid explain model/ --text "Seen by Dr. Huntington." --token Huntington',
        "crfdeid explain model/ --output model.html",
    ),
)
def run(options: SimpleNamespace) -> None:
    """Print or write the explanation.

    Args:
        options: values of the options.

    Raises:
        UsageError: an option is invalid.
        DataError: a model or a text cannot be read.
    """
    from crfdeid.cli.explain_output import decisions_output, model_names, weights_output  # noqa: PLC0415
    from crfdeid.utils.files import write_files  # noqa: PLC0415
    from crfdeid.utils.process import one_thread  # noqa: PLC0415

    one_thread()
    if options.text is not None and options.note is not None:
        raise UsageError("NOTE and --text: give one of them")
    if options.output is not None:
        require_new_file(options.output, {"--dev": options.dev})
    text = _text_of(options)
    folders = [options.model] if options.compare is None else [options.model, options.compare]
    models = [load_model(options, folder) for folder in folders]
    named, kind = dict(zip(model_names(folders, models), models, strict=True)), _rendering(options)
    shown = weights_output(options, named, kind) if text is None else decisions_output(options, named, kind, text)
    if options.output is None:
        sys.stdout.buffer.write(shown.encode("utf-8", errors="backslashreplace"))
    else:
        write_files({options.output: shown})


def _text_of(options: SimpleNamespace) -> str | None:
    from crfdeid.cli.note_run import read_stdin  # noqa: PLC0415
    from crfdeid.io.records import LONGEST_NOTE  # noqa: PLC0415
    from crfdeid.utils.files import read_text  # noqa: PLC0415

    if options.note == STDIN:
        return read_stdin(LONGEST_NOTE)
    text: str | None = options.text if options.note is None else read_text(options.note)
    return text

"""Explain what a model learned, or why it hides spans of a text.

Without a text: features, weights and rules. With a text: the reason for each span, and for one word the evidence for
its tag.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from crfdeid.cli.shell import file_path, whole_number
from crfdeid.errors import UsageError

RENDERINGS = ("text", "markdown", "html", "json")
_STDIN = Path("-")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of ``crfdeid explain``."""
    text = "the model's folder, or 'synthetic', the built-in model; twice to see two models side by side"
    parser.add_argument("--model", required=True, action="append", metavar="DIR", help=text)
    text = "a file of text, or - for standard input: why is what hidden in it?"
    parser.add_argument("--input", type=file_path, metavar="PATH", help=text)
    parser.add_argument("--text", metavar="TEXT", help="the text itself, in place of --input")
    text = "the word to explain, by its number: without this option the words are listed with their numbers"
    parser.add_argument("--token", type=whole_number(0), metavar="N", help=text)
    parser.add_argument("--tag", metavar="TAG", help="with --token: the tag to explain (default: the model's own)")
    text = "with --token: what to compare it with (default: the most probable tag of another type)"
    parser.add_argument("--rival", metavar="TAG", help=text)
    text = "with --token: what if this word of its sentence were another one, or left out (N=)? May be repeated"
    parser.add_argument("--replace", action="append", type=_replacement, default=[], metavar="N=WORD", help=text)
    text = "with --token: how, some of sum,occlusion,gradients (default: what fits the model)"
    parser.add_argument("--methods", type=_listed, metavar="LIST", help=text)
    text = "with --token: the words on each side that are hidden from the model, each by itself (default: 5)"
    parser.add_argument("--window", type=whole_number(0), default=5, metavar="N", help=text)
    text = "without a text: the types of PHI whose features are shown (default: all)"
    parser.add_argument("--types", type=_listed, default=(), metavar="LIST", help=text)
    text = "without a text: words whose nearest words a network shows (default: some frequent ones)"
    parser.add_argument("--words", type=_listed, default=(), metavar="LIST", help=text)
    text = "without a text: development notes, for what each kind of feature adds to the scores there"
    parser.add_argument("--notes", type=file_path, metavar="PATH", help=text)
    parser.add_argument("--top", type=whole_number(1), default=20, metavar="N", help="the most features (default: 20)")
    text = (
        "use the threshold that finds this share of the PHI tokens of the development notes, such as 0.997 (default: "
        "the most probable tags)"
    )
    parser.add_argument("--sensitivity", type=float, metavar="SHARE", help=text)
    text = "mark a name only where the model finds it; by default it is then looked for in the rest of its note"
    parser.add_argument("--no-consistency", action="store_true", help=text)
    text = "TOML file of a site's lists, as of crfdeid redact"
    parser.add_argument("--site", type=file_path, metavar="FILE", help=text)
    text = "file with the secret of the model's private vocabulary (default: the environment variable CRFDEID_SECRET)"
    parser.add_argument("--key-file", type=file_path, metavar="FILE", help=text)
    text = "text, markdown, html or json (default: by the name of --out, else text); html shows every word"
    parser.add_argument("--format", choices=RENDERINGS, help=text)
    text = "new file for the explanation (default: standard output)"
    parser.add_argument("--out", type=file_path, metavar="FILE", help=text)


def run(options: argparse.Namespace) -> None:
    """Print or write the explanation.

    Raises:
        UsageError: an option is invalid.
        DataError: a model or a text cannot be read.
    """
    from crfdeid.cli.explain_output import decisions_output, load_model, model_names, weights_output  # noqa: PLC0415
    from crfdeid.cli.run_summary import require_new_file  # noqa: PLC0415
    from crfdeid.utils.files import write_files  # noqa: PLC0415
    from crfdeid.utils.process import one_thread  # noqa: PLC0415

    one_thread()
    _check(options)
    if options.out is not None:
        notes = () if options.notes is None else (options.notes,)
        require_new_file("--out", options.out, apart_from=notes, resume=False)
    text = _text_of(options)
    models = [load_model(options, folder) for folder in options.model]
    names = model_names(options.model, models)
    shown = weights_output(options, names, models) if text is None else decisions_output(options, names, models, text)
    if options.out is None:
        sys.stdout.buffer.write(shown.encode("utf-8", errors="backslashreplace"))
    else:
        write_files({options.out: shown})


def _check(options: argparse.Namespace) -> None:
    """Refuse contradictory options."""
    if len(options.model) > 2:
        raise UsageError("--model is used more than twice: at most two models can be compared")
    if options.text is not None and options.input is not None:
        raise UsageError("--text and --input: give one of them")
    asked = options.text is not None or options.input is not None
    of_text = {"token": options.token is not None, "sensitivity": options.sensitivity is not None}
    of_text |= {"no-consistency": options.no_consistency, "site": options.site is not None}
    of_models = {"types": bool(options.types), "words": bool(options.words), "notes": options.notes is not None}
    for name, has_value in (of_models if asked else of_text).items():
        if has_value:
            raise UsageError(f"--{name} {'goes without' if asked else 'needs'} a text: --text or --input")
    of_token = {"tag": options.tag, "rival": options.rival, "replace": options.replace, "methods": options.methods}
    for name, value in of_token.items():
        if value and options.token is None:
            raise UsageError(f"--{name} needs --token: the word that is to be explained")


def _text_of(options: argparse.Namespace) -> str | None:
    from crfdeid.cli.note_run import read_stdin  # noqa: PLC0415
    from crfdeid.io.records import LONGEST_NOTE  # noqa: PLC0415
    from crfdeid.utils.files import read_text  # noqa: PLC0415

    if options.input is None:
        found: str | None = options.text
        return found
    if options.input == _STDIN:
        return read_stdin(LONGEST_NOTE)
    return read_text(options.input)


def _listed(text: str) -> tuple[str, ...]:
    """An option's value as names separated by commas."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _replacement(text: str) -> tuple[int, str | None]:
    """An option's value as the number of a word and its replacement: "3=doe", or "3=" for nothing."""
    number, equals, word = text.partition("=")
    if not (equals and number.isdecimal() and len(number) < 10) or any(c.isspace() for c in word):
        raise argparse.ArgumentTypeError(f"'{text}' is no number of a word and another word, such as 3=doe, or 3=")
    return int(number), word or None

"""The options that the commands `tag` and `redact` share, and what they ask for."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crfdeid.cli import given_options
from crfdeid.cli.shell import file_path, whole_number
from crfdeid.errors import UsageError
from crfdeid.notes.records import LONGEST_NOTE, Columns
from crfdeid.notes.remote import RemoteNotes, is_url
from crfdeid.notes.sources import KINDS
from crfdeid.notes.work import Redaction
from crfdeid.policy import Policy
from crfdeid.secrets import VARIABLE, read_secret, secret_digits, vocabulary_key

if TYPE_CHECKING:
    from crfdeid.tagger import Tagger

STDIN = Path("-")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options that both commands have."""
    text = (
        "the model's folder, or 'synthetic': a model trained on invented notes alone and never validated on real ones "
        "(a folder of that name: ./synthetic)"
    )
    parser.add_argument("--model", required=True, metavar="DIR", help=text)
    text = f"a file of notes ({', '.join(KINDS)}), a folder of them, or - for one note from standard input"
    parser.add_argument("--input", required=True, type=_input, metavar="PATH", help=text)
    text = "new folder for the results (with --input - there is none: the result goes to standard output)"
    parser.add_argument("--output", type=file_path, metavar="DIR", help=text)
    _add_columns(parser)
    given_options.add_options(parser)
    text = (
        "hide more: use the threshold that reached this sensitivity (%%) on the development notes, one of those on the "
        "model's card, which says what each costs (default: the most probable tags)"
    )
    parser.add_argument("--sensitivity", type=float, metavar="PERCENT", help=text)
    text = "mark a name only where the model finds it; by default it is then looked for in the rest of its note"
    parser.add_argument("--no-consistency", action="store_true", help=text)
    text = "take notes in mojibake too (UTF-8 that was read as Latin-1), in which more is missed; by default they fail"
    parser.add_argument("--accept-damaged", action="store_true", help=text)
    text = (
        f"a note of more characters fails, for it would take more memory than there may be (default: {LONGEST_NOTE:,}; "
        "0 for no such limit)"
    )
    parser.add_argument("--longest-note", type=whole_number(0), default=LONGEST_NOTE, metavar="N", help=text)
    text = "file with the secret of the model's private vocabulary (default: the environment variable CRFDEID_SECRET)"
    parser.add_argument("--key-file", type=file_path, metavar="FILE", help=text)
    text = (
        "with surrogates, --hash-columns, --rename-files or --audit: a file with the secret that they are derived from "
        "(default: the environment variable CRFDEID_SECRET)"
    )
    parser.add_argument("--secret-file", type=file_path, metavar="FILE", help=text)
    text = "give files and folders of the results new names, hashes under the secret, for theirs can name patients"
    parser.add_argument("--rename-files", action="store_true", help=text)
    text = "new file for an account of the run as JSON, note by note: where it is, how much of each type was found"
    parser.add_argument("--audit", type=file_path, metavar="FILE", help=text)
    text = "how many processes share the work; each holds the model in memory (default: 1)"
    parser.add_argument("--jobs", type=whole_number(1), default=1, metavar="N", help=text)
    text = "go on where an interrupted run of the same command stopped"
    parser.add_argument("--resume", action="store_true", help=text)
    text = (
        "with --resume: keep or remove the results of files that the input no longer has (default: refuse to go on "
        "where there are any)"
    )
    parser.add_argument("--withdrawn", choices=("keep", "remove"), help=text)


def _input(text: str) -> Path | RemoteNotes:
    try:
        return RemoteNotes(text) if is_url(text) else file_path(text)
    except UsageError as problem:
        raise argparse.ArgumentTypeError(str(problem)) from None  # Else the message has all of the URL.


def _add_columns(parser: argparse.ArgumentParser) -> None:
    text = "column (in JSON Lines: key) with the text of the note (default: text)"
    parser.add_argument("--text-column", default="text", metavar="NAME", help=text)
    text = "column with the note's id (default: the note is called FILE:ROW)"
    parser.add_argument("--id-column", metavar="NAME", help=text)
    text = (
        "column with the note's patient (default: the first-level subfolder; else each note has a patient of its own)"
    )
    parser.add_argument("--patient-column", metavar="NAME", help=text)


def columns_of(options: argparse.Namespace) -> Columns:
    """The columns that the options name."""
    longest = options.longest_note or None
    columns = Columns(options.text_column, options.id_column, options.patient_column, longest=longest)
    return given_options.add_known(columns, options)


def redaction(
    options: argparse.Namespace, *, secret: bytes | None = None, concepts: bool = False, **more: Any
) -> Redaction:
    """The work that the common options ask for.

    Args:
        options: the command's.
        secret: what surrogates are derived from.
        concepts: whether concepts are looked for too.
        more: what else the policy says.

    Raises:
        UsageError: the options cannot be.
        DataError: a file that they name cannot be read.
    """
    from crfdeid.cli.progress import training_bar  # noqa: PLC0415
    from crfdeid.description import is_private  # noqa: PLC0415
    from crfdeid.model_card.builtin import find_model  # noqa: PLC0415

    policy = Policy(
        sensitivity=options.sensitivity,
        consistent=not options.no_consistency,
        accept_damaged=options.accept_damaged,
        site=given_options.site_of(options),
        **more,
    )
    with training_bar("training") as step:
        folder = find_model(options.model, on_progress=step)
    key = vocabulary_key(read_secret(options.key_file)) if is_private(folder) else None
    return Redaction(folder, policy, key=key, secret=secret, concepts=concepts)


def tagger_of(model: str, key_file: Path | None) -> Tagger:
    """The tagger of a model that an option names, without its threshold and lists: for its probabilities.

    Args:
        model: its folder, or "synthetic".
        key_file: the file with the secret of its private vocabulary; None for the environment variable.

    Raises:
        DataError: there is no such model, or a damaged one.
        UsageError: its vocabulary is private and there is no secret.
    """
    from crfdeid.cli.progress import training_bar  # noqa: PLC0415
    from crfdeid.description import is_private  # noqa: PLC0415
    from crfdeid.model_card.builtin import find_model  # noqa: PLC0415
    from crfdeid.models import load_tagger  # noqa: PLC0415

    with training_bar("training") as step:
        folder = find_model(model, on_progress=step)
    key = vocabulary_key(read_secret(key_file)) if is_private(folder) else None
    return load_tagger(folder, key=key)


def secret_of(options: argparse.Namespace, *, needed: bool) -> bytes | None:
    """The secret, where something needs it, or where there is one for the audit; else None.

    Raises:
        UsageError: there is none, or it is too short, or nothing needs the one that is named.
        DataError: it cannot be read.
    """
    there = options.secret_file is not None or bool(os.environ.get(VARIABLE))
    needed = needed or options.rename_files
    if not needed and options.audit is None:
        if options.secret_file is not None:
            raise UsageError(
                "--secret-file is for surrogates, --hash-columns, --rename-files and --audit: leave it out"
            )
        return None
    return read_secret(options.secret_file) if needed or there else None


def common_settings(options: argparse.Namespace, work: Redaction, secret: bytes | None) -> dict[str, Any]:
    """The settings of both commands that results depend on: --resume goes on with the same ones only."""
    from importlib.metadata import version  # noqa: PLC0415

    from crfdeid.model_card.card import model_digest  # noqa: PLC0415

    return {
        "crfdeid": version("crfdeid"),
        "secret": None if secret is None else secret_digits(secret),
        "model": model_digest(work.model),
        **work.policy.settings(),
        "rename_files": options.rename_files,
        "text_column": options.text_column,
        "id_column": options.id_column,
        "patient_column": options.patient_column,
        "longest_note": options.longest_note,
    }

"""Options that several commands share, and the objects that they describe."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crfdeid.cli.shell import file_path, whole_number
from crfdeid.corpora import CORPUS_FORMATS
from crfdeid.corpora.layers import IGNORED_CONCEPT_TYPES, ConceptPaths
from crfdeid.errors import UsageError
from crfdeid.io.records import LONGEST_NOTE, Columns
from crfdeid.io.remote import RemoteNotes, is_url
from crfdeid.io.sources import NOTE_FORMATS
from crfdeid.io.worker import NoteTask
from crfdeid.known_phi.lists import CustomLists, read_lists
from crfdeid.known_phi.patients import read_columns, read_patient_table
from crfdeid.label_schemes import TYPE_MAPPINGS
from crfdeid.redaction.policy import Policy
from crfdeid.secrets import SECRET_VARIABLE, read_secret, secret_fingerprint, vocabulary_key
from crfdeid.validation import MOST_SEED

if TYPE_CHECKING:
    from crfdeid.corpora.splits import Split
    from crfdeid.tagger import Tagger


def add_corpus_options(parser: argparse.ArgumentParser, *, doing: str = "", each: str = "") -> None:
    """Add the format of annotated notes and the types of their PHI.

    Args:
        parser: of the command.
        doing: verb for the use of the types, such as "learn".
        each: the options whose formats may differ.
    """
    text = f"the notes' format (default: auto{each and f', for each of {each}'})"
    parser.add_argument("--format", choices=("auto", *CORPUS_FORMATS), default="auto", help=text)
    text = "all types of the notes, the seven of yadav2016, or one type for all PHI (binary) (default: all)"
    parser.add_argument("--types", choices=TYPE_MAPPINGS, default="all", help=f"{doing} {text}".lstrip())


def add_seed(parser: argparse.ArgumentParser) -> None:
    """Add the seed of all random choices."""
    text = "random seed (default: 0)"
    parser.add_argument("--seed", type=whole_number(0, MOST_SEED), default=0, metavar="N", help=text)


def require_outside(out: Path, sources: Mapping[str, Path | None], *, option: str = "--out") -> None:
    """Refuse to write into a folder of notes, where the next run would read the output as notes.

    Args:
        out: path of the output.
        sources: paths of notes, by the options that name them; None for options without a value.
        option: the option that names ``out``.

    Raises:
        UsageError: the output is in one of the folders.
    """
    for name, source in sources.items():
        if source is not None and source.is_dir() and out.resolve().is_relative_to(source.resolve()):
            raise UsageError(f"{option}: {out} lies in the folder of {name}: name one outside, or results become data")


def read_notes(path: Path, options: argparse.Namespace) -> Split:
    """Read annotated notes with the format and types of the options of `add_corpus_options`.

    Raises:
        DataError: they cannot be read.
    """
    from crfdeid.corpora import read_corpus  # noqa: PLC0415
    from crfdeid.corpora.splits import Split  # noqa: PLC0415
    from crfdeid.label_schemes import map_types  # noqa: PLC0415

    return Split.of(map_types(read_corpus(path, format=options.format), options.types))


_NO_TYPES = "none"


def add_concept_options(parser: argparse._ActionsContainer) -> None:
    """Add ``--concepts`` and its companions; `concept_paths` reads them."""
    text = "the notes of --train with concepts marked instead of PHI, for models that learn both; docs/joint.md"
    parser.add_argument("--concepts", type=file_path, metavar="PATH", help=text)
    for split in ("dev", "test"):
        text = f"the notes of --{split} with concepts marked"
        parser.add_argument(f"--{split}-concepts", type=file_path, metavar="PATH", help=text)
    text = "the format of the concepts (default: auto, for each)"
    parser.add_argument("--concepts-format", choices=("auto", *CORPUS_FORMATS), help=text)
    add_ignored_types(parser)
    text = "the concepts are of other notes than the PHI: two corpora that share no text"
    parser.add_argument("--apart", action="store_true", help=text)


def add_ignored_types(parser: argparse._ActionsContainer) -> None:
    """Add ``--leave-out``, for commands with concepts of any kind; `ignored_types` reads it."""
    usual = ",".join(IGNORED_CONCEPT_TYPES)
    text = f"types of concepts, separated by commas, that count as none; '{_NO_TYPES}' for no type (default: {usual})"
    parser.add_argument("--leave-out", metavar="TYPES", help=text)


def ignored_types(options: argparse.Namespace) -> tuple[str, ...]:
    """Types of concepts to ignore."""
    if options.leave_out is None:
        return IGNORED_CONCEPT_TYPES
    return () if options.leave_out == _NO_TYPES else tuple(options.leave_out.split(","))


def _given_concept_options(options: argparse.Namespace) -> list[str]:
    """Options about concepts that have a value."""
    names = ("concepts", "dev_concepts", "test_concepts", "concepts_format", "leave_out", "apart")
    return [f"--{name.replace('_', '-')}" for name in names if getattr(options, name) not in (None, False)]


def concept_note_paths(options: argparse.Namespace) -> dict[str, Path | None]:
    """Paths of the notes with concepts, by the options that name them."""
    return {
        "--concepts": options.concepts,
        "--dev-concepts": options.dev_concepts,
        "--test-concepts": options.test_concepts,
    }


def concept_paths(options: argparse.Namespace) -> ConceptPaths | None:
    """Paths and settings of the concept annotations; None without ``--concepts``.

    Raises:
        UsageError: options about concepts without ``--concepts``.
    """
    if options.concepts is None:
        for name in _given_concept_options(options):
            raise UsageError(f"{name} goes with --concepts, the concepts of the training notes")
        return None
    return ConceptPaths(
        train=options.concepts,
        dev=options.dev_concepts,
        test=options.test_concepts,
        format=options.concepts_format or "auto",
        ignored_types=ignored_types(options),
        disjoint=options.apart,
    )


def _add_known_phi_options(parser: argparse.ArgumentParser) -> None:
    """Add options for known PHI."""
    text = "TOML file of a site's lists: what is always hidden, and never; in addition to the model's own"
    parser.add_argument("--site", type=file_path, metavar="FILE", help=text)
    text = (
        "columns with what is known of the note's patient, such as name,birth_date,mrn: it is hidden wherever it "
        "occurs in the note; with kinds (name, date, number, text) where names do not say it: name=patient,date=born"
    )
    parser.add_argument("--known", metavar="LIST", help=text)
    text = "CSV file with these columns, and a column 'patient' or 'file' that says whose line it is"
    parser.add_argument("--known-file", type=file_path, metavar="FILE", help=text)


def custom_lists(options: argparse.Namespace) -> CustomLists | None:
    """Read the allow and deny lists that the options name.

    Raises:
        DataError: they cannot be read, or are invalid.
    """
    return None if options.site is None else read_lists(options.site)


def _with_patient_columns(columns: Columns, options: argparse.Namespace) -> Columns:
    """Add the columns of the patient's record to the columns of a table.

    Raises:
        UsageError: the columns contradict each other.
        DataError: the side file cannot be read.
    """
    try:
        known = () if options.known is None else read_columns(options.known)
    except UsageError as problem:
        raise UsageError(f"--known: {problem}") from None
    if options.known_file is not None:
        try:
            return replace(columns, people=read_patient_table(options.known_file, known))
        except UsageError as problem:
            raise UsageError(f"--known-file without --known: {problem}") from None
    if columns.text in {column.name for column in known}:
        raise UsageError(f"--known: '{columns.text}' is the text of the notes")
    return replace(columns, known=known)


def known_phi_settings(columns: Columns) -> dict[str, Any]:
    """Settings of the known PHI that --resume compares."""
    people = columns.people
    return {
        "known": [list(column) for column in columns.known],
        "known_file": None if people is None else people.digest,
    }


STDIN = Path("-")


def add_note_options(parser: argparse.ArgumentParser) -> None:
    """Add options that `tag` and `redact` share."""
    text = (
        "the model's folder, or a built-in model, never validated on real notes: 'synthetic', trained on invented "
        "notes, or 'rules', which need no training (a folder of such a name: ./rules)"
    )
    parser.add_argument("--model", required=True, metavar="DIR", help=text)
    text = f"a file of notes ({', '.join(NOTE_FORMATS)}), a folder of them, or - for one note from standard input"
    parser.add_argument("--input", required=True, type=_input, metavar="PATH", help=text)
    text = "new folder for the results (with --input - there is none: the result goes to standard output)"
    parser.add_argument("--output", type=file_path, metavar="DIR", help=text)
    _add_columns(parser)
    _add_known_phi_options(parser)
    text = (
        "hide more: use the threshold that finds this share of the PHI tokens of the development notes, such as 0.997; "
        "the model's card says what it costs (default: the most probable tags)"
    )
    parser.add_argument("--sensitivity", type=float, metavar="SHARE", help=text)
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
    text = "column with the note's patient (default: the first-level subfolder; else each note has its own patient)"
    parser.add_argument("--patient-column", metavar="NAME", help=text)


def note_columns(options: argparse.Namespace) -> Columns:
    """Columns of tables, from the options."""
    longest = options.longest_note or None
    columns = Columns(options.text_column, options.id_column, options.patient_column, longest=longest)
    return _with_patient_columns(columns, options)


def note_task(
    options: argparse.Namespace, *, secret: bytes | None = None, concepts: bool = False, **more: Any
) -> NoteTask:
    """The work on each note, from the common options.

    Args:
        options: the command's.
        secret: the secret of surrogates.
        concepts: also find concepts.
        more: further settings of the policy.

    Raises:
        UsageError: the options contradict each other.
        DataError: a file that they name cannot be read.
    """
    from crfdeid.cli.shell import training_bar  # noqa: PLC0415
    from crfdeid.model_card.pretrained import find_model  # noqa: PLC0415
    from crfdeid.serialization import has_private_vocabulary  # noqa: PLC0415

    policy = Policy(
        sensitivity=options.sensitivity,
        consistent=not options.no_consistency,
        accept_damaged=options.accept_damaged,
        site=custom_lists(options),
        **more,
    )
    with training_bar("training") as step:
        folder = find_model(options.model, on_progress=step)
    key = vocabulary_key(read_secret(options.key_file)) if has_private_vocabulary(folder) else None
    evidence = options.audit is not None
    return NoteTask(folder, policy, key=key, secret=secret, concepts=concepts, evidence=evidence)


def load_named_tagger(model: str, key_file: Path | None) -> Tagger:
    """Load the tagger of a model, without its threshold and lists, for its probabilities.

    Args:
        model: its folder, or the name of a built-in model.
        key_file: the file with the secret of its private vocabulary; None for the environment variable.

    Raises:
        DataError: there is no such model, or it is damaged.
        UsageError: its vocabulary is private, and there is no secret.
    """
    from crfdeid.cli.shell import training_bar  # noqa: PLC0415
    from crfdeid.model_card.pretrained import find_model  # noqa: PLC0415
    from crfdeid.registry import load_tagger  # noqa: PLC0415
    from crfdeid.serialization import has_private_vocabulary  # noqa: PLC0415

    with training_bar("training") as step:
        folder = find_model(model, on_progress=step)
    key = vocabulary_key(read_secret(key_file)) if has_private_vocabulary(folder) else None
    return load_tagger(folder, key=key)


def run_secret(options: argparse.Namespace, *, needed: bool) -> bytes | None:
    """The secret, if an option needs it or the audit can use it; else None.

    Raises:
        UsageError: there is none, it is too short, or no option needs the one of --secret-file.
        DataError: it cannot be read.
    """
    there = options.secret_file is not None or bool(os.environ.get(SECRET_VARIABLE))
    needed = needed or options.rename_files
    if not needed and options.audit is None:
        if options.secret_file is not None:
            raise UsageError(
                "--secret-file is for surrogates, --hash-columns, --rename-files and --audit: leave it out"
            )
        return None
    return read_secret(options.secret_file) if needed or there else None


def common_settings(options: argparse.Namespace, work: NoteTask, secret: bytes | None) -> dict[str, Any]:
    """Settings that affect the results of `tag` and `redact`; --resume requires the same ones."""
    from importlib.metadata import version  # noqa: PLC0415

    from crfdeid.model_card.card import model_digest  # noqa: PLC0415

    return {
        "crfdeid": version("crfdeid"),
        "secret": None if secret is None else secret_fingerprint(secret),
        "model": model_digest(work.model),
        **work.policy.settings(),
        "rename_files": options.rename_files,
        "text_column": options.text_column,
        "id_column": options.id_column,
        "patient_column": options.patient_column,
        "longest_note": options.longest_note,
    }

"""Options that several commands share, and the objects that they describe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from crfdeid.cli.shell import (
    TABLES,
    Argument,
    Mode,
    Option,
    choice,
    file_path,
    flag,
    fraction,
    setting,
    share_between,
    whole_number,
)
from crfdeid.errors import UnknownNameError, UsageError
from crfdeid.markup import MARKUP_CHOICES, STRUCTURED_CHOICES
from crfdeid.secrets import SECRET_VARIABLE, KeyFiles, Keys, has_secret, read_vocabulary_key
from crfdeid.validation import MOST_JOBS, MOST_PROBABLE, MOST_SEED

if TYPE_CHECKING:
    from crfdeid.io.records import Columns
    from crfdeid.known_phi.lists import CustomLists
    from crfdeid.pipeline import Deidentifier
    from crfdeid.redaction.policy import Operators
    from crfdeid.redaction.redactor import Redactor
    from crfdeid.serialization import ModelFolder
    from crfdeid.tagger import Tagger

STDIN = Path("-")
MODEL = Argument(
    "model",
    help="Folder of a model, or a built-in one, never validated on real notes: english, spanish, synthetic or rules.",
)
SEED = Option("--seed", whole_number(0, MOST_SEED), default=0, help="Random seed.")
OUTPUT = Option("--output", file_path, required=True, metavar="PATH", help="New file or folder for the result.")
LIMIT = Option("--limit", whole_number(1), help="Number of notes, the first of all; default: all.")
JSON = flag("--json", help="Print one JSON object and nothing else.")
SET = Option("--set", setting, multiple=True, help="Setting that differs from the profile's.")

# Use of a model.
SENSITIVITY = Option(
    "--sensitivity",
    lambda text: MOST_PROBABLE if text == MOST_PROBABLE else fraction(text),
    metavar="FRACTION",
    help="Sensitivity on the development notes that the threshold reaches, such as 0.997; none: no threshold; default: "
    "the model's.",
)
MAX_LEAK_RATE = Option(
    "--max-leak-rate",
    share_between,
    metavar="SHARE",
    help="Share of notes that leak at most, such as 0.05, as crfdeid calibrate proved it; default: none.",
)
LISTS = Option("--lists", file_path, help="TOML file: values always hidden and never, of a site.")
NO_CONSISTENCY = flag("--no-consistency", rare=True, help="Mark a value only where the model finds it.")
ALLOW_MOJIBAKE = flag(
    "--allow-mojibake", rare=True, help="Accept notes in mojibake (UTF-8 read as Latin-1, U+FFFD), which else fail."
)
MARKUP = choice(
    "--markup",
    MARKUP_CHOICES,
    default="auto",
    rare=True,
    help="Format of all notes: auto redacts HTML, RTF, HL7 v2, FHIR and C-CDA, and fails other markup; plain is prose. "
    "DOCX and PDF files are read as such.",
)
STRUCTURED = choice(
    "--structured",
    STRUCTURED_CHOICES,
    default="refuse",
    rare=True,
    help="Fields that name the patient and are no text, authors and own properties of DOCX, RTF and HTML, and pictures "
    "of DOCX: refuse the note, keep them, or blank them.",
)
KEY_FILE = Option(
    "--key-file",
    file_path,
    rare=True,
    help=f"File with the secret of a private vocabulary; default: {SECRET_VARIABLE}.",
)
SECRET_FILE = Option(
    "--secret-file",
    file_path,
    help=f"File with the secret of surrogates, hashes and new names; default: {SECRET_VARIABLE}.",
)
TRAINED = Option("--trained", metavar="MODEL", help="Model whose findings and uncertainty are shown; default: none.")
BLIND = flag("--blind", rare=True, help="Leave out the model's findings, for an unbiased test set.")

ENCRYPTION_KEY_FILE = Option("--encryption-key-file", file_path, help="File with the key of encrypted values.")

# Tables.
TEXT_COLUMN = Option("--text-column", section=TABLES, default="text", help="Column or key with the text of a note.")
ID_COLUMN = Option("--id-column", section=TABLES, help="Column or key with the id of a note; default: id, or the row.")


def operators_of(options: SimpleNamespace) -> Operators:
    """Operators of redaction; none replaces PHI by a secret in a command without the option."""
    from crfdeid.redaction.policy import parse_operators  # noqa: PLC0415

    operators, policy = parse_operators(getattr(options, "operator", ())), getattr(options, "policy", None)
    if policy is None:
        return operators
    from crfdeid.redaction.named_policies import named_operators  # noqa: PLC0415

    return named_operators(policy, operators)


def secret_needed(options: SimpleNamespace) -> bool:
    """True if results depend on the secret."""
    others = (getattr(options, name, None) for name in ("rename_files", "hash_columns"))
    return any(others) or operators_of(options).needs_secret


# Modes of the commands that process notes.
FILES = Mode("a file or folder of notes, not standard input", lambda options: options.notes != STDIN)
PIPED = Mode("standard input", lambda options: options.notes == STDIN)
LOCAL = Mode("work on this machine, without --spark", lambda options: getattr(options, "spark", None) is None)
SPARK = Mode("--spark", lambda options: options.spark is not None)
SECRET = Mode(
    "surrogates, hashes, --rename-files and --report", lambda options: secret_needed(options) or options.report
)
OWN_COLUMNS = Mode("tables without --table", lambda options: options.table is None)
RESUMED = Mode("--resume", lambda options: options.resume)


def path_or_url(text: str) -> Path | str:
    """A file or folder of this machine, or a URL without password and options as text, for Spark alone."""
    _, scheme, rest = text.partition("://")
    if not scheme:
        return file_path(text)
    if "?" in rest or ":" in rest.partition("/")[0].rpartition("@")[0]:
        raise UsageError("a URL without password and '?' is needed: credentials belong into Spark's settings")
    return text


def table_layout(text: str) -> str:
    """Name of a layout of tables."""
    from crfdeid.io.table_layouts import find_layout  # noqa: PLC0415

    find_layout(text)
    return text


# Options of `tag` and `redact`.
_of_tables = partial(Option, only=(FILES,), section=TABLES)
NOTE_OPTIONS = (
    MODEL,
    Argument(
        "notes",
        path_or_url,
        help="Notes: a file (text, HTML, RTF, DOCX, PDF, HL7, C-CDA, JSON Lines, CSV, Parquet; text also as .gz or "
        ".zst), a folder, or - for standard input.",
    ),
    OUTPUT.but(
        parse=path_or_url, required=False, only=(FILES,), help="New folder for the results; none for standard input."
    ),
    SENSITIVITY,
    MAX_LEAK_RATE,
    LISTS,
    TEXT_COLUMN.but(only=(FILES, OWN_COLUMNS)),
    SECRET_FILE.but(only=(SECRET,)),
    Option("--report", file_path, only=(FILES,), help="New JSON file for a report, note by note."),
    flag("--resume", only=(FILES, LOCAL), help="Continue where an interrupted run of the same command stopped."),
    Option(
        "--jobs",
        whole_number(1, MOST_JOBS),
        only=(FILES, LOCAL),
        default=1,
        help="Number of processes, each with the model in memory.",
    ),
    LIMIT.but(only=(FILES, LOCAL, Mode("a new run, without --resume", lambda options: not options.resume))),
    ID_COLUMN.but(only=(FILES, OWN_COLUMNS)),
    _of_tables(
        "--patient-column",
        only=(FILES, OWN_COLUMNS),
        help="Column with the patient of a note; default: the first subfolder, else a patient for each note.",
    ),
    _of_tables(
        "--table",
        table_layout,
        rare=True,
        metavar="NAME",
        help="Layout that sets the columns of text, id and patient: omop (table NOTE) or mimic.",
    ),
    _of_tables(
        "--markup-column",
        rare=True,
        help="Column with the format of a note, such as rtf or text/html; default: --markup.",
    ),
    _of_tables(
        "--record-columns",
        listed=True,
        metavar="NAMES",
        help="Columns with identifiers of the patient, hidden wherever they occur in the note, such as "
        "name,birth_date,mrn, or with their kind (name, date, number, text): date=born.",
    ),
    _of_tables("--record-file", file_path, help="CSV file with --record-columns, and a column 'patient' or 'file'."),
    NO_CONSISTENCY,
    MARKUP,
    ALLOW_MOJIBAKE,
    Option(
        "--max-chars",
        whole_number(0),
        rare=True,
        default=10_000_000,
        help="Largest number of characters of a note, which uses memory; 0 for no limit.",
    ),
    KEY_FILE,
    flag(
        "--rename-files",
        only=(FILES, LOCAL),
        rare=True,
        help="Name the results by hashes of the names, under the secret.",
    ),
    choice(
        "--withdrawn",
        ("keep", "remove"),
        only=(RESUMED,),
        rare=True,
        help="Treatment of results whose input is gone; default: stop at the first.",
    ),
)


def require_outside(output: Path, sources: Mapping[str, Path | None], *, option: str = "--output") -> None:
    """Refuse to write into a folder of notes, where the next run would read the output as notes.

    Args:
        output: path of the output.
        sources: paths of notes, by the arguments or options that name them; None for those without a value.
        option: the option that names the output.
    """
    for name, source in sources.items():
        if source is not None and source.is_dir() and output.resolve().is_relative_to(source.resolve()):
            raise UsageError(
                f"{option}: {output} lies in the folder of {name}: name one outside, or results become data"
            )


def require_new_folder(output: Path, sources: Mapping[str, Path | None]) -> None:
    """Refuse an output folder that is not empty, or lies in a folder of notes; arguments as of `require_outside`."""
    from crfdeid.utils.folders import require_new  # noqa: PLC0415

    require_outside(output, sources)
    require_new(output)


def require_new_file(output: Path, sources: Mapping[str, Path | None], *, suffix: str | None = None) -> None:
    """Refuse an output file that exists, lies in a folder of notes, or has another suffix than ``suffix``."""
    require_outside(output, sources)
    if output.exists() or output.is_symlink():
        raise UsageError(f"--output: {output} is there already: name a new file, nothing is overwritten")
    if suffix is not None and output.suffix.lower() != suffix:
        raise UsageError(f"--output: {output} would not be read again: let its name end in {suffix}")


def require_path(path: Path) -> Path:
    """Return a path that exists."""
    if not path.exists():
        raise UnknownNameError(f"no such file or folder: {path}")
    return path


def custom_lists(options: SimpleNamespace) -> CustomLists | None:
    """Read the allow and deny lists."""
    from crfdeid.known_phi.lists import read_lists  # noqa: PLC0415

    return None if options.lists is None else read_lists(options.lists)


def note_columns(options: SimpleNamespace, **fields: Any) -> Columns:
    """Columns of tables, with those of the patient's record, and further ``fields`` of `Columns`."""
    from crfdeid.io.records import Columns  # noqa: PLC0415
    from crfdeid.known_phi.patients import PatientFile, PatientTable, read_columns, read_patient_table  # noqa: PLC0415

    longest = options.max_chars or None
    names = (options.text_column, options.id_column, options.patient_column)
    if options.table is not None and isinstance(options.notes, Path) and getattr(options, "spark", None) is None:
        from crfdeid.io.table_layouts import columns_of_notes  # noqa: PLC0415

        names = columns_of_notes(options.table, options.notes)
    columns = Columns(
        *names,
        markup=options.markup_column,
        longest=longest,
        **fields,
    )
    known = () if options.record_columns is None else read_columns(options.record_columns)
    if options.record_file is not None:
        people: PatientTable | PatientFile = read_patient_table(options.record_file, known)
        if getattr(options, "spark", None) is not None:  # The workers read it themselves.
            people = PatientFile(options.record_file.resolve(), known, people.digest, people.key)
        return replace(columns, people=people)
    if columns.text in {column.name for column in known}:
        raise UsageError(f"--record-columns: '{columns.text}' is the text of the notes")
    return replace(columns, known=known)


def find_named(model: str) -> ModelFolder:
    """A model or a built-in model, which is trained where that is needed."""
    from crfdeid.cli.progress import training_bar  # noqa: PLC0415
    from crfdeid.model_card.pretrained import find_model  # noqa: PLC0415

    with training_bar("training") as step:
        return find_model(model, on_progress=step)


def read_key(folder: Path | ModelFolder, key_file: Path | None) -> bytes | None:
    """Key of a model's private vocabulary; None for words in the clear."""
    from crfdeid.serialization import has_private_vocabulary  # noqa: PLC0415

    if has_private_vocabulary(folder):
        return read_vocabulary_key(key_file)
    if key_file is not None:
        raise UsageError(f"--key-file is for a private vocabulary, and {folder} has none: leave it out")
    return None


def read_redactor(
    options: SimpleNamespace, folder: ModelFolder | None = None, *, keys: Keys | KeyFiles | None = None, **fields: Any
) -> Redactor:
    """Read the redactor of the options of a command that applies a model.

    Args:
        options: the command's.
        folder: the model; None for that of the options.
        keys: secret and encryption key, or the files from which other processes read theirs; None for neither.
        fields: further fields of the redactor.
    """
    from crfdeid.redaction.policy import Policy  # noqa: PLC0415
    from crfdeid.redaction.redactor import Redactor  # noqa: PLC0415

    policy = Policy(
        operators_of(options) if hasattr(options, "operator") else None,
        sensitivity=options.sensitivity,
        max_leak_rate=getattr(options, "max_leak_rate", None),
        consistent=not options.no_consistency,
        locale=getattr(options, "locale", None),
        date_order=getattr(options, "date_order", None),
        accept_damaged=getattr(options, "allow_mojibake", False),
        lists=custom_lists(options),
        markup=getattr(options, "markup", "auto"),
        structured=getattr(options, "structured", "refuse"),
        date_precision=getattr(options, "date_precision", None),
    )
    folder = folder or find_named(options.model)
    if not isinstance(keys, KeyFiles):
        keys = replace(keys or Keys(), vocabulary=read_key(folder, options.key_file))
    return Redactor(folder, policy, keys, **fields)


def load_model(options: SimpleNamespace, model: str, *, concepts: bool = False, evidence: bool = True) -> Deidentifier:
    """Load a model with the threshold and the lists of the options."""
    return read_redactor(options, find_named(model), concepts=concepts, evidence=evidence).load(members=True)


def load_trained(options: SimpleNamespace) -> Tagger | None:
    """Load the tagger of `TRAINED`, without threshold and lists; None without the option."""
    from crfdeid.registry import load_tagger  # noqa: PLC0415

    if options.trained is None:
        return None
    folder = find_named(options.trained)
    return load_tagger(folder, key=read_key(folder, options.key_file))


def run_keys(options: SimpleNamespace) -> Keys:
    """Read the secret, if an option needs it, or if the report can use it and there is one; and the encryption key."""
    reported = getattr(options, "report", None) is not None
    needed = secret_needed(options) or (reported and has_secret(options.secret_file))
    files = KeyFiles(options.secret_file, getattr(options, "encryption_key_file", None))
    return files.read(secret=needed, encryption=operators_of(options).needs_encryption_key)


def run_settings(options: SimpleNamespace, redactor: Redactor, keys: Keys) -> dict[str, Any]:
    """Settings that affect the results of `tag` and `redact`; --resume requires the same ones."""
    from importlib.metadata import version  # noqa: PLC0415

    from crfdeid.model_card.card import model_digest  # noqa: PLC0415

    tables = ("text_column", "id_column", "patient_column", "markup_column", "table")
    columns = redactor.columns
    return {
        "crfdeid": version("crfdeid"),
        "secret": None,
        **keys.fingerprints,
        "model": model_digest(redactor.folder),
        **redactor.policy.settings(),
        **{name: getattr(options, name) for name in ("rename_files", *tables, "max_chars", "limit")},
        "record_columns": [list(column) for column in columns.known],
        "record_file": None if columns.people is None else columns.people.digest,
    }

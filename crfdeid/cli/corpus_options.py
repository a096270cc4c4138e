"""Options of commands that read annotated notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

from crfdeid.cli.shell import Argument, Option, choice, file_path, names
from crfdeid.corpora import CORPUS_FORMATS, read_corpus
from crfdeid.corpora.layers import IGNORED_CONCEPT_TYPES
from crfdeid.errors import shorten_list
from crfdeid.label_schemes import TYPE_MAPPINGS, map_types
from crfdeid.registry import profile_name

if TYPE_CHECKING:
    from crfdeid.corpora.check import AnnotationIssue
    from crfdeid.documents import Document

FORMATS = ("auto", *CORPUS_FORMATS)
ANNOTATED = Argument("notes", file_path, help="Annotated notes, a file or a folder.")
_rare = partial(Option, rare=True)
FORMAT = choice(
    "--format",
    FORMATS,
    default="auto",
    metavar="FORMAT",
    help=f"Format of annotated notes: {', '.join(CORPUS_FORMATS)}.",
)
PATIENT_COLUMN = _rare(
    "--patient-column", help="Key of JSON notes with the patient; default: patient, else the first subfolder."
)
TYPES = choice(
    "--types",
    TYPE_MAPPINGS,
    default="all",
    help="Types of PHI: all of the notes, the seven of i2b2 2006, or one for all.",
)
DEV = Option("--dev", file_path, metavar="PATH", help="Annotated notes for development; default: a tenth of NOTES.")
TEST = Option("--test", file_path, metavar="PATH", help="Annotated notes for the scores in the card alone.")
PROFILE = _rare(
    "--profile", profile_name, default="default", metavar="NAME", help="Settings to start from: default, or a paper's."
)
IGNORE_TYPES = _rare(
    "--ignore-types", names, help=f"Concept types to ignore, or none; default: {','.join(IGNORED_CONCEPT_TYPES)}."
)


def read_annotated(path: Path, options: SimpleNamespace, *, patient_column: str | None = None) -> list[Document]:
    """Read annotated notes with the options `FORMAT` and `TYPES`, and the value of `PATIENT_COLUMN`."""
    return map_types(read_corpus(path, format=options.format, patient_column=patient_column), options.types)


def describe_check(issues: Iterable[AnnotationIssue]) -> Iterator[str]:
    """Yield a line for each issue with the annotations: the kind, the count, the names, and the first places."""
    from crfdeid.corpora.check import ISSUES  # noqa: PLC0415

    for issue in issues:
        names = f" ({shorten_list(issue.names)})" if issue.names else ""
        more = f"; and {issue.count - len(issue.places)} more" if issue.count > len(issue.places) else ""
        yield f"{ISSUES[issue.kind]}: {issue.count}{names}, at {'; '.join(issue.places)}{more}"


def ignored_types(names: tuple[str, ...] | None) -> tuple[str, ...]:
    """Concept types to ignore, from the value of `IGNORE_TYPES`."""
    if names is None:
        return IGNORED_CONCEPT_TYPES
    return () if names == ("none",) else names

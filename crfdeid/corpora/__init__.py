"""Corpora: one module per format, each with ``read``, ``looks_like`` and (where it can be written) ``to_files``.

    brat.py        .txt and .ann pairs                     i2b2_2006.py   one XML file, inline <PHI TYPE="...">
    i2b2_2014.py   one XML file per document, standoff    conll.py       columns: token first, tag last
    jsonl.py       one JSON object per line                asq_phi.py     ===QUERY=== blocks (read only)
    i2b2_2010.py   texts and .con files of concepts       label_studio.py, doccano.py, xmi.py   annotation tools
    tool_output.py spans of other tools, to be scored
    tab.py         Text Anonymization Benchmark
    common.py      helpers of the formats                 markup.py      helpers of the XML formats
    layers.py      PHI and concepts in one corpus, and regions excluded from scores
    splits.py      training, development and test parts   synthetic/     the built-in corpus
    partition.py   division by patient and equal text
    marked_text.py texts with spans, made of parts and templates
    check.py       check of annotations: unusual spans, overlaps, values marked in one document alone

Adding a format: its module, and its line in `CORPUS_FORMATS`, which says what commands write it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Protocol, cast

from crfdeid.corpora import (
    asq_phi,
    brat,
    conll,
    doccano,
    i2b2_2006,
    i2b2_2010,
    i2b2_2014,
    jsonl,
    label_studio,
    tab,
    xmi,
)
from crfdeid.corpora.common import find_files, is_placeholder, placeholder_error, require_characters
from crfdeid.documents import PHI, Document
from crfdeid.errors import (
    EmptyInputError,
    FormatError,
    MismatchError,
    OptionConflictError,
    OutputExistsError,
    UnknownNameError,
)
from crfdeid.known_phi.patients import folder_patient
from crfdeid.utils.files import write_files

__all__ = [
    "CORPUS_FORMATS",
    "CorpusFormat",
    "formats_where",
    "matching_formats",
    "read_corpus",
    "recognise",
    "write_corpus",
    "written_formats",
]


class FormatModule(Protocol):
    """Interface of a format's module; one with ``to_files(documents, path)``, too, can be written."""

    SUFFIXES: tuple[str, ...]
    """Endings of its files, in lower case; none for any."""

    def looks_like(self, file: Path) -> bool:
        """True for a file with one of the endings that looks like this format."""

    def read(self, path: Path) -> list[Document]:
        """The documents of a file or folder, in a fixed order."""


@dataclass(frozen=True)
class CorpusFormat:
    """A format of annotated notes.

    Args:
        module: its module.
        endings: of what is written for a note, or for a corpus, the file with the text first; none if it is only read.
        by_note: a file, or pair of files, holds one note, and names it.
        records: a file holds a JSON record for each note, which can name the patient.
        mixed: a folder may have other formats too: records name the notes, or with ``by_note`` files.
        tagged: `crfdeid tag` writes it.
        annotators: an annotation tool reads it, also without spans.
        layered: a note can have several annotation layers in it.
    """

    module: FormatModule
    endings: tuple[str, ...] = ()
    _: KW_ONLY
    by_note: bool = False
    records: bool = False
    mixed: bool = False
    tagged: bool = False
    annotators: bool = False
    layered: bool = False

    def to_files(self, documents: Sequence[Document], path: Path) -> dict[Path, str]:
        """The files of a corpus at a path, with their content."""
        return cast(_Writer, self.module).to_files(documents, path)


class _Writer(Protocol):
    def to_files(self, documents: Sequence[Document], path: Path) -> dict[Path, str]: ...


CORPUS_FORMATS = {
    "brat": CorpusFormat(brat, (".txt", ".ann"), by_note=True, mixed=True, tagged=True, annotators=True),
    "i2b2-2014": CorpusFormat(i2b2_2014, (".xml",), by_note=True, mixed=True, tagged=True),
    "i2b2-2006": CorpusFormat(i2b2_2006, (".xml",), mixed=True),
    "i2b2-2010": CorpusFormat(i2b2_2010, (".txt", ".con"), by_note=True),
    "conll": CorpusFormat(conll, (".conll",), tagged=True),
    "jsonl": CorpusFormat(jsonl, (".jsonl",), records=True, mixed=True, tagged=True, layered=True),
    "label-studio": CorpusFormat(label_studio, (".json",), records=True, mixed=True, tagged=True, annotators=True),
    "doccano": CorpusFormat(doccano, (".jsonl",), records=True, mixed=True, tagged=True, annotators=True),
    "xmi": CorpusFormat(xmi, (".xmi",), by_note=True, mixed=True, tagged=True, annotators=True),
    "asq-phi": CorpusFormat(asq_phi),
    "tab": CorpusFormat(tab, (".jsonl",), records=True, mixed=True),
}
"""Every format. Options, `recognise` and the writers of other commands read this table."""


def formats_where(holds: Callable[[CorpusFormat], object]) -> tuple[str, ...]:
    """Names of the formats of which something holds.

    Example:
        >>> formats_where(lambda format: not format.endings)
        ('asq-phi',)
    """
    return tuple(name for name, format in CORPUS_FORMATS.items() if holds(format))


def written_formats() -> tuple[str, ...]:
    """Names of the formats that can be written."""
    return formats_where(lambda format: format.endings)


def read_corpus(path: Path | str, *, format: str = "auto", patient_column: str | None = None) -> list[Document]:
    """Read the documents of a corpus, in a fixed order, with every character as in the file.

    Args:
        path: a file or a folder.
        format: a key of `CORPUS_FORMATS`, several joined by "+", or "auto" to recognise it. With several, each file is
            read in its own format, which must be clear.
        patient_column: key of JSON records with the patient; by default "patient", if a record has it, else the
            first-level subfolder names the patient of its documents.

    Returns:
        At least one document; ids are unique.

    Raises:
        UsageError: an unknown path or format, a format that cannot be recognised, or a column of a format without any.
        DataError: the data are empty or malformed, or no record has a patient in the column; the message names the file
            and the line or offset.

    Example:
        >>> from tempfile import mkdtemp
        >>> file = Path(mkdtemp()) / "notes.jsonl"
        >>> write_corpus([Document("1", "Seen by Dr. Doe")], file, format="jsonl")
        >>> read_corpus(file)[0].text
        'Seen by Dr. Doe'
    """
    path = Path(path)
    if not path.exists():
        raise UnknownNameError(f"no such file or folder: {path}")
    name = recognise(path) if format == "auto" else format
    several = name.split("+")
    if not CORPUS_FORMATS.keys() >= {*several}:
        raise UnknownNameError(f"unknown format '{name}': choose from auto, {', '.join(CORPUS_FORMATS)}")
    if patient_column is not None and not any(CORPUS_FORMATS[one].records for one in several):
        raise OptionConflictError(f"{name} has no column '{patient_column}': name patients by first-level subfolders")
    documents = _read(path, name, patient_column) if len(several) == 1 else _read_each(path, several, patient_column)
    if not documents:
        raise EmptyInputError(f"holds no {name} documents: check the path and the format", path=path)
    if patient_column is not None and not any(document.patient for document in documents):
        raise FormatError(f"no record has a patient under '{patient_column}': correct the name of the key", path=path)
    below = ("" if path == Path() else f"{path}{os.sep}") if path.is_dir() else None
    documents = [_with_patient(document, below) for document in documents]
    _require_unique_ids(documents)
    _require_labels(documents)
    return documents


class _RecordReader(Protocol):
    def read(self, path: Path, *, patient_column: str | None = None) -> list[Document]: ...


def _read(path: Path, name: str, patient_column: str | None) -> list[Document]:
    format = CORPUS_FORMATS[name]
    if format.records:
        return cast(_RecordReader, format.module).read(path, patient_column=patient_column)
    return format.module.read(path)


def _with_patient(document: Document, below: str | None) -> Document:
    """A document with the patient that its record names (`record_patient`), else its first-level subfolder.

    Args:
        document: the document.
        below: begin of each file's path in the corpus; None for a corpus of one file.
    """
    if document.patient is not None:
        return document if document.patient else replace(document, patient=None)
    if below is None:
        return document
    patient = folder_patient(document.source.removeprefix(below).replace(os.sep, "/"))
    return document if patient is None else replace(document, patient=patient)


def recognise(path: Path | str) -> str:
    """Name of the format of a file or folder, from its content; names joined by "+" for files of several formats.

    Raises:
        UnknownNameError: no such path, or no format fits.
        OptionConflictError: several formats fit a file.
        DataError: there is nothing in it.
    """
    path = Path(path)
    if not path.exists():
        raise UnknownNameError(f"no such file or folder: {path}")
    if not any(file.stat().st_size for file in find_files(path)):
        raise EmptyInputError("empty: there are no documents to read", path=path)
    names = matching_formats(path)
    if not names:
        raise UnknownNameError(
            f"{path} is in none of the known formats: name it with --format ({', '.join(CORPUS_FORMATS)})"
        )
    if len(names) > 1 and not _each_clear(path, names):
        raise OptionConflictError(
            f"{path} could be {' or '.join(names)}: choose one with --format, or name a subfolder"
        )
    return "+".join(names)


def matching_formats(path: Path) -> list[str]:
    """Names of the formats that a file, or some file of a folder, looks like."""
    return [name for name in CORPUS_FORMATS if any(_fits(name, file) for file in find_files(path, *_suffixes(name)))]


def _suffixes(name: str) -> tuple[str, ...]:
    return CORPUS_FORMATS[name].module.SUFFIXES


def _fits(name: str, file: Path) -> bool:
    suffixes = _suffixes(name)
    return (not suffixes or file.suffix.lower() in suffixes) and CORPUS_FORMATS[name].module.looks_like(file)


def _each_clear(path: Path, names: Sequence[str]) -> bool:
    """True if each file of a folder that one of the formats reads looks like one of them alone."""
    suffixes = {suffix for name in names for suffix in _suffixes(name)}
    formats = [CORPUS_FORMATS[name] for name in names]
    return (
        path.is_dir()
        and all(format.mixed for format in formats)
        and sum(format.by_note for format in formats) <= 1
        and all(sum(_fits(name, file) for name in names) == 1 for file in find_files(path, *suffixes))
    )


def _read_each(path: Path, names: Sequence[str], patient_column: str | None) -> list[Document]:
    """Read a folder with files of several formats, format by format.

    Raises:
        OptionConflictError: the format of a file is not clear.
        DataError: a file cannot be read, or a note is in files of two formats.
    """
    if not _each_clear(path, names):
        raise OptionConflictError(f"{path} has files that could be {' or '.join(names)}: name each format's subfolder")
    documents: list[Document] = []
    for name in names:
        texts = {document.text: document.source for document in documents}
        others = {suffix for other in names if other != name for suffix in _suffixes(other)}
        shared = not others.isdisjoint(_suffixes(name))
        files = [file for file in find_files(path, *_suffixes(name)) if _fits(name, file)] if shared else [path]
        read = [document for file in files for document in _read(file, name, patient_column)]
        for document in read:
            if document.text in texts:
                problem = f"the same text as {texts[document.text]}, in another format: leave one of them out"
                raise MismatchError(problem, path=document.source)
        documents += read
    return documents


def write_corpus(documents: Sequence[Document], path: Path | str, *, format: str) -> None:
    """Write documents, unless the format cannot hold one of them exactly.

    Args:
        documents: the documents, with unique ids.
        path: the folder (brat, i2b2-2014, i2b2-2010, xmi) or the file (the others) to write.
        format: one of `written_formats`.

    Raises:
        UsageError: the format is unknown or cannot be written.
        DataError: the format cannot hold a document; the message names it and the offset.
    """
    if format not in written_formats():
        raise UnknownNameError(f"cannot write the format '{format}': choose from {', '.join(written_formats())}")
    # A document from no file is reported by its number.
    documents = [replace(one, source=one.source or f"document {n}") for n, one in enumerate(documents, start=1)]
    _require_unique_ids(documents)
    for document in documents:
        require_characters(document)
        if not CORPUS_FORMATS[format].layered and document.annotated != (PHI,):
            problem = f"{format} holds one layer, and this document is annotated in {', '.join(document.annotated)}"
            raise FormatError(f"{problem}: write jsonl, or each layer as documents of its own", path=document.source)
    contents = CORPUS_FORMATS[format].to_files(documents, Path(path))
    if Path(path).is_dir() and Path(path) in contents:
        raise OutputExistsError(f"{path} is a folder: name a file: this format keeps a corpus in one file")
    write_files(contents)


def _require_labels(documents: Sequence[Document]) -> None:
    """Refuse types that would break a table or send a control sequence to the terminal, and placeholders of a type."""
    for document in documents:
        for span in (span for name in document.annotated for span in document.layer(name)):
            if not span.label.isprintable():
                problem = "a label holds a line end or control character: rename the type"
                raise FormatError(problem, path=document.source, offset=span.start)
            if is_placeholder(span.label):
                raise placeholder_error(span.label, path=document.source, offset=span.start)


def _require_unique_ids(documents: Sequence[Document]) -> None:
    seen: dict[str, str] = {}
    for document in documents:
        if document.id in seen:
            raise MismatchError(f"the same id as {seen[document.id]}: ids must be unique", path=document.source)
        seen[document.id] = document.source

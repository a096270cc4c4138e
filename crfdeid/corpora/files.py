"""What the formats share: which files a corpus has, and documents from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any

from crfdeid.documents import Document, Span, lone_surrogate
from crfdeid.errors import DataError, UsageError
from crfdeid.system.files import read_text, relative_name, require_file, write_files
from crfdeid.system.unique_keys import NOT_A_LINE, parse_json

# What lies beside the data in a published corpus.
_COMPANION_STEMS = {"readme", "license", "licence", "citation", "changelog"}


def find_files(path: Path, *suffixes: str) -> list[Path]:
    """The data files of a corpus, sorted: the path itself, or what a folder and its subfolders hold.

    Hidden files and folders (``.DS_Store``, ``._note.txt``, ``.git``) are no data.

    Args:
        path: a file or a folder.
        suffixes: the endings to take, such as ".xml"; none given means every file but a README, licence and the like.

    Raises:
        DataError: a folder cannot be read, or something in it is no file, such as a pipe or a link to nowhere: part of
            the corpus would be left out.
    """
    try:
        require_file(path)
        files = [path] if path.is_file() else sorted(_files_below(path))
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None
    if files == [path]:
        return files
    if suffixes:
        return [file for file in files if file.suffix.lower() in suffixes]
    return [file for file in files if file.stem.lower() not in _COMPANION_STEMS]


def _files_below(folder: Path) -> Iterator[Path]:
    for entry in folder.iterdir():
        if entry.name.startswith("."):
            continue
        if entry.is_file():
            yield entry
        elif entry.is_symlink():
            raise DataError(
                "a link that leads to no file: remove it, or put what it stands for in its place", path=entry
            )
        elif entry.is_dir():
            yield from _files_below(entry)
        else:
            require_file(entry)


def relative_stem(file: Path, root: Path) -> str:
    """`relative_name` without the suffix: the id of a document that has a file of its own."""
    return relative_name(file, root).removesuffix(file.suffix)


def json_lines(file: Path) -> Iterator[tuple[int, Any]]:
    """The number of each line of a file that is not empty, and the JSON value that it holds.

    Raises:
        DataError: a line is not JSON, or an object in it has a key twice.
    """
    # Not splitlines(): a JSON string may hold U+2028 and its like unescaped.
    for number, line in enumerate(read_text(file).split("\n"), start=1):
        if line.strip():
            yield number, parse_json(line, path=file, line=number, otherwise=NOT_A_LINE)


def build_document(
    document_id: str,
    text: str,
    spans: Sequence[Span] | None,
    *,
    path: Path | str,
    line: int | None = None,
    layers: Mapping[str, Sequence[Span]] = MappingProxyType({}),
) -> Document:
    """A document whose errors name the file it comes from, and its line there.

    Args:
        document_id: its id.
        text: its text.
        spans: its PHI; None where nobody annotated any.
        path: the file.
        line: its line there.
        layers: further annotation layers.

    Raises:
        DataError: a span is empty or reaches outside the text.
    """
    place = str(path) if line is None else f"{path}, line {line}"
    further = {name: tuple(found) for name, found in layers.items()}
    try:
        return Document(
            document_id, text, tuple(spans or ()), layers=further, phi_annotated=spans is not None, place=place
        )
    except DataError as error:
        raise DataError(error.problem, path=path, line=line, offset=error.offset) from None


def require_characters(document: Document) -> None:
    """Refuse a lone surrogate, which fits no file.

    Raises:
        DataError: the text, the id or a label holds one.
    """
    labels = (span.label for spans in (document.spans, *document.layers.values()) for span in spans)
    for value in (document.text, document.id, *document.layers, *labels):
        offset = lone_surrogate(value)
        if offset is not None:
            problem = f"a lone surrogate ({value[offset]!r}), which is no Unicode character: remove or replace it"
            raise DataError(problem, path=document.place, offset=offset)


def document_file(folder: Path, document: Document, suffix: str) -> Path:
    """Where a document's file goes: its id below the folder, never outside it and never hidden.

    Raises:
        DataError: the id cannot be a file's name.
    """
    name = PurePosixPath(document.id)
    hidden = any(part.startswith(".") for part in name.parts)  # ".." among them
    plain = document.id == name.as_posix() and not name.is_absolute() and not hidden
    if not name.parts or not plain or "\\" in document.id or not document.id.isprintable():
        problem = "its id cannot be a file's name below a folder, in plain characters: rename the document"
        raise DataError(problem, path=document.place)
    return folder / f"{document.id}{suffix}"


def require_file_target(path: Path) -> None:
    """Refuse a folder where a format keeps a whole corpus in one file.

    Raises:
        UsageError: the path is a folder.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder: name a file to write to, for this format keeps a corpus in one file")


def write_lines(documents: Iterable[Document], path: Path, to_line: Callable[[Document], str]) -> None:
    """Write documents to one file, each as its line.

    Args:
        documents: what to write.
        path: the file.
        to_line: a document as its line, with the line's end.

    Raises:
        UsageError: the path is a folder.
    """
    require_file_target(path)
    write_files({path: "".join(map(to_line, documents))})

"""What the formats share: finding, reading and writing files without changing a character of them.

Nothing here translates line ends, so that CRLF survives, and nothing guesses an encoding: a file is UTF-8 or an error.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from crfdeid.documents import Document, Span
from crfdeid.errors import DataError, UsageError

# What lies beside the data in a published corpus.
_COMPANION_STEMS = {"readme", "license", "licence", "citation", "changelog"}
_HEAD_BYTES = 16384
TEMPORARY = ".writing-"  # how the name of a file begins that is not whole yet


def find_files(path: Path, *suffixes: str) -> list[Path]:
    """The data files of a corpus, sorted: the path itself, or what a folder and its subfolders hold.

    Hidden files and folders (``.DS_Store``, ``._note.txt``, ``.git``) are no data.

    Args:
        path: a file or a folder.
        suffixes: the endings to take, such as ".xml"; none given means every file but a README, licence and the like.

    Raises:
        DataError: a folder cannot be read, or a link in it leads to no file: part of the corpus would be left out.
    """
    try:
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


def relative_name(file: Path, root: Path) -> str:
    """A file's name below the corpus folder, with forward slashes; its bare name where it is the corpus.

    Raises:
        DataError: the name is not UTF-8, so that no results could name the document.
    """
    name = file.name if file == root else file.relative_to(root).as_posix()
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        raise DataError("a file name that is not UTF-8: rename the file", path=repr(str(file))) from None
    return name


def relative_stem(file: Path, root: Path) -> str:
    """`relative_name` without the suffix: the id of a document that has a file of its own."""
    return relative_name(file, root).removesuffix(file.suffix)


def read_text(path: Path, *, keep_mark: bool = False) -> str:
    """The characters of a UTF-8 file, line ends as they are.

    Args:
        path: the file.
        keep_mark: whether a byte-order mark at the beginning is part of the text (where offsets count it).

    Raises:
        DataError: the file cannot be read, or is not UTF-8.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(f"not UTF-8 at byte {error.start}: convert the file to UTF-8", path=path, line=line) from None
    return text if keep_mark else text.removeprefix("\ufeff")


def read_head(path: Path) -> str:
    """The beginning of a file, for recognising its format; what is not UTF-8 is replaced, not refused.

    Raises:
        DataError: the file cannot be read.
    """
    try:
        with path.open("rb") as stream:
            head = stream.read(_HEAD_BYTES)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None
    return head.decode("utf-8", errors="replace").removeprefix("\ufeff")


def build_document(
    document_id: str, text: str, spans: Sequence[Span], *, path: Path, line: int | None = None
) -> Document:
    """A document whose errors name the file it comes from.

    Raises:
        DataError: a span is empty or reaches outside the text.
    """
    try:
        return Document(document_id, text, tuple(spans))
    except DataError as error:
        raise DataError(error.problem, path=path, line=line, offset=error.offset) from None


def require_characters(document: Document, *, path: Path | None = None, line: int | None = None) -> None:
    """Refuse half of a surrogate pair: JSON and Python can spell it, but it is no character and fits no file.

    Raises:
        DataError: the text, the id or a label holds one.
    """
    for value in (document.text, document.id, *(span.label for span in document.spans)):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError as error:
            problem = f"a lone surrogate ({value[error.start]!r}), which is no Unicode character: remove or replace it"
            raise DataError(problem, path=path or repr(document.id), line=line, offset=error.start) from None


def document_file(folder: Path, document_id: str, suffix: str) -> Path:
    """Where a document's file goes: its id below the folder, never outside it and never hidden.

    Raises:
        DataError: the id cannot be a file's name.
    """
    name = PurePosixPath(document_id)
    hidden = any(part.startswith(".") for part in name.parts)  # ".." among them
    plain = document_id == name.as_posix() and not name.is_absolute() and not hidden
    if not name.parts or not plain or "\\" in document_id or not document_id.isprintable():
        raise DataError(f"the document id {document_id!r} cannot be a file's name: rename the document")
    return folder / f"{document_id}{suffix}"


def write_files(contents: Mapping[Path, str | bytes]) -> None:
    """Write files, each one whole or not at all, readable by their owner alone; folders are made as needed.

    Raises:
        DataError: a file cannot be written.
    """
    encoded = {path: part.encode("utf-8") if isinstance(part, str) else part for path, part in contents.items()}
    for path, content in encoded.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _write_atomically(path, content)
        except OSError as error:
            raise DataError(f"cannot be written: {error.strerror}", path=path) from None


def _write_atomically(path: Path, content: bytes) -> None:
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=TEMPORARY)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def require_file_target(path: Path) -> None:
    """Refuse a folder where a format keeps a whole corpus in one file.

    Raises:
        UsageError: the path is a folder.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder: name a file to write to, for this format keeps a corpus in one file")

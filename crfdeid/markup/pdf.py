"""PDF: the text that its pages show. Results are text alone, so that nothing else of the file can reach them.

The text of a file begins with its properties, such as its author, which results lack. A page with an image and without
text is refused: its text is unknown. The library is pypdf, pure Python with bounds on what a file can unpack.

Reference: ISO 32000-1 (PDF 1.7), sections 7 (syntax), 9 (text) and 14.3 (metadata).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from logging import CRITICAL, getLogger
from typing import TYPE_CHECKING, Any, BinaryIO

from crfdeid.errors import DataError, LimitError, MarkupError
from crfdeid.markup.blocks import BlockBuilder, MarkupText, Piece, Structured
from crfdeid.markup.properties import own_identifiers

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

_AFTER_NAME, _AFTER_VALUE = "\x1f", "\x1e"
_PROPERTY = re.compile(r"([^\x1e\x1f]*+)\x1f([^\x1e\x1f]*+)\x1e")
_PROPERTIES = re.compile(rf"(?:{_PROPERTY.pattern})*+")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f]")
_SHOWS = (b"Tj", b"TJ", b"'", b'"', b"Do", b"INLINE IMAGE")
"""Operators that show text or a picture."""
_BETWEEN_PAGES = "\n\f"
_MOST_PAGES, _MOST_CHARACTERS, _MOST_FORMS = 10_000, 20_000_000, 1_000
_BOUNDS: dict[str, Any] = {
    **dict.fromkeys(
        (f"{name}_maximum_output_length" for name in ("array_based_stream", "lzw", "run_length", "zlib")), 16_000_000
    ),
    "stream_parsing_work_maximum_count": 1_000_000,
    "xform_maximum_invocations_per_extraction": _MOST_FORMS,
}
"""Settings of pypdf: bytes of an unpacked stream, and parts of what a page draws."""
_DAMAGED = "a PDF file that is damaged, or beyond bounds of pypdf: export its text"


def read_pdf(source: str) -> MarkupText:
    """Read the text of a file: its author is a name to find, and its properties are dropped.

    Example:
        >>> found = read_pdf("Author\\x1fJane Quill\\x1eSeen by Dr. Marsh")
        >>> found.text, found.structured.identifiers
        ('Seen by Dr. Marsh', (('name', 'Jane Quill'),))
    """
    builder, head = BlockBuilder("pdf", source), _PROPERTIES.match(source)
    start = 0 if head is None else head.end()
    builder.drop(0, start)
    if start < len(source):
        builder.body.append(Piece(source[start:], start, len(source), str, exact=True))
    pairs = (own_identifiers(*found.groups()) for found in _PROPERTY.finditer(source, 0, start))
    builder.structured = Structured(identifiers=tuple(dict.fromkeys(pair for some in pairs for pair in some)))
    return builder.done()


def unpack(stream: BinaryIO) -> str:
    """Return the text of a file.

    Raises:
        MarkupError: pypdf is not installed; the file is encrypted or damaged; or a page has an image and no text.
        LimitError: it has too many pages or characters.
    """
    with _reading(stream) as reader:
        if reader.is_encrypted:
            raise MarkupError("a PDF file that is encrypted: save it without a password")
        head = "".join(f"{name}{_AFTER_NAME}{value}{_AFTER_VALUE}" for name, value in _properties(reader))
        if len(reader.pages) > _MOST_PAGES:
            raise LimitError("a PDF file of too many pages: split it")
        pages, length = list[str](), 0
        for number, page in enumerate(reader.pages, start=1):
            pages.append(_page_text(page, number))
            length += len(pages[-1])
            if length > _MOST_CHARACTERS:
                raise LimitError("a PDF file with too much text: split it")
        return head + _BETWEEN_PAGES.join(pages)


def pack(stream: BinaryIO, text: str, target: BinaryIO) -> None:
    """Write the redacted text of a file, in UTF-8.

    Args:
        stream: the file.
        text: the text of its pages.
        target: the file to write.
    """
    target.write(text.encode("utf-8"))


@contextmanager
def _reading(stream: BinaryIO) -> Iterator[PdfReader]:
    """Open a file with bounds, and without log messages, which can quote it."""
    try:
        from pypdf import PdfReader, apply_configuration  # noqa: PLC0415
    except ImportError:  # none, or an old one
        raise MarkupError("PDF needs pypdf 7: pip install 'crfdeid[documents]', or export its text") from None
    log = getLogger("pypdf")
    level = log.level
    log.setLevel(CRITICAL + 1)
    try:
        with apply_configuration(**_BOUNDS):
            yield PdfReader(stream)
    except (DataError, MemoryError):
        raise
    except Exception:  # Errors of any class: the library meets what a file holds unprepared.
        raise MarkupError(_DAMAGED) from None
    finally:
        log.setLevel(level)


def _properties(reader: PdfReader) -> Iterator[tuple[str, str]]:
    """Yield names and values of the document information."""
    for name, value in (reader.metadata or {}).items():
        yield _CONTROLS.sub(" ", str(name).removeprefix("/")), _CONTROLS.sub(" ", str(value))


def _page_text(page: PageObject, number: int) -> str:
    """The text of a page.

    Raises:
        MarkupError: it shows a picture, or letters of unknown meaning, and no text.
        LimitError: it draws too much.
    """
    counts: Counter[bytes] = Counter()

    def count(operator: bytes, *_: Any) -> None:
        counts[operator] += 1

    text = _CONTROLS.sub(" ", page.extract_text(visitor_operand_before=count))
    if counts[b"Do"] >= _MOST_FORMS:  # pypdf leaves out further ones.
        raise LimitError(f"page {number} of a PDF file draws too much: export its text")
    if not text.strip() and any(counts[operator] for operator in _SHOWS):
        raise MarkupError(f"page {number} of a PDF file has an image, or unknown letters, and no text: run OCR on it")
    return text

"""Helpers of the XML formats: safe parsing that keeps carriage returns, and text as XML can hold it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError

from crfdeid.corpora.common import document_file
from crfdeid.documents import Document
from crfdeid.errors import FormatError

# XML 1.0, section 2.2: characters that no document can hold, even escaped.
_NOT_A_CHARACTER = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_PIECE = re.compile(r"<!\[CDATA\[.*?\]\]>|<!--.*?-->|<[^>]*>|[^<]+", re.DOTALL)
_CDATA_RETURN = "]]>&#13;<![CDATA["


def parse_xml(source: str, path: Path) -> Element:
    """The root element of an XML document.

    Raises:
        DataError: it is not well-formed, or defines entities (as no corpus needs and an attack does).
    """
    # Only reading XML needs this library: networks train on a machine that lacks it.
    from defusedxml.common import DefusedXmlException  # noqa: PLC0415
    from defusedxml.ElementTree import fromstring  # noqa: PLC0415

    try:
        root: Element = fromstring(source)
    except ParseError as error:
        raise FormatError("not well-formed XML: repair or remove the file", path=path, line=error.position[0]) from None
    except DefusedXmlException:
        raise FormatError("defines XML entities, which are refused: remove them", path=path) from None
    return root


def keep_returns(source: str) -> str:
    """An XML document whose ``TEXT`` elements keep their carriage returns when it is parsed.

    An XML parser reads CRLF as LF (XML 1.0, section 2.11), so that a CRLF note would come back changed. Only a return
    that is written as a reference survives.
    """
    if "\r" not in source:
        return source
    pieces, inside = [], False
    for piece in _PIECE.findall(source):
        if piece.startswith(("<TEXT>", "<TEXT ", "</TEXT")):
            inside = piece[1] != "/"
        if inside and piece.startswith("<![CDATA["):
            pieces.append(piece.replace("\r", _CDATA_RETURN))
        elif inside and not piece.startswith("<"):
            pieces.append(piece.replace("\r", "&#13;"))
        else:
            pieces.append(piece)
    return "".join(pieces)


def cdata(text: str) -> str:
    """A text as CDATA sections that every parser reads back exactly."""
    return "<![CDATA[" + text.replace("]]>", "]]]]><![CDATA[>").replace("\r", _CDATA_RETURN) + "]]>"


def require_xml_characters(document: Document) -> None:
    """Refuse what XML 1.0 cannot hold in any form: control characters other than tab and line ends.

    Raises:
        DataError: the text, the id or a label holds one.
    """
    for value in (document.text, document.id, *(span.label for span in document.spans)):
        match = _NOT_A_CHARACTER.search(value)
        if match:
            raise FormatError(
                f"XML cannot hold the character U+{ord(match[0]):04X}: remove it, or write jsonl or brat",
                path=document.source,
                offset=match.start(),
            )


def xml_files(
    documents: Sequence[Document], folder: Path, suffix: str, to_xml: Callable[[Document], str]
) -> dict[Path, str]:
    """A file in a folder for each document.

    Args:
        documents: the documents.
        folder: for the files.
        suffix: of the files' names.
        to_xml: a document as its file.

    Raises:
        DataError: an id cannot be a file's name, or a text holds a control character.
    """
    for document in documents:
        require_xml_characters(document)
    return {document_file(folder, document, suffix): to_xml(document) for document in documents}

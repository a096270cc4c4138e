"""i2b2 2006 XML: one file, a ``RECORD`` for each document, PHI marked inline.

    <ROOT><RECORD ID="1"><TEXT>Seen by Dr. <PHI TYPE="DOCTOR">Doe</PHI>.</TEXT></RECORD></ROOT>

A document's text is the character data of ``TEXT`` without the markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree.ElementTree import Element
from xml.sax.saxutils import escape, quoteattr

from crfdeid.corpora.common import build_document, find_files
from crfdeid.corpora.markup import keep_returns, parse_xml, require_xml_characters
from crfdeid.documents import Document, Span
from crfdeid.errors import FormatError, SpanError
from crfdeid.utils.files import read_head, read_text

SUFFIXES: tuple[str, ...] = (".xml",)


def looks_like(file: Path) -> bool:
    """True for a file with ``RECORD`` elements."""
    return "<RECORD" in read_head(file)


def read(path: Path) -> list[Document]:
    """The records of a file, or of every ``.xml`` file of a folder, in order; their ids are the ``ID`` attributes.

    Raises:
        DataError: a file is malformed, or PHI is nested.
    """
    return [
        _document(record, f"{file}, record {number}")
        for file in find_files(path, *SUFFIXES)
        for number, record in enumerate(parse_xml(keep_returns(read_text(file)), file).iter("RECORD"), start=1)
    ]


def _document(record: Element, path: str) -> Document:
    document_id, text_element = record.get("ID"), record.find("TEXT")
    if document_id is None or text_element is None:
        raise FormatError("a RECORD without an ID or a TEXT element", path=path)
    pieces, spans, end = [text_element.text or ""], [], len(text_element.text or "")
    for phi in text_element:
        covered, label = phi.text or "", phi.get("TYPE")
        if phi.tag != "PHI" or len(phi) or not label:
            raise FormatError(
                "expected <PHI TYPE=...> with nothing nested in it, found other markup: correct it",
                path=path,
                offset=end,
            )
        spans.append(Span(end, end + len(covered), label))
        pieces += [covered, phi.tail or ""]
        end += len(covered) + len(phi.tail or "")
    return build_document(document_id, "".join(pieces), spans, path=path)


def to_files(documents: Sequence[Document], path: Path) -> dict[Path, str]:
    """One file of all documents.

    Raises:
        DataError: spans overlap, or a text holds a control character.
    """
    records = "".join(
        f"<RECORD ID={quoteattr(document.id)}><TEXT>{_marked(document)}</TEXT></RECORD>\n" for document in documents
    )
    return {path: f'<?xml version="1.0" encoding="UTF-8"?>\n<ROOT>\n{records}</ROOT>\n'}


def _marked(document: Document) -> str:
    require_xml_characters(document)
    pieces, done = [], 0
    for start, end, label in document.spans:
        if start < done:
            raise SpanError(
                "i2b2-2006 cannot hold overlapping spans: write brat, i2b2-2014 or jsonl",
                path=document.source,
                offset=start,
            )
        pieces.append(_escaped(document.text[done:start]))
        pieces.append(f"<PHI TYPE={quoteattr(label)}>{_escaped(document.text[start:end])}</PHI>")
        done = end
    return "".join([*pieces, _escaped(document.text[done:])])


def _escaped(text: str) -> str:
    return escape(text, {"\r": "&#13;"})

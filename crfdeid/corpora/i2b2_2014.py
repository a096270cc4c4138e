"""i2b2 2014 XML: one file per document, the text in CDATA, standoff tags with offsets and a copy of the covered text.

    <deIdi2b2><TEXT><![CDATA[...]]></TEXT>
    <TAGS><NAME id="P0" start="10" end="13" text="Doe" TYPE="DOCTOR" comment=""/></TAGS></deIdi2b2>

An element's name is its group, ``TYPE`` its type. Any root element will do: MEDDOCAN has <MEDDOCAN>.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree.ElementTree import Element
from xml.sax.saxutils import quoteattr

from crfdeid.corpora.common import build_document, find_files, relative_stem
from crfdeid.corpora.markup import cdata, keep_returns, parse_xml, xml_files
from crfdeid.documents import Document, Span
from crfdeid.errors import DataError, FormatError, SpanError
from crfdeid.label_schemes import TO_GROUP, types_in
from crfdeid.utils.files import read_head, read_text

SUFFIXES: tuple[str, ...] = (".xml",)
_STANDOFF = re.compile(r"<TEXT>\s*<!\[CDATA\[|<TAGS\b")
_OFFSET = re.compile(r"\d{1,18}", re.ASCII)
# An attribute's line ends and tabs are read as spaces unless they were escaped (XML 1.0, section 3.3.3).
_AS_ATTRIBUTE = str.maketrans("\r\n\t", "   ")

# A type of another scheme goes under OTHER.
_GROUP_OF = {label: TO_GROUP[label] for year in ("2006", "2014") for label in types_in(year)}


def looks_like(file: Path) -> bool:
    """True for a file with its text in CDATA or with standoff tags."""
    return _STANDOFF.search(read_head(file)) is not None


def read(path: Path) -> list[Document]:
    """The documents of a folder and its subfolders, one in each ``.xml`` file.

    Raises:
        DataError: a file is malformed, or the ``text`` of a tag is not the text at its offsets.
    """
    return [_document(file, relative_stem(file, path)) for file in find_files(path, *SUFFIXES)]


def _document(path: Path, document_id: str) -> Document:
    source = read_text(path)
    # Offsets may count a CRLF as two characters (as the file has it) or as one (as XML parsers give it). The text is
    # read as in the file unless the tags require the other form.
    with_returns = keep_returns(source)
    try:
        return _parsed(with_returns, path, document_id)
    except DataError:
        if with_returns == source:
            raise
        return _parsed(source, path, document_id)


def _parsed(source: str, path: Path, document_id: str) -> Document:
    root = parse_xml(source, path)
    text_element, tags = root.find("TEXT"), root.find("TAGS")
    if text_element is None or tags is None:
        raise FormatError("expected a TEXT and a TAGS element (an empty <TAGS/> says nothing is marked)", path=path)
    if len(text_element):
        raise FormatError("markup inside TEXT: expected plain text or CDATA (is it i2b2-2006?)", path=path)
    text = text_element.text or ""
    return build_document(document_id, text, [_span(tag, text, path) for tag in tags], path=path)


def _span(tag: Element, text: str, path: Path) -> Span:
    start, end, label = (tag.get(name, "") for name in ("start", "end", "TYPE"))
    if not (_OFFSET.fullmatch(start) and _OFFSET.fullmatch(end) and label):
        raise FormatError("a tag in TAGS without a TYPE, or whose start or end is no offset: correct it", path=path)
    span = Span(int(start), int(end), label)
    covered = tag.get("text")
    if covered is not None and text[span.start : span.end].translate(_AS_ATTRIBUTE) != covered.translate(_AS_ATTRIBUTE):
        raise SpanError(
            f"the text of a {label} tag is not the text at [{start}, {end}): offsets count Unicode characters of TEXT",
            path=path,
            offset=span.start,
        )
    return span


def to_files(documents: Sequence[Document], path: Path) -> dict[Path, str]:
    """An ``.xml`` file in a folder for each document.

    Raises:
        DataError: an id cannot be a file's name, or a text holds a control character.
    """
    return xml_files(documents, path, ".xml", _xml)


def _xml(document: Document) -> str:
    tags = "".join(_tag(document, number, span) for number, span in enumerate(document.spans))
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"<deIdi2b2>\n<TEXT>{cdata(document.text)}</TEXT>\n<TAGS>\n{tags}</TAGS>\n</deIdi2b2>\n"
    )


def _tag(document: Document, number: int, span: Span) -> str:
    covered, label = quoteattr(document.text[span.start : span.end]), quoteattr(span.label)
    return (
        f'<{_GROUP_OF.get(span.label, "OTHER")} id="P{number}" start="{span.start}" end="{span.end}" '
        f'text={covered} TYPE={label} comment=""/>\n'
    )

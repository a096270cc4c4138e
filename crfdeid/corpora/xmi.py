"""UIMA CAS XMI, as INCEpTION and WebAnno import and export it: one file a document, PHI in the layer "Named entity".

    <cas:Sofa xmi:id="1" sofaID="_InitialView" sofaString="Seen by Jane Roe." .../>
    <ner:NamedEntity xmi:id="2" sofa="1" begin="8" end="16" value="DOCTOR"/>

An entity's value is its type; one of a subtype such as ``ner:Person`` without a value has the subtype's name.
Offsets count UTF-16 code units, as UIMA's do, whose strings are Java's (issue 135 of dkpro-cassis). A document's id is
its file's name, or the name of a folder above it that equals the title in the document's metadata: INCEpTION's project
exports hold ``note.txt/webanno123export/anna.xmi`` (its issue 2065).
The metadata's documentId is a digest of the text; a file that still has one must have the exported text. INCEpTION
replaces it by the document's name, and cannot alter a text.
Tokens and other linguistic annotations are not read, so that reading a file needs no type system; INCEpTION makes
tokens and sentences where a file has none (its issue 2868). An annotation in any other layer is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from xml.etree.ElementTree import Element
from xml.sax.saxutils import quoteattr

from crfdeid.corpora.common import (
    DIGEST_KEY,
    Utf16,
    build_document,
    find_files,
    relative_stem,
    require_unaltered,
)
from crfdeid.corpora.markup import parse_xml, xml_files
from crfdeid.documents import Document, Span, text_digest
from crfdeid.errors import FormatError, located
from crfdeid.utils.files import read_head, read_text, relative_name

SUFFIXES: tuple[str, ...] = (".xmi",)
_OFFSET = re.compile(r"\d{1,9}", re.ASCII)
_DIGEST = f"{DIGEST_KEY}:"
_ID = "{http://www.omg.org/XMI}id"
_NAMESPACES = {
    "xmi": "http://www.omg.org/XMI",
    "cas": "http:///uima/cas.ecore",
    "metadata": "http:///de/tudarmstadt/ukp/dkpro/core/api/metadata/type.ecore",
    "ner": "http:///de/tudarmstadt/ukp/dkpro/core/api/ner/type.ecore",
}
_ENTITIES = f"{{{_NAMESPACES['ner']}}}"
_NAMED_ENTITY = "NamedEntity"
# Layers of other annotations than PHI; those that a tool makes by itself count as nothing unread.
_CORE = "{http:///de/tudarmstadt/ukp/dkpro/core/api/"
_AUTOMATIC = (f"{_CORE}segmentation/", f"{_CORE}metadata/", "{http:///org/dkpro/core/api/", "{http:///uima/cas.ecore}")
_LINGUISTIC = tuple(f"{_CORE}{name}/" for name in ("anomaly", "coref", "lexmorph", "semantics", "syntax", "transform"))
_DOCUMENT_ANNOTATION = "{http:///uima/tcas.ecore}DocumentAnnotation"
_HEAD = "".join(f' xmlns:{prefix}="{address}"' for prefix, address in _NAMESPACES.items())


def looks_like(file: Path) -> bool:
    """True for a file with markup."""
    return "<" in read_head(file)


def read(path: Path) -> list[Document]:
    """The documents of a folder and its subfolders, one in each ``.xmi`` file.

    Raises:
        DataError: a file is malformed, an entity has no value, or something is marked in another layer.
    """
    return [_document(file, path) for file in find_files(path, *SUFFIXES)]


def _document(path: Path, corpus: Path) -> Document:
    root = parse_xml(read_text(path), path)
    sofas = root.findall("cas:Sofa", _NAMESPACES)
    texts = [one for one in sofas if "sofaString" in one.attrib]
    if len(sofas) != 1 or len(texts) != 1:
        raise FormatError("expected a UIMA CAS in XMI with one text (one Sofa with a sofaString)", path=path)
    text, offsets = texts[0].attrib["sofaString"], Utf16(texts[0].attrib["sofaString"])
    entities = [element for element in root if element.tag.startswith(_ENTITIES)]
    spans = [_span(one, offsets, path, texts[0].get(_ID, "")) for one in entities]
    unread = [layer for element in root if (layer := _unread_layer(element, path))]
    described = root.findall("metadata:DocumentMetaData", _NAMESPACES)
    for one in described:
        before, mark, digest = one.get("documentId", "").partition(_DIGEST)
        if mark and not before:
            require_unaltered({DIGEST_KEY: digest}, text, path=path)
    titles = {one.get("documentTitle") for one in described}
    name = relative_stem(path, corpus)
    for folder in path.parents if corpus in path.parents else ():
        if folder == corpus:
            break
        if folder.name in titles:
            name = _stem(relative_name(folder, corpus))
    return build_document(name, text, spans, path=path, unread=unread)


def _unread_layer(element: Element, path: Path) -> str | None:
    """Name of the layer of an annotation that is neither PHI nor made by a tool by itself; None for others.

    Raises:
        DataError: it is in a layer that could hold PHI.
    """
    is_known = element.tag == _DOCUMENT_ANNOTATION or element.tag.startswith((_ENTITIES, *_AUTOMATIC))
    if is_known or "begin" not in element.attrib or "end" not in element.attrib:
        return None
    layer = element.tag.rpartition("}")[2]
    if element.tag.startswith(_LINGUISTIC):
        return layer
    raise FormatError(
        f"something is marked in the layer {layer}, which is not read: mark PHI in the layer Named entity", path=path
    )


def _span(entity: Element, offsets: Utf16, path: Path, sofa: str) -> Span:
    start, end = entity.get("begin", ""), entity.get("end", "")
    kind = entity.tag.removeprefix(_ENTITIES)  # a subtype, such as Person
    label = entity.get("value", "" if kind == _NAMED_ENTITY else kind)
    if entity.get("sofa") != sofa or not (_OFFSET.fullmatch(start) and _OFFSET.fullmatch(end)):
        raise FormatError("a named entity of another text, or whose begin or end is not an offset", path=path)
    if not label:
        raise FormatError(
            f"a named entity without a value at [{start}, {end}): choose a type for it in the tool", path=path
        )
    with located(path):
        return offsets.span(int(start), int(end), label)


def _stem(name: str) -> str:
    """A document's name in the tool, without the ending of the file that was imported."""
    return name.removesuffix(PurePosixPath(name).suffix) if name.endswith((".xmi", ".txt")) else name


def to_files(documents: Sequence[Document], path: Path) -> dict[Path, str]:
    """An ``.xmi`` file in a folder for each document.

    Raises:
        DataError: an id cannot be a file's name, or a text holds a control character.
    """
    return xml_files(documents, path, ".xmi", _xmi)


def _xmi(document: Document) -> str:
    offsets = Utf16(document.text)
    size = offsets.units(len(document.text))
    title, text = quoteattr(document.id), quoteattr(document.text)
    entities = (
        f'<ner:NamedEntity xmi:id="{number}" sofa="1" begin="{offsets.units(start)}" end="{offsets.units(end)}" '
        f"value={quoteattr(label)}/>\n"
        for number, (start, end, label) in enumerate(document.spans, start=3)
    )
    members = " ".join(str(number) for number in range(2, 3 + len(document.spans)))
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<xmi:XMI{_HEAD} xmi:version="2.0">\n<cas:NULL xmi:id="0"/>\n'
        f'<metadata:DocumentMetaData xmi:id="2" sofa="1" begin="0" end="{size}" language="x-unspecified" '
        f'documentTitle={title} documentId="{_DIGEST}{text_digest(document.text)}"/>\n'
        f"{''.join(entities)}"
        f'<cas:Sofa xmi:id="1" sofaNum="1" sofaID="_InitialView" mimeType="text" sofaString={text}/>\n'
        f'<cas:View sofa="1" members="{members}"/>\n</xmi:XMI>\n'
    )

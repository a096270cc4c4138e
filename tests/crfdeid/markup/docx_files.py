"""DOCX files of a few parts, made by hand."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

BODY = "word/document.xml"
PREFIXES = ("w", "w15", "v", "o", "a", "m", "mc", "wp", "pic", "c", "dgm", "cp", "dc", "dcterms", "vt")
DECLARED = " ".join(f'xmlns:{prefix}="urn:{prefix}"' for prefix in PREFIXES)
PARTS = {
    "[Content_Types].xml": '<Types><Default Extension="xml" ContentType="application/xml"/></Types>',
    "_rels/.rels": '<Relationships><Relationship Id="rId1" Type="http://x/officeDocument" Target="word/document.xml"/>'
    "</Relationships>",
    BODY: "<w:p><w:r><w:t>Na 140</w:t></w:r></w:p>",
}


def part(name: str, content: str) -> str:
    """A part with a root that declares all prefixes."""
    if not name.endswith((".xml", ".rels")):
        return content
    root = f"<w:document {DECLARED}><w:body>{content}</w:body></w:document>" if name == BODY else content
    if root is content and content.startswith("<"):
        head, _, rest = content.partition(">")
        slash = "/" * head.endswith("/")
        root = f"{head.removesuffix('/')} {DECLARED}{slash}>{rest}"
    return f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n{root}'


def docx(parts: Mapping[str, str]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in {**PARTS, **parts}.items():
            package.writestr(name, part(name, content))
    return stream.getvalue()


def members(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        return {name: package.read(name) for name in package.namelist()}

"""What goes out to an annotation tool with each note and must come back unaltered: its id, and a digest of its text."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crfdeid.documents import Document
from crfdeid.errors import DataError

NOTE, DIGEST = "note", "sha256"


def text_digest(text: str) -> str:
    """The SHA-256 of a text as UTF-8, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()


def identity(document: Document) -> dict[str, str]:
    """The id and the digest of a document, as keys that tools hand on."""
    return {NOTE: document.id, DIGEST: text_digest(document.text)}


def require_unaltered(record: Mapping[str, Any], text: str, *, path: Path, line: int | None = None) -> None:
    """Refuse a text that is not the one that went out, where it is known which did.

    Raises:
        DataError: it is another text.
    """
    if DIGEST in record and record[DIGEST] != text_digest(text):
        problem = "the text is not the one that was exported: the tool altered it, so that no offset can be trusted"
        raise DataError(problem, path=path, line=line)

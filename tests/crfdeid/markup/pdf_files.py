"""PDF files as their standard describes them, made by hand: no library that reads them has made them."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
IMAGE = (
    b"<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8 /Length 1 >>\n"
    b"stream\n0\nendstream"
)


def stream(content: bytes, head: str = "", *, zipped: bool = False) -> bytes:
    data = zlib.compress(content, 9) if zipped else content
    filter = "/Filter /FlateDecode" if zipped else ""
    return f"<< {head} {filter} /Length {len(data)} >>\nstream\n".encode() + data + b"\nendstream"


def shown(text: str, before: str = "") -> bytes:
    """Content of a page that shows a text."""
    return f"BT /F1 12 Tf {before} 72 700 Td ({text}) Tj ET".encode()


def pdf(
    pages: Sequence[bytes],
    objects: Mapping[int, bytes] | None = None,
    *,
    resources: str = "",
    catalog: str = "",
    page: str = "",
    trailer: str = "",
    zipped: bool = False,
) -> bytes:
    """A file with pages of some content.

    Args:
        pages: content of each page.
        objects: further objects, by their numbers from 50.
        resources: further resources of every page.
        catalog: further entries of the catalog.
        page: further entries of every page.
        trailer: further entries of the trailer.
        zipped: compress the pages.
    """
    numbers = range(10, 10 + 2 * len(pages), 2)
    kids = " ".join(f"{number} 0 R" for number in numbers)
    found = {
        1: f"<< /Type /Catalog /Pages 2 0 R {catalog} >>".encode(),
        2: f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        3: FONT,
    }
    for number, content in zip(numbers, pages, strict=True):
        box = f"/Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {number + 1} 0 R {page}"
        found[number] = f"<< {box} /Resources << /Font << /F1 3 0 R >> {resources} >> >>".encode()
        found[number + 1] = stream(content, zipped=zipped)
    found |= objects or {}
    written, places = bytearray(b"%PDF-1.7\n"), dict[int, int]()
    for number, content in found.items():
        places[number] = len(written)
        written += f"{number} 0 obj\n".encode() + content + b"\nendobj\n"
    start = len(written)
    written += f"xref\n0 1\n{0:010} 65535 f \n".encode()
    for number, at in sorted(places.items()):
        written += f"{number} 1\n{at:010} 00000 n \n".encode()
    size = max(places) + 1
    written += f"trailer\n<< /Size {size} /Root 1 0 R {trailer} >>\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(written)

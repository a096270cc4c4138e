"""The README's picture of a redacted note: python docs/images/before_after.py docs/images/before-after.svg."""

import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path

import crfdeid

NOTE = """\
Ms. Jane Quill, MRN 4822137, was admitted
to Tawn Medical Center on 03/14/2031 with
chest pain. History of Parkinson's disease.
Dr. Orla Marsh saw her on 3/15 and called
Mr. Quill at (617) 555-0134.
"""
COLOURS = {
    "PATIENT": "#ffd6cc",
    "DOCTOR": "#cfe8ff",
    "HOSPITAL": "#d9f2d0",
    "DATE": "#fff3bf",
    "ID": "#e5dbff",
    "PHONE": "#ffd8f0",
}
WIDTH, HEIGHT, LEFT, TOP, PANEL = 8.43, 24, 14, 58, 400


def panel(title: str, document: crfdeid.Document, x: int) -> list[str]:
    """A text in SVG with a coloured box behind each span."""
    parts = [f'<text x="{x}" y="26" class="title">{escape(title)}</text>']
    start = 0
    for number, line in enumerate(document.text.splitlines()):
        y = TOP + number * HEIGHT
        for span in document.spans:
            if start <= span.start < start + len(line):
                left, width = x + WIDTH * (span.start - start) - 2, WIDTH * (span.end - span.start) + 4
                box = f'x="{left:.1f}" y="{y - 16}" width="{width:.1f}" height="21" rx="4" fill="{COLOURS[span.label]}"'
                parts.append(f"<rect {box}/>")
        length = f'textLength="{WIDTH * len(line):.1f}"'
        parts.append(f'<text x="{x}" y="{y}" {length} xml:space="preserve">{escape(line)}</text>')
        start += len(line) + 1
    return parts


def labelled(note: crfdeid.Document) -> crfdeid.Document:
    """The note with labels in place of its spans, and the spans of these labels."""
    text, spans, end = "", [], 0
    for span in note.spans:
        text += note.text[end : span.start]
        spans.append(crfdeid.Span(len(text), len(text) + len(span.label) + 2, span.label))
        text += f"[{span.label}]"
        end = span.end
    assert text + note.text[end:] == crfdeid.redact(note).text
    return crfdeid.Document(note.id, text + note.text[end:], tuple(spans))


def main(arguments: Sequence[str]) -> None:
    """Write the picture of what the built-in model finds in the note."""
    note = crfdeid.load("synthetic").annotate(NOTE)
    parts = [*panel("Before", note, LEFT), *panel("After", labelled(note), LEFT + PANEL)]
    height = TOP + HEIGHT * len(NOTE.splitlines())
    style = "text{font:14px monospace;fill:#1f2328}.title{font:600 14px sans-serif;fill:#57606a}"
    size = f'width="{2 * PANEL}" height="{height}" viewBox="0 0 {2 * PANEL} {height}"'
    frame = f'<rect width="{2 * PANEL}" height="{height}" rx="8" fill="#ffffff" stroke="#d0d7de"/>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img"><style>{style}</style>{frame}'
    Path(arguments[0]).write_text("\n".join([head, *parts, "</svg>"]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

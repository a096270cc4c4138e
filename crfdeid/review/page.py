"""review.html: one self-contained page to read notes and mark what is wrong (templates/review.html, .css and .js)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from crfdeid.pages import render_page
from crfdeid.review.notes import PageNote

Unsure = Sequence[Sequence[tuple[int, int, float]]]


@dataclass(frozen=True, slots=True)
class Side:
    """What a page calls its two sides.

    Args:
        title: of the page.
        task: what a reviewer is to do, one sentence.
        both: the word for what is marked on both sides.
        first: ... on the side that is corrected alone.
        second: ... on the other side alone; "" where there is no other side.
    """

    title: str
    task: str
    both: str
    first: str
    second: str = ""


GOLD = Side(
    "Gold and predicted",
    "Mark what the gold annotation missed, and what it marks needlessly: the file you download is the corrected gold.",
    "found",
    "missed by the model",
    "found beyond gold",
)
ANNOTATORS = Side(
    "Two annotators",
    "Settle what they disagree on: the file you download is the first annotation with your corrections.",
    "both",
    "first alone",
    "second alone",
)
REDACTED = Side(
    "Redacted notes",
    "Each note as it was, with what was replaced marked in it. Mark PHI that was left, and what was hidden needlessly.",
    "replaced",
    "replaced",
)


def review_html(notes: Sequence[PageNote], side: Side, *, unsure: Unsure | None = None) -> str:
    """The page, which loads nothing and sends nothing.

    Args:
        notes: in the order in which they are to be read.
        side: what its two sides are called.
        unsure: for each note the tokens that a model is unsure of; None where no model was asked.
    """
    templates = files("crfdeid") / "review" / "templates"
    data = page_data(notes, side, unsure)
    kinds = sorted({span.label for note in notes for span in note.kept})
    return render_page(templates, "review", side=side, unsure=unsure is not None, kept=kinds, data=data)


def page_data(notes: Sequence[PageNote], side: Side, unsure: Unsure | None) -> dict[str, Any]:
    """What the page shows, as plain data; offsets are code points.

    Returns:
        "types", by name; "notes": {"id", "text", "sha256", "spans": [start, end, type, what stands there now] each,
        "others" and "kept": [start, end, type] each, "unsure": [start, end, probability] each}.
    """
    asked = unsure if unsure is not None else [[] for _ in notes]
    shown = [
        {
            "id": note.document.id,
            "text": note.document.text,
            "sha256": note.sha256,
            "spans": [[*span, by] for span, by in zip(note.document.spans, note.by or _nothing(note), strict=True)],
            "others": [list(span) for span in sorted(note.others)],
            "kept": [list(span) for span in note.kept],
            "unsure": [list(token) for token in tokens],
        }
        for note, tokens in zip(notes, asked, strict=True)
    ]
    types = {span.label for note in notes for span in (*note.document.spans, *note.others)}
    return {"types": sorted(types | {"PHI"}), "sided": bool(side.second), "notes": shown}


def _nothing(note: PageNote) -> list[None]:
    return [None] * len(note.document.spans)

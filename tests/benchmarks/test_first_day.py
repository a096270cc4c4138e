"""Strings left and needless words of the benchmark of the first day, against counts letter by letter."""

import re
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from crfdeid.documents import Document, Span

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from first_day import count_note

TEXT = "Ann Doe-Marsh, 40 (MRN 12 34), seen by É. Quill."


@st.composite
def spans(draw: st.DrawFn) -> list[Span]:
    ends = sorted(draw(st.sets(st.integers(0, len(TEXT)), max_size=8)))
    return [Span(start, end, "PATIENT") for start, end in zip(ends[::2], ends[1::2], strict=False)]


@given(spans(), spans(), spans())
def test_counts_are_those_of_single_letters(gold: list[Span], optional: list[Span], found: list[Span]) -> None:
    layers = {"optional": tuple(optional)} if optional else {}
    note = count_note(Document("1", TEXT, tuple(gold), layers=layers), found)

    def inside(place: int, some: list[Span]) -> bool:
        return any(span.start <= place < span.end for span in some)

    words = [range(*match.span()) for match in re.finditer(r"\w+", TEXT)]
    left = [
        span for span in gold if any(TEXT[i].isalnum() and not inside(i, found) for i in range(span.start, span.end))
    ]
    needless = [
        word
        for word in words
        if any(inside(i, found) for i in word) and not any(inside(i, [*gold, *optional]) for i in word)
    ]
    assert (note.words, note.needless, note.strings) == (len(words), len(needless), len(gold))
    assert list(note.left) == left

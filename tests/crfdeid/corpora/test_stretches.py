"""Stretches that annotators never saw: read from a table, and left out of scores."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.corpora.layers import exclude_regions, read_excluded_regions
from crfdeid.documents import Document, Span
from crfdeid.errors import DataError
from crfdeid.evaluation import score_entities

NOTES = [Document("1", "x" * 20), Document("2", "y" * 10)]


def table(folder: Path, content: str) -> Path:
    path = folder / "unsourced.tsv"
    path.write_text(content, "utf-8")
    return path


def test_stretches_are_read_by_document_whatever_else_the_table_holds(tmp_path: Path) -> None:
    path = table(
        tmp_path, "split\tdocument\tstart\tend\ttokens\ndev\t1\t8\t20\t3\ndev\t1\t0\t5\t1\ntest\t9\t0\t99\t1\n\n"
    )
    assert read_excluded_regions(path, NOTES) == {"1": [(0, 5), (8, 20)], "2": []}
    assert read_excluded_regions(table(tmp_path, "document\tstart\tend\r\n2\t0\t10\r\n"), NOTES)["2"] == [(0, 10)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "line 1: expected columns document, start, end"),
        ("document\tstart\n1\t0\n", "line 1: expected columns"),
        ("document start end\n1 0 5\n", "line 1: expected columns"),
        ("document\tstart\tend\n1\t0\n", "line 2: 2 columns .* 3"),
        ("document\tstart\tend\n1\t0\tx\n", "line 2: start and end are offsets"),
        ("document\tstart\tend\n1\t-1\t3\n", "line 2: start and end are offsets"),
        (
            "document\tstart\tend\n1\t0\t3\n1\t4\t21\n",
            r"line 3: the region \[4, 21\) .* 20",
        ),
        ("document\tstart\tend\n1\t3\t3\n", r"line 2: the region \[3, 3\)"),
        ("document\tstart\tend\n3\t0\t3\n", "no line is about any of these documents"),
    ],
)
def test_a_table_that_is_none_is_refused_with_its_line(content: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=rf"unsourced\.tsv(, |: ){message}"):
        read_excluded_regions(table(tmp_path, content), NOTES)


SPANS = st.lists(st.tuples(st.integers(0, 18), st.integers(1, 4)).map(lambda s: Span(s[0], min(sum(s), 20), "X")))


@given(gold=SPANS, found=SPANS, stretches=st.lists(st.tuples(st.integers(0, 15), st.integers(1, 9)), max_size=3))
def test_what_lies_wholly_within_a_stretch_counts_on_neither_side(
    gold: list[Span], found: list[Span], stretches: list[tuple[int, int]]
) -> None:
    places = [(start, min(start + length, 20)) for start, length in stretches]
    covered = [set(range(*place)) for place in places]
    seen = exclude_regions([Document("1", "x" * 20, tuple(gold))], {"1": found}, {"1": places})
    for before, after in ((gold, seen.gold[0].spans), (found, seen.predicted["1"])):
        inside = [span for span in before if any(set(range(span.start, span.end)) <= part for part in covered)]
        assert sorted([*after, *inside]) == sorted(before)
    assert score_entities(*seen).micro.tp + score_entities(*seen).micro.fn == len(seen.gold[0].spans)

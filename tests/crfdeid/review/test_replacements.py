"""What was replaced, from the two texts: put back, it gives the redacted text, and no word that stayed is in it."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid import Document, Span, redact
from crfdeid.corpora.synthetic import generate_notes
from crfdeid.errors import MismatchError
from crfdeid.review import alignment
from crfdeid.review.alignment import TextChange, find_replacements

texts = st.lists(st.sampled_from(["Dr", ".", " ", "Roe", "Ann", "\r\n", "é", "😀", "3", "/", "[", "]"])).map("".join)
KEPT, HIDDEN = ("seen", "by", "on", "and", "7", "Dr"), ("Roe", "Ann", "Zann", "3", "14")
gaps = st.sampled_from([" ", "  ", ", ", "\n", " / ", ".\r\n", "-", " ("])
spans_of_words = st.lists(st.tuples(st.sampled_from(HIDDEN), gaps), min_size=1, max_size=3)
parts = st.lists(st.one_of(st.sampled_from(KEPT), spans_of_words), max_size=12)


def put_back(text: str, found: list[TextChange]) -> str:
    for start, end, by in reversed(found):
        text = text[:start] + by + text[end:]
    return text


def words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+|\d+", text)


def left(text: str, found: list[TextChange]) -> list[str]:
    """The words of a text that no replacement touches."""
    taken = {place for start, end, _ in found for place in range(start, end)}
    matches = re.finditer(r"[^\W\d_]+|\d+", text)
    return [match[0] for match in matches if taken.isdisjoint(range(*match.span()))]


def most_in_common(first: list[str], second: list[str]) -> int:
    """Length of the longest common subsequence, by its definition."""

    @cache
    def most(i: int, j: int) -> int:
        if i == len(first) or j == len(second):
            return 0
        same = first[i] == second[j]
        return max(most(i + 1, j), most(i, j + 1), 1 + most(i + 1, j + 1) if same else 0)

    return most(0, 0)


@given(texts, texts)
def test_what_was_replaced_put_in_its_place_gives_the_redacted_text(before, after):
    found = find_replacements(before, after)
    assert put_back(before, found) == after
    assert all(one.start < one.end or one.by for one in found)
    assert all(one.end < other.start for one, other in pairwise(found))


@given(texts, texts)
def test_no_alignment_leaves_more_words(before, after):
    kept = left(before, find_replacements(before, after))
    assert len(kept) == most_in_common(words(before), words(after))


@given(parts, st.sampled_from(["label", "numbered", "mask", "remove"]), st.lists(gaps, min_size=12, max_size=12))
def test_each_word_of_a_replacement_lies_in_a_span_and_each_word_of_a_span_in_a_replacement(made, how, between):
    text, spans = "", []
    for part, gap in zip(made, between, strict=False):
        said = part if isinstance(part, str) else "".join(map("".join, part)).rstrip()
        if not isinstance(part, str):
            spans.append(Span(len(text), len(text) + len(said), "DOCTOR"))
        text += said + gap
    after = redact(Document("1", text, tuple(spans)), how).text
    found = find_replacements(text, after)
    assert put_back(text, found) == after
    assert left(text, found) == [part for part in made if isinstance(part, str)]


@pytest.mark.parametrize("how", ["label", "numbered", "mask", "remove"])
def test_all_that_was_hidden_in_a_note_is_found_and_nothing_else(how):
    for document in generate_notes(2, seed=5):
        after = redact(document, how).text
        found = find_replacements(document.text, after)
        assert put_back(document.text, found) == after
        covered = {place for one in found for place in range(one.start, one.end)}
        hidden = {place for start, end, _ in document.spans for place in range(start, end)}
        differing = [document.text[place] for place in covered ^ hidden]
        assert not any(map(str.isalnum, differing))


def test_a_long_text_is_cut_where_it_says_the_same(monkeypatch):
    document = next(iter(generate_notes(1, seed=5)))
    after = redact(document).text
    whole = find_replacements(document.text, after)
    monkeypatch.setattr(alignment, "_WHOLE", 1 << 12)
    assert find_replacements(document.text, after) == whole
    monkeypatch.setattr(alignment, "_MOST_CELLS", 1 << 12)
    with pytest.raises(MismatchError):
        find_replacements("a b " * 99, "c d " * 99)


def test_labels_tell_the_type():
    found = find_replacements("Seen by Roe and Ann on 3/14", "Seen by [DOCTOR-2] and *** on ")
    assert [(one.label, one.by) for one in found] == [("DOCTOR", "[DOCTOR-2]"), ("PHI", "***"), ("PHI", "")]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("Roe Roe", "[DOCTOR] Roe", [TextChange(0, 3, "[DOCTOR]")]),
        ("Roe and Roe", "Roe and [DOCTOR]", [TextChange(8, 11, "[DOCTOR]")]),
        ("Ann Roe, Zann", "[DOCTOR] Roe, [DOCTOR]", [TextChange(0, 3, "[DOCTOR]"), TextChange(9, 13, "[DOCTOR]")]),
        ("Roe came", "Roe [DOCTOR] came", [TextChange(4, 4, "[DOCTOR] ")]),  # a label next to a name that is left
        ("Roe2031", "[DOCTOR]2031", [TextChange(0, 3, "[DOCTOR]")]),
        ("Dr. ZannMRN 7", "Dr. [DOCTOR]MRN 7", [TextChange(4, 8, "[DOCTOR]")]),  # the next label, glued to a name
        ("MRNZann 7", "MRN[DOCTOR] 7", [TextChange(3, 7, "[DOCTOR]")]),
        ("Zann", "Za[DOCTOR]nn", [TextChange(2, 2, "[DOCTOR]")]),
        ("same", "same", []),
        ("", "new", [TextChange(0, 0, "new")]),
    ],
)
def test_a_name_that_was_left_is_seen(before, after, expected):
    assert find_replacements(before, after) == expected

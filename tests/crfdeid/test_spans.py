"""Merging, by each of the rules in use, against plain counting of characters; and the tokens of a span."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from crfdeid.documents import Document, Span, in_characters, merge, positions_in, tokens_of
from features.tokenizer import Token

SPANS = st.lists(
    st.builds(lambda a, n, label: Span(a, a + n, label), st.integers(0, 20), st.integers(1, 9), st.sampled_from("ABC")),
    max_size=8,
)


@given(SPANS)
def test_merged_spans_cover_the_same_characters_and_share_none(spans: list[Span]) -> None:
    result = merge(spans)
    covered = [i for span in result for i in range(span.start, span.end)]
    assert sorted(set(covered)) == covered == sorted({i for span in spans for i in range(span.start, span.end)})
    for span in result:
        inside = [other for other in spans if span.start <= other.start < span.end]
        longest = max(other.end - other.start for other in inside)
        assert span.label in {other.label for other in inside if other.end - other.start == longest}
    assert merge(result) == result
    # Two spans that only touch stay apart: each boundary between merged spans is one that no span crosses.
    assert all(not (other.start < span.start < other.end) for span in result for other in spans)


@given(SPANS, st.integers(0, 3))
def test_any_rule_decides_what_belongs_together(spans: list[Span], gap: int) -> None:
    """With the rule "at most so many characters between": no two that are left are so near, and no gap is wider."""
    result = merge(spans, joins=lambda whole, span: span.start - whole.end <= gap)
    assert all(after.start - before.end > gap for before, after in itertools.pairwise(result))
    marked = {i for span in spans for i in range(span.start, span.end)}
    for start, end, _ in result:
        assert {start, end - 1} <= marked
        holes = "".join("x" if i in marked else " " for i in range(start, end)).split("x")
        assert max(map(len, holes)) <= gap


def test_the_rule_sees_all_that_was_merged_and_the_label_all_parts() -> None:
    spans = [Span(0, 9, "ID"), Span(2, 4, "DATE"), Span(8, 12, "ID"), Span(20, 21, "DATE")]
    seen: list[tuple[Span, Span]] = []

    def joins(whole: Span, span: Span) -> bool:
        seen.append((whole, span))
        return span.start < whole.end

    merged = merge(reversed(spans), joins=joins, label=lambda parts: "+".join(part.label for part in parts))
    assert merged == [Span(0, 12, "ID+DATE+ID"), Span(20, 21, "DATE")]
    assert seen == [(Span(0, 9, "ID"), spans[1]), (Span(0, 9, "ID"), spans[2]), (Span(0, 12, "ID"), spans[3])]


@given(st.text(alphabet="ab 1.\n", max_size=30), st.data())
def test_a_span_holds_the_tokens_that_it_shares_a_character_with(text: str, data: st.DataObject) -> None:
    tokens = tokens_of(Document("1", text))
    start = data.draw(st.integers(0, len(text)))
    span = Span(start, data.draw(st.integers(start + 1, len(text) + 1)), "X")
    shared = [i for i, token in enumerate(tokens) if set(range(*span[:2])) & set(range(token.start, token.end))]
    assert list(positions_in(tokens, span)) == shared


def test_positions_become_characters() -> None:
    tokens = [Token("Dr", 4, 6), Token("Ann", 7, 10), Token("Doe", 12, 15)]
    assert in_characters(tokens, [Span(0, 1, "A"), Span(1, 3, "B")]) == [Span(4, 6, "A"), Span(7, 15, "B")]

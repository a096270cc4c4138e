"""The table of a note's tokens: the same as the tokens themselves."""

from hypothesis import given
from hypothesis import strategies as st

from crfdeid.consistency import TokenTable
from crfdeid.documents import Span, positions_in
from features.tokenizer import tokenize

TEXTS = st.text("aB1 .\n\u0301\u200b", max_size=40)


@given(TEXTS, st.integers(0, 40), st.lists(st.tuples(st.integers(0, 40), st.integers(1, 12)), max_size=5))
def test_it_says_what_the_tokens_say(text: str, cut: int, places: list[tuple[int, int]]) -> None:
    tokens = tokenize(text)
    table = TokenTable(tokens[:cut])
    table.add(tokens[cut:])
    spans = [Span(start, start + length, "ID") for start, length in places]
    assert len(table) == len(tokens)
    assert table.texts(range(len(tokens))) == tuple(token.text for token in tokens)
    assert [(int(start), table.end(i)) for i, start in enumerate(table.starts)] == [token[1:] for token in tokens]
    assert table.texts(range(len(tokens)), small=True) == tuple(token.text.lower() for token in tokens)
    assert [*table.where([word == "B" for word in table.words])] == [i for i, t in enumerate(tokens) if t.text == "B"]
    assert len(set(table.words)) == len(table.words)
    for found, span in zip(table.positions(spans), spans, strict=True):
        assert found == positions_in(tokens, span)

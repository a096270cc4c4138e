"""The rows of features against an oracle that puts the strings together one by one."""

from collections import Counter
from threading import Barrier, Thread

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.crf.feature_index import FeatureIndex, holdable
from features.columns import Column

WORDS = [f"word{n}" for n in range(300)]  # more than the table of one kind holds at first, several times over


def by_hand(rows: dict[str, int], sentences: list[tuple[int, list[Column]]]) -> np.ndarray:
    """How often each token has each feature: [N, F]."""
    table = np.zeros((sum(count for count, _ in sentences), len(rows)))
    start = 0
    for count, columns in sentences:
        for token in range(count):
            for heads, values in columns:
                for offset, head in enumerate(heads):
                    value = values[token + offset]
                    if value is not None and head + value in rows:
                        table[start + token, rows[head + value]] += 1
        start += count
    return table


@st.composite
def sentences(draw: st.DrawFn) -> list[tuple[int, list[Column]]]:
    kinds = [("w=",), ("-1:w=", "w=", "+1:w="), ("shape=",)]
    found = []
    for count in draw(st.lists(st.integers(0, 5), max_size=4)):
        columns: list[Column] = []
        for heads in draw(st.lists(st.sampled_from(kinds), max_size=4)):
            size = count + len(heads) - 1
            value = st.one_of(st.none(), st.sampled_from(WORDS[:12]))
            columns.append((heads, draw(st.lists(value, min_size=size, max_size=size))))
        found.append((count, columns))
    return found


KNOWN = {f"{head}{word}": row for row, (head, word) in enumerate((h, w) for h in ("w=", "+1:w=") for w in WORDS[:9])}


@given(sentences())
def test_each_token_has_the_features_that_its_strings_name(drawn: list[tuple[int, list[Column]]]) -> None:
    found = FeatureIndex(KNOWN, str).matrix(drawn)
    assert found.shape == (sum(count for count, _ in drawn), len(KNOWN))
    np.testing.assert_array_equal(found.toarray(), by_hand(KNOWN, drawn))


def test_a_table_that_grows_keeps_what_it_holds() -> None:
    rows = {f"w={word}": row for row, word in enumerate(WORDS)}
    index = FeatureIndex(rows, str)
    for order in (WORDS, WORDS[::-1]):
        np.testing.assert_array_equal(
            index.matrix([(300, [(("w=",), order)])]).indices, [rows[f"w={w}"] for w in order]
        )


def test_a_value_is_looked_up_once_until_too_many_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crfdeid.crf.feature_index._MOST_REMEMBERED", 4)
    asked: Counter[str] = Counter()

    def stored(name: str) -> str:
        asked[name] += 1
        return name

    index = FeatureIndex({"w=a": 0}, stored)
    index.matrix([(3, [(("w=",), list("abc"))])])  # with None, four are remembered: not too many
    index.matrix([(2, [(("w=",), list("ad"))])])
    assert asked == {"w=a": 1, "w=b": 1, "w=c": 1, "w=d": 1}
    index.matrix([(1, [(("w=",), ["a"])])])  # five were: all are forgotten
    assert asked["w=a"] == 2


def test_threads_that_meet_a_word_at_once_give_it_one_row() -> None:
    rows = {f"w={word}": row for row, word in enumerate(WORDS)}
    index, ready, found = FeatureIndex(rows, str), Barrier(4), []

    def look_up() -> None:
        ready.wait()
        for word in WORDS:
            found.append((word, int(index.matrix([(1, [(("w=",), [word])])]).indices[0])))

    threads = [Thread(target=look_up) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(found) == {(word, row) for row, word in enumerate(WORDS)}


@pytest.mark.parametrize(("text", "held"), [("a\0b", "a\\x00b"), ("a\ud800", "a\\ud800"), ("ñ", "ñ"), ("", "")])
def test_what_crfsuite_cannot_hold_is_escaped(text: str, held: str) -> None:
    assert holdable(text) == held

"""JSON and tables that say a thing twice: whatever else they hold, they are refused, with the line."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.errors import FormatError
from crfdeid.utils.json import REPEATED_KEY, parse_json, require_unique

PLANTED = "planted"
PLAIN = st.none() | st.booleans() | st.integers() | st.text()
KEYS = st.text().filter(lambda key: key != PLANTED)
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)
LAYOUTS = st.sampled_from([None, 0, 1, 4])


@given(VALUES, LAYOUTS)
def test_json_without_a_repeated_key_is_read_as_python_reads_it(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    assert parse_json(text, path="a.json") == json.loads(text)


@given(VALUES, VALUES, VALUES, LAYOUTS)
def test_a_key_twice_is_refused_on_its_line(before: Any, between: Any, after: Any, indent: int | None) -> None:
    """Quoted text and other objects around it may hold anything, braces, quotes and colons among it."""
    whole = {"a": before, "in": [{PLANTED: between, "b": between, "planted ": 1}], "after": after}
    text = json.dumps(whole, indent=indent).replace('"planted "', f'"{PLANTED}"'.replace("p", "\\u0070"))
    with pytest.raises(FormatError) as caught:
        parse_json(text, path="a.json")
    assert caught.value.problem == REPEATED_KEY
    assert caught.value.line == text[: text.rindex("\\u0070lanted")].count("\n") + 1


@given(VALUES)
def test_a_key_twice_is_refused_before_what_is_no_json(value: Any) -> None:
    text = f'{{"a": {json.dumps(value)}, "\\u0061": 1}}'
    with pytest.raises(FormatError) as repeated:
        parse_json(text, path="a.jsonl", line=7)
    assert (repeated.value.path, repeated.value.line) == ("a.jsonl", 7)
    with pytest.raises(FormatError) as caught:
        parse_json(text[:-1], path="a.jsonl", line=7)
    assert caught.value.line == 7


@given(st.lists(st.sampled_from(["", "a", "b", "c", "A"]), max_size=6))
def test_a_column_twice_is_refused_and_one_without_a_name_is_not(names: list[str]) -> None:
    named = [name for name in names if name]
    if len(set(named)) == len(named):
        require_unique(names, path="a.csv", line=1)
    else:
        with pytest.raises(FormatError) as caught:
            require_unique(names, path="a.csv", line=1)
        assert not [name for name in named if f"'{name}'" in str(caught.value)]

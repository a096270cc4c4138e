"""The shape of data that were read: what is gone or of another kind is named with its place."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

import pytest

from crfdeid.validation import shape_errors


class Inner(TypedDict):
    count: int
    share: NotRequired[float | None]


@pytest.mark.parametrize(
    ("value", "shape", "found"),
    [
        (3, int, []),
        (True, int, ["all of it is not a whole number"]),
        (3.0, int, ["all of it is not a whole number"]),
        (3, float, []),
        ("3", float | None, ["all of it is not a number or null"]),
        (None, float | None, []),
        ([{"x": "y"}], list[dict[str, str]], []),
        ([{"x": "y"}, {"x": 1}], list[dict[str, str]], ["1.x is not a text"]),
        ({"count": 1}, Inner, []),
        ({"count": 1, "share": None, "more": 1}, Inner, []),
        ({"share": "all"}, Inner, ["share is not a number or null", "count is missing"]),
        ({"a": {"count": None}}, dict[str, Inner], ["a.count is not a whole number"]),
        ({"a": 1}, dict[str, Any], []),
    ],
)
def test_what_is_wrong_is_named_with_its_place(value: Any, shape: Any, found: list[str]) -> None:
    assert list(shape_errors(value, shape)) == found

"""Settings that cannot work are refused with one line before anything is read or trained, whatever they are."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import pytest

from crfdeid.errors import SettingError
from crfdeid.registry import create, model_settings
from crfdeid.validation import shape_errors

ODD = ["abc", "", None, True, 0.5, -1, 2.0, math.nan, math.inf, -math.inf, 10**30, 10**400, [3], [[]], {"a": 1}]


def odd_settings() -> Iterator[tuple[str, str, Any]]:
    """Every setting of the models that need no JAX, with every odd value that is not of its own kind."""
    for model in ("crf", "rules", "hybrid", "ensemble"):
        found = model_settings(model, overrides={"members": ("crf", "rules")} if model == "ensemble" else None)
        for field in dataclasses.fields(found):
            usual = getattr(found, field.name)
            if field.name not in ("profile", "options"):
                yield from ((model, field.name, value) for value in ODD if type(value) is not type(usual))


@pytest.mark.parametrize(("model", "name", "value"), list(odd_settings()))
def test_a_value_of_another_kind_is_refused(model: str, name: str, value: Any) -> None:
    if name in ("c1", "c2", "min_weight", "miss_cost") and value == 10**30:  # a whole number is a number
        create(model, overrides={name: value})
        return
    with pytest.raises(SettingError):
        create(model, overrides={name: value})


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("c1", "abc", "c1 is abc: give a number of 0 or more"),
        ("c2", -0.1, "c2 is -0.1: give a number of 0 or more"),
        ("c2", math.nan, "c2 is nan: give a number of 0 or more"),
        ("max_iterations", 0, "max_iterations is 0: give a whole number from 1 to 2147483647"),
        ("max_iterations", 2**31, "max_iterations is 2147483648: give a whole number from 1 to 2147483647"),
        ("min_freq", -1, "min_freq is -1: give a whole number from 0 to 2147483647"),
        ("num_memories", 1.5, "num_memories is 1.5: give a whole number from 1 to 2147483647"),
        ("min_documents", 0, "min_documents is 0: give a whole number of 1 or more"),
        ("all_possible_states", 1, "all_possible_states is 1: give true or false"),
        ("features", [], r"unknown features '\[\]': choose from paper, "),
        ("pos", "spacy", "unknown pos 'spacy': choose from textblob, "),
    ],
)
def test_the_message_names_setting_value_and_remedy(name: str, value: Any, says: str) -> None:
    with pytest.raises(SettingError):
        create("crf", overrides={name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [("c1", 0), ("min_freq", 0), ("max_iterations", 1), ("max_iterations", 2**31 - 1), ("all_possible_states", True)],
)
def test_the_ends_can_work(name: str, value: Any) -> None:
    assert getattr(create("crf", overrides={name: value}).settings, name) == value


@pytest.mark.parametrize("seed", [-1, 2**32, 12345678901234567890123456, 1.0, "1", True, None])
def test_a_seed_is_a_whole_number_that_jax_takes(seed: Any) -> None:
    with pytest.raises(SettingError):
        create("crf", seed=seed)


@pytest.mark.parametrize("seed", [0, 2**32 - 1])
def test_the_first_and_the_last_seed_are_taken(seed: int) -> None:
    create("crf", seed=seed)


INNER = {"count": int, "share?": (float, None)}


@pytest.mark.parametrize(
    ("value", "shape", "found"),
    [
        (3, int, []),
        (True, int, ["all of it is not a whole number"]),
        (3.0, int, ["all of it is not a whole number"]),
        (3, float, []),
        ("3", (float, None), ["all of it is not a number or null"]),
        (None, (float, None), []),
        ([{"x": "y"}], [{str: str}], []),
        ([{"x": "y"}, {"x": 1}], [{str: str}], ["1.x is not a text"]),
        ({"count": 1}, INNER, []),
        ({"count": 1, "share": None, "more": 1}, INNER, []),
        ({"share": "all"}, INNER, ["share is not a number or null", "count is missing"]),
        ({"n": [{"a": 1}], "more": 1}, {"n": [{"a": int, "b?": str}]}, []),
        (
            {"n": [{"b": 1}]},
            {"n": [{"a": int, "b?": str}], "m": Any},
            ["n.0.b is not a text", "n.0.a is missing", "m is missing"],
        ),
        ({"x": {"a": None}, "y": None}, {str: ({"a": (int, None)}, None)}, []),
        ({"x": 3}, {str: ({"a": int}, None)}, ["x is not an object or null"]),
        ({"a": {"count": None}}, {str: INNER}, ["a.count is not a whole number"]),
        ({"a": 1}, {str: Any}, []),
    ],
)
def test_what_is_wrong_is_named_with_its_place(value: Any, shape: Any, found: list[str]) -> None:
    assert list(shape_errors(value, shape)) == found

"""Options of the experiments' commands: none is given twice in silence, and numbers are bounded."""

from __future__ import annotations

from functools import partial

import pytest

from crfdeid.errors import UsageError
from experiments import EXPERIMENTS
from experiments.core.command import parse
from experiments.core.experiment import load_experiment

compare = partial(parse, "compare")


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_option_of_one_value_is_refused_when_it_is_given_twice(name: str) -> None:
    options = [one for one in load_experiment(name).options() if not one.multiple]
    assert len(options) >= 10
    for option in options:
        flag = option.opts[0]
        for given in ([flag, flag], [f"{flag}=1", flag, "1"]):
            with pytest.raises(UsageError, match=flag):
                parse(name, given)


def test_options_of_several_values_add_up() -> None:
    found = compare(["--sweep", "c1=0.1", "--sweep", "c2=0.1,0.2", "--set", "pos=none", "--set", "max_iterations=5"])
    assert found.models.sweep == (("c1", (0.1,)), ("c2", (0.1, 0.2)))
    assert found.models.changes == (("pos", "none"), ("max_iterations", 5))
    pooled = parse("private", ["--pooling", "deviation=0.1,weight=1", "--pooling", "deviation=0.1,weight=2"]).pooled
    assert pooled == ((("deviation", 0.1), ("weight", 1)), (("deviation", 0.1), ("weight", 2)))
    corpora = ["--corpora", "synthetic-notes", "--corpora", "synthetic-texts:3"]
    assert [source.seed for source in parse("transfer", corpora).sources] == [0, 3]
    assert [source.name for source in parse("transfer", []).sources] == ["synthetic-notes", "synthetic-texts"]


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("compare", ["--sweep", "c1=0.1", "--sweep", "c1=0.2"]),
        ("joint", ["--set", "epochs=1", "epochs=2"]),
        ("private", ["--tagger", "epochs=1", "--tagger", "epochs=2"]),
        ("compare", ["--jobs", "1" + 30 * "0"]),
        ("compare", ["--lr", "nan"]),
    ],
)
def test_a_setting_that_is_set_twice_and_absurd_numbers_are_refused(name: str, given: list[str]) -> None:
    with pytest.raises(UsageError, match=given[0]):
        parse(name, given)

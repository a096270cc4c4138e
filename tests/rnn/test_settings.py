"""Settings that cannot work are refused with one line, whatever they are."""

import math

import pytest

from crfdeid.errors import SettingError
from crfdeid.registry import create

NETWORKS = ("elman", "jordan", "bilstm-crf")


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("value", ["abc", None, True, 0, -1, 2.5, 16.0, math.nan, math.inf, [3], {}])
def test_a_count_is_a_whole_number(name, value):
    with pytest.raises(SettingError, match=r"^hidden is "):
        create(name, overrides={"hidden": value})


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("value", ["x", None, False, 0, -0.1, math.nan, math.inf, 10**400, [0.1]])
def test_a_rate_is_a_number_in_its_range(name, value):
    with pytest.raises(SettingError, match=r"^lr is "):
        create(name, overrides={"lr": value})


@pytest.mark.parametrize("value", ["no", 1, None, [True]])
def test_a_flag_is_true_or_false(value):
    with pytest.raises(SettingError, match=r"^fold_digits is "):
        create("elman", overrides={"fold_digits": value})


@pytest.mark.parametrize(
    ("setting", "value"), [("context", -1), ("context", 10**30), ("char_dim", None), ("patience", "a"), ("average", 1)]
)
def test_what_the_bilstm_crf_alone_has_is_checked(setting, value):
    with pytest.raises(SettingError, match=f"^{setting} is "):
        create("bilstm-crf", overrides={setting: value})


def test_none_is_kept_where_it_means_something():
    settings = create("bilstm-crf", overrides={"max_norm": None, "patience": None, "context": 0}).settings
    assert (settings.max_norm, settings.patience, settings.context) == (None, None, 0)

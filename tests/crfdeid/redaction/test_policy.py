"""Policies: invalid settings are refused, and the name depends on the settings."""

from __future__ import annotations

import pickle

import pytest

from crfdeid import Policy, UsageError
from crfdeid.errors import OptionConflictError, UnknownNameError
from crfdeid.known_phi.lists import CustomLists, Term
from crfdeid.redaction.policy import Operators

SITE = CustomLists(deny=(Term("Tawn List", "HOSPITAL"),))
DIFFERENT = [
    Policy(),
    Policy("surrogate"),
    Policy(None),
    Policy({"DATE": "surrogate"}),
    Policy(Operators("surrogate", {"DATE": "label"})),
    Policy(sensitivity=0.997),
    Policy(consistent=False),
    Policy("surrogate", locale="es_ES"),
    Policy("surrogate", date_order="mdy"),
    Policy(accept_damaged=True),
    Policy(markup="plain"),
    Policy(lists=SITE),
    Policy(lists=CustomLists(allow=(Term("Tawn List"),))),
]


def test_a_name_stands_for_the_settings() -> None:
    assert len({policy.name for policy in DIFFERENT}) == len(DIFFERENT)
    assert Policy(sensitivity=0.997).name == "label-70491180", "it is written beside results, and must not change"


def test_names_and_settings_hold_no_term_of_a_list() -> None:
    policy = Policy(lists=SITE)
    assert "Tawn" not in f"{policy.name} {policy.settings()}"
    assert len(policy.settings()["site"]) == 4


@pytest.mark.parametrize("policy", DIFFERENT, ids=lambda policy: policy.name)
def test_policies_travel(policy: Policy) -> None:
    again = pickle.loads(pickle.dumps(policy))
    assert again == policy
    assert hash(again) == hash(policy)


@pytest.mark.parametrize(
    ("settings", "error", "named"),
    [
        ({"operators": "hide"}, UnknownNameError, "'hide'"),
        ({"operators": "surrogate", "date_order": "ymd"}, UnknownNameError, "'ymd'"),
        ({"locale": "en_US"}, OptionConflictError, "locale"),
        ({"date_order": "dmy"}, OptionConflictError, "date order"),
        ({"operators": "surrogate", "locale": "nowhere"}, UnknownNameError, "'nowhere'"),
    ],
)
def test_invalid_settings_are_refused(settings: dict[str, str], error: type[UsageError], named: str) -> None:
    with pytest.raises(error, match=named):
        Policy(**settings)

"""The rules alone find the identifiers of the benchmark's lists, and leave what only looks like one."""

import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

from crfdeid.pipeline import Deidentifier
from crfdeid.rules.tagger import RulesTagger

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from robustness import IDENTIFIERS, ListedKind, listed_kinds

KINDS = tomllib.loads(IDENTIFIERS.read_text("utf-8"))
URLS = 0.9  # "studio.quill.it" is left: it may be the ends of two sentences


@pytest.fixture(scope="module")
def rules() -> Deidentifier:
    return Deidentifier(RulesTagger.untrained(), consistent=False)


@pytest.fixture(scope="module")
def listed(rules: Deidentifier) -> Mapping[str, ListedKind]:
    return listed_kinds(rules)


@pytest.mark.parametrize("name", KINDS)
def test_identifiers_are_found_in_their_written_forms(listed: Mapping[str, ListedKind], name: str) -> None:
    kind = listed[name]
    assert kind.right == 50
    assert kind.near >= 20
    assert kind.right - len(kind.missed) >= (URLS if name == "url" else 0.95) * kind.right, kind.missed
    assert len(kind.marked) <= 0.05 * kind.near, kind.marked


def test_a_value_found_in_part_is_missed_and_dates_are_no_marks(rules: Deidentifier, tmp_path: Path) -> None:
    file = tmp_path / "kinds.toml"
    file.write_text(
        '[mail]\nright = ["to «q@tawn.org»", "to «q@tawn.org today»"]\nnear = ["q@tawn.org", "on 3/14/1972"]\n'
        '[web]\ntypes = ["URL"]\nright = ["«tawn.org»"]\nnear = ["q@tawn.org", "see tawn.org"]\n',
        "utf-8",
    )
    assert listed_kinds(rules, file) == {
        "mail": ListedKind(2, ["to «q@tawn.org today»"], 2, ["q@tawn.org"]),
        "web": ListedKind(1, [], 2, ["see tawn.org"]),
    }

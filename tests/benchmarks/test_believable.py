"""The rules by which the benchmark judges surrogates: each must be able to fail."""

import datetime as dt
import importlib.util
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

_ROOT = Path(__file__).parents[2]


def benchmark(name: str) -> Any:
    """A module of the folder of benchmarks, which is no package."""
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", _ROOT / "benchmarks" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


judge = benchmark("surrogates")


@pytest.mark.parametrize(
    ("kind", "before", "good", "bad"),
    [
        ("date", "14/03/1972", "02/01/1969", "32/01/1969"),
        ("date", "marzo de 1972", "enero de 1969", "enero 1969"),
        ("telephone", "555-0134", "555-0199", "5550199"),
        ("number", "A-12", "B-07", "BC-7"),
        ("country", "Mali", "Ghana", "Jecmo"),
        ("person", "Ana Olmo", "Eva Roble", "eva Roble"),
        ("mail", "a@b.org", "roble17@example.org", "x@y.org"),
        ("hospital", "Hospital del Olmo", "Hospital del Roble", "Jecme del Roble"),
        ("kin", "madre", "hermana Ana", "jecme"),
        ("sex", "varón", "mujer", "zojec"),
        ("age", "dos años", "dos años", "fuc ipoz"),
        ("street", "C/ Olmo 4", "C/ Roble 7", "C/ Roble"),
    ],
)
def test_each_rule_tells_a_believable_surrogate_from_another(kind: str, before: str, good: str, bad: str) -> None:
    assert judge.believable(kind, before, good)
    assert not judge.believable(kind, before, bad)


def test_intervals_and_ages_are_those_of_whole_dates() -> None:
    assert judge.whole_date("03/04/2031", "dmy") == dt.date(2031, 4, 3)
    assert judge.whole_date("03/04/2031", "mdy") == dt.date(2031, 3, 4)
    moved = [("03/04/2031", "01/03/2030"), ("05/04/2031", "03/03/2030"), ("abril", "marzo")]
    assert judge.holds(moved, "dmy") is True
    assert judge.holds([*moved, ("06/04/2031", "05/03/2030")], "dmy") is False
    assert judge.holds(moved[:1], "dmy") is None
    assert judge.age_agrees(["03/04/1990", "02/04/2031"], ["40 años"], "dmy") is True
    assert judge.age_agrees(["03/04/1990", "03/04/2031"], ["40 años"], "dmy") is False
    assert judge.age_agrees(["03/04/1990"], ["40 años"], "dmy") is None


def test_the_notes_before_and_after_on_the_page_are_what_the_command_prints() -> None:
    page = (_ROOT / "benchmarks" / "results" / "surrogates.md").read_text("utf-8")
    if f"Faker {version('Faker')}" not in page:
        pytest.skip("another version of Faker draws other names than those on the page")
    assert f"\n{judge.examples_table()}\n" in page


@pytest.mark.parametrize("note", [note for _, _, note in judge.EXAMPLES], ids=[kind for kind, _, _ in judge.EXAMPLES])
def test_nothing_that_is_marked_in_them_is_left_but_what_stays_by_rule(note: str) -> None:
    text, spans = judge.read_marks(note)
    after = judge.with_surrogates(note, "anybody").text
    for start, end, label in spans:
        value = text[start:end]
        stays = label.startswith(("SEXO", "FAMILIARES")) or value in (
            "España",
            "64 años",
            "dos años",
            "albañil",
            "engraver",
        )
        assert (value in after) is stays, value

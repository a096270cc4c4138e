"""The operator "generalise" and the named policies: what they show, and that they show no more."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.cli import main
from crfdeid.documents import LIST, Document, Finding, Span
from crfdeid.errors import OptionConflictError, UnknownNameError
from crfdeid.label_schemes import HIPAA, SURROGATE_KINDS
from crfdeid.redaction import redact
from crfdeid.redaction.named_policies import named_operators, named_policy
from crfdeid.redaction.operators import OPERATORS
from crfdeid.redaction.policy import POLICY_NAMES, Policy

MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
# The areas of the Census of 2000 in the guidance of the Department of Health and Human Services.
RESTRICTED = [
    "036",
    "059",
    "063",
    "102",
    "203",
    "556",
    "692",
    "790",
    "821",
    "823",
    "830",
    "831",
    "878",
    "879",
    "884",
    "890",
    "893",
]
SECRET = b"0123456789abcdef0123456789abcdef"


def generalised(value: str, label: str, *, before: str = "Seen on ", after: str = ". She was well.") -> str:
    """A value after the operator, and a check of the text around it."""
    note = Document("1", f"{before}{value}{after}", (Span(len(before), len(before) + len(value), label),))
    text = redact(note, {label: "generalise"}, locale="en_US").text
    assert text.startswith(before) and text.endswith(after)
    return text[len(before) : len(text) - len(after)]


days = st.dates(min_value=date(1800, 1, 1), max_value=date(2100, 1, 1))
FORMS: tuple[Callable[[date], str], ...] = (
    lambda d: f"{d.month}/{d.day}/{d.year}",
    lambda d: f"{d.month:02}-{d.day:02}-{d.year % 100:02}",
    lambda d: f"{d.isoformat()}",
    lambda d: f"{MONTHS[d.month - 1]} {d.day}, {d.year}",
    lambda d: f"{d.day} {MONTHS[d.month - 1][:3]} {d.year}",
    lambda d: f"{d.month}/{d.day}",
    lambda d: f"{d.day}. foo {d.month}, {d.year}",
)


@given(days, st.sampled_from(FORMS))
def test_a_date_becomes_its_year_or_its_type(day: date, form: Callable[[date], str]) -> None:
    found = generalised(form(day), "DATE")
    century_free = str(day.year)[2:]
    assert found == "[DATE]" or (re.fullmatch(r"[0-9]{4}", found) and found[2:] == century_free)


@given(st.dates(min_value=date(1850, 1, 1), max_value=date(2026, 1, 1)))
def test_a_year_that_shows_an_age_over_89_goes(day: date) -> None:
    before = "Seen on 3/14/2026, born "
    note = Document(
        "1", f"{before}{day.isoformat()}.", (Span(8, 17, "DATE"), Span(len(before), len(before) + 10, "DATE"))
    )
    text = redact(note, {"DATE": "generalise"}, locale="en_US").text
    assert ("born [DATE]." in text) or (f"born {day.year}." in text and day.year >= 2026 - 89)


@pytest.mark.parametrize("value", ["3/14/36", "3/14/25", "3/14/05"])
def test_two_digits_that_may_be_the_birth_of_a_centenarian_go(value: str) -> None:
    assert generalised(value, "DATE", before="DOB: ") == "[DATE]"


def test_a_weekday_next_to_a_date_goes_with_it() -> None:
    note = Document("1", "Seen Friday, 3/14/2019 again.", (Span(13, 22, "DATE"),))
    assert redact(note, {"DATE": "generalise"}, locale="en_US").text == "Seen 2019 again."


@pytest.mark.parametrize(
    ("value", "label", "text"),
    [
        ("12/30/2019-1/2/2020", "DATE", "2019/2020"),
        ("2019", "DATE", "2019"),
        ("March", "DATE", "[DATE]"),
        ("14/55/2019", "DATE", "[DATE]"),
        ("45-year-old", "AGE", "40-49-year-old"),
        ("38-42 years", "AGE", "30-49 years"),
        ("88-92", "AGE", "80+"),
        ("101", "AGE", "90+"),
        ("7 months", "AGE", "0-9 months"),
        ("forty-five", "AGE", "[AGE]"),
        ("Quill", "AGE", "[AGE]"),
        ("Boston", "CITY", "Massachusetts"),
        ("Boston, MA 02139", "LOCATION", "MA 021"),
        ("12 Elm St, Boston MA", "LOCATION", "MA"),
        ("12345 Elm", "LOCATION", "[LOCATION]"),
        ("Nevada", "STATE", "Nevada"),
        ("Nevada", "CITY", "[CITY]"),
        ("Washington", "LOCATION", "[LOCATION]"),
        ("Lebanon", "CITY", "[CITY]"),
        ("Elmsville", "CITY", "[CITY]"),
        ("France", "COUNTRY", "France"),
        ("Quill", "COUNTRY", "[COUNTRY]"),
        ("female", "SEX", "female"),
        ("Jane", "SEX", "[SEX]"),
        ("Jane", "PATIENT", "[PATIENT]"),
    ],
)
def test_values_become_less_exact(value: str, label: str, text: str) -> None:
    assert generalised(value, label) == text


def test_a_town_becomes_the_state_that_its_note_names() -> None:
    text = "From Elmsville, Ohio; born in Elmsville. Lives in Lebanon, NH."
    spans = tuple(Span(at.start(), at.end(), "CITY") for at in re.finditer("Elmsville|Lebanon", text))
    found = redact(Document("1", text, spans), {"CITY": "generalise"}, locale="en_US").text
    assert found == "From [CITY], Ohio; born in Ohio. Lives in [CITY], NH."


@pytest.mark.parametrize("begin", RESTRICTED)
def test_few_people_have_no_three_digits(begin: str) -> None:
    assert generalised(f"{begin}42", "ZIP") == "000"


@given(st.integers(0, 99_999), st.booleans())
def test_a_zip_code_becomes_three_digits(number: int, long: bool) -> None:
    code = f"{number:05}"
    assert generalised(f"{code}-1234" if long else code, "ZIP") in (code[:3], "000")


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=30))
def test_no_unread_place_stays(value: str) -> None:
    found = generalised(value, "CITY")
    assert found == "[CITY]" or found != value


@pytest.mark.parametrize(
    ("value", "label", "locale", "text"),
    [
        ("14. März 2019", "DATE", "de_DE", "2019"),
        ("14 de marzo de 2019", "DATE", "es_ES", "2019"),
        ("Oberbayern", "STATE", "de_DE", "Bayern"),
        ("Sevilla", "TERRITORIO", "es_ES", "[TERRITORIO]"),
        ("28013", "TERRITORIO", "es_ES", "[TERRITORIO]"),
        ("45 años", "EDAD_SUJETO_ASISTENCIA", "es_ES", "40-49 años"),
    ],
)
def test_other_languages_have_what_their_packs_read(value: str, label: str, locale: str, text: str) -> None:
    note = Document("1", value, (Span(0, len(value), label),))
    assert redact(note, {label: "generalise"}, locale=locale).text == text


def test_what_a_list_marks_is_not_shown() -> None:
    span = Span(3, 9, "STATE")
    note = Document("1", "in Nevada.", (span,), findings=(Finding(span, LIST),))
    assert redact(note, {"STATE": "generalise"}, locale="en_US").text == "in [STATE]."
    assert redact(note, "generalise", locale="en_US").text == "in [STATE]."


def test_dates_by_month() -> None:
    policy = Policy({"DATE": "generalise"}, date_precision="month")
    assert policy.settings()["date_precision"] == "month"
    for wrong in (Policy, lambda **settings: Policy(named_operators("safe-harbor"), **settings)):
        with pytest.raises(OptionConflictError):
            wrong(date_precision="month")


# --- named policies


@pytest.mark.parametrize("name", POLICY_NAMES)
def test_every_type_has_a_rule(name: str) -> None:
    policy, operators = named_policy(name), named_operators(name)
    assert policy.rules.keys() == SURROGATE_KINDS.keys()
    for label, rule in policy.rules.items():
        assert rule.operator in {*OPERATORS, "redact"}
        assert operators[label] == ("label" if rule.operator == "redact" else rule.operator)
    assert operators["A type of no table"] == "label"


def test_safe_harbor_shows_no_identifier_of_the_law_in_full() -> None:
    operators = named_operators("safe-harbor")
    shown = {label for label in HIPAA if operators.of_type(label).keeps and HIPAA[label]}
    assert {HIPAA[label] for label in shown} <= {"A", "C"}
    assert {SURROGATE_KINDS[label] for label in shown} <= {"age", "kin"}


def test_policies_on_a_note() -> None:
    text = "Jane Quill, 93, of Boston, MA 02139, seen 3/14/2019. MRN 4471."
    at = {"PATIENT": "Jane Quill", "AGE": "93", "CITY": "Boston", "STATE": "MA", "ZIP": "02139", "DATE": "3/14/2019"}
    at["MEDICALRECORD"] = "4471"
    spans = tuple(Span(text.index(value), text.index(value) + len(value), label) for label, value in at.items())
    note = Document("1", text, spans)
    assert (
        redact(note, policy="safe-harbor", locale="en_US").text
        == "[PATIENT], 90+, of [CITY], MA 021, seen 2019. MRN [MEDICALRECORD]."
    )
    assert (
        redact(note, policy="limited-data-set", locale="en_US").text
        == "[PATIENT], 90+, of Boston, MA 02139, seen 3/14/2019. MRN [MEDICALRECORD]."
    )
    pseudonyms = redact(note, policy="gdpr-pseudonym", locale="en_US", secret=SECRET).text
    assert pseudonyms == redact(note, policy="gdpr-pseudonym", locale="en_US", secret=SECRET).text
    assert not any(value in pseudonyms for value in at.values())


@pytest.mark.parametrize("operators", [{"DATE": "keep"}, "hash", "encrypt", "keep", "generalise"])
def test_a_policy_is_not_weakened(operators: str | dict[str, str]) -> None:
    with pytest.raises(OptionConflictError):
        redact(Document("1", "x", ()), operators, policy="safe-harbor")


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(UnknownNameError):
        named_operators("hippa")


def test_the_command_and_its_report_name_the_policy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("Seen by Dr. Quill on 3/14/2019.\n", "utf-8")
    folder, out, report = (str(tmp_path / name) for name in ("notes", "out", "report.json"))
    asked = ["redact", "rules", folder, "--output", out, "--policy", "safe-harbor", "--report", report]
    assert main([*asked, "--operator", "numbered"]) == 0
    assert (tmp_path / "out" / "a.txt").read_text("utf-8") == "Seen by Dr. [DOCTOR-1] on 2019.\n"
    assert json.loads(Path(report).read_text("utf-8"))["summary"]["policy"] == "safe-harbor"
    assert "safe-harbor" in capsys.readouterr().err
    assert main([*asked[:4], str(tmp_path / "no"), *asked[5:7], "--operator", "DATE=keep"]) == 2
    assert not (tmp_path / "no").exists()
    assert main(["info", "safe-harbor"]) == 0
    assert "| DATE | generalise | (C) |" in capsys.readouterr().out

"""Named policies and generalised values: what stays of a value, and that nothing more does."""

from __future__ import annotations

import datetime as dt
import json
import re
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from notes_samples import tiny_model

from crfdeid import Policy
from crfdeid.cli import main
from crfdeid.documents import Document, Span
from crfdeid.errors import UnknownNameError
from crfdeid.integrations.arrow import RedactBatches
from crfdeid.label_schemes import HIPAA, SURROGATE_KINDS
from crfdeid.redaction import OPERATORS, Operators, redact
from crfdeid.redaction.generalisation import OLDEST_AGE, REFERENCE_YEAR
from crfdeid.redaction.policies import POLICIES

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "policies.md"
FORMS = ("%m/%d/%Y", "%Y-%m-%d", "%B %d, %Y", "%d %b %Y", "%d.%m.%Y", "%b %Y", "%m/%Y", "%Y")
DATES = st.dates(dt.date(1890, 1, 1), dt.date(REFERENCE_YEAR, 12, 31))
KEPT_BY_E2 = frozenset("BC")
"""Letters of the Safe Harbor list of which 45 CFR 164.514(e)(2) lists less, or nothing; R as well."""


def note(before: str, value: str, label: str, after: str = " and the patient was seen.") -> Document:
    return Document("1", f"{before}{value}{after}", (Span(len(before), len(before) + len(value), label),))


def generalised(
    value: str, label: str, *, how: str = "generalise", before: str = "The patient is in the clinic: "
) -> str:
    text = redact(note(before, value, label), how).text
    assert text.startswith(before)
    assert text.endswith(" and the patient was seen.")
    return text[len(before) : len(text) - len(" and the patient was seen.")]


@given(DATES, st.sampled_from(FORMS))
def test_of_a_date_the_year_stays_unless_it_shows_an_age_over_89(date: dt.date, form: str) -> None:
    is_old = REFERENCE_YEAR - date.year > OLDEST_AGE
    assert generalised(date.strftime(form), "DATE") == ("[DATE]" if is_old else str(date.year))


@given(DATES, st.sampled_from([form for form in FORMS if form != "%Y"]))
def test_month_has_the_month_too(date: dt.date, form: str) -> None:
    found = generalised(date.strftime(form), "DATE", how="month")
    if REFERENCE_YEAR - date.year > OLDEST_AGE:
        assert found == "[DATE]"
    elif max(date.day, date.month) > 12 or "m" not in form or form == "%Y-%m-%d":  # else its order is open
        assert found == f"{date:%Y-%m}"


@pytest.mark.parametrize(
    "value", ["3/14", "March", "Sunday", "14th", "yesterday", "the week after Easter", "99/99/2031"]
)
def test_a_date_without_a_year_or_of_no_form_is_redacted(value: str) -> None:
    assert generalised(value, "DATE") == "[DATE]"


def test_a_year_of_two_digits_is_of_the_last_century_if_it_would_be_to_come() -> None:
    assert generalised("3/14/22", "DATE") == "2022"
    assert generalised("3/14/33", "DATE") == "[DATE]"  # 1933


def test_a_later_date_of_the_note_makes_more_years_too_old() -> None:
    text = "Born 3/14/1950, seen 4/15/2044."
    spans = (Span(5, 14, "DATE"), Span(21, 30, "DATE"))
    assert redact(Document("1", text, spans), "generalise").text == "Born [DATE], seen 2044."
    assert redact(Document("1", text, spans[:1]), "generalise").text == "Born 1950, seen 4/15/2044."


def test_the_day_of_the_week_goes_with_its_date() -> None:
    found = redact(note("Seen on Friday, ", "March 14, 2031", "DATE"), "generalise").text
    assert found == "Seen on 2031 and the patient was seen."


@given(st.integers(0, 130))
def test_an_age_becomes_ten_years_and_one_group_from_90_on(age: int) -> None:
    found = generalised(f"{age} years", "AGE")
    assert found.endswith(" years")
    number = found.removesuffix(" years")
    if age >= 90:
        assert number == "90+"
    else:
        first, last = map(int, number.split("-"))
        assert first <= age <= last == first + 9


@given(st.integers(0, 99999), st.sampled_from(["{:05}", "{:05}-1234"]))
def test_of_a_zip_code_no_more_than_three_digits_stay(code: int, form: str) -> None:
    found = generalised(form.format(code), "ZIP")
    assert found in ("000", f"{code:05}"[:3])
    if f"{code:05}".startswith(("036", "893", "059")):
        assert found == "000"


def test_a_postcode_of_another_country_is_redacted() -> None:
    german = "Die Patientin wurde in der Klinik gesehen und wohnt in "
    assert generalised("28013", "ZIP", before=german) == "[ZIP]"
    assert generalised("SW1A 1AA", "ZIP") == "[ZIP]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "The patient moved from *Quincy* to the home in Quincy, MA.",
            "The patient moved from MA to the home in Quincy, MA.",
        ),
        ("The patient lives in *Quincy*, MA 02169.", "The patient lives in [CITY], MA 02169."),
        ("The patient lives in *Quincy*.", "The patient lives in [CITY]."),
        ("The patient was in *Salem*, Salem, MA and Salem, OR.", "The patient was in [CITY], Salem, MA and Salem, OR."),
        ("The patient left *New York* for the clinic.", "The patient left [CITY] for the clinic."),
    ],
)
def test_a_town_becomes_the_state_that_the_note_names(text: str, expected: str) -> None:
    start, end = (match.start() - i for i, match in enumerate(re.finditer(r"\*", text)))
    assert redact(Document("1", text.replace("*", ""), (Span(start, end, "CITY"),)), "generalise").text == expected


@pytest.mark.parametrize(
    ("value", "label", "expected"),
    [
        ("MA", "STATE", "MA"),
        ("Massachusetts", "LOCATION", "Massachusetts"),
        ("Washington", "LOCATION", "[LOCATION]"),
        ("Washington", "STATE", "Washington"),
        ("Tawn", "STATE", "[STATE]"),
        ("Spain", "COUNTRY", "Spain"),
        ("Jane Quill", "COUNTRY", "[COUNTRY]"),
        ("mujer", "SEXO_SUJETO_ASISTENCIA", "mujer"),
        ("Jane Quill", "SEXO_SUJETO_ASISTENCIA", "[SEXO_SUJETO_ASISTENCIA]"),
        ("Jane Quill", "PATIENT", "[PATIENT]"),
        ("4822137", "MEDICALRECORD", "[MEDICALRECORD]"),
        ("12 Elm Street", "LOCATION", "[LOCATION]"),
    ],
)
def test_places_and_facts_stay_if_a_list_has_them(value: str, label: str, expected: str) -> None:
    before = "La paciente es una " if value == "mujer" else "The patient is in the clinic: "
    assert generalised(value, label, before=before) == expected


LESS_EXACT = frozenset(["date", "age", "town", "place", "country", "sex"])


@given(st.sampled_from(sorted(label for label, kind in SURROGATE_KINDS.items() if kind not in LESS_EXACT)), st.text())
def test_a_value_without_a_less_exact_one_is_redacted(label: str, value: str) -> None:
    assert generalised(f"x{value}x", label) == f"[{label}]"


def test_safe_harbor_leaves_no_identifier_of_its_list() -> None:
    operators = Operators.of("safe-harbor")
    for label, letter in HIPAA.items():
        if letter is not None:
            assert operators[label] in ({"generalise", "keep"} if letter in "BC" else {"label"}) | {"label"}
        assert operators[label] != "keep" or SURROGATE_KINDS[label] == "age"


def test_a_limited_data_set_has_no_direct_identifier() -> None:
    operators = Operators.of("limited-data-set")
    assert {operators[label] for label, letter in HIPAA.items() if letter and letter not in KEPT_BY_E2} == {"label"}
    assert operators["STREET"] == operators["CALLE"] == "label"
    assert operators["CITY"] == operators["ZIP"] == operators["DATE"] == "keep"


@pytest.mark.parametrize("name", POLICIES)
def test_a_type_without_an_entry_is_redacted(name: str) -> None:
    assert Operators.of(name)["A-TYPE-OF-OURS"] == Operators.of(name)["PHI"] == "label"
    assert {operator for operator, _ in POLICIES[name].kinds.values()} <= {*OPERATORS}
    assert {*POLICIES[name].kinds} <= {*SURROGATE_KINDS.values()}
    Operators.of(name).require_types({"PATIENT"})  # of a model with few types


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(UnknownNameError):
        Policy("safe-haven")


def test_the_page_has_the_table_of_each_policy() -> None:
    rows = [
        [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        for line in PAGE.read_text("utf-8").splitlines()
        if line.startswith("|")
    ]
    table = {row[0]: row[1:] for row in rows[rows.index(["kind", *POLICIES]) + 2 :] if len(row) == len(POLICIES) + 1}
    kinds = {kind for policy in POLICIES.values() for kind in policy.kinds}
    assert {*table} == kinds | {"all others"}
    for kind, cells in table.items():
        expected = [policy.kinds.get(kind, ("label", ""))[0] for policy in POLICIES.values()]
        assert cells == expected


TEXT = "Patient Quill was seen by Dr. Marsh on 3/14/2031.\n"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("model") / "model")


def test_the_command_names_the_policy_in_its_report(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "1.txt").write_text(TEXT)
    start = ["redact", str(model), str(tmp_path / "notes"), "--policy", "safe-harbor"]
    assert main([*start, "--output", str(tmp_path / "clean"), "--report", str(tmp_path / "report.json")]) == 0
    assert "safe-harbor (45 CFR 164.514(b)(2))" in capsys.readouterr().err
    assert (tmp_path / "clean" / "1.txt").read_text() == "Patient [PATIENT] was seen by Dr. [DOCTOR] on 2031.\n"
    assert json.loads((tmp_path / "report.json").read_text())["summary"]["policy"] == "safe-harbor"
    assert main([*start, "--operator", "mask", "--output", str(tmp_path / "other")]) == 2
    assert not (tmp_path / "other").exists()


def test_tables_name_the_policy_of_each_row(model: Path) -> None:
    done = RedactBatches(model, Policy("safe-harbor"), "note")(pa.table({"note": [TEXT]}))
    assert done["note"].to_pylist() == ["Patient [PATIENT] was seen by Dr. [DOCTOR] on 2031.\n"]
    assert done["policy"][0].as_py().startswith("safe-harbor-")

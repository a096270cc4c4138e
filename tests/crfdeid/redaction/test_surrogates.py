"""Surrogates: of the same form, never the same, and agreeing with each other."""

import datetime as dt
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.redaction.surrogates import KINDS, Surrogates
from crfdeid.redaction.surrogates.dates import days_moved, moved
from crfdeid.redaction.surrogates.invented import invented
from crfdeid.redaction.surrogates.keyed import Keyed
from crfdeid.secrets import derive

SECRET = b"sixteen bytes or more"
PATIENTS = [Surrogates(SECRET, f"patient {number}") for number in range(12)]
ANYBODY = st.sampled_from(PATIENTS)


@pytest.mark.parametrize("ours", PATIENTS[:4])
def test_parts_of_a_name_are_parts_of_its_surrogate(ours: Surrogates) -> None:
    first, last = ours.of("Jane Quillan", "PATIENT").split()
    assert first in invented("en_US").female
    assert ours.of("Quillan", "PATIENT") == last
    assert ours.of("QUILLAN, JANE", "PATIENT") == f"{last.upper()}, {first.upper()}"
    assert ours.of("Ms. Quillan's", "PATIENT") == f"Ms. {last}'s"
    assert ours.of("J. Quillan", "DOCTOR") == f"{first[0]}. {last}"
    assert ours.of("JQ", "DOCTOR") == first[0] + last[0]
    assert ours.of("Dr. Jane Quillan-Roe", "DOCTOR").startswith(f"Dr. {first} {last}-")
    assert ours.of("jane", "PATIENT") == first.lower()


def test_a_first_name_becomes_one_of_the_same_kind() -> None:
    known = invented("en_US")
    women, men = set(known.female) - set(known.male), set(known.male) - set(known.female)
    for name in ("Mary", "Linda", "Jennifer"):
        assert name in women
        assert all(ours.of(f"Ms. {name} Quillan", "PATIENT").split()[1] in known.female for ours in PATIENTS)
    for name in ("Robert", "Kevin", "Brian"):
        assert name in men
        assert all(ours.of(name, "PATIENT") in known.male for ours in PATIENTS)


def test_hospitals_and_places_keep_what_they_are() -> None:
    ours = PATIENTS[0]
    tawn = ours.of("Tawn List Medical Center", "HOSPITAL")
    assert re.fullmatch(r"[A-Z]\w+ [A-Z]\w+ Medical Center", tawn)
    assert ours.of("Tawn List", "HOSPITAL") == tawn.removesuffix(" Medical Center")
    assert re.fullmatch(r"\d\d [A-Z]\w+ Street", ours.of("14 Elder Street", "LOCATION"))
    assert re.fullmatch(r"[A-Z]\w+, [A-Z]{2} \d{5}", ours.of("Tawnville, MA 02139", "LOCATION"))


# Dates by their forms, and the format in which the moved date must stand there.
FORMS = [
    ("03/14/72", "%m/%d/%y"),
    ("03/14/1972", "%m/%d/%Y"),
    ("03-14-1972", "%m-%d-%Y"),
    ("1972-03-14", "%Y-%m-%d"),
    ("1972/03/14", "%Y/%m/%d"),
    ("19720314", "%Y%m%d"),
    ("March 14, 1972", "%B %d, %Y"),
    ("Mar 14, 1972", "%b %d, %Y"),
    ("14 March 1972", "%d %B %Y"),
    ("14-Mar-1972", "%d-%b-%Y"),
    ("14MAR1972", "%d%b%Y"),
    ("14 of March of 1972", "%d of %B of %Y"),
    ("Tuesday, March 14, 1972", "%A, %B %d, %Y"),
    ("Tue 03/14/1972", "%a %m/%d/%Y"),
]


@pytest.mark.parametrize(("text", "form"), FORMS)
@pytest.mark.parametrize("number", range(4))
def test_dates_are_moved_and_written_as_before(text: str, form: str, number: int) -> None:
    days = days_moved(Keyed(derive(derive(SECRET, "surrogates"), f"patient {number}")))
    new = dt.date(1972, 3, 14) + dt.timedelta(days)
    found = PATIENTS[number].of(text, "DATE")
    expected = new.strftime(form)
    assert found.lower().replace(" 0", " ") == expected.lower().replace(" 0", " ")
    assert found.isupper() == text.isupper() or not any(map(str.isalpha, text))


def test_days_come_before_months_where_the_locale_says_so_and_where_the_numbers_do() -> None:
    here, there = (Surrogates(SECRET, "p", locale=locale) for locale in ("en_US", "es_ES"))
    assert here.of("14/03/1972", "DATE") == there.of("14/03/1972", "DATE")
    day, month, _ = map(int, there.of("14/03/1972", "DATE").split("/"))
    assert there.of("14 de marzo de 1972", "DATE").startswith(f"{day} de ")
    assert here.of("03/14/1972", "DATE").split("/")[:2] == [f"{month:02}", f"{day:02}"]
    assert here.of("03/04/1972", "DATE") != there.of("03/04/1972", "DATE")


def test_intervals_stay() -> None:
    for ours in PATIENTS:
        first, second = (
            dt.datetime.strptime(ours.of(text, "DATE"), "%Y-%m-%d") for text in ("1999-12-20", "2000-03-01")
        )
        assert (second - first).days == 72


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("March of last year", r"[A-Z][a-z]+ of last year"),
        ("March 14th", r"[A-Z][a-z]+ \d{1,2}(st|nd|rd|th)"),
        ("3/14", r"\d{1,2}/\d{1,2}"),
        ("3/1972", r"\d{1,2}/19\d\d"),
        ("the '90s", r"the '\d\d\w"),
        ("in 1972", r"in 19\d\d"),
        ("3/14/72 - 3/16/72", r"\d+/\d+/\d\d - \d+/\d+/\d\d"),
        ("10:45 on 3/14", r"10:45 on \d+/\d+"),
        ("Tues", r"[A-Z][a-z]+"),
        ("martes 14 de marzo", r"(lunes|miércoles|jueves|viernes|sábado|domingo) \d+ de [a-z]+"),
        ("2/30/01", r"\d/\d\d/\d\d"),
        ("Michaelmas", r"[A-Z][a-z]{9}"),
    ],
)
def test_other_dates_keep_their_form(text: str, form: str) -> None:
    for ours in PATIENTS:
        found = ours.of(text, "DATE")
        assert re.fullmatch(form, found), found
        assert found != text


def test_years_of_dates_do_not_stay() -> None:
    for ours in PATIENTS:
        assert not {"1972", "72", "March"} & set(re.split(r"\W", ours.of("March 1972, 3/14/72, March", "DATE")))


@pytest.mark.parametrize(
    ("text", "label"), [("(617) 555-0134 x12", "PHONE"), ("MRN 48-2213-7b", "ID"), ("02139", "ZIP")]
)
def test_numbers_keep_their_shape(text: str, label: str) -> None:
    found = PATIENTS[0].of(text, label)
    assert [c.isdigit() for c in found] == [c.isdigit() for c in text]
    assert [c for c in found if not c.isalnum()] == [c for c in text if not c.isalnum()]
    assert found != text


def test_how_a_number_is_written_does_not_matter() -> None:
    ours = PATIENTS[0]
    assert re.sub(r"\D", "", ours.of("555-0134", "PHONE")) == re.sub(r"\D", "", ours.of("555 01 34", "PHONE"))


def test_addresses_on_the_net_keep_their_form() -> None:
    ours = PATIENTS[0]
    assert re.fullmatch(r"[a-z]\.[a-z]{5}@[a-z]{4}\.org", ours.of("j.quill@tawn.org", "EMAIL"))
    assert re.fullmatch(r"https://www\.[a-z]{4}\.org/[a-z]{2}", ours.of("https://www.tawn.org/jq", "URL"))


def test_ages() -> None:
    for ours in PATIENTS:
        assert 90 <= int(ours.of("93", "AGE")) <= 99
        assert 1 <= abs(int(ours.of("45 years", "AGE").split()[0]) - 45) <= 3


def test_another_patient_or_secret_has_other_surrogates() -> None:
    names = {ours.of("Jane Quillan", "PATIENT") for ours in PATIENTS}
    assert len(names) > len(PATIENTS) / 2
    assert len({Surrogates(bytes([n]) * 16, "p").of("48-2213-7", "ID") for n in range(20)}) == 20
    assert len({days_moved(Keyed(bytes([n]) * 32)) for n in range(50)}) > 25


LABELS = st.sampled_from([*KINDS, "SEXO_SUJETO_ASISTENCIA", "no such type"])
VALUES = st.one_of(
    st.text(min_size=1, max_size=30),
    st.from_regex(r"[A-Z][a-z]{1,8}( [A-Z]\.?)? [A-Z][a-z']{1,8}", fullmatch=True),
    st.from_regex(r"[0-9]{1,4}[-/. ][0-9]{1,2}([-/. ][0-9]{1,4})?", fullmatch=True),
    st.sampled_from(
        ["General Hospital", "Street", "Dr.", "de la", "yesterday", "May", "\n", "*", "#*", "90", "İ", "ß"]
    ),
)


@given(ANYBODY, VALUES, LABELS)
def test_a_surrogate_is_never_the_value_and_always_the_same(ours: Surrogates, value: str, label: str) -> None:
    found = ours.of(value, label)
    assert found
    assert found.casefold() != value.casefold()
    assert ours.of(value, label) == found


@given(st.integers(0, 2**32), st.integers(0, 365 * 120))
def test_any_day_is_moved_by_the_same_number(key: int, day: int) -> None:
    keyed = Keyed(key.to_bytes(32))
    days = days_moved(keyed)
    assert -3700 < days < -400
    assert days % 7
    date = dt.date(1910, 1, 1) + dt.timedelta(day)
    assert moved(date.isoformat(), keyed, month_first=True) == (date + dt.timedelta(days)).isoformat()

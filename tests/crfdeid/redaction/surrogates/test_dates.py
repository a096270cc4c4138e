"""Whatever text is called a date, or has one in it: what comes out is a day of the calendar, or a label."""

import datetime as dt
import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.redaction.surrogates import Surrogates, note_key
from crfdeid.redaction.surrogates.dates import DateShift, shift_date

SECRET = b"a secret of the tests"
DATES = ("DATE", "FECHAS")
OTHERS = ("ID", "PHONE", "LOCATION", "CALLE", "HOSPITAL", "TERRITORIO", "IP")
_DASH = r"\s?([-/.\u2013\u2044])\s?"
_FORMS = [
    rf"(?P<a>\d\d?){_DASH}(?P<b>\d\d?){_DASH}(?P<year>\d\d(?:\d\d)?)",
    rf"(?P<year>\d{{4}}){_DASH}(?P<a>\d\d?){_DASH}(?P<b>\d\d?)",
]
NUMERIC = [re.compile(rf"(?<!\w)(?<!\d[-/.]){form}(?!\w|[-/.]\d)") for form in _FORMS]
TIME = re.compile(r"(?<!\d)(\d+):(\d+)(?!\d)")


def is_day(year: int, month: int, day: int) -> bool:
    try:
        return bool(dt.date(year, month, day))
    except ValueError:
        return False


def only_days(text: str) -> bool:
    """Whether each three numbers that look like a date are one, in some order; two digits are a year of any century."""
    for match in (match for form in NUMERIC for match in form.finditer(text)):
        years = [match["year"]] if len(match["year"]) == 4 else [f"{century}{match['year']}" for century in (19, 20)]
        orders = [(match["a"], match["b"]), (match["b"], match["a"])]
        if not any(is_day(int(year), int(month), int(day)) for year, (month, day) in product(years, orders)):
            return False
    return True


NUMBERS = ["85", "59", "1499", "14", "03", "3", "2031", "31", "2", "30", "99", "1931", "00", "0", "'85"]
WORDS = [
    "-",
    "/",
    ".",
    "–",
    " ",
    "10:30",
    "45:99",
    "25:10",
    "MAR",
    "mar",
    "marzo",
    " de ",
    " of ",
    "Monday",
    "NHC",
    "Calle ",
]
PIECES = st.sampled_from(NUMBERS) | st.sampled_from(WORDS)
SHAPED = st.builds(
    lambda a, b, c, sep, space: f"{a}{space}{sep}{space}{b}{space}{sep}{space}{c}",
    st.integers(0, 99).map(str) | st.integers(1, 12).map("{:02}".format) | st.integers(1400, 2099).map(str),
    st.integers(0, 99).map(str) | st.integers(1, 31).map("{:02}".format),
    st.integers(0, 99).map("{:02}".format) | st.integers(1400, 2099).map(str),
    st.sampled_from("-/.–⁄"),
    st.sampled_from(["", " "]),
)
TEXTS = SHAPED | st.lists(PIECES | SHAPED, min_size=1, max_size=5).map("".join)
KEYS = st.integers(0, 50)


def surrogate(text: str, label: str, number: int = 1, locale: str = "es_ES") -> str:
    return Surrogates(note_key(SECRET, str(number), ""), locale).of(text, label)


@given(TEXTS, st.sampled_from(DATES), KEYS, st.sampled_from(["es_ES", "en_US"]))
def test_what_is_called_a_date_becomes_a_date_or_a_label(text: str, label: str, key: int, locale: str) -> None:
    found = surrogate(text, label, key, locale)
    assert only_days(found), found
    assert all(int(hour) < 24 and int(minute) < 60 for hour, minute in TIME.findall(found)), found
    if found != f"[{label}]" and not re.search("17[0-9][0-9]", found):
        for by_month in (False, True):  # it is in a form that is known as one
            still = shift_date(found, DateShift(0, 0, 0), month_first=by_month)
            assert still is not None and re.sub(r"\D", "", still) == re.sub(r"\D", "", found), found


@given(TEXTS, st.sampled_from(OTHERS), KEYS)
def test_no_other_type_makes_a_date_that_is_none(text: str, label: str, key: int) -> None:
    found = surrogate(text, label, key)
    assert only_days(found), found


@pytest.mark.parametrize("label", [*DATES, *OTHERS])
@pytest.mark.parametrize(
    "text",
    [
        "85-59-1499",
        "31/02/2031",
        "14-13-2031",
        "2031-02-30",
        "00/00/2031",
        "85 / 59 / 1499",
        "99.99.99",
        "32 de marzo de 2031",
    ],
)
def test_a_day_that_there_is_not_gets_a_label(text: str, label: str) -> None:
    assert surrogate(text, label) == f"[{label}]"


@pytest.mark.parametrize("label", OTHERS)
@pytest.mark.parametrize(
    "text", ["14/03/2031", "2031-03-14", "14-MAR-2031", "03/2031", "14 de marzo de 2031", "14.3.31"]
)
def test_a_date_under_another_type_is_moved_as_dates_are(text: str, label: str) -> None:
    assert surrogate(text, label) == surrogate(text, "DATE") != text


@pytest.mark.parametrize("text", ["14-03-31-555", "2031/145", "20310314", "12/4", "145/2031"])
def test_a_number_that_is_no_date_keeps_its_shape(text: str) -> None:
    found = surrogate(text, "ID")
    assert found != text and re.sub("[0-9]", "0", found) == re.sub("[0-9]", "0", text)


@pytest.mark.parametrize("text", ["14/03/2031 25:10", "14/03/2031 10:75", "45:99"])
def test_a_time_that_there_is_not_stays_nowhere(text: str) -> None:
    assert surrogate(text, "DATE") == "[DATE]"

"""One day in several notations is one day after the shift. The oracle is the calendar of Python's datetime."""

from __future__ import annotations

import datetime as dt
import random
import re
from collections.abc import Callable
from itertools import combinations_with_replacement

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.documents import Document, Span
from crfdeid.redaction.redact import redact
from crfdeid.redaction.surrogates import note_key
from crfdeid.redaction.surrogates.dates import DateShift, NoteDates, patient_shift, shift_date
from crfdeid.secrets import HmacChooser

SECRET = b"a secret of the tests"
PATIENTS = [f"patient {number}" for number in range(200)]
SHARES = 12
FIRST_DAY, DAYS = dt.date(2002, 1, 1), 14_000  # until 2040: two digits of a year are clear

Notation = Callable[[dt.date], str]
_MONTHS = {
    "en": "January February March April May June July August September October November December",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
}
_WEEKDAYS = {
    "en": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "es": "lunes martes miércoles jueves viernes sábado domingo",
    "de": "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag",
    "fr": "lundi mardi mercredi jeudi vendredi samedi dimanche",
}
MONTHS, WEEKDAYS = ({code: text.split() for code, text in some.items()} for some in (_MONTHS, _WEEKDAYS))


def ordinal(day: int) -> str:
    return f"{day}" + ("th" if 10 < day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th"))


def written(form: str, code: str) -> Notation:
    """A notation: {d} and {m} are numbers, {mon} and {month} a month, {y} and {yy} the year, {w} and {wd} a weekday."""

    def write(day: dt.date) -> str:
        month, weekday = MONTHS[code][day.month - 1], WEEKDAYS[code][day.weekday()]
        iso = day.isocalendar()
        return form.format(
            d=day.day,
            dd=f"{day.day:02}",
            nth=ordinal(day.day),
            jour="1er" if day.day == 1 else day.day,
            m=day.month,
            mm=f"{day.month:02}",
            mon=month[:3],
            MON=month[:3].upper(),
            month=month,
            y=day.year,
            yy=f"{day.year % 100:02}",
            w=weekday,
            wd=weekday[: 2 if code == "de" else 3],
            iso=f"{iso.year}-W{iso.week:02}-{iso.weekday}",
        )

    return write


EVERYWHERE = "{y}-{mm}-{dd}|{y}/{mm}/{dd}|{y}{mm}{dd}|{y}-{mm}-{dd}T10:22:48Z|{y}{mm}{dd}T102248Z|{iso}"
WITH_YEAR = {
    "en_US": "{mm}/{dd}/{y}|{m}/{d}/{yy}|{m}/{d}/'{yy}|{mon}-{dd}-{yy}|{month} {d}, {y}|{mon} {nth} in {y}|"
    "{mon} {d} '{yy}|{d} {month} {y}|the {nth} of {month}, {y}|{dd}-{mon}-{y}|{dd}{MON}{y}|{d} {mon} {yy}|"
    "{y}-{mon}-{dd}|{y} {mon} {d}|{y} {month} {d}|{dd}/{mon}/{y}:10:22:00 +0000|{w}, {month} {d}, {y}|"
    "{wd} {mon} {dd} 10:22:48 {y}|{wd} {mm}/{dd}/{y}",
    "es_ES": "{dd}/{mm}/{y}|{d}-{m}-{yy}|{d} de {month} de {y}|{d} de {month} del año {y}|{d} {mon} {y}|"
    "{dd}/{MON}/{yy}|{month} {d} de {y}|{d} de {month}, {y}|{d} de {month} en {y}|{y}-{mon}-{dd}|{y} {month} {d}|"
    "{d} de {mon}. de {y}|{d} de {month} de '{yy}|{w}, {dd}/{mm}/{y}|{wd}. {d} de {month} de {y}|{dd}/{mm}/{y} 10:22",
    "de_DE": "{dd}.{mm}.{y}|{d}.{m}.{yy}|{d}. {m}. {y}|{d}. {month} {y}|{d}.{month} {y}|{d}. {month} '{yy}|"
    "{y} {month} {d}|{w}, den {d}. {month} {y}|{wd}., {dd}.{mm}.{y}|{dd}.{mm}.{y}, 10.22 Uhr",
    "fr_FR": "{dd}/{mm}/{y}|{d}/{m}/{yy}|{dd}.{mm}.{y}|{jour} {month} {y}|le {jour} {month} '{yy}|{y} {month} {jour}|"
    "{w} {jour} {month} {y}|{wd}. {dd}/{mm}/{yy}|{dd}/{mm}/{y} à 10h22",
}
WITHOUT_YEAR = {
    "en_US": "{m}/{d}|{mm}/{dd}|{month} {d}|{mon} {nth}|{d} {month}|the {nth} of {month}|{dd}-{mon}|10:30 on {m}/{d}",
    "es_ES": "{d}/{m}|{dd}/{mm}|{d} de {month}|el {d} de {month}|{d} {mon}",
    "de_DE": "{d}.{m}.|{dd}.{mm}.|{d}. {month}|am {d}. {month}",
    "fr_FR": "{d}/{m}|{dd}/{mm}|{jour} {month}|le {jour} {month}",
}
LOCALES = sorted(WITH_YEAR)


def notations(locale: str) -> tuple[list[Notation], list[Notation]]:
    """Those with a year, and those without; a weekday without a year would say which year it is."""
    code = locale[:2]
    whole = f"{EVERYWHERE}|{WITH_YEAR[locale]}".split("|")
    return [written(form, code) for form in whole], [written(form, code) for form in WITHOUT_YEAR[locale].split("|")]


def plain(text: str) -> str:
    """A text without leading zeros, and with three letters of a month, since "12" and "May" may be either form."""
    return re.sub(r"([^\W\d_]{3})[^\W\d_]*", r"\1", re.sub(r"(?<!\d)0(?=\d)", "", text)).casefold()


def shift_of(patient: str) -> DateShift:
    return patient_shift(HmacChooser(note_key(SECRET, patient, "")))


def days(seed: str) -> list[tuple[str, dt.date]]:
    """A day for each patient."""
    numbers = random.Random(seed)
    return [(patient, FIRST_DAY + dt.timedelta(numbers.randrange(DAYS))) for patient in PATIENTS]


@pytest.mark.parametrize("locale", LOCALES)
def test_one_day_in_two_notations_is_one_day_after_the_shift(locale: str) -> None:
    """All patients, and all pairs of notations of which one has a year; each patient has a share of the pairs."""
    whole, without_year = notations(locale)
    first = locale == "en_US"
    for turn, (patient, day) in enumerate(days(locale)):
        shift = shift_of(patient)
        new = day + dt.timedelta(shift.days)
        expected = [(write(day), plain(write(new))) for write in (*whole, *without_year)]
        pairs = [pair for pair in combinations_with_replacement(range(len(expected)), 2) if pair[0] < len(whole)]
        for one, other in pairs[turn % SHARES :: SHARES]:
            pair = [expected[one], expected[other]]
            note = NoteDates.of([text for text, _ in pair], month_first=first, locale=locale)
            for text, after in pair:
                found = shift_date(text, shift, month_first=first, locale=locale, note=note)
                assert found is not None and plain(found) == after, (patient, pair, found)


def redacted(values: list[str], patient: str, locale: str, *, order: str | None = None) -> list[str]:
    """The surrogates of dates in a note."""
    text, spans = "", []
    for value in values:
        spans.append(Span(len(text), len(text) + len(value), "DATE"))
        text += f"{value} ; "
    note = redact(
        Document("1", text, tuple(spans)), "surrogate", secret=SECRET, patient=patient, locale=locale, date_order=order
    )
    return [note.text[start:end] for start, end, _ in note.spans]


@pytest.mark.parametrize("locale", LOCALES)
def test_all_notations_of_a_day_in_one_note_are_one_day(locale: str) -> None:
    forms = [write for some in notations(locale) for write in some]
    for patient, day in days(f"notes in {locale}")[::3]:
        new = day + dt.timedelta(shift_of(patient).days)
        order = random.Random(patient).sample(forms, len(forms))
        found = redacted([write(day) for write in order], patient, locale, order="mdy" if locale == "en_US" else "dmy")
        assert [*map(plain, found)] == [plain(write(new)) for write in order]


@given(st.permutations([0, 1, 2, 3, 4]), st.sampled_from(PATIENTS))
def test_the_order_of_dates_has_no_influence(order: list[int], patient: str) -> None:
    values = ["3/14", "5/6/2029", "3/14/2031", "March 14", "1/2/2032"]
    found = dict(zip((values[i] for i in order), redacted([values[i] for i in order], patient, "en_US"), strict=True))
    assert [found[value] for value in values] == redacted(values, patient, "en_US")


@pytest.mark.parametrize(
    ("values", "whole"),
    [
        (["3/14", "3/14/29", "1/2/31", "1/3/31"], "2029-03-14"),  # the same day with a year
        (["3/14", "3/14/29", "3/14/31"], "2031-03-14"),  # of equally frequent years the last
        (["3/14", "3/14/29", "3/14/29", "3/14/31"], "2029-03-14"),
        (["1/2", "12/28/30", "12/29/30", "5/6/80"], "2031-01-02"),  # nearest to a date of the most frequent year
        (["12/28", "1/2/31"], "2030-12-28"),
        (["12/28-1/2/31", "12/28/27"], "2030-12-28"),  # nearest to a date of its own value
        (["2/29", "3/4/31"], "2032-02-29"),  # a leap year
        (["2/29", "in 1999"], "2000-02-29"),
        (["3/14", "March 2031"], "2031-03-14"),
        (["3/14", "3/20-3/22/31"], "2031-03-14"),
        (["3/14", "14 de marzo de 2029", "1/2/31"], "2029-03-14"),
    ],
)
def test_a_day_without_a_year_takes_it_from_the_note(values: list[str], whole: str) -> None:
    for patient in PATIENTS[:40]:
        new = dt.date.fromisoformat(whole) + dt.timedelta(shift_of(patient).days)
        assert plain(redacted(values, patient, "en_US")[0].split("-")[0]) == f"{new.month}/{new.day}"


@given(st.dates(dt.date(1990, 1, 1), dt.date(2038, 1, 1)), st.integers(0, 120), st.sampled_from(PATIENTS))
def test_intervals_to_days_without_a_year_hold(day: dt.date, later: int, patient: str) -> None:
    other = day + dt.timedelta(later)
    whole, alone = redacted([day.isoformat(), f"{other.month}/{other.day}"], patient, "en_US")
    new = dt.date.fromisoformat(whole) + dt.timedelta(later)
    assert plain(alone) == f"{new.month}/{new.day}"


@pytest.mark.parametrize("locale", LOCALES)
def test_a_month_with_a_day_in_the_note_is_the_month_of_the_day(locale: str) -> None:
    month, alone = (written(form, locale[:2]) for form in ("{month} {y}", "{month}"))
    for patient, day in days(f"months in {locale}")[:60]:
        new = day + dt.timedelta(shift_of(patient).days)
        found = redacted([month(day), day.isoformat(), alone(day)], patient, locale)
        assert found == [month(new), new.isoformat(), alone(new)]


# --- ranges and lists

SHARED = [
    ("en_US", "{0}-{1} {month} {y}", "{0} {month}-{1} {later} {y}", "{0} {month} {y}-{1} {later} {z}"),
    ("en_US", "{0} to {1} {month} {y}", "{0} {month} to {1} {later} {y}", "{0} {month} {y} to {1} {later} {z}"),
    ("en_US", "{month} {0}-{1}, {y}", "{month} {0}-{later} {1}, {y}", "{month} {0}, {y}-{later} {1}, {z}"),
    ("en_US", "{month} {0} and {1}, {y}", "{month} {0} and {later} {1}, {y}", "{month} {0}, {y} and {later} {1}, {z}"),
    ("en_US", "{m}/{0}-{1}/{y}", "{m}/{0}-{n}/{1}/{y}", "{m}/{0}/{y}-{n}/{1}/{z}"),
    ("es_ES", "del {0} al {1} de {month} de {y}", "del {0} de {month} al {1} de {later} de {y}",
     "del {0} de {month} de {y} al {1} de {later} de {z}"),
    ("es_ES", "{0} y {1} de {month} de {y}", "{0} de {month} y {1} de {later} de {y}",
     "{0} de {month} de {y} y {1} de {later} de {z}"),
    ("es_ES", "{0}-{1}/{m}/{y}", "{0}/{m}-{1}/{n}/{y}", "{0}/{m}/{y}-{1}/{n}/{z}"),
    ("de_DE", "{0}. bis {1}. {month} {y}", "{0}. {month} bis {1}. {later} {y}",
     "{0}. {month} {y} bis {1}. {later} {z}"),
    ("de_DE", "{0}.-{1}.{m}.{y}", "{0}.{m}.-{1}.{n}.{y}", "{0}.{m}.{y}-{1}.{n}.{z}"),
    ("fr_FR", "{j0} au {j1} {month} {y}", "{j0} {month} au {j1} {later} {y}", "{j0} {month} {y} au {j1} {later} {z}"),
]  # fmt: skip


def written_range(forms: tuple[str, ...], code: str, first: dt.date, last: dt.date) -> str:
    """Two days in the form for one month, for two months of a year, or for two years."""
    same = (first.year == last.year, first.month == last.month)
    return forms[0 if all(same) else 1 if same[0] else 2].format(
        first.day,
        last.day,
        **dict(zip(("j0", "j1"), ("1er" if one.day == 1 else one.day for one in (first, last)), strict=True)),
        **{"month": MONTHS[code][first.month - 1], "later": MONTHS[code][last.month - 1]},
        **{"m": first.month, "n": last.month, "y": first.year, "z": last.year},
    )


@pytest.mark.parametrize(("locale", "one_month", "one_year", "whole"), SHARED)
def test_days_that_share_a_month_or_a_year_are_all_shifted(
    locale: str, one_month: str, one_year: str, whole: str
) -> None:
    forms, code = (one_month, one_year, whole), locale[:2]
    for patient, day in days(one_month):
        first, last = day.replace(day=1 + day.day % 25), day.replace(day=2 + day.day % 25 + day.day % 2)
        shift = dt.timedelta(shift_of(patient).days)
        (found,) = redacted(
            [written_range(forms, code, first, last)], patient, locale, order="mdy" if code == "en" else "dmy"
        )
        assert plain(found) == plain(written_range(forms, code, first + shift, last + shift))


@pytest.mark.parametrize(
    ("locale", "text", "expected"),
    [
        ("en_US", "3/14-3/20/31", "4/14-4/20/31"),
        ("en_US", "March 14 to April 2, 2031", "April 14 to May 3, 2031"),
        ("en_US", "September 3-October 11", "October 4-November 11"),
        ("en_US", "12/28-1/3/31", "1/28-2/3/31"),
        ("en_US", "March 14, 15 and 16, 2031", "April 14, 15 and 16, 2031"),
        ("en_US", "14 March 10:30", "14 April 10:30"),
        ("en_US", "14 March, 15 March 2031", "14 April, 15 April 2031"),
        ("es_ES", "14/03-20/03/2031", "14/04-20/04/2031"),
        ("es_ES", "14, 15 y 16 de marzo", "14, 15 y 16 de abril"),
        ("es_ES", "mar 18/03/2031", "vie 18/04/2031"),
        ("es_ES", "14-dic-2031", "14-ene-2032"),
        ("es_ES", "dic-08", "ene-09"),  # in English, the 8th of December
        ("es_ES", "14 mar-15 abr", "14 abr-16 may"),
        ("de_DE", "14.-20.3.2031", "14.-20.4.2031"),
        ("de_DE", "17. Januar-15. Februar 2009", "17. Februar-18. März 2009"),
        ("fr_FR", "14/03-20/03/2031", "14/04-20/04/2031"),
    ],
)
def test_parts_of_ranges_stay_shared(locale: str, text: str, expected: str) -> None:
    found = shift_date(text, DateShift(31, 1, 0), month_first=locale == "en_US", locale=locale)
    assert found == expected


# --- days of the week

BESIDE = [
    ("en_US", "Seen Friday ", "{m}/{d}/{y}", " at noon."),
    ("en_US", "Seen Fri., ", "{m}/{d}/{y}", "."),
    ("en_US", "on ", "{m}/{d}/{y}", " (a Friday) he"),
    ("en_US", "Friday, the ", "{nth} of {month} {y}", ""),
    ("en_US", "FRIDAY 10:30 ", "{y}-{mm}-{dd}", ""),
    ("es_ES", "el viernes, día ", "{d} de {month} de {y}", ""),
    ("es_ES", "vie. ", "{dd}/{mm}/{y}", ""),
    ("de_DE", "am Freitag, den ", "{dd}.{mm}.{y}", ""),
    ("de_DE", "Fr, ", "{d}.{m}.{y}", ""),
    ("fr_FR", "vu vendredi ", "{jour} {month} {y}", " au soir"),
    ("fr_FR", "ven. ", "{dd}/{mm}/{y}", ""),
]
SHORT = {"en": 3, "es": 3, "de": 2, "fr": 3}


AROUND = [
    ("en_US", "{m}/{d}/{y}", "{day} was a {w}.", "en", 9),
    ("en_US", "{m}/{d}/{y}", "{w}'s visit of {day}", "en", 9),
    ("en_US", "{m}/{d}/{y}", "Seen {w} afternoon at 3pm on {day}", "en", 9),
    ("en_US", "{m}/{d}/{y}", "Here on {w}, which was {day}.", "en", 9),
    ("en_US", "{m}/{d}/{y}", "{w}. {day}", "en", 4),
    ("es_ES", "{dd}/{mm}/{y}", "El {day}, que fue {w}, vino.", "es", 9),
    ("es_ES", "{dd}/{mm}/{y}", "{w}. {day}", "es", 4),
    ("de_DE", "{dd}.{mm}.{y}", "Am {day}, einem {w}, kam er.", "de", 10),
    ("de_DE", "{dd}.{mm}.{y}", "{w}abend des {day}", "de", 10),
    ("de_DE", "{dd}.{mm}.{y}", "{w}. {day}", "de", 5),
    ("fr_FR", "{dd}/{mm}/{y}", "Le {day}, un {w}, tout allait bien.", "fr", 9),
    ("fr_FR", "{dd}/{mm}/{y}", "{w}. {day}", "fr", 4),
    *((locale, "{y}-{mm}-{dd}", "{w} {day}", other, 10) for locale in LOCALES for other in WEEKDAYS),
]


@pytest.mark.parametrize(("locale", "form", "sentence", "code", "letters"), AROUND)
def test_a_weekday_is_shifted_across_words_abbreviations_compounds_and_languages(
    locale: str, form: str, sentence: str, code: str, letters: int
) -> None:
    for number, patient in enumerate(PATIENTS[:7]):
        day = dt.date(2031, 3, 14) + dt.timedelta(number)
        new = day + dt.timedelta(shift_of(patient).days)
        value, moved = (written(form, locale[:2])(one) for one in (day, new))
        text, expected = (
            sentence.format(day=shown, w=WEEKDAYS[code][one.weekday()][:letters])
            for shown, one in ((value, day), (moved, new))
        )
        start = text.index(value)
        note = Document("1", text, (Span(start, start + len(value), "DATE"),))
        found = redact(note, "surrogate", secret=SECRET, patient=patient, locale=locale).text
        assert plain(found) == plain(expected)


@pytest.mark.parametrize(("locale", "before", "form", "after"), BESIDE)
@pytest.mark.parametrize("number", range(20))
def test_a_weekday_next_to_a_date_is_shifted_with_it(
    locale: str, before: str, form: str, after: str, number: int
) -> None:
    code, patient = locale[:2], PATIENTS[number]
    friday = dt.date(2031, 3, 14) + dt.timedelta(7 * number)
    value = written(form, code)(friday)
    document = Document("1", before + value + after, (Span(len(before), len(before) + len(value), "DATE"),))
    found = redact(document, "surrogate", secret=SECRET, patient=patient, locale=locale)
    new = friday + dt.timedelta(shift_of(patient).days)
    old, weekday = (WEEKDAYS[code][day.weekday()] for day in (friday, new))
    match = re.search(f"{old}|{old[: SHORT[code]]}", f"{before} {after}", re.IGNORECASE)
    assert match is not None
    weekday = weekday[: len(match.group())] if len(match.group()) < len(old) else weekday
    weekday = weekday.upper() if match.group().isupper() else weekday
    expected = f"{before}{written(form, code)(new)}{after}".replace(match.group(), weekday)
    assert plain(found.text) == plain(expected)
    (span,) = found.spans
    assert weekday in found.text[span.start : span.end]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("O2 sat ", ": 95 %"),
        ("Friday came Quill. ", ""),
        ("so ", ""),
        ("", ". He sat up"),
        ("", ". Home by Friday"),
    ],
)
def test_words_that_belong_to_no_date_stay(before: str, after: str) -> None:
    document = Document("1", f"{before}3/14/2031{after}", (Span(len(before), len(before) + 9, "DATE"),))
    found = redact(document, "surrogate", secret=SECRET, locale="en_US").text
    assert found.startswith(before) and found.endswith(after)


@pytest.mark.parametrize("operator", ["label", "mask", "numbered", "hash", "remove"])
def test_other_operators_leave_the_weekday(operator: str) -> None:
    document = Document("1", "Friday 3/14/2031", (Span(7, 16, "DATE"),))
    assert redact(document, operator, secret=SECRET).text.startswith("Friday ")


def test_a_weekday_in_another_span_is_that_span() -> None:
    text = "Domingo 14/03/2031"
    document = Document("1", text, (Span(0, 7, "DOCTOR"), Span(8, 18, "DATE")))
    found = redact(document, {"DATE": "surrogate", "label": "label"}, secret=SECRET, locale="es_ES")
    assert found.text.startswith("[DOCTOR] ") and len(found.spans) == 2


def test_the_language_of_a_weekday_is_guessed_where_no_locale_is_given() -> None:
    text = "The patient was seen on Friday 3/14/2031 by the nurse."
    document = Document("1", text, (Span(31, 40, "DATE"),))
    found = redact(document, "surrogate", secret=SECRET, patient="1").text
    assert found == redact(document, "surrogate", secret=SECRET, patient="1", locale="en_US").text
    assert "Friday" not in found


@pytest.mark.parametrize(
    ("locale", "form", "days"),
    [
        ("en_US", "{w} the {d}", "Mon Tue Wed Thu Fri Sat Sun"),
        ("es_ES", "{w} día {d}", "lun mar mié jue vie sáb dom"),
        ("de_DE", "{w}, den {d}", "Mo Di Mi Do Fr Sa So"),
        ("fr_FR", "{w}. le {d}", "lun mar mer jeu ven sam dim"),
    ],
)
def test_a_short_weekday_before_an_article_and_a_date_is_shifted_with_it(locale: str, form: str, days: str) -> None:
    names = days.split()
    for patient in map(str, range(5)):
        for i, name in enumerate(names):
            text = f"Seen {form.format(w=name, d=f'2031-03-{10 + i}')}."
            start = text.index("2031")
            note = Document("1", text, (Span(start, len(text) - 1, "DATE"),))
            found = redact(note, "surrogate", secret=b"x" * 16, patient=patient, locale=locale).text
            date = dt.date.fromisoformat(found[-11:-1])
            assert found == f"Seen {form.format(w=names[date.weekday()], d=date)}."

"""Dates shifted by days, in the form of the original.

`DATE_PATTERNS` is the table of forms. Each part of a date is rewritten in its position, width, language and case, and
the text between the parts does not change. Text in no known form has no surrogate: an invented date could misstate the
course of an illness.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from types import MappingProxyType
from typing import NamedTuple

import regex

from crfdeid.redaction.surrogates.words import casefold_accents, language_pack, splice, surrogate_table, with_case_of
from crfdeid.secrets import HmacChooser
from features.languages import LANGUAGES
from features.lexicons import (
    ENGLISH_MONTHS,
    ENGLISH_WEEKDAYS,
    SPANISH_MONTHS,
    SPANISH_WEEKDAYS,
    english_ordinal,
    month_number,
)

_MONTHS = (*ENGLISH_MONTHS, *SPANISH_MONTHS)
_SHORT_MONTHS = "|".join(name[:3] for name in _MONTHS)  # of any month
_DAY, _YEAR, _YEAR4 = (
    r"(?P<day>[0-3]?[0-9])",
    r"(?P<year>(?:1[89]|20)[0-9][0-9]|['’]?[0-9][0-9])",
    r"(?P<year>(?:1[89]|20)[0-9][0-9])",
)
_NUMBER = r"(?P<{}>[0-9][0-9]?)"
_SLASHED = (
    rf"{_NUMBER.format('a')}\s?(?P<sep>[-/.])\s?{_NUMBER.format('b')}\s?(?P=sep)\s?"
    r"(?P<year>(?:1[89]|20)[0-9][0-9]|[0-9][0-9])(?![0-9])"
)


def _forms(names: str, between: str, ordinal: str, after_month: str) -> list[str]:
    """Return the forms of dates, the most complete first. "a" and "b" are day and month in the order of the note.

    Args:
        names: alternatives of an expression, the names of months.
        between: alternatives, words between day, month and year.
        ordinal: alternatives, what follows the number of a day.
        after_month: characters between the numbers of a day and a month without a year.
    """
    month = rf"(?P<month>(?:{names}))"
    gap = rf"(?:\s*[-/.,]\s*|\s+(?:{between})\s+(?:(?:{between})\s+)?|\s+|)"
    suffix = rf"(?P<ordinal>{ordinal})?"
    return [
        rf"(?P<year>(?:1[89]|20)[0-9][0-9])\s?(?P<sep>[-/.])\s?(?P<monthnumber>[0-9][0-9]?)\s?(?P=sep)\s?{_DAY}(?![0-9])",
        _SLASHED,
        r"(?P<year>(?:1[89]|20)[0-9][0-9])(?P<monthnumber>[01][0-9])(?P<day>[0-3][0-9])(?![0-9])",
        rf"{_DAY}{suffix}{gap}{month}\.?(?!\p{{L}}){gap}{_YEAR}(?![0-9])",
        rf"{month}\.?(?!\p{{L}}){gap}{_DAY}(?P<ordinal>st|nd|rd|th)?{gap}{_YEAR4}(?![0-9])",
        rf"{month}\.?(?!\p{{L}}){gap}{_YEAR4}(?![0-9])",
        rf"{month}\.?(?!\p{{L}})\s*(?P<year>['’][0-9][0-9])(?![0-9])",
        rf"{_DAY}{suffix}{gap}{month}(?!\p{{L}})",
        rf"{month}\.?(?!\p{{L}}){gap}{_DAY}(?P<ordinal>st|nd|rd|th)?(?![0-9\p{{L}}])",
        rf"(?P<monthnumber>[0-9][0-9]?)\s?[-/.]\s?{_YEAR4}(?![0-9])",
        r"(?P<monthnumber>[0-9][0-9]?)\s?[-/]\s?(?P<year>(?:3[2-9]|[4-9][0-9]))(?![0-9])",
        rf"{_NUMBER.format('a')}\s?{after_month}\s?{_NUMBER.format('b')}(?![0-9])",
        rf"{month}(?!\p{{L}})",
        rf"{_YEAR4}(?![0-9\p{{L}}])",
        r"(?P<year>['’][0-9][0-9])(?![0-9\p{L}])",
    ]


# Each casefolded way to write a day of the week -> the days in its language, and its index.
_WEEKDAYS = {
    form: (names, i)
    for names in (ENGLISH_WEEKDAYS, SPANISH_WEEKDAYS)
    for i, name in enumerate(map(casefold_accents, names))
    for form in ((name, name[:3]) if names is ENGLISH_WEEKDAYS else (name,))
} | {form: (ENGLISH_WEEKDAYS, i) for form, i in (("tues", 1), ("weds", 2), ("thur", 3), ("thurs", 3))}
_WEEKDAY_NAMES = {*SPANISH_WEEKDAYS, *_WEEKDAYS}
_BEFORE = r"(?<![0-9\p{L}])"

DATE_PATTERNS = [
    regex.compile(_BEFORE + form, regex.IGNORECASE)
    for form in _forms(
        f"{'|'.join(_MONTHS)}|sept|setiembre|{_SHORT_MONTHS}", "de|del|of|año|the", "st|nd|rd|th|º|ª", "[-/]"
    )
]
"""Forms of dates, with the groups day, month (a name), monthnumber, year, ordinal, or a and b for day and month."""

_WEEKDAY = regex.compile(rf"(?<!\p{{L}})(?P<weekday>{'|'.join(_WEEKDAY_NAMES)})(?!\p{{L}})", regex.IGNORECASE)

# Times of the day, and words that relate dates to each other; neither changes.
_RELATIVE_TIME = regex.compile(
    r"(?<![0-9:])(?:[01]?[0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9])?(?![0-9:])(?:\s?[ap]\.?m\.?|\s?h)?"
    r"|(?<!\p{L})(?:of|the|on|in|at|to|from|and|since|until|till|last|next|this|that|past|previous|following|early|mid|"
    r"late|ago|day|days|week|weeks|month|months|year|years|morning|afternoon|evening|night|noon|today|yesterday|tomorrow|"
    r"am|pm|de|del|el|la|los|las|al|a|y|en|desde|hasta|año|años|mes|meses|día|días|semana|semanas|pasado|pasada|próximo|"
    r"próxima|este|esta|hace|ayer|hoy|mañana|tarde|noche|principios|mediados|finales|inicio|"
    r"ese|esa|aquel|aquella|mismo|misma|dicho|dicha|same|"
    r"spring|summer|fall|autumn|winter|primavera|verano|otoño|invierno)"
    r"(?!\p{L})",
    regex.IGNORECASE,
)


class Calendar(NamedTuple):
    """Dates of a language.

    Attributes:
        patterns: forms of dates, the most complete first, with the groups of `DATE_PATTERNS`.
        weekday: days of the week.
        relative: times of the day, and words that relate dates to each other; neither changes.
        part_of_year: a day or a month, in a date that is more than a year.
        code: the language of the pack; "" for English and Spanish.
        months: each casefolded way to write a month -> its number.
        full_months: names of the months.
        short_months: abbreviations of the months, and names that are never abbreviated.
        full_weekdays: names of the days of the week.
        short_weekdays: abbreviations of the days of the week.
        first_day: what follows the number of the first day of a month: "er".
        days: several days of one month; None if they have no surrogates.
    """

    patterns: Sequence[regex.Pattern[str]]
    weekday: regex.Pattern[str]
    relative: regex.Pattern[str]
    part_of_year: regex.Pattern[str]
    code: str = ""
    months: Mapping[str, int] = MappingProxyType({})
    full_months: Sequence[str] = ()
    short_months: Sequence[str] = ()
    full_weekdays: Sequence[str] = ()
    short_weekdays: Sequence[str] = ()
    first_day: str = ""
    days: regex.Pattern[str] | None = None


@lru_cache(maxsize=16)
def calendar_of(locale: str) -> Calendar:
    """Return the dates of a locale's language; those of English and Spanish are read together."""
    pack = language_pack(locale)
    if pack is None:
        return _BILINGUAL
    listed = partial(pack.entries, "surrogates", "dates")
    section = surrogate_table(pack, "dates")
    full, full_weekdays = [names[0] for names in pack.months], [names[0] for names in pack.weekdays]
    short = listed("short_months") or [name[:3] for name in full]
    short_weekdays = listed("short_weekdays") or [name[:2] for name in full_weekdays]
    months = {
        casefold_accents(form): number
        for number, names in enumerate(pack.months, start=1)
        for form in (*names, short[number - 1])
    }
    months_in = _alternatives({form for names in pack.months for form in names} | set(short) | set(months))
    weekdays_in = _alternatives({*(form for names in pack.weekdays for form in names), *short_weekdays})
    first_day = section.get("first_day", "")
    forms = _forms(
        rf"(?:{months_in})\.?",
        section.get("between", "(?!)"),
        regex.escape(first_day) if first_day else "(?!)",
        "[-/.]",
    )
    words = _alternatives(listed("relative") or ("(?!)",))
    joint = rf"(?:\s*,\s*|\s*[-–/]\s*|\s+(?:{section.get('joint', '(?!)')})\s+)"
    day = rf"[0-3]?[0-9](?:{first_day})?\.?"
    return Calendar(
        [regex.compile(_BEFORE + form, regex.IGNORECASE) for form in forms],
        regex.compile(rf"(?<!\p{{L}})(?P<weekday>{weekdays_in})(?!\p{{L}})", regex.IGNORECASE),
        regex.compile(
            rf"(?<![0-9:])(?:[01]?[0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9])?(?![0-9:])(?:\s?h)?"
            rf"|(?<!\p{{L}})(?:{section.get('clock', '(?!)')}|{words})(?!\p{{L}})",
            regex.IGNORECASE,
        ),
        regex.compile(rf"(?<![0-9])[0-9]{{1,2}}(?![0-9])|(?<!\p{{L}})(?:{months_in})", regex.IGNORECASE),
        pack.code,
        MappingProxyType(months),
        full,
        short,
        full_weekdays,
        short_weekdays,
        first_day,
        regex.compile(
            rf"{_BEFORE}(?P<first>{day})(?P<joint>{joint})(?=(?:{day}{joint})*{day}"
            rf"(?P<rest>\s*(?:{months_in})(?!\p{{L}})\.?(?:\s+(?:1[89]|20)[0-9][0-9](?![0-9]))?))",
            regex.IGNORECASE,
        ),
    )


def _alternatives(forms: Iterable[str]) -> str:
    """Return the forms as alternatives of an expression, the longest first."""
    return "|".join(sorted(forms, key=lambda form: (-len(form), form)))


_DASH = r"\s?[-/.\p{Pd}\u2044\u2215\u2212]\s?"
_SHORT_MONTH = rf"(?:{_SHORT_MONTHS})\p{{L}}*"
DATE_LIKE = regex.compile(
    r"(?<![\p{L}\p{N}]|[0-9][-/.])(?:"
    rf"[0-9]{{1,2}}{_DASH}(?:[0-9]{{1,2}}|{_SHORT_MONTH}){_DASH}[0-9]{{2}}(?:[0-9]{{2}})?"
    rf"|[0-9]{{4}}{_DASH}[0-9]{{1,2}}{_DASH}[0-9]{{1,2}}"
    rf"|(?:0?[1-9]|1[0-2]){_DASH}(?:1[89]|20)[0-9][0-9]"
    rf"|[0-9]{{1,2}}\s+(?:de\s+|of\s+)?{_SHORT_MONTH}\s+(?:del?\s+|of\s+)?[0-9]{{4}}"
    r")(?![\p{L}\p{N}]|[-/.][0-9])",
    regex.IGNORECASE,
)
"""Text that looks like a date, valid or not: "14/03/2031", "85-59-1499", "03/2031"."""

_FULL = regex.compile(_BEFORE + _SLASHED)

# Years of two digits up to this one are 20xx.
_LAST_OF_THIS_CENTURY = 40
_A_LEAP_YEAR = 2000  # of a day without a year, so that 29 February is valid
_LEAP_DAY = (2, 29)
_LAST_OF_A_MONTH = 31
_LEAST_DAYS, _MOST_DAYS = 34, 75
_MARK = "\x1f"
_LONGEST_SHORT = 4  # letters of the abbreviation of a month

_OTHER_SEPTEMBER = "setiembre"
_IN_ENGLISH = frozenset(ENGLISH_MONTHS) | {name[:3] for name in ENGLISH_MONTHS}
_IN_SPANISH = frozenset(SPANISH_MONTHS) | {name[:3] for name in SPANISH_MONTHS} | {_OTHER_SEPTEMBER}

_YEARS = regex.compile(r"(?<![0-9])(?:1[89]|20)[0-9][0-9](?![0-9])")
# A day or a month, in a date that is more than a year.
_DAY_OR_MONTH = regex.compile(rf"(?<![0-9])[0-9]{{1,2}}(?![0-9])|(?<!\p{{L}})(?:{_SHORT_MONTHS})", regex.IGNORECASE)
_BILINGUAL = Calendar(DATE_PATTERNS, _WEEKDAY, _RELATIVE_TIME, _DAY_OR_MONTH)


def date_order_of(text: str) -> str | None:
    """Return the order of day and month in a note's dates: "dmy", "mdy", or None if no date shows it.

    It counts dates of three numbers of which one can be no month. It reads the text alone, so that the result does not
    depend on the spans of a model.

    Example:
        >>> [date_order_of(text) for text in ("03/14/1972 and 03/04/1972", "14.3.72", "03/04/1972")]
        ['mdy', 'dmy', None]
    """
    balance = 0
    for match in _FULL.finditer(text):
        first, second = int(match["a"]), int(match["b"])
        if 12 < max(first, second) <= 31 and 1 <= min(first, second) <= 12:
            balance += 1 if first > 12 else -1
    return "dmy" if balance > 0 else "mdy" if balance else None


class DateShift(NamedTuple):
    """Shift of a patient's dates: days for whole dates, months for months without a day, years for years alone.

    Months and years are the rounded days. Intervals between dates of one form are therefore exact, and those between a
    whole date and a month or year alone are exact to the month or year.
    """

    days: int
    months: int
    years: int


def patient_shift(keyed: HmacChooser) -> DateShift:
    """Return a patient's shift: two to nine years back, 34 to 75 days more or less, and no whole number of weeks.

    Day, month, year and weekday all change, and the season roughly stays.
    """
    years = 2 + keyed.number("years", "", 8)
    for attempt in range(8):
        rest = _LEAST_DAYS + keyed.number("days", str(attempt), _MOST_DAYS - _LEAST_DAYS + 1)
        days = -365 * years + (rest if keyed.number("direction", str(attempt), 2) else -rest)
        if days % 7:
            break
    return DateShift(days, round(days / 30.436875), -years)


def shift_date(
    text: str, shift: DateShift, *, month_first: bool, locale: str = "en_US", year: int | None = None
) -> str | None:
    """Return a text of one or several dates with each shifted, or None if part of it is in no known form.

    A day without a year is shifted as one of a given year, or else of the year 2000, so it may be a day off.

    Args:
        text: the dates.
        shift: the patient's shift.
        month_first: True to read 3/4 as the 4th of March; dates with one possible reading ignore it.
        locale: language of the dates.
        year: the year of days without one.
    """
    calendar = calendar_of(locale)
    found = _with_own_months(text, calendar)
    shifted = _shifted_dates(found, shift, month_first, calendar, year)
    return shifted if found == text or shifted is None else _with_shared_months(shifted, calendar)


def _with_own_months(text: str, calendar: Calendar) -> str:
    """Return a text with the month and year of several days after each: "3 mai et 4 mai" for "3 et 4 mai".

    A mark follows each, since "3 mai, 04 mai" without it also reads as the year 04.
    """
    if calendar.days is None or _MARK in text:
        return text
    return str(calendar.days.sub(lambda match: match["first"] + match["rest"] + _MARK + match["joint"], text))


def _with_shared_months(text: str, calendar: Calendar) -> str:
    """Return a text with the month and year of several days after the last alone."""
    text = text.replace(_MARK, "")
    months = _alternatives({*calendar.full_months, *calendar.short_months})
    year = r"(?:\s+[0-9]{4})?"
    next_day = rf"(?=(?:[^0-9]+[0-9]{{1,2}}(?:{calendar.first_day})?\.?)+"
    whole = regex.compile(rf"(?P<rest>\s*(?:{months})\.?{year}){next_day}(?P=rest)(?![\p{{L}}0-9]))", regex.IGNORECASE)
    years = regex.compile(
        rf"(?<=\s(?:{months}))(?P<year>\s+[0-9]{{4}}){next_day}\s*(?:{months})(?P=year))", regex.IGNORECASE
    )
    return str(years.sub("", whole.sub("", text)))


def _shifted_dates(text: str, shift: DateShift, month_first: bool, calendar: Calendar, year: int | None) -> str | None:
    pieces: list[tuple[int, int, str]] = []
    left = sum(map(str.isalnum, text))
    for pattern in (*calendar.patterns, calendar.weekday, calendar.relative):
        if not left:  # further matches would lie within these
            break
        for match in pattern.finditer(text):
            if any(start < match.end() and match.start() < end for start, end, _ in pieces):
                continue
            found = _shifted(match, shift, month_first, calendar, year)
            if found is None:
                return None
            pieces.append((match.start(), match.end(), found))
            left -= sum(map(str.isalnum, match.group()))
    for dated in DATE_LIKE.finditer(text):  # two forms must not share it: "1800-1-40" is no year and month
        if not any(start <= dated.start() and dated.end() <= end for start, end, _ in pieces):
            return None
    pieces.sort()
    rest = splice(text, [(start, end, "") for start, end, _ in pieces])
    return None if any(map(str.isalnum, rest)) else splice(text, pieces)


def year_shift(dates: Iterable[str], shift: DateShift, *, month_first: bool, locale: str = "en_US") -> int:
    """Return the shift in years of a note's years alone: that of most of its dates in these years.

    The year of a whole date shifts by days, so it may differ by one from that of a year alone. With this shift, "seen
    in November 2009, and again in that same year 2009" keeps one year, as far as the note's dates allow it.

    Args:
        dates: the dates of the note.
        shift: the patient's shift.
        month_first: True to read 3/4 as the 4th of March.
        locale: language of the dates.
    """
    part_of_year = calendar_of(locale).part_of_year
    whole = [(text, _YEARS.findall(text)) for text in dates]
    alone = {years[0] for text, years in whole if len(years) == 1 and not part_of_year.search(text)}
    votes = Counter({shift.years: 0})
    for text, years in whole if alone else ():
        if part_of_year.search(text) and alone.intersection(years):
            shifted = shift_date(text, shift, month_first=month_first, locale=locale)
            found = _YEARS.findall(shifted or "")
            votes.update(int(new) - int(old) for old, new in zip(years, found, strict=False) if old in alone)
    return votes.most_common(1)[0][0]


def _shifted(
    match: regex.Match[str], shift: DateShift, month_first: bool, calendar: Calendar, year: int | None
) -> str | None:
    """Return the shifted text of a match, or None for an invalid date such as 30 February."""
    if match.re is calendar.relative:
        return str(match.group())
    if match.re is calendar.weekday:
        return _weekday(match.group(), shift.days, calendar)
    parts = {name: text for name, text in match.groupdict().items() if text is not None and name != "sep"}
    named = _order(parts, month_first)
    if named is None:
        return None
    try:
        new = _shifted_date({named.get(name, name): text for name, text in parts.items()}, shift, calendar, year)
    except (ValueError, OverflowError):
        return None
    if parts.keys() == {"monthnumber", "year"} and len(parts["year"]) == 2 and new.year % 100 <= _LAST_OF_A_MONTH:
        return None  # "3/35" would become 3/31, which reads as a day
    wide = _is_padded(parts)
    offset = match.start()
    changes = sorted(
        (
            match.start(name) - offset,
            match.end(name) - offset,
            _part(named.get(name, name), parts[name], new, calendar, wide=wide, worded="month" in parts),
        )
        for name in parts
    )
    return splice(match.group(), changes)


def _weekday(word: str, days: int, calendar: Calendar) -> str:
    if calendar.code:
        pack, plain = LANGUAGES[calendar.code], casefold_accents(word)
        forms = [
            {*map(casefold_accents, (*names, short))}
            for names, short in zip(pack.weekdays, calendar.short_weekdays, strict=True)
        ]
        i = next(i for i, known in enumerate(forms) if plain in known)
        full, other = calendar.full_weekdays[i], calendar.full_weekdays[(i + days) % 7]
        if len(word) <= len(calendar.short_weekdays[i]):
            return with_case_of(calendar.short_weekdays[(i + days) % 7], word)
        return with_case_of(other + (word[len(full) :] if plain.startswith(casefold_accents(full)) else ""), word)
    names, i = _WEEKDAYS[casefold_accents(word)]
    other = names[(i + days) % 7]
    return with_case_of(other[:3] if len(word) == 3 else other, word)


def _order(parts: dict[str, str], month_first: bool) -> dict[str, str] | None:
    """Return the meaning of the numbers a and b, or None if neither can be a month."""
    if "a" not in parts:
        return {}
    a, b = int(parts["a"]), int(parts["b"])
    orders = [({"a": "monthnumber", "b": "day"}, a), ({"a": "day", "b": "monthnumber"}, b)]
    ranked = orders if month_first else orders[::-1]
    return next((order for order, month in ranked if 1 <= month <= 12), None)


def _shifted_date(values: dict[str, str], shift: DateShift, calendar: Calendar, year_without: int | None) -> dt.date:
    """Return the shifted date; parts that the text lacks have arbitrary values."""
    digits = values.get("year", "").lstrip("'’")
    year = int(digits or year_without or _A_LEAP_YEAR)
    if digits and len(digits) == 2:
        year += 2000 if year <= _LAST_OF_THIS_CENTURY else 1900
    month = int(values.get("monthnumber", 1))
    if "month" in values:
        name = values["month"]
        month = calendar.months[casefold_accents(name).rstrip(".")] if calendar.code else month_number(name) or 0
    if "day" in values:
        if not digits and (month, int(values["day"])) == _LEAP_DAY:
            year = _A_LEAP_YEAR
        return dt.date(year, month, int(values["day"])) + dt.timedelta(shift.days)
    if "month" in values or "monthnumber" in values:
        dt.date(year, month, 1)  # raises ValueError for no month
        years, months = divmod(12 * year + month - 1 + shift.months, 12)
        return dt.date(years, months + 1, 1)
    return dt.date(year + shift.years, 1, 1)


def _is_padded(parts: dict[str, str]) -> bool:
    """Return True if days and months below ten have a leading zero, as in "03/14", or may have one, as in "11/14"."""
    numbers = [text for name, text in parts.items() if name in ("a", "b", "day", "monthnumber")]
    all_wide = "month" not in parts and all(len(text) == 2 for text in numbers)
    return all_wide or any(text.startswith("0") for text in numbers)


def _part(meaning: str, text: str, new: dt.date, calendar: Calendar, *, wide: bool, worded: bool) -> str:
    """Return a part of the new date in the form, language and case of the original."""
    if meaning == "month":
        return _month(text, new.month, calendar)
    if meaning == "ordinal" and calendar.code:
        return ""  # the day has it
    if meaning == "ordinal":
        return text if text in "ºª" else with_case_of(english_ordinal(new.day), text)
    if meaning == "year":
        mark, digits = text[: len(text) - len(text.lstrip("'’"))], text.lstrip("'’")
        return f"{mark}{new.year % 100:02d}" if len(digits) == 2 else f"{new.year}"
    number = new.day if meaning == "day" else new.month
    if meaning == "day" and number == 1 and worded and not wide:
        return f"1{calendar.first_day}"
    return f"{number:02d}" if wide else str(number)


def _month(text: str, number: int, calendar: Calendar) -> str:
    plain = casefold_accents(text)
    if calendar.code:
        word = plain.rstrip(".")
        full, short = calendar.full_months[number - 1], calendar.short_months[number - 1]
        if len(word) > _LONGEST_SHORT or word in map(casefold_accents, calendar.full_months):
            return with_case_of(full, text) + text[len(word) :]
        is_whole = casefold_accents(short) == casefold_accents(full)
        return with_case_of(short, text) + ("." if text.endswith(".") and not is_whole else "")
    spanish = plain not in _IN_ENGLISH and plain in _IN_SPANISH
    found = (SPANISH_MONTHS if spanish else ENGLISH_MONTHS)[number - 1]
    is_whole = plain in (*_MONTHS, _OTHER_SEPTEMBER)
    return with_case_of(found if is_whole else found[:3], text)

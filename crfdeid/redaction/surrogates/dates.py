"""The forms that dates are written in, as a table; each takes a date apart into day, month, year and weekday."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import regex

from crfdeid.redaction.surrogates.chooser import HmacChooser, casefold_accents
from features.lexicons import ENGLISH_MONTHS, SPANISH_MONTHS, month_number

_DAYS = (
    "monday tuesday wednesday thursday friday saturday sunday",
    "lunes martes miércoles jueves viernes sábado domingo",
)
_WEEKDAYS = tuple(names.split() for names in _DAYS)
_WEEKDAY_VARIANTS = {"miercoles": 2, "sabado": 5, "tues": 1, "weds": 2, "thur": 3, "thurs": 3}

_NAMES = (*ENGLISH_MONTHS, *SPANISH_MONTHS)
_SHORT_MONTHS = "|".join(name[:3] for name in _NAMES)
"""An expression for the first three letters of any month."""
_MONTH = rf"(?P<month>(?:{'|'.join(_NAMES)}|sept|setiembre|{_SHORT_MONTHS}))"
_DAY, _YEAR, _YEAR4 = (
    r"(?P<day>[0-3]?[0-9])",
    r"(?P<year>(?:1[89]|20)[0-9][0-9]|['’]?[0-9][0-9])",
    r"(?P<year>(?:1[89]|20)[0-9][0-9])",
)
_GAP = r"(?:\s*[-/.,]\s*|\s+(?:de|del|of|año|the)\s+(?:(?:de|del|of|año|the)\s+)?|\s+|)"
_NUMBER = r"(?P<{}>[0-9][0-9]?)"
_SLASHED = (
    rf"{_NUMBER.format('a')}\s?(?P<sep>[-/.])\s?{_NUMBER.format('b')}\s?(?P=sep)\s?"
    r"(?P<year>(?:1[89]|20)[0-9][0-9]|[0-9][0-9])(?![0-9])"
)

# The fuller ones first. "a" and "b" are day and month in the order of the note.
_FORMS = [
    rf"(?P<year>(?:1[89]|20)[0-9][0-9])\s?(?P<sep>[-/.])\s?(?P<monthnumber>[0-9][0-9]?)\s?(?P=sep)\s?{_DAY}(?![0-9])",
    _SLASHED,
    r"(?P<year>(?:1[89]|20)[0-9][0-9])(?P<monthnumber>[01][0-9])(?P<day>[0-3][0-9])(?![0-9])",
    rf"{_DAY}(?P<ordinal>st|nd|rd|th|º|ª)?{_GAP}{_MONTH}\.?(?!\p{{L}}){_GAP}{_YEAR}(?![0-9])",
    rf"{_MONTH}\.?(?!\p{{L}}){_GAP}{_DAY}(?P<ordinal>st|nd|rd|th)?{_GAP}{_YEAR4}(?![0-9])",
    rf"{_MONTH}\.?(?!\p{{L}}){_GAP}{_YEAR4}(?![0-9])",
    rf"{_MONTH}\.?(?!\p{{L}})\s*(?P<year>['’][0-9][0-9])(?![0-9])",
    rf"{_DAY}(?P<ordinal>st|nd|rd|th|º|ª)?{_GAP}{_MONTH}(?!\p{{L}})",
    rf"{_MONTH}\.?(?!\p{{L}}){_GAP}{_DAY}(?P<ordinal>st|nd|rd|th)?(?![0-9\p{{L}}])",
    rf"(?P<monthnumber>[0-9][0-9]?)\s?[-/.]\s?{_YEAR4}(?![0-9])",
    r"(?P<monthnumber>[0-9][0-9]?)\s?[-/]\s?(?P<year>(?:3[2-9]|[4-9][0-9]))(?![0-9])",
    rf"{_NUMBER.format('a')}\s?[-/]\s?{_NUMBER.format('b')}(?![0-9])",
    rf"{_MONTH}(?!\p{{L}})",
    rf"{_YEAR4}(?![0-9\p{{L}}])",
    r"(?P<year>['’][0-9][0-9])(?![0-9\p{L}])",
]
_DAY_NAMES = [*_WEEKDAYS[0], *_WEEKDAYS[1], *_WEEKDAY_VARIANTS, *(name[:3] for name in _WEEKDAYS[0])]
_BEFORE = r"(?<![0-9\p{L}])"

DATE_PATTERNS = [regex.compile(_BEFORE + form, regex.IGNORECASE) for form in _FORMS]
"""Patterns with the groups day, month (a word), monthnumber, year, ordinal, or a and b for day and month."""

_WEEKDAY = regex.compile(rf"(?<!\p{{L}})(?P<weekday>{'|'.join(_DAY_NAMES)})(?!\p{{L}})", regex.IGNORECASE)
"""The name of a day of the week."""

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
"""Times of the day, and words that relate one date to another and say none."""

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
"""What a reader takes for a date, whether there is such a day or not: "14/03/2031", "85-59-1499", "03/2031"."""

_FULL = regex.compile(_BEFORE + _SLASHED)


def _weekday_number(word: str) -> tuple[int, list[str]]:
    """The number of a day of the week, 0 for Monday, and the names of its language."""
    plain = casefold_accents(word)
    for names in _WEEKDAYS:
        for i, name in enumerate(map(casefold_accents, names)):
            if plain in (name, name[:3]) or _WEEKDAY_VARIANTS.get(plain) == i:
                return i, names
    raise ValueError(word)


def date_order_of(text: str) -> str | None:
    """The order of day and month that a note's dates show: "dmy", "mdy", or None where they show none.

    Counted are dates of three numbers of which one can be no month. Nothing but the text is asked, so that the answer
    does not depend on what a model found in it.

    Example:
        >>> order_in("03/14/1972 and 03/04/1972"), order_in("14.3.72"), order_in("03/04/1972")
        ('mdy', 'dmy', None)
    """
    balance = 0
    for match in _FULL.finditer(text):
        first, second = int(match["a"]), int(match["b"])
        if 12 < max(first, second) <= 31 and 1 <= min(first, second) <= 12:
            balance += 1 if first > 12 else -1
    return "dmy" if balance > 0 else "mdy" if balance else None


# Whoever reads two digits as a year takes those up to this one for 20xx.
_LAST_OF_THIS_CENTURY = 40
_A_LEAP_YEAR = 2000  # for a day without a year, so that the 29th of February is one
_LAST_OF_A_MONTH = 31
_LEAST, _MOST = 34, 75

_OTHER_SEPTEMBER = "setiembre"
_IN_ENGLISH = frozenset(ENGLISH_MONTHS) | {name[:3] for name in ENGLISH_MONTHS}
_IN_SPANISH = frozenset(SPANISH_MONTHS) | {name[:3] for name in SPANISH_MONTHS} | {_OTHER_SEPTEMBER}


_YEARS = regex.compile(r"(?<![0-9])(?:1[89]|20)[0-9][0-9](?![0-9])")
# A day or a month, by which a date is more than a year.
_DATED = regex.compile(rf"(?<![0-9])[0-9]{{1,2}}(?![0-9])|(?<!\p{{L}})(?:{_SHORT_MONTHS})", regex.IGNORECASE)


class DateShift(NamedTuple):
    """By how much a patient's dates are moved: whole dates by days, months without a day by months, years by years.

    Months and years are the days, rounded. So intervals between dates of one form are exact; between a whole date and a
    month or year alone they are so to the month or year.
    """

    days: int
    months: int
    years: int


def patient_shift(keyed: HmacChooser) -> DateShift:
    """A patient's shift: two to nine years back, and 34 to 75 days more or less; no whole number of weeks.

    Day, month, year and weekday therefore all change, and the season stays about what it is.
    """
    years = 2 + keyed.number("years", "", 8)
    for attempt in range(8):
        rest = _LEAST + keyed.number("days", str(attempt), _MOST - _LEAST + 1)
        days = -365 * years + (rest if keyed.number("direction", str(attempt), 2) else -rest)
        if days % 7:
            break
    return DateShift(days, round(days / 30.436875), -years)


def shift_date(text: str, shift: DateShift, *, month_first: bool) -> str | None:
    """A date, or several, moved and written as before; None where part of it is no date in any known form.

    A day without a year is moved as one of the year 2000, so it may be a day off.

    Args:
        text: the date as it stands in a note.
        shift: the patient's.
        month_first: whether 3/4 is the 4th of March; where the numbers allow one reading only, that is taken.
    """
    pieces: list[tuple[int, int, str]] = []
    left = sum(map(str.isalnum, text))
    for pattern in (*DATE_PATTERNS, _WEEKDAY, _RELATIVE_TIME):
        if not left:  # Whatever else matches would lie within what is found.
            break
        for match in pattern.finditer(text):
            if any(start < match.end() and match.start() < end for start, end, _ in pieces):
                continue
            found = _written(match, shift, month_first)
            if found is None:
                return None
            pieces.append((match.start(), match.end(), found))
            left -= sum(map(str.isalnum, match.group()))
    for dated in DATE_LIKE.finditer(text):  # two forms may not share it: "1800-1-40" is no year and month
        if not any(start <= dated.start() and dated.end() <= end for start, end, _ in pieces):
            return None
    parts: list[str] = []
    end = 0
    for start, stop, found in [*sorted(pieces), (len(text), len(text), "")]:
        between = text[end:start]
        if any(map(str.isalnum, between)):
            return None
        parts += between, found
        end = stop
    return "".join(parts)


def year_shift(dates: Iterable[str], shift: DateShift, *, month_first: bool) -> int:
    """By how many years the years alone of a note move: as most of its dates of these years do.

    A whole date moves by days, so its year may change by one more or less than a year alone. "Seen in November 2009,
    and again in that same year 2009" has one year afterwards too, as far as the note's dates allow it.

    Args:
        dates: of the note.
        shift: the patient's.
        month_first: whether 3/4 is the 4th of March.
    """
    texts = list(dates)
    whole = [(text, _YEARS.findall(text)) for text in texts]
    alone = {years[0] for text, years in whole if len(years) == 1 and not _DATED.search(text)}
    votes = Counter({shift.years: 0})
    for text, years in whole if alone else ():
        if _DATED.search(text) and alone.intersection(years):
            found = _YEARS.findall(shift_date(text, shift, month_first=month_first) or "")
            votes.update(int(new) - int(old) for old, new in zip(years, found, strict=False) if old in alone)
    return votes.most_common(1)[0][0]


def _written(match: regex.Match[str], shift: DateShift, month_first: bool) -> str | None:
    """What a match becomes; None where it is no date (the 30th of February)."""
    if match.re is _RELATIVE_TIME:
        return str(match.group())
    if match.re is _WEEKDAY:
        return _weekday(match.group(), shift.days)
    parts = {name: text for name, text in match.groupdict().items() if text is not None and name != "sep"}
    named = _order(parts, month_first)
    if named is None:
        return None
    try:
        new = _moved_date({named.get(name, name): text for name, text in parts.items()}, shift)
    except (ValueError, OverflowError):
        return None
    if parts.keys() == {"monthnumber", "year"} and len(parts["year"]) == 2 and new.year % 100 <= _LAST_OF_A_MONTH:
        return None  # "3/35" would be the 3/31, which is read as a day
    wide = _is_padded(parts)
    changes = sorted(
        (match.start(name), match.end(name), _part(named.get(name, name), parts[name], new, wide=wide))
        for name in parts
    )
    out, end = [], match.start()
    for start, stop, found in changes:
        out += [match.string[end:start], found]
        end = stop
    return "".join([*out, match.string[end : match.end()]])


def _weekday(word: str, days: int) -> str:
    number, names = _weekday_number(word)
    other = names[(number + days) % 7]
    return _cased(other[:3] if len(word) == 3 else other, word)


def _order(parts: dict[str, str], month_first: bool) -> dict[str, str] | None:
    """Which of the numbers a and b is the day; None where neither order gives a month."""
    if "a" not in parts:
        return {}
    a, b = int(parts["a"]), int(parts["b"])
    first = {"a": "monthnumber", "b": "day"}
    second = {"a": "day", "b": "monthnumber"}
    possible = [order for order, month in ((first, a), (second, b)) if 1 <= month <= 12]
    preferred = first if month_first else second
    return preferred if preferred in possible else possible[0] if possible else None


def _moved_date(values: dict[str, str], shift: DateShift) -> dt.date:
    """The new date, of which only the parts that were given mean something."""
    digits = values.get("year", "").lstrip("'’")
    year = int(digits or _A_LEAP_YEAR)
    if digits and len(digits) == 2:
        year += 2000 if year <= _LAST_OF_THIS_CENTURY else 1900
    month = (month_number(values["month"]) or 0) if "month" in values else int(values.get("monthnumber", 1))
    if "day" in values:
        return dt.date(year, month, int(values["day"])) + dt.timedelta(shift.days)
    if "month" in values or "monthnumber" in values:
        dt.date(year, month, 1)  # Is it a month?
        years, months = divmod(12 * year + month - 1 + shift.months, 12)
        return dt.date(years, months + 1, 1)
    return dt.date(year + shift.years, 1, 1)


def _is_padded(parts: dict[str, str]) -> bool:
    """Whether days and months below ten are written with a zero: "03/14" and, as far as anybody can tell, "11/14"."""
    numbers = [text for name, text in parts.items() if name in ("a", "b", "day", "monthnumber")]
    all_wide = "month" not in parts and all(len(text) == 2 for text in numbers)
    return all_wide or any(text.startswith("0") for text in numbers)


def _part(meaning: str, text: str, new: dt.date, *, wide: bool) -> str:
    """A part of the new date in the form, language and case of the old one's text."""
    if meaning == "month":
        return _month(text, new.month)
    if meaning == "ordinal":
        return text if text in "ºª" else _cased(_ordinal(new.day), text)
    if meaning == "year":
        mark, digits = text[: len(text) - len(text.lstrip("'’"))], text.lstrip("'’")
        return f"{mark}{new.year % 100:02d}" if len(digits) == 2 else f"{new.year}"
    number = new.day if meaning == "day" else new.month
    return f"{number:02d}" if wide else str(number)


def _month(text: str, number: int) -> str:
    plain = casefold_accents(text)
    spanish = plain not in _IN_ENGLISH and plain in _IN_SPANISH
    found = (SPANISH_MONTHS if spanish else ENGLISH_MONTHS)[number - 1]
    is_whole = plain in (*ENGLISH_MONTHS, *SPANISH_MONTHS, _OTHER_SEPTEMBER)
    return _cased(found if is_whole else found[:3], text)


def _ordinal(day: int) -> str:
    return "th" if 10 <= day % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def _cased(word: str, like: str) -> str:
    if like.isupper():
        return word.upper()
    return word.capitalize() if like[:1].isupper() else word

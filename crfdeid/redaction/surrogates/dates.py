"""Dates moved by one number of days, in the form they were written in.

A table of written forms takes a date apart into day, month, year and weekday, and each part is written again in its own
place with its own width, language and case. Everything between them stays. Digits and words of a date that no form
covers are scrambled, so that nothing of it stays by accident; words of relation ("last year", "yesterday") say no date
and stay, as do times.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

import regex

from crfdeid.redaction.surrogates.keyed import Keyed
from crfdeid.redaction.surrogates.shapes import scrambled
from features.lexicons import ENGLISH_MONTHS, SPANISH_MONTHS

_ENGLISH, _SPANISH = ENGLISH_MONTHS, SPANISH_MONTHS
_ENGLISH_DAYS = "monday tuesday wednesday thursday friday saturday sunday"
_SPANISH_DAYS = "lunes martes miércoles jueves viernes sábado domingo"
_WEEKDAYS = (_ENGLISH_DAYS.split(), _SPANISH_DAYS.split())
_OTHER_MONTHS = {"sept": 9, "setiembre": 9, "set": 9}
_OTHER_DAYS = {"miercoles": 2, "sabado": 5, "tues": 1, "weds": 2, "thur": 3, "thurs": 3}
# Whoever reads two digits as a year takes those up to this one for 20xx.
_LAST_OF_THIS_CENTURY = 40

_MONTH = (
    rf"(?P<month>(?:{'|'.join([*_ENGLISH, *_SPANISH])}|sept|setiembre|{'|'.join(m[:3] for m in _ENGLISH + _SPANISH)}))"
)
_DAY, _YEAR, _YEAR4 = (
    r"(?P<day>[0-3]?[0-9])",
    r"(?P<year>(?:1[89]|20)[0-9][0-9]|['’]?[0-9][0-9])",
    r"(?P<year>(?:1[89]|20)[0-9][0-9])",
)
_GAP = r"(?:\s*[-/.,]\s*|\s+(?:de|del|of|año|the)\s+(?:(?:de|del|of|año|the)\s+)?|\s+|)"
_NUMBER = r"(?P<{}>[0-9][0-9]?)"

# Written forms, the fuller ones first. "a" and "b" are day and month in the order of the locale.
_FORMS = [
    rf"(?P<year>(?:1[89]|20)[0-9][0-9])\s?(?P<sep>[-/.])\s?(?P<monthnumber>[0-9][0-9]?)\s?(?P=sep)\s?{_DAY}(?![0-9])",
    rf"{_NUMBER.format('a')}\s?(?P<sep>[-/.])\s?{_NUMBER.format('b')}\s?(?P=sep)\s?(?P<year>(?:1[89]|20)[0-9][0-9]|[0-9][0-9])(?![0-9])",
    r"(?P<year>(?:1[89]|20)[0-9][0-9])(?P<monthnumber>[01][0-9])(?P<day>[0-3][0-9])(?![0-9])",
    rf"{_DAY}(?P<ordinal>st|nd|rd|th|º|ª)?{_GAP}{_MONTH}\.?(?!\p{{L}}){_GAP}{_YEAR}(?![0-9])",
    rf"{_MONTH}\.?(?!\p{{L}}){_GAP}{_DAY}(?P<ordinal>st|nd|rd|th)?{_GAP}{_YEAR4}(?![0-9])",
    rf"{_MONTH}\.?(?!\p{{L}}){_GAP}{_YEAR4}(?![0-9])",
    rf"{_MONTH}\.?(?!\p{{L}})\s*(?P<year>['’][0-9][0-9])(?![0-9])",
    rf"{_DAY}(?P<ordinal>st|nd|rd|th|º|ª)?{_GAP}{_MONTH}(?!\p{{L}})",
    rf"{_MONTH}\.?(?!\p{{L}}){_GAP}{_DAY}(?P<ordinal>st|nd|rd|th)?(?![0-9\p{{L}}])",
    rf"(?P<monthnumber>[0-9][0-9]?)\s?[-/.]\s?{_YEAR4}(?![0-9])",
    rf"{_NUMBER.format('a')}\s?[-/]\s?{_NUMBER.format('b')}(?![0-9])",
    rf"{_MONTH}(?!\p{{L}})",
    rf"{_YEAR4}(?![0-9])",
    r"(?P<year>['’][0-9][0-9])(?![0-9])",
]
_DAY_NAMES = [*_WEEKDAYS[0], *_WEEKDAYS[1], *_OTHER_DAYS, *(name[:3] for name in _WEEKDAYS[0])]
_DATE = [regex.compile(rf"(?<![0-9\p{{L}}]){form}", regex.IGNORECASE) for form in _FORMS]
_DAY_NAME = regex.compile(rf"(?<!\p{{L}})(?P<weekday>{'|'.join(_DAY_NAMES)})(?!\p{{L}})", regex.IGNORECASE)
_KEPT = regex.compile(
    r"[0-9]{1,2}:[0-9][0-9](?::[0-9][0-9])?(?:\s?[ap]\.?m\.?)?"
    r"|(?<!\p{L})(?:of|the|on|in|at|to|from|and|since|until|till|last|next|this|that|past|previous|following|early|mid|"
    r"late|ago|day|days|week|weeks|month|months|year|years|morning|afternoon|evening|night|noon|today|yesterday|tomorrow|"
    r"am|pm|de|del|el|la|los|las|al|a|y|en|desde|hasta|año|años|mes|meses|día|días|semana|semanas|pasado|pasada|próximo|"
    r"próxima|este|esta|hace|ayer|hoy|mañana|tarde|noche|spring|summer|fall|autumn|winter|primavera|verano|otoño|invierno)"
    r"(?!\p{L})",
    regex.IGNORECASE,
)
_SCRAMBLED = regex.compile(r"[\p{L}\p{Nd}][\p{L}\p{M}\p{Nd}]*")


def days_moved(keyed: Keyed) -> int:
    """By how many days a patient's dates are moved: from about one to ten years back, no whole number of weeks.

    Weekdays, months and years therefore all change: what is left over beside whole years is 46 to 319 days.
    """
    for attempt in range(8):
        days = 365 * (1 + keyed.number("years", str(attempt), 9)) + 46 + keyed.number("days", str(attempt), 274)
        if days % 7:
            break
    return -days


def moved(text: str, keyed: Keyed, *, month_first: bool) -> str:
    """A date, or several, moved by `days_moved` and written as before.

    Where a part of a date is missing, it is moved as if it were in the middle of what is known: a month alone as its
    15th, a year alone as its 1st of July; a day without a year as one of 2001.

    Args:
        text: the date as it stands in a note.
        keyed: where the number of days comes from.
        month_first: whether 3/4 is the 4th of March; where the numbers allow one reading only, that is taken.
    """
    days = days_moved(keyed)
    pieces: list[tuple[int, int, str]] = []
    for pattern, write in [*((form, _write) for form in _DATE), (_DAY_NAME, _write_weekday), (_KEPT, _keep)]:
        for match in pattern.finditer(text):
            if not any(start < match.end() and match.start() < end for start, end, _ in pieces):
                found = write(match, days, month_first)
                if found is not None:
                    pieces.append((match.start(), match.end(), found))
    return "".join(_with_rest_scrambled(text, sorted(pieces), keyed))


def _with_rest_scrambled(text: str, pieces: list[tuple[int, int, str]], keyed: Keyed) -> Iterator[str]:
    end = 0
    for start, stop, found in [*pieces, (len(text), len(text), "")]:
        yield _SCRAMBLED.sub(lambda match: scrambled(match.group(), keyed), text[end:start])
        yield found
        end = stop


def _keep(match: regex.Match[str], days: int, month_first: bool) -> str | None:
    return str(match.group())


def _write_weekday(match: regex.Match[str], days: int, month_first: bool) -> str | None:
    word = match["weekday"].lower()
    for names in _WEEKDAYS:
        for i, name in enumerate(names):
            if word in (name, name[:3]) or _OTHER_DAYS.get(word) == i:
                other = names[(i + days) % 7]
                return _cased(other[:3] if len(word) == 3 else other, match["weekday"])
    return None


def _write(match: regex.Match[str], days: int, month_first: bool) -> str | None:
    """The date of a match, moved, in its own form; None where it is no date (the 30th of February)."""
    parts = {name: text for name, text in match.groupdict().items() if text is not None and name != "sep"}
    named = _order(parts, month_first)
    if named is None:
        return None
    try:
        new = _date_of(parts, named) + dt.timedelta(days)
    except (ValueError, OverflowError):
        return None
    changes = sorted(
        (match.start(name), match.end(name), _part(name, named.get(name, name), parts[name], new)) for name in parts
    )
    out, end = [], match.start()
    for start, stop, found in changes:
        out += [match.string[end:start], found]
        end = stop
    return "".join([*out, match.string[end : match.end()]])


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


def _date_of(parts: dict[str, str], named: dict[str, str]) -> dt.date:
    values = {named.get(name, name): text for name, text in parts.items()}
    digits = values.get("year", "").lstrip("'’")
    year = int(digits or 2001)
    if digits and len(digits) == 2:
        year += 2000 if year <= _LAST_OF_THIS_CENTURY else 1900
    month = _month_number(values["month"]) if "month" in values else int(values.get("monthnumber", 7))
    in_the_middle = 15 if "month" in values or "monthnumber" in values else 1
    return dt.date(year, month, int(values.get("day", in_the_middle)))


def _month_number(word: str) -> int:
    lower = word.lower()
    for names in (_ENGLISH, _SPANISH):
        for i, name in enumerate(names):
            if lower in (name, name[:3]):
                return i + 1
    return _OTHER_MONTHS[lower]


def _part(name: str, meaning: str, text: str, new: dt.date) -> str:
    """A part of the new date as wide, and in the same language and case, as the old one's text."""
    if meaning == "month":
        return _month(text, new.month)
    if meaning == "ordinal":
        return text if text in "ºª" else _cased(_ordinal(new.day), text)
    if meaning == "year":
        mark, digits = text[: len(text) - len(text.lstrip("'’"))], text.lstrip("'’")
        return f"{mark}{new.year % 100:02d}" if len(digits) == 2 else f"{new.year}"
    number = new.day if meaning == "day" else new.month
    return f"{number:0{len(text)}d}"


def _month(text: str, number: int) -> str:
    lower = text.lower()
    spanish = lower in _SPANISH or lower == "setiembre" or (len(lower) == 3 and lower in {m[:3] for m in _SPANISH})
    if len(lower) == 3 and lower in {m[:3] for m in _ENGLISH}:
        spanish = False
    found = (_SPANISH if spanish else _ENGLISH)[number - 1]
    full = lower in _ENGLISH or lower in _SPANISH or lower == "setiembre"
    return _cased(found if full else found[:3], text)


def _ordinal(day: int) -> str:
    return "th" if 10 <= day % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def _cased(word: str, like: str) -> str:
    if like.isupper():
        return word.upper()
    return word.capitalize() if like[:1].isupper() else word

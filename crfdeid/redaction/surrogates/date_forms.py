"""The forms that dates are written in, as a table; each takes a date apart into day, month, year and weekday."""

from __future__ import annotations

import regex

from crfdeid.redaction.surrogates.chooser import fold
from features.lexicons import ENGLISH_MONTHS, SPANISH_MONTHS

_DAYS = (
    "monday tuesday wednesday thursday friday saturday sunday",
    "lunes martes miércoles jueves viernes sábado domingo",
)
WEEKDAYS = tuple(names.split() for names in _DAYS)
OTHER_DAYS = {"miercoles": 2, "sabado": 5, "tues": 1, "weds": 2, "thur": 3, "thurs": 3}

_NAMES = (*ENGLISH_MONTHS, *SPANISH_MONTHS)
SHORT_MONTHS = "|".join(name[:3] for name in _NAMES)
"""An expression for the first three letters of any month."""
_MONTH = rf"(?P<month>(?:{'|'.join(_NAMES)}|sept|setiembre|{SHORT_MONTHS}))"
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
_DAY_NAMES = [*WEEKDAYS[0], *WEEKDAYS[1], *OTHER_DAYS, *(name[:3] for name in WEEKDAYS[0])]
_BEFORE = r"(?<![0-9\p{L}])"

FORMS = [regex.compile(_BEFORE + form, regex.IGNORECASE) for form in _FORMS]
"""Patterns with the groups day, month (a word), monthnumber, year, ordinal, or a and b for day and month."""

DAY_NAME = regex.compile(rf"(?<!\p{{L}})(?P<weekday>{'|'.join(_DAY_NAMES)})(?!\p{{L}})", regex.IGNORECASE)
"""The name of a day of the week."""

RELATIVE = regex.compile(
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
_SHORT_MONTH = rf"(?:{SHORT_MONTHS})\p{{L}}*"
LOOKS_DATED = regex.compile(
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


def weekday_number(word: str) -> tuple[int, list[str]]:
    """The number of a day of the week, 0 for Monday, and the names of its language."""
    plain = fold(word)
    for names in WEEKDAYS:
        for i, name in enumerate(map(fold, names)):
            if plain in (name, name[:3]) or OTHER_DAYS.get(plain) == i:
                return i, names
    raise ValueError(word)


def order_in(text: str) -> str | None:
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

"""Forms of dates, by language: what `crfdeid.redaction.surrogates.dates` reads and rewrites.

English and Spanish are read together. Every other language has the months and weekdays of its file in
features/languages/, and the words of that file's table "surrogates.dates".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from types import MappingProxyType
from typing import NamedTuple

import regex

from crfdeid.redaction.surrogates.words import casefold_accents, language_pack, surrogate_table
from features.languages import LANGUAGES
from features.lexicons import ENGLISH_MONTHS, ENGLISH_WEEKDAYS, SPANISH_MONTHS, SPANISH_WEEKDAYS

APOSTROPHES = "'’‘`´"
"""Signs before a year of two digits."""

MONTHS = (*ENGLISH_MONTHS, *SPANISH_MONTHS)
"""Names of months in English, then in Spanish."""
OTHER_SEPTEMBER = "setiembre"

_SHORTEST_PREFIX = 3
_SHORT_MONTHS = "|".join(name[:3] for name in MONTHS)  # of any month
_DAY = r"(?P<day>[0-3]?[0-9])"
_FOUR_DIGITS = r"(?:1[89]|20)[0-9][0-9]"
_TWO_DIGITS = rf"[{APOSTROPHES}][0-9][0-9]"
_YEAR4 = rf"(?P<year>{_FOUR_DIGITS})"
_SURE_YEAR = rf"(?P<year>{_FOUR_DIGITS}|{_TWO_DIGITS})"
_NO_HOUR = r"(?![0-9]|:[0-9]|\s?(?:h|uhr|[ap]\.?m\.?)(?!\p{L}))"  # "14 March 10:30" has no year
_NUMBER = r"(?P<{}>[0-9][0-9]?)"
BEFORE = r"(?<![0-9\p{L}])"
"""Left edge of a date."""
SLASHED = (
    rf"{_NUMBER.format('a')}\s?(?P<sep>[-/.])\s?{_NUMBER.format('b')}\s?(?P=sep)\s?"
    rf"(?P<year>{_FOUR_DIGITS}|[{APOSTROPHES}]?[0-9][0-9])(?![0-9])"
)
"""Three numbers, the year last."""

_HOURS, _SIXTIETH = "(?:[01][0-9]|2[0-3])", "[0-5][0-9]"
_OFFSET = r"(?:Z(?!\p{L})|[+-][0-9]{2}:?[0-9]{2}(?![0-9:]))"
_ZONE = r"(?:Z|UTC|GMT|BST|[ECMP][SD]T|[CW]ES?T|M[ES]S?Z)(?!\p{L})"
CLOCK = (
    rf"(?:(?<=[0-9])T|(?<={_FOUR_DIGITS}):|(?<![0-9:]))"  # "2031-03-14T10:22", "14/Mar/2031:10:22:00"
    rf"(?:[01]?[0-9]|2[0-3]):{_SIXTIETH}(?::{_SIXTIETH}(?:[.,][0-9]+)?)?(?![0-9:])"
    rf"(?:\s?[ap]\.?m\.?|\s?h)?(?:\s?{_ZONE})?(?:\s?[+-][0-9]{{2}}:?[0-9]{{2}}(?![0-9:]))?"
)
"""Time of the day, with seconds, fractions and a time zone if there are any."""
_COMPACT_CLOCK = rf"T?{_HOURS}{_SIXTIETH}(?:{_SIXTIETH}(?:[.,][0-9]+)?)?{_OFFSET}?"

OWN_SUFFIX, OWN_PREFIX, SHARED_SUFFIX = "\u2028", "\u2029", "\v"
"""Marks around the month and year after the last of several days, before the first, and around copies of the former.

They are white space of regular expressions that no normalized text contains, so that forms of dates match across them.
"""
SHARED_PREFIX, SHARED_PREFIX_END = "\x1e", "\f"
"""Marks around copies of a month before a day. The first is no white space: "14-" before it is no day of this month."""
SHARING_MARKS = frozenset((OWN_SUFFIX, OWN_PREFIX, SHARED_SUFFIX, SHARED_PREFIX, SHARED_PREFIX_END))


class Calendar(NamedTuple):
    """Dates of a language.

    Attributes:
        patterns: forms of dates, the most complete first, with the groups day, month (a name), monthnumber, year and
            ordinal; isoyear, week and isoday; or a and b for day and month in the order of the note.
        weekday: days of the week.
        adjacent: days of the week that may belong to a date next to them although the date's span lacks them.
        relative: times of the day, and words that relate dates to each other; neither changes.
        shared: several days that share a month, a year or both, with the groups day and joint, and before and after
            for what they share; where only some notes write so, for those that write the month first, and for others.
        year: the year at the end of what days share, with what separates it from a month.
        code: the language of the pack; "" for English and Spanish.
        spanish_first: read what both languages write, such as "mar", as Spanish.
        months: each casefolded way to write a month -> its number.
        full_months: names of the months.
        short_months: abbreviations of the months, and names that are never abbreviated.
        full_weekdays: names of the days of the week.
        short_weekdays: abbreviations of the days of the week.
        first_day: what follows the number of the first day of a month: "er".
    """

    patterns: Sequence[regex.Pattern[str]]
    weekday: regex.Pattern[str]
    adjacent: regex.Pattern[str]
    relative: regex.Pattern[str]
    shared: Mapping[bool, Sequence[regex.Pattern[str]]]
    year: regex.Pattern[str]
    code: str = ""
    spanish_first: bool = False
    months: Mapping[str, int] = MappingProxyType({})
    full_months: Sequence[str] = ()
    short_months: Sequence[str] = ()
    full_weekdays: Sequence[str] = ()
    short_weekdays: Sequence[str] = ()
    first_day: str = ""


def _alternatives(forms: Iterable[str]) -> str:
    """Return the forms as alternatives of an expression, the longest first."""
    return "|".join(sorted(forms, key=lambda form: (-len(form), form)))


def _words(between: str) -> str:
    """Return the expression of one or two words between day, month and year, with their white space."""
    return rf"\s+(?:{between})\s+(?:(?:{between})\s+)?"


def _compiled(*forms: str) -> list[regex.Pattern[str]]:
    return [regex.compile(form, regex.IGNORECASE) for form in forms]


def _patterns(
    names: str, between: str, ordinal: str, after_month: str, *, month_first: bool = False, not_a_month: str = "(?!)"
) -> list[regex.Pattern[str]]:
    """Return the forms of dates, the most complete first. "a" and "b" are day and month in the order of the note.

    Args:
        names: alternatives of an expression, the names of months.
        between: alternatives, words between day, month and year.
        ordinal: alternatives, what follows the number of a day.
        after_month: characters between the numbers of a day and a month without a year.
        month_first: True if "March-14" has a day, and False if it has a year.
        not_a_month: expression of a month's name that is none without a day, since it also names a weekday.
    """
    month = rf"(?P<month>(?:{names}))\.?(?!\p{{L}})"
    words = _words(between)
    gap = rf"(?:\s*[-/.,(]\s*|{words}|\s+|)"
    suffix = rf"(?P<ordinal>{ordinal})?"
    two_digits = rf"(?:\s*[-/.]\s*|{words}|\s+|)(?P<year>[0-9][0-9]){_NO_HOUR}(?!{gap}(?:{names}|{_FOUR_DIGITS}))"
    # "3 October 11" in "September 3-October 11".
    of_another = rf"(?<=(?<!\p{{L}})(?:{names})\.?\s+)[0-9]+{gap}(?:{names})\.?{gap}[0-3]?[0-9](?![0-9:])"
    forms = (
        rf"(?P<year>{_FOUR_DIGITS})\s?(?P<sep>[-/.])\s?(?P<monthnumber>[0-9][0-9]?)\s?(?P=sep)\s?{_DAY}(?![0-9])",
        SLASHED,
        rf"(?P<year>{_FOUR_DIGITS})(?P<monthnumber>[01][0-9])(?P<day>[0-3][0-9])(?:\.0+|{_COMPACT_CLOCK})?(?![0-9])",
        rf"(?P<isoyear>{_FOUR_DIGITS})-?W(?P<week>[0-5][0-9])-?(?P<isoday>[1-7])(?![0-9])",
        rf"(?!{of_another}){_DAY}{suffix}{gap}{month}(?:{gap}{_SURE_YEAR}(?![0-9])|{two_digits})",
        rf"(?<!{_FOUR_DIGITS}[-/.]){month}{gap}{_DAY}{suffix}"
        rf"(?:{gap}|\s+{CLOCK}\s+){_SURE_YEAR}(?![0-9])",
        rf"{month}(?P<sep>[-/.]){_DAY}(?P=sep)(?P<year>[0-9][0-9])(?![0-9])",
        rf"{_YEAR4}(?P<sep>\s?[-/.]\s?|,?\s+|){month}(?:(?P=sep)|\s*){_DAY}{suffix}(?![0-9\p{{L}}])",
        rf"{month}{gap}{_YEAR4}(?![0-9])",
        rf"{month}\s*(?P<year>{_TWO_DIGITS})(?![0-9])",
        rf"(?!{of_another}){_DAY}{suffix}{gap}{month}",
        r"(?!)" if month_first else rf"{month}\s?[-/]\s?(?P<year>[0-9][0-9])(?![0-9]|\s?[-/][0-9])",
        rf"{month}{gap}{_DAY}{suffix}(?![0-9\p{{L}}])",
        rf"(?P<monthnumber>[0-9][0-9]?)\s?[-/.]\s?{_YEAR4}(?![0-9])",
        r"(?P<monthnumber>[0-9][0-9]?)\s?[-/]\s?(?P<year>(?:3[2-9]|[4-9][0-9]))(?![0-9])",
        rf"{_NUMBER.format('a')}\s?{after_month}\s?{_NUMBER.format('b')}(?![0-9]|\s?(?:h|uhr)(?!\p{{L}}))",
        rf"(?!{not_a_month})(?P<month>(?:{names}))(?!\p{{L}})",
        rf"{_YEAR4}(?![0-9\p{{L}}])",
        rf"(?P<year>{_TWO_DIGITS})(?![0-9\p{{L}}])",
    )
    return _compiled(*(BEFORE + form for form in forms))


def _shared_days(
    names: str, between: str, ordinal: str, joint: str, *, month_first: bool
) -> Mapping[bool, Sequence[regex.Pattern[str]]]:
    """Return the forms of several days that share a month or a year: in notes with the month first, and in others.

    Args:
        names: alternatives of an expression, the names of months.
        between: alternatives, words between day, month and year.
        ordinal: alternatives, what follows the number of a day.
        joint: alternatives, words between two days.
        month_first: True if the language writes "March 14".
    """
    number, month, words = "[0-3]?[0-9]", rf"(?:{names})\.?(?!\p{{L}})", _words(between)
    day = rf"{number}(?:{ordinal})?(?![0-9])"
    alone = r"(?<![0-9\p{L}:]|[0-9]\s?[-/.]\s?)"
    word = rf"\s+(?:{joint})\s+"
    joined = rf"(?P<joint>\s*,\s*(?:(?:{joint})\s+)?|\s*[-–—/]\s*|{word})"
    whole_year = rf"(?:{_FOUR_DIGITS}|{_TWO_DIGITS})(?![0-9])"
    year = rf"(?:\s*[-/.,]\s*|{words}|\s+){whole_year}"
    month_number, year_number = "(?:0?[1-9]|1[0-2])", rf"(?:{_FOUR_DIGITS}|[0-9]{{2}})"
    before_month = rf"(?:\s*[-/]\s*|{words}|\s*)"
    days_first = (
        rf"{alone}(?<!{month}\s*)(?P<day>{day}\.?)(?:{joined}(?P<day>{day}\.?))+"
        rf"(?P<after>{before_month}{month}(?:{year})?)"
    )
    months_first = (
        rf"{BEFORE}(?P<before>{month}\s*)(?P<day>{day})(?:{joined}(?<!/\s*)(?P<day>{day}))+"
        rf"(?P<after>(?:\s*,\s*|{words}|\s+){whole_year})?"
        rf"(?![-/.:]?[0-9]|{before_month}{month})"
    )
    numbers_month_first = (
        rf"{alone}(?P<before>{month_number}(?P<sep>[-/]))(?P<day>{number})(?P<joint>\s*[-–—]\s*|{word})(?<!(?P=sep))"
        rf"(?P<day>{number})(?P<after>(?P=sep){year_number})?(?![0-9]|[-/.:][0-9])"
    )
    numbers_day_first = [
        rf"{alone}(?P<day>{number})(?:(?P<joint>\.?{joint_number})(?P<day>{number}))+"
        rf"(?P<after>(?P<sep>{sep})\s?{month_number}(?:(?P=sep)\s?{year_number}?)?)(?![0-9]|[-/.:][0-9])"
        for joint_number, sep in ((rf"(?:\s*[-–—,]\s*|{word})", "[/.]"), (r"\s*/\s*", r"\."))
    ]
    written = (months_first, days_first) if month_first else (days_first,)
    return {True: _compiled(*written, numbers_month_first), False: _compiled(*written, *numbers_day_first)}


def _year_after_month(between: str) -> regex.Pattern[str]:
    return regex.compile(
        rf"(?:(?<=\.)|\s*[-/,]\s*|{_words(between)}|\s+)(?P<year>{_FOUR_DIGITS}|[{APOSTROPHES}]?[0-9]{{2}})$",
        regex.IGNORECASE,
    )


# --- English and Spanish

_NAMES = f"{'|'.join(MONTHS)}|sept|{OTHER_SEPTEMBER}|{_SHORT_MONTHS}"
_BETWEEN = "de|del|of|año|the|in|en|day|día"
_ORDINAL = "st|nd|rd|th|º|ª"


def prefixes(name: str) -> list[str]:
    """Abbreviations of a day of the week: its first letters, three or more."""
    return [name[:length] for length in range(_SHORTEST_PREFIX, len(name))]


_ALL_DAYS = frozenset(names[0] for pack in LANGUAGES.values() for names in pack.weekdays)
OTHER_WEEKDAYS = (("tues", 1), ("weds", 2), ("thur", 3), ("thurs", 3))
"""Abbreviations of days of the week that only some days have, and their indices."""
FULL_WEEKDAYS = {
    casefold_accents(names[0]): (tuple(names[0] for names in pack.weekdays), i)
    for pack in LANGUAGES.values()
    for i, names in enumerate(pack.weekdays)
}
"""Each casefolded full name of a day of the week -> the days in its language, and its index."""
WEEKDAYS = {
    form: (names, i)
    for names in (ENGLISH_WEEKDAYS, SPANISH_WEEKDAYS)
    for i, name in enumerate(map(casefold_accents, names))
    for form in (name, *prefixes(name))
} | {form: (ENGLISH_WEEKDAYS, i) for form, i in OTHER_WEEKDAYS}
"""Each casefolded way to write a day of the week -> the days in its language, and its index."""
_SHORT_DAYS = {
    form
    for name in (*ENGLISH_WEEKDAYS, *SPANISH_WEEKDAYS)
    for form in (*prefixes(name), *prefixes(casefold_accents(name)))
}
_LONG_DAYS = {*ENGLISH_WEEKDAYS, *SPANISH_WEEKDAYS, *WEEKDAYS, *FULL_WEEKDAYS, *_ALL_DAYS} - _SHORT_DAYS
_MARTES = r"mar\.?,?\s*(?:(?:el|día)\s+)*[0-9]"  # "mar 14/03/2031"

_NO_SHORT_DAY = "sat|sun|wed|so|mo|di|mi|do|fr|sa"  # abbreviations that are words, in lower case


def _beside(full: str, short: str) -> regex.Pattern[str]:
    """Days of the week next to a date. Those of `_NO_SHORT_DAY` need a capital, or a full stop as in "mo."."""
    return regex.compile(
        rf"(?<!\p{{L}})(?:(?i:{full})"
        rf"|(?P<short>(?!(?:{_NO_SHORT_DAY})(?!\p{{L}}|\.)|[A-Z]{{2}}(?!\p{{L}}))(?i:{short})\.?))(?!\p{{L}})"
    )


# Words that relate dates to each other.
_RELATIVE_WORDS = (
    "of|the|on|in|at|to|from|and|or|between|through|thru|since|until|till|last|next|this|that|past|previous|following|"
    "early|mid|late|ago|day|days|week|weeks|month|months|year|years|morning|afternoon|evening|night|noon|today|yesterday|"
    "tomorrow|am|pm|de|del|el|la|los|las|al|a|y|e|o|u|en|entre|desde|hasta|año|años|mes|meses|día|días|semana|semanas|"
    "pasado|pasada|próximo|próxima|este|esta|hace|ayer|hoy|mañana|tarde|noche|principios|mediados|finales|inicio|"
    "ese|esa|aquel|aquella|mismo|misma|dicho|dicha|same|an|s|was|is|which|it|visit|que|fue|era|es|un|una|visita|cita|"
    "spring|summer|fall|autumn|winter|primavera|verano|otoño|invierno"
)
_BILINGUAL = Calendar(
    _patterns(_NAMES, _BETWEEN, _ORDINAL, "[-/]", month_first=True, not_a_month=_MARTES),
    regex.compile(rf"(?<!\p{{L}})(?P<weekday>{_alternatives(_LONG_DAYS | _SHORT_DAYS)})(?!\p{{L}})", regex.IGNORECASE),
    _beside(_alternatives(_LONG_DAYS), _alternatives(_SHORT_DAYS)),
    regex.compile(
        rf"{CLOCK}|(?<![0-9/.,-])[01]?[0-9]\s?[ap]\.?m(?!\p{{L}})|(?<!\p{{L}})(?:{_RELATIVE_WORDS})(?!\p{{L}})",
        regex.IGNORECASE,
    ),
    _shared_days(
        _NAMES,
        _BETWEEN,
        _ORDINAL,
        "(?:and|or|to|through|thru|till|until|y|e|o|u|al?|hasta)(?: (?:the|el))?",
        month_first=True,
    ),
    _year_after_month(_BETWEEN),
)
_SPANISH = _BILINGUAL._replace(
    patterns=_patterns(_NAMES, _BETWEEN, _ORDINAL, "[-/]", not_a_month=_MARTES), spanish_first=True
)

_DASH = r"\s?[-/.\p{Pd}\u2044\u2215\u2212]\s?"
_SHORT_MONTH = rf"(?:{_SHORT_MONTHS})\p{{L}}*"
DATE_LIKE = regex.compile(
    r"(?<![\p{L}\p{N}]|[0-9][-/.])(?:"
    rf"[0-9]{{1,2}}{_DASH}(?:[0-9]{{1,2}}|{_SHORT_MONTH}){_DASH}[0-9]{{2}}(?:[0-9]{{2}})?"
    rf"(?!\.\s?\p{{L}}|\s+(?:de\s+)?{_SHORT_MONTH})"  # "3. Jan-10. Feb"
    rf"|[0-9]{{4}}{_DASH}[0-9]{{1,2}}{_DASH}[0-9]{{1,2}}"
    rf"|(?:0?[1-9]|1[0-2]){_DASH}{_FOUR_DIGITS}"
    rf"|[0-9]{{1,2}}\s+(?:de\s+|of\s+)?{_SHORT_MONTH}\s+(?:del?\s+|of\s+)?[0-9]{{4}}"
    r")(?![\p{L}\p{N}]|[-/.][0-9])",
    regex.IGNORECASE,
)
"""Text that looks like a date, valid or not: "14/03/2031", "85-59-1499", "03/2031"."""


# --- other languages


@lru_cache(maxsize=16)
def calendar_of(locale: str) -> Calendar:
    """Return the dates of a locale's language; those of English and Spanish are read together."""
    pack = language_pack(locale)
    if pack is None:
        return _SPANISH if locale.startswith("es") else _BILINGUAL
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
    # Names with their endings: "Freitagabend". The first letters of a name abbreviate it, unless they are a word.
    starts = {form for name in full_weekdays for form in prefixes(name)} - pack.function_words
    endings = _alternatives(listed("weekday_endings"))
    weekdays = {form for names in pack.weekdays for form in names} | {*FULL_WEEKDAYS, *_ALL_DAYS}
    long_weekdays = {form for form in weekdays if len(form) > max(map(len, short_weekdays))} - starts
    spelled = rf"(?:{_alternatives(full_weekdays)})(?:{endings})|{_alternatives(long_weekdays)}"
    short_forms = _alternatives({*short_weekdays} | starts)
    first_day = section.get("first_day", "")
    ordinal = regex.escape(first_day) if first_day else "(?!)"
    between = section.get("between", "(?!)")
    words = _alternatives(listed("relative") or ("(?!)",))
    return Calendar(
        _patterns(rf"(?:{months_in})\.?", between, ordinal, "[-/.]"),
        regex.compile(
            rf"(?<!\p{{L}})(?P<weekday>{spelled}|{short_forms}|{_alternatives(weekdays)})(?!\p{{L}})", regex.IGNORECASE
        ),
        _beside(spelled, short_forms),
        regex.compile(rf"{CLOCK}|(?<!\p{{L}})(?:{section.get('clock', '(?!)')}|{words})(?!\p{{L}})", regex.IGNORECASE),
        _shared_days(months_in, between, ordinal, section.get("joint", "(?!)"), month_first=False),
        _year_after_month(between),
        pack.code,
        False,
        MappingProxyType(months),
        full,
        short,
        full_weekdays,
        short_weekdays,
        first_day,
    )

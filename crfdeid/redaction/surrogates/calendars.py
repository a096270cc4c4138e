"""Forms of dates, by locale: what `crfdeid.redaction.surrogates.dates` reads and rewrites.

Months and days of the week are those of the locale's language packs; words are those of their "surrogates.dates".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

import regex

from crfdeid.redaction.surrogates.words import (
    DEFAULT_LOCALE,
    casefold_accents,
    packs_of,
    packs_with_quoted,
    surrogate_entries,
    surrogate_expression,
    surrogate_table,
    with_case_of,
)
from features.languages import Language

APOSTROPHES = "'’‘`´"
"""Signs before a year of two digits."""

_SHORTEST_PREFIX = 3
_LONGEST_SHORT = 4  # letters of the abbreviation of a month
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


class DateWords(NamedTuple):
    """Months and days of the week in one language.

    Attributes:
        months: each casefolded way to write a month -> its number.
        full_months: names of the months.
        short_months: abbreviations of the months, and names that are never abbreviated.
        weekdays: the casefolded ways to write each day of the week from Monday on.
        full_weekdays: names of the days of the week.
        short_weekdays: abbreviations of the days of the week.
        ordinals: expressions of numbers, each with what may follow such a number: "st".
        first_day: what always follows the number of the first day of a month: "er".
    """

    months: Mapping[str, int]
    full_months: Sequence[str]
    short_months: Sequence[str]
    weekdays: Sequence[frozenset[str]]
    full_weekdays: Sequence[str]
    short_weekdays: Sequence[str]
    ordinals: Sequence[tuple[str, str]]
    first_day: str

    @classmethod
    def of(cls, pack: Language) -> DateWords:
        """Read the words of a pack."""
        full, full_weekdays = [names[0] for names in pack.months], [names[0] for names in pack.weekdays]
        short = pack.entries("surrogates", "dates", "short_months") or [name[:3] for name in full]
        short_weekdays = pack.entries("surrogates", "dates", "short_weekdays") or [name[:2] for name in full_weekdays]
        section = surrogate_table(pack, "dates")
        return cls(
            {
                casefold_accents(form): number
                for number, names in enumerate(pack.months, start=1)
                for form in (*names, short[number - 1])
            },
            full,
            short,
            [
                frozenset(map(casefold_accents, (*names, one)))
                for names, one in zip(pack.weekdays, short_weekdays, strict=True)
            ],
            full_weekdays,
            short_weekdays,
            [(number, suffix) for number, suffix in section.get("ordinals", ())],
            section.get("first_day", ""),
        )

    def month(self, text: str, number: int) -> str:
        """Return another month in the length and case of a text, a month."""
        word = casefold_accents(text).rstrip(".")
        full, short = self.full_months[number - 1], self.short_months[number - 1]
        if len(word) > _LONGEST_SHORT or word in map(casefold_accents, self.full_months):
            return with_case_of(full, text) + text[len(word) :]
        return with_case_of(short, text) + ("." if text.endswith(".") and short.lower() != full.lower() else "")

    def weekday(self, word: str, days: int) -> str | None:
        """Return the day of the week some days after another one, in its length and case; None for no day."""
        plain, full_names = casefold_accents(word), [*map(casefold_accents, self.full_weekdays)]
        known = [i for i, forms in enumerate(self.weekdays) if plain in forms]
        alike = [i for i, name in enumerate(full_names) if name.startswith(plain) or plain.startswith(name)]
        if not (known or alike):
            return None
        i = (known or alike)[0]
        other = self.full_weekdays[(i + days) % 7]
        if len(word) <= len(self.short_weekdays[i]):
            other = self.short_weekdays[(i + days) % 7]
        elif not known and full_names[i].startswith(plain):
            other = other[: len(word)]
        elif plain.startswith(full_names[i]):
            other += word[len(full_names[i]) :]
        return with_case_of(other, word)

    def ordinal(self, suffix: str, number: int) -> str | None:
        """Return what follows a number in place of a suffix, which stays if it may; None for a suffix that is none."""
        if suffix.lower() not in {known for _, known in self.ordinals}:
            return None
        fitting = [known for form, known in self.ordinals if regex.search(form, str(number))]
        return suffix if suffix.lower() in fitting[:1] or not fitting[0].isalpha() else with_case_of(fitting[0], suffix)


class Calendar(NamedTuple):
    """Dates of a locale.

    Attributes:
        patterns: forms of dates, the most complete first, with the groups day, month (a name), monthnumber, year and
            ordinal; isoyear, week and isoday; or a and b for day and month in the order of the note.
        weekday: days of the week.
        adjacent: days of the week that may belong to a date next to them although the date's span lacks them.
        relative: times of the day, and words that relate dates to each other; neither changes.
        shared: several days that share a month, a year or both, with the groups day and joint, and before and after
            for what they share; where only some notes write so, for those that write the month first, and for others.
        year: the year at the end of what days share, with what separates it from a month.
        article: words between a date and a day of the week.
        languages: the words of the languages that are read; the first that has a word decides.
        quoted: casefolded full day of the week of a further language -> the days in it, and its index.
    """

    patterns: Sequence[regex.Pattern[str]]
    weekday: regex.Pattern[str]
    adjacent: regex.Pattern[str]
    relative: regex.Pattern[str]
    shared: Mapping[bool, Sequence[regex.Pattern[str]]]
    year: regex.Pattern[str]
    article: regex.Pattern[str]
    languages: Sequence[DateWords]
    quoted: Mapping[str, tuple[Sequence[str], int]]

    def month_number(self, text: str) -> int:
        """Return the number of a month."""
        plain = casefold_accents(text).rstrip(".")
        return next(words.months[plain] for words in self.languages if plain in words.months)

    def month(self, text: str, number: int) -> str:
        """Return another month in the language, length and case of a text, a month."""
        plain = casefold_accents(text).rstrip(".")
        return next(words for words in self.languages if plain in words.months).month(text, number)

    def weekday_after(self, word: str, days: int) -> str:
        """Return the day of the week some days after another one, in its language, length and case."""
        names, i = self.quoted.get(casefold_accents(word), ((), 0))
        if names:
            return with_case_of(names[(i + days) % 7], word)
        return next(found for words in self.languages if (found := words.weekday(word, days)) is not None)

    def ordinal(self, suffix: str, number: int) -> str:
        """Return what follows a number in place of a suffix."""
        found = (words.ordinal(suffix, number) for words in self.languages)
        return next((one for one in found if one is not None), "")

    @property
    def first_day(self) -> str:
        """What always follows the number of the first day of a month."""
        return self.languages[0].first_day


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
    """Return the forms of dates, the most complete first. "a" and "b" are day and month in the order of the note."""
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
    """Return the forms of several days that share a month or a year: in notes with the month first, and in others."""
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


def prefixes(name: str) -> list[str]:
    """Abbreviations of a day of the week: its first letters, three or more."""
    return [name[:length] for length in range(_SHORTEST_PREFIX, len(name))]


def _beside(full: str, short: str, words: str) -> regex.Pattern[str]:
    """Days of the week next to a date. Abbreviations that are words need a capital, or a full stop as in "mo."."""
    return regex.compile(
        rf"(?<!\p{{L}})(?:(?i:{full})"
        rf"|(?P<short>(?!(?:{words})(?!\p{{L}}|\.)|[A-Z]{{2}}(?!\p{{L}}))(?i:{short})\.?))(?!\p{{L}})"
    )


_DASH = r"\s?[-/.\p{Pd}\u2044\u2215\u2212]\s?"
_SHORT_MONTHS = "|".join(names[0][:3] for pack in packs_of(DEFAULT_LOCALE) for names in pack.months)
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


@lru_cache(maxsize=16)
def calendar_of(locale: str) -> Calendar:
    """Return the dates of a locale's languages."""
    packs = packs_of(locale)
    sections = [surrogate_table(pack, "dates") for pack in packs]
    languages = [*map(DateWords.of, packs)]

    either = partial(surrogate_expression, locale, "dates")

    def listed(field: str) -> str:
        return _alternatives(surrogate_entries(locale, "dates", field)) or "(?!)"

    months = {form for pack in packs for names in pack.months for form in names}
    months |= {form for words in languages for form in (*words.short_months, *words.months)}
    month = _alternatives(months)
    # Names with their endings: "Freitagabend". The first letters of a name abbreviate it, unless they are a word.
    full = [name for words in languages for name in words.full_weekdays]
    starts = {
        form
        for pack, words in zip(packs, languages, strict=True)
        for name in words.full_weekdays
        for form in {*prefixes(name), *prefixes(casefold_accents(name))} - pack.function_words
    }
    quoted = {
        casefold_accents(names[0]): (tuple(names[0] for names in pack.weekdays), i)
        for pack in packs_with_quoted(locale)
        for i, names in enumerate(pack.weekdays)
    }
    own = {form for pack in packs for names in pack.weekdays for form in names}
    weekdays = own | {casefold_accents(name) for name in full} | {*quoted}
    weekdays |= {name for names, _ in quoted.values() for name in names}
    shortest = {name for words in languages for name in words.short_weekdays}
    long_weekdays = {form for form in weekdays if len(form) > max(map(len, shortest))} - starts
    spelled = rf"(?:{_alternatives(full)})(?:{listed('weekday_endings')})|{_alternatives(long_weekdays)}"
    short = _alternatives(shortest | starts)
    first_days = [regex.escape(words.first_day) for words in languages if words.first_day]
    ordinal = _alternatives({*first_days, *(suffix for words in languages for _, suffix in words.ordinals)}) or "(?!)"
    between = either("between")
    month_first = [section.get("writes_month_first", False) for section in sections]
    return Calendar(
        _patterns(
            rf"(?:{month})\.?",
            between,
            ordinal,
            sections[0].get("signs", "[-/.]"),
            month_first=month_first[0],
            not_a_month=either("not_a_month"),
        ),
        regex.compile(
            rf"(?<!\p{{L}})(?P<weekday>{spelled}|{short}|{_alternatives(weekdays)})(?!\p{{L}})", regex.IGNORECASE
        ),
        _beside(spelled, short, listed("weekdays_and_words")),
        regex.compile(rf"{CLOCK}|(?<!\p{{L}})(?:{either('clock')}|{listed('relative')})(?!\p{{L}})", regex.IGNORECASE),
        _shared_days(month, between, ordinal, either("joint"), month_first=any(month_first)),
        _year_after_month(between),
        regex.compile(rf"[.,]{{0,2}}\s{{1,2}}(?:{either('articles')})\s{{1,2}}", regex.IGNORECASE),
        languages,
        {name: one for name, one in quoted.items() if name not in map(casefold_accents, full)},
    )

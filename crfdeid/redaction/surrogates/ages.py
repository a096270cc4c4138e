"""Numbers of ages in figures and words: those below 90 stay, those from 90 on become one group.

HIPAA's Safe Harbor counts ages over 89 as identifiers. A number stays only if it was read as one below 90. Two numbers
next to each other may add up ("eighty and thirteen") or be one ("9 3"), so a text that joins them in no known way is
not read at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import regex

from crfdeid.redaction.surrogates.words import (
    DEFAULT_LOCALE,
    casefold_accents,
    folded_entries,
    packs_with_quoted,
    splice,
    surrogate_expression,
    surrogate_table,
    with_case_of,
)
from crfdeid.rules.ages import written_ages, written_numbers

# Ages from this one on become one group, as in HIPAA's safe harbor; shifted dates of birth and visits agree with it.
_OLDEST_AGE = 90
_GROUP = f"{_OLDEST_AGE}+"
_FIGURE = regex.compile(
    r"(?<![\p{N}\p{L}.,/])(?P<value>[0-9]{1,3}(?:[.,][0-9])?)(?:['’]?s(?!\p{L}))?(?!\p{N}|/\p{N})"
    r"(?!\s?[oOlI|](?!\p{L})(?!\s*[0-9]))"  # "9O": a scanner's 90
)
_WORD = regex.compile(r"\p{L}[\p{L}\p{M}]*")
_SIGNS = regex.compile(r"[\s.,;:!?()\[\]/'’\"“”«»~≈<>≤≥=+&†ºª°–—-]*")
_UNIT = regex.compile(r"[\s.–—-]*(?P<unit>\p{L}+)")
_DASH = regex.compile(r"\s*[-–—]\s*")
_COMMA = regex.compile(r"\s*[,/]\s*")
_RANGE = regex.compile(r"(90\+)(?:\s?[-–—]\s?90\+)+")
_MONTHS = 12
_LIKE_DIGITS = frozenset("oil")


class Number(NamedTuple):
    """A number of a text of ages.

    Attributes:
        start: offset of its first character.
        end: offset after its last character.
        text: what replaces it.
        value: the number; None for words.
        is_old: it is 90 or more, in years.
    """

    start: int
    end: int
    text: str
    value: float | None
    is_old: bool


class _AgeWords(NamedTuple):
    """Words around numbers in the languages of a locale and those that it quotes.

    Attributes:
        small: expression of units that are no years.
        years: casefolded words for years.
        joints: casefolded words between two ages.
        around: casefolded words that occur next to ages, and name no person.
        glued: casefolded words that may follow figures without a space.
        few: casefolded numbers up to 20 in words.
        articles: casefolded numbers in words that are articles.
        younger: expression of numbers below 90 in words.
        older: expressions of ages from 90 on in words, each with the words for all of them, those of the locale first.
    """

    small: regex.Pattern[str]
    years: frozenset[str]
    joints: frozenset[str]
    around: frozenset[str]
    glued: frozenset[str]
    few: frozenset[str]
    articles: frozenset[str]
    younger: regex.Pattern[str]
    older: tuple[tuple[regex.Pattern[str], str], ...]


@lru_cache(maxsize=16)
def _words_of(locale: str) -> _AgeWords:
    packs = packs_with_quoted(locale)

    def listed(*names: str) -> frozenset[str]:
        lists = (one.entries("ages", name) for one in packs for name in names)
        return frozenset(casefold_accents(word) for words in lists for word in words)

    def demographic(*names: str) -> frozenset[str]:
        return frozenset().union(*(folded_entries(one.code, "demographics", name) for one in packs for name in names))

    short, letters = listed("units", "short", "glued"), demographic("sex_letters")
    signs = listed("ordinals", "endings")
    return _AgeWords(
        regex.compile(surrogate_expression(locale, "demographics", "small_units"), regex.IGNORECASE),
        listed("units"),
        listed("joint"),
        demographic("age", "between"),
        (short | signs | letters | {unit + sex for unit in short for sex in letters}) - _LIKE_DIGITS,
        listed("ones", "teens"),
        demographic("articles"),
        regex.compile(r"(?<!\p{L})" + written_numbers(packs), regex.IGNORECASE),
        tuple(
            (
                regex.compile(r"(?<!\p{L})" + written_ages([one], gap=r"[\W_]*", words=True), regex.IGNORECASE),
                surrogate_table(one, "demographics").get("old_age", _GROUP),
            )
            for one in packs
        ),
    )


def read_numbers(text: str, locale: str = DEFAULT_LOCALE) -> list[Number] | None:
    """Read the numbers of a text of ages.

    Args:
        text: in normal form.
        locale: language of the units.

    Returns:
        The numbers by position; None if a number may be 90 or more and was not read as such.

    Example:
        >>> [len(read_numbers(text) or ()) for text in ("88-92 years", "eighty and thirteen", "9 3", "93½", "9O")]
        [2, 0, 0, 0, 0]
    """
    words = _words_of(locale)
    numbers = _numbers(text, words)
    if numbers is None:
        return None
    for one, other in pairwise(numbers):
        if not _are_apart(one, other, text, words):
            return None
    return numbers


def _numbers(text: str, words: _AgeWords) -> list[Number] | None:
    """The numbers, by position; None for other digits, letters next to digits, or signs between them."""
    found: list[Number] = []
    for pattern, group in words.older:
        for match in pattern.finditer(text):
            found = _with(found, Number(*match.span(), with_case_of(group, match.group()), None, True))
    for match in _FIGURE.finditer(text):
        value = float(match["value"].replace(",", "."))
        is_old = value >= _OLDEST_AGE and not _is_small(text, match.end(), words)
        found = _with(found, Number(*match.span(), _GROUP if is_old else match.group(), value, is_old))
    for match in words.younger.finditer(text):
        found = _with(found, Number(*match.span(), match.group(), None, False))
    found.sort()
    found = [one for one, other in pairwise([*found, None]) if one and not _is_article(one, other, text, words)]
    rest = splice(text, [(start, end, " ") for start, end, *_ in found])
    if not _SIGNS.fullmatch(_WORD.sub("", rest)):
        return None
    glued = (_WORD.match(text, one.end) for one in found if one.value is not None)
    if any(word and not _may_be_glued(casefold_accents(word.group()), words) for word in glued):
        return None
    return found


def _with(found: list[Number], one: Number) -> list[Number]:
    return found if any(one.start < other.end and other.start < one.end for other in found) else [*found, one]


def _is_article(one: Number, other: Number | None, text: str, words: _AgeWords) -> bool:
    """True for "ein" in "ein 45-Jähriger"."""
    if one.value is not None or one.is_old or other is None or text[one.end : other.start].strip():
        return False
    return other.value is not None and casefold_accents(one.text) in words.articles


def _may_be_glued(word: str, words: _AgeWords) -> bool:
    return word in words.glued or words.small.fullmatch(word) is not None


def _is_small(text: str, end: int, words: _AgeWords) -> bool:
    """True if the unit after a number, or after the range that it begins, is no year."""
    dash = _DASH.match(text, end)
    other = _FIGURE.match(text, dash.end()) if dash else None
    unit = _UNIT.match(text, other.end() if other else end)
    return unit is not None and words.small.fullmatch(unit["unit"]) is not None


def _are_apart(one: Number, other: Number, text: str, words: _AgeWords) -> bool:
    """True if two numbers are two ages, or one in two units, and in no reading a third one from 90 on."""
    gap = text[one.end : other.start]
    between = [casefold_accents(word) for word in _WORD.findall(gap)]
    if any(word not in words.around | words.years | words.joints for word in between):
        return True  # of two persons
    unit = _unit_of(text, one.end, words) if between else ""
    if unit and _unit_of(text, other.end, words) == "small":
        first, second = _at_most(one, words), _at_most(other, words)
        years = first / _MONTHS if unit == "small" else first
        return second < _MONTHS if one.is_old else years + second / _MONTHS < _OLDEST_AGE
    if one.value is None or other.value is None or (one.is_old and not other.is_old):
        return False
    first, second = one.value, other.value
    if _DASH.fullmatch(gap):
        return first <= second
    if not (_COMMA.fullmatch(gap) or words.joints.intersection(between)):
        return False
    as_digits = 10 * first + second if max(first, second) < 10 else 0  # "9, 3"
    return as_digits < _OLDEST_AGE and (first <= second or other.is_old or first + second < _OLDEST_AGE)


def _at_most(number: Number, words: _AgeWords) -> float:
    """The number, or the largest that its words can mean."""
    if number.value is not None:
        return number.value
    return 20 if casefold_accents(number.text) in words.few else _OLDEST_AGE - 1


def _unit_of(text: str, end: int, words: _AgeWords) -> str:
    unit = _UNIT.match(text, end)
    if unit is None:
        return ""
    plain = casefold_accents(unit["unit"])
    return "small" if words.small.fullmatch(unit["unit"]) else "years" if plain in words.years else ""


def group_ages(text: str, numbers: Sequence[Number]) -> str:
    """Return a text of ages with those from 90 on as one group."""
    found = splice(text, [number[:3] for number in numbers])
    return _RANGE.sub(r"\1", found.replace(f"{_GROUP}+", _GROUP))


def words_around(text: str, numbers: Sequence[Number]) -> list[regex.Match[str]]:
    """Return the words of a text of ages outside its numbers, without units and letters next to figures."""
    ends = {one.end for one in numbers if one.value is not None}
    spans = [(one.start, one.end) for one in numbers]
    return [
        word
        for word in _WORD.finditer(text)
        if word.start() not in ends and not any(start <= word.start() < end for start, end in spans)
    ]

"""Demographic values that surrogates preserve: sex, kinship, ages under 90, and common occupations.

HIPAA lists none of them as identifiers, and all are clinical information: a miner's lung disease differs from a
teacher's. Only words of closed lists are preserved. A span with any other word has no surrogate here, whatever its
type, because a model may have labelled a name as an age.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import regex

from crfdeid.redaction.surrogates.words import (
    casefold_accents,
    folded_entries,
    language_pack,
    splice,
    surrogate_table,
    with_case_of,
)
from crfdeid.rules.ages import written_ages
from features.languages import LANGUAGES, Language

# Ages from this one on become one group, as in HIPAA's safe harbor; shifted dates of birth and visits agree with it.
_OLDEST_AGE = 90
_WORD = regex.compile(r"\p{L}[\p{L}\p{M}]*")
_NUMBER = regex.compile(r"(?<![\p{Nd}\p{L}.,/])[0-9]{1,3}(?:[.,][0-9])?(?:['’]?s\b)?(?![\p{Nd}/])")
_WITHIN_A_NAME = regex.compile(r"[\s'’.-]*(?:(?:de|del|la|las|los|y)\s+)*")
_DIGIT = regex.compile(r"\p{N}")
# The text after a number up to the next one, if it has a letter: "95 years 3 months" has two units.
_UNIT = regex.compile(r"[^\p{L}\p{N}]*(\p{L}\P{N}*)")
_RANGE = regex.compile(rf"({_OLDEST_AGE}\+)(?:\s?[-–—]\s?{_OLDEST_AGE}\+)+")


class DemographicWords(NamedTuple):
    """Words of demographic values in a language.

    Attributes:
        sex, sex_letters, kin, age, numbers, between: casefolded words of closed lists.
        occupations: casefolded occupations that many people have: no mayors or judges.
        specifying: casefolded words that specify an occupation, and are none by themselves.
        small_units: units of ages that are no years.
        old_ages: expressions of ages of 90 and more in words, each with the words for all of them; of all languages,
            those of the locale first.
        occupation_endings: endings of other forms of an occupation, each with that of the listed one.
    """

    sex: frozenset[str]
    sex_letters: frozenset[str]
    kin: frozenset[str]
    age: frozenset[str]
    numbers: frozenset[str]
    between: frozenset[str]
    occupations: frozenset[str]
    specifying: frozenset[str]
    small_units: regex.Pattern[str]
    old_ages: tuple[tuple[regex.Pattern[str], str], ...]
    occupation_endings: tuple[tuple[str, str], ...]


@lru_cache(maxsize=16)
def words_of(locale: str) -> DemographicWords:
    """Return the words of a locale's language; those of English and Spanish are read together."""
    pack = language_pack(locale)
    packs = (LANGUAGES["es"], LANGUAGES["en"]) if pack is None else (pack,)
    sections = [surrogate_table(one, "demographics") for one in packs]
    found = {
        kind: frozenset().union(*(folded_entries(one.code, "demographics", kind) for one in packs))
        for kind in ("sex", "sex_letters", "kin", "age", "numbers", "between", "occupations", "specifying")
    }
    kin = (word for one in packs for phrase in one.words["kin"] for word in _WORD.findall(phrase))
    found["kin"] |= set(map(casefold_accents, kin))
    units = "|".join(section.get("small_units", "(?!)") for section in sections)
    endings = (row for section in sections for row in section.get("occupation_endings", ()))
    return DemographicWords(
        **found,
        small_units=regex.compile(units, regex.IGNORECASE),
        old_ages=tuple(_old_ages((*packs, *(pack for pack in LANGUAGES.values() if pack not in packs)))),
        occupation_endings=tuple((casefold_accents(form), listed) for form, listed in endings),
    )


def _old_ages(packs: Sequence[Language]) -> Iterator[tuple[regex.Pattern[str], str]]:
    """The expressions of old ages of some languages, each with the words for all of them."""
    for pack in packs:
        form = r"(?<!\p{L})" + written_ages([pack], gap=r"[\W_]*", words=True)
        words = surrogate_table(pack, "demographics").get("old_age", f"{_OLDEST_AGE}+")
        yield regex.compile(form, regex.IGNORECASE), words


def preserve_sex(text: str, locale: str = "en_US") -> str | None:
    """Return a word for a sex unchanged; None for any other text.

    Example:
        >>> preserve_sex("Varón"), preserve_sex("Quill")
        ('Varón', None)
    """
    listed, words = words_of(locale), {casefold_accents(word) for word in _WORD.findall(text)}
    known = words <= listed.sex | listed.sex_letters | listed.between
    known = known or casefold_accents("".join(text.split())) in listed.sex
    return text if known and words and not _DIGIT.search(text) else None


def preserve_kin(text: str, name: Callable[[str], str | None], locale: str = "en_US") -> str | None:
    """Return words of kinship and ages unchanged and replace the names among them; None for any other text.

    Args:
        text: a span such as "hermana María, de 6 años".
        name: returns the surrogate of a person's name.
        locale: language of the words.
    """
    found = group_old_ages(text, locale)
    if found is None:
        return None
    pieces: list[tuple[int, int, str]] = []
    for start, stop in _unknown_words(found, words_of(locale)):
        surrogate = name(found[start:stop])
        if surrogate is None or not found[start].isupper():
            return None
        pieces.append((start, stop, surrogate))
    return splice(found, pieces)


def _unknown_words(text: str, listed: DemographicWords) -> list[tuple[int, int]]:
    """Return the offsets of words in no list; adjacent ones, also with particles between, are united."""
    runs: list[tuple[int, int]] = []
    for match in _WORD.finditer(text):
        if casefold_accents(match.group()) in listed.sex | listed.kin | listed.age | listed.numbers | listed.between:
            continue
        if runs and _WITHIN_A_NAME.fullmatch(text, runs[-1][1], match.start()):
            runs[-1] = runs[-1][0], match.end()
        else:
            runs.append(match.span())
    return runs


def generalise_age(text: str, locale: str = "en_US") -> str | None:
    """Return an age in figures or words unchanged, or as one group from 90 on; None for any other text.

    Example:
        >>> [generalise_age(text) for text in ("45-year-old", "93 años", "noventa y tres años", "Quill")]
        ['45-year-old', '90+ años', 'noventa y tantos años', None]
    """
    listed, found = words_of(locale), group_old_ages(text, locale)
    if found is None:
        return None
    rest = text
    for old, _ in listed.old_ages:
        rest = old.sub("", rest)
    words = {casefold_accents(word) for word in _WORD.findall(rest)}
    of_age = listed.age | listed.numbers | listed.sex
    is_age = words & of_age or _DIGIT.search(found) or found != text
    return found if words <= of_age | listed.between | {"medio", "media", "half"} and is_age else None


def group_old_ages(text: str, locale: str = "en_US") -> str | None:
    """Return a text with all ages of 90 and above as one group; None if a number in it is no age."""

    listed = words_of(locale)

    def grouped(match: regex.Match[str]) -> str:
        age = float(match.group().rstrip("s'’").replace(",", "."))
        unit = _UNIT.match(text, match.end())
        small = listed.small_units.match(unit[1]) if unit else listed.small_units.search(text)
        return f"{_OLDEST_AGE}+" if small is None and age >= _OLDEST_AGE else match.group()

    found = _NUMBER.sub(grouped, text)
    if _DIGIT.search(_NUMBER.sub("", text)):
        return None
    for old, words in listed.old_ages:
        found = splice(found, [(*match.span(), with_case_of(words, match.group())) for match in old.finditer(found)])
    return _RANGE.sub(r"\1", found.replace(f"{_OLDEST_AGE}++", f"{_OLDEST_AGE}+"))


def keep_age(text: str, locale: str = "en_US") -> str | None:
    """Return an age below 90 unchanged and others as one group; None for words that are in no list of any language.

    Example:
        >>> [keep_age(text) for text in ("45 Jahre", "forty-five", "94 ans", "quatre-vingt-dix ans", "four score")]
        ['45 Jahre', 'forty-five', '90+ ans', 'plus de nonante ans', None]
    """
    found = group_old_ages(text, locale)
    if found is None or _DIGIT.search(found) or found != text:
        return found
    known = _words_for_ages()
    return found if all(casefold_accents(word) in known for word in _WORD.findall(text)) else None


@lru_cache(maxsize=1)
def _words_for_ages() -> frozenset[str]:
    """Casefolded words of all languages that occur in ages below 90."""
    lists = ("age", "numbers", "sex", "between")
    return frozenset().union(*(folded_entries(code, "demographics", name) for code in LANGUAGES for name in lists))


def preserve_occupation(text: str, locale: str = "en_US") -> str | None:
    """Return a common occupation unchanged; of a longer description, the part that names it; else None.

    Example:
        >>> [preserve_occupation(text) for text in ("ama de casa", "médico especialista en colmenas", "alcaldesa")]
        ['ama de casa', 'médico', None]
    """
    listed = words_of(locale)
    runs: list[list[tuple[int, int, str]]] = [[]]
    for match in _WORD.finditer(text):
        start, end, word = *match.span(), casefold_accents(match.group())
        if runs[-1] and _DIGIT.search(text, runs[-1][-1][1], start):
            runs.append([])
        if _is_job(word, listed) or word in listed.specifying or (word in listed.between and runs[-1]):
            runs[-1].append((start, end, word))
        else:
            runs.append([])
    for run in runs:
        # Of an incomplete run, drop specifying words at the end as well: "médico del Hospital", of a longer name.
        is_cut = bool(run) and _WORD.search(text, run[-1][1]) is not None
        while run and (run[-1][2] in listed.between or (is_cut and not _is_job(run[-1][2], listed))):
            run.pop()
        if any(_is_job(word, listed) for _, _, word in run):
            return text[run[0][0] : run[-1][1]]
    return None


def _is_job(word: str, listed: DemographicWords) -> bool:
    """Return True for a casefolded word of the occupations, also in its feminine or plural form."""
    forms = {word[: len(word) - len(end)] + other for end, other in listed.occupation_endings if word.endswith(end)}
    return not listed.occupations.isdisjoint(forms | {word})

"""Demographic values that surrogates preserve: sex, kinship, ages under 90, and common occupations.

HIPAA lists none of them as identifiers, and all are clinical information: a miner's lung disease differs from a
teacher's. Only words of closed lists are preserved. A span with any other word has no surrogate here, whatever its
type, because a model may have labelled a name as an age.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import regex

from crfdeid.redaction.surrogates.ages import Number, group_ages, read_numbers, words_around
from crfdeid.redaction.surrogates.name_words import name_words
from crfdeid.redaction.surrogates.words import (
    DEFAULT_LOCALE,
    casefold_accents,
    folded_entries,
    packs_of,
    packs_with_quoted,
    splice,
    surrogate_table,
)

_WORD = regex.compile(r"\p{L}[\p{L}\p{M}]*")
_DIGIT = regex.compile(r"\p{N}")


class DemographicWords(NamedTuple):
    """Words of demographic values in a language: fields of "demographics" of its packs, casefolded.

    Attributes:
        occupations: occupations that many people have: no mayors or judges.
        specifying: words that specify an occupation, and are none by themselves.
        occupation_endings: endings of other forms of an occupation, each with that of the listed one.
    """

    sex: frozenset[str]
    sex_letters: frozenset[str]
    kin: frozenset[str]
    age: frozenset[str]
    between: frozenset[str]
    occupations: frozenset[str]
    specifying: frozenset[str]
    occupation_endings: tuple[tuple[str, str], ...]


@lru_cache(maxsize=16)
def words_of(locale: str) -> DemographicWords:
    """Return the words of a locale's languages."""
    packs = packs_of(locale)
    sections = [surrogate_table(one, "demographics") for one in packs]
    found = {
        kind: frozenset().union(*(folded_entries(one.code, "demographics", kind) for one in packs))
        for kind in ("sex", "sex_letters", "kin", "age", "between", "occupations", "specifying")
    }
    kin = (word for one in packs for phrase in one.words["kin"] for word in _WORD.findall(phrase))
    found["kin"] |= set(map(casefold_accents, kin))
    endings = (row for section in sections for row in section.get("occupation_endings", ()))
    return DemographicWords(
        **found,
        occupation_endings=tuple((casefold_accents(form), listed) for form, listed in endings),
    )


def preserve_sex(text: str, locale: str = DEFAULT_LOCALE) -> str | None:
    """Return a word for a sex unchanged; None for any other text.

    Example:
        >>> preserve_sex("Varón"), preserve_sex("Quill")
        ('Varón', None)
    """
    listed, words = words_of(locale), {casefold_accents(word) for word in _WORD.findall(text)}
    known = words <= listed.sex | listed.sex_letters | listed.between
    known = known or casefold_accents("".join(text.split())) in listed.sex
    return text if known and words and not _DIGIT.search(text) else None


def preserve_kin(text: str, name: Callable[[str], str | None], locale: str = DEFAULT_LOCALE) -> str | None:
    """Return words of kinship and ages unchanged and replace the names among them; None for any other text.

    Args:
        text: a span such as "hermana María, de 6 años".
        name: returns the surrogate of a person's name.
        locale: language of the words.
    """
    numbers = read_numbers(text, locale)
    if numbers is None:
        return None
    pieces = [number[:3] for number in numbers]
    for start, stop in _unknown_words(text, numbers, locale):
        surrogate = name(text[start:stop])
        if surrogate is None or not text[start].isupper():
            return None
        pieces.append((start, stop, surrogate))
    return splice(text, sorted(pieces))


def _unknown_words(text: str, numbers: Sequence[Number], locale: str) -> list[tuple[int, int]]:
    """Return the offsets of words in no list; adjacent ones, also with particles between, are united."""
    listed, between = words_of(locale), "|".join(sorted(name_words(locale).particles))
    within_a_name = regex.compile(rf"[\s'’.-]*(?:(?:{between})\s+)*")
    runs: list[tuple[int, int]] = []
    for match in words_around(text, numbers):
        if casefold_accents(match.group()) in listed.sex | listed.kin | listed.age | listed.between:
            continue
        if runs and within_a_name.fullmatch(text, runs[-1][1], match.start()):
            runs[-1] = runs[-1][0], match.end()
        else:
            runs.append(match.span())
    return runs


def generalise_age(text: str, locale: str = DEFAULT_LOCALE) -> str | None:
    """Return an age in figures or words unchanged, or as one group from 90 on; None for any other text.

    Example:
        >>> [generalise_age(text) for text in ("45-year-old", "93 años", "noventa y tres años", "Quill")]
        ['45-year-old', '90+ años', 'noventa y tantos años', None]
    """
    listed, numbers = words_of(locale), read_numbers(text, locale)
    if numbers is None:
        return None
    words = {casefold_accents(word.group()) for word in words_around(text, numbers)}
    of_age = listed.age | listed.sex
    known = words <= of_age | listed.between
    return group_ages(text, numbers) if known and (numbers or words & of_age) else None


def keep_age(text: str, locale: str = DEFAULT_LOCALE, *, kin: bool = False) -> str | None:
    """Return an age read as one below 90 unchanged and one from 90 on as a group; None for any other text.

    Args:
        text: the age.
        locale: language of the units; words are those of the languages that it quotes, too.
        kin: accept words of kinship too.

    Example:
        >>> [keep_age(text) for text in ("45 Jahre", "forty-five", "94 ans", "quatre-vingt-dix ans", "four score")]
        ['45 Jahre', 'forty-five', '90+ ans', 'plus de nonante ans', None]
    """
    numbers = read_numbers(text, locale)
    if numbers is None:
        return None
    known = _words_for_ages(locale, kin=kin)
    if any(number.value is not None for number in numbers):
        known |= _listed(locale, "sex_letters")
    unknown = [word.group() for word in words_around(text, numbers) if casefold_accents(word.group()) not in known]
    # Next to figures of a group alone, a word changes no age: "95, widowed". With a capital it may be a name.
    is_group = bool(numbers) and all(number.is_old and number.value is not None for number in numbers)
    return group_ages(text, numbers) if not unknown or (is_group and all(map(str.islower, unknown))) else None


@lru_cache(maxsize=32)
def _words_for_ages(locale: str, *, kin: bool) -> frozenset[str]:
    lists = frozenset().union(*(_listed(locale, name) for name in ("age", "sex", "between")))
    return lists.union(*(words_of(pack.locale).kin for pack in packs_with_quoted(locale))) if kin else lists


@lru_cache(maxsize=64)
def _listed(locale: str, name: str) -> frozenset[str]:
    return frozenset().union(*(folded_entries(pack.code, "demographics", name) for pack in packs_with_quoted(locale)))


def preserve_occupation(text: str, locale: str = DEFAULT_LOCALE) -> str | None:
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

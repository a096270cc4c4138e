"""Roles of the words of names, as a note tells them: first names, their sex, and family names.

Lists of names know the frequent ones. The note tells the rest: the first of several words is a first name, the word
after "Dr." alone a family name, and "Dra." or "Mrs." says the sex.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

import regex

from crfdeid.redaction.persons import NAME_WORD, PARTICLES, TITLES
from crfdeid.redaction.surrogates.invented import Invented, invented, sexes
from crfdeid.redaction.surrogates.letters import fold, folded
from crfdeid.redaction.surrogates.names import FAMILY, spelled_out

_FEMALE = "dra dras doctora sra srta señora señorita doña dña dª d.ª mrs ms miss madam"
_FEMALE_TITLES = folded(_FEMALE.split())
_MALE_TITLES = folded(["sr", "señor", "don", "d", "mr", "sir"])
_MALE_IN_SPANISH = folded(["dr", "dres", "doctor", "profesor"])  # In English they tell no sex.
# After these a single word is a first name.
_BEFORE_FIRST_NAMES = folded(["don", "doña", "d", "dña", "dª", "d.ª"])
# What a field is called that holds a part of a name; "nombre y apellidos" holds the whole.
_CUE_AT_END = regex.compile(
    r"(?<!\p{L})(?<!(?:(?<!\p{L})(?:y|e|and)\s|[,/]\s?))"
    r"(?:(?P<family>apellidos?|surname|last name|family name)|(?P<first>first name|given name|nombre de pila|nombres?))"
    r"(?:\s+(?:del?|of)\s+(?:la\s|the\s)?pa[ct]ien(?:te|t))?\s*[:=;|,]?\s*$",
    regex.IGNORECASE,
)
_TITLES_AT_END = regex.compile(r"(?:(?<!\p{L})(?P<title>\p{L}+(?:\.?ª)?)\.?\s*)+$")
# Words that tell the sex of a patient.
_SEX_WORD = regex.compile(
    r"(?<!\p{L})(?:(?P<female>mujer|niña|femenin[ao]|she|her|female|woman|girl|lady)"
    r"|(?P<male>varón|hombre|niño|masculino|he|his|him|male|man|boy|gentleman))(?!\p{L})",
    regex.IGNORECASE,
)
_REACH = 60  # characters before a name in which its title or cue stands


class _Unit(NamedTuple):
    """One word of a name, hyphenated or an initial: "Quill", "Ana-Belén", "J."."""

    words: tuple[str, ...]  # folded
    is_initial: bool
    after_comma: bool


def name_roles(
    text: str, places: Iterable[tuple[int, int]], locale: str, patients: Collection[int] = ()
) -> dict[str, str]:
    """The roles of the words of names in a note: the one that most of the names give them.

    Args:
        text: of the note.
        places: half-open offsets of its people's names.
        locale: of the note.
        patients: where names of patients begin: an unlisted first name is of the sex that the note's words tell.

    Returns:
        Folded word -> "family", "female", "male" or "either". A word that is always alone, without a title or a
        field's name, is left out.

    Example:
        >>> name_roles("Dra. Xurxiña Vidal", [(5, 18)], "es_ES")
        {'xurxina': 'female', 'vidal': 'family'}
    """
    known, spanish = invented(locale), locale.startswith("es")
    spots = [
        (spelled_out(text[start:end]), text[max(0, start - _REACH) : start].rpartition("\n")[2], start in patients)
        for start, end in places
    ]
    cues = [_CUE_AT_END.search(before) for _, before, _ in spots]
    split = any(cue and cue["family"] for cue in cues)
    told = _told_sex(text) if patients else None
    votes: dict[str, Counter[str]] = {}
    for (value, before, is_patient), cue in zip(spots, cues, strict=True):
        field = _field(cue) if cue and split else None
        for word, role in _read(value, before, field, known, spanish, told if is_patient else None):
            votes.setdefault(word, Counter())[role] += 1
    return {word: count.most_common(1)[0][0] for word, count in votes.items()}


def _told_sex(text: str) -> str | None:
    """The sex that a note's words for one tell; None where they are not three times as many as those for the other."""
    found = Counter(match.lastgroup for match in _SEX_WORD.finditer(text))
    female, male = found["female"], found["male"]
    if female == male or min(female, male) * 3 > max(female, male):
        return None
    return "female" if female > male else "male"


def _read(
    value: str, before: str, field: str | None, known: Invented, spanish: bool, told: str | None
) -> Iterator[tuple[str, str]]:
    """The words of a name with their roles, as far as it tells them."""
    titles = {fold(match) for match in _titles(before)}
    units: list[_Unit] = []
    end, comma = 0, False
    for match in NAME_WORD.finditer(value):
        word, between = fold(match.group()), value[end : match.start()]
        comma = comma or "," in between
        end = match.end()
        if match.group().lower() in TITLES:
            titles.add(word)
        elif word in PARTICLES:
            continue
        elif units and between == "-" and not units[-1].is_initial:
            units[-1] = units[-1]._replace(words=(*units[-1].words, word))
        else:
            units.append(_Unit((word,), len(word) == 1, comma))
    firsts = _first_names(units, field, titles, known)
    if firsts is None:
        return
    for unit, is_first in zip(units, firsts, strict=True):
        for word in () if unit.is_initial else unit.words:
            yield word, _sex_in(word, titles, known, spanish, told) if is_first else FAMILY


def _sex_in(word: str, titles: set[str], known: Invented, spanish: bool, told: str | None) -> str:
    """The sex of a first name: by the locale's list, its title, the note, the lists of others, its ending.

    "Dr." is weaker than any list: forms have it before names of women, too.
    """
    title = "female" if titles & _FEMALE_TITLES else "male" if titles & _MALE_TITLES else None
    listed = known.given.get(word) or title or told or sexes().get(word)
    if listed in ("female", "male"):
        return listed
    doctor = "male" if spanish and titles & _MALE_IN_SPANISH else None
    return doctor or listed or {"a": "female", "o": "male"}.get(word[-1], "either")


def _field(cue: regex.Match[str]) -> str:
    return "family" if cue["family"] else "first"


def _titles(before: str) -> list[str]:
    found = _TITLES_AT_END.search(before)
    words = found.captures("title") if found else []
    return [word for word in words[-2:] if word.lower().rstrip(".ª") in TITLES]


def _first_names(units: Sequence[_Unit], field: str | None, titles: set[str], known: Invented) -> list[bool] | None:
    """A flag for each word of a name that is a first name; None where the name does not tell."""
    words = [unit for unit in units if not unit.is_initial]
    if not words or (len(units) == 1 and field is None and not titles):
        return None
    if field is not None:
        return [field == "first"] * len(units)
    if any(unit.after_comma for unit in units) and not units[0].after_comma:  # "Quill, Jane"
        return [unit.after_comma for unit in units]
    # A first name by the lists, which is no family name.
    certain = [_is_listed_first(unit, known) and unit.words[0] not in known.family for unit in units]
    if len(words) == 1:  # "Dr. Quill", "doña Jane"; "J. Quill", "Jane Q."
        alone = len(units) == 1 and bool(titles & _BEFORE_FIRST_NAMES)
        return [alone or (unit is units[0] and certain[0]) for unit in units]
    listed = [_is_listed_first(unit, known) for unit in units]
    ends_with_first = certain[-1] or (len(units) > 3 and all(listed[-2:]))
    if ends_with_first and not listed[0] and not units[0].is_initial:  # "Quill Roe Jane"
        begin = next(i for i in range(len(units)) if all(listed[i:]))
        return [i >= begin for i in range(len(units))]
    return _in_order(units, certain, known)


def _in_order(units: Sequence[_Unit], certain: Sequence[bool], known: Invented) -> list[bool]:
    """The flags of `_first_names` where first names come first: the first word, and further ones that fit its sex."""
    if all(certain) and len(units) == 2:
        return [True, True]
    found = [_is_listed_first(units[0], known) or units[0].words[0] not in known.family]
    sex = _sex(units[0].words[0], known)
    for i, unit in enumerate(units[1:], start=1):
        fits = _sex(unit.words[0], known) in (sex, "either") or sex in (None, "either")  # "David Remedios Clavijo"
        several = len(units) > 3 and i == 1 and _is_listed_first(unit, known)
        found.append(found[-1] and i + 1 < len(units) and (unit.is_initial or (fits and (certain[i] or several))))
    return found


def _is_listed_first(unit: _Unit, known: Invented) -> bool:
    return _sex(unit.words[0], known) is not None


def _sex(word: str, known: Invented) -> str | None:
    """The sex of a listed first name, "either" for one of both; None for any other word."""
    return known.given.get(word) or sexes().get(word)

"""Roles of the words of names in a note: first name or family name, by titles, labels, order and lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

import regex

from crfdeid.known_phi.names import NAME_WORD
from crfdeid.redaction.surrogates.locales import LocaleLists, given_name_sexes, locale_lists
from crfdeid.redaction.surrogates.name_words import NameWords, name_words
from crfdeid.redaction.surrogates.names import FAMILY, LONG_WORD, LONGEST_ABBREVIATION
from crfdeid.redaction.surrogates.words import casefold_accents

_TITLES_AT_END = regex.compile(r"(?:(?<!\p{L})(?P<title>\p{L}+(?:\.?ª)?)\.?\s*)+$")
_REACH = 60  # characters before a name that may contain its title or label


class _Unit(NamedTuple):
    """One word of a name, hyphenated or an initial: "Quill", "Ana-Belén", "J."."""

    words: tuple[str, ...]  # folded
    is_initial: bool
    after_comma: bool
    in_capitals: bool
    after_particle: bool


def name_roles(
    text: str, names: Iterable[tuple[int, int, str]], locale: str, patients: Collection[int] = ()
) -> dict[str, str]:
    """Return the roles of the words of names in a note, each the role in most of the names.

    Args:
        text: the note.
        names: half-open offsets of persons' names, and their values (`crfdeid.redaction.values`).
        locale: language and country of the note.
        patients: starts of patients' names; their unlisted first names get the sex that the note's words indicate.

    Returns:
        Casefolded word -> "family", "female", "male" or "either". A word that is always alone, without a title or a
        label, is left out.

    Example:
        >>> name_roles("Dra. Xurxiña Vidal", [(5, 18, "Xurxiña Vidal")], "es_ES")
        {'xurxina': 'female', 'vidal': 'family'}
    """
    known, words = locale_lists(locale), name_words(locale)
    spans = [*names]
    found = [
        (words.spelled_out(value), text[max(0, start - _REACH) : start].rpartition("\n")[2], start in patients)
        for start, _, value in spans
    ]
    if words.has_genitive:
        found = _nominatives(found, [text[end : end + 2] for _, end, _ in spans], known)
    cues = [words.cue_at_end.search(before) for _, before, _ in found]
    kinds = {cue.lastgroup for cue in cues if cue}
    split = "family" in kinds and (len(kinds) > 1 or words.two_family_names)
    noted = _noted_sex(text, words.sex_word) if patients else None
    votes: dict[str, Counter[str]] = {}
    for (value, before, is_patient), cue in zip(found, cues, strict=True):
        field = cue.lastgroup if cue and split else None
        for word, role in _read(value, before, field, known, words, noted if is_patient else None):
            votes.setdefault(word, Counter())[role] += 1
    return {word: count.most_common(1)[0][0] for word, count in votes.items()}


def _nominatives(
    names: Sequence[tuple[str, str, bool]], following: Sequence[str], known: LocaleLists
) -> list[tuple[str, str, bool]]:
    """Return names with their last word in the nominative: "Müller" for "Müllers".

    That needs "Müller" in the note or in the lists, or a noun after the name.
    """
    words = {casefold_accents(word) for value, _, _ in names for word in NAME_WORD.findall(value)}

    def nominative(value: str, after: str) -> str:
        last = casefold_accents(NAME_WORD.findall(value)[-1]) if NAME_WORD.search(value) else ""
        is_listed = last in known.given or last in known.family
        base = last[:-1]
        by_list = base in known.given or base in known.family
        before_noun = after[:1] == " " and after[1:].isupper()
        is_genitive = base in words or (not is_listed and (by_list or before_noun))
        return value[:-1] if last.endswith("s") and len(last) > LONG_WORD and is_genitive else value

    return [
        (nominative(value, after), before, is_patient)
        for (value, before, is_patient), after in zip(names, following, strict=True)
    ]


def _noted_sex(text: str, sex_word: regex.Pattern[str]) -> str | None:
    """Return the sex with at least three times as many words in a note as the other, or None."""
    found = Counter(match.lastgroup for match in sex_word.finditer(text))
    female, male = found["female"], found["male"]
    if female == male or min(female, male) * 3 > max(female, male):
        return None
    return "female" if female > male else "male"


def _read(
    value: str, before: str, field: str | None, known: LocaleLists, words: NameWords, noted: str | None
) -> Iterator[tuple[str, str]]:
    """Yield the words of a name with their roles, if the name and its context show them."""
    titles = {casefold_accents(match) for match in _titles(before, words.titles)}
    units: list[_Unit] = []
    end, comma, after_particle = 0, False, False
    for match in NAME_WORD.finditer(words.without_titles(value)):
        word, between = casefold_accents(match.group()), value[end : match.start()]
        comma = comma or "," in between
        end = match.end()
        if match.group().lower() in words.titles:
            titles.add(word)
        elif word in words.particles:
            after_particle = not words.two_family_names
            continue
        elif units and between == "-" and not units[-1].is_initial and not after_particle:
            units[-1] = units[-1]._replace(words=(*units[-1].words, word))
        else:
            is_initial = len(word) == 1 or (
                not words.two_family_names and len(word) <= LONGEST_ABBREVIATION and value[end : end + 1] == "."
            )
            units.append(_Unit((word,), is_initial, comma, len(word) > 1 and match.group().isupper(), after_particle))
        after_particle = False
    firsts = _first_names(units, field, titles, known, words)
    if firsts is None:
        return
    for unit, is_first in zip(units, firsts, strict=True):
        for word in () if unit.is_initial else unit.words:
            deciding = word if words.two_family_names else unit.words[0]  # "Jean-Marie" is a man
            yield word, _first_name_sex(deciding, titles, known, words, noted) if is_first else FAMILY


def _first_name_sex(word: str, titles: set[str], known: LocaleLists, words: NameWords, noted: str | None) -> str:
    """Return the sex of a first name: by the locale's list, its title, the note, other lists, or its ending.

    "Dr." counts less than any list, since forms have it before names of women, too.
    """
    title = "female" if titles & words.female_titles else "male" if titles & words.male_titles else None
    listed = known.given.get(word) or title or noted or given_name_sexes().get(word)
    if listed in ("female", "male"):
        return listed
    if words.male_ending is None:
        return "female" if words.female_ending.search(word) else "male"
    if titles & words.doctors or listed:
        return "male" if titles & words.doctors else "either"
    return "female" if words.female_ending.search(word) else "male" if words.male_ending.search(word) else "either"


def _titles(before: str, known: frozenset[str]) -> list[str]:
    found = _TITLES_AT_END.search(before)
    words = found.captures("title") if found else []
    return [word for word in words[-2:] if word.lower().rstrip(".ª") in known]


def _first_names(
    units: Sequence[_Unit], field: str | None, titles: set[str], known: LocaleLists, forms: NameWords
) -> list[bool] | None:
    """Return a flag for each word of a name, True for a first name; None if the name does not show it."""
    words = [unit for unit in units if not unit.is_initial]
    if not words or (len(units) == 1 and field is None and not titles) or field is not None:
        return [field == "first"] * len(units) if words and field is not None else None
    if any(unit.after_comma for unit in units) and not units[0].after_comma:  # "Quill, Jane"
        return [unit.after_comma for unit in units]
    # Listed first names that are no family names.
    certain = [_is_listed_first(unit, known) and unit.words[0] not in known.family for unit in units]
    if not forms.two_family_names:
        return _by_order(units, certain, titles, known, forms)
    if len(words) == 1:  # "Dr. Quill", "doña Jane"; "J. Quill", "Jane Q."
        alone = len(units) == 1 and bool(titles & forms.before_first_names)
        return [alone or (unit is units[0] and certain[0]) for unit in units]
    listed = [_is_listed_first(unit, known) for unit in units]
    ends_with_first = certain[-1] or (len(units) > 3 and all(listed[-2:]))
    if ends_with_first and not listed[0] and not units[0].is_initial:  # "Quill Roe Jane"
        begin = next(i for i in range(len(units)) if all(listed[i:]))
        return [i >= begin for i in range(len(units))]
    return _in_order(units, certain, known)


def _by_order(
    units: Sequence[_Unit], certain: Sequence[bool], titles: set[str], known: LocaleLists, forms: NameWords
) -> list[bool]:
    """Return the flags of a name in a language whose names end with one family name, or begin with it."""
    if len(units) == 1:  # "Dr. Quill", "Schwester Jane"
        return [bool(titles & forms.before_first_names)]
    begin = next((i for i, unit in enumerate(units) if unit.after_particle), None)
    if begin is not None:  # "Jane von Quill", "de Quill Jane"
        return [i < begin or (begin == 0 and i > 0) for i in range(len(units))]
    if len({unit.in_capitals for unit in units if not unit.is_initial}) > 1:  # "QUILL Jane"
        return [not unit.in_capitals for unit in units]
    if _is_listed_first(units[-1], known) and not _is_listed_first(units[0], known) and not units[0].is_initial:
        return [i > 0 for i in range(len(units))]  # "Quill Jane"
    return [i + 1 < len(units) and (i == 0 or certain[i] or unit.is_initial) for i, unit in enumerate(units)]


def _in_order(units: Sequence[_Unit], certain: Sequence[bool], known: LocaleLists) -> list[bool]:
    """Return the flags of a name that begins with first names: the first word, and further ones of a compatible sex."""
    if all(certain) and len(units) == 2:
        return [True, True]
    found = [_is_listed_first(units[0], known) or units[0].words[0] not in known.family]
    sex = _sex(units[0].words[0], known)
    for i, unit in enumerate(units[1:], start=1):
        fits = _sex(unit.words[0], known) in (sex, "either") or sex in (None, "either")  # "David Remedios Clavijo"
        several = len(units) > 3 and i == 1 and _is_listed_first(unit, known)
        found.append(found[-1] and i + 1 < len(units) and (unit.is_initial or (fits and (certain[i] or several))))
    return found


def _is_listed_first(unit: _Unit, known: LocaleLists) -> bool:
    return _sex(unit.words[0], known) is not None


def _sex(word: str, known: LocaleLists) -> str | None:
    """Return the sex of a listed first name, perhaps "either"; None for any other word."""
    return known.given.get(word) or given_name_sexes().get(word)

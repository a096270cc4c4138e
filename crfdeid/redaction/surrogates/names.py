"""Surrogates of persons' names: each word becomes another of the same role."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

import regex

from crfdeid.known_phi.persons import NAME_WORD, PARTICLES, TITLES
from crfdeid.redaction.surrogates.chooser import HmacChooser, casefold_accents, casefold_words, splice, with_case_of
from crfdeid.redaction.surrogates.locales import LocaleLists, given_name_sexes, locale_lists

FAMILY = "family"
"""Role of a family name; the roles of a first name are "female", "male" and "either"."""

_DIGIT = regex.compile(r"\p{N}")
_MARIA = regex.compile(r"(?<!\p{L})M\.?ª\.?")
_FEW = 3
_LONG_WORD = 4  # a shorter one may be part of an account by chance
# Particles that stay in Spanish names even with a capital ("De La Cruz").
_CAPITAL_PARTICLES = frozenset(["de", "del", "la", "las", "los", "y", "san", "santa"])


class Names:
    """Surrogates of names, word by word, so that a part of a name gets the part of its surrogate.

    A word's surrogate depends on the word without accents and on its role: "Quill" gets one surrogate in "Jane Quill",
    "QUILL, JANE" and "Quill's". The first letter of the surrogate depends on the word's first letter alone, so that
    initials agree with names.

    Args:
        keyed: the source of choices.
        locale: language and country of the names.
        roles: roles of casefolded words in the note: "family", "female", "male" or "either". They precede the lists.
    """

    def __init__(self, keyed: HmacChooser, locale: str, roles: Mapping[str, str] = MappingProxyType({})) -> None:
        self._keyed, self._roles = keyed, roles
        self._lists = _lists(locale)
        self._capital_particles = _CAPITAL_PARTICLES if locale.startswith("es") else frozenset[str]()

    def person(self, text: str) -> str | None:
        """Return another name, or None for a text with a digit.

        Titles, particles, dots, order, case and possessive stay. A first name becomes one of the same sex, so that it
        agrees with "Ms." and "Mr."; any other word becomes a family name.
        """
        if _DIGIT.search(text):
            return None
        text = _spell_out(text)
        spans = [match.span() for match in NAME_WORD.finditer(text)]
        last = len(spans) - 1
        return splice(text, [(a, b, self._part(text[a:b], is_last=i == last)) for i, (a, b) in enumerate(spans)])

    def word(self, word: str) -> str:
        """Return another word of the same role: a first name of the same sex, or a family name."""
        return self._chosen(word, self._role(word))

    def full_name(self, words: Sequence[str]) -> list[str]:
        """Return other words for those of one name: family names, after a first name for a listed one."""
        begins = False  # with a first name
        if len(words) > 1 and casefold_accents(words[1]) != "y":
            begins = self._lists.role(casefold_accents(words[0])) not in (None, FAMILY)
        found: list[str] = []
        for i, word in reversed(list(enumerate(words))):
            if word.lower() in PARTICLES:
                # "Ramón y Cajal", but "Ferrer e Ibáñez".
                is_y = casefold_accents(word) == "y"
                before_i = is_y and found and casefold_accents(found[-1]).startswith(("i", "hi"))
                found.append(with_case_of("e", word) if before_i else word)
            elif len(word) == 1:
                found.append(self.initials(word))
            else:
                found.append(self._chosen(word, self._role(word) if begins and i == 0 else FAMILY))
        return found[::-1]

    def account(self, text: str) -> str:
        """Return a family name for an account: of the person whose name it contains, else by the account."""
        local = casefold_accents(text.split("@", maxsplit=1)[0])
        found = [word for word in self._roles if len(word) >= _LONG_WORD and word in local]
        meant = min(found, key=lambda word: (self._roles[word] != FAMILY, -len(word), word), default=None)
        return self._chosen(text, FAMILY) if meant is None else self.word(meant)

    def initials(self, word: str) -> str:
        """Return other initials, which agree with the surrogates of names."""
        letters = [self._letter(casefold_accents(c)) for c in word]
        return "".join(new.upper() if c.isupper() else new for c, new in zip(word, letters, strict=True))

    def _part(self, word: str, *, is_last: bool) -> str:
        lower = word.lower()
        if lower in TITLES or (lower in PARTICLES and word == lower):
            return word
        if lower in self._capital_particles and not is_last and (word.isupper() or word.istitle()):
            return word
        return self.initials(word) if _are_initials(word) else self.word(word)

    def _role(self, word: str) -> str:
        """Return the role of a word, in the note or else in the lists."""
        plain = casefold_accents(word)
        return self._roles.get(plain) or self._lists.role(plain) or FAMILY

    def _chosen(self, word: str, role: str) -> str:
        """Return another word of a role, with the case of this one."""
        options = self._lists.options[role]
        plain = casefold_accents(word)
        fitting = options.by_letter.get(self._letter(plain[:1]), options.all)
        others: Sequence[tuple[str, str]] = fitting
        if plain in options.folded:
            others = [pair for pair in fitting if pair[1] != plain] or [p for p in options.all if p[1] != plain]
        return with_case_of(self._keyed.choice("word", plain, others)[0], word)

    def _letter(self, letter: str) -> str:
        """Return the initial of the surrogates of names with this initial, which differs from it."""
        others = [other for other in self._lists.letters if other != letter]
        return self._keyed.choice("initial", letter, others)


def _spell_out(text: str) -> str:
    """Return a name with "María" for "Mª" or "M.ª"."""
    return str(_MARIA.sub("MARÍA" if text.replace("ª", "").isupper() else "María", text))


def _are_initials(word: str) -> bool:
    """Return True for one letter, two capitals, or three capitals without a vowel."""
    return len(word) == 1 or (
        word.isupper() and (len(word) == 2 or (len(word) == 3 and not set("aeiouy") & {*casefold_accents(word)}))
    )


class _Names(NamedTuple):
    """Names to choose from, each with its casefolded form: all of them, and by the first letter of that form."""

    all: tuple[tuple[str, str], ...]
    by_letter: Mapping[str, tuple[tuple[str, str], ...]]
    folded: frozenset[str]

    @classmethod
    def of(cls, names: Iterable[str]) -> _Names:
        """Create the table of some names in their order."""
        pairs = tuple((name, casefold_accents(name)) for name in names)
        by_letter: dict[str, list[tuple[str, str]]] = {}
        for pair in pairs:
            by_letter.setdefault(pair[1][0], []).append(pair)
        return cls(pairs, {k: tuple(found) for k, found in by_letter.items()}, frozenset(plain for _, plain in pairs))


class _Lists(NamedTuple):
    """Names of a locale.

    Attributes:
        options: the names to choose from, by role.
        letters: the initials that a surrogate can have.
        known: the listed names.
    """

    options: Mapping[str, _Names]
    letters: tuple[str, ...]
    known: LocaleLists

    def role(self, plain: str) -> str | None:
        """Return the role of a casefolded word in the lists, or None."""
        return self.known.given.get(plain) or (FAMILY if plain in self.known.family else given_name_sexes().get(plain))


@lru_cache(maxsize=8)
def _lists(locale: str) -> _Lists:
    known = locale_lists(locale)
    listed = {"female": known.female, "male": known.male, FAMILY: known.last}
    options = {role: _Names.of(names) for role, names in listed.items()}
    every = [names.by_letter for names in options.values()]
    letters = sorted(set.intersection(*map(set, every)))
    rich = tuple(letter for letter in letters if all(len(found[letter]) >= _FEW for found in every))
    either = _Names.of((*known.female, *known.male))
    return _Lists({**options, "either": either}, rich or tuple(letters), known)


_FEMALE_TITLES = casefold_words("dra dras doctora sra srta señora señorita doña dña dª d.ª mrs ms miss madam")
_MALE_TITLES = casefold_words("sr señor don d mr sir")
_MALE_IN_SPANISH = casefold_words("dr dres doctor profesor")  # for both sexes in English
# Titles before a single first name.
_BEFORE_FIRST_NAMES = casefold_words("don doña d dña dª d.ª")
# Labels of fields for a part of a name; "nombre y apellidos" is for the whole.
_CUE_AT_END = regex.compile(
    r"(?<!\p{L})(?<!(?:(?<!\p{L})(?:y|e|and)\s|[,/]\s?))"
    r"(?:(?P<family>apellidos?|surname|last name|family name)|(?P<first>first name|given name|nombre de pila|nombres?))"
    r"(?:\s+(?:del?|of)\s+(?:la\s|the\s)?pa[ct]ien(?:te|t))?\s*[:=;|,]?\s*$",
    regex.IGNORECASE,
)
_TITLES_AT_END = regex.compile(r"(?:(?<!\p{L})(?P<title>\p{L}+(?:\.?ª)?)\.?\s*)+$")
# Words that indicate the sex of a patient.
_SEX_WORD = regex.compile(
    r"(?<!\p{L})(?:(?P<female>mujer|niña|femenin[ao]|she|her|female|woman|girl|lady)"
    r"|(?P<male>varón|hombre|niño|masculino|he|his|him|male|man|boy|gentleman))(?!\p{L})",
    regex.IGNORECASE,
)
_REACH = 60  # characters before a name that may contain its title or label


class _Unit(NamedTuple):
    """One word of a name, hyphenated or an initial: "Quill", "Ana-Belén", "J."."""

    words: tuple[str, ...]  # folded
    is_initial: bool
    after_comma: bool


def name_roles(
    text: str, spans: Iterable[tuple[int, int]], locale: str, patients: Collection[int] = ()
) -> dict[str, str]:
    """Return the roles of the words of names in a note, each the role in most of the names.

    Args:
        text: the note.
        spans: half-open offsets of persons' names.
        locale: language and country of the note.
        patients: starts of patients' names; their unlisted first names get the sex that the note's words indicate.

    Returns:
        Casefolded word -> "family", "female", "male" or "either". A word that is always alone, without a title or a
        label, is left out.

    Example:
        >>> name_roles("Dra. Xurxiña Vidal", [(5, 18)], "es_ES")
        {'xurxina': 'female', 'vidal': 'family'}
    """
    known, spanish = locale_lists(locale), locale.startswith("es")
    names = [
        (_spell_out(text[start:end]), text[max(0, start - _REACH) : start].rpartition("\n")[2], start in patients)
        for start, end in spans
    ]
    cues = [_CUE_AT_END.search(before) for _, before, _ in names]
    split = any(cue and cue["family"] for cue in cues)
    noted = _noted_sex(text) if patients else None
    votes: dict[str, Counter[str]] = {}
    for (value, before, is_patient), cue in zip(names, cues, strict=True):
        field = cue.lastgroup if cue and split else None
        for word, role in _read(value, before, field, known, spanish, noted if is_patient else None):
            votes.setdefault(word, Counter())[role] += 1
    return {word: count.most_common(1)[0][0] for word, count in votes.items()}


def _noted_sex(text: str) -> str | None:
    """Return the sex with at least three times as many words in a note as the other, or None."""
    found = Counter(match.lastgroup for match in _SEX_WORD.finditer(text))
    female, male = found["female"], found["male"]
    if female == male or min(female, male) * 3 > max(female, male):
        return None
    return "female" if female > male else "male"


def _read(
    value: str, before: str, field: str | None, known: LocaleLists, spanish: bool, noted: str | None
) -> Iterator[tuple[str, str]]:
    """Yield the words of a name with their roles, if the name and its context show them."""
    titles = {casefold_accents(match) for match in _titles(before)}
    units: list[_Unit] = []
    end, comma = 0, False
    for match in NAME_WORD.finditer(value):
        word, between = casefold_accents(match.group()), value[end : match.start()]
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
            yield word, _first_name_sex(word, titles, known, spanish, noted) if is_first else FAMILY


def _first_name_sex(word: str, titles: set[str], known: LocaleLists, spanish: bool, noted: str | None) -> str:
    """Return the sex of a first name: by the locale's list, its title, the note, other lists, or its ending.

    "Dr." counts less than any list, since forms have it before names of women, too.
    """
    title = "female" if titles & _FEMALE_TITLES else "male" if titles & _MALE_TITLES else None
    listed = known.given.get(word) or title or noted or given_name_sexes().get(word)
    if listed in ("female", "male"):
        return listed
    doctor = "male" if spanish and titles & _MALE_IN_SPANISH else None
    return doctor or listed or {"a": "female", "o": "male"}.get(word[-1], "either")


def _titles(before: str) -> list[str]:
    found = _TITLES_AT_END.search(before)
    words = found.captures("title") if found else []
    return [word for word in words[-2:] if word.lower().rstrip(".ª") in TITLES]


def _first_names(units: Sequence[_Unit], field: str | None, titles: set[str], known: LocaleLists) -> list[bool] | None:
    """Return a flag for each word of a name, True for a first name; None if the name does not show it."""
    words = [unit for unit in units if not unit.is_initial]
    if not words or (len(units) == 1 and field is None and not titles):
        return None
    if field is not None:
        return [field == "first"] * len(units)
    if any(unit.after_comma for unit in units) and not units[0].after_comma:  # "Quill, Jane"
        return [unit.after_comma for unit in units]
    # Listed first names that are no family names.
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

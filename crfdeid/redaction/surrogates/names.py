"""Surrogates of persons' names: each word becomes another of the same role."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from types import MappingProxyType
from typing import NamedTuple

import regex

from crfdeid.known_phi.names import NAME_WORD
from crfdeid.redaction.surrogates.choices import Chooser, Options, options_of, words_in
from crfdeid.redaction.surrogates.locales import LocaleLists, given_name_sexes, locale_lists
from crfdeid.redaction.surrogates.words import (
    VOWELS,
    casefold_accents,
    folded_in,
    packs_of,
    splice,
    surrogate_entries,
    surrogate_expression,
    surrogate_table,
    with_case_of,
)

FAMILY = "family"
"""Role of a family name; the roles of a first name are "female", "male" and "either"."""

_GIVEN = ("female", "male", "either")
_DIGIT = regex.compile(r"\p{N}")
_MARIA = regex.compile(r"(?<!\p{L})M\.?ª\.?")
_FEW = 3
_SHARE = 120  # an initial has at least this part of the family names
_LONG_WORD = 4  # a shorter one may be part of an account by chance
_SIBILANTS = tuple("sßxz")
_LONGEST_ABBREVIATION = 3
_WORD_BEFORE = regex.compile(r"(\p{L}+)[\s-]$")


class Names:
    """Surrogates of names, word by word, so that a part of a name gets the part of its surrogate.

    A word's surrogate depends on the word without accents and on its role: "Quill" gets one surrogate in "Jane Quill",
    "QUILL, JANE" and "Quill's". The first letter of the surrogate depends on the word's first letter alone, so that
    initials agree with names.

    Listed names of a role that begin with one letter have distinct surrogates, by a permutation. An unlisted name gets
    one by its hash, which another name of the note may have: then the next free one replaces it, as it does for a
    surrogate that is a word of a name with this word.

    Args:
        keyed: the source of choices.
        locale: language and country of the names.
        roles: roles of casefolded words in the note: "family", "female", "male" or "either". They precede the lists.
        names: names in the note, whose words have distinct surrogates.
    """

    def __init__(
        self,
        keyed: Chooser,
        locale: str,
        roles: Mapping[str, str] = MappingProxyType({}),
        names: Iterable[str] = (),
    ) -> None:
        self._keyed, self._roles = keyed, roles
        self._lists, self._words = _lists(locale), name_words(locale)
        self._in_note = sorted(set(names))
        self._asked: set[_Word] | None = None  # words of a name, while they are collected
        self._used: dict[str, str] = {}  # casefolded surrogates in the present name -> words

    def person(self, text: str) -> str | None:
        """Return another name, or None for a text with a digit.

        Titles, particles, dots, order, case and possessive stay. A first name becomes one of the same sex, so that it
        agrees with "Ms." and "Mr."; any other word becomes a family name.
        """
        if _DIGIT.search(text):
            return None
        text = _spell_out(text)
        spans = [match.span() for match in NAME_WORD.finditer(self._words.without_titles(text))]
        last = len(spans) - 1
        self._used = {}
        pieces = [self._piece(text, *span, is_last=i == last) for i, span in enumerate(spans)]
        self._used = {}
        return splice(text, pieces)

    @cached_property
    def _chosen_in_note(self) -> Mapping[_Word, str]:
        """The surrogates of the words in the note's names; none is a word of a name with its word.

        They are distinct but for first names that are always next to other words, since these lists are short.
        """
        asked: dict[str, set[_Word]] = {}
        for name in self._in_note:
            self._asked = asked[name] = set()
            self.person(name)
        self._asked = None
        alone = {one for words in asked.values() if len(words) == 1 for one in words}
        near: dict[_Word, set[_Word]] = {}
        avoided: dict[_Word, set[str]] = {}
        for name, words in asked.items():
            for one in words:
                near.setdefault(one, set()).update(words)
                avoided.setdefault(one, set()).update(words_in(casefold_accents(name)))
        found: dict[_Word, str] = {}
        distinct: set[str] = set()
        # Listed words first: they have distinct surrogates in each note.
        for one in sorted(near, key=lambda one: (not self._is_listed(one), one)):
            is_distinct = one in alone or one.role not in _GIVEN
            taken = avoided[one] | {casefold_accents(found[other]) for other in near[one] if other in found}
            found[one] = self._first_free(one, taken | distinct if is_distinct else taken)
            if is_distinct:
                distinct.add(casefold_accents(found[one]))
        return found

    def _is_listed(self, word: _Word) -> bool:
        if word.role in self._words.after:
            return word.plain in options_of(tuple(self._words.after[word.role])).numbers
        return self._lists.is_listed(word)

    def _first_free(self, word: _Word, taken: Collection[str]) -> str:
        """Return the surrogate of a word, or the next one in its list that is not taken."""
        options, begin = self._place(word)
        size = len(options)
        places = (options[i % size] for i in range(begin, begin + size))
        return next((name for name in places if casefold_accents(name) not in taken), options[begin])

    def _place(self, word: _Word) -> tuple[Options, int]:
        """Return the names of a word's role and the initial of its surrogate, and the index of the surrogate."""
        role, plain = word
        if role in self._words.after:
            options = options_of(tuple(self._words.after[role]))
            return options, self._keyed.place(f"after {role}", plain, options)
        letter = plain[:1]
        initial = self._letter(letter)
        of_role = self._lists.options[role]
        if initial not in of_role:
            return of_role[""], self._keyed.place(role, plain, of_role[""])
        options = of_role[initial]
        before = self._letters[1].get(initial, letter)  # of listed names with this initial
        listed = self._lists.listed[role].get(before, {})
        index = listed.get(plain) if letter == before else None
        size = max(len(options), len(listed))
        if index is None:
            index = self._keyed.unlisted(role, plain, len(listed), size)
        return options, self._keyed.permutation(f"{role} {initial}", size).of(index) % len(options)

    def has(self, word: str) -> bool:
        """Return True for a word of a name in the note."""
        return casefold_accents(word) in self._roles

    def knows(self, word: str) -> bool:
        """Return True for a word of a name in the note or in the lists."""
        return self.has(word) or self._lists.role(casefold_accents(word)) is not None

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
            if word.lower() in self._words.particles:
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

    def _piece(self, text: str, start: int, end: int, *, is_last: bool) -> tuple[int, int, str]:
        """Return the replacement of a word of a name: its offsets, which may hold an apostrophe, and the new text."""
        word, following = text[start:end], text[end : end + 1]
        if self._stays(word, following, is_last=is_last):
            return start, end, word
        before = _WORD_BEFORE.search(text, 0, start)
        options = self._words.after.get(before[1].lower(), ()) if before else ()
        if options:  # "von der Heide", "Le Goff"
            base = self._nominative(word) if self._words.has_genitive else None
            found = self._chosen(base or word, before[1].lower() if before else "")
            return start, end, found if base is None else _genitive_of(found)
        if not self._words.has_genitive:
            return start, end, self._part(word, following)
        if following in tuple("'’") and word[-1:].lower() in _SIBILANTS:
            return start, end + 1, _genitive_of(self.word(word))
        nominative = self._nominative(word)
        if nominative is not None:
            return start, end, _genitive_of(self.word(nominative))
        return start, end, self._part(word, following)

    def _nominative(self, word: str) -> str | None:
        """Return "Müller" for "Müllers" if that is a name of the note or of the lists, and "Müllers" is none."""
        plain = casefold_accents(word)
        if not plain.endswith("s") or plain in self._roles:
            return None
        known = plain[:-1] in self._roles or (self._lists.role(plain[:-1]) and not self._lists.role(plain))
        return word[:-1] if known else None

    def _stays(self, word: str, following: str, *, is_last: bool) -> bool:
        """Return True for titles and particles; "Graf" is none in "Herr Graf", "Graf, Jane" and "Graf-Quill"."""
        lower = word.lower()
        if lower in self._words.titles:
            return lower not in self._words.names_too or not (is_last or following in tuple(",-"))
        if lower in self._words.particles and word == lower:
            return True
        return lower in self._words.capital_particles and not is_last and (word.isupper() or word.istitle())

    def _part(self, word: str, following: str) -> str:
        if not self._words.two_family_names and following == "." and len(word) <= _LONGEST_ABBREVIATION:
            return self.initials(word[0])  # "Th. Quill"
        return self.initials(word) if _are_initials(word) else self.word(word)

    def _role(self, word: str) -> str:
        """Return the role of a word, in the note or else in the lists."""
        plain = casefold_accents(word)
        return self._roles.get(plain) or self._lists.role(plain) or FAMILY

    def _chosen(self, word: str, role: str) -> str:
        """Return another word of a role, with the case of this one."""
        one = _Word(role, casefold_accents(word))
        if self._asked is not None:
            self._asked.add(one)
            return word
        found = self._chosen_in_note.get(one)
        taken = {*self._keyed.avoided, one.plain, *(new for new, old in self._used.items() if old != one.plain)}
        if found is None or casefold_accents(found) in taken:
            found = self._first_free(one, taken)
        self._used[casefold_accents(found)] = one.plain
        return with_case_of(found, word)

    def _letter(self, letter: str) -> str:
        """Return the initial of the surrogates of names with this initial, which differs from it."""
        if letter in self._letters[0]:
            return self._letters[0][letter]
        others = [one for one in self._lists.letters if (one in VOWELS) is (letter in VOWELS)]
        return self._keyed.choice(
            "initial", letter, others if self._words.same_vowels and others else self._lists.letters
        )

    @cached_property
    def _letters(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """The initials of surrogates by those of the names, which are distinct, and the reverse."""
        rich = self._lists.letters
        groups: Sequence[Sequence[str]] = [rich]
        if self._words.same_vowels:
            groups = [[one for one in rich if (one in VOWELS) is vowel] for vowel in (True, False)]
        if min(map(len, groups)) < 2:
            groups = [rich]
        found = {old: new for group in groups for old, new in self._keyed.circle(f"initials {group}", group).items()}
        return found, {new: old for old, new in found.items()}


class _Word(NamedTuple):
    """A word of a name: its role, or the particle before it, and its casefolded form."""

    role: str
    plain: str


def _genitive_of(name: str) -> str:
    """Return "Müllers" for "Müller", and "Weiß'" for "Weiß"."""
    if name[-1:].lower() in _SIBILANTS:
        return f"{name}'"
    return name + ("S" if len(name) > 1 and name.isupper() else "s")


def _spell_out(text: str) -> str:
    """Return a name with "María" for "Mª" or "M.ª"."""
    return str(_MARIA.sub("MARÍA" if text.replace("ª", "").isupper() else "María", text))


def _are_initials(word: str) -> bool:
    """Return True for one letter, two capitals, or three capitals without a vowel."""
    return len(word) == 1 or (
        word.isupper() and (len(word) == 2 or (len(word) == 3 and not set("aeiouy") & {*casefold_accents(word)}))
    )


class _Lists(NamedTuple):
    """Names of a locale.

    Attributes:
        options: the names to choose from, by role and initial; "" for all.
        letters: the initials that a surrogate can have.
        known: the listed names.
        listed: the listed names with their numbers, casefolded, by role and initial.
    """

    options: Mapping[str, Mapping[str, Options]]
    letters: tuple[str, ...]
    known: LocaleLists
    listed: Mapping[str, Mapping[str, Mapping[str, int]]]

    def role(self, plain: str) -> str | None:
        """Return the role of a casefolded word in the lists, or None."""
        return self.known.given.get(plain) or (FAMILY if plain in self.known.family else given_name_sexes().get(plain))

    def is_listed(self, word: _Word) -> bool:
        """Return True for a listed name of the role."""
        return word.plain in self.listed.get(word.role, {}).get(word.plain[:1], {})


@lru_cache(maxsize=16)
def _lists(locale: str) -> _Lists:
    known = locale_lists(locale)
    names = {"female": known.female, "male": known.male, FAMILY: known.last}
    names["either"] = (*known.female, *known.male)
    options = {role: _by_initial(some) for role, some in names.items()}
    every = [options[role] for role in ("female", "male", FAMILY)]
    letters = sorted(set.intersection(*map(set, every)) - {""})
    few = (_FEW, _FEW, max(_FEW, len(known.last) // _SHARE))
    rich = tuple(
        letter
        for letter in letters
        if all(len(found[letter]) >= least for found, least in zip(every, few, strict=True))
    )
    listed: dict[str, dict[str, list[str]]] = {role: {} for role in names}
    real = {*known.family, *map(casefold_accents, known.last[: known.real_last])}
    for role, plain in [*((sex, plain) for plain, sex in known.given.items()), *((FAMILY, plain) for plain in real)]:
        for kind in (role,) if role == FAMILY else (role, "either"):
            listed[kind].setdefault(plain[:1], []).append(plain)
    numbered = {
        role: {letter: {plain: i for i, plain in enumerate(sorted(some))} for letter, some in letters.items()}
        for role, letters in listed.items()
    }
    return _Lists(options, rich or tuple(letters), known, numbered)


def _by_initial(names: Sequence[str]) -> dict[str, Options]:
    """Return names by the first letter of their casefolded form, and all of them."""
    found: dict[str, list[str]] = {"": list(names)}
    for name in names:
        found.setdefault(casefold_accents.__wrapped__(name)[0], []).append(name)
    return {initial: Options((), some) for initial, some in found.items()}


_TITLES_AT_END = regex.compile(r"(?:(?<!\p{L})(?P<title>\p{L}+(?:\.?ª)?)\.?\s*)+$")
_ELISION = r"[dl]['’](?=\p{L})"
_REACH = 60  # characters before a name that may contain its title or label


class _Unit(NamedTuple):
    """One word of a name, hyphenated or an initial: "Quill", "Ana-Belén", "J."."""

    words: tuple[str, ...]  # folded
    is_initial: bool
    after_comma: bool
    in_capitals: bool
    after_particle: bool


class NameWords(NamedTuple):
    """Words around and in the names of a language.

    Attributes:
        titles: titles, forms of address, and words such as "née".
        particles: words that join the words of a name, in small letters.
        capital_particles: particles that stay even with a capital.
        female_titles: titles of women.
        male_titles: titles of men.
        before_first_names: titles before a single first name.
        cue_at_end: labels of fields at the end of a text, with the groups "family" and "first".
        sex_word: words that indicate the sex of a patient, with the groups "female" and "male".
        doctors: titles of men that forms have before names of women, too.
        names_too: titles that are also family names, and are these at the end of a name: "Herr Graf".
        kept: further parts of names that stay, such as "h. c." and "d'".
        two_family_names: whether a name may end with two family names. Elsewhere first names may be abbreviated to
            several letters, "Th.", family names be in capitals, and labels count in notes with labels of both kinds.
        has_genitive: whether "s" at the end of a name is a genitive.
        same_vowels: whether names that begin with a vowel get such names, after "d'".
        female_ending: endings of the names of women, for a name in no list.
        male_ending: endings of the names of men, for a name in no list; None for all that are no women's.
        after: particle -> the names that follow it: "Gall" after "le".
    """

    titles: frozenset[str]
    particles: frozenset[str]
    capital_particles: frozenset[str]
    female_titles: frozenset[str]
    male_titles: frozenset[str]
    before_first_names: frozenset[str]
    cue_at_end: regex.Pattern[str]
    sex_word: regex.Pattern[str]
    doctors: frozenset[str]
    names_too: frozenset[str]
    kept: regex.Pattern[str]
    two_family_names: bool
    has_genitive: bool
    same_vowels: bool
    female_ending: regex.Pattern[str]
    male_ending: regex.Pattern[str] | None
    after: Mapping[str, Sequence[str]]

    def without_titles(self, text: str) -> str:
        """Return a text of the same length with spaces for the parts of `kept`."""
        return self.kept.sub(lambda match: " " * len(match.group()), text)


@lru_cache(maxsize=16)
def name_words(locale: str) -> NameWords:
    """Return the words around the names of a locale's languages."""
    packs = packs_of(locale)
    names = surrogate_table(packs[0], "names")
    listed = partial(surrogate_entries, locale, "names")
    folded = partial(folded_in, locale, "names")
    either = partial(surrogate_expression, locale, "names")
    titles = frozenset(listed("titles"))
    titles = titles.union(*(pack.words[name] for pack in packs for name in ("title", "honorific")))
    particles = frozenset(listed("joining"))
    if not particles:
        particles = frozenset(word for entry in packs[0].particles for word in regex.findall(r"\p{L}+", entry))
        particles = particles.union(listed("particles"))
    capital = packs[0].entries("surrogates", "names", "capital_particles")
    male_endings = names.get("male_endings")
    return NameWords(
        titles,
        particles,
        frozenset(capital) if "capital_particles" in names else particles,
        folded("female_titles"),
        folded("male_titles"),
        folded("before_first_names"),
        regex.compile(
            rf"(?<!\p{{L}})(?:(?P<family>{either('family_labels')})|(?P<first>{either('first_labels')}))\s*[:=;|,]?\s*$",
            regex.IGNORECASE,
        ),
        regex.compile(
            rf"(?<!\p{{L}})(?:(?P<female>{either('female_words')})|(?P<male>{either('male_words')}))(?!\p{{L}})",
            regex.IGNORECASE,
        ),
        frozenset(packs[0].entries("surrogates", "names", "doctors")),
        frozenset(listed("titles_and_names")),
        regex.compile(
            rf"(?<!\p{{L}})(?:{names.get('elisions', _ELISION)}|{either('title_phrases')})", regex.IGNORECASE
        ),
        names.get("two_family_names", False),
        names.get("genitive", False),
        names.get("same_vowels", False),
        regex.compile(rf"(?:{names.get('female_endings', 'a')})$"),
        None if male_endings is None else regex.compile(rf"(?:{male_endings})$"),
        {particle: packs[0].entries("surrogates", "names", "after", particle) for particle in names.get("after", {})},
    )


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
        (_spell_out(value), text[max(0, start - _REACH) : start].rpartition("\n")[2], start in patients)
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
        return value[:-1] if last.endswith("s") and len(last) > _LONG_WORD and is_genitive else value

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
                not words.two_family_names and len(word) <= _LONGEST_ABBREVIATION and value[end : end + 1] == "."
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

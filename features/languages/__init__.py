"""Language packs: words of a language that announce, form or end PHI, one data file a language.

Each ``CODE.toml`` in this folder is a language, and so is each in a folder that the environment variable `OWN_FOLDERS`
names, or one that `LANGUAGES.add` takes: a further file is a further language, without code. Lists are multi-line
strings with commas between the entries, in lower case but for names and places.
docs/reference/rules-and-languages.md says how to add a language.

A pack belongs to the models that name it in their setting ``language``. Their features and rules read their own packs.
All that works without a model, and all that needs no language (ends of sentences, months, names of any language), reads
`DEFAULT_LANGUAGES`, and for a model its own packs too: `with_defaults`. So another pack changes no model. A saved model
has the `Language.digest` of each pack that it reads, and loading it compares them.

The tables below are optional. ``numbers`` has words before numbers: of ``records``, ``telephones`` and ``postcodes``.
``rules`` has whole rules (`crfdeid.rules.tables`). ``often_other`` of ``places`` are countries whose names more often
mean something else.

The lists of ``ages``, of ages from 90 on:

- ``numbers``: numbers in words; a space is a hyphen too, and ``{ones}`` is any entry of the list ``ones``;
- ``younger``: numbers below 90 in words, in the same form;
- ``endings``: endings of compounds with such a number;
- ``words``, ``adjectives``: words that are such an age, the latter after a person only;
- ``names``, ``about``: names of the field; words between them and the number;
- ``units``, ``within``: units after a number; units that annotators mark with it;
- ``short``, ``glued``: units that need a person or a sex; units that follow figures without a space;
- ``joint``: words between two ages;
- ``sexes``, ``people``, ``articles``, ``links``: letters for a sex; persons; words before a number with a letter; words
  between a person and a number;
- ``at``: words between an event in a relative's life and the number;
- ``before``, ``before_ordinals``: verbs before a number; words before an ordinal number at the end of a sentence;
- ``ordinals``, ``birthdays``: signs of ordinal numbers; words after them;
- ``measures``: words after a number that is no age;
- ``temperatures``, ``just_before_temperatures``: words before a temperature.

The lists of ``dates``:

- ``between``, ``joint``, ``articles``: words between two days of a range; of a list; articles after both;
- ``of``, ``days_of``, ``of_year``, ``month``: words before a month, "14 of", "14th day of"; before a year; "month of";
- ``small``: months that in small letters are other words;
- ``cues``, ``weak_cues``, ``stops``: words before a day and month without a year; those before sure ones alone; words
  before "14.03.";
- ``scores``, ``score_links``, ``shares``, ``counted``: words before a ratio, and between both; words after a ratio, and
  after a number, that is no day;
- ``before_years``, ``years``, ``same_year``: words before a year; words for it; "of the same year".

The lists of ``people``, of words around names:

- ``titles``, ``addresses``: instead of the classes title and honorific; ``unsure_addresses``: those that a whole name
  must follow; ``unsure_in_capitals``: those that in capitals mean something else without a full stop;
- ``plural_titles``, ``plural_kin``: words before several names; ``which_kin``: words after kin, such as "in-law";
- ``small_kin``: true where kin with a capital are parts of other names;
- ``is``, ``called``: words between a cue and a name; ``before_other_names``: words before "name" of a thing;
- ``signed``, ``seen``, ``by``, ``adverbs``: participles that "by" must follow, and words between both;
- ``degrees``, ``degrees_after_comma``: degrees after a name.

``street`` may have ``words = "last"``: names of streets and institutions end with their words, as in English.

The lists of ``records``, of patients' tables, which can be in any language: cells are read with all packs.

- ``name``, ``date``, ``number``, ``text``: names of columns with such identifiers, without spaces, signs and accents;
- ``person``, ``identifier``, ``birth``: words in the names of columns whose values may identify;
- ``placeholders``, ``headings``, ``titles``: texts in the place of a value, or of a name, without spaces, signs and
  accents; words that are no part of a name;
- ``cue``, ``after_cue``, ``of_cue``: expressions of words before a short identifier, after the first and between them;
- ``within_date``: words between day, month and year.

Of ``copies`` of training notes in another layout: ``sentences`` and ``fields``, a line each, that values and fields are
set into. {PATIENT} and the like are values of that subtype, {RELATIVE:word} a word for a relative.

The tables of ``surrogates``. Two entries come before them: ``read_with`` has the codes of languages that notes mix with
this one, and ``quoted`` those of languages of which only ages and days of the week are read:

- ``names``: common names, or ``faker`` for Faker's of the locale, without ``pet_names``, ``odd_family_names`` and, by
  ``only_family_names``, without those that are given names too; ``titles``, ``female_titles``, ``male_titles``,
  ``doctors`` (titles of men that may precede women's names), ``before_first_names``, ``title_phrases`` and ``elisions``
  (expressions), labels of fields, words for the patient's sex, endings of women's names, and of men's where a name may
  have neither; ``joining``: words within names, instead of ``particles``; ``capital_particles``: those that may have a
  capital; ``conjunctions`` between family names, with their form before an "i"; ``abbreviated``: expressions of names,
  with the names; ``two_family_names``, ``genitive``, ``same_vowels``; ``names.after``: particle ->
  the names that follow it; ``family_beginnings``, and the ``family_endings`` and
  ``town_endings`` that make invented names with them;
- ``dates``: short months and days, days that are also words (``weekdays_and_words``), words ``between`` day, month and
  year, ``relative`` words, words that ``joint`` days, ``articles`` before a date, ``clock``, ``weekday_endings`` of
  compounds; ``first_day``: what always follows the 1 of a first day; ``ordinals``: expression of a number and what may
  follow such a number; ``signs`` between the numbers of a day and a month; ``month_first``: locales in which 3/4 is in
  March; ``writes_month_first``: "March 14" is a day; ``not_a_month``: expression of a month's name that is a weekday's;
- ``demographics``: words for sex, kin, ages, occupations; ``small_units``: expression of units below a year;
  ``old_age``: words for all ages from 90 on; ``articles``: numbers that are also articles;
- ``streets``, ``institutions``: words that are ``kept``; ``forms``: expressions whose group ``name`` becomes one of
  ``options``, or of ``also``: a template with {family}, {town}, {female} or {male}. Else adjacent words that do not
  stay are a name. A street's becomes one of ``options``, or after an article of ``options_of``, and a person's if it
  begins with one of ``titles``; ``phrases`` are pairs of words of which the second does not stay; ``ordinals``:
  expression of what follows an ordinal number, and ``ordinal``: what another number gets instead of it. In
  institutions words of the expression ``endings`` stay unless they are known names, and ``town`` precedes a town, which
  may have a ``towns_tail``. They may have ``initials_before`` and ``initials_after`` those of their name, and a
  ``firm`` at the end. Of ``named``, an expression, each group becomes another of its kind: ``virgins``, ``lands``,
  ``houses`` (with ``articles`` by ending), saints, towns, days of the year. Adjectives (``demonyms``) become one of
  ``larger``, and an institution without a name gets one of ``generic``;
- ``saints``: names by sex, the words before them, and words that are ``kept`` without lists of streets;
- ``places``: ``provinces``: digits that begin postcodes, the area code of telephones in brackets, names, capital and
  towns a line, for ``locales`` or all; ``states``, or lists of them by preposition; ``lettered_states`` with their
  letters and postcodes, which are those of ``zip_codes_of``; ``abroad``: country, states and towns a line;
  ``countries`` by region or preposition: a region with a name has the same order in all packs; ``homes``: locale ->
  the country that stays, ``home``: countries that stay and replace none; ``codes`` before postcodes; ``articles`` of
  names; ``region_of``: expression of what precedes a name; ``tail``: expression of what is left out;
  ``towns_are_names``: towns have names that persons have, too;
- ``numbers``: ``forms`` of dates and postcodes in numbers, area codes, ``phone_prefix`` that stays, or
  ``country_codes`` that do; ``telephone_digits``: number of digits after the country's code; ``province_first``:
  numbers begin with a province's; ``announcing``: words before a number.
"""

from __future__ import annotations

import hashlib
import json
import os
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

_SHORTEST_PLACE_WORD = 3


@dataclass(frozen=True)
class Language:
    """The words of a language.

    Args:
        code: two letters of ISO 639-1, the name of the file.
        name: in English.
        locale: of surrogates, as Faker names it.
        function_words: frequent words, and words of notes without sentences; they tell the language of a text.
        abbreviations: words whose full stop ends no sentence.
        common: words that follow a title, a role or a word for the patient with a capital and are no names: services,
            tests, findings, parts of notes, beginnings of sentences, names of fields.
        endings: endings of words that are no names.
        particles: words in small letters that join the words of a name.
        postcode: expression of a postal code.
        postcode_example: one that it matches.
        capital_nouns: whether all nouns have a capital, so that it is no sign of a name.
        months: the ways to write each month, the full name first.
        weekdays: the ways to write each day of the week from Monday on, the full name first.
        street_words: words that begin a street's name, or end it in a language with the number first.
        street_suffixes: endings of compounds that are streets.
        number_first: whether a house's number precedes the street.
        floor: expression of a part of an address after the house's number, such as a floor; "" for none.
        cues: kind -> words that announce a value: patient, field (of a name), maiden, called, companion, birth,
            birthplace, residence, signature, seen_by, role, of (between a role and a name), institution, and
            (between names).
        content: the rest of the file.
    """

    code: str
    name: str
    locale: str
    function_words: frozenset[str]
    abbreviations: frozenset[str]
    common: frozenset[str]
    endings: tuple[str, ...]
    particles: tuple[str, ...]
    postcode: str
    postcode_example: str
    capital_nouns: bool
    months: tuple[tuple[str, ...], ...]
    weekdays: tuple[tuple[str, ...], ...]
    street_words: tuple[str, ...]
    street_suffixes: tuple[str, ...]
    number_first: bool
    floor: str
    cues: Mapping[str, tuple[str, ...]]
    content: Mapping[str, Any] = field(repr=False)

    def entries(self, *path: str) -> tuple[str, ...]:
        """Return the entries of a list anywhere in the file, by the names of its tables; none without that list."""
        found: Any = self.content
        for name in path:
            found = found.get(name, {})
        return _entries(found) if found else ()

    @cached_property
    def digest(self) -> str:
        """SHA-256 of what models learn from. Line breaks inside a list do not count.

        That is `READ_BY_FEATURES` in a pack of the library, whose rules belong to a version as its code does, and all
        but `NOT_READ_BY_MODELS` in a pack of your own.
        """
        if Path(__file__).with_name(f"{self.code}.toml").exists():
            read = {name: self.content[name] for name in READ_BY_FEATURES}
        else:
            read = {name: value for name, value in self.content.items() if name not in NOT_READ_BY_MODELS}
        text = json.dumps(read, ensure_ascii=False, sort_keys=True).replace("\\n", " ")
        return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()

    @cached_property
    def words(self) -> Mapping[str, frozenset[str]]:
        """Class -> its words: title, honorific, kin, hospital, street, place, contact, identifier, region, country."""
        classes = {name: frozenset(_entries(text)) for name, text in self.content["words"].items()}
        other = self.function_words.union(*classes.values())
        places = {"region": self.regions, "country": self.countries}
        found = {
            name: frozenset(word for place in names for word in _words(place) if len(word) >= _SHORTEST_PLACE_WORD)
            for name, names in places.items()
        }
        codes = frozenset(_entries(self.content["places"]["codes"]))
        return MappingProxyType(
            classes | {"region": (found["region"] - other) | codes, "country": found["country"] - other}
        )

    @cached_property
    def female(self) -> tuple[str, ...]:
        """Given names of women."""
        return _entries(self.content["names"]["female"])

    @cached_property
    def male(self) -> tuple[str, ...]:
        """Given names of men."""
        return _entries(self.content["names"]["male"])

    @cached_property
    def family(self) -> tuple[str, ...]:
        """Family names."""
        return _entries(self.content["names"]["family"])

    @cached_property
    def ambiguous(self) -> frozenset[str]:
        """Names that are ordinary words."""
        return frozenset(_entries(self.content["names"]["ambiguous"]))

    @cached_property
    def regions(self) -> tuple[str, ...]:
        """States, provinces and the like."""
        return _entries(self.content["places"]["regions"])

    @cached_property
    def countries(self) -> tuple[str, ...]:
        """Countries, in the language."""
        return _entries(self.content["places"]["countries"])

    @cached_property
    def towns(self) -> tuple[str, ...]:
        """Towns of the countries where the language is spoken."""
        return _entries(self.content["places"]["towns"])


READ_BY_FEATURES = ("function_words", "abbreviations", "months", "weekdays", "words", "names", "places")
"""Parts of a pack that `features` reads."""
NOT_READ_BY_MODELS = ("surrogates", "records", "copies")
"""Tables of a pack that change no model."""
OWN_FOLDERS = "CRFDEID_LANGUAGES"
"""Environment variable with folders of further packs, separated as those of ``PATH`` are."""


class LanguagePackError(ValueError):
    """File that is no language pack, or whose code another pack has."""


class _Packs(Mapping[str, Language]):
    """The languages by code, sorted; each file is read when it is first used."""

    def __init__(self) -> None:
        self._read: dict[str, Language] = {}

    @cached_property
    def _files(self) -> dict[str, Path]:
        files = {path.stem: path for path in sorted(Path(__file__).parent.glob("*.toml"))}
        own = [Path(folder) for folder in os.environ.get(OWN_FOLDERS, "").split(os.pathsep) if folder]
        for path in sorted(path for folder in own for path in folder.glob("*.toml")):
            _require_new(path, files)
            files[path.stem], self._read[path.stem] = path, read_language(path)
        return files

    def add(self, path: Path) -> Language:
        """Add a pack of your own, by the name of its file; nothing uses it but models that name it.

        Raises:
            LanguagePackError: there is a language of this code, or the file is no pack.
        """
        _require_new(path, self._files)
        pack = read_language(path)
        self._files[pack.code], self._read[pack.code] = path, pack
        return pack

    def remove(self, code: str) -> None:
        """Remove a pack that `add` added."""
        del self._files[code], self._read[code]

    def __getitem__(self, code: str) -> Language:
        if code not in self._read:
            # A damaged pack of one's own does not keep the library from being imported.
            path = Path(__file__).with_name(f"{code}.toml") if code in DEFAULT_LANGUAGES else self._files[code]
            self._read.setdefault(code, read_language(path))
        return self._read[code]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._files))

    def __len__(self) -> int:
        return len(self._files)


def _require_new(path: Path, known: Mapping[str, Path]) -> None:
    if path.stem in known:
        raise LanguagePackError(f"{path}: there is a language '{path.stem}': name your file by another code")


def read_language(path: Path) -> Language:
    """Read a language pack.

    Raises:
        LanguagePackError: the file is no TOML, or lacks a field.
    """
    try:
        return _language(path.stem, tomllib.loads(path.read_text(encoding="utf-8")))
    except KeyError as missing:
        raise LanguagePackError(f"{path}: a language pack needs the field {missing}") from None
    except ValueError as problem:
        raise LanguagePackError(f"{path}: no language pack: {problem}") from None


def _language(code: str, content: Mapping[str, Any]) -> Language:
    return Language(
        code,
        content["name"],
        content["locale"],
        frozenset(_entries(content["function_words"])),
        frozenset(_entries(content["abbreviations"])),
        frozenset(_entries(content["common"])),
        _entries(content["endings"]),
        _entries(content["particles"]),
        content["postcode"],
        content["postcode_example"],
        content["capital_nouns"],
        tuple(map(_entries, content["months"])),
        tuple(map(_entries, content["weekdays"])),
        _entries(content["street"]["first"]),
        _entries(content["street"]["suffixes"]),
        content["street"]["number"] == "before",
        content["street"].get("floor", ""),
        MappingProxyType({kind: _entries(text) for kind, text in content["cues"].items()}),
        content,
    )


def _entries(text: str) -> tuple[str, ...]:
    """The entries of a list, between commas."""
    return tuple(entry for part in text.split(",") if (entry := " ".join(part.split())))


def _words(place: str) -> list[str]:
    """The words of a place's name, in lower case."""
    return "".join(c if c.isalpha() else " " for c in place.lower()).split()


LANGUAGES = _Packs()
"""All languages, by code."""
DEFAULT_LANGUAGES = ("de", "en", "es", "fr")
"""The codes of the languages that are read where no model names any. It is no list of the files of the folder."""

AUTO = "auto"
"""The setting of a model whose languages are those of its training notes."""
_LEAST_SHARE = 0.1  # of the texts, for a language of a corpus


def packs(languages: Iterable[str] = DEFAULT_LANGUAGES) -> tuple[Language, ...]:
    """The packs of some languages."""
    return tuple(LANGUAGES[code] for code in languages)


def with_defaults(languages: Iterable[str]) -> tuple[str, ...]:
    """`DEFAULT_LANGUAGES` and further languages, sorted: the packs that a model reads for what needs no language.

    Example:
        >>> with_defaults(["en"]), with_defaults(["zq"])
        (('de', 'en', 'es', 'fr'), ('de', 'en', 'es', 'fr', 'zq'))
    """
    return tuple(sorted({*DEFAULT_LANGUAGES, *languages}))


def language_codes(setting: str) -> tuple[str, ...]:
    """The codes of a setting, "en+es"; `DEFAULT_LANGUAGES` for `AUTO`, before a training.

    Example:
        >>> language_codes("en+es")
        ('en', 'es')
    """
    return DEFAULT_LANGUAGES if setting == AUTO else tuple(setting.split("+"))


def language_of(words: Iterable[str], languages: tuple[str, ...] | None = None) -> str | None:
    """Code of the language with the most function words among some words; None where none or several have.

    A language that is none of `DEFAULT_LANGUAGES` must have more than each of these: a pack that resembles one of them
    takes no text from it.

    Args:
        words: the words.
        languages: codes of the languages to choose from; None for all there are.

    Example:
        >>> language_of("Wurde wegen Schmerzen aufgenommen".split()), language_of(["Quill"])
        ('de', None)
    """
    known = _languages_of_words(tuple(LANGUAGES) if languages is None else languages)
    counts = Counter(code for word in words for code in known.get(word.lower(), ()))
    most = max(counts.values(), default=0)
    best = [code for code in counts if counts[code] == most]
    best = [code for code in best if code in DEFAULT_LANGUAGES] or best
    return best[0] if len(best) == 1 else None


def main_languages(found: Iterable[str | None]) -> tuple[str, ...]:
    """Codes of the languages of a tenth or more of some texts, sorted; `DEFAULT_LANGUAGES` where none has a clear one.

    Args:
        found: `language_of` each text.
    """
    counts = Counter(filter(None, found))
    return tuple(sorted(code for code in counts if counts[code] >= _LEAST_SHARE * counts.total())) or DEFAULT_LANGUAGES


@cache
def _languages_of_words(languages: tuple[str, ...]) -> Mapping[str, Sequence[str]]:
    """Function word -> codes of its languages."""
    found: dict[str, list[str]] = {}
    for pack in packs(languages):
        for word in pack.function_words:
            found.setdefault(word, []).append(pack.code)
    return found

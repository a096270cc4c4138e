"""Word lists and gazetteers, and the features that look words up in them.

A list is a class of words that behave alike around PHI ("Dr", "Dra", "Doctor"), in the languages of a model, so that
what a model learns of one word helps with the others. No list holds a person's data. Words match without regard to
case.
"""

from __future__ import annotations

import lzma
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from importlib.resources import files
from itertools import chain
from types import MappingProxyType
from unicodedata import combining, normalize

import numpy as np

from features.columns import BOS, EOS, Column, Extractor, FeatureValue, SentenceBatch, WordColumn, window_heads
from features.languages import DEFAULT_LANGUAGES, LANGUAGES, packs


def word_set(text: str) -> frozenset[str]:
    """Words of a text, between white space."""
    return frozenset(text.split())


ENGLISH_MONTHS = tuple(forms[0] for forms in LANGUAGES["en"].months)
"""The months in the order of the year."""
ENGLISH_WEEKDAYS = tuple(forms[0] for forms in LANGUAGES["en"].weekdays)
"""The days of the week from Monday on."""


@lru_cache(maxsize=1 << 16)
def fold_word(word: str) -> str:
    """A word in lower case, without accents and ligatures.

    Example:
        >>> [fold_word(word) for word in ("Ávila", "Straße", "Cœur", "ﬁn")]
        ['avila', 'strasse', 'coeur', 'fin']
    """
    lower = word.casefold()
    if lower.isascii():
        return lower
    plain = normalize("NFKD", lower.replace("œ", "oe").replace("æ", "ae"))
    return "".join(c for c in plain if not combining(c)) or lower


_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})


def spellings(name: str) -> frozenset[str]:
    """The folded ways to write a name: without accents, and with "ae", "oe" and "ue" for umlauts.

    Example:
        >>> sorted(spellings("Müller"))
        ['mueller', 'muller']
    """
    return frozenset((fold_word(name), fold_word(name.lower().translate(_UMLAUTS))))


_DIGRAPH = re.compile(r"(?<=[aou])e(?=[^\W\d_])")


@lru_cache(maxsize=1 << 16)
def fold_name(word: str) -> str:
    """A folded word in which "ä" and "ae" are one, so that all `spellings` of a name are equal.

    Example:
        >>> fold_name("Müller"), fold_name("MUELLER"), fold_name("Noe")
        ('muller', 'muller', 'noe')
    """
    return _DIGRAPH.sub("", fold_word(word))


def _all_spellings(words: Iterable[str]) -> frozenset[str]:
    """The words in lower case, and their folded spellings."""
    return frozenset(form for word in words for form in (word.lower(), *spellings(word)))


@cache
def month_numbers(languages: tuple[str, ...] = DEFAULT_LANGUAGES) -> Mapping[str, int]:
    """Each way to write a month in some languages, in lower case -> its number, from 1."""
    return {
        form: number
        for pack in packs(languages)
        for number, forms in enumerate(pack.months, start=1)
        for form in _all_spellings(forms)
    }


MONTHS = frozenset(month_numbers())
"""All ways to write a month's name in `DEFAULT_LANGUAGES`."""


@cache
def months_after_stop(languages: tuple[str, ...] = DEFAULT_LANGUAGES) -> frozenset[str]:
    """Names of months that can follow "3.": "3. May" is more often the third item of a list."""
    return frozenset(month_numbers(languages)) - LANGUAGES["en"].ambiguous


@cache
def lexicons(languages: tuple[str, ...]) -> Mapping[str, frozenset[str]]:
    """Class -> its words in all `spellings`, of some languages together."""
    own = packs(languages)
    lists = {
        "month": [form for pack in own for forms in pack.months for form in forms],
        "weekday": [form for pack in own for forms in pack.weekdays for form in forms],
        **{name: [word for pack in own for word in pack.words[name]] for name in own[0].words},
    }
    return MappingProxyType({name: _all_spellings(words) for name, words in lists.items()})


def month_number(word: str, languages: tuple[str, ...] = DEFAULT_LANGUAGES) -> int | None:
    """Number of the month that a word names in one of some languages, from 1; None for another word.

    Case is that of expressions without regard to case, for which "İ" is an "i" and "ſ" an "s".

    Example:
        >>> month_number("Sept"), month_number("ABR"), month_number("mark")
        (9, 4, None)
    """
    return month_numbers(languages).get(word.casefold().replace("\u0307", ""))


def english_ordinal(number: int) -> str:
    """Return the suffix of an ordinal number: "st", "nd", "rd" or "th".

    Example:
        >>> [english_ordinal(number) for number in (1, 12, 22)]
        ['st', 'th', 'nd']
    """
    return "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


@lru_cache(maxsize=1 << 16)
def word_classes(word: str, languages: tuple[str, ...] = DEFAULT_LANGUAGES) -> tuple[str, ...]:
    """Classes of the languages' lexicons that contain a word.

    Example:
        >>> word_classes("Dra"), word_classes("aspirin")
        (('title',), ())
    """
    lower = word.lower()
    return tuple(name for name, words in lexicons(languages).items() if lower in words)


@cache
def _most_classes(languages: tuple[str, ...]) -> int:
    """Number of classes of the word with the most."""
    return max(Counter(word for words in lexicons(languages).values() for word in words).values())


@dataclass(frozen=True)
class WordClasses(Extractor):
    """Lexicon classes of the words around the token: ``class[-1]=title``.

    Args:
        window: tokens on each side.
        languages: codes of the languages of the words.
    """

    window: int = 2
    languages: tuple[str, ...] = DEFAULT_LANGUAGES

    def word_columns(self) -> list[WordColumn]:
        """The features that one word decides, kind by kind."""
        heads = window_heads("class", self.window)
        return [WordColumn(heads, partial(self._class, number)) for number in range(_most_classes(self.languages))]

    def _class(self, number: int, word: str) -> FeatureValue:
        """A word's class of a number, from 0; None for a word with fewer classes."""
        classes = word_classes(word, self.languages)
        return classes[number] if number < len(classes) else None

    def describe(self) -> str:
        """A one-line description of the features."""
        languages = ", ".join(self.languages)
        return (
            f"classes of words ({', '.join(lexicons(self.languages))}; {languages}) in [-{self.window}, {self.window}]"
        )


_PLACE_KINDS = ("town", "region", "country")
# Position of a token: outside of all names, beyond the sentence; then first, inside and last of each kind of name.
_OUTSIDE = 0
_PLACE_VALUES = ("O", BOS, EOS, *(f"{place}-{kind}" for kind in _PLACE_KINDS for place in "BIE"))


@dataclass(frozen=True)
class Gazetteers(Extractor):
    """The name of a town, region or country that the token is part of: ``gazetteer[0]=B-town``.

    A name begins with a capital. Case and accents of the other letters do not matter, and of several names the longest
    counts.

    Args:
        window: tokens on each side.
        languages: codes of the languages of the names.

    Example:
        >>> from features.tokens import Sentence
        >>> Gazetteers(window=0).extract(Sentence.from_words(["in", "NEW", "York", "."]))
        [['gazetteer[0]=O'], ['gazetteer[0]=B-region'], ['gazetteer[0]=E-region'], ['gazetteer[0]=O']]
    """

    window: int = 1
    languages: tuple[str, ...] = DEFAULT_LANGUAGES

    def columns(self, batch: SentenceBatch) -> list[Column]:
        """The features of a batch, kind by kind."""
        heads = tuple(head for _, head in window_heads("gazetteer", self.window))
        places = _places(self.languages)
        begins = np.array([word[0].isupper() and fold_word(word) in places for word in batch.distinct], bool)
        values = np.full(len(batch.numbers), _OUTSIDE, np.intp)
        stop = 0
        for first in np.flatnonzero(begins[batch.numbers]).tolist():
            number = int(batch.sentence_of[first])
            words = batch.words[number][first - int(batch.begins[number]) :]
            found = _place_at(words, places) if first >= stop else None
            if found is not None:
                stop, opening = first + found[0], 3 + 3 * _PLACE_KINDS.index(found[1])
                values[first:stop] = opening + 1
                values[stop - 1] = opening + 2
                values[first] = opening
        around, _ = batch.padded(values, self.window, _OUTSIDE + 1, _OUTSIDE + 2)
        return [Column(heads, _PLACE_VALUES, around)]

    def describe(self) -> str:
        """A one-line description of the features."""
        return f"names of towns, regions and countries ({', '.join(self.languages)}) in [-{self.window}, {self.window}]"


_NAME_TOKEN = re.compile(r"\w+|[^\w\s]")


@cache
def _places(languages: tuple[str, ...]) -> Mapping[str, Sequence[tuple[tuple[str, ...], str]]]:
    """By their first words: the words of the places' names, the longest first, and their kinds."""
    kinds: dict[tuple[str, ...], str] = {}
    for pack in packs(languages):
        for kind, names in zip(_PLACE_KINDS, (pack.towns, pack.regions, pack.countries), strict=True):
            kinds |= {tuple(_NAME_TOKEN.findall(form)): kind for name in names for form in spellings(name)}
    by_first: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for words, kind in sorted(kinds.items(), key=lambda item: -len(item[0])):
        by_first.setdefault(words[0], []).append((words, kind))
    return by_first


def place_kind(name: str, languages: tuple[str, ...] = DEFAULT_LANGUAGES) -> str | None:
    """The kind of a place's name: "town", "region" or "country"; None for another text."""
    words = _NAME_TOKEN.findall(name)
    places = _places(languages)
    found = _place_at(words, places) if words and fold_word(words[0]) in places else None
    return found[1] if found is not None and found[0] == len(words) else None


def _place_at(
    words: Sequence[str], places: Mapping[str, Sequence[tuple[tuple[str, ...], str]]]
) -> tuple[int, str] | None:
    """The number of words and the kind of the place that some words begin with."""
    for name, kind in places[fold_word(words[0])]:
        if tuple(map(fold_word, words[: len(name)])) == name:
            return len(name), kind
    return None


@cache
def name_lists(languages: tuple[str, ...]) -> Mapping[str, frozenset[str]]:
    """Folded names of some languages, "first" and "last", in all `spellings`."""
    lists = {
        "first": chain.from_iterable((*pack.female, *pack.male) for pack in packs(languages)),
        "last": chain.from_iterable(pack.family for pack in packs(languages)),
    }
    return {kind: _all_spellings(names) for kind, names in lists.items()}


@cache
def lists_of(language: str) -> Mapping[str, str]:
    """Folded word -> the large lists that hold it, joined by "+"; nothing for a language without a file.

    The file ``languages/CODE.words.xz`` has a line for each set of lists: their names, joined by "+", a tab, and the
    folded words that are in exactly these. `benchmarks/word_lists.py` makes it, and names its sources and licences:

    - "female", "male": given names;
    - "family": the frequent family names; "rare": other ones;
    - "word": words of general text that are written in small letters;
    - "drug": names and brands of drugs.
    """
    file = files("features.languages") / f"{language}.words.xz"
    if not file.is_file():
        return {}
    lines = lzma.decompress(file.read_bytes()).decode().splitlines()
    return {word: kinds for kinds, _, words in (line.partition("\t") for line in lines) for word in words.split()}


@dataclass(frozen=True)
class WordLists(Extractor):
    """Lists that hold a word: ``list[0]=female+word``. Case and accents do not matter.

    Args:
        window: tokens on each side.
        languages: codes of the languages of the lists.

    Example:
        >>> from features.tokens import Sentence
        >>> WordLists(window=0, languages=("en",)).extract(Sentence.from_words(["Rose", "slept", "."]))
        [['list[0]=female+family+word'], ['list[0]=word'], []]
    """

    window: int = 2
    languages: tuple[str, ...] = DEFAULT_LANGUAGES

    def word_columns(self) -> list[WordColumn]:
        """The features that one word decides, kind by kind."""
        return [WordColumn(window_heads("list", self.window), self._lists)]

    def _lists(self, word: str) -> FeatureValue:
        if not word[0].isalpha():
            return None
        folded = fold_word(word)
        found = [kinds for language in self.languages if (kinds := lists_of(language).get(folded))]
        return "/".join(found) if found else "none"

    def describe(self) -> str:
        """A one-line description of the features."""
        languages = ", ".join(self.languages)
        return f"lists of names, common words and drugs ({languages}) in [-{self.window}, {self.window}]"

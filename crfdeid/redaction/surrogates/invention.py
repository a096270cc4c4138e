"""Invented family names and towns: beginnings and endings of real ones, put together as the language does.

A language pack lists beginnings and endings: "Thorn" and "bury". For other languages names are spliced where two real
names share letters: "Rossi" and "Bossani" make "Rossani".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

import regex

from crfdeid.redaction.surrogates.words import casefold_accents
from features.languages import LANGUAGES

WANTED = 12_000
"""Names of a list to splice, if it has enough material."""

_VOWELS = frozenset("aeiou")
_CLUSTER = regex.compile(r"[^aeiouyáéíóúàèâêîôûäöü]{5}")  # consonants that no language here has in a row
_LENGTHS = range(5, 14)
_SPLICED_LENGTHS = range(5, 11)
_FEWEST = 20
_MATERIAL = 400  # spliced names of which further ones are spliced


@lru_cache(maxsize=32)
def composed(code: str, endings: str) -> tuple[str, ...]:
    """Return the names of a language's beginnings with its endings, sorted.

    Args:
        code: the language of the pack.
        endings: the list of endings in the table "surrogates.names" of the pack.
    """
    if code not in LANGUAGES:
        return ()
    pack = LANGUAGES[code]
    begins, ends = (pack.entries("surrogates", "names", name) for name in ("family_beginnings", endings))
    found = {begin + end for begin in begins for end in ends if _joins(begin.lower(), end)}
    return tuple(sorted(name for name in found if casefold_accents.__wrapped__(name) not in _taken(code)))


@lru_cache(maxsize=16)
def _taken(code: str) -> frozenset[str]:
    """Return words that would be odd names: other names, frequent words and months."""
    pack = LANGUAGES[code]
    months = (name for names in pack.months for name in names)
    words = (*pack.male, *pack.female, *pack.function_words, *pack.regions, *pack.countries, *months, *pack.common)
    return frozenset(map(casefold_accents, words))


def _joins(begin: str, end: str) -> bool:
    last, first = casefold_accents(begin)[-1], casefold_accents(end)[0]
    if last == first or {last, first} <= _VOWELS:
        return False
    return len(begin) + len(end) in _LENGTHS and _CLUSTER.search(begin + end) is None


@lru_cache(maxsize=32)
def spliced(names: tuple[str, ...], beginnings: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return up to `WANTED` names, each the beginning of a name and the end of another that share letters.

    Those that share three letters are first; of the others those whose letters are frequent.

    Args:
        names: real names.
        beginnings: names of another kind, of which the beginnings serve where the real names are few.
    """
    known, others = (
        [name.lower() for name in some if name.istitle() and name.isalpha()] for some in (names, beginnings)
    )
    if len(known) < _FEWEST:
        return ()
    found: dict[str, None] = {}
    for overlap, begins in ((3, known), (2, known), (2, others), (1, [*known, *others])):
        if len(found) < WANTED:
            found |= dict.fromkeys(_spliced(begins, known, overlap))
    for overlap in (3, 2):  # few names: splice the spliced ones
        if len(found) < WANTED:
            material = [*known, *list(found)[:_MATERIAL]]
            found |= dict.fromkeys(_spliced(material, material, overlap))
    taken = {*known, *others}
    return tuple(name.title() for name in found if name not in taken)[:WANTED]


def _spliced(begins: Sequence[str], names: Sequence[str], overlap: int) -> list[str]:
    heads: dict[str, set[str]] = {}
    tails: dict[str, set[str]] = {}
    for parts, words in ((heads, begins), (tails, names)):
        for name in words:
            for i in range(2, len(name) - overlap):
                parts.setdefault(name[i : i + overlap], set()).add(name[:i] if parts is heads else name[i + overlap :])
    counts = Counter(name[i : i + 3] for name in names for i in range(len(name) - 2))
    found = {
        head + middle + tail: _frequency(head[-1:] + middle + tail[:1], counts)
        for middle in heads
        for head in heads[middle]
        for tail in tails.get(middle, ())
        if len(head) + overlap + len(tail) in _SPLICED_LENGTHS
    }
    return sorted(found, key=lambda name: (-found[name], name))


def _frequency(joint: str, counts: Counter[str]) -> int:
    """Return how often the rarest three letters around a joint occur."""
    return min(counts[joint[i : i + 3]] for i in range(len(joint) - 2))


def distinct(names: Iterable[str], known: Iterable[str]) -> tuple[str, ...]:
    """Return the names that are not known, each once by its casefolded form."""
    seen = set(known)
    found = []
    for name in names:
        plain = casefold_accents.__wrapped__(name)
        if plain not in seen:
            seen.add(plain)
            found.append(name)
    return tuple(found)

"""Letters as they are compared, and as they are written: without accents and case, and in another word's case."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import lru_cache


@lru_cache(maxsize=1 << 14)
def fold(text: str) -> str:
    """Text without accents and case, for comparing: two spellings of one name are equal.

    Example:
        >>> fold("MACIÁ") == fold("Macia")
        True
    """
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in apart if not unicodedata.combining(c))


@lru_cache(maxsize=64)
def _folded(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(fold, words))


def folded(words: Iterable[str]) -> frozenset[str]:
    """The folded forms of words.

    Example:
        >>> sorted(folded(["Maciá", "Macia", "Roe"]))
        ['macia', 'roe']
    """
    return _folded(tuple(words))


def cased(word: str, like: str) -> str:
    """A word in capitals, in small letters, or with a capital at its beginning, as another word is.

    Example:
        >>> cased("Ferrer", "QUILL"), cased("Ferrer", "quill"), cased("Ferrer", "Quill")
        ('FERRER', 'ferrer', 'Ferrer')
    """
    letters = [c for c in like if c.isalpha()]
    if len(letters) > 1 and like.isupper():
        return word.upper()
    if like.islower():
        return word.lower()
    return word[:1].upper() + word[1:] if like[:1].isupper() else word


def english_ordinal(number: int) -> str:
    """The letters after an ordinal number: "st", "nd", "rd" or "th".

    Example:
        >>> [english_ordinal(number) for number in (1, 12, 22)]
        ['st', 'th', 'nd']
    """
    return "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")

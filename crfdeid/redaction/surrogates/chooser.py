"""Choices that depend on a secret and on what is replaced, and on nothing else: HMAC instead of a random generator."""

from __future__ import annotations

import hmac
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TypeVar

_Value = TypeVar("_Value")


class HmacChooser:
    """Numbers from a key: the same key, purpose and value give the same number, on any machine and in any order.

    Args:
        key: 32 secret bytes.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    def number(self, purpose: str, value: str, below: int) -> int:
        """A number from 0 to ``below - 1``: HMAC-SHA256 of purpose and value, reduced."""
        return int.from_bytes(self._digest(f"{purpose}\0{value}")[:16]) % below

    def choice(self, purpose: str, value: str, options: Sequence[_Value]) -> _Value:
        """One of some options."""
        return options[self.number(purpose, value, len(options))]

    def stream(self, purpose: str, value: str) -> Iterator[int]:
        """Numbers from 0 to 65535 without end."""
        block = 0
        while True:
            digest = self._digest(f"{purpose}\0{block}\0{value}")
            for i in range(0, len(digest), 2):
                yield int.from_bytes(digest[i : i + 2])
            block += 1

    def _digest(self, message: str) -> bytes:
        return hmac.digest(self._key, message.encode(errors="surrogatepass"), "sha256")


@lru_cache(maxsize=1 << 14)
def casefold_accents(text: str) -> str:
    """Text without accents and case, for comparing: two spellings of one name are equal.

    Example:
        >>> fold("MACIÁ") == fold("Macia")
        True
    """
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in apart if not unicodedata.combining(c))


@lru_cache(maxsize=64)
def _folded(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(casefold_accents, words))


def casefold_words(words: Iterable[str]) -> frozenset[str]:
    """The folded forms of words.

    Example:
        >>> sorted(folded(["Maciá", "Macia", "Roe"]))
        ['macia', 'roe']
    """
    return _folded(tuple(words))


def with_case_of(word: str, like: str) -> str:
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

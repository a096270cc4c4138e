"""Choices that depend on a key and the replaced value alone, and the case and accents of words."""

from __future__ import annotations

import hmac
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TypeVar

_Value = TypeVar("_Value")

VOWELS = "aeiouhy"
"""Letters at the beginning of a name before which French elides an article, casefolded."""


class HmacChooser:
    """Pseudorandom choices by HMAC: a function of key, purpose and value, on any machine and in any order.

    Args:
        key: the secret, 32 bytes.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    def number(self, purpose: str, value: str, below: int) -> int:
        """Return a number from 0 to ``below - 1``: HMAC-SHA256 of purpose and value, reduced."""
        return int.from_bytes(self._digest(f"{purpose}\0{value}")[:16]) % below

    def choice(self, purpose: str, value: str, options: Sequence[_Value]) -> _Value:
        """Return one of the options."""
        return options[self.number(purpose, value, len(options))]

    def stream(self, purpose: str, value: str) -> Iterator[int]:
        """Yield numbers from 0 to 65535 without end."""
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
    """Return a text without accents and case, so that two spellings of a name compare equal.

    Surrogates depend on the result, so it must not change. `crfdeid.known_phi.folding.fold_to_alnum` also drops signs.

    Example:
        >>> casefold_accents("MACIÁ") == casefold_accents("Macia")
        True
    """
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in apart if not unicodedata.combining(c))


def casefold_words(text: str) -> frozenset[str]:
    """Return the distinct words of a text, between white space, by `casefold_accents`.

    Example:
        >>> sorted(casefold_words("Maciá Macia Roe"))
        ['macia', 'roe']
    """
    return frozenset(map(casefold_accents, text.split()))


def with_case_of(word: str, like: str) -> str:
    """Return a word in the case of another: upper, lower or capitalised.

    Example:
        >>> [with_case_of("Ferrer", like) for like in ("QUILL", "quill", "Quill")]
        ['FERRER', 'ferrer', 'Ferrer']
    """
    letters = [c for c in like if c.isalpha()]
    if len(letters) > 1 and like.isupper():
        return word.upper()
    if like.islower():
        return word.lower()
    return word[:1].upper() + word[1:] if like[:1].isupper() else word


def splice(text: str, pieces: Iterable[tuple[int, int, str]]) -> str:
    """Return a text with pieces replaced, each given as its start, its end and the new text, in order.

    Example:
        >>> splice("Jane Quill", [(0, 4, "Orla"), (5, 10, "Marsh")])
        'Orla Marsh'
    """
    parts: list[str] = []
    end = 0
    for start, stop, new in pieces:
        parts += text[end:start], new
        end = stop
    return "".join([*parts, text[end:]])

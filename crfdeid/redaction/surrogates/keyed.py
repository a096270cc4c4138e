"""Choices that depend on a secret and on what is replaced, and on nothing else: HMAC instead of a random generator."""

from __future__ import annotations

import hmac
from collections.abc import Iterator, Sequence
from typing import TypeVar

_Value = TypeVar("_Value")


class Keyed:
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

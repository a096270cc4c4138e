"""Choices among the words that surrogates are made of: no two originals of a list get one surrogate, none gets itself.

A list is permuted by the patient's key, so that choices need no memory. Originals in the list have distinct surrogates;
another original gets one by its hash, from the rest of the list if there is enough.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from typing import TypeVar

import regex

from crfdeid.redaction.surrogates.words import casefold_accents
from crfdeid.secrets import HmacChooser

_Value = TypeVar("_Value")
_WORDS = regex.compile(r"[\p{L}\p{M}]{2,}|\p{N}{2,}")


class Options(Sequence[str]):
    """Words or names to choose from.

    Args:
        listed: names that originals have; each has a surrogate of its own.
        more: invented names, which no original is expected to have.

    Attributes:
        listed: how many are listed.
        numbers: the index of each listed name, casefolded.
    """

    def __init__(self, listed: Iterable[str], more: Iterable[str] = ()) -> None:
        self._names = tuple(dict.fromkeys(listed))
        self.listed = len(self._names)
        self.numbers = {casefold_accents(name): i for i, name in reversed(list(enumerate(self._names)))}
        self._names += tuple(name for name in dict.fromkeys(more) if casefold_accents(name) not in self.numbers)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        return self._names[index]

    def __len__(self) -> int:
        return len(self._names)


@lru_cache(maxsize=512)
def options_of(names: tuple[str, ...]) -> Options:
    """Return the options of a short list."""
    return Options(names)


class Chooser(HmacChooser):
    """Keyed choices that avoid the words of the original.

    Args:
        key: the patient's key.

    Attributes:
        avoided: casefolded words that no chosen option contains, while there is another option.
    """

    def __init__(self, key: bytes) -> None:
        super().__init__(key)
        self.avoided: frozenset[str] = frozenset()

    def other(self, purpose: str, value: str, options: Options | tuple[str, ...]) -> str:
        """Return another option than a value, casefolded: of two listed values not the same one."""
        found = options if isinstance(options, Options) else options_of(options)
        begin, size = self.place(purpose, value, found), len(found)
        return next(
            (found[i % size] for i in range(begin, begin + size) if self.is_free(found[i % size], value)), found[begin]
        )

    def place(self, purpose: str, value: str, options: Options) -> int:
        """Return the index of the option for a casefolded value."""
        index = options.numbers.get(value)
        if index is None:
            index = self.unlisted(purpose, value, options.listed, len(options))
        return self.permutation(purpose, len(options)).successor(index)

    def unlisted(self, purpose: str, value: str, listed: int, size: int) -> int:
        """Return an index from `listed` on for a value, or any where less than half of the options is left."""
        begin = listed if 2 * listed <= size else 0
        return begin + self.number(purpose, value, size - begin)

    def shift(self, value: str, size: int) -> int:
        """Return a number from 1 to ``size - 1`` for a value: keyed BLAKE2b, which is faster than HMAC; 0 of size 1."""
        digest = hashlib.blake2b(value.encode(errors="surrogatepass"), digest_size=8, key=self._shift_key).digest()
        return 1 + int.from_bytes(digest) % (size - 1) if size > 1 else 0

    @cached_property
    def _shift_key(self) -> bytes:
        return self._digest("shifts")

    def is_free(self, option: str, value: str = "") -> bool:
        """Return True for an option that is not the value and contains no avoided word."""
        plain = casefold_accents(option)
        return plain != value and self.avoided.isdisjoint(words_in(plain))

    def circle(self, purpose: str, options: Sequence[_Value]) -> dict[_Value, _Value]:
        """Return each option with the next one in a keyed order, and the last with the first (Fisher-Yates shuffle)."""
        order, numbers = list(options), self.stream(purpose, "")
        for i in range(len(order) - 1, 0, -1):
            j = next(numbers) % (i + 1)
            order[i], order[j] = order[j], order[i]
        return dict(zip(order, [*order[1:], order[0]], strict=True))


def words_in(plain: str) -> list[str]:
    """Return the words and numbers of two characters and more in a casefolded text."""
    return _WORDS.findall(plain)

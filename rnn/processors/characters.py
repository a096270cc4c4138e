"""Characters to numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

PAD, UNKNOWN = 0, 1
_FIRST = 2
_MOST_REMEMBERED = 1 << 16  # words whose characters' numbers are remembered


@dataclass(frozen=True)
class Characters:
    """The characters a network has vectors for, and how it reads a word: its first and its last ones.

    Args:
        known: the characters, in a fixed order.
        most: of a longer word the first half and the last half of so many characters are read, C; even.

    Example:
        >>> Characters(("a", "b"), most=4).ids("abca").tolist()
        [2, 3, 1, 2]
    """

    known: tuple[str, ...]
    most: int = 20

    def __post_init__(self) -> None:
        object.__setattr__(self, "_ids", {character: i + _FIRST for i, character in enumerate(self.known)})
        object.__setattr__(self, "_seen", {})

    @classmethod
    def build(cls, words: Iterable[str], *, min_count: int = 3, most: int = 20) -> Characters:
        """The characters that occur often enough, the most frequent first."""
        counts = Counter(character for word in words for character in word)
        known = [character for character, count in counts.items() if count >= min_count]
        return cls(tuple(sorted(known, key=lambda character: (-counts[character], character))), most)

    def __len__(self) -> int:
        return len(self.known) + _FIRST

    def ids(self, word: str) -> np.ndarray:
        """The numbers of a word's characters, padded with 0: [C]."""
        seen: dict[str, np.ndarray] = self._seen  # type: ignore[attr-defined]
        found = seen.get(word)
        if found is None:
            if len(seen) >= _MOST_REMEMBERED:
                seen.clear()
            found = seen[word] = self._ids_of(word)
        return found

    def _ids_of(self, word: str) -> np.ndarray:
        known: dict[str, int] = self._ids  # type: ignore[attr-defined]
        half = self.most // 2
        read = word if len(word) <= self.most else word[:half] + word[-half:]
        ids = np.zeros(self.most, np.int32)
        ids[: len(read)] = [known.get(character, UNKNOWN) for character in read]
        return ids

    def rows(self, words: Sequence[str]) -> np.ndarray:
        """The numbers of the characters of each word, [T, C]."""
        return np.array([self.ids(word) for word in words], np.int32).reshape(len(words), self.most)

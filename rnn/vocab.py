"""Words to ids: the words with a vector each, and the casing classes of all others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import regex

from crfdeid.secrets import hash_word, require_same_key

PAD = 0  # the id of padding before and after a sentence; its vector is trained
_MOST_REMEMBERED = 1 << 18  # words whose ids a vocabulary remembers
_DIGIT = regex.compile(r"\p{Nd}")


@dataclass(frozen=True)
class Vocabulary:
    """Words with a vector each.

    A word seen less than ``min_count`` times in training is unknown: it trains the vector that words never seen will
    get. There is one such vector for each casing class (`unknown_class`).

    Args:
        words: the known words, after folding, in a fixed order.
        fold_digits: every digit is read as 0, so that 03/14/72 and 11/02/69 are the same words.
        lower_case: an unknown word is read in lower case if that form is known: for words from lower-case vectors
            (`rnn.embeddings.extend`).
        key: key of hashed words (`crfdeid.secrets.hash_word`); None for readable words.
    """

    words: tuple[str, ...]
    fold_digits: bool = True
    lower_case: bool = False
    key: bytes | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "_ids", {word: i + FIRST_WORD for i, word in enumerate(self.words)})
        object.__setattr__(self, "_seen", {})
        object.__setattr__(self, "_classes", {})  # of known words, by their ids: a hash has no casing

    @classmethod
    def build(
        cls,
        sentences: Sequence[Sequence[str]],
        *,
        fold_digits: bool = True,
        min_count: int = 2,
        documents: Sequence[str] = (),
        min_documents: int = 1,
    ) -> Vocabulary:
        """Build a vocabulary of the frequent words, the most frequent first.

        Args:
            sentences: the words of each sentence.
            fold_digits: whether every digit is read as 0.
            min_count: smallest number of occurrences.
            documents: id of each sentence's document, for ``min_documents``.
            min_documents: smallest number of documents.
        """
        read = zero_digits if fold_digits else str
        counts = Counter(read(word) for sentence in sentences for word in sentence)
        frequent = {word for word, count in counts.items() if count >= min_count}
        if min_documents > 1:
            by_document: dict[str, set[str]] = {}
            for document, sentence in zip(documents, sentences, strict=True):
                by_document.setdefault(document, set()).update(map(read, sentence))
            spread = Counter(word for words in by_document.values() for word in words)
            frequent = {word for word in frequent if spread[word] >= min_documents}
        return cls(tuple(sorted(frequent, key=lambda word: (-counts[word], word))), fold_digits)

    def hashed(self, key: bytes) -> tuple[Vocabulary, np.ndarray]:
        """Hash the words; return the vocabulary of sorted hashes and the old id of each new one, [V].

        Raises:
            UsageError: the words are hashed already, with another key.
        """
        require_same_key(self.key, key)
        if self.key is not None:
            return self, np.arange(len(self))
        hashes = [hash_word(word, key) for word in self.words]
        order = np.argsort(hashes)
        old = np.concatenate([np.arange(FIRST_WORD), FIRST_WORD + order])
        return replace(self, words=tuple(hashes[i] for i in order), key=key), old

    def __len__(self) -> int:
        return len(self.words) + FIRST_WORD

    def ids(self, words: Sequence[str]) -> list[int]:
        """Id of each word."""
        seen: dict[str, int] = self._seen  # type: ignore[attr-defined]
        return [seen.get(word) or self._id(word) for word in words]  # no id of a word is 0

    def _id(self, word: str) -> int:
        """Id of a word that is not cached yet; it is then cached."""
        seen: dict[str, int] = self._seen  # type: ignore[attr-defined]
        folded = zero_digits(word) if self.fold_digits else word
        found = self._known(folded) or (self._known(folded.lower()) if self.lower_case else None)
        if len(seen) >= _MOST_REMEMBERED:
            seen.clear()
        return seen.setdefault(word, found or unknown_class(folded))

    def _known(self, word: str) -> int | None:
        known: dict[str, int] = self._ids  # type: ignore[attr-defined]
        if self.key is None:
            return known.get(word)
        found = known.get(hash_word(word, self.key))
        if found is not None:
            self._classes[found] = unknown_class(word)  # type: ignore[attr-defined]
        return found

    def unknown(self) -> np.ndarray:
        """Id of the casing class of every id, [V].

        A hash has no casing: a hashed word that `ids` has not read yet counts as "other".
        """
        if self.key is None:
            return np.array([*range(FIRST_WORD), *map(unknown_class, self.words)], np.int32)
        classes: dict[int, int] = self._classes  # type: ignore[attr-defined]
        return np.array([classes.get(i, i if i < FIRST_WORD else _OTHER) for i in range(len(self))], np.int32)


# Casing classes of unknown words, with a vector each.
UNKNOWN_CLASSES = ("lower", "initial capital", "all capitals", "mixed case", "digits", "other")
FIRST_WORD = 1 + len(UNKNOWN_CLASSES)
_OTHER = len(UNKNOWN_CLASSES)


def unknown_class(word: str) -> int:
    """Id of the casing class of an unknown word.

    Example:
        >>> [UNKNOWN_CLASSES[unknown_class(word) - 1] for word in ("Brown", "FIH", "glass", "%")]
        ['initial capital', 'all capitals', 'lower', 'other']
    """
    if word.isdecimal():
        return 5
    if not word[:1].isalpha():
        return _OTHER
    if word.islower():
        return 1
    if word.isupper():
        return 3 if len(word) > 1 else 2
    return 2 if word[1:].islower() else 4


def zero_digits(word: str) -> str:
    """Replace every digit of a word by 0.

    Example:
        >>> zero_digits("3rd")
        '0rd'
    """
    return _DIGIT.sub("0", word) if not word.isalpha() else word

"""Words to ids, and sentences to arrays of a few fixed shapes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import regex

from crfdeid.secrets import hash_word

PAD = 0  # the id of what stands before a sentence's first and after its last word; its vector is learned
_MOST_REMEMBERED = 1 << 18  # words whose ids a vocabulary remembers
_DIGIT = regex.compile(r"\p{Nd}")


@dataclass(frozen=True)
class Vocabulary:
    """The words a network has vectors for.

    A word seen less than ``min_count`` times in training has no vector of its own: it is unknown, and so it trains the
    vector that words never seen will get. Unknown words are told apart by their casing class (`unknown_class`).

    Args:
        words: the known words, after folding, in a fixed order.
        fold_digits: every digit is read as 0, so that 03/14/72 and 11/02/69 are the same words.
        lower_case: an unknown word is read as its lower-case form where that is known: for words from lower-case
            vectors (`rnn.embeddings.extend`).
        key: what the words are hashed with (`crfdeid.secrets.hash_word`); None where they are readable.
    """

    words: tuple[str, ...]
    fold_digits: bool = True
    lower_case: bool = False
    key: bytes | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "_ids", {word: i + FIRST_WORD for i, word in enumerate(self.words)})
        object.__setattr__(self, "_seen", {})

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
        """The words that occur often enough, the most frequent first.

        Args:
            sentences: the words of each.
            fold_digits: whether every digit is read as 0.
            min_count: how often they must occur.
            documents: the document that each sentence is from, for ``min_documents``.
            min_documents: how many documents must have them.
        """
        read = fold if fold_digits else str
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
        """The same vocabulary with its words as hashes, sorted; and the old id of each new one, [V]."""
        hashes = [hash_word(word, key) for word in self.words]
        order = np.argsort(hashes)
        old = np.concatenate([np.arange(FIRST_WORD), FIRST_WORD + order])
        return replace(self, words=tuple(hashes[i] for i in order), key=key), old

    def __len__(self) -> int:
        return len(self.words) + FIRST_WORD

    def ids(self, words: Sequence[str]) -> list[int]:
        """The id of each word."""
        seen: dict[str, int] = self._seen  # type: ignore[attr-defined]
        return [seen.get(word) or self._id(word) for word in words]  # no id of a word is 0

    def _id(self, word: str) -> int:
        """The id of a word that is not remembered, and remember it."""
        seen: dict[str, int] = self._seen  # type: ignore[attr-defined]
        folded = fold(word) if self.fold_digits else word
        found = self._known(folded) or (self._known(folded.lower()) if self.lower_case else None)
        if len(seen) >= _MOST_REMEMBERED:
            seen.clear()
        return seen.setdefault(word, found or unknown_class(folded))

    def _known(self, word: str) -> int | None:
        known: dict[str, int] = self._ids  # type: ignore[attr-defined]
        return known.get(word if self.key is None else hash_word(word, self.key))

    def unknown(self) -> np.ndarray:
        """For every id, the id of the unknown word it would be read as, [V]."""
        return np.array([*range(FIRST_WORD), *map(unknown_class, self.words)], np.int32)


# Casing classes of unknown words, each with a vector of its own.
UNKNOWN_CLASSES = ("lower", "initial capital", "all capitals", "mixed case", "digits", "other")
FIRST_WORD = 1 + len(UNKNOWN_CLASSES)


def unknown_class(word: str) -> int:
    """The id of a word without a vector of its own, by its casing.

    Example:
        >>> [UNKNOWN_CLASSES[unknown_class(word) - 1] for word in ("Brown", "FIH", "glass", "%")]
        ['initial capital', 'all capitals', 'lower', 'other']
    """
    if word.isdecimal():
        return 5
    if not word[:1].isalpha():
        return 6
    if word.islower():
        return 1
    if word.isupper():
        return 3 if len(word) > 1 else 2
    return 2 if word[1:].islower() else 4


def fold(word: str) -> str:
    """The word with every digit as 0.

    Example:
        >>> fold("3rd")
        '0rd'
    """
    return _DIGIT.sub("0", word) if not word.isalpha() else word


class Batch(NamedTuple):
    """Sentences padded to one length T, with m words of padding before and after.

    Attributes:
        ids: word ids, [B, T + 2m] int32.
        tags: tag ids, [B, T] int32; 0 where there is no token (the mask keeps those out of the loss).
        lengths: tokens a sentence, [B] int32; 0 for a row that holds no sentence.
    """

    ids: np.ndarray
    tags: np.ndarray
    lengths: np.ndarray


def make_batch(
    rows: Sequence[Sequence[int]], tags: Sequence[Sequence[int]] | None, *, length: int, window: int, size: int = 0
) -> Batch:
    """Sentences as one batch, padded to ``length`` tokens and to at least ``size`` rows."""
    half, count = window // 2, max(len(rows), size)
    batch = Batch(
        np.full((count, length + 2 * half), PAD, np.int32),
        np.zeros((count, length), np.int32),
        np.zeros(count, np.int32),
    )
    for i, row in enumerate(rows):
        batch.ids[i, half : half + len(row)] = row
        batch.lengths[i] = len(row)
        if tags is not None:
            batch.tags[i, : len(row)] = tags[i]
    return batch


def bucket_lengths(lengths: Sequence[int], *, buckets: int = 8, cost: int = 0) -> list[int]:
    """The padded lengths, at most ``buckets``, that cost the least.

    Each sentence is padded to the next of them; each is the length of some sentence. Dynamic programming over the
    distinct lengths: with k buckets, total_k[j] = min over i < j of total_(k-1)[i] + (tokens of the sentences of
    lengths i+1..j, each padded to the length of j); the number of buckets is the k with the least total_k + k * cost.

    Args:
        lengths: of all sentences, in tokens.
        buckets: how many there may be.
        cost: what one bucket costs, in padded tokens.

    Example:
        >>> bucket_lengths([1, 1, 2, 9, 10], buckets=2)
        [2, 10]
    """
    distinct, counts = np.unique(np.asarray(lengths), return_counts=True)
    before = np.concatenate([[0], np.cumsum(counts)])  # sentences shorter than each distinct length
    together = (before[None, 1:] - before[:-1, None]) * distinct[None, :].astype(float)  # [i, j]: lengths i..j as one
    together[np.tril_indices(len(distinct), -1)] = np.inf
    total = np.concatenate([[0.0], np.full(len(distinct), np.inf)])
    previous: list[np.ndarray] = []  # by number of buckets: where the last bucket before each length ends
    totals: list[float] = []
    for k in range(1, min(buckets, len(distinct)) + 1):
        options = total[:-1, None] + together
        previous.append(options.argmin(axis=0))
        total = np.concatenate([[np.inf], options.min(axis=0)])
        totals.append(total[-1] + k * cost)
    chosen, end = [], len(distinct)
    for choice in reversed(previous[: int(np.argmin(totals)) + 1]):
        chosen.append(int(distinct[end - 1]))
        end = int(choice[end - 1])
    return chosen[::-1]


# Prediction has its own few shapes, the same for every call, so that little is compiled and no sentence's result
# depends on its company: lengths 8, 16, 32, 64, …, and for each of them a batch of few rows and one of many.
_FEW = 4
MANY_TOKENS = 2048


def batches(
    rows: Sequence[Sequence[int]], *, window: int, many_tokens: int = MANY_TOKENS
) -> Iterator[tuple[list[int], Batch]]:
    """Sentences in batches for prediction: the numbers of those in a batch, in the order of its rows, and the batch.

    Args:
        rows: the word ids of each sentence; sentences without any are in no batch.
        window: words in a context window.
        many_tokens: places for tokens in a batch of many rows.
    """
    for members, length, size in predict_batches([len(row) for row in rows], many_tokens=many_tokens):
        yield members, make_batch([rows[i] for i in members], None, length=length, window=window, size=size)


def predict_batches(lengths: Sequence[int], *, many_tokens: int = MANY_TOKENS) -> Iterator[tuple[list[int], int, int]]:
    """Which sentences to run together: their numbers, the padded length and the number of rows.

    Sentences without tokens are in no batch.
    """
    by_length: dict[int, list[int]] = {}
    for i, length in enumerate(lengths):
        if length:
            by_length.setdefault(padded_length(length), []).append(i)
    for length, members in sorted(by_length.items()):
        many = max(many_tokens // length, 1)
        for start in range(0, len(members), many):
            part = members[start : start + many]
            yield part, length, min(_FEW, many) if len(part) <= _FEW else many


def padded_length(length: int) -> int:
    """The smallest power of two from 8 that is not less."""
    return max(8, 1 << (length - 1).bit_length())

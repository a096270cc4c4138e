"""Columns of features: the interface of extractors, from which the feature strings of tokens are read.

Most features depend on one word alone: the word itself, its shape, its first letters, for the tokens around it. They
are declared once, as a `WordColumn`, so that a model computes each distinct word once. Features that neighbouring words
decide together are a `Conjunction`; all others a `Column`, for many sentences at a time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, count, islice, repeat
from typing import NamedTuple, TypeVar, cast, final

import numpy as np

from features.tokens import Sentence

_T = TypeVar("_T")


class SentenceBatch:
    """Sentences whose features are extracted together: N tokens, of D distinct words.

    Args:
        sentences: the sentences.

    Attributes:
        sentences: the sentences.
        words: the texts of the tokens of each sentence.
        lengths: the number of tokens of each sentence, [S].
        begins: the index of each sentence's first token, [S].
        sentence_of: the index of each token's sentence, [N].
        distinct: the distinct words, D.
        numbers: the index of each token's word in ``distinct``, [N].

    Example:
        >>> batch = SentenceBatch([Sentence.from_words(["no", "or", "no"]), Sentence.from_words(["yes"])])
        >>> batch.distinct, batch.numbers.tolist(), batch.sentence_of.tolist()
        (['no', 'or', 'yes'], [0, 1, 0, 2], [0, 0, 0, 1])
    """

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        self.sentences = sentences
        self.words = [[token[0] for token in sentence.tokens] for sentence in sentences]
        self.lengths = np.fromiter(map(len, self.words), np.intp, len(self.words))
        self.begins = np.cumsum(self.lengths) - self.lengths
        self.sentence_of = np.repeat(np.arange(len(self.words)), self.lengths)
        number_of: dict[str, int] = defaultdict(count().__next__)
        words = map(number_of.__getitem__, chain.from_iterable(self.words))
        self.numbers = np.fromiter(words, np.intp, len(self.sentence_of))
        self.distinct = [*number_of]
        self._found: dict[Callable[[str], object], list[list[object]]] = {}

    def each(self, value: Callable[[str], _T]) -> list[list[_T]]:
        """Values of a function for the words of each sentence; it is called once for each distinct word.

        Example:
            >>> SentenceBatch([Sentence.from_words(["Dr", "Doe"])]).each(str.lower)
            [['dr', 'doe']]
        """
        if value not in self._found:
            of_word = {word: value(word) for word in self.distinct}.__getitem__
            self._found[value] = [[*map(of_word, words)] for words in self.words]
        return cast("list[list[_T]]", self._found[value])

    def padded(self, numbers: np.ndarray, width: int, before: int, after: int) -> tuple[np.ndarray, np.ndarray]:
        """Pad each sentence's numbers on both sides: [N + 2 * width * S].

        Args:
            numbers: a number for each token, [N].
            width: the padding on each side, in tokens.
            before: the number before a sentence.
            after: the number after a sentence.

        Returns:
            The padded numbers, and the index of each token among them, [N].

        Example:
            >>> both = SentenceBatch([Sentence.from_words(["Dr", "Doe"]), Sentence.from_words(["Yes"])])
            >>> [found.tolist() for found in both.padded(both.numbers, 1, 8, 9)]
            [[8, 0, 1, 9, 8, 2, 9], [1, 2, 5]]
        """
        indices = np.arange(len(numbers)) + width * (2 * self.sentence_of + 1)
        found = np.full(len(numbers) + 2 * width * len(self.lengths), before, np.intp)
        ends = np.cumsum(self.lengths + 2 * width) - width
        found[ends[:, None] + np.arange(width)] = after
        found[indices] = numbers
        return found, indices


# Words beyond the ends of the sentence. The tokeniser never produces them.
BOS, EOS = "<s>", "</s>"
FeatureValue = str | None
"""The part of a feature string after its head; None for no feature."""

_SENTENCES_AT_ONCE = 32  # feature strings in memory together; larger batches are slower


class WordColumn(NamedTuple):
    """One kind of feature that a word alone decides, for the tokens around it.

    Token i has ``head + value(word)`` for the word at i + o, for each offset o and its head.

    Attributes:
        heads: offsets of words from the token that has the feature, each with the head of its strings.
        value: the value of a word; a pure function.
        before: the value before the sentence.
        after: the value after the sentence.
    """

    heads: tuple[tuple[int, str], ...]
    value: Callable[[str], FeatureValue]
    before: FeatureValue = None
    after: FeatureValue = None


class Column(NamedTuple):
    """One kind of feature for the tokens of some sentences.

    There are W heads ("w[-1]=", "w[0]=", "w[1]=") and, for each sentence of T tokens, T + W - 1 values, one
    sentence after the other: token i of one has ``heads[k] + values[i + k]`` for each k, and lacks it where the value
    is None.

    Attributes:
        heads: the heads of the strings.
        values: the values; they may be an iterator.
        chosen: for few distinct values, the index of the value at each position; None for one value per position.

    Example:
        >>> batch = SentenceBatch([Sentence.from_words(["Dr", "Doe"]), Sentence.from_words(["Yes"])])
        >>> Column(("place=",), ["title", "body"], batch.sentence_of).chosen.tolist()
        [0, 0, 1]
    """

    heads: tuple[str, ...]
    values: Iterable[FeatureValue]
    chosen: np.ndarray | None = None


class Conjunction(NamedTuple):
    """One kind of feature that neighbouring words decide together, or words and a property of their sentence.

    Token i has, for each offset o and its head, the head and the values of the words from i + o on, joined. Beyond the
    sentence, `BOS` and `EOS` are the values.

    Attributes:
        heads: offsets of the first word from the token that has the feature, each with the head of its strings:
            consecutive offsets, the first of them 0 or less.
        value: the value of a word; a pure function.
        size: the number of words.
        opening: a value of the sentence, before those of the words; None for none.
        joint: the separator.

    Example:
        >>> pairs = Conjunction(((-1, "w[-1,0]="), (0, "w[0,1]=")), str.lower, size=2)
        >>> list(pairs.column(SentenceBatch([Sentence.from_words(["Dr", "Doe"])])).values)
        ['<s> dr', 'dr doe', 'doe </s>']
    """

    heads: tuple[tuple[int, str], ...]
    value: Callable[[str], str]
    size: int = 1
    opening: Callable[[Sentence], str] | None = None
    joint: str = " "

    def column(self, batch: SentenceBatch) -> Column:
        """The column of a batch of sentences."""
        rows = map(self._joined, batch.sentences, batch.each(self.value))
        return Column(tuple(head for _, head in self.heads), chain.from_iterable(rows))

    def _joined(self, sentence: Sentence, values: Sequence[str]) -> Iterator[str]:
        first, last = self.heads[0][0], self.heads[-1][0] + self.size - 1
        around = [BOS] * -first + [*values] + [EOS] * last
        opening = [] if self.opening is None else [repeat(self.opening(sentence))]
        return map(self.joint.join, zip(*opening, *(around[i:] for i in range(self.size)), strict=False))


class Extractor(ABC):
    """Base of feature extractors: `describe`, and at least one of `word_columns`, `conjunctions` and `columns`.

    A feature is a string, ``name=value``; a token has it or lacks it. An extractor sees neither other sentences nor
    labels, so its features cannot depend on them.
    """

    __slots__ = ()

    def word_columns(self) -> Sequence[WordColumn]:
        """The features that one word decides, kind by kind."""
        return ()

    def conjunctions(self) -> Sequence[Conjunction]:
        """The features that neighbouring words decide together, kind by kind."""
        return ()

    def columns(self, batch: SentenceBatch) -> list[Column]:
        """All other features of a batch, kind by kind; several columns may have the same heads."""
        return []

    @abstractmethod
    def describe(self) -> str:
        """A one-line description of the features."""

    @final
    def extract(self, sentence: Sentence) -> list[list[str]]:
        """The features of each token: T lists of strings."""
        (rows,) = self.extract_all([sentence])
        return rows

    @final
    def extract_all(self, sentences: Sequence[Sentence]) -> Iterator[list[list[str]]]:
        """The features of each token of each sentence, extracted in batches."""
        for start in range(0, len(sentences), _SENTENCES_AT_ONCE):
            batch = SentenceBatch(sentences[start : start + _SENTENCES_AT_ONCE])
            rows: list[list[list[str]]] = [[[] for _ in words] for words in batch.words]
            self.add_features(batch, [*chain.from_iterable(rows)])
            yield from rows

    def add_features(self, batch: SentenceBatch, rows: Sequence[list[str]]) -> None:
        """Add the features of each token of a batch to its row: N rows, those of all sentences together."""
        for column in self.word_columns():
            values = batch.each(column.value)
            if {column.before, column.after}.union(*values) != {None}:
                reach = max(abs(offset) for offset, _ in column.heads)
                around = [padded(row, reach, column.before, column.after) for row in values]
                for offset, head in column.heads:
                    _append(rows, head, _cut(around, reach + offset, 2 * reach))
        joined = [conjunction.column(batch) for conjunction in self.conjunctions()]
        for heads, values_once, chosen in chain(joined, self.columns(batch)):
            found = iter(values_once if chosen is None else map([*values_once].__getitem__, chosen.tolist()))
            beyond = len(heads) - 1
            table = [[*islice(found, len(words) + beyond)] for words in batch.words]
            for k, head in enumerate(heads):
                _append(rows, head, _cut(table, k, beyond))


def _cut(table: Iterable[Sequence[FeatureValue]], first: int, beyond: int) -> Iterator[FeatureValue]:
    """T values of each row of T + ``beyond`` values, from index ``first``."""
    return chain.from_iterable([row[first : len(row) - beyond + first] for row in table])


def _append(rows: Iterable[list[str]], head: str, values: Iterable[FeatureValue]) -> None:
    """Add to each token's row the feature that it has in this column."""
    for row, value in zip(rows, values, strict=True):
        if value is not None:
            row.append(head + value)


def padded(
    values: Iterable[FeatureValue], width: int, before: FeatureValue = BOS, after: FeatureValue = EOS
) -> list[FeatureValue]:
    """The values of a sentence with ``width`` markers before and after them: index ``i`` moves to ``i + width``."""
    return [before] * width + list(values) + [after] * width


def window_column(rows: Iterable[Iterable[str]], name: str, width: int) -> Column:
    """The values around each token: at token i, ``name[o]=values[i + o]`` for each offset o from -width to width.

    Args:
        rows: the values of each sentence.
        name: the feature's name.
        width: tokens on each side.

    Example:
        >>> window_column([["Dr", "Doe"]], "w", 1).values
        ['<s>', 'Dr', 'Doe', '</s>']
    """
    heads = tuple(head for _, head in window_heads(name, width))
    return Column(heads, [*chain.from_iterable(padded(row, width) for row in rows)])


@cache
def window_heads(name: str, width: int) -> tuple[tuple[int, str], ...]:
    """The heads of a window's features, ``name[o]=``, each with its offset o.

    Example:
        >>> window_heads("w", 1)
        ((-1, 'w[-1]='), (0, 'w[0]='), (1, 'w[1]='))
    """
    return tuple((offset, f"{name}[{offset}]=") for offset in range(-width, width + 1))

"""Some sentences whose features are made together."""

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
    """Some sentences, and what several extractors want of them: N tokens together, of D different words.

    Args:
        sentences: the sentences.

    Attributes:
        sentences: the sentences.
        words: the texts of the tokens of each.
        lengths: how many these are, [S].
        begins: the number of each sentence's first token, [S].
        sentence_of: the number of each token's sentence, [N].
        distinct: the different words, D.
        numbers: which of them each token is, [N].

    Example:
        >>> batch = Batch([Sentence.from_words(["no", "or", "no"]), Sentence.from_words(["yes"])])
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
        """What a function gives for the words of each sentence; it is asked once for each different word.

        Example:
            >>> Batch([Sentence.from_words(["Dr", "Doe"])]).each(str.lower)
            [['dr', 'doe']]
        """
        if value not in self._found:
            of_word = {word: value(word) for word in self.distinct}.__getitem__
            self._found[value] = [[*map(of_word, words)] for words in self.words]
        return cast("list[list[_T]]", self._found[value])

    def padded(self, numbers: np.ndarray, width: int, before: int, after: int) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the tokens, with others before and after each sentence: [N + 2 * width * S].

        Args:
            numbers: of each token, [N].
            width: how many stand before, and after.
            before: what stands there.
            after: what stands there.

        Returns:
            All of them, and the place of each token among them, [N].

        Example:
            >>> both = Batch([Sentence.from_words(["Dr", "Doe"]), Sentence.from_words(["Yes"])])
            >>> [found.tolist() for found in both.padded(both.numbers, 1, 8, 9)]
            [[8, 0, 1, 9, 8, 2, 9], [1, 2, 5]]
        """
        places = np.arange(len(numbers)) + width * (2 * self.sentence_of + 1)
        found = np.full(len(numbers) + 2 * width * len(self.lengths), before, np.intp)
        ends = np.cumsum(self.lengths + 2 * width) - width
        found[ends[:, None] + np.arange(width)] = after
        found[places] = numbers
        return found, places


# What stands where the window reaches beyond the sentence. The tokeniser never makes these of a text.
BOS, EOS = "<s>", "</s>"
FeatureValue = str | None
"""How a feature string goes on; None for no feature."""

_SENTENCES_AT_ONCE = 32  # whose feature strings are in memory together: more are slower again


class WordColumn(NamedTuple):
    """One kind of feature that a word alone decides, for the tokens around it.

    Token i has ``head + value(word)`` for the word at i + o, for each offset o and its head.

    Attributes:
        heads: how the strings begin, each with the offset of the word from the token that has the feature.
        value: how they go on. It gives the same for the same word, always.
        before: how they go on where the window reaches before the sentence.
        after: how they go on where it reaches beyond its end.
    """

    heads: tuple[tuple[int, str], ...]
    value: Callable[[str], FeatureValue]
    before: FeatureValue = None
    after: FeatureValue = None


class Column(NamedTuple):
    """One kind of feature for the tokens of some sentences.

    There are W beginnings ("w[-1]=", "w[0]=", "w[1]=") and, for each sentence of T tokens, T + W - 1 values, one
    sentence after the other: token i of one has ``heads[k] + values[i + k]`` for each k, and lacks it where the value
    is None.

    Attributes:
        heads: how the strings begin.
        values: how they go on; to be gone through once.
        chosen: where few different values stand at many places: for each place, the number of its value. None where
            there is a value for each place.

    Example:
        >>> batch = Batch([Sentence.from_words(["Dr", "Doe"]), Sentence.from_words(["Yes"])])
        >>> Column(("place=",), ["title", "body"], batch.sentence_of).chosen.tolist()
        [0, 0, 1]
    """

    heads: tuple[str, ...]
    values: Iterable[FeatureValue]
    chosen: np.ndarray | None = None


class Conjunction(NamedTuple):
    """One kind of feature that neighbouring words decide together, or words and what their sentence opens with.

    Token i has, for each offset o and its head, the head and the values of the words from i + o on, joined. Beyond the
    sentence, `BEFORE` and `EOS` are the values.

    Attributes:
        heads: how the strings begin, each with the offset of the first word from the token that has the feature: one
            offset after the other, from 0 or one before.
        value: what each word gives. It gives the same for the same word, always.
        size: the words.
        opening: what stands before their values; None for nothing.
        joint: what stands between them.

    Example:
        >>> pairs = Conjunction(((-1, "w[-1,0]="), (0, "w[0,1]=")), str.lower, size=2)
        >>> list(pairs.column(Batch([Sentence.from_words(["Dr", "Doe"])])).values)
        ['<s> dr', 'dr doe', 'doe </s>']
    """

    heads: tuple[tuple[int, str], ...]
    value: Callable[[str], str]
    size: int = 1
    opening: Callable[[Sentence], str] | None = None
    joint: str = " "

    def column(self, batch: SentenceBatch) -> Column:
        """The feature strings of some sentences."""
        rows = map(self._joined, batch.sentences, batch.each(self.value))
        return Column(tuple(head for _, head in self.heads), chain.from_iterable(rows))

    def _joined(self, sentence: Sentence, values: Sequence[str]) -> Iterator[str]:
        first, last = self.heads[0][0], self.heads[-1][0] + self.size - 1
        around = [BOS] * -first + [*values] + [EOS] * last
        opening = [] if self.opening is None else [repeat(self.opening(sentence))]
        return map(self.joint.join, zip(*opening, *(around[i:] for i in range(self.size)), strict=False))


class Extractor(ABC):
    """What every feature extractor is: a class with `describe`, and `word_columns`, `conjunctions` or `columns`.

    A feature is a string, ``name=value``; a token has it or has it not. An extractor sees sentences one by one and no
    labels, so its features depend neither on other sentences nor on what is to be predicted.
    """

    __slots__ = ()

    def word_columns(self) -> Sequence[WordColumn]:
        """The features that a word alone decides, kind by kind."""
        return ()

    def conjunctions(self) -> Sequence[Conjunction]:
        """The features that neighbouring words decide together, kind by kind."""
        return ()

    def columns(self, batch: SentenceBatch) -> list[Column]:
        """All other features of some sentences, kind by kind; several columns may have the same beginnings."""
        return []

    @abstractmethod
    def describe(self) -> str:
        """What is extracted, in one line."""

    @final
    def extract(self, sentence: Sentence) -> list[list[str]]:
        """The features of each token: T lists of strings."""
        (rows,) = self.extract_all([sentence])
        return rows

    @final
    def extract_all(self, sentences: Sequence[Sentence]) -> Iterator[list[list[str]]]:
        """The features of each token of each sentence, in half the time that one sentence after the other takes."""
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
    """The values of T tokens of each row of T + ``beyond`` values, from the one numbered ``first`` on."""
    return chain.from_iterable([row[first : len(row) - beyond + first] for row in table])


def _append(rows: Iterable[list[str]], head: str, values: Iterable[FeatureValue]) -> None:
    """Give each token its feature, where it has one."""
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
        name: how the feature is called.
        width: tokens on each side.

    Example:
        >>> window_column([["Dr", "Doe"]], "w", 1).values
        ['<s>', 'Dr', 'Doe', '</s>']
    """
    heads = tuple(head for _, head in window_heads(name, width))
    return Column(heads, [*chain.from_iterable(padded(row, width) for row in rows)])


@cache
def window_heads(name: str, width: int) -> tuple[tuple[int, str], ...]:
    """The beginnings of a window's features, ``name[o]=``, each with its offset o.

    Example:
        >>> window_heads("w", 1)
        ((-1, 'w[-1]='), (0, 'w[0]='), (1, 'w[1]='))
    """
    return tuple((offset, f"{name}[{offset}]=") for offset in range(-width, width + 1))

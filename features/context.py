"""Features of a token's context: words around it, its position in the sentence, its section and form field."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import chain

import numpy as np

from features.columns import BOS, EOS, Column, Conjunction, Extractor, SentenceBatch, WordColumn, window_heads
from features.orthography import shape
from features.tokens import Sentence


@dataclass(frozen=True)
class ContextWords(Extractor):
    """The word itself and the words around it, each with its distance: ``w[-1]=Dr``.

    Args:
        window: words on each side.
        lower: fold case, which halves the number of features and loses the information of capitals.

    Example:
        >>> from features.tokens import Sentence
        >>> ContextWords(window=1).extract(Sentence.from_words(["Dr", "Doe"]))
        [['w[-1]=<s>', 'w[0]=Dr', 'w[1]=Doe'], ['w[-1]=Dr', 'w[0]=Doe', 'w[1]=</s>']]

    Reference:
        yadav2016, section 3.8, feature 1 (context words, window 3).
    """

    window: int = 3
    lower: bool = False

    def word_columns(self) -> list[WordColumn]:
        """The features that one word decides, kind by kind."""
        name, value = ("lower", str.lower) if self.lower else ("w", str)
        return [WordColumn(window_heads(name, self.window), value, BOS, EOS)]

    def describe(self) -> str:
        """A one-line description of the features."""
        return f"{'lower-case ' if self.lower else ''}words in [-{self.window}, {self.window}]"


@dataclass(frozen=True)
class NGrams(Extractor):
    """Runs of neighbouring words within the window: ``w[0,1]=Dr Doe``.

    Args:
        sizes: the lengths of the runs, in words.
        window: words on each side that a run may include.
        lower: fold case.

    Example:
        >>> from features.tokens import Sentence
        >>> NGrams(sizes=(2,), window=1).extract(Sentence.from_words(["Dr", "Doe"]))
        [['w[-1,0]=<s> Dr', 'w[0,1]=Dr Doe'], ['w[-1,0]=Dr Doe', 'w[0,1]=Doe </s>']]

    Reference:
        yadav2016, section 3.8, feature 2 (uni-, bi- and trigrams in [-2, 2]).
    """

    sizes: tuple[int, ...] = (1, 2, 3)
    window: int = 2
    lower: bool = False

    def conjunctions(self) -> list[Conjunction]:
        """The features that neighbouring words decide together, kind by kind."""
        name, value = ("lower", str.lower) if self.lower else ("w", str)
        fitting = [size for size in self.sizes if size <= 2 * self.window + 1]
        return [Conjunction(_run_heads(name, size, self.window), value, size) for size in fitting]

    def describe(self) -> str:
        """A one-line description of the features."""
        sizes = ", ".join(str(size) for size in self.sizes)
        return f"{'lower-case ' if self.lower else ''}n-grams of {sizes} words in [-{self.window}, {self.window}]"


@dataclass(frozen=True)
class FarWords(Extractor):
    """Lower-case words farther away, with their side but without their distance: ``before=seen``, ``after=ward``.

    Args:
        nearest: the distance of the first of them, in tokens.
        farthest: the distance of the last.

    Example:
        >>> from features.tokens import Sentence
        >>> FarWords(nearest=2, farthest=3).extract(Sentence.from_words(["Seen", "by", "Dr", "Doe"]))[3]
        ['before=seen', 'before=by']
    """

    nearest: int = 4
    farthest: int = 8

    def word_columns(self) -> list[WordColumn]:
        """The features that one word decides, kind by kind."""
        distances = range(self.nearest, self.farthest + 1)
        before = tuple((-distance, "before=") for distance in reversed(distances))
        after = tuple((distance, "after=") for distance in distances)
        return [WordColumn(before, str.lower), WordColumn(after, str.lower)]

    def describe(self) -> str:
        """A one-line description of the features."""
        return f"lower-case words {self.nearest} to {self.farthest} tokens away, by their side"


@cache
def _run_heads(name: str, size: int, window: int) -> tuple[tuple[int, str], ...]:
    starts = range(-window, window - size + 2)
    return tuple((start, f"{name}[{','.join(str(start + i) for i in range(size))}]=") for start in starts)


@dataclass(frozen=True)
class SentencePosition(Extractor):
    """First and last token of a sentence: ``sentence=first``, ``sentence=last``, no feature for the others.

    Example:
        >>> from features.tokens import Sentence
        >>> SentencePosition().extract(Sentence.from_words(["Seen", "by", "us"]))
        [['sentence=first'], [], ['sentence=last']]
    """

    def columns(self, batch: SentenceBatch) -> list[Column]:
        """The features of a batch, kind by kind."""
        opens = np.diff(batch.sentence_of, prepend=-1) != 0
        closes = np.diff(batch.sentence_of, append=-1) != 0
        return [
            Column(("sentence=",), (None, "first"), opens.astype(int)),
            Column(("sentence=",), (None, "last"), closes.astype(int)),
        ]

    def describe(self) -> str:
        """A one-line description of the features."""
        return "first and last token of the sentence"


_FIELD_WORDS = 3
_POSITIONS = 10
_FAR = 9  # tokens; the largest distance that is counted


@dataclass(frozen=True)
class Layout(Extractor):
    """Section, form field and relative position of a token in its note.

    - ``heading``: the heading above the sentence; ``line``: the text before the first colon of its line.
    - ``field``: up to three words before the nearest colon on the left in the sentence, and ``field+``: the same with
      the distance from that colon, in tokens: the value of a field starts right after it.
    - ``place``: the tenth of the note's lines that contains the sentence.

    Example:
        >>> from features.sentences import split_sentences
        >>> Layout().extract(split_sentences("Attending: Dr. Doe")[0])[2]
        ['heading=', 'line=attending', 'place=0', 'field=attending', 'field+1=attending']
    """

    def columns(self, batch: SentenceBatch) -> list[Column]:
        """The features of a batch, kind by kind."""
        of_sentences = {
            "heading=": [sentence.heading.lower() for sentence in batch.sentences],
            "line=": [_prefix(sentence) for sentence in batch.sentences],
            "place=": [str(_POSITIONS * one.line // max(one.line_count, 1)) for one in batch.sentences],
        }
        columns = [Column((head,), values, batch.sentence_of) for head, values in of_sentences.items()]
        return columns + _fields(batch)

    def describe(self) -> str:
        """A one-line description of the features."""
        return "heading, line prefix, words before the nearest colon and the distance from it, tenth of the note"


@dataclass(frozen=True)
class PrefixWords(Extractor):
    """The word and its shape, each with the line's prefix: ``line+lower=attending|doe``, ``line+shape=…|Xxx``.

    In the fields of a form the same word means different things: a number after "MRN" and one after "Phone".

    Example:
        >>> from features.sentences import split_sentences
        >>> PrefixWords().extract(split_sentences("Attending: Dr. Doe")[0])[2]
        ['line+lower=attending|dr', 'line+shape=attending|Xx']
    """

    def conjunctions(self) -> list[Conjunction]:
        """The features that words decide together with the prefix of their line, kind by kind."""
        return [
            Conjunction(((0, "line+lower="),), str.lower, opening=_prefix, joint="|"),
            Conjunction(((0, "line+shape="),), shape, opening=_prefix, joint="|"),
        ]

    def describe(self) -> str:
        """A one-line description of the features."""
        return "the word and its shape, each with the line's prefix"


def _prefix(sentence: Sentence) -> str:
    return sentence.line_prefix.lower()


def _fields(batch: SentenceBatch) -> list[Column]:
    """Columns for the field of each token, alone and with the distance from the field's colon."""
    is_colon = np.array([word == ":" for word in batch.distinct], bool)[batch.numbers]
    colons, field = np.flatnonzero(is_colon), np.cumsum(is_colon) - is_colon  # the colons before each token
    nearest = np.append(-1, colons)[field]
    field[batch.sentence_of[nearest] != batch.sentence_of] = 0  # the colon is in an earlier sentence
    firsts = np.maximum(colons - _FIELD_WORDS, batch.begins[batch.sentence_of[colons]])
    words = [*chain.from_iterable(batch.words)] if len(colons) else []
    names = [" ".join(words[a:b]).lower() or None for a, b in zip(firsts.tolist(), colons.tolist(), strict=True)]
    # The values with a distance: for each field one after the other, as many as it has tokens, up to the farthest.
    counts = np.minimum(np.bincount(field, minlength=len(names) + 1)[1:], _FAR)
    values = [
        f"{distance}={name}" if name else None
        for name, count in zip(names, counts.tolist(), strict=True)
        for distance in range(1, count + 1)
    ]
    distances = np.minimum(np.arange(len(field)) - nearest, _FAR)
    before = np.append(0, np.cumsum(counts) - counts)[field]
    chosen = np.where(field, before + distances, 0)
    return [Column(("field=",), [None, *names], field), Column(("field+",), [None, *values], chosen)]

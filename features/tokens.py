"""Sentences of tokens with their context in the note: heading, line and the note's other tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain
from operator import add, ne

from features.tokenizer import Token, normal_form, tokenize

__all__ = ["Sentence", "Token", "tokenize"]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A run of tokens that is tagged as one sequence.

    It knows its position in its note, so that a model can read the tokens around it (`around`). Equality and hash leave
    the note out.

    Args:
        tokens: the tokens, in text order, at least one.
        heading: the nearest heading at or above the sentence, without its colon; "" without one.
        line_prefix: the text before the first colon of the line on which the sentence starts ("Attending" in
            "Attending: Dr. Brown"); "" without a colon.
        line: the number of the line on which the sentence starts, from 0.
        line_count: the number of lines in the document, so that ``line / line_count`` is a position.
        note: every token of the document, one sequence that all its sentences share; empty for a sentence made by
            hand, which has no tokens around it.
        note_start: the index in ``note`` of the first token, so that
            ``note[note_start : note_start + len(tokens)] == tokens``.
    """

    tokens: tuple[Token, ...]
    heading: str = ""
    line_prefix: str = ""
    line: int = 0
    line_count: int = 1
    note: Sequence[Token] = field(default=(), compare=False, repr=False)
    note_start: int = field(default=0, compare=False, repr=False)
    # The text, where it was at hand; of what `dataclasses.replace` makes of a sentence it is not.
    _spaced: str = field(default="", init=False, compare=False, repr=False)
    # Whether it is the raw text too, character by character.
    _raw: bool = field(default=False, init=False, compare=False, repr=False)

    @property
    def words(self) -> tuple[str, ...]:
        """The texts of the tokens."""
        return tuple([token[0] for token in self.tokens])  # a list is faster here than a generator

    @property
    def spaced(self) -> str:
        """The tokens' text, with one space for any gap.

        Example:
            >>> Sentence.from_words(["on", "3/14"]).spaced
            'on 3/14'
        """
        return self._spaced or "".join(self._pieces())

    def token_ends(self) -> list[int]:
        """End offset of each token in `spaced`.

        The character at a place is of the token ``bisect_right(ends, place)``; a space, of the token after it.

        Example:
            >>> Sentence.from_words(["on", "3/14"]).token_ends()
            [2, 7]
        """
        if self._raw:
            first = self.tokens[0].start
            return [token[2] - first for token in self.tokens]
        if not self.tokens:
            return []
        texts, starts, ends = zip(*self.tokens, strict=True)
        gaps = map(ne, starts, (starts[0], *ends))
        return [*accumulate(map(add, map(len, texts), gaps))]

    def _pieces(self) -> list[str]:
        """The words, with a space before those that follow a gap."""
        ends = chain([token[1] for token in self.tokens[:1]], [token[2] for token in self.tokens])
        pairs = zip(self.tokens, ends, strict=False)
        return [text if start == before else " " + text for (text, start, _), before in pairs]

    def around(self, count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The words of the note before and after the sentence, in text order, at most ``count`` on each side.

        Args:
            count: 0 or more.

        Example:
            >>> from features.sentences import split_sentences
            >>> first, second = split_sentences("Attending: Dr. Quill\\nSeen today")
            >>> second.around(2), first.around(1)
            ((('.', 'Quill'), ()), ((), ('Seen',)))
        """
        end = self.note_start + len(self.tokens)
        before = self.note[max(0, self.note_start - count) : self.note_start]
        return tuple([token[0] for token in before]), tuple([token[0] for token in self.note[end : end + count]])

    @classmethod
    def from_words(cls, words: Sequence[str]) -> Sentence:
        """A sentence of words joined by single spaces, for pre-tokenised data and experiments.

        Each word is one token, its text in normal form (a word of invisible marks alone is not changed).

        Example:
            >>> Sentence.from_words(["Dr.", "Doe"]).tokens[1]
            Token(text='Doe', start=4, end=7)
        """
        tokens, start = [], 0
        for word in words:
            tokens.append(Token(normal_form(word).text or word, start, start + len(word)))
            start += len(word) + 1
        return cls(tuple(tokens))

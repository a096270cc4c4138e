"""Tokens as word pieces: windows over whole notes, and what was found for windows back to tokens.

A window holds whole words and reaches over the ends of sentences, as far as a network can read; the next one begins
some pieces before it ends (johnson2020, section 3.3). Which windows a note has hangs on the note alone, so it makes no
difference which of its sentences are tagged together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from crfdeid.bio import OUTSIDE
from crfdeid.documents import PHI, LabelledSentence
from crfdeid.saving import different_names
from features.tokens import Sentence, Token
from rnn.batches import Row
from rnn.encoders.config import EncoderConfig
from rnn.encoders.pieces import Pieces

PIECES = "pieces"
"""The input of a row: the numbers of a window's pieces, with those that begin and end a text, [L]."""

NOT_COUNTED = -1
"""The target of a piece that is not the first of a word, or of a word whose tag is not known."""

_JSON = "tokenizer"  # the array that holds it


class Window(NamedTuple):
    """Words of a note that are read together.

    Attributes:
        words: the numbers of the first one and of the one after the last.
        pieces: of all of them, and those that begin and end a text, [L].
        firsts: the place of each word's first piece, [words].
    """

    words: tuple[int, int]
    pieces: np.ndarray
    firsts: np.ndarray


class _Note(NamedTuple):
    """A note, the windows that are read of it, and its sentences: their numbers in the call, and where they begin."""

    tokens: Sequence[Token]
    windows: list[Window]
    sentences: list[tuple[int, int]]


@dataclass(frozen=True)
class SubwordCodec:
    """Sentences to rows of word pieces, a row a window of their notes.

    Args:
        encoder: the sizes of the encoder that reads the pieces.
        pieces: words to pieces.
        tags: the tags of each annotation layer that is learned.
        window: the most pieces of a window, without those that begin and end a text.
        overlap: the most pieces that two neighbouring windows share, fewer than ``window``.
    """

    encoder: EncoderConfig
    pieces: Pieces
    tags: Mapping[str, tuple[str, ...]]
    window: int = 100
    overlap: int = 40

    def rows(self, sentences: Sequence[Sentence], targets: Sequence[LabelledSentence] | None = None) -> list[Row]:
        """A row for each window that holds a token of the sentences.

        Args:
            sentences: the sentences.
            targets: the same ones with their tags, in training; None for rows without targets. The target of a word is
                that of its first piece (johnson2020, section 3.4).
        """
        rows = []
        for note in self._notes(sentences):
            known = None if targets is None else self._known(note, targets)
            for window in note.windows:
                row = Row({PIECES: window.pieces}, {}, len(window.pieces))
                if known is not None:
                    wanted = np.full(len(window.pieces), NOT_COUNTED, np.int32)
                    wanted[window.firsts] = known[slice(*window.words)]
                    row = row._replace(targets={PHI: wanted})
                rows.append(row)
        return rows

    def _known(self, note: _Note, targets: Sequence[LabelledSentence]) -> np.ndarray:
        """The number of each word's tag in a note, [words]; `NOT_COUNTED` where it is not known."""
        number = {tag: k for k, tag in enumerate(self.tags[PHI])}
        known = np.full(len(note.tokens), NOT_COUNTED, np.int32)
        for i, start in note.sentences:
            if PHI in targets[i].annotated:
                known[start : start + len(targets[i].tags)] = [number[tag] for tag in targets[i].tags]
        return known

    def gather(self, values: Sequence[np.ndarray], sentences: Sequence[Sentence]) -> list[np.ndarray]:
        """The probabilities of the tags of each sentence's tokens, [T, K], out of those of windows.

        Of several windows that hold a word, those count that find it to be something, if there are any; of them the one
        that is surest (johnson2020, section 3.3). If there are none, that one counts in which the word stands most
        central.

        Args:
            values: for each row, the probabilities at its pieces, [L, K].
            sentences: those that the rows were made of.
        """
        found = [np.empty((0, len(self.tags[PHI])), np.float32)] * len(sentences)
        left = iter(values)
        for note in self._notes(sentences):
            merged = self._merged(note, [next(left) for _ in note.windows])
            for i, start in note.sentences:
                found[i] = merged[start : start + len(sentences[i].tokens)]
        return found

    def _merged(self, note: _Note, values: Sequence[np.ndarray]) -> np.ndarray:
        """The probabilities that count for each word of a note, [words, K]; 0 for words that no window holds."""
        tags = self.tags[PHI]
        outside = tags.index(OUTSIDE) if OUTSIDE in tags else -1
        merged = np.zeros((len(note.tokens), len(tags)), np.float32)
        best = np.full(len(note.tokens), -1.0)  # of the window that counts so far
        for window, probabilities in zip(note.windows, values, strict=True):
            own, words = probabilities[window.firsts], slice(*window.words)
            central = np.minimum(window.firsts, len(window.pieces) - 1 - window.firsts) / len(window.pieces)  # below 1
            worth = np.where(own.argmax(axis=1) == outside, central, 1.0 + own.max(axis=1))
            better = worth > best[words]
            merged[words] = np.where(better[:, None], own, merged[words])
            best[words] = np.maximum(worth, best[words])
        return merged

    def _notes(self, sentences: Sequence[Sentence]) -> list[_Note]:
        """The notes of some sentences, with those windows that hold a token of theirs."""
        members: dict[int, list[int]] = {}
        for i, sentence in enumerate(sentences):
            if sentence.tokens:
                members.setdefault(id(sentence.note) if sentence.note else ~i, []).append(i)
        found = []
        for numbers in members.values():
            first = sentences[numbers[0]]
            tokens = first.note or first.tokens
            places = [(i, sentences[i].note_start if first.note else 0) for i in numbers]
            wanted = np.zeros(len(tokens), bool)
            for i, start in places:
                wanted[start : start + len(sentences[i].tokens)] = True
            found.append(_Note(tokens, [w for w in self.windows(tokens) if wanted[slice(*w.words)].any()], places))
        return found

    def windows(self, tokens: Sequence[Token]) -> list[Window]:
        """The windows of a note, in text order; every word is in one of them.

        Of a word of very many pieces the first ones are read, as many as leave room for words around it.
        """
        most = max(1, min(self.window // 4, self.window - self.overlap))
        spaced = [before.end < token.start for before, token in pairwise(tokens)]
        words = [
            self.pieces(token.text, spaced=space)[:most] for token, space in zip(tokens, [False, *spaced], strict=True)
        ]
        found = []
        for start, stop in cut([len(pieces) for pieces in words], self.window, self.overlap):
            ids = [self.pieces.begin, *(piece for word in words[start:stop] for piece in word), self.pieces.end]
            lengths = [len(word) for word in words[start : stop - 1]]
            found.append(Window((start, stop), np.array(ids, np.int32), 1 + np.cumsum([0, *lengths])))
        return found

    def hashed(self, key: bytes) -> tuple[SubwordCodec, dict[str, np.ndarray]]:
        """The codec as it is: its pieces were public before, and there are no others."""
        return self, {}

    def describe(self) -> dict[str, Any]:
        """The tags and the encoder's sizes, as JSON data, for `read`."""
        return {"tags": list(self.tags[PHI]), "encoder": self.encoder.describe()}

    def arrays(self) -> dict[str, np.ndarray]:
        """The tokenizer, as bytes of UTF-8."""
        return {_JSON: np.frombuffer(self.pieces.json.encode("utf-8"), np.uint8)}

    @classmethod
    def read(
        cls, described: Mapping[str, Any], arrays: Mapping[str, np.ndarray], *, window: int, overlap: int
    ) -> SubwordCodec:
        """What `describe` and `arrays` gave.

        Args:
            described: JSON data of a saved model.
            arrays: its arrays.
            window: as of the class.
            overlap: as of the class.

        Raises:
            KeyError: something is not there.
            TypeError: something is there that should not be.
            ValueError: something is no list of different names, no tokenizer, or sizes that cannot work.
        """
        tags = different_names(described["tags"])
        if not tags:
            raise ValueError("no tags")
        text = arrays[_JSON]
        if text.dtype != np.uint8:
            raise ValueError("no tokenizer")
        encoder = EncoderConfig(**described["encoder"])
        return cls(encoder, Pieces(text.tobytes().decode("utf-8"), encoder.family), {PHI: tags}, window, overlap)


def cut(lengths: Sequence[int], most: int, overlap: int) -> list[tuple[int, int]]:
    """Windows over words: the number of the first word of each, and of the word after its last.

    Each takes as many words as fit; the next one begins at the first word from which on the pieces of this one are
    no more than the overlap. Windows go on to the end: none is cut short, and none is left out.

    Args:
        lengths: the pieces of each word, each from 1 to ``most - overlap``.
        most: pieces of a window.
        overlap: the most pieces that two neighbours share.

    Example:
        >>> cut([2, 1, 2, 1, 2], most=4, overlap=2)
        [(0, 2), (1, 4), (3, 5)]
    """
    ends = np.concatenate([[0], np.cumsum(np.asarray(lengths, int))])
    found, start, stop = [], 0, 0
    while stop < len(lengths):
        if stop:
            start = int(np.searchsorted(ends, ends[stop] - overlap))
        stop = int(np.searchsorted(ends, ends[start] + most, side="right")) - 1
        found.append((start, stop))
    return found

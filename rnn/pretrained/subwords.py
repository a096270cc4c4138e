"""Sentences to rows of word pieces in overlapping windows over whole notes, and results of windows back to tokens.

A window holds whole words and crosses the ends of sentences, up to the network's maximum length; the next one begins
some pieces before it ends (johnson2020, section 3.3). The windows of a note depend on the note alone, so it makes no
difference which of its sentences are tagged together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from crfdeid.bio import OUTSIDE
from crfdeid.documents import PHI, LabelledSentence
from crfdeid.serialization import distinct_tags
from features.sentences import NoteTokens
from features.tokenizer import Token
from features.tokens import Sentence
from rnn.batching import Row
from rnn.pretrained.config import EncoderConfig
from rnn.pretrained.hub import WordpieceTokenizer
from rnn.saving import PublicWords

PIECES = "pieces"
"""Name of the input with the ids of a window's pieces, special ones at both ends included, [L]."""

NOT_COUNTED = -1
"""Target of a piece that is not the first of a word, or of a word without annotation."""

_JSON = "tokenizer"  # name of the tokenizer's array


class Note(NamedTuple):
    """A note with the sentences of one call.

    Attributes:
        tokens: all of its words.
        sentences: index of each sentence in the call, index of its first word in the note, and of the one after its
            last.
        first: index of the first word of these sentences.
        stop: index of the word after their last. Memory depends on this range, not on the length of the note.
    """

    tokens: Sequence[Token]
    sentences: list[tuple[int, int, int]]
    first: int
    stop: int


@dataclass(frozen=True)
class SubwordProcessor(PublicWords):
    """Converts sentences to rows of word pieces, one row a window of their notes.

    Args:
        encoder: sizes of the encoder that reads the pieces.
        pieces: the tokenizer.
        tags: tags of each annotation layer.
        window: pieces of a window, without the special ones at both ends.
        overlap: largest number of pieces that two neighbouring windows share, less than ``window``.
    """

    encoder: EncoderConfig
    pieces: WordpieceTokenizer
    tags: Mapping[str, tuple[str, ...]]
    window: int = 100
    overlap: int = 40
    # Bounds of a note's windows, cached as long as the note exists: the sentences of a long one come in several calls.
    _windows: WeakKeyDictionary[NoteTokens, np.ndarray] = field(
        default_factory=WeakKeyDictionary, init=False, compare=False, repr=False
    )

    def rows(self, sentences: Sequence[Sentence], targets: Sequence[LabelledSentence] | None = None) -> list[Row]:
        """Make one row for each window with a token of the sentences.

        Args:
            sentences: the sentences.
            targets: in training, the same sentences with tags; None for rows without targets. The target of a word
                belongs to its first piece (johnson2020, section 3.4).
        """
        rows = []
        for number, note in enumerate(self._notes(sentences)):
            known = None if targets is None else self._known(note, targets)
            asked = np.zeros(note.stop - note.first, bool)
            for _, start, stop in note.sentences:
                asked[start - note.first : stop - note.first] = True
            for row in self.windows(note.tokens, note.first, note.stop):
                inside = (row.words >= note.first) & (row.words < note.stop)
                words = row.words[inside] - note.first
                if asked[words].any():
                    wanted = {}
                    if known is not None:
                        wanted = {PHI: np.full(row.length, NOT_COUNTED, np.int32)}
                        wanted[PHI][inside] = known[words]
                    rows.append(row._replace(targets=wanted, note=number))
        return rows

    def _notes(self, sentences: Sequence[Sentence]) -> list[Note]:
        """Notes of the sentences with tokens; a subclass may count other words than tokens."""
        return notes_of(sentences)

    def _known(self, note: Note, targets: Sequence[LabelledSentence]) -> np.ndarray:
        """Id of each word's tag, from the note's first word to read to its last; `NOT_COUNTED` without annotation."""
        number = {tag: k for k, tag in enumerate(self.tags[PHI])}
        known = np.full(note.stop - note.first, NOT_COUNTED, np.int32)
        for i, start, stop in note.sentences:
            if PHI in targets[i].annotated:
                known[start - note.first : stop - note.first] = [number[tag] for tag in targets[i].tags]
        return known

    def scatter_to_tokens(
        self, rows: Sequence[Row], values: Iterable[np.ndarray], sentences: Sequence[Sentence]
    ) -> list[np.ndarray]:
        """Merge the probabilities of windows into those of each sentence's tokens, [T, K].

        A word in several windows has the probabilities of the most confident window that finds an entity in it
        (johnson2020, section 3.3), else of the window in which it is most central.

        Args:
            rows: the rows of the sentences from `rows`.
            values: for each row, the probabilities at its pieces, [L, K].
            sentences: the sentences.
        """
        notes, tags = self._notes(sentences), self.tags[PHI]
        outside = tags.index(OUTSIDE) if OUTSIDE in tags else -1
        merged = [np.zeros((note.stop - note.first, len(tags)), np.float32) for note in notes]
        best = [np.full(len(table), -1.0) for table in merged]  # worth of the best window so far
        for row, probabilities in zip(rows, values, strict=True):
            _merge(row, probabilities, notes[row.note].first, merged[row.note], best[row.note], outside)
        found = [np.empty((0, len(tags)), np.float32)] * len(sentences)
        for note, table in zip(notes, merged, strict=True):
            for i, start, stop in note.sentences:
                found[i] = table[start - note.first : stop - note.first]
        return found

    def windows(self, tokens: Sequence[Token], first: int = 0, stop: int | None = None) -> Iterator[Row]:
        """Yield the windows of a note as rows without targets, in text order; every word is in one of them.

        Args:
            tokens: the words of the note.
            first: only windows that hold words from the one of this number on.
            stop: only windows that hold words before that of this number; None for no such bound.
        """
        cuts = self._cuts(tokens)
        chosen = cuts[(cuts[:, 1] > first) & (cuts[:, 0] < (np.inf if stop is None else stop))]
        if not len(chosen):
            return
        begin, end = int(chosen[0, 0]), int(chosen[-1, 1])
        words = self._words_between(tokens, begin, end)
        opening, closing, _ = self.pieces.special
        for start, last in (chosen - begin).tolist():
            ids = [opening, *chain.from_iterable(words[start:last]), closing]
            lengths = [len(word) for word in words[start : last - 1]]
            places = np.full(len(ids), -1, np.int32)
            places[1 + np.cumsum([0, *lengths])] = np.arange(begin + start, begin + last)  # of each word's first piece
            yield Row({PIECES: np.array(ids, np.int32)}, {}, len(ids), places)

    @property
    def _most(self) -> int:
        """Largest number of pieces of a word, a quarter of a window."""
        return max(1, min(self.window // 4, self.window - self.overlap))

    def _words_between(self, tokens: Sequence[Token], begin: int, end: int) -> Sequence[Sequence[int]]:
        """Pieces of the words of these numbers."""
        before = max(begin - 1, 0)  # decides whether the first word follows a space
        return [*self._words(tokens[before:end])][begin - before :]

    def _lengths(self, tokens: Sequence[Token]) -> np.ndarray:
        """Number of pieces of each word of a note."""
        return np.fromiter((len(pieces) for pieces in self._words(tokens)), np.int32)

    def _words(self, tokens: Iterable[Token]) -> Iterator[tuple[int, ...]]:
        """Pieces of each word; a very long word keeps its first ones."""
        end = None
        for token in tokens:
            yield self.pieces(token.text, spaced=end is not None and end < token.start)[: self._most]
            end = token.end

    def _cuts(self, tokens: Sequence[Token]) -> np.ndarray:
        """First word of each window of a note, and the word after its last: [windows, 2]."""
        found = self._windows.get(tokens) if isinstance(tokens, NoteTokens) else None
        if found is None:
            cuts = overlapping_windows(self._lengths(tokens), self.window, self.overlap)
            found = np.array(cuts, np.int32).reshape(-1, 2)
            if isinstance(tokens, NoteTokens):
                self._windows[tokens] = found
        return found

    def describe(self) -> dict[str, Any]:
        """Return the tags and the encoder's sizes as JSON data, for `read`."""
        return {"tags": list(self.tags[PHI]), "encoder": self.encoder.describe()}

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the tokenizer as bytes of UTF-8."""
        return {_JSON: np.frombuffer(self.pieces.json.encode("utf-8"), np.uint8)}

    @classmethod
    def read(
        cls, described: Mapping[str, Any], arrays: Mapping[str, np.ndarray], *, window: int, overlap: int
    ) -> SubwordProcessor:
        """Restore a processor from `describe` and `arrays`.

        Args:
            described: JSON data of a saved model.
            arrays: its arrays.
            window: see the class.
            overlap: see the class.

        Raises:
            KeyError: a field is missing.
            TypeError: a field has another type, or is unknown.
            ValueError: invalid tags, tokenizer or sizes.
        """
        tags = distinct_tags(described["tags"])
        if not tags:
            raise ValueError("no tags")
        text = arrays[_JSON]
        if text.dtype != np.uint8:
            raise ValueError("no tokenizer")
        encoder = EncoderConfig(**described["encoder"])
        pieces = WordpieceTokenizer(text.tobytes().decode("utf-8"), encoder.family)
        if pieces.count > encoder.pieces:
            raise ValueError("a tokenizer with more pieces than vectors")
        return cls(encoder, pieces, {PHI: tags}, window, overlap)


def notes_of(sentences: Sequence[Sentence]) -> list[Note]:
    """Notes of the sentences with tokens."""
    members: dict[int, list[int]] = {}
    for i, sentence in enumerate(sentences):
        if sentence.tokens:
            members.setdefault(id(sentence.note) if sentence.note else ~i, []).append(i)
    found = []
    for numbers in members.values():
        first = sentences[numbers[0]]
        starts = [sentences[i].note_start if first.note else 0 for i in numbers]
        places = [(i, start, start + len(sentences[i].tokens)) for i, start in zip(numbers, starts, strict=True)]
        found.append(Note(first.note or first.tokens, places, min(starts), max(stop for _, _, stop in places)))
    return found


def _merge(row: Row, probabilities: np.ndarray, first: int, merged: np.ndarray, best: np.ndarray, outside: int) -> None:
    """Merge a window's probabilities, [L, K], into the table of its note's words from ``first`` on, [words, K].

    ``best`` is the worth of each row of the table, [words]; both change in place.
    """
    firsts = np.flatnonzero((row.words >= first) & (row.words < first + len(best)))
    own, words = probabilities[firsts], slice(row.words[firsts[0]] - first, row.words[firsts[-1]] + 1 - first)
    central = np.minimum(firsts, row.length - 1 - firsts) / row.length  # below 1
    worth = np.where(own.argmax(axis=1) == outside, central, 1.0 + own.max(axis=1))
    better = worth > best[words]
    merged[words][better], best[words][better] = own[better], worth[better]


def overlapping_windows(lengths: Sequence[int] | np.ndarray, most: int, overlap: int) -> list[tuple[int, int]]:
    """Divide words into overlapping windows: the first word of each, and the word after its last.

    Each window takes as many words as fit; the next one begins at the first word whose remaining pieces in this window
    are no more than the overlap. The windows cover all words.

    Args:
        lengths: pieces of each word, each from 1 to ``most - overlap``.
        most: pieces of a window.
        overlap: largest number of pieces that two neighbours share.

    Example:
        >>> overlapping_windows([2, 1, 2, 1, 2], most=4, overlap=2)
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

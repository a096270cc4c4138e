"""Notes as a finished token classifier reads them: by its own tokenizer, and its labels as IOB2 tags of our tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from crfdeid.bio import OUTSIDE
from crfdeid.documents import PHI, LabelledSentence
from features.sentences import NoteTokens
from features.tokenizer import Token
from features.tokens import Sentence
from rnn.batching import Row
from rnn.pretrained.config import Labels, iob2_tags
from rnn.pretrained.subwords import NOT_COUNTED, Note, SubwordProcessor

_NO_LABELS = Labels((), ())
_Values = Iterable[np.ndarray]


class Words(NamedTuple):
    """The words that a tokenizer finds in a note.

    Attributes:
        ids: ids of all pieces, [P].
        begins: number of the first piece of each word, and then P, [W + 1].
        of_tokens: number of the first word that shares a character with each token of ours, and of the word after the
            last one, [N, 2]; equal where the tokenizer drops the token.
    """

    ids: np.ndarray
    begins: np.ndarray
    of_tokens: np.ndarray


@dataclass(frozen=True)
class TextProcessor(SubwordProcessor):
    """Converts notes to windows of the words that the tokenizer finds in the text.

    A token has the probabilities of its word's first piece; of several words, those of the word that is most surely an
    entity, else of the first. A token that the tokenizer drops is O.

    Args:
        labels: tag of each output of the network, and the types of IOB1 labels.
    """

    labels: Labels = _NO_LABELS
    _words_of: WeakKeyDictionary[NoteTokens, Words] = field(
        default_factory=WeakKeyDictionary, init=False, compare=False, repr=False
    )

    def read_words(self, tokens: Sequence[Token]) -> Words:
        """Divide a note into words; cached as long as the note exists.

        A word of very many pieces becomes several words.
        """
        found = self._words_of.get(tokens) if isinstance(tokens, NoteTokens) else None
        if found is None:
            text, spans = _text_of(tokens)
            ids, places = self.pieces.read(text)
            first = np.diff(places[:, 2], prepend=-1) != 0
            piece = np.arange(len(ids))
            first |= (piece - np.maximum.accumulate(np.where(first, piece, 0))) % self._most == 0
            begins = np.append(np.flatnonzero(first), len(ids))
            start = np.searchsorted(places[begins[1:] - 1, 1], spans[:, 0], side="right")
            stop = np.searchsorted(places[begins[:-1], 0], spans[:, 1])
            found = Words(ids, begins, np.stack([start, np.maximum(start, stop)], axis=1))
            if isinstance(tokens, NoteTokens):
                self._words_of[tokens] = found
        return found

    def scatter_to_tokens(
        self, rows: Sequence[Row], values: _Values, sentences: Sequence[Sentence]
    ) -> list[np.ndarray]:
        """Merge the probabilities of windows into those of each sentence's tokens, [T, K]; see `begin_entities`."""
        tables = self._tables_of_tokens(rows, values, sentences)
        return [begin_entities(table, self.tags[PHI], self.labels.iob1, inside) for table, inside in tables]

    def most_probable_labels(
        self, rows: Sequence[Row], values: _Values, sentences: Sequence[Sentence]
    ) -> list[list[str]]:
        """Merge windows likewise, and choose each token's label as pipelines do; see `tags_of_labels`.

        Args:
            rows: the rows of the sentences.
            values: for each row, the probability of the most probable label of each tag, [L, K].
            sentences: the sentences.
        """
        tables = self._tables_of_tokens(rows, values, sentences)
        return [tags_of_labels(table, self.tags[PHI], self.labels.copied, inside) for table, inside in tables]

    def _tables_of_tokens(
        self, rows: Sequence[Row], values: _Values, sentences: Sequence[Sentence]
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Values of tokens' words, [T, K], and True for a token in the word of the one before, by sentence."""
        tables, tags = super().scatter_to_tokens(rows, values, sentences), self.tags[PHI]
        read: dict[int, Words] = {}  # also of notes that are not cached
        for sentence, table in zip(sentences, tables, strict=True):
            note = sentence.note or sentence.tokens
            if id(note) not in read:
                read[id(note)] = self.read_words(note)
            words = _of_sentence(sentence, read[id(note)])
            wide = np.vstack([table, np.eye(len(tags), dtype=table.dtype)[-1:]])  # last: of a token that is dropped
            words = words - words[:1, :1]
            chosen = np.where(words[:, 0] < words[:, 1], words[:, 0], len(table))
            for i in np.flatnonzero(words[:, 1] - words[:, 0] > 1):
                own = table[slice(*words[i])]
                chosen[i] += np.where(own.argmax(axis=1) == len(tags) - 1, 0.0, 1 + own.max(axis=1)).argmax()
            inside = np.diff(chosen, prepend=-1) == 0
            inside &= chosen < len(table)
            yield wide[chosen], inside

    def describe(self) -> dict[str, Any]:
        """Return tags, sizes and labels as JSON data, for `read`."""
        return {**super().describe(), **{name: list(value) for name, value in self.labels._asdict().items()}}

    @classmethod
    def read(
        cls, described: Mapping[str, Any], arrays: Mapping[str, np.ndarray], *, window: int, overlap: int
    ) -> TextProcessor:
        """Restore a processor; see `SubwordProcessor.read`."""
        base = SubwordProcessor.read(described, arrays, window=window, overlap=overlap)
        tags = base.tags[PHI]
        # A model saved by an earlier version does not say which types are copied.
        names = described["iob1"], described.get("copied", described["iob1"])
        labels = Labels(tuple(described["outputs"]), *map(tuple, names))
        types = {tag[2:] for tag in tags if tag != OUTSIDE}
        known = types.issuperset((*labels.iob1, *labels.copied))
        if tags != iob2_tags(types) or not known or set(labels.outputs) != {*range(len(tags))}:
            raise ValueError("labels that are not those of the tags")
        return cls(base.encoder, base.pieces, base.tags, window, overlap, labels)

    def trained(self) -> TextProcessor:
        """Return the processor for training, which learns the beginnings of IOB1's entities as those of IOB2."""
        return replace(self, labels=self.labels._replace(iob1=(), copied=()))

    def _notes(self, sentences: Sequence[Sentence]) -> list[Note]:
        """Notes whose sentences are counted in the tokenizer's words."""
        found = []
        for note in super()._notes(sentences):
            words = self.read_words(note.tokens).of_tokens
            places = [(i, int(words[a, 0]), int(words[a:b].max())) for i, a, b in note.sentences]
            first, stop = min(a for _, a, _ in places), max(b for _, _, b in places)
            found.append(Note(note.tokens, places, first, stop))
        return found

    def _known(self, note: Note, targets: Sequence[LabelledSentence]) -> np.ndarray:
        """Id of each word's tag, that of its first token with an entity; `NOT_COUNTED` without a token."""
        number = {tag: k for k, tag in enumerate(self.tags[PHI])}
        known = np.full(note.stop - note.first, NOT_COUNTED, np.int32)
        read = self.read_words(note.tokens)
        for i, _, _ in note.sentences:
            if PHI not in targets[i].annotated:
                continue
            words = _of_sentence(targets[i].sentence, read) - note.first
            for (start, stop), tag in zip(words.tolist(), targets[i].tags, strict=True):
                own = tag
                for word in range(start, stop):
                    if known[word] in (NOT_COUNTED, number[OUTSIDE]):
                        known[word] = number[own]
                    own = tag if tag == OUTSIDE else f"I-{tag[2:]}"
        return known

    def _words_between(self, tokens: Sequence[Token], begin: int, end: int) -> Sequence[Sequence[int]]:
        ids, begins, _ = self.read_words(tokens)
        return [ids[begins[word] : begins[word + 1]].tolist() for word in range(begin, end)]

    def _lengths(self, tokens: Sequence[Token]) -> np.ndarray:
        return np.diff(self.read_words(tokens).begins)


def _of_sentence(sentence: Sentence, words: Words) -> np.ndarray:
    """Words of each token, [T, 2]; see `Words`."""
    start = sentence.note_start if sentence.note else 0
    return words.of_tokens[start : start + len(sentence.tokens)]


def begin_entities(table: np.ndarray, tags: Sequence[str], iob1: Sequence[str], inside: np.ndarray) -> np.ndarray:
    """Give the probability of the labels I-X to B-X where they begin an entity.

    In IOB2 that is after a token that is most probably O; the decoding chooses among valid tags elsewhere. In IOB1, it
    is after a token that is most probably not of the type X.

    Args:
        table: probability of each tag at each token of a sentence, [T, K].
        tags: from `iob2_tags`.
        iob1: the types with labels of IOB1, or without prefix.
        inside: True for a token of the same word as the one before it, which continues its entity, [T] bool.

    Example:
        >>> table = np.array([[0.1, 0.8, 0.1], [0.1, 0.8, 0.1]])
        >>> begin_entities(table, ["B-ID", "I-ID", "O"], ["ID"], np.zeros(2, bool)).round(1).tolist()
        [[0.9, 0.0, 0.1], [0.0, 0.9, 0.1]]
    """
    count = len(tags) // 2
    begin, within, outside = table[:, :count], table[:, count:-1], table[:, -1:]
    whole = begin + within  # [T, types]
    before = np.append(count, np.hstack([whole, outside]).argmax(axis=1)[:-1])[: len(table), None]
    is_iob1 = np.isin([tag[2:] for tag in tags[:count]], iob1)
    begins = np.where(is_iob1, (before != np.arange(count)) | (begin > within), before == count)
    kept = np.where(is_iob1, 0, begin)
    begin = np.where(inside[:, None], 0, np.where(begins, whole, kept))
    return np.hstack([begin, whole - begin, outside])


def tags_of_labels(table: np.ndarray, tags: Sequence[str], copied: Sequence[str], inside: np.ndarray) -> list[str]:
    """Tags of tokens by the most probable label of each, as the pipeline of transformers chooses and joins them.

    A label with B begins an entity; one with I or without prefix continues an entity of its type, or begins one.

    Args:
        table: probability of the most probable label of each tag, at each token of a sentence, [T, K].
        tags: from `iob2_tags`.
        copied: see `Labels`.
        inside: see `begin_entities`.

    Example:
        >>> table = np.array([[0.3, 0.3, 0.4], [0.1, 0.8, 0.1]])
        >>> tags_of_labels(table, ["B-ID", "I-ID", "O"], [], np.zeros(2, bool))
        ['O', 'B-ID']
    """
    count = len(tags) // 2
    begin, within, outside = table[:, :count], table[:, count:-1], table[:, -1:]
    is_copied = np.isin([tag[2:] for tag in tags[:count]], copied)
    types = np.hstack([np.where(is_copied, begin + within, np.maximum(begin, within)), outside]).argmax(axis=1)  # [T]
    own = np.minimum(types, count - 1)[:, None]
    is_begin = np.take_along_axis(begin > within, own, axis=1)[:, 0]
    begins = ~inside & (is_begin | (types != np.append(count, types[:-1])[: len(types)]))
    return [tags[-1] if k == count else tags[k if first else k + count] for k, first in zip(types, begins, strict=True)]


def _text_of(tokens: Sequence[Token]) -> tuple[str, np.ndarray]:
    """The text of a note in normal form, and the start and end of each token in it, [N, 2].

    Of a note whose text is not at hand, gaps are single spaces.
    """
    if isinstance(tokens, NoteTokens):
        offsets = (tokens.in_text(offset) for token in tokens for offset in token[1:])
        return tokens.text, np.fromiter(offsets, int).reshape(-1, 2)
    parts: list[str] = []
    length, end = 0, None
    spans = []
    for token in tokens:
        part = token.text if end in (None, token.start) else f" {token.text}"
        length, end = length + len(part), token.end
        spans.append((length - len(token.text), length))
        parts.append(part)
    return "".join(parts), np.array(spans, int).reshape(-1, 2)

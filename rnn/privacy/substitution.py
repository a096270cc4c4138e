"""Pseudonyms: every word of PHI is replaced by a random neighbour in the space of word vectors.

Reference:
    M. Friedrich, A. Köhn, G. Wiedemann, C. Biemann (2019). Adversarial learning of privacy-preserving text
    representations for de-identification of medical records. ACL, section 4.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np

from crfdeid.bio import OUTSIDE, Encoded, continues, decode
from crfdeid.corpora.splits import Split
from crfdeid.documents import PHI, Document, LabelledSentence
from features.sentences import split_sentences
from features.tokenizer import Token, tokenize
from features.tokens import Sentence
from rnn.embeddings import WordVectors
from rnn.privacy.neighbours import Neighbours
from rnn.privacy.system_random import generator


def replace_and_shuffle(
    train: Sequence[LabelledSentence], neighbours: Neighbours, random: np.random.Generator
) -> list[LabelledSentence]:
    """Make training data with pseudonyms: `replaced`, then `shuffled`.

    With one neighbour a word, the word itself, only the order changes.

    Args:
        train: sentences of any number of documents.
        neighbours: neighbours of every word of PHI (`phi_words`).
        random: draws the order and the neighbours.

    Raises:
        KeyError: a word of PHI has no neighbours.
    """
    return shuffled(replaced(train, neighbours, random), random)


def phi_words(sentences: Iterable[LabelledSentence]) -> set[str]:
    """Collect the words that are tagged as PHI.

    Example:
        >>> phi_words([LabelledSentence(Sentence.from_words(["Seen", "by", "Doe"]), ("O", "O", "B-DOCTOR"))])
        {'Doe'}
    """
    return {
        word
        for labelled in sentences
        for word, tag in zip(labelled.sentence.words, labelled.tags, strict=True)
        if tag != OUTSIDE
    }


def replaced(
    sentences: Sequence[LabelledSentence], neighbours: Neighbours, random: np.random.Generator
) -> list[LabelledSentence]:
    """Replace every word of PHI by one of its neighbours, drawn uniformly.

    Each sentence becomes a separate document, whose id is its number from 1, with a new text of one line: its words,
    with a space for white space between them. Its context (the heading above, the words around it, its line) is that of
    the new text. The tags of all annotation layers are unchanged.

    Raises:
        KeyError: a word of PHI has no neighbours.
    """
    found = []
    for number, labelled in enumerate(sentences, start=1):
        words = [
            word if tag == OUTSIDE else neighbours.draw(word, random)
            for word, tag in zip(labelled.sentence.words, labelled.tags, strict=True)
        ]
        sentence = _sentence(_tokens(words, labelled))
        found.append(LabelledSentence(sentence, labelled.tags, str(number), labelled.layers))
    return found


def shuffled(sentences: Sequence[LabelledSentence], random: np.random.Generator) -> list[LabelledSentence]:
    """Shuffle sentences, each in a document whose id is its new number, from 1."""
    order = random.permutation(len(sentences))
    return [replace(sentences[place], document=str(number)) for number, place in enumerate(order, start=1)]


def shareable(encoded: Iterable[Encoded]) -> list[LabelledSentence]:
    """Select the sentences whose annotation of PHI does not contradict itself (`crfdeid.bio.encode`).

    Every token of annotated PHI is tagged in them, and is therefore replaced.
    """
    return [item for document in encoded for item in document.sentences if PHI not in item.contradictory]


def as_document(labelled: LabelledSentence) -> Document:
    """Convert a sentence of `replaced` to a document with its PHI spans; other layers are dropped."""
    sentence = labelled.sentence
    return Document(labelled.document, _text(sentence.tokens), tuple(decode(sentence, labelled.tags)))


class ResidualPHI(NamedTuple):
    """PHI that remains after replacement.

    Attributes:
        tokens: number of tokens of PHI.
        unchanged: number of unchanged tokens.
        containing: number of tokens whose pseudonym contains the old word, in any case.
    """

    tokens: int
    unchanged: int
    containing: int

    @classmethod
    def of(cls, before: Sequence[LabelledSentence], after: Sequence[LabelledSentence]) -> Self:
        """Compare sentences with those of `replaced`."""
        pairs = [
            (old, new)
            for one, other in zip(before, after, strict=True)
            for old, new, tag in zip(one.sentence.words, other.sentence.words, one.tags, strict=True)
            if tag != OUTSIDE
        ]
        return cls(len(pairs), sum(old == new for old, new in pairs), sum(_holds(new, old) for old, new in pairs))


def neighbours_that_contain(words: Iterable[str], neighbours: Neighbours) -> float:
    """Mean number of a word's neighbours other than itself that contain it, in any case; 0 without words.

    Section 9 of the paper: of 100 neighbours of the words of PHI in i2b2 2014, 7.37 by fastText, 0.44 by GloVe.
    """
    counts = [sum(_holds(other, word) for other in neighbours[word][1:]) for word in words]
    return float(np.mean(counts)) if counts else 0.0


def _holds(word: str, part: str) -> bool:
    return part.casefold() in word.casefold()


def _tokens(words: Sequence[str], labelled: LabelledSentence) -> tuple[Token, ...]:
    """Make the words the tokens of a text of one line."""
    old = labelled.sentence.tokens
    gaps = ["", *(" " if after.start > before.end else "" for before, after in pairwise(old))]
    for i, (before, word) in enumerate(pairwise(words), start=1):
        changed = (before, word) != (old[i - 1].text, old[i].text)
        if changed and not gaps[i] and _run_together(before, word):
            gaps[i] = " "
    tokens = _placed(words, gaps)
    ends = {sentence.tokens[0].start for sentence in split_sentences(_text(tokens))[1:]}
    for i, (before, tag) in enumerate(pairwise(labelled.tags), start=1):
        # "St. Thomas" is one sentence, but "Croix. Scott" would be two, and no tags express PHI that is in two.
        if tokens[i].start in ends and continues(tag, before):
            gaps[i] = ""
    return _placed(words, gaps) if ends else tokens


def _run_together(before: str, after: str) -> bool:
    """Report whether the tokens of two words change if they are joined without a space."""
    apart = [token.text for word in (before, after) for token in tokenize(word)]
    return [token.text for token in tokenize(before + after)] != apart


def _placed(words: Sequence[str], gaps: Sequence[str]) -> tuple[Token, ...]:
    tokens, end = [], 0
    for word, gap in zip(words, gaps, strict=True):
        start = end + len(gap)
        end = start + len(word)
        tokens.append(Token(word, start, end))
    return tuple(tokens)


def _text(tokens: Sequence[Token]) -> str:
    """Text of the tokens of `_placed`."""
    ends = [0, *(token.end for token in tokens)]
    return "".join(" " * (token.start - end) + token.text for token, end in zip(tokens, ends, strict=False))


def _sentence(tokens: tuple[Token, ...]) -> Sentence:
    """Make a sentence that is a whole note, with a heading and field of its text."""
    found = split_sentences(_text(tokens))
    if not found:  # of words without a visible character
        return Sentence(tokens, note=tokens)
    return Sentence(tokens, found[0].heading, found[0].line_prefix, note=tokens)


class Pseudonymised(NamedTuple):
    """Sentences with pseudonyms, and the PHI that remains.

    Attributes:
        sentences: the sentences in random order, each in a separate document with a new id.
        left_out: number of sentences left out, because spans of PHI cross in them.
        remains: PHI that remains after replacement.
        containing: mean number of a word's neighbours that contain it (`neighbours_that_contain`).
        words: number of distinct words of PHI.
        unknown: number of these words without a vector.
    """

    sentences: list[LabelledSentence]
    left_out: int
    remains: ResidualPHI
    containing: float
    words: int
    unknown: int


def pseudonymise(notes: Split, vectors: WordVectors, *, count: int, seed: int | None = None) -> Pseudonymised:
    """Convert each sentence of notes to a separate document with PHI replaced by neighbours.

    Args:
        notes: the notes, with all of their PHI annotated.
        vectors: public word vectors, trained on other text than the notes.
        count: neighbours of a word, itself included, of which one is drawn.
        seed: seed of order and choice, for experiments alone, since the replacement can be undone with it. None for
            random numbers of the operating system.

    Raises:
        SettingError: ``count`` is less than 1.
    """
    random = generator(seed)
    before = shareable(notes.encoded)
    words = phi_words(before)
    neighbours = Neighbours.of(words, vectors, count)
    after = replaced(before, neighbours, random)
    return Pseudonymised(
        shuffled(after, random),
        len(notes.sentences) - len(before),
        ResidualPHI.of(before, after),
        neighbours_that_contain(words, neighbours),
        len(words),
        len(neighbours.unknown),
    )

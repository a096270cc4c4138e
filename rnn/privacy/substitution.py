"""Pseudonyms by neighbours: sentences in which every word of PHI is replaced by a random one that is near to it.

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
from crfdeid.documents import Document, LabelledSentence
from features.tokenizer import Token, tokenize
from features.tokens import Sentence, split_sentences
from rnn.embeddings import WordVectors
from rnn.privacy.neighbours import Neighbours
from rnn.privacy.system_random import generator


def replace_and_shuffle(
    train: Sequence[LabelledSentence], neighbours: Neighbours, random: np.random.Generator
) -> list[LabelledSentence]:
    """Tagged sentences with pseudonyms, shuffled: what a model can be trained on in the place of the sentences.

    `replaced` and then `shuffled`. With one neighbour a word, which is the word itself, the order alone changes.

    Args:
        train: the sentences of any number of documents.
        neighbours: those of every word of PHI in them (`phi_words`).
        random: draws the order and the neighbours.

    Raises:
        KeyError: a word of PHI has no neighbours.
    """
    return shuffled(replaced(train, neighbours, random), random)


def phi_words(sentences: Iterable[LabelledSentence]) -> set[str]:
    """Every word that is tagged as PHI, or as a part of it.

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
    """The sentences in their order, every word of PHI replaced by one of its neighbours, each as likely.

    Each becomes a document of its own, whose id is its number from 1, and is a new text on one line: its words, with a
    space where there was white space between them. What a sentence knows of its note beside its words (the heading
    above, the words before and after, its line) is that of the new text. The tags are the old ones, those of further
    annotation layers too: of these layers no word is replaced that is not PHI.

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
    """The sentences in random order, each in a document whose id is its new number, from 1."""
    order = random.permutation(len(sentences))
    return [replace(sentences[place], document=str(number)) for number, place in enumerate(order, start=1)]


def shareable(encoded: Iterable[Encoded]) -> list[LabelledSentence]:
    """The sentences of documents in which every token of annotated PHI is tagged.

    A span that no tags can express (`crfdeid.bio.encode`), since it begins within a token or crosses the end of a
    sentence, leaves PHI without a tag, which nothing would replace: sentences with such tokens are left out.
    """
    found = []
    for document in encoded:
        for labelled in document.sentences:
            untagged = [t for t, tag in zip(labelled.sentence.tokens, labelled.tags, strict=True) if tag == OUTSIDE]
            if not any(t.start < span.end and span.start < t.end for span in document.unaligned for t in untagged):
                found.append(labelled)
    return found


def as_document(labelled: LabelledSentence) -> Document:
    """A sentence that `replaced` gave as a document, with its PHI as spans; it holds the PHI layer alone."""
    sentence = labelled.sentence
    return Document(labelled.document, _text(sentence.tokens), tuple(decode(sentence, labelled.tags)))


class ResidualPHI(NamedTuple):
    """What pseudonyms leave of the words that they replaced.

    Attributes:
        tokens: the tokens of PHI.
        unchanged: those that are what they were.
        containing: those whose pseudonym holds the old word, in whatever capitals, alone or as a part.
    """

    tokens: int
    unchanged: int
    containing: int

    @classmethod
    def of(cls, before: Sequence[LabelledSentence], after: Sequence[LabelledSentence]) -> Self:
        """What sentences that `replaced` gave have left of the old ones."""
        pairs = [
            (old, new)
            for one, other in zip(before, after, strict=True)
            for old, new, tag in zip(one.sentence.words, other.sentence.words, one.tags, strict=True)
            if tag != OUTSIDE
        ]
        return cls(len(pairs), sum(old == new for old, new in pairs), sum(_holds(new, old) for old, new in pairs))


def neighbours_that_contain(words: Iterable[str], neighbours: Neighbours) -> float:
    """How many neighbours of a word hold it, in whatever capitals, the word itself left out: the mean over words.

    Section 9 of the paper: of 100 neighbours of the words of PHI in i2b2 2014, 7.37 by fastText, 0.44 by GloVe.

    Returns:
        0 where there are no words.
    """
    counts = [sum(_holds(other, word) for other in neighbours[word][1:]) for word in words]
    return float(np.mean(counts)) if counts else 0.0


def _holds(word: str, part: str) -> bool:
    return part.casefold() in word.casefold()


def _tokens(words: Sequence[str], labelled: LabelledSentence) -> tuple[Token, ...]:
    """The words as the tokens of a text on one line."""
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
    """Whether two words without a space between them are read as other tokens than they are each by itself."""
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
    """The text whose tokens `_placed` gave."""
    ends = [0, *(token.end for token in tokens)]
    return "".join(" " * (token.start - end) + token.text for token, end in zip(tokens, ends, strict=False))


def _sentence(tokens: tuple[Token, ...]) -> Sentence:
    """A sentence that is a whole note: its heading and the field it belongs to are those within it."""
    found = split_sentences(_text(tokens))
    if not found:  # of words without a visible character
        return Sentence(tokens, note=tokens)
    return Sentence(tokens, found[0].heading, found[0].line_prefix, note=tokens)


class Pseudonymised(NamedTuple):
    """Sentences with pseudonyms, and what they leave.

    Attributes:
        sentences: in random order, each in a document of its own with a new id.
        left_out: how many sentences were left out, because no tags express all of their PHI.
        remains: what the pseudonyms leave of the words that they replaced.
        containing: how many neighbours of a word hold it, the word itself left out: the mean over the words of PHI.
        words: how many words of PHI there are, each counted once.
        unknown: how many of them have no vector.
    """

    sentences: list[LabelledSentence]
    left_out: int
    remains: ResidualPHI
    containing: float
    words: int
    unknown: int


def pseudonymise(notes: Split, vectors: WordVectors, *, count: int, seed: int | None = None) -> Pseudonymised:
    """Each sentence of notes as a document of its own, its PHI replaced by neighbours.

    Args:
        notes: the notes, with all of their PHI annotated.
        vectors: what says which words are near: public ones, learned from other text than the notes.
        count: how many neighbours a word may become, itself among them.
        seed: of order and choice, for experiments: who knows it can undo the replacement. None to let
            the operating system draw.

    Raises:
        UsageError: ``count`` is less than 1.
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

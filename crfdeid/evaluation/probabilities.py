"""Probabilities of being PHI, 1 - P(O), of the tokens of documents, by which thresholds are chosen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crfdeid.bio import phi_probabilities
from crfdeid.documents import Document, Span, positions_in, tokens_of
from crfdeid.tagger import Tagger
from features.tokenizer import Token
from features.tokens import Sentence


class TokenProbabilities(NamedTuple):
    """The tokens of one document, by place.

    Attributes:
        probabilities: of being PHI, [N].
        is_phi: true for tokens of gold PHI, [N] bool.
    """

    probabilities: np.ndarray
    is_phi: np.ndarray


def phi_by_sentence(
    tagger: Tagger, documents: Sequence[Document]
) -> Iterator[list[tuple[Sentence, NDArray[np.float64]]]]:
    """For each document its sentences, each with the probability of being PHI of its tokens, [T]."""
    groups = [document.sentences() for document in documents]
    tables = iter(tagger.marginals([sentence for group in groups for sentence in group]))
    return ([(sentence, phi_probabilities(next(tables), tagger.tags)) for sentence in group] for group in groups)


def document_probabilities(tagger: Tagger, documents: Sequence[Document]) -> list[TokenProbabilities]:
    """The probability of being PHI, and whether it is, for each token of each annotated document.

    A token is PHI where it shares a character with a gold span, also with one that no tags can express.
    """
    pairs = zip(documents, phi_by_sentence(tagger, documents), strict=True)
    return [TokenProbabilities(_by_token(sentences), phi_tokens(document)) for document, sentences in pairs]


def token_probabilities(tagger: Tagger, documents: Sequence[Document]) -> tuple[np.ndarray, np.ndarray]:
    """`document_probabilities` of all documents together.

    Returns:
        Probabilities, [N], and gold, [N] bool, over all tokens of all documents.
    """
    return concatenate_notes(document_probabilities(tagger, documents))


def concatenate_notes(notes: Sequence[TokenProbabilities]) -> tuple[np.ndarray, np.ndarray]:
    """The tokens of several documents together: probabilities, [N], and gold, [N] bool."""
    probabilities = np.concatenate([np.empty(0), *(note.probabilities for note in notes)])
    return probabilities, np.concatenate([np.empty(0, bool), *(note.is_phi for note in notes)])


def _by_token(values: Sequence[tuple[Sentence, np.ndarray]]) -> np.ndarray:
    """Values of the tokens, sentence by sentence, in the order of `tokens_of`: [N]."""
    starts = [token.start for sentence, _ in values for token in sentence.tokens]
    joined = np.concatenate([np.empty(0), *(part for _, part in values)])
    return joined[np.argsort(np.array(starts, int), kind="stable")]


def phi_tokens(document: Document) -> np.ndarray:
    """Mask of the tokens that share a character with a gold span: [N], bool."""
    return tokens_in(tokens_of(document), document.spans)


def tokens_in(tokens: Sequence[Token], spans: Iterable[Span]) -> NDArray[np.bool_]:
    """Mask of the tokens, N by place, that share a character with a span: [N], bool."""
    inside = np.zeros(len(tokens), bool)
    for span in spans:
        positions = positions_in(tokens, span)
        inside[positions.start : positions.stop] = True
    return inside

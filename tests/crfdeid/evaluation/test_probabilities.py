"""Probabilities of being PHI, and gold, by token."""

import numpy as np

from crfdeid.documents import Document, Span
from crfdeid.evaluation import document_probabilities, token_probabilities
from features.sentences import split_sentences
from features.tokenizer import Token
from features.tokens import Sentence


class Sure:
    """A tagger that is sure of what it says: digits are dates."""

    tags = ("B-DATE", "O")

    def marginals(self, sentences: list[Sentence]) -> list[np.ndarray]:
        return [np.array([[1.0, 0.0] if w.isdigit() else [0.25, 0.75] for w in s.words]) for s in sentences]

    def predict(self, sentences: list[Sentence]) -> list[list[str]]:
        return [["B-DATE" if w.isdigit() else "O" for w in s.words] for s in sentences]


def test_gold_that_no_tags_can_express_is_gold() -> None:
    note = Document("1", "Seen 2001.\nAB12", (Span(6, 9, "DATE"), Span(12, 13, "ID")))
    probabilities, is_phi = token_probabilities(Sure(), [note, Document("2", "")])
    words = [token.text for sentence in split_sentences(note.text) for token in sentence.tokens]
    assert words == ["Seen", "2001", ".", "AB", "12"]
    assert probabilities.tolist() == [0.25, 1.0, 0.25, 0.25, 1.0]
    assert is_phi.tolist() == [False, True, False, True, False]


def test_sentences_may_be_out_of_order() -> None:
    later = Sentence((Token("or", 8, 10), Token("2", 11, 12)))
    earlier = Sentence.from_words(["In", "2001"])
    note = Document("1", "In 2001 or 2", (Span(3, 7, "DATE"),), pretokenized=(later, earlier))
    (tokens,) = document_probabilities(Sure(), [note])
    assert tokens.probabilities.tolist() == [0.25, 1.0, 0.25, 1.0]
    assert tokens.is_phi.tolist() == [False, True, False, False]

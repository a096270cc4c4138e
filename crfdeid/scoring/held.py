"""How much PHI the files of a model of concepts can hold."""

from __future__ import annotations

from collections.abc import Iterable

from crfdeid.bio import OUTSIDE
from crfdeid.documents import PHI, LabelledSentence
from crfdeid.scoring.leaks import Share
from crfdeid.tagger import WordHolder


def words_only_phi(sentences: Iterable[LabelledSentence]) -> list[str]:
    """The words with a letter that are nothing but PHI in some annotated sentences, sorted.

    A word that also stands elsewhere, in capitals or small letters, is not among them: that a name is stored which is
    also a word says nothing. Numbers are left out, since models read them by their shape.

    Args:
        sentences: sentences; those without PHI annotation count as text without PHI.

    Example:
        >>> from features.tokens import Sentence
        >>> sentence = Sentence.from_words(["Rose", "Quill", "likes", "a", "rose"])
        >>> words_only_phi([LabelledSentence(sentence, ("B-NAME", "I-NAME", "O", "O", "O"))])
        ['Quill']
    """
    phi: set[str] = set()
    other: set[str] = set()
    for item in sentences:
        annotated = PHI in item.annotated
        for word, tag in zip(item.sentence.words, item.tags, strict=True):
            (phi if annotated and tag != OUTSIDE else other).add(word)
    folded = {word.casefold() for word in other}
    return sorted(word for word in phi if word.casefold() not in folded and any(map(str.isalpha, word)))


def phi_held(model: WordHolder, train: Iterable[LabelledSentence]) -> Share:
    """Of the words that are nothing but PHI in the training notes, those that a model has stored.

    For a model of PHI and concepts it is what the part has stored that tags concepts.

    Args:
        model: a trained model.
        train: the sentences that it was trained on.
    """
    words = words_only_phi(train)
    return Share(sum(model.holds(words)), len(words))

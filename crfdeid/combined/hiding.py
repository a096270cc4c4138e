"""Text in which PHI is hidden, each token of it a placeholder for its type; and what a model of concepts gets of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from crfdeid.bio import OUTSIDE
from crfdeid.documents import CONCEPT, PHI, LabelledSentence
from crfdeid.tagger import Tagger
from features.tokens import Sentence, Token

ORIGINAL, GOLD, PREDICTED = TEXTS = ("original", "gold", "predicted")
"""What the model of concepts reads: the text as it is, or with the gold or the predicted PHI hidden (Table 5)."""


def placeholder(label: str) -> str:
    """What stands for a token of PHI; no token of a text, which a bracket ends, is written so.

    Example:
        >>> placeholder("PATIENT")
        '[PATIENT]'
    """
    return f"[{label}]"


def hidden(sentence: Sentence, tags: Sequence[str]) -> Sentence:
    """The sentence with a placeholder for each token that is PHI, and with nothing around it.

    There are as many tokens as before, so that further tags stay where they are. The heading above it, the beginning of
    its line and the other words of its note are left out, since they may hold PHI; the offsets are those of a text made
    of these tokens, since the length of a hidden word would say something of it. The place in the note stays.

    Args:
        sentence: the sentence.
        tags: one IOB2 tag a token.

    Example:
        >>> hidden(Sentence.from_words(["Dr", "Jane", "Doe"]), ["O", "B-DOCTOR", "I-DOCTOR"]).words
        ('Dr', '[DOCTOR]', '[DOCTOR]')
    """
    tokens, start = [], 0
    for token, tag in zip(sentence.tokens, tags, strict=True):
        text = token.text if tag == OUTSIDE else placeholder(tag[2:])
        tokens.append(Token(text, start, start + len(text)))
        start += len(text) + 1
    return Sentence(tuple(tokens), line=sentence.line, line_count=sentence.line_count)


def annotated(sentences: Iterable[LabelledSentence], layer: str) -> list[LabelledSentence]:
    """The sentences that have an annotation layer."""
    return [item for item in sentences if layer in item.annotated]


def cut_folds(train: Sequence[LabelledSentence], most: int) -> list[list[int]]:
    """The places of the sentences that have both layers, in parts of whole documents, or of sentences of a single one.

    There are at most ``most``; none where there is nothing but one sentence.
    """
    both = [i for i, item in enumerate(train) if {PHI, CONCEPT} <= set(item.annotated)]
    documents = list(dict.fromkeys(train[i].document for i in both))
    part = {document: n % most for n, document in enumerate(documents)}
    parts = [part[train[i].document] if len(documents) > 1 else n % most for n, i in enumerate(both)]
    folds = [[i for i, p in zip(both, parts, strict=True) if p == number] for number in range(most)]
    found = [fold for fold in folds if fold]
    return found if len(found) > 1 else []


def to_read(
    sentences: Sequence[LabelledSentence],
    way: str,
    deid: Tagger,
    found: Mapping[int, Sequence[str]] = MappingProxyType({}),
) -> list[LabelledSentence]:
    """What the model of concepts gets of the sentences that have any: their text, PHI hidden, and concepts as tags.

    Args:
        sentences: the sentences.
        way: what of them is hidden, one of `TEXTS`.
        deid: finds the PHI that is to be hidden.
        found: the PHI tags of some sentences, by their places, which were found otherwise.
    """
    places = [i for i, item in enumerate(sentences) if CONCEPT in item.annotated]
    if way == ORIGINAL:
        return [with_concepts(sentences[i], sentences[i].sentence) for i in places]
    if way == GOLD:
        hides: dict[int, Sequence[str]] = {i: sentences[i].layer(PHI) for i in places}
    else:
        others = [i for i in places if i not in found]
        predicted = deid.predict([sentences[i].sentence for i in others])
        hides = {**found, **dict(zip(others, predicted, strict=True))}
    return [with_concepts(sentences[i], hidden(sentences[i].sentence, hides[i])) for i in places]


def with_concepts(item: LabelledSentence, sentence: Sentence) -> LabelledSentence:
    """As a model learns it that tags one layer: concepts in the place of PHI."""
    return LabelledSentence(sentence, item.layer(CONCEPT), item.document)

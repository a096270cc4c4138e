"""Which words are nothing but PHI, and which of them a model has stored."""

from __future__ import annotations

from collections.abc import Sequence

from crfdeid.documents import LabelledSentence
from crfdeid.evaluation.tokens import Proportion, memorised_phi_rate, words_only_phi
from features.tokens import Sentence


def labelled(words: str, tags: str, *, annotated: bool = True) -> LabelledSentence:
    return LabelledSentence(Sentence.from_words(words.split()), tuple(tags.split()), phi_annotated=annotated)


TRAIN = [
    labelled("Dr Quill saw Rose on 03", "O B-DOCTOR O B-PATIENT O B-DATE"),
    labelled("a ROSE and Vole", "O O O B-PATIENT"),
    labelled("Vole is a mouse", "O O O O", annotated=False),
]


class Knows:
    """A model that has stored some words."""

    def __init__(self, *words: str) -> None:
        self.words = words

    def stores(self, words: Sequence[str]) -> list[bool]:
        return [word in self.words for word in words]


def test_names_that_are_also_words_and_numbers_do_not_count() -> None:
    """What nobody annotated counts as text: the name in it may be no name there."""
    assert words_only_phi(TRAIN) == ["Quill"]
    assert words_only_phi(TRAIN[:2]) == ["Quill", "Vole"]


def test_the_share_is_of_what_the_model_has_stored() -> None:
    assert memorised_phi_rate(Knows("Quill", "mouse"), TRAIN[:2]) == Proportion(1, 2)
    assert memorised_phi_rate(Knows(), TRAIN) == Proportion(0, 1)

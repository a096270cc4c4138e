"""Invented notes with PHI and concepts, and settings with which a network learns them quickly."""

from crfdeid.documents import CONCEPT, LabelledSentence
from features.tokens import Sentence

SMALL = {"hidden": 4, "embedding_dim": 4, "char_dim": 3, "char_filters": 4, "feature_dim": 3, "min_count": 1,
         "epochs": 1, "phi_first": 0, "batch": 2, "patience": None}  # fmt: skip


def labelled(words: str, phi: str, concept: str | None, *, annotated: bool = True) -> LabelledSentence:
    """A sentence; without concepts, or without PHI tags that mean anything, where it is said."""
    layers = {} if concept is None else {CONCEPT: tuple(concept.split())}
    tags = tuple(phi.split())
    return LabelledSentence(Sentence.from_words(words.split()), tags, words[:5], layers, phi_annotated=annotated)


BOTH = [
    labelled("Dr Jane Quill gave aspirin", "O B-DOCTOR I-DOCTOR O O", "O O O O B-DRUG"),
    labelled("Mr Vole takes iron , he said", "O B-PATIENT O O O O O", "O O O B-DRUG O O O"),
    labelled("seen 03 / 14", "O B-DATE I-DATE I-DATE", "O O O O"),
    labelled("stable", "O", "O"),
]
PHI_ALONE = [
    labelled("Dr Jane Quill saw Mr Vole", "O B-DOCTOR I-DOCTOR O O B-PATIENT", None),
    labelled("Dr Poe saw , it said", "O B-DOCTOR O O O O", None),
]
CONCEPTS_ALONE = [
    labelled("zinc and iron given and aspirin", "O O O O O O", "B-DRUG O B-DRUG O O B-DRUG", annotated=False),
    labelled("aspirin and iron given and iron", "O O O O O O", "B-DRUG O B-DRUG O O B-DRUG", annotated=False),
]

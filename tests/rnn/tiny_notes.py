"""A few invented sentences to train on, and settings with which that is quick."""

import numpy as np

from crfdeid.documents import LabelledSentence
from features.tokens import Sentence

SMALL = {"hidden": 8, "embedding_dim": 6, "window": 3, "lr": 0.2, "epochs": 6, "min_count": 1, "dropout": 0.0}
NAMES = ("Doe", "Poe", "Quill", "Marsh", "Vole", "Oda")


def labelled(words, tags):
    return LabelledSentence(Sentence.from_words(words.split()), tuple(tags.split()))


def tagged(text: str) -> LabelledSentence:
    """ "Dr/O Quill/B-DOCTOR" as a labelled sentence."""
    words, tags = zip(*(item.rsplit("/", 1) for item in text.split()), strict=True)
    return LabelledSentence(Sentence.from_words(words), tags)


def some_sentences(seed, count):
    """Twice so many sentences with invented names and days; short ones, so that all are padded to one length."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        name, day = NAMES[random.integers(len(NAMES))], random.integers(10, 30)
        found.append(labelled(f"Dr {name} called", "O B-DOCTOR O"))
        found.append(labelled(f"seen 03 / {day} by {name} .", "O B-DATE I-DATE I-DATE O B-DOCTOR O"))
    return found


FEW = [
    labelled("Dr Jane Doe called", "O B-DOCTOR I-DOCTOR O"),
    labelled("seen on 03 / 14", "O O B-DATE I-DATE I-DATE"),
    labelled("no new complaints", "O O O"),
]
TRAIN, DEV = some_sentences(0, 30), some_sentences(1, 8)

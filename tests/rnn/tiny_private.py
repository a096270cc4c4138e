"""Tiny tagged sentences, word vectors and settings, and the private network that they make."""

import numpy as np

from crfdeid.documents import LabelledSentence
from features.tokens import Sentence
from rnn.embeddings.vectors import WordVectors
from rnn.privacy.settings import PrivateSettings

D, S = 3, 2
NAMES = ("Quill", "Marsh", "Reed", "Heron", "Teal", "Rook")
PLAIN = ("seen", "by", "Dr", "today", "again")
WORDS = NAMES + PLAIN


def vectors():
    """Names lie near each other, far from all other words."""
    random = np.random.default_rng(0)
    table = random.normal(size=(len(WORDS), D)) * 0.3
    table[: len(NAMES), 0] += 2.0
    table[len(NAMES) :, 1] -= 2.0
    return WordVectors(WORDS, table.astype(np.float32))


def tagged(text, document="1"):
    words = text.split()
    tags = tuple("B-DOCTOR" if word in NAMES else "O" for word in words)
    return LabelledSentence(Sentence.from_words(words), tags, document)


TRAIN = [tagged(text) for text in ("seen by Quill", "by Dr Marsh", "seen again today", "Reed by Heron")]
HELD_OUT = [tagged(text, "2") for text in ("today by Teal", "again by Dr", "Rook seen today")]


def settings(**changed):
    """The smallest network, an epoch of each phase."""
    small = {
        "neighbours": 3,
        "size": S,
        "adversary": 2,
        "hidden": 2,
        "deviation": 0.5,
        "lr": 0.05,
        "epochs": 1,
        "adversary_epochs": 1,
        "rounds": 1,
        "attack_epochs": (1, 2),
        "attack_seeds": 1,
    }
    return PrivateSettings(**{**small, **changed})

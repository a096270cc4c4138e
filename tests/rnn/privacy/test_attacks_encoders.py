"""Plain vectors and pseudonyms as encoders, and what the attacks make of them."""

from __future__ import annotations

import numpy as np
import pytest
from sharing_encoders import NAMES, sentences

from crfdeid.evaluation.tokens import Proportion
from features.tokens import Sentence
from rnn.embeddings.lookup import Lookup
from rnn.embeddings.vectors import WordVectors
from rnn.privacy.attacks.encoders import WordVectorEncoder
from rnn.privacy.attacks.inversion import invert_by_learning
from rnn.privacy.attacks.names import AveragingSettings, invert_by_averaging, link, names_of, sample_targets

WORDS = (*NAMES, "Seen", "Signed", "by", "for", "with", ".")
VECTORS = WordVectors(WORDS, np.random.default_rng(0).standard_normal((len(WORDS), 8)).astype(np.float32))
KNOWN, ATTACKED = sentences(80), sentences(40, seed=1, prefix="other")
SETTINGS = AveragingSettings(draws=(16,), published=(1, 8), encodings=80)


def attacked(encoder):
    targets = sample_targets(names_of(ATTACKED), 30, np.random.default_rng(0))
    averaging = invert_by_averaging(encoder, targets, lambda word: NAMES, SETTINGS, seed=0)
    return averaging, link(encoder, ATTACKED, seed=0), invert_by_learning(encoder, KNOWN, ATTACKED, seed=0)


def test_plain_vectors_are_those_of_the_words():
    sentence, random = Sentence.from_words(["Seen", "by", NAMES[3]]), np.random.default_rng(0)
    plain = WordVectorEncoder(VECTORS)
    for vectors in (*plain.encode([sentence], None), *plain.encode([sentence], random)):
        np.testing.assert_array_equal(vectors, Lookup(VECTORS)(sentence.words))
    assert plain.size == 8


def test_plain_vectors_hide_nothing():
    averaging, linking, inversion = attacked(WordVectorEncoder(VECTORS))
    assert averaging.by_published[1].top1 == averaging.by_published[8].top1 == Proportion(30, 30)
    assert linking.auc == 1.0
    assert inversion.names.recovered == Proportion(80, 80)


def test_a_pseudonym_is_a_neighbour_and_other_words_stay():
    encoder, lookup = WordVectorEncoder.with_pseudonyms(NAMES, VECTORS, 3), Lookup(VECTORS)
    sentence = Sentence.from_words(["Yule", NAMES[3]])
    drawn = encoder.encode([sentence] * 200, np.random.default_rng(0))
    near = [lookup([word])[0].tolist() for word in encoder.neighbours[NAMES[3]]]
    counts = [sum(vectors[1].tolist() == other for vectors in drawn) for other in near]
    assert sum(counts) == 200 and min(counts) > 40
    assert all((vectors[0] == lookup(["Yule"])[0]).all() for vectors in drawn)
    (still,) = encoder.encode([sentence], None)
    np.testing.assert_array_equal(still, lookup(sentence.words))


def test_with_one_neighbour_pseudonyms_hide_nothing():
    averaging, linking, inversion = attacked(WordVectorEncoder.with_pseudonyms(NAMES, VECTORS, 1))
    assert averaging.by_draws[16].top1 == Proportion(30, 30) and linking.auc == 1.0
    assert inversion.names.recovered == Proportion(80, 80)


def test_pseudonyms_hide_until_many_of_one_note_are_published():
    averaging, linking, inversion = attacked(WordVectorEncoder.with_pseudonyms(NAMES, VECTORS, 5))
    once, often = (averaging.by_published[count].top1.count for count in (1, 8))
    assert 30 / 20 < once < often
    assert 0.5 < linking.auc < 0.9
    assert inversion.names.recovered.count == pytest.approx(80 / 5, abs=16)
    assert inversion.others.recovered.count > 90 > inversion.others.by_frequency.count

"""Linking: the area under the curve against every pair by brute force, and encoders that hide nothing or all."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sharing_encoders import NAMES, OwnVectors, sentences

from rnn.privacy.attacks.linking import Linking, area_under_curve, link

SENTENCES = sentences(80)


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=20))
def test_the_area_is_the_share_of_pairs_in_order(things):
    scores, positive = [score for score, _ in things], [is_positive for _, is_positive in things]
    pairs = list(product([s for s, p in things if p], [s for s, p in things if not p]))
    expected = sum((good > bad) + 0.5 * (good == bad) for good, bad in pairs) / len(pairs) if pairs else None
    found = area_under_curve(np.array(scores, float), np.array(positive, bool))
    assert found == (None if expected is None else pytest.approx(expected))


def test_pairs_are_of_one_type_and_of_two_sentences():
    names = [[words[2] for words in (s.sentence.words for s in SENTENCES)], [s.sentence.words[4] for s in SENTENCES]]
    pairs = [(a, b) for column in names for i, a in enumerate(column) for b in column[:i]]
    found = link(OwnVectors(), SENTENCES, seed=0, each=1000)
    assert found == Linking(1.0, sum(a == b for a, b in pairs), sum(a != b for a, b in pairs))


def test_a_frequent_name_counts_a_few_times():
    found = link(OwnVectors(), sentences(80, names=NAMES[:1]), seed=0, each=3)
    assert found.auc is None and found.other == 0 and found.same <= 3
    assert link(OwnVectors(), SENTENCES, seed=0, names=10).other < 45


def test_an_encoder_that_says_nothing_links_nothing():
    assert link(OwnVectors(signal=0.0), SENTENCES, seed=0).auc == 0.5  # all are equal
    noise = link(OwnVectors(signal=0.0, noise=1.0), SENTENCES, seed=0)
    assert noise.auc == pytest.approx(0.5, abs=0.06)


def test_noise_hides_more_the_larger_it_is_and_the_seed_says_which():
    aucs = [link(OwnVectors(noise=noise), SENTENCES, seed=0).auc for noise in (0.3, 1.0, 3.0)]
    assert aucs == sorted(aucs, reverse=True) and aucs[0] > 0.95 and aucs[2] < 0.75
    again, other = (link(OwnVectors(noise=1.0), SENTENCES, seed=seed).auc for seed in (0, 1))
    assert again == aucs[1] != other


def test_what_is_common_to_all_names_does_not_hide_them():
    class Shifted(OwnVectors):
        def encode(self, sentences, random):
            return [vectors * np.float32([100, 1, 1, 1, 1, 1]) + 1000 for vectors in super().encode(sentences, random)]

    own, shifted = (link(encoder, SENTENCES, seed=0).auc for encoder in (OwnVectors(noise=1.0), Shifted(noise=1.0)))
    assert shifted == pytest.approx(own, abs=1e-3)


def test_of_no_names_there_are_no_pairs():
    assert link(OwnVectors(), [], seed=0) == Linking(None, 0, 0)

"""Inversion by averaging: complete against an encoder that hides nothing, at chance against one that says nothing."""

from __future__ import annotations

import numpy as np
import pytest
from sharing_encoders import NAMES, OwnVectors, sentences

from crfdeid.errors import UsageError
from crfdeid.evaluation.tokens import Proportion
from rnn.privacy.attacks.averaging import AveragingSettings, Hits, invert_by_averaging
from rnn.privacy.attacks.encoders import noise_deviation
from rnn.privacy.attacks.targets import names_of

TARGETS = names_of(sentences(40))
SMALL = AveragingSettings(draws=(0, 1, 4), published=(1, 4))


def among_all(word):
    return NAMES


def test_an_encoder_that_hides_nothing_is_broken_always():
    found = invert_by_averaging(OwnVectors(), TARGETS, among_all, SMALL, seed=0)
    for hits in (*found.by_draws.values(), *found.by_published.values(), found.same_casing):
        assert hits.top1 == hits.top10 == Proportion(80, 80)
        assert (hits.chance, hits.chance10) == (pytest.approx(1 / 20), 1 / 2)


@pytest.mark.parametrize("encoder", [OwnVectors(signal=0.0), OwnVectors(signal=0.0, noise=1.0)], ids=["same", "noise"])
def test_an_encoder_that_says_nothing_is_at_chance(encoder):
    found = invert_by_averaging(encoder, TARGETS, among_all, SMALL, seed=0)
    for hits in (*found.by_draws.values(), *found.by_published.values(), found.same_casing):
        low, high = hits.top1.interval(0.001)
        assert low <= hits.chance <= high
        low, high = hits.top10.interval(0.001)
        assert low <= hits.chance10 <= high


def test_more_draws_and_more_published_encodings_tell_more():
    settings = AveragingSettings(draws=(1, 4, 32), published=(1, 2, 8), encodings=10**6, around=0)
    found = invert_by_averaging(OwnVectors(noise=1.0), TARGETS[:40], among_all, settings, seed=0)
    few, some, many = (found.by_draws[n].top1.count for n in (1, 4, 32))
    assert 40 / 20 < few < some < many
    once, twice, often = (found.by_published[n].top1.count for n in (1, 2, 8))
    assert many == once < twice < often


def test_a_word_that_spreads_is_told_by_the_tokens_around_it():
    class Elsewhere(OwnVectors):
        def encode(self, sentences, random):
            return [np.roll(vectors, 1, axis=0) for vectors in super().encode(sentences, random)]

    alone, near = (
        invert_by_averaging(
            Elsewhere(), TARGETS, among_all, AveragingSettings(draws=(0,), around=around, published=(1,)), seed=0
        )
        for around in (0, 1)
    )
    assert alone.by_draws[0].top1.count < 20 and near.by_draws[0].top1.count == 80


def test_dimensions_count_by_their_noise():
    class Uneven(OwnVectors):
        """One dimension tells the word, five are noise."""

        def encode(self, sentences, random):
            found = super().encode(sentences, None)
            for vectors in found:
                vectors[:, 1:] = 0 if random is None else 100 * random.standard_normal((len(vectors), 5))
            return found

    deviation = noise_deviation(Uneven(), [target.sentence for target in TARGETS], np.random.default_rng(0))
    assert deviation[1:] == pytest.approx(100, rel=0.1) and 0 < deviation[0] < 0.2
    found = invert_by_averaging(
        Uneven(), TARGETS, among_all, AveragingSettings(draws=(16,), published=(1,), around=0), seed=0
    )
    assert found.by_draws[16].top1.count > 40  # a tenth of it by chance


def test_few_encodings_are_drawn_for_the_nearest_candidates():
    asked = []

    class Counted(OwnVectors):
        def encode(self, sentences, random):
            asked.append((len(sentences), random is not None))
            return super().encode(sentences, random)

    settings = AveragingSettings(draws=(1, 16), published=(1,), encodings=48)
    found = invert_by_averaging(Counted(noise=0.1), TARGETS[:1], among_all, settings, seed=0)
    measured, published, *drawn = asked
    assert (measured, published) == ((16, True), (1, True))
    assert drawn == [(20, False), (20, True), (48, True)]  # 16 draws for the nearest 3
    assert found.by_draws[16].top1 == Proportion(1, 1)


def test_the_casing_class_narrows_the_candidates():
    found = invert_by_averaging(
        OwnVectors(signal=0.0), TARGETS, lambda word: (word, "lower", "UPPER", "low", "x1"), SMALL, seed=0
    )
    assert found.same_casing.chance == 1.0 == found.same_casing.top1.count / 80
    assert found.by_draws[0].chance == pytest.approx(1 / 5)


def test_of_no_names_nothing_is_found():
    found = invert_by_averaging(OwnVectors(), [], among_all, SMALL, seed=0)
    assert found.by_draws[0] == found.by_published[4] == found.same_casing == Hits.of([])


def test_of_more_names_than_are_asked_for_some_are_attacked():
    found = invert_by_averaging(OwnVectors(), TARGETS, among_all, AveragingSettings(names=7, draws=(0,)), seed=0)
    assert found.by_draws[0].top1 == Proportion(7, 7)


def test_the_same_seed_gives_the_same_hits():
    quick = AveragingSettings(draws=(2,), published=(1,))
    runs = [invert_by_averaging(OwnVectors(noise=2.0), TARGETS, among_all, quick, seed=seed) for seed in (3, 3, 4)]
    assert runs[0] == runs[1] != runs[2]


def test_hits_are_counted_from_places():
    hits = Hits.of([(0, 20), (9, 5), (10, 40)])
    assert (hits.top1, hits.top10) == (Proportion(1, 3), Proportion(2, 3))
    assert hits.chance == pytest.approx((1 / 20 + 1 / 5 + 1 / 40) / 3)
    assert hits.chance10 == pytest.approx((1 / 2 + 1 + 1 / 4) / 3)
    assert Hits.of([]) == Hits(Proportion(0, 0), Proportion(0, 0), 0.0, 0.0)


@pytest.mark.parametrize("wrong", [{"draws": ()}, {"draws": (-1,)}, {"published": (0,)}, {"names": 0}, {"around": -1}])
def test_settings_that_cannot_work_are_refused(wrong):
    with pytest.raises(UsageError):
        AveragingSettings(**wrong)


def test_without_sentences_there_is_no_noise_to_measure():
    with pytest.raises(ValueError, match="sentence"):
        noise_deviation(OwnVectors(), [], np.random.default_rng(0))

"""Attacks on names: which tokens are attacked; both attacks against encoders that hide nothing or say nothing."""

from __future__ import annotations

import numpy as np
import pytest
from sharing_encoders import NAMES, OwnVectors, sentences

from crfdeid.documents import LabelledSentence
from crfdeid.errors import SettingError
from crfdeid.evaluation.tokens import Proportion
from features.sentences import split_sentences
from features.tokens import Sentence
from rnn.privacy.adversaries import with_word
from rnn.privacy.attacks.encoders import noise_deviation
from rnn.privacy.attacks.names import (
    AveragingSettings,
    Hits,
    Linking,
    invert_by_averaging,
    is_name,
    link,
    names_of,
    sample_targets,
)

ITEM = LabelledSentence(
    Sentence.from_words(["Ann", "Lee", ",", "3", "/", "May"]),
    ("B-PATIENT", "I-PATIENT", "O", "B-DATE", "I-DATE", "I-DATE"),
)


def test_names_are_words_of_phi_with_a_letter() -> None:
    assert [(t.word, t.place, t.label, t.number) for t in names_of([ITEM, ITEM])] == [
        ("Ann", 0, "PATIENT", 0),
        ("Lee", 1, "PATIENT", 0),
        ("May", 5, "DATE", 0),
        ("Ann", 0, "PATIENT", 1),
        ("Lee", 1, "PATIENT", 1),
        ("May", 5, "DATE", 1),
    ]
    assert [is_name(word) for word in ("Múgica", "3rd", "42", "/")] == [True, True, False, False]


def test_a_word_is_put_in_place_and_the_note_is_left_out() -> None:
    sentence = split_sentences("Seen by Dr. Doe today.\nHome.")[0]
    changed = with_word(sentence, 4, "Roe")
    assert changed.words == ("Seen", "by", "Dr", ".", "Roe", "today", ".")
    assert changed.note == () and changed.around(3) == ((), ())
    assert sentence.words[4] == "Doe"


def test_some_are_drawn_without_replacement_in_their_order() -> None:
    targets = names_of([ITEM] * 20)
    some = sample_targets(targets, 12, np.random.default_rng(0))
    places = [targets.index(target) for target in some]
    assert len(some) == 12 and places == sorted(set(places))
    assert (
        some
        == sample_targets(targets, 12, np.random.default_rng(0))
        != sample_targets(targets, 12, np.random.default_rng(1))
    )
    assert sample_targets(targets, 60, np.random.default_rng(0)) == targets


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


@pytest.mark.parametrize("wrong", [{"draws": ()}, {"draws": (-1,)}, {"published": (0,)}, {"around": -1}])
def test_settings_that_cannot_work_are_refused(wrong):
    with pytest.raises(SettingError):
        AveragingSettings(**wrong)


def test_without_sentences_there_is_no_noise_to_measure():
    with pytest.raises(ValueError, match="sentence"):
        noise_deviation(OwnVectors(), [], np.random.default_rng(0))


SENTENCES = sentences(80)


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

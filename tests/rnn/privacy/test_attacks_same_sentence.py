"""The attack on frozen representations: who is counted right, and that it finds what stands in the open."""

import dataclasses

import numpy as np
import pytest
import tiny_private as tiny

from crfdeid.evaluation.tokens import Proportion
from rnn.embeddings.lookup import Lookup
from rnn.privacy.attacks.encoders import NoiselessBaseline, ZeroBaseline
from rnn.privacy.attacks.same_sentence import (
    AVERAGE,
    AttackOutcome,
    attack_pairs,
    scored_half,
    worst,
)

pytestmark = pytest.mark.usefixtures("quickly_compiled")


def outcome(correct, total=100, *, choice=80):
    return AttackOutcome(0, 20, "T1", Proportion(choice, 100), correct, total)


@pytest.mark.parametrize(
    ("choice", "correct", "accuracy"), [(50, 50, 0.5), (80, 80, 0.8), (20, 20, 0.8), (80, 20, 0.2), (20, 80, 0.2)]
)
def test_who_is_wrong_more_often_than_a_coin_on_other_pairs_is_asked_for_the_opposite(choice, correct, accuracy):
    assert outcome(correct, choice=choice).accuracy == accuracy


def test_the_worst_is_the_one_that_knows_most_in_either_direction_on_other_pairs():
    some = [outcome(correct, choice=choice) for choice, correct in ((52, 99), (44, 45), (55, 1))]
    assert worst(some).correct == 45


def test_documents_are_halved_and_no_choice_is_made_on_a_scored_sentence():
    documents = [str(n // 3) for n in range(31)]
    scored = scored_half(documents, np.random.default_rng(0))
    assert (int(scored.sum()), len(scored)) == (16, 31)
    by_document = {name: {bool(scored[i]) for i in range(31) if documents[i] == name} for name in documents}
    assert sum(len(sides) == 2 for sides in by_document.values()) <= 1  # at the border
    assert scored.tolist() != scored_half(documents, np.random.default_rng(1)).tolist()
    assert scored_half(["1"], np.random.default_rng(0)).tolist() == [True]


def test_the_interval_is_wilsons():
    """By the formula, for 1,040 of 2,000."""
    n, p, z = 2000, 0.52, 1.959964
    middle, half = (p + z**2 / 2 / n) / (1 + z**2 / n), z * np.sqrt(p * (1 - p) / n + z**2 / 4 / n**2) / (1 + z**2 / n)
    assert outcome(1040, 2000).share.interval() == pytest.approx((middle - half, middle + half), rel=1e-6)


class Open:
    """Word vectors as they are: everything stands in the open. It notes how it was asked."""

    size = tiny.D

    def __init__(self):
        self.lookup, self.asked = Lookup(tiny.vectors()), []

    def encode(self, sentences, random):
        self.asked.append(random)
        return [self.lookup(sentence.words) for sentence in sentences]


def test_without_noise_nobody_draws_any():
    encoder = Open()
    NoiselessBaseline(encoder).encode([tiny.TRAIN[0].sentence], np.random.default_rng(0))
    assert encoder.asked == [None]


def test_zeros_are_of_the_sentences_length():
    assert [row.shape for row in ZeroBaseline(4).encode([item.sentence for item in tiny.TRAIN[:2]], None)] == [
        (3, 4),
        (3, 4),
    ]


SETTINGS = tiny.settings(adversary=8, lr=0.03, attack_epochs=(1, 80), batch=8)
MANY = [
    tiny.tagged(f"{first} {name} {last}", str(n))
    for n in range(2)
    for name in tiny.NAMES
    for first in ("by", "Dr")
    for last in ("today", "again")
]


def attack(encoder, **changed):
    return attack_pairs(encoder, MANY[:24], MANY[24:], tiny.vectors(), dataclasses.replace(SETTINGS, **changed), seed=3)


@pytest.fixture(scope="module")
def in_the_open():
    return attack(Open())


@pytest.mark.slow  # a network to compile
def test_what_stands_in_the_open_is_found(in_the_open):
    """T2 sees cosines of 1 in real pairs alone."""
    found = {(one.adversary, one.epochs): one for one in in_the_open}
    assert found["T2", 80].accuracy > 0.9
    assert found["T2", 80].correct > found["T2", 1].correct


@pytest.mark.slow
def test_every_adversary_is_tried_on_one_pair_of_each_held_out_sentence(in_the_open):
    assert [(one.adversary, one.epochs) for one in in_the_open] == [
        (name, epochs) for epochs in (1, 80) for name in ("T1", "T2", AVERAGE)
    ]
    assert {(one.choice.total, one.total, one.seed) for one in in_the_open} == {(12, 12, 3)}


@pytest.mark.slow
def test_two_fresh_adversaries_have_two_seeds_and_one_attack_is_the_same_again(in_the_open):
    told = []
    again = attack_pairs(
        Open(),
        MANY[:24],
        MANY[24:],
        tiny.vectors(),
        dataclasses.replace(SETTINGS, attack_seeds=2, attack_epochs=(1,)),
        seed=3,
        on_progress=lambda *done: told.append(done),
    )
    assert again[:3] == in_the_open[:3]
    assert {one.seed for one in again} == {3, 4}
    assert told == [(1, 2), (2, 2)]

"""Learned inversion: the kernels against a sum by hand, and encoders that hide nothing or say nothing."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest
from sharing_encoders import NAMES, OwnVectors, sentences

from crfdeid.documents import LabelledSentence
from crfdeid.errors import EmptyInputError, MismatchError
from crfdeid.evaluation.tokens import Proportion
from features.tokens import Sentence
from rnn.privacy.attacks.inversion import Decoder, invert_by_learning

pytestmark = pytest.mark.usefixtures("quickly_compiled")

KNOWN, ATTACKED = sentences(80), sentences(40, seed=1, prefix="other")


def test_what_an_encoder_does_not_hide_is_read():
    found = invert_by_learning(OwnVectors(), KNOWN, ATTACKED, seed=0)
    assert found.phi.recovered == found.names.recovered == found.phi.known == Proportion(80, 80)
    assert found.others.recovered == Proportion(120, 120)  # the full stop is no word
    assert (found.words, found.examples) == (20 + 6, 80 * 6)


@pytest.mark.parametrize("encoder", [OwnVectors(signal=0.0), OwnVectors(signal=0.0, noise=1.0)], ids=["same", "noise"])
def test_where_vectors_say_nothing_names_are_guessed(encoder):
    found = invert_by_learning(encoder, KNOWN, ATTACKED, seed=0)
    low, high = found.names.recovered.interval(0.001)
    assert low <= 1 / len(NAMES) <= high


def test_more_noise_hides_more():
    counts = [
        invert_by_learning(OwnVectors(noise=noise), KNOWN, ATTACKED, seed=0).names.recovered.count
        for noise in (0.1, 1.0, 5.0)
    ]
    assert counts[0] == 80 > counts[1] > counts[2]


def test_words_that_nobody_knows_count_as_not_read():
    unknown = sentences(20, names=("Zand", "Yule"), prefix="other")
    found = invert_by_learning(OwnVectors(), KNOWN, unknown, seed=0)
    assert found.names.recovered == found.names.known == Proportion(0, 40)
    assert found.others.recovered == Proportion(60, 60)


def test_a_guess_is_the_most_frequent_word_of_its_tag_and_casing():
    def item(words, tags, document):
        return LabelledSentence(Sentence.from_words(words), tags, document)

    doctor = ("B-DOCTOR",)
    known = [item([word], doctor, "1") for word in ("Doe", "Roe", "Roe", "DOE", "17")] + [item(["of"], ("O",), "1")]
    attacked = [
        item(["Roe"], doctor, "2"),  # right
        item(["Doe"], doctor, "2"),
        item(["DOE"], doctor, "2"),  # right: the only one in capitals
        item(["of"], ("B-ID",), "2"),  # right: by its casing, for no such tag was seen
        item(["17"], ("B-ID",), "2"),  # right, and no name
        item(["Roe"], ("O",), "2"),  # right, and no PHI
    ]
    found = invert_by_learning(OwnVectors(), known, attacked, seed=0)
    assert found.phi.by_frequency == Proportion(4, 5)
    assert found.names.by_frequency == Proportion(3, 4)
    assert found.others.by_frequency == Proportion(1, 1)


def test_the_score_of_a_word_is_a_sum_of_kernels():
    """Words of one casing, at 0 (a), 1 (b) and 1.2 (b); the noise's deviation is 0.5."""

    class OnALine(OwnVectors):
        def encode(self, sentences, random):
            places = {"a": 0.0, "b": 1.0, "c": 1.2}
            found = [np.array([[places[word]] for word in s.words], np.float32) for s in sentences]
            noise = 0.5 * np.resize([1.0, -1.0], len(found)).astype(np.float32)
            return [v if random is None else v + n for v, n in zip(found, noise, strict=True)]

    words, tags = [["a"], ["b"], ["c"]], [("O",), ("O",), ("B-ID",)]
    known = [LabelledSentence(Sentence.from_words(w), t, "1") for w, t in zip(words, tags, strict=True)]
    decoder = Decoder.learn(OnALine(size=1), known, seed=0)
    deviation = float(decoder.deviation[0])
    assert deviation == pytest.approx(0.5, rel=0.1)
    asked = LabelledSentence(Sentence.from_words(["x"]), ("B-ID",), "2")
    for place in np.linspace(-3, 3, 31):
        weights = {"a": (0.0, 0.01), "b": (1.0, 0.01), "c": (1.2, 1.0)}
        scores = {w: weight * exp(-(((place - at) / deviation) ** 2) / 2) for w, (at, weight) in weights.items()}
        read = decoder.read([np.array([[place]], np.float32)], [asked])
        assert read == [[max(scores, key=scores.__getitem__)]]
    assert {decoder.read([np.array([[p]], np.float32)], [asked])[0][0] for p in (-3.0, 3.0)} == {"a", "c"}


def test_the_tokens_around_are_looked_at_where_that_helps():
    class Behind(OwnVectors):
        """Each word's vector stands at the next token."""

        def encode(self, sentences, random):
            return [np.roll(vectors, 1, axis=0) for vectors in super().encode(sentences, random)]

    found = invert_by_learning(Behind(noise=0.3), KNOWN, ATTACKED, seed=0)
    assert found.names.recovered.count > 60


def test_the_same_seed_gives_the_same_figures():
    runs = [invert_by_learning(OwnVectors(noise=1.0), KNOWN, ATTACKED, seed=seed) for seed in (0, 0, 1)]
    assert runs[0] == runs[1] != runs[2]


def test_known_and_attacked_are_of_different_documents():
    with pytest.raises(MismatchError):
        invert_by_learning(OwnVectors(), KNOWN, KNOWN[:3], seed=0)
    with pytest.raises(EmptyInputError):
        invert_by_learning(OwnVectors(), [], ATTACKED, seed=0)


def test_of_nothing_nothing_is_read():
    found = invert_by_learning(OwnVectors(), KNOWN, [], seed=0)
    assert found.phi.recovered == found.others.by_frequency == Proportion(0, 0)

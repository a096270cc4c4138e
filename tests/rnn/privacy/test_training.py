"""Training a private representation, whole: what moves, what is kept, and that a seed gives it again."""

import jax
import numpy as np
import pytest
import tiny_private as tiny
from flax import nnx

from crfdeid.errors import EmptyInputError
from rnn.network import Structure
from rnn.privacy.training import PrivateNetwork, train_representation


def trained(seed=0, **changed):
    """With the epochs that it was told of, in a form in which nan equals nan."""
    told = []
    settings = tiny.settings(rounds=2, patience=2, **changed)
    found = train_representation(
        tiny.TRAIN, tiny.HELD_OUT, tiny.vectors(), settings, seed=seed, on_progress=told.append
    )
    assert tuple(told) == found.history
    return found


@pytest.fixture(scope="module")
def found():
    return trained()


def begun(seed=0):
    """The parameters before training."""
    return Structure.split(PrivateNetwork(tiny.D, 2, tiny.settings(), nnx.Rngs(seed)))[1]


pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("quickly_compiled")]  # a program for each phase to compile


def test_the_history_has_every_epoch_with_the_course_of_the_noise(found):
    names = [epoch.phase for epoch in found.history]
    assert names == ["P1", "P2", *["P3a tagger", "P3a adversaries", "P3b"] * 2]
    assert np.isfinite(np.array([epoch[1:] for epoch in found.history])).all()
    before, deviations = None, [epoch[3:] for epoch in found.history]
    for name, after in zip(names, deviations, strict=True):
        if before is not None:
            assert (after == before) == (name != "P3b")  # the representation is frozen but in P3b
        before = after


def test_the_kept_weights_are_those_of_the_lowest_combined_held_out_loss(found):
    rounds = [epoch for epoch in found.history if epoch.phase == "P3b"]
    best = min(rounds, key=lambda epoch: epoch.held_out)
    kept = [deviation.mean() for deviation in found.model.deviations]
    np.testing.assert_allclose(kept, best[3:], rtol=1e-6)


def test_before_the_adversaries_the_representation_was_another(found):
    assert found.pretrained.digest != found.model.digest
    start = begun()
    for name, array in found.pretrained.weights.items():
        assert not np.array_equal(array, start[f"network.representation.{name}"])


def test_a_seed_gives_it_again_and_another_one_another(found):
    again, other = trained(), trained(seed=1)
    assert again.model.digest == found.model.digest
    assert again.history == found.history
    for a, b in zip(jax.tree.leaves(again.adversaries), jax.tree.leaves(found.adversaries), strict=True):
        np.testing.assert_array_equal(a, b)
    assert other.model.digest != found.model.digest


def test_dann_trains_all_parts_at_once_from_the_start():
    found = trained(procedure="dann")
    assert [epoch.phase for epoch in found.history] == ["DANN"]
    assert found.pretrained is None


def test_sentences_without_phi_are_refused():
    with pytest.raises(EmptyInputError):
        train_representation([tiny.tagged("seen")], tiny.HELD_OUT, tiny.vectors(), tiny.settings(), seed=0)

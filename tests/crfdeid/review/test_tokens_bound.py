"""Bounds of leaked tokens: Clopper and Pearson's where notes have one token, and how often they hold elsewhere."""

import numpy as np
import pytest

from crfdeid.errors import SettingError
from crfdeid.review.bounds import NoteCount, leaked_tokens_bound, upper_bound


@pytest.mark.parametrize("leaking", [0, 3, 40])
def test_of_notes_with_one_token_it_is_the_bound_of_notes(leaking):
    counts = [NoteCount(1, 1)] * leaking + [NoteCount(0, 1)] * (100 - leaking)
    assert leaked_tokens_bound(counts) == pytest.approx(upper_bound(100, leaking), rel=0.02)
    assert leaked_tokens_bound(counts, recall=0.8) == pytest.approx(leaked_tokens_bound(counts) / 0.8)


def test_tokens_that_leak_together_are_less_sure_than_alone():
    together = [NoteCount(20, 20)] * 2 + [NoteCount(0, 20)] * 98
    alone = [NoteCount(1, 20)] * 40 + [NoteCount(0, 20)] * 60
    assert leaked_tokens_bound(together) > 1.2 * leaked_tokens_bound(alone)


@pytest.mark.parametrize("share", [0.02, 0.2])
def test_it_holds_in_95_of_100_samples(share):
    """Notes of different lengths, in a share of which about half of the tokens leak."""
    rng = np.random.default_rng(3)
    tokens = rng.integers(5, 31, 100_000)
    leaked = np.where(rng.random(len(tokens)) < share, rng.binomial(tokens, 0.5), 0)
    true = leaked.sum() / tokens.sum()
    held = 0
    for number in range(200):
        drawn = rng.integers(len(tokens), size=60)
        counts = [NoteCount(*pair) for pair in zip(leaked[drawn], tokens[drawn], strict=True)]
        held += leaked_tokens_bound(counts, samples=1000, seed=number) >= true
    assert held >= 186  # of 200 at 95 %, fewer would come in one of a hundred runs


def test_without_tokens_there_is_no_bound():
    with pytest.raises(SettingError):
        leaked_tokens_bound([NoteCount(0, 0)])
    with pytest.raises(SettingError):
        leaked_tokens_bound([NoteCount(0, 1)], recall=2)

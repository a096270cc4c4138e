"""What the operating system draws: normal numbers, whole numbers and orders, each as likely as it must be."""

from collections import Counter

import numpy as np
import pytest
from scipy import stats

from rnn.privacy.system_random import SystemRandom, generator


def test_normal_numbers_are_standard_normal() -> None:
    found = SystemRandom().standard_normal((50, 400), np.float32)
    assert (found.shape, found.dtype) == ((50, 400), np.float32)
    assert np.isfinite(found).all()
    assert stats.kstest(found.ravel(), "norm").pvalue > 1e-6
    assert abs(np.corrcoef(found[:, :-1].ravel(), found[:, 1:].ravel())[0, 1]) < 0.05


def test_every_number_is_as_likely_and_every_order_holds_all() -> None:
    random = generator(None)
    counts = Counter(random.integers(4) for _ in range(4000))
    assert counts.keys() == {0, 1, 2, 3}
    assert all(800 < count < 1200 for count in counts.values())
    orders = {tuple(random.permutation(3)) for _ in range(200)}
    assert len(orders) == 6


@pytest.mark.parametrize("method", ["normal", "random", "choice", "shuffle", "permuted", "bytes"])
def test_what_would_be_drawn_from_a_state_is_refused(method: str) -> None:
    with pytest.raises(NotImplementedError, match="write it in SystemRandom"):
        getattr(SystemRandom(), method)([1, 2])


def test_a_seed_draws_the_same_again() -> None:
    assert generator(3).integers(1 << 60) == generator(3).integers(1 << 60)

"""Thresholds chosen on a half of some notes: against brute force, and where chance is known."""

import itertools
import sys
from pathlib import Path

import numpy as np

from crfdeid.evaluation.probabilities import TokenProbabilities

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from leaks import split_half_transfer


def note(*phi: float, others: tuple[float, ...] = (0.1,)) -> TokenProbabilities:
    return TokenProbabilities(np.array([*phi, *others]), np.array([True] * len(phi) + [False] * len(others)))


def test_every_trial_is_a_threshold_of_one_half_on_the_other() -> None:
    notes = [note(0.9, 0.7), note(0.8, others=(0.75, 0.3)), note(0.5), note(0.95, 0.4, others=(0.6,))]
    found = split_half_transfer(notes, required=[0.5, 1.0], trials=300)
    assert [transfer.required for transfer in found] == [0.5, 1.0]
    for transfer in found:
        expected = set()
        for chosen in itertools.combinations(range(4), 2):
            phi = sorted((p for i in chosen for p in notes[i].probabilities[notes[i].is_phi]), reverse=True)
            threshold = next(t for n, t in enumerate(phi, 1) if n >= transfer.required * len(phi))
            tokens = [pair for i in range(4) if i not in chosen for pair in zip(*notes[i], strict=True)]
            hit = sum(p >= threshold for p, right in tokens if right) / sum(right for _, right in tokens)
            false = 1000 * sum(p >= threshold for p, right in tokens if not right) / len(tokens)
            expected.add((round(float(hit), 9), round(float(false), 9)))
        pairs = zip(transfer.sensitivities, transfer.false_positives_per_1000, strict=True)
        assert {(round(float(s), 9), round(float(f), 9)) for s, f in pairs} == expected
        assert transfer.reached == np.mean(transfer.sensitivities >= transfer.required)


def test_notes_of_one_kind_reach_the_sensitivity_half_the_time() -> None:
    rng = np.random.default_rng(3)
    notes = [note(*rng.random(20)) for _ in range(100)]
    (found,) = split_half_transfer(notes, required=[0.9])
    assert 0.3 < found.reached < 0.7
    assert abs(np.mean(found.sensitivities) - 0.9) < 0.01
    (again,) = split_half_transfer(notes, required=[0.9])
    assert np.array_equal(found.sensitivities, again.sensitivities)

"""Timing of answers about words of the training notes against those about other words.

An answer that takes longer for a word that the model knows tells which words are in the training notes, even where the
answer itself is secret.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from crfdeid.audit.measures import roc_area

_DEFAULT_ROUNDS = 5
_SHORTEST_NAME = 4
_CONFIDENCE = 0.999  # time is measured on a busy machine, and two intervals are compared with chance
_FRAME = "the note mentions {} and the plan is to review the results tomorrow"


def time_answers(
    answer: Callable[[str], object],
    known: Sequence[str],
    unknown: Sequence[str],
    *,
    random: np.random.Generator,
    rounds: int = _DEFAULT_ROUNDS,
    clock: Callable[[], int] = time.perf_counter_ns,
) -> dict[str, Any]:
    """Time answers to the same sentence with known and unknown words, in random order.

    Args:
        answer: answers a text, such as `crfdeid.pipeline.Deidentifier.annotate`.
        known: words of the training notes.
        unknown: words that occur in no note, about as long.
        random: the generator of the order.
        rounds: number of answers for each word. The first one can be slower, as it fills caches.
        clock: time in nanoseconds.

    Returns:
        "first": how well the time of the first answer tells known words; "repeated": how well the shortest time of the
        other answers does. Each has "auc" with its 99.9 % interval, the median times in microseconds, and "found":
        whether the interval excludes chance, 0.5.

    Raises:
        EmptyInputError: there are no words of one kind.
    """
    words = [*known, *unknown]
    answer(_FRAME.format("nothing"))
    times = np.empty((rounds, len(words)))
    for row in times:
        for i in random.permutation(len(words)).tolist():
            text = _FRAME.format(words[i])
            began = clock()
            answer(text)
            row[i] = clock() - began
    parts = {"first": times[0], "repeated": times[1:].min(axis=0)}
    return {name: _compared(found[: len(known)], found[len(known) :]) for name, found in parts.items()}


def _compared(known: np.ndarray, unknown: np.ndarray) -> dict[str, Any]:
    area = roc_area(known, unknown, confidence=_CONFIDENCE)
    return {
        "auc": area._asdict(),
        "known_us": float(np.median(known)) / 1000,
        "unknown_us": float(np.median(unknown)) / 1000,
        "found": not area.low <= 0.5 <= area.high,
    }


def words_to_time(words: Sequence[str], count: int, *, random: np.random.Generator) -> list[str]:
    """Draw words of letters, at least four, at most ``count``.

    Digits of numbers are often folded, and a number's form decides the time of rules.

    Args:
        words: different words.
        count: number of words.
        random: the generator.
    """
    fitting = [word for word in words if word.isalpha() and len(word) >= _SHORTEST_NAME]
    return [fitting[i] for i in random.permutation(len(fitting))[:count].tolist()]

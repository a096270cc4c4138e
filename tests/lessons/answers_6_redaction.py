"""Lesson 6: a right answer to each exercise, and wrong ones."""

import math

import numpy as np

from features import tokenize


def choose(probabilities, is_phi, required):
    ranked = sorted(probabilities[is_phi], reverse=True)
    return next(p for n, p in enumerate(ranked, start=1) if n >= required * len(ranked) - 1e-9)


def leaks(note, spans):
    return any(
        any(token.start < gold.end and gold.start < token.end for gold in note.spans)
        and not any(token.start < span.end and span.start < token.end for span in spans)
        for token in tokenize(note.text)
    )


def leaking_notes(notes, found):
    return sum(leaks(note, found[note.id]) for note in notes)


def with_an_error(notes, found):
    return sum(set(note.spans) != set(found[note.id]) for note in notes)


def with_an_untouched_name(notes, found):
    return sum(
        any(not any(g.start < s.end and s.start < g.end for s in found[note.id]) for g in note.spans) for note in notes
    )


def notes_to_read(bound):
    return math.ceil(math.log(0.05) / math.log(1 - bound))


RIGHT = {1: choose, 2: leaking_notes, 3: notes_to_read}
WRONG = {
    1: [
        lambda p, is_phi, required: required,
        lambda p, is_phi, required: p[is_phi].min() - 0.01,
        lambda p, is_phi, required: np.quantile(p, 1 - required),
    ],
    2: [with_an_error, with_an_untouched_name],
    3: [lambda bound: round(1 / bound), lambda bound: notes_to_read(bound) + 1],
}

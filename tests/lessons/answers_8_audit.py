"""Lesson 8: a right answer to each exercise, and wrong ones."""

import numpy as np

from crfdeid.audit import canary_scores


def area_under_curve(members, others):
    return np.mean((members[:, None] > others) + 0.5 * (members[:, None] == others))


def bits_of(score, references):
    return np.log2(len(references) + 1) - np.log2(1 + (references >= score).sum())


def find_canary(tagger, names, questions):
    return names[np.argmax(canary_scores(tagger, names, questions))]


def least_sure(tagger, names, questions):
    return names[np.argmin(canary_scores(tagger, names, questions))]


RIGHT = {1: area_under_curve, 2: bits_of, 3: find_canary}
WRONG = {
    1: [lambda members, others: np.mean(members[:, None] > others), lambda members, others: members.mean()],
    2: [lambda score, references: np.log2(1 + (references >= score).sum()), lambda score, references: 1.0],
    3: [least_sure, lambda tagger, names, questions: sorted(names)[0]],
}

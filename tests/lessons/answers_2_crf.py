"""Lesson 2: a right answer to each exercise, and wrong ones."""

import numpy as np

from crfdeid.crf.decoding import chain_marginals, log_messages


def log_sum_exp(values):
    largest = values.max()
    return largest + np.log(np.exp(values - largest).sum())


def pair_probability(E, A, t, a, b):
    forward, backward = log_messages(E, A)
    together = forward[t, a] + E[t, a] + A[a, b] + E[t + 1, b] + backward[t + 1, b]
    return np.exp(together - log_sum_exp(forward[-1] + E[-1]))


def product_of_two(E, A, t, a, b):
    (table,) = chain_marginals(E, [len(E)], A)
    return table[t, a] * table[t + 1, b]


def without_the_second_word(E, A, t, a, b):
    return pair_probability(E, A, t, a, b) / np.exp(E[t + 1, b])


def gradient(E, A, path):
    (table,) = chain_marginals(E, [len(E)], A)
    return np.eye(E.shape[1])[list(path)] - table


RIGHT = {1: log_sum_exp, 2: pair_probability, 3: gradient}
WRONG = {
    1: [
        lambda values: np.log(np.exp(values).sum()),
        np.max,
        lambda values: np.log(np.exp(values - values.max()).sum()),
    ],
    2: [product_of_two, without_the_second_word],
    3: [
        lambda E, A, path: -gradient(E, A, path),
        lambda E, A, path: np.eye(E.shape[1])[list(path)],
        lambda E, A, path: gradient(E, A, path).sum(axis=0),
    ],
}

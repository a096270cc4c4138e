"""Inference in a linear-chain CRF, for many sentences at once: the forward-backward marginals.

A path y through a sentence of T tokens scores ``sum_t E[t, y_t] + sum_(t>0) A[y_(t-1), y_t]``, with emissions E [T, K]
and transitions A [K, K]. Sentences of a batch are padded to the longest; what is padding is never looked at, so that no
sentence's result depends on its company.

Reference:
    Lafferty et al. (2001), section 3; Rabiner (1989) for the scaling of the forward and backward variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

# A batch has sentences of about one length, and no more padded tokens than this unless one sentence alone has.
_BATCH_TOKENS = 4096


def marginals(emissions: np.ndarray, lengths: Sequence[int], transitions: np.ndarray) -> list[np.ndarray]:
    """The probability of each tag at each token of each sentence: [T, K], rows sum to 1.

    Args:
        emissions: those of all sentences, one below the other: [N, K].
        lengths: the tokens of each sentence, N together.
        transitions: [K, K].
    """
    tables = [np.empty((0, emissions.shape[1]))] * len(lengths)
    for members, scores, sizes in batches(emissions, lengths):
        for member, table, size in zip(members, _forward_backward(scores, sizes, transitions), sizes, strict=True):
            tables[member] = table[:size]
    return tables


def log_messages(emissions: np.ndarray, transitions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the rest of a sentence says of each tag at each token, in logarithms: forward and backward messages.

    For a token t and its tag k, the forward message is the logarithm of the sum, over all tags of the tokens before t,
    of exp(their score and that of the step to k); the backward message is the same of the tokens after it. So

        log P(y_t = a) - log P(y_t = b) = E[t, a] - E[t, b] + F[t, a] - F[t, b] + B[t, a] - B[t, b].

    Args:
        emissions: those of one sentence, [T, K].
        transitions: [K, K].

    Returns:
        Forward messages F and backward messages B, [T, K] each; 0 where there is no token before or after.

    Example:
        >>> forward, backward = log_messages(np.zeros((2, 2)), np.zeros((2, 2)))
        >>> forward.round(3).tolist(), backward.round(3).tolist()
        ([[0.0, 0.0], [0.693, 0.693]], [[0.693, 0.693], [0.0, 0.0]])
    """
    forward, backward = np.zeros_like(emissions), np.zeros_like(emissions)
    for t in range(1, len(emissions)):
        before = forward[t - 1] + emissions[t - 1]
        forward[t] = np.logaddexp.reduce(before[:, None] + transitions, axis=0)
    for t in range(len(emissions) - 2, -1, -1):
        after = backward[t + 1] + emissions[t + 1]
        backward[t] = np.logaddexp.reduce(after[None, :] + transitions, axis=1)
    return forward, backward


def batches(
    emissions: np.ndarray, lengths: Sequence[int] | np.ndarray
) -> Iterator[tuple[list[int], np.ndarray, np.ndarray]]:
    """Sentences of about one length together, for one step after the other through all of them at once.

    Yields:
        Numbers of sentences, longest first; their emissions, padded with zeros, [B, T, K]; their lengths, [B].
    """
    sizes = np.asarray(lengths, int)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    order = [int(i) for i in np.argsort(-sizes, kind="stable") if sizes[i]]
    while order:
        longest = int(sizes[order[0]])
        members = order[: max(_BATCH_TOKENS // longest, 1)]
        order = order[len(members) :]
        scores = np.zeros((len(members), longest, emissions.shape[1]))
        for row, i in zip(scores, members, strict=True):
            row[: sizes[i]] = emissions[starts[i] : starts[i + 1]]
        yield members, scores, sizes[members]


def at_each_step(sizes: np.ndarray) -> list[int]:
    """How many sentences have a token at each place; they are the first ones.

    Args:
        sizes: the tokens of each, the longest first, one or more.

    Example:
        >>> at_each_step(np.array([3, 1, 1]))
        [3, 1, 1]
    """
    counts: list[int] = np.searchsorted(-sizes, -np.arange(sizes[0])).tolist()
    return counts


def _forward_backward(scores: np.ndarray, sizes: np.ndarray, transitions: np.ndarray) -> np.ndarray:
    """Marginals of a batch, longest sentence first: [B, T, K].

    Every step is divided by its sum, and exponents are taken below their largest, so that nothing overflows.
    """
    longest = scores.shape[1]
    weight = np.exp(scores - scores.max(axis=2, keepdims=True))
    step = np.exp(transitions - transitions.max())
    forward, backward = np.ones_like(weight), np.ones_like(weight)
    forward[:, 0] = _normalised(weight[:, 0])
    counts = at_each_step(sizes)
    for t in range(1, longest):
        running = counts[t]
        forward[:running, t] = _normalised((forward[:running, t - 1] @ step) * weight[:running, t])
    for t in range(longest - 2, -1, -1):
        running = counts[t + 1]
        backward[:running, t] = _normalised((weight[:running, t + 1] * backward[:running, t + 1]) @ step.T)
    return _normalised(forward * backward)


def _normalised(values: np.ndarray) -> np.ndarray:
    scaled: np.ndarray = values / values.sum(axis=-1, keepdims=True)
    return scaled

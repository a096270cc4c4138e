"""Inference in a linear-chain CRF, for many sentences at once: Viterbi paths and forward-backward marginals.

A path y through a sentence of T tokens scores ``sum_t E[t, y_t] + sum_(t>0) A[y_(t-1), y_t]``, with emissions E [T, K]
and transitions A [K, K]. Padded positions are never read, so that a sentence's result does not depend on its batch.

Viterbi runs on part of the tokens only; on all of them, redaction with a CRF takes a tenth longer. Most tokens are
clearly outside: the most frequent tag, r, leads there by more than any transition can make up. Let
D[a, b] = A[a, b] - A[r, r], and p and q such that p[r] = q[r] = 0 and p[a] + q[b] >= D[a, b]. A path with other tags on
the tokens i to j, and r before and after them, scores at most

    sum over t from i to j of g[t],    g[t] = max over k other than r of E[t, k] + q[k] + p[k] - E[t, r],

more than the path with r on them too (without q on a sentence's first token, and without p on its last). A token has r
on the best path if that sum is below 0 for every interval i to j that contains it. The remaining tokens, about a third,
form runs between tokens whose tag is known; each run is decoded like a sentence.

Reference:
    Lafferty et al. (2001), section 3; Rabiner (1989) for the scaling of the forward and backward variables;
    Forney (1973), "The Viterbi algorithm".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from crfdeid.bio import valid_first, valid_transitions

# Limit of padded tokens in a batch of sentences of about one length; a longer sentence is a batch by itself.
_BATCH_TOKENS = 4096
_SENTENCES = 1024  # decoded together; larger arrays would only take memory
_NEVER = -1e9  # the score of a forbidden transition
_SLACK = 1e-3  # far above all rounding errors
# Above any lead of a tag in practice. A larger one makes all tokens undecided: sums could be wrong by more than _SLACK.
_FAR = 1e3


def chain_marginals(emissions: np.ndarray, lengths: Sequence[int], transitions: np.ndarray) -> list[np.ndarray]:
    """The probability of each tag at each token of each sentence: [T, K], rows sum to 1.

    Args:
        emissions: emissions of all sentences, concatenated: [N, K].
        lengths: tokens per sentence; their sum is N.
        transitions: [K, K].
    """
    tables = [np.empty((0, emissions.shape[1]))] * len(lengths)
    for members, scores, sizes in _length_batches(emissions, lengths):
        for member, table, size in zip(members, _forward_backward(scores, sizes, transitions), sizes, strict=True):
            tables[member] = table[:size]
    return tables


def log_messages(emissions: np.ndarray, transitions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Forward and backward messages of one sentence, in logarithms.

    For a token t and its tag k, the forward message is the logarithm of the sum of exp(score) over all tags of the
    tokens before t, including the transition to k. The backward message is the same for the tokens after t. So

        log P(y_t = a) - log P(y_t = b) = E[t, a] - E[t, b] + F[t, a] - F[t, b] + B[t, a] - B[t, b].

    Args:
        emissions: [T, K].
        transitions: [K, K].

    Returns:
        Forward messages F and backward messages B, [T, K] each; F is 0 at the first token, B at the last.

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


def _length_batches(
    emissions: np.ndarray, lengths: Sequence[int] | np.ndarray
) -> Iterator[tuple[list[int], np.ndarray, np.ndarray]]:
    """Batches of sentences of about one length.

    Yields:
        Indices of sentences, longest first; their emissions, padded with zeros, [B, T, K]; their lengths, [B].
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


def _running_counts(sizes: np.ndarray) -> list[int]:
    """Number of sentences with a token at each position, for lengths in descending order.

    Example:
        >>> _running_counts(np.array([3, 1, 1]))
        [3, 1, 1]
    """
    counts: list[int] = np.searchsorted(-sizes, -np.arange(sizes[0])).tolist()
    return counts


def _forward_backward(scores: np.ndarray, sizes: np.ndarray, transitions: np.ndarray) -> np.ndarray:
    """Marginals of a batch, longest sentence first: [B, T, K].

    Each step is normalised, and the largest score is subtracted before taking exponents, so that nothing overflows.
    """
    longest = scores.shape[1]
    weight = np.exp(scores - scores.max(axis=2, keepdims=True))
    step = np.exp(transitions - transitions.max())
    forward, backward = np.ones_like(weight), np.ones_like(weight)
    forward[:, 0] = _normalised(weight[:, 0])
    counts = _running_counts(sizes)
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


def best_paths(emissions: np.ndarray, lengths: Sequence[int], transitions: np.ndarray) -> list[np.ndarray]:
    """The path with the highest score for each sentence; of equal paths the one whose last tag has the lower index.

    Args:
        emissions: emissions of all sentences, concatenated: [N, K].
        lengths: tokens per sentence; their sum is N.
        transitions: [K, K].

    Returns:
        T tag indices for each sentence.
    """
    sizes = np.asarray(lengths, int)
    stops = np.cumsum(sizes)
    starts = stops - sizes
    path = _joined_path(emissions, starts[starts < stops], transitions)
    return [path[start:stop] for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)]


def best_valid_tags(tables: Sequence[np.ndarray], tags: Sequence[str]) -> list[list[str]]:
    """The most probable valid IOB2 tags of each sentence, if its tokens are independent of each other.

    Args:
        tables: the probability of each tag at each token, [T, K] for each sentence.
        tags: the tag of each column.

    Example:
        >>> best_valid_tags([np.array([[0.5, 0.4, 0.1], [0.1, 0.6, 0.3]])], ["B-ID", "I-ID", "O"])
        [['B-ID', 'I-ID']]
    """
    names = np.array(tags, object)
    transitions = np.where(valid_transitions(tags), 0.0, _NEVER)
    first = np.where(valid_first(tags), 0.0, _NEVER)
    found = []
    for start in range(0, len(tables), _SENTENCES):
        some, scores = tables[start : start + _SENTENCES], []
        for table in some:
            score = np.log(np.maximum(table, 1e-300, dtype=float))
            score[:1] += first
            scores.append(score)
        paths = best_paths(np.concatenate(scores), [len(table) for table in some], transitions)
        found += [names[path].tolist() for path in paths]
    return found


def _joined_path(emissions: np.ndarray, starts: np.ndarray, transitions: np.ndarray) -> np.ndarray:
    """The concatenated paths of all sentences, [N], given the first token of each."""
    opens, closes = np.zeros((2, len(emissions)), bool)  # first and last tokens of sentences
    opens[starts] = True
    closes[starts - 1] = True  # -1 for the first: the last token
    tag = int(np.bincount(emissions.argmax(axis=1), minlength=1).argmax())
    left = _undecided(emissions, opens, closes, transitions, tag)
    path = np.where(left, 0, tag)
    first = np.flatnonzero(left & (opens | ~np.roll(left, 1)))
    last = np.flatnonzero(left & (closes | ~np.roll(left, -1)))
    scores, sizes = emissions[left], last - first + 1
    ends = np.cumsum(sizes)
    scores[ends - sizes] += np.where(opens[first, None], 0, transitions[tag])
    scores[ends - 1] += np.where(closes[last, None], 0, transitions[:, tag])
    path[left] = _viterbi(scores, sizes, transitions)
    return path


def _undecided(
    emissions: np.ndarray, opens: np.ndarray, closes: np.ndarray, transitions: np.ndarray, tag: int
) -> np.ndarray:
    """Mask [N] of the tokens that may have another tag than ``tag`` on the best path; see the module's docstring."""
    over = transitions - transitions[tag, tag]
    into = (np.maximum(over[tag], 0) + (over - over[:, tag, None]).max(axis=0)) / 2  # q: midpoint of its bounds
    out = (over - into).max(axis=1)  # p: the least for this q
    gains = emissions + (into + out)
    gains[opens] -= into
    gains[closes] -= out
    gains[:, tag] = -np.inf
    gain = gains.max(axis=1) - emissions[:, tag]
    if not np.abs(gain).max(initial=0) < _FAR:  # true for NaN too
        return np.ones(len(gain), bool)
    # The best sum of any interval around each token: the largest prefix sum from the token on, less the smallest one up
    # to it. Sums drop by _FAR between sentences, so that no interval spans two.
    sums = np.cumsum(gain) - _FAR * np.cumsum(opens)
    best = np.maximum.accumulate(sums[::-1])[::-1] - np.minimum.accumulate(sums - gain)
    undecided: np.ndarray = best > -_SLACK
    return undecided


def _viterbi(emissions: np.ndarray, lengths: np.ndarray, transitions: np.ndarray) -> np.ndarray:
    """The concatenated best paths of sentences, [N]."""
    path = np.empty(len(emissions), int)
    starts = np.cumsum(lengths) - lengths
    for members, scores, sizes in _length_batches(emissions, lengths):
        found = _paths_of_batch(scores, sizes, transitions)
        own = np.arange(len(found))[:, None] < sizes  # [T, B]
        indices = starts[members] + np.arange(len(found))[:, None]
        path[indices[own]] = found[own]
    return path


def _paths_of_batch(scores: np.ndarray, sizes: np.ndarray, transitions: np.ndarray) -> np.ndarray:
    """Best paths of a batch, longest sentence first: [T, B].

    The backward pass computes the best predecessor of each chosen tag again, K sums per token; stored back-pointers
    would take K squared.
    """
    batch, longest, _ = scores.shape
    best = scores.transpose(1, 0, 2).copy()  # [T, B, K]: best score of the paths that end in a tag
    counts = _running_counts(sizes)
    for t in range(1, longest):
        running = counts[t]
        best[t, :running] += (best[t - 1, :running, :, None] + transitions).max(axis=1)
    paths = np.zeros((longest, batch), int)
    rows = np.arange(batch)
    paths[sizes - 1, rows] = best[sizes - 1, rows].argmax(axis=1)
    for t in range(longest - 1, 0, -1):
        running = counts[t]
        into = transitions.T[paths[t, :running]]  # [B, from]
        paths[t - 1, :running] = (best[t - 1, :running] + into).argmax(axis=1)
    return paths

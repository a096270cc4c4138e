"""Inference in a linear-chain CRF, for many sentences at once: Viterbi's best path and the forward-backward marginals.

A path y through a sentence of T tokens scores ``sum_t E[t, y_t] + sum_(t>0) A[y_(t-1), y_t]``, with emissions E [T, K]
and transitions A [K, K]. Sentences of a batch are padded to the longest; what is padding is never looked at, so that no
sentence's result depends on its company.

Reference:
    Lafferty et al. (2001), section 3; Rabiner (1989) for the scaling of the forward and backward variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from crfdeid.bio import valid_first, valid_transitions

# A batch has sentences of about one length, and no more padded tokens than this unless one sentence alone has.
_BATCH_TOKENS = 4096
_SENTENCES = 1024  # that are tagged together: arrays for all of them would be several times what is asked for

_NEVER = -1e9  # the score of a tag that may not follow
_SLACK = 1e-3  # far above all errors of rounding


def best_paths(emissions: np.ndarray, lengths: Sequence[int], transitions: np.ndarray) -> list[np.ndarray]:
    """The path with the highest score for each sentence; of equals the one with the smaller number at its end.

    Args:
        emissions: those of all sentences, one below the other: [N, K].
        lengths: the tokens of each sentence, N together.
        transitions: [K, K].

    Returns:
        For each sentence, T numbers of tags.
    """
    paths = [np.empty(0, int)] * len(lengths)
    for members, scores, sizes in _batches(emissions, lengths):
        for member, path in zip(members, _viterbi(scores, sizes, transitions), strict=True):
            paths[member] = path
    return paths


def best_valid(tables: Sequence[np.ndarray], tags: Sequence[str]) -> list[list[str]]:
    """The most probable valid IOB2 tags of each sentence, where its tokens are independent of each other.

    Args:
        tables: the probability of each tag at each token, [T, K] for each sentence.
        tags: the tag of each column.

    Example:
        >>> best_valid([np.array([[0.5, 0.4, 0.1], [0.1, 0.6, 0.3]])], ["B-ID", "I-ID", "O"])
        [['B-ID', 'I-ID']]
    """
    names = np.array(tags, object)
    transitions = np.where(valid_transitions(tags), 0.0, _NEVER)
    first = np.where(valid_first(tags), 0.0, _NEVER)
    found = []
    for start in range(0, len(tables), _SENTENCES):
        some, scores = tables[start : start + _SENTENCES], []
        for table in some:
            score = np.log(np.maximum(table, 1e-300), dtype=float)
            score[:1] += first
            scores.append(score)
        paths = best_paths(np.concatenate(scores), [len(table) for table in some], transitions)
        found += [names[path].tolist() for path in paths]
    return found


def marginals(emissions: np.ndarray, lengths: Sequence[int], transitions: np.ndarray) -> list[np.ndarray]:
    """The probability of each tag at each token of each sentence: [T, K], rows sum to 1.

    Args:
        emissions: those of all sentences, one below the other: [N, K].
        lengths: the tokens of each sentence, N together.
        transitions: [K, K].
    """
    tables = [np.empty((0, emissions.shape[1]))] * len(lengths)
    for members, scores, sizes in _batches(emissions, lengths):
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


def _batches(emissions: np.ndarray, lengths: Sequence[int]) -> Iterator[tuple[list[int], np.ndarray, np.ndarray]]:
    """Numbers of sentences, longest first; their emissions, padded with zeros, [B, T, K]; their lengths, [B]."""
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


def _viterbi(scores: np.ndarray, sizes: np.ndarray, transitions: np.ndarray) -> list[np.ndarray]:
    """Best paths of a batch, longest sentence first.

    The way back takes the best tag before each chosen one anew: that is K sums for each token, where keeping them for
    every tag would be K squared.
    """
    batch, longest, _ = scores.shape
    best = scores.transpose(1, 0, 2).copy()  # [T, B, K]: of all paths that end in a tag
    lead = _sufficient_lead(transitions)
    for t in range(1, longest):
        running = _longer_than(t, sizes)
        best[t, :running] += _best_into(best[t - 1, :running], transitions, lead)
    paths = np.empty((longest, batch), int)
    rows = np.arange(batch)
    paths[sizes - 1, rows] = best[sizes - 1, rows].argmax(axis=1)
    for t in range(longest - 1, 0, -1):
        running = _longer_than(t, sizes)
        into = transitions.T[paths[t, :running]]  # [B, from]
        paths[t - 1, :running] = (best[t - 1, :running] + into).argmax(axis=1)
    return [paths[:size, row] for row, size in enumerate(sizes)]


def _sufficient_lead(transitions: np.ndarray) -> np.ndarray:
    """By how much a path to one tag must lead those to another, that none of these goes on as a best one: [one, other].

    What comes next adds the same to both, but for the transition into it.
    """
    lead: np.ndarray = (transitions[None, :, :] - transitions[:, None, :]).max(axis=2)
    return lead + _SLACK


def _best_into(best: np.ndarray, transitions: np.ndarray, lead: np.ndarray) -> np.ndarray:
    """The highest score with which a path reaches each tag at the next token, its own emission left out: [B, K].

    Mostly two or three tags of a token are not too far behind the best for a best path; where many are, the sums over
    all are faster. Both give the same.

    Args:
        best: the highest scores at this token: [B, K].
        transitions: [K, K].
        lead: of `_sufficient_lead`.
    """
    top = best.argmax(axis=1)
    rows, tags = np.nonzero(best >= best.max(axis=1, keepdims=True) - lead[top])
    if 4 * len(rows) > best.size:
        through: np.ndarray = best.T[:, :, None] + transitions[:, None, :]  # [from, B, to]
        return through.max(axis=0)
    first = np.searchsorted(rows, np.arange(len(best)))
    reached: np.ndarray = np.maximum.reduceat(best[rows, tags][:, None] + transitions[tags], first, axis=0)
    return reached


def _longer_than(count: int, sizes: np.ndarray) -> int:
    """How many sentences have more tokens than that; they are the first ones."""
    return int(np.searchsorted(-sizes, -count))


def _forward_backward(scores: np.ndarray, sizes: np.ndarray, transitions: np.ndarray) -> np.ndarray:
    """Marginals of a batch, longest sentence first: [B, T, K].

    Every step is divided by its sum, and exponents are taken below their largest, so that nothing overflows.
    """
    longest = scores.shape[1]
    weight = np.exp(scores - scores.max(axis=2, keepdims=True))
    step = np.exp(transitions - transitions.max())
    forward, backward = np.ones_like(weight), np.ones_like(weight)
    forward[:, 0] = _normalised(weight[:, 0])
    for t in range(1, longest):
        running = _longer_than(t, sizes)
        forward[:running, t] = _normalised((forward[:running, t - 1] @ step) * weight[:running, t])
    for t in range(longest - 2, -1, -1):
        running = _longer_than(t + 1, sizes)
        backward[:running, t] = _normalised((weight[:running, t + 1] * backward[:running, t + 1]) @ step.T)
    return _normalised(forward * backward)


def _normalised(values: np.ndarray) -> np.ndarray:
    scaled: np.ndarray = values / values.sum(axis=-1, keepdims=True)
    return scaled

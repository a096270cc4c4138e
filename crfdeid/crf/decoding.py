"""Inference in a linear-chain CRF, for many sentences at once: Viterbi paths and forward-backward marginals.

A path y through a sentence of T tokens scores ``sum_t E[t, y_t] + sum_(t>0) A[y_(t-1), y_t]``, with emissions E [T, K]
and transitions A [K, K]. Padded positions are never read, so that a sentence's result does not depend on its batch.

Viterbi runs on part of the tokens only. Most tokens are clearly outside: the most frequent tag, r, leads there by more
than any transition can make up. Let D[a, b] = A[a, b] - A[r, r], and p and q such that p[r] = q[r] = 0 and
p[a] + q[b] >= D[a, b]. A path with other tags on the tokens i to j, and r before and after them, scores at most

    sum over t from i to j of g[t],    g[t] = max over k other than r of E[t, k] + q[k] + p[k] - E[t, r],

more than the path with r on them too (without q on a sentence's first token, and without p on its last). A token has r
on the best path if that sum is below 0 for every interval i to j that contains it. The remaining tokens, about a third,
form runs between tokens whose tag is known; each run is decoded like a sentence.

Reference:
    Lafferty et al. (2001), section 3; Rabiner (1989) for the scaling of the forward and backward variables;
    Forney (1973), "The Viterbi algorithm"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from crfdeid.bio import valid_first, valid_transitions

# A batch has sentences of about one length, and no more padded tokens than this unless one sentence alone has.
_BATCH_TOKENS = 4096


def chain_marginals(emissions: np.ndarray, lengths: Sequence[int], transitions: np.ndarray) -> list[np.ndarray]:
    """The probability of each tag at each token of each sentence: [T, K], rows sum to 1.

    Args:
        emissions: those of all sentences, one below the other: [N, K].
        lengths: the tokens of each sentence, N together.
        transitions: [K, K].
    """
    tables = [np.empty((0, emissions.shape[1]))] * len(lengths)
    for members, scores, sizes in _length_batches(emissions, lengths):
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


def _length_batches(
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


def _running_counts(sizes: np.ndarray) -> list[int]:
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


_SENTENCES = 1024  # that are tagged together: arrays for all of them would be several times what is asked for
_NEVER = -1e9  # the score of a tag that may not follow
_SLACK = 1e-3  # far above all errors of rounding
# More than a tag is ever ahead; where one is, all tokens are undecided, since sums could be wrong by more than _SLACK.
_FAR = 1e3


def best_paths(emissions: np.ndarray, lengths: Sequence[int], transitions: np.ndarray) -> list[np.ndarray]:
    """The path with the highest score for each sentence; of equals the one with the smaller number at its end.

    Args:
        emissions: those of all sentences, one below the other: [N, K].
        lengths: the tokens of each sentence, N together.
        transitions: [K, K].

    Returns:
        For each sentence, T numbers of tags.
    """
    sizes = np.asarray(lengths, int)
    stops = np.cumsum(sizes)
    starts = stops - sizes
    path = _joined_path(emissions, starts[starts < stops], transitions)
    return [path[start:stop] for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)]


def best_valid_tags(tables: Sequence[np.ndarray], tags: Sequence[str]) -> list[list[str]]:
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


def _joined_path(emissions: np.ndarray, starts: np.ndarray, transitions: np.ndarray) -> np.ndarray:
    """The paths of all sentences, one after the other, from where each begins: [N]."""
    opens, closes = np.zeros((2, len(emissions)), bool)  # whether a token opens a sentence, and closes one
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
    """Which tokens may have another tag than a given one on the best path: [N] bool. See the head of this module."""
    over = transitions - transitions[tag, tag]
    into = (np.maximum(over[tag], 0) + (over - over[:, tag, None]).max(axis=0)) / 2  # q: between the least and the most
    out = (over - into).max(axis=1)  # p: then the least
    gains = emissions + (into + out)
    gains[opens] -= into
    gains[closes] -= out
    gains[:, tag] = -np.inf
    gain = gains.max(axis=1) - emissions[:, tag]
    if not np.abs(gain).max(initial=0) < _FAR:  # also where one is no number
        return np.ones(len(gain), bool)
    # The best sum of any stretch around each token: the largest sum up to its end or further, less the smallest up to
    # its start or less far. From one sentence to the next is a step down, so that no stretch goes on there.
    sums = np.cumsum(gain) - _FAR * np.cumsum(opens)
    best = np.maximum.accumulate(sums[::-1])[::-1] - np.minimum.accumulate(sums - gain)
    undecided: np.ndarray = best > -_SLACK
    return undecided


def _viterbi(emissions: np.ndarray, lengths: np.ndarray, transitions: np.ndarray) -> np.ndarray:
    """The best paths of sentences, one after the other: [N]."""
    lead = _sufficient_lead(transitions)
    path = np.empty(len(emissions), int)
    starts = np.cumsum(lengths) - lengths
    for members, scores, sizes in _length_batches(emissions, lengths):
        found = _paths_of_batch(scores, sizes, transitions, lead)
        own = np.arange(len(found))[:, None] < sizes  # [T, B]
        places = starts[members] + np.arange(len(found))[:, None]
        path[places[own]] = found[own]
    return path


def _paths_of_batch(scores: np.ndarray, sizes: np.ndarray, transitions: np.ndarray, lead: np.ndarray) -> np.ndarray:
    """Best paths of a batch, longest sentence first: [T, B].

    The way back takes the best tag before each chosen one anew: that is K sums for each token, where keeping them for
    every tag would be K squared.
    """
    batch, longest, _ = scores.shape
    best = scores.transpose(1, 0, 2).copy()  # [T, B, K]: of all paths that end in a tag
    counts = _running_counts(sizes)
    for t in range(1, longest):
        running = counts[t]
        best[t, :running] += _best_into(best[t - 1, :running], transitions, lead)
    paths = np.zeros((longest, batch), int)
    rows = np.arange(batch)
    paths[sizes - 1, rows] = best[sizes - 1, rows].argmax(axis=1)
    for t in range(longest - 1, 0, -1):
        running = counts[t]
        into = transitions.T[paths[t, :running]]  # [B, from]
        paths[t - 1, :running] = (best[t - 1, :running] + into).argmax(axis=1)
    return paths


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

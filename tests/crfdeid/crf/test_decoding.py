"""Best paths against a plain Viterbi; the best valid tags of independent tokens against all sequences there are."""

from itertools import pairwise, product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.bio import may_begin, may_follow
from crfdeid.crf.decoding import best_paths, best_valid_tags

TAGS = ("B-A", "B-B", "I-A", "O")


def plain_viterbi(emissions: np.ndarray, transitions: np.ndarray) -> list[int]:
    """The best path of one sentence; of equals the one with the smaller number at its end."""
    best = [emissions[0]]
    for row in emissions[1:]:
        best.append(row + (best[-1][:, None] + transitions).max(axis=0))
    path = [int(best[-1].argmax())]
    for row in best[-2::-1]:
        path.insert(0, int((row + transitions[:, path[0]]).argmax()))
    return path


@given(
    lengths=st.lists(st.integers(0, 7), max_size=5),
    tags=st.integers(1, 9),
    scale=st.sampled_from([0.5, 5.0, 50.0]),  # how many tags of a token stay possible
    whole=st.booleans(),  # with many paths of the same score
    ahead=st.sampled_from([0.0, 2.0, 6.0]),  # how far the last tag leads, so that some tokens are decided by that
    seed=st.integers(0, 99),
)
def test_best_paths_are_those_of_a_plain_viterbi(lengths, tags, scale, whole, ahead, seed):
    random = np.random.default_rng(seed)
    emissions, transitions = scale * random.normal(size=(sum(lengths), tags)), random.normal(size=(tags, tags))
    emissions[:, -1] += ahead
    if whole:
        emissions, transitions = emissions.round(), transitions.round()
    ends = np.cumsum(lengths)
    for length, end, path in zip(lengths, ends, best_paths(emissions, lengths, transitions), strict=True):
        assert path.tolist() == (plain_viterbi(emissions[end - length : end], transitions) if length else [])


def test_a_tag_that_leads_by_far_and_one_that_cannot_be_are_decoded_as_ever():
    random = np.random.default_rng(0)
    emissions, transitions = random.normal(size=(40, 3)), random.normal(size=(3, 3))
    emissions[::7, 1] += 1e6
    emissions[3::5, 2] = -np.inf
    transitions[0, 2] = -1e9
    (path,) = best_paths(emissions, [40], transitions)
    assert path.tolist() == plain_viterbi(emissions, transitions)


def valid(tags) -> bool:
    return may_begin(tags[0]) and all(may_follow(tag, before) for before, tag in pairwise(tags))


@given(st.lists(st.integers(0, 4), max_size=4), st.integers(0, 99))
def test_the_most_probable_valid_tags_of_all(lengths, seed):
    random = np.random.default_rng(seed)
    tables = [random.dirichlet(np.ones(len(TAGS)), size=length) for length in lengths]
    for table, found in zip(tables, best_valid_tags(tables, TAGS), strict=True):
        sequences = [tags for tags in product(TAGS, repeat=len(table)) if not tags or valid(tags)]
        chance = [np.prod([row[TAGS.index(tag)] for row, tag in zip(table, tags, strict=True)]) for tags in sequences]
        assert tuple(found) == sequences[int(np.argmax(chance))]


def test_what_has_no_probability_at_all_can_be_decoded_too():
    assert best_valid_tags([np.array([[0.0, 0.0, 1.0, 0.0]])], TAGS)[0][0] in ("B-A", "B-B", "O")

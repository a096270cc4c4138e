"""The best valid tags of independent tokens, against all sequences there are."""

from itertools import pairwise, product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.bio import may_begin, may_follow
from crfdeid.crf.inference import best_valid

TAGS = ("B-A", "B-B", "I-A", "O")


def valid(tags) -> bool:
    return may_begin(tags[0]) and all(may_follow(tag, before) for before, tag in pairwise(tags))


@given(st.lists(st.integers(0, 4), max_size=4), st.integers(0, 99))
def test_the_most_probable_valid_tags_of_all(lengths, seed):
    random = np.random.default_rng(seed)
    tables = [random.dirichlet(np.ones(len(TAGS)), size=length) for length in lengths]
    for table, found in zip(tables, best_valid(tables, TAGS), strict=True):
        sequences = [tags for tags in product(TAGS, repeat=len(table)) if not tags or valid(tags)]
        chance = [np.prod([row[TAGS.index(tag)] for row, tag in zip(table, tags, strict=True)]) for tags in sequences]
        assert tuple(found) == sequences[int(np.argmax(chance))]


def test_what_has_no_probability_at_all_can_be_decoded_too():
    assert best_valid([np.array([[0.0, 0.0, 1.0, 0.0]])], TAGS)[0][0] in ("B-A", "B-B", "O")

"""Scores from arrays are those from tags."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from rnn.training.scoring import count_tag_ids

from crfdeid.evaluation import count_tags

TAGS = ("O", "B-ID", "I-ID", "B-DATE", "I-DATE")


@given(st.data())
def test_scores_from_arrays_are_those_from_tags(data):
    lengths = data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=5))
    total, replicates = sum(lengths), data.draw(st.integers(1, 3))
    ids = st.lists(st.integers(0, len(TAGS) - 1), min_size=total, max_size=total)
    gold = np.array(data.draw(ids))
    predicted = np.array([data.draw(ids) for _ in range(replicates)])
    ends = np.cumsum(lengths)
    first = np.isin(np.arange(total), ends - lengths)

    def rows(found):
        return [tuple(TAGS[k] for k in part) for part in np.split(found, ends[:-1])]

    expected = [count_tags(rows(gold), rows(found)) for found in predicted]
    assert count_tag_ids(TAGS, gold, predicted, first) == expected

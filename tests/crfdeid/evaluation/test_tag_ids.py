"""Counts from arrays of tag ids against those from tags."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.evaluation import count_tags
from crfdeid.evaluation.entities import count_tag_ids


@given(st.data())
def test_scores_from_ids_are_those_from_tags(data):
    tags = ("O", "B-ID", "I-ID", "B-DATE", "I-DATE")
    lengths = data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=5))
    ids = st.lists(st.integers(0, len(tags) - 1), min_size=sum(lengths), max_size=sum(lengths))
    gold, predicted = np.array(data.draw(ids)), np.array(data.draw(ids))
    ends = np.cumsum(lengths)
    first = np.isin(np.arange(sum(lengths)), ends - lengths)

    def rows(found):
        return [tuple(tags[k] for k in part) for part in np.split(found, ends[:-1])]

    assert count_tag_ids(tags, gold, predicted, first) == count_tags(rows(gold), rows(predicted))

"""F on the dev sentences against `crfdeid.evaluation` on the tags, and the loss of held-out rows."""

import jax.numpy as jnp
import numpy as np
import pytest
import tiny_crf

from crfdeid.evaluation import count_tags
from rnn.batching import batches
from rnn.decode import best_tags, iob_constraints
from rnn.training.loop import Dev

TAGS = ("B-ID", "I-ID", "O")


@pytest.fixture(scope="module")
def dev():
    """Sentences of several lengths, one without tokens, and gold tags of which training saw only some."""
    random = np.random.default_rng(0)
    rows = [tiny_crf.row_of(random.integers(1, tiny_crf.V, length)) for length in (3, 1, 0, 12, 7, 3)]
    gold = [tuple(random.choice([*TAGS, "B-DATE"], row.length)) for row in rows]
    return rows, gold


@pytest.mark.parametrize("decoding", ["valid", "argmax"])
def test_it_is_strict_f_also_for_tags_that_training_never_saw(dev, decoding):
    rows, gold = dev
    begins, scores = {"phi": iob_constraints(TAGS, decoding)}, []
    measure = Dev(rows, {"phi": gold}, {"phi": TAGS}, decoding)
    for seed in range(6):
        structure, params = tiny_crf.start(seed)
        predicted = [() for _ in rows]
        for members, batch in batches(rows):
            ids = np.asarray(best_tags(structure, params, batch, begins=begins)["phi"])
            for place, i in enumerate(members):
                predicted[i] = tuple(TAGS[k] for k in ids[place, : rows[i].length])
        scores.append(measure.f1(structure, params))
        assert scores[-1] == pytest.approx(count_tags(gold, predicted).micro.f1)
    assert len(set(scores)) > 2


def test_all_right_is_1_and_nothing_found_is_0():
    structure, params = tiny_crf.start()
    params["tables.words"] = 20.0 * jnp.eye(tiny_crf.V, tiny_crf.K)  # words 0, 1 and 2 are B-ID, I-ID and O
    params["network.A"] = jnp.zeros_like(params["network.A"])
    rows = [tiny_crf.row_of([2, 0, 1]), tiny_crf.row_of([2, 2])]
    gold = [("O", "B-ID", "I-ID"), ("O", "O")]
    assert Dev(rows, {"phi": gold}, {"phi": TAGS}, "valid").f1(structure, params) == 1.0
    other = [("B-ID", "O", "O"), ("B-ID", "I-ID")]
    assert Dev(rows, {"phi": other}, {"phi": TAGS}, "valid").f1(structure, params) == 0.0

"""Taggers that train together end up as each would alone, and those that cannot are trained all the same."""

import dataclasses

import jax
import numpy as np
import pytest
from tiny_notes import DEV, SMALL, TRAIN

from crfdeid.errors import EmptyInputError, OptionConflictError
from rnn import BilstmCrfTagger, ElmanSettings, ElmanTagger, JordanSettings, JordanTagger
from rnn.embeddings import WordVectors
from rnn.training.replicates import fit_together, replicate_groups

pytestmark = pytest.mark.usefixtures("quickly_compiled")

VECTORS = WordVectors(("Doe", "</s>"), np.eye(2, 6, dtype=np.float32))


def weights_of(tagger):
    return jax.tree.map(np.asarray, tagger.learned.weights)


@pytest.mark.parametrize(
    ("cls", "settings", "frozen"),
    [
        (ElmanTagger, ElmanSettings, False),
        pytest.param(ElmanTagger, ElmanSettings, True, marks=pytest.mark.slow),
        pytest.param(JordanTagger, JordanSettings, False, marks=pytest.mark.slow),
    ],
)
def test_replicates_end_up_as_each_would_alone(cls, settings, frozen):
    base = settings(**{**SMALL, "dropout": 0.5, "epochs": 3}, freeze_embeddings=frozen)
    each = [
        base,
        dataclasses.replace(base, lr=0.05, dropout=0.1),
        dataclasses.replace(base, max_norm=None, final_lr=1.0),
    ]
    alone = [cls(one, seed=seed) for seed, one in enumerate(each)]
    curves = [[] for _ in each]
    for tagger, curve in zip(alone, curves, strict=True):
        tagger.fit(TRAIN, DEV, on_progress=curve.append)
    side_by_side = [cls(one, seed=seed) for seed, one in enumerate(each)]
    told = [[] for _ in each]
    fit_together(side_by_side, TRAIN, DEV, on_progress=lambda n, progress: told[n].append(progress))
    sentences = [item.sentence for item in DEV]
    for one, other, curve, progress in zip(alone, side_by_side, curves, told, strict=True):
        assert [point.dev_f1 for point in curve] == [point.dev_f1 for point in progress]
        np.testing.assert_allclose([p.loss for p in curve], [p.loss for p in progress], rtol=1e-4)
        jax.tree.map(
            lambda a, b: np.testing.assert_allclose(a, b, rtol=0, atol=1e-5), weights_of(one), weights_of(other)
        )
        assert one.predict(sentences) == other.predict(sentences)


def test_replicates_differ():
    taggers = [ElmanTagger(ElmanSettings(**SMALL), seed=seed) for seed in range(3)]
    fit_together(taggers, TRAIN, DEV)
    tables = [weights_of(tagger).tables["words"] for tagger in taggers]
    assert not np.allclose(tables[0], tables[1]) and not np.allclose(tables[1], tables[2])


OTHERS = [
    JordanTagger(JordanSettings(**SMALL)),
    ElmanTagger(ElmanSettings(**{**SMALL, "hidden": 9})),
    ElmanTagger(ElmanSettings(**{**SMALL, "epochs": 7})),
    ElmanTagger(ElmanSettings(**SMALL), vectors=VECTORS),
]


@pytest.mark.parametrize("other", OTHERS)
def test_what_cannot_be_trained_together_is_refused_and_grouped_apart(other):
    both = [ElmanTagger(ElmanSettings(**SMALL)), other]
    with pytest.raises(OptionConflictError):
        fit_together(both, TRAIN, DEV)
    assert replicate_groups(both) == [[0], [1]]


def test_many_that_are_no_one_program_are_all_trained_and_tell_their_places():
    small = ElmanSettings(**{**SMALL, "epochs": 2})
    each = [(small, 0), (dataclasses.replace(small, epochs=1), 0), (small, 1), (small, 2)]
    taggers = [ElmanTagger(settings, seed=seed) for settings, seed in each]
    told = [[] for _ in taggers]
    ElmanTagger.fit_many(taggers, TRAIN, DEV, on_progress=lambda place, progress: told[place].append(progress.step))
    assert told == [[1, 2], [1], [1, 2], [1, 2]]
    for (settings, seed), together in zip(each, taggers, strict=True):
        alone = ElmanTagger(settings, seed=seed)
        alone.fit(TRAIN, DEV)
        jax.tree.map(
            lambda a, b: np.testing.assert_allclose(a, b, rtol=0, atol=1e-5), weights_of(alone), weights_of(together)
        )


def test_what_cannot_be_one_program_trains_alone():
    assert replicate_groups([BilstmCrfTagger(), BilstmCrfTagger(seed=1)]) == [[0], [1]]
    own = [ElmanTagger(dataclasses.replace(ElmanSettings(**SMALL), lr=lr)) for lr in (0.1, 0.2)]
    assert replicate_groups([own[0], OTHERS[1], own[1]]) == [[0, 2], [1]]


def test_nothing_to_train_is_refused_or_nothing():
    fit_together([], TRAIN, DEV)
    with pytest.raises(EmptyInputError):
        fit_together([ElmanTagger(ElmanSettings(**SMALL))], [], DEV)

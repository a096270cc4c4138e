"""Trainings together have the results of each alone, whatever their seeds, settings and ends."""

import dataclasses
import subprocess
import sys

import jax
import numpy as np
import optax
import pytest
import tiny_crf
from tiny_notes import DEV, SMALL, TRAIN

from crfdeid.errors import EmptyInputError
from rnn import BilstmCrfSettings, BilstmCrfTagger, ElmanSettings, ElmanTagger, JordanSettings, JordanTagger
from rnn.embeddings import WordVectors
from rnn.layers.dropout import WordDropout
from rnn.training import replicates
from rnn.training.loop import DeviceBatches, start_training, train
from rnn.training.minibatches import optimiser, per_sentences
from rnn.training.replicates import train_together
from rnn.training.schedules import Phase, early_stopping
from rnn.training.steps import per_sentence

pytestmark = pytest.mark.usefixtures("quickly_compiled")

ROWS = [
    tiny_crf.row_of(words, tags)
    for words, tags in [([1, 4, 2], (0, 2, 1)), ([4, 4], (1, 1)), ([5], (0,)), ([2, 1, 4], (2, 0, 1)), ([3, 5], (0, 1))]
]
UPDATES = {"per_sentence": per_sentence(), "per_sentences": per_sentences(2, optimiser(optax.nadam))}
KINDS = pytest.mark.parametrize("updates", UPDATES)


class Scripted:
    """Dev metric with these F, epoch after epoch."""

    def __init__(self, *scores):
        self.scores = iter(scores)

    def f1(self, structure, params):
        return next(self.scores)


def training(seed, updates, *, buckets, rates=(0.1,) * 3, scores=None, dropout=0.4, average=0.0, rows=ROWS, **phase):
    """A training with its own seed, parameters, learning rates and F on dev, patient for one epoch."""
    structure, params = tiny_crf.start(seed, dropout=dropout)

    def phase_of(epoch):
        return Phase("it", rows, UPDATES[updates], rates[epoch], max_norm=5.0, average=average, **phase)

    schedule = early_stopping(phase_of, epochs=len(rates), patience=1)
    dev = None if scores is None else Scripted(*scores)
    return start_training(structure, params, schedule, seed=seed, epochs=len(rates), dev=dev, buckets=buckets)


def steps_together(monkeypatch):
    """Numbers of trainings in each stacked step, in order."""
    sizes, run = [], replicates._run
    monkeypatch.setattr(replicates, "_run", lambda steps: sizes.append(len(steps)) or run(steps))
    return sizes


def check(each, updates):
    """Train with each set of options together and alone, and compare."""
    buckets = DeviceBatches()
    together = train_together([training(seed, updates, buckets=buckets, **how) for seed, how in enumerate(each)])
    for seed, how in enumerate(each):
        alone = train(training(seed, updates, buckets=DeviceBatches(), **how))
        assert together[seed].keys() == alone.keys()
        for name, array in alone.items():
            np.testing.assert_allclose(together[seed][name], array, rtol=1e-4, atol=1e-5, err_msg=f"{seed} {name}")
    return together


@KINDS
def test_each_has_the_parameters_of_train_alone(updates, monkeypatch):
    sizes = steps_together(monkeypatch)
    first, second, third = check([{}, {}, {"rates": (0.1, 0.05, 0.2)}], updates)  # a learning rate is an argument
    assert set(sizes) == {3}
    assert not np.allclose(first["network.A"], second["network.A"])
    assert not np.allclose(second["network.A"], third["network.A"])


@KINDS
def test_trainings_can_end_at_different_epochs(updates, monkeypatch):
    sizes = steps_together(monkeypatch)
    check(
        [
            {"scores": (0.5, 0.6, 0.7)},
            {"scores": (0.5, 0.4)},  # ends after its second epoch, and has the first one's parameters
            {"scores": (0.1, 0.3, 0.2)},
        ],
        updates,
    )
    assert sizes[0] == 3 and sizes[-1] == 2
    assert sizes == sorted(sizes, reverse=True)
    sizes.clear()
    check([{"rates": (0.1,)}, {"rates": (0.1,) * 4}], updates)
    assert sizes[0] == 2 and sizes[-1] == 1


@KINDS
def test_trainings_of_different_programs_are_separate_groups(updates, monkeypatch):
    """Other dropout or frozen parameters: another program. Each has its own result all the same."""
    sizes = steps_together(monkeypatch)
    frozen = {"trains": lambda name: name != "tables.words"}
    found = check([{}, {"dropout": 0.1}, {}, frozen], updates)
    assert sorted(set(sizes)) == [1, 2]
    np.testing.assert_array_equal(found[3]["tables.words"], tiny_crf.start(3)[1]["tables.words"])


def test_trainings_with_and_without_an_optimiser_are_separate_groups():
    buckets = [DeviceBatches(), DeviceBatches()]
    kinds = ["per_sentence", "per_sentences"] * 2
    found = train_together([training(n, kind, buckets=buckets[n % 2]) for n, kind in enumerate(kinds)])
    for n, kind in enumerate(kinds):
        alone = train(training(n, kind, buckets=DeviceBatches()))
        for name, array in alone.items():
            np.testing.assert_allclose(found[n][name], array, rtol=1e-4, atol=1e-5)


def test_trainings_with_averages_have_those_of_each_alone():
    check([{"average": 0.9}, {"average": 0.5}, {"average": 0.0}], "per_sentences")


@KINDS
def test_trainings_with_other_rows_or_word_dropout_have_the_results_of_each_alone(updates):
    drop = {"words": WordDropout(np.full(tiny_crf.V, 0.5, np.float32), np.ones(tiny_crf.V, np.int32))}
    buckets = [DeviceBatches(), DeviceBatches()]
    how = [{}, {"rows": ROWS[:3]}]
    for more in ({}, {"drop": drop}):
        found = train_together([training(n, updates, buckets=buckets[n], **how[n], **more) for n in range(2)])
        for n in range(2):
            alone = train(training(n, updates, buckets=DeviceBatches(), **how[n], **more))
            for name, array in alone.items():
                np.testing.assert_allclose(found[n][name], array, rtol=1e-4, atol=1e-5)


def test_trainings_with_their_own_word_dropout_have_the_results_of_each_alone():
    """The same rows and program, but not the same words to drop."""
    drops = [
        {"words": WordDropout(np.full(tiny_crf.V, chance, np.float32), np.ones(tiny_crf.V, np.int32))}
        for chance in (0.0, 1.0)
    ]
    check([{"drop": drop} for drop in drops], "per_sentence")


def test_no_training_has_no_result():
    assert train_together([]) == []


def test_the_loop_does_not_import_replicates():
    code = "import sys, rnn.training.loop; assert 'rnn.training.replicates' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


VECTORS = WordVectors(("Doe", "</s>"), np.eye(2, 6, dtype=np.float32))


def same_tagger(one, other):
    a, b = one.learned.params, other.learned.params
    assert a.keys() == b.keys()
    for name, array in a.items():
        np.testing.assert_allclose(array, b[name], rtol=0, atol=1e-5, err_msg=name)
    sentences = [item.sentence for item in DEV]
    assert one.predict(sentences) == other.predict(sentences)


@pytest.mark.parametrize(
    ("cls", "settings", "frozen"),
    [
        (ElmanTagger, ElmanSettings, False),
        pytest.param(ElmanTagger, ElmanSettings, True, marks=pytest.mark.slow),
        pytest.param(JordanTagger, JordanSettings, False, marks=pytest.mark.slow),
    ],
)
def test_taggers_that_are_fitted_together_are_those_fitted_alone(cls, settings, frozen):
    base = settings(**{**SMALL, "dropout": 0.5, "epochs": 3}, freeze_embeddings=frozen)
    others = [
        dataclasses.replace(base, lr=0.05, dropout=0.1),
        dataclasses.replace(base, max_norm=None, final_lr=1.0),
        dataclasses.replace(base, epochs=1),
        dataclasses.replace(base, hidden=9),
    ]
    each = [(base, 0, None), (base, 1, None), *((one, 0, None) for one in others), (base, 2, None), (base, 0, VECTORS)]

    def make():
        return [cls(one, seed=seed, vectors=vectors) for one, seed, vectors in each]

    alone, together = make(), make()
    curves, reported = [[] for _ in each], [[] for _ in each]
    for tagger, curve in zip(alone, curves, strict=True):
        tagger.fit(TRAIN, DEV, on_progress=curve.append)
    cls.fit_many(together, TRAIN, DEV, on_progress=lambda n, progress: reported[n].append(progress))
    for one, other, curve, progress in zip(alone, together, curves, reported, strict=True):
        assert [point.step for point in curve] == [point.step for point in progress]
        assert [point.dev_f1 for point in curve] == [point.dev_f1 for point in progress]
        np.testing.assert_allclose([p.loss for p in curve], [p.loss for p in progress], rtol=1e-4)
        same_tagger(one, other)
    tables = [np.asarray(tagger.learned.params["tables.words"]) for tagger in together]
    assert frozen or not np.allclose(tables[0], tables[1])


def test_taggers_with_equal_settings_share_steps(monkeypatch):
    sizes = steps_together(monkeypatch)
    small = ElmanSettings(**{**SMALL, "epochs": 1})
    each = [(small, 0), (dataclasses.replace(small, hidden=9), 0), (small, 1), (small, 2)]
    ElmanTagger.fit_many([ElmanTagger(one, seed=seed) for one, seed in each], TRAIN, [])
    assert set(sizes) == {3, 1}


def test_taggers_that_differ_in_numbers_which_a_step_reads_share_steps(monkeypatch):
    sizes = steps_together(monkeypatch)
    small = ElmanSettings(**{**SMALL, "epochs": 1})
    changes = ({}, {"lr": 0.02}, {"max_norm": None}, {"word_dropout": 0.0}, {"embedding_range": 0.1}, {"final_lr": 1.0})
    each = [dataclasses.replace(small, **change) for change in changes]
    alone, together = [ElmanTagger(one) for one in each], [ElmanTagger(one) for one in each]
    ElmanTagger.fit_many(together, TRAIN, [])
    assert set(sizes) == {len(each)}
    for one, other in zip(alone, together, strict=True):
        one.fit(TRAIN, [])
        same_tagger(one, other)


class SmallDevice:
    """Device whose free memory holds two replicates of small networks."""

    def memory_stats(self):
        """Like those of a GPU."""
        small = ElmanTagger(ElmanSettings(**SMALL))
        bytes_of_one = sum(array.nbytes for array in small.initial(small.prepare(TRAIN)[0]).params.values())
        return {"bytes_limit": 30 * bytes_of_one, "bytes_in_use": 10 * bytes_of_one}


def test_replicates_that_do_not_fit_into_memory_train_in_parts_of_about_one_size(monkeypatch):
    sizes = steps_together(monkeypatch)
    monkeypatch.setattr(jax, "devices", lambda: [SmallDevice()])
    taggers = [ElmanTagger(ElmanSettings(**{**SMALL, "epochs": 1}), seed=seed) for seed in range(5)]
    ElmanTagger.fit_many(taggers, TRAIN, [])
    assert set(sizes) == {1, 2} and all(tagger.learned for tagger in taggers)


def test_a_model_that_does_not_train_together_is_trained_one_by_one(monkeypatch):
    sizes = steps_together(monkeypatch)
    small = {"hidden": 4, "embedding_dim": 4, "char_dim": 0, "features": "none", "epochs": 1, "min_count": 1}
    taggers = [BilstmCrfTagger(BilstmCrfSettings(**small), seed=seed) for seed in (0, 1)]
    BilstmCrfTagger.fit_many(taggers, TRAIN[:8], [])
    assert sizes == [] and all(tagger.learned for tagger in taggers)


def test_nothing_to_train_is_refused_or_nothing():
    ElmanTagger.fit_many([], TRAIN, DEV)
    with pytest.raises(EmptyInputError):
        ElmanTagger.fit_many([ElmanTagger(ElmanSettings(**SMALL))], [], DEV)

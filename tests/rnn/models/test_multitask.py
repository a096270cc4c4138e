"""The multitask model: its heads against plain NumPy, and how both joint models are trained."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from tiny_joint import BOTH, CONCEPTS_ALONE, PHI_ALONE, SMALL, labelled

from crfdeid.documents import CONCEPT, PHI
from crfdeid.errors import SettingError
from crfdeid.registry import create
from rnn.batching import make_batch
from rnn.layers.softmax import SoftmaxScores
from rnn.models.joint import JointSettings, joint_optimiser
from rnn.models.multitask import Multitask, MultitaskSettings, MultitaskTagger, TaskOutput
from rnn.models.stacked import StackedSettings, StackedTagger
from rnn.training.losses import tagging_loss
from rnn.training.minibatches import total_loss
from rnn.training.schedules import EvalResult, nll_loss
from rnn.training.turns import in_turns

TRAIN = [*BOTH, *PHI_ALONE, *CONCEPTS_ALONE]


def test_a_head_is_a_hidden_layer_with_relu_under_a_crf():
    head = TaskOutput(4, 6, 3, rngs=nnx.Rngs(1))
    states = np.random.default_rng(0).normal(size=(5, 4))
    W, b, U, c = (np.asarray(array[...], float) for array in (head.W, head.b, head.crf.U, head.crf.c))
    expected = np.maximum(states @ W.T + b, 0.0) @ U.T + c
    np.testing.assert_allclose(head(jnp.asarray(states, jnp.float32)).emissions, expected, atol=1e-5)
    assert W.shape == (6, 4)


def test_both_heads_read_the_same_states():
    net = Multitask(
        {"dim": 3, "casing": False},
        {"hidden": 2, "layers": 1},
        task_hidden=4, tags={PHI: 3, CONCEPT: 2}, context=0, rngs=nnx.Rngs(0),
    )  # fmt: skip
    vectors = {"words": jnp.asarray(np.random.default_rng(0).normal(size=(4, 3)), jnp.float32)}
    found = net.scores(vectors, {"words": jnp.array([7, 8, 9, 0])}, jnp.array(3))
    states = net.bilstm(vectors["words"], jnp.array([True, True, True, False]))
    for layer, head in ((PHI, net.phi), (CONCEPT, net.concept)):
        np.testing.assert_allclose(found[layer].emissions, head(states).emissions, atol=1e-6)
    assert found[CONCEPT].emissions.shape == (4, 2)


def phases(tagger, f1s):
    """The phases of a training, of which each has this F on dev."""
    processor = tagger.processor(TRAIN)
    rows = processor.rows([item.sentence for item in TRAIN], TRAIN)
    schedule, found, told = tagger.schedule(processor, rows), [], None
    for f1 in f1s:
        try:
            found.append(schedule.send(told))
        except StopIteration:
            break
        told = EvalResult(f1, None)
    return found, rows


@pytest.mark.parametrize(("model", "own"), [("multitask", "network.concept.W"), ("stacked", "tables.concept words")])
def test_phi_alone_comes_first_then_both(model, own):
    settings = {**SMALL, "epochs": 4, "phi_first": 3}
    found, rows = phases(create(model, overrides=settings), [0.1, 0.2, 0.3, 0.4, 0.5])
    assert len(found) == 4
    for phase in found[:3]:
        assert {tuple(row.targets) for row in phase.rows} == {(PHI,)}
        assert len(phase.rows) == len(BOTH) + len(PHI_ALONE)
        assert not phase.trains(own) and phase.trains("tables.words") and phase.trains("network.phi.b")
    assert found[3].rows is rows and found[3].trains(own) and found[3].name != found[2].name
    assert [tuple(row.targets) for row in rows[-4:]] == [(PHI,)] * 2 + [(CONCEPT,)] * 2


NO_DROPOUT = {"input_dropout": 0.0, "variational_dropout": 0.0, "output_dropout": 0.0, "word_dropout": 0.0}
PLAIN = {**SMALL, **NO_DROPOUT, "optimiser": "sgd", "average": 0.0, "max_norm": None, "final_lr": 1.0, "batch": 99}


def test_batches_of_phi_and_of_concepts_alternate_with_a_rate_each_over_all_weights():
    """Against two gradients by hand: of all sentences with PHI, then of all with concepts."""
    tagger = create("multitask", overrides={**PLAIN, "lr": 0.5, "tasks": "alternating", "concept_rate": 2.0})
    processor, rows = tagger.prepare(TRAIN)
    structure, params = tagger.initial(processor)[1:]
    params = {name: np.array(array) for name, array in params.items()}
    for layer, rate in ((PHI, 0.5), (CONCEPT, 1.0)):
        some = [row._replace(targets={layer: row.targets[layer]}) for row in rows if layer in row.targets]
        batch = make_batch(some, length=max(row.length for row in some))
        gradients = jax.grad(lambda params: total_loss(structure, nll_loss, params, batch, None) / len(some))(params)  # noqa: B023
        params = {name: array - rate * np.asarray(gradients[name]) for name, array in params.items()}
    tagger.fit(TRAIN, [])
    for name, array in params.items():
        np.testing.assert_allclose(tagger.learned.params[name], array, rtol=2e-4, atol=2e-5, err_msg=name)


def test_the_longer_task_waits_for_the_next_epoch():
    runs = [(0, None, 1), (0, None, 2), (1, None, 3), (0, None, 4), (1, None, 5)]
    assert [count for *_, count in in_turns(runs, (CONCEPT, PHI), [PHI, CONCEPT].__getitem__)] == [3, 1, 5, 2]


@pytest.mark.parametrize(("chosen_by", "expected"), [("both", 0.5), ("concepts", 1.0)])
def test_the_epoch_is_chosen_by_both_layers_or_by_concepts(chosen_by, expected):
    """A network that takes every token for a drug, on a note that is one, and has PHI."""
    tagger = create("multitask", overrides={**PLAIN, "chosen_by": chosen_by})
    processor, _ = tagger.prepare(TRAIN)
    structure, params = tagger.initial(processor)[1:]
    tags = processor.tags[CONCEPT]
    bias = jnp.array([100.0 * (tag == "B-DRUG") for tag in tags])
    params = {**params, "network.concept.crf.c": bias}
    params = {**params, "network.phi.crf.c": 100.0 * jnp.array([tag == "O" for tag in processor.tags[PHI]])}
    dev = [labelled("aspirin", "B-PATIENT", "B-DRUG")]
    assert tagger.dev_metric(processor, dev).f1(structure, params) == expected


@pytest.mark.parametrize("profile", [MultitaskTagger.profiles()["lange2020"], StackedTagger.profiles()["lange2020"]])
def test_lange2020_is_section_4_1(profile):
    assert (profile.optimiser, profile.lr, profile.lr * profile.concept_rate) == ("sgd", 0.1, 0.2)
    assert (profile.batch, profile.hidden, profile.phi_first, profile.halve_after) == (32, 256, 3, 3)
    assert (profile.tasks, profile.chosen_by) == ("alternating", "concepts")
    assert MultitaskTagger.profiles()["lange2020"].task_hidden == 128


def test_the_rate_is_halved_after_three_epochs_without_gain():
    tagger = StackedTagger(StackedSettings(**SMALL | {"epochs": 9}, lr=0.1, halve_after=3))
    found, _ = phases(tagger, [0.5, 0.4, 0.5, 0.3, 0.6, 0.6, 0.6, 0.6, 0.6])
    np.testing.assert_allclose([phase.rate for phase in found], [0.1] * 4 + [0.05] * 4 + [0.025])


def test_epochs_of_phi_alone_do_not_count_for_the_rate():
    settings = SMALL | {"epochs": 8, "phi_first": 3, "chosen_by": "concepts"}
    found, _ = phases(StackedTagger(StackedSettings(**settings, lr=0.1, halve_after=3)), [0.0] * 8)
    np.testing.assert_allclose([phase.rate for phase in found], [0.1] * 7 + [0.05])


def test_the_part_of_the_concepts_takes_longer_steps():
    moving = {"network.phi.W": jnp.ones(2), "network.concept.W": jnp.ones(2), "tables.concept words": jnp.ones(2)}
    sgd = joint_optimiser(1.0, name="sgd", concept_rate=2.0)
    steps, _ = sgd.update(moving, sgd.init(moving), moving)
    assert {name: float(step[0]) for name, step in steps.items()} == {
        "network.phi.W": -1.0, "network.concept.W": -2.0, "tables.concept words": -2.0,
    }  # fmt: skip


def test_a_row_counts_for_the_layers_that_it_has():
    class Fixed:
        def scores(self, vectors, inputs, length, key=None):
            return {PHI: SoftmaxScores(jnp.zeros((2, 3))), CONCEPT: SoftmaxScores(jnp.zeros((2, 5)))}

    def loss(*layers):
        targets = dict.fromkeys(layers, jnp.zeros(2, int))
        return float(nll_loss(Fixed(), {}, inputs={}, targets=targets, length=jnp.array(2), key=None))

    def mean_loss(length):
        targets = {PHI: jnp.zeros(2, int)}
        return float(tagging_loss("mean")(Fixed(), {}, inputs={}, targets=targets, length=jnp.array(length), key=None))

    np.testing.assert_allclose([mean_loss(2), mean_loss(1), mean_loss(0)], [np.log(3), np.log(3), 0.0], rtol=1e-6)
    expected = [2 * np.log(3), 2 * np.log(5), 2 * np.log(15), 0.0]
    np.testing.assert_allclose([loss(PHI), loss(CONCEPT), loss(PHI, CONCEPT), loss()], expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("phi_first", -1),
        ("concept_rate", 0.0),
        ("optimiser", "adam"),
        ("halve_after", 0),
        ("tasks", "in turn"),
        ("chosen_by", "phi"),
    ],
)
def test_a_setting_that_cannot_work_is_refused(name, value):
    with pytest.raises(SettingError, match=f"{name}.*{value}"):
        JointSettings(**{name: value})


def test_epochs_for_concepts_must_be_left():
    with pytest.raises(SettingError, match=r"epochs is 3.*phi_first"):
        JointSettings(epochs=3, phi_first=3)


def test_further_settings_are_checked_too():
    with pytest.raises(SettingError, match="task_hidden"):
        MultitaskSettings(task_hidden=0)
    with pytest.raises(SettingError, match="temperature"):
        StackedSettings(temperature=0.0)

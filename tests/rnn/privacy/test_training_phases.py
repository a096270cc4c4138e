"""The phases of training: what each trains on and what decides, which is never what was trained on."""

import numpy as np
import optax
import pytest
import tiny_private as tiny

from rnn.inputs import TokenProcessor
from rnn.privacy.adversaries import PairVocabulary, Replaceable
from rnn.privacy.training import PHASES, PrivateLoss, Rows, noise_rate_nadam, phases
from rnn.training.schedules import EvalResult

WORDS = PairVocabulary.of([*tiny.TRAIN, *tiny.HELD_OUT], tiny.vectors(), 3)
PROCESSOR = TokenProcessor(WORDS.vocabulary, {"phi": ("B-DOCTOR", "O")}, casing=True)


TURNS = {"P1": ("P1",), "P2": ("P2",), "P3": ("P3a tagger", "P3a adversaries", "P3b"), "DANN": ("DANN",)}
"""Phases of a turn, by the part of training."""


def schedule(part, most=2, patience=2, **changed):
    random = np.random.default_rng(0)
    train, held_out = (
        Rows(PROCESSOR.rows([item.sentence for item in some], some), Replaceable.of(some, WORDS))
        for some in (tiny.TRAIN, tiny.HELD_OUT)
    )
    held_out = held_out._replace(drawn=held_out.quadruples(random))
    settings = tiny.settings(**changed)
    return phases(TURNS[part], train, held_out, settings, random, most=most, patience=patience)


def drive(schedule, losses):
    """The phases of a schedule that is told of these losses on held-out sentences."""
    found, told = [], None
    for loss in [*losses, None]:
        try:
            found.append(schedule.send(told))
        except StopIteration:
            break
        told = EvalResult(None, loss)
    return found


def texts(rows):
    """Each row's words, those of its sentence alone."""
    return sorted(
        " ".join(WORDS.word(number) for number in (ids if ids.ndim == 1 else ids[:, 0]).tolist())
        for ids in (row.inputs["words"] for row in rows)
    )


def all_phases():
    """Each phase once."""
    return [phase for part, names in TURNS.items() for phase in drive(schedule(part), [1.0] * (len(names) - 1))]


def test_the_phases_of_a_turn_follow_each_other_as_in_the_paper():
    names = [phase.name for phase in drive(schedule("P3"), [1.0, 0.9, 0.8, 0.7, 0.6])]
    assert names == ["P3a tagger", "P3a adversaries", "P3b"] * 2
    assert [phase.name for phase in all_phases()] == list(PHASES)


def test_each_trains_its_parts_of_the_network_and_never_the_word_vectors():
    for phase in all_phases():
        moving = {part for part in ("representation", "tagger", "adversaries") if phase.trains(f"network.{part}.x.W")}
        assert moving == set(PHASES[phase.name][1])
        assert not phase.trains("tables.words")


@pytest.mark.parametrize("phase", all_phases(), ids=lambda phase: phase.name)
def test_what_decides_is_never_what_was_trained_on(phase):
    """Every part is judged by the sentences of the held-out documents, by nothing else, and with its noise."""
    trained, held_out = [item.sentence.words for item in tiny.TRAIN], [item.sentence.words for item in tiny.HELD_OUT]
    pairs = phase.name in ("P2", "P3a adversaries")
    for rows, sentences in ((phase.rows, trained), (phase.held_out, held_out)):
        wanted = [words for words in sentences if not pairs or set(words) & set(tiny.NAMES)]
        assert texts(rows) == sorted(map(" ".join, wanted))
    assert isinstance(phase.held_out_loss, PrivateLoss) and not phase.held_out_loss.dropout


def test_pairs_are_drawn_anew_for_each_phase_and_held_out_ones_stay():
    drawn = drive(schedule("P2", most=8, patience=8), [1.0] * 8)
    assert len({b"".join(row.inputs["words"].tobytes() for row in phase.rows) for phase in drawn}) > 4
    assert len({id(phase.held_out) for phase in drawn}) == 1


def test_in_p3b_sentences_without_phi_count_for_the_tagger_alone():
    *_, phase = drive(schedule("P3", most=1), [1.0, 1.0, 1.0])
    assert sorted(row.inputs["words"].ndim for row in phase.rows) == [1, 2, 2, 2]
    assert all(row.targets["phi"].shape == (row.length,) for row in phase.rows)


@pytest.mark.parametrize("phi", [1, 3])
def test_balanced_rows_are_as_many_with_phi_as_without_in_the_third_part_alone(phi):
    some = [tiny.tagged("by Quill")] * phi + [tiny.tagged("by Dr today")] * (4 - phi)
    rows = Rows(PROCESSOR.rows([item.sentence for item in some], some), Replaceable.of(some, WORDS))
    settings = tiny.settings(balanced=True)
    found = [
        drive(phases(TURNS[part], rows, rows, settings, np.random.default_rng(0), most=1, patience=1), [1.0, 1.0])
        for part in ("P1", "P3")
    ]
    tagged = [sorted(text.count("Quill") for text in texts(phase.rows)) for phases in found for phase in phases]
    assert tagged == [[0] * (4 - phi) + [1] * phi, [0, 1], [1] * phi, [0, 1]]


@pytest.mark.parametrize(
    ("losses", "turns"),
    [([3, 2, 1, 0.5, 0.4], 5), ([1, 2, 3, 0.5, 0.4], 3), ([2, 3, 1, 1, 1], 5), ([np.nan] * 5, 2)],
)
def test_a_part_ends_when_the_held_out_loss_has_not_fallen_for_a_while(losses, turns):
    assert len(drive(schedule("P1", most=5), losses)) == turns


def test_of_a_turn_of_several_phases_the_last_one_decides():
    falling_but_for_the_last = [0.9, 0.9, 9, 0.8, 0.8, 9, 0.7, 0.7, 9]
    assert len(drive(schedule("P3", most=9, patience=1), falling_but_for_the_last)) == 6


def test_a_part_that_is_not_measured_is_refused():
    with pytest.raises(ValueError, match="held-out"):
        drive(schedule("P1"), [None])


def test_the_deviations_of_the_noise_have_steps_of_their_own():
    """Against Nadam by hand: theirs are ten times as long, all others as ever."""
    parameters = {"network.representation.input_noise.s": np.ones(2), "network.representation.layer.W": np.ones(2)}
    gradients = {name: np.array([0.3, -2.0]) for name in parameters}
    nadam, alone = noise_rate_nadam(1.0, faster=10.0), optax.nadam(1.0)
    steps, _ = nadam.update(gradients, nadam.init(parameters), parameters)
    expected, _ = alone.update(np.array([0.3, -2.0]), alone.init(np.ones(2)), np.ones(2))
    noise, others = steps.values()
    np.testing.assert_allclose(others, expected, rtol=1e-5)
    np.testing.assert_allclose(noise, 10 * np.asarray(expected), rtol=1e-5)


def test_fewer_lengths_are_compiled_for_a_few_epochs():
    """What compiling for one more length costs is shared out among the epochs that use the program."""
    costs = [schedule("P1", most=epochs).send(None).updates.bucket_cost for epochs in (1, 4, 40)]
    assert costs == sorted(costs, reverse=True)
    assert costs[0] == 4 * costs[1] == 40 * costs[2]

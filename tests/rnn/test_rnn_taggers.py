"""What the networks' taggers do beyond the contract of every tagger."""

import dataclasses
import re

import numpy as np
import pytest

from crfdeid.documents import LabelledSentence
from crfdeid.errors import DataError, UsageError
from crfdeid.models import load_tagger
from features.tokens import Sentence
from rnn import ElmanSettings, ElmanTagger, JordanSettings, JordanTagger

SMALL = {"hidden": 8, "embedding_dim": 6, "window": 3, "lr": 0.2, "epochs": 6, "min_count": 1, "dropout": 0.0}


def labelled(words: str, tags: str) -> LabelledSentence:
    return LabelledSentence(Sentence.from_words(words.split()), tuple(tags.split()))


TRAIN = [
    labelled("Dr Jane Doe called", "O B-DOCTOR I-DOCTOR O"),
    labelled("seen on 03 / 14", "O O B-DATE I-DATE I-DATE"),
    labelled("no new complaints", "O O O"),
]


def test_the_paper_profile_is_table_3():
    elman, jordan = ElmanTagger.profiles()["yadav2016"], JordanTagger.profiles()["yadav2016"]
    assert (elman.hidden, elman.window, jordan.hidden, jordan.window) == (100, 11, 150, 9)
    for settings in (elman, jordan):
        assert (settings.lr, settings.dropout, settings.epochs) == (0.01, 0.5, 25)
        assert (settings.embedding_dim, settings.embedding_range, settings.init_range) == (100, 0.25, 1.0)
        assert (settings.final_lr, settings.word_dropout, settings.decoding) == (1.0, 0.0, "argmax")
        assert settings.max_norm is None


def test_the_default_keeps_the_papers_sizes():
    elman, jordan = ElmanSettings(), JordanSettings()
    assert (elman.hidden, elman.window, elman.layers) == (100, 11, 1)
    assert (jordan.hidden, jordan.window) == (150, 9)
    assert elman.epochs == jordan.epochs == 25


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("window", 4), ("window", 0), ("hidden", 0), ("hidden", 2.5), ("embedding_dim", -1), ("epochs", 0),
        ("min_count", 0), ("lr", 0.0), ("lr", float("nan")), ("lr", float("inf")), ("lr", 1e300), ("final_lr", -0.1),
        ("final_lr", 1.5), ("dropout", 1.0), ("dropout", -0.1), ("embedding_range", -1.0), ("init_range", 0.0),
        ("word_dropout", -1.0), ("layers", 0), ("max_norm", 0.0), ("decoding", "beam"),
    ],
)  # fmt: skip
def test_a_setting_that_cannot_work_is_refused(name, value):
    with pytest.raises(UsageError, match=f"{name}.*{re.escape(str(value))}"):
        ElmanSettings(**{name: value})


def test_jordan_has_one_layer():
    assert "layers" not in {field.name for field in dataclasses.fields(JordanSettings)}


@pytest.mark.parametrize("layers", [2, 3])
def test_deep_elman_networks_train_and_load(layers, tmp_path):
    tagger = ElmanTagger(ElmanSettings(layers=layers, **SMALL))
    tagger.fit(TRAIN, [])
    tagger.save(tmp_path)
    loaded = load_tagger(tmp_path)
    for a, b in zip(tagger.marginals([TRAIN[0].sentence]), loaded.marginals([TRAIN[0].sentence]), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(("cls", "settings"), [(ElmanTagger, ElmanSettings), (JordanTagger, JordanSettings)])
def test_the_best_epoch_on_dev_is_kept_and_the_first_of_equals(cls, settings):
    """Stopping after the best epoch gives the same model: what follows it leaves no trace."""
    dev = [labelled("Dr Ann Roe left", "O B-DOCTOR I-DOCTOR O"), labelled("on 04 / 02", "O B-DATE I-DATE I-DATE")]
    curve = []
    whole = cls(settings(**SMALL, final_lr=1.0))
    whole.fit(TRAIN * 3, dev, on_progress=lambda progress: curve.append(progress.dev_f1))
    best = curve.index(max(curve)) + 1
    stopped = cls(settings(**{**SMALL, "epochs": best}, final_lr=1.0))
    stopped.fit(TRAIN * 3, dev)
    sentences = [item.sentence for item in dev]
    for a, b in zip(whole.marginals(sentences), stopped.marginals(sentences), strict=True):
        np.testing.assert_array_equal(a, b)


def test_loss_falls_and_is_a_mean_over_tokens():
    curve = []
    tagger = ElmanTagger(ElmanSettings(**{**SMALL, "epochs": 40}, word_dropout=0.0))
    tagger.fit(TRAIN, [], on_progress=curve.append)
    losses = [progress.loss for progress in curve]
    assert losses[-1] < 0.6 * losses[0]
    assert losses[0] < 2 * np.log(len(tagger.tags))
    assert all(progress.dev_f1 is None for progress in curve)


def test_predictions_are_valid_iob2_unless_asked_otherwise():
    tagger = ElmanTagger(ElmanSettings(**{**SMALL, "epochs": 1}), seed=3)
    tagger.fit(TRAIN, [])
    random = np.random.default_rng(0)
    words = [word for item in TRAIN for word in item.sentence.words]
    sentences = [Sentence.from_words(random.choice(words, 12).tolist()) for _ in range(50)]
    for row in tagger.predict(sentences):
        for before, tag in zip(["O", *row], row, strict=False):
            assert not tag.startswith("I-") or before[2:] == tag[2:]


def test_seeds_change_the_model():
    tables = []
    for seed in (0, 1):
        tagger = JordanTagger(JordanSettings(**SMALL), seed=seed)
        tagger.fit(TRAIN, [])
        tables.append(tagger.marginals([TRAIN[0].sentence])[0])
    assert not np.allclose(*tables)


def test_arrays_of_another_shape_are_refused(tmp_path):
    """A description that was changed by hand after saving: the checksum of the weights still holds."""
    tagger = ElmanTagger(ElmanSettings(**SMALL))
    tagger.fit(TRAIN, [])
    tagger.save(tmp_path)
    path = tmp_path / "model.json"
    path.write_text(path.read_text().replace('"hidden": 8', '"hidden": 9'))
    with pytest.raises(DataError, match="damaged"):
        load_tagger(tmp_path)


def test_a_word_of_the_training_data_is_stored_only_when_it_has_a_vector(tmp_path):
    tagger = ElmanTagger(ElmanSettings(**{**SMALL, "min_count": 2}))
    tagger.fit([*TRAIN, labelled("Dr Poe called", "O B-DOCTOR O")], [])
    tagger.save(tmp_path)
    text = (tmp_path / "model.json").read_text()
    assert '"called"' in text and '"Jane"' not in text and '"Poe"' not in text


@pytest.mark.slow
def test_a_very_long_training_sentence_is_learned_to_its_end():
    """No truncation: what stands only in the second half of a sentence of 20,000 tokens is learned."""
    long = labelled("no name " * 5_000 + "Mr Quill " * 5_000, "O O " * 5_000 + "O B-PATIENT " * 5_000)
    tagger = ElmanTagger(ElmanSettings(**{**SMALL, "epochs": 30, "lr": 0.02}, word_dropout=0.0))
    tagger.fit([long, *TRAIN], [])
    assert tagger.predict([Sentence.from_words(["Mr", "Quill"])]) == [["O", "B-PATIENT"]]

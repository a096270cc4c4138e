"""What every model in `MODELS` must do, whatever it is: one suite for all."""

import dataclasses
import json
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_encoders import tiny_encoder
from tiny_sharing import tiny_representation_folder

from crfdeid import registry
from crfdeid.documents import CONCEPT, PHI, LabelledSentence
from crfdeid.errors import DataError, UsageError
from crfdeid.explain import explain_prediction, explain_weights
from crfdeid.registry import load_for_finetuning
from crfdeid.serialization import has_private_vocabulary
from crfdeid.tagger import Finetunable, LayeredTagger, Tagger, Traits
from crfdeid.utils.json import fields_checksum
from crfdeid.validation import FOLDER_SETTINGS
from features.sentences import split_sentences
from features.tokens import Sentence

# Settings that make a model small and quick to learn by heart; each model takes those it has, and its own instead.
SMALL = {"epochs": 40, "hidden": 16, "embedding_dim": 12, "window": 3, "lr": 0.2, "final_lr": 1.0, "dropout": 0.1,
         "word_dropout": 0.0, "min_count": 1, "max_iterations": 60, "precision": 0.4}  # fmt: skip
OWN: dict[str, dict[str, Any]] = {
    "bilstm-crf": {
        "epochs": 60,
        "lr": 0.02,
        "layers": 1,
        "char_dim": 4,
        "char_filters": 6,
        "patience": None,
        "variational_dropout": 0.0,
        "output_dropout": 0.2,
    },
    "bert": {
        "epochs": 80,
        "lr": 0.01,
        "dropout": 0.0,
        "warmup": 0.0,
        "batch": 1,
        "window": 30,
        "overlap": 8,
        "encoder": str(tiny_encoder()),
    },
    "multitask": {
        "lr": 0.02,
        "char_dim": 4,
        "char_filters": 6,
        "patience": None,
        "phi_first": 0,
        "task_hidden": 8,
        "variational_dropout": 0.0,
        "output_dropout": 0.0,
    },
    "stacked": {"lr": 0.02, "char_dim": 4, "char_filters": 6, "patience": None, "phi_first": 0},
    "pipeline": {"deid": "crf", "concepts": "crf"},
    "private": {
        "epochs": 80,
        "lr": 0.05,
        "layers": 1,
        "variational_dropout": 0.0,
        "output_dropout": 0.0,
        "patience": None,
        "average": 0.0,
        "representation": str(tiny_representation_folder()),
    },
    "hybrid": {"member": "elman"},
    "ensemble": {"members": ("crf", "elman"), "combine": "mean"},
}

# Tags of a further annotation layer, "concept", for models that learn more than PHI.
SYMPTOMS = {"pain": "B-SYMPTOM", "sputum": "B-SYMPTOM"}


def note(document: str, *lines: str) -> list[LabelledSentence]:
    """A note of one sentence a line, such as "Dr/O Doe/B-DOCTOR"; its sentences know what is around them."""
    rows = [[item.rsplit("/", 1) for item in line.split()] for line in lines]
    tokens = Sentence.from_words([word for row in rows for word, _ in row]).tokens
    found, start = [], 0
    for number, row in enumerate(rows):
        stop = start + len(row)
        sentence = Sentence(tokens[start:stop], line=number, line_count=len(rows), note=tokens, note_start=start)
        layers = {"concept": tuple(SYMPTOMS.get(word, "O") for word, _ in row)}
        found.append(LabelledSentence(sentence, tuple(tag for _, tag in row), document, layers))
        start = stop
    return found


TRAIN = [
    *note(
        "1",
        "seen/O by/O Dr/O Jane/B-DOCTOR Doe/I-DOCTOR on/O 03/B-DATE ///I-DATE 14/I-DATE",
        "Dr/O Roe/B-DOCTOR saw/O Mr/O Quillfeather/B-PATIENT in/O clinic/O",
        "Mr/O Brown/B-PATIENT denies/O pain/O",
    ),
    *note("2", "admitted/O 04/B-DATE ///I-DATE 02/I-DATE", "brown/O sputum/O noted/O", "stable/O"),
]
INVENTED = {"quillfeather"}  # words that no vocabulary can know that was published
SENTENCES = [item.sentence for item in TRAIN]
UNSEEN = [  # at most 16 tokens: a network compiles its programs for each length of 8, 16, 32, …
    Sentence.from_words(["Zxqv"]),
    Sentence.from_words(["Mr", "Ünïcödé", "😀", "\u200b", "12345678901234567890"]),
    Sentence.from_words(["Dr", "Doe"] * 8),
    *split_sentences("HISTORY\nSeen by Dr. Brown. Mr Roe denies sputum.\nPlan: rest"),
]
TAGS = {tag for item in TRAIN for tag in item.tags}

# Other words with other tags, but as many as those above: arrays of the same shapes, for which no network is compiled
# anew.
OTHERS = [
    *note(
        "3",
        "seen/O by/O Dr/O Jona/B-NURSE Dee/I-NURSE on/O 03/B-DAY ///I-DAY 14/I-DAY",
        "Dr/O Roe/B-NURSE saw/O Mr/O Quillfeather/B-VISITOR in/O clinic/O",
        "Mr/O Brown/B-VISITOR denies/O pain/O",
    ),
    *note("4", "admitted/O 04/B-DAY ///I-DAY 02/I-DAY", "brown/O sputum/O noted/O", "stable/O"),
]

# JAX takes a minute to compile all that is asked here of one of these; tests/rnn/models has quick tests of them too.
SLOW = ("multitask", "stacked")
NAMES = [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in registry.MODELS]
# One model after the other: what a worker compiled for a model it compiled for all of the model's tests.
pytestmark = [pytest.mark.parametrize("name", NAMES, scope="module"), pytest.mark.usefixtures("quickly_compiled")]


def create(name: str, *, seed: int = 0, **more: Any) -> Tagger:
    return registry.create(name, seed=seed, overrides=registry.select(name, SMALL | OWN.get(name, {}) | more))


def fit(name: str, *, seed: int = 0, train=TRAIN, dev=TRAIN, **more: Any) -> Tagger:
    tagger = create(name, seed=seed, **more)
    tagger.fit(train, dev)
    return tagger


@cache
def fitted(name: str) -> Tagger:
    """A tagger that knows `TRAIN` by heart, shared by all tests: prediction must not change it.

    Without dev sentences it is trained to its last epoch. With them the first epoch of the highest F would be kept,
    whose decisions are close: rounding on another processor may turn them.
    """
    return fit(name, dev=())


BRIEFLY = 6
"""Epochs enough to tell two models apart: where only equality is asked, nothing need be known by heart."""


@cache
def begun(name: str, seed: int) -> Tagger:
    """A tagger that was trained for a few epochs."""
    return fit(name, seed=seed, epochs=BRIEFLY)


@pytest.fixture
def tagger(name: str) -> Tagger:
    return fitted(name)


def traits(tagger: Tagger) -> Traits:
    return tagger.traits(tagger.settings)


def same_marginals(first, second):
    assert len(first) == len(second)
    for a, b in zip(first, second, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-5)


def by_heart(tagger: Tagger) -> None:
    """For what only a model can do that learns any few sentences: others are left out, and it shows."""
    if not traits(tagger).is_trained:
        pytest.skip("it does not memorise, as its traits say")


def test_fits_a_handful_of_sentences(tagger):
    by_heart(tagger)
    assert tagger.predict(SENTENCES) == [list(item.tags) for item in TRAIN]


def test_training_goes_on_from_a_saved_network_and_from_nothing_else(name, tagger, tmp_path):
    """Steps too short to change anything leave all that the saved model says, new words included."""
    saved = tmp_path / "readable"
    tagger.save(saved)
    if not isinstance(tagger, Finetunable):
        with pytest.raises(UsageError, match="always trained from scratch"):
            load_for_finetuning(saved)
        return
    going = load_for_finetuning(saved, seed=1, overrides={"epochs": 1, "lr": 1e-9})
    going.fit(TRAIN, TRAIN)
    same_marginals(going.marginals(SENTENCES + UNSEEN), tagger.marginals(SENTENCES + UNSEEN))
    for setting in FOLDER_SETTINGS.intersection(registry.setting_names(name)):
        with pytest.raises(UsageError, match=f"{setting} cannot be changed here"):
            load_for_finetuning(saved, overrides={setting: "elsewhere"})
    with pytest.raises(UsageError, match="the notes have the tags B-DAY"):
        load_for_finetuning(saved).fit(OTHERS, [])
    tagger.save(tmp_path / "hashed", key=KEY)
    keyed = load_for_finetuning(tmp_path / "hashed", seed=1, overrides={"epochs": 1}, key=KEY)
    readable = load_for_finetuning(saved, seed=1, overrides={"epochs": 1})
    for one in (keyed, readable):
        one.fit(TRAIN, TRAIN)
    for a, b in zip(keyed.marginals(SENTENCES), readable.marginals(SENTENCES), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-3)  # features are summed in another order


def test_gives_one_known_tag_per_token(tagger):
    sentences = SENTENCES + UNSEEN
    rows = tagger.predict(sentences)
    assert [len(row) for row in rows] == [len(sentence.tokens) for sentence in sentences]
    assert {tag for row in rows for tag in row} <= set(tagger.tags)
    # No other types than those of training; of one whose names had one word there, a rule may find longer ones.
    assert TAGS <= set(tagger.tags) <= TAGS | {f"I-{tag[2:]}" for tag in TAGS if tag != "O"}
    assert list(tagger.tags) == sorted(tagger.tags)


def test_marginals_are_distributions_over_its_tags(tagger):
    for sentence, table in zip(SENTENCES + UNSEEN, tagger.marginals(SENTENCES + UNSEEN), strict=True):
        assert table.shape == (len(sentence.tokens), len(tagger.tags))
        assert (table >= 0).all()
        np.testing.assert_allclose(table.sum(axis=1), 1.0, atol=1e-5)


def test_marginals_of_what_it_knows_by_heart_point_at_the_tags(tagger):
    by_heart(tagger)
    for item, table in zip(TRAIN, tagger.marginals(SENTENCES), strict=True):
        assert tuple(tagger.tags[k] for k in table.argmax(axis=1)) == item.tags


def layered(tagger: Tagger) -> LayeredTagger:
    """For what only a model can do that tags concepts too."""
    if traits(tagger).layers == (PHI,):
        pytest.skip("it tags PHI alone, as its traits say")
    assert isinstance(tagger, LayeredTagger)
    return tagger


def test_concepts_are_tagged_beside_phi(tagger):
    found = layered(tagger).predict_layers(SENTENCES + UNSEEN)
    assert list(found) == list(traits(tagger).layers) == [PHI, CONCEPT]
    assert found[PHI] == tagger.predict(SENTENCES + UNSEEN)
    assert [len(row) for row in found[CONCEPT]] == [len(sentence.tokens) for sentence in SENTENCES + UNSEEN]
    assert found[CONCEPT][: len(TRAIN)] == [list(item.layer(CONCEPT)) for item in TRAIN]
    assert layered(tagger).predict_layers(SENTENCES + UNSEEN, phi=found[PHI]) == found
    assert layered(tagger).predict_layers([]) == {PHI: [], CONCEPT: []}


def test_phi_that_is_decided_already_is_reported_and_hidden(tagger):
    """Where PHI is hidden, no other word in its place changes what is read beside it, nor does what it is called."""
    given = [["B-PATIENT" if i % 2 else "O" for i in range(len(s.tokens))] for s in SENTENCES + UNSEEN]
    swapped = [
        Sentence.from_words(["Zyx" if tag != "O" else word for word, tag in zip(s.words, tags, strict=True)])
        for s, tags in zip(SENTENCES + UNSEEN, given, strict=True)
    ]
    found = layered(tagger).predict_layers(SENTENCES + UNSEEN, phi=given)
    assert found[PHI] == given
    if traits(tagger).hides_phi:
        assert tagger.predict_layers(swapped, phi=given) == found


def test_notes_without_the_layer_that_it_learns_are_refused(name):
    tagger = create(name)
    if traits(tagger).layers == (PHI,):
        pytest.skip("it tags PHI alone, as its traits say")
    with pytest.raises(DataError, match="--concepts"):
        tagger.fit([LabelledSentence(item.sentence, item.tags) for item in TRAIN], [])


def test_any_word_can_be_asked_about(tagger, name):
    found = explain_prediction(tagger, SENTENCES[0], 3, methods=["occlusion"], window=1)
    assert (found.model, explain_weights(tagger, top=2).model) == (name, name)
    assert found.tag == tagger.predict(SENTENCES[:1])[0][3] != found.contrast_tag
    assert [(term.word, term.place) for term in found.occlusion] == [("Dr", -1), ("Jane", 0), ("Doe", 1)]
    assert np.isfinite([found.log_odds, *(term.value for term in found.occlusion)]).all()


def test_no_sentences_no_tags(tagger):
    assert tagger.predict([]) == []
    assert tagger.marginals([]) == []


def test_no_tokens_no_tags(tagger):
    nothing = Sentence(())
    assert tagger.predict([nothing, *SENTENCES]) == [[], *tagger.predict(SENTENCES)]
    assert tagger.marginals([nothing])[0].shape == (0, len(tagger.tags))


def test_one_token(tagger):
    (row,) = tagger.predict([Sentence.from_words(["stable"])])
    assert row == ["O"]


@pytest.mark.slow
def test_a_very_long_sentence_is_tagged_to_its_end(tagger):
    words = ["word"] * 20_000 + ["Mr", "Brown", "denies", "pain"]
    (row,) = tagger.predict([Sentence.from_words(words)])
    assert len(row) == len(words)
    assert row[-3] == "B-PATIENT" or not traits(tagger).is_trained


def test_same_seed_same_model(name):
    first, again = begun(name, 0), fit(name, epochs=BRIEFLY)
    assert again.predict(UNSEEN) == first.predict(UNSEEN)
    for a, b in zip(again.marginals(UNSEEN), first.marginals(UNSEEN), strict=True):
        np.testing.assert_array_equal(a, b)


def test_without_anything_random_every_seed_gives_the_same_model(name):
    first, other = begun(name, 0), begun(name, 1)
    same = all(np.array_equal(*pair) for pair in zip(other.marginals(UNSEEN), first.marginals(UNSEEN), strict=True))
    assert same != traits(first).uses_seed


def test_many_trained_at_once_are_what_each_is_alone(name):
    taggers = [create(name, seed=seed, epochs=BRIEFLY) for seed in (1, 0)]
    told: list[list[int]] = [[], []]
    type(taggers[0]).fit_many(taggers, TRAIN, TRAIN, on_progress=lambda place, step: told[place].append(step.step))
    for together, alone in zip(taggers, (begun(name, 1), begun(name, 0)), strict=True):
        assert together.predict(SENTENCES) == alone.predict(SENTENCES)
        for a, b in zip(together.marginals(SENTENCES), alone.marginals(SENTENCES), strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-3)  # after many updates, in another order of sums
    assert told[0] == told[1] == list(range(1, len(told[0]) + 1)) != []


def test_vectors_that_a_model_cannot_start_from_are_refused(name, tagger):
    if traits(tagger).takes_vectors:
        pytest.skip("it takes word vectors")
    with pytest.raises(UsageError, match="has no word vectors"):
        registry.create(name, overrides=OWN.get(name), vectors=object())


def test_saved_and_loaded_it_predicts_the_same(tagger, name, tmp_path):
    tagger.save(tmp_path / "model")
    loaded = registry.load_tagger(tmp_path / "model")
    assert type(loaded) is type(tagger)
    nameless = {name: "" for name in FOLDER_SETTINGS if hasattr(tagger.settings, name)}
    assert (loaded.tags, loaded.settings) == (tagger.tags, dataclasses.replace(tagger.settings, **nameless))
    assert loaded.predict(SENTENCES + UNSEEN) == tagger.predict(SENTENCES + UNSEEN)
    for a, b in zip(loaded.marginals(UNSEEN), tagger.marginals(UNSEEN), strict=True):
        np.testing.assert_array_equal(a, b)


KEY = bytes(range(32))


def test_with_a_key_it_predicts_the_same_and_its_files_hold_no_word(tagger, tmp_path):
    tagger.save(tmp_path / "model", key=KEY)
    loaded = registry.load_tagger(tmp_path / "model", key=KEY)
    assert loaded.predict(SENTENCES + UNSEEN) == tagger.predict(SENTENCES + UNSEEN)
    same_marginals(loaded.marginals(SENTENCES + UNSEEN), tagger.marginals(SENTENCES + UNSEEN))
    content = b"".join(file.read_bytes().lower() for file in (tmp_path / "model").rglob("*") if file.is_file())
    words = {word.lower() for sentence in SENTENCES for word in sentence.words if len(word) > 3}
    secret = INVENTED if traits(tagger).public_vocabulary else words
    assert words >= INVENTED
    assert not [word for word in secret if word.encode() in content]


def test_a_private_model_is_saved_again_as_it_is_or_not_at_all(tagger, tmp_path):
    tagger.save(tmp_path / "model", key=KEY)
    if not has_private_vocabulary(tmp_path / "model"):
        return
    loaded = registry.load_tagger(tmp_path / "model", key=KEY)
    loaded.save(tmp_path / "again", key=KEY)
    for file in (tmp_path / "model").iterdir():
        assert (tmp_path / "again" / file.name).read_bytes() == file.read_bytes()
    for key in (None, KEY[::-1]):
        with pytest.raises(UsageError, match="save it with the secret"):
            loaded.save(tmp_path / "other", key=key)
    assert not list((tmp_path / "other").glob("*"))


@pytest.mark.parametrize(("key", "message"), [(None, "give the secret"), (KEY[::-1], "not the secret")])
def test_without_its_key_a_private_model_is_refused(tagger, tmp_path, key, message):
    tagger.save(tmp_path, key=KEY)
    if has_private_vocabulary(tmp_path):  # what holds no words has nothing to hide
        with pytest.raises(UsageError, match=message):
            registry.load_tagger(tmp_path, key=key)


def test_a_key_for_a_readable_model_is_not_needed(tagger, tmp_path):
    tagger.save(tmp_path)
    assert registry.load_tagger(tmp_path, key=KEY).predict(SENTENCES) == tagger.predict(SENTENCES)


def test_a_saved_model_is_data(tagger, tmp_path):
    tagger.save(tmp_path)
    assert json.loads((tmp_path / "model.json").read_text())["model"] in registry.MODELS
    for file in tmp_path.iterdir():
        content = file.read_bytes()
        assert not content.startswith(b"\x80") and b".pkl" not in content and b"pickle" not in content


@pytest.mark.parametrize("damage", ["truncated", "changed", "missing", "exchanged"])
def test_a_damaged_model_is_refused(tagger, tmp_path, damage):
    tagger.save(tmp_path)
    (weights,) = [file for file in tmp_path.iterdir() if file.name != "model.json"]
    content = weights.read_bytes()
    if damage == "missing":
        weights.unlink()
    else:
        changed = {"truncated": content[:-7], "changed": content[:-9] + b"!" + content[-8:], "exchanged": b"x"}[damage]
        weights.write_bytes(changed)
    with pytest.raises(DataError, match=weights.name):
        registry.load_tagger(tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"model": 3}', '{"model": "no such"}', "\x00"])
def test_a_foreign_description_is_refused(tagger, tmp_path, text):
    tagger.save(tmp_path)
    (tmp_path / "model.json").write_text(text)
    with pytest.raises(DataError, match=r"model\.json"):
        registry.load_tagger(tmp_path)


def test_a_description_that_lacks_something_is_refused(tagger, tmp_path):
    tagger.save(tmp_path)
    path = tmp_path / "model.json"
    description = json.loads(path.read_text())
    for key in ("settings", "weights", "schema", "seed"):
        rest = {k: v for k, v in description.items() if k != key}
        path.write_text(json.dumps(rest | {"sha256": fields_checksum(rest)}))
        with pytest.raises(DataError, match=r"model\.json|weights"):
            registry.load_tagger(tmp_path)


def test_order_and_grouping_change_nothing(tagger):
    everything = SENTENCES + UNSEEN
    alone = [tagger.predict([sentence])[0] for sentence in everything]
    marginals = [tagger.marginals([sentence])[0] for sentence in everything]

    @settings(max_examples=15)
    @given(order=st.permutations(range(len(everything))), cut=st.integers(0, len(everything)))
    def nothing_changes(order, cut):
        for group in (order[:cut], order[cut:]):
            assert tagger.predict([everything[i] for i in group]) == [alone[i] for i in group]
            same_marginals(tagger.marginals([everything[i] for i in group]), [marginals[i] for i in group])

    nothing_changes()


def test_padding_changes_nothing(tagger):
    """In the company of a longer sentence, short ones are padded; and the longer one is tagged to its end."""
    short, long = SENTENCES[2], Sentence.from_words(["word"] * 11 + ["Mr", "Brown", "denies", "pain"])
    together = tagger.predict([short] * 70 + [long])
    assert together == [*tagger.predict([short]) * 70, *tagger.predict([long])]
    assert together[-1][-3] == "B-PATIENT" or not traits(tagger).is_trained
    same_marginals(tagger.marginals([short] * 70 + [long])[:1], tagger.marginals([short]))


def test_prediction_leaves_the_tagger_unchanged(tagger, tmp_path):
    before = tagger.marginals(SENTENCES)
    tagger.save(tmp_path / "before")
    tagger.predict(UNSEEN)
    tagger.marginals(UNSEEN)
    tagger.save(tmp_path / "after")
    for a, b in zip(before, tagger.marginals(SENTENCES), strict=True):
        np.testing.assert_array_equal(a, b)
    for file in (tmp_path / "before").iterdir():
        assert file.read_bytes() == (tmp_path / "after" / file.name).read_bytes()


def test_fitting_again_starts_from_scratch(name):
    twice, once = create(name, epochs=BRIEFLY), begun(name, 0)
    twice.fit(OTHERS, OTHERS)
    assert twice.tags != once.tags
    twice.fit(TRAIN, TRAIN)
    assert twice.tags == once.tags
    for a, b in zip(twice.marginals(SENTENCES + UNSEEN), once.marginals(SENTENCES + UNSEEN), strict=True):
        np.testing.assert_array_equal(a, b)


def test_one_tag_alone_can_be_learned(name):
    tagger = fit(name, train=note("3", "no/O names/O here/O"), dev=[], epochs=2)
    assert tagger.tags == ("O",)
    assert tagger.predict([Sentence.from_words(["Mr", "Brown"])]) == [["O", "O"]]
    np.testing.assert_allclose(tagger.marginals([Sentence.from_words(["Mr"])])[0], [[1.0]], atol=1e-6)


def test_two_hundred_tags_can_be_learned(name):
    train = note("3", *(f"word{chr(97 + i // 26)}{chr(97 + i % 26)}/B-T{i:03}" for i in range(200)))
    tagger = fit(name, train=train, dev=[], epochs=2)
    assert {tag for item in train for tag in item.tags} == {*tagger.tags} - {"O"}
    assert tagger.marginals([train[0].sentence])[0].shape == (1, len(tagger.tags))
    assert len(tagger.predict([UNSEEN[2]])[0]) == 16


def test_an_empty_dev_set_will_do(name):
    tagger = fit(name, dev=[])
    by_heart(tagger)
    assert tagger.predict(SENTENCES[:1]) == [list(TRAIN[0].tags)]


@pytest.mark.parametrize("train", [[], [LabelledSentence(Sentence(()), ())]])
def test_nothing_to_train_on_is_an_error(name, train):
    with pytest.raises(DataError, match="nothing to train on"):
        registry.create(name).fit(train, [])


def test_untrained_it_neither_predicts_nor_saves(name, tmp_path):
    tagger = registry.create(name)
    assert tagger.tags == ()
    for use in (lambda: tagger.predict(SENTENCES), lambda: tagger.marginals(SENTENCES), lambda: tagger.save(tmp_path)):
        with pytest.raises(UsageError, match="not trained"):
            use()
    assert list(tmp_path.iterdir()) == []


def test_progress_tells_every_step(name):
    steps = []
    tagger = create(name, epochs=4)
    tagger.fit(TRAIN, TRAIN, on_progress=steps.append)
    assert [p.step for p in steps] == list(range(1, len(steps) + 1))
    assert all(p.total >= len(steps) for p in steps)
    assert all(p.loss is None or p.loss >= 0 for p in steps)
    assert all(p.dev_f1 is None or 0 <= p.dev_f1 <= 1 for p in steps)


def test_it_has_a_default_profile_and_can_be_made_from_each(name):
    profiles = registry.tagger_class(name).profiles()
    assert "default" in profiles
    for profile, chosen in profiles.items():
        assert registry.create(name, profile=profile).settings == chosen

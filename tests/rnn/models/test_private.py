"""The model over a private representation: it learns from shared vectors, and tags text without noise."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from lstm_equations import bilstm_by_hand
from tiny_sharing import tiny_notes, tiny_representation

from crfdeid.corpora.splits import Split
from crfdeid.documents import PHI, LabelledSentence
from crfdeid.errors import NotFoundError, OptionConflictError, SettingError
from crfdeid.registry import create, load_tagger
from crfdeid.serialization import has_private_vocabulary, open_model
from features.tokens import Sentence
from rnn.batching import Row
from rnn.inputs import CASINGS
from rnn.models.bilstm_crf import BilstmCrf
from rnn.models.private import PrivateBilstmCrf, PrivateProcessor, PrivateTagger, PrivateTaggerSettings
from rnn.privacy.release import encode_notes

pytestmark = pytest.mark.usefixtures("quickly_compiled")

QUICK = PrivateTaggerSettings(epochs=25, lr=0.02, hidden=8, layers=1, batch=4, patience=None, average=0.0)
TRAIN, DEV = Split.of(tiny_notes(6)).sentences, Split.of(tiny_notes(3, first=2)).sentences
SENTENCES = [item.sentence for item in DEV]
UNSEEN = [Sentence.from_words(["Zxqv", "by", "Dr", "Ünïcödé"]), Sentence(()), Sentence.from_words(["."])]


@pytest.fixture(scope="module")
def tagger() -> PrivateTagger:
    """With random weights: that it learns is a test of ``crfdeid train --shared``."""
    found = PrivateTagger(QUICK, seed=1, representation=tiny_representation())
    found.learned = found.initial(found.processor(TRAIN))
    return found


def test_its_scores_are_those_of_the_bilstm_over_vectors_and_casing() -> None:
    size, hidden, tags = 4, 3, 5
    network = PrivateBilstmCrf(BilstmCrf({"dim": size}, {"hidden": hidden, "layers": 2}, tags=tags, rngs=nnx.Rngs(0)))
    random = np.random.default_rng(0)
    given = random.normal(size=(7, size)).astype(np.float32)
    classes = random.integers(0, len(CASINGS), 7).astype(np.int32)
    inputs = {"vectors": jnp.asarray(given), "casing": jnp.asarray(classes)}
    found = jax.jit(lambda given, n: network.scores({}, given, n)[PHI])(inputs, jnp.array(5))
    states = np.concatenate([given, np.eye(len(CASINGS))[classes]], axis=1)[:5]
    for layer in network.tagger.bilstm.layers:
        weights = [np.asarray(param[...], float) for param in (layer.W, layer.R, layer.b)]
        states = bilstm_by_hand(*weights, states, np.ones((2, hidden)))
    expected = states @ np.asarray(network.tagger.crf.U[...], float).T + np.asarray(network.tagger.crf.c[...], float)
    np.testing.assert_allclose(found.emissions[:5], expected, atol=1e-5)


def test_text_is_tagged_without_noise(tagger: PrivateTagger) -> None:
    again, first = tagger.marginals(SENTENCES), tagger.marginals(SENTENCES)
    for a, b in zip(again, first, strict=True):
        np.testing.assert_array_equal(a, b)
    processor = tagger.processor(TRAIN)
    (row,) = processor.rows(SENTENCES[:1])
    np.testing.assert_array_equal(row.inputs["vectors"], tiny_representation().encode(SENTENCES[:1], None)[0])


def test_shared_vectors_are_learned_from_as_they_are() -> None:
    shared = encode_notes(TRAIN, tiny_representation(), seed=4)
    tags = ("B-DATE", "B-DOCTOR", "I-DATE", "O", "Z-OTHER")
    processor = PrivateTagger(QUICK, representation=tiny_representation()).processor(TRAIN)
    rows = type(processor)(tiny_representation(), {PHI: tags}).shared_rows(shared)
    assert [row.length for row in rows] == shared.lengths.tolist()
    vectors, classes = (np.concatenate([row.inputs[name] for row in rows]) for name in ("vectors", "casing"))
    np.testing.assert_array_equal(vectors, shared.vectors)
    np.testing.assert_array_equal(classes, shared.casing)
    assert [[tags[k] for k in row.targets[PHI]] for row in rows] == shared.sentence_tags()


def test_files_are_pooled_with_the_tags_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    words = Sentence.from_words(["seen", "05"])
    others = [LabelledSentence(words, ("O", "B-AGE")), *TRAIN]
    seen: list[tuple[PrivateProcessor, list[Row]]] = []
    monkeypatch.setattr(
        PrivateTagger, "fit_rows", lambda _, processor, rows, *__, **___: seen.append((processor, rows))
    )
    parts = [encode_notes(part, tiny_representation(), seed=0) for part in (TRAIN, others)]
    PrivateTagger(QUICK, representation=tiny_representation()).fit_shared(parts, [])
    ((processor, rows),) = seen
    assert processor.tags[PHI] == ("B-AGE", "B-DATE", "B-DOCTOR", "I-DATE", "O")
    assert len(rows) == sum(len(part.lengths) for part in parts)
    assert [[processor.tags[PHI][k] for k in row.targets[PHI]] for row in rows] == [
        tags for part in parts for tags in part.sentence_tags()
    ]


def test_notes_of_another_representation_are_refused(tagger: PrivateTagger) -> None:
    other = encode_notes(TRAIN, tiny_representation(seed=9), seed=0)
    with pytest.raises(OptionConflictError):
        PrivateTagger(QUICK, representation=tiny_representation()).fit_shared([other], [])


def test_notes_of_ones_own_are_learned_from_with_noise_as_those_of_others_are() -> None:
    processor = PrivateTagger(QUICK, seed=3, representation=tiny_representation()).processor(TRAIN)
    sentences = [item.sentence for item in TRAIN]
    rows = processor.rows(sentences, TRAIN)
    expected = tiny_representation().encode(sentences, np.random.default_rng(3))
    for row, vectors, item in zip(rows, expected, TRAIN, strict=True):
        np.testing.assert_array_equal(row.inputs["vectors"], vectors)
        assert tuple(processor.tags[PHI][k] for k in row.targets[PHI]) == item.tags


def test_saved_with_its_representation_it_is_loaded_as_any_other_model(tagger: PrivateTagger, tmp_path: Path) -> None:
    tagger.save(tmp_path)
    loaded = load_tagger(tmp_path)
    assert isinstance(loaded, PrivateTagger)
    assert loaded.representation.digest == tiny_representation().digest
    assert loaded.settings == tagger.settings
    for a, b in zip(loaded.marginals(SENTENCES + UNSEEN), tagger.marginals(SENTENCES + UNSEEN), strict=True):
        np.testing.assert_array_equal(a, b)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["model.json", "weights.npz"]


def test_its_files_hold_no_word_of_the_notes(tagger: PrivateTagger, tmp_path: Path) -> None:
    tagger.save(tmp_path)
    content = b"".join(file.read_bytes().lower() for file in tmp_path.iterdir())
    assert not [name for name in ("quill", "marsh", "vole", "tarn") if name.encode() in content]
    assert open_model(tmp_path).description["vocabulary"] == "public" and not has_private_vocabulary(tmp_path)
    tagger.save(tmp_path / "keyed", key=bytes(32))  # there is nothing to hash
    assert (tmp_path / "keyed" / "weights.npz").read_bytes() == (tmp_path / "weights.npz").read_bytes()


def test_it_reads_by_the_representation_that_its_settings_name(tmp_path: Path) -> None:
    with pytest.raises(OptionConflictError):
        create("private").fit(TRAIN, [])
    tiny_representation().save(tmp_path / "there")
    found = create("private", overrides={"representation": str(tmp_path / "there")})
    assert isinstance(found, PrivateTagger) and found.representation.digest == tiny_representation().digest
    with pytest.raises(NotFoundError) as refused:
        create("private", overrides={"representation": str(tmp_path / "nowhere")}).fit(TRAIN, [])
    assert refused.value.path.parent == tmp_path / "nowhere"


@pytest.mark.parametrize(
    ("setting", "value"),
    [("epochs", 0), ("lr", 0), ("final_lr", 2), ("max_norm", 0), ("output_dropout", 1), ("patience", 0),
     ("decoding", "best"), ("average", 1.0), ("representation", 3)],
)  # fmt: skip
def test_settings_that_cannot_work_are_refused(setting: str, value: object) -> None:
    with pytest.raises(SettingError, match=setting):
        create("private", overrides={setting: value})


def test_dropout_changes_training_alone(tagger: PrivateTagger) -> None:
    learned, processor = tagger.learned, tagger.processor(TRAIN)
    (row,) = processor.rows(SENTENCES[:1])
    network, inputs = learned.structure.network(learned.params), jax.tree.map(jnp.asarray, row.inputs)
    still, dropped = (network.scores({}, inputs, row.length, key)[PHI].emissions for key in (None, jax.random.key(0)))
    assert not np.allclose(still, dropped)
    assert not [name for name in learned.params if name.startswith("tables.")]

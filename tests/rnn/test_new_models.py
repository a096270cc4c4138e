"""Networks that a researcher adds by CONTRIBUTING's recipe: short, and with all that the library's have."""

from dataclasses import replace
from pathlib import Path

import gru_tagger
import jax
import numpy as np
import pytest
import transformer_crf_tagger
from flax import nnx
from gru_tagger import Gru, GruSettings, GruTagger
from tiny_notes import DEV, TRAIN
from transformer_crf_tagger import TransformerCrfSettings, TransformerCrfTagger

from crfdeid.evaluation import count_tags

pytestmark = pytest.mark.usefixtures("quickly_compiled")

SENTENCES = [item.sentence for item in DEV]
CASES = [
    (GruTagger, GruSettings(embedding_dim=12, epochs=12, min_count=1)),
    (TransformerCrfTagger, TransformerCrfSettings(embedding_dim=12, epochs=12, min_count=1)),
]


@pytest.mark.parametrize(("cls", "settings"), CASES, ids=["gru", "transformer-crf"])
def test_a_new_model_trains_tags_and_is_saved(cls, settings, tmp_path):
    tagger, losses = cls(settings, seed=1), []
    tagger.fit(TRAIN, DEV, on_progress=lambda progress: losses.append(progress.loss))
    assert losses[-1] < losses[0] / 2
    assert count_tags([item.tags for item in DEV], tagger.predict(SENTENCES)).micro.f1 > 0.9
    for table in tagger.marginals(SENTENCES):
        np.testing.assert_allclose(table.sum(axis=1), 1.0, rtol=1e-5)
    tagger.save(tmp_path / "model", key=b"0123456789abcdef")
    loaded = cls.load(tmp_path / "model", key=b"0123456789abcdef")
    assert loaded.predict(SENTENCES) == tagger.predict(SENTENCES)


@pytest.mark.parametrize("module", [gru_tagger, transformer_crf_tagger])
def test_a_new_model_is_short(module):
    assert len(Path(module.__file__).read_text(encoding="utf-8").splitlines()) <= 120


def test_the_gru_is_explained_and_trains_as_replicates():
    settings = replace(CASES[0][1], epochs=3)
    together = [GruTagger(settings, seed=seed) for seed in (0, 1, 2)]
    GruTagger.fit_many(together, TRAIN, DEV)
    alone = GruTagger(settings, seed=1)
    alone.fit(TRAIN, DEV)
    for name, array in alone.learned.params.items():
        np.testing.assert_allclose(array, together[1].learned.params[name], rtol=1e-3, atol=1e-5)
    found = alone.integrated_gradients(SENTENCES[0], 1, "B-DOCTOR", "O")
    assert found.total == pytest.approx(found.log_odds, abs=2e-3)
    assert any(norm.name == "network.forward.R" for norm in alone.contents([], [], top=3).norms)


def test_the_gru_follows_its_equations():
    random = np.random.default_rng(0)
    size, dim, length = 3, 4, 5
    gru = Gru(dim, size, rngs=nnx.Rngs(0))
    gru.b[...], gru.c[...] = (jax.numpy.asarray(random.normal(size=n), "float32") for n in (3 * size, size))
    inputs, keep = random.normal(size=(length, dim)).astype("float32"), np.array([0.0, 2.0, 2.0], "float32")
    W, R, b, c = (np.asarray(one[...], float) for one in (gru.W, gru.R, gru.b, gru.c))
    hidden, expected = np.zeros(size), []
    for x in inputs.astype(float):
        gates, recurrent = W @ x + b, R @ (hidden * keep)
        r, z = np.split(1 / (1 + np.exp(-(gates + recurrent)[: 2 * size])), 2)
        hidden = (1 - z) * np.tanh(gates[2 * size :] + r * (recurrent[2 * size :] + c)) + z * hidden
        expected.append(hidden)
    np.testing.assert_allclose(gru(inputs, np.ones(length, bool), keep), expected, rtol=1e-4, atol=1e-5)

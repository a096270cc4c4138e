"""What each network computes from fixed weights, recorded with its version: code that changes it needs another version.

A saved model has its weights alone, so another activation, say, would load and tag wrongly. Where a test fails because
the numbers were meant to change, increment `version` of the tagger's class and record the new numbers.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_encoders import tiny_encoder
from tiny_joint import BOTH, SMALL
from tiny_sharing import tiny_representation

from crfdeid.errors import VersionError
from crfdeid.registry import create, load_tagger, select
from rnn.decode import posteriors, run_batches
from rnn.models.elman import ElmanTagger
from rnn.models.private import PrivateTagger, PrivateTaggerSettings
from rnn.tagger import NetworkTagger

BILSTM = {**SMALL, "hidden": 4, "layers": 2, "context": 1}
SETTINGS: dict[str, dict[str, Any]] = {
    "elman": {"hidden": 4, "embedding_dim": 4, "window": 3},
    "jordan": {"hidden": 4, "embedding_dim": 4, "window": 3},
    "bilstm-crf": BILSTM,
    "bert": {"encoder": str(tiny_encoder()), "window": 30, "overlap": 8},
    "multitask": {**BILSTM, "task_hidden": 4},
    "stacked": BILSTM,
}
RECORDED: dict[str, tuple[int, list[float]]] = {
    "elman": (1, [3.464389, 1.934046, 0.304411, -2.459708, -2.385643, -0.330620]),
    "jordan": (1, [3.190645, 1.524935, 0.418423, -2.618885, -1.326172, -0.684599]),
    "bilstm-crf": (1, [2.523005, 1.198024, 0.640087, -1.125635, -2.001506, -1.102986]),
    "bert": (1, [0.665642, 4.185550, 0.165876, -1.784777, -2.398747, -0.242942]),
    "multitask": (1, [1.636246, 2.076604, 0.388904, -1.968627, -2.262388, -1.079559, 2.163029, 0.578853]),
    "stacked": (1, [1.312283, 3.928463, 0.172778, -3.747602, -1.437415, -0.558322, 2.188211, 0.519562]),
    "private": (1, [2.456996, 1.175120, 0.626273, -1.132721, -2.027336, -1.145112]),
}


def fixed(shape: tuple[int, ...], number: int) -> np.ndarray:
    """Weights without a seed, between -0.5 and 0.5, that differ from array to array."""
    count = np.prod(shape, dtype=int)
    return np.float32(0.5 * np.sin((1.7 + 0.1 * number) * np.arange(1, 1 + count))).reshape(shape)


def with_fixed(weights: Any) -> dict[str, np.ndarray]:
    return {name: fixed(array.shape, number) for number, (name, array) in enumerate(sorted(weights.items()))}


def tagger(name: str) -> NetworkTagger:
    """A network of a model with fixed weights, which was not trained."""
    if name == "private":
        encoder = tiny_representation()
        vectors = replace(encoder.vectors, table=fixed(encoder.vectors.table.shape, 0), subwords=None)
        encoder = replace(encoder, vectors=vectors, weights=with_fixed(encoder.weights))
        found: Any = PrivateTagger(PrivateTaggerSettings(hidden=4), representation=encoder)
    else:
        found = create(name, overrides=select(name, SETTINGS[name]))
    processor, _ = found.prepare(BOTH)
    model = found.initial(processor)
    found.learned = model._replace(params=with_fixed(model.params))
    return found


def outputs(model: NetworkTagger) -> list[float]:
    """One number for each tag of each layer, of the posteriors of all tokens."""
    learned, found = model.trained(), list[float]()
    rows = learned.processor.rows([item.sentence for item in BOTH])
    for layer in learned.processor.tags:
        ask = partial(posteriors, learned.structure, learned.params, layer=layer)
        tables = [*run_batches(rows, ask, nothing=np.empty(0))]
        weighed = [table * np.cos(np.arange(table.size)).reshape(table.shape) for table in tables]
        found += np.concatenate(weighed).sum(axis=0).tolist()
    return found


@pytest.mark.usefixtures("quickly_compiled")
@pytest.mark.parametrize("name", RECORDED)
def test_a_network_whose_outputs_changed_has_another_version(name: str) -> None:
    model = tagger(name)
    version, recorded = RECORDED[name]
    assert model.version == version
    np.testing.assert_allclose(outputs(model), recorded, rtol=0, atol=1e-5)


@pytest.mark.usefixtures("quickly_compiled")
def test_a_model_of_another_version_of_its_network_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tagger("elman").save(tmp_path)
    monkeypatch.setattr(ElmanTagger, "version", 2)
    with pytest.raises(VersionError):
        load_tagger(tmp_path)

"""What `rnn` asks of XLA for a GPU, and what it computes where JAX says that there is one."""

import os
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

from crfdeid.documents import LabelledSentence
from features.tokens import Sentence
from rnn import BilstmCrfSettings, BilstmCrfTagger, ElmanSettings, ElmanTagger
from rnn.decode import best_tags


def printed(code: str, **environment: str) -> str:
    """What a Python process prints."""
    command, environment = [sys.executable, "-c", code], {**os.environ, **environment}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()


FIXED, CUBLAS = "--xla_gpu_deterministic_ops=true", "--xla_gpu_enable_triton_gemm=false"


@pytest.mark.parametrize(
    ("plugin", "before", "after"),
    [
        ("", "--xla_dump_to=", "--xla_dump_to="),
        ("jax_cuda12_plugin", "", f"{FIXED} {CUBLAS}"),
        ("jax_cuda13_plugin", "--xla_dump_to=", f"--xla_dump_to= {FIXED} {CUBLAS}"),
        ("jax_cuda12_plugin", "--xla_gpu_deterministic_ops=false", f"--xla_gpu_deterministic_ops=false {CUBLAS}"),
        ("jax_cuda12_plugin", "--xla_gpu_enable_triton_gemm=true", f"--xla_gpu_enable_triton_gemm=true {FIXED}"),
    ],
)
def test_a_gpu_gets_fixed_sums_and_products_of_cublas_unless_the_user_says_otherwise(
    tmp_path: Path, plugin: str, before: str, after: str
) -> None:
    if plugin:
        (tmp_path / f"{plugin}.py").touch()
    path = os.pathsep.join([str(tmp_path), *sys.path])
    code = "import os, rnn; print(os.environ.get('XLA_FLAGS', ''))"
    assert printed(code, XLA_FLAGS=before, PYTHONPATH=path) == after


def test_xla_on_a_cpu_knows_the_flags() -> None:
    """A machine without a GPU may have the plugin."""
    code = "import jax.numpy as jnp; print(float(jnp.ones(3).sum()))"
    assert printed(code, XLA_FLAGS=f"{FIXED} {CUBLAS}", JAX_PLATFORMS="cpu") == "3.0"


SMALL = {"epochs": 1, "embedding_dim": 5, "hidden": 3, "min_count": 1}
NOTES = [LabelledSentence(Sentence.from_words(["Mr", name]), ("O", "B-PATIENT")) for name in "ABCDE"]


@pytest.mark.parametrize(
    "tagger", [ElmanTagger(ElmanSettings(**SMALL)), BilstmCrfTagger(BilstmCrfSettings(**SMALL))], ids=lambda t: t.model
)
def test_one_seed_gives_the_initial_weights_of_a_cpu_on_a_gpu_too(monkeypatch, tagger):
    processor, _ = tagger.prepare(NOTES)
    expected = tagger.initial(processor).params
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    found = tagger.initial(processor).params
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array)


@pytest.mark.usefixtures("quickly_compiled")
def test_development_sentences_are_scored_by_the_programs_of_prediction(monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    tagger = ElmanTagger(ElmanSettings(**SMALL))
    tagger.fit(NOTES, NOTES)
    programs = best_tags._cache_size()
    tagger.predict([item.sentence for item in NOTES])
    assert best_tags._cache_size() == programs > 0

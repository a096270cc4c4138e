"""The full settings of what is compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from crfdeid.corpora import write_corpus
from crfdeid.documents import Document, Span
from crfdeid.errors import OptionConflictError, UnknownNameError
from experiments.compare.experiment import ComparePlan, full_settings, systems
from experiments.compare.options import CompareArguments, ModelSettings
from experiments.core.embeddings import VectorSettings
from experiments.core.settings import CorpusSettings
from experiments.core.systems import System, Variant


def test_settings_are_the_profiles_with_those_of_the_system(memory_model: Any) -> None:
    compared = [System("memory", "memory", None, (("loss", 2.0),))]
    assert full_settings(compared, ComparePlan("yadav2016")) == {"memory": {"window": 2, "loss": 2.0}}
    with pytest.raises(UnknownNameError):
        full_settings(compared, ComparePlan("best"))


def test_pseudonyms_are_near_by_the_vectors_of_each_share_of_the_training_documents(
    memory_model: Any, tmp_path: Path
) -> None:
    (tmp_path / "near.txt").write_text("2 2\nDoe 1 0\nRoe 0 1\n")
    notes = [Document(str(n), f"Seen by {name}", (Span(8, 11, "DOCTOR"),)) for n, name in enumerate(("Doe", "Poe"))]
    write_corpus(notes, tmp_path / "notes.jsonl", format="jsonl")
    experiment = CompareArguments(
        models=ModelSettings(models=("memory",), fractions=(0.5,)),
        corpus=CorpusSettings(train=tmp_path / "notes.jsonl", dev=tmp_path / "notes.jsonl", pseudonymise=2),
        vectors=VectorSettings(neighbours_from=str(tmp_path / "near.txt")),
    )
    prepared = systems(experiment, on_step=lambda *step: None)
    found = prepared.plan.neighbours
    assert found.keys() == {1.0, 0.5}
    assert (found[1.0]["Doe"], found[1.0]["Poe"]) == (("Doe", "Roe"), ("Poe", "Doe"))
    (word,) = found[0.5].rows
    assert {word} < {"Doe", "Poe"}
    assert prepared.embeddings.facts["near"]["words"] == 2
    assert [system.embedding for system in prepared.systems] == [None]


def test_a_system_with_word_vectors_says_which() -> None:
    settings = full_settings([System("elman-cbow", "elman", "cbow")], ComparePlan())["elman-cbow"]
    assert (settings["embedding"], settings["window"]) == ("cbow", 11)


@pytest.mark.parametrize("model", ["stacked", "pipeline"])
def test_models_that_need_concepts_are_sent_to_the_experiment_that_has_them(model: str) -> None:
    with pytest.raises(OptionConflictError):
        systems(CompareArguments(models=ModelSettings(models=("crf", model))), on_step=lambda *step: None)


@pytest.mark.parametrize(
    "models",
    [
        ModelSettings(models=("elman",), variants=(Variant("elman-cbow", "crf"),)),
        ModelSettings(models=(), variants=(Variant("wide", "elman"), Variant("wide-cbow", "crf"))),
        ModelSettings(models=("crf", "rules"), combine="vote", variants=(Variant("vote", "crf"),)),
    ],
)
def test_a_variant_named_as_another_system_is_refused(models: ModelSettings) -> None:
    experiment = CompareArguments(models=models, vectors=VectorSettings(sources={"random": "random", "cbow": "cbow"}))
    with pytest.raises(OptionConflictError):
        systems(experiment, on_step=lambda *step: None)


def test_a_setting_that_no_variant_has_is_refused() -> None:
    models = ModelSettings(models=(), changes=(("window", 3),), variants=(Variant("plain", "crf"),))
    with pytest.raises(UnknownNameError):
        systems(CompareArguments(models=models), on_step=lambda *step: None)

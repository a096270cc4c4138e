"""The full settings of what is compared."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from crfdeid.corpora import write_corpus
from crfdeid.corpora.synthetic import generate_notes
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


class Drawn(NamedTuple):
    """What the training of a cell draws on."""

    train: list[Any]
    dev: list[Any]
    vectors: np.ndarray
    order: int


def drawn_by(seed: int, experiment: CompareArguments, monkeypatch: pytest.MonkeyPatch) -> Drawn:
    """Of the network's cell with this seed."""
    prepared = systems(experiment, on_step=lambda *step: None)
    found: list[Drawn] = []

    def fit(cells: Any, taggers: Any, train: Any, dev: Any, on_progress: Any) -> list[Any]:
        found.append(Drawn(list(train), list(dev), taggers[0].vectors.table, taggers[0].order))
        return []

    monkeypatch.setattr("experiments.compare.experiment.fit_cells", fit)
    (cell,) = (cell for cell in prepared.cells if cell.seed == seed and cell.system.model == "elman")
    prepared.plan.fit([cell], prepared.corpus, lambda *progress: None)
    return found[0]


def test_with_vary_all_each_seed_but_0_draws_what_seeds_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for part, count in (("train", 12), ("dev", 4), ("test", 2)):
        notes = generate_notes(count, seed=count)
        write_corpus(
            [replace(note, id=f"{part} {note.id}") for note in notes], tmp_path / f"{part}.jsonl", format="jsonl"
        )
    paths = {part: tmp_path / f"{part}.jsonl" for part in ("train", "dev", "test")}
    shared = CompareArguments(
        models=ModelSettings(models=("crf", "elman")),
        seeds=(0, 1),
        corpus=CorpusSettings(**paths, augment="values"),
        vectors=VectorSettings(sources={"cbow": "cbow"}),
    )
    varied = replace(shared, vary_all=True)
    first, *same = (drawn_by(*case, monkeypatch) for case in ((0, shared), (1, shared), (0, varied)))
    for other in same:
        assert (other.train, other.dev, other.order) == (first.train, first.dev, 0)
        np.testing.assert_array_equal(other.vectors, first.vectors)
    own = drawn_by(1, varied, monkeypatch)
    sentences = [{item.sentence.words for item in (*one.train, *one.dev)} for one in (first, own)]
    assert own.dev != first.dev and own.order == 1 and not np.array_equal(own.vectors, first.vectors)
    assert sentences[0] & sentences[1] and sentences[0] != sentences[1]  # the same notes, and other copies
    trained = [(cell.system.model, cell.seed) for cell in systems(varied, on_step=lambda *step: None).cells]
    assert trained == [("crf", 0), ("elman", 0), ("crf", 1), ("elman", 1)]


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

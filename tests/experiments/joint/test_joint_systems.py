"""What is trained for each of the paper's tables, and what shares its training."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from crfdeid.corpora.layers import ConceptPaths
from crfdeid.documents import CONCEPT, PHI
from crfdeid.errors import UnknownNameError
from experiments.core.command import parse
from experiments.core.embeddings import VectorSettings
from experiments.core.settings import CorpusSettings
from experiments.core.systems import Cell, plain_cells, profile_of
from experiments.joint.options import JointArguments, family_groups, hides_phi, layers_of, systems_of


def test_the_pipeline_stands_for_every_row_of_table_5_and_for_concepts_alone() -> None:
    found = systems_of(JointArguments())
    expected = ["pipeline", "multitask", "stacked", "crf", "pipeline-original-predicted", "alone"]
    assert [system.name for system in found.compared] == expected
    ways = [(dict(row.settings)["learns_from"], dict(row.settings)["reads"]) for row in found.table_5]
    assert ways == [
        ("original", "original"),
        ("original", "predicted"),
        ("predicted", "original"),
        ("predicted", "predicted"),
        ("gold", "predicted"),
        ("gold", "gold"),
    ]
    assert len(found.every) == len(set(found.every)) == 6 + 3
    assert found.table_4 == {}
    assert {system.embedding for system in found.every} == {None}


def test_of_corpora_that_share_no_text_no_row_needs_gold_phi() -> None:
    concepts = ConceptPaths(train=Path("concepts"), disjoint=True)
    found = systems_of(JointArguments(corpus=CorpusSettings(concepts=concepts)))
    assert [row.name for row in found.table_5] == [
        "alone",
        "pipeline-original-predicted",
        "pipeline-predicted-original",
        "pipeline",
    ]


def test_without_a_pipeline_there_is_no_table_5() -> None:
    found = systems_of(JointArguments(systems=("stacked", "bilstm-crf")))
    assert ([system.name for system in found.every], found.table_5) == (["stacked", "bilstm-crf"], ())


def test_each_system_is_scored_in_its_layers_and_says_whether_it_hides_phi() -> None:
    both = (PHI, CONCEPT)
    found = {system.name: (layers_of(system), hides_phi(system)) for system in systems_of(JointArguments()).every}
    assert found == {
        "alone": ((CONCEPT,), False),
        "pipeline-original-predicted": ((CONCEPT,), False),
        "pipeline-predicted-original": ((CONCEPT,), False),
        "pipeline": (both, True),
        "pipeline-gold-predicted": ((CONCEPT,), True),
        "pipeline-gold-gold": ((CONCEPT,), True),
        "multitask": (both, False),
        "stacked": (both, True),
        "crf": ((CONCEPT,), False),
    }


def test_table_4_reads_words_by_each_embedding_alone_then_characters_then_all() -> None:
    sources = {"random": "random", "cbow": "cbow"}
    found = systems_of(JointArguments(vectors=VectorSettings(sources=sources))).table_4
    assert [(name, system.embedding) for name, system in found.items()] == [
        ("random", "random"),
        ("cbow", "cbow"),
        ("characters", "random"),
        ("concatenated", "concatenated"),
    ]
    alone = {name: dict(system.settings) for name, system in found.items()}
    assert alone["cbow"] == {"char_dim": 0, "features": "none"}
    assert alone["concatenated"] == {"features": "none"}
    changed = JointArguments(systems=("crf",), changes=(("hidden", 8),), vectors=VectorSettings(sources=sources))
    found = systems_of(changed)
    assert found.compared[0].settings == ()
    assert dict(found.table_4["characters"].settings) == {"hidden": 8, "features": "none"}
    with pytest.raises(UnknownNameError):
        systems_of(replace(changed, vectors=VectorSettings(sources={})))
    only = systems_of(JointArguments(vectors=VectorSettings(sources={"random": "random"}))).table_4
    assert list(only) == ["random", "characters"]


def test_pipelines_of_one_seed_are_trained_together_and_first() -> None:
    systems = systems_of(JointArguments(systems=("stacked", "pipeline", "crf")))
    groups = family_groups(plain_cells(systems.every, (0, 1)))
    assert [(len(group), group[0].seed) for group in groups[:2]] == [(6, 0), (6, 1)]
    by_name = {system.name: system for system in systems.every}
    assert groups[2:] == [[Cell(by_name[name], seed)] for name, seed in (("stacked", 0), ("crf", 0), ("stacked", 1))]


def test_a_model_without_the_profile_starts_from_its_default_but_one_must_have_it() -> None:
    by_name = {system.name: system for system in systems_of(JointArguments(profile="lange2020")).every}
    assert profile_of(by_name["stacked"], "lange2020") == "lange2020"
    assert profile_of(by_name["crf"], "lange2020") == "default"
    with pytest.raises(UnknownNameError):
        systems_of(JointArguments(systems=("stacked",), profile="yadav2016"))


def test_without_notes_settings_are_completed_by_those_that_a_model_has() -> None:
    def changes(*argv: str) -> dict[str, object]:
        return dict(parse("joint", argv).changes)

    assert changes("--systems", "pipeline", "--set", "epochs=3") == {"epochs": 3, "folds": 2}
    both = ("--systems", "pipeline", "--set", "deid=crf", "concepts=crf")
    assert changes(*both) == {"deid": "crf", "concepts": "crf", "folds": 2}
    assert changes("--systems", "multitask") == {"epochs": 8}

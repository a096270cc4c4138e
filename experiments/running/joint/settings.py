"""What the experiment on PHI and concepts is asked to do: the options of ``experiments.joint``, read once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from experiments.running.settings import CorpusSettings, OutputSettings, Point, VectorSettings

PERMUTATIONS = 2**20
"""Of each test, as in section 4.1 of lange2020."""

concept_annotated_text = "concept_sourced"
"""The name of the scores of concepts without the stretches that their annotators never saw."""

PIPELINE = "pipeline"
JOINT = (PIPELINE, "multitask", "stacked")
SYSTEMS = (*JOINT, "crf")
"""What is compared unless told otherwise: the models of lange2020, and a CRF for concepts alone."""

SMALL_SHARE = 0.25
SMALL: Mapping[str, Any] = MappingProxyType({"epochs": 8, "folds": 2})
"""Without data of the user's own: what is learned from and how long, so that the whole takes minutes."""


@dataclass(frozen=True, kw_only=True)
class JointExperiment:
    """All that ``experiments.joint`` is asked to do.

    Args:
        systems: names in `crfdeid.registry.MODELS`; those that tag one layer learn concepts from the text as it is.
        profile: the settings that each starts from, or its default where it lacks the profile.
        changes: what replaces the profile's settings, in every model that has it.
        corpus: what is learned from and scored.
        unsourced: a table of the stretches whose concepts nobody annotated; None for none.
        notices: what a reader of the results must know, a sentence each.
        vectors: the word vectors of Table 4; no sources to leave it out.
        output: what becomes of the results.
        seeds: each system is trained with each of them.
        permutations: of each significance test.
        device: where networks are trained, one of `experiments.running.device.DEVICES`.
        jobs: how many cells are trained at the same time; None for as many as pays.
        command: the options that define the experiment as plain data, kept with its results.
    """

    systems: tuple[str, ...] = SYSTEMS
    profile: str = "default"
    changes: Point = ()
    corpus: CorpusSettings = field(default_factory=lambda: CorpusSettings(types="all", synthetic_concepts=True))
    unsourced: Path | None = None
    notices: tuple[str, ...] = ()
    vectors: VectorSettings = field(default_factory=lambda: VectorSettings(sources={}))
    output: OutputSettings = field(default_factory=OutputSettings)
    seeds: tuple[int, ...] = (0,)
    permutations: int = PERMUTATIONS
    device: str = "auto"
    jobs: int | None = None
    command: Mapping[str, Any] = field(default_factory=dict)

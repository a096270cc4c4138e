"""Settings, options and systems of ``python -m experiments.joint``, and checks of their combinations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple

import click

from crfdeid.cli import shell
from crfdeid.cli.corpus_options import ignored_types
from crfdeid.cli.shell import file_path, names, whole_number
from crfdeid.corpora import CORPUS_FORMATS
from crfdeid.corpora.layers import IGNORED_CONCEPT_TYPES, ConceptPaths
from crfdeid.documents import CONCEPT, PHI
from crfdeid.ensembles.cascade import GOLD, ORIGINAL, PREDICTED
from crfdeid.errors import OptionConflictError
from crfdeid.registry import require_known, select, setting_names
from experiments.core.embeddings import RANDOM, VectorSettings
from experiments.core.options import CORPUS, JOINT_MODELS, fields_as_options, models, option, read
from experiments.core.settings import CommonSettings, CorpusSettings, check, options_of, settings_of
from experiments.core.systems import Cell, Point, System, require_profile, traits_of

DESCRIPTION = """\
Train models that find PHI and concepts (problems, treatments, drugs) in the same notes, score both, and measure what
hiding PHI costs the search for concepts: Tables 2 to 5 of lange2020."""
EXAMPLES = """\
examples:
  python -m experiments.joint --output results/
      on the built-in synthetic corpus, on a quarter of its notes and for few epochs, in some six minutes on two cores
  python -m experiments.joint --train phi/train --concepts concepts/train --dev phi/dev --dev-concepts concepts/dev \\
      --seeds 3 --output results/
      on your own corpus with two annotation layers, everything but Table 4
  python -m experiments.joint --profile lange2020 --embeddings random,cbow,fasttext --train ... --concepts ...
      the paper's settings, and Table 4 with these word vectors

exit codes: 0 done, 1 unreadable data, 2 invalid option, 130 interrupted"""

_UNLABELLED_NOTES = 200

PERMUTATIONS = 2**20
"""Permutations of each test, as in section 4.1 of lange2020."""

SYSTEMS = (*JOINT_MODELS, "crf")
"""Default systems: the models of lange2020, and a CRF for concepts alone."""

SMALL_SHARE = 0.25
SMALL: Mapping[str, Any] = MappingProxyType({"epochs": 8, "folds": 2})
"""Share of the training documents, and settings, for the built-in corpus, so that the experiment takes minutes."""


@dataclass(frozen=True, kw_only=True)
class JointArguments(CommonSettings):
    """Settings of ``experiments.joint``.

    Args:
        systems: systems to compare, separated by commas: multitask, stacked, pipeline (with every row of Table 5), and
            models of one layer, which learn concepts from unchanged text
        changes: settings that replace the profile's, such as epochs=20 folds=5
        permutations: exchanges drawn for each test of a difference
        unsourced: table of the regions without annotated concepts, with columns document, start and end: concepts are
            scored again without them
        corpus: the documents.
        vectors: the word vectors of Table 4; no sources to leave it out.
        notices: remarks for the reader of the results, a sentence each.
    """

    systems: tuple[str, ...] = option(SYSTEMS, models, metavar="NAMES")
    changes: Point = option(
        (),
        shell.setting,
        name="--set",
        several=True,
        metavar="NAME=VALUE",
        usual=f"without --train {' '.join(f'{name}={value}' for name, value in SMALL.items())}",
    )
    permutations: int = option(PERMUTATIONS, whole_number(1))
    unsourced: Path | None = option(None, file_path, metavar="FILE", section=CORPUS)
    corpus: CorpusSettings = field(default_factory=lambda: CorpusSettings(types="all", synthetic_concepts=True))
    vectors: VectorSettings = field(default_factory=lambda: VectorSettings(sources={}))
    notices: tuple[str, ...] = ()


def options() -> list[click.Parameter]:
    """Options of the command."""
    own = options_of(
        JointArguments,
        without=["augment", "pseudonymise", "neighbours_from", "unlabelled_notes"],
        sources={"default": (), "help": "Table 4: word vectors, separated by commas: files, or kinds"},
        types={"default": "all"},
        dev={"help": "documents to choose a network's best epoch on"},
        profile={"help": "settings that the models start from: default, or lange2020 in every model that has it"},
        share={"usual": f"all; without --train {SMALL_SHARE}"},
    )
    return [*own, *fields_as_options(ConceptSettings)]


def read_settings(options: SimpleNamespace) -> JointArguments:
    """Settings from the options; check each and their combinations."""
    check(options)
    quick = options.train is None and options.profile == "default"
    if options.share is None:
        options.share = SMALL_SHARE if quick else 1.0
    chosen = dict(options.set)
    changes = _completed(chosen, options.systems, SMALL) if quick else chosen
    short = " ".join(f"{name}={value}" for name, value in changes.items() if name not in chosen)
    return settings_of(
        JointArguments,
        options,
        changes=tuple(changes.items()),
        concepts=_concept_paths(options),
        synthetic_concepts=True,
        notices=(f"Without --train the models learn for a short time, with --set {short}.",) if short else (),
        unlabelled_notes=_UNLABELLED_NOTES,
    )


def _types(text: str) -> tuple[str, ...]:
    """Names of types; a second list is refused, unlike with `crfdeid.cli.shell.names` alone."""
    return names(text)


@dataclass(frozen=True, kw_only=True)
class ConceptSettings:
    """Concepts of a corpus, as options; `_concept_paths` reads them.

    Args:
        concepts: the notes of --train with concepts marked, for models that learn both (docs/explanation/joint.md)
        dev_concepts: the notes of --dev with concepts marked
        test_concepts: the notes of --test with concepts marked
        concepts_format: the format of the concepts
        ignore_types: concept types to ignore, separated by commas, or none
        disjoint: the concepts are of other notes than the PHI: two corpora that share no text
    """

    concepts: Path | None = option(None, file_path, section=CORPUS)
    dev_concepts: Path | None = option(None, file_path, section=CORPUS)
    test_concepts: Path | None = option(None, file_path, section=CORPUS)
    concepts_format: str = option("auto", ("auto", *CORPUS_FORMATS), section=CORPUS, unset=True, usual="auto, for each")
    ignore_types: tuple[str, ...] | None = option(
        None, _types, metavar="TYPES", section=CORPUS, usual=",".join(IGNORED_CONCEPT_TYPES)
    )
    disjoint: bool = option(False, section=CORPUS)


def _concept_paths(options: SimpleNamespace) -> ConceptPaths | None:
    """Paths and settings of the concept annotations; None without ``--concepts``.

    Raises:
        OptionConflictError: options about concepts without ``--concepts``.
    """
    found = read(ConceptSettings, options)
    if found.concepts is None:
        for one in fields(ConceptSettings):
            if getattr(options, one.name) not in (None, False):
                raise OptionConflictError(f"--{one.name.replace('_', '-')} needs --concepts")
        return None
    return ConceptPaths(
        train=found.concepts,
        dev=found.dev_concepts,
        test=found.test_concepts,
        format=found.concepts_format,
        ignored_types=ignored_types(found.ignore_types),
        disjoint=found.disjoint,
    )


def _completed(chosen: Mapping[str, Any], systems: Sequence[str], others: Mapping[str, Any]) -> dict[str, Any]:
    """The settings, with further ones that some model has and that are not among them."""
    known = frozenset().union(*(setting_names(name, chosen) for name in systems))
    return {**{name: value for name, value in others.items() if name in known}, **chosen}


PIPELINE = "pipeline"
ALONE = "alone"
"""The pipeline's model of concepts in unchanged text: the first row of Table 5."""
PAPERS_PIPELINE = "pipeline-original-predicted"
"""The pipeline of Tables 2 and 3, whose model of concepts has learned from unchanged text: row 2 of Table 5."""

TABLE_5 = {
    ALONE: (ORIGINAL, ORIGINAL),
    PAPERS_PIPELINE: (ORIGINAL, PREDICTED),
    "pipeline-predicted-original": (PREDICTED, ORIGINAL),
    PIPELINE: (PREDICTED, PREDICTED),
    "pipeline-gold-predicted": (GOLD, PREDICTED),
    "pipeline-gold-gold": (GOLD, GOLD),
}
"""Rows of Table 5: the text that concepts are learned from, and the text that they are predicted in."""

_CHARACTERS, CONCATENATED = "characters", "concatenated"
_TABLE_4_MODEL = "bilstm-crf"
_WORDS_ALONE: Mapping[str, Any] = {"char_dim": 0, "features": "none"}


class Systems(NamedTuple):
    """Systems to train.

    Attributes:
        compared: of Tables 2 and 3.
        table_5: its rows; the pipeline, `PAPERS_PIPELINE` and `ALONE` are also in ``compared``.
        table_4: name in the table -> system, one for each embedding.
    """

    compared: tuple[System, ...]
    table_5: tuple[System, ...]
    table_4: Mapping[str, System]

    @property
    def every(self) -> tuple[System, ...]:
        """All of them, each once, the slowest first."""
        return tuple(dict.fromkeys((*self.table_5, *self.compared, *self.table_4.values())))

    @property
    def shown(self) -> tuple[System, ...]:
        """All of them, each once, in the order of the tables."""
        return tuple(dict.fromkeys((*self.compared, *self.table_5, *self.table_4.values())))

    def describe(self) -> dict[str, dict[str, Any]]:
        """Entries of each system in results.json: its layers, and its rows in the paper's tables."""
        embeddings = {system.name: name for name, system in self.table_4.items()}
        rows = {row.name: dict(zip(("learns_from", "reads"), TABLE_5[row.name], strict=True)) for row in self.table_5}
        return {
            system.name: {
                "tags": list(layers_of(system)),
                "hides_phi": hides_phi(system),
                "compared": system in self.compared,
                "table_4": embeddings.get(system.name),
                "table_5": rows.get(system.name),
            }
            for system in self.every
        }


def systems_of(settings: JointArguments) -> Systems:
    """The systems of an experiment.

    Raises:
        UsageError: a setting or a profile that no model has, or a setting that distinguishes the rows of Table 5.
    """
    changes = dict(settings.changes)
    require_profile(settings.profile, settings.systems)
    for name in ("learns_from", "reads"):
        if name in changes:
            raise OptionConflictError(f"--set {name}: every way is compared, as in Table 5: leave it out")
    models = (*settings.systems, *([_TABLE_4_MODEL] if settings.vectors.sources else []))
    require_known(changes, frozenset().union(*(setting_names(name, changes) for name in models)), of=", ".join(models))
    made = [System(name, name, None, tuple(select(name, changes).items())) for name in settings.systems]
    rows: tuple[System, ...] = ()
    for index, system in enumerate(made):
        if system.name == PIPELINE:
            rows = _rows(system, disjoint=settings.corpus.concepts is not None and settings.corpus.concepts.disjoint)
            made[index] = next(row for row in rows if row.name == PIPELINE)
    also = [row for name in (PAPERS_PIPELINE, ALONE) for row in rows if row.name == name]
    return Systems((*made, *also), rows, _ablation(settings.vectors.sources, changes))


def _rows(pipeline: System, *, disjoint: bool) -> tuple[System, ...]:
    """Rows of Table 5; without rows that need gold PHI in the notes with concepts, where those are other notes."""
    return tuple(
        replace(pipeline, name=name, settings=(*pipeline.settings, ("learns_from", learned), ("reads", read)))
        for name, (learned, read) in TABLE_5.items()
        if not (disjoint and GOLD in (learned, read))
    )


def _ablation(sources: Mapping[str, str], changes: Mapping[str, Any]) -> dict[str, System]:
    """BiLSTM-CRFs of concepts: word vectors of one kind alone; random ones and characters; all of these."""
    if not sources:
        return {}
    model = _TABLE_4_MODEL
    own = select(model, changes)
    variants: dict[str, tuple[str, dict[str, Any]]] = {name: (name, {**own, **_WORDS_ALONE}) for name in sources}
    both = {**own, "features": _WORDS_ALONE["features"]}
    variants[_CHARACTERS] = (RANDOM, both)
    if any(name != RANDOM for name in sources):
        variants[CONCATENATED] = (CONCATENATED, both)
    return {
        name: System(f"{model}-{name}", model, embedding, tuple(settings.items()))
        for name, (embedding, settings) in variants.items()
    }


def layers_of(system: System) -> tuple[str, ...]:
    """Annotation layers of a system's scores: concepts alone for a model of one layer and for the rows of Table 5."""
    both = CONCEPT in traits_of(system).layers and (system.model != PIPELINE or system.name == PIPELINE)
    return (PHI, CONCEPT) if both else (CONCEPT,)


def hides_phi(system: System) -> bool:
    """Test for a system whose concepts are learned from and predicted in text without the PHI that it found."""
    return traits_of(system).hides_phi and dict(system.settings).get("learns_from") != ORIGINAL


def reads_gold(system: System) -> bool:
    """Test for a system that hides the PHI of the gold annotation."""
    return dict(system.settings).get("reads") == GOLD


def family_groups(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Groups of cells that are trained together: first the pipelines of each seed, which share their parts.

    Every other cell is a group alone.
    """
    families: dict[int, list[Cell]] = {}
    for cell in cells:
        if cell.system.model == PIPELINE:
            families.setdefault(cell.seed, []).append(cell)
    return [*families.values(), *([cell] for cell in cells if cell.system.model != PIPELINE)]

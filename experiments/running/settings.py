"""What an experiment is asked to do, as typed settings: the options of ``experiments.compare``, read once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crfdeid.augmentation import NO_COPIES
from crfdeid.corpora.layers import ConceptPaths

UNLABELLED_NOTES = 1000
NEIGHBOURS_FROM = "fasttext"
RANDOM = "random"  # word vectors that each network draws for itself

Point = tuple[tuple[str, Any], ...]
"""Settings of a model by name, hashable."""


@dataclass(frozen=True, kw_only=True)
class ModelSettings:
    """Which models are trained, how, and how often.

    Args:
        models: names in `crfdeid.registry.MODELS`.
        profile: the settings that each starts from.
        changes: what replaces the profile's settings, in every model that has it.
        combine: how the models are joined into one more system (`crfdeid.ensembles.ensemble.COMBINATIONS`); None for
        none. seeds: each system is trained with each of them.
        fractions: further shares of the training documents to train on.
        sweep: settings and the values to try, each with each.
    """

    models: tuple[str, ...]
    profile: str = "default"
    changes: Point = ()
    combine: str | None = None
    seeds: tuple[int, ...] = (0,)
    fractions: tuple[float, ...] = ()
    sweep: tuple[tuple[str, tuple[Any, ...]], ...] = ()


@dataclass(frozen=True, kw_only=True)
class CorpusSettings:
    """What the models learn from and are scored on.

    Args:
        train: a file or folder of annotated documents; None for the synthetic corpus.
        dev: the development documents; None for a part of the training documents.
        test: the documents to score; None for the development documents.
        format: theirs, a name in `crfdeid.corpora.CORPUS_FORMATS`, or "auto".
        types: the type map, one of `crfdeid.label_schemes.TYPE_MAPPINGS`.
        synthetic: the synthetic corpus's profile.
        seed: the synthetic corpus's.
        augment: how training documents are rewritten in copies: what `crfdeid.augmentation.parse_copy_kinds` gives.
        pseudonymise: how many neighbours each word of PHI in the training documents may become, itself among them
            (`rnn.privacy.substitution`); None to train on the documents as they are.
        concepts: where the concepts are annotated that are read beside the PHI; None for none.
        synthetic_concepts: whether the synthetic corpus has concepts.
        share: the share of the training documents that there is to learn from.
    """

    train: Path | None = None
    dev: Path | None = None
    test: Path | None = None
    format: str = "auto"
    types: str = "seven"
    synthetic: str = "default"
    seed: int = 0
    augment: str = NO_COPIES
    pseudonymise: int | None = None
    concepts: ConceptPaths | None = None
    synthetic_concepts: bool = False
    share: float = 1.0


@dataclass(frozen=True, kw_only=True)
class VectorSettings:
    """The word vectors that networks start from, and those that say which words are near.

    Args:
        sources: the name in tables -> a kind of vectors (`experiments.running.embeddings.KINDS`), or a file of them.
        unlabelled: text to train vectors on beside the training documents.
        unlabelled_notes: how many generated notes to train them on too, where the corpus is synthetic.
        neighbours: where the vectors of `CorpusSettings.pseudonymise` come from, as in ``sources``.
    """

    sources: Mapping[str, str] = field(default_factory=lambda: {RANDOM: RANDOM})
    unlabelled: tuple[Path, ...] = ()
    unlabelled_notes: int = UNLABELLED_NOTES
    neighbours: str = NEIGHBOURS_FROM


@dataclass(frozen=True, kw_only=True)
class OutputSettings:
    """What is written and shown.

    Args:
        folder: a folder for all results; None to write nothing.
        resume: whether to go on with what an interrupted run left there.
        include_text: whether the text of a real corpus, which is PHI, is written too.
        show_examples: whether errors are shown in the text of a real corpus.
        published: whether the scores that papers print stand beside ours.
    """

    folder: Path | None = None
    resume: bool = False
    include_text: bool = False
    show_examples: bool = False
    published: bool = False


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """All that ``experiments.compare`` is asked to do.

    Args:
        models: what is trained.
        corpus: on what.
        vectors: from which word vectors.
        output: what becomes of the results.
        device: where networks are trained, one of `experiments.running.device.DEVICES`.
        jobs: how many cells are trained at the same time; None for as many as pays.
        command: the options that define the experiment as plain data, kept with its results.
    """

    models: ModelSettings
    corpus: CorpusSettings = field(default_factory=CorpusSettings)
    vectors: VectorSettings = field(default_factory=VectorSettings)
    output: OutputSettings = field(default_factory=OutputSettings)
    device: str = "auto"
    jobs: int | None = None
    command: Mapping[str, Any] = field(default_factory=dict)

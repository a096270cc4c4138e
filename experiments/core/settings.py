"""Settings that the experiments share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from crfdeid.augmentation import NO_COPIES
from crfdeid.corpora.layers import ConceptPaths

UNLABELLED_NOTES = 1000
NEIGHBOURS_FROM = "fasttext"
RANDOM = "random"  # word vectors that each network draws for itself

Point = tuple[tuple[str, Any], ...]
"""Settings of a model by name, hashable."""


class Variant(NamedTuple):
    """A model with settings of its own, under a name for tables."""

    name: str
    model: str
    settings: Point = ()


@dataclass(frozen=True, kw_only=True)
class CorpusSettings:
    """Documents to train on and to score.

    Args:
        train: a file or folder of annotated documents; None for the synthetic corpus.
        dev: the development documents; None for a part of the training documents.
        test: the documents to score; None for the development documents.
        format: of the documents, a name in `crfdeid.corpora.CORPUS_FORMATS`, or "auto".
        types: the type map, one of `crfdeid.label_schemes.TYPE_MAPPINGS`.
        synthetic: the synthetic corpus's profile.
        seed: the synthetic corpus's.
        augment: kinds of rewritten copies of training documents, as for `crfdeid.augmentation.parse_copy_kinds`.
        pseudonymise: number of possible replacements of each word of PHI in the training documents, itself included
            (`rnn.privacy.substitution`); None to train on unchanged documents.
        concepts: files of annotated concepts to add to the PHI; None for none.
        synthetic_concepts: add concepts to the synthetic corpus.
        share: the share of the training documents to use.
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
    """Sources of word vectors, for networks and for the nearest words of pseudonyms.

    Args:
        sources: name in tables -> kind of vectors, one of `EMBEDDING_KINDS`, or a file of them.
        unlabelled: more text to train vectors on.
        unlabelled_notes: number of generated notes to train them on too, for a synthetic corpus.
        neighbours: source of the vectors for `CorpusSettings.pseudonymise`, as in ``sources``.
    """

    sources: Mapping[str, str] = field(default_factory=lambda: {RANDOM: RANDOM})
    unlabelled: tuple[Path, ...] = ()
    unlabelled_notes: int = UNLABELLED_NOTES
    neighbours: str = NEIGHBOURS_FROM


@dataclass(frozen=True, kw_only=True)
class OutputSettings:
    """Files to write, and tables to show.

    Args:
        folder: for all results; None to write nothing.
        resume: continue the interrupted experiment in the folder.
        include_text: also write the text of a real corpus, which is PHI.
        show_examples: show errors in the text of a real corpus.
        published: show the scores that papers print next to ours.
    """

    folder: Path | None = None
    resume: bool = False
    include_text: bool = False
    show_examples: bool = False
    published: bool = False


@dataclass(frozen=True, kw_only=True)
class CommonSettings:
    """Settings that every experiment has.

    Args:
        profile: of each model's settings; a model without that profile has its default, except in a comparison.
        seeds: of each system.
        output: files to write, and tables to show.
        device: of networks, one of `experiments.core.training.DEVICES`.
        jobs: cells trained at the same time; None for the best number.
        command: the options that define the experiment as plain data, for its results.
    """

    profile: str = "default"
    seeds: tuple[int, ...] = (0,)
    output: OutputSettings = field(default_factory=OutputSettings)
    device: str = "auto"
    jobs: int | None = None
    command: Mapping[str, Any] = field(default_factory=dict)

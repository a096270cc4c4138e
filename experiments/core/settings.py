"""Settings that the experiments share, each field an option, and checks of options that exclude each other."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import click

from crfdeid.augmentation import NO_COPIES, parse_copy_kinds
from crfdeid.cli import shell
from crfdeid.cli.options import require_outside
from crfdeid.cli.shell import file_path, fraction, whole_number
from crfdeid.corpora import CORPUS_FORMATS
from crfdeid.corpora.layers import ConceptPaths
from crfdeid.errors import OptionConflictError, SettingError, UnknownNameError
from crfdeid.label_schemes import TYPE_MAPPINGS
from crfdeid.registry import profile_name
from crfdeid.validation import MOST_JOBS, MOST_SEED
from experiments.core.devices import DEVICES
from experiments.core.embeddings import EMBEDDING_KINDS, RANDOM
from experiments.core.options import CORPUS, WORK, fields_as_options, option, read, seeds
from experiments.papers import seeds_of
from experiments.results.folder import require_empty

_CONCEPT_PATHS = ("concepts", "dev_concepts", "test_concepts", "unsourced")
# Output and number of jobs: a run with other values is still the same experiment.
_NOT_THE_EXPERIMENT = ("jobs", "output", "resume", "include_text", "published", "show_examples")


@dataclass(frozen=True, kw_only=True)
class CorpusSettings:
    """Documents to train on and to score.

    Args:
        train: documents to learn from, a file or a folder
        dev: documents to choose settings and a network's best epoch on
        test: documents to score
        format: their format
        patient_column: key of JSON documents with the patient
        types: seven: the types of i2b2 2006; all: the types of the corpus; binary: PHI or not
        seed: of the synthetic corpus
        augment: also train on rewritten copies of training documents: accents (without them), case (small letters,
            capitals), layout (separators, field names, sentences); several with commas, all, or none
        pseudonymise: train on shuffled sentences in which each word of PHI is replaced by one of its N nearest words,
            itself included (1 only shuffles); development and test documents are not changed
        share: the share of the training documents to learn from
        synthetic: the synthetic corpus's profile.
        concepts: files of annotated concepts to add to the PHI; None for none.
        synthetic_concepts: add concepts to the synthetic corpus.
    """

    train: Path | None = option(None, file_path, section=CORPUS)
    dev: Path | None = option(
        None, file_path, section=CORPUS, usual="a tenth of the training documents, drawn with a fixed seed"
    )
    test: Path | None = option(
        None, file_path, section=CORPUS, usual="those of the development set, and the results say so"
    )
    format: str = option("auto", ("auto", *CORPUS_FORMATS), section=CORPUS, unset=True)
    patient_column: str | None = option(
        None, str, metavar="NAME", section=CORPUS, usual="patient, else the first-level subfolder"
    )
    types: str = option("seven", TYPE_MAPPINGS, section=CORPUS)
    seed: int = option(0, whole_number(0, MOST_SEED), name="--corpus-seed", section=CORPUS, usual="0", unset=True)
    augment: str = option(NO_COPIES, parse_copy_kinds, metavar="KINDS", section=CORPUS)
    pseudonymise: int | None = option(None, whole_number(1), section=CORPUS)
    share: float = option(1.0, fraction, metavar="X", section=CORPUS, usual="all", unset=True)
    synthetic: str = "default"
    concepts: ConceptPaths | None = None
    synthetic_concepts: bool = False


@dataclass(frozen=True, kw_only=True)
class OutputSettings:
    """Files to write, and tables to show.

    Args:
        folder: new folder for the report, tables, plots, results.json, predictions and fitted models
        resume: continue an interrupted run of the command in --output
        include_text: put the text of a real corpus, which is PHI, into the report
        published: show the scores that papers print next to ours
        show_examples: print errors in their text even of a real corpus, where that text is PHI
    """

    folder: Path | None = option(None, file_path, name="--output", metavar="DIR", section=WORK)
    resume: bool = option(False, section=WORK)
    include_text: bool = option(False, section=WORK)
    published: bool = option(False, section=WORK)
    show_examples: bool = option(False, section=WORK)


@dataclass(frozen=True, kw_only=True)
class CommonSettings:
    """Settings that every experiment has.

    Args:
        profile: settings that the models start from: default, or a paper's in every model that has it
        seeds: train each system N times, with the seeds 0 to N-1, or once with each seed of a list: 3,7
        device: device of networks; auto takes for each the faster one, by measured times
        jobs: systems trained at the same time on the CPU, which changes no result
        output: files to write, and tables to show.
        command: the options that define the experiment as plain data, for its results.
    """

    profile: str = option("default", profile_name, metavar="NAME", usual="")
    seeds: tuple[int, ...] = option(
        (0,), seeds, metavar="N|LIST", unset=True, usual="1; with a paper's profile the paper's number"
    )
    device: str = option("auto", DEVICES, section=WORK)
    jobs: int | None = option(None, whole_number(1, MOST_JOBS), section=WORK, usual="one for each core")
    output: OutputSettings = field(default_factory=OutputSettings)
    command: Mapping[str, Any] = field(default_factory=dict)


_Settings = TypeVar("_Settings", bound=CommonSettings)


def options_of(settings: type[CommonSettings], **changes: Any) -> list[click.Parameter]:
    """Options of an experiment: of its settings, as of `fields_as_options`, and of its work."""
    text = "keep no compiled networks for later runs (they hold no words)"
    return [*fields_as_options(settings, **changes), shell.GLOBAL[1].but(help=text, section=WORK)]


def settings_of(settings: type[_Settings], options: SimpleNamespace, **others: Any) -> _Settings:
    """Settings from the options (`read`), with those that define the experiment as plain data in ``command``.

    Without seeds there are those of the profile (`experiments.papers.seeds_of`).
    """
    options.seeds = options.seeds or seeds_of(options.profile)
    defining = {name: value for name, value in vars(options).items() if name not in _NOT_THE_EXPERIMENT}
    found: _Settings = read(settings, options, command=json.loads(json.dumps(defining, default=str)), **others)
    return found


def check(options: SimpleNamespace) -> None:
    """Refuse contradictory options, missing files, and an unusable output folder.

    Args:
        options: of `CommonSettings`, `CorpusSettings` and `experiments.core.embeddings.VectorSettings`, and those about
            concepts where the command has them.

    Raises:
        UsageError: an option, or a combination of options, is invalid.
    """
    if options.train is None:
        for name in ("dev", "test", "format", *_CONCEPT_PATHS):
            if getattr(options, name, None) is not None:
                raise OptionConflictError(f"{_option(name)} needs --train: without it the synthetic corpus is used")
    elif options.corpus_seed is not None:
        raise OptionConflictError("--corpus-seed is for the synthetic corpus: leave it out, or leave out --train")
    names = ("train", "dev", "test", *_CONCEPT_PATHS)
    inputs = [(_option(name), path) for name in names if (path := getattr(options, name, None)) is not None]
    inputs += [("--unlabelled", path) for path in options.unlabelled]
    inputs += [("--embeddings", Path(name)) for name in options.embeddings if name not in EMBEDDING_KINDS]
    if getattr(options, "neighbours_from", None) not in (None, *EMBEDDING_KINDS):
        inputs.append(("--neighbours-from", Path(options.neighbours_from)))
    check_work(options, inputs)


def check_work(options: SimpleNamespace, inputs: Iterable[tuple[str, Path]]) -> None:
    """Refuse contradictory options of `OutputSettings`, and missing input files.

    Args:
        options: of `OutputSettings`.
        inputs: input files and folders, by the option that names them.

    Raises:
        UsageError: an option, or a combination of options, is invalid.
    """
    out = options.output
    for name in ("resume", "include_text"):
        if getattr(options, name) and out is None:
            raise OptionConflictError(f"{_option(name)} needs --output")
    for name, path in inputs:
        if not os.path.exists(path):  # noqa: PTH110  Path.exists raises for a name that is too long.
            of_vectors = name in ("--embeddings", "--neighbours-from")
            kinds = f"; other than files, there are {', '.join(EMBEDDING_KINDS)}" if of_vectors else ""
            raise UnknownNameError(f"{name}: no such file or folder: {path}{kinds}")
        if out is not None:
            require_outside(out, {name: path})
    if out is not None and not options.resume:
        require_empty(out)


def check_near(name: str, source: str) -> None:
    """Refuse random word vectors, which have no nearest words.

    Raises:
        UsageError: they are random.
    """
    if source == RANDOM:
        raise SettingError(f"--{name}: nothing is near by {RANDOM} vectors: give another kind, or a file")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"

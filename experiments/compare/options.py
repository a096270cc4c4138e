"""Settings and options of ``python -m experiments.compare``, and checks of their combinations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click

from crfdeid.augmentation import NO_COPIES, parse_copy_kinds
from crfdeid.cli import shell
from crfdeid.cli.shell import choice, file_path, flag, positive_number, whole_number
from crfdeid.ensembles.ensemble import COMBINATIONS
from crfdeid.errors import FormatError, OptionConflictError, SettingError, UsageError
from crfdeid.registry import model_settings
from crfdeid.utils.files import read_toml
from experiments.core.embeddings import (
    NEIGHBOURS_FROM,
    RANDOM,
    RECIPES,
    UNLABELLED_NOTES,
    VectorSettings,
    embedding_name,
)
from experiments.core.experiment import CommonSettings, CorpusSettings
from experiments.core.options import (
    CORPUS,
    Option,
    axis,
    check,
    check_near,
    common_settings,
    corpus_options,
    corpus_settings,
    embeddings,
    fractions,
    phi_model_names,
    phi_models,
    profile_option,
    seed_option,
    set_option,
    unlabelled_option,
    vector_settings,
    vector_source,
    work_options,
)
from experiments.core.systems import Point, Variant
from experiments.papers import CORE, PAPERS, papers_on

DESCRIPTION = """\
Train models to find protected health information, score them on the same documents, and show the results side by
side: corpus, settings, recall, precision and F of each category, kinds of errors, and time."""
EXAMPLES = """\
examples:
  python -m experiments.compare --models crf,elman,jordan
      on the built-in synthetic corpus, in minutes
  python -m experiments.compare --train notes/train --dev notes/dev --test notes/test --format brat --output results/
      on your own annotated corpus; tables, scores, predictions and models are written to results/
  python -m experiments.compare --variants variants.toml --seeds 3
      named settings of models side by side; a table each: [wide], model = "elman", window = 11
  python -m experiments.compare --models elman --hidden 50 --epochs 10 --seeds 3
      one model with settings of your own, three times
  python -m experiments.compare --models crf,elman,jordan --embeddings random,rnnlm,cbow --seeds 3 --output results/
      every model with every kind of word vectors, as yadav2016 compares them; results/report.html shows it

exit codes: 0 done, 1 unreadable data, 2 invalid option, 130 interrupted"""

_NAME = re.compile(r"\w[\w.-]*")
# Options that replace the setting of the same name in every model that has one.
SETTINGS = ("features", "pos", "window", "hidden", "epochs", "lr", "freeze_embeddings")


@dataclass(frozen=True, kw_only=True)
class ModelSettings:
    """Models to train, and their settings.

    Args:
        models: names in `crfdeid.registry.MODELS`.
        changes: settings that replace the profile's, in every model that has them.
        combine: kind of a further system that combines the models (`crfdeid.ensembles.ensemble.COMBINATIONS`); None for
            none.
        fractions: further shares of the training documents to train on.
        sweep: settings and the values to try, each with each.
        variants: further systems, a model with settings of its own, which take precedence over ``changes``.
    """

    models: tuple[str, ...]
    changes: Point = ()
    combine: str | None = None
    fractions: tuple[float, ...] = ()
    sweep: tuple[tuple[str, tuple[Any, ...]], ...] = ()
    variants: tuple[Variant, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CompareArguments(CommonSettings):
    """Settings of ``experiments.compare``.

    Args:
        models: the models.
        corpus: the documents.
        vectors: the word vectors.
    """

    models: ModelSettings
    corpus: CorpusSettings = field(default_factory=CorpusSettings)
    vectors: VectorSettings = field(default_factory=VectorSettings)


def read_settings(options: SimpleNamespace) -> CompareArguments:
    """Settings from the options; check each and their combinations."""
    variants = read_variants(options.variants, profile=options.profile) if options.variants else ()
    if options.models is None:
        options.models = [] if variants else list(PAPERS.get(options.profile, CORE).models.values())
    _require_names(variants, options.models)
    tagged = [*options.models, *(variant.model for variant in variants)]
    if options.train is not None and options.unlabelled_notes is not None:
        raise OptionConflictError(
            "--unlabelled-notes is for the synthetic corpus: leave it out, or give --unlabelled files"
        )
    if options.combine is not None and len(options.models) < 2:
        raise OptionConflictError("--combine joins several models: name two or more in --models")
    if options.published and not papers_on(tagged):
        raise OptionConflictError(f"--published: no paper here prints scores of {', '.join(tagged)}: leave it out")
    _check_neighbours(options)
    check(options)
    return _settings(options, variants)


def read_variants(path: Path, *, profile: str) -> tuple[Variant, ...]:
    """Read a TOML file with a table a variant: "model", and settings that replace the profile's.

    Raises:
        DataError: the file cannot be read, is no TOML, or a table names no model; the message has the file.
        UsageError: a table has an unknown model or setting, or an invalid value; the message has file and table.
    """
    found = []
    for name, table in read_toml(path).items():
        if not isinstance(table, dict) or not isinstance(table.get("model"), str):
            raise FormatError(f'[{name}] needs a line such as model = "crf"', path=path)
        settings = {
            key: tuple(value) if isinstance(value, list) else value for key, value in table.items() if key != "model"
        }
        try:
            phi_models(table["model"])
            model_settings(table["model"], profile=profile, overrides=settings)
        except UsageError as problem:
            raise SettingError(f"{path}: [{name}]: {problem}") from None
        found.append(Variant(name, table["model"], tuple(settings.items())))
    if not found:
        raise FormatError("no variants: add a table for each, such as [wide]", path=path)
    return tuple(found)


def _require_names(variants: Sequence[Variant], models: Sequence[str]) -> None:
    """Refuse a variant with the name of a compared model, or one that is no name of a file."""
    for variant in variants:
        if variant.name in models:
            raise OptionConflictError(f"--variants: [{variant.name}] has the name of a model in --models: rename it")
        if not _NAME.fullmatch(variant.name):
            raise SettingError(
                f"--variants: [{variant.name}]: name it by letters, digits, '.', '_', '-', no '.' or '-' first"
            )


def _settings(options: SimpleNamespace, variants: tuple[Variant, ...]) -> CompareArguments:
    return CompareArguments(
        models=ModelSettings(
            models=tuple(options.models),
            changes=tuple(_changes(options).items()),
            combine=options.combine,
            fractions=tuple(options.fractions),
            sweep=tuple((name, tuple(values)) for name, values in options.sweep),
            variants=variants,
        ),
        corpus=corpus_settings(
            options,
            synthetic=PAPERS[options.profile].synthetic if options.profile in PAPERS else "default",
            augment=options.augment,
            pseudonymise=options.pseudonymise,
        ),
        vectors=vector_settings(
            options,
            unlabelled_notes=UNLABELLED_NOTES if options.unlabelled_notes is None else options.unlabelled_notes,
            neighbours=options.neighbours_from or NEIGHBOURS_FROM,
        ),
        **common_settings(options),
    )


def _changes(options: SimpleNamespace) -> dict[str, Any]:
    """Settings that replace the profile's: options of their own, and --set."""
    given = {name: getattr(options, name) for name in SETTINGS}
    found = {name: value for name, value in given.items() if value is not None and value is not False}
    for name, value in options.set:
        if name in found:
            raise SettingError(f"--set: {name} is set twice")
        found[name] = value
    return found


def _check_neighbours(options: SimpleNamespace) -> None:
    if options.pseudonymise is None:
        if options.neighbours_from is not None:
            raise OptionConflictError("--neighbours-from needs --pseudonymise")
        return
    source = options.neighbours_from = options.neighbours_from or NEIGHBOURS_FROM
    check_near("neighbours-from", source)
    for other in options.embeddings:
        if other != source and embedding_name(other) == embedding_name(source):
            raise SettingError(f"--neighbours-from: {source} and {other} of --embeddings have one name: rename a file")


def options() -> list[click.Parameter]:
    """Options of the command."""
    known, core = ", ".join(phi_model_names()), ",".join(CORE.models.values())
    return [
        Option(
            "--models",
            phi_models,
            metavar="NAMES",
            help=f"models to compare, separated by commas, from {known} "
            f"(default: those of the profile's paper, or {core})",
        ),
        Option(
            "--variants",
            file_path,
            metavar="FILE",
            help='TOML file with named settings to compare, a table each: [wide], model = "elman", window = 11; with '
            "--models, next to these",
        ),
        choice(
            "--combine",
            COMBINATIONS,
            help="add a system that combines the models: spans of any model (union), of most models (vote), or the "
            "most probable tags by the mean of their probabilities (mean)",
        ),
        profile_option(
            "settings of the models and size of the synthetic corpus: default, which are tuned and small, or a "
            f"paper's: {', '.join(PAPERS)} (paper: yadav2016)"
        ),
        seed_option(),
        *corpus_options(dev="documents to choose settings and a network's best epoch on", test="documents to score"),
        *_training_data(),
        *_model_settings(),
        *_vectors(),
        *_further_experiments(),
        *work_options(),
    ]


def _training_data() -> list[Option]:
    return [
        Option(
            "--augment",
            parse_copy_kinds,
            default=NO_COPIES,
            metavar="KINDS",
            section=CORPUS,
            help="also train on rewritten copies of training documents: accents (without them), case (small letters, "
            "capitals), layout (separators, field names, sentences); several with commas, all, or none "
            f"(default: {NO_COPIES})",
        ),
        Option(
            "--pseudonymise",
            whole_number(1),
            metavar="N",
            section=CORPUS,
            help="train on shuffled sentences in which each word of PHI is replaced by one of its N nearest words, "
            "itself included (1 only shuffles); development and test documents are not changed",
        ),
        Option(
            "--neighbours-from",
            vector_source,
            metavar="NAME|PATH",
            section=CORPUS,
            help="word vectors for the nearest words: a kind that is trained here, or a file, as in --embeddings "
            f"(default: {NEIGHBOURS_FROM})",
        ),
    ]


def _model_settings() -> list[Option]:
    section = "Settings (replace the profile's, in every model that has them)"
    number: dict[str, Any] = {"parse": whole_number(1), "metavar": "N", "section": section}
    return [
        Option("--features", metavar="SET", help="set of hand-made features, such as paper or strong", section=section),
        Option(
            "--pos", metavar="NAME", help="part-of-speech tagger (English): textblob, nltk or none", section=section
        ),
        Option("--window", **{**number, "parse": whole_number(0)}, help="words that a network sees at once"),
        Option("--hidden", **number, help="hidden units of a network"),
        Option("--epochs", **number, help="passes over the training documents, at most"),
        Option("--lr", positive_number, metavar="X", help="learning rate", section=section),
        set_option(
            "any other settings, such as max_norm=5 layers=2; an unknown name lists the known ones", section=section
        ),
    ]


def _vectors() -> list[shell.Option]:
    section = "Word vectors of the networks"
    return [
        Option(
            "--embeddings",
            embeddings,
            default=[RANDOM],
            metavar="NAMES|PATHS",
            section=section,
            help="source of word vectors: random numbers, a method that is trained here on the training documents "
            f"({', '.join(RECIPES)}), or a file of vectors (word2vec, GloVe, fastText); several are compared "
            f"(default: {RANDOM})",
        ),
        unlabelled_option(section=section),
        Option(
            "--unlabelled-notes",
            whole_number(0),
            metavar="N",
            section=section,
            help=f"generated notes to train them on, of the synthetic corpus (default: {UNLABELLED_NOTES})",
        ),
        flag("--freeze-embeddings", help="do not train word vectors", section=section),
    ]


def _further_experiments() -> list[Option]:
    section = "Further experiments"
    return [
        Option(
            "--fractions",
            fractions,
            default=[],
            metavar="LIST",
            section=section,
            help="train on these shares of the training documents too: 0.1,0.25,0.5",
        ),
        Option(
            "--sweep",
            axis,
            several=True,
            metavar="NAME=VALUES",
            section=section,
            help="try every combination of these values of settings, such as window=7,9,11 hidden=50,100; each system "
            "then has the best ones on dev",
        ),
    ]

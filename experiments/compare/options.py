"""Settings and options of ``python -m experiments.compare``, and checks of their combinations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click

from crfdeid.cli import shell
from crfdeid.cli.shell import file_path, positive_number, whole_number
from crfdeid.ensembles.ensemble import COMBINATIONS
from crfdeid.errors import FormatError, OptionConflictError, SettingError, UsageError
from crfdeid.registry import model_settings
from crfdeid.utils.files import read_toml
from experiments.core.embeddings import NEIGHBOURS_FROM, RANDOM, VectorSettings, embedding_name
from experiments.core.options import axis, fields_as_options, fractions, option, phi_model_names, phi_models, read
from experiments.core.settings import CommonSettings, CorpusSettings, check, check_near, options_of, settings_of
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
_SETTINGS = "Settings (replace the profile's, in every model that has them)"
_FURTHER = "Further experiments"


@dataclass(frozen=True, kw_only=True)
class NamedSettings:
    """Settings of models with an option of their own.

    Args:
        features: set of hand-made features, such as paper or strong
        pos: part-of-speech tagger (English): textblob, nltk or none
        window: words that a network sees at once
        hidden: hidden units of a network
        epochs: passes over the training documents, at most
        lr: learning rate
        freeze_embeddings: do not train word vectors
    """

    features: str | None = option(None, str, metavar="SET", section=_SETTINGS)
    pos: str | None = option(None, str, metavar="NAME", section=_SETTINGS)
    window: int | None = option(None, whole_number(0), section=_SETTINGS)
    hidden: int | None = option(None, whole_number(1), section=_SETTINGS)
    epochs: int | None = option(None, whole_number(1), section=_SETTINGS)
    lr: float | None = option(None, positive_number, metavar="X", section=_SETTINGS)
    freeze_embeddings: bool = option(False, section=_SETTINGS)


@dataclass(frozen=True, kw_only=True)
class ModelSettings:
    """Models to train, and their settings, which replace the profile's in every model that has them.

    Args:
        models: models to compare, separated by commas, from
        variants: TOML file with named settings to compare, a table each: [wide], model = "elman", window = 11; with
            --models, next to these
        combine: add a system that combines the models: spans of any model (union), of most models (vote), or the most
            probable tags by the mean of their probabilities (mean)
        changes: any other settings, such as max_norm=5 layers=2; an unknown name lists the known ones
        fractions: train on these shares of the training documents too: 0.1,0.25,0.5
        sweep: try every combination of these values of settings, such as window=7,9,11 hidden=50,100; each system then
            has the best ones on dev
    """

    models: tuple[str, ...] = option(
        (),
        phi_models,
        metavar="NAMES",
        known=phi_model_names(),
        usual=f"those of the profile's paper, or {','.join(CORE.models.values())}",
        unset=True,
    )
    variants: tuple[Variant, ...] = option((), file_path, metavar="FILE", unset=True)
    combine: str | None = option(None, COMBINATIONS)
    changes: Point = option((), shell.setting, name="--set", several=True, metavar="NAME=VALUE", section=_SETTINGS)
    fractions: tuple[float, ...] = option((), fractions, metavar="LIST", section=_FURTHER)
    sweep: tuple[tuple[str, tuple[Any, ...]], ...] = option(
        (), axis, several=True, metavar="NAME=VALUES", section=_FURTHER
    )


@dataclass(frozen=True, kw_only=True)
class CompareArguments(CommonSettings):
    """Settings of ``experiments.compare``.

    Args:
        models: the models.
        vary_all: each of several seeds also draws its own division into training and development documents (with
            --test), copies, pseudonyms, trained word vectors and order of batches; else seeds share these
        corpus: the documents.
        vectors: the word vectors.
    """

    models: ModelSettings
    vary_all: bool = option(False)
    corpus: CorpusSettings = field(default_factory=CorpusSettings)
    vectors: VectorSettings = field(default_factory=VectorSettings)


def options() -> list[click.Parameter]:
    """Options of the command."""
    profiles = (
        "settings of the models and size of the synthetic corpus: default, which are tuned and small, or a paper's: "
        f"{', '.join(PAPERS)} (paper: yadav2016)"
    )
    section = {"section": "Word vectors of the networks"}
    vectors = dict.fromkeys(("unlabelled", "unlabelled_notes"), section)
    sources = {**section, "unset": True, "usual": "random; with a paper's profile those of its tables"}
    own = options_of(CompareArguments, without=["share"], profile={"help": profiles}, sources=sources, **vectors)
    return [*own, *fields_as_options(NamedSettings)]


def read_settings(options: SimpleNamespace) -> CompareArguments:
    """Settings from the options; check each and their combinations."""
    variants = read_variants(options.variants, profile=options.profile) if options.variants else ()
    paper = PAPERS.get(options.profile)
    if options.models is None:
        options.models = () if variants else tuple((paper or CORE).models.values())
    options.embeddings = options.embeddings or (paper.embedding if paper else RANDOM,)
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
    synthetic = paper.synthetic if paper else "default"
    found = settings_of(
        CompareArguments, options, synthetic=synthetic, variants=variants, changes=tuple(_changes(options).items())
    )
    if found.vary_all and len(found.seeds) < 2:
        raise OptionConflictError("--vary-all varies what several seeds share: give --seeds 2 or more")
    return found


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


def _changes(options: SimpleNamespace) -> dict[str, Any]:
    """Settings that replace the profile's: options of their own, and --set."""
    given = asdict(read(NamedSettings, options))
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

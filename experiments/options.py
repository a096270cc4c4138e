"""The options of ``python -m experiments.compare``: what there is, and what goes together."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from crfdeid.augmentation import NONE, REWRITES
from crfdeid.cli.shell import (
    Parser,
    add_compilation_cache,
    file_path,
    json_value,
    positive_number,
    setting,
    whole_number,
)
from crfdeid.combined.ensemble import COMBINE
from crfdeid.corpora import FORMATS
from crfdeid.errors import UsageError
from crfdeid.labels import TYPES
from crfdeid.models import MODELS, profile_name
from crfdeid.settings import MOST_SEED
from experiments.papers import CORE, PAPERS, papers_on
from experiments.results.folder import require_empty
from experiments.running.device import DEVICES
from experiments.running.embeddings import KINDS, RECIPES, embedding_name
from experiments.running.settings import (
    NEIGHBOURS_FROM,
    RANDOM,
    UNLABELLED_NOTES,
    CorpusSettings,
    Experiment,
    ModelSettings,
    OutputSettings,
    VectorSettings,
)

DESCRIPTION = """\
Train models to find protected health information, score them on the same documents, and show the results side by
side: corpus, settings, recall, precision and F of each category, kinds of errors, and time."""
EXAMPLES = """\
examples:
  python -m experiments.compare --models crf,elman,jordan
      on the built-in synthetic corpus, in minutes
  python -m experiments.compare --train notes/train --dev notes/dev --test notes/test --format brat --out results/
      on your own annotated corpus; tables, scores, predictions and models are kept in results/
  python -m experiments.compare --models elman --hidden 50 --epochs 10 --seeds 3
      one model with settings of your own, three times
  python -m experiments.compare --models crf,elman,jordan --embeddings random,rnnlm,cbow --seeds 3 --out results/
      every model with every kind of word vectors, as yadav2016 compares them; results/report.html shows it

exit codes: 0 done, 1 data that cannot be read, 2 an option that cannot work, 130 interrupted"""

_Value = TypeVar("_Value")


# Options that replace the setting of the same name in every model that has one.
SETTINGS = ("features", "pos", "window", "hidden", "epochs", "lr", "freeze_embeddings")

_NOT_THE_EXPERIMENT = ("jobs", "out", "show_examples", "resume", "include_text", "published")


def parse(argv: Sequence[str] | None) -> Experiment:
    """What a command line asks for; each option is checked by itself and against the others.

    Raises:
        UsageError: an option, or a combination of options, that cannot work.
    """
    options = _parser().parse_args(argv)
    options.models = options.models or list(PAPERS.get(options.profile, CORE).models.values())
    if options.train is None:
        for name in ("dev", "test", "format"):
            if getattr(options, name) is not None:
                raise UsageError(f"--{name} needs --train: without it the synthetic corpus is used")
    elif options.corpus_seed is not None:
        raise UsageError("--corpus-seed is for the synthetic corpus: leave it out, or leave out --train")
    if options.train is not None and options.unlabelled_notes is not None:
        raise UsageError("--unlabelled-notes is for the synthetic corpus: leave it out, or give --unlabelled files")
    if options.combine is not None and len(options.models) < 2:
        raise UsageError("--combine joins several models: name two or more in --models")
    if options.published and not papers_on(options.models):
        raise UsageError(f"--published: no paper here prints scores of {', '.join(options.models)}: leave it out")
    _check_neighbours(options)
    for name in ("resume", "include_text"):
        if getattr(options, name) and options.out is None:
            raise UsageError(f"--{name.replace('_', '-')} needs --out")
    check_paths(options)
    return _experiment(options)


def _experiment(options: argparse.Namespace) -> Experiment:
    return Experiment(
        models=ModelSettings(
            models=tuple(options.models),
            profile=options.profile,
            changes=tuple(_changes(options).items()),
            combine=options.combine,
            seeds=tuple(options.seeds),
            fractions=tuple(options.fractions),
            sweep=tuple((name, tuple(values)) for name, values in options.sweep),
        ),
        corpus=CorpusSettings(
            train=options.train,
            dev=options.dev,
            test=options.test,
            format=options.format or "auto",
            types=options.types,
            synthetic=PAPERS[options.profile].synthetic if options.profile in PAPERS else "default",
            seed=options.corpus_seed or 0,
            augment=options.augment,
            pseudonymise=options.pseudonymise,
        ),
        vectors=VectorSettings(
            sources={embedding_name(source): source for source in options.embeddings},
            unlabelled=tuple(options.unlabelled),
            unlabelled_notes=UNLABELLED_NOTES if options.unlabelled_notes is None else options.unlabelled_notes,
            neighbours=options.neighbours_from or NEIGHBOURS_FROM,
        ),
        output=OutputSettings(
            folder=options.out,
            resume=options.resume,
            include_text=options.include_text,
            show_examples=options.show_examples,
            published=options.published,
        ),
        device=options.device,
        jobs=options.jobs,
        command=_command(options),
    )


def _changes(options: argparse.Namespace) -> dict[str, Any]:
    """The settings that replace those of the profile, from options of their own and from --set."""
    found = {name: value for name in SETTINGS if (value := getattr(options, name)) is not None}
    for name, value in options.set:
        if name in found:
            raise UsageError(f"--set: {name} is given twice")
        found[name] = value
    return found


def _command(options: argparse.Namespace) -> dict[str, Any]:
    """The options that define the experiment: not where its results go, nor how many jobs share the work."""
    named = {name: value for name, value in vars(options).items() if name not in _NOT_THE_EXPERIMENT}
    plain: dict[str, Any] = json.loads(json.dumps(named, default=str))
    return plain


def _check_neighbours(options: argparse.Namespace) -> None:
    if options.pseudonymise is None:
        if options.neighbours_from is not None:
            raise UsageError("--neighbours-from needs --pseudonymise")
        return
    source = options.neighbours_from = options.neighbours_from or NEIGHBOURS_FROM
    if source == RANDOM:
        raise UsageError(f"--neighbours-from: nothing is near by {RANDOM} vectors: give another kind, or a file")
    for other in options.embeddings:
        if other != source and embedding_name(other) == embedding_name(source):
            raise UsageError(f"--neighbours-from: {source} and {other} of --embeddings have one name: rename a file")


def check_paths(options: argparse.Namespace) -> None:
    """Refuse files that are not there, and an output folder that cannot be used.

    Args:
        options: with train, dev, test, unlabelled, embeddings, out and resume; and ``neighbours_from`` if need be.

    Raises:
        UsageError: a path that cannot work.
    """
    out = options.out
    given = [(name, path) for name in ("train", "dev", "test") if (path := getattr(options, name)) is not None]
    given += [("unlabelled", path) for path in options.unlabelled]
    given += [("embeddings", Path(name)) for name in options.embeddings if name not in KINDS]
    if getattr(options, "neighbours_from", None) not in (None, *KINDS):
        given.append(("neighbours-from", Path(options.neighbours_from)))
    for name, path in given:
        if not os.path.exists(path):  # noqa: PTH110  Path.exists raises for a name that is too long.
            raise UsageError(f"--{name}: no such file or folder: {path}{_kinds(name)}")
        if out is not None and path.is_dir() and out.resolve().is_relative_to(path.resolve()):
            raise UsageError(f"--out: {out} lies in the folder of --{name}: name one outside, or results become data")
    if out is not None and not options.resume:
        require_empty(out)


def _kinds(option: str) -> str:
    return f"; other than files there are {', '.join(KINDS)}" if option in ("embeddings", "neighbours-from") else ""


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="python -m experiments.compare",
        usage="%(prog)s [options]",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    _add_models(parser)
    _add_corpus(parser.add_argument_group("corpus", "without --train, the built-in synthetic corpus"))
    _add_settings(parser.add_argument_group("settings", "replace the profile's, in every model that has them"))
    _add_embeddings(parser.add_argument_group("word vectors of the networks"))
    _add_experiments(parser.add_argument_group("further experiments"))
    _add_work(parser.add_argument_group("work and output"))
    return parser


def _add_models(group: argparse.ArgumentParser) -> None:
    known = ", ".join(MODELS)
    core = ",".join(CORE.models.values())
    text = f"models to compare, separated by commas, from {known} (default: those of the profile's paper, or {core})"
    group.add_argument("--models", type=_models, metavar="NAMES", help=text)
    text = (
        "add one system, the models joined: all that any of them finds (union), what most find (vote), or what is most "
        "probable by the mean of their probabilities (mean)"
    )
    group.add_argument("--combine", choices=COMBINE, help=text)
    text = (
        "settings of the models and size of the synthetic corpus: default, which are tuned and small, or a paper's: "
        f"{', '.join(PAPERS)} (paper: yadav2016)"
    )
    group.add_argument("--profile", type=profile_name, default="default", metavar="NAME", help=text)
    text = "train each model N times, with the seeds 0 to N-1, or once with each seed of a list: 3,7 (default: 1)"
    group.add_argument("--seeds", type=seeds, default=[0], metavar="N|LIST", help=text)


def _add_corpus(group: argparse._ArgumentGroup) -> None:
    for name, text in {
        "train": "documents to learn from, a file or a folder",
        "dev": "documents to choose settings and a network's best epoch on (default: a tenth of the training "
        "documents, drawn with a fixed seed)",
        "test": "documents to score (default: those of the development set, and the results say so)",
    }.items():
        group.add_argument(f"--{name}", type=file_path, metavar="PATH", help=text)
    group.add_argument("--format", choices=("auto", *FORMATS), help="their format (default: auto)")
    text = "seven: the types of i2b2 2006; all: those that the corpus has; binary: PHI or not (default: seven)"
    group.add_argument("--types", choices=TYPES, default="seven", help=text)
    group.add_argument(
        "--corpus-seed", type=whole_number(0, MOST_SEED), metavar="N", help="of the synthetic corpus (default: 0)"
    )
    text = (
        "train on copies of training documents too, rewritten without accents (accents), in small letters and capitals "
        f"(case), or both (default: {NONE})"
    )
    group.add_argument("--augment", choices=REWRITES, default=NONE, help=text)
    text = (
        "train on shuffled sentences in which each word of PHI is one of its N nearest, itself among them (1 shuffles "
        "alone); development and test documents stay as they are"
    )
    group.add_argument("--pseudonymise", type=whole_number(1), metavar="N", help=text)
    text = (
        f"word vectors that say which words are near: a kind that is trained here, or a file, as in --embeddings "
        f"(default: {NEIGHBOURS_FROM})"
    )
    group.add_argument("--neighbours-from", type=_source, metavar="NAME|PATH", help=text)


def _add_settings(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--features", metavar="SET", help="set of hand-made features, such as paper or strong")
    group.add_argument("--pos", metavar="NAME", help="part-of-speech tagger (English): textblob, nltk or none")
    group.add_argument("--window", type=whole_number(0), metavar="N", help="words that a network sees at once")
    group.add_argument("--hidden", type=whole_number(1), metavar="N", help="hidden units of a network")
    group.add_argument(
        "--epochs", type=whole_number(1), metavar="N", help="passes over the training documents, at most"
    )
    group.add_argument("--lr", type=positive_number, metavar="X", help="learning rate")
    text = "any other settings, such as max_norm=5 layers=2; a name that no model has is answered with those there are"
    group.add_argument("--set", type=setting, nargs="+", default=[], metavar="NAME=VALUE", help=text)


def _add_embeddings(group: argparse._ArgumentGroup) -> None:
    text = (
        "where word vectors come from: random numbers, a method that is trained here on the training documents "
        f"({', '.join(RECIPES)}), or a file of vectors (word2vec, GloVe, fastText); several are compared "
        f"(default: {RANDOM})"
    )
    group.add_argument("--embeddings", type=embeddings, default=[RANDOM], metavar="NAMES|PATHS", help=text)
    text = "more text to train word vectors on, beside the training documents: text files, or a corpus in any format"
    group.add_argument("--unlabelled", type=file_path, nargs="+", default=[], metavar="PATH", help=text)
    text = f"generated notes to train them on, of the synthetic corpus (default: {UNLABELLED_NOTES})"
    group.add_argument("--unlabelled-notes", type=whole_number(0), metavar="N", help=text)
    text = "keep word vectors as they are while a network is trained"
    group.add_argument("--freeze-embeddings", action="store_true", default=None, help=text)


def _add_experiments(group: argparse._ArgumentGroup) -> None:
    text = "train on these shares of the training documents too: 0.1,0.25,0.5"
    group.add_argument("--fractions", type=_fractions, default=[], metavar="LIST", help=text)
    text = (
        "try every combination of these values of settings, such as window=7,9,11 hidden=50,100; each system goes on "
        "with those that are best on dev"
    )
    group.add_argument("--sweep", type=_axis, nargs="+", default=[], metavar="NAME=VALUES", help=text)


def _add_work(group: argparse._ArgumentGroup) -> None:
    text = "where networks are trained; auto takes a GPU where there is one (default: auto)"
    group.add_argument("--device", choices=DEVICES, default="auto", help=text)
    text = "models trained at the same time, which changes no result (default: one for each core; on a GPU one)"
    group.add_argument("--jobs", type=whole_number(1), metavar="N", help=text)
    add_compilation_cache(group)
    text = "new folder for the report, tables, plots, results.json, predictions and fitted models"
    group.add_argument("--out", type=file_path, metavar="DIR", help=text)
    text = "go on with what an interrupted run of the same command left in --out"
    group.add_argument("--resume", action="store_true", help=text)
    text = "put the text of a real corpus, which is PHI, into the report"
    group.add_argument("--include-text", action="store_true", help=text)
    text = "show the scores that papers print of these models beside ours, in tables of their own"
    group.add_argument("--published", action="store_true", help=text)
    text = "print errors in their text even of a real corpus, where that text is PHI"
    group.add_argument("--show-examples", action="store_true", help=text)


def _models(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in MODELS:
            raise argparse.ArgumentTypeError(f"unknown model '{name}': choose from {', '.join(MODELS)}")
    return _without_repeats(names, text)


def embeddings(text: str) -> list[str]:
    """An option's value as kinds and files of word vectors, which must have different names in tables."""
    names = text.split(",")
    if "" in names:
        raise argparse.ArgumentTypeError(f"'{text}' holds an empty name")
    _without_repeats([embedding_name(name) for name in names], text)
    return names


def _source(text: str) -> str:
    return text if text in KINDS else str(file_path(text))


def _fractions(text: str) -> list[float]:
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = [0.0]
    if not all(0 < number <= 1 for number in numbers):
        raise argparse.ArgumentTypeError(f"'{text}' is no list of shares above 0, at most 1, such as 0.1,0.25,0.5")
    return _without_repeats(numbers, text)


def _axis(text: str) -> tuple[str, list[Any]]:
    name, _, values = text.partition("=")
    found = [json_value(value) for value in values.split(",")]
    if not name.isidentifier() or "" in found:
        raise argparse.ArgumentTypeError(f"'{text}' is no setting with values, such as window=7,9,11")
    return name, _without_repeats(found, text)


def seeds(text: str) -> list[int]:
    """An option's value as seeds: those of a list, or as many as a number says."""
    try:
        numbers = [int(part) for part in text.removesuffix(",").split(",")]
    except ValueError:
        numbers = [-1]
    if min(numbers) < 0:
        raise argparse.ArgumentTypeError(f"'{text}' is neither a number of seeds nor a list of them such as 3,7")
    if max(numbers) > MOST_SEED:
        raise argparse.ArgumentTypeError(f"'{text}' is too large: seeds are numbers up to {MOST_SEED}")
    if "," in text or numbers == [0]:  # no seeds at all would be no experiment: 0 means the seed 0
        return _without_repeats(numbers, text)
    return list(range(numbers[0]))


def _without_repeats(values: list[_Value], text: str) -> list[_Value]:
    if len(set(values)) < len(values):
        raise argparse.ArgumentTypeError(f"'{text}' names one twice")
    return values

"""Training data shared without its text, scored and attacked: ``python -m experiments.private --help``.

Friedrich et al. (2019): Table 2, Figures 4 and 5, the attacks of the paper and further ones, and hospitals that pool
their data. `parse` turns options into typed settings, `running.private` trains and attacks, `results.private`
assembles, `tables.private`, `plots.private` and `reporting` render. This module prints.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

from crfdeid.errors import SettingError, UnknownNameError
from crfdeid.registry import profile_name
from experiments.arguments import Parser, setting, whole_number
from experiments.options import (
    add_corpus,
    add_seeds,
    add_unlabelled,
    add_work,
    check,
    check_near,
    common_settings,
    corpus_settings,
    counts,
    embeddings,
    make_parser,
    run_experiment,
    systems,
    vector_settings,
)
from experiments.running.embeddings import RECIPES
from experiments.running.private.systems import SIZES, SYSTEM_KINDS, PrivateExperiment, Sizes
from experiments.running.settings import Point

DESCRIPTION = """\
Train taggers on what can be shared in the place of notes (pseudonyms by neighbours, private representations, DANN),
score them on the same documents, and attack what is shared: Table 2 and Figures 4 and 5 of friedrich2019."""
EXAMPLES = """\
examples:
  python -m experiments.private --output results/
      on the built-in synthetic corpus, with small sizes, in 10 minutes on two cores
  python -m experiments.private --train notes/train --dev notes/dev --figure-5 --pooling --output results/
      on your own annotated corpus, everything
  python -m experiments.private --profile friedrich2019 --train notes/train --test notes/test --output results/
      the paper's sizes, for days

exit codes: 0 done, 1 unreadable data, 2 invalid option, 130 interrupted"""

_EMBEDDING = {"default": "cbow", "friedrich2019": "fasttext"}
_UNLABELLED_NOTES = 200


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; the exit codes are those of `run_command`."""
    return run_experiment(parse, measure, argv)


def measure(experiment: PrivateExperiment) -> dict[str, Any]:
    """Train, score, attack, print and write an experiment.

    Returns:
        The results, as in results.json.

    Raises:
        DataError: data cannot be read, or files cannot be written.
        UsageError: an option is invalid.
    """
    from experiments import tables  # noqa: PLC0415
    from experiments.results.assemble import identity  # noqa: PLC0415
    from experiments.results.private import assemble  # noqa: PLC0415
    from experiments.results.schema import PRIVATE  # noqa: PLC0415
    from experiments.results.store import open_store  # noqa: PLC0415
    from experiments.running.private.experiment import prepare  # noqa: PLC0415
    from experiments.running.private.systems import cells_of  # noqa: PLC0415
    from experiments.terminal import finish, show_tables, step_bars, train  # noqa: PLC0415

    with step_bars() as on_step:
        prepared = prepare(experiment, on_step=on_step)
    with open_store(experiment.output, identity(PRIVATE, prepared)) as store:
        show_tables([tables.corpus_table(prepared.facts)])
        cells = cells_of(prepared.systems, experiment.seeds)
        results = assemble(prepared, train(prepared, cells, store))
        finish(results, prepared, store)
    return results


def parse(argv: Sequence[str] | None) -> PrivateExperiment:
    """Parse a command line into an experiment; check each option and their combinations.

    Raises:
        UsageError: an option, or a combination of options, is invalid.
    """
    options = _parser().parse_args(argv)
    if options.profile not in SIZES:
        raise UnknownNameError(f"--profile: unknown profile '{options.profile}': choose from {', '.join(SIZES)}")
    sizes = SIZES[options.profile]
    options.embeddings = options.embeddings or [_EMBEDDING[options.profile]]
    for source in options.embeddings:
        check_near("embeddings", source)
    options.seeds = options.seeds or list(range(sizes.seeds))
    check(options)
    pooled = tuple(options.pooling or ())
    if len(set(pooled)) < len(pooled):
        raise SettingError("--pooling: names a representation twice")
    return PrivateExperiment(
        corpus=corpus_settings(options),
        vectors=vector_settings(options, unlabelled_notes=_UNLABELLED_NOTES),
        kinds=tuple(options.systems),
        neighbours=options.neighbours,
        pseudonyms=tuple(options.figure_4 if options.figure_4 is not None else sizes.pseudonyms),
        representations=tuple(_counts_of_figure_5(options.figure_5, sizes.representations)),
        pooling=options.pooling is not None,
        pooled=pooled,
        tagger=tuple(options.tagger),
        representation=tuple(options.set),
        **common_settings(options),
    )


def _parser() -> Parser:
    parser = make_parser("private", DESCRIPTION, EXAMPLES)
    _add_sizes(parser)
    add_corpus(parser, dev="documents that end each part of the training", test="documents to score and to attack")
    add_work(parser)
    return parser


def _add_sizes(group: argparse.ArgumentParser) -> None:
    group.add_argument(
        "--profile",
        type=profile_name,
        default="default",
        metavar="NAME",
        help=f"amounts of training: default, which are small, or the paper's: {', '.join(SIZES)}",
    )
    group.add_argument(
        "--embeddings",
        type=embeddings,
        metavar="NAMES|PATHS",
        help=(
            f"word vectors, separated by commas: a method that is trained here ({', '.join(RECIPES)}), or a file "
            f"(default: {_EMBEDDING['default']}; with the paper's profile {_EMBEDDING['friedrich2019']})"
        ),
    )
    add_unlabelled(group)
    add_seeds(group, default=None, usual=_usual(lambda sizes: [sizes.seeds]))
    group.add_argument(
        "--systems",
        type=systems(SYSTEM_KINDS),
        default=list(SYSTEM_KINDS),
        metavar="NAMES",
        help=f"the systems of Table 2 and of the figures, separated by commas (default: {','.join(SYSTEM_KINDS)})",
    )
    group.add_argument(
        "--neighbours",
        type=whole_number(5),
        default=100,
        metavar="N",
        help="the neighbours of pseudonyms, representations and DANN in Table 2 (default: 100)",
    )
    group.add_argument(
        "--figure-4",
        type=counts,
        metavar="LIST",
        help=(
            f"further numbers of neighbours of pseudonyms, Figure 4 (default: {_usual(lambda sizes: sizes.pseudonyms)})"
        ),
    )
    usual = _usual(lambda sizes: sizes.representations)
    group.add_argument(
        "--figure-5",
        type=counts,
        nargs="?",
        const=(),
        metavar="LIST",
        help=f"Figure 5: further numbers of neighbours of representations and DANN (with no list: {usual})",
    )
    group.add_argument(
        "--pooling",
        type=_point,
        nargs="*",
        metavar="NAME=VALUE,...",
        help=(
            "divide the training documents among a provider and two hospitals that pool their data; each value adds "
            "pooling by a representation with these settings, such as deviation=0.1,weight=1"
        ),
    )
    group.add_argument(
        "--set",
        type=_setting,
        nargs="+",
        default=[],
        metavar="NAME=VALUE",
        help="settings of the representation, its adversaries and its training, such as size=100 rounds=20",
    )
    group.add_argument(
        "--tagger",
        type=setting,
        nargs="+",
        default=[],
        metavar="NAME=VALUE",
        help="settings of the taggers, such as epochs=20 layers=2",
    )


def _usual(numbers: Callable[[Sizes], Sequence[int]]) -> str:
    """A value of each profile, for a help text."""
    default, paper = (",".join(map(str, numbers(SIZES[name]))) for name in ("default", "friedrich2019"))
    return f"{default}; with the paper's profile {paper}"


def _setting(text: str) -> tuple[str, Any]:
    """A setting of the representation; attack_epochs takes several values: attack_epochs=20,50."""
    name, value = setting(text)
    return (name, counts(str(value))) if name == "attack_epochs" else (name, value)


def _point(text: str) -> Point:
    """Settings of a representation that apply together."""
    return tuple(setting(part) for part in text.split(","))


def _counts_of_figure_5(asked: tuple[int, ...] | None, usual: tuple[int, ...]) -> tuple[int, ...]:
    """Numbers of neighbours of Figure 5: none without the option, the profile's for the option without a list."""
    return () if asked is None else asked or usual


if __name__ == "__main__":
    sys.exit(main())

"""De-identification and concept extraction together: ``python -m experiments.joint --help``.

Lange et al. (2020): Tables 2 to 5, the tests of their differences, and the PHI that each model of concepts stores.
`parse` turns options into typed settings, `running.joint` trains, `results.joint` assembles, `tables.joint` and
`reporting` render. This module prints.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from crfdeid.registry import profile_name
from experiments.arguments import Parser, add_concept_options, concept_paths, file_path, setting, whole_number
from experiments.options import (
    add_corpus,
    add_seeds,
    add_unlabelled,
    add_work,
    check,
    common_settings,
    corpus_settings,
    embeddings,
    make_parser,
    models,
    run_experiment,
    share,
    vector_settings,
)
from experiments.running.embeddings import EMBEDDING_KINDS
from experiments.running.joint.systems import PERMUTATIONS, SMALL, SMALL_SHARE, SYSTEMS, JointExperiment, completed

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


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; the exit codes are those of `run_command`."""
    return run_experiment(parse, measure, argv)


def measure(experiment: JointExperiment) -> dict[str, Any]:
    """Train, score, print and write an experiment.

    Returns:
        The results, as in results.json.

    Raises:
        DataError: data cannot be read, or files cannot be written.
        UsageError: an option is invalid.
    """
    from experiments.results.assemble import identity  # noqa: PLC0415
    from experiments.results.joint import assemble  # noqa: PLC0415
    from experiments.results.schema import JOINT  # noqa: PLC0415
    from experiments.results.store import open_store  # noqa: PLC0415
    from experiments.running.joint.experiment import prepare  # noqa: PLC0415
    from experiments.running.joint.systems import family_groups  # noqa: PLC0415
    from experiments.running.systems import plain_cells  # noqa: PLC0415
    from experiments.tables import corpus_table  # noqa: PLC0415
    from experiments.tables.joint import concept_corpus_table  # noqa: PLC0415
    from experiments.terminal import finish, show_tables, step_bars, train  # noqa: PLC0415

    with step_bars() as on_step:
        prepared = prepare(experiment, on_step=on_step)
    with open_store(experiment.output, identity(JOINT, prepared)) as store:
        show_tables([corpus_table(prepared.facts), concept_corpus_table(prepared.facts)])
        cells = plain_cells(prepared.systems, experiment.seeds)
        runs = train(prepared, cells, store, grouped=family_groups)
        prepared.plan.forget_parts()
        results = assemble(prepared, runs)
        finish(results, prepared, store)
    return results


def parse(argv: Sequence[str] | None) -> JointExperiment:
    """Parse a command line into an experiment; check each option and their combinations.

    Raises:
        UsageError: an option, or a combination of options, is invalid.
    """
    options = _parser().parse_args(argv)
    check(options)
    concepts = concept_paths(options)
    quick = options.train is None and options.profile == "default"
    if options.share is None:
        options.share = SMALL_SHARE if quick else 1.0
    chosen = dict(options.set)
    changes = completed(chosen, options.systems, SMALL) if quick else chosen
    short = " ".join(f"{name}={value}" for name, value in changes.items() if name not in chosen)
    return JointExperiment(
        systems=tuple(options.systems),
        changes=tuple(changes.items()),
        corpus=corpus_settings(options, concepts=concepts, synthetic_concepts=True, share=options.share),
        unsourced=options.unsourced,
        notices=(f"Without --train the models learn for a short time, with --set {short}.",) if short else (),
        vectors=vector_settings(options, unlabelled_notes=_UNLABELLED_NOTES),
        permutations=options.permutations,
        **common_settings(options),
    )


def _parser() -> Parser:
    parser = make_parser("joint", DESCRIPTION, EXAMPLES)
    _add_systems(parser)
    group = add_corpus(
        parser,
        dev="documents to choose a network's best epoch on",
        test="documents to score",
        types="all",
    )
    add_concept_options(group)
    group.add_argument(
        "--unsourced",
        type=file_path,
        metavar="FILE",
        help=(
            "table of the regions without annotated concepts, with columns document, start and end: concepts are "
            "scored again without them"
        ),
    )
    group.add_argument(
        "--share",
        type=share,
        metavar="X",
        help=f"the share of the training documents to learn from (default: all; without --train {SMALL_SHARE})",
    )
    add_work(parser)
    return parser


def _add_systems(parser: argparse.ArgumentParser) -> None:
    usual = ",".join(SYSTEMS)
    parser.add_argument(
        "--systems",
        type=models,
        default=list(SYSTEMS),
        metavar="NAMES",
        help=(
            "systems to compare, separated by commas: multitask, stacked, pipeline (with every row of Table 5), and "
            f"models of one layer, which learn concepts from unchanged text (default: {usual})"
        ),
    )
    parser.add_argument(
        "--profile",
        type=profile_name,
        default="default",
        metavar="NAME",
        help="settings that the models start from: default, or lange2020 in every model that has it",
    )
    few = " ".join(f"{name}={value}" for name, value in SMALL.items())
    parser.add_argument(
        "--set",
        type=setting,
        nargs="+",
        default=[],
        metavar="NAME=VALUE",
        help=f"settings that replace the profile's, such as epochs=20 folds=5 (without --train, {few} unless given)",
    )
    add_seeds(parser)
    parser.add_argument(
        "--embeddings",
        type=embeddings,
        default=[],
        metavar="NAMES|PATHS",
        help=f"Table 4: kinds of word vectors, separated by commas ({', '.join(EMBEDDING_KINDS)}), or files of them",
    )
    add_unlabelled(parser)
    parser.add_argument(
        "--permutations",
        type=whole_number(1),
        default=PERMUTATIONS,
        metavar="N",
        help=f"exchanges drawn for each test of a difference (default: {PERMUTATIONS:,})",
    )


if __name__ == "__main__":
    sys.exit(main())

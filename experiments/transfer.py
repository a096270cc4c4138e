"""Transfer of models between corpora: ``python -m experiments.transfer --help``.

Johnson et al. (2020), Tables 2 to 6: each model is trained on each corpus and tested on all. `parse` turns options into
typed settings, `running.transfer` trains, `results.transfer` assembles, `tables.transfer`, `plots.transfer` and
`reporting` render. This module prints.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from crfdeid.errors import SettingError
from crfdeid.registry import profile_name
from experiments.arguments import Parser, setting, whole_number
from experiments.options import (
    add_seeds,
    add_work,
    check_work,
    common_settings,
    folders,
    make_parser,
    phi_model_names,
    phi_models,
    run_experiment,
    share,
)
from experiments.running.transfer.corpora import BUILT_IN, source_of
from experiments.running.transfer.systems import BINARY, COMPARED_TYPES, SAMPLES, TransferExperiment
from experiments.running.transfer.systems import MODELS as USUAL

if TYPE_CHECKING:
    from crfdeid.corpora.splits import Corpus
    from experiments.running.runs import Run
    from experiments.tables import Table

DESCRIPTION = """\
Train each model on each corpus and test it on all of them: Tables 2 to 6 of johnson2020. What the corpora call their
PHI becomes seven categories that they share: age, contact, date, ID, location, name, profession."""
EXAMPLES = """\
examples:
  python -m experiments.transfer --output results/
      on two built-in corpora that differ in their kinds of text and in what is annotated, in some two minutes
  python -m experiments.transfer --corpora wards=notes/wards icu=notes/icu --models crf,bilstm-crf --output results/
      on corpora of your own: each folder holds train and test (or dev), as folders or as files
  python -m experiments.transfer --corpora es=meddocan:brat en=train.txt,dev.txt synthetic-texts --types categories
      a format that has to be named; two files; a built-in corpus

exit codes: 0 done, 1 unreadable data, 2 invalid option, 130 interrupted"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; the exit codes are those of `run_command`."""
    return run_experiment(parse, measure, argv)


def measure(experiment: TransferExperiment) -> dict[str, Any]:
    """Train, score, print and write an experiment.

    Returns:
        The results, as in results.json.

    Raises:
        DataError: data cannot be read, or files cannot be written.
        UsageError: an option is invalid.
    """
    from experiments.results.assemble import identity  # noqa: PLC0415
    from experiments.results.schema import TRANSFER  # noqa: PLC0415
    from experiments.results.store import open_store  # noqa: PLC0415
    from experiments.results.transfer import assemble  # noqa: PLC0415
    from experiments.running.systems import plain_cells  # noqa: PLC0415
    from experiments.running.transfer.experiment import prepare  # noqa: PLC0415
    from experiments.tables.transfer import corpora_table  # noqa: PLC0415
    from experiments.terminal import finish, show_tables, train  # noqa: PLC0415

    prepared = prepare(experiment)
    with open_store(experiment.output, identity(TRANSFER, prepared)) as store:
        facts = {name: corpus.statistics() for name, corpus in prepared.plan.corpora.items()}
        show_tables([corpora_table(facts, prepared.facts["notices"])])
        cells = plain_cells(prepared.systems, experiment.seeds)
        runs = train(prepared, cells, store)
        results = assemble(prepared, runs)
        finish(results, prepared, store)
    if prepared.corpus.is_synthetic:
        show_tables([_examples(results, prepared.corpus, runs)])
    return results


def _examples(results: Mapping[str, Any], corpus: Corpus, runs: Sequence[Run]) -> Table:
    from experiments import tables  # noqa: PLC0415

    documents = corpus.scored.documents
    found = {(run.cell.system.name, run.cell.seed): run.predictions for run in runs}
    texts, gold = {one.id: one.text for one in documents}, {one.id: one.spans for one in documents}
    return tables.example_table(results, texts, gold, lambda system, seed: found[system, seed])


def parse(argv: Sequence[str] | None) -> TransferExperiment:
    """Parse a command line into an experiment; check each option and their combinations.

    Raises:
        UsageError: an option, or a combination of options, is invalid.
    """
    options = _parser().parse_args(argv)
    sources = tuple(map(source_of, options.corpora))
    names = [source.name for source in sources]
    for name in names:
        if names.count(name) > 1:
            raise SettingError(f"--corpora: two are called {name}: give each another name")
    check_work(options, [("--corpora", path) for source in sources for path in source.paths])
    return TransferExperiment(
        sources=sources,
        models=tuple(options.models),
        encoders=tuple(options.encoders),
        types=options.types,
        changes=tuple(options.set),
        share=options.share,
        samples=options.samples,
        **common_settings(options),
    )


def _parser() -> Parser:
    parser = make_parser("transfer", DESCRIPTION, EXAMPLES)
    _add_corpora(parser)
    _add_models(parser)
    add_work(parser)
    return parser


def _add_corpora(parser: Parser) -> None:
    group = parser.add_argument_group("corpora")
    group.add_argument(
        "--corpora",
        nargs="+",
        default=list(BUILT_IN),
        metavar="NAME=DIR[:FORMAT]",
        help=(
            "the corpora: NAME=DIR, a folder that holds train and test (or, without test, dev, which is then scored), "
            "as folders or files; NAME=TRAIN,TEST, two files or folders; both with :FORMAT for a format that cannot be "
            f"guessed; or {', '.join(BUILT_IN)}, which are built in, with :SEED (default: these)"
        ),
    )
    group.add_argument(
        "--types",
        choices=COMPARED_TYPES,
        default=BINARY,
        help="types that Table 4 compares: PHI or not, PHI of the right category, or names alone (default: binary)",
    )
    group.add_argument(
        "--share",
        type=share,
        default=1.0,
        metavar="X",
        help="the share of each corpus's training documents to learn from (default: all)",
    )


def _add_models(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--models",
        type=phi_models,
        default=list(USUAL),
        metavar="NAMES",
        help=f"the models, separated by commas: {', '.join(phi_model_names())} (default: {','.join(USUAL)})",
    )
    parser.add_argument(
        "--encoders",
        type=folders,
        default=[],
        metavar="DIRS",
        help=(
            "folders of pretrained encoders, separated by commas: bert is trained from each of them "
            "(default: the one that python -m rnn.fetch_encoder fetches)"
        ),
    )
    parser.add_argument(
        "--profile",
        type=profile_name,
        default="default",
        metavar="NAME",
        help="settings that the models start from: default, or johnson2020 in every model that has it",
    )
    parser.add_argument(
        "--set",
        type=setting,
        nargs="+",
        default=[],
        metavar="NAME=VALUE",
        help="settings that replace the profile's, such as epochs=10",
    )
    add_seeds(parser)
    parser.add_argument(
        "--samples",
        type=whole_number(1),
        default=SAMPLES,
        metavar="N",
        help=f"corpora drawn for each confidence interval (default: {SAMPLES:,})",
    )


if __name__ == "__main__":
    sys.exit(main())

"""Measure training data that can be shared without its text: ``python -m experiments.private --help``.

Friedrich et al. (2019): Table 2, Figures 4 and 5, the attacks that the paper makes and those that it leaves out, and
hospitals that pool what they have. Options in, typed settings out; `running.private` trains and attacks,
`results.private` assembles, `tables.private`, `plots.private` and `reporting` render. What is printed is printed here.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

from crfdeid.cli.shell import Parser, add_compilation_cache, file_path, run_command, setting, whole_number
from crfdeid.corpora import FORMATS
from crfdeid.errors import UsageError
from crfdeid.labels import TYPES
from crfdeid.models import profile_name
from crfdeid.settings import MOST_SEED
from experiments.options import check_paths, embeddings, seeds
from experiments.running.device import DEVICES
from experiments.running.embeddings import RECIPES, embedding_name
from experiments.running.private.settings import SIZES, PrivateExperiment
from experiments.running.settings import RANDOM, CorpusSettings, OutputSettings, VectorSettings

DESCRIPTION = """\
Train taggers on what can be shared in the place of notes (pseudonyms by neighbours, private representations, DANN),
score them on the same documents, and attack what is shared: Table 2 and Figures 4 and 5 of friedrich2019."""
EXAMPLES = """\
examples:
  python -m experiments.private --out results/
      on the built-in synthetic corpus, with small sizes, in a quarter of an hour on two cores
  python -m experiments.private --train notes/train --dev notes/dev --figure-5 --pooling --out results/
      on your own annotated corpus, everything
  python -m experiments.private --profile friedrich2019 --train notes/train --test notes/test --out results/
      the paper's sizes, for days

exit codes: 0 done, 1 data that cannot be read, 2 an option that cannot work, 130 interrupted"""

_NOT_THE_EXPERIMENT = ("jobs", "out", "resume", "include_text", "published", "show_examples")
_EMBEDDING = {"default": "cbow", "friedrich2019": "fasttext"}
_UNLABELLED_NOTES = 200


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; the exit codes are those of `run_command`."""

    def work() -> None:
        measure(parse(argv))

    return run_command(
        work,
        interrupted="what is finished lies in the folder of --out; --resume goes on from there",
        out_of_memory="give --jobs 1, smaller networks or fewer documents",
    )


def measure(experiment: PrivateExperiment) -> dict[str, Any]:
    """Train, score, attack, print and write what is asked for.

    Returns:
        The results, as in results.json.

    Raises:
        DataError: data that cannot be read, or files that cannot be written.
        UsageError: options that cannot work.
    """
    from experiments import tables  # noqa: PLC0415
    from experiments.reporting.files import write_report  # noqa: PLC0415
    from experiments.results.private import assemble, identity  # noqa: PLC0415
    from experiments.results.store import open_store, write_results  # noqa: PLC0415
    from experiments.running.experiment import train_cells  # noqa: PLC0415
    from experiments.running.private.experiment import outcome_of, prepare  # noqa: PLC0415
    from experiments.terminal import Bars, show_tables, step_bars  # noqa: PLC0415

    output = experiment.output
    with step_bars() as on_step:
        prepared = prepare(experiment, on_step=on_step)
    with open_store(output, identity(prepared)) as store:
        show_tables([tables.corpus_table(prepared.facts)])
        with Bars(len(prepared.cells)) as bars:
            runs = train_cells(prepared, prepared.cells, keeper=store, on_progress=bars.step, on_done=bars.done)
        results = assemble(outcome_of(prepared, runs))
        if store is not None:
            write_results(store.folder, results, prepared.corpus, prepared.embeddings, include_text=output.include_text)
            write_report(store.folder.path, published=output.published)
    shown = tables.result_tables(results, published=output.published)
    show_tables([table for name, table in shown.items() if not name.startswith("confusions")])  # in the report
    return results


def parse(argv: Sequence[str] | None) -> PrivateExperiment:
    """What a command line asks for; each option is checked by itself and against the others.

    Raises:
        UsageError: an option, or a combination of options, that cannot work.
    """
    options = _parser().parse_args(argv)
    if options.profile not in SIZES:
        raise UsageError(f"--profile: unknown profile '{options.profile}': choose from {', '.join(SIZES)}")
    sizes = SIZES[options.profile]
    if options.train is None:
        for name in ("dev", "test", "format"):
            if getattr(options, name) is not None:
                raise UsageError(f"--{name} needs --train: without it the synthetic corpus is used")
    elif options.corpus_seed is not None:
        raise UsageError("--corpus-seed is for the synthetic corpus: leave it out, or leave out --train")
    for name in ("resume", "include_text"):
        if getattr(options, name) and options.out is None:
            raise UsageError(f"--{name.replace('_', '-')} needs --out")
    options.embeddings = options.embeddings or [_EMBEDDING[options.profile]]
    if RANDOM in options.embeddings:
        raise UsageError(f"--embeddings: nothing is near by {RANDOM} vectors: give another kind, or a file")
    options.seeds = options.seeds or list(range(sizes.seeds))
    check_paths(options)
    return PrivateExperiment(
        profile=options.profile,
        corpus=CorpusSettings(
            train=options.train,
            dev=options.dev,
            test=options.test,
            format=options.format or "auto",
            types=options.types,
            seed=options.corpus_seed or 0,
        ),
        vectors=VectorSettings(
            sources={embedding_name(source): source for source in options.embeddings},
            unlabelled=tuple(options.unlabelled),
            unlabelled_notes=_UNLABELLED_NOTES,
        ),
        output=OutputSettings(
            folder=options.out, resume=options.resume, include_text=options.include_text, published=options.published
        ),
        seeds=tuple(options.seeds),
        neighbours=options.neighbours,
        pseudonyms=tuple(options.figure_4 if options.figure_4 is not None else sizes.pseudonyms),
        representations=tuple(_counts_of_figure_5(options.figure_5, sizes.representations)),
        pooling=options.pooling,
        tagger=tuple(options.tagger),
        representation=tuple(options.set),
        device=options.device,
        jobs=options.jobs,
        command=_command(options),
    )


def _command(options: argparse.Namespace) -> dict[str, Any]:
    """The options that define the experiment: not where its results go, nor how many jobs share the work."""
    named = {name: value for name, value in vars(options).items() if name not in _NOT_THE_EXPERIMENT}
    plain: dict[str, Any] = json.loads(json.dumps(named, default=str))
    return plain


def _parser() -> Parser:
    parser = Parser(
        prog="python -m experiments.private",
        usage="%(prog)s [options]",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    _add_sizes(parser)
    _add_corpus(parser.add_argument_group("corpus", "without --train, the built-in synthetic corpus"))
    _add_work(parser.add_argument_group("work and output"))
    return parser


def _add_sizes(group: argparse.ArgumentParser) -> None:
    text = f"sizes of everything: default, which are small, or the paper's: {', '.join(SIZES)}"
    group.add_argument("--profile", type=profile_name, default="default", metavar="NAME", help=text)
    text = (
        f"word vectors, separated by commas: a method that is trained here ({', '.join(RECIPES)}), or a file (default: "
        f"{_EMBEDDING['default']}; with the paper's profile {_EMBEDDING['friedrich2019']})"
    )
    group.add_argument("--embeddings", type=embeddings, metavar="NAMES|PATHS", help=text)
    text = "more text to train word vectors on, beside the training documents: text files, or a corpus in any format"
    group.add_argument("--unlabelled", type=file_path, nargs="+", default=[], metavar="PATH", help=text)
    text = "make each system N times, with the seeds 0 to N-1, or once with each seed of a list: 3,7 (default: 1)"
    group.add_argument("--seeds", type=seeds, metavar="N|LIST", help=text)
    text = "the neighbours of pseudonyms, representations and DANN in Table 2 (default: 100)"
    group.add_argument("--neighbours", type=whole_number(5), default=100, metavar="N", help=text)
    text = "further numbers of neighbours of pseudonyms, Figure 4 (default: 1,20)"
    group.add_argument("--figure-4", type=_counts, metavar="LIST", help=text)
    text = "Figure 5: further numbers of neighbours of representations and DANN (with no list: 5,20,500)"
    group.add_argument("--figure-5", type=_counts, nargs="?", const=(), metavar="LIST", help=text)
    text = "share the training documents out among a provider and two hospitals that pool what they have"
    group.add_argument("--pooling", action="store_true", help=text)
    text = "settings of the representation, its adversaries and its training, such as size=100 rounds=20"
    group.add_argument("--set", type=_setting, nargs="+", default=[], metavar="NAME=VALUE", help=text)
    text = "settings of the taggers, such as epochs=20 layers=2"
    group.add_argument("--tagger", type=setting, nargs="+", default=[], metavar="NAME=VALUE", help=text)


def _add_corpus(group: argparse._ArgumentGroup) -> None:
    for name, text in {
        "train": "documents to learn from, a file or a folder",
        "dev": "documents that end each part of the training (default: a tenth of the training documents, drawn with a "
        "fixed seed)",
        "test": "documents to score and to attack (default: those of the development set, and the results say so)",
    }.items():
        group.add_argument(f"--{name}", type=file_path, metavar="PATH", help=text)
    group.add_argument("--format", choices=("auto", *FORMATS), help="their format (default: auto)")
    text = "seven: the types of i2b2 2006; all: those that the corpus has; binary: PHI or not (default: seven)"
    group.add_argument("--types", choices=TYPES, default="seven", help=text)
    text = "of the synthetic corpus (default: 0)"
    group.add_argument("--corpus-seed", type=whole_number(0, MOST_SEED), metavar="N", help=text)


def _add_work(group: argparse._ArgumentGroup) -> None:
    text = "where networks are trained; auto takes a GPU where there is one (default: auto)"
    group.add_argument("--device", choices=DEVICES, default="auto", help=text)
    text = "systems trained at the same time, which changes no result (default: one for each core; on a GPU one)"
    group.add_argument("--jobs", type=whole_number(1), metavar="N", help=text)
    add_compilation_cache(group)
    text = "new folder for the report, tables, plots, results.json, predictions and fitted models"
    group.add_argument("--out", type=file_path, metavar="DIR", help=text)
    text = "go on with what an interrupted run of the same command left in --out"
    group.add_argument("--resume", action="store_true", help=text)
    text = "put the text of a real corpus, which is PHI, into the report"
    group.add_argument("--include-text", action="store_true", help=text)
    text = "show the paper's figures of Table 2 beside ours"
    group.add_argument("--published", action="store_true", help=text)


def _setting(text: str) -> tuple[str, Any]:
    """A setting of the representation; of the attack's epochs there can be several: attack_epochs=20,50."""
    name, value = setting(text)
    return (name, _counts(str(value))) if name == "attack_epochs" else (name, value)


def _counts(text: str) -> tuple[int, ...]:
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = [0]
    if min(numbers) < 1 or len(set(numbers)) < len(numbers):
        raise argparse.ArgumentTypeError(f"'{text}' is no list of different numbers from 1, such as 1,20,500")
    return tuple(numbers)


def _counts_of_figure_5(asked: tuple[int, ...] | None, usual: tuple[int, ...]) -> tuple[int, ...]:
    """The numbers of neighbours: none where the figure is not asked for, the profile's where no list is given."""
    return () if asked is None else asked or usual


if __name__ == "__main__":
    sys.exit(main())

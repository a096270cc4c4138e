"""Comparison of models on one corpus: ``python -m experiments.compare --help``.

`experiments.compare_options` turns options into typed settings, `running` trains, `results` assembles and stores,
`tables` and `reporting` render. This module prints.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from experiments.compare_options import parse
from experiments.options import run_experiment

# Slow imports are inside functions, so that a wrong option is reported at once.
if TYPE_CHECKING:
    from experiments.running.runs import Run
    from experiments.running.settings import Experiment
    from experiments.running.systems import Cell


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; the exit codes are those of `run_command`."""
    return run_experiment(parse, compare, argv)


def compare(experiment: Experiment) -> dict[str, Any]:
    """Train, score, print and write an experiment.

    Returns:
        The results, as in results.json.

    Raises:
        DataError: data cannot be read, or files cannot be written.
        UsageError: an option is invalid.
    """
    from experiments import tables  # noqa: PLC0415
    from experiments.results.assemble import assemble, describe_settings, identity  # noqa: PLC0415
    from experiments.results.schema import COMPARE  # noqa: PLC0415
    from experiments.results.store import open_store  # noqa: PLC0415
    from experiments.running.experiment import prepare, settle_systems  # noqa: PLC0415
    from experiments.running.systems import plain_cells  # noqa: PLC0415
    from experiments.terminal import finish, show_examples, show_tables, step_bars, train  # noqa: PLC0415

    with step_bars() as on_step:
        prepared = prepare(experiment, on_step=on_step)
    with open_store(experiment.output, identity(COMPARE, prepared)) as store:

        def train_all(cells: Sequence[Cell]) -> list[Run]:
            return train(prepared, cells, store)

        show_tables([tables.corpus_table(prepared.facts)])
        settled = settle_systems(prepared, train_all)
        show_tables([tables.settings_table(describe_settings(prepared, settled.settings))])
        runs = train_all(plain_cells(settled.systems, experiment.seeds, experiment.models.fractions))
        results = assemble(prepared, settled, runs)
        finish(results, prepared, store)
    if prepared.corpus.is_synthetic or experiment.output.show_examples:
        show_examples(runs, prepared.corpus)
    return results


if __name__ == "__main__":
    sys.exit(main())

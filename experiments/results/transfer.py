"""``results.json`` of the experiment on transfer.

``matrix`` has Table 4 of johnson2020, ``scores`` the data of Tables 2 and 3; ``models`` has an entry for each model on
each corpus, with its runs; ``corpora`` describes each corpus, and ``corpus`` all of them together, which are tagged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from experiments.results.assemble import describe_common
from experiments.results.schema import TRANSFER
from experiments.running.runs import Run
from experiments.running.transfer.experiment import TransferPrepared, count_tokens
from experiments.running.transfer.scores import Tested, measured, scores_of
from experiments.running.transfer.systems import Entry, entries_of

_LEVEL = 0.05


def assemble(prepared: TransferPrepared, runs: Sequence[Run]) -> dict[str, Any]:
    """A finished experiment as plain data."""
    experiment = prepared.experiment
    tested = count_tokens(prepared, runs)

    def cell(counts: Tested) -> dict[str, float]:
        return measured(counts, experiment.types, samples=experiment.samples, level=_LEVEL)

    return {
        **describe_common(TRANSFER, prepared),
        "types": experiment.types,
        "level": _LEVEL,
        "samples": experiment.samples,
        "matrix": _by_corpora(tested, cell),
        "scores": _by_corpora(tested, scores_of),
        "corpora": {name: corpus.statistics() for name, corpus in prepared.plan.corpora.items()},
        "models": {entry.system.name: _describe(entry, runs) for entry in entries_of(experiment)},
    }


def _by_corpora(tested: Mapping[tuple[Entry, str], Tested], of: Callable[[Tested], dict[str, Any]]) -> dict[str, Any]:
    """A value of every model, by its name, training corpus and test corpus."""
    found: dict[str, Any] = {}
    for (entry, corpus), counts in tested.items():
        found.setdefault(entry.model, {}).setdefault(entry.trained_on, {})[corpus] = of(counts)
    return found


def _describe(entry: Entry, runs: Sequence[Run]) -> dict[str, Any]:
    return {
        "model": entry.system.model,
        "label": entry.model,
        "trained_on": entry.trained_on,
        "runs": [run.record for run in runs if run.cell.system == entry.system],
    }

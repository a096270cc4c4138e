"""``results.json`` of the experiment on PHI and concepts.

``models`` has an entry for every system, with its runs, whose scores, errors and F on dev are by annotation layer;
``tables`` lists the systems of each of the paper's tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crfdeid.documents import CONCEPT, PHI
from experiments.results.assemble import describe_common
from experiments.results.schema import JOINT
from experiments.running.joint.experiment import JointPrepared, significance
from experiments.running.joint.systems import TABLE_5, hides_phi, systems_of
from experiments.running.runs import Run
from experiments.running.systems import System


def assemble(prepared: JointPrepared, runs: Sequence[Run]) -> dict[str, Any]:
    """A finished experiment as plain data."""
    experiment = prepared.experiment
    systems = systems_of(experiment)
    return {
        **describe_common(JOINT, prepared),
        "layers": [PHI, CONCEPT],
        "models": {system.name: _describe(system, runs) for system in systems.every},
        "tables": {
            "compared": [system.name for system in systems.compared],
            "table_4": {name: system.name for name, system in systems.table_4.items()},
            "table_5": {row.name: _texts(row.name) for row in systems.table_5},
        },
        "significance": significance(prepared, runs),
    }


def _describe(system: System, runs: Sequence[Run]) -> dict[str, Any]:
    return {
        "model": system.model,
        "embedding": system.embedding,
        "hides_phi": hides_phi(system),
        "runs": [run.record for run in runs if run.cell.system == system],
    }


def _texts(row: str) -> Mapping[str, str]:
    learned, read = TABLE_5[row]
    return {"learns_from": learned, "reads": read}

"""Tables of the results of `gpu.py`, and the times by which `experiments.core.devices` chooses devices."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gpu import CORE, DEVICE
from page import between, markdown

BEGIN, END = "<!-- gpu -->", "<!-- end of gpu -->"
_TRAININGS = {"elman": "sentence", "bilstm-crf": "minibatch"}
"""Stage -> the updates of its network, as in ``experiments/core/measured_devices.json``."""
_TIMES = ("compile_seconds", "sentence_milliseconds")


def with_gpu(page: str, found: Mapping[str, Any]) -> str:
    """The page on networks with the tables between its marks.

    Raises:
        ValueError: a mark is missing.
    """
    return between(page, BEGIN, END, "\n".join(_tables(found)))


def _tables(found: Mapping[str, Any]) -> Iterator[str]:
    yield f"`{found['command']}`; commit {found['commit']}; {found['date']}; {found['machine']['processor']}\n"
    for name, stage in found["stages"].items():
        yield f"**{name}**\n"
        rows = stage["rows"]
        head = list(dict.fromkeys(key for row in rows for key in row))
        if rows:
            names = [key.replace("_", " ") for key in head]
            yield markdown(names, ([_text(row.get(key)) for key in head] for row in rows))
        yield from (f"Not finished on {side}: {state}\n" for side, state in stage["state"].items() if state != "done")


def _text(value: Any) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(_text, value))
    return "" if value is None else f"{value:,.4g}" if isinstance(value, float) else str(value)


def measured_devices(found: Mapping[str, Any]) -> str:
    """The table of times: replicates on the GPU, with one on a core. A kind without both is left out."""
    trainings = []
    for stage, updates in _TRAININGS.items():
        rows = found["stages"].get(stage, {"rows": []})["rows"]
        core = [row for row in rows if row["on"] == CORE]
        for row in rows:
            if core and row["on"] == DEVICE:
                times = {"core": _times(core[0]), "gpu": _times(row)}
                trainings.append({"updates": updates, "replicates": row["replicates"], **times})
    source = f"{found['command']}; commit {found['commit']}; {found['date']}"
    return json.dumps({"source": source, "trainings": trainings}, indent=1) + "\n"


def _times(row: Mapping[str, Any]) -> dict[str, float]:
    return {name: round(row[name], 3) for name in _TIMES}

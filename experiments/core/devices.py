"""Devices of networks: what JAX may use, which cells train together, and on which device each group is faster."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from crfdeid.errors import MissingExtraError, OptionConflictError
from crfdeid.tagger import Traits
from crfdeid.utils.process import cores, keep_freed_memory, one_thread
from experiments.core.systems import Cell, same_shape

DEVICES = ("auto", "cpu", "gpu")
CPU = "cpu"
MEASURED = Path(__file__).with_name("measured_devices.json")
"""Times of training by device, which ``benchmarks/run.py`` writes from the results of ``benchmarks/gpu.py``."""


def choose_device(device: str, traits: Iterable[Traits]) -> str:
    """Choose a device before JAX is first imported, for this process; processes that it starts use the CPU.

    Args:
        device: one of `DEVICES`; "auto" takes a GPU where there is one, for the cells that `place` puts there.
        traits: of the models to train. To determine them may import JAX, so pass an iterator: it is read after the
            settings that JAX reads on import.

    Returns:
        "cpu", or the GPU's name.

    Raises:
        UsageError: "gpu" where there is none, or where no model could use it.
    """
    one_thread()
    if device == "cpu":
        os.environ["JAX_PLATFORMS"] = "cpu"
        return CPU
    if not any(model.accelerated for model in traits):
        if device == "gpu":
            raise OptionConflictError("--device gpu: none of these models runs on a GPU")
        os.environ["JAX_PLATFORMS"] = "cpu"
        return CPU
    keep_freed_memory()  # before JAX starts its threads, which keep the heaps that they begin with
    import jax  # noqa: PLC0415

    if jax.default_backend() == "gpu":
        os.environ["JAX_PLATFORMS"] = "cpu"  # JAX has its devices in this process and does not read this again
        return str(jax.devices()[0].device_kind)
    if device == "gpu":
        raise MissingExtraError("--device gpu: JAX finds no GPU here; install crfdeid[gpu], or leave --device out")
    return CPU


def choose_jobs(asked: int | None, placed: Placed) -> int:
    """Number of groups trained at the same time on the CPU: one a core. A GPU trains one more.

    Args:
        asked: the user's number; None for the default.
        placed: all groups.

    Raises:
        UsageError: several at once where the GPU trains all.
    """
    if placed.on_cpu or not placed.on_gpu:
        return min(asked or cores(), len(placed.on_cpu))
    if asked not in (None, 1):
        raise OptionConflictError(
            f"--jobs {asked}: a GPU trains one group at a time; leave --jobs out, or give --device cpu"
        )
    return 1


class Placed(NamedTuple):
    """Groups of cells by device; the cells of a group train together."""

    on_cpu: list[list[Cell]]
    on_gpu: list[list[Cell]]


def place(
    cells: Sequence[Cell],
    traits: Callable[[Cell], Traits],
    *,
    gpu: str = CPU,
    forced: bool = False,
    sentences: Callable[[Cell], int] = lambda cell: 0,
    group: Callable[[Sequence[Cell]], list[list[Cell]]] | None = None,
) -> Placed:
    """Put cells into groups, each on the device that trains it in less time.

    On the CPU, cells of one shape train one by one, each on a core of its own; on a GPU they train together.

    Args:
        cells: the cells to train.
        traits: traits of a cell.
        gpu: from `choose_device`; `CPU` puts all cells there.
        forced: put every network on the GPU.
        sentences: sentences that a cell's training reads, epoch after epoch.
        group: function that divides cells into groups which train together on every device; None for
            `experiments.core.systems.same_shape`.
    """
    placed = Placed([], [])
    for members in group(cells) if group else same_shape(cells, traits):
        networks = [found for cell in members if (found := traits(cell)).accelerated]
        if gpu != CPU and networks and (forced or _gpu_is_faster(networks, sentences(members[0]))):
            placed.on_gpu.append(members)
        else:
            placed.on_cpu.extend([members] if group else [[cell] for cell in members])
    return placed


@cache
def measured() -> list[dict[str, Any]]:
    """Rows of `MEASURED`: seconds to compile, and milliseconds a sentence, for replicates on one core and on a GPU."""
    found: list[dict[str, Any]] = json.loads(MEASURED.read_text("utf-8"))["trainings"]
    return found


def _gpu_is_faster(networks: Sequence[Traits], sentences: int) -> bool:
    """Compare the measured times of replicates that read so many sentences each, with what compiling takes.

    The row of the most replicates that are not more than these counts: further ones take little longer, since a GPU
    that updates one network after each sentence is mostly idle. Minibatches of a kind without a row are the GPU's.
    """
    replicates = len(networks)
    updates = "sentence" if all(traits.per_sentence for traits in networks) else "minibatch"
    rows = [row for row in measured() if row["updates"] == updates and row["replicates"] <= replicates]
    if not rows:
        return True
    core, gpu = rows[0]["core"], max(rows, key=lambda row: row["replicates"])["gpu"]
    turns = math.ceil(replicates / cores())

    def seconds(of: dict[str, float], turns: int) -> float:
        return of["compile_seconds"] + turns * sentences * of["sentence_milliseconds"] / 1000

    return seconds(gpu, 1) < seconds(core, turns)

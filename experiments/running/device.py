"""Device of the models' training. JAX is imported only where a model computes with it."""

from __future__ import annotations

import os
from collections.abc import Iterable

from crfdeid.errors import MissingExtraError, OptionConflictError
from crfdeid.tagger import Traits
from crfdeid.utils.process import cores, keep_freed_memory, one_thread

DEVICES = ("auto", "cpu", "gpu")
CPU = "cpu"


def choose_device(device: str, traits: Iterable[Traits]) -> str:
    """Choose a device before JAX is first imported, for this process and its children.

    Args:
        device: one of `DEVICES`; "auto" takes a GPU where there is one.
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
        return str(jax.devices()[0].device_kind)
    if device == "gpu":
        raise MissingExtraError("--device gpu: JAX finds no GPU here; install crfdeid[gpu], or leave --device out")
    return CPU


def choose_jobs(asked: int | None, cells: int, device: str) -> int:
    """Number of cells trained at the same time: on a CPU one a core, on a GPU one.

    Args:
        asked: the user's number; None for the default.
        cells: number of all cells.
        device: from `choose_device`.

    Raises:
        UsageError: several at once on a GPU.
    """
    if device == CPU:
        return min(asked or cores(), cells)
    if asked not in (None, 1):
        raise OptionConflictError(
            f"--jobs {asked}: a GPU trains one group at a time; leave --jobs out, or give --device cpu"
        )
    return 1

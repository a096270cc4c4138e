"""What goes to Spark's workers: a model, and work on a partition's rows."""

from __future__ import annotations

import atexit
import pickle
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from weakref import WeakKeyDictionary

NO_PACKAGE = (
    "crfdeid is not installed in the Python of a Spark worker: install it there, or name a Python that has it in "
    "PYSPARK_PYTHON"
)
_shipped: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()


@dataclass(frozen=True)
class ShippedModel:
    """Finds a model where a Spark worker unpacked it.

    Args:
        name: of its archive.
    """

    name: str

    @classmethod
    def of(cls, digest: str) -> ShippedModel:
        """The model of this `model_digest`."""
        return cls(f"crfdeid-{digest[:16]}")

    def __call__(self) -> Path:
        """The model's folder, in a process of a worker."""
        from pyspark import SparkFiles  # noqa: PLC0415

        return Path(SparkFiles.getRootDirectory()) / self.name


def ship_model(spark: Any, folder: Path, model: ShippedModel) -> None:
    """Send a model to all workers, by Spark's own distribution of files, once a session; each worker unpacks it once.

    Args:
        spark: a classic `SparkContext`, or a `SparkSession` of Spark Connect.
        folder: where the model is here.
        model: what finds it there.
    """
    sent = _shipped.setdefault(spark, set())
    if model.name in sent:
        return
    place = mkdtemp(prefix="crfdeid-")  # Workers fetch it from there when they first need it: it stays till the end.
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    archive = shutil.make_archive(str(Path(place) / model.name), "zip", folder)
    if is_connect(spark):
        spark.addArtifacts(f"{archive}#{model.name}", archive=True)
    else:
        spark.addArchive(f"{archive}#{model.name}")
    sent.add(model.name)


def is_connect(spark: Any) -> bool:
    """Whether a context or session is of Spark Connect, whose driver is elsewhere."""
    return ".connect." in type(spark).__module__


def sent(work: Callable[[Iterator[Any]], Iterable[Any]]) -> Callable[[Iterable[Any]], Any]:
    """What a worker runs to do work on the rows of a partition, or on its batches.

    It is defined in a function because such a one is sent whole: of a module the name alone would be, and a worker that
    lacks the package could not say so.

    Args:
        work: it is pickled.
    """
    data, missing = pickle.dumps(work), NO_PACKAGE

    def run(rows: Iterable[Any]) -> Iterator[Any]:
        import pickle  # noqa: PLC0415
        from importlib.util import find_spec  # noqa: PLC0415

        if find_spec("crfdeid") is None:
            raise ModuleNotFoundError(missing)
        from crfdeid.system.memory import collecting_seldom, frozen_between  # noqa: PLC0415

        with frozen_between(), collecting_seldom():
            yield from pickle.loads(data)(iter(rows))

    return run

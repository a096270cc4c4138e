"""What classic Spark and Spark Connect have in common here: a session, a model sent to all workers, and jobs."""

from __future__ import annotations

import atexit
import os
import pickle
import re
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from crfdeid.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

_MISSING = "Spark is not installed: pip install 'crfdeid[spark]', and Java 17 or later"
_NO_JAVA = "Spark cannot start (its own words are above): install Java 17 or later, or correct --master"
NO_PACKAGE = (
    "crfdeid is not installed in the Python of a Spark worker: install it there, or name a Python that has it in "
    "PYSPARK_PYTHON"
)
_CONNECT = "sc://"
_PANDAS = "PySpark does not yet fully support pandas"  # through which nothing goes here
# On one machine, Java's second compiler and a collector with threads of its own take from the workers' cores, and Spark
# has little to compute here: without them it starts in three quarters of the time.
LOCAL_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_LOCAL = re.compile(r"local(?:\[(\d+|\*)\])?")
_TRIES = 4  # as often as a cluster tries a task
_shipped: WeakKeyDictionary[SparkSession, set[str]] = WeakKeyDictionary()


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


def ship_model(session: SparkSession, folder: Path, model: ShippedModel) -> None:
    """Send a model to all workers, by Spark's own distribution of files, once a session; each worker unpacks it once.

    Args:
        session: classic, or of Spark Connect.
        folder: where the model is here.
        model: what finds it there.
    """
    sent = _shipped.setdefault(session, set())
    if model.name in sent:
        return
    place = mkdtemp(prefix="crfdeid-")  # Workers fetch it from there when they first need it: it stays till the end.
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    archive = shutil.make_archive(str(Path(place) / model.name), "zip", folder)
    if is_connect(session):
        session.addArtifacts(f"{archive}#{model.name}", archive=True)
    else:
        session.sparkContext.addArchive(f"{archive}#{model.name}")
    sent.add(model.name)


def is_connect(session: SparkSession) -> bool:
    """Whether a session is of Spark Connect, whose driver is elsewhere."""
    return ".connect." in type(session).__module__


@contextmanager
def started_session(master: str) -> Iterator[SparkSession]:
    """A Spark session, stopped at the end; one that this process has already is taken as it is, and stays.

    Args:
        master: the URL of a cluster, as `spark-submit --master` has it; of a Spark Connect server (sc://...); or
            local[N]. A local Spark tries a task as often as a cluster does, and opens no page on a port.

    Raises:
        UsageError: there is no Spark, or it cannot start.
    """
    try:
        from pyspark.errors import PySparkException  # noqa: PLC0415
        from pyspark.sql import SparkSession  # noqa: PLC0415
    except ImportError:
        raise UsageError(_MISSING) from None
    active = SparkSession.getActiveSession()
    if active is not None:
        yield active
        return
    builder = SparkSession.builder.appName("crfdeid redact").config("spark.ui.showConsoleProgress", "false")
    if master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = builder.config("spark.ui.enabled", "false").config("spark.driver.extraJavaOptions", LOCAL_JAVA)
    local = _LOCAL.fullmatch(master)
    master = f"local[{local[1] or 1},{_TRIES}]" if local else master
    builder = builder.remote(master) if master.startswith(_CONNECT) else builder.master(master)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", _PANDAS, FutureWarning)
        try:
            session = builder.getOrCreate()
        except PySparkException:
            raise UsageError(_NO_JAVA) from None
        try:
            yield session
        finally:
            session.stop()


def is_alive(session: SparkSession) -> bool:
    """Whether Spark still does work."""
    try:
        return session.range(1).count() == 1
    except Exception:  # Its own, of the way to it, or of the network.
        return False


def count_slots(session: SparkSession) -> int:
    """How many tasks the workers do at once, by how Spark cuts a range that nobody told it how to cut."""
    from pyspark.sql.functions import spark_partition_id  # noqa: PLC0415

    rows = session.range(1 << 10).select(spark_partition_id()).collect()  # no distinct() there: that is another stage
    return len({slot for (slot,) in rows})


def run_job(session: SparkSession, function: Callable[[Any], str], tasks: Sequence[Any]) -> list[str]:
    """One job of Spark: what a function says of each task, in order.

    Args:
        session: where it is run.
        function: it is pickled, and so must its results be short.
        tasks: each is done by a Spark task of its own, wherever Spark likes, and again where a worker was lost.

    Raises:
        PySparkException: Spark gave it up.
    """
    work = _sent(pickle.dumps(function), [pickle.dumps(task) for task in tasks], NO_PACKAGE)
    rows = session.range(0, len(tasks), 1, len(tasks)).mapInArrow(work, "task long, report string").collect()
    return [row["report"] for row in sorted(rows, key=lambda row: row["task"])]


def _sent(function: bytes, tasks: Sequence[bytes], missing: str) -> Callable[[Iterator[pa.RecordBatch]], Any]:
    """What a worker runs. Defined in a function it is sent whole: a module is only named, and may be missing there."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pickle  # noqa: PLC0415
        from importlib.util import find_spec  # noqa: PLC0415

        if find_spec("crfdeid") is None:
            raise ModuleNotFoundError(missing)
        import pyarrow as pa  # noqa: PLC0415

        call = pickle.loads(function)
        for batch in batches:
            for task in batch.column(0).to_pylist():
                yield pa.RecordBatch.from_pydict({"task": [task], "report": [call(pickle.loads(tasks[task]))]})

    return run

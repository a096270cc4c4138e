"""Jobs on Spark's workers, through a classic context or Spark Connect, of a Spark that runs or is started."""

from __future__ import annotations

import atexit
import os
import pickle
import re
import secrets
import shutil
import sys
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, final
from weakref import WeakKeyDictionary

from crfdeid.errors import MissingExtraError, NotFoundError, UsageError
from crfdeid.utils.process import signals_held

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyspark.sql import SparkSession

_CONNECT = "sc://"
NO_PACKAGE = (
    "crfdeid is not installed in the Python of a Spark worker: install it there, or name a Python that has it in "
    "PYSPARK_PYTHON"
)
_CONNECT_TIMEOUT = 10  # seconds; Spark itself tries for more than ten minutes
_SERVER_RETRIES = 6  # of a call that cannot reach the server: over a minute
_NO_SERVER = "no Spark Connect server answers there: start it, or correct its URL"
# Spark's own message can quote the URL with its token.
_REFUSED = (
    "Spark Connect refuses the URL: correct it (sc://host:15002), or the token in SPARK_CONNECT_AUTHENTICATE_TOKEN"
)
_LOCAL = re.compile(r"local(\[.*\])?")
_NO_JAVA = "Spark cannot start (see its own messages above): install Java 17 or later, or correct its URL"
_PANDAS = "PySpark does not yet fully support pandas"  # which is not used here
# On a single machine, Java's second compiler competes with the workers for cores, and Spark has little to compute.
LOCAL_JAVA = "-XX:TieredStopAtLevel=1"
LOCAL_DAEMON = "-Dspark.python.daemon.module=crfdeid.integrations.spark.daemon"
JAVA_OPTIONS = "SPARK_SUBMIT_OPTS"  # Java reads them first, so that Spark's configuration takes precedence.
_LOCAL_SLOTS = re.compile(r"local(?:\[(\d+|\*)\])?")
_TASK_TRIES = 4  # as on a cluster
_NOT_SENT = "streams of Spark Connect get nothing that was sent, so name a path that all workers see (model_on_workers)"
_shipped: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()


# --- Spark Connect


def connect(master: str) -> SparkSession:
    """Open a session of a Spark Connect server, or fail within seconds.

    Args:
        master: URL of the server (sc://...).

    Raises:
        MissingExtraError: Spark Connect is not installed.
        UsageError: there is no server, or it refuses the connection.
    """
    try:
        import grpc  # noqa: PLC0415
        from pyspark.errors import PySparkException  # noqa: PLC0415
        from pyspark.sql import SparkSession  # noqa: PLC0415
        from pyspark.sql.connect.client import DefaultChannelBuilder  # noqa: PLC0415
    except ImportError:
        raise MissingExtraError("Spark Connect is not installed: pip install 'crfdeid[spark]'") from None

    try:
        with DefaultChannelBuilder(master).toChannel() as channel:
            grpc.channel_ready_future(channel).result(timeout=_CONNECT_TIMEOUT)
        session = SparkSession.builder.appName("crfdeid redact").remote(master).getOrCreate()
    except grpc.FutureTimeoutError:
        raise UsageError(_NO_SERVER) from None
    except (PySparkException, ValueError):  # a ValueError for a port that is not a number
        raise UsageError(_REFUSED) from None
    _set_retries(session, _SERVER_RETRIES)
    return session


def _set_retries(session: SparkSession, retries: int) -> None:
    """Set the number of retries of calls that cannot reach the server."""
    from pyspark.sql.connect.client.retries import DefaultPolicy  # noqa: PLC0415

    session.client.set_retry_policies([DefaultPolicy(max_retries=retries)])


def is_connect(spark: Any) -> bool:
    """True for a context or session of Spark Connect, whose driver is elsewhere."""
    return ".connect." in type(spark).__module__


# --- shipping


@dataclass(frozen=True)
class ShippedModel:
    """Path of a model that a Spark worker unpacked; call it on the worker.

    Args:
        name: name of the model's archive.
    """

    name: str

    @classmethod
    def of(cls, digest: str) -> ShippedModel:
        """The model of this `model_digest`."""
        return cls(f"crfdeid-{digest[:16]}")

    def __call__(self) -> Path:
        """Return the model's folder, in a worker process.

        Raises:
            NotFoundError: Spark did not bring the model there.
        """
        from pyspark import SparkFiles  # noqa: PLC0415

        folder = Path(SparkFiles.getRootDirectory()) / self.name
        if not folder.is_dir():
            raise NotFoundError(f"a worker lacks the model {self.name}: {_NOT_SENT}")
        return folder


@dataclass(frozen=True)
class ModelAtPath:
    """Path of a model that Spark workers have; call it on the worker.

    Args:
        path: the model's folder there.
    """

    path: Path

    def __call__(self) -> Path:
        """Return the model's folder, in a worker process.

        Raises:
            NotFoundError: there is none.
        """
        if not self.path.is_dir():
            raise NotFoundError("a worker has no model here: put it there on all workers", path=self.path)
        return self.path


def ship_model(spark: Any, folder: Path, model: ShippedModel) -> None:
    """Send a model to all workers by Spark's distribution of files, once a session; each worker unpacks it once.

    Args:
        spark: a classic `SparkContext`, or a `SparkSession` of Spark Connect.
        folder: the model's folder here.
        model: its path there.
    """
    sent = _shipped.setdefault(spark, set())
    if model.name in sent:
        return
    staging = mkdtemp(prefix="crfdeid-")  # Workers fetch it from there on first use, so it stays until the exit.
    atexit.register(shutil.rmtree, staging, ignore_errors=True)
    archive = shutil.make_archive(str(Path(staging) / model.name), "zip", folder)
    if is_connect(spark):
        spark.addArtifacts(f"{archive}#{model.name}", archive=True)
    else:
        spark.addArchive(f"{archive}#{model.name}")
    sent.add(model.name)


def worker_function(work: Callable[[Iterator[Any]], Iterable[Any]]) -> Callable[[Iterable[Any]], Any]:
    """Wrap a function of a partition's rows, or batches, for Spark's workers.

    The wrapper is nested so that cloudpickle sends its code. A function of a module is sent by name, and a worker
    without this package could not report what it lacks.

    Args:
        work: the function, which is pickled.
    """
    data, missing = pickle.dumps(work), NO_PACKAGE

    def run(rows: Iterable[Any]) -> Iterator[Any]:
        import pickle  # noqa: PLC0415
        from importlib.util import find_spec  # noqa: PLC0415

        if find_spec("crfdeid") is None:
            raise ModuleNotFoundError(missing)
        from crfdeid.utils.process import collecting_seldom, frozen_between  # noqa: PLC0415

        with frozen_between(), collecting_seldom():
            yield from pickle.loads(data)(iter(rows))

    return run


# --- jobs


@dataclass(frozen=True)
class _Tasks:
    """A function and its tasks, each pickled separately: a worker unpickles only its own."""

    function: Callable[[Any], str]
    tasks: Sequence[bytes]

    @classmethod
    def of(cls, function: Callable[[Any], str], tasks: Sequence[Any]) -> _Tasks:
        return cls(function, [pickle.dumps(task) for task in tasks])

    def reports(self, numbers: Iterator[int]) -> Iterator[str]:
        """Reports of the tasks with these numbers."""
        return (self.function(pickle.loads(self.tasks[number])) for number in numbers)

    def batches(self, batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
        """The same in Arrow's batches."""
        from pyarrow import RecordBatch  # noqa: PLC0415

        for batch in batches:
            numbers = batch.column(0).to_pylist()
            for number, report in zip(numbers, self.reports(iter(numbers)), strict=True):
                yield RecordBatch.from_pydict({"task": [number], "report": [report]})


class Jobs(ABC):
    """Jobs on the workers of a Spark.

    Args:
        spark: a classic context, or a session of Spark Connect.
        own: stop Spark at the end, since it was started for these jobs.
    """

    def __init__(self, spark: Any, *, own: bool = False) -> None:
        self._spark, self._own = spark, own
        self._tag = f"crfdeid-{secrets.token_hex(8)}"

    @abstractmethod
    def slots(self) -> int:
        """Number of tasks that the workers do at a time."""

    def ship(self, folder: Path, digest: str) -> Callable[[], Path]:
        """Give all workers a model.

        Args:
            folder: the model's folder here.
            digest: its `model_digest`.

        Returns:
            A function that finds the model in a worker process.
        """
        model = ShippedModel.of(digest)
        ship_model(self._spark, folder, model)
        return model

    @abstractmethod
    def run(self, function: Callable[[Any], str], tasks: Sequence[Any]) -> list[str]:
        """Return a function's reports of the tasks, in order; several threads may run jobs.

        Args:
            function: picklable, with short results.
            tasks: each becomes a Spark task, which is repeated if its worker is lost.

        Raises:
            Exception: Spark's, after too many failures.
        """

    @abstractmethod
    def is_alive(self) -> bool:
        """True while Spark works; it need not have a free slot."""

    @abstractmethod
    def interrupt(self) -> None:
        """Cancel all of these jobs; do nothing if Spark has ended."""

    def stop(self) -> None:
        """Stop Spark, if it was started for these jobs."""
        if self._own:
            with suppress(Exception):  # Spark, or the connection to it, has ended already.
                self._spark.stop()


@final
class ContextJobs(Jobs):
    """Jobs of classic Spark. They are not queries: without planning and compiling, Java starts in half the time."""

    def slots(self) -> int:
        """Number of tasks that the workers do at a time."""
        return int(self._spark.defaultParallelism)

    def ship(self, folder: Path, digest: str) -> Callable[[], Path]:
        """Give all workers a model; a local Spark has it already."""
        if _LOCAL.fullmatch(self._spark.master or ""):
            return partial(Path, folder.absolute())
        return super().ship(folder, digest)

    def run(self, function: Callable[[Any], str], tasks: Sequence[Any]) -> list[str]:
        """Return a function's reports of the tasks."""
        self._spark.addJobTag(self._tag)  # of this thread's jobs
        numbers = self._spark.parallelize(range(len(tasks)), len(tasks))
        return list(numbers.mapPartitions(worker_function(_Tasks.of(function, tasks).reports)).collect())

    def is_alive(self) -> bool:
        """True while Spark works."""
        try:
            return self.slots() > 0
        except Exception:  # of Spark, or of the connection to it
            return False

    def interrupt(self) -> None:
        """Cancel all of these jobs."""
        with suppress(Exception):
            self._spark.cancelJobsWithTag(self._tag)


@final
class ConnectJobs(Jobs):
    """Jobs of Spark Connect, which has data frames only."""

    def slots(self) -> int:
        """Number of tasks that the workers do at a time: Spark's default number of partitions."""
        from pyspark.sql.functions import spark_partition_id  # noqa: PLC0415

        rows = self._spark.range(1 << 10).select(spark_partition_id()).collect()  # distinct() is another stage
        return len({slot for (slot,) in rows})

    def run(self, function: Callable[[Any], str], tasks: Sequence[Any]) -> list[str]:
        """Return a function's reports of the tasks."""
        work = worker_function(_Tasks.of(function, tasks).batches)
        numbers = self._spark.range(0, len(tasks), 1, len(tasks))
        rows = numbers.mapInArrow(work, "task long, report string").collect()
        return [row["report"] for row in sorted(rows, key=lambda row: row["task"])]

    def is_alive(self) -> bool:
        """True while Spark works."""
        if self._own:  # The call that failed has waited for the server already.
            _set_retries(self._spark, 0)
        try:
            alive = bool(self._spark.range(1).count() == 1)
        except Exception:  # of Spark, of the connection to it, or of the network
            return False
        if self._own:
            _set_retries(self._spark, _SERVER_RETRIES)
        return alive

    def interrupt(self) -> None:
        """Cancel all jobs of this session."""
        with suppress(Exception):
            self._spark.interruptAll()


# --- starting Spark


@contextmanager
def started_jobs(master: str) -> Iterator[Jobs]:
    """Jobs of this process's running Spark, or of one that is started, and stopped at the end.

    Args:
        master: URL of a cluster, as for `spark-submit --master`; of a Spark Connect server (sc://...); or local[N]. A
            local Spark repeats a task as often as a cluster does, and accepts no connections from other machines.

    Raises:
        MissingExtraError: PySpark is not installed.
        UsageError: Spark cannot start.
    """
    try:
        from pyspark.sql import SparkSession  # noqa: PLC0415
    except ImportError:
        raise MissingExtraError("Spark is not installed: pip install 'crfdeid[spark]', and Java 17 or later") from None
    active = SparkSession.getActiveSession()
    if active is not None:
        jobs: Jobs = ConnectJobs(active) if is_connect(active) else ContextJobs(active.sparkContext)
    else:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", _PANDAS, FutureWarning)
            jobs = ConnectJobs(connect(master), own=True) if master.startswith(_CONNECT) else _start(master)
    try:
        yield jobs
    finally:
        jobs.stop()


def _start(master: str) -> Jobs:
    from py4j.protocol import Py4JError  # noqa: PLC0415
    from pyspark import SparkConf, SparkContext  # noqa: PLC0415
    from pyspark.errors import PySparkException  # noqa: PLC0415

    conf = SparkConf().setAppName("crfdeid redact").set("spark.ui.showConsoleProgress", "false")
    if master.startswith("local"):
        same = os.environ.setdefault("PYSPARK_PYTHON", sys.executable) == sys.executable
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        own = os.environ.get(JAVA_OPTIONS, "")
        ours = [LOCAL_JAVA, LOCAL_DAEMON] if same else [LOCAL_JAVA]
        os.environ[JAVA_OPTIONS] = " ".join([*(option for option in ours if option not in own), own]).strip()
        conf.set("spark.ui.enabled", "false")
    local = _LOCAL_SLOTS.fullmatch(master)
    conf.setMaster(f"local[{local[1] or 1},{_TASK_TRIES}]" if local else master)
    try:
        # Signals wait: a Java process that is abandoned while it starts would stay, and Spark handles Ctrl-C itself.
        with signals_held():
            context = SparkContext.getOrCreate(conf)
        return ContextJobs(context, own=True)
    except (PySparkException, Py4JError):
        raise UsageError(_NO_JAVA) from None

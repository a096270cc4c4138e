"""A session of a Spark Connect server, which waits for one that is not there no longer than a person does."""

from __future__ import annotations

import atexit
import pickle
import re
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from threading import Thread
from typing import TYPE_CHECKING, Any, Protocol, final
from weakref import WeakKeyDictionary

import pyarrow as pa

from crfdeid.errors import UsageError

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

CONNECT = "sc://"
_CONNECT_TIMEOUT = 10  # seconds, in which a server takes a connection; Spark itself tries for more than ten minutes
_SERVER_RETRIES = 6  # again, of a call that cannot reach the server: over a minute
_CONNECT_MISSING = "Spark Connect is not installed: pip install 'crfdeid[spark]'"
_NO_SERVER = "no Spark Connect server answers there: start it, or correct --master"
# Spark's own words can have the URL in them, and so its token.
_REFUSED = (
    "Spark Connect refuses --master: correct it (sc://host:15002), or the token in SPARK_CONNECT_AUTHENTICATE_TOKEN"
)


def connect(master: str) -> SparkSession:
    """A session of a server.

    Args:
        master: the server's URL (sc://...).

    Raises:
        UsageError: there is no server, or it does not let this process in, or what Connect needs is not installed.
    """
    try:
        import grpc  # noqa: PLC0415
        from pyspark.errors import PySparkException  # noqa: PLC0415
        from pyspark.sql import SparkSession  # noqa: PLC0415
        from pyspark.sql.connect.client import DefaultChannelBuilder  # noqa: PLC0415
    except ImportError:
        raise UsageError(_CONNECT_MISSING) from None

    try:
        with DefaultChannelBuilder(master).toChannel() as channel:
            grpc.channel_ready_future(channel).result(timeout=_CONNECT_TIMEOUT)
        session = SparkSession.builder.appName("crfdeid redact").remote(master).getOrCreate()
    except grpc.FutureTimeoutError:
        raise UsageError(_NO_SERVER) from None
    except (PySparkException, ValueError):  # Python's, of a port that is no number
        raise UsageError(_REFUSED) from None
    _set_retries(session, True)
    return session


def _set_retries(session: SparkSession, patient: bool) -> None:
    """Whether calls of a session that cannot reach its server try again."""
    from pyspark.sql.connect.client.retries import DefaultPolicy  # noqa: PLC0415

    session.client.set_retry_policies([DefaultPolicy(max_retries=_SERVER_RETRIES if patient else 0)])


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


def worker_function(work: Callable[[Iterator[Any]], Iterable[Any]]) -> Callable[[Iterable[Any]], Any]:
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
        from crfdeid.utils.process import collecting_seldom, frozen_between  # noqa: PLC0415

        with frozen_between(), collecting_seldom():
            yield from pickle.loads(data)(iter(rows))

    return run


_HERE = re.compile(r"local(\[.*\])?")


class Jobs(Protocol):
    """What has the workers of a Spark do tasks."""

    def slots(self) -> int:
        """How many tasks the workers do at once."""
        ...

    def ship(self, folder: Path, digest: str) -> Callable[[], Path]:
        """Give all workers a model.

        Args:
            folder: where it is here.
            digest: its `model_digest`.

        Returns:
            What finds it, in a process of a worker.
        """
        ...

    def run(self, function: Callable[[Any], str], tasks: Sequence[Any]) -> list[str]:
        """What a function says of each task, in order; jobs may be run from several threads.

        Args:
            function: it is pickled, and so must its results be short.
            tasks: each is done by a Spark task of its own, wherever Spark likes, and again where a worker was lost.

        Raises:
            Exception: one of Spark's, which gave it up.
        """
        ...

    def is_alive(self) -> bool:
        """Whether Spark still does work."""
        ...

    def interrupt(self) -> None:
        """Give up all jobs that these ran; where Spark has ended there are none."""
        ...

    def finish(self) -> None:
        """Let Spark begin to end, if it was started for these jobs: no more are run."""
        ...

    def stop(self) -> None:
        """End Spark, if it was started for these jobs."""
        ...


@dataclass(frozen=True)
class _Tasks:
    """A function and its tasks, each pickled by itself: a worker reads none but its own."""

    function: Callable[[Any], str]
    tasks: Sequence[bytes]

    @classmethod
    def of(cls, function: Callable[[Any], str], tasks: Sequence[Any]) -> _Tasks:
        return cls(function, [pickle.dumps(task) for task in tasks])

    def reports(self, numbers: Iterator[int]) -> Iterator[str]:
        """The reports of the tasks of these numbers."""
        return (self.function(pickle.loads(self.tasks[number])) for number in numbers)

    def batches(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same, in Arrow's batches."""
        for batch in batches:
            numbers = batch.column(0).to_pylist()
            for number, report in zip(numbers, self.reports(iter(numbers)), strict=True):
                yield pa.RecordBatch.from_pydict({"task": [number], "report": [report]})


class _Shutdown:
    """The end of a Spark, where something ends it: it takes a second, in which its driver can do other things."""

    def __init__(self, stop: Callable[[], None] | None) -> None:
        self._thread = None if stop is None else Thread(target=_stop, args=(stop,))

    def begin(self) -> None:
        """Begin it, unless it has begun."""
        if self._thread is not None and self._thread.ident is None:
            self._thread.start()

    def wait(self) -> None:
        """Wait for it."""
        self.begin()
        if self._thread is not None:
            self._thread.join()


def _stop(stop: Callable[[], None]) -> None:
    with suppress(Exception):  # Its own, or of the way to it: it has ended already.
        stop()


@final
class ContextJobs:
    """Jobs of classic Spark. They are no queries: Java starts in half the time where nothing is planned or compiled.

    Args:
        context: Spark's.
        own: whether it was started for these jobs.
    """

    def __init__(self, context: SparkContext, *, own: bool = False) -> None:
        self._context = context
        self._end = _Shutdown(context.stop if own else None)
        self._tag = f"crfdeid-{secrets.token_hex(8)}"

    def slots(self) -> int:
        """How many tasks the workers do at once."""
        return int(self._context.defaultParallelism)

    def ship(self, folder: Path, digest: str) -> Callable[[], Path]:
        """Give all workers a model; on this machine it is there."""
        if _HERE.fullmatch(self._context.master or ""):
            return partial(Path, folder.absolute())
        model = ShippedModel.of(digest)
        ship_model(self._context, folder, model)
        return model

    def run(self, function: Callable[[Any], str], tasks: Sequence[Any]) -> list[str]:
        """What a function says of each task."""
        self._context.addJobTag(self._tag)  # of this thread's jobs
        numbers = self._context.parallelize(range(len(tasks)), len(tasks))
        return list(numbers.mapPartitions(worker_function(_Tasks.of(function, tasks).reports)).collect())

    def is_alive(self) -> bool:
        """Whether Spark still does work; it need not have a slot for that."""
        try:
            return self.slots() > 0
        except Exception:  # Its own, or of the way to it.
            return False

    def interrupt(self) -> None:
        """Give up all jobs that these ran."""
        with suppress(Exception):
            self._context.cancelJobsWithTag(self._tag)

    def finish(self) -> None:
        """Let Spark begin to end: no more jobs are run."""
        self._end.begin()

    def stop(self) -> None:
        """End Spark, if it was started for these jobs."""
        self._end.wait()


@final
class ConnectJobs:
    """Jobs of Spark Connect, which knows data frames alone.

    Args:
        session: Spark's.
        own: whether it was started for these jobs.
    """

    def __init__(self, session: SparkSession, *, own: bool = False) -> None:
        self._session, self._own = session, own
        self._end = _Shutdown(session.stop if own else None)

    def slots(self) -> int:
        """How many tasks the workers do at once, by how Spark cuts a range that nobody told it how to cut."""
        from pyspark.sql.functions import spark_partition_id  # noqa: PLC0415

        rows = self._session.range(1 << 10).select(spark_partition_id()).collect()  # distinct() is another stage
        return len({slot for (slot,) in rows})

    def ship(self, folder: Path, digest: str) -> Callable[[], Path]:
        """Give all workers a model."""
        model = ShippedModel.of(digest)
        ship_model(self._session, folder, model)
        return model

    def run(self, function: Callable[[Any], str], tasks: Sequence[Any]) -> list[str]:
        """What a function says of each task."""
        work = worker_function(_Tasks.of(function, tasks).batches)
        numbers = self._session.range(0, len(tasks), 1, len(tasks))
        rows = numbers.mapInArrow(work, "task long, report string").collect()
        return [row["report"] for row in sorted(rows, key=lambda row: row["task"])]

    def is_alive(self) -> bool:
        """Whether Spark still does work."""
        if self._own:  # Whatever failed has waited for the server already.
            _set_retries(self._session, False)
        try:
            alive = bool(self._session.range(1).count() == 1)
        except Exception:  # Its own, of the way to it, or of the network.
            return False
        if self._own:
            _set_retries(self._session, True)
        return alive

    def interrupt(self) -> None:
        """Give up all jobs of this session."""
        with suppress(Exception):
            self._session.interruptAll()

    def finish(self) -> None:
        """Let the session begin to end: no more jobs are run."""
        self._end.begin()

    def stop(self) -> None:
        """End the session, if it was started for these jobs."""
        self._end.wait()

"""Sessions of Spark: the one that runs, or one that is started; and models for its workers."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from crfdeid.errors import MissingExtraError, NotFoundError, UsageError
from crfdeid.utils.process import signals_held

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from crfdeid.redaction.redactor import Redactor

_SECONDS = 10  # to wait for a server of Spark Connect
_sent: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()


@contextmanager
def started(master: str, settings: Mapping[str, str]) -> Iterator[SparkSession]:
    """This process's Spark session, or one that is started, and stopped at the end.

    Args:
        master: URL of a cluster, as for `spark-submit --master`; of a Spark Connect server (sc://...); or local[N].
        settings: settings of the session, such as "spark.jars.packages".

    Raises:
        MissingExtraError: PySpark is not installed.
        UsageError: Spark cannot start, or no server answers.
    """
    try:
        from py4j.protocol import Py4JError  # noqa: PLC0415
        from pyspark.errors import PySparkException  # noqa: PLC0415
        from pyspark.sql import SparkSession  # noqa: PLC0415
    except ImportError:
        raise MissingExtraError("Spark is not installed: pip install 'crfdeid[spark]', and Java 17 or later") from None
    session = SparkSession.getActiveSession()
    if session is not None:
        yield session
        return
    builder = SparkSession.builder.appName("crfdeid redact").config("spark.ui.showConsoleProgress", "false")
    if master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # No other machine can connect.
        # Java's second compiler competes with the local workers for cores, and Spark has little to compute.
        os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1")
        builder = builder.config("spark.ui.enabled", "false")
        master = re.sub(r"^local\[([^,]*)\]$", r"local[\1,4]", master)  # A task is tried as often as on a cluster.
    try:
        # Signals wait: a Java process that is abandoned while it starts would stay.
        with signals_held(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
            builder = _remote(builder, master) if master.startswith("sc://") else builder.master(master)
            session = builder.config(map=dict(settings)).getOrCreate()
    except (PySparkException, Py4JError, ValueError):  # The message can quote a URL with its token.
        problem = "Spark cannot start, or its server does not answer: correct the URL or its token"
        raise UsageError(f"{problem}; without a server, install Java 17 or later") from None
    try:
        yield session
    finally:
        with suppress(Exception):  # Spark, or the connection to it, has ended already.
            session.stop()


def _remote(builder: Any, master: str) -> Any:
    """Builder of a session of Spark Connect, which by itself waits for a server for over ten minutes."""
    import grpc  # noqa: PLC0415
    from pyspark.sql.connect.client import DefaultChannelBuilder  # noqa: PLC0415

    with DefaultChannelBuilder(master).toChannel() as channel, suppress(grpc.FutureTimeoutError):
        grpc.channel_ready_future(channel).result(timeout=_SECONDS)
        return builder.remote(master)
    raise ValueError


def send_model(spark: SparkSession, redactor: Redactor) -> Path | str:
    """Send a model to all workers by Spark's distribution of files, once a session; each worker unpacks it once.

    Args:
        spark: a classic session or one of Spark Connect; a classic local Spark needs no copy.
        redactor: a pinned one.

    Returns:
        Its place there, for `worker_model`.
    """
    folder = redactor.folder.path
    connect = ".connect." in type(spark).__module__
    if not connect and spark.sparkContext.master.startswith("local["):
        return folder.absolute()
    name, sent = f"crfdeid-{redactor.model_sha256}", _sent.setdefault(spark, set())
    if name not in sent:
        staging = mkdtemp(prefix="crfdeid-")  # Workers fetch it from there on first use, so it stays until the exit.
        atexit.register(shutil.rmtree, staging, ignore_errors=True)
        archive = f"{shutil.make_archive(str(Path(staging) / name), 'zip', folder)}#{name}"
        if connect:
            spark.addArtifacts(archive, archive=True)
        else:
            spark.sparkContext.addArchive(archive)
        sent.add(name)
    return name


def worker_model(place: Path | str) -> Path:
    """Find a model on a worker.

    Args:
        place: its folder, or the name of the archive that Spark unpacked.

    Raises:
        NotFoundError: there is none.
    """
    from pyspark import SparkFiles  # noqa: PLC0415

    path = place if isinstance(place, Path) else Path(SparkFiles.getRootDirectory()) / place
    if not path.is_dir():
        remedy = "put it there on all workers (model_on_workers): streams of Spark Connect get nothing that was sent"
        raise NotFoundError(f"a worker has no model here: {remedy}", path=path)
    return path

"""A Spark for jobs: one that is started, and stopped at the end, or one that is there."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread

from crfdeid.errors import UsageError
from crfdeid.integrations.spark.jobs import CONNECT, ConnectJobs, ContextJobs, Jobs, connect, is_connect
from crfdeid.utils.process import signals_held

_SPARK_MISSING = "Spark is not installed: pip install 'crfdeid[spark]', and Java 17 or later"
_NO_JAVA = "Spark cannot start (its own words are above): install Java 17 or later, or correct --master"
_PANDAS = "PySpark does not yet fully support pandas"  # through which nothing goes here
# On one machine, Java's second compiler takes from the workers' cores, and Spark has little to compute here.
LOCAL_JAVA = "-XX:TieredStopAtLevel=1"
LOCAL_DAEMON = "-Dspark.python.daemon.module=crfdeid.integrations.spark.daemon"
JAVA_OPTIONS = "SPARK_SUBMIT_OPTS"  # Java reads them first: whatever Spark's configuration says later counts.
_LOCAL = re.compile(r"local(?:\[(\d+|\*)\])?")
_TASK_TRIES = 4  # as often as a cluster tries a task


@contextmanager
def started_jobs(master: str) -> Iterator[Jobs]:
    """Jobs of a Spark, stopped at the end; one that this process has already is taken as it is, and stays.

    Args:
        master: the URL of a cluster, as `spark-submit --master` has it; of a Spark Connect server (sc://...); or
            local[N]. A local Spark tries a task as often as a cluster does, and nobody reaches it from another machine.

    Raises:
        UsageError: there is no Spark, or it cannot start.
    """
    try:
        from pyspark.sql import SparkSession  # noqa: PLC0415
    except ImportError:
        raise UsageError(_SPARK_MISSING) from None
    active = SparkSession.getActiveSession()
    if active is not None:
        jobs: Jobs = ConnectJobs(active) if is_connect(active) else ContextJobs(active.sparkContext)
    else:
        with _without_pandas_warning():
            jobs = ConnectJobs(connect(master), own=True) if master.startswith(CONNECT) else _started(master)
    try:
        yield jobs
    finally:
        jobs.stop()


def _started(master: str) -> Jobs:
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
    local = _LOCAL.fullmatch(master)
    conf.setMaster(f"local[{local[1] or 1},{_TASK_TRIES}]" if local else master)
    Thread(target=_import_pandas).start()
    try:
        # Java that is given up while it starts stays. Spark has a way of its own with Ctrl-C, which is given up here.
        with signals_held():
            context = SparkContext.getOrCreate(conf)
        return ContextJobs(context, own=True)
    except (PySparkException, Py4JError):
        raise UsageError(_NO_JAVA) from None


def _import_pandas() -> None:
    """PySpark does so when it first speaks to Java, and lets it wait for a third of a second."""
    with suppress(ImportError):
        import pandas  # noqa: F401, PLC0415


@contextmanager
def _without_pandas_warning() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", _PANDAS, FutureWarning)
        yield

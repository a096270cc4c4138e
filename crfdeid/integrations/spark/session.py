"""A Spark for jobs: a running one, or one that is started and stopped at the end."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from crfdeid.errors import MissingExtraError, UsageError
from crfdeid.integrations.spark.jobs import CONNECT, ConnectJobs, ContextJobs, Jobs, connect, is_connect
from crfdeid.utils.process import signals_held

_NO_JAVA = "Spark cannot start (see its own messages above): install Java 17 or later, or correct its URL"
_PANDAS = "PySpark does not yet fully support pandas"  # which is not used here
# On a single machine, Java's second compiler competes with the workers for cores, and Spark has little to compute.
LOCAL_JAVA = "-XX:TieredStopAtLevel=1"
LOCAL_DAEMON = "-Dspark.python.daemon.module=crfdeid.integrations.spark.daemon"
JAVA_OPTIONS = "SPARK_SUBMIT_OPTS"  # Java reads them first, so that Spark's configuration takes precedence.
_LOCAL = re.compile(r"local(?:\[(\d+|\*)\])?")
_TASK_TRIES = 4  # as on a cluster


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
            jobs = ConnectJobs(connect(master), own=True) if master.startswith(CONNECT) else _start(master)
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
    local = _LOCAL.fullmatch(master)
    conf.setMaster(f"local[{local[1] or 1},{_TASK_TRIES}]" if local else master)
    try:
        # Signals wait: a Java process that is abandoned while it starts would stay, and Spark handles Ctrl-C itself.
        with signals_held():
            context = SparkContext.getOrCreate(conf)
        return ContextJobs(context, own=True)
    except (PySparkException, Py4JError):
        raise UsageError(_NO_JAVA) from None

"""One Spark for all tests of a process: its start takes longer than most of them."""

import os
import shutil
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from notes_samples import tiny_model

from crfdeid.secrets import SECRET_VARIABLE

# Spark starts Java by a fork. gRPC, which Spark Connect loads into the same process, would take part in it and can end
# the child before Java runs.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

SECRET = "a secret of the tests, long enough"
HAS_SPARK = find_spec("pyspark") is not None and (shutil.which("java") is not None or "JAVA_HOME" in os.environ)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests here; those with a Spark need one."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.spark)
            item.add_marker(
                pytest.mark.skipif(not HAS_SPARK, reason="no Spark: pip install -e '.[spark]', and Java 17")
            )
            # A part of Spark that is not used here looks at the version of pandas.
            item.add_marker(pytest.mark.filterwarnings("ignore:PySpark does not yet fully support:FutureWarning"))
            # Java is started by a fork that becomes another program at once; tests before may have started JAX here.
            item.add_marker(pytest.mark.filterwarnings(r"ignore:os.fork\(\) was called:RuntimeWarning"))


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("spark") / "model")


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A Spark that writes down all that it does; its processes get the secret from the environment."""
    from pyspark import SparkContext  # noqa: PLC0415
    from pyspark.sql import SparkSession  # noqa: PLC0415

    events = tmp_path_factory.mktemp("events")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": events.as_uri(),
        "spark.eventLog.compress": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SECRET_VARIABLE, SECRET)
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1")
        # One worker imports crfdeid once, and one that has to fail does it once.
        session = SparkSession.builder.master("local[1,1]").config(map=settings).getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        session.events = events
        yield session
        gateway = SparkContext._gateway
        session.stop()
        if gateway is not None:  # the JVM, which would stay till the end of the tests
            gateway.shutdown()
            process = gateway.proc
            process.stdin.close()
            process.wait(60)
            SparkContext._gateway = SparkContext._jvm = None

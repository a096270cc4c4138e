"""Spark Connect: servers that are not there or refuse, and one that works, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from socket import create_server
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crfdeid.cli import spark_run
from crfdeid.cli.spark_run import session_of
from crfdeid.errors import UsageError
from crfdeid.secrets import SECRET_VARIABLE

TOKEN = "a-token-of-the-tests"


@pytest.fixture(autouse=True)
def environment_of_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Spark says in the environment that this process speaks with Connect, and then no classic one can start."""
    from pyspark.sql import SparkSession  # noqa: PLC0415

    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    with patch.dict(os.environ):
        yield


def refused(url: str) -> str:
    with pytest.raises(UsageError) as problem, session_of(url, {}):
        pass
    return str(problem.value)


def test_a_server_that_is_not_there_is_said_to_be_so_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_run, "_SECONDS", 0.2)
    with create_server(("localhost", 0)) as listening:
        port = listening.getsockname()[1]
    began = time.monotonic()
    assert TOKEN not in refused(f"sc://localhost:{port}/;token={TOKEN}")
    assert time.monotonic() - began < 60  # Spark's own patience is ten minutes


@pytest.mark.parametrize("url", ["sc://", "sc://host:port", "sc://host/notes", "sc://host/;token"])
def test_a_url_that_is_none_is_refused(url: str) -> None:
    assert TOKEN not in refused(url if url == "sc://" else f"{url};token={TOKEN}")


def test_a_server_that_refuses_is_not_quoted() -> None:
    import grpc  # noqa: PLC0415

    def refuse(request: Any, context: Any) -> None:
        context.abort(grpc.StatusCode.UNAUTHENTICATED, f"no user has {TOKEN}")

    class Refusing(grpc.GenericRpcHandler):
        def service(self, details: Any) -> Any:
            return grpc.unary_unary_rpc_method_handler(refuse)

    server = grpc.server(ThreadPoolExecutor(1), handlers=[Refusing()])
    port = server.add_secure_port("localhost:0", grpc.local_server_credentials())
    server.start()
    try:
        assert TOKEN not in refused(f"sc://localhost:{port}/;token={TOKEN}")
    finally:
        server.stop(None).wait()


# The command takes the session that there is; a stream of Spark Connect gets the model from a path alone.
SESSION = """
import sys
from pathlib import Path
from pyspark.sql import SparkSession
from crfdeid.cli import main
from crfdeid.integrations.spark import redact
folder, model = map(Path, sys.argv[1:])
builder = SparkSession.builder.config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "1")
spark = builder.remote("local[1]").getOrCreate()
options = ["--output", f"{folder}/out", "--report", f"{folder}/report.json", "--spark", "sc://localhost"]
print("command", main(["redact", str(model), f"{folder}/in", *options]))
notes = spark.readStream.schema("text string").parquet(f"{folder}/in")
writing = redact(notes, model=model, model_on_workers=model).writeStream.option("checkpointLocation", f"{folder}/check")
writing.trigger(availableNow=True).start(f"{folder}/stream").awaitTermination(300)
spark.stop()
"""


def test_the_command_and_a_stream_work_through_spark_connect(model: Path, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    pq.write_table(pa.table({"text": ["Patient Quill", None, "JosÃ©"]}), tmp_path / "in" / "a.parquet")
    environment = {
        **{**os.environ, SECRET_VARIABLE: "a secret of the tests, long enough", "PYSPARK_PYTHON": sys.executable},
        **{"SPARK_SUBMIT_OPTS": "-XX:TieredStopAtLevel=1", "SPARK_LOCAL_IP": "127.0.0.1"},
    }
    command = [sys.executable, "-c", SESSION, str(tmp_path), str(model)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.splitlines()[-1] == "command 1", done.stderr[-3000:]
    for place, prefix in (("out", "phi_"), ("stream", "")):
        rows = pq.read_table(tmp_path / place).to_pylist()
        found = [(row["text"], row[f"{prefix}status"]) for row in rows]
        assert sorted(found, key=str) == [("Patient [PATIENT]", "done"), (None, "failed"), (None, "null")]
    assert pq.read_table(tmp_path / "out.errors").to_pylist() == [
        {"phi_error_type": "DataError", "phi_error_offset": 3}
    ]
    assert '"failures": 1' in (tmp_path / "report.json").read_text()

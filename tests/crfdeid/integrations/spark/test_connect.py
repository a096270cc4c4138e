"""Spark Connect: servers that are not there, refuse, or die; a real one is slow to start."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from socket import create_server
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from notes_samples import crfdeid, tiny_model, written

from crfdeid.cli import main
from crfdeid.errors import UsageError
from crfdeid.integrations.spark import jobs
from crfdeid.integrations.spark.jobs import ConnectJobs
from crfdeid.secrets import SECRET_VARIABLE

TOKEN = "a-token-of-the-tests"
TOKEN_VARIABLE = "SPARK_CONNECT_AUTHENTICATE_TOKEN"
NOTE = "Patient Quill was seen on 3/14/2031.\r\nAttending: Dr. Orla Marsh, call 555-1037. Visit {}.\n"

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(find_spec("pyspark") is None, reason="no Spark: pip install -e '.[spark]'"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]


@pytest.fixture(autouse=True)
def environment_of_before() -> Iterator[None]:
    """Spark says in the environment that this process speaks with Connect, and then no classic one can start."""
    with patch.dict(os.environ):
        yield


def free_port() -> int:
    with create_server(("localhost", 0)) as listening:
        return int(listening.getsockname()[1])


def test_a_server_that_is_not_there_is_said_to_be_so_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "_CONNECT_TIMEOUT", 0.2)
    began = time.monotonic()
    with pytest.raises(UsageError, match="no Spark Connect server answers there") as refused:
        jobs.connect(f"sc://localhost:{free_port()}/;token={TOKEN}")
    assert time.monotonic() - began < 60  # Spark's own patience is ten minutes
    assert TOKEN not in str(refused.value)


@pytest.mark.parametrize("url", ["sc://", "sc://host:port", "sc://host/notes", "sc://host/;token"])
def test_a_url_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="Spark Connect refuses the URL"):
        jobs.connect(url if url == "sc://" else f"{url};token={TOKEN}")


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
        with pytest.raises(UsageError, match=f"or the token in {TOKEN_VARIABLE}") as refused:
            jobs.connect(f"sc://localhost:{port}/;token={TOKEN}")
        assert TOKEN not in str(refused.value)
    finally:
        server.stop(None).wait()


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("alive", [True, False])
def test_a_server_that_has_died_is_waited_for_once(own: bool, alive: bool) -> None:
    tries: list[int] = []

    def rows(count: int) -> Any:
        assert not own or tries == [0]
        if not alive:
            raise ConnectionRefusedError
        return SimpleNamespace(count=lambda: count)

    def keep(policies: list[Any]) -> None:
        tries.extend(policy.max_retries for policy in policies)

    session: Any = SimpleNamespace(range=rows, client=SimpleNamespace(set_retry_policies=keep), stop=lambda: None)
    assert ConnectJobs(session, own=own).is_alive() == alive
    assert [number > 0 for number in tries] == ([False, True] if alive else [False]) * own


@contextmanager
def connect_server(log: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The URL of a server on two cores that asks for a token, and its process."""
    import pyspark  # noqa: PLC0415

    home, port = Path(pyspark.__file__).parent, free_port()
    environment = {**os.environ, SECRET_VARIABLE: "a secret of the tests, long enough", TOKEN_VARIABLE: TOKEN}
    environment |= {"SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable}
    kind = "org.apache.spark.sql.connect.service.SparkConnectServer"
    settings = ("--conf", "spark.ui.enabled=false", "--conf", f"spark.connect.grpc.binding.port={port}")
    command = [str(home / "bin" / "spark-submit"), "--master", "local[2]", *settings, "--class", kind, "spark-internal"]
    with log.open("wb") as stream, subprocess.Popen(command, stdout=stream, stderr=stream, env=environment) as server:
        try:
            yield f"sc://localhost:{port}", server
        finally:
            server.kill()


@pytest.mark.slow
@pytest.mark.skipif(
    "CRFDEID_SPARK_CLUSTER" not in os.environ or shutil.which("java") is None,
    reason="CRFDEID_SPARK_CLUSTER is not set, or no Java: no server of Spark Connect",
)
def test_a_server_gives_the_files_of_one_machine_and_its_death_is_gone_on_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "_CONNECT_TIMEOUT", 120)
    monkeypatch.setenv(SECRET_VARIABLE, "a secret of the tests, long enough")
    model, source = tiny_model(tmp_path / "model"), tmp_path / "in"
    source.mkdir()
    for number in range(600):
        (source / f"{number}.txt").write_bytes(NOTE.format(number).encode())
    common = ("redact", "--operator", "surrogate", str(model), str(source))
    assert main([*common, "--output", str(tmp_path / "one")]) == 0
    monkeypatch.setenv(TOKEN_VARIABLE, TOKEN)
    output = ("--output", str(tmp_path / "many"), "--spark")
    with connect_server(tmp_path / "log") as (url, server):
        jobs.connect(url).stop()  # once it answers
        with subprocess.Popen(crfdeid(*common, *output, url), stderr=subprocess.PIPE) as run:
            part = tmp_path / "many" / ".crfdeid" / "part"
            while not (part.exists() and any(part.iterdir())):
                assert run.poll() is None
            server.kill()
            said = run.communicate(timeout=300)[1].decode()
    assert run.returncode == 1
    assert said.splitlines()[-1].startswith("error: Spark has ended")
    with connect_server(tmp_path / "log") as (url, _):
        jobs.connect(url).stop()
        assert main([*common, *output, url, "--resume"]) == 0
    assert written(tmp_path / "many") == {**written(tmp_path / "one"), "_SUCCESS": b""}
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and TOKEN.encode() in file.read_bytes()]
    assert TOKEN not in said

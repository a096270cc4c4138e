"""Kill workers, executors and drivers of `crfdeid redact --spark` at random times: no row is lost or doubled.

    python benchmarks/spark_kills.py --kills 30 --model model/

A small cluster on this machine redacts a table of invented notes, and every few seconds SIGKILL goes to a process of it
that is drawn at random, from when a task is at work: a Python worker, an executor, or the driver with its Java process,
which must leave no results, and after which the command is given again, as after a job that Spark gives up. The rows of
each output that was finished are compared with those of one machine; a note that fails must have no text. The secret
and names of the notes are searched in all files that Spark wrote, in what it printed, and in its web pages and REST API
while it runs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from socket import create_server
from urllib.request import urlopen

import pyarrow as pa
import pyarrow.parquet as pq

from crfdeid.corpora.synthetic import generate_notes

SECRET = "a secret of the benchmark, long enough"
LONG = 8  # Shorter names, such as Root, are in Spark's own settings.
DAMAGED = 40  # Each such note is in mojibake, and fails.
COMMAND = [sys.executable, "-c", "import sys; from crfdeid.cli import main; sys.exit(main())", "redact"]
WHAT = {"worker": b"pyspark.daemon\0pyspark.worker", "executor": b"CoarseGrainedExecutorBackend"}  # PySpark's, or ours


def main() -> None:
    options = _options()
    draw = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        names = write_notes(folder / "notes.parquet", options.notes)
        (folder / "secret").write_text(SECRET)
        common = [*COMMAND, options.model, str(folder / "notes.parquet"), "--id-column", "id", "--secret-file"]
        common += [str(folder / "secret"), "--operator", "surrogate", "--locale", "en_US"]
        subprocess.run([*common, "--output", str(folder / "one")], check=False, stderr=subprocess.DEVNULL)
        expected = sorted([*rows(folder / "one"), *((number, None) for number in range(0, options.notes, DAMAGED))])
        shown = " ".join(str(text) for _, text in expected)
        hidden = [SECRET.encode(), *(name.encode() for name in names if len(name) >= LONG and name not in shown)]
        kills, searched = Counter[str](), Counter[str]()
        outputs = 0
        while kills.total() < options.kills:
            output, events = folder / "many", folder / "events"
            events.mkdir(exist_ok=True)
            with create_server(("localhost", 0)) as server:
                port = server.getsockname()[1]
            settings = ("eventLog.enabled=true", f"eventLog.dir={events}", "eventLog.compress=false", "ui.enabled=true")
            asked = [part for one in (*settings, f"ui.port={port}") for part in ("--spark-option", f"spark.{one}")]
            command = [*common, "--output", str(output), "--spark", options.master, *asked]
            runs = 0
            while run(command, port, draw, kills, searched, hidden, options):
                runs += 1
                if (output / "_SUCCESS").exists() and (problem := difference(rows(output), expected)):
                    sys.exit(f"a driver that was killed left results that are not whole, {dict(kills)}: {problem}")
                shutil.rmtree(output, ignore_errors=True)
                shutil.rmtree(folder / "many.errors", ignore_errors=True)
            outputs += 1
            if (problem := difference(rows(output), expected)) or not (output / "_SUCCESS").exists():
                sys.exit(f"output {outputs} after {dict(kills)} does not have the rows of one machine: {problem}")
            for file in (file for place in (output, events) for file in place.rglob("*") if file.is_file()):
                require_hidden(file.name, b"" if file.suffix == ".parquet" else file.read_bytes(), hidden)
                searched["files"] += 1
            print(f"output {outputs}: whole after {dict(kills)}, {runs} times begun anew; {dict(searched)}", flush=True)
            shutil.rmtree(output)
            shutil.rmtree(folder / "many.errors")
    print(f"{kills.total()} kills ({dict(kills)}), {outputs} outputs of {options.notes} notes: no row lost or doubled")
    print(f"searched for the secret and {len(hidden) - 1} names: {dict(searched)}")


def difference(found: Sequence[tuple[int, str | None]], expected: Sequence[tuple[int, str | None]]) -> str:
    """How many rows differ, and the first of their ids; "" for none."""
    more, fewer = Counter(found) - Counter(expected), Counter(expected) - Counter(found)
    ids = sorted({number for number, _ in (*more, *fewer)})
    empty = sum(text is None for _, text in more)
    return f"{more.total()} rows too many, {empty} of them empty, {fewer.total()} too few: {ids[:9]}" if ids else ""


def require_hidden(name: str, content: bytes, hidden: Sequence[bytes]) -> None:
    """End where a secret or a name is to be read."""
    if found := [word for word in hidden if word in content]:
        sys.exit(f"{name} holds {'the secret' if SECRET.encode() in found else 'a name of the notes'}")


def pages(port: int) -> Iterator[tuple[str, bytes]]:
    """The web pages and the data of the REST API of a Spark that runs; fewer where it has ended meanwhile."""
    with suppress(OSError):
        for one in json.loads(urlopen(f"http://localhost:{port}/api/v1/applications", timeout=60).read()):
            api = f"/api/v1/applications/{one['id']}"
            data = (
                "jobs",
                "stages?details=true",
                "allexecutors",
                "environment",
                "sql?details=true&planDescription=true",
            )
            numbers = range(4)  # of the first queries and stages
            html = [f"/{name}/" for name in ("jobs", "stages", "SQL", "environment", "executors", "storage")]
            html += [f"/SQL/execution/?id={number}" for number in numbers]
            html += [f"/stages/stage/?id={number}&attempt={attempt}" for number in numbers for attempt in (0, 1)]
            for page in (*(f"{api}/{name}" for name in data), *html):
                with suppress(OSError):  # such as a stage that there is not yet
                    yield page, urlopen(f"http://localhost:{port}{page}", timeout=60).read()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Kill processes of a redaction on Spark, and compare what comes out.")
    parser.add_argument("--model", required=True)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--notes", type=int, default=2000)
    parser.add_argument("--pause", type=float, default=6.0, help="seconds between two kills, on average")
    parser.add_argument("--driver", type=float, default=0.2, help="how often it is the driver, for once a worker")
    parser.add_argument("--executor", type=float, default=0.3, help="how often it is an executor, for once a worker")
    parser.add_argument("--master", default="local-cluster[2,1,1024]")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def write_notes(file: Path, count: int) -> list[str]:
    """Write invented notes in small groups of rows, so that there are many tasks; return their patients' names."""
    documents = list(generate_notes(count, seed=1))
    texts = [("Jos\u00c3\u00a9 " if n % DAMAGED == 0 else "") + one.text for n, one in enumerate(documents)]
    table = pa.table({"id": range(count), "text": texts})
    pq.write_table(table, file, row_group_size=50)
    spans = [(document, span) for document in documents for span in document.spans if span.label == "PATIENT"]
    return sorted({document.text[span.start : span.end] for document, span in spans})


def run(
    command: list[str],
    port: int,
    draw: random.Random,
    kills: Counter[str],
    searched: Counter[str],
    hidden: Sequence[bytes],
    options: argparse.Namespace,
) -> bool:
    """Run the command, and kill until it ends; whether it must be given again."""
    with tempfile.TemporaryFile() as said, subprocess.Popen(command, stdout=said, stderr=said) as driver:
        while driver.poll() is None and not processes(driver.pid, WHAT["worker"]):
            time.sleep(1)
        while driver.poll() is None:
            time.sleep(draw.uniform(0, 2 * options.pause))
            for page, content in pages(port):
                require_hidden(page, content, hidden)
                searched["API" if "/api/" in page else page.split("?")[0]] += 1
            if kills.total() >= options.kills or driver.poll() is not None:
                continue
            (whom,) = draw.choices(("driver", "executor", "worker"), (options.driver, options.executor, 1))
            # Java would finish its job without the driver's Python, next to the run that begins anew.
            everything = [driver.pid, *processes(driver.pid, b"java")]
            victims = everything if whom == "driver" else processes(driver.pid, WHAT[whom])
            for victim in victims if whom == "driver" else victims and [draw.choice(victims)]:
                with suppress(ProcessLookupError):
                    os.kill(victim, signal.SIGKILL)
            if victims:
                kills[whom] += 1
                print(f"{kills.total()}: {whom}", flush=True)
            if victims and whom == "driver":
                return True
        said.seek(0)
        require_hidden("what Spark printed", output := said.read(), hidden)
        if driver.returncode != 1:  # for the notes that fail
            sys.exit(f"exit {driver.returncode}: {output.decode()[-2000:]}")
        if b"Spark gave up" in output:  # One task was killed as often as Spark tries it.
            print("Spark gave up", flush=True)
            return True
    return False


def processes(root: int, word: bytes) -> list[int]:
    """The processes below one in whose command line a word stands."""
    below: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:  # It has ended meanwhile.
            continue
        below.setdefault(parent, []).append(int(folder.name))
    found, waiting = [], [root]
    while waiting:
        waiting += below.get(process := waiting.pop(), [])
        try:
            if word in Path(f"/proc/{process}/cmdline").read_bytes():
                found.append(process)
        except OSError:
            continue
    return found


def rows(folder: Path) -> list[tuple[int, str | None]]:
    """The ids and texts of an output, sorted; a row that is doubled is there twice."""
    files = [path for path in folder.rglob("*.parquet") if not any(part[0] in "._" for part in path.parts[1:])]
    return sorted((row["id"], row["text"]) for file in files for row in pq.read_table(file).to_pylist())


if __name__ == "__main__":
    main()

"""Kill workers, executors and drivers of `crfdeid redact --spark` at random times: no row is lost or doubled.

    python benchmarks/spark_kills.py --kills 30 --model model/

A small cluster on this machine redacts a table of invented notes, and every few seconds SIGKILL goes to a process of it
that is drawn at random, from when a task is at work: a Python worker, an executor, or the driver with its Java process,
after which the command is given again with ``--resume``. The rows of each output that was finished are compared with
those of one machine, and all files that Spark wrote are searched for names of the notes.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from crfdeid.corpora.synthetic import generate_notes

COMMAND = [sys.executable, "-c", "import sys; from crfdeid.cli import main; sys.exit(main())", "redact"]
WHAT = {"worker": b"pyspark.daemon\0pyspark.worker", "executor": b"CoarseGrainedExecutorBackend"}  # PySpark's, or ours


def main() -> None:
    options = _options()
    draw = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        names = write_notes(folder / "notes.parquet", options.notes)
        common = [*COMMAND, options.model, str(folder / "notes.parquet"), "--id-column", "id", "--operator", "numbered"]
        subprocess.run([*common, "--output", str(folder / "one")], check=True, stderr=subprocess.DEVNULL)
        expected = rows(folder / "one")
        hidden = [name for name in names if name.encode() not in " ".join(text for _, text in expected).encode()]
        kills: Counter[str] = Counter()
        outputs = 0
        while kills.total() < options.kills:
            output, events = folder / "many", folder / "events"
            events.mkdir(exist_ok=True)
            log = [f"spark.eventLog.{key}" for key in ("enabled=true", f"dir={events}", "compress=false")]
            asked = [part for setting in log for part in ("--spark-option", setting)]
            command = [*common, "--output", str(output), "--spark", options.master, *asked]
            runs = 0
            while run(command, output, draw, kills, options):
                runs += 1
            outputs += 1
            if rows(output) != expected or not (output / "_SUCCESS").exists():
                sys.exit(f"output {outputs} after {dict(kills)} does not have the rows of one machine")
            for file in (file for place in (output, events) for file in place.rglob("*") if file.is_file()):
                content = b"" if file.suffix == ".parquet" else file.read_bytes()
                if any(name.encode() in content for name in hidden):
                    sys.exit(f"{file.name} holds a name of the notes")
            print(f"output {outputs}: whole after {dict(kills)}, {runs} times resumed", flush=True)
            shutil.rmtree(output)
    print(f"{kills.total()} kills ({dict(kills)}), {outputs} outputs of {options.notes} notes: no row lost or doubled")


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
    documents = generate_notes(count, seed=1)
    table = pa.table({"id": range(count), "text": [document.text for document in documents]})
    pq.write_table(table, file, row_group_size=50)
    spans = [(document, span) for document in documents for span in document.spans if span.label == "PATIENT"]
    return sorted({document.text[span.start : span.end] for document, span in spans})


def run(
    command: list[str], output: Path, draw: random.Random, kills: Counter[str], options: argparse.Namespace
) -> bool:
    """Run the command, and kill until it ends; whether it was the driver that was killed."""
    resume = ["--resume"] if output.exists() else []
    with subprocess.Popen([*command, *resume], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as driver:
        said = driver.stderr
        while driver.poll() is None and not processes(driver.pid, WHAT["worker"]):
            time.sleep(0.1)
        while driver.poll() is None:
            time.sleep(draw.uniform(0, 2 * options.pause))
            if kills.total() >= options.kills or driver.poll() is not None:
                continue
            (whom,) = draw.choices(("driver", "executor", "worker"), (options.driver, options.executor, 1))
            # Java would finish its job without the driver's Python, next to the run that resumes it.
            everything = [driver.pid, *processes(driver.pid, b"java")]
            victims = everything if whom == "driver" else processes(driver.pid, WHAT[whom])
            for victim in victims if whom == "driver" else victims and [draw.choice(victims)]:
                os.kill(victim, signal.SIGKILL)
            if victims:
                kills[whom] += 1
                print(f"{kills.total()}: {whom}", flush=True)
            if victims and whom == "driver":
                return True
        if driver.returncode:
            sys.exit(f"exit {driver.returncode}: {'' if said is None else said.read()[-2000:]}")
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


def rows(folder: Path) -> list[tuple[int, str]]:
    """The ids and texts of an output, sorted; a row that is doubled is there twice."""
    files = [path for path in folder.rglob("*.parquet") if not any(part[0] in "._" for part in path.parts[1:])]
    return sorted((row["id"], row["text"]) for file in files for row in pq.read_table(file).to_pylist())


if __name__ == "__main__":
    main()

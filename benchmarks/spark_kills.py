"""Kill workers, executors and drivers of `crfdeid redact --spark` at random times: nothing is lost or doubled.

    python benchmarks/spark_kills.py --kills 50 --model model/

A small cluster on this machine redacts invented notes of all kinds, and every few seconds SIGKILL goes to a process of
it that is drawn at random, from when a task is at work: a Python worker, an executor, or the driver, after which the
command is given again with ``--resume``. Each output that was finished is compared, byte for byte, with that of one
machine.
"""

from __future__ import annotations

import argparse
import csv
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
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from crfdeid.corpora.synthetic import generate_notes

COMMAND = [sys.executable, "-c", "import sys; from crfdeid.cli import main; sys.exit(main())", "redact"]
WHAT = {"worker": b"spark.daemon\0pyspark.worker", "executor": b"CoarseGrainedExecutorBackend"}  # PySpark's, or ours


def main() -> None:
    options = _options()
    draw = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_notes(folder / "in", options.notes)
        common = [*COMMAND, options.model, str(folder / "in"), "--operator", "numbered"]
        subprocess.run([*common, "--output", str(folder / "one")], check=True, stderr=subprocess.DEVNULL)
        expected = contents(folder / "one")
        kills: Counter[str] = Counter()
        outputs = 0
        while kills.total() < options.kills:
            output = folder / "many"
            command = [*common, "--output", str(output), "--spark", options.master]
            runs = 0
            while run(command, output, draw, kills, options):
                runs += 1
            outputs += 1
            if contents(output) != expected or not (output / "_SUCCESS").exists():
                sys.exit(f"output {outputs} after {dict(kills)} is not that of one machine")
            print(f"output {outputs}: whole after {dict(kills)}, {runs} times gone on with", flush=True)
            shutil.rmtree(output)
    print(f"{kills.total()} kills ({dict(kills)}), {outputs} outputs of {options.notes} notes: nothing lost or doubled")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Kill processes of a redaction on Spark, and compare what comes out.")
    parser.add_argument("--model", required=True)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--notes", type=int, default=2000)
    parser.add_argument("--pause", type=float, default=6.0, help="seconds between two kills, on average")
    parser.add_argument("--driver", type=float, default=0.2, help="how often it is the driver, for once a worker")
    parser.add_argument("--executor", type=float, default=0.3, help="how often it is an executor, for once a worker")
    parser.add_argument("--master", default="local-cluster[2,1,1024]")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def write_notes(folder: Path, count: int) -> None:
    """Invented notes: a third each in a table of Parquet, in lines of JSON, and in text files and a table of CSV."""
    texts = [document.text for document in generate_notes(count, seed=1)]
    (folder / "p1").mkdir(parents=True)
    pq.write_table(pa.table({"text": texts[::3]}), folder / "t.parquet")
    (folder / "l.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts[1::3]))
    for number, text in enumerate(texts[2::6]):
        (folder / "p1" / f"{number}.txt").write_text(text)
    with (folder / "t.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([("text",), *((text,) for text in texts[5::6])])


def run(
    command: list[str], output: Path, draw: random.Random, kills: Counter[str], options: argparse.Namespace
) -> bool:
    """Run the command, and kill until it ends; whether it was the driver that was killed."""
    resume = ["--resume"] if output.exists() else []
    with subprocess.Popen([*command, *resume], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as driver:
        said = driver.stderr
        part = output / ".crfdeid" / "part"
        while driver.poll() is None and not (part.exists() and any(part.iterdir())):
            time.sleep(0.1)
        while driver.poll() is None:
            time.sleep(draw.uniform(0, 2 * options.pause))
            if kills.total() >= options.kills or driver.poll() is not None:
                continue
            (whom,) = draw.choices(("driver", "executor", "worker"), (options.driver, options.executor, 1))
            victims = [driver.pid] if whom == "driver" else processes(driver.pid, WHAT[whom])
            if victims:
                os.kill(draw.choice(victims), signal.SIGKILL)
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


def contents(folder: Path) -> dict[str, object]:
    """What is in an output; of Parquet the table."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and ".crfdeid" not in path.parts]
    return {
        path.relative_to(folder).as_posix(): pq.read_table(path) if path.suffix == ".parquet" else path.read_bytes()
        for path in files
        if path.name != "_SUCCESS"
    }


if __name__ == "__main__":
    main()

"""What many notes in Parquet take: by the command, by `RedactBatches` on Arrow's streams, and by Spark.

    pip install -e ".[spark]"
    python -m experiments.synthetic --output notes/
    crfdeid train notes/train --dev notes/dev --model crf --output model/
    python benchmarks/lake.py --model model/ --notes notes/dev
    python benchmarks/lake.py --model model/ --notes notes/dev --count 0 --huge 0 10 --with "crfdeid redact --spark"
    python benchmarks/lake.py --model model/ --notes notes/dev --pairs 5
    python benchmarks/lake.py --model rules --notes notes/dev --equal parquet csv json

The notes of a corpus are repeated with other digits until there are so many, in 16 files. Each row is a run of its own,
by the wall clock, on a machine that does nothing else; its start-up is a run over one note. Notes an hour and tokens a
second are those of one core after the start-up; memory is the highest of any Python process of the run.

``--pairs`` runs one machine with two processes and Spark with two cores by turns, in one Spark, and compares medians
less those of one note; on a machine with other work, their processor time tells more than the clock. ``--equal``
compares the rows of both value by value; one note in fifty fails.
"""

from __future__ import annotations

import argparse
import base64
import csv
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from threading import Event, Thread
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from common import other_digits
from tabulate import tabulate

from crfdeid.cli import main as crfdeid
from crfdeid.cli.spark_run import session_of
from crfdeid.corpora import read_corpus
from features.tokenizer import tokenize

FILES = 16
PLANNED = 100_000_000
Command = list[str | Path]

REDACT = "import sys; from crfdeid.cli import main; sys.exit(main())"
BATCHES = """
import sys
import pyarrow.dataset as ds
from crfdeid import Policy
from crfdeid.integrations.arrow import RedactBatches
model, out, *files = sys.argv[1:]
redact = RedactBatches(model, Policy(), "text", longest_note=None)
notes = ds.dataset(files).scanner(batch_size=1000, batch_readahead=2, fragment_readahead=1).to_reader()
ds.write_dataset(redact.reader(notes), out, format="parquet", min_rows_per_group=1000)
"""


class Measured(NamedTuple):
    """Seconds of the wall clock, and megabytes of the largest Python process."""

    seconds: float
    megabytes: float


def write_notes(folder: Path, texts: Sequence[str], count: int, files: int = FILES) -> int:
    """Write so many notes, each with digits of its own; how many tokens they have."""
    folder.mkdir()
    draw = random.Random(0)
    rows = [other_digits(texts[n % len(texts)], draw) for n in range(count)]
    for number in range(min(files, count)):
        share = rows[number::files]
        pq.write_table(pa.table({"id": range(len(share)), "text": share}), folder / f"{number:02}.parquet")
    return sum(len(tokenize(text)) for text in rows)


_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _word(draw: random.Random) -> str:
    return "".join(draw.choices(_LETTERS, k=7))


def prose(texts: Sequence[str], size: int) -> str:
    """Notes of a corpus, repeated."""
    return "\n".join(texts * (1 + size // sum(map(len, texts))))


def pasted(texts: Sequence[str], size: int) -> str:
    """A pasted file in base64: no white space."""
    return base64.b64encode(random.Random(0).randbytes(size)).decode()


def names(texts: Sequence[str], size: int) -> str:
    """A new name in each line: consistency searches the note for every one."""
    draw = random.Random(0)
    return "\n".join(f"Dr. {_word(draw).capitalize()} called." for _ in range(size // 19))


def words(texts: Sequence[str], size: int) -> str:
    """Distinct words."""
    draw = random.Random(0)
    return " ".join(_word(draw) for _ in range(size // 8))


def dates(texts: Sequence[str], size: int) -> str:
    """Dates, 20,000 different ones a line."""
    draw = random.Random(0)
    line = [f"{draw.randint(1, 12):02}/{draw.randint(1, 28):02}/{draw.randint(1950, 2029)}" for _ in range(20_000)]
    return (" ".join(line) + "\n") * (1 + size // 220_000)


def chinese(texts: Sequence[str], size: int) -> str:
    """Chinese without punctuation or white space."""
    draw = random.Random(0)
    return "".join(chr(draw.randrange(0x4E00, 0x9C00)) for _ in range(size))


def emoji(texts: Sequence[str], size: int) -> str:
    """Emoji: each is a token of four bytes."""
    return "\N{GRINNING FACE}" * size


def accents(texts: Sequence[str], size: int) -> str:
    """Accents on one letter."""
    return "a" + "\N{COMBINING ACUTE ACCENT}" * size


KINDS: dict[str, Callable[[Sequence[str], int], str]] = {
    one.__name__: one for one in (prose, pasted, names, words, dates, chinese, emoji, accents)
}
"""Large notes by what they exhaust: memory, tokens, words, spans; text of about ``size`` characters."""


def by_command(model: Path, notes: Path, out: Path, workers: int) -> list[Command]:
    options = [model, notes, "--output", out, *(["--jobs", str(workers)] if workers > 1 else [])]
    return [[sys.executable, "-c", REDACT, "redact", *options]]


def by_batches(model: Path, notes: Path, out: Path, workers: int) -> list[Command]:
    files = sorted(notes.iterdir())
    shares = [files[number::workers] for number in range(workers)]
    return [[sys.executable, "-c", BATCHES, model, out / str(n), *share] for n, share in enumerate(shares) if share]


def by_spark(model: Path, notes: Path, out: Path, workers: int) -> list[Command]:
    (command,) = by_command(model, notes, out, 1)
    return [[*command, "--spark", f"local[{workers}]", "--id-column", "id"]]


ROWS: dict[str, Callable[[Path, Path, Path, int], list[Command]]] = {
    "crfdeid redact": by_command,
    "RedactBatches": by_batches,
    "crfdeid redact --spark": by_spark,
}


def descendants(parent: int) -> list[int]:
    """The processes that a process has started, and those that they have."""
    tree: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            pid, rest = path.read_text().split(" ", 1)
        except OSError:  # it has ended
            continue
        tree.setdefault(int(rest.rsplit(")", 1)[1].split()[1]), []).append(int(pid))
    found, waiting = [], [parent]
    while waiting:
        children = tree.get(waiting.pop(), [])
        found += children
        waiting += children
    return found


def processor_seconds(pid: int) -> float:
    """What a process has used of processors so far; 0 for one that has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def peak(pid: int) -> float:
    """The most memory that a Python process has had so far, in MB; 0 for any other."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) / 1000 if found and status.startswith("Name:\tpython") else 0


def measure(commands: Sequence[Command]) -> Measured:
    """Run commands side by side to their end."""
    highest, ended = [0.0], Event()

    def watch(pids: Sequence[int]) -> None:
        while not ended.wait(0.5):
            highest[0] = max(highest[0], *(peak(pid) for root in pids for pid in (root, *descendants(root))))

    with tempfile.TemporaryFile() as said:  # no pipe, which Spark's processes hold open for longer than the command
        began = time.perf_counter()
        running = [subprocess.Popen(command, stdout=said, stderr=said) for command in commands]
        watcher = Thread(target=watch, args=([one.pid for one in running],))
        watcher.start()
        codes = [one.wait() for one in running]
        seconds = time.perf_counter() - began
        ended.set()
        watcher.join()
        if any(codes):
            said.seek(0)
            raise SystemExit(said.read().decode(errors="replace")[-2000:])
    return Measured(seconds, highest[0])


def used_here() -> float:
    """Seconds of processors that this process and those below it have used, those that have ended too."""
    own = os.times()
    below = sum(processor_seconds(pid) for pid in descendants(os.getpid()))
    return own.user + own.system + own.children_user + own.children_system + below


def table_of_pairs(args: argparse.Namespace, texts: Sequence[str], folder: Path) -> None:
    """Print how much one machine and Spark do in the same time, by turns, each with two processes, in one Spark."""
    write_notes(folder / "notes", texts, args.count)
    write_notes(folder / "one", texts, 1)
    found: dict[tuple[int, str], list[tuple[float, float]]] = {}
    with session_of("local[2]", {}):
        for number in range(args.pairs + 1):
            for kind in ("one", "notes"):
                for way, extra in enumerate((["--jobs", "2"], ["--spark", "local[2]", "--id-column", "id"])):
                    output = folder / f"{kind} {way} {number}"
                    used, began = used_here(), time.perf_counter()
                    if crfdeid(["redact", str(args.model), str(folder / kind), "--output", str(output), *extra]):
                        raise SystemExit("a note failed")
                    took = (time.perf_counter() - began, used_here() - used)
                    print(f"{kind}, {extra[0]}: {took[0]:.2f} s, {took[1]:.2f} s of processors", flush=True)
                    if number:  # The first run loads Java's classes.
                        found.setdefault((way, kind), []).append(took)
    for clock, name in enumerate(("clock", "processors")):
        median = {key: statistics.median(one[clock] for one in some) for key, some in found.items()}
        machine, spark = (median[way, "notes"] - median[way, "one"] for way in (0, 1))
        print(f"{name}: {machine:.2f} s with --jobs 2, {spark:.2f} with local[2]; throughput {machine / spark:.3f}")


def rows_of(place: Path, form: str) -> list[dict[str, Any]]:
    """The rows of a file, or of those of a folder, that are results."""
    rows: list[dict[str, Any]] = []
    for file in sorted(place.rglob("[!._]*.*")) if place.is_dir() else [place]:
        if form == "parquet":
            rows += pq.read_table(file).to_pylist()
        else:
            with file.open(encoding="utf-8", newline="") as stream:
                rows += csv.DictReader(stream) if form == "csv" else map(json.loads, stream)
    return rows


def write_rows(file: Path, form: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write a table in a format."""
    if form == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), file, row_group_size=1 + len(rows) // FILES)
        return
    with file.open("w", encoding="utf-8", newline="") as stream:
        if form == "json":
            stream.writelines(json.dumps(row) + "\n" for row in rows)
        else:
            table = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
            table.writeheader()
            table.writerows(rows)


def require_equal(args: argparse.Namespace, texts: Sequence[str], folder: Path) -> None:
    """Compare the rows of one machine with those of Spark, failures too, in some formats."""
    draw = random.Random(0)
    rows = [
        {"id": str(n), "text": other_digits(texts[n % len(texts)], draw), "who": str(n % 97)} for n in range(args.count)
    ]
    failing: list[str | None] = ["Jos\u00c3\u00a9 Quill", "x" * (args.longest + 1)]
    for n in range(25, args.count, 50):
        rows[n]["text"] = failing[n // 50 % 2] + rows[n]["text"]
    secret = folder / "secret"
    secret.write_text("a secret of the benchmark, long enough")
    options: Command = ["--operator", "surrogate", "--locale", "en_US", "--patient-column", "who", "--id-column", "id"]
    options += ["--secret-file", secret, "--max-chars", str(args.longest)]
    for form in args.equal:
        notes = folder / f"notes.{'jsonl' if form == 'json' else form}"
        write_rows(notes, form, rows)
        for name, extra in (("one", ["--report", folder / "one.json"]), ("many", ["--spark", "local[2]"])):
            command: Command = [sys.executable, "-c", REDACT, "redact", args.model, notes, "--output", folder / name]
            done = subprocess.run([*command, *options, *extra], stderr=subprocess.PIPE, check=False)
            if done.returncode != 1:  # for notes that fail
                raise SystemExit(done.stderr.decode()[-2000:])
        expected = {row["id"]: row for row in rows_of(folder / "one" / notes.name, form)}
        found = rows_of(folder / "many", form)
        failed = {row["id"]: row["phi_error_type"] for row in found if row["phi_status"] == "failed"}
        for row in found:
            if row["id"] in failed and (row["text"] or row["id"] in expected):
                raise SystemExit(f"{form}: the failed row {row['id']} has a text, or did not fail on one machine")
            if row["id"] not in failed and {name: row[name] for name in rows[0]} != expected[row["id"]]:
                raise SystemExit(f"{form}: the row {row['id']} differs")
        errors = {row["id"]: row["phi_error_type"] for row in rows_of(folder / "many.errors", form)}
        reported = json.loads((folder / "one.json").read_text())["failures"]
        classes = {rows[(one["row"] or one["line"]) - 1]["id"]: one["error"] for one in reported}
        if sorted(row["id"] for row in found) != sorted(row["id"] for row in rows) or errors != failed:
            raise SystemExit(f"{form}: rows are missing or doubled, or the table of errors differs")
        if classes != failed:
            raise SystemExit(f"{form}: failures differ: {Counter(classes.values())}, {Counter(failed.values())}")
        print(f"{form}: {len(found):,} rows equal, of which {dict(Counter(failed.values()))} failed alike", flush=True)
        for name in ("one", "many", "many.errors"):
            shutil.rmtree(folder / name)
        (folder / "one.json").unlink()


def table_of_speeds(args: argparse.Namespace, texts: Sequence[str], folder: Path) -> None:
    """Print how fast each way is with each number of workers, and what the planned notes would take."""
    tokens = write_notes(folder / "notes", texts, args.count)
    write_notes(folder / "one", texts, 1)
    table, seconds = [], {}
    for workers in args.workers:
        for name in args.only:
            runs = ROWS[name]
            start = measure(runs(args.model, folder / "one", folder / f"one {name} {workers}", workers))
            whole = measure(runs(args.model, folder / "notes", folder / f"{name} {workers}", workers))
            seconds[name, workers] = whole.seconds
            work = (whole.seconds - start.seconds) * workers
            beside = whole.seconds / seconds[args.only[0], workers]
            scaling = seconds[name, args.workers[0]] / whole.seconds
            hourly = 3600 * args.count / work
            times = [f"{whole.seconds:.1f}", f"{start.seconds:.1f}", f"{hourly:,.0f}", f"{tokens / work:,.0f}"]
            money = PLANNED / hourly * args.price
            rest = [f"{beside:.2f}", f"{scaling:.2f}", f"{whole.megabytes:,.0f}"]
            table.append([name, workers, *times, *rest, f"{PLANNED / hourly:,.0f}", f"{money:,.0f}"])
            print(f"{name}, {workers}: {whole.seconds:.1f} s", file=sys.stderr)
    head = ["", "workers", "seconds", "start-up", "notes an hour and core", "tokens/s and core"]
    head += [f"beside {args.only[0]}", f"times as fast as with {args.workers[0]}", "MB of a process"]
    head += [f"core-hours for {PLANNED:,} notes", f"dollars at {args.price} a core-hour"]
    print(tabulate(table, head, tablefmt="pipe", disable_numparse=True))
    print(f"\n{args.count:,} notes, {tokens:,} tokens, {tokens / args.count:.0f} a note.")


def table_of_memory(args: argparse.Namespace, texts: Sequence[str], folder: Path) -> None:
    """Print what a worker takes for one note of each size and kind among others."""
    table = []
    for kind in args.kinds:
        for megabytes in args.huge:
            notes, size = folder / f"{kind} {megabytes}", megabytes * 1_000_000
            text = KINDS[kind](texts, size)[:size]
            write_notes(notes, [*texts, text], len(texts) + 1, files=1)
            run = measure(ROWS[args.way](args.model, notes, folder / f"{kind} {megabytes} out", 1))
            table.append([kind, megabytes, f"{run.megabytes:,.0f}", f"{run.seconds:.1f}"])
            print(f"{kind}, {megabytes}: {run.megabytes:,.0f} MB", file=sys.stderr)
    head = ["note", "millions of characters", "MB of its worker", "seconds"]
    print(tabulate(table, head, tablefmt="pipe", disable_numparse=True))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, help="a model's folder")
    parser.add_argument("--notes", type=Path, required=True, help="a corpus; only its texts matter")
    parser.add_argument("--count", type=int, default=20_000, help="how many notes; 0 for no speeds (default: 20000)")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2], help="(default: 1 2)")
    parser.add_argument("--only", nargs="+", choices=ROWS, default=list(ROWS), help="the rows (default: all)")
    parser.add_argument(
        "--huge", type=int, nargs="*", default=[], metavar="N", help="memory for notes of so many million characters"
    )
    parser.add_argument("--with", choices=ROWS, default="RedactBatches", dest="way", help="what redacts the huge notes")
    parser.add_argument(
        "--pairs", type=int, default=0, help="how often one machine and Spark run by turns; 0 for never"
    )
    parser.add_argument("--equal", nargs="*", choices=("parquet", "csv", "json"), default=[], help="formats to compare")
    parser.add_argument(
        "--longest", type=int, default=20_000, help="most characters of a note in them (default: 20000)"
    )
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=["prose", "pasted", "names"], help="their kinds")
    parser.add_argument("--price", type=float, default=0.05, help="dollars a core-hour (default: 0.05)")
    args = parser.parse_args()
    if find_spec("pyspark") is None:
        args.only = [name for name in args.only if ROWS[name] is not by_spark]
    texts = [document.text for document in read_corpus(args.notes)]
    with tempfile.TemporaryDirectory() as folder:
        if args.equal:
            require_equal(args, texts, Path(folder))
        elif args.pairs:
            table_of_pairs(args, texts, Path(folder))
        elif args.count:
            table_of_speeds(args, texts, Path(folder))
        if args.huge:
            table_of_memory(args, texts, Path(folder))


if __name__ == "__main__":
    main()

"""Requests a second, latency and memory of `crfdeid serve`, next to Presidio's analyzer with its patterns.

    pip install -e ".[serve,benchmarks]"
    python benchmarks/serve.py
    python benchmarks/serve.py --systems crfdeid --clients 8 --seconds 1800

Each client sends a note to /analyze, waits for the answer, and sends the next one, over one connection. The notes are
synthetic, of `--words` words, with other digits each time, so that no cache has seen their dates and numbers. Both
services are processes of their own behind the same server; Presidio's analyzer runs on a thread of its own too. The
systems take turns for each number of clients. The clients run on the same cores. A request is lost if its answer is
missing or has another status than 200. Processor time, of the service's process, depends less on other work on the
machine than the clock does. Memory is the largest resident size of the process so far.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from baselines import presidio_finder
from common import make_parser, other_digits
from tabulate import tabulate

from crfdeid.corpora.synthetic import generate_notes

SYSTEMS = ("crfdeid", "presidio")
_COMMAND = "import sys; from crfdeid.cli import main; sys.exit(main())"


def serve_presidio() -> None:
    """Answer /analyze by Presidio's analyzer, until a signal."""
    from starlette.applications import Starlette  # noqa: PLC0415
    from starlette.concurrency import run_in_threadpool  # noqa: PLC0415
    from starlette.requests import Request  # noqa: PLC0415
    from starlette.responses import JSONResponse, Response  # noqa: PLC0415
    from starlette.routing import Route  # noqa: PLC0415

    from crfdeid.serve.server import Listener, run_server  # noqa: PLC0415

    find = presidio_finder()

    async def analyze(request: Request) -> Response:
        return JSONResponse(await run_in_threadpool(find, (await request.json())["text"]))

    find("Seen on 3 May.")
    listener = Listener(port=0)
    with listener.bind() as bound:
        ready = f"ready: http://127.0.0.1:{bound.getsockname()[1]}"
        app = Starlette(routes=[Route("/analyze", analyze, methods=["POST"])])
        run_server(app, listener, bound, lambda: print(ready, file=sys.stderr, flush=True))


@contextmanager
def service(system: str, model: str) -> Iterator[tuple[int, int]]:
    """Start a service; its process and port."""
    ours = [sys.executable, "-c", _COMMAND, "serve", model, "--port", "0"]
    theirs = [sys.executable, __file__, "--serve-presidio"]
    with subprocess.Popen(ours if system == "crfdeid" else theirs, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        ready = next(line for line in process.stderr if line.startswith("ready: "))
        try:
            yield process.pid, int(ready.rpartition(":")[2])
        finally:
            process.terminate()


def notes_of(words: int, count: int = 200) -> list[str]:
    """Texts of a number of words, each of one or more notes."""
    found, parts = [], []
    for note in generate_notes(20 * count, seed=1):
        parts += note.text.split(" ")
        if sum(len(part.split()) for part in parts) >= words:
            found.append(" ".join(parts[:words]))
            parts = []
        if len(found) == count:
            break
    return found


def client(port: int, notes: list[str], seed: int, end: float) -> tuple[list[float], int]:
    """Seconds of each request of one client, and the number of those that were lost."""
    draw = random.Random(seed)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    seconds, lost = [], 0
    while time.monotonic() < end:
        body = json.dumps({"text": other_digits(draw.choice(notes), draw), "language": "en"})
        began = time.perf_counter()
        try:
            connection.request("POST", "/analyze", body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            lost += answer.status != 200
        except (OSError, http.client.HTTPException):
            lost += 1
            connection.close()
        seconds.append(time.perf_counter() - began)
    connection.close()
    return seconds, lost


def load_on(port: int, notes: list[str], clients: int, duration: float) -> tuple[int, float, float, float, int]:
    """Number of requests, seconds, median and 99th percentile of the requests' milliseconds, and the lost ones."""
    began = time.monotonic()
    with ThreadPoolExecutor(clients) as pool:
        done = [pool.submit(client, port, notes, seed, began + duration) for seed in range(clients)]
        results = [one.result() for one in done]
    elapsed = time.monotonic() - began
    seconds = sorted(second for found, _ in results for second in found)
    p50, p99 = (1000 * seconds[min(int(share * len(seconds)), len(seconds) - 1)] for share in (0.5, 0.99))
    return len(seconds), elapsed, p50, p99, sum(lost for _, lost in results)


def processor_seconds(process: int) -> float:
    """Processor time of a process so far."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(process: int) -> float:
    """Largest resident size of a process so far, in MB."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) / 1000


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--model", default="synthetic", help="model to serve (default: synthetic, a hybrid)")
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=SYSTEMS)
    parser.add_argument("--clients", nargs="+", type=int, default=[1, 8, 32], metavar="N")
    parser.add_argument("--seconds", type=float, default=20, help="duration of each measurement (default: 20)")
    parser.add_argument("--words", type=int, default=300, help="words of a note (default: 300)")
    parser.add_argument("--serve-presidio", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve_presidio:
        serve_presidio()
        return
    notes, rows = notes_of(options.words), []
    for clients in options.clients:
        for system in options.systems:
            with service(system, options.model) as (process, port):
                load_on(port, notes, clients, min(3, options.seconds))  # warms up
                before = processor_seconds(process)
                done, elapsed, *measured = load_on(port, notes, clients, options.seconds)
                used = 1000 * (processor_seconds(process) - before) / done
                rows.append([system, clients, done / elapsed, *measured, used, memory(process)])
    heads = ["system", "clients", "requests/s", "p50, ms", "p99, ms", "lost", "processor, ms a request", "memory, MB"]
    print(tabulate(rows, heads, tablefmt="github", floatfmt=".1f"))


if __name__ == "__main__":
    main()

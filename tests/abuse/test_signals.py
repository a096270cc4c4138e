"""SIGTERM at any moment: the command ends with the exit code that shells know, and leaves nothing half-written."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
from attack import NOTE, PHI

TRIALS = 10  # of each command
LONGEST = 1.5  # seconds until the signal
COMMANDS = {
    "redact": "redact model many --output",
    "tag": "tag model many --output",
    "train": "train --model crf long.jsonl --dev train.jsonl --output",
}
# Before Python has read this library, the system ends it: -15, which a shell reports as 143.
ENDED = (128 + signal.SIGTERM, -signal.SIGTERM)


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str
    after: float
    folder: Path


def ended(command: str, folder: Path, after: float) -> Ended:
    code = "import sys; from crfdeid.cli import main; sys.exit(main())"
    arguments = [sys.executable, "-c", code, *command.split(), folder.name]
    with subprocess.Popen(arguments, cwd=folder.parent, stdout=-1, stderr=-1, text=True) as process:
        time.sleep(after)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
    return Ended(process.returncode, out, err, after, folder)


@pytest.mark.slow
def test_sigterm_at_a_random_moment_ends_every_command(box: Path) -> None:
    (box / "many").mkdir()
    for number in range(1500):
        (box / "many" / f"{number}.txt").write_text(NOTE)
    notes = [json.loads(line) for line in (box / "train.jsonl").read_text().splitlines()]
    long = [  # trains for longer, on no text of train.jsonl, of which a warning would be one more line
        {**note, "id": f"{note['id']}-{copy}", "text": f"{note['text']}Visit {copy}.\n"}
        for copy in range(100)
        for note in notes
    ]
    (box / "long.jsonl").write_text("".join(json.dumps(note) + "\n" for note in long))
    random = Random(26)  # a moment in each tenth of the time
    trials = [
        (command, box / f"out-{name}-{number}", (number + random.random()) * LONGEST / TRIALS)
        for number in range(TRIALS)
        for name, command in COMMANDS.items()
    ]
    before = {path.name for path in box.iterdir()}
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as threads:
        for one in threads.map(lambda trial: ended(*trial), trials):
            assert one.code in ENDED and one.err.count("\n") <= 1, one
            assert "Traceback" not in one.err and not [value for value in PHI if value in one.err], one
            assert not [path for path in one.folder.glob("*.txt") if "[PATIENT]" not in path.read_text()], one
            assert not (one.folder / "model.json").exists() or (one.folder / "card.json").exists(), one
    assert {path.name for path in box.iterdir() if path.name.startswith(".")} <= before

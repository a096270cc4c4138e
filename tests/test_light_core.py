"""The core without any extra: its commands work, and what needs an extra names it in one line."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

EXTRAS = (
    "jax",
    "jaxlib",
    "flax",
    "optax",
    "gensim",
    "matplotlib",
    "pandas",
    "pyarrow",
    "pypdf",
    "pyspark",
    "presidio_anonymizer",
    "starlette",
    "uvicorn",
    "cryptography",
    "safetensors",
    "tokenizers",
    "nltk",
    "textblob",
)
NOTES = [
    {
        "id": f"{day}",
        "text": f"Seen by Dr. Huntington on 03/{day}/72.",
        "spans": [{"start": 12, "end": 22, "label": "DOCTOR"}, {"start": 26, "end": 34, "label": "DATE"}],
    }
    for day in range(11, 19)
]
# Refuses the modules of the extras as Python does where they are not installed, then runs a module's command.
RUN = f"""
import runpy, sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {EXTRAS!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
module, sys.argv = sys.argv[1], sys.argv[1:]
if module == "crfdeid":
    from crfdeid.cli import main
    sys.exit(main())
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""


def core(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    arguments = [sys.executable, "-c", RUN, *command]
    return subprocess.run(arguments, cwd=folder, input="", capture_output=True, text=True, check=False, timeout=300)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Annotated notes, one note as text, and a CRF and rules that were trained without any extra."""
    folder = tmp_path_factory.mktemp("core")
    (folder / "notes.jsonl").write_text("".join(json.dumps(note) + "\n" for note in NOTES))
    (folder / "note.txt").write_text("Seen by Dr. Huntington on 03/14/72.\n")
    for model in ("crf", "rules"):
        command = f"crfdeid train notes.jsonl --dev notes.jsonl --model {model} --output {model}"
        done = core(folder, *command.split())
        assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize(
    "command",
    [
        "redact crf note.txt --output redacted",
        "redact ./rules note.txt --output by-rules --operator numbered",
        "redact rules note.txt --output by-built-in-rules",
        "redact rules - --operator numbered --map map.json && reveal - --map map.json",
        "tag crf notes.jsonl --output tagged --output-format jsonl",
        "evaluate crf notes.jsonl",
        "evaluate --predicted notes.jsonl notes.jsonl",
        "annotate agreement notes.jsonl notes.jsonl",
        "info crf",
        "explain crf",
        "convert notes.jsonl --output notes.conll --output-format conll",
        "review certify --reviewed 300 --leaking 0",
        "annotate sample --help",
        "redact crf note.txt --output shown && review page note.txt shown --output review.html",
    ],
)
def test_commands_of_the_core_need_no_extra(command: str, folder: Path) -> None:
    for part in command.split(" && "):
        done = core(folder, "crfdeid", *part.split())
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        ("crfdeid train notes.jsonl --dev notes.jsonl --model elman --output elman", "rnn"),
        ("crfdeid train notes.jsonl --dev notes.jsonl --output pos --set pos=textblob", "pos"),
        ("crfdeid redact crf notes.parquet --output from-parquet", "parquet"),
        ("crfdeid redact crf note.txt --output on-spark --spark local[1]", "spark"),
        ("crfdeid serve crf", "serve"),
        ("experiments.compare --models crf", "experiments"),
    ],
)
def test_a_missing_extra_is_one_line(command: str, extra: str, folder: Path) -> None:
    (folder / "notes.parquet").write_bytes(b"PAR1")
    done = core(folder, *command.split())
    lines = [line for line in done.stderr.splitlines() if not line.startswith("warning: ")]
    assert (done.returncode, len(lines)) == (2, 1), done.stderr
    assert lines[0].startswith("error: ") and f"pip install 'crfdeid[{extra}]'" in lines[0]

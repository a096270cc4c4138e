"""Outputs of every command that writes text of notes: files and folders are their owner's alone, whatever the umask.

Temporary ones count too: their modes are read when they are renamed, removed, or given another mode.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from notes_samples import tiny_joint_model
from tiny_encoders import tiny_encoder

from crfdeid.cli import COMMANDS, main
from crfdeid.corpora import write_corpus, written_formats
from crfdeid.documents import Document, Span
from crfdeid.io.annotations import TAG_ENDINGS
from crfdeid.io.replacements import write_records
from crfdeid.redaction import redact_recorded
from crfdeid.review.sampling import SAMPLE_FORMATS

TEXT = "Seen by Dr. Quill on 3/14/72."
NAMES = ("Quill", "Marsh", "Zann", "Tawn")
SHARED = {"share train", "share encode", "share fit"}
"""Commands whose outputs hold no text of notes; ``test_share.py`` has the modes of the vectors."""
PRINTED = {"info", "serve", "share attack", "review certify"}
"""Commands that write no file of notes."""
QUICK = "--model crf --set max_iterations=5 --augment none"
COMMAND_LINES = {
    "annotate sample": [f"notes --count 2 --output drawn/{one} --output-format {one}" for one in SAMPLE_FORMATS],
    "annotate agreement": ["train.jsonl dev.jsonl --output pages/settle.html"],
    "annotate silver": ["notes --output silver"],
    "convert": [
        *(f"train.jsonl --output converted/{one} --output-format {one}" for one in written_formats()),
        "train.jsonl --output split/parts --output-format brat --split .5,.5",
    ],
    "train": [f"train.jsonl --dev dev.jsonl {QUICK} --output models/crf"],
    "calibrate": ["model train.jsonl --max-leak-rate 0.5 --output bounded"],
    "evaluate": ["rules train.jsonl --output pages/errors.html"],
    "audit": ["model --members train.jsonl --others other.jsonl"],
    "export": ["bert --output classifier"],
    "explain": [f"rules --text '{TEXT}' --output pages/why.html"],
    "tag": [
        "rules notes --output tagged/all",
        *(f"rules texts --output tagged/{one} --output-format {one}" for one in TAG_ENDINGS),
    ],
    "redact": [
        "rules notes --output clean --report report.json",
        "rules notes --output renamed --rename-files --secret-file key",
        "rules notes --output twice",
        "rules notes --output twice --resume",
        "joint texts --output clean/concepts --keep-concepts concepts.jsonl",
    ],
    "reveal": ["sealed --encryption-key-file key --output restored/all --check sealed.json"],
    "review plan": ["sealed --count 2 --output plan.json"],
    "review page": ["notes sealed --output review.html"],
    "pseudonymise": ["train.jsonl --vectors vectors.txt --neighbours 2 --output near.jsonl"],
}


def note(number: int, name: str, before: str = "Seen by Dr.") -> Document:
    text = f"{before} {name} today, number {number}."
    return Document(f"{number}", text, (Span(len(before) + 1, len(before) + 1 + len(name), "DOCTOR"),))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the commands read."""
    box = tmp_path_factory.mktemp("private")
    for folder in ("notes/ward", "texts/Marsh"):
        (box / folder).mkdir(parents=True)
    (box / "key").write_text("an invented key of the tests, long enough")
    (box / "key").chmod(0o600)
    (box / "texts/Marsh/a.txt").write_text(TEXT)
    (box / "notes/a.txt").write_text(TEXT)
    (box / "notes/ward/b.csv").write_text(f"text\n{TEXT}\n")
    (box / "notes/c.jsonl").write_text(json.dumps({"text": TEXT}) + "\n")
    pq.write_table(pa.table({"text": [TEXT]}), box / "notes/d.parquet")
    train = [note(number, NAMES[number % 4]) for number in range(12)]
    write_corpus(train, box / "train.jsonl", format="jsonl")
    write_corpus(train, box / "dev.jsonl", format="jsonl")
    others = [note(number, f"Abe{chr(97 + number)}rin", "A plan of the week for") for number in range(12)]
    write_corpus(others, box / "other.jsonl", format="jsonl")
    (box / "vectors.txt").write_text("5 2\nnames 0 1\n" + "".join(f"{name} 1 0.1\n" for name in NAMES))
    assert main(f"train {box}/train.jsonl --dev {box}/dev.jsonl {QUICK} --output {box}/model".split()) == 0
    encrypt = f"--operator encrypt --encryption-key-file {box}/key --report {box}/sealed.json"
    assert main(f"redact rules {box}/notes --output {box}/sealed {encrypt}".split()) == 0
    tiny_joint_model(box / "joint")
    learn = f"--model bert --set encoder={tiny_encoder()} --set epochs=1 --augment none"
    assert main(f"train {box}/train.jsonl --dev {box}/dev.jsonl {learn} --output {box}/bert".split()) == 0
    return box


@pytest.fixture
def box(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy, as the current folder, where the umask takes no permission away."""
    monkeypatch.chdir(shutil.copytree(made, tmp_path / "box"))
    before = os.umask(0)
    yield tmp_path / "box"
    os.umask(before)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Files and folders that others could have read, before they were renamed, removed, or given another mode."""
    found: list[str] = []

    def watched(name: str) -> Any:
        do = getattr(os, name)

        def first(path: Any, *more: Any, **how: Any) -> Any:
            inside = how.get("dir_fd") is not None  # a removed folder, whose own mode is read last
            if not inside and _shared(Path(path).lstat()):
                found.append(f"{name} {path}")
            return do(path, *more, **how)

        return first

    for name in ("rename", "replace", "remove", "unlink", "rmdir", "chmod"):
        monkeypatch.setattr(os, name, watched(name))
    return found


def _shared(state: os.stat_result) -> bool:
    return bool(stat.S_IMODE(state.st_mode) & 0o077)


def _leaves(commands: Any, above: str = "") -> Iterator[str]:
    for name, inner in commands.items():
        if name:
            yield from [f"{above}{name}"] if isinstance(inner, str) else _leaves(inner, f"{above}{name} ")


def test_each_command_is_here() -> None:
    assert {*COMMAND_LINES, *SHARED, *PRINTED} == {*_leaves(COMMANDS)}


@pytest.mark.parametrize("command", COMMAND_LINES)
def test_outputs_are_their_owners_alone(command: str, box: Path, opened: list[str]) -> None:
    before = {*box.rglob("*")}
    for line in COMMAND_LINES[command]:
        assert main([*command.split(), *shlex.split(line)]) == 0
    made = {*box.rglob("*")} - before
    assert made
    assert not [path.relative_to(box) for path in made if _shared(path.stat())]
    assert opened == []


def test_records_of_redaction_by_code_are_their_owners_alone(box: Path) -> None:
    _, record = redact_recorded(note(1, "Quill"))
    write_records(box / "new" / "clean", [record])
    assert not [path for path in (box / "new", *(box / "new").rglob("*")) if _shared(path.stat())]


def test_restored_notes_are_whole(box: Path) -> None:
    assert main(["reveal", *COMMAND_LINES["reveal"][0].split()]) == 0
    assert (box / "restored/all/a.txt").read_text() == TEXT

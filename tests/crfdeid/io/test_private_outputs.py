"""Outputs of notes, which only their owner may read, whatever the umask."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crfdeid.cli import main

TEXT = "Seen by Dr. Quill on 3/14/72."


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def test_redacted_and_revealed_notes_are_their_owners_alone(
    tmp_path: Path, open_umask: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    notes, key = Path("notes"), Path("key")
    notes.mkdir()
    key.write_text("an invented key of the tests, long enough")
    key.chmod(0o600)
    (notes / "a.txt").write_text(TEXT)
    (notes / "b.csv").write_text(f"text\n{TEXT}\n")
    (notes / "c.jsonl").write_text(json.dumps({"text": TEXT}) + "\n")
    pq.write_table(pa.table({"text": [TEXT]}), notes / "d.parquet")
    encrypt = ["--operator", "encrypt", "--encryption-key-file", "key"]
    assert main(["redact", "rules", "notes", "--output", "clean", *encrypt]) == 0
    assert main(["reveal", "clean", "--encryption-key-file", "key", "--output", "restored"]) == 0
    assert (Path("restored") / "a.txt").read_text() == TEXT
    for folder in ("clean", "restored"):
        found = {path.name: stat.S_IMODE(path.stat().st_mode) for path in Path(folder).glob("?.*")}
        assert found == dict.fromkeys(("a.txt", "b.csv", "c.jsonl", "d.parquet"), 0o600)

"""Files in gzip and Zstandard: results are those of the plain files, compressed alike; bombs and damage are refused."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from notes_samples import crfdeid, run, written

from crfdeid.cli import main
from crfdeid.io.records import Columns
from crfdeid.io.sources import is_keyed, note_files, read_file
from crfdeid.utils import compression

TEXTS = {
    "a.txt": "\ufeffSeen by Dr. Quill,\r\nMünster",
    "b/b.html": "<p>Dr. Qu<b>ill</b>",
    "c.csv": 'id,text,n\r\n1,"Dr. Quill, ""x""",3\r\n2,,4\r\n',
    "d.tsv": "text\tn\nDr. Quill\t1\n",
    "e.jsonl": '{"text": "Dr. Quill", "n": 1.50}\n\n{"text": null}\n',
    "F.NDJSON": '{"text": "Dr. Quill"}',
}


def codec(suffix: str) -> Any:
    if suffix == ".gz":
        return gzip
    try:
        return import_module("compression.zstd")
    except ModuleNotFoundError:
        return pytest.importorskip("backports.zstd", reason="the extra zstd is not installed")


@pytest.mark.parametrize("suffix", [".gz", ".zst", ".GZ"])
def test_results_are_those_of_plain_files(suffix: str, tmp_path: Path) -> None:
    packed = codec(suffix.lower())
    for name, text in TEXTS.items():
        for folder, content in (("plain", text.encode()), ("packed", packed.compress(text.encode()))):
            path = tmp_path / folder / (name + suffix * (folder == "packed"))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    for folder in ("plain", "packed"):
        options = ["--output", str(tmp_path / f"{folder}-out"), "--report", str(tmp_path / f"{folder}.json")]
        assert main(["redact", "rules", str(tmp_path / folder), *options]) == 0
    plain, found = written(tmp_path / "plain-out"), written(tmp_path / "packed-out")
    assert {name: packed.decompress(content) for name, content in found.items()} == {
        name + suffix: content for name, content in plain.items()
    }
    assert not any(b"Quill" in content for content in plain.values())
    notes = [json.loads((tmp_path / f"{name}.json").read_text())["notes"] for name in ("plain", "packed")]
    assert [note["found"] for note in notes[0]] == [note["found"] for note in notes[1]]
    assert main(["redact", "rules", str(tmp_path / "packed"), "--output", str(tmp_path / "again")]) == 0
    assert written(tmp_path / "again") == found, "no time is in a result"


def test_names_of_compressed_files(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(b'{"text": "Dr. Quill"}\n'))
    (tmp_path / "secret").write_text("a secret of the tests")
    (tmp_path / "secret").chmod(0o600)
    options = ["--output", str(tmp_path / "renamed"), "--rename-files", "--secret-file", str(tmp_path / "secret")]
    assert main(["redact", "rules", str(folder), *options]) == 0
    (name,) = written(tmp_path / "renamed")
    assert name.endswith(".jsonl.gz") and is_keyed(name)
    assert main(["tag", "rules", str(folder), "--output", str(tmp_path / "tagged")]) == 0
    assert list(written(tmp_path / "tagged")) == ["a.jsonl"]
    assert main(["redact", "rules", str(folder), "--output", str(tmp_path / "out.csv.gz")]) == 2


def test_several_members_are_one_file_and_a_run_resumes(tmp_path: Path) -> None:
    source = tmp_path / "notes"
    source.mkdir()
    (source / "a.csv.gz").write_bytes(gzip.compress(b"text\nQuill 1\n") + gzip.compress(b"Quill 2\n"))
    assert run(source, tmp_path / "out") == []
    (content,) = written(tmp_path / "out").values()
    assert gzip.decompress(content).count(b"[PATIENT") == 2
    (source / "b.txt.gz").write_bytes(gzip.compress(b"Quill 3"))
    assert run(source, tmp_path / "out", resume=True) == []
    assert written(tmp_path / "out")["a.csv.gz"] == content and len(written(tmp_path / "out")) == 2


WHOLE = gzip.compress(b'{"text": "Quill"}\n' * 1000, compresslevel=0)
DAMAGED = {
    "half": WHOLE[: len(WHOLE) // 2],
    "no gzip": b'{"text": "Quill"}\n',
    "changed": WHOLE[:500] + b"\xff" + WHOLE[501:],
    "more": WHOLE + b"Quill",
    "nothing": b"\x1f\x8b",
}


@pytest.mark.parametrize("kind", DAMAGED)
@pytest.mark.parametrize("suffix", [".txt", ".jsonl", ".csv"])
def test_a_damaged_file_has_no_output(kind: str, suffix: str, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / f"a{suffix}.gz").write_bytes(DAMAGED[kind])
    (tmp_path / "notes" / "b.txt").write_text("Quill")
    *_, failure = run(tmp_path / "notes", tmp_path / "out")  # A changed row fails too.
    assert failure.error == "DataError" and "Quill" not in failure.reason
    assert list(written(tmp_path / "out")) == ["b.txt"]


def test_formats_that_are_not_of_text_are_left_out(tmp_path: Path) -> None:
    for name in ("a.parquet.gz", "b.gz", "c.tar.gz", "d.zst"):
        (tmp_path / name).write_bytes(gzip.compress(b"Quill"))
    (tmp_path / "e.txt").write_text("Quill")
    assert main(["redact", "rules", str(tmp_path), "--output", f"{tmp_path}-out"]) == 0
    assert list(written(Path(f"{tmp_path}-out"))) == ["e.txt"]


def bomb(path: Path, part: bytes, before: bytes = b"", *, mib: int = 200) -> None:
    with gzip.open(path, "wb", compresslevel=1) as stream:
        stream.write(before)
        for _ in range(mib):
            stream.write(part * ((1 << 20) // len(part)))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc, which has a process's own peak of memory")
@pytest.mark.parametrize(
    ("name", "before", "part"),
    [("a.txt", b"", b"\0"), ("a.jsonl", b"", b"\0"), ("a.csv", b"", b"\0"), ("a.csv", b'text\n"', b"x\n")],
)
def test_a_bomb_is_refused_in_little_memory(name: str, before: bytes, part: bytes, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    bomb(tmp_path / "notes" / f"{name}.gz", part, before)
    code = (
        "import re, sys; from crfdeid.cli import main; code = main(sys.argv[1:]);"
        "print(int(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1]) // 1024); sys.exit(code)"
    )
    options = ["redact", "rules", tmp_path / "notes", "--output", tmp_path / "out"]
    command = [sys.executable, "-c", code, *map(str, options)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 1 and written(tmp_path / "out") == {}
    assert int(done.stdout) < 500


def test_rows_stream_however_many_there_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "MOST_OF_A_LINE", 1 << 16)
    bomb(tmp_path / "a.jsonl.gz", b'{"text": null}\n', mib=4)
    (file,) = note_files(tmp_path)
    assert sum(1 for _ in read_file(file, Columns())) == 4 * ((1 << 20) // 15)


def test_zstandard_without_its_library_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.txt.zst").write_bytes(b"(\xb5/\xfd")
    hidden = "import sys; sys.modules['backports.zstd'] = sys.modules['compression.zstd'] = None; "
    command = crfdeid("redact", "rules", tmp_path, "--output", f"{tmp_path}-out")
    command[2] = hidden + command[2]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "pip install 'crfdeid[zstd]'" in done.stderr
    assert "Traceback" not in done.stderr

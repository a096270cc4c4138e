"""From files to files: failures alone have no output, order is kept, memory does not grow."""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import re
import subprocess
import tracemalloc
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from notes_samples import PLAIN, HideQuill, redact_plan, run, written

from crfdeid.documents import Document
from crfdeid.errors import DataError
from crfdeid.io import runner, sources, text
from crfdeid.io.output import OutputFolder
from crfdeid.io.records import Columns, Failure, Note, NoteResult
from crfdeid.io.runner import OutputPlan, Workers, start_workers
from crfdeid.io.worker import Result, Worker
from crfdeid.utils.files import make_folders


def mixed_folder(folder: Path) -> Path:
    """One note of Quill in each kind of file."""
    (folder / "ward" / "b").mkdir(parents=True)
    (folder / "a.txt").write_text("Quill here")
    (folder / "ward" / "one.txt").write_text("Quill\r\nthere", newline="")
    (folder / "ward" / "b" / "two.TXT").write_text("No name")
    (folder / "rows.csv").write_text("n,text\n1,Quill\n2,\n")
    (folder / "ward" / "rows.jsonl").write_text('{"text": "Dr Quill", "n": 1.0}\n')
    pq.write_table(pa.table({"text": ["Quill", None]}), folder / "rows.parquet")
    (folder / ".hidden.txt").write_text("Quill")
    (folder / "scan.png").write_text("Quill")
    return folder


def test_a_folder_keeps_its_names_and_kinds(tmp_path: Path) -> None:
    source = mixed_folder(tmp_path / "in")
    assert run(source, tmp_path / "out") == []
    out = written(tmp_path / "out")
    parquet = out.pop("rows.parquet")
    assert out == {
        "a.txt": b"[PATIENT:a] here",
        "ward/one.txt": b"[PATIENT:ward]\r\nthere",
        "ward/b/two.TXT": b"No name",
        "rows.csv": b"n,text\n1,[PATIENT:rows.csv:1]\n2,\n",
        "ward/rows.jsonl": b'{"text": "Dr [PATIENT:ward]", "n": 1.0}\n',
    }
    assert pq.read_table(pa.BufferReader(parquet)).to_pylist() == [{"text": "[PATIENT:rows.parquet:1]"}, {"text": None}]


def test_one_file_keeps_its_name(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("text\nQuill\n")
    assert run(tmp_path / "in.csv", tmp_path / "out") == []
    assert written(tmp_path / "out") == {"in.csv": b"text\n[PATIENT:in.csv:1]\n"}


@pytest.mark.parametrize(
    ("name", "data"), [("e.txt", b""), ("e.jsonl", b""), ("e.csv", b"text\n"), ("e.jsonl", b"\n\n")]
)
def test_a_file_with_nothing_in_it_comes_out_so(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    assert run(tmp_path / name, tmp_path / "out") == []
    assert written(tmp_path / "out") == {name: data}


def test_a_parquet_file_without_rows_keeps_its_schema(tmp_path: Path) -> None:
    table = pa.table({"text": pa.array([], pa.string()), "n": pa.array([], pa.int8())})
    pq.write_table(table, tmp_path / "e.parquet")
    assert run(tmp_path / "e.parquet", tmp_path / "out") == []
    assert pq.read_table(tmp_path / "out" / "e.parquet").schema == table.schema


def test_what_fails_has_no_output_and_the_rest_has(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    (source / "bytes.txt").write_bytes(b"Quill \xff")
    (source / "boom.txt").write_text("Quill BOOM")
    (source / "fine.txt").write_text("Quill")
    (source / "rows.csv").write_text('id,text\n1,Quill\n2,"Quill BOOM"\n3,Quill,x\n4,Quill\n')
    (source / "rows.jsonl").write_text('{"text": "Quill"}\n{"text": "\\ud800"}\n{"text": 5}\n{"text": "Quill BOOM"}\n')
    (source / "quotes.csv").write_text('text\nQuill\n"Quill" Quill\n')
    (source / "none.parquet").write_text("Quill")
    failures = run(source, tmp_path / "out")
    assert written(tmp_path / "out") == {
        "fine.txt": b"[PATIENT:fine]",
        "rows.csv": b"id,text\n1,[PATIENT:rows.csv:1]\n4,[PATIENT:rows.csv:4]\n",
        "rows.jsonl": b'{"text": "[PATIENT:rows.jsonl:1]"}\n',
    }
    assert sorted((one.file, one.row, one.offset) for one in failures if one.row) == [
        ("rows.csv", 2, None),
        ("rows.csv", 3, None),
        ("rows.jsonl", 2, 0),
        ("rows.jsonl", 3, None),
        ("rows.jsonl", 4, None),
    ]
    assert sorted(one.file for one in failures if not one.row) == [
        "boom.txt",
        "bytes.txt",
        "none.parquet",
        "quotes.csv",
    ]
    listed = "\n".join(map(str, failures))
    assert "Quill" not in listed
    assert "rows.csv, row 2: the library failed on it (KeyError in crfdeid.io.worker." in listed
    assert "rows.jsonl, row 2, offset 0: a lone surrogate" in listed


def test_what_cannot_be_reached_is_listed_and_the_rest_is_done(tmp_path: Path) -> None:
    source = tmp_path / "in"
    (source / "sub").mkdir(parents=True)
    (source / "fine.txt").write_text("Quill")
    (source / "gone.txt").symlink_to(source / "nowhere")
    (source / "again").symlink_to(source / "sub", target_is_directory=True)
    (Path(str(source)) / "bad\udcff.txt").write_text("Quill")
    failures = run(source, tmp_path / "out")
    assert sorted(failure.file for failure in failures) == ["again", "bad\\udcff.txt", "gone.txt"]
    assert written(tmp_path / "out") == {"fine.txt": b"[PATIENT:fine]"}


@pytest.mark.parametrize("broken", ["crfdeid.io.rows.TableRows.note", "crfdeid.io.jsonl.writer"])
def test_an_unforeseen_error_fails_its_file_and_quotes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    def fail(*given: object, **named: object) -> None:
        raise KeyError(str(given))

    source = tmp_path / "in"
    source.mkdir()
    (source / "a.jsonl").write_text('{"text": "Quill"}\n')
    (source / "b.txt").write_text("Quill")
    monkeypatch.setattr(broken, fail)
    (failure,) = run(source, tmp_path / "out")
    assert failure.file == "a.jsonl"
    assert re.fullmatch(
        r"the library failed on it \(KeyError in crfdeid\.io\.\S+, line \d+\): report it", failure.reason
    )
    assert written(tmp_path / "out") == {"b.txt": b"[PATIENT:b]"}


def test_a_pipe_is_listed_and_not_waited_for(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    (source / "fine.txt").write_text("Quill")
    os.mkfifo(source / "pipe.txt")
    assert [str(failure) for failure in run(source, tmp_path / "out")] == [
        "pipe.txt: a pipe, socket or device: give a file"
    ]
    assert written(tmp_path / "out") == {"fine.txt": b"[PATIENT:fine]"}


@pytest.fixture
def deep_place() -> Iterator[Path]:
    """A folder for what pytest could not remove: shutil.rmtree calls itself for each folder before Python 3.13."""
    place = Path(mkdtemp())
    yield place
    subprocess.run(["rm", "-rf", place], check=True)


def test_folders_may_lie_in_each_other_to_any_depth(deep_place: Path) -> None:
    source, out = deep_place / "in", deep_place / "out"
    deep = source / "/".join("d" * 1500)
    make_folders(deep, below=deep_place)
    (deep / "a.txt").write_text("Quill")
    (source / "b.txt").write_text("Quill")
    for resume in (False, True):
        assert run(source, out, resume=resume) == []
    assert (out / deep.relative_to(source) / "a.txt").read_text() == "[PATIENT:d]"
    assert (out / "b.txt").read_text() == "[PATIENT:b]"


@pytest.mark.parametrize("length", [247, 251])
def test_a_long_name_has_room_while_its_file_is_written(tmp_path: Path, length: int) -> None:
    (tmp_path / f"{'x' * length}.txt").write_text("Quill")
    assert run(tmp_path / f"{'x' * length}.txt", tmp_path / "out") == []
    assert len(written(tmp_path / "out")) == 1


def test_a_name_that_gets_too_long_fails_alone(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    for name in ("x" * 251, "fine"):
        (source / f"{name}.txt").write_text("Quill")
    longer = OutputPlan(
        lambda file: [f"{file.name}.more"], lambda file, places: text.writer(file, places[0], PLAIN), PLAIN
    )
    failures: list[Failure] = []
    with (
        OutputFolder(tmp_path / "out", source=source, settings={}, resume=False) as output,
        start_workers(HideQuill(), 1) as workers,
    ):
        runner.process_files(sources.note_files(source), longer, workers, output, on_failure=failures.append)
    assert [failure.reason for failure in failures] == ["its name or path is too long for the output: shorten it"]
    assert written(tmp_path / "out") == {"fine.txt.more": b"[PATIENT:fine]"}


def many_rows(path: Path, count: int, text: str) -> Path:
    with path.open("w") as stream:
        for number in range(count):
            stream.write(json.dumps({"n": number, "text": f"{text} {number}"}) + "\n")
    return path


def test_processes_give_what_one_gives_in_the_same_order(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    many_rows(source / "rows.jsonl", 1500, "Quill" * 50)
    (source / "boom.txt").write_text("Quill BOOM")
    for number in range(20):
        (source / f"{number}.txt").write_text(f"Quill {number}")
    failures = [run(source, tmp_path / f"out{jobs}", jobs=jobs) for jobs in (1, 2)]
    assert failures[0] == failures[1] != []
    assert written(tmp_path / "out1") == written(tmp_path / "out2")
    assert not multiprocessing.active_children()


def test_a_process_that_dies_is_told_and_the_run_can_go_on(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    (source / "a.txt").write_text("Quill DIE")
    with pytest.raises(DataError, match="--jobs"):
        run(source, tmp_path / "out", jobs=2)
    assert written(tmp_path / "out") == {}
    (source / "a.txt").write_text("Quill")
    assert run(source, tmp_path / "out", resume=True) == []


class Counting(Workers):
    """Workers that know how many rows were read ahead of what is written."""

    def __init__(self) -> None:
        self.most = self.waiting = 0
        super().__init__(self._work, 4)

    def _work(self, notes: Sequence[Note]) -> object:
        self.waiting += len(notes)
        self.most = max(self.most, self.waiting)

        def result() -> list[Result]:
            self.waiting -= len(notes)
            return [NoteResult(Document(note.id, note.text), found={}) for note in notes]

        return result


def test_no_more_notes_are_read_than_are_at_work(tmp_path: Path) -> None:
    many_rows(tmp_path / "rows.jsonl", 20_000, "x")
    counting = Counting()
    with OutputFolder(tmp_path / "out", source=tmp_path / "rows.jsonl", settings={}, resume=False) as output:
        files = sources.note_files(tmp_path / "rows.jsonl")
        runner.process_files(files, redact_plan(), counting, output, on_failure=pytest.fail)
    assert len(written(tmp_path / "out")["rows.jsonl"].splitlines()) == 20_000
    assert counting.most <= 5 * 256


def peak(source: Path, target: Path) -> int:
    tracemalloc.start()
    try:
        assert run(source, target) == []
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", ["jsonl", "csv", "txt"])
def test_memory_does_not_grow_with_the_number_of_notes(tmp_path: Path, kind: str) -> None:
    peaks = []
    # The first run imports what it needs, which is not to be measured.
    for count in (1, 100, 600):
        source = tmp_path / f"in{count}"
        source.mkdir()
        text = "Quill " * 1000
        if kind == "txt":
            for number in range(count):
                (source / f"{number}.txt").write_text(text)
        elif kind == "csv":
            (source / "rows.csv").write_text("n,text\n" + f"1,{text}\n" * count)
        else:
            many_rows(source / "rows.jsonl", count, text)
        peaks.append(peak(source, tmp_path / f"out{count}"))
    grown = peaks[2] - peaks[1]
    assert grown < 500 * 600  # Of 500 notes of 6,000 characters, not a tenth.


def test_a_parquet_file_is_read_and_written_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crfdeid.io.parquet._GROUP_BYTES", 1 << 20)
    pq.write_table(pa.table({"text": ["Quill " * 100] * 10_000}), tmp_path / "rows.parquet")
    before = pa.total_allocated_bytes()
    most = 0

    @dataclass(frozen=True)
    class Watching:
        def start(self) -> Worker:
            def work(notes: Sequence[Note]) -> list[Result]:
                nonlocal most
                most = max(most, pa.total_allocated_bytes() - before)
                return [NoteResult(Document(note.id, note.text.upper()), found={}) for note in notes]

            return work

    assert run(tmp_path / "rows.parquet", tmp_path / "out", work=Watching()) == []
    found = pq.ParquetFile(tmp_path / "out" / "rows.parquet")
    assert found.metadata.num_rows == 10_000
    assert found.metadata.num_row_groups > 3
    assert most < 6_000_000 / 2


def test_what_parquet_cannot_hold_fails_its_file_without_a_value(tmp_path: Path) -> None:
    """An index of one byte has room for 128 texts, and hidden they are 300."""
    source = tmp_path / "in"
    source.mkdir()
    texts = pa.array([f"Quill {number % 100}" for number in range(300)]).cast(pa.dictionary(pa.int8(), pa.string()))
    pq.write_table(pa.table({"text": texts}), source / "rows.parquet")
    (source / "then.txt").write_text("Quill")
    (failure,) = run(source, tmp_path / "out")
    assert (failure.file, failure.row) == ("rows.parquet", None)
    assert re.fullmatch(
        r"its types cannot hold the new texts \(Arrow\w+\): write it again with plain text", failure.reason
    )
    assert written(tmp_path / "out") == {"then.txt": b"[PATIENT:then]"}


def test_progress_counts_the_bytes_of_the_input(tmp_path: Path) -> None:
    source = mixed_folder(tmp_path / "in")
    size = sources.survey_input(source, lambda file: [file.name]).size
    seen: list[int] = []
    with (
        OutputFolder(tmp_path / "out", source=source, settings={}, resume=False) as output,
        start_workers(HideQuill(), 1) as workers,
    ):
        files = sources.note_files(source)
        runner.process_files(files, redact_plan(), workers, output, on_failure=pytest.fail, on_progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == size > 0


def test_a_long_note_is_not_cut(tmp_path: Path) -> None:
    text = "word " * 300_000 + "Quill"
    (tmp_path / "long.txt").write_text(text)
    assert run(tmp_path / "long.txt", tmp_path / "out") == []
    assert written(tmp_path / "out")["long.txt"].decode() == text.replace("Quill", "[PATIENT:long]")


def test_columns_are_passed_on(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("who;note\nA;Quill\n;Quill\n")
    assert run(tmp_path / "t.csv", tmp_path / "out", columns=Columns("note", patient="who")) == []
    assert written(tmp_path / "out")["t.csv"] == b"who;note\nA;[PATIENT:A]\n;[PATIENT:t.csv:2]\n"


def test_an_error_in_the_work_ends_the_processes(tmp_path: Path) -> None:
    def broken() -> Iterator[Failure]:
        yield Failure("first")
        raise OSError("disk full")

    (tmp_path / "a.txt").write_text("Quill")
    with (
        pytest.raises(OSError, match="disk full"),
        OutputFolder(tmp_path / "out", source=tmp_path / "a.txt", settings={}, resume=False) as output,
        start_workers(HideQuill(), 2) as workers,
    ):
        runner.process_files(broken(), redact_plan(), workers, output, on_failure=lambda failure: None)
    assert not multiprocessing.active_children()


@dataclass(frozen=True)
class SayThreshold:
    """Says for each note how many new containers let Python look for garbage."""

    def start(self) -> Worker:
        return lambda notes: [NoteResult(Document(note.id, str(gc.get_threshold()[0])), found={}) for note in notes]


@pytest.mark.parametrize("jobs", [1, 2])
def test_garbage_is_looked_for_seldom_while_notes_are_worked_on(tmp_path: Path, jobs: int) -> None:
    before = gc.get_threshold()
    (tmp_path / "a.txt").write_text("Quill")
    assert run(tmp_path / "a.txt", tmp_path / "out", work=SayThreshold(), jobs=jobs) == []
    assert int(written(tmp_path / "out")["a.txt"]) >= 100_000
    assert gc.get_threshold() == before

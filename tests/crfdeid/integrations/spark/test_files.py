"""The driver's half of a run over files, with tasks done in this process in the place of Spark."""

from __future__ import annotations

import csv
import json
import pickle
import shutil
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from threading import Lock
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import with_usual
from notes_samples import Job, NoSpark, in_this_process, tiny_model, written

from crfdeid.cli import main
from crfdeid.errors import DataError
from crfdeid.integrations.spark import files, jobs, tasks
from crfdeid.integrations.spark.jobs import ConnectJobs, ContextJobs
from crfdeid.io.remote import RemoteNotes
from crfdeid.secrets import SECRET_VARIABLE

SECRET = "a secret of the tests, long enough"
NOTE = "Patient Quill was seen on 3/14/2031.\r\nAttending: Dr. Orla Marsh, call 555-1037. Visit {}.\n"
DAMAGED = "JosÃ© Quill"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("spark") / "model")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """Notes of all kinds, two of them damaged, and a file that breaks off."""
    source = tmp_path / "in"
    (source / "p1").mkdir(parents=True)
    texts = [NOTE.format(number) for number in range(12)]
    for number, text in enumerate(texts[:3]):
        (source / "p1" / f"{number}.txt").write_bytes(text.encode())
    (source / "a.txt").write_text(DAMAGED)
    lines = [json.dumps({"text": text}) for text in [*texts, DAMAGED]]
    (source / "p1" / "lines.jsonl").write_text("\n".join(lines))
    (source / "t.csv").write_text("who,text\n" + "".join(f'{n % 3},"{text}"\n' for n, text in enumerate(texts)))
    (source / "broken.csv").write_text('text\nPatient Quill el\n"no end\n')
    pq.write_table(pa.table({"text": [*texts, None, ""], "n": range(14)}), source / "t.parquet")
    return source


@pytest.fixture
def spark(monkeypatch: pytest.MonkeyPatch) -> Callable[[Job], NoSpark]:
    """Tasks of a few hundred bytes, done by a function in the place of Spark's jobs."""
    monkeypatch.setenv(SECRET_VARIABLE, SECRET)
    monkeypatch.setattr(tasks, "_LEAST_SLICE", 300)

    def done_by(job: Job) -> NoSpark:
        fake = NoSpark(job)
        monkeypatch.setattr(jobs, "started_jobs", lambda master: nullcontext(fake))
        return fake

    return done_by


def redact(model: Path, source: Path | str, output: Path, *more: str) -> int:
    common = ("--operator", "surrogate", str(model), str(source), "--output", str(output))
    return main(["redact", *common, *more])


ON_SPARK = ("--spark", "local[2]")


def contents(folder: Path) -> dict[str, Any]:
    """What is in an output, Parquet as its table, whatever its groups of rows."""
    found: dict[str, Any] = {name: data for name, data in written(folder).items() if name != "_SUCCESS"}
    for name in found:
        if name.endswith(".parquet"):
            found[name] = pq.read_table(folder / name)
    return found


def listed(folder: Path) -> list[str]:
    """The lines of the journal without digests of files: Parquet's row groups differ, and remote files have none."""
    entries = map(json.loads, (folder / ".crfdeid" / "finished.jsonl").read_text().splitlines())
    plain = ({**entry, "outputs": [*entry["outputs"]]} if "outputs" in entry else entry for entry in entries)
    return sorted(json.dumps({**entry, "source_digest": None}) for entry in plain)


def test_files_notes_failures_and_journal_are_those_of_one_machine(
    model: Path, notes: Path, tmp_path: Path, spark: Callable[[Job], NoSpark], capsys: pytest.CaptureFixture[str]
) -> None:
    assert redact(model, notes, tmp_path / "one", "--report", str(tmp_path / "one.json")) == 1
    said = capsys.readouterr().err
    spark(in_this_process)
    assert redact(model, notes, tmp_path / "many", "--report", str(tmp_path / "many.json"), *ON_SPARK) == 1
    assert contents(tmp_path / "many") == contents(tmp_path / "one")
    assert set(contents(tmp_path / "one")) == {f"p1/{n}.txt" for n in range(3)} | {
        "p1/lines.jsonl",
        "t.csv",
        "t.parquet",
    }
    assert listed(tmp_path / "many") == listed(tmp_path / "one")
    again = capsys.readouterr().err
    for line in said.splitlines():
        assert line.startswith(("redact:", "model:")) or line in again.splitlines()
    one, many = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("one", "many"))
    assert sorted(map(str, many["failures"])) == sorted(map(str, one["failures"]))
    assert len(many["notes"]) == len(one["notes"]) == 3 + 12 + 12 + 13
    table = (tmp_path / "many.failed.csv").read_text().splitlines()
    assert table[0] == "file,row,line,offset,error_type,reason"
    assert sorted(line.partition(",")[0] for line in table[1:]) == [
        "a.txt",
        "broken.csv",
        "broken.csv",
        "p1/lines.jsonl",
    ]
    assert "Quill" not in (tmp_path / "many.failed.csv").read_text()
    assert (tmp_path / "many" / "_SUCCESS").read_bytes() == b""
    assert not any((tmp_path / "many" / ".crfdeid").glob("part/*"))


def test_notes_that_are_too_long_fail_as_on_one_machine(
    model: Path, notes: Path, tmp_path: Path, spark: Callable[[Job], NoSpark]
) -> None:
    longer = len(NOTE.format(10))  # as those of two digits are
    options = ("--max-chars", str(longer - 1))
    assert redact(model, notes, tmp_path / "one", *options) == 1
    spark(in_this_process)
    assert redact(model, notes, tmp_path / "many", *options, *ON_SPARK) == 1
    assert contents(tmp_path / "many") == contents(tmp_path / "one")
    with (tmp_path / "many.failed.csv").open(newline="") as table:
        failed = [(row["file"], row["row"]) for row in csv.DictReader(table) if row["error_type"] == "NoteTooLong"]
    assert sorted(failed) == [(name, row) for name in ("p1/lines.jsonl", "t.csv", "t.parquet") for row in ("11", "12")]


def test_notes_elsewhere_give_the_same_files(
    model: Path, notes: Path, tmp_path: Path, spark: Callable[[Job], NoSpark], capsys: pytest.CaptureFixture[str]
) -> None:
    """Elsewhere is here, by Arrow's file system for it: what differs with another is Arrow's."""
    assert redact(model, notes, tmp_path / "one") == 1
    spark(in_this_process)
    common = (str(model), notes.as_uri(), "--operator", "surrogate", "--output", str(tmp_path / "many"))
    assert main(["redact", *common, *ON_SPARK]) == 1
    assert contents(tmp_path / "many") == contents(tmp_path / "one")
    assert listed(tmp_path / "many") == listed(tmp_path / "one")
    (notes / "p1" / "0.txt").write_bytes(NOTE.format("changed").encode())
    done: list[str] = []

    def job(function: Callable[[Any], str], group: Sequence[Any]) -> list[str]:
        done.extend(piece.file.name for task in group for piece in task)
        return in_this_process(function, group)

    spark(job)
    assert main(["redact", *common, *ON_SPARK, "--resume"]) == 1
    assert {*done} == {"a.txt", "broken.csv", "p1/0.txt"}  # what failed before is tried again
    assert b"changed" in contents(tmp_path / "many")["p1/0.txt"]


def test_a_file_that_cannot_be_fetched_fails_alone(
    model: Path,
    notes: Path,
    tmp_path: Path,
    spark: Callable[[Job], NoSpark],
    capsys: pytest.CaptureFixture[str],
) -> None:
    def job(function: Callable[[Any], str], group: Sequence[Any]) -> list[str]:
        (notes / "t.csv").unlink(missing_ok=True)  # after it was listed
        return in_this_process(function, group)

    assert redact(model, notes, tmp_path / "one") == 1
    spark(job)
    assert redact(model, notes.as_uri(), tmp_path / "many", *ON_SPARK) == 1
    assert "failed: t.csv: cannot be read (FileNotFoundError): check it" in capsys.readouterr().err
    expected = contents(tmp_path / "one")
    del expected["t.csv"]
    assert contents(tmp_path / "many") == expected


def test_workers_that_cannot_reach_the_input_end_the_run_with_one_reason(
    model: Path,
    notes: Path,
    tmp_path: Path,
    spark: Callable[[Job], NoSpark],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def refused(self: RemoteNotes, *_: object) -> None:
        raise DataError("Quill")

    monkeypatch.setattr(RemoteNotes, "fetch", refused)
    monkeypatch.setattr(RemoteNotes, "require_reached", refused)
    spark(in_this_process)
    assert redact(model, notes.as_uri(), tmp_path / "many", *ON_SPARK) == 2
    said = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("note:")]
    assert said == ["error: a Spark worker cannot read NOTES: give it access in its own environment"]
    assert written(tmp_path / "many") == {}


def test_copies_lie_where_spark_keeps_its_own_and_clears_up_after_workers_that_are_killed(
    model: Path,
    notes: Path,
    tmp_path: Path,
    spark: Callable[[Job], NoSpark],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    monkeypatch.setenv("SPARK_LOCAL_DIRS", f"{own},/nowhere")
    fetch, places = RemoteNotes.fetch, []

    def fetched(self: RemoteNotes, file: Any, place: Path) -> Any:
        places.append(place)
        return fetch(self, file, place)

    monkeypatch.setattr(RemoteNotes, "fetch", fetched)
    spark(in_this_process)
    common = (str(model), notes.as_uri(), "--output", str(tmp_path / "many"))
    assert main(["redact", *common, *ON_SPARK]) == 1
    assert places
    assert all(place.is_relative_to(own) for place in places)
    assert not any(own.iterdir())


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("file:///nowhere/at/all", "NOTES: no such file or folder: file:///nowhere/at/all"),
        ("nothing://bucket/notes", "NOTES: nothing://bucket/notes cannot be opened (ArrowInvalid)"),
        ("s3://key:secret@bucket/notes", "a URL without user and '?' is needed"),
    ],
)
def test_a_url_that_cannot_be_is_refused(
    model: Path,
    tmp_path: Path,
    spark: Callable[[Job], NoSpark],
    capsys: pytest.CaptureFixture[str],
    url: str,
    said: str,
) -> None:
    spark(in_this_process)
    common = ("redact", str(model), url, "--output", str(tmp_path / "out"))
    assert main([*common, *ON_SPARK]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert "secret@" not in error
    assert main([*common]) == 2  # not on this machine


def test_a_file_whose_worker_is_ended_each_time_fails_alone(
    model: Path, notes: Path, tmp_path: Path, spark: Callable[[Job], NoSpark], capsys: pytest.CaptureFixture[str]
) -> None:
    assert redact(model, notes, tmp_path / "one") == 1

    def job(function: Callable[[Any], str], group: Sequence[Any]) -> list[str]:
        if any(piece.file.name == "t.csv" and piece.number == 1 for task in group for piece in task):
            raise ConnectionResetError("Patient Quill")
        return in_this_process(function, group)

    spark(job)
    assert redact(model, notes, tmp_path / "many", *ON_SPARK) == 1
    said = capsys.readouterr().err
    assert "failed: t.csv: each process that worked on it was ended" in said
    assert "Quill" not in said
    expected = contents(tmp_path / "one")
    del expected["t.csv"]
    assert contents(tmp_path / "many") == expected


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"version": "0.0.0"}, "a worker has crfdeid"),
        ({"secret": "0000"}, "a worker has another secret than the driver"),
        ({"digest": "0" * 64}, "this is the model"),
        ({"find": lambda: Path("/nowhere")}, "/nowhere"),
    ],
)
def test_what_a_worker_lacks_ends_the_run_with_one_reason(
    model: Path,
    notes: Path,
    tmp_path: Path,
    spark: Callable[[Job], NoSpark],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    change: dict[str, Any],
    said: str,
) -> None:
    made = tasks.FileWork
    monkeypatch.setattr(tasks, "FileWork", lambda **fields: made(**fields | change))
    spark(in_this_process)
    assert redact(model, notes, tmp_path / "many", *ON_SPARK) == 1
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error:")]
    assert len(errors) == 1
    assert said in errors[0]
    assert written(tmp_path / "many") == {}
    assert not (tmp_path / "many.failed.csv").exists()


def test_a_worker_without_the_secret_says_that_it_is_one(
    model: Path,
    notes: Path,
    tmp_path: Path,
    spark: Callable[[Job], NoSpark],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def job(function: Callable[[Any], str], group: Sequence[Any]) -> list[str]:
        monkeypatch.delenv(SECRET_VARIABLE, raising=False)
        return in_this_process(function, group)

    spark(job)
    assert redact(model, notes, tmp_path / "many", *ON_SPARK) == 1
    assert "error: on a worker, a secret is needed: set CRFDEID_SECRET" in capsys.readouterr().err


def test_a_run_whose_spark_ends_goes_on_with_the_files_that_are_done(
    model: Path,
    notes: Path,
    tmp_path: Path,
    spark: Callable[[Job], NoSpark],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(files, "_JOBS", 1)
    monkeypatch.setattr(tasks.SliceAssignment, "task_bytes", lambda self, left: 300)
    monkeypatch.setattr(tasks.SliceAssignment, "tasks", 1)
    done: list[str] = []

    def job(function: Callable[[Any], str], group: Sequence[Any]) -> list[str]:
        if len(done) > 3:
            jobs.alive = False
            raise ConnectionResetError
        done.extend(piece.file.name for task in group for piece in task)
        return in_this_process(function, group)

    jobs = spark(job)
    assert redact(model, notes, tmp_path / "many", *ON_SPARK) == 1
    assert "error: Spark has ended" in capsys.readouterr().err
    before = contents(tmp_path / "many")
    assert before
    assert not (tmp_path / "many" / "_SUCCESS").exists()
    assert redact(model, notes, tmp_path / "many", *ON_SPARK) == 2  # not without --resume
    again: list[str] = []

    def rest(function: Callable[[Any], str], group: Sequence[Any]) -> list[str]:
        again.extend(piece.file.name for task in group for piece in task)
        return in_this_process(function, group)

    spark(rest)
    assert redact(model, notes, tmp_path / "many", *ON_SPARK, "--resume") == 1
    assert not set(again) & set(before)
    assert redact(model, notes, tmp_path / "one") == 1
    assert contents(tmp_path / "many") == contents(tmp_path / "one")
    assert listed(tmp_path / "many") == listed(tmp_path / "one")
    assert (tmp_path / "many" / "_SUCCESS").exists()


def test_nothing_goes_to_the_workers_that_is_secret_or_of_a_note(
    model: Path, notes: Path, tmp_path: Path, spark: Callable[[Job], NoSpark]
) -> None:
    sent: list[bytes] = []

    def job(function: Callable[[Any], str], group: Sequence[Any]) -> list[str]:
        sent.append(pickle.dumps((function, group)))
        reports = in_this_process(*pickle.loads(sent[-1]))
        sent.extend(report.encode() for report in reports)
        return reports

    spark(job)
    assert redact(model, notes, tmp_path / "many", *ON_SPARK) == 1
    for data in sent:
        assert SECRET.encode() not in data
        assert b"Quill" not in data


def test_what_a_side_file_says_is_read_by_the_workers_and_not_sent(
    model: Path, notes: Path, tmp_path: Path, spark: Callable[[Job], NoSpark], capsys: pytest.CaptureFixture[str]
) -> None:
    people = tmp_path / "people.csv"
    people.write_text("file,given,dob\np1/0,Legpain,31/7/1950\nt.csv,Visit,31/7/1950\n")
    (notes / "p1" / "0.txt").write_text("Patient Legpain was seen on 7/31/1950, and the LEGPAIN family was there.\n")
    options = ("--record-file", str(people), "--record-columns", "name=given,dob")
    assert redact(model, notes, tmp_path / "one", *options) == 1
    sent: list[bytes] = []

    def job(function: Callable[[Any], str], group: Sequence[Any]) -> list[str]:
        sent.append(pickle.dumps((function, group)))
        return in_this_process(*pickle.loads(sent[-1]))

    spark(job)
    assert redact(model, notes, tmp_path / "many", *options, *ON_SPARK) == 1
    found = contents(tmp_path / "many")
    assert found == contents(tmp_path / "one")
    assert b"legpain" not in found["p1/0.txt"].lower()
    assert b"Visit" not in found["t.csv"]
    assert all(b"people.csv" in data and b"Legpain" not in data and b"1950" not in data for data in sent)

    one_at_a_time = Lock()
    other = people.rename(tmp_path / "other.csv")  # not the one that this process remembers

    def elsewhere(function: Callable[[Any], str], group: Sequence[Any]) -> list[str]:
        with one_at_a_time:  # The driver has two jobs in flight.
            other.write_text("file,given,dob\nt.csv,Nobody,1/2/1950\n")
            return in_this_process(function, group)

    spark(elsewhere)
    capsys.readouterr()
    options = ("--record-file", str(other), "--record-columns", "name=given,dob")
    assert redact(model, notes, tmp_path / "other", *options, *ON_SPARK) == 1
    assert "error: a worker reads another --record-file than the driver: put" in capsys.readouterr().err
    assert written(tmp_path / "other") == {}


def test_a_side_file_that_is_gone_or_another_one_ends_the_run_with_one_reason(
    model: Path, notes: Path, tmp_path: Path, spark: Callable[[Job], NoSpark], capsys: pytest.CaptureFixture[str]
) -> None:
    people = tmp_path / "gone.csv"
    options = (*ON_SPARK, "--record-file", str(people), "--record-columns", "name=given")
    spark(in_this_process)
    assert redact(model, notes, tmp_path / "none", *options) == 1
    assert not (tmp_path / "none").exists()  # before Spark was started, or a folder made
    people.write_text("file,given\np1/0,Legpain\n")

    def without_it(function: Callable[[Any], str], group: Sequence[Any]) -> list[str]:
        people.unlink(missing_ok=True)
        return in_this_process(function, group)

    spark(without_it)
    assert redact(model, notes, tmp_path / "many", *options) == 1
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error:")]
    assert [line.endswith("gone.csv: cannot be read: No such file or directory") for line in errors] == [True, True]
    assert written(tmp_path / "many") == {}

    people.write_text("file,given\np1/0,Legpain\nt.csv,Nobody\n")
    spark(in_this_process)
    assert redact(model, notes, tmp_path / "many", *options) == 1  # its settings went with what was not done
    people.write_text("file,given\np1/0,Legpain\nt.csv,Somebody\n")
    assert redact(model, notes, tmp_path / "many", *options, "--resume") == 2
    assert "was begun with another record_file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("in", *ON_SPARK, "--jobs", "2"), "--jobs is for work on this machine"),
        (("in", *ON_SPARK, "--limit", "2"), "--limit is for work on this machine"),
        (("-", *ON_SPARK), "is for a file or folder of notes"),
        (("in", *ON_SPARK, "--output", "s3://key@lake/clean"), "a URL: name a path"),
    ],
)
def test_options_that_spark_cannot_have_are_refused_before_it_starts(
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: Sequence[str],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    assert main(["redact", str(model), *with_usual({"--output": "out"}, *options)]) == 2
    said_by_it = capsys.readouterr().err
    assert said in said_by_it and "key@" not in said_by_it


def test_a_table_of_failures_that_is_there_is_not_overwritten(
    model: Path, notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "many.failed.csv").write_text("somebody's")
    assert main(["redact", str(model), str(notes), "--output", str(tmp_path / "many"), *ON_SPARK]) == 2
    assert "the table of what failed: name another folder" in capsys.readouterr().err
    assert (tmp_path / "many.failed.csv").read_text() == "somebody's"
    shutil.rmtree(tmp_path / "many", ignore_errors=True)


@pytest.mark.parametrize("jobs", [ContextJobs, ConnectJobs])
def test_a_spark_that_has_died_ends_without_a_traceback(jobs: Callable[..., ContextJobs | ConnectJobs]) -> None:
    class Died:
        def stop(self) -> None:
            raise ConnectionRefusedError

    jobs(Died(), own=True).stop()

"""The output folder: one run at a time, whole files, and a resumed run that does what is left."""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from notes_samples import run, written

from crfdeid.errors import (
    DataError,
    IntegrityError,
    MismatchError,
    OptionConflictError,
    OutputExistsError,
    ReadError,
    UsageError,
    VersionError,
    WriteError,
)
from crfdeid.io.journal import NoteDone
from crfdeid.io.output import OutputFolder, Withdrawn
from crfdeid.io.records import NoteFile
from crfdeid.io.sources import note_files


def folder_of(path: Path, **texts: str) -> Path:
    path.mkdir(exist_ok=True)
    for name, text in texts.items():
        (path / f"{name}.txt").write_text(text)
    return path


def begin(source: Path, out: Path, *, resume: bool = False, **settings: str) -> OutputFolder:
    return OutputFolder(out, source=source, settings=settings, resume=resume)


def test_a_folder_that_holds_something_is_refused(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "in", a="Quill")
    other = folder_of(tmp_path / "out", thesis="x")
    for resume in (False, True):
        with pytest.raises(OutputExistsError):
            begin(source, other, resume=resume)
    assert [path.name for path in other.iterdir()] == ["thesis.txt"]
    with pytest.raises(OutputExistsError, match="thesis"):
        begin(source, other / "thesis.txt")


def test_results_are_never_overwritten_without_resume(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "in", a="Quill")
    run(source, tmp_path / "out")
    before = written(tmp_path / "out")
    (source / "a.txt").write_text("another text")
    with pytest.raises(OutputExistsError, match="--resume"):
        run(source, tmp_path / "out")
    assert written(tmp_path / "out") == before


@pytest.mark.parametrize("place", ["in", "in/out", "."])
def test_input_and_output_lie_apart(tmp_path: Path, place: str) -> None:
    source = folder_of(tmp_path / "in", a="Quill")
    with pytest.raises(OptionConflictError, match="--output"):
        begin(source, tmp_path / place)
    link = tmp_path / "link"
    link.symlink_to(source, target_is_directory=True)
    with pytest.raises(OptionConflictError, match="--output"):
        begin(source, link)
    assert sorted(path.name for path in source.iterdir()) == ["a.txt"]


def test_a_second_run_is_told_and_harms_nothing(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "in", a="Quill")
    with begin(source, tmp_path / "out") as held:
        (half,) = held.staging_paths(["half.txt"])
        half.write_text("half")
        code = (
            "import sys; from pathlib import Path; from crfdeid.io.output import OutputFolder\n"
            "OutputFolder(Path(sys.argv[2]), source=Path(sys.argv[1]), settings={}, resume=True)"
        )
        other = subprocess.run(
            [sys.executable, "-c", code, source, tmp_path / "out"], capture_output=True, text=True, check=False
        )
        assert "WriteError" in other.stderr
        with pytest.raises(WriteError) as refused:
            begin(source, tmp_path / "out")
        assert refused.value.path == tmp_path / "out"
        assert half.read_text() == "half"
    begin(source, tmp_path / "out", resume=True).close()


def test_resume_with_other_settings_is_refused_and_says_which(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "in", a="Quill")
    run(source, tmp_path / "out", settings={"how": "label", "model": "abc"})
    with pytest.raises(OptionConflictError, match="how, locale"):
        begin(source, tmp_path / "out", how="mask", model="abc", locale="x", resume=True)
    with pytest.raises(OptionConflictError, match="input"):
        begin(folder_of(tmp_path / "in2"), tmp_path / "out", how="label", model="abc", resume=True)
    begin(source, tmp_path / "out", how="label", model="abc", resume=True).close()


def test_resume_skips_what_is_finished(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "in", a="Quill", b="Quill")
    run(source, tmp_path / "out")
    before = (tmp_path / "out" / "a.txt").stat().st_ino
    os.utime(source / "a.txt", (5, 5))  # the same content, copied anew
    (tmp_path / "out" / "b.txt").unlink()
    folder_of(source, c="Quill")
    assert run(source, tmp_path / "out", resume=True) == []
    assert written(tmp_path / "out") == {name: f"[PATIENT:{name[0]}]".encode() for name in ("a.txt", "b.txt", "c.txt")}
    assert (tmp_path / "out" / "a.txt").stat().st_ino == before


def test_resume_does_again_what_has_changed(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "in", a="Quill", b="Quill")
    run(source, tmp_path / "out")
    (source / "a.txt").write_text("not Quill")
    (source / "b.txt").write_text("BOOM")
    assert [failure.file for failure in run(source, tmp_path / "out", resume=True)] == ["b.txt"]
    assert written(tmp_path / "out") == {"a.txt": b"not [PATIENT:a]"}


def note_file(path: Path, text: str) -> Path:
    """A file of notes with one note of this text, in the format of its name."""
    if path.suffix == ".parquet":
        pq.write_table(pa.table({"text": [text]}), path, compression="none", use_dictionary=False)
    else:
        row = json.dumps({"text": text}) + "\n"
        path.write_text({".csv": f"text\n{text}\n", ".jsonl": row, ".txt": text}[path.suffix])
    return path


def keep_times(path: Path, before: os.stat_result) -> None:
    """Give a file that was overwritten its old times; its size is the old one too."""
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)


NAMES = ("a.txt", "a.csv", "a.jsonl", "a.parquet")


@pytest.mark.parametrize("name", NAMES)
def test_resume_does_again_an_input_that_changed_with_the_same_size_and_time(tmp_path: Path, name: str) -> None:
    source = folder_of(tmp_path / "in", b="Quill")
    file, other = note_file(source / name, "Seen by Orlas."), note_file(tmp_path / name, "Seen by Quill.")
    run(source, tmp_path / "out")
    before = file.stat()
    shutil.copyfile(other, file)
    keep_times(file, before)
    assert run(source, tmp_path / "out", resume=True) == []
    run(source, tmp_path / "again")
    assert written(tmp_path / "out") == written(tmp_path / "again")
    assert b"Quill" not in (tmp_path / "out" / name).read_bytes()


def cut(result: Path) -> None:
    result.write_bytes(result.read_bytes()[:-3])


def overwrite(result: Path) -> None:
    before, content = result.stat(), result.read_bytes()
    result.write_bytes(content.replace(b"PATIENT", b"DOCTORS"))
    keep_times(result, before)
    assert result.read_bytes() != content


@pytest.mark.parametrize("change", [cut, overwrite])
@pytest.mark.parametrize("name", NAMES)
def test_resume_refuses_a_result_that_changed_until_it_is_moved_away(
    tmp_path: Path, name: str, change: Callable[[Path], None]
) -> None:
    source = folder_of(tmp_path / "in", b="Quill")
    note_file(source / name, "Seen by Quill.")
    run(source, tmp_path / "out")
    before = written(tmp_path / "out")
    change(tmp_path / "out" / name)
    changed = written(tmp_path / "out")
    for _ in range(2):
        with pytest.raises(MismatchError) as refused:
            run(source, tmp_path / "out", resume=True)
        assert refused.value.path == tmp_path / "out" and name in str(refused.value)
        assert written(tmp_path / "out") == changed
    (tmp_path / "out" / name).rename(tmp_path / name)
    assert run(source, tmp_path / "out", resume=True) == []
    assert written(tmp_path / "out") == before


def test_a_changed_result_is_refused_also_if_its_input_changed_or_is_gone(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "in", a="Quill", b="Quill")
    run(source, tmp_path / "out")
    folder_of(tmp_path / "out", a="corrected", b="corrected")
    folder_of(source, a="Quill again")
    (source / "b.txt").unlink()
    for withdrawn in ("keep", "remove"):
        with pytest.raises(MismatchError, match=r"a\.txt, b\.txt"):
            OutputFolder(tmp_path / "out", source=source, settings={}, resume=True, withdrawn=withdrawn)
    assert written(tmp_path / "out") == {"a.txt": b"corrected", "b.txt": b"corrected"}


def test_a_finished_file_that_can_no_longer_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = folder_of(tmp_path / "in", a="Quill")
    run(source, tmp_path / "out")
    opened = Path.open

    def refused(path: Path, *arguments: Any, **options: Any) -> Any:
        if path == source / "a.txt":
            raise PermissionError(errno.EACCES, "Permission denied")
        return opened(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", refused)
    with pytest.raises(ReadError) as unread:
        begin(source, tmp_path / "out", resume=True)
    assert unread.value.path == source / "a.txt"
    assert written(tmp_path / "out") == {"a.txt": b"[PATIENT:a]"}


def go_on(source: Path, out: Path, withdrawn: Withdrawn | None) -> list[str]:
    """Go on with a run; which files it says were withdrawn."""
    said: list[str] = []
    kept = {"source": source, "settings": {}, "resume": True}
    try:
        OutputFolder(out, withdrawn=withdrawn, on_withdrawn=said.append, **kept).close()
    except UsageError as problem:
        said.append(str(problem))
    return said


def test_the_results_of_a_file_that_was_withdrawn_are_kept_or_removed_as_one_says(tmp_path: Path) -> None:
    source, out = tmp_path / "in", tmp_path / "out"
    (source / "p1" / "visits").mkdir(parents=True)
    folder_of(source / "p1" / "visits", a="Quill")
    folder_of(source, b="Quill", c="Quill")
    (source / "rows.csv").write_text("text\nQuill\n")
    run(source, out)
    before = written(out)
    shutil.rmtree(source / "p1")
    (source / "rows.csv").unlink()
    folder_of(source, c="not Quill")
    names = ["rows.csv", "p1/visits/a.txt"]
    *said, problem = go_on(source, out, None)
    assert sorted(said) == sorted(names) and "no longer has 2 of the files that are done" in problem
    assert "--withdrawn remove" in problem and "--withdrawn keep" in problem
    assert written(out) == before
    assert sorted(go_on(source, out, "keep")) == sorted(names)
    assert written(out) == {name: content for name, content in before.items() if name != "c.txt"}
    assert sorted(go_on(source, out, "remove")) == sorted(names)
    assert written(out) == {"b.txt": before["b.txt"]}
    assert not (out / "p1").exists()
    assert go_on(source, out, None) == []
    with begin(source, out, resume=True) as output:
        assert [entry.file for entry in output.accounted() if isinstance(entry, NoteDone)] == ["b.txt"]


def test_what_cannot_be_looked_at_is_not_withdrawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, out = tmp_path / "in", tmp_path / "out"
    (source / "p1").mkdir(parents=True)
    folder_of(source / "p1", a="Quill")
    folder_of(source, b="Quill")
    run(source, out)
    before, listed = written(out), os.listdir

    def refused(folder: Path) -> list[str]:
        if folder == source / "p1":
            raise PermissionError(errno.EACCES, "Permission denied")
        return listed(folder)

    monkeypatch.setattr(os, "listdir", refused)
    assert go_on(source, out, "remove") == []
    assert written(out) == before


def test_a_file_that_changed_while_it_was_read_is_done_again(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "in", a="Quill")
    (file,) = note_files(source)
    assert isinstance(file, NoteFile)
    with begin(source, tmp_path / "out") as output:
        output.staging_paths(["a.txt"])[0].write_text("of the old text")
        folder_of(source, a="Quill again")
        output.commit(file, ["a.txt"])
    assert run(source, tmp_path / "out", resume=True) == []
    assert written(tmp_path / "out") == {"a.txt": b"[PATIENT:a] again"}


def test_the_files_of_one_input_file_do_not_meet_until_they_are_whole(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "in", a="Quill")
    (file,) = note_files(source)
    assert isinstance(file, NoteFile)
    names = ["phi/a.txt", "phi/a.ann", "concepts/a.txt", "concepts/a.ann", ".crfdeid/sidecar/a.jsonl"]
    with begin(source, tmp_path / "out") as output:
        places = output.staging_paths(names)
        assert [places[i].stem == places[i + 1].stem for i in range(4)] == [True, False, True, False]
        for place, name in zip(places, names, strict=True):
            place.write_text(name)
        assert list(output.begin([file])) == [file]
        output.commit(file, names)
        assert [path.read_text() for path in output.sidecars()] == names[4:]
    assert written(tmp_path / "out") == {name: name.encode() for name in names[:4]}
    with begin(source, tmp_path / "out", resume=True) as output:
        assert output.is_finished(file)
    (tmp_path / "out" / names[4]).unlink()
    with begin(source, tmp_path / "out", resume=True) as output:
        assert not output.is_finished(file)
        assert list(output.sidecars()) == []


def test_resume_goes_on_where_a_note_was_mended(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "in", a="Quill", b="BOOM")
    assert len(run(source, tmp_path / "out")) == 1
    assert len(run(source, tmp_path / "out", resume=True)) == 1
    folder_of(source, b="Quill")
    assert run(source, tmp_path / "out", resume=True) == []
    assert run(source, tmp_path / "out", resume=True) == []
    assert set(written(tmp_path / "out")) == {"a.txt", "b.txt"}


def test_rows_that_failed_are_still_told_when_their_file_is_finished(tmp_path: Path) -> None:
    source = tmp_path / "rows.csv"
    source.write_text("text\nQuill\nBOOM\nQuill\n")
    first = run(source, tmp_path / "out")
    assert [(failure.file, failure.row) for failure in first] == [("rows.csv", 2)]
    assert run(source, tmp_path / "out", resume=True) == first
    (tmp_path / "out" / "rows.csv").unlink()
    assert run(source, tmp_path / "out", resume=True) == first
    source.write_text("text\nQuill\n")
    assert run(source, tmp_path / "out", resume=True) == []


def test_what_a_killed_run_left_is_cleared_and_done_again(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "in", a="Quill", b="Quill")
    output = begin(source, tmp_path / "out")
    output.staging_paths(["a.txt"])[0].write_text("half")
    with (tmp_path / "out" / ".crfdeid" / "finished.jsonl").open("a") as stream:
        stream.write('{"file": "b.txt", "source_fingerprint": "0')
    output.close()
    assert run(source, tmp_path / "out", resume=True) == []
    assert written(tmp_path / "out") == {"a.txt": b"[PATIENT:a]", "b.txt": b"[PATIENT:b]"}
    assert not (tmp_path / "out" / ".crfdeid" / "part").exists()


def test_where_nothing_was_done_another_run_can_begin(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "in", a="Quill")
    begin(source, tmp_path / "out", model="a wrong one").close()
    assert run(source, tmp_path / "out", settings={"model": "the right one"}) == []
    begin(source, tmp_path / "new", model="a wrong one").close()
    folder_of(tmp_path / "new", thesis="x")
    with pytest.raises(OutputExistsError):
        begin(source, tmp_path / "new")


@pytest.mark.parametrize("version", [None, 1, "2"])
def test_the_state_of_another_version_is_refused(tmp_path: Path, version: object) -> None:
    source = folder_of(tmp_path / "in", a="Quill")
    run(source, tmp_path / "out")
    path = tmp_path / "out" / ".crfdeid" / "settings.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "state_version": version}))
    with pytest.raises(VersionError, match="--output") as refused:
        begin(source, tmp_path / "out", resume=True)
    assert refused.value.path == path and "\n" not in str(refused.value)
    assert written(tmp_path / "out") == {"a.txt": b"[PATIENT:a]"}


def test_results_are_their_owners_alone(tmp_path: Path) -> None:
    (tmp_path / "in" / "p1").mkdir(parents=True)
    (tmp_path / "in" / "p1" / "a.txt").write_text("Quill")
    (tmp_path / "in" / "rows.jsonl").write_text('{"text": "Quill"}\n')
    run(tmp_path / "in", tmp_path / "out")
    for path in (tmp_path / "out").rglob("*"):
        if path.is_file():
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
    assert stat.S_IMODE((tmp_path / "out" / ".crfdeid").stat().st_mode) == 0o700


def test_what_is_kept_for_resuming_holds_no_time_of_a_note(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "in", a="Quill")
    run(source, tmp_path / "out")
    lines = (tmp_path / "out" / ".crfdeid" / "finished.jsonl").read_text()
    note, file = map(json.loads, lines.splitlines())
    assert set(note) == {"file", "source_fingerprint", "row", "found", "hmac"}
    assert set(file) == {"file", "source_fingerprint", "source_digest", "outputs"}
    assert str(int((source / "a.txt").stat().st_mtime)) not in lines
    assert "Quill" not in lines


# --- what somebody else may have put there


def begun(tmp_path: Path) -> Path:
    """An output folder with one finished file, and a file beside it that no run may touch."""
    run(folder_of(tmp_path / "in", a="Quill"), tmp_path / "out")
    (tmp_path / "victim.txt").write_text("mine")
    return tmp_path / "out" / ".crfdeid"


def edited(hidden: Path, **changes: object) -> None:
    """Say something else of the finished file."""
    path = hidden / "finished.jsonl"
    note, file = path.read_text().splitlines()
    path.write_text(f"{note}\n{json.dumps({**json.loads(file), **changes})}\n")


@pytest.mark.parametrize(
    "name",
    [
        "../victim.txt",
        "",
        "/victim.txt",
        "p/../../victim.txt",
        "./a.txt",
        ".crfdeid/lock",
        ".crfdeid/sidecar",
        ".crfdeid/sidecar/../lock",
        ".crfdeid/sidecar/a/b",
        ".",
        "a\0b",
        5,
        ["a.txt"],
        None,
    ],
)
def test_a_name_that_leads_out_of_the_folder_is_refused_and_nothing_deleted(tmp_path: Path, name: object) -> None:
    hidden = begun(tmp_path)
    folder_of(tmp_path / "in", a="another text")
    digests = {name: "0"} if isinstance(name, str) else {"a.txt": name}
    for changes in ({"outputs": digests}, {"outputs": [name]}, {"outputs": {**digests, "b.txt": "0"}}, {"file": name}):
        edited(hidden, **changes)
        with pytest.raises(IntegrityError) as refused:
            begin(tmp_path / "in", tmp_path / "out", resume=True)
        assert (refused.value.path, refused.value.line) == (hidden / "finished.jsonl", 2)
    assert (tmp_path / "victim.txt").read_text() == "mine"
    assert (hidden / "lock").exists()


PRINT = '"file": "a.txt", "source_fingerprint": "0"'
DONE = f'{{{PRINT}, "row": null, "found": {{}}, "hmac": null, "locale": null, "concepts": %s}}'


@pytest.mark.parametrize(
    "line",
    [
        *("[1]", "{", '{"file": "a.txt"}', "[" * 100_000, "\udcff", f'{{{PRINT}, "outputs": 3}}'),
        *(DONE % "3", DONE % '{"DRUG": "zinc"}'),
        *(DONE % 'null, "drift_warnings": ["Quill"]', DONE % 'null, "drift_warnings": 3'),
    ],
)
def test_a_damaged_list_is_named_with_its_line(tmp_path: Path, line: str) -> None:
    hidden = begun(tmp_path)
    path = hidden / "finished.jsonl"
    path.write_text(f"{path.read_text()}{line}\n", errors="surrogateescape")
    with pytest.raises(IntegrityError) as refused:
        begin(tmp_path / "in", tmp_path / "out", resume=True)
    assert (refused.value.path, refused.value.line) == (path, 3)


@pytest.mark.parametrize("content", ["[]", "3", '"how"', "{", "", "[" * 100_000, "\udcff"])
def test_damaged_settings_of_any_kind_are_named(tmp_path: Path, content: str) -> None:
    hidden = begun(tmp_path)
    (hidden / "settings.json").write_text(content, errors="surrogateescape")
    with pytest.raises(DataError) as refused:
        begin(tmp_path / "in", tmp_path / "out", resume=True)
    assert refused.value.path == hidden / "settings.json"


def test_a_hidden_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    hidden = begun(tmp_path)
    (tmp_path / "theirs" / "part").mkdir(parents=True)
    (tmp_path / "theirs" / "part" / "thesis.txt").write_text("mine")
    hidden.rename(tmp_path / "kept")
    hidden.symlink_to(tmp_path / "theirs", target_is_directory=True)
    with pytest.raises(UsageError, match=r"\.crfdeid"):
        begin(tmp_path / "in", tmp_path / "out", resume=True)
    assert [path.name for path in (tmp_path / "theirs").rglob("*")] == ["part", "thesis.txt"]


@pytest.mark.parametrize("name", ["lock", "part", "settings.json", "finished.jsonl", "finished.new"])
def test_no_link_in_the_hidden_folder_is_followed(tmp_path: Path, name: str) -> None:
    hidden = begun(tmp_path)
    settings = (hidden / "settings.json").read_text()
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "thesis.txt").write_text(settings)
    (hidden / name).unlink(missing_ok=True)
    (hidden / name).symlink_to(theirs if name == "part" else theirs / "thesis.txt")
    if name == "finished.new":  # It is removed: it was never anything but a leftover.
        begin(tmp_path / "in", tmp_path / "out", resume=True).close()
    else:
        with pytest.raises((UsageError, DataError), match="a link"):
            begin(tmp_path / "in", tmp_path / "out", resume=True)
    assert (theirs / "thesis.txt").read_text() == settings


def test_what_is_kept_beside_the_results_follows_no_link(tmp_path: Path) -> None:
    hidden = begun(tmp_path)
    (tmp_path / "theirs").mkdir()
    (hidden / "sidecar").symlink_to(tmp_path / "theirs")
    (file,) = note_files(tmp_path / "in")
    assert isinstance(file, NoteFile)
    name = ".crfdeid/sidecar/a.jsonl"
    with begin(tmp_path / "in", tmp_path / "out", resume=True) as output:
        output.staging_paths([name])[0].write_text("kept")
        with pytest.raises(DataError, match="link"):
            output.commit(file, [name])
    assert list((tmp_path / "theirs").iterdir()) == []


def test_no_link_in_the_output_is_followed(tmp_path: Path) -> None:
    source = tmp_path / "in"
    (source / "p1").mkdir(parents=True)
    (source / "p1" / "a.txt").write_text("Quill")
    run(source, tmp_path / "out")
    (tmp_path / "out" / "p1").rename(tmp_path / "theirs")
    (tmp_path / "out" / "p1").symlink_to(tmp_path / "theirs", target_is_directory=True)
    (source / "p1" / "a.txt").write_text("another text")
    (failure,) = run(source, tmp_path / "out", resume=True)
    assert failure.file == "p1/a.txt" and "link" in failure.reason
    assert (tmp_path / "theirs" / "a.txt").read_text() == "[PATIENT:p1]"


def test_what_is_listed_as_finished_is_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "in"
    (source / "p1").mkdir(parents=True)
    (source / "p1" / "a.txt").write_text("Quill")
    out = (tmp_path / "out").resolve()
    synced: list[tuple[str, list[str], str]] = []
    journal = out / ".crfdeid" / "finished.jsonl"

    def fsync(descriptor: int) -> None:
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        named = sorted(file.name for file in out.rglob("*.txt"))
        synced.append((path.relative_to(out).as_posix(), named, journal.read_text() if journal.exists() else ""))

    monkeypatch.setattr(os, "fsync", fsync)
    run(source, tmp_path / "out")
    order = [name for name, _, _ in synced]
    assert order[:3] == [".crfdeid/settings.json", ".crfdeid", "."]
    assert order[-4:] == [".crfdeid/part/part.txt", ".", "p1", ".crfdeid/finished.jsonl"]
    assert [named for _, named, _ in synced[-2:]] == [
        ["a.txt"],
        ["a.txt"],
    ]  # Renamed before its folder is brought there.
    assert "outputs" not in synced[-2][2]  # Listed only after that,
    assert "outputs" in synced[-1][2]  # and the list itself is brought there too.

"""Which files hold notes, in which order, and whose they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from crfdeid.errors import EmptyInputError, UnknownNameError, UsageError
from crfdeid.io.annotations import target_names
from crfdeid.io.records import NoteFile
from crfdeid.io.sources import keyed_names, note_files, survey_input


def touch(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    return root


def names_of(file: NoteFile) -> list[str]:
    return [file.name]


def test_files_come_sorted_and_know_their_first_folder(tmp_path: Path) -> None:
    touch(
        tmp_path, "b.txt", "a.csv", "p2/x.txt", "p1/y.txt", "p1/deep/er/z.txt", "a/k.jsonl", ".git/c.txt", "p1/.d.txt"
    )
    found = [(file.name, file.patient) for file in note_files(tmp_path) if isinstance(file, NoteFile)]
    assert found == [
        ("a.csv", None),
        ("b.txt", None),
        ("a/k.jsonl", "a"),
        ("p1/y.txt", "p1"),
        ("p1/deep/er/z.txt", "p1"),
        ("p2/x.txt", "p2"),
    ]


def test_one_file_is_nobodys_folder(tmp_path: Path) -> None:
    touch(tmp_path, "p1/x.txt")
    (file,) = note_files(tmp_path / "p1" / "x.txt")
    time = (tmp_path / "p1" / "x.txt").stat().st_mtime_ns
    assert file == NoteFile(tmp_path / "p1" / "x.txt", "x.txt", 1, time, None)


def test_the_survey_counts_what_there_is(tmp_path: Path) -> None:
    touch(tmp_path, "a.txt", "b/c.PARQUET", "b/d.png", "README")
    assert survey_input(tmp_path, names_of) == (2, 2, 1)


def test_nothing_to_do_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="nowhere"):
        survey_input(tmp_path / "nowhere", names_of)
    with pytest.raises(EmptyInputError):
        survey_input(tmp_path, names_of)
    touch(tmp_path, "a.png")
    for path in (tmp_path, tmp_path / "a.png"):
        with pytest.raises(EmptyInputError, match=re.escape(str(path))):
            survey_input(path, names_of)


def test_two_files_are_never_written_to_one(tmp_path: Path) -> None:
    touch(tmp_path, "a.txt", "p/a.txt", "a.jsonl/a.txt", "q/a.csv")
    assert survey_input(tmp_path, lambda file: target_names(file, "jsonl")).size == 4
    touch(tmp_path, "p/a.csv")
    assert survey_input(tmp_path, names_of).size == 5
    with pytest.raises(UsageError, match=r"p/a\.jsonl"):
        survey_input(tmp_path, lambda file: target_names(file, "jsonl"))


def test_new_names_are_hashes_that_keep_the_folders_together(tmp_path: Path) -> None:
    touch(tmp_path, "Quill.txt", "p1/Quill.txt", "p1/b/Quill.TXT", "p2/Quill.txt")

    def names(key: bytes) -> dict[str, str]:
        files = note_files(tmp_path, keyed_names(key))
        return {file.name: file.result_name for file in files if isinstance(file, NoteFile)}

    found = names(b"one key")
    assert found == names(b"one key")
    assert not set(found.values()) & set(names(b"another").values())
    assert re.fullmatch(r"[0-9a-f]{32}\.txt", found["Quill.txt"])
    assert re.fullmatch(r"([0-9a-f]{32}/){2}[0-9a-f]{32}\.TXT", found["p1/b/Quill.TXT"])
    assert found["p1/Quill.txt"].split("/")[0] == found["p1/b/Quill.TXT"].split("/")[0]
    assert len({name.rpartition("/")[2] for name in found.values()}) == 4  # The same name elsewhere is another.
    file = next(note_files(tmp_path / "p1" / "Quill.txt", keyed_names(b"one key")))
    assert isinstance(file, NoteFile)
    assert (file.patient, target_names(file, "brat")) == (None, [found["Quill.txt"], found["Quill.txt"][:-4] + ".ann"])

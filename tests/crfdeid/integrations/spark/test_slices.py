"""Files in pieces: no row lost, none doubled, and the pieces' results one file again."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.documents import Document
from crfdeid.errors import FormatError
from crfdeid.integrations.spark.files import _join_slices
from crfdeid.integrations.spark.tasks import MOST_SLICES, FileSlice, SliceAssignment, SliceReader
from crfdeid.io.records import Columns, Note, NoteFile
from crfdeid.io.sources import note_files, open_writer, read_file

COLUMNS = Columns()
TEXTS = ['Dr. Quill, "at noon"', "", "two\r\nlines", "x" * 300, "Ünïcode 🩺"] * 7


def a_file(folder: Path, name: str) -> NoteFile:
    path = folder / name
    match path.suffix:
        case ".jsonl":
            path.write_text("".join(json.dumps({"text": text}) + "\n\n" for text in TEXTS))
        case ".csv":
            with path.open("w", newline="") as stream:
                csv.writer(stream).writerows([["n", "text"], *enumerate(TEXTS)])
        case ".parquet":
            pq.write_table(pa.table({"text": [*TEXTS, None], "n": range(len(TEXTS) + 1)}), path, row_group_size=4)
    (file,) = note_files(path)
    assert isinstance(file, NoteFile)
    return file


@pytest.mark.parametrize("of", [1, 2, 3, 16, 200])
@pytest.mark.parametrize("name", ["notes.jsonl", "notes.csv", "notes.parquet"])
def test_the_pieces_of_a_file_are_the_file(tmp_path: Path, name: str, of: int) -> None:
    file = a_file(tmp_path, name)
    numbers, places = [], []
    for number in range(of):
        place = tmp_path / f"{number}{file.path.suffix}"
        piece_writer = open_writer(file, place, COLUMNS)
        for row in SliceReader({file.name: FileSlice(file, number, of)})(file, COLUMNS):
            numbers.append(row.number)
            piece_writer.write(row, Document("", row.content.text) if isinstance(row.content, Note) else None)
        piece_writer.close()
        places.append(place)
    assert numbers == [row.number for row in read_file(file, COLUMNS)]
    _join_slices(places, tmp_path / f"joined{file.path.suffix}")
    joined = tmp_path / f"joined{file.path.suffix}"
    if file.path.suffix == ".parquet":
        assert pq.read_table(joined).equals(pq.read_table(file.path), check_metadata=True)
    else:
        assert joined.read_bytes() == file.path.read_bytes()


def test_a_file_that_breaks_off_cannot_be_read_by_its_last_piece(tmp_path: Path) -> None:
    file = a_file(tmp_path, "notes.csv")
    with file.path.open("a") as stream:
        stream.write('1,"no end')
    assert list(SliceReader({file.name: FileSlice(file, 0, 4)})(file, COLUMNS))
    with pytest.raises(FormatError):
        list(SliceReader({file.name: FileSlice(file, 3, 4)})(file, COLUMNS))


@given(
    sizes=st.lists(st.tuples(st.integers(0, 1 << 27), st.sampled_from((".txt", ".csv", ".parquet"))), max_size=60),
    slots=st.integers(1, 50),
)
def test_each_file_is_in_one_group_with_all_of_its_pieces(sizes: list[tuple[int, str]], slots: int) -> None:
    files = [NoteFile(Path(f"{n}{kind}"), f"{n}{kind}", size, 0) for n, (size, kind) in enumerate(sizes)]
    sharing = SliceAssignment(sum(size for size, _ in sizes), slots)
    groups = list(sharing.groups(files))
    left = sharing.size
    for group in groups:
        most = sharing.task_bytes(left)  # or else some slots would wait for one at the end
        assert len(group) <= sharing.tasks + MOST_SLICES + 1
        for task in group:
            assert len({piece.file.name for piece in task}) == len(task)  # a task writes each name once
            assert len(task) == 1 or all(piece.of == 1 for piece in task)
            size = sum(piece.file.size / piece.of for piece in task)
            assert len(task) == 1 or size <= most
            assert task[0].file.name.endswith(".txt") or size <= max(most, task[0].file.size / MOST_SLICES)
        left -= sum(piece.file.size for task in group for piece in task if piece.number == 0)
    pieces = [[piece for task in group for piece in task] for group in groups]
    assert sorted(name for group in pieces for name in {piece.file.name for piece in group}) == sorted(
        file.name for file in files
    )
    for group in pieces:
        for file in {piece.file for piece in group}:
            own = [piece for piece in group if piece.file == file]
            assert [piece.number for piece in own] == list(range(own[0].of))
            assert own[0].of <= (1 if file.name.endswith(".txt") else MOST_SLICES)


@pytest.mark.parametrize("slots", [1, 2, 5])
def test_all_slots_end_at_about_the_same_time(slots: int) -> None:
    files = [NoteFile(Path(f"{n}.csv"), f"{n}.csv", 500_000 + 30_000 * (n % 3), 0) for n in range(16)]
    sharing = SliceAssignment(sum(file.size for file in files), slots)
    busy = [0.0] * slots
    for group in sharing.groups(files):
        for task in group:
            busy[busy.index(min(busy))] += sum(piece.file.size / piece.of for piece in task)
    assert max(busy) - min(busy) <= 1.01 * sharing.task_bytes(0)

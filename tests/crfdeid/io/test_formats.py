"""Reading and writing files of notes: all but the note's text comes out as it went in."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.documents import Document
from crfdeid.errors import DataError, FormatError, MissingExtraError
from crfdeid.io import parquet as parquet_files
from crfdeid.io import text as text_files
from crfdeid.io.records import Columns, Failure, Note, NoteFile, Record
from crfdeid.io.sources import note_format

PLAIN = Columns()
TEXTS = st.text(max_size=20) | st.sampled_from(["", "a,b", 'say "no"', "x\r\ny", "x\ny", "a;b\tc|d", "\x00", "\ufeff"])


def note_file(path: Path) -> NoteFile:
    return NoteFile(path, path.name, path.stat().st_size, 0)


def rows_of(path: Path, columns: Columns = PLAIN) -> list[Record]:
    file = note_file(path)
    kind = note_format(file)
    assert kind is not None
    return list(kind.read(file, columns))


def notes_of(path: Path, columns: Columns = PLAIN) -> list[Note | Failure]:
    return [row.content for row in rows_of(path, columns) if row.content is not None]


def rewritten(path: Path, change: Callable[[str], str], columns: Columns = PLAIN) -> Path:
    """The file written again beside itself, with each text changed."""
    file = note_file(path)
    kind = note_format(file)
    assert kind is not None
    target = path.with_name(f"new-{path.name}")
    writer = kind.writer(file, target, columns)
    for row in kind.read(file, columns):
        if isinstance(row.content, Note):
            writer.write(row, Document(row.content.id, change(row.content.text)))
        elif row.content is None:
            writer.write(row, None)
    writer.close()
    return target


def content(name: str, data: bytes) -> Path:
    """A file of its own; the folder goes when the test's process ends."""
    folder = TemporaryDirectory()
    _FOLDERS.append(folder)
    path = Path(folder.name) / name
    path.write_bytes(data)
    return path


_FOLDERS: list[TemporaryDirectory[str]] = []


@pytest.fixture(autouse=True)
def clear_folders() -> Any:
    yield
    while _FOLDERS:
        _FOLDERS.pop().cleanup()


def shout(text: str) -> str:
    return f"<{text}>"


# --- plain text


@given(TEXTS, st.booleans())
def test_text_comes_back_to_the_byte(text: str, mark: bool) -> None:
    data = (b"\xef\xbb\xbf" if mark else b"") + text.removeprefix("\ufeff").encode()
    path = content("note.txt", data)
    assert notes_of(path) == [Note("note", data.decode("utf-8-sig"), None)]
    assert rewritten(path, str).read_bytes() == data


def test_a_text_of_too_many_characters_is_not_read(tmp_path: Path) -> None:
    file = NoteFile(tmp_path / "nowhere.txt", "nowhere.txt", size=44, time=0)
    ((content, number, position, _, _),) = text_files.read(file, Columns(longest=10))
    assert isinstance(content, Failure)
    assert (content.error, number, position) == ("NoteTooLong", None, 44)
    (tmp_path / "10.txt").write_text("\ufeff" + "\U0001f600" * 10)
    (tmp_path / "11.txt").write_text("a" * 11)
    contents = [
        next(text_files.read(NoteFile(path, path.name, path.stat().st_size, 0), Columns(longest=10))).content
        for path in (tmp_path / "10.txt", tmp_path / "11.txt")
    ]
    assert [type(content) for content in contents] == [Note, Failure]


def test_a_text_that_is_not_utf8_is_refused_without_showing_it(tmp_path: Path) -> None:
    path = tmp_path / "note.txt"
    path.write_bytes("Señor Quill".encode("latin-1"))
    with pytest.raises(DataError, match="byte 2") as refused:
        rows_of(path)
    assert (refused.value.path, refused.value.line) == (path, 1)
    assert "Quill" not in str(refused.value)


# --- JSON Lines

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
OTHERS = st.dictionaries(TEXTS.filter(lambda name: name != "text"), VALUES, max_size=4)


@given(st.lists(st.tuples(OTHERS, TEXTS, OTHERS), max_size=5), st.booleans(), st.sampled_from(["\n", "\r\n"]))
def test_json_lines_keep_all_but_the_text(
    records: list[tuple[dict[str, Any], str, dict[str, Any]]], ascii_only: bool, end: str
) -> None:
    objects = [
        before | {"text": text} | {name: value for name, value in after.items() if name not in before}
        for before, text, after in records
    ]
    data = "".join(json.dumps(one, ensure_ascii=ascii_only) + end for one in objects).encode()
    path = content("notes.jsonl", data)
    assert rewritten(path, str).read_bytes() == data
    again = rewritten(path, shout).read_bytes().decode().split("\n")
    found = [json.loads(line) for line in again if line.strip()]
    assert found == [one | {"text": shout(one["text"])} for one in objects]
    assert [list(one) for one in found] == [list(one) for one in objects]


def test_json_lines_are_kept_to_the_byte_around_the_text(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    lines = [
        b'\xef\xbb\xbf{"n" : 1.50e+2,\t"text" : "Quill" , "big": 123456789012345678901.0, "x":"\\u00e9\\ud800"}\r\n',
        b"\n",
        b'{"text": null, "n": -0}\n',
        '{"text":"Señor","y":"ñ"}'.encode(),
    ]
    path.write_bytes(b"".join(lines))
    assert notes_of(path) == [
        Note("notes.jsonl:1", "Quill", None),
        Note("notes.jsonl:4", "Señor", None),
    ]
    assert rewritten(path, str).read_bytes() == path.read_bytes()
    assert rewritten(path, shout).read_bytes() == b"".join(lines).replace(b'"Quill"', b'"<Quill>"').replace(
        '"Señor"'.encode(), '"<Señor>"'.encode()
    )


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{", "not valid JSON"),
        (b"[1]", "not valid JSON"),
        (b'"text"', "not valid JSON"),
        (b'{"text": "a"} x', "not valid JSON"),
        (b'{"text": "a",}', "not valid JSON"),
        (b'{1: "a"}', "not valid JSON"),
        (b'{"text" "a"}', "not valid JSON"),
        (b"[" * 100_000, "not valid JSON"),
        (b'{"text": ' + b"[" * 100_000, "not valid JSON"),
        (b'{"text": "a", "text": "b"}', "twice"),
        (b'{"t\\u0065xt": "a", "text": "b"}', "twice"),
        (b'{"note": "a"}', "no 'text'"),
        (b"{}", "no 'text'"),
        (b'{"text": 3}', "does not hold text"),
        (b'{"text": ["a"]}', "does not hold text"),
        (b'{"text": "a\\ud800b"}', "lone surrogate"),
        (b'{"text": "a\xff"}', "not UTF-8 at byte 11"),
        (b'{"text": "a\xed\xa0\x80"}', "not UTF-8"),
    ],
)
def test_a_broken_json_line_fails_alone(tmp_path: Path, line: bytes, reason: str) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_bytes(b'{"text": "one"}\n' + line + b'\n{"text": "three"}\n')
    first, broken, third = notes_of(path)
    assert isinstance(broken, Failure)
    assert reason in broken.reason
    assert [first, third] == [Note(f"notes.jsonl:{n}", t, None) for n, t in ((1, "one"), (3, "three"))]


def test_the_offset_of_a_lone_surrogate_is_the_notes(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_bytes(b'{"text": "\\u00e9\\ud83d\\ude00 \\udc00"}\n')
    (failure,) = notes_of(path)
    assert isinstance(failure, Failure)
    assert failure.offset == 3


# --- CSV


def csv_bytes(
    rows: list[list[str]], *, delimiter: str = ",", end: str = "\r\n", quoting: int = csv.QUOTE_MINIMAL
) -> bytes:
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=delimiter, lineterminator=end, quoting=quoting).writerows(rows)
    return stream.getvalue().encode()


def csv_rows(data: bytes, delimiter: str = ",") -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode(), newline=""), delimiter=delimiter, strict=True))


@given(
    st.lists(st.tuples(TEXTS, TEXTS, TEXTS), max_size=5),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["\r\n", "\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.booleans(),
)
def test_csv_keeps_all_but_the_text(
    records: list[tuple[str, str, str]], delimiter: str, end: str, quoting: int, mark: bool
) -> None:
    if (end, quoting) == ("\n", csv.QUOTE_MINIMAL):  # csv.writer leaves a lone return bare then, which is no CSV.
        records = [(a.replace("\r", ""), b.replace("\r", ""), c.replace("\r", "")) for a, b, c in records]
    rows = [["id", "text", "more"], *map(list, records)]
    data = (b"\xef\xbb\xbf" if mark else b"") + csv_bytes(rows, delimiter=delimiter, end=end, quoting=quoting)
    path = content("notes.csv", data)
    assert [note.text for note in notes_of(path) if isinstance(note, Note)] == [text for _, text, _ in records]
    assert rewritten(path, str).read_bytes() == data
    again = rewritten(path, shout).read_bytes()
    assert again.startswith(b"\xef\xbb\xbf") is mark
    expected = [rows[0], *([one, shout(text), two] for one, text, two in records)]
    assert csv_rows(again.removeprefix(b"\xef\xbb\xbf"), delimiter) == expected


@given(st.lists(TEXTS, max_size=5), TEXTS)
def test_a_csv_of_one_column_keeps_its_rows(texts: list[str], new: str) -> None:
    path = content("notes.csv", csv_bytes([["text"], *([text] for text in texts)]))
    assert csv_rows(rewritten(path, lambda _: new).read_bytes()) == [["text"], *([new] for _ in texts)]


def test_csv_is_kept_to_the_byte_around_the_text(tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    path.write_bytes(b'"a",text,b\r\n"007",Quill,""\n\n5" tall,"Quill, ""Ann""",x"y\r\n,Quill,')
    assert rewritten(path, lambda text: text.replace("Quill", "[P]")).read_bytes() == (
        b'"a",text,b\r\n"007",[P],""\n\n5" tall,"[P], ""Ann""",x"y\r\n,[P],'
    )
    assert [row.number for row in rows_of(path)] == [0, 1, 2, 3, 4]


def test_csv_fields_may_be_long(tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    text = 'a "b", ' * 300_000
    path.write_bytes(csv_bytes([["text", "n"], [text, "1"]]))
    assert notes_of(path) == [Note("notes.csv:1", text, None)]
    assert rewritten(path, str).read_bytes() == path.read_bytes()


def test_a_csv_row_that_is_broken_fails_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    path.write_bytes(b"id,text\n1,one\n2,two, and more\n3\n4,fo\xffur\n5\xff,five\n6,six\n")
    contents = notes_of(path)
    assert [bool(isinstance(one, Failure)) for one in contents] == [False, True, True, True, True, False]
    assert "3 fields where the header has 2" in str(contents[1])
    assert "not UTF-8" in str(contents[3])
    assert rewritten(path, str).read_bytes() == b"id,text\n1,one\n6,six\n"


@pytest.mark.parametrize(
    ("data", "line", "named"),
    [
        (b"", None, "'text'"),
        (b"id,note\n1,Quill\n", None, "'text'"),
        (b"text,text\nQuill,Quill\n", None, "'text'"),
        (b'text\n"Quill" x\n', 2, "RFC 4180"),
        (b'text\n"Quill\nand so on\n', 2, "RFC 4180"),
        (b"text\rQuill\r", 1, "RFC 4180"),
    ],
)
def test_a_csv_file_without_clear_rows_is_refused(tmp_path: Path, data: bytes, line: int | None, named: str) -> None:
    path = tmp_path / "notes.csv"
    path.write_bytes(data)
    with pytest.raises(FormatError, match=named) as refused:
        rows_of(path)
    assert (refused.value.path, refused.value.line) == (path, line)
    assert "Quill" not in str(refused.value)


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b'text\n"Quill" x\n', 2),
        (b'text,n\nQuill,1\n"Quill,2\nQuill,3\n\n"Quill\n', 3),  # opened on line 3, closed by the next quote
        (b'text\nQuill\n"one\ntwo"\n"Quill\nand so on\n', 5),
        (b'text,n\n"a\nb","c', 2),
        (b"text\nQuill\nQuill\rQuill\n", 3),
    ],
)
def test_broken_quotes_are_named_with_the_line_of_their_row(tmp_path: Path, data: bytes, line: int) -> None:
    path = tmp_path / "notes.csv"
    path.write_bytes(data)
    with pytest.raises(DataError) as refused:
        rows_of(path)
    assert refused.value.line == line


@pytest.mark.parametrize("name", ["notes.csv", "notes.jsonl", "notes.txt"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16_is_recognised_and_never_read_as_something_else(tmp_path: Path, name: str, encoding: str) -> None:
    path = tmp_path / name
    path.write_bytes('text\n{"text": "Quill, señor"}\n'.encode(encoding))
    with pytest.raises(DataError, match="UTF-16") as refused:
        rows_of(path)
    assert "Quill" not in str(refused.value)


# --- Parquet


def parquet(table: pa.Table, **options: Any) -> Path:
    path = content("notes.parquet", b"")
    pq.write_table(table, path, **options)
    return path


TEXT_TYPES = [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]


@given(
    st.lists(st.tuples(st.none() | st.integers(-9, 9), st.none() | TEXTS, st.lists(TEXTS, max_size=2)), max_size=8),
    st.sampled_from(TEXT_TYPES),
    st.integers(1, 8),
)
def test_parquet_keeps_all_but_the_text(rows: list[tuple[Any, Any, Any]], kind: pa.DataType, group: int) -> None:
    table = pa.table(
        {
            "n": pa.array([row[0] for row in rows], pa.int8()),
            "text": pa.array([row[1] for row in rows], pa.string()).cast(kind),
            "list": pa.array([row[2] for row in rows], pa.list_(pa.string())),
        }
    ).replace_schema_metadata({"made": "by hand"})
    path = parquet(table, row_group_size=group)
    found = pq.read_table(rewritten(path, shout))
    assert found.schema.equals(pq.read_table(path).schema, check_metadata=True)
    expected = [{"n": n, "text": None if text is None else shout(text), "list": more} for n, text, more in rows]
    assert found.to_pylist() == expected


@pytest.mark.parametrize("kind", TEXT_TYPES, ids=str)
def test_parquet_of_many_rows_keeps_their_order(kind: pa.DataType) -> None:
    many = 1000
    texts = pa.array([f"note {n}" for n in range(many)], pa.string()).cast(kind)
    path = parquet(pa.table({"text": texts, "n": range(many)}), row_group_size=300)
    again = pq.read_table(rewritten(path, shout)).to_pylist()
    assert again == [{"text": f"<note {n}>", "n": n} for n in range(many)]
    assert rows_of(path)[-1].number == many


def test_few_long_parquet_rows_are_in_memory_together(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": [f"{n}".rjust(1 << 20) for n in range(40)]}), tmp_path / "n.parquet")
    file = NoteFile(tmp_path / "n.parquet", "n.parquet", (tmp_path / "n.parquet").stat().st_size, 0)
    batches = [row.passthrough[0] for row in parquet_files.read(file, Columns())]
    assert len(batches) == 40
    assert max(batch.nbytes for batch in batches) < 1 << 25


def test_columns_of_every_type_are_kept_where_a_row_is_left_out() -> None:
    day = datetime(2031, 3, 14, 15, 9, 26, tzinfo=UTC)
    row = {
        "text": "a",
        "when": day,
        "day": day.date(),
        "exact": Decimal("1.50"),
        "bytes": b"\xff",
        "nested": {"a": [1, None], "b": {"c": "x"}},
        "none": None,
        "flag": True,
    }
    table = pa.Table.from_pylist([row, {"text": None}, row])
    table = table.append_column("map", pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int64())))
    table = table.append_column("level", pa.array(["low", None, "low"]).dictionary_encode())
    path = parquet(table)
    file = note_file(path)
    target = path.with_name("new.parquet")
    writer = note_format(file).writer(file, target, PLAIN)
    first, _, third = rows_of(path)
    for kept in (first, third):
        writer.write(kept, Document("", "b"))
    writer.close()
    left = [{**one, "text": "b"} for one in table.to_pylist() if one["text"]]
    assert pq.read_table(target).to_pylist() == left
    assert pq.read_table(target).schema == pq.read_table(path).schema


def test_a_parquet_row_that_is_not_utf8_fails_alone() -> None:
    broken = pa.Array.from_buffers(
        pa.string(), 3, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0"), pa.py_buffer(b"a\xffc")]
    )
    path = parquet(pa.table({"text": broken, "n": [1, 2, 3]}))
    assert [isinstance(one, Failure) for one in notes_of(path)] == [False, True, False]
    assert pq.read_table(rewritten(path, shout)).to_pylist() == [{"text": "<a>", "n": 1}, {"text": "<c>", "n": 3}]


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"note": ["a"]}),
        pa.table([["a"], ["b"]], names=["text", "text"]),
        pa.table({"text": [1]}),
        pa.table({"text": [b"a"]}),
    ],
)
def test_a_parquet_file_without_a_column_of_text_is_refused(table: pa.Table) -> None:
    path = parquet(table)
    with pytest.raises(FormatError, match="'text'") as refused:
        rows_of(path)
    assert refused.value.path == path


def test_what_is_no_parquet_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.parquet"
    path.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(FormatError) as refused:
        rows_of(path)
    assert refused.value.path == path


def test_without_pyarrow_parquet_ends_the_run_with_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "notes.parquet"
    path.write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "crfdeid.io.parquet")
    with pytest.raises(MissingExtraError, match=r"crfdeid\[parquet\]"):
        rows_of(path)


# --- columns that are left out

DROPPED = Columns(drop=("name", "born"))


@given(
    st.lists(st.tuples(*[TEXTS] * 5), min_size=1, max_size=4),
    st.permutations(["name", "text", "born", "kept", "more"]),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.booleans(),
)
def test_csv_columns_are_left_out_and_the_others_stay(
    rows: list[tuple[str, ...]], header: list[str], delimiter: str, quoting: int, mark: bool
) -> None:
    data = csv_bytes([header, *map(list, rows)], delimiter=delimiter, quoting=quoting)
    path = content("notes.csv", (b"\xef\xbb\xbf" if mark else b"") + data)
    again = rewritten(path, shout, DROPPED).read_bytes()
    assert again.startswith(b"\xef\xbb\xbf") is mark
    kept = [place for place, name in enumerate(header) if name not in DROPPED.drop]
    expected = [[shout(row[i]) if header[i] == "text" else row[i] for i in kept] for row in rows]
    assert csv_rows(again.removeprefix(b"\xef\xbb\xbf"), delimiter) == [[header[i] for i in kept], *expected]


def test_a_csv_text_that_is_left_alone_stays_a_row(tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    path.write_bytes(b"name,text\r\nQuill,\r\nQuill,x\r\n\r\n")
    assert rewritten(path, str, Columns(drop=("name",))).read_bytes() == b'text\r\n""\r\nx\r\n\r\n'


@given(
    st.lists(
        st.tuples(st.permutations(["name", "text", "born", "kept"]), VALUES, TEXTS | st.none()), min_size=1, max_size=4
    ),
    st.booleans(),
    st.sampled_from([None, (",", ":"), (" , ", " : ")]),
)
def test_json_keys_are_left_out_and_the_others_stay(
    rows: list[tuple[list[str], Any, str | None]], ascii_only: bool, separators: tuple[str, str] | None
) -> None:
    objects = [{key: text if key == "text" else value for key in keys} for keys, value, text in rows]
    lines = [json.dumps(one, ensure_ascii=ascii_only, separators=separators) for one in objects]
    path = content("notes.jsonl", "".join(f" {line} \n" for line in lines).encode())
    again = rewritten(path, shout, DROPPED).read_bytes().decode().split("\n")
    kept = [
        {key: shout(value) if key == "text" and value is not None else value for key, value in one.items()}
        for one in ({key: value for key, value in one.items() if key not in DROPPED.drop} for one in objects)
    ]
    assert [json.loads(line) for line in again if line.strip()] == kept
    assert [list(json.loads(line)) for line in again if line.strip()] == [list(one) for one in kept]


def test_json_lines_are_kept_to_the_byte_around_what_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_bytes(
        b'\xef\xbb\xbf{ "n\\u0061me" : "Quill", "text":"a" , "x":1.50, "born":[1, {"name": 2}] }\r\n'
        b'{"x": 1, "born": 2, "text": null}\n\n{"text": "b"}'
    )
    assert rewritten(path, str, DROPPED).read_bytes() == (
        b'\xef\xbb\xbf{ "text":"a" , "x":1.50 }\r\n{"x": 1, "text": null}\n\n{"text": "b"}'
    )


def test_parquet_columns_are_left_out_and_the_others_stay() -> None:
    frame = pd.DataFrame({"name": ["Quill", "Vole"], "text": ["a", "b"], "n": [1, 2], "born": [3, 4]}).set_index("name")
    path = parquet(pa.Table.from_pandas(frame))
    found = pq.read_table(rewritten(path, shout, DROPPED))
    assert found.to_pylist() == [{"text": "<a>", "n": 1}, {"text": "<b>", "n": 2}]
    assert list(found.to_pandas().columns) == ["text", "n"]
    assert b"Quill" not in rewritten(path, shout, DROPPED).read_bytes()


def test_a_dropped_column_can_still_say_whose_a_note_is(tmp_path: Path) -> None:
    for path in table_files(tmp_path):
        columns = Columns(id="key", patient="who", drop=("who", "key"))
        assert notes_of(path, columns)[0] == Note("k1", "a", "p1")
        assert b"k1" not in rewritten(path, shout, columns).read_bytes()


def test_a_column_to_drop_that_is_not_there_fails_the_file(tmp_path: Path) -> None:
    for path in table_files(tmp_path):
        with pytest.raises(FormatError, match="'nmae'"):
            rows_of(path, Columns(drop=("who", "nmae")))
    (tmp_path / "some.jsonl").write_text('{"text": "a"}\n{"text": "b", "name": "Quill"}\n')
    assert len(notes_of(tmp_path / "some.jsonl", Columns(drop=("name",)))) == 2


# --- what notes are called and whose they are


def table_files(folder: Path) -> list[Path]:
    """The same three rows in each kind of table."""
    rows: list[dict[str, Any]] = [
        {"text": "a", "who": "p1", "key": "k1"},
        {"text": "b", "who": "", "key": ""},
        {"text": "c", "who": "p1", "key": "k3"},
    ]
    (folder / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "t.csv").write_bytes(csv_bytes([list(rows[0]), *(list(row.values()) for row in rows)]))
    pq.write_table(pa.Table.from_pylist(rows), folder / "t.parquet")
    return [folder / "t.jsonl", folder / "t.csv", folder / "t.parquet"]


def test_columns_name_notes_and_patients(tmp_path: Path) -> None:
    for path in table_files(tmp_path):
        second = f"{path.name}:2"
        assert notes_of(path, Columns(id="key", patient="who")) == [
            Note("k1", "a", "p1"),
            Note(second, "b", None),
            Note("k3", "c", "p1"),
        ]


def test_a_missing_patient_column_is_never_passed_over(tmp_path: Path) -> None:
    for path in table_files(tmp_path)[1:]:
        with pytest.raises(FormatError, match="nobody"):
            rows_of(path, Columns(patient="nobody"))


def test_json_lines_have_ids_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    lines = ['"id": "k1"', '"id": 7', '"id": null', '"id": ""', '"id": [1]', '"id": true', '"x": 1', '"id": "\\ud800"']
    path.write_text("".join(f'{{"text": "a", {line}, "key": "k"}}\n' for line in lines))
    unnamed = [f"t.jsonl:{number}" for number in range(3, 8)]
    *notes, broken = notes_of(path, Columns(use_id_key=True))
    assert [note.id for note in notes if isinstance(note, Note)] == ["k1", "7", *unnamed]
    assert isinstance(broken, Failure)
    assert notes_of(path)[0] == Note("t.jsonl:1", "a", None)
    assert notes_of(path, Columns(id="key", use_id_key=True))[0] == Note("k", "a", None)
    (tmp_path / "u.jsonl").write_text('{"id": "Quill here"}\n')
    assert notes_of(tmp_path / "u.jsonl", Columns("id", use_id_key=True)) == [Note("u.jsonl:1", "Quill here", None)]


def test_numbers_are_names_too_and_lists_are_not(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"text": "a", "who": 12}\n{"text": "a", "who": [1]}\n{"text": "a", "who": "\\ud800"}\n')
    note, *others = notes_of(path, Columns(patient="who"))
    assert note == Note("t.jsonl:1", "a", "12")
    assert all(isinstance(other, Failure) for other in others)

"""What is read as a date, and that nothing but the changed values changes in a table."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.errors import UsageError
from crfdeid.io.date_columns import FIRST_ROWS, DateColumns, DateGuard, date_in
from crfdeid.io.records import Columns, Note, NoteFile
from crfdeid.io.sources import open_writer, read_file

CHANGES = DateColumns(shift=("born",), hash=("ward",), refuse=True, date_order="dmy", secret=b"a secret of 16 b")


@pytest.mark.parametrize(
    ("text", "sureness"),
    [
        ("2031-03-14", "sure"),
        ("2031-03-14 10:22:33.123+01:00", "sure"),
        ("14/03/2031 10:22 PM", "sure"),
        ("Tue, 14 Mar 2031 10:22:00 GMT", "sure"),
        ("14 de marzo de 2031", "sure"),
        ("٢٠٣١-٠٣-١٤", "sure"),
        ("14⁄03⁄2031", "sure"),
        ("14-MAR-31", "sure"),
        ("20310314102200", "possible"),
        ("3/14/31", "possible"),
        ("March 2031", None),
        ("2031", None),
        ("10:30:15", None),
        ("2031-13-45", None),
        ("555-12-2031", None),
        ("seen by Quill on 14/03/2031", None),
        ("", None),
    ],
)
def test_a_text_is_a_whole_date_or_none(text: str, sureness: str | None) -> None:
    assert date_in(text) == sureness


def test_numbers_that_can_be_dates_are_judged_together() -> None:
    guard = DateGuard(DateColumns(refuse=True))
    for _ in range(FIRST_ROWS - 1):
        guard.see([("mrn", "20310314"), ("day", 20310314)])
    with pytest.raises(UsageError, match="'day'"):
        guard.see([("mrn", "48221370"), ("day", None)])


def rewritten(kind: str, content: bytes, changes: DateColumns) -> bytes:
    """A table as it is written again without a change of its texts."""
    with TemporaryDirectory() as folder:
        source, target = Path(folder, f"in{kind}"), Path(folder, f"out{kind}")
        source.write_bytes(content)
        columns = Columns(patient="who", dates=changes)
        file = NoteFile(source, source.name, len(content), 0)
        sink = open_writer(file, target, columns)
        for record in read_file(file, columns):
            assert record.content is None or isinstance(record.content, Note)
            sink.write(record, None)
        sink.close()
        return target.read_bytes()


CELLS = st.text(alphabet='aé ,"\n;x', max_size=8)


@given(
    st.lists(st.tuples(CELLS, CELLS, st.dates().map(str)), max_size=5),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
)
def test_a_csv_file_changes_in_its_changed_fields_alone(rows: list[tuple[str, str, str]], quoting: int) -> None:
    stream = io.StringIO(newline="")
    table = csv.writer(stream, quoting=quoting)
    table.writerows([("born", "text", "who", "ward"), *((born, text, "1", ward) for text, ward, born in rows)])
    content = stream.getvalue().encode()
    assert rewritten(".csv", content, replace(CHANGES, shift=(), hash=(), allow=("born",))) == content
    found = [
        *csv.reader(
            io.StringIO(rewritten(".csv", content, replace(CHANGES, shift=(), allow=("born",))).decode(), newline="")
        )
    ]
    assert found[0] == ["born", "text", "who", "ward"]
    for (text, ward, born), (new_born, new_text, who, new_ward) in zip(rows, found[1:], strict=True):
        assert (new_born, new_text, who) == (born, text, "1")
        assert len(new_ward) == (32 if ward else 0)


VALUES = st.one_of(st.none(), st.text(max_size=5), st.integers(), st.floats(allow_nan=False), st.booleans())


@given(
    st.text(max_size=9),
    VALUES,
    st.text(min_size=1, max_size=5),
    st.booleans(),
    st.permutations(["text", "who", "ward", "b"]),
)
def test_a_line_of_json_changes_in_its_changed_values_alone(
    text: str, other: object, ward: str, ascii_only: bool, order: list[str]
) -> None:
    members = {"text": text, "who": "1", "ward": ward, "b": {"inner": [other, "x"]}}
    line = json.dumps({name: members[name] for name in order}, ensure_ascii=ascii_only)
    changes = replace(CHANGES, shift=())
    found = rewritten(".jsonl", line.encode() + b"\n", changes).decode()
    value = json.dumps(changes.new_value("ward", ward, "1", text))
    old = json.dumps(ward, ensure_ascii=ascii_only)
    assert found == line.replace(f'"ward": {old}', f'"ward": {value}') + "\n"

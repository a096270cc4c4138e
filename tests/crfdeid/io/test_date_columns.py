"""What is read as a date, and that nothing but the changed values changes in a table."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import re
from contextlib import nullcontext
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.errors import FormatError, OptionConflictError, UsageError
from crfdeid.io.date_columns import FIRST_ROWS, DateColumns, DateGuard, date_in
from crfdeid.io.records import Columns, Note, NoteFile
from crfdeid.io.sources import open_writer, read_file, require_no_dates
from crfdeid.secrets import Keys

CHANGES = DateColumns(shift=("born",), hash=("ward",), refuse=True, date_order="dmy", keys=Keys(b"a secret of 16 b"))


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
        ("14. März 2031", "sure"),
        ("Freitag, den 14.3.2031, 10.22 Uhr", "sure"),
        ("vendredi 1er mai 2031 à 10h22", "sure"),
        ("2031-Mar-14", "sure"),
        ("14/Mar/2031:10:22:00 +0000", "sure"),
        ("2031-W11-5", "sure"),
        ("2031-03-14_007", "sure"),
        ("visit_14.03.2031.txt", "sure"),
        ("marzo_14,_2031", "sure"),
        ("visit March-14-2031.txt", "sure"),
        ("/Date(1930780800000)/", "sure"),
        ("Tawn_14_2031", None),
        ("2031/03/14/note", "sure"),
        ("2031-03-14T10:22:00.123+0100[Europe/Madrid]", "sure"),
        ("20310314102200", "possible"),
        ("20310314T102200Z", "possible"),
        ("20310314.0", "possible"),
        ("visit_20310314_2", "possible"),
        ("14 mars", "possible"),
        ("scan20310314", "possible"),
        ("14.03.31_a", "possible"),
        ("14032031", "possible"),
        ("2031073", "possible"),
        ("2031 03 14", "possible"),
        ("1931240520", "possible"),
        ("1931240520123", "possible"),
        ("14 marzec 2031", "possible"),
        ("Friday", "possible"),
        ("Fr.", "possible"),
        ("14.iii.2031", "sure"),
        ("14-XI-2031", "sure"),
        ("2031年3月14日", "sure"),
        ("２０３１－０３－１４", "sure"),
        ("admitted 2031-03-14", "sure"),
        ("2031-03-14 10:22:00 America/New_York", "sure"),
        ("report_14Mar2031.txt", "sure"),
        ("Fridays", None),
        ("2031367", None),
        ("4821337", None),
        ("20311314.0", None),
        ("555-0134", None),
        ("120/80", None),
        ("1.12.3", None),
        ("A2031-12345", None),
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


@pytest.mark.parametrize(
    "value",
    [
        "14. März 2031",
        "2031-03-14_007",
        {"visits": [{"2031-03-14": "seen"}]},
        {"14 mars 2031": None},
        20310314.0,
        [20310314.0],
        Decimal("20310314"),
        1931240520,
        1931240520000.0,
        "vendredi",
        b"2031-03-14",
        [dt.date(2031, 3, 14)],
        {"at": {dt.datetime(2031, 3, 14)}},
        {"visit of 14.03.2031": 1},
    ],
)
def test_a_date_in_the_clear_is_refused_in_every_form(value: object) -> None:
    guard = DateGuard(DateColumns(refuse=True))
    with pytest.raises(UsageError, match="'column'"):
        for _ in range(FIRST_ROWS):
            guard.see([("column", value)])


@pytest.mark.parametrize("value", [3.5, float("nan"), 555.0, True, {"mrn": 48221370}, "2031", "v1.12.2031"])
def test_what_is_no_date_passes(value: object) -> None:
    guard = DateGuard(DateColumns(refuse=True))
    guard.see([("column", value)])
    guard.end()


def test_a_column_that_is_named_by_a_date_is_refused() -> None:
    with pytest.raises(UsageError, match="2031-03-14"):
        DateGuard(DateColumns(refuse=True)).see([("2031-03-14", "seen")])
    for change in ({"shift": ("2031-03-14",)}, {"hash": ("2031-03-14",)}):
        with pytest.raises(OptionConflictError):
            DateColumns(refuse=True, **change).require_possible("text", ())


DAY = dt.date(2031, 3, 14)


@pytest.mark.parametrize(
    ("value", "form"),
    [
        ("2031-03-14T10:22:00Z", "%Y-%m-%dT10:22:00Z"),
        ("14/Mar/2031:10:22:00 +0000", "%d/%b/%Y:10:22:00 +0000"),
        ("20310314.0", "%Y%m%d.0"),
        (20310314, "%Y%m%d"),
        (20310314.0, "%Y%m%d.0"),
        ("2031-W11-5", "%G-W%V-%u"),
        ("14. März 2031", None),
        ("14 mars 2031", None),
    ],
)
def test_a_date_to_shift_moves_as_those_of_notes_in_its_form(value: str | float, form: str | None) -> None:
    new = DAY + dt.timedelta(CHANGES.days("p", ""))
    found = CHANGES.new_value("born", value, "p", "")
    assert type(found) is type(value)
    if form is None:
        assert str(found).startswith(f"{new.day}") and str(found).endswith(f" {new.year}") and found != value
    else:
        assert re.sub(r"(?<!\d)0(?=\d/)", "", str(found)) == re.sub(r"(?<!\d)0(?=\d/)", "", new.strftime(form))


@pytest.mark.parametrize("value", ["10:22", "today", "seen by Quill", "2031-02-30"])
def test_a_value_to_shift_that_is_no_date_is_refused(value: str) -> None:
    with pytest.raises(FormatError):
        CHANGES.new_value("born", value, "p", "")


NAMES = [
    (("a.txt", "b.txt"), False),
    (("a.txt", "2031-03-14.txt"), True),
    (("p1/visit 1.txt", "p1/2031_03_14/a.txt"), True),
    (("2031/03/14/a.txt",), True),
    (("a.txt", "20310314.txt"), False),
    (("20310314.txt", "20310315_2.txt"), True),
    (("48221370.txt",), False),
    (("a.txt", "2031-03-14.png"), False),
    (("a.txt", "2031-03-14.pdf"), True),
]


@pytest.mark.parametrize(("names", "refused"), NAMES)
def test_names_of_files_with_dates_are_refused_unless_they_are_renamed(names: tuple[str, ...], refused: bool) -> None:
    files = [NoteFile(Path(name), name, 1, 0) for name in names]
    columns = Columns(dates=DateColumns(refuse=True))
    with pytest.raises(UsageError) if refused else nullcontext():
        require_no_dates(files, columns)
    require_no_dates([file._replace(renamed="0f" * 16 + ".txt") for file in files], columns)
    require_no_dates(files, Columns())  # without surrogates


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

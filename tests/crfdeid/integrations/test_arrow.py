"""RedactBatches: what `crfdeid redact` gives, whatever the batches; nothing of a note where it should not be."""

from __future__ import annotations

import datetime as dt
import gc
import io
import json
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from notes_samples import tiny_model
from patient_cases import NOBODY_TEXTS, TWELVE_TEXTS
from pyarrow import csv

from crfdeid import DataError, Document, Policy, Span, UsageError
from crfdeid.cli import main
from crfdeid.corpora.splits import Corpus, Split
from crfdeid.errors import NotFoundError, OptionConflictError, SecretError, UnknownNameError
from crfdeid.integrations import arrow
from crfdeid.integrations.arrow import RedactBatches
from crfdeid.known_phi.lists import CustomLists, Term
from crfdeid.model_card.card import write_card
from crfdeid.model_card.training import make_card
from crfdeid.pipeline import Deidentifier
from crfdeid.redaction import redactor
from crfdeid.redaction.encryption import reveal
from crfdeid.registry import load_tagger
from crfdeid.secrets import SECRET_VARIABLE, read_encryption_key

SECRET = "a secret of the tests, long enough"
NOTES = [
    "Patient Quill was seen on 3/4/2031.\nAttending: Dr. Marsh, call 555-2000. Leg pain.\n",
    None,
    "Patient Orla Marsh was seen on 5/6/2031.",
    "",
    "No name.\x00 Ünïcode 🩺 here; Dr. Quill signs.",
    "Patient Quill was seen on 3/4/2031.\nAttending: Dr. Marsh, call 555-2000. Leg pain.\n",
    "JosÃ© is damaged.",
]
PATIENTS = ["7", None, " 7.0", "nan", "8", None, "8"]
DONE, NULL, FAILED = "done", "null", "failed"
STATUS = [DONE, NULL, DONE, DONE, DONE, DONE, FAILED]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("engines") / "model")


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECRET_VARIABLE, SECRET)


def table(notes: list[str | None] = NOTES, kind: pa.DataType | None = None) -> pa.Table:
    columns = {"n": range(len(notes)), "note": pa.array(notes, kind or pa.string()), "mrn": PATIENTS[: len(notes)]}
    return pa.table(columns, metadata={"from": "the ward"})


@pytest.mark.parametrize(
    ("policy", "patient", "options"),
    [
        (Policy(), None, ["--operator", "label"]),
        (Policy("remove"), None, ["--operator", "remove"]),
        (Policy("numbered", accept_damaged=True), None, ["--operator", "numbered", "--allow-mojibake"]),
        (Policy("mask", markup="plain"), None, ["--operator", "mask", "--markup", "plain"]),
        (Policy("surrogate", locale="en_GB"), None, ["--operator", "surrogate", "--locale", "en_GB"]),
        (
            Policy("surrogate", locale="en_US", date_order="dmy", consistent=False),
            "mrn",
            [
                "--operator",
                "surrogate",
                "--locale",
                "en_US",
                "--date-order",
                "dmy",
                "--no-consistency",
                "--patient-column",
                "mrn",
            ],
        ),
    ],
)
def test_results_are_those_of_the_command(
    model: Path, tmp_path: Path, policy: Policy, patient: str | None, options: list[str]
) -> None:
    pq.write_table(table(), tmp_path / "notes.parquet")
    arguments = ["redact", model, tmp_path / "notes.parquet", "--output", tmp_path / "out"]
    failed = main([*map(str, arguments), "--text-column", "note", *options])
    expected = pq.read_table(tmp_path / "out" / "notes.parquet")
    result = RedactBatches(model, policy, "note", patient)(table())
    assert result.filter(pc.not_equal(result["status"], FAILED)).select(expected.column_names).equals(expected)
    assert result.schema.metadata == table().schema.metadata
    assert (FAILED in result["status"].to_pylist()) == bool(failed)
    assert expected["note"].to_pylist()[0] != NOTES[0], "there is something to compare"


@pytest.mark.parametrize(
    ("column", "is_one"),
    [
        (pa.array(TWELVE_TEXTS), True),
        (pa.array([12] * 9), True),
        (pa.array([12.0] * 9), True),
        (pa.array(NOBODY_TEXTS), False),
        (pa.array([None, float("nan")] * 5, pa.float64()), False),
        (pa.nulls(9, pa.int64()), False),
    ],
)
def test_rows_are_of_one_patient_or_of_none(model: Path, column: pa.Array, is_one: bool) -> None:
    texts = [f"Patient Quill was seen on 3/4/2031. Bay {number}." for number in range(len(column))]
    made = RedactBatches(model, Policy("surrogate", locale="en_US"), "note", "who")(
        pa.table({"note": texts, "who": column})
    )
    found = {text.partition(" Bay")[0] for text in made["note"].to_pylist()}
    one = RedactBatches(model, Policy("surrogate", locale="en_US"), "note", "who")(
        pa.table({"note": texts[:1], "who": ["12"]})
    )["note"][0].as_py()
    assert found == {one.partition(" Bay")[0]} if is_one else len(found) == len(texts)


KINDS = [
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.dictionary(pa.int8(), pa.string()),
    pa.dictionary(pa.int32(), pa.large_string()),
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_text_of_every_kind_keeps_its_type(model: Path, kind: pa.DataType) -> None:
    redact = RedactBatches(model, Policy(), "note")
    result = redact(table(kind=kind))
    assert result.schema == redact.output_schema(table(kind=kind).schema)
    assert result["note"].type == kind
    assert result["note"].to_pylist() == redact(table())["note"].to_pylist()
    stream = io.BytesIO()
    with pa.ipc.new_stream(stream, result.schema) as out:
        out.write_table(result)
    assert b"Marsh" not in stream.getvalue(), "no dictionary of the old texts is left"


def test_each_row_says_what_was_done(model: Path) -> None:
    redact = RedactBatches(model, Policy(), "note")
    rows = redact(table()).to_pylist()
    assert [row["status"] for row in rows] == STATUS
    assert [row["error_type"] for row in rows] == [None] * 6 + ["DataError"]
    damaged = table()["note"][6].as_py().index("Ã")
    assert [row["error_offset"] for row in rows] == [None] * 6 + [damaged]
    assert rows[0]["n_spans"] == 4
    assert [row["n_spans"] for row in rows[1:4]] == [None, 2, 0]
    assert {(row["model_sha256"], row["policy"]) for row in rows} == {(redact.model_sha256, Policy().name)}
    assert rows[6]["note"] is None
    assert rows[1]["note"] is None
    assert [row["mrn"] for row in rows] == PATIENTS


@given(data=st.data())
def test_any_slicing_gives_the_same(model: Path, data: st.DataObject) -> None:
    redact = RedactBatches(model, Policy("surrogate", locale="en_US"), "note", "mrn")
    whole = redact(table())
    lengths = data.draw(st.lists(st.integers(0, 4), max_size=12))
    kind = data.draw(st.sampled_from(KINDS))
    rows, characters = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 200))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrow, "_ROWS", rows)
        patch.setattr(arrow, "_CHARACTERS", characters)
        results = list(redact.batches(sliced(table(kind=kind), lengths)))
    again = pa.Table.from_batches(results, redact.output_schema(table(kind=kind).schema))
    assert again.to_pylist() == whole.to_pylist()
    assert all(result.num_rows <= rows for result in results)


def sliced(notes: pa.Table, lengths: Sequence[int]) -> Iterator[pa.RecordBatch]:
    """The rows as batches of these lengths, each a slice of one batch, and a last one with the rest."""
    (batch,) = notes.combine_chunks().to_batches()
    start = 0
    for length in lengths:
        yield batch.slice(start, length)
        start = min(start + length, batch.num_rows)
    yield batch.slice(start)


def test_batches_are_read_as_they_are_needed(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow, "_CHARACTERS", 100)
    taken = []

    def notes() -> Iterator[pa.RecordBatch]:
        for number in range(3):
            taken.append(number)
            yield from table().to_batches()

    results = RedactBatches(model, Policy(), "note").batches(notes())
    assert next(results).num_rows == 3, "as many as have 100 characters"
    assert taken == [0]
    assert sum(result.num_rows for result in results) == 3 * len(NOTES) - 3
    assert taken == [0, 1, 2]


MARKED = [
    (r"Dr. Qu{\b ill} at 5\~mg", "rtf"),
    ("Dr. Qu<b>ill</b> 5 mg", "text/html"),
    ("Dr. Qu<b>ill</b>, <i>5 mg</i>", None),
    ("Dr. Quill", "auto"),
    ("Dr. Quill", "TEXT/PLAIN"),
    ("Dr. Quill", "Marsh"),
    ("Dr. Quill", ""),
    (None, "Marsh"),
]


@pytest.mark.parametrize("kind", [pa.string(), pa.dictionary(pa.int8(), pa.string())])
def test_a_column_names_the_format_of_each_row(kind: pa.DataType, tmp_path: Path) -> None:
    notes, formats = zip(*MARKED, strict=True)
    rows = pa.table({"note": notes, "kind": pa.array(formats, kind)})
    found = RedactBatches("rules", Policy(), "note", markup_column="kind")(rows)
    assert found["status"].to_pylist() == [DONE] * 5 + [FAILED, DONE, NULL]
    assert found["error_type"].to_pylist() == [None] * 5 + ["DataError", None, None]
    assert not any("ill" in text for text in found["note"].to_pylist() if text)
    assert found["note"].to_pylist()[:2] == [r"Dr. [DOCTOR]{\b } at 5\~mg", "Dr. [DOCTOR]<b></b> 5 mg"]
    assert found["kind"].equals(rows["kind"])
    pq.write_table(rows, tmp_path / "notes.parquet")
    options = ["--output", str(tmp_path / "out"), "--text-column", "note", "--markup-column", "kind"]
    assert main(["redact", "rules", str(tmp_path / "notes.parquet"), *options]) == 1
    expected = pq.read_table(tmp_path / "out" / "notes.parquet")
    assert found.filter(pc.not_equal(found["status"], FAILED)).select(expected.column_names).equals(expected)
    plain = RedactBatches("rules", Policy(markup="plain"), "note", markup_column="kind")(rows)
    alone = RedactBatches("rules", Policy(markup="plain"), "note")(rows)
    assert plain["note"].to_pylist()[:5] == alone["note"].to_pylist()[:5]
    for options_of_table in ({"markup_column": "note"}, {"markup_column": "none"}):
        with pytest.raises(UsageError):
            RedactBatches("rules", Policy(), "note", **options_of_table)(rows)


def test_empty_batches_and_columns_without_a_text(model: Path) -> None:
    redact = RedactBatches(model, Policy(), "note")
    (batch,) = table().to_batches()
    none = redact(batch.slice(0, 0))
    assert isinstance(none, pa.RecordBatch)
    assert (none.num_rows, none.schema) == (0, redact.output_schema(batch.schema))
    assert redact(table().slice(0, 0)).equals(pa.Table.from_batches([none]))
    for kind in (pa.null(), pa.string()):
        result = redact(pa.table({"note": pa.array([None, None], kind)}))
        assert result["status"].to_pylist() == [NULL, NULL]
        assert result["note"].type == kind
    assert list(redact.batches([])) == []


def test_a_text_that_must_not_be_null_may_be_null_in_the_results(model: Path) -> None:
    fields = pa.schema([pa.field("note", pa.string(), nullable=False, metadata={"of": "ward"})])
    result = RedactBatches(model, Policy(), "note")(pa.table([["JosÃ©"]], schema=fields))
    result.validate(full=True)
    assert result.schema.field("note").nullable
    assert result.schema.field("note").metadata == {b"of": b"ward"}
    assert result["note"].to_pylist() == [None]


@pytest.mark.parametrize("bad", [b"Dr. Quill \xff", b"Dr. Quill \xed\xa0\x80"], ids=["no UTF-8", "lone surrogate"])
@pytest.mark.parametrize("kind", KINDS[:2], ids=str)
def test_a_row_that_cannot_be_read_fails_alone(model: Path, bad: bytes, kind: pa.DataType) -> None:
    binary = pa.large_binary() if kind == pa.large_string() else pa.binary()
    notes = pa.array([b"Patient Quill", bad, b"Dr. Marsh"], binary).view(kind)
    result = RedactBatches(model, Policy(), "note")(pa.table({"note": notes})).to_pylist()
    assert [row["status"] for row in result] == [DONE, FAILED, DONE]
    assert [row["error_type"] for row in result] == [None, "UnicodeDecodeError", None]
    assert result[1]["note"] is None


def test_a_row_that_the_library_fails_on_fails_alone(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    annotate = Deidentifier._annotate

    def fail(self: Deidentifier, notes: Sequence[Any], *more: Any) -> Iterator[Any]:
        if any("Orla" in document.text for document, _ in notes):
            raise KeyError("Orla Marsh")
        return annotate(self, notes, *more)

    monkeypatch.setattr(Deidentifier, "_annotate", fail)
    result = RedactBatches(model, Policy(), "note")(table()).to_pylist()
    assert [row["error_type"] for row in result] == [None, None, "KeyError", None, None, None, "DataError"]
    assert result[2]["note"] is None
    assert "Orla" not in str(result)


def test_python_looks_for_garbage_seldom_while_a_batch_is_at_work_and_as_before_between(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, during = gc.get_threshold()[0], []
    annotate = Deidentifier.annotate_documents

    def look(*args: Any, **options: Any) -> Any:
        during.append(gc.get_threshold()[0])
        return annotate(*args, **options)

    monkeypatch.setattr(Deidentifier, "annotate_documents", look)
    for _ in RedactBatches(model, Policy(), "note").batches(table(["Dr. Quill", "Dr. Marsh"]).to_batches()):
        assert gc.get_threshold()[0] == before
    assert min(during) > before


def test_a_note_that_is_too_long_fails(model: Path) -> None:
    redact = RedactBatches(model, Policy(), "note", longest_note=40)
    rows = redact(pa.table({"note": ["a" * 40, "b" * 41, None]})).to_pylist()
    assert [(row["status"], row["error_type"]) for row in rows] == [(DONE, None), (FAILED, "NoteTooLong"), (NULL, None)]
    assert rows[1]["note"] is None


def test_a_note_of_more_than_ten_million_characters_fails_unless_that_is_asked_for(model: Path) -> None:
    notes = pa.table({"note": [" " * 10_000_000, " " * 10_000_001]})
    assert RedactBatches(model, Policy(), "note")(notes)["error_type"].to_pylist() == [None, "NoteTooLong"]
    unlimited = RedactBatches(model, Policy(), "note", longest_note=None)
    assert unlimited(notes)["status"].to_pylist() == [DONE, DONE]


def test_without_a_secret_every_row_fails(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SECRET_VARIABLE)
    (tmp_path / "short").write_text("short")
    (tmp_path / "secret").write_text(SECRET)
    (tmp_path / "secret").chmod(0o600)
    surrogates = partial(RedactBatches, model, Policy("surrogate", locale="en_US"), "note")
    for place in (None, tmp_path / "none", tmp_path / "short"):
        result = surrogates(secret_file=place)(table())
        assert set(result["error_type"].to_pylist()) == {None, "SecretError"}
        assert result["note"].null_count == len(NOTES)
        assert result["status"].to_pylist() == [NULL if note is None else FAILED for note in NOTES]
    by_file = surrogates(secret_file=tmp_path / "secret")(table())
    monkeypatch.setenv(SECRET_VARIABLE, SECRET)
    assert by_file.equals(surrogates()(table()))
    monkeypatch.setenv(SECRET_VARIABLE, "another secret of the tests")
    other = surrogates()(table())
    assert not by_file["note"].equals(other["note"]), "the secret of now counts, and not that of the first call"
    (first,), (second,) = set(by_file["policy"].to_pylist()), set(other["policy"].to_pylist())
    assert first[:-4] == second[:-4]
    assert first != second, "a worker with another secret shows"


def test_another_model_or_none_fails_every_row(model: Path, tmp_path: Path) -> None:
    other = tiny_model(tmp_path / "other", max_iterations=3)
    (tmp_path / "empty").mkdir()
    places = {other: "MismatchError", tmp_path / "none": "NotFoundError", tmp_path / "empty": "NotFoundError"}
    for place, error in places.items():
        result = RedactBatches(model, Policy(), "note", find=partial(str, place))(table())
        assert set(result["error_type"].to_pylist()) == {None, error}
        assert result["note"].null_count == len(NOTES)
    with pytest.raises(DataError):
        RedactBatches(tmp_path / "none", Policy(), "note")


def test_a_model_is_loaded_once_a_process(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    redactor._started.cache_clear()
    for _ in range(3):
        redact = pickle.loads(pickle.dumps(RedactBatches(model, Policy("remove"), "note")))
        list(redact.batches(table().to_batches()))
    assert redactor._started.cache_info().misses == 1


def test_a_pickle_is_enough_and_holds_no_secret(model: Path, tmp_path: Path) -> None:
    site = CustomLists(deny=(Term("Leg pain", "HOSPITAL"),))
    redact = RedactBatches(model, Policy("surrogate", locale="en_US", lists=site), "note", "mrn")
    expected = redact(table())
    content = pickle.dumps(redact)
    assert SECRET.encode() not in content
    assert not any(name in content for name in (b"Quill", b"Marsh")), "neither notes nor model"
    assert len(content) < 2000
    with pa.OSFile(str(tmp_path / "in.arrow"), "wb") as file, pa.ipc.new_file(file, table().schema) as out:
        out.write_table(table())
    done = subprocess.run(
        [sys.executable, "-c", FRESH, tmp_path / "in.arrow", tmp_path / "out.arrow"],
        input=content,
        env={**os.environ, SECRET_VARIABLE: SECRET},
        cwd=Path(__file__).parents[3],
        capture_output=True,
        check=True,
    )
    assert pa.ipc.open_file(tmp_path / "out.arrow").read_all().equals(expected)
    assert b"Quill" not in done.stderr + done.stdout


FRESH = """
import pickle, sys
import pyarrow as pa
redact = pickle.load(sys.stdin.buffer)
notes = pa.ipc.open_file(sys.argv[1]).read_all()
with pa.OSFile(sys.argv[2], "wb") as file, pa.ipc.new_file(file, redact.output_schema(notes.schema)) as out:
    out.write_table(redact(notes))
"""


def test_what_columns_say_is_hidden_and_stays_in_its_column(model: Path, caplog: pytest.LogCaptureFixture) -> None:
    notes = pa.table(
        {
            "note": ["Zorvald Pim, born on 2 May 1931, came.", "Nobody came."],
            "who": ["Zorvald Pim", None],
            "born": [dt.date(1931, 5, 2), None],
        }
    )
    result = RedactBatches(model, Policy("mask"), "note", known="name=who,date=born")(notes)
    assert result["note"].to_pylist() == ["******* ***, born on * *** ****, came.", "Nobody came."]
    assert result["who"].equals(notes["who"])
    assert "columns unchanged: who, born\n" in caplog.text
    caplog.clear()
    dropped = RedactBatches(model, Policy("mask"), "note", known="name=who", drop_columns=["who"])(notes)
    assert "who" not in dropped.column_names
    assert caplog.text == ""
    bad = notes.set_column(2, "born", pa.array(["Zorvald", None]))
    rows = RedactBatches(model, Policy("mask"), "note", known="date=born")(bad).to_pylist()
    assert [(row["status"], row["error_type"]) for row in rows] == [(FAILED, "DataError"), (DONE, None)]


@pytest.mark.parametrize(
    ("notes", "options"),
    [
        ({"text": ["a"]}, {}),
        ({"note": [1]}, {}),
        ({"note": ["a"], "status": ["b"]}, {}),
        ({"note": ["a"], "policy": ["b"]}, {}),
        ({"note": ["a"]}, {"patient_column": "mrn"}),
        ({"note": ["a"]}, {"known": "name"}),
        ({"note": ["a"]}, {"drop_columns": ["name"]}),
    ],
)
def test_columns_that_cannot_be_are_refused(
    model: Path, notes: dict[str, list[object]], options: dict[str, Any]
) -> None:
    redact = RedactBatches(model, Policy(), "note", **options)
    with pytest.raises(UsageError):
        redact.output_schema(pa.table(notes).schema)
    with pytest.raises(UsageError):
        next(redact.batches(pa.table(notes).to_batches()))


@pytest.mark.parametrize("ppv", [0.4, 0.6])
def test_what_a_sensitivity_costs_is_said_once_where_the_work_begins(
    ppv: float, model: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    split = Split.of([Document("1", "Seen by Quill", (Span(8, 13, "DOCTOR"),))])
    card = make_card(load_tagger(model), Corpus("notes", "jsonl", "all", split, split, None))
    found = round(1000 * ppv)
    costs = {"tokens": 1000, "phi_tokens": found, "missed": [0], "false_positives": [1000 - found]}
    shutil.copytree(model, tmp_path / "model")
    write_card(
        tmp_path / "model",
        {**card, "augment": "none", "thresholds": {"curve": [0.5], "dev": costs}},
    )
    redact = RedactBatches(tmp_path / "model", Policy(sensitivity=0.99), "note")
    assert ("PHI (PPV)" in caplog.text) == (ppv < 0.5)
    caplog.clear()
    redact(pa.table({"note": ["a"]}))
    assert caplog.text == ""


def test_two_columns_of_one_name_are_refused(model: Path) -> None:
    with pytest.raises(UnknownNameError):
        RedactBatches(model, Policy(), "note")(pa.table([["a"], ["b"]], names=["note", "note"]))


def test_a_column_of_a_name_that_results_need_can_be_dropped(model: Path) -> None:
    redact = RedactBatches(model, Policy(), "note", drop_columns=["status"])
    assert redact(pa.table({"status": ["old"], "note": ["a"]}))["status"].to_pylist() == [DONE]


@pytest.mark.parametrize(
    "options",
    [
        {"policy": Policy(None)},
        {"policy": Policy(sensitivity=0.99)},
        {"patient_column": "note"},
        {"drop_columns": ["note"]},
        {"known": "name=note"},
        {"known": "nonsense"},
    ],
)
def test_what_cannot_be_is_refused_at_once(model: Path, options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        RedactBatches(model, **{"policy": Policy(), "text_column": "note", **options})


def test_an_operator_of_a_type_that_cannot_occur_fails_every_row(model: Path) -> None:
    site = CustomLists(deny=(Term("Tawn List", "WARD"),))
    for label, expected in (("WARD", None), ("PHI", None), ("DATE", None), ("DATES", "UnknownNameError")):
        redact = RedactBatches(model, Policy({label: "mask"}, lists=site), "note")
        assert redact(table(["Dr. Quill"]))["error_type"].to_pylist() == [expected]


def test_encrypted_values_need_a_key_of_their_own_and_are_restored(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text("an encryption key of a test\n")
    path.chmod(0o600)
    policy = Policy({"DOCTOR": "encrypt"})
    redact = RedactBatches(model, policy, "note", encryption_key_file=path)
    rows = redact(table(["Dr. Quill", "Seen by Dr. Quill."])).to_pylist()
    assert all(row["policy"].startswith(f"{policy.name}-") for row in rows)
    assert [reveal(row["note"], read_encryption_key(path)) for row in rows] == [
        ("Dr. Quill", 1),
        ("Seen by Dr. Quill.", 1),
    ]
    for wrong in ({"policy": policy}, {"policy": Policy(), "encryption_key_file": path}):
        with pytest.raises(OptionConflictError):
            RedactBatches(model, text_column="note", **wrong)
    path.write_text("short")
    assert redact(table(["Dr. Quill"]))["error_type"].to_pylist() == ["SecretError"]


RAW = '{"note": "Patient Quill'
RAW_COLUMNS = {
    "corrupt record": ("_corrupt_record", RAW),
    "rescued data": ("_rescued_data", RAW),
    "another case": ("_Corrupt_Record", RAW),
    "inside of a column": ("parsed", {"age": 41, "_corrupt_record": RAW}),
    "deep inside": ("parsed", [{"rows": [{"_rescued_data": RAW}]}]),
    "by its own name": ("bad", RAW),
}


@pytest.mark.parametrize(("column", "value"), RAW_COLUMNS.values(), ids=RAW_COLUMNS)
def test_a_column_of_raw_lines_is_refused_unless_it_is_dropped_hashed_or_allowed(
    model: Path, column: str, value: Any
) -> None:
    notes = pa.table({"note": [None, "Dr. Quill"], column: [value, None]})
    redact = partial(RedactBatches, model, Policy(), "note", raw_columns=["bad"])
    with pytest.raises(UsageError):
        redact().output_schema(notes.schema)
    with pytest.raises(UsageError):
        redact()(notes)
    assert column not in redact(drop_columns=[column])(notes).column_names
    assert redact(allow_columns=[column])(notes)[column].equals(notes[column])
    assert RAW not in str(redact(hash_columns=[column])(notes).to_pylist())
    if value == RAW:  # it can also be redacted itself
        assert "Quill" not in str(RedactBatches(model, Policy(), column)(notes)[column])


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_the_command_refuses_raw_lines_likewise(model: Path, tmp_path: Path, suffix: str) -> None:
    notes = pa.table({"note": ["Dr. Quill"], "_corrupt_record": [RAW]})
    source, output = tmp_path / f"a{suffix}", tmp_path / "out"
    if suffix == ".parquet":
        pq.write_table(notes, source)
    elif suffix == ".csv":
        csv.write_csv(notes, source)
    else:
        source.write_text("".join(json.dumps(row) + "\n" for row in notes.to_pylist()))
    command = ["redact", str(model), str(source), "--text-column", "note", "--output"]
    assert main([*command, str(output)]) == 1
    assert not [path for path in output.rglob("*") if path.is_file() and b"Quill" in path.read_bytes()]
    assert main([*command, str(tmp_path / "dropped"), "--drop-columns", "_corrupt_record"]) == 0
    assert b"Quill" not in (tmp_path / "dropped" / source.name).read_bytes()
    assert main([*command, str(tmp_path / "allowed"), "--allow-columns", "_corrupt_record"]) == 0
    assert main(["tag", *command[1:], str(tmp_path / "tagged")]) == 0  # which passes no column on


@pytest.mark.parametrize("taken", ["status", "policy", "error_type", "Status"])
def test_added_columns_have_a_prefix_where_their_names_are_taken(model: Path, taken: str) -> None:
    notes = pa.table({taken: ["final"], "note": ["Dr. Quill"]})
    with pytest.raises(UsageError):
        RedactBatches(model, Policy(), "note").output_schema(notes.schema)
    (row,) = RedactBatches(model, Policy(), "note", prefix="phi_")(notes).to_pylist()
    added = ["phi_status", "phi_error_type", "phi_error_offset", "phi_n_spans", "phi_model_sha256", "phi_policy"]
    assert [*row] == [taken, "note", *added]
    assert (row[taken], row["phi_status"], row["phi_n_spans"]) == ("final", DONE, 1)


def test_several_texts_of_a_row_are_redacted_in_one_pass_and_fail_together(model: Path) -> None:
    first = ["Dr. Quill", None, None, "Dr. Quill", None]
    second = ["Patient Orla Marsh", "Dr. Marsh", None, "JosÃ©", "Jos\ufffd"]
    notes = pa.table({"note": first, "plan": second, "mrn": PATIENTS[:5]})
    policy = Policy("surrogate", locale="en_US")
    result = RedactBatches(model, policy, ["note", "plan"], "mrn")(notes)
    assert result["status"].to_pylist() == [DONE, DONE, NULL, FAILED, FAILED]
    assert result["error_type"].to_pylist() == [None, None, None, "DataError", "DataError"]
    alone = [RedactBatches(model, policy, name, "mrn", drop_columns=["plan", "note"][at : at + 1])(notes)
             for at, name in enumerate(("note", "plan"))]  # fmt: skip
    for name, one in zip(("note", "plan"), alone, strict=True):
        assert result[name].to_pylist() == [*one[name].to_pylist()[:3], None, None]
    spans = [[table["n_spans"][row].as_py() or 0 for table in alone] for row in range(2)]
    assert result["n_spans"].to_pylist() == [sum(spans[0]), sum(spans[1]), None, None, None]
    for texts in ([], ["note", "note"]):
        with pytest.raises(OptionConflictError):
            RedactBatches(model, policy, texts)


def test_what_would_fail_every_row_can_be_raised(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    surrogates = Policy("surrogate", locale="en_US")
    RedactBatches(model, surrogates, "note").require_ready()
    with pytest.raises(NotFoundError):
        RedactBatches(model, Policy(), "note", find=partial(str, tmp_path / "none")).require_ready()
    monkeypatch.delenv(SECRET_VARIABLE)
    RedactBatches(model, Policy(), "note").require_ready()
    for redact in (
        RedactBatches(model, surrogates, "note"),
        RedactBatches(model, Policy(), "note", hash_columns=["mrn"]),
    ):
        with pytest.raises(SecretError):
            redact.require_ready()

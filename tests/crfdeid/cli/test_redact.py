"""`crfdeid redact` as a user has it: what comes out, what is refused, and what survives a kill."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import signal
import stat
import subprocess
import time
from base64 import b64encode
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cda_places
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from docx_files import BODY, docx, members
from notes_samples import crfdeid, tiny_model, written
from pdf_files import pdf, shown

from crfdeid.cli import main
from crfdeid.model_card.card import model_digest
from crfdeid.pipeline import load
from crfdeid.redaction.redact import redact
from crfdeid.secrets import derive, hash_text

SECRET = "0123456789abcdef0123456789abcdef"
NOTE = "Patient Quill was seen on 3/14/2031.\r\nAttending: Dr. Orla Marsh, call 555-1037.\n"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("model"))


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    source = tmp_path / "in"
    (source / "p1").mkdir(parents=True)
    (source / "a.txt").write_bytes(NOTE.encode())
    (source / "p1" / "b.txt").write_bytes(NOTE.encode())
    (source / "p1" / "c.jsonl").write_text(json.dumps({"text": NOTE, "n": 1}) + "\n")
    return source


def redacted(model: Path, text: str, **options: Any) -> str:
    return redact(load(model).annotate(text), **options).text


def run(*arguments: str | Path) -> int:
    return main(["redact", *map(str, arguments)])


def test_the_model_finds_what_these_tests_hide(model: Path) -> None:
    found = redacted(model, NOTE, operators="label")
    assert found == "Patient [PATIENT] was seen on [DATE].\r\nAttending: Dr. [DOCTOR], call [PHONE].\n"


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_what_stays_unread_is_in_the_report_and_in_the_summary(
    jobs: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    block, notes = b64encode(b"Jane Quill, " * 40).decode() + "9", tmp_path / "notes"
    notes.mkdir()
    (notes / "a.txt").write_text(f"Seen by Dr. Quill. {block} Well.")
    (notes / "b.html").write_text(f"<img src='data:image/png;base64,{block}'><p>Well.</p><p>{block}</p>")
    (notes / "c.hl7").write_text("MSH|^~\\&|LAB\rPID|1||48||Quill^Jane\rNTE|1||Well.\r", newline="")
    common = ("rules", notes, "--structured", "keep", "--jobs", jobs, "--output", tmp_path / "out")
    assert run(*common, "--report", tmp_path / "report.json") == 0
    said, report = capsys.readouterr().err, json.loads((tmp_path / "report.json").read_text())
    a, b, c = report["notes"]
    assert a["base64"] == [[19, 19 + len(block)]]
    assert len(b["base64"]) == 1 and (notes / "b.html").read_text()[slice(*b["base64"][0])] == block
    assert c["kept_fields"] == ["PID-3", "PID-5"] and "kept_fields" not in a and "base64" not in c
    assert report["summary"]["base64"] == 2 and report["summary"]["structured"] == "keep"
    assert report["summary"]["kept_fields"] == {"PID-3": 1, "PID-5": 1}
    assert "2 long blocks of base64" in said and "PID-3 1, PID-5 1" in said
    assert block[:20] not in json.dumps(report) + said


def test_a_note_in_mojibake_fails_unless_it_is_accepted(
    model: Path, notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = "Patient José Quill".encode().decode("latin-1")
    (notes / "a.txt").write_text(damaged)
    assert run(model, notes, "--output", tmp_path / "out") == 1
    assert set(written(tmp_path / "out")) == {"p1/b.txt", "p1/c.jsonl"}
    assert "a.txt, offset 11: letters are damaged" in capsys.readouterr().err
    assert run(model, notes, "--output", tmp_path / "all", "--allow-mojibake") == 0
    assert written(tmp_path / "all")["a.txt"].decode() == redacted(model, damaged, operators="label")


def test_a_note_in_markup_fails_unless_it_is_read_as_prose(
    model: Path, notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "%PDF-1.7 Patient Quill was seen on 3/4/2031."
    (notes / "a.txt").write_text(text)
    (notes / "p1" / "rows.csv").write_text(f'text,n\n"{text}",1\nSeen by Dr. Quill,2\n')
    assert run(model, notes, "--output", tmp_path / "out") == 1
    found = written(tmp_path / "out")
    assert set(found) == {"p1/b.txt", "p1/c.jsonl", "p1/rows.csv"} and b"ill" not in found["p1/rows.csv"]
    failures = capsys.readouterr().err
    assert "failed: a.txt: looks like PDF" in failures and "failed: p1/rows.csv, row 1: looks like PDF" in failures
    assert run(model, notes, "--output", tmp_path / "all", "--markup", "plain") == 0
    assert written(tmp_path / "all")["a.txt"].decode() == redacted(model, text, operators="label", markup="plain")


def test_files_in_markup_are_read_by_their_names(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.html").write_bytes(b"Patient Qu<b>ill</b>, R&amp;D\r\n")
    (notes / "b.RTF").write_bytes(rb"{\rtf1 Patient Qu{\b ill}, 1 \'80\par}" + b"\r\n\0")
    (notes / "c.hl7").write_bytes(b"\x0bMSH|^~\\&|LAB\rPID|1||48\rOBX|1|TX|||Patient Quill\r\x1c\r")
    assert run(model, notes, "--output", tmp_path / "out") == 1
    assert "failed: c.hl7: PID-3 name the patient: give --structured" in capsys.readouterr().err
    assert run(model, notes, "--output", tmp_path / "kept", "--structured", "keep") == 0
    assert written(tmp_path / "kept") == {
        "a.html": b"Patient [PATIENT]<b></b>, R&amp;D\r\n",
        "b.RTF": rb"{\rtf1 Patient [PATIENT]{\b }, 1 \'80\par}" + b"\r\n\0",
        "c.hl7": b"\x0bMSH|^~\\&|LAB\rPID|1||48\rOBX|1|TX|||Patient [PATIENT]\r\x1c\r",
    }
    tagged = ["tag", str(model), str(notes), "--output", str(tmp_path / "tags")]
    assert main(tagged) == 1 and "failed: a.html: looks like HTML" in capsys.readouterr().err
    assert main([*tagged[:-1], str(tmp_path / "plain"), "--markup", "plain"]) == 0


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_notes_in_html_are_redacted_and_recorded(model: Path, tmp_path: Path, jobs: str) -> None:
    text = "<p>Patient <b>Qu</b>ill was seen on <i>3/4/2031</i>. R&amp;D</p>"
    (tmp_path / "rows.csv").write_text(f'text,n\n"{text}",1\nSeen by Dr. Quill & <5 others,2\n')
    assert run(model, tmp_path / "rows.csv", "--output", tmp_path / "out", "--jobs", jobs) == 0
    first = "<p>Patient <b>[PATIENT]</b> was seen on <i>[DATE]</i>. R&amp;D</p>"
    expected = f"text,n\n{first},1\nSeen by Dr. [DOCTOR] & <5 others,2\n"
    assert written(tmp_path / "out")["rows.csv"].decode() == expected.replace(first, f'"{first}"')


@pytest.mark.parametrize("how", ["label", "numbered", "mask", "remove"])
def test_a_folder_is_redacted_in_each_way(model: Path, notes: Path, tmp_path: Path, how: str) -> None:
    assert run(model, notes, "--output", tmp_path / "out", "--operator", how) == 0
    expected = redacted(model, NOTE, operators=how)
    found = written(tmp_path / "out")
    assert set(found) == set(written(notes))
    assert found["a.txt"].decode() == found["p1/b.txt"].decode() == expected
    assert json.loads(found["p1/c.jsonl"]) == {"text": expected, "n": 1}


def test_label_is_what_is_done_unless_told(model: Path, notes: Path, tmp_path: Path) -> None:
    assert run(model, notes / "a.txt", "--output", tmp_path / "out") == 0
    assert written(tmp_path / "out")["a.txt"].decode() == redacted(model, NOTE, operators="label")


def test_surrogates_follow_the_secret_and_the_folder_of_the_patient(
    model: Path, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret").write_text(SECRET)
    common = (model, notes, "--operator", "surrogate")
    assert run(*common, "--output", tmp_path / "one", "--secret-file", tmp_path / "secret") == 0
    monkeypatch.setenv("CRFDEID_SECRET", SECRET)
    assert run(*common, "--output", tmp_path / "two") == 0
    found = written(tmp_path / "one")
    assert found == written(tmp_path / "two")
    for name, patient in (("a.txt", None), ("p1/b.txt", "p1")):
        expected = redacted(model, NOTE, operators="surrogate", secret=SECRET.encode(), patient=patient)
        assert found[name].decode() == expected
    assert json.loads(found["p1/c.jsonl"])["text"] == found["p1/b.txt"].decode()


def test_surrogates_follow_the_column_of_the_patient(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRFDEID_SECRET", SECRET)
    (tmp_path / "in.jsonl").write_text(
        "".join(json.dumps({"who": who, "note": NOTE}) + "\n" for who in ("x", "y", "x"))
    )
    options = ("--operator", "surrogate", "--patient-column", "who", "--text-column", "note")
    assert run(model, tmp_path / "in.jsonl", "--output", tmp_path / "out", *options) == 0
    lines = [json.loads(line) for line in written(tmp_path / "out")["in.jsonl"].splitlines()]
    for line in lines:
        expected = redacted(model, NOTE, operators="surrogate", secret=SECRET.encode(), patient=line["who"])
        assert line["note"] == expected
    assert lines[0] == lines[2] != lines[1]


def test_a_text_without_a_patient_has_the_same_surrogates_wherever_it_stands(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setenv("CRFDEID_SECRET", SECRET)
    text = NOTE.replace("\r\n", " ").strip()
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text(text)
    (tmp_path / "in" / "b.jsonl").write_text(json.dumps({"text": text}) + "\n")
    (tmp_path / "in" / "c.csv").write_text(f'id,text\n1,"{text}"\n')
    options = ("--operator", "surrogate")
    assert run(model, tmp_path / "in", *options, "--output", tmp_path / "out") == 0
    found = written(tmp_path / "out")
    expected = redacted(model, text, operators="surrogate", secret=SECRET.encode())
    assert found["a.txt"].decode() == json.loads(found["b.jsonl"])["text"] == expected
    assert found["c.csv"].decode() == f'id,text\n1,"{expected}"\n'
    assert "surrogates: en_US in 3 notes; guessed from the text" in capfdbinary.readouterr().err.decode()
    done = subprocess.run(crfdeid("redact", model, "-", *options), input=text.encode(), capture_output=True, check=True)
    assert done.stdout.decode() == expected
    assert b"surrogates: en_US in 1 note; guessed from the text, --locale names another" in done.stderr


def test_a_note_whose_language_cannot_be_told_fails_alone_unless_a_locale_is_given(
    model: Path, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CRFDEID_SECRET", SECRET)
    (notes / "a.txt").write_text("Dr. Orla Marsh 555-1037")
    options = (model, notes, "--operator", "surrogate")
    assert run(*options, "--output", tmp_path / "out") == 1
    assert re.search("a.txt: .*--locale", capsys.readouterr().err)
    assert set(written(tmp_path / "out")) == {"p1/b.txt", "p1/c.jsonl"}
    assert run(*options, "--output", tmp_path / "all", "--locale", "en_GB", "--date-order", "mdy") == 0
    assert "surrogates: en_GB in 3 notes\n" in capsys.readouterr().err


def test_dates_are_shifted_alike_in_files_tables_and_python(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRFDEID_SECRET", SECRET)
    text = "Seen by Dr. Orla Marsh on Friday 3/14/2031. Again on 3/14 and on 2/29.\nShe was born on 3/14/1972."
    source, out = tmp_path / "in", tmp_path / "out"
    (source / "p1").mkdir(parents=True)
    (source / "p1" / "a.txt").write_text(text)
    (source / "p1" / "b.jsonl").write_text(json.dumps({"text": text}) + "\n")
    pq.write_table(pa.table({"text": [text]}), source / "p1" / "c.parquet")
    assert run(model, source, "--output", out, "--operator", "surrogate", "--locale", "en_US") == 0
    options = {"secret": SECRET.encode(), "patient": "p1", "locale": "en_US"}
    expected = redacted(model, text, operators="surrogate", **options)
    assert "Friday" not in expected
    assert written(out)["p1/a.txt"].decode() == expected
    assert json.loads(written(out)["p1/b.jsonl"])["text"] == expected
    assert pq.read_table(out / "p1" / "c.parquet")["text"].to_pylist() == [expected]


def test_surrogates_need_a_secret(
    model: Path, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("CRFDEID_SECRET", raising=False)
    common = (model, notes, "--output", tmp_path / "out")
    assert run(*common, "--operator", "surrogate") == 2
    assert "secret" in capsys.readouterr().err
    assert run(*common, "--operator", "mask", "--secret-file", tmp_path / "secret") == 2
    assert "--secret-file is for surrogates" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_standard_input_is_one_note(model: Path, tmp_path: Path) -> None:
    command = crfdeid("redact", model, "-")
    done = subprocess.run(command, input=NOTE.encode(), capture_output=True, check=True)
    assert done.stdout.decode() == redacted(model, NOTE, operators="label")
    first, *lines = done.stderr.decode().splitlines()
    assert re.fullmatch(r"redact: 1 note in [0-9.]+ s, nothing found in 0 of them; 0 failures", first)
    assert lines == [
        "spans: DATE 1, DOCTOR 1, PATIENT 1, PHONE 1",
        f"model: {model} (crf, without rules, SHA-256 {model_digest(model)[:12]})",
        "found by: the most probable tags",
        "warning: 53 % of the words were hidden (8 of 15): read some results before you hand them on",
    ]
    broken = subprocess.run(command, input=b"Patient Quill \xff", capture_output=True, check=False)
    assert (broken.returncode, broken.stdout) == (1, b"")
    assert broken.stderr == b"error: standard input, line 1: not UTF-8 at byte 14: convert it to UTF-8\n"


def test_a_note_of_more_characters_than_allowed_fails(
    model: Path, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    common, length = (model, "--max-chars"), len(NOTE)
    for name, longest in (("all", length), ("any", 0)):
        assert run(*common, str(longest), notes, "--output", tmp_path / name) == 0
    assert written(tmp_path / "all") == written(tmp_path / "any")
    assert run(*common, str(length - 1), notes, "--output", tmp_path / "none") == 1
    reason = f"longer than {length - 1} characters: take out what is no note, or raise --max-chars"
    said = capsys.readouterr().err
    assert [f"failed: {place}: {reason}" in said for place in ("a.txt", "p1/b.txt", "p1/c.jsonl, row 1")] == [True] * 3
    for longest, code in ((length, 0), (length - 1, 1)):
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=BytesIO(NOTE.encode())))
        assert run(*common, str(longest), "-") == code
    assert capsys.readouterr().err.endswith(f"error: standard input: {reason}\n")


def test_notes_that_fail_are_listed_without_their_text(
    model: Path, notes: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (notes / "broken.txt").write_bytes(b"Patient Quill \xff")
    (notes / "p1" / "c.jsonl").write_text('{"text": "Patient Quill \\ud800"}\n{"text": "Patient Orla Marsh"}\n')
    (notes / "skip.png").write_text("Patient Quill")
    assert run(model, notes, "--output", tmp_path / "out") == 1
    error = capfd.readouterr().err
    assert "failed: broken.txt, line 1: not UTF-8 at byte 14" in error
    assert "failed: p1/c.jsonl, row 1, offset 14: a lone surrogate" in error
    assert re.search(r"^note: files left out .*: 1$", error, re.MULTILINE)
    assert error.splitlines()[-1].startswith("error: 2 notes or files failed and have no output")
    assert "Quill" not in error
    assert set(written(tmp_path / "out")) == {"a.txt", "p1/b.txt", "p1/c.jsonl"}
    assert len(written(tmp_path / "out")["p1/c.jsonl"].splitlines()) == 1


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        ({"--output": None}, 2, "--output is needed"),
        ({"NOTES": "nowhere"}, 2, "no such file or folder"),
        ({"--output": "in/out"}, 2, "overlap"),
        ({"--output": "in"}, 2, "overlap"),
        ({"--output": "out.csv"}, 2, "name of a file"),
        ({"MODEL": "in"}, 1, "no saved model"),
        ({"--operator": "shuffle"}, 2, "shuffle"),
        ({"--jobs": "0"}, 2, "whole number"),
        ({"--operator": "surrogate", "--secret-file": "secret", "--locale": "xx_XX"}, 2, "locale"),
        ({"--operator": "surrogate", "--secret-file": "secret", "--locale": "xx_XX", "--jobs": "2"}, 2, "locale"),
        ({"--operator": "surrogate", "--secret-file": "secret", "--locale": "zh_CN"}, 2, "not in Latin letters"),
        ({"--locale": "es_ES"}, 2, "--locale is for"),
        ({"--date-order": "dmy"}, 2, "--date-order is for"),
        ({"--sensitivity": "0.997"}, 2, "no thresholds"),
        ({"NOTES": "-"}, 2, "--output is for"),
        ({"--text-column": "note"}, 1, "no 'note'"),
    ],
)
def test_what_cannot_work_is_one_line(
    model: Path,
    notes: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    change: dict[str, str | None],
    code: int,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret").write_text(SECRET)
    options: dict[str, str | None] = {"MODEL": str(model), "NOTES": "in", "--output": "out", **change}
    before = written(notes)
    given = [(name, value) for name, value in options.items() if value is not None]
    assert run(*[part for name, value in given for part in (name, value) if part not in ("MODEL", "NOTES")]) == code
    error = capsys.readouterr().err
    assert message in error
    assert error.splitlines()[-1].startswith("error: ")
    assert written(notes) == before


def test_results_stay_as_they_are_unless_resumed(
    model: Path, notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    common = (model, notes, "--output", tmp_path / "out")
    assert run(*common) == 0
    before = written(tmp_path / "out")
    assert run(*common, "--operator", "mask") == 2
    assert run(*common, "--operator", "mask", "--resume") == 2
    assert "begun with another operators" in capsys.readouterr().err
    assert written(tmp_path / "out") == before
    assert run(*common, "--resume", "--jobs", "2") == 0
    assert written(tmp_path / "out") == before


def test_another_model_or_secret_is_not_gone_on_with(
    model: Path, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "model"
    other.mkdir()
    for file in model.iterdir():
        (other / file.name).write_bytes(file.read_bytes())
    monkeypatch.setenv("CRFDEID_SECRET", SECRET)
    common = (notes, "--output", tmp_path / "out", "--operator", "surrogate")
    assert run(model, *common) == 0
    assert run(other, *common, "--resume") == 0  # A copy is the same.
    shutil.rmtree(other)
    tiny_model(other, max_iterations=20)
    assert run(other, *common, "--resume") == 2
    assert "another model:" in capsys.readouterr().err
    monkeypatch.setenv("CRFDEID_SECRET", SECRET[::-1])
    assert run(model, *common, "--resume") == 2
    assert "another secret:" in capsys.readouterr().err


def test_processes_give_what_one_gives(model: Path, tmp_path: Path) -> None:
    source = many_notes(tmp_path / "in", 300)
    for jobs in ("1", "2"):
        assert run(model, source, "--output", tmp_path / jobs, "--jobs", jobs) == 0
    assert len(written(tmp_path / "1")) == 300
    assert written(tmp_path / "1") == written(tmp_path / "2")


def test_parquet_needs_nothing_else(model: Path, tmp_path: Path) -> None:
    import pyarrow as pa  # noqa: PLC0415

    pq.write_table(pa.table({"id": [1, 2], "text": [NOTE, None]}), tmp_path / "in.parquet")
    assert run(model, tmp_path / "in.parquet", "--output", tmp_path / "out") == 0
    assert pq.read_table(tmp_path / "out" / "in.parquet").to_pylist() == [
        {"id": 1, "text": redacted(model, NOTE, operators="label")},
        {"id": 2, "text": None},
    ]


# --- names of files, and other columns


def test_files_get_new_names_and_a_run_still_goes_on(
    model: Path, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CRFDEID_SECRET", SECRET)
    (notes / "p1").rename(notes / "Quill_Jane")
    common = (model, notes, "--output", tmp_path / "out", "--rename-files")
    assert run(*common) == 0
    found = written(tmp_path / "out")
    assert len(found) == 3
    assert all(re.fullmatch(r"([0-9a-f]{32}/)?[0-9a-f]{32}\.(txt|jsonl)", name) for name in found)
    inodes = {name: (tmp_path / "out" / name).stat().st_ino for name in found}
    (notes / "Quill_Jane" / "new.txt").write_bytes(NOTE.encode())
    assert run(*common, "--resume") == 0
    again = written(tmp_path / "out")
    assert len(again) == 4
    assert again.items() >= found.items()
    assert {name: (tmp_path / "out" / name).stat().st_ino for name in inodes} == inodes
    capsys.readouterr()
    assert run(*common[:-1], "--resume") == 2
    assert "begun with another " in capsys.readouterr().err
    monkeypatch.delenv("CRFDEID_SECRET")
    assert run(model, notes, "--output", tmp_path / "new", "--rename-files") == 2


OLD = ("Zed_Quill", "Marsh_1931", "rows_of_Tarn", "bad_Vole", "gone_Vole", "Pell_folder", "9177341")
"""What the names of the input hold, each of which is part of one name."""


@pytest.fixture
def named(tmp_path: Path) -> Path:
    """Notes, files and folders that are called after patients, some of which fail."""
    source = tmp_path / "in"
    (source / "Zed_Quill" / "9177341").mkdir(parents=True)
    (source / "Zed_Quill" / "9177341" / "Marsh_1931.txt").write_bytes(NOTE.encode())
    (source / "rows_of_Tarn.jsonl").write_text(json.dumps({"text": NOTE}) + "\n{}\n")
    (source / "bad_Vole.txt").write_bytes(b"\xff")
    (source / "gone_Vole.txt").symlink_to("nowhere")
    (source / "Pell_folder").symlink_to(source / "Zed_Quill")
    return source


def old_names(*places: Path) -> list[str]:
    """Where a name of the input is to be read, or a digest of one that anybody could test guesses on."""
    inputs = (
        "rows_of_Tarn.jsonl",
        "Zed_Quill/9177341/Marsh_1931.txt",
        "bad_Vole.txt",
        "Zed_Quill",
        "Zed_Quill/9177341",
    )
    open_digests = [
        hashlib.new(kind, name.encode(), usedforsecurity=False).hexdigest()[:16]
        for name in inputs
        for kind in ("sha256", "md5", "sha1", "blake2b")
    ]
    files = [path for place in places for path in (place, *place.rglob("*"))]
    return [
        f"{path}: {word}"
        for path in files
        for word in (*OLD, *open_digests)
        if word in path.name or (path.is_file() and word.encode() in path.read_bytes())
    ]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_no_file_of_a_run_with_new_names_holds_an_old_one(
    model: Path,
    named: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    jobs: str,
) -> None:
    monkeypatch.setenv("CRFDEID_SECRET", SECRET)
    out, audit = tmp_path / "out", tmp_path / "audit.json"
    common = (model, named, "--output", out, "--report", audit, "--rename-files", "--jobs", jobs)
    assert run(*common) == 1
    assert old_names(out, audit) == []
    listed = [line for line in capsys.readouterr().err.splitlines() if line.startswith("failed: ")]
    assert len(listed) == 4 and all(any(name in line for name in OLD) for line in listed)
    # --resume finds by the secret which files are done, and still says what failed by its own name.
    before = {path: path.stat().st_ino for path in out.rglob("*") if path.is_file() and ".crfdeid" not in path.parts}
    assert run(*common, "--resume") == 1
    again = [line for line in capsys.readouterr().err.splitlines() if line.startswith("failed: ")]
    assert sorted(again) == sorted(listed)
    assert {path: path.stat().st_ino for path in before} == before
    assert old_names(out, audit) == []
    assert {one["file"] for one in json.loads(audit.read_text())["notes"]} <= set(written(out))
    # A file that was withdrawn is known by its new name alone.
    (named / "rows_of_Tarn.jsonl").unlink()
    assert run(*common, "--resume") == 2
    assert re.search("withdrawn: [0-9a-f]{32}.jsonl\n.*no longer has 1 of the files", capsys.readouterr().err)
    assert run(*common, "--resume", "--withdrawn", "remove") == 1
    assert [Path(name).suffix for name in written(out)] == [".txt"]
    assert old_names(out, audit) == []


def test_the_name_of_a_single_file_is_not_held_either(
    model: Path, named: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRFDEID_SECRET", SECRET)
    out, audit = tmp_path / "out", tmp_path / "audit.json"
    file = named / "Zed_Quill" / "9177341" / "Marsh_1931.txt"
    common = (model, file, "--output", out, "--report", audit, "--rename-files")
    assert run(*common) == run(*common, "--resume") == 0
    assert old_names(out, audit) == []


def test_surrogates_are_those_of_the_patient_whatever_the_files_are_called(
    model: Path, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRFDEID_SECRET", SECRET)
    common = (model, notes, "--operator", "surrogate")
    assert (
        run(*common, "--output", tmp_path / "one") == run(*common, "--output", tmp_path / "two", "--rename-files") == 0
    )
    one, two = (sorted(written(tmp_path / name).values()) for name in ("one", "two"))
    assert one == two


def test_columns_are_left_out(model: Path, notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (notes / "rows.csv").write_text("n,name,text\n1,Quill,Patient Quill\n")
    common = (model, notes, "--output", tmp_path / "out")
    for names, problem in (("n,text", "'text' is the text of the notes"), ("n,", "'n,' is not a list of names")):
        assert run(*common, "--drop-columns", names) == 2
        assert problem in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert run(*common, "--drop-columns", "n") == 0
    found = written(tmp_path / "out")
    assert found["rows.csv"] == b"name,text\nQuill,Patient [PATIENT]\n"
    assert list(json.loads(found["p1/c.jsonl"])) == ["text"]
    assert run(*common, "--resume") == 2


# --- what a run accounts for


def test_a_run_ends_with_a_summary(model: Path, notes: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (notes / "none.txt").write_text("Leg pain.")
    (notes / "broken.txt").write_bytes(b"\xff")
    assert run(model, notes, "--output", tmp_path / "out") == 1
    first, *lines = capfd.readouterr().err.splitlines()[1:]
    assert re.fullmatch(r"redact: 4 notes in [0-9.]+ s, nothing found in 1 of them; 1 failure", first)
    assert lines == [
        "spans: DATE 3, DOCTOR 3, PATIENT 3, PHONE 3",
        f"model: {model} (crf, without rules, SHA-256 {model_digest(model)[:12]})",
        "found by: the most probable tags",
        "warning: 51 % of the words were hidden (24 of 47): read some results before you hand them on",
        "error: 1 notes or files failed and have no output (listed above); the others are done",
    ]


def test_an_audit_says_it_note_by_note(
    model: Path, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret").write_text(SECRET)
    common = (model, notes, "--operator", "remove")
    found = []
    for name, more in (
        ("plain", ()),
        ("keyed", ("--secret-file", tmp_path / "secret")),
        ("two", ("--secret-file", tmp_path / "secret", "--jobs", "2")),
    ):
        audit = tmp_path / f"{name}.json"
        assert run(*common, *more, "--output", tmp_path / name, "--report", audit) == 0
        assert stat.S_IMODE(audit.stat().st_mode) == 0o600
        assert "Quill" not in audit.read_text()
        found.append(json.loads(audit.read_text()))
    plain, keyed, two = found
    counts = {"PATIENT": 1, "DATE": 1, "DOCTOR": 1, "PHONE": 1}
    sources = plain["notes"][0]["sources"]
    assert sources["model"]["spans"] == 4
    assert plain["notes"] == [
        {"file": "a.txt", "found": counts, "sources": sources},
        {"file": "p1/b.txt", "found": counts, "sources": sources},
        {"file": "p1/c.jsonl", "row": 1, "found": counts, "sources": sources},
    ]
    mac = hash_text(NOTE, derive(SECRET.encode(), "audit"))
    assert keyed["notes"] == two["notes"] == [{**note, "hmac": mac} for note in plain["notes"]]
    summary = keyed["summary"]
    assert summary.pop("seconds") > 0
    expected = {
        "command": "redact",
        "operators": ["remove"],
        "locale": None,
        "date_order": None,
        "model": model_digest(model),
        "model_folder": str(model),
        "model_kind": "crf",
        "rules": False,
        "sensitivity": None,
        "threshold": None,
        "consistency": True,
        "accept_damaged": False,
        "site": None,
        "record_columns": [],
        "record_file": None,
        "text_column": "text",
        "id_column": None,
        "patient_column": None,
        "input": str(notes),
        "output": str(tmp_path / "keyed"),
        "jobs": 1,
        "notes": 3,
        "notes_without_phi": 0,
        "surrogates": False,
        "surrogate_locales": {},
        "failures": 0,
        "spans": {"DATE": 3, "DOCTOR": 3, "PATIENT": 3, "PHONE": 3},
    }
    assert {name: summary[name] for name in expected} == expected


def test_an_audit_has_a_place_of_its_own(
    model: Path, notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    common = (model, notes, "--output", tmp_path / "out")
    (tmp_path / "taken.json").write_text("mine")
    for place in ("taken.json", "nowhere/audit.json", "out/audit.json", "in/audit.json", "in"):
        assert run(*common, "--report", tmp_path / place) == 2
        assert "error: --report: " in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert (tmp_path / "taken.json").read_text() == "mine"


def test_an_audit_that_comes_later_has_the_secret_of_the_beginning(
    model: Path, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def again(name: str, *more: str | Path) -> str:
        assert run(model, notes, "--output", tmp_path / name, *more) in (0, 2)
        return capsys.readouterr().err

    monkeypatch.setenv("CRFDEID_SECRET", SECRET)
    again("plain")
    again("keyed", "--report", tmp_path / "keyed.json")
    audit = ("--resume", "--report", tmp_path / "plain.json")
    assert "was begun without a secret for the report" in (refused := again("plain", *audit))
    assert "CRFDEID_SECRET not set" in refused
    assert "was begun with a secret for the report: give --report" in again("keyed", "--resume")
    monkeypatch.delenv("CRFDEID_SECRET")
    again("plain", *audit)
    assert len(json.loads((tmp_path / "plain.json").read_text())["notes"]) == 3


def test_a_run_that_finds_nothing_at_all_says_so(
    model: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for count, said in ((9, False), (10, True)):
        (tmp_path / "in.jsonl").write_text('{"text": "Leg pain."}\n' * count)
        assert run(model, tmp_path / "in.jsonl", "--output", tmp_path / f"{count}") == 0
        assert ("warning: no PHI was found in any of 10 notes" in capfd.readouterr().err) is said


# --- kill, and two at once


def many_notes(folder: Path, count: int) -> Path:
    folder.mkdir()
    for number in range(count):
        (folder / f"{number:04d}.txt").write_text(
            f"Patient Quill was seen on 3/{number % 28 + 1}/2031. Row {number}.\n"
        )
    return folder


def start(*arguments: str | Path) -> subprocess.Popen[str]:
    return subprocess.Popen(crfdeid("redact", *arguments), stderr=subprocess.PIPE, text=True)


def wait_for(process: subprocess.Popen[str], out: Path, count: int) -> None:
    """Wait until so many notes are done."""
    limit = time.monotonic() + 60
    while process.poll() is None and len(list(out.glob("*.txt"))) < count:
        assert time.monotonic() < limit
        time.sleep(0.005)


def kill_after(count: int, out: Path, *arguments: str | Path) -> None:
    """Start a run, and kill it as soon as so many notes are done."""
    with start(*arguments) as process:
        wait_for(process, out, count)
        process.kill()
        _, error = process.communicate()
        assert process.returncode == -signal.SIGKILL, error


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_a_killed_run_goes_on_where_it_was(model: Path, tmp_path: Path, jobs: str) -> None:
    source, out = many_notes(tmp_path / "in", 1200), tmp_path / "out"
    common = (model, source, "--output", out, "--jobs", jobs)
    expected = {
        name: redact(document).text.encode()
        for name, document in zip(
            sorted(written(source)),
            load(model).annotate_all(text.decode() for _, text in sorted(written(source).items())),
            strict=True,
        )
    }
    kill_after(150, out, *common)
    first = written(out)
    assert 150 <= len(first) < 1200
    assert first.items() <= expected.items()  # None half-written.
    inodes = {name: (out / name).stat().st_ino for name in first}
    kill_after(400, out, *common, "--resume")
    assert 400 <= len(written(out)) < 1200
    done = subprocess.run(crfdeid("redact", *common, "--resume"), capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stderr.startswith("redact: 1,200 notes in ")
    assert written(out) == expected
    again = [name for name, inode in inodes.items() if (out / name).stat().st_ino != inode]
    assert len(again) <= 1  # At most the one that was not yet listed as finished.


def test_two_runs_at_once_do_not_disturb_each_other(model: Path, tmp_path: Path) -> None:
    source, out = many_notes(tmp_path / "in", 200), tmp_path / "out"
    common = (model, source, "--output", out)
    with start(*common) as one, start(*common) as two:
        both = [one, two]
        errors = [process.communicate()[1] for process in both]
    codes = sorted(process.returncode for process in both)
    assert codes in ([0, 1], [0, 2]), errors  # 2: it came so late that the other was done.
    loser = next(error for process, error in zip(both, errors, strict=True) if process.returncode)
    assert loser.count("\n") == 1
    assert "another run is writing there" in loser or "is not empty" in loser
    assert len(written(out)) == 200
    assert subprocess.run(crfdeid("redact", *common, "--resume"), check=False).returncode == 0


def test_told_to_end_it_leaves_no_process_behind(model: Path, tmp_path: Path) -> None:
    source, out = many_notes(tmp_path / "in", 1000), tmp_path / "out"
    with start(model, source, "--output", out, "--jobs", "2") as process:
        wait_for(process, out, 100)
        process.terminate()
        _, error = process.communicate()  # Ends when no process holds the other end any more.
    assert process.returncode == 143, error
    assert re.fullmatch("error: ended by SIGTERM: run it again.*--resume.*\n", error)


@pytest.mark.parametrize(
    "options",
    [
        ("--text-column", "note"),
        ("--id-column", "key"),
        ("--patient-column", "mrn"),
        ("--record-columns", "name"),
        ("--drop-columns", "name"),
        ("--hash-columns", "mrn"),
        ("--operator", "surrogate", "--shift-columns", "born"),
        ("--operator", "surrogate", "--allow-columns", "born"),
    ],
)
def test_columns_of_notes_without_tables_are_refused(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    monkeypatch.setenv("CRFDEID_SECRET", SECRET)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text(NOTE)
    assert run(model, tmp_path / "in", "--output", tmp_path / "out", *options) == 2
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_documents_are_redacted_in_their_format_and_pdf_as_text(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], jobs: str
) -> None:
    pytest.importorskip("pypdf", reason="the extra documents is not installed")
    notes = tmp_path / "notes"
    notes.mkdir()
    body = "<w:p><w:r><w:t>Patient Qu</w:t></w:r><w:r><w:t>ill</w:t></w:r></w:p>"
    (notes / "a.DOCX").write_bytes(docx({BODY: body}))
    (notes / "b.pdf").write_bytes(pdf([shown("Patient Quill was seen on 3/4/2031.")]))
    (notes / "c.xml").write_text(cda_places.FRAME.format("<title>Patient Quill</title>"))
    (notes / "d.docx").write_bytes(b"PK\x03\x04")
    (notes / "e.pdf").write_bytes(pdf([b"/X Do"]))
    (notes / "f.xml").write_text("<note>Quill</note>")
    assert run(model, notes, "--output", tmp_path / "out", "--jobs", jobs) == 1
    failures = [line for line in capsys.readouterr().err.splitlines() if line.startswith("failed: ")]
    assert [line.split(":")[1].strip() for line in failures] == ["d.docx", "e.pdf", "f.xml"]
    found = written(tmp_path / "out")
    assert set(found) == {"a.DOCX", "b.txt", "c.xml"}
    assert members(found["a.DOCX"])[BODY].endswith(
        b"<w:t>Patient [PATIENT]</w:t></w:r><w:r><w:t></w:t></w:r></w:p></w:body></w:document>"
    )
    assert found["b.txt"].decode() == "Patient [PATIENT] was seen on [DATE]."
    assert found["c.xml"].decode() == cda_places.FRAME.format("<title>Patient [PATIENT]</title>")
    assert run(model, notes, "--output", tmp_path / "plain", "--markup", "plain") == 1
    assert written(tmp_path / "plain")["b.txt"] == found["b.txt"]
    tagged = ["tag", str(model), str(notes / "a.DOCX"), "--output", str(tmp_path / "tags")]
    assert main(tagged) == 1 and "failed: a.DOCX: looks like DOCX" in capsys.readouterr().err


def test_a_pdf_and_a_text_of_one_name_are_refused(
    model: Path, notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (notes / "a.pdf").write_bytes(pdf([shown("Quill")]))
    assert run(model, notes, "--output", tmp_path / "out") == 2
    assert "two files would be written to a.txt" in capsys.readouterr().err and not (tmp_path / "out").exists()

"""`crfdeid tag` as a user has it: what it writes is read back by the library as what the model found."""

from __future__ import annotations

import json
import math
import subprocess
from pathlib import Path

import pytest
from notes_samples import crfdeid, tiny_model, written

from crfdeid.cli import main
from crfdeid.corpora import read_corpus
from crfdeid.documents import Document
from crfdeid.pipeline import load

NOTE = "Patient Quill was seen on 3/14/2031.\r\nAttending: Dr. Orla Marsh, call 555-1037.\n"
OTHER = "Señora Ines Tarn was seen on 4/2/2031 \U0001f600."


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("model"))


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    source = tmp_path / "in"
    (source / "p1").mkdir(parents=True)
    (source / "a.txt").write_bytes(NOTE.encode())
    (source / "p1" / "b.txt").write_bytes(OTHER.encode())
    return source


def run(*arguments: str | Path) -> int:
    return main(["tag", *map(str, arguments)])


@pytest.mark.parametrize("format", ["brat", "i2b2-2014", "jsonl", "doccano", "xmi"])
def test_every_format_holds_what_the_model_found(model: Path, notes: Path, tmp_path: Path, format: str) -> None:
    assert run(model, notes, "--output", tmp_path / "out", "--output-format", format) == 0
    found = {
        document.id.removesuffix(".jsonl:1"): document for document in read_corpus(tmp_path / "out", format=format)
    }
    expected = {name: load(model).annotate(text, id=name) for name, text in (("a", NOTE), ("p1/b", OTHER))}
    assert found == expected
    assert found["a"].spans


def test_brat_keeps_the_text_to_the_byte(model: Path, notes: Path, tmp_path: Path) -> None:
    (notes / "mark.txt").write_bytes(b"\xef\xbb\xbf" + NOTE.encode())
    assert run(model, notes, "--output", tmp_path / "out", "--output-format", "brat") == 0
    found = written(tmp_path / "out")
    assert {name: data for name, data in found.items() if name.endswith(".txt")} == written(notes)
    marked, plain = (read_corpus(tmp_path / "out" / name)[0] for name in ("mark.txt", "a.txt"))
    assert [span.start - 1 for span in marked.spans] == [span.start for span in plain.spans]
    assert [marked.text[start:end] for start, end, _ in marked.spans] == [
        NOTE[start:end] for start, end, _ in plain.spans
    ]


def test_conll_holds_the_tags(model: Path, notes: Path, tmp_path: Path) -> None:
    assert run(model, notes, "--output", tmp_path / "out", "--output-format", "conll") == 0
    (found,) = read_corpus(tmp_path / "out" / "a.conll", format="conll")
    expected = load(model).annotate(NOTE)
    assert [(found.text[s:e].replace(" ", ""), label) for s, e, label in found.spans] == [
        (NOTE[s:e].replace(" ", ""), label) for s, e, label in expected.spans
    ]


def test_rows_become_lines_with_their_ids(model: Path, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "t.csv").write_text('key,text\nk1,Patient Quill\n,"Patient Orla Marsh"\nk3\n')
    common = (model, tmp_path / "in")
    assert run(*common, "--output", tmp_path / "out", "--id-column", "key") == 1
    found = read_corpus(tmp_path / "out" / "t.jsonl")
    assert [(document.id, document.text) for document in found] == [
        ("k1", "Patient Quill"),
        ("t.csv:2", "Patient Orla Marsh"),
    ]
    assert found[0] == Document("k1", "Patient Quill", load(model).annotate("Patient Quill").spans)
    assert run(*common, "--output", tmp_path / "brat", "--output-format", "brat") == 2
    assert not (tmp_path / "brat").exists()


def test_json_lines_keep_their_ids(model: Path, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"id": "k1", "text": "Patient Quill"}\n{"text": "Patient Orla Marsh"}\n')
    assert run(model, tmp_path / "in.jsonl", "--output", tmp_path / "out") == 0
    assert [document.id for document in read_corpus(tmp_path / "out" / "in.jsonl")] == ["k1", "in.jsonl:2"]


def test_label_studio_is_given_tasks_with_what_the_model_found(model: Path, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f'text\n"{OTHER}"\nNothing.\n')
    common = (model, tmp_path / "t.csv", "--output-format", "label-studio")
    assert run(*common, "--output", tmp_path / "out") == 0
    tasks = json.loads((tmp_path / "out" / "t.json").read_text())
    assert [task["data"]["note"] for task in tasks] == ["t.csv:1", "t.csv:2"]
    tagger = load(model).tagger
    for task in tasks:
        tables = tagger.marginals(Document("", task["data"]["text"]).sentences())
        probable = [1 - row[tagger.tags.index("O")] for table in tables for row in table]
        missed = sum(p for p in probable if p < 0.5)
        assert task["predictions"][0]["score"] == pytest.approx(math.exp(-missed), abs=1e-6)
        assert 0 < missed < 10
    (prediction,) = tasks[0]["predictions"]
    assert prediction["model_version"].startswith(f"{model.name} ")
    found = [(region["value"]["start"], region["value"]["end"]) for region in prediction["result"]]
    assert found == [(start, end) for start, end, _ in load(model).annotate(OTHER).spans]
    assert "annotations" not in tasks[0]


def test_a_file_without_a_note_is_an_empty_list_of_tasks(model: Path, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("text\n")
    command = (model, tmp_path / "t.csv", "--output-format", "label-studio")
    assert run(*command, "--output", tmp_path / "out") == 0
    assert json.loads((tmp_path / "out" / "t.json").read_text()) == []


@pytest.mark.parametrize("format", ["brat", "label-studio", "doccano", "xmi"])
def test_notes_for_a_test_set_hold_nothing_of_the_model(model: Path, notes: Path, tmp_path: Path, format: str) -> None:
    command = (model, notes, "--output", tmp_path / "out", "--output-format", format, "--blind")
    assert run(*command) == 0
    shown = b"".join(written(tmp_path / "out").values())
    assert b"Quill" in shown
    assert b"PATIENT" not in shown
    assert b"predictions" not in shown


@pytest.mark.parametrize("format", ["jsonl", "conll", "i2b2-2014"])
def test_other_formats_are_not_for_annotators(model: Path, notes: Path, tmp_path: Path, format: str) -> None:
    command = (model, notes, "--output", tmp_path / "out", "--output-format", format, "--blind")
    assert run(*command) == 2
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("format", ["brat", "jsonl", "i2b2-2014", "conll", "label-studio", "doccano", "xmi"])
def test_new_names_of_files_leave_none_of_the_old_in_the_results(
    model: Path, notes: Path, tmp_path: Path, format: str
) -> None:
    (tmp_path / "secret").write_text("0123456789abcdef")
    (notes / "p1").rename(notes / "MARSH_1931")
    (notes / "a.txt").rename(notes / "TARN_1940.txt")
    common = (model, notes, "--output", tmp_path / "out", "--secret-file", tmp_path / "secret")
    assert run(*common, "--output-format", format, "--rename-files") == 0
    found = written(tmp_path / "out")
    assert len(found) == (4 if format == "brat" else 2)
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]  # the hidden ones too
    shown = b"".join(str(path.relative_to(tmp_path)).encode() + path.read_bytes() for path in files)
    assert b"MARSH" not in shown
    assert b"1940" not in shown


def test_a_note_that_the_format_cannot_hold_fails_alone(
    model: Path, notes: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (notes / "control.txt").write_bytes(b"Patient Quill \x00")
    assert run(model, notes, "--output", tmp_path / "out", "--output-format", "i2b2-2014") == 1
    assert "failed: control.txt, offset 14: " in capfd.readouterr().err
    assert set(written(tmp_path / "out")) == {"a.xml", "p1/b.xml"}
    assert not list((tmp_path / "out").rglob("*.writing-*"))


def test_standard_input_becomes_one_line(model: Path) -> None:
    command = crfdeid("tag", model, "-")
    done = subprocess.run(command, input=NOTE.encode(), capture_output=True, check=True)
    record = json.loads(done.stdout)
    assert record["text"] == NOTE
    found = load(model).annotate(NOTE)
    assert [tuple(span.values()) for span in record["spans"]] == [
        (*span, "model", round(found.evidence[span].score or 0, 6)) for span in found.spans
    ]
    assert done.stderr.startswith(b"tag: 1 note in ")
    refused = subprocess.run([*command, "--output-format", "brat"], input=b"", capture_output=True, check=False)
    assert (refused.returncode, refused.stdout) == (2, b"")


def test_tagging_twice_gives_the_same(model: Path, notes: Path, tmp_path: Path) -> None:
    for name, jobs in (("one", "1"), ("two", "2")):
        assert run(model, notes, "--output", tmp_path / name, "--jobs", jobs) == 0
    assert written(tmp_path / "one") == written(tmp_path / "two")

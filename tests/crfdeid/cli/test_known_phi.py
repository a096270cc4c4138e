"""`--lists`, `--record-columns` and `--record-file` as a user has them, in every kind of file."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from notes_samples import tiny_model, written

from crfdeid import Document, Span, write_corpus
from crfdeid.cli import main

TEXT = "Sorrelby came. SORELBY, J. is 40, born 14 mar 72 (14/3/1972), MRN 77 001. At Tawn List. Foley catheter.\n"
ROW = {"text": TEXT, "who": "Jane Sorrelby", "dob": "1972-03-14", "mrn": 77001}
LEFT = ("Sorrelby", "SORELBY", "72", "77 001", "Tawn")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("model"))


@pytest.fixture
def site(tmp_path: Path) -> Path:
    path = tmp_path / "site.toml"
    path.write_text('[[deny]]\ntype = "HOSPITAL"\nterms = ["Tawn List"]\n')
    return path


def run(command: str, model: Path, source: Path, *options: str | Path) -> int:
    fixed = (model, source, "--output", source.parent / "out")
    return main([command, *map(str, (*fixed, *options))])


def write(kind: str, folder: Path, rows: list[dict[str, object]]) -> Path:
    path = folder / f"notes{kind}"
    match kind:
        case ".csv":
            with path.open("w", newline="") as stream:
                writer = csv.DictWriter(stream, list(ROW))
                writer.writeheader()
                writer.writerows(rows)
        case ".jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        case _:
            pq.write_table(pa.Table.from_pylist(rows), path)
    return path


@pytest.mark.parametrize("kind", [".csv", ".jsonl", ".parquet"])
def test_what_columns_say_is_hidden_in_every_kind_of_table(
    model: Path, tmp_path: Path, site: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    other = {"text": "Sorrelby and Marsh.\n", "who": "Ann Marsh", "dob": None, "mrn": 5}
    source = write(kind, tmp_path, [ROW, other])
    assert run("redact", model, source, "--lists", site, "--record-columns", "name=who,dob,mrn", "--jobs", "1") == 0
    assert "columns unchanged: who, dob, mrn: " in capsys.readouterr().err
    out = tmp_path / "out" / source.name
    match kind:
        case ".csv":
            with out.open(newline="") as stream:
                texts = [row["text"] for row in csv.DictReader(stream)]
        case ".jsonl":
            texts = [json.loads(line)["text"] for line in out.read_text().splitlines()]
        case _:
            texts = pq.read_table(out)["text"].to_pylist()
    assert not [form for form in LEFT if form in texts[0]]
    assert texts[0].startswith("[PATIENT] came. [PATIENT]. is 40, born [DATE] ([DATE]), MRN [ID].")
    assert "Foley catheter" in texts[0]
    assert "Sorrelby" in texts[1]
    assert "Marsh" not in texts[1]


def test_columns_that_are_dropped_are_no_cause_for_a_warning(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write(".jsonl", tmp_path, [ROW])
    assert run("redact", model, source, "--record-columns", "name=who,mrn", "--drop-columns", "who") == 0
    assert "columns unchanged: mrn, dob: " in capsys.readouterr().err
    (line,) = (tmp_path / "out" / "notes.jsonl").read_text().splitlines()
    assert set(json.loads(line)) == {"text", "dob", "mrn"}
    assert "Sorrelby" not in line


def test_a_side_file_says_it_for_text_files(model: Path, tmp_path: Path) -> None:
    source = tmp_path / "in"
    for name, text in (("p1/a.txt", TEXT), ("p1/b.txt", "Marsh, Sorrelby\n"), ("c.txt", "Sorrelby\n")):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    people = tmp_path / "people.csv"
    people.write_text("patient,name,dob,mrn\np1,Jane Sorrelby,14/03/1972,77001\n")
    assert run("redact", model, source, "--record-file", people) == 1  # nobody said anything of c.txt
    found = written(tmp_path / "out")
    assert set(found) == {"p1/a.txt", "p1/b.txt"}
    assert not [form for form in LEFT[:4] if form in found["p1/a.txt"].decode()]
    assert found["p1/b.txt"].decode() == "Marsh, [PATIENT]\n"


def test_tags_say_where_it_is(model: Path, tmp_path: Path) -> None:
    source = write(".jsonl", tmp_path, [ROW])
    assert run("tag", model, source, "--record-columns", "name=who,dob,mrn") == 0
    (line,) = (tmp_path / "out" / "notes.jsonl").read_text().splitlines()
    assert "Sorrelby" in {TEXT[span["start"] : span["end"]] for span in json.loads(line)["spans"]}


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"dob": "Quillday"}, "the column 'dob' holds a date that cannot be read"),
        ({"who": "4"}, "the column 'who' holds a name without a letter"),
        ({"mrn": ["Quill"]}, "the column 'mrn' holds a value that is neither"),
    ],
)
def test_a_value_that_cannot_be_looked_for_fails_its_note_alone(
    model: Path, tmp_path: Path, row: dict[str, object], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write(".jsonl", tmp_path, [ROW | row, ROW])
    assert run("redact", model, source, "--record-columns", "name=who,dob,mrn") == 1
    said = capsys.readouterr().err
    assert f"notes.jsonl, row 1: {problem}" in said
    assert "Quill" not in said
    assert len((tmp_path / "out" / "notes.jsonl").read_text().splitlines()) == 1


def test_placeholders_hide_nothing_and_are_said_once_and_listed(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "null unknown took 77 mg; record 77\n"
    rows = [{"text": text, "who": who, "dob": "unknown", "mrn": 77} for who in ("NULL", "Jane Sorrelby", "NULL")]
    source, audit = write(".csv", tmp_path, rows), tmp_path / "audit.json"
    assert run("redact", model, source, "--record-columns", "name=who,dob,mrn", "--report", audit) == 0
    with (tmp_path / "out" / "notes.csv").open(newline="") as stream:
        assert {row["text"] for row in csv.DictReader(stream)} == {"null unknown took 77 mg; record [ID]\n"}
    said = capsys.readouterr().err
    assert said.count("warning: placeholders") == 1
    assert "  column 'who': placeholder in 2 notes, first in notes.csv, row 1\n" in said
    content = json.loads(audit.read_text())
    assert content["summary"]["unsearched"] == [
        {"column": "dob", "why": "placeholder", "notes": 3, "file": "notes.csv", "row": 1},
        {"column": "mrn", "why": "short", "notes": 3, "file": "notes.csv", "row": 1},
        {"column": "who", "why": "placeholder", "notes": 2, "file": "notes.csv", "row": 1},
    ]
    assert [note["unsearched"].get("who") for note in content["notes"]] == ["placeholder", None, "placeholder"]
    (tmp_path / "out" / "notes.csv").unlink()
    assert run("redact", model, source, "--record-columns", "name=who,dob,mrn", "--resume") == 0
    assert "column 'who': placeholder in 2 notes" in capsys.readouterr().err


def test_a_line_without_the_key_fails_and_a_table_without_the_column_too(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("redact", model, write(".jsonl", tmp_path, [{"text": TEXT}]), "--record-columns", "name") == 1
    assert run("redact", model, write(".csv", tmp_path, [ROW]), "--record-columns", "surname", "--resume") != 0
    assert "no 'name': write null for an unknown value" in capsys.readouterr().err


def test_a_pattern_that_takes_too_long_fails_its_note_alone(
    model: Path, tmp_path: Path, site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("crfdeid.known_phi.lists.PATTERN_TIMEOUT", 0.05)
    site.write_text("[[pattern]]\ntype = \"ID\"\nregex = '(Q|QQ)+z'\nmatch_case = true\n")
    source = write(".jsonl", tmp_path, [{"text": "Q" * 60 + "!"}, {"text": "Tawn"}])
    assert run("redact", model, source, "--lists", site) == 1
    assert "notes.jsonl, row 1: the pattern of site.toml, line 3 " in capsys.readouterr().err
    assert len((tmp_path / "out" / "notes.jsonl").read_text().splitlines()) == 1


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--record-columns", "who"), "the column 'who'"),
        (("--record-columns", "text=text"), "'text' is the text of the notes"),
        (("--record-file", "people.csv"), "'ward'"),
        (("--lists", "site.toml"), "site.toml, line 1: "),
    ],
)
def test_what_cannot_work_is_said_before_anything_is_written(
    model: Path,
    tmp_path: Path,
    options: tuple[str, str],
    problem: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("patient,ward\n1,4\n")
    (tmp_path / "site.toml").write_text("[[denny]]\n")
    assert run("redact", model, write(".jsonl", tmp_path, [ROW]), *options) in (1, 2)
    assert problem in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_other_lists_are_another_run(model: Path, tmp_path: Path, site: Path) -> None:
    source = write(".jsonl", tmp_path, [ROW])
    assert run("redact", model, source, "--lists", site) == 0
    assert run("redact", model, source, "--lists", site, "--resume") == 0
    site.write_text(site.read_text().replace("Tawn", "Town"))
    assert run("redact", model, source, "--lists", site, "--resume") == 2


def notes_folder(folder: Path) -> Path:
    text = "Seen 03/14/2031 at Tawn List.\n"
    documents = [Document(str(number), text, (Span(5, 15, "DATE"),)) for number in range(16)]
    write_corpus(documents, folder / "notes.jsonl", format="jsonl")
    return folder / "notes.jsonl"


def train(folder: Path, *options: str | Path) -> int:
    notes = notes_folder(folder)
    fixed = (notes, "--dev", notes, "--model", "rules", "--output", folder / "trained")
    return main(["train", *map(str, (*fixed, *options))])


def test_a_model_brings_the_lists_that_it_was_trained_with(
    tmp_path: Path, site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(tmp_path, "--lists", site) == 0
    assert main(["info", str(tmp_path / "trained")]) == 0
    said = capsys.readouterr().out
    assert said.count("- Custom lists: 1 always hidden, 0 found by a pattern, 0 not hidden by themselves") == 2
    assert "Tawn" not in said
    (tmp_path / "a.txt").write_text("At Tawn List on 1/2/2031, Marsh House")
    more = tmp_path / "more.toml"
    more.write_text('[[deny]]\ntype = "HOSPITAL"\nterms = ["Marsh House"]\n[[allow]]\nterms = ["Tawn List"]\n')
    assert run("redact", tmp_path / "trained", tmp_path / "a.txt", "--lists", more) == 0
    assert (tmp_path / "out" / "a.txt").read_text() == "At [HOSPITAL] on [DATE], [HOSPITAL]"


def test_lists_do_not_stand_in_the_clear_beside_a_private_vocabulary(
    tmp_path: Path, site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CRFDEID_SECRET", "0123456789abcdef")
    assert train(tmp_path, "--lists", site, "--private-vocabulary") == 2
    assert "custom lists are saved in the clear" in capsys.readouterr().err
    assert not (tmp_path / "trained").exists()


def test_lists_that_cannot_work_stop_a_training_before_it_begins(
    tmp_path: Path, site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site.write_text("[[deny]]\ntype = 4\n")
    assert train(tmp_path, "--lists", site) == 1
    assert "site.toml, line 2: [[deny]] type " in capsys.readouterr().err
    assert not (tmp_path / "trained").exists()

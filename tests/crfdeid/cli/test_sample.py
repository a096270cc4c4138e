"""The command sample: what it writes for annotators, and what it refuses."""

import csv
import json
from pathlib import Path

import pytest
from commands import error_of, with_usual
from notes_samples import tiny_model, written

from crfdeid.cli import main
from crfdeid.cli.annotate import run_sample
from crfdeid.corpora import read_corpus, write_corpus
from crfdeid.documents import Document
from crfdeid.errors import OutputExistsError, UsageError


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("model"))


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "raw"
    (folder / "ward").mkdir(parents=True)
    for number in range(12):
        name = f"ward/{number}" if number % 2 else f"{number}"
        (folder / f"{name}.txt").write_text(f"Patient Quill{number} was seen on 3/{number + 1}/2031 by Dr. Marsh.\n")
    return folder


def run(*arguments: object) -> int:
    return main(["annotate", "sample", *map(str, arguments)])


def listed(folder: Path) -> list[dict[str, str]]:
    return list(csv.DictReader((folder / "drawn.csv").read_text().splitlines()))


FORMATS = next(option.type.choices for option in run_sample.params if option.name == "output_format")


@pytest.mark.parametrize("format", sorted({*FORMATS} - {"label-studio"}))
def test_each_format_is_read_back_as_what_the_model_found(model, notes, tmp_path, format, capsys):
    out = tmp_path / "out"
    assert run(notes, "--trained", model, "--output", out, "--count", 5, "--output-format", format) == 0
    assert "5 of 12 notes drawn, 1 of them at random" in capsys.readouterr().err
    documents = read_corpus(out, format=format)
    assert len(documents) == 5
    assert any(document.spans for document in documents)
    assert {row["note"] for row in listed(out)} == {document.id for document in documents}
    assert {row["drawn"] for row in listed(out)} == {"random", "uncertainty", "coverage"}
    assert all(float(row["expected_misses"]) >= 0 for row in listed(out))


def test_a_file_is_named_as_every_system_allows(tmp_path):
    table, out = tmp_path / "notes.csv", tmp_path / "out"
    table.write_text('id,text\na:b,Seen one\na-b,Seen two\n"c?|d",Seen three\n')
    for format, suffix in (("brat", ".txt"), ("xmi", ".xmi")):
        folder = out.with_name(format)
        assert run(table, "--output", folder, "--count", 3, "--id-column", "id", "--output-format", format) == 0
        names = {file.name for file in folder.glob(f"*{suffix}")}
        assert names == {f"a-b{suffix}", f"a-b-{suffix}", f"c--d{suffix}"}
        assert {row["note"] for row in listed(folder)} == {"a:b", "a-b", "c?|d"}
        for left_out in (folder, folder / "drawn.csv"):
            command = (table, "--output", out, "--count", 1, "--id-column", "id", "--exclude", left_out)
            assert run(*command) == 2  # none is left
    assert run(table, "--output", out, "--count", 3) == 0
    assert {file.name for file in out.glob("*.txt")} == {f"notes.csv-{row}.txt" for row in (1, 2, 3)}


def test_label_studio_gets_predictions_with_a_score_to_sort_by(model, notes, tmp_path):
    out = tmp_path / "out"
    assert run(notes, "--trained", model, "--output", out, "--count", 5, "--output-format", "label-studio") == 0
    tasks = json.loads((out / "notes.json").read_text())
    assert all(0 < task["predictions"][0]["score"] <= 1 for task in tasks)
    assert tasks[0]["predictions"][0]["model_version"].startswith(model.name)


def test_annotated_notes_are_not_drawn_again(notes, tmp_path):
    assert run(notes, "--output", tmp_path / "first", "--count", 4, "--strategy", "random") == 0
    first = {document.id for document in read_corpus(tmp_path / "first")}
    text = (notes / "0.txt").read_text()
    write_corpus([Document("renamed", text)], tmp_path / "other.jsonl", format="jsonl")
    command = [notes, "--exclude", tmp_path / "first", "--exclude", tmp_path / "other.jsonl"]
    left = 12 - len(first | {"0"})
    earlier = tmp_path / "first" / "drawn.csv"
    assert run(notes, "--exclude", earlier, "--output", tmp_path / "listed", "--count", 9) == 2  # 8 are left
    assert run(*command, "--output", tmp_path / "second", "--count", left, "--output-format", "jsonl") == 0
    second = {document.id for document in read_corpus(tmp_path / "second", format="jsonl")}
    assert not second & (first | {"0"})
    assert run(*command, "--output", tmp_path / "third", "--count", left + 1) == 2


@pytest.mark.parametrize("format", ["brat", "xmi", "doccano", "label-studio"])
def test_a_test_set_holds_nothing_of_the_model(model, notes, tmp_path, format):
    out = tmp_path / "out"
    command = [notes, "--output", out, "--count", 5, "--output-format", format, "--blind"]
    assert run(*command, "--trained", model) == 2  # which a test set has no use for
    assert run(*command) == 0
    shown = b"".join(written(out).values())
    assert b"PATIENT" not in shown
    assert b"predictions" not in shown
    assert {(row["drawn"], row["expected_misses"]) for row in listed(out)} == {("random", "")}


def test_the_same_seed_draws_the_same(model, notes, tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        assert run(notes, "--trained", model, "--output", tmp_path / name, "--count", 6, "--seed", seed) == 0
    assert written(tmp_path / "a") == written(tmp_path / "b") != written(tmp_path / "c")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--strategy", "uncertainty"), "--strategy uncertainty needs --trained"),
        (("--blind", "--strategy", "coverage"), "--blind with --strategy coverage"),
        (("--random-fraction", "1.5"), "--random-fraction"),
        (("--count", "99"), "99 notes to draw of 12"),
    ],
)
def test_options_that_cannot_work_are_refused(notes, tmp_path, capsys, arguments, expected):
    assert run(notes, *with_usual({"--output": tmp_path / "out", "--count": 3}, *arguments)) == 2
    assert expected in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_folder_with_something_in_it_is_left_alone(notes, tmp_path):
    there = tmp_path / "there"
    there.mkdir()
    (there / "a").write_text("x")
    assert type(error_of("annotate", "sample", notes, "--output", there, "--count", 3)) is OutputExistsError
    assert written(there).keys() == {"a"}


def test_a_sample_among_the_notes_is_refused(notes):
    before = written(notes)
    assert type(error_of("annotate", "sample", notes, "--output", notes / "drawn", "--count", 1)) is UsageError
    assert written(notes) == before

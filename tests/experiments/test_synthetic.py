"""Printing notes of the synthetic corpus."""

import re
import shlex

import pytest

from crfdeid.corpora import read_corpus
from crfdeid.corpora.layers import ConceptPaths
from crfdeid.corpora.splits import read_splits
from crfdeid.corpora.synthetic import generate, generate_concepts
from crfdeid.corpora.templates import fill, read_templates
from experiments.synthetic import main


def test_notes_are_printed_with_their_phi_marked_and_counted(capsys):
    assert main(["--notes", "2", "--seed", "7"]) == 0
    out = capsys.readouterr().out
    assert out.count("=====") == 4
    assert "|DATE]" in out
    assert "| DATE | 1038 | 188 | 498 |" in out


def test_an_unknown_profile_exits_with_2(capsys):
    assert main(["--profile", "none"]) == 2
    assert "choose from" in capsys.readouterr().err


def test_the_corpus_is_written_as_brat(tmp_path, capsys):
    assert main(["--seed", "7", "--output", str(tmp_path / "notes")]) == 0
    written = {name: read_corpus(tmp_path / "notes" / name) for name in ("train", "dev", "test")}
    assert written == {name: list(part) for name, part in generate("default", seed=7)._asdict().items()}
    again = re.search(r"`python -m experiments.synthetic (.+?)`", (tmp_path / "notes" / "README.md").read_text())[1]
    assert main([*shlex.split(again), "--output", str(tmp_path / "again")]) == 0
    files = {path.relative_to(tmp_path / "notes") for path in (tmp_path / "notes").rglob("*.*")}
    assert all((tmp_path / "again" / one).read_bytes() == (tmp_path / "notes" / one).read_bytes() for one in files)
    assert main(["--output", str(tmp_path / "notes")]) == 2
    assert "not an empty folder" in capsys.readouterr().err


def test_concepts_are_shown_and_written_to_a_folder_of_their_own(tmp_path, capsys):
    assert main(["--concepts", "--notes", "3", "--output", str(tmp_path / "corpus")]) == 0
    notes, counts = capsys.readouterr().out.split("\n| | train", 1)
    assert "|DATE]" in notes
    assert "\n| all concepts | " in counts
    phi, concepts = tmp_path / "corpus" / "phi", tmp_path / "corpus" / "concepts"
    where = ConceptPaths(train=concepts / "train", dev=concepts / "dev", test=concepts / "test")
    corpus = read_splits(phi / "train", phi / "dev", phi / "test", concepts=where)
    assert [list(split.documents) for split in corpus.splits.values()] == list(generate_concepts())


@pytest.mark.slow
def test_texts_of_all_types_are_counted_and_shown(capsys):
    assert main(["--types", "all", "--notes", "14"]) == 0
    texts, counts = capsys.readouterr().out.split("\n| | train", 1)
    assert texts.count("===== train-") == 14
    assert "\n| MEDICALRECORD | " in counts


def test_templates_of_a_folder_are_filled_and_written(tmp_path, capsys):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "calls.txt").write_text(
        "== call | kind=phone\n{patient.last} called on {day}.", encoding="utf-8"
    )
    command = ["--templates", str(tmp_path / "mine"), "--fillings", "3", "--seed", "2", "--notes", "3"]
    assert main([*command, "--output", str(tmp_path / "notes")]) == 0
    out = capsys.readouterr().out
    assert out.count("|PATIENT] ") == 3
    assert "| notes | 3 | 0 | 0 |" in out
    card = (tmp_path / "notes" / "README.md").read_text(encoding="utf-8")
    assert "language: en\n" in card and "phone 1." in card and "| notes | 3 | 0 | 0 |" in card and "$" not in card
    templates = read_templates(tmp_path / "mine")
    assert read_corpus(tmp_path / "notes" / "train") == list(fill(templates, fillings=3, seed=2))
    assert main([*command, "--concepts"]) == 2
    assert main(["--templates", str(tmp_path / "none")]) == 1


@pytest.mark.parametrize("language", ["spanish", "german", "french"])
def test_templates_of_a_language_are_counted_by_split(language, capsys):
    assert main(["--templates", language]) == 0
    assert "| PATIENT | " in capsys.readouterr().out

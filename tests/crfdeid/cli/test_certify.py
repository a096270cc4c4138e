"""The command certify: bounds, notes to read, plans."""

import json

import pytest

from crfdeid.cli import main


def said(capsys, *arguments: str) -> dict:
    assert main(["certify", "--json", *arguments]) == 0
    return json.loads(capsys.readouterr().out)


def refused(capsys, *arguments: str) -> str:
    assert main(["certify", *arguments]) in (1, 2)
    out = capsys.readouterr()
    assert out.out == ""
    return out.err


@pytest.fixture
def redacted(tmp_path):
    folder = tmp_path / "clean"
    for kind, size in (("letters", 6), ("reports", 3)):
        (folder / kind).mkdir(parents=True)
        for number in range(size):
            (folder / kind / f"{number}.txt").write_text(f"Seen by Dr. [DOCTOR], {number}.")
    return folder


def test_the_bound_of_notes(capsys):
    found = said(capsys, "--reviewed", "300", "--leaking", "0", "--reviewer-recall", "0.96")
    assert found["upper_bound_notes"] == pytest.approx(0.01035, abs=1e-5)
    assert found["upper_bound_tokens"] is None
    assert found["notes_to_read"] is None


def test_the_text_names_what_it_rests_on(capsys):
    assert main(["certify", "--reviewed", "300", "--leaking", "0", "--reviewer-recall", "0.96"]) == 0
    out = capsys.readouterr().out
    assert "at most 1.04 % of the notes leak" in out
    assert "A reader finds 96.00 % of the leaking notes, or more. This is assumed" in out
    assert "draw a new plan" in out
    assert "Signature" in out


def test_a_plan_is_not_written_among_the_notes(redacted, capsys):
    plan = redacted / "letters" / "plan.jsonl"
    said = refused(capsys, "--plan", str(plan), "--input", str(redacted), "--reviewed", "3")
    assert "--plan" in said and "lies in the folder of --input" in said
    assert not plan.exists()


def test_no_bound_is_rounded_down(capsys):
    assert main(["certify", "--reviewed", "300", "--leaking", "0"]) == 0
    assert "at most 0.994 % of the notes" in capsys.readouterr().out  # 0.99361


def test_counts_give_both_bounds(capsys, tmp_path):
    table = tmp_path / "counts.csv"
    table.write_text("note,leaked,tokens\n" + "a,0,10\n" * 99 + "b,5,10\n")
    found = said(capsys, "--counts", str(table))
    assert (found["reviewed"], found["leaking"]) == (100, 1)
    assert 0.005 < found["upper_bound_tokens"] < found["upper_bound_notes"] < 0.05


def test_kinds_of_notes_have_bounds_of_their_own(capsys, tmp_path):
    table = tmp_path / "strata.tsv"
    table.write_text("stratum\tnotes\treviewed\tleaking\nletters\t800\t200\t0\nreports\t400\t100\t2\n")
    found = said(capsys, "--strata", str(table))
    assert found["corpus_size"] == 1200
    assert found["strata"]["letters"] < found["upper_bound_notes"] < found["strata"]["reports"]
    assert main(["certify", "--strata", str(table)]) == 0
    assert "letters: 0 leaking of 200 read of 800" in capsys.readouterr().out


def test_notes_to_read(capsys):
    assert said(capsys, "--bound", "0.01")["notes_to_read"] == 299
    assert said(capsys, "--bound", "0.01", "--leaking", "1")["notes_to_read"] == 473
    assert said(capsys, "--bound", "0.01", "--corpus-size", "1000")["notes_to_read"] < 299
    assert main(["certify", "--bound", "0.01"]) == 0
    assert "| 1 | 473 |" in capsys.readouterr().out


def test_a_plan_is_drawn_by_kind_and_kept(capsys, redacted, tmp_path):
    plan = tmp_path / "plan.json"
    found = said(
        capsys, "--plan", str(plan), "--input", str(redacted), "--reviewed", "3", "--seed", "5", "--kind-folders"
    )
    assert (found["corpus_size"], found["reviewed"], found["seed"]) == (9, 3, 5)
    content = json.loads(plan.read_text())
    assert content["kinds"] == {"letters": 6, "reports": 3}
    assert [note["kind"] for note in content["read"]] == ["letters", "letters", "reports"]
    assert "is there already" in refused(capsys, "--plan", str(plan), "--input", str(redacted), "--reviewed", "3")


def test_a_plan_for_a_bound_has_as_many_notes_as_that_takes(capsys, redacted, tmp_path):
    found = said(capsys, "--plan", str(tmp_path / "plan.json"), "--input", str(redacted), "--bound", "0.2")
    assert found["reviewed"] == found["notes_to_read"] == len(json.loads((tmp_path / "plan.json").read_text())["read"])


def test_what_reviewers_marked_is_certified_by_kind_of_note(capsys, redacted, tmp_path):
    plan, marks = tmp_path / "plan.json", tmp_path / "marks.jsonl"
    said(capsys, "--plan", str(plan), "--input", str(redacted), "--reviewed", "3", "--kind-folders")
    leak = {"start": 12, "end": 15, "label": "DOCTOR"}
    lines = [
        {"id": note["id"], "text": "Seen by Dr. Roe, 1.", "spans": [leak], "read": True, "missed": [], "needless": []}
        | {"sha256": note["sha256"]}
        for note in json.loads(plan.read_text())["read"]
    ]
    lines[0]["missed"] = [leak]
    marks.write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = said(capsys, "--marks", str(marks), "--planned", str(plan))
    assert (found["reviewed"], found["leaking"], found["corpus_size"]) == (3, 1, 9)
    assert set(found["strata"]) == {"letters", "reports"}
    assert found["upper_bound_tokens"] is not None
    marks.write_text(json.dumps(lines[0]) + "\n")
    assert "2 of the 3 notes of the plan are missing" in refused(capsys, "--marks", str(marks), "--planned", str(plan))
    assert said(capsys, "--marks", str(marks))["leaking"] == 1


def test_a_plan_of_notes_that_cannot_all_be_read_is_not_written(capsys, redacted, tmp_path):
    (redacted / "odd.jsonl").write_text('{"id": "1", "text": "a"}\n{"id": "1", "text": "b"}\n')
    plan = tmp_path / "plan.json"
    assert "the same id" in refused(capsys, "--plan", str(plan), "--input", str(redacted), "--reviewed", "3")
    assert not plan.exists()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), "give --reviewed and --leaking"),
        (("--reviewed", "3"), "--reviewed needs --leaking"),
        (("--reviewed", "3", "--leaking", "4"), "4 leaking notes of 3 read"),
        (("--reviewed", "3", "--leaking", "0", "--corpus-size", "2"), "3 notes read of 2"),
        (("--reviewed", "3", "--leaking", "0", "--reviewer-recall", "1.2"), "no share above 0, at most 1"),
        (("--counts", "none.csv", "--strata", "none.csv"), "say the same"),
        (("--counts", "none.csv"), "none.csv: cannot be read"),
        (("--bound", "0.01", "--corpus-size", "20", "--leaking", "3"), "too low"),
        (("--plan", "plan.json", "--reviewed", "3"), "--plan needs --input"),
        (("--input", "clean"), "are for --plan"),
        (("--plan", "plan.json", "--input", "nowhere", "--reviewed", "3"), "no such file or folder"),
    ],
)
def test_options_that_cannot_work_are_refused(capsys, tmp_path, monkeypatch, arguments, expected):
    monkeypatch.chdir(tmp_path)
    assert expected in refused(capsys, *arguments)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("leaked,tokens\n", "holds no counts"),
        ("leaked\n1\n", "line 1: no column tokens"),
        ("leaked,tokens\n3,2\n", "line 2: 3 leaked of 2 tokens"),
        ("leaked,tokens\n1,2,3\n", "line 2: 3 fields"),
        ("leaked,tokens\n\n-1,2\n", "line 3: expected a whole number"),
    ],
)
def test_a_table_that_cannot_be_is_refused_with_its_line(capsys, tmp_path, content, expected):
    (tmp_path / "counts.csv").write_text(content)
    assert expected in refused(capsys, "--counts", str(tmp_path / "counts.csv"))

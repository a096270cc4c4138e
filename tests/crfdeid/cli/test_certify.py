"""The commands review plan and review certify: bounds, notes to read, plans."""

import json
from itertools import combinations
from pathlib import Path

import pytest
from commands import error_of

from crfdeid.cli import main
from crfdeid.cli.review import run_certify
from crfdeid.errors import (
    DataError,
    EmptyInputError,
    FormatError,
    MismatchError,
    OptionConflictError,
    ReadError,
    SettingError,
    UnknownNameError,
    UsageError,
)


def said(capsys, *arguments: str) -> dict:
    assert main(["review", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def refused(capsys, *arguments: str) -> str:
    assert main(["review", *arguments]) in (1, 2)
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
    found = said(capsys, "certify", "--reviewed", "300", "--leaking", "0", "--reviewer-recall", "0.96")
    assert found["upper_bound_notes"] == pytest.approx(0.01035, abs=1e-5)
    assert found["upper_bound_tokens"] is None


def test_the_text_names_what_it_rests_on(capsys):
    assert main(["review", "certify", "--reviewed", "300", "--leaking", "0", "--reviewer-recall", "0.96"]) == 0
    out = capsys.readouterr().out
    assert "at most 1.04 % of the notes leak, if drawn as stated by the reviewer" in out
    assert "A reader finds 96.00 % of the leaking notes, or more. This is assumed" in out
    assert "draw a new plan" in out
    assert "Signature" in out


def test_a_draw_without_a_plan_is_marked_at_each_bound(capsys, redacted, marked, tmp_path):
    (tmp_path / "counts.csv").write_text("leaked,tokens\n0,9\n1,9\n")
    (tmp_path / "strata.csv").write_text("stratum,notes,reviewed,leaking\nletters,9,3,0\nreports,9,3,1\n")
    (redacted / "letters" / "more.txt").write_text("Seen by Dr. [DOCTOR].")  # a plan would be refused
    for source in (
        ["--reviewed", "3", "--leaking", "0"],
        ["--counts", str(tmp_path / "counts.csv")],
        ["--strata", str(tmp_path / "strata.csv")],
        [*marked[1:4]],
    ):
        assert said(capsys, "certify", *source)["drawn"] == "as stated"
        assert main(["review", "certify", *source]) == 0
        lines = capsys.readouterr().out.splitlines()
        bounds = [
            line
            for line in lines
            if "at most" in line and line.lstrip().startswith("- ") and " % of samples" not in line
        ]
        assert bounds and all("as stated by the reviewer" in line for line in bounds)
        assert [line for line in lines if "notes read" in line and "as stated by the reviewer" in line]


def test_a_draw_by_a_plan_is_not_said_to_be_stated(capsys, marked):
    assert said(capsys, *marked)["drawn"] == "by the plan"
    assert main(["review", *marked]) == 0
    assert "stated" not in capsys.readouterr().out


def test_a_plan_is_not_written_among_the_notes(redacted):
    plan = redacted / "letters" / "plan.jsonl"
    assert type(error_of("review", "plan", redacted, "--output", plan, "--count", 3)) is UsageError
    assert not plan.exists()


def test_no_bound_is_rounded_down(capsys):
    assert main(["review", "certify", "--reviewed", "300", "--leaking", "0"]) == 0
    assert "at most 0.994 % of the notes" in capsys.readouterr().out  # 0.99361


def test_counts_give_both_bounds(capsys, tmp_path):
    table = tmp_path / "counts.csv"
    table.write_text("note,leaked,tokens\n" + "a,0,10\n" * 99 + "b,5,10\n")
    found = said(capsys, "certify", "--counts", str(table))
    assert (found["reviewed"], found["leaking"]) == (100, 1)
    assert 0.005 < found["upper_bound_tokens"] < found["upper_bound_notes"] < 0.05


def test_kinds_of_notes_have_bounds_of_their_own(capsys, tmp_path):
    table = tmp_path / "strata.tsv"
    table.write_text("stratum\tnotes\treviewed\tleaking\nletters\t800\t200\t0\nreports\t400\t100\t2\n")
    found = said(capsys, "certify", "--strata", str(table))
    assert found["corpus_size"] == 1200
    assert found["strata"]["letters"] < found["upper_bound_notes"] < found["strata"]["reports"]
    assert main(["review", "certify", "--strata", str(table)]) == 0
    assert "letters: 0 leaking of 200 read of 800" in capsys.readouterr().out


def test_notes_to_read(capsys):
    assert said(capsys, "plan", "--target-leak-rate", "0.01")["notes_to_read"] == 299
    assert said(capsys, "plan", "--target-leak-rate", "0.01", "--leaking", "1")["notes_to_read"] == 473
    assert said(capsys, "plan", "--target-leak-rate", "0.01", "--corpus-size", "1000")["notes_to_read"] < 299
    assert main(["review", "plan", "--target-leak-rate", "0.01"]) == 0
    assert "| 1 | 473 |" in capsys.readouterr().out


def test_a_plan_is_drawn_by_kind_and_kept(capsys, redacted, tmp_path):
    plan = tmp_path / "plan.json"
    found = said(capsys, "plan", str(redacted), "--output", str(plan), "--count", "3", "--seed", "5", "--kind-folders")
    assert (found["corpus_size"], found["notes_to_read"], found["seed"]) == (9, 3, 5)
    content = json.loads(plan.read_text())
    assert content["kinds"] == {"letters": 6, "reports": 3}
    assert [note["kind"] for note in content["selected"]] == ["letters", "letters", "reports"]
    assert "is there already" in refused(capsys, "plan", str(redacted), "--output", str(plan), "--count", "3")


def test_a_plan_for_a_bound_has_as_many_notes_as_that_takes(capsys, redacted, tmp_path):
    found = said(capsys, "plan", str(redacted), "--output", str(tmp_path / "plan.json"), "--target-leak-rate", "0.2")
    assert found["notes_to_read"] == len(json.loads((tmp_path / "plan.json").read_text())["selected"])


def marks_of(plan: Path, marks: Path) -> None:
    """What reviewers of a plan's notes download who saw a leak in the first note."""
    leak = {"start": 12, "end": 15, "label": "DOCTOR"}
    lines = [
        {
            "id": note["id"],
            "text": "Seen by Dr. Roe, 1.",
            "spans": [leak],
            "read": True,
            "false_negatives": [],
            "false_positives": [],
        }
        | {"sha256": note["sha256"], "marks": 2, "replaced": "compared"}
        for note in json.loads(plan.read_text())["selected"]
    ]
    lines[0]["false_negatives"] = [leak]
    marks.write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.fixture
def marked(capsys, redacted, tmp_path) -> tuple[str, ...]:
    """The options of a certificate of a plan of three of nine notes, all of which were read."""
    plan, marks = tmp_path / "plan.json", tmp_path / "marks.jsonl"
    said(capsys, "plan", str(redacted), "--output", str(plan), "--count", "3", "--kind-folders")
    marks_of(plan, marks)
    return "certify", str(marks), "--redacted", str(redacted), "--plan", str(plan)


def undrawn(redacted: Path, plan: str) -> Path:
    """A note that the plan does not tell to read."""
    drawn = {note["id"] for note in json.loads(Path(plan).read_text())["selected"]}
    names = {path: path.relative_to(redacted).with_suffix("").as_posix() for path in sorted(redacted.rglob("*.txt"))}
    return next(path for path, name in names.items() if name not in drawn)


def test_what_reviewers_marked_is_certified_by_kind_of_note(capsys, marked):
    marks, plan = Path(marked[1]), json.loads(Path(marked[5]).read_text())
    found = said(capsys, *marked)
    assert (found["reviewed"], found["leaking"], found["corpus_size"]) == (3, 1, 9)
    assert found["corpus_digest"] == plan["digest"]
    assert set(found["strata"]) == {"letters", "reports"}
    assert found["upper_bound_tokens"] is not None
    assert main(["review", *marked]) == 0
    out = capsys.readouterr().out
    assert plan["digest"] in out
    assert "none was added, removed or changed since the draw" in out
    marks.write_text(marks.read_text().splitlines()[0] + "\n")
    assert error_of("review", *marked).path == Path(marked[5])
    assert said(capsys, *marked[:4])["leaking"] == 1


def test_raw_text_in_a_note_that_was_not_drawn_is_refused(capsys, redacted, marked):
    undrawn(redacted, marked[5]).write_text("Seen by Dr. Roe, 1.")
    assert type(error_of("review", *marked)) is MismatchError
    assert refused(capsys, *marked).count("\n") == 1


def test_notes_that_were_added_or_removed_after_the_draw_are_refused(capsys, redacted, marked):
    (redacted / "new.txt").write_text("Seen by Dr. Roe.")
    assert type(error_of("review", *marked)) is MismatchError
    (redacted / "new.txt").unlink()
    assert said(capsys, *marked)["leaking"] == 1
    undrawn(redacted, marked[5]).unlink()
    assert type(error_of("review", *marked)) is MismatchError


def test_marks_of_an_older_redaction_are_refused_with_their_lines(capsys, redacted, marked, tmp_path):
    marks, plan = Path(marked[1]), tmp_path / "again.json"
    older = [json.loads(line)["id"] for line in marks.read_text().splitlines()][1]
    (redacted / f"{older}.txt").write_text("Seen by Dr. Roe, again.")
    assert "marks.jsonl, line 2: these notes have another text now" in refused(capsys, *marked[:4])
    # A new plan of the new text does not make the old marks its own.
    said(capsys, "plan", str(redacted), "--output", str(plan), "--count", "3", "--kind-folders")
    assert "marks.jsonl, line 2: these notes have another text now" in refused(capsys, *marked[:5], str(plan))


def test_marks_without_a_digest_are_refused(marked):
    lines = [json.loads(line) for line in Path(marked[1]).read_text().splitlines()]
    del lines[1]["sha256"]
    Path(marked[1]).write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = error_of("review", *marked)
    assert (type(found), found.path, found.line) == (FormatError, Path(marked[1]), 2)


def test_the_text_of_a_table_can_have_another_column(capsys, tmp_path):
    table, plan, marks = tmp_path / "notes.csv", tmp_path / "plan.json", tmp_path / "marks.jsonl"
    table.write_text("key,body\n" + "".join(f"n{n},Seen by [DOCTOR]: {n}\n" for n in range(5)))
    draw = ("plan", str(table), "--output", str(plan), "--count", "2")
    assert "--text-column" in refused(capsys, *draw)
    columns = ("--text-column", "body", "--id-column", "key")
    assert said(capsys, *draw, *columns)["corpus_size"] == 5
    assert {note["id"] for note in json.loads(plan.read_text())["selected"]} <= {f"n{n}" for n in range(5)}
    marks_of(plan, marks)
    certificate = ("certify", str(marks), "--redacted", str(table), "--plan", str(plan))
    assert said(capsys, *certificate, *columns)["corpus_size"] == 5
    assert "--id-column" in refused(capsys, *certificate, *columns[:2])


def test_a_plan_of_notes_that_cannot_all_be_read_is_not_written(redacted, tmp_path):
    (redacted / "odd.jsonl").write_text('{"id": "1", "text": "a"}\n{"id": "1", "text": "b"}\n')
    plan = tmp_path / "plan.json"
    assert isinstance(error_of("review", "plan", redacted, "--output", plan, "--count", 3), DataError)
    assert not plan.exists()


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ("certify", UsageError),
        ("certify --reviewed 3", UsageError),
        ("certify --reviewed 3 --leaking 4", SettingError),
        ("certify --reviewed 3 --leaking 0 --corpus-size 2", SettingError),
        ("certify --reviewed 3 --leaking 0 --reviewer-recall 1.2", UsageError),
        ("certify --counts none.csv --strata none.csv", OptionConflictError),
        ("certify --counts none.csv --leaking 2", OptionConflictError),
        ("certify --counts none.csv", ReadError),
        ("certify --strata none.csv --corpus-size 9", OptionConflictError),
        ("certify marks.jsonl", UsageError),
        ("certify marks.jsonl --redacted nowhere", UnknownNameError),
        ("certify --reviewed 3 --leaking 0 --redacted clean", OptionConflictError),
        ("certify --reviewed 3 --leaking 0 --plan plan.json", OptionConflictError),
        ("certify --reviewed 3 --leaking 0 --text-column body", OptionConflictError),
        ("plan", UsageError),
        ("plan --target-leak-rate 0.01 --corpus-size 20 --leaking 3", SettingError),
        ("plan --target-leak-rate 0.01 --output plan.json", OptionConflictError),
        ("plan clean", UsageError),
        ("plan clean --count 3", UsageError),
        ("plan clean --count 3 --target-leak-rate 0.1 --output plan.json", OptionConflictError),
        ("plan clean --count 3 --output plan.json --leaking 1", OptionConflictError),
        ("plan nowhere --count 3 --output plan.json", UnknownNameError),
    ],
)
def test_options_that_cannot_work_are_refused(tmp_path, monkeypatch, arguments, error):
    monkeypatch.chdir(tmp_path)
    assert type(error_of("review", *arguments.split())) is error


@pytest.mark.parametrize("pair", [*combinations(run_certify.one_of, 2)])
def test_two_sources_are_refused(pair):
    values = {"reviews": ["marks.jsonl"], "reviewed": ["--reviewed", "3", "--leaking", "0"]}
    given = [part for name in pair for part in values.get(name, [f"--{name}", "none.csv"])]
    assert type(error_of("review", "certify", *given)) is OptionConflictError


@pytest.mark.parametrize(
    ("content", "error", "line"),
    [
        ("leaked,tokens\n", EmptyInputError, None),
        ("leaked\n1\n", FormatError, 1),
        ("leaked,tokens\n3,2\n", FormatError, 2),
        ("leaked,tokens\n1,2,3\n", FormatError, 2),
        ("leaked,tokens\n\n-1,2\n", FormatError, 3),
    ],
)
def test_a_table_that_cannot_be_is_refused_with_its_line(tmp_path, content, error, line):
    path = tmp_path / "counts.csv"
    path.write_text(content)
    found = error_of("review", "certify", "--counts", path)
    assert (type(found), found.path, found.line) == (error, path, line)

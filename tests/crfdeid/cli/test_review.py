"""The command review page: which notes are on the page, and what is refused."""

import json
import shutil
from pathlib import Path

import pytest
from commands import error_of
from notes_samples import tiny_model

from crfdeid.cli import main
from crfdeid.corpora import write_corpus
from crfdeid.documents import Document, Span
from crfdeid.errors import MismatchError, UsageError

SECRET = "0123456789abcdef0123456789abcdef"
TEXT = "Seen by Dr. Roe on 3/14."
GOLD = [Document("1", TEXT, (Span(12, 15, "DOCTOR"),)), Document("2", "Nothing.")]


def data(page: Path) -> dict:
    content = page.read_text(encoding="utf-8").split('id="data">')[1].split("</script>")[0]
    return json.loads(content)


def run(*arguments: object) -> int:
    return main(["review", "page", *map(str, arguments)])


@pytest.fixture
def sides(tmp_path: Path) -> tuple[str, ...]:
    write_corpus(GOLD, tmp_path / "gold.jsonl", format="jsonl")
    write_corpus([Document("1", TEXT), GOLD[1]], tmp_path / "found", format="brat")
    return str(tmp_path / "gold.jsonl"), "--predicted", str(tmp_path / "found")


@pytest.fixture
def redacted(tmp_path: Path) -> tuple[str, ...]:
    for folder, by in (("raw", "Roe"), ("clean", "[DOCTOR]")):
        (tmp_path / folder).mkdir()
        for name in ("a", "b", "c"):
            (tmp_path / folder / f"{name}.txt").write_text(f"{name}: {TEXT}".replace("Roe", by))
    return str(tmp_path / "raw"), str(tmp_path / "clean")


def test_gold_and_predicted(sides, tmp_path):
    page = ["evaluate", *sides, "--output", str(tmp_path / "review.html")]
    assert main(page) == 0
    notes = data(tmp_path / "review.html")["notes"]
    assert [note["id"] for note in notes] == ["1", "2"]
    assert notes[0]["spans"] == [[12, 15, "DOCTOR", None]]
    assert notes[0]["others"] == []
    assert (tmp_path / "review.html").stat().st_mode & 0o777 == 0o600
    assert type(error_of(*page)) is UsageError


def test_a_page_among_the_redacted_notes_is_refused(redacted, tmp_path):
    assert type(error_of("review", "page", *redacted, "--output", tmp_path / "clean" / "review.html")) is UsageError
    assert not (tmp_path / "clean" / "review.html").exists()


def test_redacted_notes_are_held_against_the_originals(redacted, tmp_path):
    assert run(*redacted, "--output", tmp_path / "review.html") == 0
    notes = data(tmp_path / "review.html")["notes"]
    assert [note["spans"] for note in notes] == [[[15, 18, "DOCTOR", "[DOCTOR]"]]] * 3


def test_only_the_notes_of_a_plan_are_shown_with_the_text_that_they_had(redacted, tmp_path):
    plan = tmp_path / "plan.json"
    assert main(["review", "plan", redacted[1], "--output", str(plan), "--count", "2", "--seed", "4"]) == 0
    wanted = [note["id"] for note in json.loads(plan.read_text())["selected"]]
    assert run(*redacted, "--plan", plan, "--output", tmp_path / "review.html") == 0
    assert [note["id"] for note in data(tmp_path / "review.html")["notes"]] == wanted
    (Path(redacted[1]) / f"{wanted[0]}.txt").write_text("Redacted anew.")
    assert (
        type(error_of("review", "page", *redacted, "--plan", plan, "--output", tmp_path / "again.html"))
        is MismatchError
    )
    assert not (tmp_path / "again.html").exists()


@pytest.mark.parametrize("change", ["swapped", "added", "removed"])
def test_all_redacted_notes_must_be_those_of_the_plan(redacted, tmp_path, capsys, change):
    plan, clean = tmp_path / "plan.json", Path(redacted[1])
    assert main(["review", "plan", str(clean), "--output", str(plan), "--count", "1", "--seed", "4"]) == 0
    (drawn,) = json.loads(plan.read_text())["selected"]
    other = next(path for path in sorted(clean.iterdir()) if path.stem != drawn["id"])
    if change == "swapped":
        other.write_text(TEXT)
    elif change == "added":
        (clean / "z.txt").write_text(TEXT)
    else:
        other.unlink()
    assert run(*redacted, "--plan", plan, "--output", tmp_path / "page.html") == 1
    err = capsys.readouterr().err
    assert "not the notes that the plan was drawn from" in err
    assert "Roe" not in err
    assert not (tmp_path / "page.html").exists()


@pytest.fixture
def renamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """Notes in a folder, and as a run with --rename-files and surrogates left them."""
    monkeypatch.setenv("CRFDEID_SECRET", SECRET)
    raw, model = tmp_path / "raw", tiny_model(tmp_path / "model")
    for name in ("Quill/1", "Quill/2", "Marsh/1"):
        (raw / name).parent.mkdir(parents=True, exist_ok=True)
        (raw / f"{name}.txt").write_text(f"Patient Quill was seen on 3/14/2031. A 64-year-old. Note {name[-1]}.\n")
    (raw / "more.csv").write_text("text\nPatient Quill was seen on 3/15/2031.\n")
    run = ["redact", str(model), str(raw), "--output", str(tmp_path / "out"), "--rename-files"]
    assert main([*run, "--operator", "surrogate", "--locale", "en_US"]) == 0
    return str(raw), str(tmp_path / "out")


def test_renamed_notes_are_paired_through_the_run_s_keyed_names(renamed, tmp_path):
    assert run(*renamed, "--output", tmp_path / "review.html") == 0
    page = (tmp_path / "review.html").read_text()
    notes = data(tmp_path / "review.html")["notes"]
    assert len(notes) == 4
    assert "Marsh" not in page
    for note in notes:
        assert any(note["text"][a:b] == "Quill" for a, b, *_ in note["spans"])


def test_a_plan_of_renamed_notes_is_read_and_certified(renamed, tmp_path):
    plan, page = tmp_path / "plan.json", tmp_path / "page.html"
    assert main(["review", "plan", renamed[1], "--output", str(plan), "--count", "2", "--seed", "4"]) == 0
    assert run(*renamed, "--plan", plan, "--output", page) == 0
    drawn = [note["id"] for note in json.loads(plan.read_text())["selected"]]
    assert {note["id"] for note in data(page)["notes"]} == set(drawn)


def test_renamed_notes_need_no_secret_where_the_run_s_record_is(renamed, tmp_path, monkeypatch):
    monkeypatch.delenv("CRFDEID_SECRET")
    assert run(*renamed, "--output", tmp_path / "review.html") == 0
    assert len(data(tmp_path / "review.html")["notes"]) == 4


def test_renamed_notes_without_a_record_need_the_run_s_secret(renamed, tmp_path, monkeypatch):
    monkeypatch.delenv("CRFDEID_SECRET")
    shutil.rmtree(Path(renamed[1], ".crfdeid"))
    assert type(error_of("review", "page", *renamed, "--output", tmp_path / "review.html")) is UsageError
    secret = tmp_path / "secret"
    secret.touch(0o600)
    secret.write_text(f"another {SECRET}")
    assert (
        type(error_of("review", "page", *renamed, "--secret-file", secret, "--output", tmp_path / "review.html"))
        is MismatchError
    )
    secret.write_text(SECRET)
    assert run(*renamed, "--secret-file", secret, "--output", tmp_path / "review.html") == 0


def kept_in(page: Path) -> list[str]:
    return [note["text"][start:end] for note in data(page)["notes"] for start, end, _ in note["unchanged"]]


def test_what_surrogates_leave_is_shown_where_the_run_put_surrogates(renamed, tmp_path):
    assert run(*renamed, "--output", tmp_path / "review.html") == 0
    assert kept_in(tmp_path / "review.html") == ["64"] * 3


def test_without_a_run_s_settings_an_option_says_that_there_are_surrogates(redacted, tmp_path):
    for folder in redacted:
        Path(folder, "b.txt").write_text("A 64-year-old woman.")
    assert run(*redacted, "--output", tmp_path / "one.html") == 0
    assert kept_in(tmp_path / "one.html") == []
    assert run(*redacted, "--locale", "en_GB", "--output", tmp_path / "two.html") == 0
    assert kept_in(tmp_path / "two.html") == ["64", "woman"]


def test_what_a_model_is_unsure_of_is_on_the_page(sides, tmp_path):
    model = tiny_model(tmp_path / "model")
    assert main(["evaluate", str(model), sides[0], "--output", str(tmp_path / "review.html")]) == 0
    unsure = [token for note in data(tmp_path / "review.html")["notes"] for token in note["unsure"]]
    assert unsure
    assert all(0.02 <= share <= 0.98 for _, _, share in unsure)


def test_a_second_annotator_s_marks_are_settled_on_a_page(sides, tmp_path, capsys):
    command = ["annotate", "agreement", sides[0], sides[2], "--json", "--output", str(tmp_path / "page.html")]
    assert main(command) == 0
    assert json.loads(capsys.readouterr().out)["notes"] == 2
    assert "second alone" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), "ORIGINAL"),
        (("a",), "REDACTED"),
        (("a", "b", "--key-file", "k"), "--key-file is for --trained"),
        (("a", "b"), "no such file or folder: a"),
    ],
)
def test_options_that_cannot_work_are_refused(tmp_path, monkeypatch, capsys, arguments, expected):
    monkeypatch.chdir(tmp_path)
    assert run(*arguments, "--output", "review.html") == 2
    assert expected in capsys.readouterr().err
    assert not (tmp_path / "review.html").exists()


def test_notes_that_are_on_one_side_only_are_refused(redacted, tmp_path):
    (tmp_path / "clean" / "b.txt").unlink()
    assert type(error_of("review", "page", *redacted, "--output", tmp_path / "review.html")) is MismatchError

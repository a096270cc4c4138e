"""What a run accounts for: every note once, whatever was resumed and however many processes shared the work."""

from __future__ import annotations

import hashlib
import hmac
import json
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from notes_samples import REPORT_KEY, HideQuill, redact_plan, run

from crfdeid.io import runner, sources
from crfdeid.io.journal import FailureEntry, Journal, NoteDone
from crfdeid.io.output import OutputFolder
from crfdeid.io.records import Failure
from crfdeid.io.run_report import RunTotals, write_report
from crfdeid.io.runner import start_workers


def mixed(folder: Path) -> Path:
    """Notes in files and rows, some of which fail, and a file that fails after one of its notes was done."""
    folder.mkdir()
    for name, text in {"a": "Quill and Quill", "b": "nobody", "c": "BOOM", "d": "Quill"}.items():
        (folder / f"{name}.txt").write_text(text)
    (folder / "rows.jsonl").write_text('{"text": "Quill"}\n{"text": null}\n{"text": "BOOM"}\n{"text": "no one"}\n')
    (folder / "torn.csv").write_text('text\nQuill\n"Quill" Quill\n')
    return folder


def mac(text: str) -> str:
    return hmac.new(REPORT_KEY, text.encode(), hashlib.sha256).hexdigest()


NOTES = [
    {"file": "a.txt", "found": {"PATIENT": 2}, "hmac": mac("Quill and Quill")},
    {"file": "b.txt", "found": {"PATIENT": 0}, "hmac": mac("nobody")},
    {"file": "d.txt", "found": {"PATIENT": 1}, "hmac": mac("Quill")},
    {"file": "rows.jsonl", "row": 1, "found": {"PATIENT": 1}, "hmac": mac("Quill")},
    {"file": "rows.jsonl", "row": 4, "found": {"PATIENT": 0}, "hmac": mac("no one")},
]


def audit(path: Path) -> tuple[list[dict[str, Any]], list[tuple[str, int | None, int | None]]]:
    """The notes of an audit, and the places of its failures, sorted."""
    content = json.loads(path.read_text("utf-8"))
    failures = [(one["file"], one["row"], one["line"]) for one in content["failures"]]
    return sorted(content["notes"], key=lambda note: (note["file"], note.get("row", 0))), sorted(failures, key=str)


FAILURES = [("c.txt", None, None), ("rows.jsonl", 3, None), ("torn.csv", None, 3)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_note_and_failure_is_there_once(tmp_path: Path, jobs: int) -> None:
    run(mixed(tmp_path / "in"), tmp_path / "out", jobs=jobs, audit=tmp_path / "audit.json")
    assert audit(tmp_path / "audit.json") == (NOTES, FAILURES)
    assert "Quill" not in (tmp_path / "audit.json").read_text()


def interrupted(source: Path, target: Path, after: int) -> None:
    """A run that Ctrl-C ends when so many files have been read."""

    def files() -> Iterator[Any]:
        for number, file in enumerate(sources.note_files(source)):
            if number == after:
                raise KeyboardInterrupt
            yield file

    with (
        pytest.raises(KeyboardInterrupt),
        OutputFolder(target, source=source, settings={}, resume=False) as output,
        start_workers(HideQuill(), 1) as workers,
    ):
        plan = redact_plan()
        runner.process_files(files(), plan, workers, output, on_failure=lambda failure: None, report_key=REPORT_KEY)


@pytest.mark.parametrize("after", [0, 1, 3, 5])
def test_a_resumed_run_accounts_for_all_of_it(tmp_path: Path, after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crfdeid.io.runner.BATCH_CHARACTERS", 1)
    source = mixed(tmp_path / "in")
    interrupted(source, tmp_path / "out", after)
    for _ in range(2):  # Once to end it, and once when there is nothing left to do.
        run(source, tmp_path / "out", resume=True, audit=tmp_path / "audit.json")
        assert audit(tmp_path / "audit.json") == (NOTES, FAILURES)


def test_a_file_that_was_mended_or_removed_counts_as_it_is_now(tmp_path: Path) -> None:
    source = mixed(tmp_path / "in")
    run(source, tmp_path / "out")
    (source / "c.txt").write_text("Quill")
    (source / "torn.csv").write_text("text\nQuill\n")
    (tmp_path / "out" / "a.txt").unlink()
    run(source, tmp_path / "out", resume=True, audit=tmp_path / "audit.json")
    notes, failures = audit(tmp_path / "audit.json")
    mended = [
        {"file": "c.txt", "found": {"PATIENT": 1}, "hmac": mac("Quill")},
        {"file": "torn.csv", "row": 1, "found": {"PATIENT": 1}, "hmac": mac("Quill")},
    ]
    assert notes == [*NOTES[:2], mended[0], *NOTES[2:], mended[1]]
    assert failures == FAILURES[1:2]


def test_totals_are_those_of_the_notes() -> None:
    entries = [
        NoteDone("a", "", None, None, found={"DATE": 2, "ID": 1}),
        NoteDone("b", "", 1, None, found={}),
        NoteDone("b", "", 2, None, found={"DATE": 0}),
        NoteDone(
            "d", "", None, None, found={"ID": 1}, locale="en_US", concepts={"DRUG": 2}, left_out={"DRUG": 1, "SIGN": 1}
        ),
        NoteDone(
            "e",
            "",
            None,
            None,
            found={"ID": 1},
            locale="en_US",
            concepts={"DRUG": 1},
            left_out={},
            drift_warnings=["line"],
        ),
        FailureEntry("", Failure("why", "c")),
    ]
    found = RunTotals.of(entries)
    left_out = Counter(DRUG=1, SIGN=1)
    assert found == RunTotals(
        5, 2, 1, Counter(DATE=2, ID=3), Counter(en_US=2), Counter(DRUG=3), left_out, drift_warnings=1
    )
    merged = RunTotals(failures=1)
    for part in (entries[:2], entries[2:5]):
        merged.merge(json.loads(json.dumps(RunTotals.of(part).to_json())))
    assert merged == found


def test_the_list_keeps_what_failed_and_by_which_error(tmp_path: Path) -> None:
    entries = [
        FailureEntry("7", Failure.of(KeyError("Quill"))._replace(file="c.txt", row=2)),
        FailureEntry("", Failure("why", "d")),
        NoteDone("e", "7", 3, None, found={"ID": 1}, drift_warnings=["fields", "line"]),
    ]
    journal = Journal(tmp_path / "list")
    for entry in entries:
        journal.add(entry)
    assert list(journal.entries()) == entries
    assert [entry.failure.error for entry in entries if isinstance(entry, FailureEntry)] == ["KeyError", "DataError"]
    journal.close()


def test_the_audit_lists_the_notes_that_are_unlike_the_development_notes(tmp_path: Path) -> None:
    notes = [NoteDone("a.csv", "0", row, None, found={"ID": 1}, drift_warnings=["line"] * (row == 2)) for row in (1, 2)]
    write_report(tmp_path / "audit.json", {}, lambda: notes)
    expected = [{"file": "a.csv", "row": 1, "found": {"ID": 1}}]
    expected.append({"file": "a.csv", "row": 2, "found": {"ID": 1}, "drift_warnings": ["line"]})
    assert json.loads((tmp_path / "audit.json").read_text())["notes"] == expected


def test_without_a_secret_there_is_no_digest(tmp_path: Path) -> None:
    write_report(tmp_path / "audit.json", {"notes": 1}, lambda: [NoteDone("a.txt", "0", None, None, found={"ID": 1})])
    assert json.loads((tmp_path / "audit.json").read_text()) == {
        "summary": {"notes": 1},
        "notes": [{"file": "a.txt", "found": {"ID": 1}}],
        "failures": [],
    }


def test_memory_does_not_grow_with_the_number_of_notes(tmp_path: Path) -> None:
    def peak(count: int) -> int:
        def entries() -> Iterator[NoteDone]:
            return (NoteDone(f"{number}.txt", "0", None, "f" * 64, found={"DATE": 1}) for number in range(count))

        tracemalloc.start()
        try:
            RunTotals.of(entries())
            write_report(tmp_path / "audit.json", {}, entries)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(5000) < peak(500) + 20_000

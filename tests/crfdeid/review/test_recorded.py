"""Pages and certificates of runs: what redaction recorded, for every kind of file, and refusals of changed texts."""

from __future__ import annotations

import json
import random
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import error_of
from notes_samples import tiny_model

from crfdeid import load
from crfdeid.bio import encode
from crfdeid.cli import main
from crfdeid.corpora import read_corpus, write_corpus
from crfdeid.documents import Document, Span, text_digest, tokens_of
from crfdeid.errors import MismatchError, VersionError
from crfdeid.io.replacements import RecordedFolder, write_records
from crfdeid.redaction import redact_recorded
from crfdeid.registry import create
from crfdeid.review.marks import RECORDED
from crfdeid.review.page import redaction_notes

SECRET = "0123456789abcdef0123456789abcdef"
NOTE = "Patient Quill was seen on 3/14/2031. Quill left. Attending: Dr. Orla Marsh, call 555-1037.\n"


def page_data(page: Path) -> dict[str, Any]:
    return json.loads(page.read_text(encoding="utf-8").split('id="data">')[1].split("</script>")[0])


def marks_of(page: Path, gold: dict[str, Document] | None = None) -> list[dict[str, Any]]:
    """What a reader of a page downloads who sees all that gold marks and the page does not show as replaced."""
    data, lines = page_data(page), []
    for note in data["notes"]:
        shown = [Span(*span[:3]) for span in (*note["spans"], *note["left"])]
        truth = () if gold is None else gold[note["id"]].spans
        missed = [span for span in truth if not covered(note["text"], span, shown)]
        apart = [span for span in shown if not any(one.start <= span.start and span.end <= one.end for one in missed)]
        lines.append(
            {
                "id": note["id"],
                "text": note["text"],
                "spans": [span._asdict() for span in sorted([*apart, *missed])],
                "read": True,
                "false_negatives": [span._asdict() for span in missed],
                "false_positives": [],
                "sha256": note["sha256"],
                "marks": data["version"],
                "replaced": data["replaced"],
            }
        )
    return lines


def covered(text: str, span: Span, others: list[Span]) -> bool:
    """True if each letter and digit of a span is in one of the others."""
    taken = {place for start, end, _ in others for place in range(start, end)}
    return all(place in taken for place in range(span.start, span.end) if text[place].isalnum())


def write_lines(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("model") / "model")


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Notes of every kind of file; one row of the table cannot be read, and has no result."""
    monkeypatch.setenv("CRFDEID_SECRET", SECRET)
    folder = tmp_path / "notes"
    (folder / "ward").mkdir(parents=True)
    (folder / "a.txt").write_text(f"\ufeff{NOTE}")
    (folder / "ward" / "b.txt").write_text(NOTE.replace("\n", "\r\n") * 2, newline="")
    (folder / "rows.csv").write_text(f'n,text\n1,"{NOTE}"\n2\n3,"Row 3. {NOTE}"\n4,\n5,"Row 5. {NOTE}"\n')
    (folder / "rows.jsonl").write_text("".join(json.dumps({"text": f"{n}: {NOTE}"}) + "\n\n" for n in range(3)))
    pq.write_table(pa.table({"text": [f"Parquet. {NOTE}", None, NOTE]}), folder / "rows.parquet")
    return folder


def redact(model: Path, notes: Path, out: Path, *more: str) -> None:
    assert main(["redact", str(model), str(notes), "--output", str(out), *more]) == 1  # for the row without a note


OPTIONS: dict[str, tuple[str, ...]] = {
    "labels": (),
    "surrogates": ("--operator", "surrogate", "--locale", "en_US"),
    "removed": ("--operator", "remove"),
    "other names": ("--rename-files",),
    "processes": ("--jobs", "2"),
    "a type of its own": ("--operator", "DATE=keep"),
}


@pytest.mark.parametrize("how", OPTIONS)
def test_a_page_shows_what_the_run_recorded(model: Path, notes: Path, tmp_path: Path, how: str) -> None:
    out, page = tmp_path / "out", tmp_path / "page.html"
    redact(model, notes, out, *OPTIONS[how])
    assert main(["review", "page", str(notes), str(out), "--output", str(page)]) == 0
    data = page_data(page)
    assert data["replaced"] == RECORDED
    assert len(data["notes"]) == 11
    for note in data["notes"]:
        text = note["text"]
        if not text:
            continue
        assert [text[start:end] for start, end, *_ in note["spans"] if text[start:end] == "Orla Marsh"]
        for start, end, _, by in reversed(note["spans"]):
            text = text[:start] + by + text[end:]
        assert text_digest(text) == note["sha256"]
        kept = {note["text"][start:end] for start, end, *_ in note["left"]}
        assert kept == ({"3/14/2031"} if how == "a type of its own" else set())


def test_a_resumed_run_has_all_records(model: Path, notes: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert main(["redact", str(model), str(notes), "--output", str(out), "--limit", "1"]) == 0
    shutil.rmtree(out)
    redact(model, notes, out)
    (notes / "new.txt").write_text(f"New. {NOTE}")
    (notes / "a.txt").write_text(f"Again. {NOTE}")
    redact(model, notes, out, "--resume")
    assert main(["review", "page", str(notes), str(out), "--output", str(tmp_path / "page.html")]) == 0
    assert {"new", "a"} <= {note["id"] for note in page_data(tmp_path / "page.html")["notes"]}


@pytest.mark.parametrize("side", ["notes", "out"])
def test_a_text_that_changed_since_is_refused(
    model: Path, notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], side: str
) -> None:
    redact(model, notes, tmp_path / "out")
    path = tmp_path / side / "ward" / "b.txt"
    path.write_text(path.read_text() + "Quill again.")
    page = ["review", "page", str(notes), str(tmp_path / "out"), "--output", str(tmp_path / "page.html")]
    capsys.readouterr()
    assert type(error_of(*page)) is MismatchError
    assert main(page) == 1
    said = capsys.readouterr().err
    assert "note" in said and "Quill" not in said
    assert not (tmp_path / "page.html").exists()


def test_notes_of_python_code_are_shown_as_it_recorded_them(tmp_path: Path) -> None:
    names = {"raw": tmp_path / "raw", "clean": tmp_path / "clean"}
    for folder in names.values():
        folder.mkdir()
    # Two texts from which no alignment can tell what was replaced.
    document = Document("n1", "Roe a Roe b Roe", (Span(0, 3, "PATIENT"), Span(6, 15, "DOCTOR")))
    redacted, record = redact_recorded(document, "remove")
    (names["raw"] / "n1.txt").write_text(document.text)
    (names["clean"] / "n1.txt").write_text(redacted.text)
    write_records(names["clean"], [record])
    page = tmp_path / "page.html"
    assert main(["review", "page", str(names["raw"]), str(names["clean"]), "--output", str(page)]) == 0
    (note,) = page_data(page)["notes"]
    assert note["spans"] == [[0, 3, "PATIENT", ""], [6, 15, "DOCTOR", ""]]


def test_values_that_were_found_and_stay_are_annotated_and_not_shown_as_replaced() -> None:
    document = Document("1", "A 64-year-old, 3/14.", (Span(2, 4, "AGE"), Span(15, 19, "DATE")))
    redacted, record = redact_recorded(document, {"AGE": "keep"})
    records = RecordedFolder(Path(), {record.redacted: {record.original: record}})
    (note,) = redaction_notes([(replace(document, spans=()), redacted.text)], records)
    assert note.document.spans == (Span(15, 19, "DATE"),)
    assert note.left == (Span(2, 4, "AGE"),)


# --- certificates


@pytest.fixture
def reviewed(model: Path, tmp_path: Path) -> tuple[Path, Path, Path]:
    """Notes, results and a page of a run that leaks a name in two of four notes."""
    folder, out, page = tmp_path / "raw", tmp_path / "clean", tmp_path / "page.html"
    folder.mkdir()
    for number in range(4):
        leak = "A friend, Bixby Tawn, called.\n" if number % 2 else ""
        (folder / f"{number}.txt").write_text(f"{number}. {NOTE}{leak}")
    assert main(["redact", str(model), str(folder), "--output", str(out)]) == 0
    assert main(["review", "page", str(folder), str(out), "--output", str(page)]) == 0
    return folder, out, page


def leaks(page: Path) -> dict[str, Document]:
    notes = {note["id"]: note["text"] for note in page_data(page)["notes"]}
    places = {name: text.find("Bixby Tawn") for name, text in notes.items()}
    spans = {name: () if at < 0 else (Span(at, at + 10, "PATIENT"),) for name, at in places.items()}
    return {name: Document(name, text, spans[name]) for name, text in notes.items()}


def test_marks_of_a_recorded_page_are_certified(
    reviewed: tuple[Path, Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, page = reviewed
    marks = write_lines(tmp_path / "marks.jsonl", marks_of(page, leaks(page)))
    capsys.readouterr()
    assert main(["review", "certify", str(marks), "--redacted", str(out), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["reviewed"], found["leaking"]) == (4, 2)


def test_marks_that_hide_what_was_left_are_refused(reviewed: tuple[Path, Path, Path], tmp_path: Path) -> None:
    _, out, page = reviewed
    lines = marks_of(page)
    at = lines[1]["text"].index("Bixby")
    lines[1]["spans"].append(Span(at, at + 10, "PHI")._asdict())  # as the page of version 1 could show it
    found = error_of("review", "certify", write_lines(tmp_path / "m.jsonl", lines), "--redacted", out)
    assert type(found) is MismatchError and "line 2" in str(found)
    lines = marks_of(page)
    lines[2]["text"] += "."
    found = error_of("review", "certify", write_lines(tmp_path / "n.jsonl", lines), "--redacted", out)
    assert type(found) is MismatchError and "line 3" in str(found)


def test_marks_of_old_pages_are_refused_where_no_record_can_prove_them(
    reviewed: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    _, out, page = reviewed
    old = [{k: v for k, v in line.items() if k not in ("marks", "replaced")} for line in marks_of(page)]
    certify = ["review", "certify", str(write_lines(tmp_path / "old.jsonl", old)), "--redacted", str(out)]
    assert main(certify) == 0
    shutil.rmtree(out / ".crfdeid")
    found = error_of(*certify)
    assert type(found) is VersionError and "line 1" in str(found)


@pytest.mark.parametrize(("target", "met"), [("0.9", True), ("0.6", False)])
def test_a_certificate_says_whether_the_target_of_the_plan_is_met(
    reviewed: tuple[Path, Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], target: str, met: bool
) -> None:
    folder, out, _ = reviewed
    plan, page, marks = tmp_path / "plan.json", tmp_path / "planned.html", tmp_path / "marks.jsonl"
    assert main(["review", "plan", str(out), "--target-leak-rate", target, "--output", str(plan)]) == 0
    assert main(["review", "page", str(folder), str(out), "--plan", str(plan), "--output", str(page)]) == 0
    write_lines(marks, marks_of(page, leaks(page) if not met else None))
    certify = ["review", "certify", str(marks), "--redacted", str(out), "--plan", str(plan)]
    capsys.readouterr()
    assert main([*certify, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["target_leak_rate"] == float(target)
    assert found["target_met"] is met is (found["upper_bound_notes"] <= float(target))
    assert main(certify) == 0
    said = capsys.readouterr().out
    assert f"at most {100 * float(target):g} % of the notes leak: {'met' if met else 'NOT met'}" in said


def test_a_plan_of_a_number_of_notes_has_no_target(
    reviewed: tuple[Path, Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, page = reviewed
    plan = tmp_path / "plan.json"
    assert main(["review", "plan", str(out), "--count", "4", "--output", str(plan)]) == 0
    marks = write_lines(tmp_path / "marks.jsonl", marks_of(page))
    capsys.readouterr()
    assert main(["review", "certify", str(marks), "--redacted", str(out), "--plan", str(plan), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["target_leak_rate"], found["target_met"]) == (None, None)


# --- marks as annotated notes


TEMPLATES = (
    ("Patient {} was seen on {}.\n", ("PATIENT", "DATE")),
    ("Seen by Dr. {}; call {}.\n", ("DOCTOR", "PHONE")),
    ("Her sister {} visits on {}.\n", ("PATIENT", "DATE")),
    ("Referred to {} after a fall.\n", ("HOSPITAL",)),
)


def invented(number: int, rng: random.Random) -> Document:
    """A note of one kind in four, with invented names."""
    text, spans = "", []
    for template, labels in (TEMPLATES[number % 4], TEMPLATES[0]):
        rest = template
        for label in labels:
            first, last = rng.choice(("Orla", "Abe", "Ines", "Zann")), rng.choice(("Quill", "Marsh", "Tawn", "Vole"))
            value = {
                "DATE": f"{rng.randint(1, 12)}/{rng.randint(1, 28)}/2031",
                "PHONE": f"555-{rng.randint(1000, 9999)}",
                "HOSPITAL": f"{last} Memorial",
            }.get(label, f"{first} {last}")
            before, _, rest = rest.partition("{}")
            spans.append(Span(len(text + before), len(text + before + value), label))
            text += before + value
        text += rest
    return Document(f"n{number}", text, tuple(spans))


def with_a_miss(gold: list[Document], found: list[Document]) -> int:
    return sum(
        any(not covered(note.text, span, list(other.spans)) for span in note.spans)
        for note, other in zip(gold, found, strict=True)
    )


def test_reviewed_notes_are_training_data_that_a_model_learns_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Review, mark, train, measure: of the notes that were not reviewed, fewer have a miss afterwards."""
    monkeypatch.setenv("CRFDEID_SECRET", SECRET)
    rng = random.Random(2)
    notes = [invented(number, rng) for number in range(80)]
    few, read, rest = notes[:16:4], notes[16:48], notes[48:]
    annotated, raw = tmp_path / "annotated", tmp_path / "raw"
    annotated.mkdir()
    raw.mkdir()
    write_corpus(few, annotated / "few.json", format="label-studio")
    for note in read:
        (raw / f"{note.id}.txt").write_text(note.text)

    def train(documents: list[Document], folder: Path) -> list[Document]:
        tagger = create("crf", overrides={"max_iterations": 30})
        tagger.fit([sentence for note in documents for sentence in encode(note).sentences], [])
        tagger.save(folder)
        return list(load(folder).annotate_documents([replace(note, spans=()) for note in rest]))

    before = with_a_miss(rest, train(read_corpus(annotated), tmp_path / "first"))
    clean, page = tmp_path / "clean", tmp_path / "page.html"
    surrogates = ["--operator", "surrogate", "--locale", "en_US"]
    assert main(["redact", str(tmp_path / "first"), str(raw), "--output", str(clean), *surrogates]) == 0
    assert main(["review", "page", str(raw), str(clean), "--output", str(page)]) == 0
    lines = marks_of(page, {note.id: note for note in read})
    lines[0]["read"] = False  # was not read to its end, and is therefore no annotated note
    write_lines(annotated / "marks.jsonl", lines)
    learned = read_corpus(annotated)
    assert len(learned) == len(few) + len(read) - 1
    assert {span.label for note in learned for span in note.spans} <= {label for _, some in TEMPLATES for label in some}
    after = with_a_miss(rest, train(learned, tmp_path / "second"))
    assert before > len(rest) // 2
    assert after < before // 4


# --- a real corpus


def _without_mark(note: Document) -> Document:
    """A note without the byte-order mark, which is no part of the note of a text file."""
    shift = len(note.text) - len(note.text.removeprefix("\ufeff"))
    spans = tuple(Span(start - shift, end - shift, label) for start, end, label in note.spans)
    return Document(note.id, note.text[shift:], spans)


def _dropped(note: Document, rng: random.Random) -> Document:
    """A note as a model might mark it: some spans not found, some cut short."""
    kept = [span for span in note.spans if rng.random() > 0.02]
    cut = [
        span._replace(end=span.end - 2) if rng.random() < 0.02 and span.end - span.start > 4 else span for span in kept
    ]
    return replace(note, spans=tuple(cut))


@pytest.mark.parametrize("how", ["label", "surrogate"])
def test_pages_of_a_real_corpus_show_each_word_as_it_is(data_folder: Path, tmp_path: Path, how: str, capsys) -> None:
    gold = {note.id: _without_mark(note) for note in read_corpus(data_folder / "meddocan" / "dev" / "brat")}
    rng, raw, clean = random.Random(5), tmp_path / "raw", tmp_path / "clean"
    raw.mkdir()
    clean.mkdir()
    found = {name: _dropped(note, rng) for name, note in gold.items()}
    records = []
    for name, note in found.items():
        redacted, record = redact_recorded(note, how, secret=SECRET.encode(), locale="es_ES")
        (raw / f"{name}.txt").write_bytes(note.text.encode())
        (clean / f"{name}.txt").write_bytes(redacted.text.encode())
        records.append(record)
    write_records(clean, records)
    page = tmp_path / "page.html"
    assert main(["review", "page", str(raw), str(clean), "--output", str(page)]) == 0
    left_as_replaced = replaced_as_left = 0
    for note in page_data(page)["notes"]:
        shown, true = [Span(*span[:3]) for span in (*note["spans"], *note["left"])], found[note["id"]].spans
        on_page, hidden = ({place for start, end, _ in some for place in range(start, end)} for some in (shown, true))
        for token in tokens_of(gold[note["id"]]):
            word = range(token.start, token.end)
            left_as_replaced += hidden.isdisjoint(word) and not on_page.isdisjoint(word)
            replaced_as_left += on_page.isdisjoint(word) and not hidden.isdisjoint(word)
        assert {span.label for span in shown} <= {span.label for span in true}
    assert (len(gold), left_as_replaced, replaced_as_left) == (250, 0, 0)
    leaking = sum(
        any(not covered(note.text, span, list(found[name].spans)) for span in note.spans) for name, note in gold.items()
    )
    marks = write_lines(tmp_path / "marks.jsonl", marks_of(page, gold))
    capsys.readouterr()
    assert main(["review", "certify", str(marks), "--redacted", str(clean), "--json"]) == 0
    certified = json.loads(capsys.readouterr().out)
    assert (certified["reviewed"], certified["leaking"]) == (250, leaking)
    assert 0 < leaking < 250

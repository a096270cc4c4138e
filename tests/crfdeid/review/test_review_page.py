"""The review page as a reviewer has it, in a headless Chromium: by keyboard, by mouse, on a phone."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import chromium
import pytest
from chromium import Browser, Page

from crfdeid.cli import main
from crfdeid.corpora import read_corpus
from crfdeid.documents import Document, Span
from crfdeid.io.replacements import RecordedFolder
from crfdeid.redaction import redact_recorded
from crfdeid.review.certificate import read_marks
from crfdeid.review.page import (
    ANNOTATORS,
    GOLD,
    REDACTED,
    PageNote,
    comparison_notes,
    redaction_notes,
    review_html,
    with_unchanged,
)

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(chromium.COMMAND is None, reason="there is no Chromium here"),
]

TEXT = "😀 Dr. Roe\r\nsaw Ann Doe on 3/14, <b onclick='x'>room</b> 12."
GOLD_NOTE = Document("n1", TEXT, (Span(6, 9, "DOCTOR"), Span(TEXT.index("3/14"), TEXT.index("3/14") + 4, "DATE")))
DOE = TEXT.index("Doe")


def covered(document: Document) -> list[tuple[str, str]]:
    return [(document.text[start:end], label) for start, end, label in document.spans]


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Page]]:
    """Opens notes; afterwards, nothing may have gone wrong on the page and nothing may have been loaded."""
    opened: list[Page] = []

    def open_one(notes: list[PageNote], side=GOLD, *, unsure=None, types=(), **view) -> Page:
        path = tmp_path / f"review{len(opened)}.html"
        path.write_text(review_html(notes, side, unsure=unsure, types=types), encoding="utf-8")
        opened.append(browser.open(path, **view))
        return opened[-1]

    yield open_one
    for page in opened:
        assert page.complaints() == []
        assert [one for one in page.requests() if not one.startswith(("file:", "blob:"))] == []
        page.close()


def said(page: Page, name: str) -> str:
    return page.evaluate(f"document.getElementById('{name}').textContent")


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.press(key, key if len(key) == 1 else "")


def change(page: Page, name: str, value: str) -> None:
    page.evaluate(
        f"(() => {{ const one = document.getElementById('{name}'); one.value = '{value}'; "
        "one.dispatchEvent(new Event('change')); })()"
    )


def saved(page: Page, folder: Path) -> Path:
    """What the page lets a reviewer download."""
    folder.mkdir(exist_ok=True)
    page.send("Page.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
    press(page, "d")
    path, end = folder / "marks.jsonl", time.monotonic() + 60
    # The browser reserves the name by an empty file, writes another, and puts that in its place.
    while not (path.is_file() and path.stat().st_size) and time.monotonic() < end:
        page.evaluate("0")
    return path


def test_a_note_is_corrected_by_keyboard_alone_and_comes_back_as_annotation(open_page, tmp_path):
    page = open_page(comparison_notes([GOLD_NOTE], {"n1": [Span(6, 9, "DOCTOR"), Span(DOE, DOE + 3, "PATIENT")]}))
    assert page.evaluate("document.activeElement.id") == "text"
    press(page, ".", ".")  # from mark to mark
    assert said(page, "cursor") == "Doe · second PATIENT"
    assert page.evaluate("[...document.getElementById('type').options].map((one) => one.value).join()") == (
        "DATE,DOCTOR,PATIENT,PHI"
    )
    press(page, "3", "m")
    press(page, ".", "n")
    assert said(page, "status") == "0 of 1 read · 1 with something missed · 1 needless marks"
    press(page, "r")
    path = saved(page, tmp_path / "saved")
    (found,) = read_corpus(path)
    assert (found.id, found.text) == ("n1", TEXT)
    assert covered(found) == [("Roe", "DOCTOR"), ("Doe", "PATIENT")]
    record = json.loads(path.read_text())
    assert [mark["label"] for mark in record["false_negatives"]] == ["PATIENT"]
    assert record["read"]


def test_words_are_chosen_with_the_arrows_and_marks_undone(open_page):
    page = open_page(comparison_notes([GOLD_NOTE], {"n1": []}))
    press(page, *["ArrowRight"] * 5)
    assert said(page, "cursor").startswith("Ann")
    page.send("Input.dispatchKeyEvent", type="keyDown", key="ArrowRight", modifiers=8)
    assert said(page, "cursor") == "Ann Doe"
    press(page, "m")
    assert page.evaluate("document.querySelector('#text mark.missed').firstChild.textContent") == "Ann"
    assert page.evaluate("document.querySelectorAll('#text mark.missed').length") == 1
    press(page, "u")
    assert page.evaluate("document.querySelectorAll('#text mark.missed').length") == 0
    press(page, "u")
    assert said(page, "cursor") == "There is no mark of yours here."
    press(page, ",", "m")
    assert said(page, "cursor") == "This is marked already."


def test_what_was_replaced_stands_beside_it(open_page, tmp_path):
    after = TEXT.replace("Roe", "[DOCTOR]").replace("3/14", "")
    page = open_page(redaction_notes([(Document("n1", TEXT), after)]), REDACTED)
    tags = page.evaluate("[...document.querySelectorAll('#text .tag')].map((one) => one.textContent)")
    assert tags == ["→ [DOCTOR]", "→ removed"]
    press(page, "r")
    (reviewed,) = read_marks([saved(page, tmp_path / "saved")])
    assert covered(reviewed.document) == [("Roe", "DOCTOR"), ("3/14", "PHI")]
    assert reviewed.missed == ()
    assert len(reviewed.sha256) == 64


def recorded(note: Document, **how) -> tuple[Document, str, RecordedFolder]:
    """A note without its spans, its redacted text, and what redaction recorded."""
    redacted, record = redact_recorded(note, **how)
    records = RecordedFolder(Path(), {record.redacted: {record.original: record}})
    return replace(note, spans=()), redacted.text, records


def test_marks_have_the_types_that_redaction_recorded_and_no_punctuation(open_page, tmp_path):
    text = "A 64-year-old. Dr. Roe called (Ann Doe), on 3/14; 555-0134 too."
    hidden = {"64": "AGE", "Roe": "DOCTOR", "3/14": "DATE", "called": "PATIENT"}
    spans = tuple(Span(text.index(value), text.index(value) + len(value), label) for value, label in hidden.items())
    note, after, records = recorded(Document("n1", text, spans), operators={"AGE": "keep"})
    page = open_page(redaction_notes([(note, after)], records), REDACTED, types=("AGE", "PHONE", "PATIENT"))
    options = "[...document.getElementById('type').options].map((one) => one.value).join()"
    assert page.evaluate(options) == "AGE,DATE,DOCTOR,PATIENT,PHONE"
    assert page.evaluate("document.querySelector('#text mark.unchanged').textContent") == "64kept: age"
    change(page, "type", "PATIENT")
    page.evaluate("document.getElementById('text').focus()")
    press(page, ".", ".", ".", "n")  # "called" is no name
    press(page, "ArrowRight")
    page.send("Input.dispatchKeyEvent", type="keyDown", key="ArrowRight", modifiers=8)
    assert said(page, "cursor") == "(Ann Doe),"
    press(page, "m", "r")
    path = saved(page, tmp_path / "saved")
    (found,) = read_corpus(path)
    assert covered(found) == [("64", "AGE"), ("Roe", "DOCTOR"), ("Ann Doe", "PATIENT"), ("3/14", "DATE")]
    record = json.loads(path.read_text())
    assert (record["marks"], record["replaced"]) == (2, "recorded")


def test_text_that_a_tool_put_in_is_shown_as_such(open_page):
    page = open_page(redaction_notes([(Document("n1", "Seen by Roe."), "Seen by Roe [DOCTOR].")]), REDACTED)
    assert page.evaluate("document.querySelector('#text ins').textContent") == " [DOCTOR]"
    assert page.evaluate("document.querySelectorAll('#text mark').length") == 0
    assert "The folder has no record of its redaction." in page.shown_text()


def test_marks_of_a_page_of_another_version_are_refused(open_page, tmp_path):
    first, _ = two_redactions()
    page = open_page(first, REDACTED)
    press(page, "r", "r", "r")
    records = [json.loads(line) for line in saved(page, tmp_path / "saved").read_text().splitlines()]
    del records[0]["marks"]
    path = tmp_path / "marks.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    again = open_page(first, REDACTED)
    answer = init_from(again, path)
    assert answer.startswith("2 of 3 notes of the file were taken up.")
    assert "1 marked on a page of another version" in answer
    assert "Pages of earlier versions" in again.shown_text()


def test_a_selection_by_mouse_is_marked_by_whole_words(open_page, tmp_path):
    page = open_page(redaction_notes([(GOLD_NOTE, TEXT)]), REDACTED)
    page.evaluate(
        "(() => { const words = [...document.querySelectorAll('[data-start]')]; const range = new Range();"
        "range.setStart(words[4].firstChild, 1); range.setEnd(words[5].firstChild, 2);"
        "getSelection().removeAllRanges(); getSelection().addRange(range); })()"
    )
    page.evaluate("document.getElementById('missed').click()")
    press(page, "r")
    (reviewed,) = read_marks([saved(page, tmp_path / "saved")])
    assert covered(reviewed.document) == [("Ann Doe", "PHI")]


def test_text_never_becomes_markup(open_page):
    page = open_page(comparison_notes([GOLD_NOTE], {"n1": []}))
    assert page.evaluate("document.querySelectorAll('#text b').length") == 0
    assert "<b onclick='x'>room</b>" in page.evaluate("document.getElementById('text').textContent")


def test_uncertain_words_are_shown_and_reached(open_page):
    page = open_page(comparison_notes([GOLD_NOTE], {"n1": []}), unsure=[[(DOE, DOE + 3, 0.354)]])
    assert page.evaluate("document.querySelector('#text .unsure').title") == "PHI with a probability of 35 %"
    press(page, ".", ".")
    assert said(page, "cursor") == "Doe · PHI with 35 %"


def test_only_notes_that_differ_can_be_stepped_through(open_page):
    notes = [Document(f"n{n}", TEXT, GOLD_NOTE.spans) for n in range(5)]
    page = open_page(
        comparison_notes(notes, {f"n{n}": [] if n in (1, 3) else GOLD_NOTE.spans for n in range(5)}), ANNOTATORS
    )
    change(page, "which", "differ")
    page.evaluate("document.getElementById('text').focus()")
    assert said(page, "name") == "n1"
    press(page, "j")
    assert said(page, "name") == "n3"
    assert page.evaluate("document.getElementById('after').disabled")
    press(page, "k")
    assert said(page, "name") == "n1"


def init_from(page: Page, path: Path) -> str:
    """Choose a file to go on from; what the page says then."""
    root = page.send("DOM.getDocument")["root"]["nodeId"]
    node = page.send("DOM.querySelector", nodeId=root, selector="#file")["nodeId"]
    page.send("DOM.setFileInputFiles", nodeId=node, files=[str(path)])
    page.wait(lambda: said(page, "saved") != "")
    return said(page, "saved")


def test_work_goes_on_from_a_file(open_page, tmp_path):
    notes = comparison_notes([GOLD_NOTE, Document("n2", "No PHI.")], {"n1": [], "n2": []})
    page = open_page(notes)
    press(page, ".", "n", "r")
    path = saved(page, tmp_path / "saved")
    again = open_page(notes)
    assert init_from(again, path) == "1 of 1 notes of the file were taken up."
    assert said(again, "status") == "1 of 2 read · 0 with something missed · 1 needless marks"


def two_redactions() -> tuple[list[PageNote], list[PageNote]]:
    """Three notes as they were redacted first, and as they are now: every name is in the clear in the second."""
    notes = [Document(f"n{n}", TEXT) for n in range(3)]
    first = redaction_notes([(note, TEXT.replace("Roe", "[DOCTOR]")) for note in notes])
    return first, redaction_notes([(notes[0], TEXT.replace("Roe", "[DOCTOR]")), (notes[1], TEXT), (notes[2], TEXT)])


def test_marks_of_an_older_redaction_are_refused_note_by_note(open_page, tmp_path):
    first, second = two_redactions()
    page = open_page(first, REDACTED)
    press(page, "r", "r", "r")
    path = saved(page, tmp_path / "saved")
    again = open_page(second, REDACTED)
    answer = init_from(again, path)
    assert answer.startswith("1 of 3 notes of the file were taken up.")
    assert "Refused: marks of another text or redaction of notes 2, 3. Read them again." in answer
    assert said(again, "status").startswith("1 of 3 read")
    # What is downloaded then says nothing of the two notes, whatever digest it would have had.
    records = [json.loads(line) for line in saved(again, tmp_path / "again").read_text().splitlines()]
    assert [(record["id"], record["sha256"]) for record in records] == [("n0", second[0].sha256)]


def test_replayed_marks_swapped_and_added_notes_get_no_certificate(browser, tmp_path, monkeypatch, capsys):
    """From the plan to the certificate, as a reviewer works: on the page in the browser and by the commands."""
    monkeypatch.chdir(tmp_path)
    for folder, name in (("raw", "Roe"), ("clean", "[DOCTOR]")):
        Path(folder).mkdir()
        for number in range(6):
            Path(folder, f"{number}.txt").write_text(f"Seen by Dr. {name}, visit {number}.")
    sides = ["raw", "clean"]
    certificate = ["review", "certify", "saved/marks.jsonl", "--redacted", "clean", "--plan"]

    def plan_and_page(name: str) -> Page:
        assert main(["review", "plan", "clean", "--output", f"{name}.json", "--count", "3"]) == 0
        assert main(["review", "page", *sides, "--plan", f"{name}.json", "--output", f"{name}.html"]) == 0
        return browser.open(tmp_path / f"{name}.html")

    page = plan_and_page("first")
    press(page, "r", "r", "r")
    marks = saved(page, tmp_path / "saved")
    page.close()
    assert main([*certificate, "first.json"]) == 0
    drawn = [note["id"] for note in json.loads(Path("first.json").read_text())["selected"]]
    (other, *_) = sorted({str(number) for number in range(6)} - set(drawn))
    for changed, text in ((f"{other}.txt", "Seen by Dr. Roe."), ("9.txt", "Added: Dr. Roe.")):
        before = {path: path.read_text() for path in Path("clean").iterdir()}
        Path("clean", changed).write_text(text)
        capsys.readouterr()
        assert main([*certificate, "first.json"]) == 1
        assert main(["review", "page", *sides, "--plan", "first.json", "--output", "again.html"]) == 1
        assert capsys.readouterr().err.count("not the notes that the plan was drawn from") == 2
        Path("clean", changed).unlink()
        for path, content in before.items():
            path.write_text(content)
    # Every name in the clear, and a new plan of the same notes: the marks of the redacted ones are no reading of them.
    for path in Path("clean").iterdir():
        path.write_text(Path("raw", path.name).read_text())
    again = plan_and_page("second")
    assert init_from(again, marks).startswith("0 of 3 notes of the file were taken up. Refused: ")
    press(again, "d")
    assert said(again, "saved").startswith("There is nothing to download")
    again.close()
    assert main([*certificate, "second.json"]) == 1
    assert "marks of another redaction: saved/marks.jsonl, line 1; " in capsys.readouterr().err


def test_marks_without_a_digest_and_of_notes_that_are_not_there_are_refused(open_page, tmp_path):
    first, _ = two_redactions()
    page = open_page(first, REDACTED)
    press(page, "r", "r", "r")
    records = [json.loads(line) for line in saved(page, tmp_path / "saved").read_text().splitlines()]
    del records[0]["sha256"]
    records[1]["sha256"] = ""
    records[2]["id"] = "elsewhere"
    path = tmp_path / "marks.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    again = open_page(first, REDACTED)
    answer = init_from(again, path)
    assert answer.startswith("0 of 3 notes of the file were taken up.")
    assert "notes 1, 2" in answer
    assert "1 is not on this page" in answer
    assert said(again, "status").startswith("0 of 3 read")


def test_a_file_that_breaks_off_changes_nothing(open_page, tmp_path):
    first, _ = two_redactions()
    page = open_page(first, REDACTED)
    press(page, "r", "r")
    path = saved(page, tmp_path / "saved")
    path.write_text(path.read_text()[:-9])
    again = open_page(first, REDACTED)
    assert init_from(again, path) == "This is no file of a review page."
    assert said(again, "status").startswith("0 of 3 read")


def test_values_that_surrogates_leave_have_a_colour_of_their_own_and_a_legend(open_page, tmp_path):
    text = "Mujer de 64 años, natural de España. Vista por Ana Olmo."
    note = Document("n1", text)
    after = text.replace("Ana Olmo", "Eva Rus")
    page = open_page(with_unchanged(redaction_notes([(note, after)])), REDACTED)
    marks = page.evaluate(
        "[...document.querySelectorAll('#text mark.unchanged')].map((one) => one.textContent.replace(/\\s+/g, ' '))"
    )
    assert marks == ["Mujerkept: sex", "64 añoskept: age", "Españakept: country"]
    assert "kept by the policy: age, country, sex" in page.shown_text()
    colour = "getComputedStyle(document.querySelector('{}')).backgroundColor"
    colours = [page.evaluate(colour.format(f"mark.{kind}")) for kind in ("unchanged", "both", "missed")]
    assert len(set(colours)) == 3
    press(page, ".", "m")  # a reader may still say that it should have been hidden
    assert page.evaluate("document.querySelectorAll('#text mark.missed').length") == 1
    press(page, "r")
    (reviewed,) = read_marks([saved(page, tmp_path / "saved")])
    assert [text[start:end] for start, end, _ in reviewed.missed] == ["Mujer"]
    plain = open_page(redaction_notes([(note, after)]), REDACTED)
    assert "kept by the policy" not in plain.shown_text()


def test_two_thousand_notes_are_drawn_one_at_a_time(open_page):
    long = " ".join(["Seen by Dr. Roe on 3/14 for a cough."] * 60)
    notes = [Document(f"n{n}", long, (Span(12, 15, "DOCTOR"),)) for n in range(2000)]
    page = open_page(comparison_notes(notes, {note.id: [] for note in notes}))
    assert page.evaluate("document.querySelectorAll('*').length") < 1000
    assert said(page, "count") == "2,000"
    change(page, "number", "2000")
    assert said(page, "name") == "n1999"


@pytest.mark.parametrize("view", [{"width": 360, "height": 740}, {"width": 640, "height": 450, "scale": 2}])
def test_a_phone_and_a_zoomed_page_need_no_sideways_scrolling(open_page, view):
    page = open_page(comparison_notes([GOLD_NOTE], {"n1": []}), **view)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_page_says_what_it_holds_and_what_to_do(open_page):
    page = open_page(comparison_notes([GOLD_NOTE], {"n1": []}))
    assert "This file contains protected health information." in page.shown_text()
    assert page.evaluate("document.title").startswith("[contains PHI]")
    policy = page.evaluate("document.querySelector('meta[http-equiv]').content")
    assert "default-src 'none'" in policy


def test_offsets_are_those_of_the_notes():
    """What stands in the page is plain data: no character of a text is lost in it."""
    page = review_html(comparison_notes([GOLD_NOTE], {"n1": []}), GOLD)
    content = page.split('<script type="application/json" id="data">')[1].split("</script>")[0]
    (note,) = json.loads(content)["notes"]
    assert note["text"] == TEXT
    assert note["spans"][0] == [6, 9, "DOCTOR", None]

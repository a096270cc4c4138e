"""``python -m experiments.report``: what it writes, what it refuses, and what must never be in report.html."""

from __future__ import annotations

import json
import re
import shutil
import stat
from html.parser import HTMLParser
from pathlib import Path

import pytest
from invented_notes import notes
from report_folders import write_folder

from crfdeid.bio import encode
from crfdeid.crf import CrfTagger
from crfdeid.documents import Document, Span
from crfdeid.errors import NotFoundError
from experiments.compare.experiment import report as compare_report
from experiments.report import main
from experiments.reporting.files import report_html, write_report
from experiments.results.folder import Folder

VOID = {"meta", "link", "img", "input", "br"}
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)> \u2028 & \"'"


@pytest.fixture(scope="session")
def synthetic_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished experiment on invented notes, with everything `write_report` makes."""
    path = tmp_path_factory.mktemp("report") / "results"
    write_folder(path, notes("test", 20), systems={"crf": (0,), "elman-cbow": (0, 1)})
    write_report(path, published=False)
    return path


@pytest.fixture
def _no_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a test in which plots, which take long to draw, play no part."""
    monkeypatch.setattr("experiments.reporting.files.draw", lambda results: {})


def page_of(folder: Path, *, with_text: bool = True) -> str:
    """report.html without its plots, which take long to draw."""
    found = Folder(folder)
    results = found.results()
    report = compare_report(results, published=False)
    return report_html(found, results, report, report.tables, {}, with_text=with_text)


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def test_everything_is_written_for_its_owner_alone(synthetic_folder):
    names = set(files_of(synthetic_folder))
    assert {"report.html", "tables.md", "tables/scores.tex", "tables/scores.csv", "tables/scores.md"} <= names
    assert {"plots/scores.svg", "plots/scores.png", "plots/learning-curves.svg"} <= names
    for name in ("report.html", "tables.md", "plots/scores.svg"):
        assert stat.S_IMODE((synthetic_folder / name).stat().st_mode) == 0o600
    assert not list(synthetic_folder.rglob(".writing-*"))


def test_made_again_it_is_the_same_to_the_byte(synthetic_folder, tmp_path, capsys):
    before = files_of(synthetic_folder)
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("results.json", "predictions", "errors", "texts.jsonl", "neighbours.json"):
        source = synthetic_folder / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, copy / name)
    assert main([str(copy)]) == 0
    assert files_of(copy) == before
    assert str(copy / "report.html") in capsys.readouterr().out


@pytest.mark.usefixtures("_no_plots")
def test_tables_of_an_earlier_call_are_removed_and_other_files_are_kept(synthetic_folder, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(synthetic_folder, copy)
    (copy / "tables" / "gone.csv").write_text("old", encoding="utf-8")
    (copy / "tables" / "notes.txt").write_text("mine", encoding="utf-8")
    write_report(copy, published=True)
    names = set(files_of(copy))
    assert "tables/gone.csv" not in names
    assert "tables/notes.txt" in names
    assert names - set(files_of(synthetic_folder)) >= {"tables/published-scores.md"}
    assert "published" in (copy / "tables.md").read_text(encoding="utf-8")


class Outline(HTMLParser):
    """Checks that tags are closed in order, and notes ids and addresses."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.referred: list[str] = []
        self.addresses: list[str] = []
        self.styled: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        assert len(found) == len(attrs), f"<{tag}> repeats an attribute"
        if tag not in VOID:
            self.open.append(tag)
        self.ids += [found["id"]] if "id" in found else []
        self.referred += [found[name] for name in ("for", "aria-labelledby") if name in found]
        self.addresses += [found[name] for name in ("src", "href", "action", "srcset", "data") if name in found]
        self.styled += [name for name in found if name == "style" or name.startswith("on")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_refers_to_itself_alone(synthetic_folder):
    outline = Outline()
    text = (synthetic_folder / "report.html").read_text(encoding="utf-8")
    outline.feed(text)
    outline.close()
    assert outline.open == []
    assert len(set(outline.ids)) == len(outline.ids)
    assert set(outline.referred) <= set(outline.ids)
    assert outline.styled == []  # the page's policy would refuse them
    for address in outline.addresses:
        assert address.startswith("data:") or address.removeprefix("#") in outline.ids
    assert "default-src 'none'" in text
    assert not re.search(r"@import|url\(", text)


def test_invented_text_is_shown_and_called_invented(synthetic_folder):
    text = page_of(synthetic_folder)
    assert "Every text in this file is invented" in text
    assert "protected health information" not in text
    assert "test-3" in text
    assert "zorbine" in text  # a neighbour


def words_of(documents: list[Document]) -> set[str]:
    """The PHI of the notes, its words, and the documents' names."""
    phi = {document.text[span.start : span.end] for document in documents for span in document.spans}
    words = {word for entity in phi for word in re.findall(r"[^\W\d]{5,}", entity)}
    return words | {entity for entity in phi if len(entity) > 4} | {document.id for document in documents}


@pytest.fixture
def real() -> list[Document]:
    """Invented notes that stand for real ones: their words must not get out."""
    return notes("Quillfeather", 8, start=3)


@pytest.mark.parametrize(("kept", "asked"), [(False, True), (True, False)])
def test_without_texts_or_against_the_user_s_wish_no_word_of_a_note_is_in_any_file(
    tmp_path, real, kept, asked, monkeypatch
):
    if kept:  # Plots are made of results.json alone: once is enough.
        monkeypatch.setattr("experiments.reporting.files.draw", lambda results: {})
    write_folder(tmp_path, real, corpus_format="jsonl", with_text=kept)
    before = set(files_of(tmp_path))
    write_report(tmp_path, published=True, with_text=asked)
    made = {name: content for name, content in files_of(tmp_path).items() if name not in before}
    assert "report.html" in made
    for name, content in made.items():
        for word in words_of(real) | {"zorbin", "sputum"}:
            assert not re.search(rb"\b" + re.escape(word.encode()) + rb"\b", content), f"{word} in {name}"
    page = made["report.html"].decode()
    assert "This file contains no text of the notes" in page
    assert "contains protected health information" not in page
    assert browser_of(page)["places"][0]["document"] == 1


def test_real_text_is_announced_before_anything_else(tmp_path, real):
    write_folder(tmp_path, real, corpus_format="jsonl", with_text=True)
    text = page_of(tmp_path)
    assert "<title>[contains PHI] " in text
    body = text[text.index("<body>") :]
    assert body.index("This file contains protected health information") < body.index("<nav")
    assert any(place["text"] for place in browser_of(text)["places"])


def browser_of(page: str) -> dict:
    found = re.search(r'<script type="application/json" id="error-data">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_text_and_names_that_look_like_markup_stay_text(tmp_path):
    text = f"Seen by {HOSTILE} today. " + "Filler. " * 10
    hostile = Document(HOSTILE, text, (Span(8, 8 + len(HOSTILE), "<b>TYPE"), Span(9, 12, "ID")))
    write_folder(tmp_path, [hostile], systems={"crf": (0,), "elman-cbow": (0,)}, trouble=1.0)
    for folder in ("predictions", "errors"):  # A file of word vectors can be called anything.
        (tmp_path / folder / "elman-cbow").rename(tmp_path / folder / "elman-<i>x y")
    results = tmp_path / "results.json"
    results.write_text(results.read_text(encoding="utf-8").replace("elman-cbow", "elman-<i>x y"), encoding="utf-8")
    page = page_of(tmp_path)
    for markup in ("alert(1)</script>", "<img src=x", "<i>x", "<b>TYPE", "\u2028"):
        assert markup not in page
    outline = Outline()
    outline.feed(page)
    assert outline.open == []
    assert not any(re.search(r"[\s<>]", name) for name in outline.ids)
    [place] = browser_of(page)["places"]
    assert place["document"] == HOSTILE
    assert HOSTILE in place["text"]
    assert ["elman-<i>x y", 0] in browser_of(page)["runs"]


def damage(folder: Path, name: str, content: str | None) -> None:
    (folder / name).unlink() if content is None else (folder / name).write_text(content, encoding="utf-8")


@pytest.mark.usefixtures("_no_plots")
@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("results.json", None, "holds no results"),
        ("results.json", "{", "damaged"),
        ("results.json", '{"schema": 1}', "schema 5"),
        ("results.json", '{"experiment": "compare", "schema": 5}', "damaged: command is missing"),
        (
            "results.json",
            '{"experiment": "compare", "schema": 5, "command": [], "repair": 1}',
            "damaged: command is not an object",
        ),
        ("predictions/gold.jsonl", None, "no such file"),
        ("predictions/crf/0.jsonl", None, "no such file"),
        ("errors/crf/0.jsonl", None, "no such file"),
        ("errors/crf/0.jsonl", "", "not the errors that results.json counts"),
        ("predictions/crf/0.jsonl", '{"id": "test-0", "spans": [{"start": "1", "end": 2, "label": "ID"}]}', "damaged"),
        ("errors/crf/0.jsonl", '{"document": "test-0", "category": "missed", "gold": [], "causes": []}', "damaged"),
        ("texts.jsonl", "{}\n", "damaged"),
        ("texts.jsonl", '"test-0"\n', "damaged"),
        ("neighbours.json", '{"cbow": {"word": [["other", "near"]]}}', "damaged"),
        ("neighbours.json", "[1]", "damaged"),
    ],
)
def test_a_folder_that_is_none_or_damaged_is_one_clear_line_and_exit_code_1(
    synthetic_folder, tmp_path, capsys, name, content, message
):
    copy = tmp_path / "copy"
    shutil.copytree(synthetic_folder, copy)
    damage(copy, name, content)
    assert main([str(copy)]) == 1
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert said.count("\n") == 1
    assert name in said
    assert message in said


def test_an_error_of_ours_is_not_called_damaged_data(synthetic_folder, monkeypatch):
    def wrong(results):
        raise KeyError("a name that was mistyped")

    monkeypatch.setattr("experiments.reporting.files.draw", wrong)
    with pytest.raises(KeyError, match="mistyped"):
        write_report(synthetic_folder, published=False)


@pytest.mark.usefixtures("_no_plots")
def test_what_failed_leaves_the_old_report(synthetic_folder, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(synthetic_folder, copy)
    (copy / "errors" / "crf" / "0.jsonl").unlink()
    before = files_of(copy)
    with pytest.raises(NotFoundError):
        write_report(copy, published=True)
    assert files_of(copy) == before


@pytest.mark.parametrize("words", [[], ["a", "b"], ["a", "--unknown"], ["a", "--publish"]])
def test_a_wrong_option_is_one_line_and_exit_code_2(words, capsys):
    assert main(words) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert said.count("\n") == 1


def test_a_missing_folder_is_exit_code_1(tmp_path, capsys):
    assert main([str(tmp_path / "nothing")]) == 1
    assert "holds no results" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--explain", "crf"], "models/crf/0"),
        (["--explain", "jordan"], "no system 'jordan' in these results: choose from crf, elman-cbow"),
        (["--explain", "crf,elman-cbow,crf"], "names 3 systems"),
        (["--explain", "crf", "--without-text"], "leave it or --without-text out"),
    ],
)
def test_what_cannot_be_explained_is_one_line_and_nothing_is_written(tmp_path, capsys, options, message):
    write_folder(tmp_path, notes("test", 4), systems={"crf": (0,), "elman-cbow": (0, 1)})
    before = files_of(tmp_path)
    assert main([str(tmp_path), *options]) == 2
    assert message in capsys.readouterr().err
    assert files_of(tmp_path) == before


def test_without_texts_there_is_nothing_to_explain(tmp_path, capsys):
    write_folder(tmp_path, notes("test", 4), systems={"crf": (0,)}, with_text=False)
    assert main([str(tmp_path), "--explain", "crf"]) == 2
    assert "--include-text" in capsys.readouterr().err


def test_of_many_documents_with_errors_those_with_most_are_explained(tmp_path, capsys):
    spans = Span(8, 11, "DOCTOR"), Span(16, 19, "DOCTOR")
    documents = [Document(f"n{n}", "Seen by Doe and Roe.", spans[: 2 if n == 2 else 1]) for n in range(3)]
    write_folder(tmp_path, documents, systems={"crf": (0,)}, trouble=1.0)
    tagger = CrfTagger()
    tagger.fit([item for document in documents for item in encode(document).sentences], [])
    tagger.save(tmp_path / "models" / "crf" / "0")
    assert main([str(tmp_path), "--explain", "crf", "--explain-notes", "1"]) == 0
    assert "2 documents with errors have no page of explanations" in capsys.readouterr().err
    assert [file.name for file in (tmp_path / "explanations").iterdir()] == ["3.html"]
    assert main([str(tmp_path), "--explain", "crf"]) == 0
    assert capsys.readouterr().err == ""
    assert len(list((tmp_path / "explanations").iterdir())) == 3

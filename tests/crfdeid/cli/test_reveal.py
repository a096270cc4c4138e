"""``crfdeid reveal``: what is restored, and what is compared, named and refused."""

from __future__ import annotations

import html
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import error_of
from docx_files import BODY, docx, members
from pdf_files import pdf, shown

from crfdeid.cli import main
from crfdeid.errors import EmptyInputError, FormatError, MismatchError, UnknownNameError

NOTE = "Seen by Dr. Quill on 3/14/72."
OTHER = "Call 555-0134, Dr. Marsh."
FAILS = "JosÃ© was seen."  # letters damaged by a wrong encoding
NULL = "No pain."
TABLE = [FAILS, NOTE, NULL, FAILS, OTHER, NOTE]
"""The notes of each table. Two of them fail, so that rows of the results have other numbers than those of the input."""
KEY = ("--encryption-key-file", "key")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    box = tmp_path_factory.mktemp("reveal") / "box"
    (box / "notes").mkdir(parents=True)
    (box / "key").write_text("an invented key of the tests, long enough")
    (box / "key").chmod(0o600)
    (box / "notes/a.txt").write_text(NOTE)
    (box / "notes/b.csv").write_text("id,text\n" + "".join(f'{n},"{text}"\n' for n, text in enumerate(TABLE)))
    (box / "notes/c.jsonl").write_text("".join(json.dumps({"text": text}) + "\n\n" for text in TABLE))
    pq.write_table(pa.table({"text": TABLE}), box / "notes/d.parquet")
    redact = [
        "redact",
        "rules",
        str(box / "notes"),
        "--output",
        str(box / "clean"),
        "--report",
        str(box / "report.json"),
    ]
    assert main([*redact, "--operator", "encrypt", "--encryption-key-file", str(box / "key")]) == 1  # rows that fail
    return box


@pytest.fixture
def box(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(shutil.copytree(made, tmp_path / "box"))
    return tmp_path / "box"


def reveal(*more: str, source: str = "clean") -> list[str]:
    return ["reveal", source, *KEY, "--output", "back", *more]


def change(line: str) -> str:
    """The line of a table without the first encrypted value in it."""
    before, _, after = line.partition("\u27e6")
    return before + after.partition("\u27e7")[2]


def test_rows_after_one_that_failed_are_compared_and_restored(box: Path) -> None:
    assert main(reveal("--check", "report.json")) == 0
    whole = [text for text in TABLE if text != FAILS]
    lines = (box / "back/c.jsonl").read_text().splitlines()
    assert [json.loads(line)["text"] for line in lines if line] == whole
    assert pq.read_table(box / "back/d.parquet").column("text").to_pylist() == whole
    rows = (box / "back/b.csv").read_text().splitlines()[1:]
    assert rows == [f'{n},"{text}"' for n, text in enumerate(TABLE) if text != FAILS]


def test_the_row_that_lacks_a_value_is_named(box: Path) -> None:
    lines = (box / "clean/b.csv").read_text().splitlines(keepends=True)
    assert lines[3].startswith("4,")  # the fourth line has the third row
    (box / "clean/b.csv").write_text("".join([*lines[:3], change(lines[3]), *lines[4:]]))
    found = error_of(*reveal("--check", "report.json"))
    assert (type(found), found.path) == (MismatchError, "b.csv")
    assert "row 3 " in str(found)
    assert not (box / "back").exists()


def test_an_exchange_of_rows_with_other_numbers_of_values_is_found(box: Path) -> None:
    lines = (box / "clean/b.csv").read_text().splitlines(keepends=True)
    (box / "clean/b.csv").write_text("".join([lines[0], lines[2], lines[1], *lines[3:]]))
    assert type(error_of(*reveal("--check", "report.json"))) is MismatchError


@pytest.mark.parametrize(
    "add", [lambda clean: (clean / "new.txt").write_text(NOTE), lambda clean: (clean / "a.txt").unlink()]
)
def test_a_note_more_or_less_is_found(add: Callable[[Path], None], box: Path) -> None:
    add(box / "clean")
    assert type(error_of(*reveal("--check", "report.json"))) is MismatchError


def test_a_folder_without_notes_is_an_error(box: Path) -> None:
    (box / "empty").mkdir()
    (box / "wrong").mkdir()
    (box / "wrong/a.pdf").write_text("%PDF")
    for source in ("empty", "wrong", "wrong/a.pdf"):
        for check in ((), ("--check", "report.json")):
            assert type(error_of(*reveal(*check, source=source))) is EmptyInputError
    assert type(error_of(*reveal(source="nowhere"))) is UnknownNameError
    assert not (box / "back").exists()


def test_notes_without_encrypted_values_are_an_error(box: Path) -> None:
    for source in ("notes", "notes/a.txt"):
        assert type(error_of(*reveal(source=source))) is MismatchError
    assert not (box / "back").exists()


@pytest.mark.parametrize("text", ["", NULL, NOTE])
def test_standard_input_without_encrypted_values_is_an_error(
    text: str, box: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert type(error_of("reveal", "-", *KEY)) is MismatchError


@pytest.mark.parametrize(("name", "content"), [("a\nerror: b.txt", b"\xff"), ("a\x1b[2J\u2028b.txt", b"\xe2\x9f\xa6")])
def test_an_error_is_one_line_whatever_the_name_of_its_file(
    name: str, content: bytes, box: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (box / "clean" / name).write_bytes(content)
    assert main(reveal()) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ") and line.isprintable()


def test_a_run_that_found_nothing_is_restored_with_its_report(box: Path) -> None:
    (box / "none").mkdir()
    (box / "none/a.txt").write_text(NULL)
    assert (
        main(["redact", "rules", "none", "--output", "out", "--operator", "encrypt", *KEY, "--report", "r.json"]) == 0
    )
    assert main(reveal("--check", "r.json", source="out")) == 0
    assert (box / "back/a.txt").read_text() == NULL


def test_files_that_are_left_out_are_named(box: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (box / "clean/scan.pdf").write_text("%PDF")
    (box / "clean/ward").mkdir()
    (box / "clean/ward/.old.txt").write_text(NOTE)
    (box / "clean/.DS_Store").write_text("")
    assert main(reveal("--check", "report.json")) == 0
    named = [line.rpartition(" ")[2] for line in capsys.readouterr().err.splitlines() if line.startswith("left out")]
    assert named == ["scan.pdf", "ward/.old.txt"]
    assert {path.name for path in (box / "back").rglob("*")} == {"a.txt", "b.csv", "c.jsonl", "d.parquet"}


def note_with(**more: Any) -> Callable[[dict[str, Any]], object]:
    return lambda report: report["notes"][0].update(more)


ODD: dict[str, Callable[[dict[str, Any]], object]] = {
    "without notes": lambda report: report.pop("notes"),
    "without failures": lambda report: report.pop("failures"),
    "without a summary": lambda report: report.pop("summary"),
    "without a total": lambda report: report["summary"].pop("tokens"),
    "with another total": lambda report: report["summary"].update(tokens=99),
    "with notes by name": lambda report: report.update(notes={"a.txt": 2}),
    "with a null note": lambda report: report["notes"].append(None),
    "with a note twice": lambda report: report["notes"].append(report["notes"][-1] | {"tokens": 0}),
    "with a file of none": lambda report: report["notes"][0].pop("file"),
    "with a file that is a list": note_with(file=["a.txt"]),
    "with a row in words": note_with(row="first"),
    "with a row that is true": note_with(row=True),
    "with a number in words": note_with(tokens="two"),
    "with a list of numbers": note_with(tokens=[2]),
    "with a part of a value": note_with(tokens=2.5),
    "with a number below zero": note_with(tokens=-1),
    "with failures by name": lambda report: report.update(failures={"b.csv": 1}),
    "with a failed row in words": lambda report: report["failures"][0].update(row="first"),
    "with a failure of no file": lambda report: report["failures"][0].update(file=None),
}


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_report_is_refused(odd: str, box: Path) -> None:
    report = json.loads((box / "report.json").read_text())
    ODD[odd](report)
    (box / "odd.json").write_text(json.dumps(report))
    found = error_of(*reveal("--check", "odd.json"))
    assert (type(found), found.path) == (FormatError, Path("odd.json"))


@pytest.mark.parametrize("content", ["", "[]", "null", "7", '"notes"', "{}", "[" * 100_000, '{"notes": 1, "notes": 2}'])
def test_what_is_no_report_is_refused(content: str, box: Path) -> None:
    (box / "odd.json").write_text(content)
    assert type(error_of(*reveal("--check", "odd.json"))) is FormatError


def test_the_report_of_a_run_without_encryption_is_refused(box: Path) -> None:
    assert main(["redact", "rules", "notes/a.txt", "--output", "out", "--report", "r.json"]) == 0
    assert type(error_of(*reveal("--check", "r.json"))) is FormatError


def test_the_text_of_a_pdf_is_restored_with_its_report(box: Path) -> None:
    pytest.importorskip("pypdf", reason="the extra documents is not installed")
    (box / "one").mkdir()
    (box / "one/b.pdf").write_bytes(pdf([shown("Seen by Dr. Quill.")]))
    assert main(["redact", "rules", "one", "--output", "out", "--operator", "encrypt", *KEY, "--report", "r.json"]) == 0
    assert "Quill" not in (box / "out/b.txt").read_text()
    assert main(reveal("--check", "r.json", source="out")) == 0
    assert (box / "back/b.txt").read_text() == "Seen by Dr. Quill."


VALUE = 'A&B <C> "D" \\E|F^G'
"""A value with the signs that formats escape."""
CDA = (
    '<ClinicalDocument xmlns="urn:hl7-org:v3"><component><structuredBody><component><section><text>'
    "<paragraph>Seen by {}.</paragraph></text></section></component></structuredBody></component></ClinicalDocument>"
)
HL7 = {"\\": "E", "|": "F", "^": "S", "&": "T"}
SOURCES = {
    "a.html": "<p>Seen by " + html.escape(VALUE, quote=False) + "; &quot;x&quot;</p>",
    "b.rtf": r"{\rtf1\ansi Seen by " + VALUE.replace("\\", r"\\") + r"; Mu\'f1oz\par}",
    "c.xml": CDA.format(html.escape(VALUE, quote=False)),
    "d.hl7": "MSH|^~\\&|A|B|C|D|2031||ORU^R01|1|P|2.5\rOBX|1|TX|1||Seen by "
    + "".join(f"\\{HL7[sign]}\\" if sign in HL7 else sign for sign in VALUE)
    + "\r",
    "e.jsonl": json.dumps(
        {"text": json.dumps({"resourceType": "Observation", "note": [{"text": f"Seen by {VALUE}."}]})}
    )
    + "\n",
}


@pytest.fixture
def marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The command that encrypts notes in markup to `clean`."""
    monkeypatch.chdir(tmp_path)
    Path("notes").mkdir()
    for name, source in SOURCES.items():
        Path("notes", name).write_text(source, newline="")
    body = f"<w:p><w:r><w:t>Seen by {html.escape(VALUE, quote=False)}.</w:t></w:r></w:p>"
    Path("notes/f.docx").write_bytes(docx({BODY: body}))
    Path("key").write_text("an invented key of the tests, long enough")
    Path("key").chmod(0o600)
    Path("lists.toml").write_text(f"[[deny]]\nterms = [{json.dumps(VALUE)}]\ntype = 'DOCTOR'\n")
    command = ["redact", "rules", "notes", "--output", "clean", "--lists", "lists.toml", "--report", "report.json"]
    return [*command, "--operator", "encrypt", *KEY]


def test_values_are_spelled_as_the_markup_of_a_note_asks(marked: list[str]) -> None:
    assert main(marked) == 0
    assert main(reveal("--check", "report.json")) == 0
    for name, source in SOURCES.items():
        assert Path("clean", name).read_bytes().decode() != source
        assert Path("back", name).read_bytes().decode() == source
    assert members(Path("back/f.docx").read_bytes()) == members(Path("notes/f.docx").read_bytes())


def test_a_source_that_was_redacted_as_plain_text_is_restored_as_such(marked: list[str]) -> None:
    for name in ("b.rtf", "c.xml", "d.hl7", "e.jsonl", "f.docx"):
        Path("notes", name).unlink()
    attribute = '<p title="Seen by Dr. Quill">.</p><x-1 data-by="Dr. Quill">'
    Path("notes/a.html").write_text(attribute)
    assert main([*marked, "--markup", "plain"]) == 0
    assert main(reveal("--markup", "plain")) == 0
    assert Path("back/a.html").read_text() == attribute


def piped(monkeypatch: pytest.MonkeyPatch, text: str, *command: str) -> int:
    """Exit code of a command with a text on standard input."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    return main([*command])


def test_an_answer_of_a_language_model_gets_its_values_back(box: Path, monkeypatch, capsysbinary) -> None:
    said = "Seen by Dr. Quill on 3/14/72. [DATE-1]? Call 555-0134."
    redact = ("redact", "rules", "-", "--operator", "numbered", "--map", "map.json")
    assert piped(monkeypatch, said, *redact) == 0
    redacted = capsysbinary.readouterr().out.decode()
    assert "3/14/72" not in redacted and "555-0134" not in redacted
    assert (box / "map.json").stat().st_mode & 0o777 == 0o600
    mapping = json.loads((box / "map.json").read_text())
    assert piped(monkeypatch, redacted, "reveal", "-", "--map", "map.json") == 0
    assert capsysbinary.readouterr().out.decode() == said

    assert piped(monkeypatch, "And 3/14/72 or 4/15/72?", *redact) == 0
    assert capsysbinary.readouterr().out == b"And [DATE-1] or [DATE-2]?"
    assert json.loads((box / "map.json").read_text()) == {**mapping, "[DATE-2]": "4/15/72"}

    answer = "(date-2), [DATE-9], date 1"
    assert piped(monkeypatch, answer, "reveal", "-", "--map", "map.json") == 1
    found = capsysbinary.readouterr()
    assert found.out == b"4/15/72, [DATE-9], date 1"
    assert b"[DATE-1]" in found.err and b"offset 10" in found.err and b"offset 20" in found.err
    assert b"3/14" not in found.err and b"555" not in found.err


@pytest.mark.parametrize(
    ("command", "status"),
    [
        (["redact", "rules", "-", "--map", "map.json"], 2),
        (["redact", "rules", "notes", "--output", "x", "--operator", "numbered", "--map", "map.json"], 2),
        (["redact", "rules", "-", "--operator", "numbered", "--map", "notes/a.txt"], 1),
        (["redact", "rules", "-", "--operator", "numbered", "--map", "notes"], 1),
        (["redact", "rules", "-", "--operator", "numbered", "--map", "none/map.json"], 1),
        (["reveal", "-"], 2),
        (["reveal", "-", "--map", "none.json"], 1),
        (["reveal", "-", "--map", "notes/a.txt"], 1),
        (["reveal", "-", "--map", "report.json"], 1),
        (["reveal", "-", "--map", "report.json", *KEY], 2),
        (["reveal", "clean", "--output", "back", "--map", "report.json"], 2),
    ],
)
def test_a_map_that_cannot_be_used_is_refused(
    box: Path, command: list[str], status: int, monkeypatch, capsysbinary
) -> None:
    before = {path: path.read_bytes() for path in box.rglob("*") if path.is_file()}
    assert piped(monkeypatch, NOTE, *command) == status
    found = capsysbinary.readouterr()
    assert found.out == b"" and b"error: " in found.err and b"Quill" not in found.err
    assert {path: path.read_bytes() for path in box.rglob("*") if path.is_file()} == before

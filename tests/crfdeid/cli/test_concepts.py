"""`crfdeid tag` and `redact` with a model that finds concepts too: what is written, read back, left out and refused."""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from notes_samples import tiny_joint_model, tiny_joint_notes, tiny_model, written

from crfdeid.bio import encode
from crfdeid.cli import main
from crfdeid.corpora import read_corpus, write_corpus
from crfdeid.corpora.layers import ConceptPaths, select_layer
from crfdeid.corpora.splits import read_splits
from crfdeid.documents import CONCEPT, PHI, Document
from crfdeid.pipeline import load
from crfdeid.redaction import OPERATORS
from crfdeid.redaction.redact import redact

SECRET = "0123456789abcdef0123456789abcdef"
NOTES = {name: document.text for name, document in zip(("a", "p1/b", "p1/c"), tiny_joint_notes(), strict=False)}

QUICK = "--model pipeline --set deid=crf --set concepts=crf --set max_iterations=10 --set folds=2 --augment none"
"""A model that trains in a second."""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_joint_model(tmp_path_factory.mktemp("models") / "joint")


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of notes; the current folder is the one above it."""
    monkeypatch.setenv("CRFDEID_SECRET", SECRET)
    monkeypatch.chdir(tmp_path)
    for name, text in NOTES.items():
        place = tmp_path / "in" / f"{name}.txt"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode())
    return tmp_path / "in"


def run(command: str, model: Path, *arguments: str | Path, source: str = "in", output: str = "out") -> int:
    return main([command, str(model), source, "--output", output, *map(str, arguments)])


def found(model: Path) -> dict[str, Document]:
    return {name: load(model).annotate(text, id=name) for name, text in NOTES.items()}


def kept(file: Path | str = "kept.jsonl") -> dict[str, Document]:
    return {document.id: document for document in read_corpus(file)}


def marked(document: Document) -> list[tuple[str, str]]:
    return [(document.text[start:end], label) for start, end, label in document.layer(CONCEPT)]


# --- tag


@pytest.mark.parametrize("format", ["brat", "i2b2-2014", "conll"])
def test_each_layer_has_a_folder_that_can_be_read_back(
    model: Path, notes: Path, format: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("tag", model, "--output-format", format) == 0
    assert {path.split("/")[0] for path in written(Path("out"))} == {"phi", "concepts"}
    expected = found(model)
    corpus = read_splits(
        Path("out/phi"), Path("out/phi"), None, types="all",
        concepts=ConceptPaths(train=Path("out/concepts"), dev=Path("out/concepts")),
    )  # fmt: skip
    for document in corpus.train.documents:
        if format != "conll":  # whose text is made of the tokens
            assert document == expected[document.id]
        tags = [item.layer(CONCEPT) for item in encode(expected[document.id]).sentences]
        assert [item.layer(CONCEPT) for item in encode(document).sentences] == tags
    capsys.readouterr()
    assert main(["evaluate", "--layer", "concepts", "out/concepts", "--predicted", "out/concepts", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["strict"]["micro"]["tp"] == 9


def test_json_lines_hold_both(model: Path, notes: Path) -> None:
    Path("one.jsonl").write_text("".join(json.dumps({"id": id, "text": text}) + "\n" for id, text in NOTES.items()))
    assert run("tag", model, source="one.jsonl") == 0
    assert kept("out/one.jsonl") == found(model)


def test_brat_counts_the_mark_of_a_file_in_both_layers(model: Path, notes: Path) -> None:
    (notes / "a.txt").write_bytes(b"\xef\xbb\xbf" + NOTES["a"].encode())
    assert run("tag", model, "--output-format", "brat") == 0
    expected = found(model)["a"]
    for folder, layer in (("phi", PHI), ("concepts", CONCEPT)):
        (read,) = read_corpus(Path("out", folder, "a.txt"))
        assert [(start - 1, end - 1, label) for start, end, label in read.spans] == list(expected.layer(layer))


def test_processes_write_what_one_writes_and_the_account_counts_concepts(
    model: Path, notes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for jobs in ("1", "2"):
        audit = f"{jobs}.json"
        assert run("tag", model, "--output-format", "brat", "--jobs", jobs, "--report", audit, output=jobs) == 0
        assert "\nconcepts: PROBLEM 6, TREATMENT 3\n" in capsys.readouterr().err
    assert written(Path("1")) == written(Path("2"))
    one, two = (json.loads(Path(f"{jobs}.json").read_text()) for jobs in ("1", "2"))
    assert one["notes"] == two["notes"]
    assert [note["concepts"] for note in one["notes"]] == [{"PROBLEM": 2, "TREATMENT": 1}] * 3
    assert one["summary"]["concepts"] == {"PROBLEM": 6, "TREATMENT": 3}
    assert "concepts_left_out" not in one["summary"]


def test_what_is_known_of_a_patient_is_hidden_from_the_model_of_concepts(model: Path, notes: Path) -> None:
    """The model knows "zinc" for a treatment; here it is somebody's name, in both spellings that the model sees."""
    Path("in.csv").write_text("text,name\nGiven zinc; Quill sign.,Jane Roe\nGiven zinc; Quill sign.,Jane Zinc\n")
    assert run("tag", model, "--record-columns", "name", source="in.csv") == 0
    plain, named = read_corpus("out/in.jsonl")
    assert ("zinc", "TREATMENT") in marked(plain)
    assert [plain.text[start:end] for start, end, _ in named.spans if start == 6] == ["zinc"]
    Path("in.csv").write_text("text,name\nGiven zanc; Quill sign.,Jane Zanc\n")
    assert run("tag", model, "--record-columns", "name", source="in.csv", output="other") == 0
    (other,) = read_corpus("other/in.jsonl")
    assert other.layers == named.layers


# --- redact


@pytest.mark.parametrize("how", sorted({*OPERATORS} - {"encrypt", "keep"}))
def test_concepts_stand_where_they_are_in_the_redacted_text(
    model: Path, notes: Path, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (notes / "p1" / "b.txt").write_bytes(b"\xef\xbb\xbf" + NOTES["p1/b"].encode())
    assert run("redact", model, "--operator", how, "--keep-concepts", "kept.jsonl", "--report", "audit.json") == 0
    err = capsys.readouterr().err
    assert "\nconcepts: PROBLEM 3, TREATMENT 3\nconcepts left out, since they overlap hidden text: PROBLEM 3\n" in err
    results = {name: Path("out", f"{name}.txt").read_text("utf-8-sig") for name in NOTES}
    assert {name: document.text for name, document in kept().items()} == results
    assert run("redact", model, "--operator", how, output="alone") == 0
    assert written(Path("alone")) == written(Path("out"))
    for name, document in kept().items():
        assert document.annotated == (CONCEPT,)  # not where something was hidden
        assert marked(document) == [pair for pair in marked(found(model)[name]) if "sign" not in pair[0]]
    audit = json.loads(Path("audit.json").read_text())
    counts = {"concepts": {"PROBLEM": 1, "TREATMENT": 1}, "concepts_left_out": {"PROBLEM": 1}}
    assert [{name: note[name] for name in counts} for note in audit["notes"]] == [counts] * 3
    assert audit["summary"]["concepts_left_out"] == {"PROBLEM": 3}
    assert Path("kept.jsonl").stat().st_mode & 0o777 == 0o600


def test_each_row_of_a_table_has_a_line(model: Path, notes: Path) -> None:
    text, other = NOTES["a"], NOTES["p1/b"]
    lines = [{"n": 1, "text": text}, {"n": 2, "text": None}, {"n": 3, "text": other}]
    Path("in/rows.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    Path("in/rows.csv").write_text(f'key,text\nk1,"{text}"\nk2\nk3,"{other}"\n', newline="")
    pq.write_table(pa.Table.from_pylist([{"text": None}, {"text": text}]), "in/rows.parquet")
    assert run("redact", model, "--operator", "surrogate", "--keep-concepts", "kept.jsonl") == 1  # for row 2 of the CSV
    ids = ["rows.csv:1", "rows.csv:3", "rows.jsonl:1", "rows.jsonl:3", "rows.parquet:2"]
    assert list(kept()) == ["a", *ids, "p1/b", "p1/c"]
    hidden = {id: document.text for id, document in kept().items()}
    assert [json.loads(line)["text"] for line in Path("out/rows.jsonl").read_text().splitlines()] == [
        hidden["rows.jsonl:1"], None, hidden["rows.jsonl:3"],
    ]  # fmt: skip
    assert pq.read_table("out/rows.parquet").to_pylist()[1] == {"text": hidden["rows.parquet:2"]}
    assert hidden["a"] == hidden["rows.csv:1"] == hidden["rows.jsonl:1"]  # the same text, whoever's it is
    for document in kept().values():
        assert marked(document)[0] == ("Leg pain", "PROBLEM")


def test_names_of_files_that_are_hidden_are_not_in_it(model: Path, notes: Path) -> None:
    (notes / "p1").rename(notes / "QUILL_1931")
    assert run("redact", model, "--rename-files", "--keep-concepts", "kept.jsonl") == 0
    assert sorted(f"{id}.txt" for id in kept()) == sorted(written(Path("out")))
    assert not re.search("(?i)quill|orla|2031", Path("kept.jsonl").read_text())


def test_standard_input_has_its_concepts_in_the_file(
    model: Path, notes: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    command = ["redact", str(model), "-", "--operator", "mask", "--keep-concepts", "kept.jsonl"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(NOTES["a"].encode())))
    assert main(command) == 0
    out, err = capsysbinary.readouterr()
    assert out.decode() == kept()["stdin"].text
    assert kept()["stdin"].layers == redact(found(model)["a"], "mask").layers
    assert b"\nconcepts: PROBLEM 1, TREATMENT 1\n" in err
    assert main(command) == 2
    assert capsysbinary.readouterr().out == b""


def test_a_run_that_goes_on_has_the_concepts_of_all_of_it(
    model: Path, notes: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("redact", model, "--keep-concepts", "whole.jsonl", output="whole") == 0
    keep = ("--keep-concepts", "kept.jsonl")
    with monkeypatch.context() as patch:
        patch.setattr("crfdeid.io.annotations.concat_sidecars", interrupted)
        assert run("redact", model, *keep) == 130
    assert not Path("kept.jsonl").exists()
    (notes / "p1" / "c.txt").write_text("Given iron.")
    Path("out/p1/b.txt").unlink()
    assert run("redact", model, "--resume") == 2
    assert "begun with another keep_concepts" in capsys.readouterr().err
    for _ in range(2):
        assert run("redact", model, *keep, "--resume") == 0
        *others, changed = kept().values()
        assert others == list(kept("whole.jsonl").values())[:2]
        assert (changed.text, marked(changed)) == ("Given iron.", [("iron", "TREATMENT")])
    assert "concepts: PROBLEM 2, TREATMENT 3" in capsys.readouterr().err
    assert not [path for path in Path().iterdir() if path.name.startswith(".")]


def interrupted(*_: Any) -> None:
    raise KeyboardInterrupt


_KILLED = """
import os, signal, sys
from crfdeid.cli import main
from crfdeid.io.output import OutputFolder

signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell runs in the background ignores it
done, left = OutputFolder.done, 4

def done_then_killed(*given):
    global left
    done(*given)
    left -= 1
    if not left:
        os.kill(os.getpid(), int(sys.argv[1]))

OutputFolder.done = done_then_killed
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.slow
def test_a_killed_run_leaves_nothing_half(model: Path, notes: Path) -> None:
    Path("many").mkdir()
    for number in range(12):
        Path("many", f"{number:02}.txt").write_text(NOTES["a"])
    command = ["redact", str(model), "many", "--output", "out", "--keep-concepts", "kept.jsonl"]
    for more, number, code in ((), signal.SIGINT, 130), (("--resume",), signal.SIGKILL, -signal.SIGKILL):
        killed = [sys.executable, "-c", _KILLED, str(int(number)), *command, *more]
        assert subprocess.run(killed, check=False, stderr=subprocess.DEVNULL).returncode == code
        assert not Path("kept.jsonl").exists()
    assert 6 <= len(list(Path("out").glob("*.txt"))) <= 8
    assert main([*command, "--resume"]) == 0
    assert len(kept()) == 12
    assert {document.text for document in kept().values()} == {Path("out/00.txt").read_text()}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--keep-concepts", "kept.txt"], "end in .jsonl"),
        (["--keep-concepts", "taken.jsonl"], "is there already"),
        (["--keep-concepts", "nowhere/kept.jsonl"], "no folder that can be written to"),
        (["--keep-concepts", "out/kept.jsonl"], "lies in"),
        (["--keep-concepts", "in/kept.jsonl"], "lies in"),
        (["--keep-concepts", "both.jsonl", "--report", "both.jsonl"], "name two"),
        (["--keep-concepts", "kept.jsonl", "--id-column", "mrn", "--drop-columns", "mrn"], "the column mrn"),
    ],
)
def test_where_concepts_cannot_be_kept_is_said_before_a_note_is_read(
    model: Path, notes: Path, capsys: pytest.CaptureFixture[str], more: list[str], message: str
) -> None:
    Path("taken.jsonl").touch()
    Path("out").mkdir()
    assert run("redact", model, *more) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert written(Path("out")) == {}


def test_a_model_of_phi_alone_keeps_no_concepts(
    tmp_path: Path, notes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tiny_model(tmp_path / "model", max_iterations=5)
    assert run("redact", model, "--keep-concepts", "kept.jsonl") == 2
    assert "finds PHI alone" in capsys.readouterr().err
    assert not Path("out").exists()


# --- train


def test_what_the_documentation_says_for_use_works_in_its_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for part in ("train", "dev", "test"):
        for folder, layer in (("phi", PHI), ("concepts", CONCEPT)):
            write_corpus([select_layer(note, layer) for note in tiny_joint_notes()], Path(folder, part), format="brat")
    page = (Path(__file__).parents[3] / "docs" / "explanation" / "joint.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"<!-- for-use -->\n```console\n(.*?)```", page, re.DOTALL)
    commands = [line.removeprefix("crfdeid ").replace("--model stacked", QUICK).split() for line in block.splitlines()]
    assert [command[0] for command in commands] == ["train", "info", "tag", "evaluate", "evaluate", "redact"]
    assert [main(command) for command in commands] == [0] * 6
    assert capsys.readouterr().out.count("| micro    ") == 2
    assert len(kept("concepts.jsonl")) == 12


def test_kept_concepts_can_be_learned_from_beside_other_notes_with_phi(model: Path, notes: Path) -> None:
    write_corpus([select_layer(document, PHI) for document in tiny_joint_notes()], Path("phi.jsonl"), format="jsonl")
    assert run("redact", model, "--keep-concepts", "kept.jsonl") == 0
    corpus = read_splits(
        Path("phi.jsonl"), Path("phi.jsonl"), None, types="all",
        concepts=ConceptPaths(train=Path("kept.jsonl"), dev=Path("kept.jsonl"), disjoint=True),
    )  # fmt: skip
    layers = Counter(document.annotated for document in corpus.train.documents)
    assert layers == {(PHI,): 12, (CONCEPT,): 3}

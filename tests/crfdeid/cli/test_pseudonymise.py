"""``crfdeid pseudonymise``: what it writes and says, that a model learns from it, and what it refuses."""

import json
import stat
from pathlib import Path

import pytest
from commands import with_usual

from crfdeid.cli import main
from crfdeid.corpora import read_corpus, write_corpus
from crfdeid.documents import Document, Span

NAMES = ("Quill", "Marsh", "Okoro", "Lind", "Tarn", "Vale", "Roe", "Hale")
VECTORS = "9 2\nnames 0 1\n" + "".join(f"{name} 1 0.{number}\n" for number, name in enumerate(NAMES))
NOTES = [
    Document(
        f"record-{number}",
        f"Patient {name} was seen.\nRest at home.\nCalled {name} and x{name} again.",
        (Span(8, 8 + len(name), "PATIENT"),),
    )
    for number, name in enumerate(NAMES)
]


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_corpus(NOTES, "notes.jsonl", format="jsonl")
    (tmp_path / "vectors.txt").write_text(VECTORS)
    return tmp_path


def run(more: str = "") -> int:
    notes, *options = more.split() if more and not more.startswith("--") else ["notes.jsonl", *more.split()]
    return main(["pseudonymise", notes, *with_usual({"--vectors": "vectors.txt", "--output": "out.jsonl"}, *options)])


def test_every_sentence_is_a_document_with_a_new_id_and_only_phi_is_replaced(
    box: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--neighbours 8 --seed 3") == 0
    documents = read_corpus(box / "out.jsonl")
    assert [document.id for document in documents] == [str(number) for number in range(1, 25)]
    for document in documents:
        for span in document.spans:
            assert document.text == f"Patient {document.text[span.start : span.end]} was seen."
            assert document.text[span.start : span.end] in (*NAMES, "names")
    as_they_were = [document.text for document in documents if not document.spans]
    assert sorted(as_they_were) == sorted(line for note in NOTES for line in note.text.split("\n")[1:])
    texts = [document.text for document in documents]
    assert texts != sorted(texts, key=lambda text: not text.startswith("Patient"))
    assert "record" not in (box / "out.jsonl").read_text()
    assert stat.S_IMODE((box / "out.jsonl").stat().st_mode) == 0o600
    printed, noted = capsys.readouterr()
    assert "out.jsonl: 24 sentences of 8 notes" in printed
    changed = sorted(document.text.split()[1] for document in documents if document.spans)
    assert "8 tokens of PHI" in printed
    assert "PHI that was not annotated is unchanged" in printed
    assert "the seed allows undoing" in printed
    assert len(changed) == 8
    assert noted == ""


def test_what_it_says_remains_is_what_remains(box: Path, capsys: pytest.CaptureFixture[str]) -> None:
    numbered = [Document(f"{i}", f"{word} {name}", (Span(len(word) + 1, len(word) + 1 + len(name), "PATIENT"),))
                for i, (word, name) in enumerate(zip("abcdefgh", NAMES, strict=True))]  # fmt: skip
    write_corpus(numbered, "notes.jsonl", format="jsonl")
    assert run("--neighbours 3 --seed 1") == 0
    before = {document.text.split()[0]: document.text.split()[1] for document in numbered}
    after = [document.text.split() for document in read_corpus(box / "out.jsonl")]
    same = sum(before[word] == name for word, name in after)
    assert 0 < same < 8
    assert f"{same} ({100 * same / 8:.2f} %) are what they were (itself is one of the 3)" in capsys.readouterr().out


def test_without_a_seed_the_system_draws_one(box: Path) -> None:
    assert run("--neighbours 8") == 0
    first = (box / "out.jsonl").read_text()
    (box / "out.jsonl").unlink()
    assert run("--neighbours 8") == 0
    assert (box / "out.jsonl").read_text() != first


def test_sentences_in_which_phi_crosses_are_left_out_and_words_without_a_vector_are_counted(
    box: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    crossing = (Span(8, 18, "NAME"), Span(13, 25, "HOSPITAL"), Span(34, 41, "NAME"))
    notes = [Document("1", "Seen by Jane Quill Clinic.\nAnd by Unheard", crossing)]
    write_corpus(notes, "notes.jsonl", format="jsonl")
    assert run("--neighbours 4") == 0
    printed = capsys.readouterr().out
    assert "left out: 1 sentences" in printed
    assert "1 of 1 words of PHI have no vector" in printed
    (document,) = read_corpus(box / "out.jsonl")
    assert document.text.startswith("And by ")


def test_a_model_learns_from_what_is_written(box: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--neighbours 8") == 0
    command = "train out.jsonl --dev notes.jsonl --output model --model crf --set max_iterations=5 --augment none"
    assert main(command.split()) == 0
    assert json.loads((box / "model" / "card.json").read_text())["corpus"]["splits"]["train"]["documents"] == 24


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        ("--neighbours 1", 2, "'1' is not a whole number from 2"),
        ("--output out.txt", 2, "let its name end in .jsonl"),
        ("--output notes.jsonl", 2, "is there already"),
        ("none", 2, "no such file or folder: none"),
        ("--vectors none.vec", 1, "none.vec: cannot be read"),
        ("--vectors notes.jsonl", 1, "no word vectors that can be read"),
        ("folder --output folder/out.jsonl", 2, "lies in the folder of NOTES"),
    ],
)
def test_what_cannot_work_is_refused_in_one_line_and_nothing_is_written(
    box: Path, capsys: pytest.CaptureFixture[str], more: str, code: int, message: str
) -> None:
    (box / "folder").mkdir()
    before = sorted(box.rglob("*"))
    assert run(more) == code
    printed, noted = capsys.readouterr()
    assert printed == ""
    assert noted.startswith("error: ")
    assert noted.count("\n") == 1
    assert message in noted
    assert sorted(box.rglob("*")) == before

"""Parts of a corpus share no patient and no text, are near the wanted sizes, and are those of before without either."""

from __future__ import annotations

import json
import logging
import random
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from patient_cases import NOBODY_TEXTS, TWELVE_TEXTS

from crfdeid.cli import main
from crfdeid.corpora import read_corpus, write_corpus
from crfdeid.corpora.partition import describe_division, describe_overlap, divide, linked, part_sizes
from crfdeid.corpora.splits import read_splits
from crfdeid.documents import Document, Span
from crfdeid.errors import EmptyInputError, FormatError, OptionConflictError

TEXTS = ("Well.", "WELL .", "we\u200bll.", "Ill.", "\uff29ll.", "", " ", "Worse, ", "worse,", "Jose\u0301", "JOSÉ")
PATIENTS = st.none() | st.sampled_from("abcdefg")
NOTES = st.builds(Document, st.just(""), st.sampled_from(TEXTS) | st.text("aAbß. \n", max_size=3), patient=PATIENTS)
SHARES = st.sampled_from([(0.8, 0.1, 0.1), (0.9, 0.1), (0.5, 0.5), (0.34, 0.33, 0.33)])


def text_key(text: str) -> str:
    """Oracle of equal texts for `TEXTS`: letters and signs alone, folded."""
    composed = text.replace("e\u0301", "é").replace("\u200b", "").replace("\uff29", "I")
    return re.sub(r"\s", "", composed.casefold())


def shared(one: Sequence[Document], other: Sequence[Document]) -> set[object]:
    patients = {document.patient for document in one} & {document.patient for document in other}
    texts = {text_key(document.text) for document in one} & {text_key(document.text) for document in other}
    return (patients | texts) - {None, ""}


@given(st.lists(NOTES, min_size=2, max_size=40), SHARES, st.integers(0, 9))
def test_parts_share_nothing_and_hold_each_document_once(
    documents: list[Document], shares: tuple[float, ...], seed: int
) -> None:
    documents = [replace(document, id=f"{number}") for number, document in enumerate(documents)]
    sizes = [round(share * len(documents)) for share in shares[1:]]
    sizes = [len(documents) - sum(sizes), *sizes]
    parts = divide(documents, sizes, seed=seed)
    assert not any(shared(one, other) for one, other in combinations(parts, 2))
    assert sorted(int(document.id) for part in parts for document in part) == list(range(len(documents)))
    groups = [len(group) for group in linked(documents)]
    assert all(part for part, size in zip(parts, sizes, strict=True) if size) or len(groups) < sum(map(bool, sizes))
    if max(groups) <= min(sizes):
        assert max(abs(len(part) - size) for part, size in zip(parts, sizes, strict=True)) < max(groups)
    assert describe_overlap({str(number): part for number, part in enumerate(parts)}) is None


@given(st.integers(2, 60), st.integers(0, 5))
def test_without_patients_and_equal_texts_the_parts_are_a_cut_shuffle(count: int, seed: int) -> None:
    documents = [Document(f"{number}", f"Note {number}.") for number in range(count)]
    shuffled = list(documents)
    random.Random(seed).shuffle(shuffled)
    cut = round(0.8 * count)
    assert divide(documents, (cut, count - cut), seed=seed) == [shuffled[:cut], shuffled[cut:]]


@pytest.mark.parametrize(
    ("sizes", "expected"), [((80, 10, 10), (80, 10, 10)), ((50, 50), (50, 50)), ((90, 10), (90, 10))]
)
def test_a_large_group_moves_no_share(sizes: tuple[int, ...], expected: tuple[int, ...]) -> None:
    documents = [Document(f"{n}", f"Note {n}.", patient="p1" if n < 50 else None) for n in range(100)]
    for seed in range(5):
        assert tuple(map(len, divide(documents, sizes, seed=seed))) == sizes


def notes(patients: int, each: int, begin: str = "Seen by Doe") -> list[tuple[str, Document]]:
    """Notes with their patient; the first of each of the first four patients have equal texts."""
    found = []
    for patient, number in product(range(patients), range(each)):
        text = f"{begin}  again." if patient < 4 and not number else f"{begin} in bay {patient}-{number}."
        text = text.upper() if patient % 2 else text.replace("  ", "\n")
        found.append((f"p{patient}", Document(f"{patient}-{number}", text, (Span(8, 11, "DOCTOR"),))))
    return found


FORMS = {
    "brat folders": ("brat", True, ()),
    "JSON Lines folders": ("jsonl", True, ()),
    "i2b2 folders": ("i2b2-2014", True, ()),
    "JSON Lines": ("jsonl", False, ("--patient-column", "who")),
    "JSON Lines with the default key": ("jsonl", False, ()),
    "doccano": ("doccano", False, ("--patient-column", "who")),
    "Label Studio": ("label-studio", False, ("--patient-column", "who")),
    "TAB": ("tab", False, ("--patient-column", "who")),
}


def write_notes(path: Path, form: str, found: list[tuple[str, Document]]) -> Path:
    """Write notes with their patients as folders or under a key."""
    name, folders, options = FORMS[form]
    if folders:
        for patient in dict.fromkeys(who for who, _ in found):
            some = [document for who, document in found if who == patient]
            if name == "jsonl":
                (path / patient).mkdir(parents=True)
            write_corpus(some, path / patient / "notes.jsonl" if name == "jsonl" else path / patient, format=name)
        return path
    path.mkdir(parents=True)
    file = path / ("notes.json" if name == "label-studio" else "notes.jsonl")
    write_corpus([document for _, document in found], file, format=name)
    key = "who" if options else "patient"
    if name == "label-studio":
        tasks = json.loads(file.read_text())
        for (who, _), task in zip(found, tasks, strict=True):
            task["data"][key] = who
        file.write_text(json.dumps(tasks))
    else:
        records = [json.loads(line) for line in file.read_text().splitlines()]
        lines = [json.dumps({**record, key: who}) for (who, _), record in zip(found, records, strict=True)]
        file.write_text("\n".join(lines))
    return file


@pytest.mark.parametrize("form", FORMS)
def test_convert_splits_by_patient_and_equal_text(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = notes(20, 5)
    owner = {document.text: patient for patient, document in found}
    path = write_notes(tmp_path / "in", form, found)
    name, _, options = FORMS[form]
    command = ["convert", str(path), "--format", name, "--output", str(tmp_path / "out"), "--split", ".8,.1,.1"]
    assert main([*command, *options]) == 0
    parts = {part: read_corpus(tmp_path / "out" / f"{part}.jsonl") for part in ("train", "dev", "test")}
    assert sum(map(len, parts.values())) == 100
    assert all(abs(len(part) - size) < 20 for part, size in zip(parts.values(), (80, 10, 10), strict=True))
    patients = [{owner[document.text] for document in part} - {"p0", "p1", "p2", "p3"} for part in parts.values()]
    texts = [{text_key(document.text) for document in part} for part in parts.values()]
    for sets in (patients, texts):
        assert not any(one & other for one, other in combinations(sets, 2))
    (line,) = re.findall(r"(?m)^Split by patient and equal text: train .*$", capsys.readouterr().err)
    sizes = [f"{len(part)} notes of {len({one.patient for one in part})} patients" for part in parts.values()]
    assert line.endswith(": " + ", ".join(f"{part} {size}" for part, size in zip(parts, sizes, strict=True)))
    assert describe_overlap(parts) is None
    assert all(document.patient for part in parts.values() for document in part)


@pytest.mark.parametrize("form", ["brat folders", "JSON Lines", "JSON Lines with the default key"])
def test_the_own_development_share_is_of_other_patients_and_texts(form: str, tmp_path: Path) -> None:
    path, options = write_notes(tmp_path / "in", form, notes(20, 5)), FORMS[form][2]
    corpus = read_splits(path, None, None, types="all", patient_column=options[1] if options else None)
    train, dev = corpus.train.documents, corpus.dev.documents
    assert not shared(train, dev)
    assert len(train) + len(dev) == 100 and 5 <= len(dev) <= 15
    assert corpus.notices[1] == f"{describe_division({'train': train, 'dev': dev})}."
    assert f"dev {len(dev)} notes of {len({one.patient for one in dev})} patients" in corpus.notices[1]


def test_copies_of_texts_are_on_one_side(tmp_path: Path) -> None:
    found = [replace(document, id=f"{document.id}-{copy}") for _, document in notes(12, 3) for copy in range(3)]
    write_corpus(found, tmp_path / "in.jsonl", format="jsonl")
    corpus = read_splits(tmp_path / "in.jsonl", None, None, types="all")
    assert not shared(corpus.train.documents, corpus.dev.documents)
    assert corpus.notices[1].startswith("Split by note and equal text, as no patient is known: train ")


def test_one_patient_or_one_text_cannot_be_shared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_notes(tmp_path / "in", "brat folders", notes(1, 10))
    with pytest.raises(EmptyInputError):
        read_splits(path, None, None, types="all")
    assert main(["convert", str(path), "--output", str(tmp_path / "out"), "--split", ".8,.2"]) == 1
    assert "dev has none" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_shared_patients_and_texts_are_one_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    train = write_notes(tmp_path / "train", "brat folders", notes(6, 2))
    dev = write_notes(tmp_path / "dev", "brat folders", notes(3, 1))
    test = write_notes(tmp_path / "test", "JSON Lines", [(f"t{n}", one) for n, (_, one) in enumerate(notes(5, 1))])
    with caplog.at_level(logging.WARNING, "crfdeid"):
        corpus = read_splits(train, dev, test, types="all")
    expected = (
        "Scores are too high: train and dev share 3 patients and 1 text; train and test share 2 texts; "
        "dev and test share 1 text"
    )
    assert caplog.messages == [expected]
    assert corpus.notices == (f"{expected}.",)


@pytest.mark.parametrize("folder", ["", "ward/"])
@pytest.mark.parametrize("column", [None, "who"])
def test_records_name_their_patients_by_the_rule_of_all_doors(folder: str, column: str | None, tmp_path: Path) -> None:
    """A record without a patient does not take the folder's."""
    names = [*TWELVE_TEXTS, 12, 12.0, *NOBODY_TEXTS, None]
    records = [{"id": f"{n}", "text": "a", "spans": [], column or "patient": name} for n, name in enumerate(names)]
    (tmp_path / folder).mkdir(exist_ok=True)
    (tmp_path / folder / "notes.jsonl").write_text("\n".join(map(json.dumps, records)))
    count = len(TWELVE_TEXTS) + 2
    found = [document.patient for document in read_corpus(tmp_path, patient_column=column)]
    assert found == ["12"] * count + [None] * (len(names) - count)
    write_corpus(read_corpus(tmp_path, patient_column=column), tmp_path / "again" / "n.jsonl", format="jsonl")
    again = read_corpus(tmp_path / "again" / "n.jsonl")
    assert [document.patient for document in again] == found


@pytest.mark.parametrize(("folder", "patient"), [("p1", "p1"), ("12.0", "12"), ("unknown", None), ("p1/2031", "p1")])
@pytest.mark.parametrize("start", ["absolute", "."])
def test_the_first_folder_is_the_patient_of_files_and_records_that_name_none(
    folder: str, patient: str | None, start: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = Document("1", "Seen by Doe.")
    write_corpus([note], tmp_path / "in" / folder / "a", format="brat")
    write_corpus([replace(note, id="2", text="Ill.")], tmp_path / "in" / folder / "b.jsonl", format="jsonl")
    monkeypatch.chdir(tmp_path / "in")
    path = tmp_path / "in" if start == "absolute" else Path()
    assert [document.patient for document in read_corpus(path)] == [patient, patient]
    assert read_corpus(path / folder / "b.jsonl")[0].patient is None


def test_a_column_that_names_nobody_is_an_error(tmp_path: Path) -> None:
    write_corpus([Document("1", "Well.")], tmp_path / "notes.jsonl", format="jsonl")
    write_corpus([Document("1", "Well.")], tmp_path / "brat", format="brat")
    with pytest.raises(FormatError):
        read_corpus(tmp_path / "notes.jsonl", patient_column="shoe")
    with pytest.raises(OptionConflictError):
        read_corpus(tmp_path / "brat", patient_column="who")
    (tmp_path / "notes.jsonl").write_text('{"id": "1", "text": "Well.", "spans": [], "who": ["Quill"]}')
    with pytest.raises(FormatError, match="line 1"):
        read_corpus(tmp_path / "notes.jsonl", patient_column="who")


@given(st.integers(0, 40), st.lists(st.integers(1, 99), min_size=2, max_size=3))
def test_each_part_has_a_note_where_there_are_as_many_notes_as_parts(count: int, weights: list[int]) -> None:
    shares = [weight / sum(weights) for weight in weights]
    sizes = part_sizes(count, shares)
    assert sum(sizes) == count
    assert min(sizes) > 0 or count < len(shares)
    # Rounding, and a note for each of the others, is all that parts differ from their shares by.
    assert all(abs(size - share * count) <= len(shares) for size, share in zip(sizes, shares, strict=True))


def test_three_notes_make_three_parts(tmp_path: Path) -> None:
    write_corpus(
        [Document(f"{n}", f"Doe {n}.", patient=f"p{n}") for n in range(3)], tmp_path / "a.jsonl", format="jsonl"
    )
    assert main(["convert", str(tmp_path / "a.jsonl"), "--split", ".6,.2,.2", "--output", str(tmp_path / "out")]) == 0
    assert [len(read_corpus(tmp_path / "out" / f"{part}.jsonl")) for part in ("train", "dev", "test")] == [1, 1, 1]

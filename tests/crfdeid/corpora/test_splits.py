"""Splits: what is counted, how development documents are taken from training, what the hash covers."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from crfdeid.corpora import write_corpus
from crfdeid.corpora.splits import Corpus, Split, read_splits
from crfdeid.documents import Document, Span
from crfdeid.errors import EmptyInputError, UnknownNameError

WHOLE = Document("whole", "Dr. Ann Doe, 3/4.\nHome.", (Span(4, 11, "DOCTOR"), Span(13, 16, "DATE")))
INSIDE = Document("inside", "Dr. Anndoe.", (Span(4, 7, "DOCTOR"),))


def corpus_of(*documents: Document) -> Corpus:
    split = Split.of(documents)
    return Corpus("invented", "jsonl", "all", split, split, None)


def test_statistics_count_what_stands_there() -> None:
    assert Split.of([WHOLE, INSIDE]).statistics() == {
        "documents": 2,
        "sentences": 3,
        "tokens": (9 + 2) + 4,  # Dr . Ann Doe , 3 / 4 . | Home . | Dr . Anndoe .
        "spans": 3,
        "spans_by_type": {"DATE": 1, "DOCTOR": 2},
        "unaligned": 1,
    }


def test_words_are_those_of_the_text() -> None:
    assert Split.of([WHOLE]).words == {"Dr", ".", "Ann", "Doe", ",", "3", "/", "4", "Home"}


def test_types_stand_in_the_papers_order_and_others_after_them() -> None:
    spans = tuple(Span(i, i + 1, label) for i, label in enumerate(["ZIP", "DATE", "AGE", "PATIENT", "ID"]))
    assert corpus_of(Document("1", "abcde", spans)).types == ["PATIENT", "ID", "DATE", "AGE", "ZIP"]


def test_a_corpus_without_test_is_scored_on_dev() -> None:
    corpus = corpus_of(WHOLE)
    assert (corpus.scored_name, corpus.scored) == ("dev", corpus.dev)
    with_test = dataclasses.replace(corpus, test=Split.of([INSIDE]))
    assert (with_test.scored_name, with_test.scored.documents) == ("test", (INSIDE,))


@pytest.mark.parametrize(
    "other",
    [
        dataclasses.replace(WHOLE, text=WHOLE.text.replace("Home", "Hope")),
        dataclasses.replace(WHOLE, id="other"),
        dataclasses.replace(WHOLE, spans=WHOLE.spans[:1]),
        dataclasses.replace(WHOLE, layers={"concept": ()}),
    ],
)
def test_the_hash_is_of_ids_texts_and_annotations(other: Document) -> None:
    assert corpus_of(WHOLE).sha256() == corpus_of(WHOLE).sha256()
    assert corpus_of(WHOLE).sha256() != corpus_of(other).sha256()


def write(folder: Path, name: str, count: int, prefix: str = "") -> Path:
    path = folder / f"{name}.jsonl"
    documents = [Document(f"{n}", f"{prefix}note {n} by Doe", (Span(0, 1, "ID"),)) for n in range(count)]
    write_corpus(documents, path, format="jsonl")
    return path


def test_without_dev_a_tenth_of_train_is_taken_once_and_for_all(tmp_path: Path) -> None:
    path = write(tmp_path, "train", 30)
    corpus, again = (read_splits(path, None, None, types="all") for _ in range(2))
    ids = [{document.id for document in split.documents} for split in (corpus.train, corpus.dev)]
    assert [len(found) for found in ids] == [27, 3]
    assert ids[0] | ids[1] == {str(n) for n in range(30)}
    assert corpus.sha256() == again.sha256()
    assert corpus.notices[0] == (
        "No --dev: 3 of the training documents, drawn with a fixed seed, are the development set and not trained on."
    )


def test_one_document_cannot_be_shared(tmp_path: Path) -> None:
    with pytest.raises(EmptyInputError) as caught:
        read_splits(write(tmp_path, "train", 1), None, None, types="all")
    assert Path(str(caught.value.path)).name == "train.jsonl"


def test_documents_that_stand_in_training_too_are_told_of(tmp_path: Path) -> None:
    train, dev, test = write(tmp_path, "train", 5), write(tmp_path, "dev", 3, "dev "), write(tmp_path, "test", 2)
    corpus = read_splits(train, dev, test, types="all")
    assert corpus.notices == ("Scores are too high: train and test share 2 texts.",)
    assert corpus.format == "jsonl"


def test_a_format_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Seen by Dr. Doe.\n", "utf-8")
    with pytest.raises(UnknownNameError):
        read_splits(path, None, None)


@pytest.mark.corpora
def test_real_corpora_have_the_sizes_that_are_published(data_folder: Path) -> None:
    meddocan = data_folder / "meddocan"
    corpus = read_splits(meddocan / "train" / "brat", meddocan / "dev" / "brat", None, types="all")
    sizes = {name: (len(s.documents), s.statistics()["spans"]) for name, s in corpus.splits.items()}
    assert sizes == {"train": (500, 11333), "dev": (250, 5801)}
    queries = data_folder / "asq-phi"
    corpus = read_splits(queries / "train.txt", queries / "dev.txt", None, types="all")
    assert (corpus.format, [len(split.documents) for split in corpus.splits.values()]) == ("asq-phi", [630, 105])

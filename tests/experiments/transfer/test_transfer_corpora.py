"""Which corpora an option names, and in which types they are read."""

from __future__ import annotations

from pathlib import Path

import pytest
from two_corpora import two_corpora

from crfdeid.corpora import read_corpus, write_corpus
from crfdeid.documents import Document, Span
from crfdeid.errors import DataError, UnknownNameError, UsageError
from experiments.transfer.options import Source, joined, read, source_of


def test_a_folder_says_which_of_its_entries_is_what(tmp_path: Path) -> None:
    wards, letters = two_corpora(tmp_path)
    assert source_of(f"a={wards}") == Source("a", wards / "train.jsonl", None, wards / "dev.jsonl")
    found = source_of(f"b={letters}:jsonl")
    assert found.paths == tuple(letters / f"{name}.jsonl" for name in ("training-set", "validation", "test_v2"))
    assert (found.name, found.format) == ("b", "jsonl")
    (letters / "notes" / "train").mkdir(parents=True)
    assert source_of(f"b={letters}:jsonl") == found


def test_two_files_are_train_and_test(tmp_path: Path) -> None:
    wards, letters = two_corpora(tmp_path)
    train, test = wards / "train.jsonl", letters / "test_v2.jsonl"
    assert source_of(f"mixed={train},{test}") == Source("mixed", train, None, test)
    assert source_of(f"mixed={train},{test}:auto") == Source("mixed", train, None, test)


def test_built_in_corpora_have_names_and_seeds() -> None:
    assert source_of("synthetic-notes") == Source("synthetic-notes", format="synthetic-notes", seed=0)
    assert source_of("synthetic-texts:7") == Source("synthetic-texts", format="synthetic-texts", seed=7)
    assert source_of("old=synthetic-notes:3") == Source("old", format="synthetic-notes", seed=3)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("notes", "give NAME=DIR, NAME=TRAIN,TEST, or one of synthetic-notes, synthetic-texts"),
        ("a=", "give NAME=DIR"),
        ("=x", "'' is no name"),
        ("a/b={wards}", "'a/b' is no name for a corpus"),
        ("../a=synthetic-notes", "is no name"),
        ("synthetic-notes:x", "'x' is no seed"),
        ("synthetic-notes:" + "9" * 5000, "is no seed: give a whole number up to"),
        ("a=" + "x" * 5000, "no such file or folder"),
        ("a={wards}:xml", "unknown format 'xml': choose from auto, brat"),
        ("a={wards}/train.jsonl", "is one file: give a=TRAIN,TEST"),
        ("a={wards}/train.jsonl,{wards}/gone.jsonl", "no such file or folder: {wards}/gone.jsonl"),
        ("a=gone", "--corpora a: no such file or folder: gone"),
        ("a={parent}", "holds no train and test (or dev): give a=TRAIN,TEST"),
        ("a={several}", "has 2 entries that could be train, by their names: give a=TRAIN,TEST"),
    ],
)
def test_what_is_not_clear_is_refused(text: str, says: str, tmp_path: Path) -> None:
    wards, _ = two_corpora(tmp_path)
    several = tmp_path / "several"
    for name in ("train-1", "train-2", "test"):
        (several / name).mkdir(parents=True)
    places = {"wards": wards, "parent": tmp_path, "several": several}
    with pytest.raises(UsageError) as refused:
        source_of(text.format(**places))
    assert says.format(**places) in str(refused.value)


def test_types_become_categories_and_documents_are_called_by_their_corpus(tmp_path: Path) -> None:
    corpora = [
        read(source_of(f"{path.name}={path}"), keep_unknown=False, share=share)
        for path, share in zip(two_corpora(tmp_path), (0.5, 1.0), strict=True)
    ]
    wards, letters = corpora
    assert (wards.types, letters.types) == (["LOCATION", "DATE", "NAME"], ["CONTACT", "NAME"])
    assert wards.test is not None and letters.test is not None
    assert wards.test.documents[0].id == "wards/dev-40" == wards.test.sentences[0].document
    assert [len(split.documents) for split in letters.splits.values()] == [16, 4, 5]
    assert [len(split.documents) for split in wards.splits.values()] == [7, 2, 6]  # a tenth for dev, then half
    whole = joined(corpora, types="name")
    assert whole.scored.documents == (*wards.test.documents, *letters.test.documents)
    assert (whole.name, whole.format, whole.type_map) == ("wards, letters", "jsonl", "name")
    assert [notice.partition(":")[0] for notice in whole.notices] == ["wards"] * 3


def test_a_type_that_nobody_knows_is_phi_or_refused_with_the_corpus(tmp_path: Path) -> None:
    documents = [Document(f"{n}", f"Ward 7B called {n}.", (Span(0, 7, "WARD"),)) for n in range(4)]
    for part in ("train", "test"):
        write_corpus(documents, tmp_path / f"{part}.jsonl", format="jsonl")
    source = source_of(f"wards={tmp_path}")
    assert read(source, keep_unknown=True).types == ["PHI"]
    with pytest.raises(UnknownNameError):
        read(source, keep_unknown=False)


def test_a_folder_in_two_formats_is_refused_and_the_way_out_named(tmp_path: Path) -> None:
    wards, _ = two_corpora(tmp_path)
    for part in ("train", "test"):
        (tmp_path / "both" / part).mkdir(parents=True)
        for name in ("a.jsonl", "b.xml"):
            (tmp_path / "both" / part / name).write_text("{}\n", "utf-8")
    write_corpus(read_corpus(wards / "train.jsonl"), tmp_path / "both" / "train" / "xml", format="i2b2-2014")
    with pytest.raises(UsageError, match=r"--corpora both: .* choose one .*both=DIR:brat"):
        read(source_of(f"both={tmp_path / 'both'}"), keep_unknown=True)


def test_a_part_without_phi_is_refused(tmp_path: Path) -> None:
    for part, spans in (("train", (Span(0, 3, "DATE"),)), ("test", ())):
        write_corpus(
            [Document(f"{n}", f"May {n}", spans) for n in range(3)], tmp_path / f"{part}.jsonl", format="jsonl"
        )
    with pytest.raises(DataError, match="the test notes hold no PHI at all"):
        read(source_of(f"a={tmp_path}"), keep_unknown=True)

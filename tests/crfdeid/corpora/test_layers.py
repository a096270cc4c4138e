"""Two annotation layers: joined on one text, set side by side on two, and refused where they do not fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.bio import decode
from crfdeid.corpora import write_corpus
from crfdeid.corpora.layers import (
    ConceptPaths,
    concat_corpora,
    concept_documents,
    exclude_regions,
    join_layers,
    read_excluded_regions,
    select_layer,
)
from crfdeid.corpora.splits import read_splits
from crfdeid.documents import CONCEPT, PHI, Document, Span
from crfdeid.errors import DataError, FormatError, MismatchError, OptionConflictError, SpanError
from crfdeid.evaluation import score_entities
from crfdeid.label_schemes import map_types

TEXT = "Dr. Doe gave aspirin."
NOTE = Document("1", TEXT, (Span(4, 7, "DOCTOR"),), source="phi/1.ann")
DRUG = Document("1", TEXT, (Span(13, 20, "DRUG"),), source="concepts/1.ann")
OTHER = Document("2", "Nothing to see.", source="phi/2.ann")


def test_joined_documents_are_annotated_in_both_layers() -> None:
    blank = replace(OTHER, source="concepts/2.ann")
    first, second = join_layers([NOTE, OTHER], [blank, DRUG])
    assert (first.spans, first.layer(CONCEPT)) == (NOTE.spans, DRUG.spans)
    assert second.layer(CONCEPT) == ()
    assert first.annotated == second.annotated == (PHI, CONCEPT)


@given(
    marks=st.tuples(st.booleans(), st.booleans()), words=st.lists(st.sampled_from(["Doe", "a\ufeffb", "x"]), min_size=1)
)
def test_offsets_fit_the_text_whichever_side_has_the_byte_order_mark(
    marks: tuple[bool, bool], words: list[str]
) -> None:
    text = " ".join(words)
    sides = []
    for mark, label in zip(marks, ("PATIENT", "DRUG"), strict=True):
        whole = "\ufeff" * mark + text
        sides.append(Document("1", whole, (Span(mark, mark + len(words[0]), label),)))
    (joined,) = join_layers([sides[0]], [sides[1]])
    (phi,), (concept,) = joined.spans, joined.layer(CONCEPT)
    assert joined.text == sides[0].text
    assert joined.text[phi.start : phi.end] == joined.text[concept.start : concept.end] == words[0]


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("Dr. Doe gave aspirim.", 19),
        ("Dr. Doe gave aspirin", 20),
        ("Dr. Doe gave aspirin. ", 21),
        ("Mr. Doe gave aspirin.", 0),
    ],
)
def test_texts_that_differ_are_refused_by_name_and_offset(text: str, offset: int) -> None:
    with pytest.raises(MismatchError) as caught:
        join_layers([NOTE], [Document("1", text, source="concepts/1.ann")])
    message = str(caught.value)
    assert message.startswith(f"phi/1.ann, offset {offset}: the text is not that of concepts/1.ann from here on")
    assert "Doe" not in message


def test_the_offset_of_a_difference_counts_the_byte_order_mark() -> None:
    marked = replace(NOTE, text=f"\ufeff{TEXT}", spans=())
    with pytest.raises(MismatchError) as caught:
        join_layers([marked], [replace(DRUG, text=TEXT.replace("Doe", "Roe"))])
    assert (caught.value.path, caught.value.offset) == ("phi/1.ann", 5)


def test_documents_that_one_side_lacks_are_refused_by_name() -> None:
    lacking = [replace(OTHER, id=str(n), source=f"concepts/{n}.ann") for n in range(2, 9)]
    with pytest.raises(MismatchError) as caught:
        join_layers([NOTE, replace(OTHER, id="x")], [DRUG, *lacking])
    message = str(caught.value)
    assert "missing in the concepts: phi/2.ann. missing in the PHI: concepts/2.ann; concepts/3.ann" in message
    assert "and 2 more" in message


def test_concepts_are_given_once() -> None:
    with pytest.raises(MismatchError) as caught:
        join_layers(join_layers([NOTE], [DRUG]), [DRUG])
    assert caught.value.path == "phi/1.ann"
    with pytest.raises(MismatchError) as caught:
        concat_corpora(join_layers([NOTE], [DRUG]), [])
    assert caught.value.path == "phi/1.ann"


def test_side_by_side_what_nobody_annotated_is_not_empty() -> None:
    phi, concepts = concat_corpora([OTHER], [DRUG])
    assert (phi.annotated, concepts.annotated) == ((PHI,), (CONCEPT,))
    for document, absent in ((phi, CONCEPT), (concepts, PHI)):
        with pytest.raises(MismatchError):
            document.layer(absent)
    assert concepts != replace(concepts, phi_annotated=True)


@pytest.mark.parametrize("same", [{"id": "1", "text": "Another text."}, {"id": "9", "text": TEXT}])
def test_side_by_side_corpora_share_no_document(same: dict[str, str]) -> None:
    with pytest.raises(MismatchError) as caught:
        concat_corpora([NOTE], [Document(**same, source="concepts/x")])
    assert caught.value.path == "concepts/x"


def test_what_nobody_annotated_is_neither_mapped_nor_scored() -> None:
    _, concepts = concat_corpora([OTHER], [DRUG])
    for types in ("all", "seven", "binary"):
        with pytest.raises(MismatchError) as caught:
            map_types([concepts], types)
        assert caught.value.path == "concepts/1.ann"
    with pytest.raises(MismatchError):
        score_entities([concepts], {"1": []})
    with pytest.raises(SpanError) as caught:
        replace(NOTE, phi_annotated=False)
    assert caught.value.path == "phi/1.ann"


def test_one_layer_alone_is_a_corpus_of_its_own() -> None:
    (joined,) = join_layers([NOTE], [DRUG])
    assert select_layer(joined, CONCEPT) == DRUG
    assert select_layer(joined, PHI) == NOTE
    assert concept_documents([joined, OTHER]) == [DRUG, OTHER]


# --- files ------------------------------------------------------------------------------------------------------------


def put(path: Path, documents: Sequence[Document]) -> Path:
    write_corpus(documents, path, format="brat")
    return path


def note(number: int, *spans: Span, text: str = TEXT) -> Document:
    return Document(f"{number}", f"{text} {number}", spans)


DOE, ASPIRIN, GAVE = Span(4, 7, "DOCTOR"), Span(13, 20, "DRUG"), Span(8, 12, "UNCLEAR")


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, Path]:
    """PHI and concepts of the same ten notes to learn from, and of two others."""
    return {
        "train": put(tmp_path / "phi" / "train", [note(n, DOE) for n in range(10)]),
        "dev": put(tmp_path / "phi" / "dev", [note(n, DOE) for n in (10, 11)]),
        "concepts": put(tmp_path / "concepts" / "train", [note(n, ASPIRIN, GAVE) for n in range(10)]),
        "dev_concepts": put(tmp_path / "concepts" / "dev", [note(n) for n in (10, 11)]),
    }


def test_a_corpus_carries_both_layers_to_the_tags(folders: dict[str, Path]) -> None:
    where = ConceptPaths(train=folders["concepts"], dev=folders["dev_concepts"])
    corpus = read_splits(folders["train"], folders["dev"], None, types="all", concepts=where)
    (first, *_), (last, *_) = corpus.train.sentences, corpus.dev.sentences
    assert decode(first.sentence, first.layer(CONCEPT)) == [ASPIRIN]
    assert decode(first.sentence, first.layer(PHI)) == [DOE]
    assert set(last.layer(CONCEPT)) == {"O"}
    assert corpus.train.layers == corpus.dev.layers == (PHI, CONCEPT)
    assert corpus.notices == ("10 concepts of types that are left out: UNCLEAR.",)
    assert corpus.train.statistics()["layers"] == {
        CONCEPT: {"documents": 10, "spans": 10, "spans_by_type": {"DRUG": 10}, "unaligned": 0}
    }
    assert "layers" not in read_splits(folders["train"], None, None, types="all").train.statistics()


def test_types_are_left_out_as_set(folders: dict[str, Path]) -> None:
    where = ConceptPaths(train=folders["concepts"], dev=folders["dev_concepts"], ignored_types=())
    corpus = read_splits(folders["train"], folders["dev"], None, types="seven", concepts=where)
    assert corpus.train.documents[0].layer(CONCEPT) == (GAVE, ASPIRIN)
    assert corpus.notices == ()


def test_a_tenth_shared_out_has_both_layers(folders: dict[str, Path]) -> None:
    corpus = read_splits(folders["train"], None, None, concepts=ConceptPaths(train=folders["concepts"]))
    assert [len(split.documents) for split in corpus.splits.values()] == [9, 1]
    assert corpus.dev.layers == (PHI, CONCEPT)


@pytest.mark.parametrize(("phi", "concepts"), [("dev", None), (None, "dev_concepts")])
def test_a_split_with_one_layer_alone_is_refused(
    phi: str | None, concepts: str | None, folders: dict[str, Path]
) -> None:
    where = ConceptPaths(train=folders["concepts"], dev=folders.get(concepts or ""))
    with pytest.raises(OptionConflictError):
        read_splits(folders["train"], folders.get(phi or ""), None, concepts=where)


def test_two_corpora_without_a_common_text(folders: dict[str, Path], tmp_path: Path) -> None:
    others = put(tmp_path / "others", [note(n, ASPIRIN, text="Mr. Roe took aspirin.") for n in range(20, 40)])
    with pytest.raises(MismatchError):
        read_splits(folders["train"], None, None, concepts=ConceptPaths(train=others))
    where = ConceptPaths(train=others, disjoint=True)
    corpus = read_splits(folders["train"], folders["dev"], None, types="all", concepts=where)
    assert [len(corpus.train.annotated(layer).documents) for layer in (PHI, CONCEPT)] == [10, 18]
    assert [len(corpus.dev.annotated(layer).documents) for layer in (PHI, CONCEPT)] == [2, 2]
    assert corpus.notices[0].startswith("No --dev-concepts: 2 of the training documents")
    assert {sentence.annotated for sentence in corpus.train.sentences} == {(PHI,), (CONCEPT,)}
    statistics = corpus.train.statistics()
    assert (statistics["documents"], statistics["spans"]) == (28, 10)
    assert statistics["layers"][PHI] == {"documents": 10}
    assert statistics["layers"][CONCEPT]["spans_by_type"] == {"DRUG": 18}
    assert corpus.sha256() != read_splits(folders["train"], folders["dev"], None, types="all").sha256()


NOTES = [Document("1", "x" * 20), Document("2", "y" * 10)]


def table(folder: Path, content: str) -> Path:
    path = folder / "unsourced.tsv"
    path.write_text(content, "utf-8")
    return path


def test_stretches_are_read_by_document_whatever_else_the_table_holds(tmp_path: Path) -> None:
    path = table(
        tmp_path, "split\tdocument\tstart\tend\ttokens\ndev\t1\t8\t20\t3\ndev\t1\t0\t5\t1\ntest\t9\t0\t99\t1\n\n"
    )
    assert read_excluded_regions(path, NOTES) == {"1": [(0, 5), (8, 20)], "2": []}
    assert read_excluded_regions(table(tmp_path, "document\tstart\tend\r\n2\t0\t10\r\n"), NOTES)["2"] == [(0, 10)]


@pytest.mark.parametrize(
    ("content", "refused", "line"),
    [
        ("", FormatError, 1),
        ("document\tstart\n1\t0\n", FormatError, 1),
        ("document start end\n1 0 5\n", FormatError, 1),
        ("document\tstart\tend\n1\t0\n", FormatError, 2),
        ("document\tstart\tend\n1\t0\tx\n", FormatError, 2),
        ("document\tstart\tend\n1\t-1\t3\n", FormatError, 2),
        ("document\tstart\tend\n1\t0\t3\n1\t4\t21\n", SpanError, 3),
        ("document,start,end\n1,3,3\n", SpanError, 2),
        ("document\tstart\tend\n3\t0\t3\n", MismatchError, None),
    ],
)
def test_a_table_that_is_none_is_refused_with_its_line(
    content: str, refused: type[DataError], line: int | None, tmp_path: Path
) -> None:
    path = table(tmp_path, content)
    with pytest.raises(refused) as error:
        read_excluded_regions(path, NOTES)
    assert (error.value.path, error.value.line) == (path, line)


SPANS = st.lists(st.tuples(st.integers(0, 18), st.integers(1, 4)).map(lambda s: Span(s[0], min(sum(s), 20), "X")))


@given(gold=SPANS, found=SPANS, stretches=st.lists(st.tuples(st.integers(0, 15), st.integers(1, 9)), max_size=3))
def test_what_lies_wholly_within_a_stretch_counts_on_neither_side(
    gold: list[Span], found: list[Span], stretches: list[tuple[int, int]]
) -> None:
    places = [(start, min(start + length, 20)) for start, length in stretches]
    covered = [set(range(*place)) for place in places]
    seen = exclude_regions([Document("1", "x" * 20, tuple(gold))], {"1": found}, {"1": places})
    for before, after in ((gold, seen.gold[0].spans), (found, seen.predicted["1"])):
        inside = [span for span in before if any(set(range(span.start, span.end)) <= part for part in covered)]
        assert sorted([*after, *inside]) == sorted(before)
    assert score_entities(*seen).micro.tp + score_entities(*seen).micro.fn == len(seen.gold[0].spans)

"""The check of annotations, kind by kind, against definitions, and as three commands print it."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.cli import main
from crfdeid.corpora import read_corpus, write_corpus
from crfdeid.corpora.check import (
    BLANK,
    CASE,
    CROSSINGS,
    DUPLICATES,
    EDGES,
    INSIDE_WORDS,
    ISSUES,
    NESTED,
    OVER_SENTENCES,
    UNMARKED,
    UNREAD,
    WITHOUT_SPANS,
    check_annotations,
)
from crfdeid.documents import CONCEPT, Document, Span

CLEAN = Document("1", "Seen by Orla Quill on 3/14/2031.\nNo fever.", (Span(8, 18, "DOCTOR"), Span(22, 31, "DATE")))


def kinds(*documents):
    return {issue.kind: issue.count for issue in check_annotations(documents)}


def note(text, *spans, **more):
    return Document("1", text, tuple(Span(start, end, "NAME") for start, end in spans), **more)


def test_clean_annotations_have_no_issue():
    assert check_annotations([CLEAN, note("Abe Tawn came", (0, 8))]) == []


@pytest.mark.parametrize(
    ("document", "kind"),
    [
        (note("by Quill today", (3, 9)), EDGES),
        (note("by Quill\n\u200b today", (3, 10)), EDGES),
        (note("by Quill today", (8, 9)), BLANK),
        (note("by McQuill today", (5, 10)), INSIDE_WORDS),
        (note("by McQuill today", (3, 5)), INSIDE_WORDS),
        (note("by Jane\nQuill. Today", (3, 13)), OVER_SENTENCES),
        (note("by Jane Quill Clinic", (3, 13), (8, 20)), CROSSINGS),
        (note("by Jane Quill Clinic", (3, 13), (3, 13)), DUPLICATES),
        (note("by Jane Quill Clinic", (3, 20), (8, 13)), NESTED),
        (note("by Jane Quill Clinic", (3, 20), (3, 7)), NESTED),
        (note("No fever."), WITHOUT_SPANS),
        (note("by Jane", (3, 7), unread=("column 2",)), UNREAD),
        (Document("1", "Ann, Abe", (Span(0, 3, "NAME"), Span(5, 8, "Name"))), CASE),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_kind_is_found_and_no_other(document, kind):
    expected = 2 if kind == CASE else 1
    assert kinds(document) == {kind: expected}


def test_every_kind_has_a_description_and_an_order():
    everything = note("by Jane Quill today", (3, 14), (3, 13))
    assert [issue.kind for issue in check_annotations([everything])] == [EDGES, DUPLICATES]
    assert next(iter(ISSUES)) == EDGES


def test_an_end_of_a_span_in_a_word_and_one_over_a_sentence_are_both_counted():
    assert kinds(note("McJane\nQuill. Today", (2, 12))) == {INSIDE_WORDS: 1, OVER_SENTENCES: 1}


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(1, 4)), max_size=6))
def test_overlaps_are_those_of_their_definitions(pairs):
    """Of two spans at one place one is a duplicate; of two that cross, the later one is counted."""
    spans = sorted((2 * start, 2 * start + 2 * size - 1) for start, size in pairs)
    found = kinds(note("A " * 14, *spans))
    nested = {i for i, a in enumerate(spans) for b in spans if b[0] <= a[0] and a[1] <= b[1] and a != b}
    crossing = {i for i, a in enumerate(spans) for b in spans if b[0] < a[0] < b[1] < a[1]}
    expected = {NESTED: len(nested), DUPLICATES: len(spans) - len(set(spans)), CROSSINGS: len(crossing)}
    assert {kind: found.get(kind, 0) for kind in expected} == expected


@pytest.mark.parametrize(
    ("value", "text", "unmarked"),
    [
        ("Orla Quill", "Dr. Orla Quill called.", 1),
        ("Orla Quill", "Orla Quill, Orla Quill", 2),
        ("Quill", "Quillsen came", 0),
        ("Quill", "McQuill came", 0),
        ("Quill", "quill", 0),
        ("(555) 555-0134", "Tel. (555) 555-0134!", 1),
        ("555-0134", "1555-0134", 0),
        ("varón", "varón", 0),
        ("45", "45 mg", 0),
        ("2031", "in 2031", 0),
        ("6 meses", "6 meses", 0),
        ("MA", "MA", 0),
    ],
)
def test_a_value_that_is_marked_in_one_document_and_not_in_another_is_found(value, text, unmarked):
    first = note(f"by {value} today", (3, 3 + len(value)))
    other = Document("2", f"{text} Zann", (Span(len(text) + 1, len(text) + 5, "NAME"),), source="b.jsonl, line 2")
    assert kinds(first, other).get(UNMARKED, 0) == unmarked
    if unmarked:
        (issue,) = check_annotations([first, other])
        assert issue.places[0] == f"b.jsonl, line 2, offset {text.index(value)}"


def test_a_value_is_not_unmarked_where_any_span_of_the_layer_touches_it_nor_in_its_own_document():
    first = note("Seen by Quill. Quill called.", (8, 13))
    assert kinds(first, note("at Quill Clinic", (3, 15))) == {}
    assert kinds(first, note("at Quill Clinic, Tawn", (17, 21))) == {UNMARKED: 1}
    marked = note("Quill: Tawnol", (0, 5), layers={CONCEPT: (Span(7, 13, "DRUG"),)})
    other = note("Tawnol for Marsh", (11, 16), layers={CONCEPT: ()})
    assert kinds(marked, other) == {UNMARKED: 1}


def test_a_word_that_more_documents_leave_unmarked_than_mark_is_another_word_too():
    texts = ["In May. Zann", "May be. Zann"]
    others = [note(text, (text.index("Zann"), len(text))) for text in texts]
    assert kinds(note("by May today", (3, 6)), *others) == {}
    assert kinds(note("by May today", (3, 6)), *others[:1]) == {UNMARKED: 1}
    assert kinds(note("by Ann May today", (3, 10)), *(note("Ann May, Zann", (9, 13)) for _ in "ab")) == {UNMARKED: 2}


def test_places_name_file_line_and_offset_and_no_text(tmp_path):
    texts = ["Seen today.\nBy Quill \n"] * 4
    documents = [Document(str(n), text, (Span(15, 21, "DOCTOR"),)) for n, text in enumerate(texts)]
    write_corpus(documents, tmp_path / "brat", format="brat")
    write_corpus(documents, tmp_path / "notes.jsonl", format="jsonl")
    (issue,) = check_annotations(read_corpus(tmp_path / "notes.jsonl"))
    assert (issue.kind, issue.count) == (EDGES, 4)
    assert issue.places == tuple(f"{tmp_path}/notes.jsonl, line {n}, offset 15" for n in (1, 2, 3))
    (issue,) = check_annotations(read_corpus(tmp_path / "brat"))
    assert issue.places[0] == f"{tmp_path}/brat/0.ann, line 2 of the text, offset 15"
    (issue,) = check_annotations(documents)
    assert issue.places[0] == "document 1, line 2 of the text, offset 15"


@pytest.fixture
def edged(tmp_path) -> Path:
    """Twelve notes whose spans all have the space after them."""
    names = ("Orla", "Abe", "Otis", "Jane")
    texts = [f"Seen by Dr. {names[n % 4]} Quill on 3/{n + 1}/2031 for cough." for n in range(12)]
    documents = []
    for number, text in enumerate(texts):
        doctor, date = (12, text.index(" on ") + 1), (text.index("3/"), text.index("for"))
        documents.append(Document(str(number), text, (Span(*doctor, "DOCTOR"), Span(*date, "DATE"))))
    write_corpus(documents, tmp_path / "notes.jsonl", format="jsonl")
    return tmp_path / "notes.jsonl"


def test_train_and_evaluate_print_the_check_and_convert_on_demand(edged, tmp_path, capsys):
    model = tmp_path / "model"
    assert main(["train", str(edged), "--output", str(model), "--model", "crf", "--set", "max_iterations=9"]) == 0
    assert f"{ISSUES[EDGES]}: 24, at {edged}, line " in capsys.readouterr().err
    assert main(["evaluate", str(model), str(edged)]) == 0
    scores, noted = capsys.readouterr()
    assert f"{ISSUES[EDGES]}: 24, at {edged}, line 1, offset 12; " in noted
    assert noted.rstrip().endswith("and 21 more")
    assert re.search(r"micro +\| 100.00 \| 100.00 \| 100.00 ", scores), "edges of both sides are trimmed alike"
    assert main(["convert", str(edged), "--check"]) == 0
    checked, noted = capsys.readouterr()
    assert checked.startswith(f"{ISSUES[EDGES]}: 24, at ")
    assert "Quill" not in checked + noted


def test_json_has_the_check(edged, tmp_path, capsys):
    assert main(["convert", str(edged), "--check", "--json"]) == 0
    places = [f"{edged}, line 1, offset 12", f"{edged}, line 1, offset 26", f"{edged}, line 2, offset 12"]
    expected = {"annotations": [{"kind": EDGES, "count": 24, "places": places, "names": []}]}
    assert json.loads(capsys.readouterr().out) == expected
    assert main(["evaluate", "--predicted", str(edged), str(edged), "--json"]) == 0
    out, noted = capsys.readouterr()
    assert json.loads(out)["annotations"] == expected["annotations"]
    assert noted == ""


def test_nothing_is_printed_if_all_is_clean(tmp_path, capsys):
    write_corpus([CLEAN], tmp_path / "notes.jsonl", format="jsonl")
    assert main(["convert", str(tmp_path / "notes.jsonl"), "--check"]) == 0
    assert capsys.readouterr() == ("", "")
    assert (
        main(["evaluate", "--predicted", str(tmp_path / "notes.jsonl"), str(tmp_path / "notes.jsonl"), "--json"]) == 0
    )
    out, noted = capsys.readouterr()
    assert ("annotations" in json.loads(out), noted) == (False, "")


@pytest.mark.parametrize("options", [[], ["--check", "--split", ".5,.5"], ["--json", "--output", "out.jsonl"]])
def test_convert_without_a_place_to_write_to_needs_the_check(edged, options, capsys):
    assert main(["convert", str(edged), *options]) == 2


def test_convert_checks_and_writes_the_annotated_offsets(edged, tmp_path, capsys):
    assert main(["convert", str(edged), "--check", "--output", str(tmp_path / "again.jsonl")]) == 0
    assert (tmp_path / "again.jsonl").read_bytes() == edged.read_bytes()
    assert ISSUES[EDGES] in capsys.readouterr().out

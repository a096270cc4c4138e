"""The error browser's data: the errors it holds are those that the scores count, at the places where they are."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.documents import Document, Span
from crfdeid.errors import IntegrityError, MismatchError
from crfdeid.evaluation import find_errors, summarise_errors
from experiments.reporting.error_browser import MOST_CONTEXT, SystemRun, browser_data

TEXT = "Ann Doe, seen 03/14 by Dr. Holm at QRH. She goes to Hill Road on 03/20, by bus."
NOTE = Document(
    "n1", TEXT, (Span(0, 7, "PATIENT"), Span(14, 19, "DATE"), Span(27, 31, "DOCTOR"), Span(35, 38, "HOSPITAL"))
)
RIGHT = list(NOTE.spans)


def system_run(system: str, seed: int, *documents: tuple[Document, list[Span]]) -> SystemRun:
    predictions = {document.id: spans for document, spans in documents}
    notes = [document for document, _ in documents]
    return SystemRun(system, seed, predictions, find_errors(notes, predictions, known_words=()))


def data(*runs: SystemRun, notes: tuple[Document, ...] = (NOTE,), with_text: bool = True, **changes):
    texts = {note.id: note.text for note in notes} if with_text else None
    gold = {note.id: note.spans for note in notes}
    return browser_data(gold, runs, **{"types": ["PATIENT", "DATE"], "texts": texts} | changes)


def test_a_place_shows_gold_and_what_each_run_found_runs_that_agree_together():
    crf = system_run("crf", 0, (NOTE, [Span(0, 3, "PATIENT"), *RIGHT[1:]]))
    net = system_run("net", 3, (NOTE, RIGHT))
    other = system_run("net", 4, (NOTE, RIGHT))
    found = data(crf, net, other)
    assert found["runs"] == [["crf", 0], ["net", 3], ["net", 4]]
    [place] = found["places"]
    assert place["document"] == "n1"
    assert place["gold"] == [[0, 7, "PATIENT"]]
    assert place["outcomes"] == [
        {"runs": [0], "spans": [[0, 3, "PATIENT"]], "errors": [["boundary", "PATIENT", ["shorter"]]]},
        {"runs": [1, 2], "spans": [[0, 7, "PATIENT"]], "errors": []},
    ]


def test_the_text_shown_holds_the_place_at_its_offset():
    long = Document("long", "word " * 200 + "Ann Doe" + " word" * 200, (Span(1000, 1007, "PATIENT"),))
    [place] = data(system_run("crf", 0, (long, [])), notes=(long,))["places"]
    assert place["text"][1000 - place["start"] :].startswith("Ann Doe word")
    assert len(place["text"]) <= 7 + 2 * MOST_CONTEXT
    assert place["cut"] == [True, True]
    assert set(place["text"].split()) == {"word", "Ann", "Doe"}  # no word is cut


def test_a_chain_of_overlapping_spans_is_one_place_and_spans_that_touch_are_two():
    gold = (Span(0, 4, "ID"), Span(4, 8, "ID"))
    note = Document("n", "abcdefghijkl", gold)
    apart = data(system_run("crf", 0, (note, [])), notes=(note,))
    assert [place["gold"] for place in apart["places"]] == [[[0, 4, "ID"]], [[4, 8, "ID"]]]
    together = data(system_run("crf", 0, (note, [Span(2, 6, "ID")])), notes=(note,))
    assert [place["gold"] for place in together["places"]] == [[[0, 4, "ID"], [4, 8, "ID"]]]


def test_without_text_there_is_neither_text_nor_a_document_s_name():
    second = Document("Doe_Ann_4711", TEXT, NOTE.spans)
    run = system_run("crf", 0, (NOTE, RIGHT), (second, RIGHT[1:]))
    found = data(run, notes=(NOTE, second), with_text=False)
    [place] = found["places"]
    assert (place["document"], place["start"], place["text"]) == (2, 0, None)
    assert "Doe" not in str(found)


def test_types_stand_in_the_order_given_and_others_after_them():
    note = Document("n", TEXT, (Span(0, 3, "ZETA"), Span(4, 7, "ALPHA"), Span(14, 19, "DATE")))
    found = data(system_run("crf", 0, (note, [])), notes=(note,))
    assert found["types"] == ["DATE", "ALPHA", "ZETA"]


@pytest.mark.parametrize(
    ("changes", "refused"),
    [
        ({"gold": {"other": ()}}, MismatchError),
        ({"texts": {}}, MismatchError),
        ({"texts": {"n1": "short"}}, MismatchError),
        ({"gold": {"n1": ()}}, IntegrityError),
    ],
)
def test_files_that_do_not_belong_together_are_refused(changes, refused):
    run = system_run("crf", 0, (NOTE, []))
    given_gold = changes.get("gold", {"n1": NOTE.spans})
    with pytest.raises(refused):
        browser_data(given_gold, [run], types=[], texts=changes.get("texts", {"n1": TEXT, "other": TEXT}))


SPANS = st.lists(
    st.tuples(st.integers(0, 27), st.integers(1, 6), st.sampled_from(["DATE", "ID", "DOCTOR"])).map(
        lambda drawn: Span(drawn[0], drawn[0] + drawn[1], drawn[2])
    ),
    max_size=8,
)


@given(gold=SPANS, found=st.lists(SPANS, min_size=1, max_size=3), with_text=st.booleans())
def test_every_error_is_there_once_under_the_type_it_counts_under(gold, found, with_text):
    note = Document("n", "ab cde fg\nhi j.kl mn op 7 qrst uv"[:33], tuple(gold))
    runs = [system_run("net", seed, (note, spans)) for seed, spans in enumerate(found)]
    held = data(*runs, notes=(note,), with_text=with_text)
    for number, run in enumerate(runs):
        outcomes = [o for place in held["places"] for o in place["outcomes"] if number in o["runs"]]
        counts = Counter((category, label) for o in outcomes for category, label, _ in o["errors"])
        by_type = summarise_errors(run.errors)["by_type"]
        assert counts == {(c, label): n for c, labels in by_type.items() for label, n in labels.items()}
        assert len(outcomes) == len(held["places"])  # every run stands at every place
    assert all(place["outcomes"] and any(o["errors"] for o in place["outcomes"]) for place in held["places"])

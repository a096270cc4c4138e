"""The scores of the i2b2 2014 challenge against brute force, and by hand."""

import itertools

import pytest
from challenge_notes import NOTES, TEXT, compared, corpus
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.documents import Document, Span
from crfdeid.errors import MismatchError
from crfdeid.evaluation import Counts, score_entities, score_hipaa_tokens, score_i2b2
from crfdeid.evaluation.challenges import I2B2_MODES


def rows(gold, predicted):
    return {(score.mode, score.subset): score for score in score_i2b2(gold, predicted)}


def tokens_by_hand(spans):
    """Runs of letters and digits in each span, character by character."""
    found = set()
    for start, end, label in spans:
        runs = itertools.groupby(range(start, end), lambda i: TEXT[i].isalnum())
        for places in (list(group) for key, group in runs if key):
            found.add((places[0], places[-1] + 1, label))
    return found


@given(NOTES)
def test_strict_and_token_by_brute_force(notes):
    gold, predicted = corpus(notes)
    found = rows(gold, predicted)
    assert found["strict", "all PHI"].micro == score_entities(gold, predicted).micro
    expected = compared((tokens_by_hand(right), tokens_by_hand(wrong)) for right, wrong in notes)
    assert found["token", "all PHI"].micro == expected


def test_tokens_are_runs_of_letters_and_digits_within_the_span():
    note = Document("1", "Drs. José-Roe 03/14/72", (Span(5, 13, "DOCTOR"), Span(14, 22, "DATE")))
    found = {"1": [Span(5, 9, "DOCTOR"), Span(15, 22, "DATE")]}
    # Jos, Roe, 03, 14, 72 against Jos, 3, 14, 72: the script's tokens are of A-Z, a-z and 0-9.
    assert rows([note], found)["token", "all PHI"].micro == Counts(tp=3, fp=1, fn=2)


def test_a_span_given_twice_counts_once():
    span = Span(0, 7, "PATIENT")
    note = Document("1", TEXT, (span, span))
    assert score_i2b2([note], {"1": [span]}) == score_i2b2([Document("1", TEXT, (span,))], {"1": [span, span]})


@given(NOTES)
def test_relaxed_is_the_largest_matching_of_ends_within_two(notes):
    gold, predicted = corpus(notes)

    def fits(a: Span, b: Span) -> bool:
        return (a.start, a.label) == (b.start, b.label) and abs(a.end - b.end) <= 2

    best = 0
    for right, found in notes:
        short, long = sorted((right, found), key=len)
        ways = itertools.permutations(long, len(short))
        best += max((sum(fits(a, b) for a, b in zip(short, way, strict=True)) for way in ways), default=0)
    assert rows(gold, predicted)["relaxed", "all PHI"].micro.tp == best


@given(NOTES)
def test_hipaa_is_the_same_on_the_spans_of_its_types(notes):
    gold, predicted = corpus(notes)
    kept = corpus([[[s for s in side if s.label != "DOCTOR"] for side in note] for note in notes])
    for mode in I2B2_MODES:
        assert rows(gold, predicted)[mode, "HIPAA"] == rows(*kept)[mode, "all PHI"]._replace(subset="HIPAA")


def places_by_hand(spans, labels):
    return {(start, end) for start, end, label in tokens_by_hand(spans) if label in labels}


@given(NOTES)
def test_binary_tokens_by_brute_force(notes):
    gold, predicted = corpus(notes)
    for subset, labels in (
        ("all PHI", {"PATIENT", "DATE", "CITY", "DOCTOR"}),
        ("HIPAA", {"PATIENT", "DATE", "CITY"}),
    ):
        expected = compared((places_by_hand(right, labels), places_by_hand(found, labels)) for right, found in notes)
        assert rows(gold, predicted)["binary token", subset].micro == expected
    assert score_hipaa_tokens(gold, predicted) == expected


@given(NOTES, st.randoms(use_true_random=False))
def test_binary_hipaa_tokens_do_not_depend_on_the_order_of_notes_or_on_types_within_hipaa(notes, random):
    score = score_hipaa_tokens(*corpus(notes))
    renamed = {"PATIENT": "DATE", "DATE": "CITY", "CITY": "PATIENT", "DOCTOR": "DOCTOR"}
    shuffled = [(right, [s._replace(label=renamed[s.label]) for s in found]) for right, found in notes]
    random.shuffle(shuffled)
    assert score_hipaa_tokens(*corpus(shuffled)) == score


@given(NOTES)
def test_binary_hipaa_tokens_ignore_what_hipaa_does_not_name(notes):
    doctors = [Span(start, end, "DOCTOR") for start, end in ((0, 7), (9, 14), (39, 43))]
    more = [(right, [*found, *doctors]) for right, found in notes]
    assert score_hipaa_tokens(*corpus(more)) == score_hipaa_tokens(*corpus(notes))


@given(NOTES)
def test_binary_hipaa_tokens_of_a_perfect_prediction(notes):
    score = score_hipaa_tokens(*corpus([(right, right) for right, _ in notes]))
    assert (score.fp, score.fn) == (0, 0)
    assert score.f1 == (1.0 if score.tp else 0.0)


def test_binary_hipaa_tokens_by_hand():
    text = "Ann Doe, MRN 12-34, seen by Dr. Lark at QRH on 03/14/72"
    marked = {"PATIENT": "Ann Doe", "IDNUM": "12-34", "DOCTOR": "Lark", "HOSPITAL": "QRH", "DATE": "03/14/72"}
    spans = {label: Span(text.index(part), text.index(part) + len(part), label) for label, part in marked.items()}
    note = Document("1", text, tuple(spans.values()))
    found = [
        spans["PATIENT"]._replace(label="DOCTOR"),  # dropped: Ann and Doe are missed
        spans["IDNUM"]._replace(label="PHONE"),  # 12 and 34 are right: HIPAA names both types
        spans["DOCTOR"]._replace(label="PATIENT"),  # Lark is a false alarm
        spans["DATE"]._replace(end=spans["DATE"].end - 1),  # 03 and 14 are right, 7 is not 72
    ]
    assert score_hipaa_tokens([note], {"1": found}) == Counts(tp=4, fp=2, fn=3)


def test_a_token_in_two_spans_counts_once():
    note = Document("1", TEXT, (Span(0, 7, "PATIENT"), Span(4, 7, "CITY")))
    assert score_hipaa_tokens([note], {"1": [Span(0, 3, "PATIENT")]}) == Counts(tp=1, fn=1)


def test_of_types_that_nobody_knows_nothing_is_said_of_hipaa():
    known = Document("1", TEXT, (Span(0, 7, "PATIENT"), Span(16, 22, "LOCATION")))
    assert len(score_i2b2([known], {"1": [Span(16, 22, "CALLE")]})) == 8
    assert score_hipaa_tokens([known], {"1": []}) == Counts(fn=4)
    for spans, found in (((Span(0, 7, "NAME"),), []), (known.spans, [Span(0, 7, "NAME")])):
        note = Document("1", TEXT, spans)
        assert {score.subset for score in score_i2b2([note], {"1": found})} == {"all PHI"}
        assert score_hipaa_tokens([note], {"1": found}) is None


def test_macro_is_the_mean_over_notes():
    notes = [
        ([Span(0, 7, "PATIENT"), Span(9, 14, "DATE")], [Span(0, 7, "PATIENT")]),
        ([Span(9, 14, "DATE")], [Span(9, 11, "DATE"), Span(0, 3, "PATIENT")]),
        ([], []),
    ]
    score = rows(*corpus(notes))["strict", "all PHI"]
    assert score.micro == Counts(tp=1, fp=2, fn=2)
    assert score.macro[:2] == pytest.approx(((1 + 0 + 0) / 3, (0.5 + 0 + 0) / 3))
    assert score.macro.f1 == pytest.approx(2 * (1 / 3) * (1 / 6) / (1 / 3 + 1 / 6))
    assert rows(*corpus(notes))["relaxed", "all PHI"].micro == Counts(tp=1, fp=2, fn=2)  # the end is off by three


@pytest.mark.parametrize("score", [score_i2b2, score_hipaa_tokens])
def test_a_note_without_prediction_is_refused(score):
    with pytest.raises(MismatchError):
        score([Document("1", TEXT)], {})

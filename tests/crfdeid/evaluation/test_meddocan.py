"""The scores of the MEDDOCAN challenge against brute force, and by hand."""

import itertools

import pytest
from challenge_notes import NOTES, TEXT, compared, corpus
from hypothesis import given

from crfdeid.documents import Document, Span
from crfdeid.errors import MismatchError
from crfdeid.evaluation import Counts, score_entities, score_meddocan


def test_a_span_given_twice_counts_once():
    span = Span(0, 7, "PATIENT")
    note = Document("1", TEXT, (span, span))
    alike = score_meddocan([Document("1", TEXT, (span,))], {"1": [span, span]})
    assert score_meddocan([note], {"1": [span]}) == alike


@given(NOTES)
def test_meddocans_tracks_by_brute_force(notes):
    gold, predicted = corpus(notes)
    scores = score_meddocan(gold, predicted)
    assert scores.ner == score_entities(gold, predicted).micro

    def places(spans):
        return {(s.start, s.end) for s in spans}

    def merged(spans):
        """Characters covered, and gaps that hold no letter and no digit; runs of them are the merged spans."""
        inside = [any(s.start <= i < s.end for s in spans) for i in range(len(TEXT))]
        edges = sorted({0, len(TEXT), *(s.start for s in spans), *(s.end for s in spans)})
        first, last = min((s.start for s in spans), default=0), max((s.end for s in spans), default=0)
        for a, b in itertools.pairwise(edges):
            if first <= a and b <= last and not any(inside[a:b]) and not any(map(str.isalnum, TEXT[a:b])):
                inside[a:b] = [True] * (b - a)
        runs = [list(group) for key, group in itertools.groupby(range(len(TEXT)), inside.__getitem__) if key]
        return {(run[0], run[-1] + 1) for run in runs}

    for name, view in (("span_strict", places), ("span_merged", merged)):
        assert getattr(scores, name) == compared((view(right), view(found)) for right, found in notes)

    expected = Counts()
    for gold_spans, found_spans in notes:
        right = [set(range(*p)) for p in places(gold_spans) & places(found_spans)]
        right += [set(range(*p)) for p in merged(gold_spans) & merged(found_spans) if set(range(*p)) not in right]
        sides = [sum(not any(set(range(*p)) <= r for r in right) for p in places(s)) for s in (found_spans, gold_spans)]
        expected += Counts(len(right), *sides)
    assert scores.span_merged_as_published == expected


def test_merged_spans_as_the_challenge_published_them():
    """Three spans in a row, of which the prediction has the outer two right and cuts the middle one."""
    gold = (Span(0, 3, "PATIENT"), Span(4, 7, "PATIENT"), Span(9, 14, "DATE"))
    note = Document("1", TEXT, gold)
    alike = score_meddocan([note], {"1": gold})
    assert alike.span_merged == Counts(tp=1)
    assert alike.span_merged_as_published == Counts(tp=4)  # the run, and each of its three
    cut = score_meddocan([note], {"1": [gold[0], Span(5, 7, "PATIENT"), gold[2], Span(47, 52, "DATE")]})
    assert cut.span_merged == Counts(tp=0, fp=3, fn=1)
    assert cut.span_merged_as_published == Counts(tp=2, fp=2, fn=1)
    whole = score_meddocan([note], {"1": [Span(0, 14, "PATIENT")]})
    assert whole.span_merged == whole.span_merged_as_published == Counts(tp=1)


def test_the_leak_score_is_missed_spans_by_sentences():
    note = Document("1", "Ann came. Roe left.\nLark stayed.", (Span(0, 3, "PATIENT"), Span(10, 13, "DOCTOR")))
    assert score_meddocan([note], {"1": [Span(0, 3, "DOCTOR")]}).leak == pytest.approx(2 / 3)
    assert score_meddocan([], {}).leak == 0.0


def test_a_note_without_prediction_is_refused():
    with pytest.raises(MismatchError):
        score_meddocan([Document("1", TEXT)], {})

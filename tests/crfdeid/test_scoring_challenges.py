"""The scores of the i2b2 2014 and MEDDOCAN challenges against brute force, and by hand."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.documents import Document, Span
from crfdeid.errors import DataError
from crfdeid.labels import I2B2_2014
from crfdeid.scoring import HIPAA, Counts, score_entities, score_i2b2, score_meddocan

TEXT = "Ann Roe, 03/14; Elm St. 5 (Tawn) - Dr. Lark 77 years"
LABELS = st.sampled_from(["PATIENT", "DATE", "DOCTOR", "CITY"])
SPANS = st.lists(
    st.builds(lambda a, n, label: Span(a, min(a + n, len(TEXT)), label), st.integers(0, 51), st.integers(1, 9), LABELS),
    max_size=6,
    unique=True,
)
NOTES = st.lists(st.tuples(SPANS, SPANS), max_size=4)


def corpus(notes):
    gold = [Document(str(n), TEXT, tuple(spans)) for n, (spans, _) in enumerate(notes)]
    return gold, {str(n): spans for n, (_, spans) in enumerate(notes)}


def rows(gold, predicted):
    return {(score.mode, score.subset): score for score in score_i2b2(gold, predicted)}


def test_the_types_of_hipaa_are_types_of_2014():
    assert set(I2B2_2014) > HIPAA
    assert not HIPAA & {"DOCTOR", "HOSPITAL", "STATE", "COUNTRY", "PROFESSION", "USERNAME", "URL"}


def tokens_by_hand(spans):
    """Runs of letters and digits in each span, character by character."""
    found = set()
    for start, end, label in spans:
        runs = itertools.groupby(range(start, end), lambda i: TEXT[i].isalnum())
        for places in (list(group) for key, group in runs if key):
            found.add((places[0], places[-1] + 1, label))
    return found


def compared(sets):
    return sum((Counts(len(g & p), len(p - g), len(g - p)) for g, p in sets), Counts())


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


@pytest.mark.parametrize("score", [score_i2b2, score_meddocan])
def test_a_span_given_twice_counts_once(score):
    span = Span(0, 7, "PATIENT")
    note = Document("1", TEXT, (span, span))
    assert score([note], {"1": [span]}) == score([Document("1", TEXT, (span,))], {"1": [span, span]})


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
    kept = corpus([[[s for s in side if s.label in HIPAA] for side in note] for note in notes])
    for mode in ("token", "strict", "relaxed"):
        assert rows(gold, predicted)[mode, "HIPAA"] == rows(*kept)[mode, "all PHI"]._replace(subset="HIPAA")


def test_without_the_types_of_2014_nothing_is_said_of_hipaa():
    note = Document("1", TEXT, (Span(0, 7, "PATIENT"), Span(16, 22, "LOCATION")))
    assert {score.subset for score in score_i2b2([note], {"1": []})} == {"all PHI"}
    known = Document("1", TEXT, (Span(0, 7, "PATIENT"),))
    assert len(score_i2b2([known], {"1": []})) == 6
    assert len(score_i2b2([known], {"1": [Span(16, 22, "CALLE")]})) == 3


def test_macro_is_the_mean_over_notes():
    notes = [
        ([Span(0, 7, "PATIENT"), Span(9, 14, "DATE")], [Span(0, 7, "PATIENT")]),
        ([Span(9, 14, "DATE")], [Span(9, 11, "DATE"), Span(0, 3, "PATIENT")]),
        ([], []),
    ]
    score = rows(*corpus(notes))["strict", "all PHI"]
    assert score.micro == Counts(tp=1, fp=2, fn=2)
    assert (score.precision, score.recall) == pytest.approx(((1 + 0 + 0) / 3, (0.5 + 0 + 0) / 3))
    assert score.f1 == pytest.approx(2 * (1 / 3) * (1 / 6) / (1 / 3 + 1 / 6))
    assert rows(*corpus(notes))["relaxed", "all PHI"].micro == Counts(tp=1, fp=2, fn=2)  # the end is off by three


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


@pytest.mark.parametrize("score", [score_i2b2, score_meddocan])
def test_a_note_without_prediction_is_refused(score):
    with pytest.raises(DataError, match="no prediction"):
        score([Document("1", TEXT)], {})

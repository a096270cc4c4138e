import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.documents import Document, Span, trim_span
from crfdeid.errors import MismatchError
from crfdeid.evaluation import (
    ERROR_CAUSES,
    ERROR_KINDS,
    Counts,
    EntityError,
    confusions,
    find_errors,
    in_context,
    score_entities,
    summarise_errors,
)
from features.tokens import Sentence

KNOWN = {"seen", "by", "Ann", "doe", "at", "hill", "road", "medical", "center"}
TEXT = "Seen by Ann Doe at QRH. Sent to Hill Road Medical Center on 03/14. Holm, Z. P. Vance"


def place(part, label):
    return Span(TEXT.index(part), TEXT.index(part) + len(part), label)


def errors_of(gold, predicted, known=KNOWN):
    return find_errors([Document("n1", TEXT, tuple(gold))], {"n1": predicted}, known_words=known)


def only(gold, predicted, known=KNOWN):
    (error,) = errors_of(gold, predicted, known)
    return error.kind, error.causes


# Categories and causes by hand


def test_right_entities_are_no_errors():
    span = place("Ann Doe", "DOCTOR")
    assert errors_of([span], [span]) == []


@pytest.mark.parametrize(
    ("part", "causes"),
    [
        ("Ann Doe", ()),
        ("Doe", ("single-word",)),
        ("Holm", ("single-word", "unseen")),
        ("QRH", ("single-word", "abbreviation", "unseen")),
        ("Z. P.", ("abbreviation", "unseen")),
        ("Z. P. Vance", ("unseen",)),
        ("03/14", ()),
    ],
)
def test_missed(part, causes):
    assert only([place(part, "DOCTOR")], []) == ("missed", causes)


def test_known_words_are_compared_without_case():
    assert only([place("Ann Doe", "DOCTOR")], [], known={"ANN", "dOE"}) == ("missed", ())
    assert only([place("Ann Doe", "DOCTOR")], [], known={"ann"}) == ("missed", ("unseen",))


def test_the_words_of_a_pre_tokenised_document_are_its_tokens():
    note = Document("n1", "O'Holm", (Span(0, 6, "DOCTOR"),), pretokenized=(Sentence.from_words(["O'Holm"]),))
    (error,) = find_errors([note], {"n1": []}, known_words={"o'holm"})
    assert error.causes == ("single-word",)


def test_wrong():
    gold, found = place("QRH", "HOSPITAL"), place("QRH", "DOCTOR")
    (error,) = errors_of([gold], [found])
    assert error == EntityError("n1", "wrong", gold, found, ("single-word", "abbreviation", "unseen"))


@pytest.mark.parametrize(
    ("part", "causes"),
    [
        ("by Ann Doe", ("longer",)),
        ("by Ann Doe at", ("longer",)),
        ("Doe", ("shorter",)),
        ("n Do", ("shorter",)),
        ("by Ann", ("shifted",)),
        ("Doe at", ("shifted",)),
    ],
)
def test_boundary(part, causes):
    assert only([place("Ann Doe", "DOCTOR")], [place(part, "DOCTOR")]) == ("boundary", causes)
    assert only([place("Ann Doe", "DOCTOR")], [place(part, "ID")]) == ("boundary", (*causes, "other-type"))


def test_boundary_of_a_compound_of_more_than_three_words():
    compound = place("Hill Road Medical Center", "HOSPITAL")
    assert only([compound], [place("Medical Center", "HOSPITAL")]) == ("boundary", ("shorter", "long-compound"))
    three = place("Road Medical Center", "HOSPITAL")
    assert only([three], [place("Medical Center", "HOSPITAL")]) == ("boundary", ("shorter",))


def test_spurious():
    assert only([], [place("Sent", "DOCTOR")]) == ("spurious", ())
    assert [e.kind for e in errors_of([place("Ann", "DOCTOR")], [place(" Doe", "DOCTOR")])] == [
        "missed",
        "spurious",
    ]


def test_one_prediction_over_two_gold_spans_is_merged():
    ann, doe, both = place("Ann", "PATIENT"), place("Doe at", "DOCTOR"), place("Ann Doe at", "DOCTOR")
    assert errors_of([ann, doe], [both]) == [
        EntityError("n1", "boundary", ann, both, ("longer", "other-type", "merged")),
        EntityError("n1", "boundary", doe, both, ("longer",)),
    ]


def test_two_predictions_in_one_gold_span_are_split():
    ann, doe, both = place("Ann", "PATIENT"), place("Doe at", "DOCTOR"), place("Ann Doe at", "DOCTOR")
    assert errors_of([both], [ann, doe]) == [
        EntityError("n1", "boundary", both, ann, ("shorter", "other-type", "split")),
        EntityError("n1", "boundary", both, doe, ("shorter",)),
    ]


def test_spans_that_were_found_right_still_attract_what_touches_them():
    doe, both = place("Doe", "DOCTOR"), place("Ann Doe", "DOCTOR")
    assert only([doe, both], [doe]) == ("boundary", ("shorter", "merged"))
    assert only([doe], [doe, both]) == ("boundary", ("longer", "split"))
    assert only([doe], [doe, doe]) == ("boundary", ("split",))


def test_the_same_place_goes_before_the_largest_overlap():
    gold = [place("Doe", "DOCTOR"), place("Ann Doe", "PATIENT")]
    assert [e.kind for e in errors_of(gold, [place("Doe", "ID"), place("by Ann Doe", "ID")])] == [
        "boundary",
        "wrong",
    ]


def test_the_most_characters_in_common_go_before_the_type_and_the_type_before_the_place():
    def paired(*predicted):
        return [e.predicted for e in errors_of([place("Ann Doe", "DOCTOR")], predicted) if "split" not in e.causes]

    assert paired(place("Ann", "DOCTOR"), place("n Doe", "ID")) == [place("n Doe", "ID")]
    assert paired(place("Ann", "ID"), place("Doe", "DOCTOR")) == [place("Doe", "DOCTOR")]
    assert paired(place("Doe", "DOCTOR"), place("Ann", "DOCTOR")) == [place("Ann", "DOCTOR")]


@pytest.mark.parametrize(
    ("text", "is_abbreviation"), [("QRHMC", True), ("QRHMCX", False), ("Qrh", False), ("Q7", False)]
)
def test_abbreviations_have_at_most_five_letters_all_capitals_and_no_digits(text, is_abbreviation):
    (error,) = find_errors([Document("n1", text, (Span(0, len(text), "ID"),))], {"n1": []}, known_words=())
    assert ("abbreviation" in error.causes) == is_abbreviation


def test_a_document_without_prediction_is_an_error():
    with pytest.raises(MismatchError) as caught:
        find_errors([Document("n1", TEXT)], {}, known_words=())
    assert caught.value.path == "document 1"


# Conservation: the errors are the strict score's misses and false alarms, each once

LABELS = ("DATE", "DOCTOR", "ID")
spans = st.builds(
    lambda start, size, label: Span(start, min(30, start + size), label),
    st.integers(0, 29),
    st.integers(1, 9),
    st.sampled_from(LABELS),
)
span_lists = st.lists(spans, max_size=8)


@given(span_lists, span_lists)
def test_every_miss_and_every_false_alarm_is_in_exactly_one_error(gold, predicted):
    errors = errors_of(gold, predicted)
    gold, predicted = ([trim_span(TEXT, span) for span in spans] for spans in (gold, predicted))
    right = Counter(gold) & Counter(predicted)
    assert Counter(e.missed_gold for e in errors if e.missed_gold) == Counter(gold) - right
    assert Counter(e.false_prediction for e in errors if e.false_prediction) == Counter(predicted) - right


@given(span_lists, span_lists)
def test_the_categories_add_up_to_the_strict_score_by_type(gold, predicted):
    errors = errors_of(gold, predicted)
    scores = score_entities([Document("n1", TEXT, tuple(gold))], {"n1": predicted})
    summary = summarise_errors(errors)
    n, causes = summary["categories"], summary["causes"]["boundary"]
    assert n["missed"] + n["wrong"] + n["boundary"] - causes.get("split", 0) == scores.micro.fn
    assert n["spurious"] + n["wrong"] + n["boundary"] - causes.get("merged", 0) == scores.micro.fp
    for label, counts in scores.by_type.items():
        assert sum(e.missed_gold is not None and e.missed_gold.label == label for e in errors) == counts.fn
        assert sum(e.false_prediction is not None and e.false_prediction.label == label for e in errors) == counts.fp


@given(span_lists, span_lists)
def test_each_category_is_what_its_name_says(gold, predicted):
    def touches(span, others):
        return any(max(span.start, o.start) < min(span.end, o.end) for o in others)

    gold, predicted = ([trim_span(TEXT, span) for span in spans] for spans in (gold, predicted))
    for error in errors_of(gold, predicted):
        right, found, causes = error.gold, error.predicted, set(error.causes)
        assert list(error.causes) == [cause for cause in ERROR_CAUSES if cause in causes]
        if error.kind == "missed":
            assert found is None
            assert not touches(right, predicted)
        elif error.kind == "spurious":
            assert right is None
            assert not touches(found, gold)
            assert not causes
        elif error.kind == "wrong":
            assert right[:2] == found[:2]
            assert right.label != found.label
        else:
            assert touches(right, [found])
            assert ("other-type" in causes) == (right.label != found.label)
            assert len(causes & {"merged", "split"}) <= 1
            assert len(causes & {"longer", "shorter", "shifted"}) == (right[:2] != found[:2])
            assert right[:2] != found[:2] or causes & {"merged", "split"}


@given(span_lists, span_lists, st.randoms(use_true_random=False))
def test_errors_do_not_depend_on_the_order_of_spans(gold, predicted, rng):
    shuffled = errors_of(rng.sample(gold, len(gold)), rng.sample(predicted, len(predicted)))
    assert shuffled == errors_of(gold, predicted)


# Summaries


def test_confusions_count_the_pairs_of_wrong_entities_only():
    gold = [place("Ann Doe", "DOCTOR"), place("Holm", "DOCTOR"), place("QRH", "HOSPITAL"), place("03/14", "DATE")]
    predicted = [place("Ann Doe", "PATIENT"), place("Holm", "PATIENT"), place("QRH", "ID"), place("14", "ID")]
    assert confusions(errors_of(gold, predicted)) == {("DOCTOR", "PATIENT"): 2, ("HOSPITAL", "ID"): 1}


def test_summary_is_plain_data_without_text():
    gold = [place("Ann Doe", "DOCTOR"), place("Holm", "DOCTOR"), place("QRH", "HOSPITAL"), place("Vance", "PATIENT")]
    predicted = [place("Ann", "DOCTOR"), place("Doe", "ID"), place("QRH", "ID"), place("Sent", "ID"), gold[3]]
    summary = json.loads(json.dumps(summarise_errors(errors_of(gold, predicted))))
    assert summary == {
        "categories": {"missed": 1, "wrong": 1, "boundary": 2, "spurious": 1},
        "by_type": {
            "missed": {"DOCTOR": 1},
            "wrong": {"HOSPITAL": 1},
            "boundary": {"DOCTOR": 1, "ID": 1},
            "spurious": {"ID": 1},
        },
        "causes": {
            "missed": {"single-word": 1, "unseen": 1},
            "wrong": {"single-word": 1, "abbreviation": 1, "unseen": 1},
            "boundary": {"shorter": 2, "other-type": 1, "split": 1},
            "spurious": {},
        },
        "confusions": [{"gold": "HOSPITAL", "predicted": "ID", "count": 1}],
    }


def test_summary_of_no_errors_names_every_category():
    assert summarise_errors([])["categories"] == dict.fromkeys(ERROR_KINDS, 0)


# In context


def shown(text, gold, predicted, **options):
    return in_context(Document("n1", text), EntityError("n1", "boundary", gold, predicted), **options)


@pytest.mark.parametrize(
    ("gold", "predicted", "line"),
    [
        (Span(2, 4, "G"), None, "ab[cd|G]efgh"),
        (None, Span(2, 4, "P"), "ab{cd|P}efgh"),
        (Span(2, 4, "G"), Span(2, 4, "P"), "ab[{cd|P}|G]efgh"),
        (Span(2, 6, "G"), Span(2, 4, "P"), "ab[{cd|P}ef|G]gh"),
        (Span(2, 4, "G"), Span(2, 6, "P"), "ab{[cd|G]ef|P}gh"),
        (Span(2, 6, "G"), Span(4, 6, "P"), "ab[cd{ef|P}|G]gh"),
        (Span(4, 6, "G"), Span(2, 6, "P"), "ab{cd[ef|G]|P}gh"),
        (Span(2, 5, "G"), Span(3, 6, "P"), "ab[c{de|G]f|P}gh"),
        (Span(0, 8, "G"), Span(3, 6, "P"), "[abc{def|P}gh|G]"),
    ],
)
def test_marks(gold, predicted, line):
    assert shown("abcdefgh", gold, predicted) == line


def test_context_is_cut_at_the_width_and_stays_on_one_line():
    assert shown("one\ntwo Ann\r\nthree four", Span(8, 11, "G"), None, width=5) == "…⏎two [Ann|G]⏎thr…"
    assert shown("a Ann b", Span(2, 5, "G"), None, width=2) == "a [Ann|G] b"


@given(st.text(min_size=1, max_size=20), st.data())
def test_context_is_always_one_line_and_loses_no_visible_text(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    gold = Span(start, data.draw(st.integers(start + 1, len(text))), "G")
    line = shown(text, gold, None)
    assert len(line.splitlines()) == 1
    assert line.replace("⏎", "") == "".join(
        f"{text[: gold.start]}[{text[gold.start : gold.end]}|G]{text[gold.end :]}".replace("⏎", "").splitlines()
    )


def test_errors_of_a_corpus_come_document_by_document():
    notes = [Document("n2", TEXT, (place("Holm", "DOCTOR"),)), Document("n1", TEXT, (place("Ann", "DOCTOR"),))]
    errors = find_errors(notes, {"n1": [], "n2": []}, known_words=KNOWN)
    assert [e.document_id for e in errors] == ["n2", "n1"]
    assert score_entities(notes, {"n1": [], "n2": []}).micro == Counts(fn=2)

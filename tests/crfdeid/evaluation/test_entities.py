import random
from collections import Counter
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nervaluate import Evaluator
from seqeval.metrics import sequence_labeling, v1
from seqeval.scheme import IOB2

from crfdeid.bio import decode, encode, tag_spans
from crfdeid.documents import Document, Span
from crfdeid.errors import MismatchError, SettingError, SpanError
from crfdeid.evaluation import Counts, count_tags, find_errors, score_entities
from crfdeid.evaluation.entities import count_overlapping_pairs

LENGTH = 24
LABELS = ("DATE", "DOCTOR", "ID")
TEXT = "x" * LENGTH

spans = st.builds(
    lambda start, size, label: Span(start, min(LENGTH, start + size), label),
    st.integers(0, LENGTH - 1),
    st.integers(1, 9),
    st.sampled_from(LABELS),
)
span_lists = st.lists(spans, max_size=8)
flat_span_lists = span_lists.map(
    lambda found: [s for i, s in enumerate(found) if all(s.end <= o.start or o.end <= s.start for o in found[:i])]
)
tag_rows = st.lists(
    st.sampled_from(["O", "O", *(f"{prefix}-{label}" for prefix in "BI" for label in LABELS)]), min_size=1, max_size=12
)
tag_pairs = st.lists(
    tag_rows.flatmap(
        lambda row: st.tuples(
            st.just(row),
            st.lists(st.sampled_from(["O", "B-DATE", "I-DATE", "I-ID"]), min_size=len(row), max_size=len(row))
            | st.just(row),
        )
    ),
    min_size=1,
    max_size=5,
)


def score(gold, predicted, **options):
    return score_entities([Document("n1", TEXT, tuple(gold))], {"n1": predicted}, **options)


# Strict


def test_strict_needs_type_and_both_boundaries():
    gold = [Span(0, 4, "DATE"), Span(5, 9, "DATE"), Span(10, 14, "DATE"), Span(15, 19, "DATE")]
    predicted = [Span(0, 4, "DATE"), Span(5, 9, "ID"), Span(10, 13, "DATE"), Span(14, 19, "DATE")]
    assert score(gold, predicted).by_type == {"DATE": Counts(tp=1, fp=2, fn=3), "ID": Counts(tp=0, fp=1, fn=0)}


def test_a_duplicate_prediction_is_one_hit_and_one_false_alarm():
    span = Span(0, 4, "DATE")
    assert score([span], [span, span]).micro == Counts(tp=1, fp=1, fn=0)
    assert score([span], [span, span], match="relaxed").micro == Counts(tp=1, fp=1, fn=0)
    assert score([span, span], [span]).micro == Counts(tp=1, fp=0, fn=1)


def test_gold_that_no_tokens_can_express_is_missed():
    note = Document("n1", "Seen 3May", (Span(6, 8, "DATE"),))
    assert score_entities([note], {"n1": []}).micro == Counts(tp=0, fp=0, fn=1)


def test_counts_add_up_over_documents():
    notes = [Document("n1", TEXT, (Span(0, 4, "DATE"),)), Document("n2", TEXT, (Span(0, 4, "DATE"),))]
    scores = score_entities(notes, {"n2": [Span(0, 4, "DATE")], "n1": [Span(0, 3, "DATE")]})
    assert scores.micro == Counts(tp=1, fp=1, fn=1)


@given(st.lists(st.tuples(flat_span_lists, flat_span_lists), min_size=1, max_size=4))
def test_strict_agrees_with_nervaluate(pairs):
    notes = [Document(f"n{i}", TEXT, tuple(gold)) for i, (gold, _) in enumerate(pairs)]
    ours = score_entities(notes, {f"n{i}": found for i, (_, found) in enumerate(pairs)})

    def rows(side):  # nervaluate's ends are those of the last character, not behind it
        return [[{"start": s, "end": e - 1, "label": label} for s, e, label in sorted(pair[side])] for pair in pairs]

    theirs = Evaluator(rows(0), rows(1), tags=list(LABELS), loader="dict").evaluate()
    strict = theirs["overall"]["strict"]
    assert ours.micro.tp == strict.correct
    assert ours.micro.tp + ours.micro.fn == strict.possible
    assert ours.micro.tp + ours.micro.fp == strict.actual
    assert (ours.micro.precision, ours.micro.recall) == pytest.approx((strict.precision, strict.recall))


# Relaxed


def test_relaxed_needs_type_and_one_character():
    assert score([Span(0, 4, "DATE")], [Span(3, 9, "DATE")], match="relaxed").micro == Counts(tp=1)
    assert score([Span(0, 4, "DATE")], [Span(4, 9, "DATE")], match="relaxed").micro == Counts(fp=1, fn=1)
    assert score([Span(0, 4, "DATE")], [Span(0, 4, "ID")], match="relaxed").micro == Counts(fp=1, fn=1)


def test_relaxed_uses_no_span_twice():
    long, parts = [Span(0, 9, "DATE")], [Span(0, 4, "DATE"), Span(5, 9, "DATE")]
    assert score(long, parts, match="relaxed").micro == Counts(tp=1, fp=1, fn=0)
    assert score(parts, long, match="relaxed").micro == Counts(tp=1, fp=0, fn=1)


def test_relaxed_gives_up_a_near_partner_for_a_larger_matching():
    gold = [Span(0, 10, "ID"), Span(2, 3, "ID")]
    predicted = [Span(1, 4, "ID"), Span(6, 9, "ID")]
    assert score(gold, predicted, match="relaxed").micro == Counts(tp=2)


def brute_force_matching(gold, predicted):
    """The best over every assignment: gold[0] unmatched, or matched to each overlapping prediction in turn."""
    if not gold:
        return 0
    first, rest = gold[0], gold[1:]
    best = brute_force_matching(rest, predicted)
    for i, other in enumerate(predicted):
        if set(range(first.start, first.end)) & set(range(other.start, other.end)):
            best = max(best, 1 + brute_force_matching(rest, predicted[:i] + predicted[i + 1 :]))
    return best


@given(st.lists(spans, max_size=5), st.lists(spans, max_size=5))
def test_relaxed_matching_is_maximum(gold, predicted):
    assert count_overlapping_pairs(gold, predicted) == brute_force_matching(gold, predicted)


@given(span_lists, span_lists, st.randoms(use_true_random=False))
def test_no_mode_depends_on_the_order_of_spans(gold, predicted, rng):
    for match in ("strict", "relaxed"):
        before = score(gold, predicted, match=match)
        assert before == score(rng.sample(gold, len(gold)), rng.sample(predicted, len(predicted)), match=match)


@given(span_lists, span_lists)
def test_relaxed_finds_at_least_what_strict_finds(gold, predicted):
    strict, relaxed = score(gold, predicted), score(gold, predicted, match="relaxed")
    for label, counts in strict.by_type.items():
        assert relaxed.by_type[label].tp >= counts.tp
        assert relaxed.by_type[label].tp + relaxed.by_type[label].fn == counts.tp + counts.fn


def test_relaxed_takes_many_overlapping_spans_in_its_stride():
    rng = random.Random(1)
    starts = [rng.randrange(100_000) for _ in range(20_000)]
    found = [Span(start, start + rng.randrange(1, 5_000), "ID") for start in starts]
    assert count_overlapping_pairs(found[:10_000], found[10_000:]) > 9_000


# What must fail


def test_a_missing_document_is_an_error_that_names_it():
    notes = [Document("n1", TEXT), Document("n2", TEXT)]
    with pytest.raises(MismatchError) as caught:
        score_entities(notes, {"n1": []})
    assert caught.value.path == "document 2"


def test_an_unknown_document_is_an_error_that_names_it():
    with pytest.raises(MismatchError) as caught:
        score_entities([Document("n1", TEXT)], {"n1": [], "n7": []})
    assert caught.value.path == "prediction 2"


def test_two_documents_of_one_name_are_an_error():
    with pytest.raises(MismatchError) as caught:
        score_entities([Document("n1", TEXT), Document("n1", TEXT)], {"n1": []})
    assert caught.value.path == "document 2"


@pytest.mark.parametrize("span", [Span(3, 3, "ID"), Span(-1, 3, "ID"), Span(20, LENGTH + 1, "ID")])
def test_predicted_offsets_outside_the_text_are_an_error(span):
    with pytest.raises(SpanError) as caught:
        score([], [span])
    assert caught.value.path == "document 1"


def test_an_unknown_mode_is_an_error():
    with pytest.raises(SettingError):
        score([], [], match="partial")


# Tags


def assert_agrees(scores, seqeval):
    for average, ours in (("micro", scores.micro), ("macro", scores.macro)):
        assert (ours.precision, ours.recall, ours.f1) == pytest.approx(seqeval(average=average, zero_division=0)[:3])
    by_type = list(scores.by_type.values())
    each = seqeval(average=None, zero_division=0)
    assert [c.precision for c in by_type] == pytest.approx(list(each[0]))
    assert [c.recall for c in by_type] == pytest.approx(list(each[1]))
    assert [c.f1 for c in by_type] == pytest.approx(list(each[2]))
    assert [c.tp + c.fn for c in by_type] == list(each[3])


@given(tag_pairs)
def test_tags_agree_with_seqeval_strict_where_invalid_tags_are_discarded(pairs):
    gold, predicted = [list(g) for g, _ in pairs], [list(p) for _, p in pairs]
    scores = count_tags(gold, predicted, repair="discard")
    if scores.by_type:
        assert_agrees(scores, partial(v1.precision_recall_fscore_support, gold, predicted, scheme=IOB2))


@given(tag_pairs)
def test_tags_agree_with_seqeval_default_where_invalid_tags_begin_an_entity(pairs):
    gold, predicted = [list(g) for g, _ in pairs], [list(p) for _, p in pairs]
    scores = count_tags(gold, predicted)
    if scores.by_type:
        assert_agrees(scores, partial(sequence_labeling.precision_recall_fscore_support, gold, predicted))


def test_the_repair_policy_decides_what_invalid_tags_score():
    gold, predicted = [["B-DATE", "I-DATE"]], [["I-DATE", "I-DATE"]]
    assert count_tags(gold, predicted, repair="begin").micro == Counts(tp=1)
    assert count_tags(gold, predicted, repair="discard").micro == Counts(fn=1)


def test_tags_take_any_iterable_and_rows_of_any_sequence():
    assert count_tags(iter([("B-ID", "O"), ()]), iter([["B-ID", "O"], []])).micro == Counts(tp=1)


def test_tags_of_different_lengths_are_an_error():
    with pytest.raises(ValueError, match="sentence 1: 2 predicted tags for 1 gold tags"):
        count_tags([["O"], ["O"]], [["O"], ["O", "O"]])
    with pytest.raises(ValueError, match="shorter"):
        count_tags([["O"], ["O"]], [["O"]])


@given(tag_pairs)
def test_tags_and_spans_give_the_same_scores(pairs):
    notes = [Document(f"n{i}", TEXT, tuple(tag_spans(gold))) for i, (gold, _) in enumerate(pairs)]
    found = {f"n{i}": tag_spans(tags) for i, (_, tags) in enumerate(pairs)}
    assert count_tags([g for g, _ in pairs], [p for _, p in pairs]) == score_entities(notes, found)


def test_random_pairs_do_exercise_matching():
    """The strategies above would prove nothing if spans never met."""
    rng = random.Random(0)
    seen = Counter()
    for _ in range(200):
        found = [Span(s, s + rng.randrange(1, 9), "ID") for s in (rng.randrange(LENGTH) for _ in range(6))]
        seen[count_overlapping_pairs(found[:3], found[3:])] += 1
    assert min(seen[n] for n in (1, 2, 3)) > 5


@pytest.mark.parametrize("match", ["strict", "relaxed"])
def test_white_space_and_invisible_marks_at_the_ends_of_spans_do_not_count_on_either_side(match):
    note = Document("1", "by Quill \u200b\n and Roe", (Span(3, 11, "DOCTOR"), Span(16, 19, "DOCTOR")))
    found = {"1": [Span(3, 8, "DOCTOR"), Span(15, 19, "DOCTOR")]}
    assert score_entities([note], found, match=match).micro == Counts(tp=2)
    assert not find_errors([note], found, known_words=())


def test_gold_that_fits_no_tokens_counts_as_missed_and_never_vanishes():
    gold = (Span(2, 3, "ID"), Span(5, 8, "DOCTOR"), Span(11, 19, "DOCTOR"))  # blank, in a word, in two sentences
    note = Document("1", "by McQuill Jane\nRoe here", gold)
    found = [span for item in encode(note).sentences for span in decode(item.sentence, item.tags)]
    assert len(found) == 3
    assert score_entities([note], {"1": found}).micro.fn == len(gold)
    assert score_entities([note], {"1": list(gold)}).micro == Counts(tp=3)

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.documents import Document, Span, tokens_of
from crfdeid.errors import MismatchError
from crfdeid.evaluation import Counts, count_token_pairs, score_tokens, token_scores
from crfdeid.evaluation.tokens import missed_tokens, token_types
from features.tokenizer import tokenize
from features.tokens import Sentence

TEXT = "Seen by Ann Doe on 03/14. Call 555-0100\nor Holm."
LABELS = ("DATE", "DOCTOR", "ID")
spans = st.builds(
    lambda start, size, label: Span(start, min(len(TEXT), start + size), label),
    st.integers(0, len(TEXT) - 1),
    st.integers(1, 15),
    st.sampled_from(LABELS),
)
span_lists = st.lists(spans, max_size=6)


def place(part, label):
    return Span(TEXT.index(part), TEXT.index(part) + len(part), label)


def score(gold, predicted, **options):
    return score_tokens([Document("n1", TEXT, tuple(gold))], {"n1": predicted}, **options)


def test_each_token_counts_by_type():
    gold = [place("Ann Doe", "DOCTOR"), place("03/14", "DATE")]
    predicted = [place("Doe", "DOCTOR"), place("Seen", "DOCTOR"), place("/14", "ID")]
    assert score(gold, predicted).by_type == {
        "DATE": Counts(tp=0, fp=0, fn=3),
        "DOCTOR": Counts(tp=1, fp=1, fn=1),
        "ID": Counts(tp=0, fp=2, fn=0),
    }
    assert score(gold, predicted, binary=True).by_type == {"PHI": Counts(tp=3, fp=1, fn=2)}


def test_part_of_a_token_is_enough():
    assert score([place("Ann", "DOCTOR")], [place("nn", "DOCTOR")]).micro == Counts(tp=1)


def test_where_spans_overlap_the_longest_counts_then_the_first():
    nested = [place("Ann Doe", "DOCTOR"), place("Doe", "ID")]
    assert score(nested, [place("Ann Doe", "DOCTOR")]).by_type == {"DOCTOR": Counts(tp=2)}
    crossing = [place("Ann Doe", "DOCTOR"), place("Doe on ", "ID")]
    assert score(crossing, [place("on", "ID")]).by_type == {"DOCTOR": Counts(fn=2), "ID": Counts(tp=1)}


def test_gold_on_white_space_alone_has_no_token():
    assert score([Span(4, 5, "ID")], []).by_type == {}


def test_tokens_are_the_given_ones_where_the_data_came_with_tokens():
    sentence = Sentence.from_words(["03/14", "Doe"])
    note = Document("n1", "03/14 Doe", (Span(0, 5, "DATE"),), pretokenized=(sentence,))
    assert score_tokens([note], {"n1": []}).micro == Counts(fn=1)


def test_one_count_serves_both_scores():
    note = Document("n1", TEXT, (place("Ann Doe", "DOCTOR"),))
    predicted = {"n1": [place("Ann", "ID")]}
    pairs = count_token_pairs([note], predicted)
    assert pairs[("DOCTOR", "ID")] == pairs[("DOCTOR", "")] == 1
    assert sum(pairs.values()) == len(tokenize(TEXT))
    assert token_scores(pairs) == score_tokens([note], predicted)
    assert token_scores(pairs, binary=True) == score_tokens([note], predicted, binary=True)


def test_a_missing_document_is_an_error():
    with pytest.raises(MismatchError) as caught:
        score_tokens([Document("n1", TEXT)], {})
    assert caught.value.path == "document 1"


def type_of_each_token(found):
    """Character by character: the slow, obvious way."""
    ranked = sorted(found, key=lambda s: (-(s.end - s.start), s.start, s.end, s.label))
    return [
        next((s.label for s in ranked if any(s.start <= c < s.end for c in range(token.start, token.end))), "")
        for token in tokenize(TEXT)
    ]


@given(span_lists, span_lists, st.randoms(use_true_random=False))
def test_agrees_with_a_character_by_character_count(gold, predicted, rng):
    both = list(zip(type_of_each_token(gold), type_of_each_token(predicted), strict=True))
    note = Document("n1", TEXT, tuple(gold))
    assert count_token_pairs([note], {"n1": rng.sample(predicted, len(predicted))}) == Counter(both)
    micro = score(gold, predicted).micro
    assert micro.tp == sum(g == p != "" for g, p in both)
    assert micro.fn == sum(g not in ("", p) for g, p in both)
    assert micro.fp == sum(p not in ("", g) for g, p in both)
    binary = score(gold, predicted, binary=True).micro
    assert (binary.tp, binary.fn) == (sum(g != "" != p for g, p in both), sum(g != "" == p for g, p in both))


@given(span_lists, span_lists)
def test_missed_tokens_are_the_false_negatives_without_types_and_know_their_neighbours(gold, predicted):
    tokens = tokens_of(Document("n1", TEXT))
    right, found = (token_types(tokens, some) for some in (gold, predicted))
    missed = missed_tokens(right, found)
    assert len(missed) == score(gold, predicted, binary=True).micro.fn
    for place, adjacent_found in missed:
        near = [i for i in (place - 1, place + 1) if 0 <= i < len(tokens)]
        assert adjacent_found == any(right[i] and found[i] for i in near)

"""Spans to tags and back, against a brute-force reading and against seqeval."""

import itertools
from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities
from seqeval.scheme import IOB2, Entities

from crfdeid.bio import (
    decode,
    encode,
    may_begin,
    may_follow,
    phi_probabilities,
    tag_spans,
    valid_first,
    valid_transitions,
)
from crfdeid.documents import PHI, Document, Span
from features.tokenizer import bare_edges
from features.tokens import Sentence

TAGS = ("O", "B-X", "I-X", "B-Y", "I-Y", "B-long.type_name", "I-long.type_name")
tag_sequences = st.lists(st.sampled_from(TAGS), max_size=12)

# Words that the tokeniser cuts up, and all that stands between words.
_WORDS = st.sampled_from(["Doe", "25yo", "3/14/72", "Dr.", "O'Neil", "e\u0301", "👩\u200d⚕️", "naïve"])
_GAPS = st.sampled_from([" ", "  ", "\n", "\r\n\r\n", "\t", "\u00a0", ". ", ""])
texts = st.lists(st.tuples(_WORDS, _GAPS), max_size=8).map(lambda pairs: "".join(w + g for w, g in pairs))


@st.composite
def documents_of(draw, text):
    spans = []
    for _ in range(draw(st.integers(0, 5)) if text else 0):
        start = draw(st.integers(0, len(text) - 1))
        spans.append(Span(start, draw(st.integers(start + 1, len(text))), draw(st.sampled_from("XY"))))
    return Document("1", text, tuple(spans))


def documents():
    return texts.flatmap(documents_of)


def decoded(document, repair="begin"):
    return [span for s in encode(document).sentences for span in decode(s.sentence, s.tags, repair)]


def bare(span, document):
    """The span without the white space and invisible marks at its ends."""
    return Span(*bare_edges(document.text, span.start, span.end), span.label)


def is_blank(span, document):
    return not document.text[span.start : span.end].strip(" \n\r\t\u00a0\u200b\u200d\ufe0f")


def fits_tokens(span, document):
    """By definition: the span is exactly a run of one sentence's tokens, but for what may be at its ends."""
    return any(
        bare(Span(first.start, last.end, span.label), document) == bare(span, document)
        for sentence in document.sentences()
        for i, first in enumerate(sentence.tokens)
        for last in sentence.tokens[i:]
    )


def touched(document):
    """By definition: for each token, the spans with one of its characters, blank ends of the span aside."""
    spans = [bare(span, document) for span in document.spans if not is_blank(span, document)]
    tokens = [token for sentence in document.sentences() for token in sentence.tokens]
    return [{s for s in spans if s.start < token.end and token.start < s.end} for token in tokens]


@settings(deadline=None)
@given(documents())
@example(Document("1", "Dr. Doe Clinic", (Span(0, 7, "X"), Span(4, 14, "Y"), Span(4, 7, "X"))))
def test_every_aligned_span_is_decoded_exactly_and_no_span_is_lost(document):
    encoded = encode(document)
    aligned = Counter(document.spans) - Counter(encoded.unaligned)
    assert aligned.total() + len(encoded.unaligned) == len(document.spans)
    found = Counter(bare(span, document) for span in decoded(document))
    assert not Counter(bare(span, document) for span in aligned.elements()) - found
    assert decoded(document, "discard") == decoded(document), "what is encoded is valid IOB2"


@settings(deadline=None)
@given(documents())
@example(Document("1", "Jo\nDoe", (Span(0, 6, "X"),)))
@example(Document("1", "McDoe ", (Span(2, 6, "X"),)))
def test_a_token_is_taught_as_phi_exactly_if_a_span_touches_it(document):
    tags = [tag for item in encode(document).sentences for tag in item.tags]
    spans = touched(document)
    assert [tag != "O" for tag in tags] == list(map(bool, spans))
    assert all(tag[2:] in {span.label for span in found} for tag, found in zip(tags, spans, strict=True) if found)


@settings(deadline=None)
@given(documents())
@example(Document("1", "Dr. Doe Clinic", (Span(0, 7, "X"), Span(4, 14, "Y"))))
def test_nothing_is_learned_from_a_sentence_only_if_the_tokens_of_two_spans_cross_there(document):
    spans, begin = touched(document), 0
    for item in encode(document).sentences:
        own = spans[begin : begin + len(item.tags)]
        begin += len(item.tags)
        places = {span: {i for i, found in enumerate(own) if span in found} for span in {s for f in own for s in f}}
        crossing = any(a & b and a - b and b - a for a in places.values() for b in places.values())
        assert crossing or PHI in item.annotated
        assert PHI in item.annotated or item.contradictory == {PHI}


def test_of_two_spans_that_cross_neither_is_learned():
    note = Document("1", "Seen by Jane Quill Clinic.\nBy Jane Quill", (Span(8, 18, "DOCTOR"), Span(13, 25, "HOSPITAL")))
    first, second = encode(note).sentences
    assert (PHI in first.annotated, PHI in second.annotated) == (False, True)
    assert first.tags == ("O", "O", "B-DOCTOR", "B-HOSPITAL", "I-HOSPITAL", "O")
    assert first.layer(PHI) == first.tags


@pytest.mark.parametrize("stretch", [(4, 9), (3, 9), (4, 10), (3, 10), (2, 9), (2, 11)])
def test_white_space_and_invisible_marks_at_the_ends_of_a_span_do_not_matter(stretch):
    document = Document("1", "by \u200bQuill\u200b\nis here.", (Span(*stretch, "DOCTOR"),))
    assert encode(document).unaligned == []
    assert decoded(document) == [Span(4, 10, "DOCTOR")]


@pytest.mark.parametrize("text", ["Quill\u200bMarsh", "Quill Marsh"])
def test_a_blank_span_is_unaligned_and_marks_nothing(text):
    document = Document("1", text, (Span(5, 6, "DOCTOR"),))
    assert encode(document).unaligned == [Span(5, 6, "DOCTOR")]
    assert decoded(document) == []


@settings(deadline=None)
@given(documents())
def test_a_span_is_unaligned_only_for_a_reason(document):
    for span in encode(document).unaligned:
        others = list(document.spans)
        others.remove(span)
        crossed = [
            o for o in map(partial(bare, document=document), others) if o.start < span.end and span.start < o.end
        ]
        assert crossed or not fits_tokens(span, document)


@settings(deadline=None)
@given(documents())
def test_every_token_has_one_tag(document):
    encoded = encode(document)
    assert [s.sentence for s in encoded.sentences] == list(document.sentences())
    assert all(len(s.tags) == len(s.sentence.tokens) for s in encoded.sentences)


@settings(deadline=None)
@given(documents(), st.data())
def test_each_layer_is_encoded_as_if_it_were_the_only_one(document, data):
    others = data.draw(st.dictionaries(st.sampled_from(["concept", "relation"]), documents_of(document.text)))
    layers = {name: other.spans for name, other in others.items()}
    encoded, only = encode(replace(document, layers=layers)), encode(document)
    assert [(s.sentence, s.tags) for s in encoded.sentences] == [(s.sentence, s.tags) for s in only.sentences]
    assert [PHI in s.annotated for s in encoded.sentences] == [PHI in s.annotated for s in only.sentences]
    assert encoded.unaligned == only.unaligned
    assert set(encoded.unaligned_layers) == set(layers)
    for name, other in others.items():
        alone = encode(other)
        assert [s.layer(name) for s in encoded.sentences] == [s.tags for s in alone.sentences]
        assert [name in s.annotated for s in encoded.sentences] == [PHI in s.annotated for s in alone.sentences]
        assert list(encoded.unaligned_layers[name]) == alone.unaligned


@pytest.mark.parametrize(
    ("text", "span", "tags"),
    [
        ("Dr. McDoe", Span(4, 7, "DOCTOR"), [("O", "O", "B-DOCTOR")]),
        ("Dr. McDoe", Span(6, 9, "DOCTOR"), [("O", "O", "B-DOCTOR")]),
        ("Jo\nDoe came", Span(0, 6, "PATIENT"), [("B-PATIENT",), ("B-PATIENT", "O")]),
    ],
    ids=["ends in a token", "starts in a token", "crosses a sentence's end"],
)
def test_what_does_not_fit_is_tagged_wider_or_in_parts_and_returned(text, span, tags):
    encoded = encode(Document("1", text, (span,)))
    assert encoded.unaligned == [span]
    assert [item.tags for item in encoded.sentences] == tags


def brute_force(tags, repair):
    """Every stretch that is an entity by definition: it begins, goes on, and cannot be longer."""

    def begins(i):
        if tags[i][0] == "B":
            return True
        return repair == "begin" and tags[i][0] == "I" and (i == 0 or tags[i - 1][2:] != tags[i][2:])

    return [
        Span(start, end, tags[start][2:])
        for start in range(len(tags))
        for end in range(start + 1, len(tags) + 1)
        if begins(start)
        and all(tag == f"I-{tags[start][2:]}" for tag in tags[start + 1 : end])
        and (end == len(tags) or tags[end] != f"I-{tags[start][2:]}")
    ]


@pytest.mark.parametrize("repair", ["begin", "discard"])
@settings(deadline=None)
@given(tags=tag_sequences)
@example(tags=["I-X", "B-X", "I-Y", "I-Y", "O", "I-X", "I-X", "B-X"])
def test_tag_spans_reads_what_the_definition_says(repair, tags):
    assert tag_spans(tags, repair) == brute_force(tags, repair)


@settings(deadline=None)
@given(tag_sequences)
def test_begin_is_the_reading_of_conlleval(tags):
    assert [(s.label, s.start, s.end - 1) for s in tag_spans(tags, "begin")] == get_entities(tags)


@settings(deadline=None)
@given(tag_sequences)
def test_discard_is_strict_iob2(tags):
    (expected,) = Entities([tags], IOB2).entities
    assert [(s.start, s.end, s.label) for s in tag_spans(tags, "discard")] == [
        (e.start, e.end, e.tag) for e in expected
    ]


@settings(deadline=None)
@given(tag_sequences)
def test_no_tagged_token_is_lost_by_begin(tags):
    inside = {i for s in tag_spans(tags, "begin") for i in range(s.start, s.end)}
    assert inside == {i for i, tag in enumerate(tags) if tag != "O"}


def test_decode_gives_offsets_in_the_document():
    sentence = Sentence.from_words(["Dr.", "Jo", "Doe"])
    assert decode(sentence, ["O", "B-DOCTOR", "I-DOCTOR"]) == [Span(4, 10, "DOCTOR")]
    assert decode(sentence, ["O", "I-DOCTOR", "O"], "begin") == [Span(4, 6, "DOCTOR")]
    assert decode(sentence, ["O", "I-DOCTOR", "O"], "discard") == []


@pytest.mark.parametrize("tags", [[], ["O"], ["O", "O", "O"]])
def test_decode_wants_one_tag_a_token(tags):
    with pytest.raises(ValueError, match=f"{len(tags)} tags for 2 tokens"):
        decode(Sentence.from_words(["Dr.", "Doe"]), tags)


def layouts(length, start=0):
    """Every way to put spans of two types on some tokens."""
    if start >= length:
        yield ()
        return
    yield from layouts(length, start + 1)
    for end, label in itertools.product(range(start + 1, length + 1), "XY"):
        yield from ((Span(start, end, label), *rest) for rest in layouts(length, end))


def test_the_rule_allows_what_some_spans_encode_to_and_nothing_else():
    tags = ("B-X", "B-Y", "I-X", "I-Y", "O")
    encoded = set()
    for spans in layouts(4):
        places = tuple(Span(2 * start, 2 * end - 1, label) for start, end, label in spans)
        (sentence,) = encode(Document("1", "a b c d", places)).sentences
        encoded.add(sentence.tags)
    first, after = valid_first(tags), valid_transitions(tags)
    allowed = {
        row
        for row in itertools.product(tags, repeat=4)
        if first[tags.index(row[0])] and all(after[tags.index(a), tags.index(b)] for a, b in itertools.pairwise(row))
    }
    assert allowed == encoded
    assert allowed == {
        row
        for row in itertools.product(tags, repeat=4)
        if may_begin(row[0]) and all(may_follow(b, a) for a, b in itertools.pairwise(row))
    }


def test_without_tags_the_rule_is_an_empty_matrix():
    assert valid_transitions([]).shape == (0, 0)
    assert valid_first([]).shape == (0,)


def test_small_probabilities_keep_their_digits() -> None:
    table = np.array([[1 - 3e-20, 1e-20, 2e-20], [0.5, 0.25, 0.25]])
    assert phi_probabilities(table, ("O", "B-ID", "I-ID")).tolist() == pytest.approx([3e-20, 0.5], rel=1e-9)

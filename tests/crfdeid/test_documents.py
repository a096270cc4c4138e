"""Documents and spans: what they hold, and what they refuse."""

import dataclasses
import itertools
import json
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crfdeid.documents import Document, LabelledSentence, Span, in_characters, merge, positions_in, tokens_of
from crfdeid.errors import DataError, MismatchError, SpanError, UsageError
from features.sentences import split_sentences
from features.tokenizer import Token
from features.tokens import Sentence


def test_spans_are_kept_in_the_order_of_the_text():
    spans = [Span(4, 7, "DOCTOR"), Span(0, 7, "DOCTOR"), Span(0, 3, "TITLE"), Span(4, 7, "DOCTOR")]
    document = Document("1", "Dr. Doe", tuple(spans))
    assert document.spans == tuple(sorted(spans))
    assert document == Document("1", "Dr. Doe", tuple(reversed(spans)))


@pytest.mark.parametrize(("start", "end"), [(0, 0), (3, 2), (-1, 2), (5, 8), (7, 8), (9, 12)])
def test_empty_spans_and_spans_outside_the_text_are_refused(start, end):
    with pytest.raises(SpanError, match=r"^offset") as caught:
        Document("note7", "Dr. Doe", (Span(start, end, "DOCTOR"),))
    assert caught.value.offset == start
    assert "Doe" not in str(caught.value)


@settings(deadline=None)
@given(text=st.text(max_size=20), start=st.integers(-3, 25), end=st.integers(-3, 25))
def test_every_span_that_is_kept_covers_text(text, start, end):
    fits = 0 <= start < end <= len(text)
    try:
        document = Document("1", text, (Span(start, end, "ID"),))
    except DataError:
        assert not fits
    else:
        assert fits
        assert len(document.text[start:end]) == end - start


TEXT = "Dr. Doe: aspirin"
NAMES = st.sampled_from(["concept", "relation", "übriges"])
SPANS = st.tuples(st.integers(0, 15), st.integers(1, 16), st.sampled_from("XY")).filter(lambda s: s[0] < s[1])
LAYERS = st.dictionaries(NAMES, st.lists(SPANS.map(lambda s: Span(*s)), max_size=4))


@given(layers=LAYERS)
def test_further_layers_are_kept_sorted_beside_phi_and_change_nothing_of_it(layers):
    given_layers = {name: tuple(spans) for name, spans in layers.items()}
    document = Document("1", TEXT, (Span(4, 7, "DOCTOR"),), layers=given_layers)
    assert dict(document.layers) == {name: tuple(sorted(spans)) for name, spans in layers.items()}
    assert document.spans == document.layer("phi") == (Span(4, 7, "DOCTOR"),)
    assert all(document.layer(name) == document.layers[name] for name in layers)
    backwards = {name: spans[::-1] for name, spans in reversed(given_layers.items())}
    same = Document("1", TEXT, (Span(4, 7, "DOCTOR"),), layers=backwards)
    assert document == same
    assert hash(document) == hash(same)
    assert (document == Document("1", TEXT, (Span(4, 7, "DOCTOR"),))) == (not layers)
    assert pickle.loads(pickle.dumps(document)) == document
    read = json.loads(json.dumps(dict(document.layers)))
    assert {name: tuple(Span(*span) for span in spans) for name, spans in read.items()} == document.layers


def test_a_document_is_the_same_wherever_it_was_read_and_messages_name_the_place():
    here, there = (Document("note7", TEXT, source=place) for place in ("a.jsonl, line 1", "b.jsonl, line 2"))
    assert here == there
    assert hash(here) == hash(there)
    with pytest.raises(MismatchError, match=r"^a\.jsonl, line 1: .*'concept'"):
        here.layer("concept")


def test_layers_cannot_be_changed_from_inside_or_outside():
    given_layers = {"concept": [Span(9, 16, "DRUG")]}
    document = Document("1", TEXT, layers=given_layers)
    given_layers["concept"].append(Span(0, 3, "TITLE"))
    given_layers["more"] = []
    assert document.layers == {"concept": (Span(9, 16, "DRUG"),)}
    with pytest.raises(TypeError):
        document.layers["concept"] = ()
    assert repr(document.layers) == "Layers({'concept': (Span(start=9, end=16, label='DRUG'),)})"


@pytest.mark.parametrize(("start", "end"), [(0, 0), (3, 2), (-1, 2), (9, 17)])
def test_spans_of_further_layers_are_checked_as_those_of_phi(start, end):
    with pytest.raises(SpanError, match=r"^offset"):
        Document("note7", TEXT, layers={"concept": (Span(start, end, "DRUG"),)})


def test_a_layer_that_is_not_there_is_not_an_empty_one():
    document = Document("note7", TEXT, layers={"concept": ()})
    assert document.layer("concept") == ()
    with pytest.raises(MismatchError, match=r"'relation': there are phi, concept"):
        document.layer("relation")
    sentence = LabelledSentence(Sentence.from_words(["Dr"]), ("O",), "note7")
    with pytest.raises(MismatchError, match=r"'concept': there are phi"):
        sentence.layer("concept")


def test_the_phi_layer_has_one_place():
    for make in (
        lambda: Document("note7", TEXT, layers={"phi": ()}),
        lambda: LabelledSentence(Sentence.from_words(["Dr"]), ("O",), "note7", {"phi": ("O",)}),
    ):
        with pytest.raises(MismatchError, match="'phi'"):
            make()


def test_a_sentence_has_one_tag_per_token_in_each_further_layer():
    sentence = Sentence.from_words(["Dr", "Doe"])
    labelled = LabelledSentence(sentence, ("O", "B-DOCTOR"), "note7", {"concept": ("O", "O")})
    assert (labelled.layer("phi"), labelled.layer("concept")) == (("O", "B-DOCTOR"), ("O", "O"))
    assert hash(labelled) == hash(LabelledSentence(sentence, ("O", "B-DOCTOR"), "note7", {"concept": ("O", "O")}))
    assert labelled != LabelledSentence(sentence, ("O", "B-DOCTOR"), "note7")
    with pytest.raises(MismatchError, match=r"1 tags of the layer 'concept' for 2 tokens"):
        LabelledSentence(sentence, ("O", "B-DOCTOR"), "note7", {"concept": ("O",)})


def test_documents_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Document("1", "x").text = "y"


def test_sentences_are_those_given_or_those_found():
    text = "Seen by Dr. Doe. Stable.\r\n\r\nPlan: rest"
    assert Document("1", text).sentences() == tuple(split_sentences(text))
    pretokenized = (Sentence.from_words(["Dr.", "Doe"]),)
    assert Document("1", "Dr. Doe", pretokenized=pretokenized).sentences() == pretokenized
    assert Document("1", "Dr. Doe", pretokenized=()).sentences() == ()


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ({}, "broken"),
        ({"path": "a.txt"}, "a.txt: broken"),
        ({"path": "a.txt", "line": 3}, "a.txt, line 3: broken"),
        ({"line": 3, "offset": 0}, "line 3, offset 0: broken"),
        ({"offset": 5}, "offset 5: broken"),
    ],
)
def test_an_error_says_where(place, message):
    error = DataError("broken", **place)
    assert str(error) == message
    assert (error.problem, error.path, error.line, error.offset) == (
        "broken",
        *(place.get(name) for name in ("path", "line", "offset")),
    )
    assert isinstance(error, ValueError)
    assert issubclass(UsageError, ValueError)


ABC_SPANS = st.lists(
    st.builds(lambda a, n, label: Span(a, a + n, label), st.integers(0, 20), st.integers(1, 9), st.sampled_from("ABC")),
    max_size=8,
)


@given(ABC_SPANS)
def test_merged_spans_cover_the_same_characters_and_share_none(spans: list[Span]) -> None:
    result = merge(spans)
    covered = [i for span in result for i in range(span.start, span.end)]
    assert sorted(set(covered)) == covered == sorted({i for span in spans for i in range(span.start, span.end)})
    for span in result:
        inside = [other for other in spans if span.start <= other.start < span.end]
        longest = max(other.end - other.start for other in inside)
        assert span.label in {other.label for other in inside if other.end - other.start == longest}
    assert merge(result) == result
    # Two spans that only touch stay apart: each boundary between merged spans is one that no span crosses.
    assert all(not (other.start < span.start < other.end) for span in result for other in spans)


@given(ABC_SPANS, st.integers(0, 3))
def test_any_rule_decides_what_belongs_together(spans: list[Span], gap: int) -> None:
    """With the rule "at most so many characters between": no two that are left are so near, and no gap is wider."""
    result = merge(spans, joins=lambda whole, span: span.start - whole.end <= gap)
    assert all(after.start - before.end > gap for before, after in itertools.pairwise(result))
    marked = {i for span in spans for i in range(span.start, span.end)}
    for start, end, _ in result:
        assert {start, end - 1} <= marked
        holes = "".join("x" if i in marked else " " for i in range(start, end)).split("x")
        assert max(map(len, holes)) <= gap


def test_the_rule_sees_all_that_was_merged_and_the_label_all_parts() -> None:
    spans = [Span(0, 9, "ID"), Span(2, 4, "DATE"), Span(8, 12, "ID"), Span(20, 21, "DATE")]
    seen: list[tuple[Span, Span]] = []

    def joins(whole: Span, span: Span) -> bool:
        seen.append((whole, span))
        return span.start < whole.end

    merged = merge(reversed(spans), joins=joins, label=lambda parts: "+".join(part.label for part in parts))
    assert merged == [Span(0, 12, "ID+DATE+ID"), Span(20, 21, "DATE")]
    assert seen == [(Span(0, 9, "ID"), spans[1]), (Span(0, 9, "ID"), spans[2]), (Span(0, 12, "ID"), spans[3])]


@given(st.text(alphabet="ab 1.\n", max_size=30), st.data())
def test_a_span_holds_the_tokens_that_it_shares_a_character_with(text: str, data: st.DataObject) -> None:
    tokens = tokens_of(Document("1", text))
    start = data.draw(st.integers(0, len(text)))
    span = Span(start, data.draw(st.integers(start + 1, len(text) + 1)), "X")
    shared = [i for i, token in enumerate(tokens) if set(range(*span[:2])) & set(range(token.start, token.end))]
    assert list(positions_in(tokens, span)) == shared


def test_positions_become_characters() -> None:
    tokens = [Token("Dr", 4, 6), Token("Ann", 7, 10), Token("Doe", 12, 15)]
    assert in_characters(tokens, [Span(0, 1, "A"), Span(1, 3, "B")]) == [Span(4, 6, "A"), Span(7, 15, "B")]

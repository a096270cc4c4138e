"""Copies of few notes with other values: what they change, and what they keep."""

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.augmentation import augment_corpus, with_other_values
from crfdeid.corpora.splits import Split
from crfdeid.documents import Document, Span
from crfdeid.ensembles.hybrid import HybridSettings, HybridTagger
from crfdeid.evaluation import score_entities
from crfdeid.evaluation.evaluate import predict_spans

TOWNS = ["Soria", "Cuenca", "Vigo", "Lugo", "Toledo", "Murcia", "Burgos", "Gijón", "Elche", "Jaén"]
STREETS = ["Calle Quill 4", "Avda. de Tawn, 12", "Plaza Quillón 3", "Calle del Tawn 7"]


def address(number: int, *, separator: str) -> Document:
    """A note with a street, a postal code and a town."""
    draw = random.Random(number)
    values = [draw.choice(STREETS), f"{draw.randrange(10000, 50000)}", draw.choice(TOWNS)]
    text, spans = "La paciente vive en ", []
    for value, label in zip(values, ("STREET", "ZIP", "CITY"), strict=True):
        spans.append(Span(len(text), len(text) + len(value), label))
        text += value + separator
    return Document(str(number), text + "y acude por dolor de espalda.", tuple(spans))


def values(document: Document) -> list[tuple[str, str]]:
    return [(document.text[span.start : span.end], span.label) for span in document.spans]


@given(number=st.integers(0, 1000), separator=st.sampled_from([" ", ", ", ". ", " - ", " en la localidad de "]))
def test_a_copy_keeps_types_order_and_all_text_but_values_and_marks_between_them(number: int, separator: str) -> None:
    note = address(number, separator=separator)
    copy = with_other_values(note, number % 3)
    assert copy is not None
    assert [label for _, label in values(copy)] == [label for _, label in values(note)]
    assert copy.text[: copy.spans[0].start] == note.text[: note.spans[0].start]
    assert copy.text[copy.spans[-1].end :] == note.text[note.spans[-1].end :]
    between = [copy.text[a.end : b.start] for a, b in pairwise(copy.spans)]
    assert all(gap and (gap == separator or not any(c.isalnum() for c in gap)) for gap in between)
    assert all(new != old for (new, _), (old, _) in zip(values(copy), values(note), strict=True))


def test_a_value_without_surrogates_stays_with_its_type() -> None:
    note = Document("1", "La paciente vive con su gato y trabaja de quillera.", (Span(42, 50, "UNHEARD"),))
    copy = with_other_values(note, 0)
    assert copy is not None
    assert values(copy) == [("quillera", "UNHEARD")]


@pytest.mark.parametrize(
    "note",
    [
        Document("1", "Seen by Dr. Quill at the clinic", (Span(8, 17, "DOCTOR"), Span(12, 17, "PATIENT"))),
        Document("1", "Quill Tawn", (Span(0, 5, "PATIENT"),)),
    ],
    ids=["overlapping", "no language"],
)
def test_a_note_that_cannot_be_copied_has_no_copy(note: Document) -> None:
    assert with_other_values(note, 0) is None


@pytest.mark.parametrize(("count", "copies"), [(10, 30), (60, 120), (100, 100), (101, 0)])
def test_few_notes_have_many_copies(count: int, copies: int) -> None:
    train = Split.of(address(number, separator=", ") for number in range(count))
    assert len(augment_corpus(train, "values").documents) == count + copies


def test_a_model_that_learned_from_copies_ends_addresses_without_their_marks() -> None:
    train = Split.of(address(number, separator=", ") for number in range(8))
    test = Split.of(address(number, separator=" ") for number in range(100, 140))

    def f1(how: str) -> float:
        tagger = HybridTagger(HybridSettings(options={"max_iterations": 40}))
        tagger.fit(augment_corpus(train, how).sentences, [])
        return score_entities(test.documents, predict_spans(tagger, test)).micro.f1

    assert f1("values") > f1("none")

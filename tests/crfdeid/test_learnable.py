"""Every kind of model leaves contradictory sentences out of training, and learns values with a space at their edge."""

import random
from dataclasses import replace

import numpy as np
import pytest

from crfdeid.augmentation import ALL_COPIES, augment_corpus
from crfdeid.bio import encode
from crfdeid.corpora.splits import Split
from crfdeid.documents import DOUBT, Document, Span
from crfdeid.errors import EmptyInputError
from crfdeid.evaluation import score_tokens
from crfdeid.evaluation.evaluate import predict_spans
from crfdeid.registry import create

SMALL = {"crf": {"max_iterations": 10}, "elman": {"epochs": 1, "hidden": 4}, "hybrid": {"max_iterations": 10}}
CROSSING = Document("2", "On 3/14/2031 Zann came.", (Span(3, 12, "DATE"), Span(8, 17, "PATIENT")))


def notes(count, *, edge):
    """Invented notes, each with a doctor and a date, some of which have the space after them in their span."""
    draw = random.Random(0)
    for number in range(count):
        name = f"{draw.choice(('Marta', 'Otis', 'Orla', 'Abe'))} {draw.choice(('Quill', 'Tawn', 'Marsh', 'Zann'))}"
        date = f"{draw.randint(1, 12)}/{draw.randint(1, 28)}/2031"
        text, start = f"Seen by Dr. {name} on {date} for cough.", len("Seen by Dr. ")
        end, on = start + len(name), start + len(f"{name} on ")
        spans = (Span(start, end + (draw.random() < edge), "DOCTOR"), Span(on, on + len(date), "DATE"))
        yield Document(str(number), text, spans)


def learned(name, documents):
    tagger = create(name, overrides=SMALL.get(name))
    tagger.fit([item for note in documents for item in encode(note).sentences], [])
    return tagger


@pytest.mark.parametrize("name", ["crf", "rules", "hybrid", "elman"])
def test_no_model_learns_from_a_sentence_in_which_spans_cross(name, quickly_compiled):
    clean = list(notes(6, edge=0))
    with_crossing, without = learned(name, [*clean, CROSSING]), learned(name, clean)
    assert with_crossing.tags == without.tags
    sentences = [item.sentence for item in encode(CROSSING).sentences]
    for one, other in zip(with_crossing.marginals(sentences), without.marginals(sentences), strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(EmptyInputError):
        learned(name, [CROSSING])


@pytest.mark.parametrize("edge", [0.1, 1.0])
def test_a_model_of_spans_with_a_space_at_their_edge_is_that_of_clean_spans(edge):
    dev = Split.of(notes(20, edge=0))
    missed = []
    for share in (0, edge):
        train = augment_corpus(Split.of(notes(30, edge=share)), ALL_COPIES)
        tagger = create("crf", overrides=SMALL["crf"])
        tagger.fit(train.sentences, [])
        missed.append(score_tokens(dev.documents, predict_spans(tagger, dev), binary=True).micro.fn)
    assert missed == [0, 0]


def test_copies_keep_the_space_after_a_value():
    train = augment_corpus(Split.of(notes(5, edge=1)), ALL_COPIES)
    clean = augment_corpus(Split.of(notes(5, edge=0)), ALL_COPIES)
    assert [document.text for document in train.documents] == [document.text for document in clean.documents]
    assert train.documents[5:] == clean.documents[5:]


DOUBTFUL = "Seen by Dr. Zann Tawn on 3/14/2031 for cough."


@pytest.mark.parametrize("name", ["crf", "rules", "hybrid", "elman"])
def test_no_model_learns_from_tokens_in_doubt(name, quickly_compiled):
    def trained(*spans):
        unsure = Document("2", DOUBTFUL, spans, layers={DOUBT: (Span(12, 21, "DOUBT"),)})
        return learned(name, [*notes(6, edge=0), unsure])

    as_other, as_date = trained(Span(25, 34, "DATE")), trained(Span(12, 21, "DATE"), Span(25, 34, "DATE"))
    sentences = [item.sentence for note in notes(8, edge=0) for item in encode(note).sentences]
    for one, other in zip(as_other.marginals(sentences), as_date.marginals(sentences), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_crf_learns_from_the_certain_tokens_of_a_sentence_and_no_name_as_other():
    """Names that were taught as no PHI are missed; names in doubt are not, and dates next to them are learned."""
    every = list(notes(30, edge=0))
    names = [[span for span in note.spans if span.label == "DOCTOR"] for note in every]
    dates = [[span for span in note.spans if span.label == "DATE"] for note in every]
    few = every[:3]
    wrong = [replace(note, spans=tuple(own)) for note, own in zip(every[3:], dates[3:], strict=True)]
    doubtful = [replace(note, layers={DOUBT: tuple(own)}) for note, own in zip(wrong, names[3:], strict=True)]
    recalls = {}
    for how, rest in (("other", wrong), ("doubt", doubtful)):
        split = Split.of(every)
        found = predict_spans(learned("crf", [*few, *rest]), split)
        recalls[how] = {label: counts.recall for label, counts in score_tokens(every, found).by_type.items()}
    assert recalls["doubt"]["DATE"] == 1.0
    assert recalls["doubt"]["DOCTOR"] > 0.9
    assert recalls["other"]["DOCTOR"] < 0.5

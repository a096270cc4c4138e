"""Notes are held against those a model was trained on: what is of another kind is said, what is of the same is not."""

import base64
import json
from dataclasses import replace
from pathlib import Path

import pytest

from crfdeid.corpora import read_corpus
from crfdeid.corpora.synthetic import generate
from crfdeid.documents import Document, Span
from crfdeid.model_card.likeness import Likeness, NoteReader, make_profile

WORDS = [
    "seen",
    "today",
    "by",
    "our",
    "team",
    "in",
    "clinic",
    "for",
    "cough",
    "fever",
    "pain",
    "rest",
    "fluids",
    "review",
    "plan",
    "home",
    "stable",
    "better",
]


def note(number: int) -> Document:
    """An invented note: a name, and twenty words in an order of its own."""
    text = f"Dr Quillan {'éa'[number % 2]} " + " ".join(WORDS[(number * k) % len(WORDS)] for k in range(1, 20)) + "."
    return Document(str(number), text, (Span(3, 10, "DOCTOR"),))


NOTES = [note(number) for number in range(60)]
PROFILE = make_profile(NOTES[:40], NOTES[20:40], key=None)


def differences(documents, profile=PROFILE, *, key=None, raised=False):
    reader, likeness = NoteReader.of(profile, key), Likeness(profile, raised=raised)
    for document in documents:
        likeness.add(reader.measure(document.text, len(document.spans)))
    return likeness.differences()


def changed(change, documents=NOTES[40:]):
    return [replace(document, text=change(document.text), spans=()) for document in documents]


def marked(count, documents=NOTES[40:]):
    """The notes with so many spans each."""
    return [replace(d, spans=tuple(Span(k, k + 1, "DOCTOR") for k in range(count))) for d in documents]


def test_notes_of_the_same_kind_are_not_unlike():
    assert differences(NOTES[40:]) == []
    assert differences([]) == []
    assert differences([Document("1", "12 / 7")]) == [], "nothing to measure"


@pytest.mark.parametrize(
    ("documents", "said"),
    [
        (changed(lambda text: text.translate(str.maketrans("aeiou", "uoiea"))), "of their words are unknown"),
        (changed(lambda text: text.replace("a", "ø")), "of their characters are unusual"),
        (changed(str.upper), "of their words begin with a capital"),
        (changed(str), "0.0 values were found per 1,000 words (47"),
        (marked(3), "values were found per 1,000 words"),
        (changed(lambda text: 5 * text), "a note has 105 words (21)"),
    ],
)
def test_what_differs_is_named_with_both_figures(documents, said):
    assert any(said in line for line in differences(documents))


def test_at_a_raised_sensitivity_more_is_found_by_design_but_less_still_says_something():
    assert differences(marked(3), raised=True) == []
    assert differences(marked(0), raised=True) != []


def test_invisible_marks_and_spaces_make_no_note_unlike():
    assert differences(marked(1, changed(lambda text: text.replace(" ", "\u00a0").replace("s", "s\u200b")))) == []


def test_few_development_notes_say_nothing():
    profile = make_profile(NOTES[:40], NOTES[20:29], key=None)
    assert differences(changed(str.upper), profile) == []
    assert Likeness(None).differences() == []


def test_a_profile_holds_no_word_and_with_a_key_nobody_can_look_one_up():
    secret = b"an invented key of thirty-two by"
    keyed = make_profile(NOTES[:40], NOTES[20:40], key=secret)
    text = json.dumps(keyed) + json.dumps(PROFILE)
    assert not any(word in text for word in ("Quillan", "quillan", "clinic"))
    assert keyed["words"] != PROFILE["words"]
    assert differences(NOTES[40:], keyed, key=secret) == []
    assert differences(NOTES[40:], keyed, key=b"another one") != []


def test_a_word_of_one_training_note_alone_is_not_stored():
    once = make_profile([*NOTES[:40], Document("x", "Zachariasson")], NOTES[20:40], key=None)
    assert base64.b64decode(once["words"]) == base64.b64decode(PROFILE["words"])


def batches(documents, size=20):
    return [documents[i : i + size] for i in range(0, len(documents) - size + 1, size)]


@pytest.mark.slow
def test_synthetic_notes_are_like_their_own_training_notes():
    corpus = generate()
    profile = make_profile(corpus.train, corpus.dev, key=None)
    for group in (corpus.dev, corpus.test, *batches(corpus.test), *batches(corpus.dev)):
        assert differences(group, profile) == []
    assert differences([replace(d, text=d.text.lower()) for d in corpus.test], profile) != []


@pytest.mark.slow
def test_real_notes_are_like_their_own_kind_and_unlike_others(data_folder: Path):
    """With the gold spans as what is found."""
    spanish = [read_corpus(data_folder / "meddocan" / split / "brat") for split in ("train", "dev")]
    queries = [read_corpus(data_folder / "asq-phi" / f"{split}.txt") for split in ("train", "dev")]
    invented = generate()
    profiles = [make_profile(*pair, key=None) for pair in (spanish, queries, (invented.train, invented.dev))]
    for (_, dev), profile in zip((spanish, queries), profiles, strict=False):
        assert all(differences(group, profile) == [] for group in (dev, *batches(dev)))
        assert all(differences(changed(str.lower, group), profile) for group in batches(dev))
    for profile, others in ((profiles[0], queries[1]), (profiles[2], spanish[1]), (profiles[2], queries[1])):
        assert all(differences(group, profile) for group in batches(others))

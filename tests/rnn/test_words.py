"""Rows of words, casing, characters and features, place by place; the same through JSON and as hashes."""

import json

import numpy as np
import pytest

from crfdeid.documents import LabelledSentence
from features import feature_set
from features.sentences import split_sentences
from features.tokens import Sentence
from rnn.inputs import CASINGS, Characters, Features, TokenProcessor, casing
from rnn.vocab import Vocabulary
from rnn.words import tags_of

NOTE = split_sentences("HISTORY\nSeen by Dr. Marsh. Mr Quill denies pain.\nMRN: 0301 at FIH\nPlan: rest")
TAGS, KEY = ("B-DOCTOR", "B-PATIENT", "O"), bytes(range(32))
EXTRACTED = feature_set("form", pos="none")
LABELLED = [LabelledSentence(sentence, ("O",) * len(sentence.tokens), "note") for sentence in NOTE]
FEATURES = Features.build(EXTRACTED, LABELLED, min_count=1)
MARGIN = 2
BLANK = TokenProcessor(
    Vocabulary(()),
    {},
    margin=MARGIN,
    note=True,
    casing=True,
    characters=Characters((), most=4),
    features=Features(EXTRACTED, ()),
)
PROCESSOR = TokenProcessor(
    Vocabulary(("Dr", "pain", "0000", ".")),
    {"phi": TAGS},
    margin=MARGIN,
    note=True,
    casing=True,
    characters=Characters(("a", "r", "0"), most=4),
    features=FEATURES,
    width=max(len(names) for sentence in NOTE for names in EXTRACTED.extract(sentence)),
)


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("72", "numeric"),
        ("03a4", "mainly numeric"),
        ("mg", "all lower"),
        ("b12b", "all lower"),  # half of it is not more than half
        ("MRI", "all upper"),
        ("X", "all upper"),
        ("Quill", "initial upper"),
        ("McCoy", "initial upper"),
        ("xB1", "contains digit"),
        ("mcCoy", "other"),
        ("%", "other"),
    ],
)
def test_a_words_casing_class(word, name):
    assert CASINGS[casing(word)] == name


def words_and_places():
    """For each sentence the words of its row with None where there is none, cut out of the note by hand."""
    note = [word for sentence in NOTE for word in sentence.words]
    start = 0
    for sentence in NOTE:
        stop = start + len(sentence.words)
        yield [note[i] if 0 <= i < len(note) else None for i in range(start - MARGIN, stop + MARGIN)]
        start = stop


def test_a_row_holds_the_words_of_the_note_around_its_sentence():
    for row, sentence, words in zip(PROCESSOR.rows(NOTE), NOTE, words_and_places(), strict=True):
        assert (row.length, row.targets) == (len(sentence.words), {})
        of = {
            "words": lambda word: PROCESSOR.vocabulary.ids([word])[0],
            "casing": casing,
            "characters": four_characters,
        }
        for name, value in of.items():
            nothing = np.zeros_like(value("x"))
            expected = [nothing if word is None else value(word) for word in words]
            np.testing.assert_array_equal(row.inputs[name], expected, err_msg=name)


def four_characters(word):
    read = word if len(word) <= 4 else word[:2] + word[-2:]
    return np.array([{"a": 2, "r": 3, "0": 4}.get(c, 1) for c in read] + [0] * (4 - len(read)))


def test_a_token_has_the_features_that_are_extracted_and_known():
    for row, sentence in zip(PROCESSOR.rows(NOTE), NOTE, strict=True):
        found = row.inputs["features"]
        assert not found[:MARGIN].any() and not found[-MARGIN:].any()  # those of the sentence's own tokens alone
        for numbers, names in zip(found[MARGIN:-MARGIN], EXTRACTED.extract(sentence), strict=True):
            assert sorted(FEATURES.names[i - 1] for i in numbers[numbers > 0]) == sorted(set(names))


def test_a_feature_seen_too_rarely_is_not_known():
    often = Features.build(EXTRACTED, LABELLED, min_count=3)
    counts = dict.fromkeys(FEATURES.names, 0)
    for names in (names for sentence in NOTE for names in EXTRACTED.extract(sentence)):
        for name in names:
            counts[name] += 1
    assert set(often.names) == {name for name, count in counts.items() if count >= 3}


def test_a_feature_of_too_few_documents_is_not_known():
    another = Sentence.from_words(["Mr", "Quill"])
    two = [*LABELLED, LabelledSentence(another, ("O", "O"), "other")]
    found = Features.build(EXTRACTED, two, min_count=1, min_documents=2)
    ours = {name for names in EXTRACTED.extract(another) for name in names}
    assert found.names and set(found.names) == ours & set(FEATURES.names)
    assert not Features.build(EXTRACTED, LABELLED, min_count=1, min_documents=2).names


def test_without_a_note_there_is_padding_around_a_sentence():
    processor = TokenProcessor(Vocabulary(("Dr",)), {}, margin=2)
    np.testing.assert_array_equal(processor.rows(NOTE[:1])[0].inputs["words"][[0, 1, -2, -1]], 0)
    assert list(processor.rows(NOTE[:1])[0].inputs) == ["words"]
    alone = PROCESSOR.rows([Sentence.from_words(["Dr", "Marsh"])])[0]
    np.testing.assert_array_equal(alone.inputs["words"][[0, 1, -2, -1]], 0)


def test_a_sentence_without_tokens_has_a_row_without():
    (row, other) = PROCESSOR.rows([Sentence(()), NOTE[1]])
    assert row.length == 0 and {len(array) for array in row.inputs.values()} == {2 * MARGIN}
    np.testing.assert_array_equal(other.inputs["features"], PROCESSOR.rows(NOTE)[1].inputs["features"])
    assert PROCESSOR.rows([]) == []


def test_targets_are_the_numbers_of_the_tags_of_each_layer():
    item = LabelledSentence(
        Sentence.from_words(["Dr", "Doe", "pain"]), ("O", "B-DOCTOR", "O"), layers={"concept": ("O", "O", "B-SYMPTOM")}
    )
    layers = {layer: tags_of([item], layer) for layer in ("phi", "concept")}
    assert layers == {"phi": ("B-DOCTOR", "O"), "concept": ("B-SYMPTOM", "O")}
    (row,) = TokenProcessor(Vocabulary(()), layers).rows([item.sentence], [item])
    assert {layer: ids.tolist() for layer, ids in row.targets.items()} == {"phi": [1, 0, 1], "concept": [1, 1, 0]}


def same_rows(found, expected, moved=None):
    """Rows are equal, where ``moved`` says which old number each new one of an input was."""
    for one, other in zip(found, expected, strict=True):
        for name, array in one.inputs.items():
            pair = [array if moved is None or name not in moved else moved[name][array], other.inputs[name]]
            if name == "features":  # those of a token are a set
                pair = [np.sort(numbers, axis=1) for numbers in pair]
            np.testing.assert_array_equal(*pair, err_msg=name)


def test_hashed_it_reads_the_same_in_other_rows_of_the_tables():
    hashed, moved = PROCESSOR.hashed(KEY)
    assert sorted(moved["words"]) == list(range(len(PROCESSOR.vocabulary)))
    assert sorted(moved["features"]) == list(range(len(FEATURES.names) + 1))
    same_rows(hashed.rows(NOTE), PROCESSOR.rows(NOTE), moved)
    described = json.dumps(hashed.describe())
    assert not [word for word in ("Dr", "pain", "marsh") if word in described]


def test_a_token_with_more_features_than_any_in_training_loses_none_hashed_or_not():
    """Which were lost would hang on their numbers, and so on the key."""
    narrow = Features(EXTRACTED, FEATURES.names)
    hashed, old = narrow.hashed(KEY)
    for few, other, sentence in zip(narrow.rows(NOTE, 2), hashed.rows(NOTE, 2), NOTE, strict=True):
        for numbers, theirs, names in zip(few, other, EXTRACTED.extract(sentence), strict=True):
            assert {FEATURES.names[i - 1] for i in numbers if i} == set(names)
            assert set(old[theirs]) - {0} == set(numbers) - {0}


@pytest.mark.parametrize("key", [None, KEY])
def test_described_as_json_and_read_it_is_the_same(key):
    processor = PROCESSOR if key is None else PROCESSOR.hashed(key)[0]
    again = BLANK.read(json.loads(json.dumps(processor.describe())), processor.arrays(), key)
    assert again == processor
    same_rows(again.rows(NOTE), processor.rows(NOTE))


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"words": ["a", "a"]}, ValueError),
        ({"words": "ab"}, ValueError),
        ({"features": None}, ValueError),
        ({"characters": [1]}, ValueError),
        ({"tags": {"phi": []}}, ValueError),
        ({"tags": {"concept": ["O"]}}, ValueError),
        ({"width": "wide"}, ValueError),
    ],
)
def test_a_description_that_makes_no_sense_is_refused(changed, error):
    with pytest.raises(error):
        BLANK.read(PROCESSOR.describe() | changed, {}, None)

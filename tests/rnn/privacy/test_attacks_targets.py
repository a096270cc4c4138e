"""Which tokens are attacked, and sentences with another word in their place."""

from __future__ import annotations

import numpy as np

from crfdeid.documents import LabelledSentence
from features.tokens import Sentence, split_sentences
from rnn.privacy.attacks.targets import Target, is_name, names_of, sample_targets

ITEM = LabelledSentence(
    Sentence.from_words(["Ann", "Lee", ",", "3", "/", "May"]),
    ("B-PATIENT", "I-PATIENT", "O", "B-DATE", "I-DATE", "I-DATE"),
)


def test_names_are_words_of_phi_with_a_letter() -> None:
    assert [(t.word, t.place, t.label, t.number) for t in names_of([ITEM, ITEM])] == [
        ("Ann", 0, "PATIENT", 0),
        ("Lee", 1, "PATIENT", 0),
        ("May", 5, "DATE", 0),
        ("Ann", 0, "PATIENT", 1),
        ("Lee", 1, "PATIENT", 1),
        ("May", 5, "DATE", 1),
    ]
    assert [is_name(word) for word in ("Múgica", "3rd", "42", "/")] == [True, True, False, False]


def test_a_word_is_put_in_place_and_the_note_is_left_out() -> None:
    sentence = split_sentences("Seen by Dr. Doe today.\nHome.")[0]
    changed = Target(sentence, 4, "DOCTOR").with_word("Roe")
    assert changed.words == ("Seen", "by", "Dr", ".", "Roe", "today", ".")
    assert changed.note == () and changed.around(3) == ((), ())
    assert sentence.words[4] == "Doe"


def test_some_are_drawn_without_replacement_in_their_order() -> None:
    targets = names_of([ITEM] * 20)
    some = sample_targets(targets, 12, np.random.default_rng(0))
    places = [targets.index(target) for target in some]
    assert len(some) == 12 and places == sorted(set(places))
    assert (
        some
        == sample_targets(targets, 12, np.random.default_rng(0))
        != sample_targets(targets, 12, np.random.default_rng(1))
    )
    assert sample_targets(targets, 60, np.random.default_rng(0)) == targets

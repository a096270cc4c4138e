"""Which notes are drawn: by expected misses per minute, by what they cover, at random, and always some at random."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.documents import Document
from crfdeid.errors import OptionConflictError, SettingError, UnknownNameError
from crfdeid.review.sampling import Candidate, candidates, draw_sample


class Fixed:
    """A tagger that is as sure of each word as a table says: the probability that it is PHI."""

    tags = ("B-DOCTOR", "O")

    def __init__(self, table):
        self.table = table

    def marginals(self, sentences):
        shares = [np.array([self.table.get(word, 0.0) for word in one.words]) for one in sentences]
        return [np.stack([share, 1 - share], axis=1) for share in shares]


def note(name: str, text: str, missed: float | None = None) -> Candidate:
    words = text.split()
    return Candidate(Document(name, text), {word: words.count(word) for word in words}, missed)


def ids(drawn) -> list[str]:
    return [one.candidate.document.id for one in drawn]


def test_expected_misses_are_the_probabilities_of_what_is_more_probably_none():
    documents = [Document("1", "Seen by Roe and Doe. Then home."), Document("2", "Then home."), Document("3", "")]
    found = list(candidates(documents, Fixed({"Roe": 0.9, "Doe": 0.3, "home": 0.05})))
    assert [one.missed for one in found] == pytest.approx([0.35, 0.05, 0.0])
    assert found[0].words["roe"] == 1
    assert [one.missed for one in candidates(documents)] == [None] * 3


def test_a_long_note_is_rated_by_the_minute():
    short, long = note("short", "a " * 20, missed=1.0), note("long", "a " * 4000, missed=5.0)
    middling = [note(f"{n}", "a " * 20, missed=0.01) for n in range(8)]
    drawn = draw_sample([short, long, *middling], 2, by="uncertainty", seed=1)
    assert [one.by for one in drawn] == ["random", "uncertainty"]
    assert ids(drawn)[1] == "short"


def test_what_is_annotated_already_is_covered():
    pool = [note(f"old{n}", "the cat sat on the mat") for n in range(30)]
    pool += [note("new", "a dog ran off")]
    known = [note("annotated", "the cat sat on the mat")]
    for seed in range(3):
        drawn = draw_sample(pool, 2, by="coverage", seed=seed, annotated=known)
        assert "new" in ids(drawn)


def greedy(notes: list[Candidate], covered: set[str]) -> list[str]:
    """Every gain computed anew at each step."""
    order, rest = [], list(notes)
    frequency = {word: sum(one.words.get(word, 0) for one in notes) for one in notes for word in one.words}
    while rest:
        gains = [sum(frequency[word] for word in one.words if word not in covered) / one.minutes for one in rest]
        best = rest.pop(gains.index(max(gains)))
        covered = covered | set(best.words)
        order.append(max(gains))
    return order


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=6), min_size=3, max_size=8))
def test_the_lazy_choice_gains_as_much_as_the_plain_one(texts):
    notes = [note(f"{n}", " ".join(words)) for n, words in enumerate(texts)]
    drawn = draw_sample(notes, len(notes), by="coverage", seed=0, random_share=0.01)
    first, rest = drawn[0].candidate, [one.candidate for one in drawn[1:]]
    pool = [one for one in notes if one.document.id != first.document.id]
    frequency = {word: sum(one.words.get(word, 0) for one in pool) for one in pool for word in one.words}
    covered, gains = set(first.words), []
    for one in rest:
        gains.append(sum(frequency[word] for word in one.words if word not in covered) / one.minutes)
        covered |= set(one.words)
    assert gains == pytest.approx(greedy(pool, set(first.words)))


@pytest.mark.parametrize("by", ["uncertainty", "coverage", "mixed"])
def test_a_share_is_always_drawn_at_random_and_nothing_twice(by):
    notes = [note(f"{n:03}", f"word{n} word", missed=n / 10) for n in range(50)]
    drawn = draw_sample(notes, 20, by=by, seed=3)
    assert [one.by for one in drawn[:4]] == ["random"] * 4
    assert "random" not in [one.by for one in drawn[4:]]
    assert len(set(ids(drawn))) == 20
    ways = {"mixed": {"uncertainty", "coverage"}}.get(by, {by})
    assert {one.by for one in drawn[4:]} == ways
    assert ids(draw_sample(notes[::-1], 20, by=by, seed=3)) == ids(drawn)


def test_the_random_share_is_that_of_random_drawing():
    notes = [note(f"{n}", "a", missed=float(n)) for n in range(40)]
    counts = np.zeros(40)
    for seed in range(400):
        counts[[int(name) for name in ids(draw_sample(notes, 10, by="uncertainty", seed=seed)[:2])]] += 1
    assert counts.min() > 0
    assert abs(counts.mean() - 20) < 1e-9
    assert counts.max() < 45


def test_what_cannot_be_drawn_is_refused():
    notes = [note("1", "a"), note("2", "b")]
    with pytest.raises(SettingError):
        draw_sample(notes, 3, by="random", seed=0)
    with pytest.raises(OptionConflictError):
        draw_sample(notes, 1, by="uncertainty", seed=0)
    with pytest.raises(UnknownNameError):
        draw_sample(notes, 1, by="best", seed=0)

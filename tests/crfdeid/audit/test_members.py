"""Loss of notes, words in files and time of answers, against what is known of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crfdeid.audit.attacks import (
    count_stored_words,
    note_losses,
    stored_words,
    time_answers,
    words_of_phi,
    words_to_time,
)
from crfdeid.audit.canaries import Question, canary_scores
from crfdeid.corpora.splits import Split
from crfdeid.documents import Document, Span
from crfdeid.errors import EmptyInputError
from crfdeid.registry import create
from features.tokens import Sentence

_KEY = b"key of 16 bytes or more"
_NAMES = ("Brandelto", "Zilperna", "Morquista", "Tavenro")


def _note(number: int, name: str) -> Document:
    text = f"Seen by Dr. {name} of Madrid with some pain. Rest is advised."
    return Document(
        str(number), text, (Span(12, 12 + len(name), "DOCTOR"), Span(16 + len(name), 22 + len(name), "CITY"))
    )


@pytest.fixture(scope="module")
def notes() -> Split:
    return Split.of(_note(number, name) for number, name in enumerate(_NAMES * 3))


class _Uniform:
    """Tagger that gives each tag the same probability."""

    tags = ("B-DOCTOR", "I-DOCTOR", "O")

    def marginals(self, sentences: list[Sentence]) -> list[np.ndarray]:
        return [np.full((len(sentence.tokens), 3), 1 / 3) for sentence in sentences]


def test_the_loss_is_the_mean_over_tokens(notes: Split) -> None:
    tagger: Any = _Uniform()
    count = sum(len(item.tags) for item in notes.encoded[0].sentences)
    # The model has no city: for its token, what counts is the probability of being PHI.
    expected = ((count - 1) * np.log(3) + np.log(3 / 2)) / count
    np.testing.assert_allclose(note_losses(tagger, notes), np.full(12, expected))
    assert note_losses(tagger, Split.of([Document("empty", "")])).tolist() == [0.0]


def test_training_notes_have_a_lower_loss_than_others(notes: Split) -> None:
    tagger = create("crf", overrides={"max_iterations": 30})
    tagger.fit(notes.sentences, [])
    others = Split.of(
        Document(str(number), f"A plan for {name} was made today.", (Span(11, 11 + len(name), "DOCTOR"),))
        for number, name in enumerate(("Quarstin", "Hobrindel"))
    )
    assert note_losses(tagger, notes).max() < note_losses(tagger, others).min()


def test_words_of_phi_are_those_that_no_public_list_has(notes: Split) -> None:
    assert words_of_phi(notes) == sorted(_NAMES)
    assert words_of_phi(notes, secret=False) == sorted([*_NAMES, "Madrid"])


@pytest.mark.usefixtures("quickly_compiled")
@pytest.mark.parametrize(
    ("model", "settings"),
    [
        ("crf", {"max_iterations": 10}),
        ("hybrid", {"crf": {"max_iterations": 10}}),
        ("elman", {"epochs": 1, "hidden": 8}),
        ("bilstm-crf", {"epochs": 1, "hidden": 8}),
    ],
)
def test_any_model_can_be_asked_and_has_names_in_its_files_unless_its_vocabulary_is_private(
    model: str, settings: dict[str, Any], notes: Split, tmp_path: Path
) -> None:
    tagger = create(model, overrides=settings)
    tagger.fit(notes.sentences, notes.sentences)
    questions = [Question(("seen", "by"), ("with", "some", "pain"))]
    assert np.isfinite([*note_losses(tagger, notes), *canary_scores(tagger, _NAMES, questions)]).all()
    tagger.save(tmp_path / "readable")
    tagger.save(tmp_path / "private", key=_KEY)
    found = [count_stored_words(tmp_path / name, notes) for name in ("readable", "private")]
    assert [(part.count, part.total) for part in found] == [(4, 4), (0, 4)]
    assert stored_words(tmp_path / "readable", ["Zilpern", "Quarstin"]) == []  # a part of a word is no word


def _clock(
    cost: Callable[[str], float], random: np.random.Generator
) -> tuple[Callable[[str], None], Callable[[], int]]:
    """A service whose work takes a known time and some noise, and the clock that it moves."""
    now = [0.0]

    def answer(text: str) -> None:
        now[0] += cost(text) + random.gamma(4, 2_000)

    return answer, lambda: int(now[0])


def _words(prefix: str) -> list[str]:
    return [f"{prefix}{chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(100)]


def test_a_planted_delay_is_found() -> None:
    random = np.random.default_rng(5)
    answer, clock = _clock(lambda text: 50_000 + 8_000 * ("known" in text), random)
    found = time_answers(answer, _words("known"), _words("other"), random=random, clock=clock)
    assert found["first"]["found"]
    assert found["repeated"]["found"]
    assert found["repeated"]["auc"]["value"] > 0.9
    assert found["repeated"]["known_us"] - found["repeated"]["unknown_us"] == pytest.approx(8, abs=1)


def test_a_delay_at_the_first_question_alone_is_found_there() -> None:
    random, seen = np.random.default_rng(5), set[str]()

    def cost(text: str) -> float:
        slow = "known" in text and text not in seen
        seen.add(text)
        return 50_000 + 9_000 * slow

    answer, clock = _clock(cost, random)
    found = time_answers(answer, _words("known"), _words("other"), random=random, clock=clock)
    assert (found["first"]["found"], found["repeated"]["found"]) == (True, False)


@pytest.mark.parametrize("seed", range(20))
def test_nothing_is_found_in_constant_work(seed: int) -> None:
    random = np.random.default_rng(seed)
    answer, clock = _clock(lambda _: 50_000, random)
    found = time_answers(answer, _words("known"), _words("other"), random=random, clock=clock)
    assert not any(part["found"] for part in found.values())


def test_timing_needs_words_of_both_kinds() -> None:
    with pytest.raises(EmptyInputError):
        time_answers(str, ["Quarstin"], [], random=np.random.default_rng(0))


def test_words_to_time_have_four_letters_and_more() -> None:
    words = ["Ann", "Lind", "4711", "Quarstin", "O'Roe"]
    assert sorted(words_to_time(words, 9, random=np.random.default_rng(0))) == ["Lind", "Quarstin"]

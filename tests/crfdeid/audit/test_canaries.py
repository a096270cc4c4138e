"""Canaries in training notes, the question for them, and the control of an audit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from crfdeid.audit.canaries import (
    Canary,
    CanaryPlan,
    Question,
    canary_scores,
    insert_canaries,
    make_names,
    make_questions,
)
from crfdeid.audit.report import audit_training
from crfdeid.bio import OUTSIDE
from crfdeid.corpora.splits import Corpus, Split
from crfdeid.documents import Document, Span
from crfdeid.errors import EmptyInputError, OptionConflictError, SettingError
from crfdeid.registry import create
from features.lexicons import fold_word
from features.tokens import Sentence

_TEXT = "the wound was clean and dry with little pain after surgery so we plan to review results again soon"
_QUICK = {"max_iterations": 30}


def _notes(count: int, seed: int) -> Split:
    """Invented notes with one name after "Dr." each, and words in any order around it."""
    random = np.random.default_rng(seed)

    def note(number: int) -> Document:
        before, after = (" ".join(random.permutation(_TEXT.split())[:9]) for _ in range(2))
        start = len(f"Today {before}. Seen by Dr. ")
        text = f"Today {before}. Seen by Dr. Quill{number % 7}. Then {after}."
        return Document(f"{seed}-{number}", text, (Span(start, start + 6, "DOCTOR"),))

    return Split.of(note(number) for number in range(count))


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus("invented", "jsonl", "all", _notes(300, 1), _notes(60, 2), None)


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(3)


@pytest.mark.parametrize("real", [True, False])
def test_names_are_new_and_different(random: np.random.Generator, real: bool) -> None:
    first = make_names(300, [], real=real, random=random)
    second = make_names(300, {fold_word(name) for name in first}, real=real, random=random)
    assert len({*first, *second}) == 600
    assert all(name.istitle() and name.isalpha() for name in first)


def test_a_plan_has_as_many_canaries_of_each_kind_and_no_name_twice(
    corpus: Corpus, random: np.random.Generator
) -> None:
    plan = CanaryPlan.draw(80, [1, 4], corpus.splits.values(), random=random)
    assert Counter((one.is_real, one.copies) for one in plan.canaries) == dict.fromkeys(
        [(True, 1), (True, 4), (False, 1), (False, 4)], 20
    )
    assert all(one.inserted and not one.is_phi for one in plan.decoys)
    names = [one.name for one in (*plan.canaries, *plan.decoys)] + [
        n for found in plan.references.values() for n in found
    ]
    assert len(set(names)) == len(names)
    assert 20 <= sum(one.inserted for one in plan.canaries) <= 60


def test_too_many_canaries_are_refused(corpus: Corpus, random: np.random.Generator) -> None:
    with pytest.raises(SettingError):
        CanaryPlan.draw(20_000, [1], corpus.splits.values(), random=random)


def test_copies_are_annotated_in_different_notes_and_all_else_stays(
    corpus: Corpus, random: np.random.Generator
) -> None:
    canaries = [Canary("Brandelto", False, 8, True), Canary("Zilperna", False, 2, False)]
    decoys = [Canary("Morquista", False, 5, True, is_phi=False)]
    changed = insert_canaries(corpus.train, [*canaries, *decoys], random=random)
    texts = [document.text for document in changed.documents]
    assert sum("Brandelto" in text for text in texts) == sum(text.count("Brandelto") for text in texts) == 8
    assert sum("Morquista" in text for text in texts) == 5
    assert not any("Zilperna" in text for text in texts)
    for before, after in zip(corpus.train.documents, changed.documents, strict=True):
        values = sorted(after.text[span.start : span.end] for span in after.spans)
        own = sorted(before.text[span.start : span.end] for span in before.spans)
        assert values == sorted([*own, *["Brandelto"] * after.text.count("Brandelto")])
        assert after.text.replace("Brandelto ", "").replace("Morquista ", "") == before.text
        assert (after is before) == (after.text == before.text)
    assert not any(encoded.unaligned for encoded in changed.encoded)


def test_spans_of_other_layers_move_too(random: np.random.Generator) -> None:
    note = Document(
        "1", "there was some pain and Quill", (Span(24, 29, "DOCTOR"),), layers={"concept": (Span(15, 19, "X"),)}
    )
    changed = insert_canaries(Split.of([note]), [Canary("Brandelto", False, 1, True)], random=random).documents[0]
    (span,) = changed.layers["concept"]
    assert changed.text[span.start : span.end] == "pain"


def test_notes_with_their_own_tokens_are_tokenised_anew(random: np.random.Generator) -> None:
    sentence = Sentence.from_words(["there", "was", "some", "pain"])
    note = Document("1", "there was some pain", pretokenized=(sentence,))
    with_name = Document("2", "Quill", (Span(0, 5, "DOCTOR"),))
    changed = insert_canaries(Split.of([note, with_name]), [Canary("Brandelto", False, 1, True)], random=random)
    (labelled,) = changed.encoded[0].sentences
    assert dict(zip(labelled.sentence.words, labelled.tags, strict=True))["Brandelto"] == "B-DOCTOR"
    assert len(labelled.tags) == 5


def test_more_copies_than_notes_are_refused(random: np.random.Generator) -> None:
    few = _notes(3, 1)
    with pytest.raises(EmptyInputError):
        insert_canaries(few, [Canary("Brandelto", False, 8, True)], random=random)


def test_questions_hold_words_of_the_notes_and_no_phi(corpus: Corpus, random: np.random.Generator) -> None:
    questions = make_questions(corpus.dev, 8, random=random)
    sentences = {labelled.sentence.words: labelled.tags for labelled in corpus.dev.sentences}
    assert len(questions) == 8
    for question in questions:
        assert question.about("Brandelto").words == (*question.before, "Brandelto", *question.after)
        assert sentences[(*question.before, *question.after)][len(question.before)] == OUTSIDE


class _Oracle:
    """Tagger that gives a name a known probability."""

    tags = ("B-DOCTOR", "I-DOCTOR", "O")

    def __init__(self, probable: dict[str, float]) -> None:
        self._probable = probable

    def marginals(self, sentences: Sequence[Sentence]) -> list[np.ndarray]:
        def row(word: str) -> list[float]:
            p = self._probable.get(word, 0.0)
            return [0.75 * p, 0.25 * p, 1 - p]

        return [np.array([row(word) for word in sentence.words]) for sentence in sentences]


def test_the_score_is_the_log_odds_of_the_name_itself(corpus: Corpus, random: np.random.Generator) -> None:
    tagger: Any = _Oracle({"Brandelto": 0.8, "Zilperna": 0.2})
    scores = canary_scores(tagger, ["Brandelto", "Zilperna"], make_questions(corpus.dev, 5, random=random))
    np.testing.assert_allclose(scores, [np.log(4), -np.log(4)], atol=1e-9)


@pytest.fixture(scope="module")
def audit(corpus: Corpus) -> dict[str, Any]:
    return audit_training(create("crf", overrides=_QUICK), corpus, canaries=160)


def test_repeated_names_are_found_in_a_model_without_defences(audit: dict[str, Any]) -> None:
    assert audit["valid"]
    assert audit["of"] == "canary model"
    by_copies = audit["canaries"]["by_copies"]
    assert by_copies["8"]["auc"]["value"] > 0.95
    assert by_copies["8"]["exposure"]["mean"] > by_copies["1"]["exposure"]["mean"]
    assert audit["canaries"]["epsilon"]["epsilon"] > 0.5
    stored = audit["canaries"]["stored"]
    assert stored["inserted"]["count"] > 0 == stored["others"]["count"]


def test_the_same_seed_gives_the_same_figures(audit: dict[str, Any], corpus: Corpus) -> None:
    again = audit_training(create("crf", overrides=_QUICK), corpus, canaries=160)
    again["audited"] = audit["audited"]
    assert again == audit


def test_a_defence_that_works_does_not_void_the_audit(corpus: Corpus) -> None:
    def without_names(train: Split) -> Split:
        """Notes without any canary, as if all names had been replaced."""
        return corpus.train

    found = audit_training(create("crf", overrides=_QUICK), corpus, canaries=160, prepare=without_names)
    assert found["valid"]
    assert found["control"]["model"] == "crf"
    assert found["canaries"]["by_copies"]["8"]["auc"]["low"] < 0.6


def test_one_shared_context_voids_an_audit(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one frame for all names and no decoys, every name gets a probability near 1: nothing can be found."""

    def insert(split: Split, canaries: Sequence[Canary], *, random: np.random.Generator) -> Split:
        start = len("the patient is called ")
        added = [
            Document(
                f"frame {one.name} {copy}",
                f"the patient is called {one.name} and no other",
                (Span(start, start + len(one.name), "DOCTOR"),),
            )
            for one in canaries
            if one.inserted and one.is_phi
            for copy in range(one.copies)
        ]
        kept = list(split.documents)
        kept[: len(added)] = added[: len(kept)]
        return Split.of(kept)

    monkeypatch.setattr("crfdeid.audit.report.insert_canaries", insert)
    monkeypatch.setattr("crfdeid.audit.report.make_questions", _frame)
    found = audit_training(create("crf", overrides=_QUICK), corpus, canaries=64)
    assert not found["valid"]


def _frame(*_: object, **__: object) -> list[Any]:
    return [Question(("the", "patient", "is", "called"), ("and", "no", "other"))]


def test_a_model_that_learns_nothing_is_refused(corpus: Corpus) -> None:
    with pytest.raises(OptionConflictError):
        audit_training(create("rules"), corpus)


@pytest.mark.parametrize("settings", [{"repeats": []}, {"repeats": [0, 1]}, {"canaries": 60}])
def test_numbers_that_cannot_work_are_refused(corpus: Corpus, settings: dict[str, Any]) -> None:
    with pytest.raises(SettingError):
        audit_training(create("crf"), corpus, **settings)

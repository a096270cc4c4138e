"""What each system is attacked with, and how outcomes become plain data."""

from typing import Any

import numpy as np
import pytest
from samples import values_of

from crfdeid.corpora.splits import Corpus, Split
from crfdeid.documents import Document, Span
from crfdeid.evaluation.tokens import Proportion
from experiments.core.systems import Cell, System
from experiments.private import experiment
from experiments.private.learning import Learned, Recipe
from experiments.private.options import SIZES
from rnn.embeddings import WordVectors
from rnn.privacy.attacks.same_sentence import AttackOutcome

NAMES = ("Doe", "Roe", "Poe", "Moe")
WORDS = (*NAMES, "Seen", "by", "today")


def split(count: int, start: int) -> Split:
    """Notes whose ids are those of the other split's too."""
    texts = [f"Seen by {NAMES[(n + start) % 4]} today" for n in range(count)]
    return Split.of(Document(str(n), text, (Span(8, 11, "DOCTOR"),)) for n, text in enumerate(texts))


CORPUS = Corpus("invented", "jsonl", "all", split(12, 0), split(2, 1), split(8, 2))
VECTORS = WordVectors(WORDS, np.random.default_rng(0).normal(size=(7, 4)).astype(np.float32))
RECIPE = Recipe("default", SIZES["default"], 3, (), (), {"cbow": VECTORS}, {})


def attacked(kind: str, *settings: tuple[str, int]) -> list[dict[str, Any]]:
    cell = Cell(System(kind, kind, "cbow", settings), 0)
    learned: Any = Learned(None, ())  # type: ignore[arg-type]  # its tagger is not looked at
    return list(experiment.attack(learned, cell, CORPUS, RECIPE))


def test_word_vectors_tell_everything() -> None:
    found = attacked("non-private")
    assert {row["kind"] for row in found} == {"averaging", "averaging_names", "linking", "inversion"}
    assert values_of(found, "averaging") == {
        (draws, name): pytest.approx(share)
        for draws in ("1", "16", "256")
        for name, share in (("top1", 1.0), ("top10", 1.0), ("chance", 1 / 3))
    }
    assert values_of(found, "averaging_names")["1", "chance"] == pytest.approx(1 / 4)
    assert values_of(found, "linking") == {("Overall", "auc"): 1.0}
    inversion = values_of(found, "inversion")
    assert inversion["Overall", "recovered"] == inversion["Overall", "others_recovered"] == 1.0


def test_pseudonyms_are_attacked_with_the_neighbours_of_table_2_alone() -> None:
    found = attacked("pseudonyms", ("neighbours", 3))
    assert values_of(found, "averaging")["1", "chance"] == pytest.approx(1 / 3)
    assert values_of(found, "averaging_names")["1", "top1"] < 1.0
    inversion = values_of(found, "inversion")
    assert inversion["Overall", "others_recovered"] > inversion["Overall", "others_by_frequency"]
    assert attacked("pseudonyms", ("neighbours", 2)) == []
    assert attacked("alone", ("part", 0)) == []


def test_the_adversary_that_other_pairs_choose_counts_and_each_kinds_and_the_mean_stand_beside() -> None:
    outcomes = [
        AttackOutcome(seed, epochs, adversary, Proportion(choice, 100), correct, 100)
        for seed, epochs, adversary, choice, correct in (
            (0, 20, "T1", 99, 52), (1, 20, "T1", 0, 38), (0, 20, "T2", 60, 55), (0, 50, "T2", 70, 60),
            (0, 20, "average", 50, 90), (0, 50, "average", 50, 40), (1, 50, "average", 50, 54),
        )
    ]  # fmt: skip
    found = values_of(experiment.worst_of("fresh", outcomes), "fresh")
    assert (found["Overall", "accuracy"], found["Overall", "pairs"]) == (0.62, 100)
    assert found["Overall", "mean"] == pytest.approx(0.47)  # after the last epoch, whatever is above or below chance
    kinds = {category: value for (category, measure), value in found.items() if category != "Overall"}
    assert kinds == {"T1 20": 0.62, "T2 20": 0.55, "T2 50": 0.60, "average 20": 0.90, "average 50": 0.40}
    assert found["Overall", "low"] == pytest.approx(0.522, abs=0.001)  # Wilson's, of 62 of 100
    assert found["Overall", "high"] == pytest.approx(0.709, abs=0.001)

"""What the settings of taggers and representations come to, and what is refused before anything is trained."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from crfdeid.corpora.splits import Corpus, Split
from crfdeid.documents import Document, Span
from crfdeid.errors import UnknownNameError
from experiments.core.embeddings import VectorSettings
from experiments.core.systems import Cell, System
from experiments.private import learning
from experiments.private.experiment import settings_by_system
from experiments.private.learning import PRIVATE_TAGGER, TAGGER, Recipe
from experiments.private.options import DANN, HOSPITALS, PROVIDER, REPRESENTATION, SIZES, PrivateArguments
from rnn.embeddings import WordVectors


def recipe(profile="default", tagger=(), representation=(), words=("a", "0")):
    vectors = {"cbow": WordVectors(words, np.eye(len(words), dtype=np.float32))}
    return Recipe(profile, SIZES[profile], 100, tagger, representation, vectors, {})


def system(kind, count=100):
    return System(f"{kind}-cbow-{count}", kind, "cbow", (("neighbours", count),))


def test_a_representation_has_the_profiles_settings_then_those_that_were_given_then_its_neighbours() -> None:
    found = recipe(representation=(("size", 100), ("rounds", 2))).private_settings(system(REPRESENTATION, 500))
    sizes = SIZES["default"].representation
    assert (found.size, found.rounds, found.neighbours, found.procedure) == (100, 2, 500, "three-part")
    assert found.epochs == sizes["epochs"]
    assert recipe().private_settings(system(DANN)).procedure == "dann"
    paper = recipe("friedrich2019").private_settings(system(REPRESENTATION))
    assert (paper.pairs, paper.adversary, paper.layers) == ("one-sided", 300, 2)


def test_a_setting_that_a_representation_lacks_is_refused() -> None:
    with pytest.raises(UnknownNameError):
        recipe(representation=(("sizes", 100),)).private_settings(system(REPRESENTATION))


def test_taggers_have_table_1_then_the_sizes_then_what_was_given() -> None:
    made = recipe(tagger=(("epochs", 3),))
    assert made.tagger_settings(TAGGER)["epochs"] == made.tagger_settings(PRIVATE_TAGGER)["epochs"] == 3
    tagger = made.new_tagger(Cell(System("non-private-cbow", "non-private", "cbow"), 4))
    assert (tagger.settings.features, tagger.settings.char_dim, tagger.settings.epochs) == ("casing", 0, 3)
    assert tagger.settings.hidden == SIZES["default"].tagger["hidden"]


@pytest.mark.parametrize(("words", "folds"), [(("a", "00"), True), (("a", "12"), False)])
def test_digits_are_folded_where_the_vectors_fold_them(words: tuple[str, ...], folds: bool) -> None:
    cell = Cell(System("non-private-cbow", "non-private", "cbow"), 0)
    assert recipe(words=words).new_tagger(cell).settings.fold_digits is folds


def test_the_settings_of_every_system_are_plain_data_and_say_which_representation() -> None:
    vectors = VectorSettings(sources={"cbow": "cbow"})
    further = (("deviation", 0.1), ("rounds", 2))
    experiment = PrivateArguments(vectors=vectors, pooling=True, pooled=(further,), pseudonyms=(1,))
    found = settings_by_system(experiment, recipe())
    assert found["representation-cbow-100"]["representation procedure"] == "three-part"
    assert found["pooled-representations"]["representation neighbours"] == 100
    assert found["pooled-representations"]["representation deviation"] == 1.5
    assert found["pooled-representations-deviation=0.1-rounds=2"]["representation deviation"] == 0.1
    assert found["dann-cbow-100"]["representation procedure"] == "dann"
    assert "representation size" not in found["pseudonyms-cbow-1"]
    assert found["pseudonyms-cbow-1"]["neighbours"] == 1
    assert found["pooled-pseudonyms"]["neighbours"] == 100
    assert found["non-private-cbow"]["features"] == "casing"
    assert found["alone-hospital-a"]["part"] == "hospital-a"


def test_of_hospitals_that_pool_what_they_publish_is_attacked_by_who_has_the_providers_notes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = enumerate(["Doe", "Roe"] * 4)
    notes = [Document(str(n), f"Seen by {name} {n}", (Span(8, 11, "DOCTOR"),)) for n, name in names]
    corpus = Corpus("invented", "jsonl", "all", Split.of(notes[:6]), Split.of(notes[6:]), None)
    parts = learning.shared_out(corpus.train)
    learned_from: dict[str, Any] = {}

    def representation(*given: Any) -> Any:
        learned_from["representation"] = given[2]
        return SimpleNamespace(model=None, history=())

    tagger = SimpleNamespace(fit_shared=lambda shared, *_, **__: learned_from.update(tagger=shared))
    monkeypatch.setattr(learning, "trained_representation", representation)
    monkeypatch.setattr("rnn.privacy.release.encode_notes", lambda sentences, *_, **__: sentences)
    monkeypatch.setattr(Recipe, "new_private_tagger", lambda *_: tagger)
    cell = Cell(System("pooled", "pooled-representations", "cbow"), 0)
    found = learning.learn_pooled_representations(replace(recipe(), parts=parts), cell, corpus, lambda _: None)
    assert learned_from["representation"] is parts[PROVIDER]
    assert found.attacked is not None
    assert found.attacked.train is parts[PROVIDER]
    assert found.attacked.scored.documents == (*parts[HOSPITALS[0]].documents, *parts[HOSPITALS[1]].documents)
    assert list(found.attacked.scored.sentences) == list(found.sentences)
    assert [sentence for shared in learned_from["tagger"] for sentence in shared] == list(found.sentences)

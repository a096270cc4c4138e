"""Word vectors: what each kind learns from, and what is told of them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from crfdeid.corpora.splits import Corpus, Split
from crfdeid.documents import Document
from crfdeid.errors import FormatError
from experiments.core.embeddings import (
    EMBEDDING_KINDS,
    RECIPES,
    EmbeddingRecipe,
    VectorSettings,
    embedding_name,
    prepare_embeddings,
)
from experiments.core.systems import Cell, System, make_tagger
from rnn.embeddings import SubwordVectors, WordVectors

NOTES = Split.of([Document(f"n{n}", f"word{'abcdefgh'[n]} seen") for n in range(8)])
CORPUS = Corpus("invented", "jsonl", "seven", NOTES, Split.of([Document("d", "unheard")]), None)


@dataclass(frozen=True)
class CountSettings:
    epochs: int = 2


def train_counts(text: Sequence[Sequence[str]], settings: CountSettings, *, seed: int, on_progress: Any) -> WordVectors:
    """One vector a word: how often it occurs."""
    for epoch in range(1, settings.epochs + 1):
        on_progress(epoch, settings.epochs)
    words = sorted({word for sentence in text for word in sentence})
    counts = [[sum(sentence.count(word) for sentence in text)] for word in words]
    return WordVectors(tuple(words), np.array(counts, np.float32))


@pytest.fixture
def _counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A kind of word vectors named "counts", added by its row in the table alone."""
    module = ModuleType("count_vectors")
    module.Settings, module.train = CountSettings, train_counts  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "count_vectors", module)
    monkeypatch.setitem(RECIPES, "counts", EmbeddingRecipe("count_vectors:Settings", "count_vectors:train", ("numpy",)))
    monkeypatch.setattr("experiments.core.embeddings.EMBEDDING_KINDS", (*EMBEDDING_KINDS, "counts"))
    monkeypatch.setenv("CRFDEID_CACHE", str(tmp_path / "cache"))


def prepare(settings: VectorSettings, **options: Any) -> Any:
    return prepare_embeddings(settings.sources, CORPUS, settings, **{"on_step": lambda *step: None, **options})


@pytest.mark.usefixtures("_counts")
def test_vectors_of_a_share_know_the_words_of_that_share_alone() -> None:
    found = prepare(VectorSettings(sources={"counts": "counts"}), fractions=[0.5, 0.25])
    words = {share: set(vectors.words) for (_, share), vectors in found.vectors.items()}
    for share in (1.0, 0.5, 0.25):
        assert words[share] == CORPUS.part(share).words
    assert [len(words[share]) for share in (1.0, 0.5, 0.25)] == [9, 5, 3]
    assert found.facts["counts"]["words"] == 9


@pytest.mark.usefixtures("_counts")
def test_a_network_that_learns_from_a_share_starts_from_its_vectors() -> None:
    found = prepare(VectorSettings(sources={"counts": "counts"}), fractions=[0.25])
    system = System("elman", "elman", "counts")
    whole, part = (make_tagger(Cell(system, 0, share), "default", found.vectors) for share in (1.0, 0.25))
    assert (len(whole.vectors), len(part.vectors)) == (9, 3)


@pytest.mark.usefixtures("_counts")
def test_unlabelled_text_is_learned_from_with_every_share(tmp_path: Path) -> None:
    more = tmp_path / "more.txt"
    more.write_text("quite new", "utf-8")
    found = prepare(VectorSettings(sources={"counts": "counts"}, unlabelled=(more,)), fractions=[0.25])
    assert all({"quite", "new"} <= set(vectors.words) for vectors in found.vectors.values())
    assert found.facts["counts"]["text_words"] == 2 * 8 + 2


@pytest.mark.usefixtures("_counts")
def test_each_training_tells_its_steps_and_the_facts_are_of_the_whole() -> None:
    told: list[tuple[str, int, int]] = []
    found = prepare(
        VectorSettings(sources={"counts": "counts", "random": "random"}),
        fractions=[0.25],
        on_step=lambda *step: told.append(step),
    )
    assert told == [
        *(("counts vectors", 1, 2), ("counts vectors", 2, 2)),
        *(("counts vectors of 0.25 of the text", 1, 2), ("counts vectors of 0.25 of the text", 2, 2)),
    ]
    facts = found.facts["counts"]
    assert (facts["kind"], facts["dim"]) == ("counts", 1)
    assert facts["out_of_vocabulary"]["dev"] == {"tokens": 1.0, "types": 1.0}
    assert len(bytes.fromhex(facts["sha256"])) == 32
    assert set(found.facts) == {"counts", "random"}
    assert {name for name, _ in found.vectors} == {"counts"}


def test_vectors_of_a_file_are_the_same_for_every_share(tmp_path: Path) -> None:
    file = tmp_path / "tiny.vec"
    file.write_text("2 3\nseen 0.1 0.2 0.3\nby 0.3 0.2 0.1\n", "utf-8")
    found = prepare(VectorSettings(sources={"tiny": str(file)}), fractions=[0.25])
    assert found.vectors["tiny", 1.0] is found.vectors["tiny", 0.25]
    assert found.facts["tiny"]["kind"] == "pretrained"


def test_fasttext_says_that_it_makes_vectors_of_parts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CRFDEID_CACHE", str(tmp_path / "cache"))
    found = prepare(VectorSettings(sources={"fasttext": "fasttext"}))
    facts, vectors = found.facts["fasttext"], found.vectors["fasttext", 1.0]
    assert (facts["subword_buckets"], facts["notices"]) == (50_000, [])
    assert np.any(vectors.subwords.vector("unheard"))


def test_buckets_that_are_left_out_are_a_notice(tmp_path: Path) -> None:
    from gensim.models import FastText  # noqa: PLC0415
    from gensim.models.fasttext import save_facebook_model  # noqa: PLC0415

    model = FastText([["seen", "word"]], vector_size=1, min_count=1, epochs=1, workers=1, bucket=200_001)
    save_facebook_model(model, str(tmp_path / "cc.es.bin"))
    facts = prepare(VectorSettings(sources={"cc": str(tmp_path / "cc.es.bin")})).facts["cc"]
    assert facts["subword_buckets"] == 0
    assert [notice.split(";")[0] for notice in facts["notices"]] == [
        "cc.es.bin: its n-grams have 200,001 buckets, too many to store with a model"
    ]


@pytest.mark.usefixtures("_counts")
def test_other_vectors_of_parts_are_other_vectors(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    hashes = set()
    for number in (1, 2):
        parts = SubwordVectors(np.full((3, 1), number, np.float32), 3, 6)
        vectors = WordVectors(("seen",), np.ones((1, 1), np.float32), parts)
        monkeypatch.setattr(sys.modules["count_vectors"], "train", lambda *_, found=vectors, **__: found)
        monkeypatch.setenv("CRFDEID_CACHE", str(tmp_path / str(number)))
        hashes.add(prepare(VectorSettings(sources={"counts": "counts"})).facts["counts"]["sha256"])
    assert len(hashes) == 2


def test_what_no_system_starts_from_is_not_made() -> None:
    settings = VectorSettings(sources={"rnnlm": "rnnlm"})
    found = prepare_embeddings([None], CORPUS, settings, on_step=lambda *step: None)
    assert (found.vectors, found.facts, found.neighbours) == ({}, {}, {})


def test_a_folder_without_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError):
        prepare(VectorSettings(sources={"cbow": "cbow"}, unlabelled=(tmp_path,)))


@pytest.mark.parametrize(("source", "name"), [("cbow", "cbow"), ("a/glove.6B.300d.txt", "glove"), (".vec", ".vec")])
def test_word_vectors_are_called_by_their_kind_or_their_file(source: str, name: str) -> None:
    assert embedding_name(source) == name


@pytest.mark.usefixtures("_counts")
def test_all_vectors_can_be_had_side_by_side_for_the_words_of_the_corpus(tmp_path: Path) -> None:
    (tmp_path / "near.txt").write_text("2 2\nseen 3 -3\nfar -3 3\n")
    sources = {"random": "random", "counts": "counts", "near": str(tmp_path / "near.txt")}
    settings = VectorSettings(sources=sources)
    found = prepare_embeddings((*sources, "all"), CORPUS, settings, joined="all", on_step=lambda *step: None)
    vectors = found.vectors["all", 1.0]
    rows = dict(zip(vectors.words, vectors.table.tolist(), strict=True))
    assert (vectors.dim, found.facts["all"]["kind"]) == (1 + 2, "all")
    assert rows["seen"][1:] == [1.0, -1.0]
    assert "unheard" not in rows and "far" not in rows
    assert rows["worda"][0] > 0 and rows["worda"][1:] == [0.0, 0.0]
    unknown = found.facts["all"]["out_of_vocabulary"]
    assert (unknown["train"]["tokens"], unknown["dev"]["tokens"]) == (0.0, 1.0)
    assert "all" not in prepare(settings).facts

"""A tiny invented corpus, models to run on it, and the environment put back after each test."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

import pytest
from invented_notes import DOCTORS, notes

from crfdeid.corpora import write_corpus
from crfdeid.documents import Document, LabelledSentence, Span
from crfdeid.registry import MODELS
from crfdeid.tagger import FitProgress, Tagger, Traits


@pytest.fixture
def corpus_folder(tmp_path: Path) -> Path:
    """train.jsonl, dev.jsonl and test.jsonl."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    for name, count, start in (("train", 20, 0), ("dev", 4, 30), ("test", 6, 40)):
        write_corpus(notes(name, count, start=start), folder / f"{name}.jsonl", format="jsonl")
    return folder


@pytest.fixture
def one_length_folder(tmp_path: Path) -> Path:
    """The same three files with sentences of one length: a network compiles its training once for each length."""
    folder = tmp_path / "one_length"
    folder.mkdir()
    for name, count in (("train", 20), ("dev", 4), ("test", 6)):
        texts = [f"Seen by {DOCTORS[n % 2]} {name}{n}" for n in range(count)]
        documents = [Document(f"{n}", text, (Span(8, text.rindex(" "), "DOCTOR"),)) for n, text in enumerate(texts)]
        write_corpus(documents, folder / f"{name}.jsonl", format="jsonl")
    return folder


@pytest.fixture(autouse=True)
def _environment() -> Iterator[None]:
    """The command sets variables for JAX and BLAS; they must not reach other tests."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


@dataclasses.dataclass(frozen=True)
class MemorySettings:
    window: int = 1
    loss: float = 0.5


class MemoryTagger(Tagger):
    """Gives each word the tag it had last in training, O where it is new; counts its calls."""

    settings_class = MemorySettings
    predict_calls = 0

    def __init__(self, settings: MemorySettings | None = None, *, seed: int = 0) -> None:
        self.settings = settings or MemorySettings()
        self._tags: tuple[str, ...] = ()
        self.seed = seed

    @classmethod
    def profiles(cls) -> dict[str, MemorySettings]:
        return {"default": MemorySettings(), "yadav2016": MemorySettings(window=2)}

    @classmethod
    def traits(cls, settings: MemorySettings) -> Traits:
        return Traits(uses_seed=True, is_trained=True, accelerated=True, takes_vectors=False, public_vocabulary=False)

    @property
    def tags(self) -> tuple[str, ...]:
        return self._tags

    def fit(self, train: Sequence[LabelledSentence], dev: Sequence[LabelledSentence], *, on_progress=None) -> None:
        pairs = [
            (word, tag) for labelled in train for word, tag in zip(labelled.sentence.words, labelled.tags, strict=True)
        ]
        self.memory = dict(pairs)
        self._tags = tuple(sorted(set(self.memory.values())))
        for step in (1, 2):
            on_progress(FitProgress(step, 2, self.settings.loss, 0.5 * step))

    def predict(self, sentences) -> list[list[str]]:
        MemoryTagger.predict_calls += 1
        return [[self.memory.get(word, "O") for word in sentence.words] for sentence in sentences]

    def save(self, folder: Path) -> None:
        (folder / "model.json").write_text('{"model": "memory"}', "utf-8")


@pytest.fixture
def memory_model(monkeypatch: pytest.MonkeyPatch) -> type[MemoryTagger]:
    """A model named "memory", added by its line in MODELS alone."""
    module = ModuleType("memory_model")
    module.MemoryTagger = MemoryTagger
    monkeypatch.setitem(sys.modules, "memory_model", module)
    monkeypatch.setitem(MODELS, "memory", "memory_model:MemoryTagger")
    monkeypatch.setattr(MemoryTagger, "predict_calls", 0)
    return MemoryTagger

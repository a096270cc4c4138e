"""Models of PHI and concepts: what their concepts tell of the PHI, and what their files tell without the key.

The notes are poisoned: whether rest is a treatment depends on nothing but who ordered it. A model that sees the name
when it looks for concepts learns that, and its concepts then tell which of two hidden names stands in a note.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crfdeid.corpora.splits import Corpus, Split
from crfdeid.documents import CONCEPT, PHI, Document, Span
from crfdeid.model_card.training import train_model
from crfdeid.pipeline import load
from crfdeid.registry import create
from crfdeid.tagger import VocabularyProbe

KEY = bytes(range(32))
NAMES = ("Quill", "VOLE")  # of other shapes: what is not known as a word is told apart by its shape
HALVES = {"deid": "crf", "concepts": "crf", "c1": 0.0, "max_iterations": 60, "folds": 2}
OVERT = {"learns_from": "original", "reads": "original"}
TINY = {"hidden": 8, "embedding_dim": 8, "char_dim": 0, "features": "none", "context": 0, "lr": 0.05, "min_count": 1}
LEARNED = {"epochs": 40, "phi_first": 0, "batch": 4, "patience": None, "average": 0.0}
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "pipeline": ("pipeline", HALVES),
    "stacked": ("stacked", {**TINY, **LEARNED}),
    "overt": ("pipeline", {**HALVES, **OVERT}),
}


def note(number: int) -> Document:
    """Rest is a treatment where Quill orders it."""
    name = NAMES[number % 2]
    text = f"Dr {name} ordered rest ."
    start = text.index("rest")
    concepts = [Span(start, start + 4, "TREATMENT")] if name == "Quill" else []
    return Document(str(number), text, (Span(3, 3 + len(name), "DOCTOR"),), layers={CONCEPT: concepts})


# A network takes ten seconds to compile: the other attacks together take twenty.
_PARAMS = [pytest.param(name, marks=pytest.mark.slow if name == "stacked" else ()) for name in MODELS]


@pytest.fixture(scope="module", params=_PARAMS)
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, quickly_compiled: None) -> Path:
    """A model trained on the poisoned notes with a private vocabulary."""
    name, settings = MODELS[request.param]
    folder = tmp_path_factory.mktemp("models") / request.param
    split = Split.of(note(number) for number in range(8))
    corpus = Corpus("notes", "jsonl", "all", split, split, None)
    train_model(create(name, overrides=settings), corpus, folder, key=KEY)
    return folder


def test_concepts_do_not_tell_which_name_was_hidden(model: Path) -> None:
    """They do where nothing is hidden from what looks for them: the attack can succeed."""
    found = [load(model, key=KEY).annotate(note(number).text) for number in (0, 1)]
    assert [[item.text[start:end] for start, end, _ in item.layer(PHI)] for item in found] == [[name] for name in NAMES]
    told = [[label for _, _, label in item.layer(CONCEPT)] for item in found]
    assert (told[0] != told[1]) == (model.name == "overt")


def test_what_looks_for_concepts_has_not_stored_the_names(model: Path) -> None:
    """Nor can who has the key ask it for them."""
    tagger = load(model, key=KEY).tagger
    assert isinstance(tagger, VocabularyProbe)
    assert tagger.stores([*NAMES, "rest"]) == [model.name == "overt"] * 2 + [True]


def test_no_word_can_be_read_back_or_looked_up_without_the_key(model: Path) -> None:
    """Not in any spelling, and not by a digest that anybody can compute of a guess."""
    content = b"\n".join(_unpacked(path.read_bytes()) for path in model.iterdir()).lower()
    assert b"treatment" in content
    for word in (*NAMES, "ordered"):
        for guess in {word, word.lower(), word.upper(), word[::-1]}:
            assert not [form for form in _forms(guess) if form.lower() in content], guess


def test_the_forms_of_a_guess_are_found_where_they_stand() -> None:
    """The test above can fail: in a zip in a zip, and for each digest."""
    for form in _forms("Quill"):
        inner = io.BytesIO()
        with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("a", form * 9)
        outer = io.BytesIO()
        with zipfile.ZipFile(outer, "w") as packed:
            packed.writestr("b", inner.getvalue())
        assert form in _unpacked(outer.getvalue()) and form not in inner.getvalue()


def _unpacked(content: bytes) -> bytes:
    """A file's bytes, and those of all that is packed in it."""
    if not zipfile.is_zipfile(io.BytesIO(content)):
        return content
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        return b"\n".join([content, *(_unpacked(packed.read(name)) for name in packed.namelist())])


def _forms(word: str) -> Iterator[bytes]:
    """How a word could stand in a file, for somebody who guesses it."""
    for encoding in ("utf-8", "utf-16-le", "utf-32-le"):
        yield word.encode(encoding)
    for key in (b"", bytes(32)):
        for size in (16, 32, 64):
            yield from _digests(hashlib.blake2b(word.encode(), digest_size=size, key=key).digest())
    for name in ("md5", "sha1", "sha256", "sha512"):
        yield from _digests(hashlib.new(name, word.encode()).digest())


def _digests(digest: bytes) -> tuple[bytes, bytes]:
    return digest, digest.hex().encode()

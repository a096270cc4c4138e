"""``crfdeid train --finetune-from``: what goes on, what stays, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from commands import error_of

from crfdeid import Document, Span, load, write_corpus
from crfdeid.cli import main
from crfdeid.errors import NotFoundError, OptionConflictError, SecretError, UsageError
from crfdeid.model_card.card import model_digest, read_card
from crfdeid.registry import load_tagger
from crfdeid.secrets import read_secret, vocabulary_key
from features.tokens import Sentence

SETTINGS = ("epochs=8", "embedding_dim=8", "hidden=8", "window=3", "min_count=1")
SMALL = [part for setting in SETTINGS for part in ("--set", setting)]
HERE = ("Brown", "Quill", "Marsh", "Vole", "Poe")
THERE = ("Zuber", "Yardley", "Xanthos", "Wick", "Oda")

pytestmark = pytest.mark.usefixtures("quickly_compiled")


def notes(path: Path, names: tuple[str, ...], label: str = "DOCTOR", word: str = "by") -> Path:
    documents = [
        Document(f"{n}", f"Seen {word} {name} now", (Span(6 + len(word), 6 + len(word) + len(name), label),))
        for n, name in enumerate(names * 4)
    ]
    write_corpus(documents, path, format="jsonl")
    return path


def command(folder: Path, out: str, *more: str) -> list[str]:
    return ["train", "--dev", str(folder / "dev.jsonl"), "--output", str(folder / out), "--augment", "none", *more]


def train(folder: Path, out: str, *more: str) -> int:
    return main(command(folder, out, *more))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Notes from here and from there, and ``model``, an Elman network that learned from those here."""
    path = tmp_path_factory.mktemp("start")
    notes(path / "here.jsonl", HERE)
    notes(path / "there.jsonl", THERE, word="per")
    notes(path / "dev.jsonl", THERE, word="per")
    notes(path / "typed.jsonl", THERE, label="NURSE")
    learned = [str(path / "here.jsonl"), "--model", "elman"]
    assert train(path, "model", *learned, *SMALL) == 0
    return path


def test_it_goes_on_and_keeps_settings_tags_and_words(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = model_digest(folder / "model")
    again = ["--finetune-from", str(folder / "model"), str(folder / "there.jsonl"), "--set", "epochs=5"]
    assert train(folder, "new", *again) == 0
    printed, noted = capsys.readouterr()
    assert f"Training went on from the model: {before}" in printed and "trained elman in" in noted
    assert train(folder, "same", *again, "--model", "elman") == 0
    old, new, same = (load_tagger(folder / name) for name in ("model", "new", "same"))
    assert (new.settings.epochs, new.settings.hidden, new.tags) == (5, 8, old.tags)
    words = [json.loads((folder / name / "model.json").read_text())["processor"]["words"] for name in ("model", "new")]
    assert words[0] == words[1] and "Quill" in words[1] and "Zuber" not in words[1]
    sentence = [Sentence.from_words(["Seen", "per", "Zuber", "now"])]
    assert load(folder / "new").annotate("Seen per Zuber now").spans == (Span(9, 14, "DOCTOR"),)
    assert not np.array_equal(new.marginals(sentence)[0], old.marginals(sentence)[0])
    np.testing.assert_array_equal(new.marginals(sentence)[0], same.marginals(sentence)[0])
    card = read_card(folder / "new")
    assert card is not None and card["base_model_sha256"] == before == model_digest(folder / "model")


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--model", "jordan"], "--model jordan: --finetune-from names a model elman"),
        (["--profile", "yadav2016"], "--profile is for a new model"),
        (["--private-vocabulary"], "--private-vocabulary is for a new model"),
        (["--set", "min_documents=2"], "min_documents"),
        (["--set", "encoder=x"], "encoder"),
        (["--set", "hidden=9"], "structure than the trained one: leave out settings that change the network"),
        (["--set", "epoch=9"], "no setting 'epoch' in elman: did you mean 'epochs'?"),
        (["--set", "epochs=0"], "epochs is 0"),
    ],
)
def test_what_the_trained_model_has_answered_is_refused(
    folder: Path, more: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    start = ["--finetune-from", str(folder / "model"), str(folder / "there.jsonl")]
    assert train(folder, "refused", *start, *more) == 2
    assert says in capsys.readouterr().err
    assert not (folder / "refused").exists()


def test_tags_that_it_lacks_are_named_and_nothing_is_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(folder, "refused", "--finetune-from", str(folder / "model"), str(folder / "typed.jsonl")) == 2
    said = capsys.readouterr().err
    assert "the notes have the tags B-NURSE, which the model to fine-tune lacks: it knows B-DOCTOR, O" in said
    assert not (folder / "refused").exists()


def test_no_model_and_one_that_is_no_network_are_refused(folder: Path) -> None:
    more = [str(folder / "there.jsonl")]
    assert type(error_of(*command(folder, "refused", "--finetune-from", str(folder), *more))) is NotFoundError
    assert train(folder, "crf", *more, "--model", "crf", "--set", "max_iterations=5") == 0
    assert (
        type(error_of(*command(folder, "refused", "--finetune-from", str(folder / "crf"), *more)))
        is OptionConflictError
    )


def test_hashed_words_stay_hashed_under_the_same_secret(folder: Path) -> None:
    secrets = {name: folder / name for name in ("secret", "other")}
    for name, path in secrets.items():
        path.write_text(name * 8)
        path.chmod(0o600)
    key = vocabulary_key(read_secret(secrets["secret"]))
    load_tagger(folder / "model").save(folder / "hashed", key=key)
    more = ["--finetune-from", str(folder / "hashed"), str(folder / "there.jsonl"), "--set", "epochs=5"]
    assert type(error_of(*command(folder, "refused", *more))) is SecretError
    assert type(error_of(*command(folder, "refused", *more, "--key-file", str(secrets["other"])))) is SecretError
    assert not (folder / "refused").exists()
    assert train(folder, "kept", *more, "--key-file", str(secrets["secret"])) == 0
    assert train(folder, "plain", "--finetune-from", str(folder / "model"), *more[2:]) == 0
    described = [json.loads((folder / name / "model.json").read_text()) for name in ("hashed", "kept")]
    assert described[0]["processor"]["words"] == described[1]["processor"]["words"]
    assert described[1]["vocabulary"] == "hashed"
    assert not [name for name in (*HERE, *THERE) if name.encode() in (folder / "kept" / "model.json").read_bytes()]
    kept, plain = load_tagger(folder / "kept", key=key), load_tagger(folder / "plain")
    sentences = [Sentence.from_words(["Seen", "per", name, "now"]) for name in ("Zuber", "Quill", "zuber", "12")]
    for hashed, readable in zip(kept.marginals(sentences), plain.marginals(sentences), strict=True):
        np.testing.assert_allclose(hashed, readable, rtol=0, atol=1e-5)


def test_a_secret_for_words_that_can_be_read_is_refused(folder: Path) -> None:
    more = ["--finetune-from", str(folder / "model"), str(folder / "there.jsonl"), "--key-file", "x"]
    assert type(error_of(*command(folder, "refused", *more))) is UsageError

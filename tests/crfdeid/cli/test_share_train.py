"""``crfdeid share train`` and ``share attack``: what the provider makes, and what a hospital tries first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import error_of
from tiny_sharing import NAMES, PUBLIC_WORDS, tiny_notes, tiny_representation

from crfdeid import write_corpus
from crfdeid.cli import main
from crfdeid.errors import DataError, IntegrityError
from crfdeid.evaluation.tokens import Proportion
from rnn.privacy.attack_card import CARD, read_attack_card, save_card
from rnn.privacy.attacks.same_sentence import AttackOutcome
from rnn.privacy.representation import RepresentationModel
from rnn.privacy.settings import settings_of
from rnn.privacy.training import Epoch, TrainedRepresentation

pytestmark = pytest.mark.usefixtures("quickly_compiled")

SETTINGS = ("neighbours=5", "size=6", "adversary=4", "hidden=4", "epochs=1", "adversary_epochs=1", "rounds=1")
LITTLE = ["--budget", "epochs=1", "--budget", "adversaries=1", "--budget", "names=1"]


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("notes")
    for name, part in (("train", tiny_notes(12)), ("dev", tiny_notes(6, first=12)), ("other", tiny_notes(8, first=20))):
        write_corpus(part, folder / f"{name}.jsonl", format="jsonl")
    table = np.random.default_rng(0).normal(size=(len(PUBLIC_WORDS), 8))
    rows = [" ".join([word, *(f"{x:.4f}" for x in row)]) for word, row in zip(PUBLIC_WORDS, table, strict=True)]
    (folder / "vectors.txt").write_text("\n".join(rows) + "\n")
    return folder


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """No adversary is trained and no representation: what training would have been given is written down."""
    given: list[Any] = []

    def train_representation(train: Any, dev: Any, vectors: Any, settings: Any, **more: Any) -> TrainedRepresentation:
        given.append((train, dev, vectors, settings))
        model = RepresentationModel.untrained(vectors, settings, seed=more["seed"])
        epoch = Epoch("P1", 1.5, 1.25, 0.1, 0.2)
        more["on_progress"](epoch)
        return TrainedRepresentation(model, model, {"adversaries": None}, (epoch,))

    def attack_pairs(*_: Any, **__: Any) -> list[AttackOutcome]:
        return [AttackOutcome(0, 1, "T1", Proportion(26, 50), 26, 50)]

    monkeypatch.setattr("rnn.privacy.attack_card.train_representation", train_representation)
    monkeypatch.setattr("rnn.privacy.attack_card.attack_pairs", attack_pairs)
    return given


def share_train(notes: Path, out: Path, *more: str) -> int:
    paths = [str(notes / "train.jsonl"), "--dev", str(notes / "dev.jsonl"), "--output", str(out)]
    others = [setting for setting in SETTINGS if setting.partition("=")[0] not in " ".join(more)]
    tiny = [part for setting in others for part in ("--set", setting)]
    return main(["share", "train", *paths, *tiny, *LITTLE, *more])


def test_the_provider_gets_a_representation_with_its_card(
    notes: Path, quick: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "representation"
    assert share_train(notes, out, "--vectors", str(notes / "vectors.txt")) == 0
    printed, told = capsys.readouterr()
    model = RepresentationModel.load(out)
    assert sorted(path.name for path in out.iterdir()) == [CARD, "model.json", "weights.npz"]
    assert (model.settings.neighbours, model.size, model.vectors.words) == (5, 6, PUBLIC_WORDS)
    assert f"representation: {out}, digest {model.digest}" in told
    assert "P1: loss 1.500, held out 1.250, noise of inputs 0.100 and outputs 0.200" in told
    assert "| are two of one sentence?" in printed
    card = read_attack_card(out)
    assert card is not None and (card["representation"], card["attacked_notes"]) == (model.digest, "dev")
    assert card["history"] == [Epoch("P1", 1.5, 1.25, 0.1, 0.2)._asdict()]
    assert not [name for name in NAMES if name in printed + told]
    assert main(["info", str(out)]) == 0
    assert printed in capsys.readouterr().out  # the figures of the attacks
    ((train, dev, *_),) = quick
    assert ({item.document for item in dev}, len(train)) == ({f"note-{n}" for n in range(12, 18)}, 36)


def test_vectors_are_learned_from_the_providers_notes(notes: Path, quick: list[Any], tmp_path: Path) -> None:
    assert share_train(notes, tmp_path / "representation", "--vectors", "cbow") == 0
    vectors = quick[0][2]
    assert {"Seen", "Quill"} <= set(vectors.words) and vectors.subwords is None


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        (["--set", "neighbors=5"], 2, "no setting 'neighbors' in a representation: did you mean 'neighbours'"),
        (["--set", "neighbours=1"], 2, "neighbours is 1"),
        (["--profile", "yadav2016"], 2, "unknown profile 'yadav2016' of a representation"),
        (["--vectors", "word2vec"], 1, "word2vec: cannot be read"),
        (["--adversaries", "0"], 2, "--adversaries"),
    ],
)
def test_what_cannot_work_is_refused_before_training(
    options: list[str],
    code: int,
    says: str,
    notes: Path,
    quick: list[Any],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert share_train(notes, tmp_path / "representation", *options) == code
    assert says in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [] and quick == []


def test_a_training_that_fails_leaves_nothing(
    notes: Path, quick: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise DataError("no PHI that could be replaced")

    monkeypatch.setattr("rnn.privacy.attack_card.attack_pairs", fail)
    assert share_train(notes, tmp_path / "representation", "--vectors", str(notes / "vectors.txt")) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_hospital_tries_the_attacks_and_nothing_is_written(
    notes: Path, quick: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tiny_representation().save(tmp_path)
    before = {path: path.read_bytes() for path in (*tmp_path.iterdir(), *notes.iterdir())}
    fixed = [str(tmp_path), str(notes / "other.jsonl"), *LITTLE]
    assert main(["share", "attack", *fixed]) == 0
    printed, told = capsys.readouterr()
    assert "| which of its 5 neighbours a name is: the mean of 16 draws" in printed
    assert "(4 documents) as text" in printed
    assert [line for line in told.splitlines() if not line.startswith("attack: ")] == []
    assert main(["share", "attack", *fixed, "--attacker-notes", str(notes / "train.jsonl")]) == 0
    printed += capsys.readouterr().out
    assert "(12 documents) as text" in printed and not [name for name in NAMES if name in printed + told]
    assert {path: path.read_bytes() for path in (*tmp_path.iterdir(), *notes.iterdir())} == before


def test_settings_of_a_paper_can_be_started_from() -> None:
    assert settings_of("friedrich2019", {"size": 100}).pairs == "one-sided"


def test_a_representation_is_inspected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tiny_representation()
    model.save(tmp_path)
    assert main(["info", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    inputs, outputs = (
        f"{np.log1p(np.exp(model.weights[f'{place}_noise.s'])).mean():.3f}" for place in ("input", "output")
    )
    for said in (
        f"# Private representation: {tmp_path.name}",
        f"- Digest: {model.digest}",
        f"- Size: {model.size} numbers a token",
        f"- Neighbours: N = {model.settings.neighbours}: ",
        f"standard deviation {inputs} of the inputs",
        f"and {outputs} of the outputs",
        f"- Vocabulary: {len(model.vectors.words)} words with vectors of size {model.vectors.dim}",
        "neighbours=5, size=",
        "It has not been attacked yet",
    ):
        assert said in printed
    for card in (
        {},
        {"same_sentence": {"fresh": {"count": "all", "total": 1}}},
        {"same_sentence": [], "neighbours": 5},
    ):
        save_card(tmp_path, card)  # with its checksum
        assert type(error_of("info", tmp_path)) is IntegrityError
    weights = tmp_path / "weights.npz"
    weights.write_bytes(weights.read_bytes()[:-1])
    assert main(["info", str(tmp_path)]) == 1
    assert "weights are damaged" in capsys.readouterr().err

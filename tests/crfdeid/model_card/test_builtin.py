"""The model 'synthetic': what it says of itself, to a command's user and to Python's, and when it is trained."""

from pathlib import Path

import pytest

from crfdeid import create, load
from crfdeid.cli import main
from crfdeid.corpora.splits import Corpus, Split
from crfdeid.corpora.synthetic import generate, generate_notes
from crfdeid.model_card import builtin
from crfdeid.model_card.card import read_card


def quick_built_in_model(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    """Train the built-in model in few steps, and keep it in this folder."""
    monkeypatch.setenv("CRFDEID_CACHE", str(cache))
    monkeypatch.setattr(builtin, "create", lambda name: create(name, overrides={"max_iterations": 8}))


@pytest.mark.slow
def test_the_built_in_model_learns_from_the_whole_built_in_corpus(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    quick_built_in_model(monkeypatch, tmp_path)
    assert load("synthetic").annotate("Discharged on 03/14/1992.").spans
    card = read_card(next(tmp_path.glob("model-synthetic-*")))
    assert card is not None
    sizes = {name: part["documents"] for name, part in card["corpus"]["splits"].items()}
    assert sizes == {name: len(part) for name, part in generate("default", seed=0)._asdict().items()}


def test_the_built_in_model_is_trained_once_and_says_what_it_is(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    quick_built_in_model(monkeypatch, tmp_path)
    train, dev = list(generate_notes(40)), list(generate_notes(12, seed=1))
    small = Corpus("small", "synthetic", "seven", Split.of(train), Split.of(dev), None)
    monkeypatch.setattr("crfdeid.corpora.splits.generate_corpus", lambda profile: small)
    assert main(["inspect", "--model", "synthetic"]) == 0
    first = capsys.readouterr().err.splitlines()
    assert first[0].startswith("warning: the model 'synthetic'") and "not been validated on real ones" in first[0]
    assert first[1:] == [f"training it once, for {next(tmp_path.glob('model-synthetic-*'))}"]
    model = load("synthetic")
    assert capsys.readouterr() == ("", ""), "a library prints nothing"
    assert model.annotate("Discharged on 03/14/1992.").spans
    caplog.clear()
    with caplog.at_level("INFO"):
        again = load("synthetic")
    assert [(r.name.partition(".")[0], r.levelname) for r in caplog.records] == [("crfdeid", "WARNING")]
    assert "has not been validated" in caplog.text
    assert again.annotate("Discharged on 03/14/1992.") == model.annotate("Discharged on 03/14/1992.")
    (folder,) = tmp_path.glob("model-synthetic-*")
    (folder / "weights.npz").write_bytes(b"x")
    with caplog.at_level("INFO"):
        assert load("synthetic").annotate("Discharged on 03/14/1992.").spans
    assert "training it once" in caplog.text

"""One cell: what a run records, and how predictions become spans of documents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from crfdeid.documents import Document, Span
from crfdeid.errors import DataError
from crfdeid.tagger import FitProgress
from experiments.runs import Cell, Plan, predict_spans, run_cell, run_cells, save_model, score
from experiments.splits import Corpus, Split

FOUND = (Span(4, 7, "DOCTOR"), Span(12, 15, "PATIENT"), Span(20, 23, "DATE"))
NOTES = Split.of(
    [
        Document("a", "Dr. Doe saw Ann.\nOn 3/4.", FOUND),
        Document("empty", ""),
        Document("b", "Call Ann.", (Span(5, 8, "PATIENT"),)),
    ]
)


@pytest.fixture
def corpus() -> Corpus:
    return Corpus("invented", "jsonl", "seven", NOTES, NOTES, NOTES)


class Fixed:
    """Gives the tags it was built with, whatever is asked."""

    def __init__(self, tags: list[list[str]]) -> None:
        self.given = tags

    def predict(self, sentences: Sequence[Any]) -> list[list[str]]:
        assert [len(sentence.tokens) for sentence in sentences] == [len(row) for row in self.given]
        return self.given


def test_spans_go_to_their_documents_and_invalid_tags_begin_entities() -> None:
    rows = [["O", "O", "I-DOCTOR", "O", "B-PATIENT", "O"], ["O", "B-DATE", "I-DATE", "I-DATE", "O"], ["O", "O", "O"]]
    assert predict_spans(Fixed(rows), NOTES) == {
        "a": list(FOUND),
        "empty": [],
        "b": [],
    }


def test_scores_of_known_predictions() -> None:
    found = {"a": [Span(4, 7, "PATIENT"), Span(12, 16, "PATIENT"), Span(20, 23, "DATE")], "empty": [], "b": []}
    scores = score(NOTES.documents, found)
    counts = {name: tuple(s["micro"][c] for c in ("tp", "fp", "fn")) for name, s in scores.items()}
    # Tokens: Doe wrong type; Ann right with a wrong full stop after it; 3 / 4 right; the second Ann missed.
    assert counts == {
        "entity_strict": (1, 2, 3),
        "entity_relaxed": (2, 1, 2),
        "token": (4, 2, 2),
        "token_binary": (5, 1, 1),
    }


def test_a_run_records_scores_errors_curve_and_times(memory_model: Any, corpus: Corpus) -> None:
    told: list[tuple[Cell, FitProgress]] = []
    run = run_cell(Cell("memory", 7), corpus, Plan(), lambda *step: told.append(step))
    assert run.scores["entity_strict"]["micro"]["f1"] == 1.0
    assert run.predictions == {document.id: list(document.spans) for document in NOTES.documents}
    assert run.errors == ()
    assert run.tokens == 14
    assert [cell for cell, _ in told] == [Cell("memory", 7)] * 2
    found = run.to_dict()
    assert found["seed"] == 7
    assert found["learning_curve"] == [{"step": 1, "loss": 0.5, "dev_f1": 0.5}, {"step": 2, "loss": 0.5, "dev_f1": 1.0}]
    assert found["tokens_per_second"] == pytest.approx(14 / found["predict_seconds"])


@pytest.mark.parametrize("loss", [float("nan"), float("inf")])
def test_a_loss_that_overflowed_is_none(memory_model: Any, corpus: Corpus, loss: float) -> None:
    run = run_cell(Cell("memory", 0), corpus, Plan(overrides={"loss": loss}), lambda *step: None)
    assert [point["loss"] for point in run.to_dict()["learning_curve"]] == [None, None]


def test_errors_know_the_words_of_training_only(memory_model: Any) -> None:
    train = Split.of([Document("t", "Call Bob.", (Span(5, 8, "PATIENT"),))])
    corpus = Corpus("invented", "jsonl", "seven", train, train, NOTES)
    (run,) = run_cells([Cell("memory", 0)], corpus, Plan())
    assert {error.category for error in run.errors} == {"missed"}
    assert all("unseen" in error.causes for error in run.errors if error.gold.label != "DATE")


def test_the_profile_and_the_overrides_reach_the_model(
    memory_model: Any, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    fit = memory_model.fit

    def watched(self: Any, *args: Any, **options: Any) -> None:
        seen.append((self.settings.window, self.settings.loss, self.seed))
        fit(self, *args, **options)

    monkeypatch.setattr(memory_model, "fit", watched)
    list(run_cells([Cell("memory", 3)], corpus, Plan("paper", {"loss": 2.0, "hidden": 9}, tmp_path / "models")))
    assert seen == [(2, 2.0, 3)]
    assert (tmp_path / "models/memory/3/model.json").exists()


def test_a_model_that_cannot_be_saved_leaves_no_folder_of_the_final_name(tmp_path: Path) -> None:
    class Broken:
        def save(self, folder: Path) -> None:
            (folder / "model.json").write_text("half", "utf-8")
            raise OSError(28, "No space left on device")

    with pytest.raises(DataError, match="No space left on device"):
        save_model(Broken(), tmp_path / "models" / "crf" / "0")
    assert not (tmp_path / "models" / "crf" / "0").exists()

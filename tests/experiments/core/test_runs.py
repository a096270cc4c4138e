"""One cell: what a run records, and how predictions become spans of documents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples import values_of

from crfdeid.corpora.splits import Corpus, Split
from crfdeid.documents import PHI, Document, Span
from crfdeid.errors import WriteError
from crfdeid.evaluation.evaluate import predict_spans, score_all
from crfdeid.tagger import FitProgress
from crfdeid.utils.folders import write_folder
from experiments.compare.experiment import ComparePlan
from experiments.core.systems import Cell, System
from experiments.core.training import run_cells
from rnn.embeddings import WordVectors
from rnn.privacy.neighbours import Neighbours

MEMORY = System("memory", "memory")
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
    scores = score_all(NOTES.documents, found)
    counts = {name: tuple(s["micro"][c] for c in ("tp", "fp", "fn")) for name, s in scores.items()}
    # Tokens: Doe wrong type; Ann right with a wrong full stop after it; 3 / 4 right; the second Ann missed.
    assert counts == {
        "entity_strict": (1, 2, 3),
        "entity_relaxed": (2, 1, 2),
        "token": (4, 2, 2),
        "token_binary": (5, 1, 1),
        "token_binary_hipaa": (3, 1, 1),  # Doe, a doctor, is taken for a patient; full stops are no tokens
    }
    unnamed = {name: [span._replace(label="NAME") for span in spans] for name, spans in found.items()}
    assert "token_binary_hipaa" not in score_all(NOTES.documents, unnamed)


def test_a_run_records_scores_errors_curve_and_times(memory_model: Any, corpus: Corpus) -> None:
    told: list[tuple[Cell, FitProgress]] = []
    (run,) = ComparePlan().fit([Cell(MEMORY, 7)], corpus, lambda *step: told.append(step))
    assert run.predictions == {document.id: list(document.spans) for document in NOTES.documents}
    assert run.errors == ()
    assert [cell for cell, _ in told] == [Cell(MEMORY, 7)] * 2
    found = run.record
    assert (found["system"], found["seed"], found["fraction"], found["point"]) == ("memory", 7, 1.0, {})
    rows = found["measurements"]
    assert {(row["dataset"], row["layer"]) for row in rows} == {("", ""), ("invented", PHI)}
    assert values_of(rows, "dev") == {("Overall", "f1"): 1.0}
    assert values_of(rows, "entity_strict")["Overall", "f1"] == 1.0
    assert found["learning_curve"] == [{"step": 1, "loss": 0.5, "dev_f1": 0.5}, {"step": 2, "loss": 0.5, "dev_f1": 1.0}]
    times = values_of(rows, "time")
    assert times["Overall", "tokens_per_second"] == pytest.approx(14 / times["Overall", "predict_seconds"])


def test_copies_are_trained_on_where_they_are_asked_for_and_the_scored_notes_stay(memory_model: Any) -> None:
    train = Split.of(Document(str(n), "Seen by Doe", (Span(8, 11, "DOCTOR"),)) for n in range(4))
    scored = Split.of([Document("new", "seen by doe", (Span(8, 11, "DOCTOR"),))])
    corpus = Corpus("invented", "jsonl", "seven", train, scored, None)
    found = {}
    for how in ("none", "accents", "case"):
        (run,) = ComparePlan(augment=how).fit([Cell(MEMORY, 0)], corpus, lambda *step: None)
        found[how] = run.predictions
    assert found == {"none": {"new": []}, "accents": {"new": []}, "case": {"new": [Span(8, 11, "DOCTOR")]}}


def test_pseudonyms_are_trained_on_where_they_are_asked_for_and_the_scored_notes_stay(memory_model: Any) -> None:
    train = Split.of(Document(str(n), "Seen by Doe", (Span(8, 11, "DOCTOR"),)) for n in range(8))
    scored = Split.of([Document("new", "Seen by Roe", (Span(8, 11, "DOCTOR"),))])
    corpus = Corpus("invented", "jsonl", "seven", train, scored, None)
    vectors = WordVectors(("Doe", "Roe"), np.eye(2, dtype=np.float32))
    found = {}
    for count in (1, 2):
        plan = ComparePlan(neighbours={1.0: Neighbours.of(["Doe"], vectors, count)})
        (run,) = plan.fit([Cell(MEMORY, 0)], corpus, lambda *step: None)
        found[count] = run.predictions
        assert [("unseen" in error.causes) for error in run.errors] == [True] * (2 - count)
    assert found == {1: {"new": []}, 2: {"new": [Span(8, 11, "DOCTOR")]}}


@pytest.mark.parametrize("loss", [float("nan"), float("inf")])
def test_a_loss_that_overflowed_is_none(memory_model: Any, corpus: Corpus, loss: float) -> None:
    cell = Cell(System("memory", "memory", None, (("loss", loss),)), 0)
    (run,) = ComparePlan().fit([cell], corpus, lambda *step: None)
    assert [point["loss"] for point in run.record["learning_curve"]] == [None, None]


CALLS = Split.of([Document("t", "Call Bob.", (Span(5, 8, "PATIENT"),))])


def test_errors_know_the_words_of_training_only(memory_model: Any) -> None:
    corpus = Corpus("invented", "jsonl", "seven", CALLS, CALLS, NOTES)
    (run,) = run_cells([[Cell(MEMORY, 0)]], corpus, ComparePlan())
    assert {error.kind for error in run.errors} == {"missed"}
    assert all("unseen" in error.causes for error in run.errors if error.gold.label != "DATE")


def test_dev_is_scored_beside_the_test_split(memory_model: Any) -> None:
    (run,) = run_cells([[Cell(MEMORY, 0)]], Corpus("invented", "jsonl", "seven", CALLS, CALLS, NOTES), ComparePlan())
    rows = run.record["measurements"]
    assert values_of(rows, "dev")["Overall", "f1"] == 1.0
    assert values_of(rows, "entity_strict")["Overall", "f1"] == 0.0


def test_a_cell_of_a_sweep_never_looks_at_the_scored_split(memory_model: Any) -> None:
    corpus = Corpus("invented", "jsonl", "seven", CALLS, CALLS, NOTES)
    (run,) = run_cells([[Cell(MEMORY, 2, point=(("window", 3),))]], corpus, ComparePlan())
    assert memory_model.predict_calls == 1
    assert run.layers == {}
    assert run.record["point"] == {"window": 3}
    assert [(row["kind"], row["measure"]) for row in run.record["measurements"]] == [
        ("time", "fit_seconds"),
        ("dev", "f1"),
    ]


def test_a_cell_on_a_part_of_the_training_documents_learns_from_those_alone(memory_model: Any) -> None:
    train = Split.of([Document(name, f"Call {name}o.", (Span(5, 7, "PATIENT"),)) for name in "ABCDEFGH"])
    corpus = Corpus("invented", "jsonl", "seven", train, train, train)
    quarter, half, whole = run_cells([[Cell(MEMORY, 0, share)] for share in (0.25, 0.5, 1.0)], corpus, ComparePlan())
    found = [{name for name, spans in run.predictions.items() if spans} for run in (quarter, half, whole)]
    assert [len(names) for names in found] == [2, 4, 8]
    assert found[0] < found[1] < found[2]
    assert len(corpus.part(0.01).documents) == 1


def test_the_profile_and_the_settings_reach_the_model(
    memory_model: Any, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    fit = memory_model.fit

    def watched(self: Any, *args: Any, **options: Any) -> None:
        seen.append((self.settings.window, self.settings.loss, self.seed))
        fit(self, *args, **options)

    monkeypatch.setattr(memory_model, "fit", watched)
    system = System("best", "memory", None, (("loss", 2.0),))
    plan = ComparePlan("yadav2016", {}, tmp_path / "models")
    list(run_cells([[Cell(system, 3)], [Cell(system, 3, point=(("window", 7),))]], corpus, plan))
    assert seen == [(2, 2.0, 3), (7, 2.0, 3)]
    assert [path.parent.relative_to(tmp_path) for path in tmp_path.rglob("model.json")] == [Path("models/best/3")]


def test_every_seed_of_a_group_is_trained_also_of_a_model_that_is_no_network(memory_model: Any, corpus: Corpus) -> None:
    cells = [Cell(MEMORY, seed) for seed in (3, 1, 2)]
    told: list[tuple[Cell, FitProgress]] = []
    runs = ComparePlan().fit(cells, corpus, lambda *step: told.append(step))
    assert [run.cell for run in runs] == cells
    assert [cell for cell, _ in told] == [cell for cell in cells for _ in (1, 2)]
    assert all(len(run.record["learning_curve"]) == 2 for run in runs)


def test_a_model_that_cannot_be_saved_leaves_no_folder_of_the_final_name(tmp_path: Path) -> None:
    class Broken:
        def save(self, folder: Path) -> None:
            (folder / "model.json").write_text("half", "utf-8")
            raise OSError(28, "No space left on device")

    with pytest.raises(WriteError):
        write_folder(tmp_path / "models" / "crf" / "0", Broken().save)
    assert not (tmp_path / "models" / "crf" / "0").exists()


def test_a_model_is_saved_over_what_an_ended_run_left(memory_model: Any, tmp_path: Path) -> None:
    folder = tmp_path / "memory" / "0"
    for left_over in (folder, folder.with_name(".0.partial")):
        left_over.mkdir(parents=True)
        (left_over / "half").write_text("", "utf-8")
    write_folder(folder, memory_model().save)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["model.json"]

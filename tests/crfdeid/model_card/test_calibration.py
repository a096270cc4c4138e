"""Claims of a bounded leak rate: coverage in worlds of known leak probabilities, and what commands do with them."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from crfdeid import Deidentifier, Document, load, write_corpus
from crfdeid.cli import main
from crfdeid.corpora.synthetic import generate_notes
from crfdeid.errors import DataError, OptionConflictError, SettingError
from crfdeid.evaluation import score_tokens
from crfdeid.evaluation.evaluate import count_leaking_documents
from crfdeid.model_card.calibration import LeakTarget, leak_curve, rejected
from crfdeid.model_card.card import read_card
from crfdeid.redaction.policy import Policy
from crfdeid.review.bounds import leaks_allowed, upper_bound
from crfdeid.thresholds import claim_in

WORLDS, THRESHOLDS = 2000, 40


@pytest.mark.parametrize("dependent", [True, False], ids=["nested leaks", "independent thresholds"])
@pytest.mark.parametrize("rises", [True, False], ids=["rising", "in any order"])
@pytest.mark.parametrize(("notes", "rate", "level"), [(100, 0.05, 0.95), (300, 0.02, 0.95), (60, 0.1, 0.8)])
def test_claims_hold_as_often_as_they_say(dependent: bool, rises: bool, notes: int, rate: float, level: float) -> None:
    rng = np.random.default_rng(notes)
    leaks = rng.uniform(0, 2 * rate, (WORLDS, THRESHOLDS))  # the true leak rate of each threshold
    if rises:
        leaks.sort(axis=1)
    if dependent:  # a note that leaks with one threshold leaks with all of higher rates
        ranks = rng.uniform(size=(WORLDS, notes))
        counts = np.stack([(ranks < column[:, None]).sum(axis=1) for column in leaks.T], axis=1)
    else:
        counts = rng.binomial(notes, leaks)
    chosen = rejected(counts, leaks_allowed(notes, rate, level=level)) - 1
    true_rates = leaks[np.arange(WORLDS), chosen]
    holds = (chosen < 0) | (true_rates <= rate)
    assert holds.mean() >= level
    if rises:
        assert (chosen >= 0).mean() > 0.2, "claims that are never made hold, too"


@pytest.mark.parametrize("count", [1, 10, 58, 59, 100, 299, 300, 2000])
@pytest.mark.parametrize("rate", [0.01, 0.05, 0.3])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_allowed_leaks_are_the_most_whose_upper_bound_keeps_the_rate(count: int, rate: float, level: float) -> None:
    fits = [k for k in range(min(count, 900)) if upper_bound(count, k, level=level) <= rate]
    assert leaks_allowed(count, rate, level=level) == max(fits, default=-1)


@pytest.fixture(scope="module")
def notes() -> list[Document]:
    return [replace(note, patient=f"p{number // 2}") for number, note in enumerate(generate_notes(40, seed=8))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, notes: list[Document]) -> Path:
    """Annotated notes, a model, and a copy with a claim for which a leak rate of 0.25 was asked."""
    folder = tmp_path_factory.mktemp("calibration")
    write_corpus(list(generate_notes(40, seed=9)), folder / "train", format="brat")
    write_corpus(notes, folder / "unseen.jsonl", format="jsonl")
    options = "--model crf --set max_iterations=15 --augment none --output"
    assert main(["train", str(folder / "train"), *options.split(), str(folder / "model")]) == 0
    assert calibrate(folder, "bounded", "0.25") == 0
    return folder


def calibrate(folder: Path, output: str, rate: str, *more: str) -> int:
    paths = [str(folder / name) for name in ("model", "unseen.jsonl", output)]
    return main(["calibrate", *paths[:2], "--output", paths[2], "--max-leak-rate", rate, *more])


def test_redaction_with_the_claim_leaks_and_hides_as_the_claim_says(folder: Path, notes: list[Document]) -> None:
    claim = claim_in(read_card(folder / "bounded"), 0.25)
    model = load(folder / "bounded", max_leak_rate=0.25)
    found = {note.id: note.spans for note in model.annotate_documents(notes)}
    assert (claim.total, claim.leaking) == (40, count_leaking_documents(notes, found))
    assert upper_bound(claim.total, claim.leaking) <= 0.25
    counts = score_tokens(notes, found, binary=True).micro
    tokens = sum(len(sentence.tokens) for note in notes for sentence in note.sentences())
    assert claim.needless_per_1000 == pytest.approx(1000 * counts.fp / (tokens - counts.tp - counts.fn))


def test_the_next_threshold_leaks_too_often(folder: Path, notes: list[Document]) -> None:
    claim = claim_in(read_card(folder / "bounded"), 0.25)
    curve = leak_curve(load(folder / "model"), notes, LeakTarget(0.25))
    allowed = LeakTarget(0.25).allowed(40)
    proved = int(rejected(curve.leaking, allowed))
    assert curve.leaking[proved - 1] == claim.leaking <= allowed
    assert proved == len(curve.leaking) or curve.leaking[proved] > allowed


def test_a_patient_leaks_where_a_note_does(folder: Path, notes: list[Document]) -> None:
    model: Deidentifier = load(folder / "model")
    by_note, by_patient = (leak_curve(model, notes, LeakTarget(0.3, units=name)) for name in ("notes", "patients"))
    assert (by_note.total, by_patient.total) == (40, 20)
    assert (by_patient.leaking <= by_note.leaking).all()
    assert (by_patient.leaking >= by_note.leaking / 2).all()
    with pytest.raises(DataError):
        leak_curve(model, [replace(notes[0], patient=None)], LeakTarget(0.3, units="patients"))


def test_leaks_of_direct_identifiers_are_those_of_names_numbers_and_contacts(
    folder: Path, notes: list[Document], capsys: pytest.CaptureFixture[str]
) -> None:
    """The leaks equal those of notes without annotations of other PHI; needless tokens count all PHI."""
    model = load(folder / "model")
    direct = ("PATIENT", "DOCTOR", "ID", "PHONE")
    alone = [replace(note, spans=tuple(span for span in note.spans if span.label in direct)) for note in notes]
    every, counted, expected = (
        leak_curve(model, documents, LeakTarget(0.3, identifiers=which))
        for documents, which in ((notes, "all"), (notes, "direct"), (alone, "all"))
    )
    assert counted.leaking.tolist() == expected.leaking.tolist()
    assert (counted.leaking < every.leaking).any(), "dates and places leak, too"
    assert counted.needless.tolist() == every.needless.tolist()
    assert calibrate(folder, "direct", "0.25", "--identifiers", "direct") == 0
    claim = claim_in(read_card(folder / "direct"), 0.25)
    assert claim.identifiers == "direct"
    assert str(claim) in capsys.readouterr().err


def test_commands_redact_by_the_claim_and_show_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = folder / "report.json"
    paths = [str(folder / name) for name in ("bounded", "unseen.jsonl", "clean")]
    command = ["redact", *paths[:2], "--output", paths[2], "--report", str(report), "--max-leak-rate"]
    assert main([*command, "0.1"]) == 2, "lower than proved"
    assert main([*command, "0.3"]) == 0
    claim = claim_in(read_card(folder / "bounded"), 0.25)
    printed, told = capsys.readouterr().err, json.loads(report.read_text())
    assert str(claim) in printed
    summary = told.get("summary", told)
    assert summary["threshold"] == claim.threshold
    assert summary["leak_claim"] == claim._asdict()
    assert main(["redact", str(folder / "model"), *command[2:4], str(folder / "other"), "--max-leak-rate", "0.3"]) == 2
    assert main(["info", paths[0]]) == 0
    assert str(claim) in capsys.readouterr().out


def test_too_few_notes_are_refused_with_the_number_that_is_needed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert calibrate(folder, "too-few", "0.05") == 1
    assert "59" in capsys.readouterr().err  # ln(0.05) / ln(0.95)
    assert calibrate(folder, "too-few", "0.1", "--units", "patients") == 1
    command = ["calibrate", "rules", str(folder / "unseen.jsonl"), "--output", str(folder / "too-few")]
    assert main([*command, "--max-leak-rate", "0.25"]) == 2, "no card"
    assert not (folder / "too-few").exists()


def test_training_claims_on_the_test_notes(folder: Path) -> None:
    options = "--model crf --set max_iterations=15 --augment none --max-leak-rate 0.25 --confidence 0.8"
    command = ["train", str(folder / "train"), *options.split(), "--output", str(folder / "trained")]
    assert main(command) == 2, "no test notes"
    assert main([*command, "--test", str(folder / "unseen.jsonl")]) == 0
    claim = claim_in(read_card(folder / "trained"), 0.25)
    assert (claim.total, claim.confidence) == (40, 0.8)
    assert upper_bound(claim.total, claim.leaking, level=0.8) <= 0.25


@pytest.mark.parametrize("settings", [{"sensitivity": 0.9}, {"consistent": False}, {"operators": {"AGE": "keep"}}])
def test_settings_that_void_a_claim_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(OptionConflictError):
        Policy(**{"max_leak_rate": 0.05, **settings})  # type: ignore[arg-type]
    with pytest.raises(SettingError):
        Policy(max_leak_rate=1.5)


def test_evaluate_scores_with_the_claim(
    folder: Path, notes: list[Document], capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["evaluate", str(folder / "bounded"), str(folder / "unseen.jsonl"), "--mode", "binary", "--json"]
    found = []
    for more in ([], ["--max-leak-rate", "0.25"]):
        assert main([*command, *more]) == 0
        found.append(json.loads(capsys.readouterr().out))
    model = load(folder / "bounded", max_leak_rate=0.25)
    scores = score_tokens(notes, {note.id: note.spans for note in model.annotate_documents(notes)}, binary=True)
    assert found[0] != found[1]
    assert str(scores.micro.recall)[:8] in json.dumps(found[1])

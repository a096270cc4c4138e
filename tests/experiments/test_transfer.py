"""``experiments.transfer``: its options, and a whole run on two invented corpora."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from samples import values_of
from two_corpora import two_corpora

from crfdeid.corpora import read_corpus
from crfdeid.errors import UsageError
from crfdeid.evaluation import score_tokens
from crfdeid.registry import load_tagger
from experiments import report
from experiments.core import command
from experiments.reporting import files
from experiments.reporting.files import command_line
from experiments.results.folder import Folder
from experiments.results.schema import damage
from experiments.transfer import experiment
from experiments.transfer.report import token_scores, transfer_report

main = partial(command.main, "transfer")
parse = partial(command.parse, "transfer")

FAST = ["--set", "max_iterations=15", "--samples", "200", "--jobs", "1"]


def test_without_options_a_crf_goes_between_two_built_in_corpora() -> None:
    found = parse([])
    assert [source.name for source in found.sources] == ["synthetic-notes", "synthetic-texts"]
    assert (found.models, found.types, found.seeds, found.share) == (("crf",), "binary", (0,), 1.0)
    assert found.samples == 10_000


def test_options_reach_their_settings_and_the_report_can_say_them_again(tmp_path: Path) -> None:
    wards, letters = two_corpora(tmp_path)
    encoder = tmp_path / "tiny"
    encoder.mkdir()
    argv = ["--corpora", f"a={wards}", f"b={letters}:jsonl", "--models", "crf,bert", "--encoders", str(encoder)]
    argv += ["--types", "name", "--share", "0.5", "--seeds", "3,7", "--set", "epochs=2", "--profile", "johnson2020"]
    found = parse(argv)
    assert [source.name for source in found.sources] == ["a", "b"]
    assert (found.models, found.encoders, found.types, found.share) == (("crf", "bert"), (encoder,), "name", 0.5)
    assert (found.seeds, found.changes, found.profile) == ((3, 7), (("epochs", 2),), "johnson2020")
    assert found.command == parse([*argv, "--output", str(tmp_path / "out"), "--jobs", "2"]).command
    again = command_line(found.command, "transfer").split()
    assert parse(again[3:]) == found


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--corpora", "synthetic-notes", "synthetic-notes:2"], "two are called synthetic-notes"),
        (["--corpora", "notes"], "give NAME=DIR"),
        (["--models", "crff"], "unknown model 'crff'"),
        (["--encoders", "gone"], "no such folder: gone"),
        (["--types", "seven"], "'seven' is not one of"),
        (["--resume"], "--resume needs --output"),
        (["--include-text"], "--include-text needs --output"),
    ],
)
def test_what_cannot_work_is_refused(argv: list[str], says: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse(argv)
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--profile", "johnson2020"], "none of these models has the profile 'johnson2020'"),
        (["--set", "epoch=3"], "no setting 'epoch'"),
        (["--set", "c1=-1"], "c1"),
        (["--models", "stacked"], "compare it by python -m experiments.joint"),
        (["--encoders", "."], "no model here reads with an encoder"),
    ],
)
def test_settings_that_cannot_work_are_refused_before_anything_is_read(
    argv: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(argv) == 2
    printed, noted = capsys.readouterr()
    assert printed == ""
    assert noted.startswith("error: ") and says in noted


def test_results_do_not_go_among_the_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wards, _ = two_corpora(tmp_path)
    part = wards / "test"
    part.mkdir()
    assert main(["--corpora", f"a={wards / 'train.jsonl'},{part}", "--output", str(part / "out")]) == 2
    assert "results become data" in capsys.readouterr().err


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[tuple[Path, Path], Path, list[str]]:
    """The corpora, the results, and the options that made them."""
    place = tmp_path_factory.mktemp("transfer")
    folders = two_corpora(place)
    argv = ["--corpora", *(f"{path.name}={path}" for path in folders), *FAST, "--output", str(place / "out")]
    assert main([*argv, "--published"]) == 0
    return folders, place / "out", argv


@pytest.fixture(scope="module")
def results(run: tuple[Any, Path, Any]) -> dict[str, Any]:
    return Folder(run[1]).results()


def test_the_matrix_has_the_form_that_was_asked_for(results: dict[str, Any]) -> None:
    assert (results["experiment"], results["schema"], results["command"]["types"]) == ("transfer", 5, "binary")
    assert {name: system["trained_on"] for name, system in results["systems"].items()} == {
        f"crf@{corpus}": corpus for corpus in ("wards", "letters")
    }
    for system in results["systems"].values():
        assert (system["label"], list(system["tested"])) == ("crf", ["wards", "letters"])
        for cell in system["tested"].values():
            assert cell["low"] <= cell["f1"] <= cell["high"]
            assert cell["recall_low"] <= cell["recall"] <= cell["recall_high"]


def test_a_model_does_best_where_it_was_trained(results: dict[str, Any]) -> None:
    matrix = {system["trained_on"]: system["tested"] for system in results["systems"].values()}
    assert matrix["wards"]["wards"]["f1"] > 0.95 > matrix["letters"]["wards"]["f1"]
    assert matrix["letters"]["letters"]["f1"] > 0.95 > matrix["wards"]["letters"]["f1"]


def test_scores_are_those_of_the_predictions_that_are_kept(
    run: tuple[tuple[Path, Path], Path, Any], results: dict[str, Any]
) -> None:
    (wards, _), out, _ = run
    kept = Folder(out).predictions("crf@letters", 0)
    documents = read_corpus(wards / "dev.jsonl")
    own = {document.id: kept[f"wards/{document.id}"] for document in documents}
    binary = score_tokens(documents, own, binary=True).micro
    scores = token_scores(results).set_index(["system", "tested_on", "kind", "category"])
    assert (
        scores.loc[("crf@letters", "wards", "token_binary", "Overall"), [*binary.to_dict()]].to_dict()
        == binary.to_dict()
    )
    assert results["systems"]["crf@letters"]["tested"]["wards"]["recall"] == binary.recall
    points = values_of(results["measurements"], "operating_points", system="crf@wards")
    assert all(points[str(required), "sensitivity"] >= required for required in experiment.REQUIRED)
    assert points["default", "f1"] == scores.loc[("crf@wards", "wards", "token_binary", "Overall"), "f1"]


def test_every_table_is_written_and_those_with_text_are_not(run: tuple[Any, Path, Any]) -> None:
    _, out, _ = run
    tables = {path.stem for path in (out / "tables").glob("*.md")}
    assert {"corpora", "settings", "table-2", "table-3", "table-5", "missed", "published-table-5"} <= tables
    assert {f"table-4-{measure}" for measure in ("f1", "recall", "precision")} <= tables
    assert "table-6" not in tables and not (out / "texts.jsonl").exists()
    page = (out / "report.html").read_text("utf-8")
    assert "crf between wards, letters" in page and "ranking-title" not in page
    written = [path for path in out.rglob("*") if path.is_file() and "models" not in path.parts]
    assert not any(b"Huntington" in path.read_bytes() for path in written)
    tags = load_tagger(out / "models/crf@wards/0").tags
    assert {tag[2:] for tag in tags if tag != "O"} == {"NAME", "LOCATION", "DATE"}


def test_the_picture_marks_where_a_model_is_at_home(results: dict[str, Any]) -> None:
    (name,) = found = files.draw(transfer_report(results, published=False))
    texts = [text.get_text() for axes in found[name].axes for text in axes.texts]
    assert name == "transfer-crf" and len(texts) == 12
    assert [text.endswith("*") for text in texts] == [True, False, False, True] * 3


def test_text_is_shown_where_it_was_asked_for(
    run: tuple[tuple[Path, Path], Path, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Resumed in a copy of the folder: nothing is trained again."""
    _, out, argv = run
    (tmp_path / "runs").mkdir()
    copied = tmp_path / "out"
    copied.mkdir()
    for path in out.rglob("*"):
        place = copied / path.relative_to(out)
        place.mkdir() if path.is_dir() else place.write_bytes(path.read_bytes())
    monkeypatch.setattr(experiment, "make_tagger", None)
    monkeypatch.setattr(files, "draw", lambda _: {})  # drawn once already
    shown = [*argv[:-1], str(copied), "--resume", "--include-text"]
    assert main(shown) == 0
    table = (copied / "tables/table-6.md").read_text("utf-8")
    page = (copied / "report.html").read_text("utf-8")
    assert "quotes the notes" in table and "Ines" in page and "contains protected health information" in page
    assert report.main([str(copied), "--without-text"]) == 0
    assert not (copied / "tables/table-6.md").exists()
    assert main([*shown, "--types", "name"]) == 2


def test_names_alone_and_categories_are_other_figures_of_the_same_models(
    run: tuple[tuple[Path, Path], Path, list[str]], results: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    _, _, argv = run
    assert main([*argv[:-2], "--types", "name", "--seeds", "2"]) == 0
    printed = capsys.readouterr().out
    assert "What is compared: names alone." in printed
    scores = token_scores(results).set_index(["system", "tested_on", "kind", "category"])
    own = scores.loc[("crf@wards", "wards", "token", "NAME"), "f1"]
    assert f"{100 * own:.2f} [" in printed


def test_every_part_of_the_results_is_checked(results: dict[str, Any]) -> None:
    assert list(damage(results)) == []
    untested = json.loads(json.dumps(results))
    del untested["systems"]["crf@wards"]["tested"]["letters"]
    untested["measurements"] = [
        row for row in untested["measurements"] if (row["system"], row["dataset"]) != ("crf@letters", "wards")
    ]
    assert list(damage(untested)) == [
        f"systems.crf@{name} was not tested on every dataset" for name in ("wards", "letters")
    ]
    del untested["systems"]["crf@letters"]["label"]
    assert list(damage(untested)) == ["systems.crf@letters.label is missing"]

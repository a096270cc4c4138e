"""``experiments.joint``: its options, and a whole run on invented notes with two layers."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from samples import values_of
from two_layers import two_layer_folder, two_layer_note

from crfdeid.corpora import read_corpus, write_corpus
from crfdeid.corpora.layers import select_layer
from crfdeid.crf import CrfTagger
from crfdeid.documents import CONCEPT, PHI
from crfdeid.errors import UnknownNameError, UsageError
from crfdeid.evaluation import score_entities
from crfdeid.registry import load_tagger
from experiments.core import command
from experiments.joint import experiment
from experiments.reporting import files
from experiments.results.folder import Folder

main = partial(command.main, "joint")
compare = partial(command.main, "compare")
parse = partial(command.parse, "joint")
measure = partial(command.run, "joint")

HALVES = ["--set", "deid=crf", "concepts=crf", "max_iterations=30", "c1=0"]


def test_without_data_little_is_learned_from_and_the_results_say_so() -> None:
    found = parse([])
    assert found.systems == ("pipeline", "multitask", "stacked", "crf")
    assert (found.corpus.types, found.corpus.share, found.corpus.synthetic_concepts) == ("all", 0.25, True)
    assert dict(found.changes) == {"epochs": 8, "folds": 2}
    assert found.notices == ("Without --train the models learn for a short time, with --set epochs=8 folds=2.",)
    assert (found.permutations, found.seeds, found.vectors.sources) == (1_048_576, (0,), {})
    asked = parse(["--set", "epochs=3", "phi_first=1", "folds=4", "--share", "1"])
    assert (dict(asked.changes), asked.corpus.share, asked.notices) == (
        {"epochs": 3, "phi_first": 1, "folds": 4},
        1.0,
        (),
    )
    paper = parse(["--profile", "lange2020"])
    assert (dict(paper.changes), paper.seeds) == ({}, (0, 1, 2))


def test_options_reach_their_settings(tmp_path: Path) -> None:
    folder = two_layer_folder(tmp_path / "notes")
    train, test, unsourced = folder / "train.jsonl", folder / "test.jsonl", folder / "unsourced.tsv"
    argv = ["--train", str(train), "--concepts", str(train), "--test", str(test), "--test-concepts", str(test)]
    argv += ["--unsourced", str(unsourced), "--ignore-types", "none", "--types", "seven", "--systems", "stacked"]
    argv += ["--embeddings", "random,cbow", "--seeds", "3,7", "--permutations", "99", "--set", "epochs=20"]
    found = parse(argv)
    assert found.corpus.concepts is not None
    assert (found.corpus.concepts.train, found.corpus.concepts.test) == (train, test)
    assert (found.corpus.concepts.ignored_types, found.corpus.types, found.corpus.share) == ((), "seven", 1.0)
    assert (found.unsourced, found.systems, found.seeds, found.permutations) == (unsourced, ("stacked",), (3, 7), 99)
    assert found.vectors.sources == {"random": "random", "cbow": "cbow"}
    assert dict(found.changes) == {"epochs": 20}
    assert found.command == parse([*argv, "--output", str(tmp_path / "out"), "--jobs", "2"]).command


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--concepts", "x"], "--concepts needs --train"),
        (["--unsourced", "x"], "--unsourced needs --train"),
        (["--ignore-types", "none"], "--ignore-types needs --concepts"),
        (["--train", "nowhere"], "--train: no such file or folder: nowhere"),
        (["--systems", "stacks"], "unknown model 'stacks'"),
        (["--share", "0"], "not a fraction above 0"),
        (["--share", "0.1,0.2"], "not a fraction above 0"),
        (["--permutations", "0"], "'0' is not a whole number from 1"),
        (["--resume"], "--resume needs --output"),
    ],
)
def test_what_cannot_work_is_refused(argv: list[str], says: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse(argv)
    assert says in str(refused.value)


def test_a_folder_of_concepts_that_is_not_there_is_refused(tmp_path: Path) -> None:
    folder = two_layer_folder(tmp_path / "notes")
    with pytest.raises(UnknownNameError):
        parse(["--train", str(folder), "--dev", str(folder), "--dev-concepts", str(tmp_path / "none")])


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--set", "epoch=3"], "epoch"),
        (["--set", "reads=gold"], "every way is compared"),
        (["--systems", "crf", "--set", "c2=-1"], "c2"),
        (["--systems", "stacked", "--profile", "yadav2016"], "none of these models has the profile"),
    ],
)
def test_settings_that_cannot_work_are_refused_before_anything_is_read(
    argv: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(argv) == 2
    printed, noted = capsys.readouterr()
    assert printed == ""
    assert noted.startswith("error: ") and says in noted


def test_notes_without_concepts_are_refused(corpus_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--train", str(corpus_folder / "train.jsonl"), "--systems", "crf"]) == 1
    assert "give their folder with --concepts" in capsys.readouterr().err


@pytest.mark.parametrize("model", ["pipeline", "multitask", "stacked"])
def test_a_comparison_of_phi_alone_names_this_experiment(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare(["--models", model]) == 2
    message = capsys.readouterr().err
    assert model in message
    assert "python -m experiments.joint" in message


def test_every_row_of_table_4_has_word_vectors_that_the_results_describe(tmp_path: Path) -> None:
    folder = two_layer_folder(tmp_path / "notes")
    (tmp_path / "near.txt").write_text("2 2\nzinc 1 0\niron 0 1\n")
    argv = [f"--{name}={folder / name}.jsonl" for name in ("train", "dev", "test")]
    argv += ["--systems", "crf", "--embeddings", str(tmp_path / "near.txt")]
    prepared = experiment.systems(parse(argv), on_step=lambda *_: None)
    assert {system.embedding for system in prepared.systems} - {None} == {"near", "random", "concatenated"}
    assert prepared.embeddings.facts.keys() == {"near", "random", "concatenated"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, list[str]]:
    """The notes, the results, and the options that made them: pipelines of CRFs, which train in no time."""
    place = tmp_path_factory.mktemp("joint")
    folder = two_layer_folder(place / "notes")
    argv = [f"--{name}={folder / name}.jsonl" for name in ("train", "dev", "test")]
    argv += [f"--unsourced={folder / 'unsourced.tsv'}", "--systems", "pipeline,crf", *HALVES]
    argv += ["--permutations", "99", "--jobs", "1", "--published", "--output", str(place / "out")]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(files, "draw", _no_plots)
        assert main(argv) == 0
    return folder, place / "out", argv


def _no_plots(_: object) -> dict[str, Any]:
    """They take longest, and have tests of their own."""
    return {}


def test_two_corpora_that_share_no_text_are_each_scored_in_their_layer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A tenth of each becomes the development notes, which are scored; no row of Table 5 needs gold PHI."""
    notes = [two_layer_note(number, "n") for number in range(20)]
    for layer, some in ((PHI, notes[:10]), (CONCEPT, notes[10:])):
        write_corpus([select_layer(note, layer) for note in some], tmp_path / f"{layer}.jsonl", format="jsonl")
    argv = ["--train", str(tmp_path / "phi.jsonl"), "--concepts", str(tmp_path / "concept.jsonl"), "--disjoint"]
    results = measure(parse([*argv, "--systems", "pipeline,crf", *HALVES, "--permutations", "9", "--jobs", "1"]))
    rows = [name for name, system in results["systems"].items() if system["table_5"]]
    assert sorted(results["systems"]) == sorted([*rows, "crf"])
    assert len(rows) == 4
    counts = {
        layer: values_of(results["measurements"], "entity_strict", layer=layer, system="pipeline")
        for layer in (PHI, CONCEPT)
    }
    gold = {layer: found["Overall", "tp"] + found["Overall", "fn"] for layer, found in counts.items()}
    assert gold == {PHI: 2, CONCEPT: 2}
    assert "(4) pipeline" in capsys.readouterr().out


def test_scores_are_those_of_the_predictions_that_are_kept(run: tuple[Path, Path, list[str]]) -> None:
    """By layer, and of concepts without what nobody looked through."""
    folder, out, _ = run
    results = Folder(out).results()
    assert (results["experiment"], results["schema"]) == ("joint", 5)
    documents = read_corpus(folder / "test.jsonl")
    for system in results["systems"]:
        rows = [row for row in results["measurements"] if row["system"] == system and row["layer"]]
        assert list(dict.fromkeys(row["layer"] for row in rows)) == [
            *([PHI] if system == "pipeline" else []),
            CONCEPT,
            experiment.CONCEPT_ANNOTATED_TEXT,
        ]
        for layer in (PHI, CONCEPT) if system == "pipeline" else (CONCEPT,):
            gold = [select_layer(document, layer) for document in documents]
            assert Folder(out).gold(layer) == {d.id: list(d.spans) for d in gold}
            scores = score_entities(gold, Folder(out).predictions(system, 0, layer))
            found = values_of(rows, "entity_strict", layer=layer)
            assert {name: found["Overall", name] for name in scores.micro.to_dict()} == scores.micro.to_dict()
        for layer, count in ((CONCEPT, 10), (experiment.CONCEPT_ANNOTATED_TEXT, 5)):
            found = values_of(rows, "entity_strict", layer=layer)
            assert found["Overall", "tp"] + found["Overall", "fn"] == count
    line = json.loads((out / "predictions/pipeline/0.jsonl").read_text("utf-8").split("\n")[0])
    assert list(line) == ["id", "layers"]
    assert list(line["layers"]) == [PHI, CONCEPT]


def test_concepts_are_found_and_a_model_that_hides_phi_holds_none(run: tuple[Path, Path, list[str]]) -> None:
    """Names that are found are hidden; the text as it is holds all five of them."""
    _, out, _ = run
    results = Folder(out).results()
    rows = results["measurements"]
    f1 = [values_of(rows, "entity_strict", layer=CONCEPT, system=name) for name in results["systems"]]
    assert {found["Overall", "f1"] for found in f1} == {1.0}
    held = {name: values_of(rows, "phi_held", system=name) for name in results["systems"]}
    assert held["alone"] == held["crf"] == {("Overall", "held"): 5, ("Overall", "words"): 5}
    assert held["pipeline-gold-gold"] == {("Overall", "held"): 0, ("Overall", "words"): 5}
    tables = {path.stem for path in (out / "tables").glob("*.md")}
    assert {"table-2", "table-3", "table-5", "phi-held", "concepts", "phi-scores", "concept-scores"} <= tables
    assert "table-4" not in tables
    rows = [line.split("|") for line in (out / "tables/table-3.md").read_text("utf-8").split("\n") if "|" in line]
    reads_phi = dict.fromkeys(("crf", "pipeline-original-predicted", "alone"), "no")
    assert {row[1].strip(): row[2].strip() for row in rows[2:]} == {"pipeline": "yes", **reads_phi}


def test_both_halves_are_kept_and_text_is_not(run: tuple[Path, Path, list[str]]) -> None:
    folder, out, _ = run
    model = load_tagger(out / "models/pipeline/0")
    document = read_corpus(folder / "test.jsonl")[0]
    found: Any = model
    assert found.predict_layers(document.sentences()[:1])[PHI][0][2] == "B-DOCTOR"
    assert [path.name for path in (out / "models").iterdir()] == ["pipeline"]
    written = [path for path in out.rglob("*") if path.is_file() and "models" not in path.parts]
    assert not any(b"glycerin" in path.read_bytes() for path in written)


def test_the_models_that_pipelines_are_made_of_are_kept_until_all_are_done(
    run: tuple[Path, Path, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interrupted in the fourth, it goes on with the fourth, and ends as if nothing had happened."""
    _, whole, argv = run
    out, begun, fit = tmp_path / "out", [0], CrfTagger.fit

    def interrupted(*given: Any, **named: Any) -> None:
        begun[0] += 1
        if begun[0] == 4:
            raise KeyboardInterrupt
        fit(*given, **named)

    monkeypatch.setattr(CrfTagger, "fit", interrupted)
    monkeypatch.setattr(files, "draw", _no_plots)
    argv = [*argv[:-1], str(out)]
    assert main(argv) == 130
    kept = [path.relative_to(out / "parts" / "0").parts[1] for path in (out / "parts").glob("*/*/*")]
    assert len(kept) == 3 and not list(out.glob("runs/*/*"))
    assert main([*argv, "--resume"]) == 0
    assert begun[0] == 1 + 7 + 1  # one of PHI, three folds, three of concepts; the crf; and the fourth once more
    assert not (out / "parts").exists() and not (whole / "parts").exists()
    for path in whole.glob("predictions/*/*.jsonl"):
        assert (out / path.relative_to(whole)).read_bytes() == path.read_bytes()


def test_an_interrupted_run_is_gone_on_with(
    run: tuple[Path, Path, list[str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, argv = run
    page = (out / "report.html").read_text("utf-8")
    assert "python -m experiments.joint" in page
    heading = page.partition("<h1>")[2].partition("</h1>")[0]
    assert heading.startswith("4 systems ") and not heading.endswith("phi")
    assert "pipeline holds" in page and "Published Spanish" in page
    tables = {path: path.read_bytes() for path in (out / "tables").iterdir() if path.stem != "time"}
    monkeypatch.setattr(experiment, "make_tagger", None)  # nothing is trained again
    monkeypatch.setattr(files, "draw", _no_plots)
    assert main([*argv, "--resume"]) == 0
    assert "De-identification: strict F (Table 2 of lange2020)" in capsys.readouterr().out
    assert {path: path.read_bytes() for path in tables} == tables
    assert main([*argv, "--resume", "--seeds", "2"]) == 2
    assert "differs in command.seeds" in capsys.readouterr().err

"""The whole command on a tiny corpus: what it prints, writes and returns."""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import signal
import stat
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any

import pytest
from samples import values_of

from crfdeid.cli import main as crfdeid
from crfdeid.corpora import read_corpus, write_corpus
from crfdeid.corpora.splits import Split
from crfdeid.documents import DIRECT, NO_MASK, PHI, QUASI, Document, Mention, Span
from crfdeid.evaluation import ERROR_CAUSES, ERROR_KINDS
from crfdeid.evaluation.evaluate import predict_spans
from crfdeid.registry import load_tagger
from experiments.core import command
from experiments.core.systems import System, traits_of
from experiments.papers import CORE
from experiments.results.folder import Folder, spans_jsonl
from experiments.results.store import Store
from experiments.results.view import view

main = partial(command.main, "compare")

SPLITS = ("train", "dev", "test")
SHARES = ",".join(f"0.{n}" for n in range(5000, 9999))  # more cells than a test has time for


@pytest.fixture
def drawn() -> None:
    """For a test that is about the plots too."""


@pytest.fixture(autouse=True)
def _plots(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is drawn but where a test asks for it: plots take most of a command's time on so few documents."""
    if "drawn" not in request.fixturenames:
        monkeypatch.setattr("experiments.reporting.files.draw", lambda results: {})


def corpus_options(folder: Path, *splits: str) -> list[str]:
    return [part for name in splits or SPLITS for part in (f"--{name}", str(folder / f"{name}.jsonl"))]


def read_results(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "results.json").read_text("utf-8"))


def without_times(value: Any) -> Any:
    """The results without what may differ between two runs of one command."""
    if isinstance(value, dict):
        kept = {k: v for k, v in value.items() if not k.endswith(("_seconds", "_per_second"))}
        return {name: without_times(inner) for name, inner in kept.items()}
    if isinstance(value, list):
        return [without_times(one) for one in value if not (isinstance(one, dict) and one.get("kind") == "time")]
    return value


def check_counts(counts: dict[str, Any]) -> None:
    tp, fp, fn = counts["tp"], counts["fp"], counts["fn"]
    assert all(isinstance(number, int) and number >= 0 for number in (tp, fp, fn))
    assert counts["precision"] == (tp / (tp + fp) if tp + fp else 0)
    assert counts["recall"] == (tp / (tp + fn) if tp + fn else 0)
    assert counts["f1"] == (2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 0)


def check_run(run: dict[str, Any], rows: list[dict[str, Any]], corpus: dict[str, Any]) -> None:
    assert list(run) == ["system", "seed", "fraction", "point", "learning_curve", "device"]
    times = values_of(rows, "time")
    assert list(times) == [("Overall", name) for name in ("fit_seconds", "predict_seconds", "tokens_per_second")]
    assert all(isfinite(value) and value > 0 for value in times.values())
    assert 0 <= values_of(rows, "dev")["Overall", "f1"] <= 1
    kinds = ["entity_strict", "entity_relaxed", "token", "token_binary"]
    # Nobody can say whether HIPAA names a span of the one type PHI.
    kinds += ["token_binary_hipaa"] * (corpus["types"] != ["PHI"])
    assert {row["kind"] for row in rows} - {"time", "dev", "errors", "causes", "confusions"} == set(kinds)
    for kind in kinds:
        found = values_of(rows, kind)
        by_category: dict[str, dict[str, float]] = {}
        for (category, measure), value in found.items():
            by_category.setdefault(category, {})[measure] = value
        assert list(by_category.pop("Macro average")) == ["recall", "precision", "f1"]
        for counts in by_category.values():
            assert list(counts) == ["recall", "precision", "f1", "tp", "fp", "fn"]
            check_counts(counts)
        overall = by_category.pop("Overall")
        for count in ("tp", "fp", "fn"):
            assert overall[count] == sum(counts[count] for counts in by_category.values())
        one_type = {"token_binary": {"PHI"}, "token_binary_hipaa": {"HIPAA"}}
        assert set(by_category) <= one_type.get(kind, set(corpus["types"]))
    strict, errors, causes = (values_of(rows, kind) for kind in ("entity_strict", "errors", "causes"))
    assert strict["Overall", "tp"] + strict["Overall", "fn"] == corpus["splits"][corpus["test"]]["spans"]
    whole = {measure: value for (category, measure), value in errors.items() if category == "Overall"}
    assert set(whole) == {*ERROR_KINDS, "all"}
    assert whole["all"] == sum(whole[name] for name in ERROR_KINDS)
    for name in ERROR_KINDS:
        assert whole[name] == sum(n for (category, measure), n in errors.items() if measure == name) - whole[name]
    assert {cause for cause, _ in causes} <= set(ERROR_CAUSES)
    assert whole["wrong"] == sum(values_of(rows, "confusions").values())
    split = causes.get(("split", "boundary"), 0)
    assert strict["Overall", "fn"] == sum(whole[name] for name in ("missed", "wrong", "boundary")) - split
    steps = [point["step"] for point in run["learning_curve"]]
    assert steps == sorted(set(steps))
    assert all(list(point) == ["step", "loss", "dev_f1"] for point in run["learning_curve"])


def check_results(results: dict[str, Any], *, models: list[str], seeds: list[int]) -> None:
    """Every key of results.json, and that the numbers agree with each other."""
    assert list(results) == [
        *("experiment", "schema", "command", "repair", "datasets", "embeddings", "systems"),
        *("environment", "runs", "comparisons", "measurements"),
    ]
    assert (results["experiment"], results["schema"]) == ("compare", 5)
    (corpus,) = results["datasets"].values()
    assert list(corpus) == ["name", "format", "type_map", "types", "test", "notices", "splits", "sha256"]
    assert corpus["test"] in corpus["splits"]
    assert len(bytes.fromhex(corpus["sha256"])) == 32
    for split in corpus["splits"].values():
        assert list(split) == ["documents", "sentences", "tokens", "spans", "spans_by_type", "unaligned"]
        assert split["spans"] == sum(split["spans_by_type"].values())
        assert set(split["spans_by_type"]) <= set(corpus["types"])
    assert results["command"]["seeds"] == seeds
    assert results["environment"].keys() == {
        *("python", "platform", "packages", "commit", "device", "cores", "jobs", "corpus_seconds", "total_seconds")
    }
    assert results["environment"]["packages"]["crfdeid"]
    assert list(results["systems"]) == models
    comparison = results["comparisons"]["phi"]
    assert list(comparison["intervals"]) == models
    assert {(pair["a"], pair["b"]) for pair in comparison["pairs"]} == set(itertools.combinations(models, 2))
    for name, system in results["systems"].items():
        assert list(system) == ["model", "embedding", "settings", "trained_on", "tags"]
        runs = [run for run in results["runs"] if run["system"] == name]
        # A model that has nothing random in it is trained once.
        assert [run["seed"] for run in runs] == (
            seeds if traits_of(System("one", system["model"])).uses_seed else seeds[:1]
        )
        for run in runs:
            rows = [row for row in results["measurements"] if (row["system"], row["seed"]) == (name, run["seed"])]
            check_run(run, rows, corpus)


def test_everything_is_printed_and_written(
    corpus_folder: Path, tmp_path: Path, drawn: None, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "results"
    assert main(["--models", "crf", *corpus_options(corpus_folder), "--output", str(out)]) == 0
    printed, err = capsys.readouterr()
    assert err == ""  # No bars: standard error is not a terminal.
    titles = ("Corpus: spans of each type", "Settings", "Scores by category", "Overall scores", "Errors", "Time")
    markdown = (out / "tables.md").read_text("utf-8")
    for title in titles:
        assert title in printed
        assert f"## {title}" in markdown
    results = read_results(out)
    check_results(results, models=["crf"], seeds=[0])
    (corpus,) = results["datasets"].values()
    assert corpus["format"] == "jsonl"
    assert corpus["splits"]["test"]["spans_by_type"] == {"DATE": 6, "DOCTOR": 6, "HOSPITAL": 6}
    files = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    expected = {
        "tables.md",
        "results.json",
        "report.html",
        "plots/scores.svg",
        "plots/errors.png",
        "models/crf/0/model.json",
        "runs/crf/0.json",
    }
    expected |= {"predictions/crf/0.jsonl", "predictions/gold.jsonl", "errors/crf/0.jsonl"}
    assert expected <= files
    assert not files & {"texts.jsonl", "neighbours.json"}  # This is no synthetic corpus.
    assert all(stat.S_IMODE((out / name).stat().st_mode) == 0o600 for name in expected if "model" not in name)
    assert not [name for name in files if "partial" in name or "writing" in name]
    assert stat.S_IMODE(out.stat().st_mode) == 0o700


def test_predictions_hold_spans_of_every_document_and_no_text(corpus_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "results"
    main(["--models", "crf", *corpus_options(corpus_folder), "--output", str(out)])
    gold = read_corpus(corpus_folder / "test.jsonl")
    lines = [json.loads(line) for line in (out / "predictions/crf/0.jsonl").read_text("utf-8").splitlines()]
    assert [line["id"] for line in lines] == [document.id for document in gold]
    assert all(set(line) == {"id", "spans"} for line in lines)
    found = 0
    for line, document in zip(lines, gold, strict=True):
        spans = {(span["start"], span["end"], span["label"]) for span in line["spans"]}
        found += len(spans & set(document.spans))
        assert all(set(span) == {"start", "end", "label"} for span in line["spans"])
    assert found == values_of(read_results(out)["measurements"], "entity_strict")["Overall", "tp"] > 0
    written = "".join(path.read_text("utf-8") for path in (out / "tables.md", out / "results.json"))
    assert "Huntington" not in written


def test_a_saved_model_gives_the_predictions_that_were_written(corpus_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "results"
    main(["--models", "crf", *corpus_options(corpus_folder), "--output", str(out)])
    predictions = predict_spans(load_tagger(out / "models/crf/0"), Split.of(read_corpus(corpus_folder / "test.jsonl")))
    assert spans_jsonl({PHI: predictions}) == (out / "predictions/crf/0.jsonl").read_text("utf-8")


def test_identifiers_are_scored_as_evaluate_scores_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "Ann Quill met B. Vole in Overton. Quill left on 3 May; Ann Quill stayed with Mr Vole in Overton."
    places = [("Ann Quill", DIRECT), ("Vole", QUASI), ("Overton", QUASI), ("3 May", QUASI), ("Mr", NO_MASK)]
    mentions = tuple(
        Mention(Span(found.start(), found.end(), "DATETIME" if value[0].isdigit() else "PERSON"), value, kind)
        for value, kind in places
        for found in re.finditer(value, text)
    )
    spans = tuple(mention.span for mention in mentions if mention.identifier != NO_MASK)
    write_corpus([Document("1", text, spans, mentions=mentions)], tmp_path / "train.jsonl", format="tab")
    dev = Document("2", text.replace("Overton", "Upville"), spans, mentions=mentions)
    write_corpus([dev], tmp_path / "dev.jsonl", format="tab")
    out = tmp_path / "results"
    options = ["--types", "all", "--set", "max_iterations=5", "--output", str(out)]
    assert main(["--models", "crf", *corpus_options(tmp_path, "train", "dev"), *options]) == 0
    scores = values_of(read_results(out)["measurements"], "tab")
    assert "Direct and quasi-identifiers" in capsys.readouterr().out
    assert crfdeid(["evaluate", str(out / "models/crf/0"), str(tmp_path / "dev.jsonl"), "--mode", "tab", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["tab"]
    found = [(scores[name, "count"], scores[name, "total"]) for name, measure in scores if measure == "count"]
    assert found == [(row["count"], row["of"]) for row in rows.values()]
    assert scores["quasi_entities", "total"] == 3


def test_the_same_command_gives_the_same_bytes_whatever_the_number_of_jobs(corpus_folder: Path, tmp_path: Path) -> None:
    command = ["--models", "crf", "--set", "max_iterations=5", "--fractions", "0.5", "--sweep", "c1=0.02,0.1"]
    command += corpus_options(corpus_folder)
    folders = {jobs: tmp_path / jobs for jobs in ("1", "2")}
    for jobs, folder in folders.items():
        assert main([*command, "--jobs", jobs, "--output", str(folder)]) == 0
    first, two = map(read_results, folders.values())
    assert two["environment"].pop("jobs") == 2
    assert first["environment"].pop("jobs") == 1
    assert json.dumps(without_times(first)) == json.dumps(without_times(two))
    written = [sorted(path for path in folder.rglob("*") if path.is_file()) for folder in folders.values()]
    for one, other in zip(*written, strict=True):
        told = one.suffix in (".md", ".tex", ".csv", ".html") or one.name == "results.json" or "runs" in one.parts
        if not told:  # of times
            assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize(("splits", "documents"), [(("train", "dev"), (20, 4)), (("train",), (18, 2))])
def test_without_a_test_split_dev_is_scored_and_the_results_say_so(
    corpus_folder: Path, tmp_path: Path, splits: tuple[str, ...], documents: tuple[int, int], memory_model: Any,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    out = tmp_path / "results"
    assert main(["--models", "memory", *corpus_options(corpus_folder, *splits), "--output", str(out)]) == 0
    (corpus,) = read_results(out)["datasets"].values()
    assert corpus["test"] == "dev"
    assert tuple(split["documents"] for split in corpus["splits"].values()) == documents
    printed = capsys.readouterr().out
    assert "No --test: all scores are on the development set" in printed
    assert "Scored on the dev split" in printed
    assert ("No --dev: 2 of the training documents" in printed) == (splits == ("train",))


def test_a_new_model_is_compared_without_a_change_here(
    corpus_folder: Path, tmp_path: Path, memory_model: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "results"
    argv = ["--models", "memory,crf", "--seeds", "3,1", "--window", "5", *corpus_options(corpus_folder), "--jobs", "1"]
    assert main([*argv, "--output", str(out)]) == 0
    results = read_results(out)
    check_results(results, models=["memory", "crf"], seeds=[3, 1])
    assert results["systems"]["memory"]["settings"] == {"window": 5, "loss": 0.5}
    assert memory_model.predict_calls == 4  # dev and test, with two seeds
    assert "memory R" in capsys.readouterr().out


def test_an_option_that_no_chosen_model_has_is_refused(corpus_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--models", "crf", "--hidden", "10", *corpus_options(corpus_folder)]) == 2
    assert "error: no setting 'hidden' in crf: there are" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--features", "best"], "unknown features 'best': choose from"),
        (["--pos", "stanford"], "unknown pos 'stanford': choose from"),
        (["--profile", "best"], "unknown profile 'best' of crf: choose from default, yadav2016"),
        (["--device", "gpu"], "--device gpu: none of these models runs on a GPU"),
    ],
)
def test_a_value_that_the_model_refuses_is_one_line_and_exit_code_2(
    corpus_folder: Path, options: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--models", "crf", *options, *corpus_options(corpus_folder)]) == 2
    assert says in capsys.readouterr().err


def test_variants_are_systems_with_settings_of_their_own(corpus_folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "variants.toml"
    file.write_text(
        '[loose]\nmodel = "crf"\nc2 = 1.5\n[paper]\nmodel = "crf"\nfeatures = "paper"\nmax_iterations = 3\n'
    )
    options = [*corpus_options(corpus_folder), "--variants", str(file), "--set", "max_iterations=2"]
    assert main([*options, "--models", "crf", "--jobs", "1", "--output", str(tmp_path / "out")]) == 0
    results = read_results(tmp_path / "out")
    assert {name: found["model"] for name, found in results["systems"].items()} == dict.fromkeys(
        ("crf", "loose", "paper"), "crf"
    )
    settings = {name: system["settings"] for name, system in results["systems"].items()}
    assert [settings[name]["max_iterations"] for name in ("crf", "loose", "paper")] == [2, 2, 3]
    assert (settings["loose"]["c2"], settings["paper"]["features"]) == (1.5, "paper")


def test_types_that_cannot_be_split_into_seven_are_refused(
    corpus_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = {"id": "1", "text": "Ann Doe", "spans": [{"start": 0, "end": 7, "label": "NAME"}]}
    (corpus_folder / "train.jsonl").write_text(json.dumps(line) + "\n", "utf-8")
    assert main(["--models", "crf", *corpus_options(corpus_folder)]) == 2
    assert "choose --types all or --types binary" in capsys.readouterr().err


def test_malformed_data_is_one_line_with_its_place_and_exit_code_1(
    corpus_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (corpus_folder / "test.jsonl").open("a", encoding="utf-8") as stream:
        stream.write('{"id": "Secret Name"\n')
    out = tmp_path / "results"
    assert main(["--models", "crf", *corpus_options(corpus_folder), "--output", str(out)]) == 1
    err = capsys.readouterr().err
    assert err.startswith("error: ")
    assert "test.jsonl, line 7" in err
    assert err.count("\n") == 1
    assert "Secret" not in err
    assert not (out / "results.json").exists()


def test_real_text_is_shown_only_where_asked_and_with_a_warning(
    corpus_folder: Path, memory_model: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    # The memory makes errors: it has not seen the dates.
    command = ["--models", "memory", *corpus_options(corpus_folder)]
    main(command)
    assert "Attending" not in capsys.readouterr().out
    main([*command, "--show-examples"])
    printed = capsys.readouterr().out
    assert "WARNING: this is text of a real corpus and holds PHI" in printed
    assert "|DATE]" in printed


def test_all_types_and_binary_types_are_compared_too(corpus_folder: Path, tmp_path: Path, memory_model: Any) -> None:
    for types, found in (("all", ["DOCTOR", "HOSPITAL", "DATE"]), ("binary", ["PHI"])):
        out = tmp_path / types
        assert main(["--models", "memory", "--types", types, *corpus_options(corpus_folder), "--output", str(out)]) == 0
        results = read_results(out)
        check_results(results, models=["memory"], seeds=[0])
        (corpus,) = results["datasets"].values()
        assert corpus["types"] == found


@pytest.fixture
def interruptible() -> Iterator[Callable[[list[str]], subprocess.Popen[str]]]:
    """Starts the command in a process group of its own that Ctrl-C reaches; ends what is left of it."""
    started: list[subprocess.Popen[str]] = []

    def start(argv: list[str]) -> subprocess.Popen[str]:
        code = (
            "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
            "from experiments.core.command import main; sys.exit(main('compare', sys.argv[1:]))"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", code, *argv],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def run_in_shell(line: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command, as COMMAND in a line of bash, with a tiny corpus."""
    words = [sys.executable, "-m", "experiments.compare", "--models", "rules", "--show-examples"]
    words += ["--train", str(folder / "train.jsonl"), "--dev", str(folder / "dev.jsonl")]
    script = "set -o pipefail\n" + line.replace("COMMAND", shlex.join(words))
    variables = {**os.environ, **environment}
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, env=variables, check=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "code", "error"),
    [
        ("COMMAND | head -1", 141, ""),
        ("COMMAND >&-", 1, "error: standard output: Bad file descriptor\n"),
        ("COMMAND 2>&-", 0, ""),
        pytest.param(
            "COMMAND >/dev/full",
            1,
            "error: standard output: No space left on device\n",
            marks=pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here"),
        ),
    ],
)
def test_output_that_goes_nowhere_is_no_traceback(line: str, code: int, error: str, corpus_folder: Path) -> None:
    done = run_in_shell(line, corpus_folder)
    assert (done.returncode, done.stderr) == (code, error)


@pytest.mark.slow
def test_a_terminal_that_knows_ascii_only_shows_everything(corpus_folder: Path) -> None:
    named = corpus_folder.rename(corpus_folder.with_name("año"))
    done = run_in_shell("COMMAND", named, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert r"a\xf1o" in done.stdout


@pytest.mark.parametrize(
    ("problem", "says"),
    [
        (OSError(28, "No space left on device", "here"), "error: here: No space left on device\n"),
        (MemoryError("Doe"), "error: out of memory: give --jobs 1, smaller networks or fewer documents\n"),
    ],
)
def test_what_the_system_refuses_is_one_line(
    problem: Exception, says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise problem

    monkeypatch.setattr("experiments.core.command.run", fail)
    assert main(["--models", "crf"]) == 1
    assert capsys.readouterr().err == says


def test_two_commands_do_not_share_an_output_folder(
    corpus_folder: Path,
    tmp_path: Path,
    memory_model: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "results"
    argv = ["--models", "memory", "--jobs", "1", "--output", str(out), *corpus_options(corpus_folder)]
    held = Store(out, {}, resume=False)
    try:
        assert main([*argv, "--resume"]) == 2
    finally:
        held.close()
    assert "in use by another run" in capsys.readouterr().err
    # The other command begins while this one reads its corpus.
    monkeypatch.setattr("experiments.core.experiment.make_owner_folder", lambda folder: None)
    monkeypatch.setattr("experiments.core.settings.require_empty", lambda folder: None)
    assert main(argv) == 2
    assert str(out) in capsys.readouterr().err
    assert sorted(path.name for path in out.rglob("*")) == [".lock", "experiment.json"]


def test_data_that_cannot_be_read_leave_the_output_folder_free(corpus_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "results"
    (corpus_folder / "train.jsonl").write_text("{", "utf-8")
    assert main(["--models", "crf", "--output", str(out), *corpus_options(corpus_folder)]) == 1
    assert list(out.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_no_process_trains_on_when_the_command_is_ended(
    number: signal.Signals,
    code: int,
    corpus_folder: Path,
    interruptible: Callable[[list[str]], subprocess.Popen[str]],
    tmp_path: Path,
) -> None:
    out = tmp_path / "results"
    argv = ["--models", "crf", "--fractions", SHARES, "--jobs", "2", "--output", str(out)]
    process = interruptible([*argv, *corpus_options(corpus_folder)])
    while not list(out.glob("runs/crf/*.json")):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(number)
    # Until every process that holds the pipes has gone.
    process.communicate(timeout=30)
    assert process.returncode == code


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_ends_everything_in_one_line(
    corpus_folder: Path, tmp_path: Path, jobs: str, interruptible: Callable[[list[str]], subprocess.Popen[str]]
) -> None:
    out = tmp_path / "results"
    argv = ["--models", "crf", "--fractions", SHARES, "--jobs", jobs, "--output", str(out)]
    process = interruptible([*argv, *corpus_options(corpus_folder)])
    deadline = time.monotonic() + 60
    while not list(out.glob("runs/crf/*.json")) and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err.startswith("error: interrupted: ")
    assert "--resume" in err
    assert not (out / "results.json").exists()


@pytest.mark.slow
def test_every_model_gives_the_same_results_one_by_one_and_side_by_side(
    one_length_folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], quickly_compiled: None
) -> None:
    folders = {jobs: tmp_path / jobs for jobs in ("1", "2")}
    for jobs, folder in folders.items():
        argv = ["--epochs", "2", "--hidden", "10", "--jobs", jobs, "--output", str(folder)]
        assert main([*argv, *corpus_options(one_length_folder)]) == 0
    assert capfd.readouterr().err == ""  # of processes as well
    one, two = map(read_results, folders.values())
    check_results(one, models=list(CORE.models.values()), seeds=[0])
    assert one["systems"]["elman"]["settings"]["hidden"] == one["systems"]["jordan"]["settings"]["hidden"] == 10
    assert all(len(run["learning_curve"]) == 2 for run in one["runs"] if run["system"] == "jordan")
    del one["environment"]["jobs"], two["environment"]["jobs"]
    assert without_times(one) == without_times(two)
    for model in CORE.models.values():
        first, second = (sorted((folder / "models" / model / "0").iterdir()) for folder in folders.values())
        assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


class FakeGpu:
    """Device with the name of a GPU; what is trained on it is trained on the CPU."""

    device_kind = "Invented GPU 9000"

    def memory_stats(self) -> None:
        """As of the CPU."""


def test_on_a_machine_with_a_gpu_each_system_has_the_faster_device(
    one_length_folder: Path, tmp_path: Path, memory_model: Any, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    argv = ["--epochs", "2", "--hidden", "10", *corpus_options(one_length_folder)]
    assert main(["--models", "elman", *argv, "--device", "cpu", "--output", str(tmp_path / "cpu")]) == 0
    monkeypatch.delenv("JAX_PLATFORMS")
    monkeypatch.setattr("jax.default_backend", lambda: "gpu")
    monkeypatch.setattr("jax.devices", lambda: [FakeGpu()])
    assert main(["--models", "memory,crf,elman", *argv, "--output", str(tmp_path / "both")]) == 0
    alone, both = read_results(tmp_path / "cpu"), read_results(tmp_path / "both")
    devices = {run["system"]: run["device"] for run in both["runs"]}
    assert devices == {"memory": "Invented GPU 9000", "crf": "cpu", "elman": "cpu"}
    assert "Device: Invented GPU 9000: memory; cpu: crf, elman; " in capsys.readouterr().out
    ours = {
        name: [run for run in found["runs"] if run["system"] == "elman"] for name, found in (("a", alone), ("b", both))
    }
    assert ours["a"] == ours["b"]
    assert main(["--models", "memory,elman", *argv, "--device", "gpu", "--output", str(tmp_path / "gpu")]) == 0
    assert {run["device"] for run in read_results(tmp_path / "gpu")["runs"]} == {"Invented GPU 9000"}


@pytest.mark.slow
def test_the_synthetic_corpus_shows_its_errors_and_keeps_its_texts(
    tmp_path: Path, memory_model: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "results"
    assert main(["--models", "memory", "--corpus-seed", "5", "--output", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "Errors in their text" in printed
    assert "WARNING" not in printed
    results = read_results(out)
    check_results(results, models=["memory"], seeds=[0])
    assert list(results["datasets"]) == ["synthetic (default, seed 5)"]
    assert list(results["datasets"]["synthetic (default, seed 5)"]["splits"]) == list(SPLITS)
    assert "Errors in their text" not in (out / "tables.md").read_text("utf-8")
    assert list(Folder(out).texts() or {}) == [f"test-{n:04d}" for n in range(1, 67)]
    assert "Crossdale" not in (out / "results.json").read_text("utf-8")


def test_an_ended_run_is_gone_on_with_and_gives_what_an_unbroken_one_gives(
    corpus_folder: Path, tmp_path: Path, memory_model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    argv = ["--models", "memory", "--seeds", "3", "--jobs", "1", *corpus_options(corpus_folder)]
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert main([*argv, "--output", str(whole)]) == 0
    fit = memory_model.fit

    def fill_the_disk(self: Any, *args: Any, **options: Any) -> None:
        if self.seed == 1:
            raise OSError(28, "No space left on device")
        fit(self, *args, **options)

    monkeypatch.setattr(memory_model, "fit", fill_the_disk)
    assert main([*argv, "--output", str(broken)]) == 1
    assert not (broken / "results.json").exists()
    trained: list[int] = []

    def watched(self: Any, *args: Any, **options: Any) -> None:
        trained.append(self.seed)
        fit(self, *args, **options)

    monkeypatch.setattr(memory_model, "fit", watched)
    assert main([*argv, "--resume", "--output", str(broken)]) == 0
    assert trained == [1, 2]
    assert without_times(read_results(broken)) == without_times(read_results(whole))
    assert main([*argv, "--resume", "--output", str(broken)]) == 0  # Nothing is left to do.
    assert trained == [1, 2]


def test_another_command_does_not_go_on_with_a_folder(
    corpus_folder: Path, tmp_path: Path, memory_model: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--output", str(tmp_path / "results")]
    argv = ["--models", "memory", *corpus_options(corpus_folder)]
    assert main([*argv, *out]) == 0
    assert main([*argv, "--seeds", "2", "--resume", *out]) == 2
    assert "differs in command.seeds" in capsys.readouterr().err
    with (corpus_folder / "train.jsonl").open("a", encoding="utf-8") as stream:
        stream.write('{"id": "new", "text": "", "spans": []}\n')
    assert main([*argv, "--resume", *out]) == 2
    assert "differs in datasets." in capsys.readouterr().err


def test_a_sweep_goes_on_with_what_is_best_on_dev(corpus_folder: Path, tmp_path: Path, memory_model: Any) -> None:
    out = tmp_path / "results"
    argv = ["--models", "memory,crf", "--sweep", "window=3,7", "c1=0.02", "--seeds", "2", "--jobs", "1"]
    assert main([*argv, *corpus_options(corpus_folder), "--output", str(out)]) == 0
    results = read_results(out)
    tried = Counter((run["system"], *run["point"].values()) for run in results["runs"] if run["point"])
    assert tried == {("memory", 3): 2, ("memory", 7): 2, ("crf", 0.02): 1}
    chosen = {name: system["chosen"] for name, system in results["systems"].items()}
    assert chosen == {"memory": {"window": 3}, "crf": {"c1": 0.02}}
    assert results["systems"]["memory"]["settings"]["window"] == 3


def test_shares_of_the_training_documents_are_compared(corpus_folder: Path, tmp_path: Path, memory_model: Any) -> None:
    out = tmp_path / "results"
    argv = ["--models", "memory", "--fractions", "0.2,0.5", "--seeds", "2", *corpus_options(corpus_folder)]
    assert main([*argv, "--jobs", "1", "--output", str(out)]) == 0
    seen = view(read_results(out))
    sizes = {size["fraction"]: size["documents"] for size in seen["dataset"]["fractions"]}
    assert sizes == {0.2: 4, 0.5: 10, 1.0: 20}
    runs = seen["fractions"].drop_duplicates(["fraction", "seed"])[["fraction", "seed"]]
    assert sorted(map(tuple, runs.to_numpy())) == [(share, seed) for share in sizes for seed in (0, 1)]


def test_text_of_a_real_corpus_is_kept_only_where_asked(corpus_folder: Path, tmp_path: Path, memory_model: Any) -> None:
    argv = ["--models", "memory", "--jobs", "1", *corpus_options(corpus_folder)]
    for options, kept in (([], False), (["--include-text"], True)):
        out = tmp_path / str(kept)
        assert main([*argv, *options, "--output", str(out)]) == 0
        assert (Folder(out).texts() is not None) == kept
        assert ("Huntington" in (out / "report.html").read_text("utf-8")) == kept


@pytest.mark.parametrize("option", ["--resume", "--include-text"])
def test_options_on_the_output_need_one(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--models", "crf", option]) == 2
    assert capsys.readouterr().err == f"error: {option} needs --output\n"


@pytest.mark.slow
def test_networks_with_several_embeddings_are_systems_of_their_own(
    one_length_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    quickly_compiled: None,
) -> None:
    monkeypatch.setenv("CRFDEID_CACHE", str(tmp_path / "cache"))
    vectors = tmp_path / "tiny.vec"
    vectors.write_text("2 3\nSeen 0.1 0.2 0.3\nby 0.3 0.2 0.1\n", "utf-8")
    out = tmp_path / "results"
    names = ["random", "rnnlm", "cbow", "fasttext", "tiny"]
    argv = [
        "--models",
        "crf,elman",
        "--embeddings",
        f"random,rnnlm,cbow,fasttext,{vectors}",
        "--epochs",
        "1",
        "--jobs",
        "1",
    ]
    argv += ["--unlabelled", str(one_length_folder / "dev.jsonl"), "--include-text"]
    assert main([*argv, *corpus_options(one_length_folder), "--output", str(out)]) == 0
    results = read_results(out)
    check_results(results, models=["crf", *(f"elman-{name}" for name in names)], seeds=[0])
    kinds = {name: (facts["kind"], facts["dim"]) for name, facts in results["embeddings"].items()}
    assert kinds == {
        "random": ("random", 100),
        "rnnlm": ("rnnlm", 80),
        "cbow": ("cbow", 300),
        "fasttext": ("fasttext", 100),
        "tiny": ("pretrained", 3),
    }
    unknown = results["embeddings"]["tiny"]["out_of_vocabulary"]["train"]
    assert 0 < unknown["tokens"] < unknown["types"] < 1
    assert results["systems"]["elman-tiny"]["settings"]["embedding_dim"] == 3
    neighbours = Folder(out).neighbours() or {}
    assert set(neighbours) == {"rnnlm", "cbow", "fasttext", "tiny"}
    assert "elman-tiny" in capsys.readouterr().out

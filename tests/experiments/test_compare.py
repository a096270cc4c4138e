"""The whole command on a tiny corpus: what it prints, writes and returns."""

from __future__ import annotations

import json
import os
import shlex
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from math import isfinite
from pathlib import Path
from typing import Any

import pytest

from crfdeid.corpora import read_corpus
from crfdeid.models import MODELS, load
from crfdeid.scoring import CATEGORIES, CAUSES
from experiments.compare import main
from experiments.results import predictions_jsonl
from experiments.runs import predict_spans
from experiments.splits import Split

SPLITS = ("train", "dev", "test")


def corpus_options(folder: Path, *splits: str) -> list[str]:
    return [part for name in splits or SPLITS for part in (f"--{name}", str(folder / f"{name}.jsonl"))]


def read_results(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "results.json").read_text("utf-8"))


def without_times(value: Any) -> Any:
    """The results without what may differ between two runs of one command."""
    if isinstance(value, dict):
        kept = {k: v for k, v in value.items() if not k.endswith(("_seconds", "_per_second"))}
        return {name: without_times(inner) for name, inner in kept.items()}
    return [without_times(inner) for inner in value] if isinstance(value, list) else value


def check_counts(counts: dict[str, Any]) -> None:
    assert list(counts) == ["precision", "recall", "f1", "tp", "fp", "fn"]
    tp, fp, fn = counts["tp"], counts["fp"], counts["fn"]
    assert all(isinstance(number, int) and number >= 0 for number in (tp, fp, fn))
    assert counts["precision"] == (tp / (tp + fp) if tp + fp else 0)
    assert counts["recall"] == (tp / (tp + fn) if tp + fn else 0)
    assert counts["f1"] == (2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 0)


def check_run(run: dict[str, Any], corpus: dict[str, Any]) -> None:
    assert list(run) == [
        *("seed", "fit_seconds", "predict_seconds", "tokens_per_second", "scores", "errors", "learning_curve")
    ]
    assert all(isfinite(run[name]) and run[name] > 0 for name in list(run)[1:4])
    assert list(run["scores"]) == ["entity_strict", "entity_relaxed", "token", "token_binary"]
    for name, scores in run["scores"].items():
        assert list(scores) == ["micro", "macro", "by_type"]
        assert list(scores["macro"]) == ["precision", "recall", "f1"]
        check_counts(scores["micro"])
        for counts in scores["by_type"].values():
            check_counts(counts)
        for count in ("tp", "fp", "fn"):
            assert scores["micro"][count] == sum(counts[count] for counts in scores["by_type"].values())
        assert set(scores["by_type"]) <= ({"PHI"} if name == "token_binary" else set(corpus["types"]))
    strict, errors = run["scores"]["entity_strict"]["micro"], run["errors"]
    assert strict["tp"] + strict["fn"] == corpus["splits"][corpus["test"]]["spans"]
    assert list(errors) == ["categories", "by_type", "causes", "confusions"]
    assert tuple(errors["categories"]) == CATEGORIES
    assert all(set(causes) <= set(CAUSES) for causes in errors["causes"].values())
    assert errors["categories"]["wrong"] == sum(c["count"] for c in errors["confusions"])
    split = errors["causes"]["boundary"].get("split", 0)
    assert strict["fn"] == sum(errors["categories"][name] for name in ("missed", "wrong", "boundary")) - split
    steps = [point["step"] for point in run["learning_curve"]]
    assert steps == sorted(set(steps))
    assert all(list(point) == ["step", "loss", "dev_f1"] for point in run["learning_curve"])


def check_results(results: dict[str, Any], *, models: list[str], seeds: list[int]) -> None:
    """Every key of results.json, and that the numbers agree with each other."""
    assert list(results) == ["schema", "corpus", "settings", "environment", "models"]
    assert results["schema"] == 1
    corpus = results["corpus"]
    assert list(corpus) == ["name", "format", "type_map", "types", "test", "notices", "splits", "sha256"]
    assert corpus["test"] in corpus["splits"]
    assert len(bytes.fromhex(corpus["sha256"])) == 32
    for split in corpus["splits"].values():
        assert list(split) == ["documents", "sentences", "tokens", "spans", "spans_by_type", "unaligned"]
        assert split["spans"] == sum(split["spans_by_type"].values())
        assert set(split["spans_by_type"]) <= set(corpus["types"])
    assert list(results["settings"]) == ["command", "repair", "models"]
    assert list(results["settings"]["models"]) == models
    assert results["settings"]["command"]["seeds"] == seeds
    assert list(results["environment"]) == [
        *("python", "platform", "packages", "device", "cores", "jobs", "corpus_seconds", "total_seconds")
    ]
    assert results["environment"]["packages"]["crfdeid"]
    assert list(results["models"]) == models
    for model in results["models"].values():
        assert list(model) == ["runs"]
        assert [run["seed"] for run in model["runs"]] == seeds
        for run in model["runs"]:
            check_run(run, corpus)


def test_everything_is_printed_and_written(
    corpus_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "results"
    assert main(["--models", "crf", *corpus_options(corpus_folder), "--out", str(out)]) == 0
    printed, err = capsys.readouterr()
    assert err == ""  # No bars: standard error is not a terminal.
    titles = ("Corpus: spans of each type", "Settings", "Scores by category", "Overall scores", "Errors", "Time")
    markdown = (out / "tables.md").read_text("utf-8")
    for title in titles:
        assert title in printed
        assert f"## {title}" in markdown
    results = read_results(out)
    check_results(results, models=["crf"], seeds=[0])
    assert results["corpus"]["format"] == "jsonl"
    assert results["corpus"]["splits"]["test"]["spans_by_type"] == {"DATE": 6, "DOCTOR": 6, "HOSPITAL": 6}
    files = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    assert {"tables.md", "results.json", "predictions/crf/0.jsonl", "models/crf/0/model.json"} <= files
    assert not [name for name in files if "partial" in name or "writing" in name]
    assert stat.S_IMODE(out.stat().st_mode) == 0o700


def test_predictions_hold_spans_of_every_document_and_no_text(corpus_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "results"
    main(["--models", "crf", *corpus_options(corpus_folder), "--out", str(out)])
    gold = read_corpus(corpus_folder / "test.jsonl")
    lines = [json.loads(line) for line in (out / "predictions/crf/0.jsonl").read_text("utf-8").splitlines()]
    assert [line["id"] for line in lines] == [document.id for document in gold]
    assert all(set(line) == {"id", "spans"} for line in lines)
    found = 0
    for line, document in zip(lines, gold, strict=True):
        spans = {(span["start"], span["end"], span["label"]) for span in line["spans"]}
        found += len(spans & set(document.spans))
        assert all(set(span) == {"start", "end", "label"} for span in line["spans"])
    assert found == read_results(out)["models"]["crf"]["runs"][0]["scores"]["entity_strict"]["micro"]["tp"] > 0
    written = "".join(path.read_text("utf-8") for path in (out / "tables.md", out / "results.json"))
    assert "Huntington" not in written


def test_a_saved_model_gives_the_predictions_that_were_written(corpus_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "results"
    main(["--models", "crf", *corpus_options(corpus_folder), "--out", str(out)])
    predictions = predict_spans(load(out / "models/crf/0"), Split.of(read_corpus(corpus_folder / "test.jsonl")))
    assert predictions_jsonl(predictions) == (out / "predictions/crf/0.jsonl").read_text("utf-8")


def test_the_same_command_gives_the_same_bytes_whatever_the_number_of_jobs(corpus_folder: Path, tmp_path: Path) -> None:
    command = ["--models", "crf", "--seeds", "2", *corpus_options(corpus_folder)]
    folders = [tmp_path / name for name in ("first", "again", "two")]
    for folder, jobs in zip(folders, ("1", "1", "2"), strict=True):
        assert main([*command, "--jobs", jobs, "--out", str(folder)]) == 0
    first, again, two = map(read_results, folders)
    assert json.dumps(without_times(first)) == json.dumps(without_times(again))
    assert two["environment"].pop("jobs") == 2
    assert first["environment"].pop("jobs") == 1
    assert json.dumps(without_times(first)) == json.dumps(without_times(two))
    written = [sorted(path for path in folder.rglob("*") if path.is_file()) for folder in folders]
    for one, other in zip(written[0], written[2], strict=True):
        if one.name not in ("results.json", "tables.md"):  # They tell times.
            assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize(("splits", "documents"), [(("train", "dev"), (20, 4)), (("train",), (18, 2))])
def test_without_a_test_split_dev_is_scored_and_the_results_say_so(
    corpus_folder: Path, tmp_path: Path, splits: tuple[str, ...], documents: tuple[int, int], memory_model: Any,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    out = tmp_path / "results"
    assert main(["--models", "memory", *corpus_options(corpus_folder, *splits), "--out", str(out)]) == 0
    corpus = read_results(out)["corpus"]
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
    assert main([*argv, "--out", str(out)]) == 0
    results = read_results(out)
    check_results(results, models=["memory", "crf"], seeds=[3, 1])
    assert results["settings"]["models"]["memory"] == {"window": 5, "loss": 0.5}
    assert memory_model.predict_calls == 2
    assert "memory R" in capsys.readouterr().out


def test_an_option_that_no_chosen_model_has_is_refused(corpus_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--models", "crf", "--hidden", "10", *corpus_options(corpus_folder)]) == 2
    assert capsys.readouterr().err == "error: --hidden: no such setting in crf\n"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--features", "best"], "unknown features 'best': choose from"),
        (["--pos", "stanford"], "unknown pos 'stanford': choose from"),
        (["--device", "gpu"], "--device gpu: none of these models runs on a GPU"),
    ],
)
def test_a_value_that_the_model_refuses_is_one_line_and_exit_code_2(
    corpus_folder: Path, options: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--models", "crf", *options, *corpus_options(corpus_folder)]) == 2
    assert says in capsys.readouterr().err


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
    assert main(["--models", "crf", *corpus_options(corpus_folder), "--out", str(out)]) == 1
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
        assert main(["--models", "memory", "--types", types, *corpus_options(corpus_folder), "--out", str(out)]) == 0
        results = read_results(out)
        check_results(results, models=["memory"], seeds=[0])
        assert results["corpus"]["types"] == found


@pytest.fixture
def interruptible() -> Iterator[Callable[[list[str]], subprocess.Popen[str]]]:
    """Starts the command in a process group of its own that Ctrl-C reaches; ends what is left of it."""
    started: list[subprocess.Popen[str]] = []

    def start(argv: list[str]) -> subprocess.Popen[str]:
        code = (
            "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
            "from experiments.compare import main; sys.exit(main(sys.argv[1:]))"
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
    words = [sys.executable, "-m", "experiments.compare", "--models", "crf", "--show-examples"]
    words += ["--train", str(folder / "train.jsonl"), "--dev", str(folder / "dev.jsonl")]
    script = "set -o pipefail\n" + line.replace("COMMAND", shlex.join(words))
    variables = {**os.environ, **environment}
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, env=variables, check=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "code", "error"),
    [
        ("COMMAND | head -1", 141, ""),
        ("COMMAND >&-", 0, ""),
        ("COMMAND 2>&-", 0, ""),
        pytest.param(
            "COMMAND >/dev/full",
            1,
            "error: [Errno 28] No space left on device\n",
            marks=pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here"),
        ),
    ],
)
def test_output_that_goes_nowhere_is_no_traceback(line: str, code: int, error: str, corpus_folder: Path) -> None:
    done = run_in_shell(line, corpus_folder)
    assert (done.returncode, done.stderr) == (code, error)


@pytest.mark.slow
def test_a_terminal_that_knows_ascii_only_shows_everything(corpus_folder: Path) -> None:
    done = run_in_shell("COMMAND --seeds 2", corpus_folder, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert r"\xb1" in done.stdout


@pytest.mark.parametrize(
    ("problem", "says"),
    [
        (OSError(28, "No space left on device", "here"), "error: [Errno 28] No space left on device: 'here'\n"),
        (MemoryError("Doe"), "error: out of memory: give --jobs 1, smaller networks or fewer documents\n"),
    ],
)
def test_what_the_system_refuses_is_one_line(
    problem: Exception, says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: object) -> None:
        raise problem

    monkeypatch.setattr("experiments.compare.compare", fail)
    assert main(["--models", "crf"]) == 1
    assert capsys.readouterr().err == says


def test_two_commands_do_not_share_an_output_folder(
    corpus_folder: Path, tmp_path: Path, memory_model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "results"
    argv = ["--models", "memory", "--jobs", "1", "--out", str(out), *corpus_options(corpus_folder)]
    # The other command begins while this one reads its corpus.
    monkeypatch.setattr("experiments.compare._make_folder", lambda folder: (folder / "predictions").mkdir(parents=True))
    assert main(argv) == 2
    assert [path.name for path in out.rglob("*")] == ["predictions"]


def test_data_that_cannot_be_read_leave_the_output_folder_free(corpus_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "results"
    (corpus_folder / "train.jsonl").write_text("{", "utf-8")
    assert main(["--models", "crf", "--out", str(out), *corpus_options(corpus_folder)]) == 1
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
    argv = ["--models", "crf", "--profile", "paper", "--seeds", "2000", "--jobs", "2", "--out", str(out)]
    process = interruptible([*argv, *corpus_options(corpus_folder)])
    while not list(out.glob("predictions/crf/*.jsonl")):
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
    argv = ["--models", "crf", "--profile", "paper", "--seeds", "2000", "--jobs", jobs, "--out", str(out)]
    process = interruptible([*argv, *corpus_options(corpus_folder)])
    deadline = time.monotonic() + 60
    while not list(out.glob("predictions/crf/*.jsonl")) and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err == "error: interrupted: there are no results\n"
    assert not (out / "results.json").exists()


@pytest.mark.slow
def test_every_model_gives_the_same_results_one_by_one_and_side_by_side(
    one_length_folder: Path, tmp_path: Path
) -> None:
    folders = {jobs: tmp_path / jobs for jobs in ("1", "3")}
    for jobs, folder in folders.items():
        argv = [
            "--epochs",
            "3",
            "--hidden",
            "10",
            "--jobs",
            jobs,
            "--out",
            str(folder),
            *corpus_options(one_length_folder),
        ]
        done = subprocess.run(
            [sys.executable, "-m", "experiments.compare", *argv], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
    one, three = map(read_results, folders.values())
    check_results(one, models=list(MODELS), seeds=[0])
    assert one["settings"]["models"]["elman"]["hidden"] == one["settings"]["models"]["jordan"]["hidden"] == 10
    assert len(one["models"]["jordan"]["runs"][0]["learning_curve"]) == 3
    del one["environment"]["jobs"], three["environment"]["jobs"]
    assert without_times(one) == without_times(three)
    for model in MODELS:
        first, second = (sorted((folder / "models" / model / "0").iterdir()) for folder in folders.values())
        assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


@pytest.mark.slow
def test_the_synthetic_corpus_shows_its_errors_and_no_text_goes_into_files(
    tmp_path: Path, memory_model: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "results"
    assert main(["--models", "memory", "--corpus-seed", "5", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "Errors in their text" in printed
    assert "WARNING" not in printed
    results = read_results(out)
    check_results(results, models=["memory"], seeds=[0])
    assert results["corpus"]["name"] == "synthetic (default, seed 5)"
    assert list(results["corpus"]["splits"]) == list(SPLITS)
    assert "Errors in their text" not in (out / "tables.md").read_text("utf-8")

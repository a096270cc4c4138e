"""``experiments.private``: its options, and a whole run on an invented corpus."""

import shlex
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from crfdeid.corpora.splits import Corpus
from crfdeid.errors import UsageError
from crfdeid.registry import create
from experiments.core import command
from experiments.core.systems import Cell
from experiments.private import experiment
from experiments.private.learning import Learned, Recipe
from experiments.reporting.files import command_line
from experiments.results.folder import Folder

main = partial(command.main, "private")
parse = partial(command.parse, "private")

pytestmark = pytest.mark.usefixtures("quickly_compiled")


def test_defaults_are_small_and_those_of_the_paper_are_its_own() -> None:
    found = parse([])
    assert (found.profile, found.seeds, found.neighbours) == ("default", (0,), 100)
    assert (found.pseudonyms, found.representations, found.pooling) == ((1, 20), (), False)
    assert found.vectors.sources == {"cbow": "cbow"}
    paper = parse(["--profile", "friedrich2019", "--figure-5"])
    assert paper.seeds == (0, 1, 2, 3, 4)
    assert paper.vectors.sources == {"fasttext": "fasttext"}
    assert paper.pseudonyms == (1, 5, 20, 50, 200, 500, 1000)
    assert paper.representations == (5, 20, 50, 200, 500, 1000)


def test_options_reach_their_settings(tmp_path: Path) -> None:
    (tmp_path / "train").touch()
    argv = ["--train", str(tmp_path / "train"), "--seeds", "3,7", "--neighbours", "50", "--figure-4", "2", "--pooling"]
    argv += [
        "--systems",
        "dann,pseudonyms",
        "--figure-5",
        "5,9",
        "--set",
        "size=100",
        "attack_epochs=20,50",
        "--tagger",
        "epochs=3",
        "--jobs",
        "2",
    ]
    found = parse([*argv, "--output", str(tmp_path / "out"), "--published"])
    assert (found.seeds, found.neighbours, found.pseudonyms, found.representations) == ((3, 7), 50, (2,), (5, 9))
    assert (found.pooling, found.pooled) == (True, ())
    assert parse([*argv, "--pooling", "deviation=0.1,weight=1"]).pooled == ((("deviation", 0.1), ("weight", 1)),)
    assert found.kinds == ("dann", "pseudonyms")
    assert found.representation == (("size", 100), ("attack_epochs", (20, 50)))
    assert found.tagger == (("epochs", 3),)
    assert found.output.published
    assert found.command == parse(argv).command
    assert found.command["set"] == [["size", 100], ["attack_epochs", [20, 50]]]


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--profile", "yadav2016"], "unknown profile 'yadav2016': choose from default, friedrich2019"),
        (["--systems", "raw"], "unknown system 'raw': choose from non-private, pseudonyms, representation, dann"),
        (["--neighbours", "4"], "'4' is not a whole number from 5"),
        (["--figure-4", "1,x"], "no list of different numbers from 1"),
        (["--figure-5", "5,5"], "no list of different numbers from 1"),
        (["--set", "attack_epochs=0"], "no list of different numbers from 1"),
        (["--embeddings", "random"], "nothing is near by random vectors"),
        (["--dev", "x"], "--dev needs --train"),
        (["--resume"], "--resume needs --output"),
        (["--pooling", "deviation"], "'deviation' is not a setting with a value"),
        (["--pooling", "size=4,", "size=4"], "'' is not a setting with a value"),
        (["--pooling", "size=4", "size=4"], "--pooling: names a representation twice"),
        (["--train", "nowhere"], "no such file or folder: nowhere"),
    ],
)
def test_what_cannot_work_is_refused(argv: list[str], says: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse(argv)
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--set", "sizes=4"], "no setting 'sizes' in a representation"),
        (["--set", "size=5"], "size"),
        (["--tagger", "epoch=3"], "no setting 'epoch' in the taggers"),
        (["--tagger", "lr=0"], "lr"),
    ],
)
def test_settings_that_cannot_work_are_refused_before_anything_is_read(
    argv: list[str], says: str, capsys: pytest.CaptureFixture[str], one_length_folder: Path
) -> None:
    assert main(["--train", str(one_length_folder / "train.jsonl"), *argv]) == 2
    printed, noted = capsys.readouterr()
    assert printed == ""
    assert noted.startswith("error: ")
    assert says in noted


@pytest.fixture
def trained(memory_model: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Training and attacks are replaced by what takes no time; these are the systems that were trained."""

    def learn(recipe: Recipe, cell: Cell, corpus: Corpus, on_epoch: Any) -> Learned:
        names.append(cell.system.name)
        tagger = create("memory")
        tagger.fit(corpus.train.sentences, corpus.dev.sentences, on_progress=on_epoch)
        return Learned(tagger, corpus.train.sentences)

    names: list[str] = []
    monkeypatch.setattr(experiment, "LEARN", dict.fromkeys(experiment.LEARN, learn))
    monkeypatch.setattr(experiment, "attack", lambda *_: [])
    return names


def test_a_run_is_written_reported_and_gone_on_with(
    corpus_folder: Path,
    tmp_path: Path,
    trained: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out"
    argv = [f"--{name}={corpus_folder / name}.jsonl" for name in ("train", "dev", "test")]
    (tmp_path / "near.txt").write_text("2 2\nDoe 1 0\nRoe 0 1\n")
    argv += ["--embeddings", str(tmp_path / "near.txt"), "--neighbours", "5", "--figure-4", "1", "--pooling"]
    argv += ["--jobs", "1", "--output", str(out)]
    assert main(argv) == 0
    assert "Private training data (Table 2 of friedrich2019)" in capsys.readouterr().out
    results = Folder(out).results()
    assert (results["experiment"], results["schema"]) == ("private", 5)
    assert list(results["systems"]) == trained
    assert list(results["comparisons"]["pooling"]["intervals"]) == trained[5:]
    table_2 = [name for name in trained[:5] if name != "pseudonyms-near-1"]
    assert list(results["comparisons"]["phi"]["intervals"]) == table_2
    page = (out / "report.html").read_text()
    assert "table-pooling-significance" in page
    assert "python -m experiments.private" in page
    first = {path: path.read_bytes() for path in (out / "tables").iterdir()}
    assert main([*argv, "--resume"]) == 0
    assert len(trained) == 11
    assert {path.name for path in first if path.read_bytes() != first[path]} <= {
        f"time.{e}" for e in ("md", "tex", "csv")
    }
    argv[argv.index("--neighbours") + 1] = "6"
    assert main([*argv, "--resume"]) == 2
    assert "differs in command.neighbours" in capsys.readouterr().err


@pytest.mark.parametrize("chosen", ["non-private", "representation,non-private"])
def test_systems_can_be_left_out(chosen: str, corpus_folder: Path, tmp_path: Path, trained: list[str]) -> None:
    (tmp_path / "near.txt").write_text("2 2\nDoe 1 0\nRoe 0 1\n")
    argv = [f"--{name}={corpus_folder / name}.jsonl" for name in ("train", "dev")]
    argv += ["--embeddings", str(tmp_path / "near.txt"), "--neighbours", "5", "--systems", chosen, "--jobs", "1"]
    assert main([*argv, "--output", str(tmp_path / "out")]) == 0
    assert trained == ["non-private-near", "representation-near-5"][: len(chosen.split(","))]
    assert (tmp_path / "out" / "report.html").is_file()
    assert (tmp_path / "out" / "tables" / "neighbours.md").exists() == ("representation" in chosen)
    assert not (tmp_path / "out" / "plots" / "figure-4.png").exists()


@pytest.mark.parametrize(
    "argv",
    [
        ["--figure-5", "--pooling"],
        ["--figure-5", "5,9", "--pooling", "deviation=0.1,weight=1", "deviation=0.5"],
        ["--set", "attack_epochs=20,50", "size=40", "--tagger", "epochs=2", "--figure-4", "3,4"],
    ],
)
def test_the_report_can_say_the_command_again(argv: list[str]) -> None:
    asked = parse(argv)
    assert parse(shlex.split(command_line(asked.command, "private"))[3:]) == asked

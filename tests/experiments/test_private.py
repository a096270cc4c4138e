"""``experiments.private``: its options, and a whole run on an invented corpus."""

import json
from pathlib import Path

import pytest

from crfdeid.errors import UsageError
from experiments import report
from experiments.private import main, parse


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
    argv += ["--figure-5", "5,9", "--set", "size=100", "attack_epochs=20,50", "--tagger", "epochs=3", "--jobs", "2"]
    found = parse([*argv, "--out", str(tmp_path / "out"), "--published"])
    assert (found.seeds, found.neighbours, found.pseudonyms, found.representations) == ((3, 7), 50, (2,), (5, 9))
    assert found.pooling
    assert found.representation == (("size", 100), ("attack_epochs", (20, 50)))
    assert found.tagger == (("epochs", 3),)
    assert found.output.published
    assert found.command == parse(argv).command
    assert found.command["set"] == [["size", 100], ["attack_epochs", [20, 50]]]


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--profile", "yadav2016"], "unknown profile 'yadav2016': choose from default, friedrich2019"),
        (["--neighbours", "4"], "'4' is not a whole number from 5"),
        (["--figure-4", "1,x"], "no list of different numbers from 1"),
        (["--figure-5", "5,5"], "no list of different numbers from 1"),
        (["--set", "attack_epochs=0"], "no list of different numbers from 1"),
        (["--embeddings", "random"], "nothing is near by random vectors"),
        (["--dev", "x"], "--dev needs --train"),
        (["--resume"], "--resume needs --out"),
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
        (["--set", "sizes=4"], "no setting 'sizes' in the representation"),
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


@pytest.mark.slow
def test_a_whole_run_is_written_resumed_and_reported(
    one_length_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    argv = [f"--{name}={one_length_folder / name}.jsonl" for name in ("train", "dev", "test")]
    argv += ["--neighbours", "5", "--figure-4", "1", "--jobs", "1", "--out", str(out), "--pooling", "--types", "all"]
    argv += ["--tagger", "epochs=1", "hidden=4", "--set", "epochs=1", "adversary_epochs=1", "rounds=1", "adversary=4"]
    argv += ["hidden=4", "attack_epochs=1", "attack_seeds=1", "size=4"]
    assert main(argv) == 0
    results = json.loads((out / "results.json").read_text())
    assert (results["experiment"], results["schema"]) == ("private", 1)
    by_name = {system["name"]: system for system in results["systems"]}
    assert by_name["representation-cbow-5"]["attacks"]["fresh"]["accuracy"] >= 0.5
    assert by_name["dann-cbow-5"]["attacks"]["no_noise"] is None
    assert set(by_name["non-private-cbow"]["attacks"]["averaging"]) == {"1", "16", "256"}
    assert set(results["pooling"]["models"]) >= {"pooled-raw", "pooled-pseudonyms", "pooled-representations"}
    assert (out / "report.html").read_text().count("figure-4") >= 1
    before = {path: path.read_bytes() for path in out.rglob("*") if path.suffix == ".md"}
    printed = capsys.readouterr().out
    assert "Private training data (Table 2 of friedrich2019)" in printed
    assert main([*argv, "--resume"]) == 0
    assert report.main([str(out)]) == 0
    after = {path: path.read_bytes() for path in before}
    assert {p for p in before if before[p] != after[p]} <= {out / "tables.md", out / "tables" / "time.md"}

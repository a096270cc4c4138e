"""The command line: what is accepted, and one clear line for what is not."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from crfdeid.errors import FormatError, OptionConflictError, OutputExistsError, SettingError
from experiments.compare.options import ModelSettings
from experiments.core import command
from experiments.core.embeddings import VectorSettings
from experiments.core.settings import CorpusSettings, OutputSettings

main = partial(command.main, "compare")
parse = partial(command.parse, "compare")


def test_defaults() -> None:
    found = parse([])
    assert found.models == ModelSettings(models=("crf", "elman", "jordan"))
    assert found.corpus == CorpusSettings()
    assert found.vectors == VectorSettings(sources={"random": "random"}, unlabelled_notes=1000)
    assert found.output == OutputSettings()
    assert (found.profile, found.seeds, found.device, found.jobs) == ("default", (0,), "auto", None)


def test_every_option_reaches_its_setting(tmp_path: Path) -> None:
    for name in ("train", "dev", "test", "glove.6B.txt", "more.txt"):
        (tmp_path / name).touch()
    paths = {name: str(tmp_path / name) for name in ("train", "dev", "test")}
    vectors, more, out = tmp_path / "glove.6B.txt", tmp_path / "more.txt", tmp_path / "out"
    argv = ["--models", "elman,crf", "--combine", "vote", "--profile", "paper", "--seeds", "4,2", "--types", "all"]
    argv += [word for name, path in paths.items() for word in (f"--{name}", path)] + ["--format", "jsonl"]
    argv += ["--window", "7", "--lr", "0.5", "--freeze-embeddings", "--embeddings", f"cbow,{vectors}"]
    argv += ["--unlabelled", str(more), "--fractions", "0.5,0.1", "--sweep", "hidden=5,6", "c1=0.1", "--jobs", "3"]
    argv += ["--device", "cpu", "--output", str(out), "--resume", "--include-text", "--published", "--show-examples"]
    argv += ["--augment", "case", "--pseudonymise", "20", "--neighbours-from", "cbow"]
    found = parse(argv)
    assert found.models == ModelSettings(
        models=("elman", "crf"),
        changes=(("window", 7), ("lr", 0.5), ("freeze_embeddings", True)),
        combine="vote",
        fractions=(0.5, 0.1),
        sweep=(("hidden", (5, 6)), ("c1", (0.1,))),
    )
    assert found.corpus == CorpusSettings(
        **{name: Path(path) for name, path in paths.items()},
        format="jsonl",
        types="all",
        synthetic="yadav2016",
        augment="case",
        pseudonymise=20,
    )
    assert found.vectors == VectorSettings(
        sources={"cbow": "cbow", "glove": str(vectors)}, unlabelled=(more,), neighbours_from="cbow"
    )
    assert found.output == OutputSettings(
        folder=out, resume=True, include_text=True, show_examples=True, published=True
    )
    assert (found.profile, found.seeds, found.device, found.jobs) == ("yadav2016", (4, 2), "cpu", 3)


def test_any_setting_can_be_set_once() -> None:
    found = parse(["--window", "7", "--set", "max_norm=null", "decoding=argmax"])
    assert found.models.changes == (("window", 7), ("max_norm", None), ("decoding", "argmax"))
    for twice in (["--window", "7", "--set", "window=9"], ["--set", "window=9", "window=9"]):
        with pytest.raises(SettingError):
            parse(twice)


def test_a_profile_compares_the_models_of_its_paper() -> None:
    assert parse([]).models.models == parse(["--profile", "paper"]).models.models == ("crf", "elman", "jordan")
    assert parse(["--profile", "friedrich2019"]).models.models == ("bilstm-crf",)
    assert parse(["--profile", "friedrich2019", "--models", "crf"]).models.models == ("crf",)


@pytest.mark.parametrize(
    ("profile", "embedding", "seeds"),
    [("default", "random", 1), ("yadav2016", "cbow", 1), ("friedrich2019", "fasttext", 5), ("lange2020", "random", 3)],
)
def test_a_profile_has_the_word_vectors_and_the_number_of_runs_of_its_paper(
    profile: str, embedding: str, seeds: int
) -> None:
    found = parse(["--profile", profile, "--models", "crf"])
    assert (found.vectors.sources, found.seeds) == ({embedding: embedding}, tuple(range(seeds)))
    asked = parse(["--profile", profile, "--models", "crf", "--embeddings", "random,rnnlm", "--seeds", "2"])
    assert (list(asked.vectors.sources), asked.seeds) == (["random", "rnnlm"], (0, 1))


def test_what_the_results_keep_of_the_options_is_what_defines_the_experiment(tmp_path: Path) -> None:
    command = parse(["--seeds", "2", "--output", str(tmp_path / "new"), "--jobs", "1", "--resume"]).command
    assert command == parse(["--seeds", "0,1"]).command
    assert (command["seeds"], command["models"], command["train"]) == ([0, 1], ["crf", "elman", "jordan"], None)
    assert parse(["--pseudonymise", "5"]).command["neighbours_from"] == "fasttext"
    assert command["neighbours_from"] is None


@pytest.mark.parametrize(
    ("text", "seeds"),
    [("1", [0]), ("3", [0, 1, 2]), ("3,7", [3, 7]), ("7,", [7]), ("0", [0]), ("0,", [0]), ("5,0", [5, 0])],
)
def test_seeds_are_a_number_of_them_or_a_list(text: str, seeds: list[int]) -> None:
    assert parse(["--seeds", text]).seeds == tuple(seeds)


def test_models_keep_the_order_given() -> None:
    assert parse(["--models", "jordan,crf"]).models.models == ("jordan", "crf")


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--models", "crf,lstm"], "unknown model 'lstm': choose from crf, elman, jordan"),
        (["--models", "crf,crf"], "names one twice"),
        (["--models", ""], "unknown model ''"),
        (["--seeds", "-2"], "--seeds"),
        (["--seeds", "1,,2"], "neither a number"),
        (["--seeds", ","], "neither a number"),
        (["--seeds", "4,4"], "names one twice"),
        (["--types", "eighteen"], "--types"),
        (["--augment", "typos"], "'typos' is not a kind of copies"),
        (["--pseudonymise", "0"], "'0' is not a whole number from 1"),
        (["--neighbours-from", "cbow"], "--neighbours-from needs --pseudonymise"),
        (["--pseudonymise", "5", "--neighbours-from", "random"], "nothing is near by random vectors"),
        (["--pseudonymise", "5", "--neighbours-from", ""], "an empty name"),
        (["--pseudonymise", "5", "--neighbours-from", "no.vec"], "--neighbours-from: no such file or folder: no.vec"),
        (["--device", "tpu"], "--device"),
        (["--window", "three"], "'three' is not a whole number from 0"),
        (["--hidden", "0"], "'0' is not a whole number from 1"),
        (["--epochs", "1.5"], "'1.5' is not a whole number from 1"),
        (["--jobs", "0"], "--jobs"),
        (["--models", "rules", "--published"], "--published: no paper here prints scores of rules"),
        (["--set", "window"], "'window' is not a setting with a value"),
        (["--lr", "0"], "'0' is not a number above 0"),
        (["--lr", "nan"], "'nan' is not a number above 0"),
        (["--lr", "inf"], "'inf' is not a number above 0"),
        (["--epoch", "3"], "--epoch"),
        (["notes"], "1 arguments too many"),
        (["--dev", "."], "--dev needs --train"),
        (["--test", "."], "--test needs --train"),
        (["--format", "brat"], "--format needs --train"),
        (["--train", "no/such/folder"], "--train: no such file or folder: no/such/folder"),
        (["--train", ".", "--test", "no/such"], "--test: no such file or folder: no/such"),
        (["--train", ".", "--format", "word"], "--format"),
        (["--train", ""], "an empty name"),
        (["--output", ""], "an empty name"),
        (["--train", "a" * 5000], "--train: no such file or folder"),
        (["--output", "a" * 5000], "cannot be used: File name too long"),
        (["--train", "caf\udce9"], "is not UTF-8: rename it"),
        (["--train", ".", "--output", "results/new"], "--output: results/new lies in the folder of --train"),
        (["--train", "setup.py", "--test", ".", "--output", "new"], "--output: new lies in the folder of --test"),
        (["--corpus-seed", "12345678901234567890123456"], "is not a whole number from 0 to 4294967295"),
        (["--seeds", "1,4294967296"], "is too large: seeds are numbers up to 4294967295"),
        (["--train", ".", "--corpus-seed", "1"], "--corpus-seed is for the synthetic corpus"),
    ],
)
def test_what_cannot_work_is_refused_in_one_line_with_exit_code_2(
    argv: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(argv) == 2
    out, err = capsys.readouterr()
    assert says in err
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert out == ""


def test_an_output_folder_that_holds_something_is_refused(tmp_path: Path) -> None:
    parse(["--output", str(tmp_path)])
    parse(["--output", str(tmp_path / "new")])
    (tmp_path / "notes.txt").write_text("keep me", "utf-8")
    with pytest.raises(OutputExistsError):
        parse(["--output", str(tmp_path)])
    with pytest.raises(OutputExistsError):
        parse(["--output", str(tmp_path / "notes.txt")])


def test_help_names_every_option_and_ends_with_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    for name in (
        *("models", "train", "dev", "test", "format", "types", "features", "pos", "window", "hidden", "epochs", "lr"),
        *("seeds", "profile", "device", "jobs", "out", "show-examples"),
    ):
        assert f"--{name}" in text
    assert "examples:" in text


def test_a_wrong_option_is_answered_before_anything_heavy_is_imported() -> None:
    code = (
        "import sys; from experiments.core.command import main; code = main('compare', ['--models', 'lstm']); "
        "print(code, sorted({m.split('.')[0] for m in sys.modules} & {'jax', 'pandas', 'sklearn', 'numpy.testing', "
        "'tqdm', 'nltk', 'textblob', 'faker', 'pycrfsuite'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "2 []\n"


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("x = 1", FormatError),
        ("[a", FormatError),
        ("", FormatError),
        ("[a]\nwindow = 3", FormatError),
        ('[a]\nmodel = "crff"', SettingError),
        ('[a]\nmodel = "multitask"', SettingError),
        ('[a]\nmodel = "crf"\nwindow = 3', SettingError),
        ('[a]\nmodel = "crf"\nc1 = -1', SettingError),
        ('["a/b"]\nmodel = "crf"', SettingError),
        ('[".."]\nmodel = "crf"', SettingError),
        ('[elman]\nmodel = "crf"', OptionConflictError),
    ],
)
def test_variants_that_cannot_work_are_refused(content: str, error: type[Exception], tmp_path: Path) -> None:
    file = tmp_path / "variants.toml"
    file.write_text(content)
    with pytest.raises(error) as refused:
        parse(["--variants", str(file), "--models", "elman"])
    assert getattr(refused.value, "path", file) == file


def test_a_list_of_a_variant_is_a_value_of_its_system(tmp_path: Path) -> None:
    file = tmp_path / "variants.toml"
    file.write_text('[both]\nmodel = "ensemble"\nmembers = ["crf", "rules"]\n')
    (variant,) = parse(["--variants", str(file)]).models.variants
    assert variant.settings == (("members", ("crf", "rules")),)

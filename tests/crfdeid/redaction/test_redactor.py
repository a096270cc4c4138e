"""`Redactor`: one frozen object with model, policy, keys and columns, which another process can start."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import pytest
from notes_samples import tiny_model

import crfdeid
from crfdeid.errors import EncodingError, MismatchError, OptionConflictError, SecretError, UnknownNameError
from crfdeid.io.date_columns import DateColumns
from crfdeid.io.records import Columns, Note, NoteResult
from crfdeid.secrets import SECRET_VARIABLE, KeyFiles, Keys

SECRET = b"a secret of the tests"
TEXT = "Patient Quill was seen by Dr. Marsh on 3/4/2031."


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("model") / "model")


@pytest.fixture
def files(tmp_path: Path) -> KeyFiles:
    (tmp_path / "secret").write_bytes(SECRET)
    (tmp_path / "secret").chmod(0o600)
    return KeyFiles(tmp_path / "secret")


def test_a_pickled_redactor_holds_no_secret_and_writes_the_same_text(model: Path, files: KeyFiles) -> None:
    redactor = crfdeid.Redactor(model, crfdeid.Policy("surrogate", locale="en_US"), files).pinned()
    content = pickle.dumps(redactor)
    assert SECRET not in content
    started = pickle.loads(content).start()
    document = crfdeid.load(model).annotate(TEXT)
    expected = crfdeid.redact(document, "surrogate", secret=SECRET, patient="7", locale="en_US").text
    assert started.redact(TEXT, patient="7").text == expected != TEXT
    (result,) = started([Note("1", TEXT, "7")])
    assert isinstance(result, NoteResult) and result.document.text == expected
    with pytest.raises(FrozenInstanceError):
        redactor.policy = crfdeid.Policy()  # type: ignore[misc]


def test_another_process_refuses_another_model(model: Path, tmp_path: Path) -> None:
    other = tiny_model(tmp_path / "other", max_iterations=3)
    with pytest.raises(MismatchError):
        replace(crfdeid.Redactor(model).pinned(), model=other).start()


def test_what_the_policy_needs_is_missed_at_the_start(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SECRET_VARIABLE, raising=False)
    for keys in (Keys(), KeyFiles(), KeyFiles(Path("no file"))):
        with pytest.raises(SecretError):
            crfdeid.Redactor(model, crfdeid.Policy("hash"), keys).start().redact(TEXT)
    with pytest.raises(UnknownNameError):
        crfdeid.Redactor(model, crfdeid.Policy({"NONE": "mask"})).start()


def test_damaged_text_is_refused_unless_the_policy_accepts_it(model: Path) -> None:
    redactor = crfdeid.Redactor(model)
    with pytest.raises(EncodingError):
        redactor.start().redact("José\N{REPLACEMENT CHARACTER}")
    accepting = replace(redactor, policy=crfdeid.Policy(accept_damaged=True))
    assert accepting.start().redact("José\N{REPLACEMENT CHARACTER}").text


def test_columns_follow_the_policy() -> None:
    shifted = Columns("note", dates=DateColumns(shift=("born",)))
    surrogates = crfdeid.Policy("surrogate", date_order="mdy")
    dates = crfdeid.Redactor("no folder", surrogates, columns=shifted).columns.dates
    assert (dates.refuse, dates.date_order) == (True, "mdy")
    with pytest.raises(OptionConflictError):
        crfdeid.Redactor("no folder", columns=shifted)  # no surrogates, whose days would agree

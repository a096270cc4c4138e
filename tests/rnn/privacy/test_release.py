"""Notes are encoded once into a folder, and its record says to nobody which notes they are."""

from __future__ import annotations

import hashlib
import json
import stat
from pathlib import Path

import pytest
from tiny_sharing import tiny_notes

from crfdeid.corpora.splits import Split
from crfdeid.documents import Document
from crfdeid.errors import FormatError, IntegrityError, MismatchError, OutputExistsError, SecretError, WriteError
from crfdeid.secrets import SECRET_VARIABLE, read_record_key, user_secret
from crfdeid.utils.json import dump_with_checksum
from rnn.privacy.release import RECORD, release_ledger

pytestmark = pytest.mark.usefixtures("quickly_compiled")

KEY = bytes(range(32))


def encode(folder: Path, documents: list[Document], key: bytes = KEY) -> None:
    with release_ledger(folder, documents, key) as record:
        record.add(documents, Split.of(documents).sentences)


def test_no_note_is_encoded_twice_into_one_folder(tmp_path: Path) -> None:
    notes = tiny_notes(6)
    encode(tmp_path / "a", notes[:3])
    with pytest.raises(OutputExistsError, match=r"^1 of these 3 "):
        encode(tmp_path / "a", notes[2:5])
    encode(tmp_path / "a", notes[3:])
    with pytest.raises(OutputExistsError, match=r"^2 of these 2 "):
        encode(tmp_path / "a", [notes[0], notes[5]])
    encode(tmp_path / "b", notes)


def test_other_spaces_ids_and_annotations_make_it_no_other_note(tmp_path: Path) -> None:
    (note,) = tiny_notes(1)
    encode(tmp_path, [note])
    with pytest.raises(OutputExistsError):
        encode(tmp_path, [Document("other", note.text.replace(" ", "  "))])
    encode(tmp_path, [Document("other", note.text.replace("pain", "fever"))])


def test_a_sentence_of_earlier_notes_is_not_encoded_again(tmp_path: Path) -> None:
    first, second = Split.of(tiny_notes(2)), Split.of(tiny_notes(2, first=4))  # the same names, other days
    encode(tmp_path, list(first.documents))
    with release_ledger(tmp_path, second.documents, KEY) as record:
        new = record.new(second.sentences)
    known = {item.sentence.words for item in first.sentences}
    assert [item.sentence.words for item in new] == [
        item.sentence.words for item in second.sentences if item.sentence.words not in known
    ]
    assert 0 < len(new) < len(second.sentences)


def test_the_record_holds_keyed_hashes_alone(tmp_path: Path) -> None:
    notes = tiny_notes(4)
    encode(tmp_path, notes)
    path = tmp_path / RECORD
    record = json.loads(path.read_text())
    assert set(record) == {"about", "schema", "key", "notes", "sentences", "sha256"}
    assert record["notes"] == sorted(record["notes"]) and len(record["notes"]) == 4
    assert (stat.S_IMODE(path.stat().st_mode), stat.S_IMODE(path.parent.stat().st_mode)) == (0o600, 0o700)
    text = path.read_text().lower()
    assert not [word for word in ("quill", "marsh", "note-1", "seen") if word in text]
    for guess in (notes[0].text, "\n".join(word for s in notes[0].sentences() for word in s.words)):
        for name in ("md5", "sha1", "sha256", "blake2b"):
            assert hashlib.new(name, guess.encode()).hexdigest()[:24] not in text
    other = tmp_path / "other"
    encode(other, notes, KEY[::-1])
    assert not set(json.loads((other / RECORD).read_text())["notes"]) & set(record["notes"])


def test_where_nobody_can_say_what_was_encoded_nothing_is(tmp_path: Path) -> None:
    notes = tiny_notes(4)
    encode(tmp_path, notes[:2])
    with pytest.raises(MismatchError):
        encode(tmp_path, notes[2:], KEY[::-1])
    path = tmp_path / RECORD
    whole = path.read_text()
    fields = {name: value for name, value in json.loads(whole).items() if name != "sha256"}
    for damaged in (whole.replace('"schema": 1', '"schema": 2'), "", dump_with_checksum({**fields, "notes": "all"})):
        path.write_text(damaged)
        with pytest.raises((FormatError, IntegrityError)) as refused:
            encode(tmp_path, notes[2:])
        assert refused.value.path == path
        assert "backup" in str(refused.value) or "version" in str(refused.value)
        assert "train" not in str(refused.value)
    path.write_text(whole)  # each advice of the messages works
    encode(tmp_path, notes[2:])
    for file in (path, *tmp_path.glob("*.npz")):
        file.unlink()
    encode(tmp_path, notes)
    encode(tmp_path / "new", notes[2:])


def test_what_fails_leaves_the_record_as_it_was(tmp_path: Path) -> None:
    notes = tiny_notes(4)
    for known in ([], notes[:2]):
        if known:
            encode(tmp_path, known)
        before = (tmp_path / RECORD).read_bytes() if known else None
        with pytest.raises(KeyboardInterrupt), release_ledger(tmp_path, notes[2:], KEY) as record:
            record.add(notes[2:], [])
            raise KeyboardInterrupt
        assert (tmp_path / RECORD).exists() == bool(known)
        assert before is None or (tmp_path / RECORD).read_bytes() == before


def test_two_at_a_time_are_refused(tmp_path: Path) -> None:
    first, second = tiny_notes(2)
    with release_ledger(tmp_path, [first], KEY), pytest.raises(WriteError):
        encode(tmp_path, [second])


def test_the_key_is_the_given_secrets_or_one_that_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv(SECRET_VARIABLE, raising=False)
    kept = read_record_key(None)
    assert read_record_key(None) == kept
    path = tmp_path / "state" / "crfdeid" / "secret"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in path.parent.iterdir()] == ["secret"]
    path.unlink()
    assert read_record_key(None) != kept
    monkeypatch.setenv(SECRET_VARIABLE, "a secret of more than 16 bytes")
    given = read_record_key(None)
    (tmp_path / "secret").write_text("a secret of more than 16 bytes\n")
    (tmp_path / "secret").chmod(0o600)
    assert read_record_key(tmp_path / "secret") == given
    monkeypatch.setenv(SECRET_VARIABLE, "short")
    with pytest.raises(SecretError):
        read_record_key(None)


def test_a_kept_secret_lies_in_the_home_folder_where_the_standard_names_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", "not/absolute")
    assert len(user_secret()) == 64
    assert (tmp_path / ".local" / "state" / "crfdeid" / "secret").is_file()

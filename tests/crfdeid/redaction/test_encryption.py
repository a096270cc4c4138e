"""Encrypted values: what is restored, and what is refused."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from crfdeid.corpora import read_corpus
from crfdeid.documents import Document, Span
from crfdeid.errors import DataError, IntegrityError, MissingExtraError, SecretError
from crfdeid.redaction import redact, redact_recorded
from crfdeid.redaction.encryption import reveal
from crfdeid.secrets import SECRET_VARIABLE, read_encryption_key

KEY, OTHER = b"an encryption key of a test", b"another encryption key of it"
NOTE = Document("1", "Jane Quill, MRN 48-22: Quill.", (Span(0, 10, "PATIENT"), Span(16, 21, "ID"), Span(23, 28, "ID")))
TOKEN = re.compile("⟦[A-Z_]+:[A-Za-z0-9_-]+⟧")
VALUES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
# Text around values has all of Unicode but the two characters that mark tokens.
PLAIN = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="⟦⟧"), max_size=20)
LABELS = st.sampled_from(["PATIENT", "ID", "OTROS_SUJETO_ASISTENCIA"])
ODD = st.text(st.sampled_from("A⟦⟧:\\() é"), max_size=6) | st.text(max_size=6)


def encrypted(document: Document, key: bytes = KEY) -> str:
    return redact(document, "encrypt", encryption_key=key).text


def note_of(parts: list[tuple[str, str, str]], end: str) -> Document:
    """A note of parts: text, and a value with its type after it."""
    text, spans = "", []
    for before, value, label in parts:
        start = len(text) + len(before)
        text += before + value
        spans.append(Span(start, start + len(value), label))
    return Document("1", text + end, tuple(spans))


def restores(parts: list[tuple[str, str, str]], end: str) -> None:
    note = note_of(parts, end)
    redacted = encrypted(note)
    assert reveal(redacted, KEY) == (note.text, len(parts))
    assert TOKEN.split(redacted) == [before for before, _, _ in parts] + [end]


PARTS = st.lists(st.tuples(PLAIN, VALUES, LABELS), max_size=10)


@given(PARTS, PLAIN)
def test_values_are_restored_exactly(parts: list[tuple[str, str, str]], end: str) -> None:
    restores(parts, end)


@pytest.mark.slow
@settings(max_examples=1000, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(PLAIN, VALUES, LABELS), min_size=10, max_size=10), PLAIN)
def test_ten_thousand_values_are_restored_exactly(parts: list[tuple[str, str, str]], end: str) -> None:
    restores(parts, end)


@given(st.lists(st.tuples(PLAIN, VALUES, ODD), max_size=5), PLAIN, st.sampled_from(["label", "numbered", "hash"]))
def test_values_of_any_type_are_restored_next_to_other_operators(
    parts: list[tuple[str, str, str]], end: str, other: str
) -> None:
    note = note_of(parts, end)
    labels = sorted({label for _, _, label in parts})
    operators = {label: ("encrypt", other)[number % 2] for number, label in enumerate(labels)}
    marked = [label for _, value, label in parts if operators[label] != "encrypt" and {*value} & {*"⟦⟧"}]
    if marked:
        with pytest.raises(DataError):
            redact(note, operators, secret=OTHER, encryption_key=KEY)
        return
    redacted, record = redact_recorded(note, operators, secret=OTHER, encryption_key=KEY)
    expected, done = "", 0
    for (start, stop, label), text in record.replacements(note.text, redacted.text):
        value = note.text[start:stop] if operators[label] == "encrypt" else text
        expected, done = expected + note.text[done:start] + value, stop
    assert reveal(redacted.text, KEY).text == expected + end


@given(ODD)
@example("A⟦B⟧")
@example("⟧:")
@example(r"A\(")
def test_each_type_that_a_corpus_can_have_is_restored(label: str) -> None:
    with TemporaryDirectory() as folder:
        corpus = Path(folder) / "notes.jsonl"
        spans = [{"start": 5, "end": 15, "label": label}]
        corpus.write_text(json.dumps({"id": "1", "text": "Seen ⟦ID:AAAA⟧ by Quill.", "spans": spans}) + "\n")
        try:
            (note,) = read_corpus(corpus)
        except DataError:
            return
    assert reveal(encrypted(note), KEY) == (note.text, 1)


@given(VALUES, ODD, ODD)
def test_types_stay_apart(value: str, label: str, other: str) -> None:
    tokens = {encrypted(note_of([("", value, one)], "")) for one in (label, other)}
    assert len(tokens) == len({label, other})


@given(VALUES, VALUES, LABELS, LABELS)
def test_equal_values_of_a_type_have_equal_tokens_under_one_key(
    value: str, other: str, label: str, other_label: str
) -> None:
    token = encrypted(note_of([("", value, label)], ""))
    assert (encrypted(note_of([("", other, other_label)], "")) == token) == ((value, label) == (other, other_label))
    assert encrypted(note_of([("", value, label)], ""), OTHER) != token


def test_tokens_name_their_type_and_show_no_value() -> None:
    tokens = TOKEN.findall(encrypted(NOTE))
    assert Counter(token[1:].partition(":")[0] for token in tokens) == {"PATIENT": 1, "ID": 2}
    assert not any(word in encrypted(NOTE) for word in ("Jane", "Quill", "48-22"))


CHANGED = st.sampled_from("⟦⟧:aA-_=é\u0301٣\u200b \n")


@given(st.data())
def test_each_change_inside_a_token_is_refused(data: st.DataObject) -> None:
    redacted = encrypted(NOTE)
    match = data.draw(st.sampled_from(list(TOKEN.finditer(redacted))))
    i = data.draw(st.integers(match.start(), match.end() - 1))
    j = data.draw(st.integers(i, min(i + 1, match.end() - 1)))  # replace one character, or insert before it
    new = data.draw(CHANGED | st.just("" if j > i else "x"))
    changed = redacted[:i] + new + redacted[j:]
    if changed == redacted or (i == j and i == match.start()):  # the same, or a character before the token
        return
    with pytest.raises(IntegrityError) as caught:
        reveal(changed, KEY, path="a.txt")
    assert caught.value.path == "a.txt"
    assert caught.value.offset is not None
    assert match.start() <= caught.value.offset <= match.end()
    assert "Quill" not in str(caught.value)


def test_every_other_spelling_of_one_character_is_refused() -> None:
    redacted = encrypted(NOTE)
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    for match in TOKEN.finditer(redacted):
        for i in range(match.start(), match.end()):
            for letter in letters:
                if letter != redacted[i]:
                    with pytest.raises(IntegrityError):
                        reveal(redacted[:i] + letter + redacted[i + 1 :], KEY)


def test_another_key_and_another_type_are_refused() -> None:
    with pytest.raises(IntegrityError):
        reveal(encrypted(NOTE), OTHER)
    with pytest.raises(IntegrityError):
        reveal(encrypted(NOTE).replace("ID", "PATIENT"), KEY)


def test_a_removed_token_shows_in_their_number() -> None:
    assert reveal(TOKEN.sub("", encrypted(NOTE), count=1), KEY).tokens == 2


@pytest.mark.parametrize("text", ["a ⟦ b", "⟧ is it", "⟦ID:AAAA⟧"])
def test_a_note_that_could_not_be_restored_is_refused(text: str) -> None:
    with pytest.raises(DataError) as caught:
        encrypted(Document("1", "Quill " + text, (Span(0, 5, "PATIENT"),)))
    assert caught.value.offset == 6 + min(i for i, c in enumerate(text) if c in "⟦⟧")
    inside = Document("1", "Quill " + text, (Span(0, 6 + len(text), "PATIENT"),))
    assert reveal(encrypted(inside), KEY) == (inside.text, 1)


def test_the_key_is_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "key").write_bytes(KEY + b"\n")
    (tmp_path / "key").chmod(0o600)
    assert read_encryption_key(tmp_path / "key") == KEY
    monkeypatch.setenv(SECRET_VARIABLE, KEY.decode())
    with pytest.raises(SecretError):
        read_encryption_key(tmp_path / "key")
    for keys in ({}, {"secret": KEY}, {"secret": KEY, "encryption_key": KEY}):
        with pytest.raises(SecretError):
            redact(NOTE, "encrypt", **keys)


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "crfdeid.redaction.encryption", raising=False)
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    with pytest.raises(MissingExtraError, match="crypto"):
        encrypted(NOTE)

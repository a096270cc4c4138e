"""What leaves the house: arrays alone, no word of the notes; and a file is read as if anything might stand in it."""

from __future__ import annotations

import hashlib
import io
import json
import stat
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_sharing import tiny_notes, tiny_representation

from crfdeid.corpora.splits import Split
from crfdeid.documents import LabelledSentence
from crfdeid.errors import DataError, EmptyInputError, IntegrityError, ReadError
from features.tokens import Sentence
from rnn.inputs import CASINGS, casing
from rnn.privacy.release import encode_notes
from rnn.privacy.shared_file import SharedNotes

pytestmark = pytest.mark.usefixtures("quickly_compiled")

SENTENCES = Split.of(tiny_notes(6)).sentences


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("shared") / "ours.npz"
    encode_notes(SENTENCES, tiny_representation()).save(path)
    return path


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as packed:
        return {member.filename: packed.read(member) for member in packed.infolist()}


def pack(path: Path, content: dict[str, bytes], *, compression: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as packed:
        for name, part in content.items():
            packed.writestr(zipfile.ZipInfo(name), part, compression)
    return path


def test_what_was_shared_is_read_again(file: Path) -> None:
    shared = SharedNotes.load(file)
    assert (shared.size, shared.representation) == (16, tiny_representation().digest)
    assert shared.from_system
    rows = Counter((len(tags), *tags) for tags in shared.sentence_tags())
    assert rows == Counter(
        (len(item.tags), *item.tags) for item in {item.sentence.words: item for item in SENTENCES}.values()
    )
    assert shared.statistics()["spans_by_type"] == {"DATE": 6, "DOCTOR": 4}  # four names in six notes
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_it_holds_no_word_of_the_notes(file: Path) -> None:
    words = {word.lower() for item in SENTENCES for word in item.sentence.words if len(word) > 2}
    assert {"quill", "marsh", "pain"} <= words
    raw = file.read_bytes()
    for content in (
        raw,
        *members(file).values(),
        *(part.decode("utf-16", "replace").encode() for part in (raw, raw[1:])),
    ):
        assert not [word for word in words if word.encode() in content.lower()]


def test_it_holds_arrays_and_a_checksum_and_says_neither_when_nor_where_it_was_made(file: Path) -> None:
    with zipfile.ZipFile(file) as packed:
        found = packed.infolist()
        assert packed.comment == b""
    names = "vectors lengths casing tags tag_names representation from_system checksum"
    assert [member.filename for member in found] == [f"{name}.npy" for name in names.split()]
    assert {(member.date_time, member.extra, member.comment) for member in found} == {((1980, 1, 1, 0, 0, 0), b"", b"")}
    ends = sum(len(member.filename) * 2 + 30 + 46 + member.file_size for member in found) + 22
    assert abs(file.stat().st_size - ends) < 400  # nothing between the members


def test_casing_and_tags_stay_with_their_tokens() -> None:
    by_tags: dict[tuple[str, ...], set[tuple[int, ...]]] = {}
    for item in SENTENCES:
        by_tags.setdefault(item.tags, set()).add(tuple(map(casing, item.sentence.words)))
    shared = encode_notes(SENTENCES, tiny_representation())
    for tags, classes in zip(shared.sentence_tags(), np.split(shared.casing, shared.starts[1:-1]), strict=True):
        assert tuple(classes.tolist()) in by_tags[tuple(tags)]


def test_the_order_of_sentences_is_the_systems_and_not_the_notes() -> None:
    items = [LabelledSentence(Sentence.from_words(["id", f"x{n}"]), ("O", f"B-T{n}")) for n in range(40)]
    orders = [[tags[1] for tags in encode_notes(items, tiny_representation()).sentence_tags()] for _ in range(2)]
    given_order = [item.tags[1] for item in items]
    assert sorted(orders[0]) == sorted(orders[1]) == sorted(given_order)
    assert orders[0] != orders[1] and given_order not in orders


def test_a_sentence_is_encoded_once_with_its_usual_tags() -> None:
    words = Sentence.from_words(["Dr", "Tarn", "Tarn"])
    named, missed = (
        LabelledSentence(words, ("O", "B-ID", "I-ID"), "1"),
        LabelledSentence(words, ("O", "B-ID", "O"), "2"),
    )
    shared = encode_notes([missed, named, named, LabelledSentence(Sentence(()), ()), *SENTENCES], tiny_representation())
    assert [tags for tags in shared.sentence_tags() if "B-ID" in tags] == [["O", "B-ID", "I-ID"]]


def test_noise_is_new_each_time_unless_a_seed_is_asked_for() -> None:
    one, two = (encode_notes(SENTENCES, tiny_representation()) for _ in range(2))
    assert not {*map(bytes, one.vectors)} & {*map(bytes, two.vectors)}
    seeded = [encode_notes(SENTENCES, tiny_representation(), seed=3) for _ in range(2)]
    np.testing.assert_array_equal(seeded[0].vectors, seeded[1].vectors)
    assert seeded[0].sha256 == seeded[1].sha256 != one.sha256
    assert not seeded[0].from_system


@pytest.mark.parametrize("sentences", [[], [LabelledSentence(Sentence.from_words(["no", "pain"]), ("O", "O"))]])
def test_notes_that_teach_nothing_are_refused(sentences: list[LabelledSentence]) -> None:
    with pytest.raises(EmptyInputError):
        encode_notes(sentences, tiny_representation())


def array(values: object, dtype: str) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.array(values, dtype), version=(1, 0), allow_pickle=True)
    return stream.getvalue()


TAGS = array([0, 0], "<u2")
WHOLE = {
    "vectors.npy": array([[0.0, 1.0], [2.0, 3.0]], "<f2"),
    "lengths.npy": array([2], "<i4"),
    "casing.npy": array([1, 2], "|u1"),
    "tags.npy": TAGS,
    "tag_names.npy": array(list(b'["B-ID", "O"]'), "|u1"),
    "representation.npy": array(list(range(32)), "|u1"),
    "from_system.npy": array([1], "|u1"),
}


def sealed(content: dict[str, bytes]) -> dict[str, bytes]:
    """With the right checksum, as who made the file would write it."""
    whole = hashlib.sha256()
    for name in sorted(content):
        values = np.load(io.BytesIO(content[name]), allow_pickle=True)
        whole.update(f"{name.removesuffix('.npy')} {values.shape}\n".encode())
        whole.update(values.tobytes())
    return {**content, "checksum.npy": array(list(whole.digest()), "|u1")}


def test_a_file_made_by_hand_is_read(tmp_path: Path) -> None:
    shared = SharedNotes.load(pack(tmp_path / "a.npz", sealed(WHOLE)))
    assert shared.sentence_tags() == [["B-ID", "B-ID"]]
    assert shared.vectors.tolist() == [[0, 1], [2, 3]]


HOSTILE = {
    "a pickle": {"vectors.npy": array([[{}, 1], [2, 3]], "object")},
    "numbers of another type": {"vectors.npy": array([[0, 1], [2, 3]], "<f8")},
    "numbers the wrong way round": {"lengths.npy": array([2], ">i4")},
    "another axis": {"vectors.npy": array([0, 1], "<f2")},
    "numbers that are none": {"vectors.npy": array([[0, np.nan], [2, 3]], "<f2")},
    "endless numbers": {"vectors.npy": array([[0, np.inf], [2, 3]], "<f2")},
    "no dimensions": {"vectors.npy": array(np.zeros((2, 0)), "<f2")},
    "columns first": {"vectors.npy": array(np.asfortranarray([[0, 1], [2, 3]]), "<f2")},
    "a token too few": {"casing.npy": array([1], "|u1")},
    "a sentence too many": {"lengths.npy": array([2, 1], "<i4")},
    "a sentence of no tokens": {"lengths.npy": array([2, 0], "<i4")},
    "a sentence of fewer than none": {"lengths.npy": array([3, -1], "<i4")},
    "lengths that overflow": {"lengths.npy": array([2**31 - 1, 2**31 - 1, 2, 2], "<i4")},
    "no sentences": {"lengths.npy": array([], "<i4")},
    "an unknown casing": {"casing.npy": array([1, len(CASINGS)], "|u1")},
    "an unknown tag": {"tags.npy": array([0, 2], "<u2")},
    "a tag that is none": {"tag_names.npy": array(list(b'["ID", "O"]'), "|u1")},
    "a tag twice": {"tag_names.npy": array(list(b'["O", "O"]'), "|u1")},
    "a tag with control characters": {"tag_names.npy": array(list(b'["B-\\u001b[2J", "O"]'), "|u1")},
    "a tag without end": {"tag_names.npy": array(list(json.dumps(["B-" + "X" * 300, "O"]).encode()), "|u1")},
    "names that are no list": {"tag_names.npy": array(list(b'{"O": 1}'), "|u1")},
    "names that are no JSON": {"tag_names.npy": array(list(b"["), "|u1")},
    "names in too many brackets": {"tag_names.npy": array(list(b"[" * 100_000), "|u1")},
    "a short digest": {"representation.npy": array([1, 2], "|u1")},
    "an odd mark": {"from_system.npy": array([2], "|u1")},
    "two marks": {"from_system.npy": array([1, 1], "|u1")},
    "an array of the future": {"tags.npy": TAGS[:6] + b"\x02" + TAGS[7:]},
    "a header that is a program": {"tags.npy": TAGS.replace(b"(2,)", b"id()")},
    "a header that asks for memory": {"tags.npy": TAGS.replace(b"(2,), }          ", b"(99999999999,), }")},
    "no header": {"tags.npy": b""},
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE)
def test_what_cannot_be_is_refused_in_one_line(change: dict[str, bytes], tmp_path: Path) -> None:
    content = {**WHOLE, **change}
    try:
        content = sealed(content)
    except (ValueError, EOFError, OverflowError, MemoryError):
        content["checksum.npy"] = array(list(range(32)), "|u1")
    path = pack(tmp_path / "theirs.npz", content)
    with pytest.raises(IntegrityError) as caught:
        SharedNotes.load(path)
    assert caught.value.path == path and "\n" not in str(caught.value)


def test_other_members_compressed_ones_and_no_archives_are_refused(tmp_path: Path) -> None:
    whole = sealed(WHOLE)
    zeros = {**whole, "vectors.npy": array(np.zeros((1 << 20, 1)), "<f2")}
    files = [
        pack(tmp_path / "more.npz", {**whole, "notes.txt": b"Quill"}),
        pack(tmp_path / "fewer.npz", {name: part for name, part in whole.items() if name != "casing.npy"}),
        pack(tmp_path / "up.npz", {name.replace("casing", "../casing"): part for name, part in whole.items()}),
        pack(tmp_path / "small.npz", zeros, compression=zipfile.ZIP_DEFLATED),
        tmp_path / "text.npz",
        tmp_path / "empty.npz",
    ]
    files[-2].write_bytes(b"PK\x03\x04 and no more")
    files[-1].write_bytes(b"")
    for path in files:
        with pytest.raises(IntegrityError):
            SharedNotes.load(path)
    with pytest.raises(ReadError):
        SharedNotes.load(tmp_path / "none.npz")


@given(data=st.data())
def test_a_changed_byte_changes_nothing_or_is_refused(data: st.DataObject, file: Path) -> None:
    content = bytearray(file.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    changed = file.with_name("changed.npz")
    changed.write_bytes(content)
    try:
        found = SharedNotes.load(changed)
    except DataError:
        return
    assert found.sha256 == SharedNotes.load(file).sha256  # such as a bit of a date in the table of contents

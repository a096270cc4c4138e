"""Saved models against damage: whatever happened to a file, loading says so and nothing else happens."""

import hashlib
import io
import json
import sys
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pytest

from crfdeid.crf import CrfTagger
from crfdeid.documents import LabelledSentence
from crfdeid.errors import (
    DataError,
    FormatError,
    IntegrityError,
    MissingExtraError,
    SecretError,
    UsageError,
    VersionError,
)
from crfdeid.registry import create, load_tagger, select
from crfdeid.serialization import (
    ModelFiles,
    distinct_names,
    has_private_vocabulary,
    open_model,
    pack_arrays,
    update_metadata,
    verify,
)
from crfdeid.utils.json import fields_checksum
from features.pos import PosUnavailable
from features.tokens import Sentence

pytestmark = pytest.mark.usefixtures("quickly_compiled")

SMALL = {"max_iterations": 5, "epochs": 2, "hidden": 4, "embedding_dim": 3, "window": 1, "members": ("crf", "rules")}
TRAIN = [
    LabelledSentence(Sentence.from_words(["Dr", "Quill", "came"]), ("O", "B-DOCTOR", "O")),
    LabelledSentence(Sentence.from_words(["on", "03/14/72"]), ("O", "B-DATE")),
]
KEY = bytes(32)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    folders: dict[str, Path] = {}

    def folder(name: str) -> Path:
        if name not in folders:
            folders[name] = tmp_path_factory.mktemp(name)
            tagger = create(name, overrides=select(name, SMALL))
            tagger.fit(TRAIN, TRAIN)
            tagger.save(folders[name])
        return folders[name]

    return folder


def copied(source: Path, target: Path) -> Path:
    for file in source.iterdir():
        (target / file.name).write_bytes(file.read_bytes())
    return target


def damage(content: bytes, random: Random) -> bytes:
    kind, place = random.randrange(4), random.randrange(len(content))
    if kind == 0:
        return content[:place]
    if kind == 1:
        return content + content[:place]
    if kind == 2:
        return content[:place] + bytes([random.randrange(256)]) + content[place:]
    return content[:place] + bytes([content[place] ^ (1 << random.randrange(8))]) + content[place + 1 :]


@pytest.mark.parametrize(("name", "times"), [("crf", 120), ("rules", 150), ("hybrid", 30), ("elman", 12)])
def test_a_file_that_was_changed_anywhere_is_refused(name: str, times: int, saved, tmp_path: Path) -> None:
    random = Random(7)
    source = saved(name)
    for _ in range(times):
        folder = copied(source, tmp_path)
        file = random.choice(sorted(folder.iterdir()))
        content = file.read_bytes()
        changed = damage(content, random)
        if file.name == "model.json" and changed != content:
            try:  # white space around the values of JSON says nothing
                if json.loads(changed) == json.loads(content):
                    continue
            except ValueError:
                pass
        file.write_bytes(changed)
        if changed == content:
            continue
        with pytest.raises((DataError, UsageError)):
            load_tagger(folder)


def rewrite(folder: Path, **changes: object) -> None:
    """Other fields in a description, under its right checksum; of a field with fields of its own, those given."""
    path = folder / "model.json"
    description = json.loads(path.read_text())
    for name, value in changes.items():
        both = isinstance(value, dict) and isinstance(description.get(name), dict)
        description[name] = description[name] | value if both else value
    path.write_text(json.dumps(description | {"sha256": fields_checksum(description)}))


def replace_weights(folder: Path, file: str, content: bytes) -> None:
    (folder / file).write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    rewrite(folder, weights={"file": file, "bytes": len(content), "sha256": digest})


@pytest.mark.parametrize(
    "changes",
    [
        {"processor": {"tags": {"phi": [1, 2]}}},
        {"processor": {"tags": {"phi": "O"}}},
        {"processor": {"tags": ["O"]}},
        {"processor": {"words": "abc"}},
        {"processor": {"words": [1, 2]}},
        {"processor": {"words": ["a", "a"]}},
        {"processor": []},
        {"seed": 10**30},
        {"settings": {"hidden": 10**9}},
        {"settings": {"embedding_dim": 10**9, "hidden": 4, "window": 1}},
    ],
)
def test_a_network_whose_description_does_not_fit_is_refused(changes, saved, tmp_path: Path) -> None:
    folder = copied(saved("elman"), tmp_path)
    rewrite(folder, **changes)
    with pytest.raises(IntegrityError):
        load_tagger(folder)


@pytest.mark.parametrize("width", [10**9, -1])
def test_a_network_with_features_of_a_width_that_no_token_has_is_refused(width, saved, tmp_path: Path) -> None:
    folder = copied(saved("bilstm-crf"), tmp_path)
    rewrite(folder, processor={"width": width})
    with pytest.raises(IntegrityError):
        load_tagger(folder)


@pytest.mark.parametrize(
    "change", [lambda a: a * np.nan, lambda a: a.astype(np.int32), lambda a: a[..., :1], lambda a: a.astype("U")]
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_network_whose_arrays_are_no_weights_is_refused(change, saved, tmp_path: Path) -> None:
    folder = copied(saved("elman"), tmp_path)
    with np.load(folder / "weights.npz") as arrays:
        changed = {name: change(arrays[name]) for name in arrays.files}
    buffer = io.BytesIO()
    np.savez(buffer, **changed)
    replace_weights(folder, "weights.npz", buffer.getvalue())
    with pytest.raises(IntegrityError):
        load_tagger(folder)


def packed(**files: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, content in files.items():
            file.writestr(name, content)
    return buffer.getvalue()


@pytest.mark.parametrize("name", ["hybrid", "ensemble"])
@pytest.mark.parametrize(
    "content",
    [b"", b"no zip", packed(), packed(**{"0/model.json": b"{}", "../out": b"x", "/tmp/out": b"x", "0/": b""})],
)
def test_members_that_are_none_are_refused(name: str, content: bytes, saved, tmp_path: Path) -> None:
    folder = copied(saved(name), tmp_path)
    replace_weights(folder, "members.zip", content)
    with pytest.raises(IntegrityError):
        load_tagger(folder)
    assert not (tmp_path.parent / "out").exists()


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 100_000,
        b"[]",
        b'{"trusted": [], "missed": 0.5}',
        b'{"trusted": {"date": ["DATE"]}, "missed": 0.5}',
        b'{"trusted": {"date": ["NEW", 0.9]}, "missed": 0.5}',
        b'{"trusted": {}}',
    ],
)
def test_rules_that_are_none_are_refused(content: bytes, saved, tmp_path: Path) -> None:
    folder = copied(saved("rules"), tmp_path)
    replace_weights(folder, "rules.json", content)
    with pytest.raises(IntegrityError):
        load_tagger(folder)


@pytest.mark.parametrize("name", ["crf", "hybrid", "ensemble"])
def test_a_whole_model_that_lacks_a_library_here_is_not_called_damaged(
    name: str, saved, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copied(saved(name), tmp_path)

    def unavailable(*_: object, **__: object) -> None:
        raise PosUnavailable("no tagger of parts of speech here")

    monkeypatch.setattr(sys.modules["crfdeid.crf.tagger"], "feature_set", unavailable)
    with pytest.raises(MissingExtraError):
        load_tagger(folder)


def test_a_description_of_endless_depth_is_refused(saved, tmp_path: Path) -> None:
    folder = copied(saved("crf"), tmp_path)
    (folder / "model.json").write_text("[" * 100_000)
    with pytest.raises(FormatError):
        load_tagger(folder)


def test_hashed_words_are_not_taken_for_readable_ones(saved, tmp_path: Path) -> None:
    load_tagger(saved("crf")).save(tmp_path, key=KEY)
    path = tmp_path / "model.json"
    path.write_text(path.read_text().replace('"hashed"', '"hasheD"'))
    with pytest.raises(IntegrityError):
        load_tagger(tmp_path)
    rewrite(tmp_path)
    with pytest.raises(IntegrityError):  # also under a right checksum: there is no such kind of words
        load_tagger(tmp_path)


@pytest.mark.parametrize("name", ["crf", "hybrid"])
def test_only_the_key_of_the_words_opens_a_private_model(name: str, saved, tmp_path: Path) -> None:
    readable = load_tagger(saved(name))
    readable.save(tmp_path, key=KEY)
    description = json.loads((tmp_path / "model.json").read_text())
    assert (description["vocabulary"], has_private_vocabulary(tmp_path)) == ("hashed", True)
    expected = readable.marginals([item.sentence for item in TRAIN])
    found = load_tagger(tmp_path, key=KEY).marginals([item.sentence for item in TRAIN])
    assert all(np.allclose(one, other) for one, other in zip(expected, found, strict=True))
    for wrong in (bytes(31) + b"\x01", b"\x01" + bytes(31), bytes(31), KEY + b"\x00"):
        with pytest.raises(SecretError):
            load_tagger(tmp_path, key=wrong)
    with pytest.raises(SecretError):
        load_tagger(tmp_path)


def test_a_private_model_whose_key_check_is_gone_opens_for_nobody(saved, tmp_path: Path) -> None:
    load_tagger(saved("crf")).save(tmp_path, key=KEY)
    rewrite(tmp_path, key_check=None)
    with pytest.raises(SecretError):
        load_tagger(tmp_path, key=KEY)


def test_the_key_check_tells_the_key_and_not_the_key_itself(saved, tmp_path: Path) -> None:
    checks = []
    for number, key in enumerate((KEY, KEY, KEY[::-1] + b"x")):
        load_tagger(saved("crf")).save(tmp_path / str(number), key=key)
        checks.append(json.loads((tmp_path / str(number) / "model.json").read_text())["key_check"])
    assert checks[0] == checks[1] != checks[2]
    assert not {KEY.hex(), KEY.hex()[:32]} & set(checks)


def test_a_readable_model_needs_no_key_and_ignores_one(saved) -> None:
    description = json.loads((saved("crf") / "model.json").read_text())
    assert (description["vocabulary"], description["key_check"], has_private_vocabulary(saved("crf"))) == (
        "readable",
        None,
        False,
    )
    sentences = [item.sentence for item in TRAIN]
    assert load_tagger(saved("crf"), key=KEY).predict(sentences) == load_tagger(saved("crf")).predict(sentences)


def test_the_description_holds_size_and_checksum_of_the_weights(saved) -> None:
    content = (saved("crf") / "weights.npz").read_bytes()
    assert json.loads((saved("crf") / "model.json").read_text())["weights"] == {
        "file": "weights.npz",
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


@pytest.mark.parametrize("field", ["file", "bytes", "sha256"])
def test_weights_that_are_described_otherwise_are_refused(field: str, saved, tmp_path: Path) -> None:
    folder = copied(saved("crf"), tmp_path)
    fields = json.loads((folder / "model.json").read_text())["weights"]
    odd = fields[field] + 1 if field == "bytes" else "0" * 64
    rewrite(folder, weights={field: odd})
    for use in (load_tagger, verify):
        with pytest.raises(IntegrityError):
            use(folder)


def test_whole_weights_outside_the_models_folder_are_not_its_weights(saved, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    copied(saved("crf"), folder)
    (folder / "weights.npz").rename(tmp_path / "weights.npz")
    rewrite(folder, weights={"file": "../weights.npz"})
    with pytest.raises(IntegrityError) as caught:
        verify(folder)
    assert Path(str(caught.value.path)).name == "model.json"


@pytest.mark.parametrize("changes", [{"model": "rules"}, {"schema": 0}, {"schema": 99}])
def test_a_model_of_another_kind_or_version_is_refused(changes: dict[str, object], saved, tmp_path: Path) -> None:
    folder = copied(saved("crf"), tmp_path)
    rewrite(folder, **changes)
    with pytest.raises(VersionError):
        CrfTagger.load(folder)


def test_the_order_and_layout_of_the_fields_say_nothing(saved, tmp_path: Path) -> None:
    folder = copied(saved("crf"), tmp_path)
    fields = json.loads((folder / "model.json").read_text())
    (folder / "model.json").write_text(json.dumps(dict(reversed(fields.items()))))
    assert verify(folder) == fields
    load_tagger(folder)


@pytest.mark.parametrize("value", [["a", "a"], ["a", 1], "ab", {"a": 1}, None])
def test_names_are_different_texts(value: object) -> None:
    assert distinct_names(["b", "a"]) == ("b", "a")
    with pytest.raises(ValueError, match="not a list of different names"):
        distinct_names(value)


@pytest.mark.parametrize("name", ["model", "schema", "weights", "vocabulary", "versions", "seed", "settings"])
def test_what_a_description_holds_is_of_its_kind(name: str, saved, tmp_path: Path) -> None:
    folder = copied(saved("crf"), tmp_path)
    rewrite(folder, **{name: [1]})
    with pytest.raises(IntegrityError) as caught:
        has_private_vocabulary(folder)
    assert Path(str(caught.value.path)).name == "model.json"


@pytest.mark.parametrize("seed", ["x", None, [1]])
def test_a_seed_that_is_none_is_refused(seed: object, saved, tmp_path: Path) -> None:
    folder = copied(saved("crf"), tmp_path)
    rewrite(folder, seed=seed)
    with pytest.raises(IntegrityError) as caught:
        load_tagger(folder)
    assert Path(str(caught.value.path)).name == "model.json"


def test_a_fact_that_is_added_stands_under_the_checksum(saved, tmp_path: Path) -> None:
    folder = copied(saved("crf"), tmp_path)
    before = open_model(folder).description
    added = update_metadata(folder, card="card.json")
    assert added == open_model(folder).description == before | {"card": "card.json", "sha256": fields_checksum(added)}
    assert added["sha256"] != before["sha256"]
    load_tagger(folder)


def test_weights_are_written_one_by_one(tmp_path: Path) -> None:
    size = 1 << 22
    arrays = {name: np.full(size // 4, number, np.float32) for number, name in enumerate("abcdefgh")}
    files, settings = ModelFiles("elman", 2, "weights.npz"), create("elman").settings
    tracemalloc.start()
    files.save(tmp_path, pack_arrays(arrays), settings=settings, seed=0, key=None)
    assert tracemalloc.get_traced_memory()[1] < 3 * size  # of eight that are written
    tracemalloc.stop()


def test_a_description_names_no_folder(tmp_path: Path) -> None:
    members = ("crf", "bert", "private")
    own = {"encoder": "/home/st-mary/bert", "private": {"representation": "/home/st-mary/shared", "epochs": 2}}
    ensemble = create("ensemble", overrides={"members": members, **own})
    for tagger, kept in ((create("bert", overrides={"encoder": "/home/st-mary/bert"}), {}), (ensemble, {"epochs": 2})):
        files = ModelFiles(tagger.model, 1, "weights.npz")
        files.save(tmp_path, pack_arrays({}), settings=tagger.settings, seed=0, key=None)
        assert "st-mary" not in (tmp_path / "model.json").read_text()
        again = files.load(tmp_path, key=None).settings(type(tagger.settings))
        assert getattr(again, "encoder", "") == "" and getattr(again, "options", {}).get("private", {}) == kept


def test_weights_are_mapped_and_read_one_by_one(tmp_path: Path) -> None:
    files, size = ModelFiles("elman", 2, "weights.npz"), 1 << 20
    arrays = {name: np.full(size // 4, number, np.float32) for number, name in enumerate("abcdefghijklmnop")}
    files.save(tmp_path, pack_arrays(arrays), settings=create("elman").settings, seed=0, key=None)
    tracemalloc.start()
    found = files.load(tmp_path, key=None).arrays()
    assert tracemalloc.get_traced_memory()[1] < size
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
    assert tracemalloc.get_traced_memory()[1] < 8 * size
    tracemalloc.stop()

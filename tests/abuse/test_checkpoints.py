"""Checkpoints and saved models whose declared sizes are not those of their weights: refused before anything is made."""

import hashlib
import io
import json
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attack import REDACT, Attack, SetUp, carry_out, edit, name

from crfdeid.utils.json import dump_with_checksum

pytest.importorskip("tokenizers", reason="the extra encoders is not installed")
from tiny_encoders import write_classifier, write_encoder

from crfdeid.registry import create

pytestmark = pytest.mark.usefixtures("quickly_compiled")
LABELS = ("O", "B-PATIENT", "I-PATIENT")
TRAIN = "train --model bert train.jsonl --dev train.jsonl --output out"
FROM_ENCODER, FROM_CHECKPOINT = f"{TRAIN} --set encoder=hub", f"{TRAIN} --set checkpoint=hub --set epochs=0"
NAN = float("nan")


def changed(**fields: Any) -> SetUp:
    """Write an encoder and change its settings, but not its weights."""

    def do(box: Path) -> None:
        config = write_classifier(box / "hub", LABELS) / "config.json"
        config.write_text(json.dumps(json.loads(config.read_text()) | fields))

    return do


def tokenizer(**parts: Any) -> SetUp:
    """Write an encoder with another tokenizer."""

    def do(box: Path) -> None:
        path = write_encoder(box / "hub") / "tokenizer.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | parts))

    return do


def labels(count: int) -> dict[str, str]:
    return {str(number): f"B-T{number}" if number else "O" for number in range(count)}


def pairs(prefix: str, *merge: str) -> dict[str, Any]:
    """A tokenizer of byte pairs in whose merge the prefix is no whole character, for which the library aborts."""
    vocabulary = {"[CLS]": 0, "[SEP]": 1, "[UNK]": 2, merge[0]: 3, merge[1]: 4}
    return {"type": "BPE", "vocab": vocabulary, "merges": [merge], "continuing_subword_prefix": prefix}


SIZES = {
    "num_hidden_layers": (100_000, 3, 1, 0, -1, "2", 2.0, True),
    "hidden_size": (1 << 20, 32, 10**30, NAN, "16", None, []),
    "vocab_size": (1 << 20, 10**12, 106, 10, -5, True, {}),
    "num_attention_heads": (0, 3, 10**30, "4"),
    "intermediate_size": (1 << 20, 31, float("inf"), "x"),
    "max_position_embeddings": (1 << 20, 50, 2, -1),
    "type_vocab_size": (10**9, 0, -1, "x", [2]),
    "layer_norm_eps": (NAN, -1, "a", None),
    "hidden_act": ({}, [], None, "x" * 10_000),
    "model_type": ([], None, 3, "roberta", "distilbert", "a\nerror: b"),
    "architectures": (5, {"a": 1}, "BertModel", [5], ["RobertaForMaskedLM"]),
    "position_embedding_type": ("relative_key", [], "x" * 10_000),
}
ATTACKS = [
    *(
        Attack(f"{field} {str(value)[:20]!r}", changed(**{field: value}), FROM_ENCODER, 1, r"^error: hub/\S+: .{,250}$")
        for field, values in SIZES.items()
        for value in values
    ),
    *(
        Attack(f"labels {what}", changed(id2label=found), FROM_CHECKPOINT, 1, r"^error: hub/\S+: .{,250}$")
        for what, found in {
            "20,000": labels(20_000), "900": labels(900), "two": labels(2), "none": {}, "a list": ["O"],
            "a number": {"0": 5}, "long": {"0": "B-" + "x" * 10_000}, "two lines": {"0": "O", "1": "B-a\nerror:"},
        }.items()
    ),
    *(
        Attack(f"a tokenizer with {what}", tokenizer(**parts), FROM_ENCODER, 1, "^error: hub/tokenizer.json: .*damaged")
        for what, parts in {
            "a panic": {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA"}},
            "an abort": {"model": pairs("#", "a", "日")},
            "a short merge": {"model": pairs("##", "é", "a")},
            "no model": {"model": None},
        }.items()
    ),
]  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS, ids=name)
def test_a_checkpoint_is_refused_before_a_note_is_read(
    attack: Attack, box: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    began = time.process_time()
    carry_out(attack, box, capsys)
    assert time.process_time() - began < 2


def resaved(change: Callable[[dict[str, Any]], object], weights: Callable[[bytes], bytes] | None = None) -> SetUp:
    """Change a model's description or weights, under right checksums."""

    def do(box: Path) -> None:
        model = box / "model"
        description = json.loads((model / "model.json").read_text())
        change(description)
        file = model / description["weights"]["file"]
        content = file.read_bytes() if weights is None else weights(file.read_bytes())
        file.write_bytes(content)
        description["weights"] |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        edit("model/model.json", lambda _: dump_with_checksum(description).encode())(box)
        if (model / "card.json").exists():
            digest = json.loads((model / "model.json").read_text())["sha256"]
            edit(
                "model/card.json", lambda old: dump_with_checksum({**json.loads(old), "model_sha256": digest}).encode()
            )(box)

    return do


def tags(count: int) -> SetUp:
    return resaved(lambda found: found.update(tags=[f"B-T{number}" for number in range(count)]))


def arrays(rewrite: Callable[[str, bytes], bytes], how: int = zipfile.ZIP_STORED) -> SetUp:
    """Rewrite the arrays of the weights."""

    def again(content: bytes) -> bytes:
        target = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(target, "w", how) as new:
            for part in old.namelist():
                new.writestr(part, rewrite(part, old.read(part)))
        return target.getvalue()

    return resaved(lambda found: None, again)


def header(kind: str, *shape: int) -> Callable[[str, bytes], bytes]:
    """The header of a huge array, without its numbers."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": kind, "fortran_order": False, "shape": shape})
    return lambda part, content: stream.getvalue() if part == "transitions.npy" else content


def carded(**parts: Any) -> SetUp:
    """Change parts of a card's profile of notes, under a right checksum."""

    def edited(content: bytes) -> bytes:
        card = json.loads(content)
        return dump_with_checksum({**card, "drift_profile": card["drift_profile"] | parts}).encode()

    return edit("model/card.json", edited)


def settings(**values: Any) -> SetUp:
    return resaved(lambda found: found["settings"].update(values))


PROFILES = {
    "types": ({"DATE": [1.0]}, {"DATE": [0.0, 0.0]}),
    "words": ("../x", "", "a" * 5),
    "mean": ([], [0.0] * 9, [1e308] * 10, [-1.0] * 10),
    "deviation": ([0.0] * 11, [1e308] * 10),
    "languages": (["XX"], ["../x"]),
    "notes": (10**400, -1),
}
SAVED = [
    *(
        Attack(f"a profile of {part} {str(value)[:9]}", carded(**{part: value}), REDACT, 1, "drift_profile is not of")
        for part, values in PROFILES.items()
        for value in values
    ),
    *(
        Attack(
            f"tags {found}", resaved(lambda old, found=found: old["tags"].__setitem__(0, found)), REDACT, 1, "damaged"
        )
        for found in ("", "B-", "DATE", "b-DATE")
    ),
    Attack("words of no kind", resaved(lambda found: found.update(vocabulary="x")), REDACT, 1, "damaged"),
    Attack("a long setting", settings(features="x" * 10_000), REDACT, 1, r"^error: model/\S+: .{,250}$"),
    Attack("20,000 tags", tags(20_000), REDACT, 1, "damaged"),
    Attack("a tag", tags(1), REDACT, 1, "damaged"),
    Attack("compressed arrays", arrays(lambda part, old: old, zipfile.ZIP_DEFLATED), REDACT, 1, "damaged"),
    Attack("an array of terabytes", arrays(header("<f8", 1 << 20, 1 << 20)), REDACT, 1, "damaged"),
    Attack("an array of nothing", arrays(header("|V0", 1 << 20, 1 << 20)), REDACT, 1, "damaged"),
    Attack("a negative array", arrays(header("<f8", -1, -1)), REDACT, 1, "damaged"),
]


@pytest.mark.parametrize("attack", SAVED, ids=name)
def test_a_saved_model_allocates_no_more_than_its_bytes(
    attack: Attack, box: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    carry_out(attack, box, capsys)


@pytest.fixture(scope="module")
def saved_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("encoder")
    tagger = create("bert", overrides={"checkpoint": str(write_classifier(folder / "hub", LABELS)), "epochs": 0})
    tagger.fit([], [])
    tagger.save(folder / "model")
    return folder / "model"


NETWORK = {
    "layers": (100_000, 256, 3, 1),
    "hidden": (1 << 20, 32, "16"),
    "pieces": (1 << 20, 106, 104),
    "positions": (1 << 20, 64, 2),
    "heads": (0, 3, 1 << 20),
    "family": ("roberta", [], None),
}


@pytest.mark.parametrize(("field", "value"), [(field, value) for field, values in NETWORK.items() for value in values])
def test_a_saved_encoder_is_refused_before_it_is_made(
    field: str, value: object, saved_encoder: Path, box: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for old in (box / "model").iterdir():
        old.unlink()
    for file in saved_encoder.iterdir():
        (box / "model" / file.name).write_bytes(file.read_bytes())
    began = time.process_time()
    change = resaved(lambda found: found["processor"]["encoder"].update({field: value}))
    carry_out(Attack(field, change, REDACT, 1, "damaged"), box, capsys)
    assert time.process_time() - began < 2


def test_a_saved_window_of_more_pieces_than_positions_is_damage(
    saved_encoder: Path, box: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for old in (box / "model").iterdir():
        old.unlink()
    for file in saved_encoder.iterdir():
        (box / "model" / file.name).write_bytes(file.read_bytes())
    change = resaved(lambda found: found["settings"].update(window=10_000))
    carry_out(Attack("a window", change, REDACT, 1, "damaged"), box, capsys)

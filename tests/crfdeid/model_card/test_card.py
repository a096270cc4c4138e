"""A model's folder against damage: whatever changed in card, description or weights, nothing is done with the model."""

from __future__ import annotations

import copy
import json
import re
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from crfdeid import DataError, Document, Policy, Span, UsageError, create, load
from crfdeid.cli import main
from crfdeid.corpora.splits import Corpus, Split
from crfdeid.corpora.synthetic import generate_notes
from crfdeid.errors import SettingError
from crfdeid.evaluation.evaluate import score_all
from crfdeid.model_card.card import model_digest, read_card
from crfdeid.model_card.render import render_card
from crfdeid.model_card.training import train_model
from crfdeid.pipeline import Deidentifier
from crfdeid.thresholds import operating_point, threshold_in, usual_points
from crfdeid.utils.json import dump_with_checksum, fields_checksum

NOTE = Document("1", "Seen by Dr. Quill on 03/14/72.", (Span(12, 17, "DOCTOR"), Span(21, 29, "DATE")))


def made(folder: Path, name: str = "crf", **settings: Any) -> Path:
    split = Split.of([NOTE])
    corpus = Corpus("notes", "jsonl", "all", split, split, None)
    train_model(create(name, overrides={"max_iterations": 20, **settings}), corpus, folder)
    return folder


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("models") / "model")


@pytest.fixture
def model(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "model"))


def reseal(folder: Path, change: Callable[[dict[str, Any]], object], file: str = "card.json") -> None:
    """Change a file's fields, and give it the right checksum for them."""
    fields = json.loads((folder / file).read_text())
    change(fields)
    (folder / file).write_text(json.dumps(fields | {"sha256": fields_checksum(fields)}))


SENSITIVITY = 0.8  # six PHI tokens are too few for more
CURVE = {"tokens": 10_000, "phi_tokens": 1000, "missed": [20, 7, 3, 0], "false_positives": [10, 10, 900, 9000]}


def with_curve(folder: Path, **changes: Any) -> None:
    """Give the card another curve of thresholds."""
    thresholds = {"curve": [0.5, 0.25, 0.125, 0.0], "dev": CURVE, **changes}
    reseal(folder, lambda card: card.update(thresholds=thresholds))


@pytest.mark.parametrize("threshold", ["8.0002", "NaN", "1e999", "-0.1", "0.4", "null", '"0"'])
def test_a_threshold_that_was_changed_is_refused(threshold: str, model: Path) -> None:
    card = (model / "card.json").read_text()
    changed = re.sub(r'("curve": \[\s*)[0-9.]+', rf"\g<1>{threshold}", card)
    assert changed != card
    (model / "card.json").write_text(changed)
    for sensitivity in (SENSITIVITY, None):
        with pytest.raises(DataError) as refused:
            load(model, sensitivity=sensitivity)
        assert refused.value.path == model / "card.json"


@pytest.mark.parametrize(
    "changes",
    [
        {"curve": []},
        {"curve": [0.5, 0.25, 0.125]},
        {"curve": [0.5, 0.5, 0.125, 0]},
        *({"curve": [first, 0.25, 0.125, 0]} for first in (8.0002, float("nan"), float("inf"))),
        {"curve": [0.5, 0.25, 0.125, -0.1]},
        {"dev": CURVE | {"missed": [7, 20, 3, 0]}},
        {"dev": CURVE | {"missed": [20, 7, 3]}},
        {"dev": CURVE | {"missed": [20, 7, 3, 1]}},
        {"dev": CURVE | {"missed": [1001, 7, 3, 0]}},
        {"dev": CURVE | {"missed": [20, 7, 3, -1]}},
        {"dev": CURVE | {"false_positives": [11, 10, 900, 9000]}},
        {"dev": CURVE | {"false_positives": [0, 10, 900, 9001]}},
        {"test": CURVE | {"false_positives": [-1, 10, 900, 9000]}},
    ],
)
def test_a_curve_that_cannot_be_is_refused(changes: dict[str, Any], model: Path) -> None:
    with_curve(model)
    assert read_card(model) is not None
    with_curve(model, **changes)
    with pytest.raises(DataError):
        read_card(model)


def test_a_threshold_is_a_probability() -> None:
    with pytest.raises(UsageError):
        Deidentifier(load, threshold=1.0000001)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sensitivity", "threshold"),
    [(0.5, 0.5), (0.98, 0.5), (0.985, 0.25), (0.993, 0.25), (0.9930001, 0.125), (0.997, 0.125), (0.999, 0.0)],
)
def test_any_sensitivity_takes_the_highest_threshold_that_reaches_it(
    sensitivity: float, threshold: float, model: Path
) -> None:
    with_curve(model, test=CURVE | {"missed": [10, 9, 9, 9], "phi_tokens": 500})
    card = read_card(model)
    assert card is not None
    assert threshold_in(card, sensitivity) == load(model, sensitivity=sensitivity).threshold == threshold
    point = operating_point(card, sensitivity)
    assert point["sensitivity"] >= sensitivity - 1e-9
    index = card["thresholds"]["curve"].index(threshold)
    for costs, found in ((card["thresholds"]["dev"], point), (card["thresholds"]["test"], point["test"])):
        assert (found["missed"], found["phi_tokens"]) == (costs["missed"][index], costs["phi_tokens"])
        assert found["false_positives_per_1000"] == costs["false_positives"][index] / 10


@pytest.mark.parametrize("sensitivity", [0, 1, 1.5, 99.7, -0.1, float("nan"), float("inf"), True, "0.9"])
def test_a_sensitivity_is_a_fraction(sensitivity: Any, model: Path) -> None:
    for use in (Policy, partial(load, model)):
        with pytest.raises(SettingError):
            use(sensitivity=sensitivity)


@pytest.mark.parametrize(("tokens", "sensitivity", "least"), [(99, 0.99, "100"), (6, 0.9999, "10,000"), (4, 0.8, "5")])
def test_a_sensitivity_needs_enough_phi_tokens(tokens: int, sensitivity: float, least: str, model: Path) -> None:
    with_curve(model, dev=CURVE | {"phi_tokens": tokens, "missed": [1, 1, 1, 0]})
    card = read_card(model)
    with pytest.raises(SettingError, match=f"needs {least} PHI tokens"):
        threshold_in(card, sensitivity)
    with_curve(model, dev=CURVE | {"phi_tokens": int(least.replace(",", "")), "tokens": 20_000, "missed": [1, 1, 1, 0]})
    assert threshold_in(read_card(model), sensitivity) >= 0


def test_the_usual_sensitivities_are_shown_as_far_as_they_are_supported(model: Path) -> None:
    for tokens, expected in ((99, []), (100, [0.99]), (999, [0.99, 0.997]), (1000, [0.99, 0.997, 0.999])):
        with_curve(model, dev=CURVE | {"phi_tokens": tokens, "missed": [20, 7, 3, 0]})
        card = read_card(model)
        assert card is not None
        assert [point["required"] for point in usual_points(card)] == expected
        assert ("| 0.99 " in render_card(model, card)) == (tokens >= 100)


def test_no_threshold_hides_less_than_the_most_probable_tags(model: Path) -> None:
    """Where the model is sure of all PHI of the development notes, a threshold just below that would."""
    unsure = "Seen by Dr. Marsh on 01/02/72. By Quill and Vole."
    card = read_card(model)
    assert card is not None
    assert card["thresholds"]["curve"] == [0.5]
    assert (card["thresholds"]["dev"]["missed"], card["thresholds"]["dev"]["phi_tokens"]) == ([0], 6)
    found = {p for s in load(model, sensitivity=SENSITIVITY).annotate(unsure).spans for p in range(s.start, s.end)}
    assert {p for s in load(model).annotate(unsure).spans for p in range(s.start, s.end)} <= found


def test_a_card_that_lacks_something_or_holds_another_kind_is_refused(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = json.loads((model / "card.json").read_text())
    count = 0
    for path in ([], ["corpus"], ["dev"], ["dev", "consistent"], ["thresholds"], ["thresholds", "dev"]):
        for name in place(whole, path):
            if name in ("sha256", "test"):  # what nothing reads
                continue
            for odd in (None, [-1], "gone"):
                if (name, odd) == ("trained", "gone"):  # as for the built-in corpus
                    continue
                card = copy.deepcopy(whole)
                if odd == "gone":
                    del place(card, path)[name]
                else:
                    place(card, path)[name] = odd
                (model / "card.json").write_text(json.dumps(card | {"sha256": fields_checksum(card)}))
                with pytest.raises(DataError):
                    read_card(model)
                assert main(["info", str(model)]) == 1
                count += 1
    assert count > 60
    assert all(line.startswith("error: ") for line in capsys.readouterr().err.splitlines())


def place(fields: Any, path: list[Any]) -> Any:
    for name in path:
        fields = fields[name]
    return fields


def test_the_card_of_another_model_is_refused(model: Path, tmp_path: Path) -> None:
    other = made(tmp_path / "other", c1=0.5)
    shutil.copy(other / "card.json", model / "card.json")
    with pytest.raises(DataError) as refused:
        load(model)
    assert refused.value.path == model / "card.json"


def test_a_card_that_is_gone_is_missed(model: Path) -> None:
    (model / "card.json").unlink()
    for use in (load, model_digest, read_card):
        with pytest.raises(DataError) as refused:
            use(model)
        assert refused.value.path == model / "card.json"


@pytest.mark.parametrize("schema", [1, 2, 3, 4, 5, 6, "7"])
def test_a_card_of_another_version_is_refused(schema: object, model: Path) -> None:
    reseal(model, lambda card: card.update(schema=schema))
    with pytest.raises(DataError) as refused:
        read_card(model)
    assert refused.value.path == model / "card.json"


def test_a_card_without_a_checksum_as_earlier_versions_wrote_it_is_refused(model: Path) -> None:
    card = json.loads((model / "card.json").read_text())
    del card["sha256"]
    (model / "card.json").write_text(json.dumps(card | {"schema": 1}))
    with pytest.raises(DataError) as refused:
        load(model, sensitivity=0.9)
    assert refused.value.path == model / "card.json"


@pytest.mark.parametrize("name", ["crf", "hybrid"])
def test_a_bit_that_changed_anywhere_in_the_folder_is_found(name: str, tmp_path: Path) -> None:
    model, random = made(tmp_path / "model", name), Random(11)
    digest, texts = model_digest(model), {path: path.read_bytes() for path in model.iterdir()}
    assert len(texts) == 3
    for path, content in texts.items():
        for _ in range(60):
            at = random.randrange(len(content))
            path.write_bytes(content[:at] + bytes([content[at] ^ (1 << random.randrange(8))]) + content[at + 1 :])
            if path.suffix == ".json" and same_data(path, content):
                assert model_digest(model) == digest
                continue
            with pytest.raises(DataError):
                model_digest(model)
        path.write_bytes(content)
    assert model_digest(model) == digest


def same_data(path: Path, content: bytes) -> bool:
    try:  # a line end that became another white space
        return bool(json.loads(path.read_bytes()) == json.loads(content))
    except ValueError:
        return False


def test_inspect_reads_the_weights(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    weights = model / "weights.npz"
    weights.write_bytes(weights.read_bytes()[:-1] + b"!")
    assert main(["info", str(model)]) == 1
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == (
        "",
        f"error: {weights}: the model's weights are damaged or belong to another model: train it again, or copy the "
        "folder whole\n",
    )


def test_the_digest_names_all_that_a_model_is(model: Path, tmp_path: Path) -> None:
    assert model_digest(model) == json.loads((model / "card.json").read_text())["sha256"]
    without = tmp_path / "without"
    load(model).tagger.save(without)
    assert model_digest(without) == json.loads((without / "model.json").read_text())["sha256"]
    before = model_digest(model)
    reseal(model, lambda card: card.update(trained="later"))
    assert model_digest(model) != before


@pytest.mark.parametrize("name", ["versions", "settings", "vocabulary", "seed", "schema", "weights"])
def test_a_description_of_other_kinds_of_values_is_refused(
    name: str, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reseal(model, lambda description: description.update({name: [1]}), "model.json")
    assert main(["info", str(model)]) == 1
    assert "the model's description is damaged" in capsys.readouterr().err


def test_what_json_cannot_hold_is_not_written() -> None:
    assert json.loads(dump_with_checksum({"a": 0.5}))["sha256"] == fields_checksum({"a": 0.5})
    with pytest.raises(ValueError, match="not JSON compliant"):
        dump_with_checksum({"a": float("nan")})


def test_the_card_of_an_ensemble_has_its_members_and_says_what_it_lacks(tmp_path: Path) -> None:
    splits = [Split.of(generate_notes(size, seed=seed)) for size, seed in ((12, 1), (8, 2))]
    tagger = create("ensemble", overrides={"members": ["crf", "rules"], "max_iterations": 20, "keep_untried": True})
    card = train_model(tagger, Corpus("invented", "jsonl", "all", *splits, None), tmp_path / "model")
    members = card["dev"]["members"]
    assert [one["model"] for one in members] == ["crf", "rules"]
    for one, member in zip(members, tagger.members, strict=True):
        model = Deidentifier(member)
        found = {document.id: model.annotate(document.text).spans for document in splits[1].documents}
        scores = score_all(splits[1].documents, found)
        assert one["f1"] == scores["entity_strict"]["micro"]["f1"]
        assert one["missed"] == scores["token_binary"]["micro"]["fn"]
    assert read_card(tmp_path / "model") == card
    ours = card["dev"]["consistent"]
    f1, missed = ours["entity_strict"]["micro"]["f1"], ours["token_binary"]["micro"]["fn"]
    for better in (False, True):
        members[0] |= {"f1": f1 + 0.01 * better, "missed": missed - better}
        members[1] |= {"f1": 0.0, "missed": missed + 9}
        shown = render_card(tmp_path / "model", card)
        assert shown.index("| crf (1)") < shown.index("| rules (2)"), "members of one name have other numbers"
        assert ("lacks 1.00 of strict F to its member crf" in shown) == better
        assert ("misses 1 more PHI tokens than its member crf" in shown) == better

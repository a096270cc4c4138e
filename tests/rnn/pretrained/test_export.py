"""A model that is exported as a token classifier, and read again as one (in test_transformers.py, by transformers)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tiny_encoders import bert_config, roberta_config, write_encoder

from crfdeid.cli import main
from crfdeid.documents import LabelledSentence
from crfdeid.errors import OptionConflictError
from crfdeid.registry import create, load_tagger
from features.sentences import split_sentences
from rnn.models.bert import BertTagger
from rnn.pretrained.export import export_classifier

pytestmark = pytest.mark.usefixtures("quickly_compiled")
TEXT = "Seen by Dr Doe Brown in clinic. Pain in word, stable."


def trained(folder: Path, **settings: object) -> BertTagger:
    phi = {"Doe": "B-DOCTOR", "Brown": "I-DOCTOR", "clinic": "B-HOSPITAL", "word": "I-HOSPITAL"}
    items = [LabelledSentence(s, tuple(phi.get(w, "O") for w in s.words), "1") for s in split_sentences(TEXT)]
    tagger = create(
        "bert", overrides={"encoder": str(folder), "epochs": 3, "lr": 0.01, "window": 40, "overlap": 8, **settings}
    )
    tagger.fit(items, items)
    return tagger


@pytest.mark.parametrize("config", [bert_config(), roberta_config(num_hidden_layers=1)])
def test_the_classifier_has_the_models_probabilities(config: dict[str, object], tmp_path: Path) -> None:
    tagger = trained(write_encoder(tmp_path / "encoder", config))
    export_classifier(tagger, tmp_path / "classifier", readme="Read me.\n")
    again = create(
        "bert", overrides={"checkpoint": str(tmp_path / "classifier"), "epochs": 0, "window": 40, "overlap": 8}
    )
    again.fit([], [])
    assert again.tags == tagger.tags
    types = [[k for k, tag in enumerate(tagger.tags) if tag[2:] == kind] for kind in ("DOCTOR", "HOSPITAL", "")]
    sentences = split_sentences(TEXT)
    for ours, theirs in zip(tagger.marginals(sentences), again.marginals(sentences), strict=True):
        for columns in types:  # the reader makes an I-X that begins an entity a B-X
            np.testing.assert_allclose(theirs[:, columns].sum(axis=1), ours[:, columns].sum(axis=1), atol=1e-5)
    assert (tmp_path / "classifier" / "README.md").read_text() == "Read me.\n"


def test_the_command_writes_a_card_and_refuses_other_models(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trained(write_encoder(tmp_path / "encoder")).save(tmp_path / "model")
    assert main(["export", str(tmp_path / "model"), "--output", str(tmp_path / "out")]) == 0
    readme = (tmp_path / "out" / "README.md").read_text()
    assert readme.startswith("---\nlibrary_name: transformers\n") and "model_max_length=42" in readme
    names = json.loads((tmp_path / "out" / "config.json").read_text())["id2label"]
    assert sorted(names.values()) == sorted(load_tagger(tmp_path / "model").tags)
    assert main(["export", str(tmp_path / "model"), "--output", str(tmp_path / "out")]) == 2
    assert main(["export", "rules", "--output", str(tmp_path / "other")]) == 2
    assert not (tmp_path / "other").exists()


def test_labels_of_another_scheme_are_refused(tmp_path: Path) -> None:
    tagger = trained(write_encoder(tmp_path / "encoder"))
    export_classifier(tagger, tmp_path / "classifier", readme="")
    config = json.loads((tmp_path / "classifier" / "config.json").read_text())
    names = {tag: tag.removeprefix("B-").replace("I-", "IN-") for tag in tagger.tags}
    config["id2label"] = {number: names[tag] for number, tag in config["id2label"].items()}
    (tmp_path / "classifier" / "config.json").write_text(json.dumps(config))
    plain = create(
        "bert", overrides={"checkpoint": str(tmp_path / "classifier"), "epochs": 0, "window": 40, "overlap": 8}
    )
    plain.fit([], [])
    with pytest.raises(OptionConflictError):
        export_classifier(plain, tmp_path / "again", readme="")
    assert not (tmp_path / "again").exists()

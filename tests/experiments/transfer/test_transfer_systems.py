"""Each model on each corpus, and bert once for each encoder."""

from __future__ import annotations

from pathlib import Path

import pytest

from crfdeid.errors import SettingError
from experiments.transfer.experiment import entries_of
from experiments.transfer.options import Source, TransferArguments

HERE, THERE = Source("here", format="synthetic-notes", seed=0), Source("there", format="synthetic-texts", seed=1)


def test_every_model_is_trained_on_every_corpus_and_bert_from_every_encoder() -> None:
    experiment = TransferArguments(
        sources=(HERE, THERE),
        models=("crf", "bert"),
        encoders=(Path("hub/cased"), Path("hub/uncased")),
        changes=(("c1", 0.5), ("epochs", 2)),
    )
    found = entries_of(experiment)
    assert [entry.system.name for entry in found] == [
        f"{model}@{corpus}" for model in ("crf", "bert-cased", "bert-uncased") for corpus in ("here", "there")
    ]
    assert [(entry.model, entry.trained_on, entry.system.model) for entry in found[2:4]] == [
        ("bert-cased", "here", "bert"),
        ("bert-cased", "there", "bert"),
    ]
    assert dict(found[0].system.settings) == {"c1": 0.5}
    assert dict(found[5].system.settings) == {"epochs": 2, "encoder": "hub/uncased"}


def test_two_encoders_of_one_name_are_refused() -> None:
    both = (Path("a/cased"), Path("b/cased"))
    with pytest.raises(SettingError):
        entries_of(TransferArguments(sources=(HERE,), models=("bert",), encoders=both))

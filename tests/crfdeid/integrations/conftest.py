"""A model for the components of other libraries."""

from __future__ import annotations

from pathlib import Path

import pytest

from crfdeid.corpora.splits import Split
from crfdeid.corpora.synthetic import generate_notes
from crfdeid.model_card.calibration import copy_with_claim
from crfdeid.model_card.pretrained import find_model
from crfdeid.registry import create
from crfdeid.thresholds import LeakClaim


@pytest.fixture(scope="session")
def few_notes_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A CRF trained on a few synthetic notes."""
    folder = tmp_path_factory.mktemp("integrations") / "model"
    tagger = create("crf", overrides={"max_iterations": 30})
    tagger.fit(Split.of(generate_notes(40, seed=4)).sentences, [])
    tagger.save(folder)
    return folder


@pytest.fixture(scope="session")
def claimed_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model `english` with an invented claim, whose threshold hides more than its default."""
    folder = tmp_path_factory.mktemp("claimed") / "model"
    copy_with_claim(find_model("english"), folder, LeakClaim(0.25, 0.95, "notes", 40, 3, 0.002, 30.0))
    return folder

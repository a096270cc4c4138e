"""A model for the components of other libraries."""

from __future__ import annotations

from pathlib import Path

import pytest

from crfdeid.corpora.splits import Split
from crfdeid.corpora.synthetic import generate_notes
from crfdeid.registry import create


@pytest.fixture(scope="session")
def few_notes_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A CRF trained on a few synthetic notes."""
    folder = tmp_path_factory.mktemp("integrations") / "model"
    tagger = create("crf", overrides={"max_iterations": 30})
    tagger.fit(Split.of(generate_notes(40, seed=4)).sentences, [])
    tagger.save(folder)
    return folder

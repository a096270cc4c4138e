"""Redaction of development notes in layouts that the training notes lack, on a part of MEDDOCAN."""

import random
import sys
from pathlib import Path

import pytest

from crfdeid.augmentation import augment_corpus, parse_copy_kinds
from crfdeid.corpora.splits import read_splits
from crfdeid.pipeline import Deidentifier
from crfdeid.registry import create

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from layouts import LAYOUTS, prose
from robustness import layout_rows

MOST_LEFT = {
    "unchanged": 5,
    "joined by ;": 5,
    "no field names": 7,
    "joined by tabs": 5,
    "wrapped at 40": 5,
    "names in prose, no header": 12,
    "names in prose alone": 12,
}
"""Per cent of long values. A model of all notes leaves less (docs/models.md), one without copies 15 to 75."""


@pytest.mark.corpora
@pytest.mark.slow
def test_a_model_of_a_quarter_of_meddocan_leaves_little_in_other_layouts(data_folder):
    folder = data_folder / "meddocan"
    corpus = read_splits(folder / "train" / "brat", folder / "dev" / "brat", None, types="seven")
    tagger = create("hybrid", overrides={"keep_untried": True, "max_iterations": 40})
    tagger.fit(augment_corpus(corpus.part(0.25), parse_copy_kinds("layout")).sentences, [])
    notes = random.Random(1).sample(corpus.dev.documents, 25)
    changes = {**LAYOUTS, **dict(prose(notes))}
    rows = layout_rows(Deidentifier(tagger), notes, [(name, changes[name]) for name in MOST_LEFT])
    left = {name: share for name, _, _, share, *_ in rows}
    assert all(left[name] <= most for name, most in MOST_LEFT.items()), left

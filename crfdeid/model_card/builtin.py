"""The model that is there without one of the user's own: a CRF trained on the built-in corpus, kept in the cache."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

from crfdeid.errors import DataError
from crfdeid.models import create, load_tagger
from crfdeid.system.cache import make_cache_folder

SYNTHETIC = "synthetic"
WARNING = (
    "warning: the model 'synthetic' learned from invented notes alone and has not been validated on real ones: expect "
    "it to miss PHI; train one on notes of your own (crfdeid train)"
)


def find_model(name: Path | str) -> Path:
    """The folder of a model: as named, or for "synthetic" that of `synthetic_model`."""
    return synthetic_model() if str(name) == SYNTHETIC else Path(name)


def synthetic_model() -> Path:
    """The folder of the CRF trained on the synthetic corpus: from the cache, or trained now, in less than a minute.

    A warning on standard error says each time that it was never validated. One that is damaged, or was written by
    another version, is trained anew.

    Raises:
        DataError: the cache cannot be written.
    """
    print(WARNING, file=sys.stderr)
    folder = make_cache_folder() / f"model-{SYNTHETIC}-{version('crfdeid')}"
    try:
        load_tagger(folder)
    except DataError:
        _train(folder)
    return folder


def _train(folder: Path) -> None:
    from crfdeid.corpora.splits import generate_corpus  # noqa: PLC0415
    from crfdeid.model_card.train import train_model  # noqa: PLC0415  imports the scores: only training needs them
    from crfdeid.system.progress import bar  # noqa: PLC0415

    print(f"training it once, for {folder}", file=sys.stderr)
    tagger = create("crf")
    with bar("training", None) as step:
        train_model(tagger, generate_corpus("default"), folder, on_progress=lambda progress: step(progress.step))

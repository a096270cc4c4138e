"""The model that is there without one of the user's own: a CRF trained on the built-in corpus, kept in the cache."""

from __future__ import annotations

import logging
from importlib.metadata import version
from pathlib import Path

from crfdeid.errors import DataError
from crfdeid.models import create, load_tagger
from crfdeid.system.cache import make_cache_folder
from crfdeid.tagger import OnProgress

SYNTHETIC = "synthetic"
_NOT_VALIDATED = (
    "the model 'synthetic' learned from invented notes alone and has not been validated on real ones: expect it to "
    "miss PHI; train one on notes of your own (crfdeid train)"
)
_log = logging.getLogger(__name__)


def find_model(name: Path | str, *, on_progress: OnProgress | None = None) -> Path:
    """The folder of a model: as named, or for "synthetic" that of `synthetic_model`."""
    return synthetic_model(on_progress=on_progress) if str(name) == SYNTHETIC else Path(name)


def synthetic_model(*, on_progress: OnProgress | None = None) -> Path:
    """The folder of the CRF trained on the synthetic corpus: from the cache, or trained now, which takes a minute.

    It was never validated on real notes, and a warning of the logger "crfdeid" says so each time. One that is damaged,
    or was written by another version, is trained anew.

    Args:
        on_progress: called for each step, where it is trained now.

    Raises:
        DataError: the cache cannot be written.
    """
    _log.warning(_NOT_VALIDATED)
    folder = make_cache_folder() / f"model-{SYNTHETIC}-{version('crfdeid')}"
    try:
        load_tagger(folder)
    except DataError:
        _log.info("training it once, for %s", folder)
        _train(folder, on_progress)
    return folder


def _train(folder: Path, on_progress: OnProgress | None) -> None:
    # Only training needs the synthetic corpus and the scores.
    from crfdeid.corpora.splits import generate_corpus  # noqa: PLC0415
    from crfdeid.model_card.train import train_model  # noqa: PLC0415

    train_model(create("crf"), generate_corpus("default"), folder, on_progress=on_progress)

"""CRFsuite at work: from tagged sentences to weights."""

from __future__ import annotations

import dataclasses
import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from tempfile import TemporaryFile, gettempdir
from typing import Any

from crfdeid.crf.crfsuite import holdable, read_weights
from crfdeid.crf.settings import CrfSettings
from crfdeid.crf.weights import CrfWeights
from crfdeid.documents import LabelledSentence
from crfdeid.errors import DataError
from crfdeid.tagger import FitProgress, OnProgress
from features.columns import Extractor


def train_weights(
    labelled: Sequence[LabelledSentence],
    features: Extractor,
    settings: CrfSettings,
    *,
    on_progress: OnProgress | None = None,
) -> CrfWeights:
    """The weights that CRFsuite learns.

    Args:
        labelled: tagged sentences, each of at least one token.
        features: what it sees of them.
        settings: how it is trained.
        on_progress: is told of each iteration.

    Raises:
        DataError: there is no room for CRFsuite's file.
    """
    from sklearn_crfsuite import CRF  # noqa: PLC0415  Imports scikit-learn: only training waits for it.

    options = dataclasses.asdict(settings)
    for name in ("features", "pos", "min_documents"):
        del options[name]
    # CRFsuite writes to a file by name. This one has none in any folder, only that of its descriptor, so that a
    # training leaves nothing behind, whatever ends it: the file holds words of the notes.
    with TemporaryFile() as file:
        crf = CRF(
            algorithm="lbfgs",
            model_filename=f"/dev/fd/{file.fileno()}",
            trainer_cls=_trainer(settings.max_iterations, on_progress),
            **options,
        )
        # A generator: the features of a few sentences at a time are strings, the rest are CRFsuite's integers.
        crf.fit(_rows(labelled, features, settings.min_documents), (item.tags for item in labelled))
        file.seek(0)
        try:
            return CrfWeights.of_crfsuite(read_weights(file.read()))
        except (OSError, ValueError, struct.error):
            problem = "CRFsuite could not write its model: make room there, or set TMPDIR to a folder with room"
            raise DataError(problem, path=gettempdir()) from None


def _rows(labelled: Sequence[LabelledSentence], features: Extractor, least: int) -> Iterator[list[list[str]]]:
    """The features of each sentence as CRFsuite takes them, without those that fewer documents have than ``least``."""
    if least == 1:
        yield from _extract(features, labelled)
        return
    documents: dict[str, set[str]] = {}
    for item, rows in zip(labelled, _extract(features, labelled), strict=True):
        for row in rows:
            documents.setdefault(item.document, set()).update(row)
    counts = Counter(name for names in documents.values() for name in names)
    for rows in _extract(features, labelled):
        yield [[name for name in row if counts[name] >= least] for row in rows]


def _extract(features: Extractor, labelled: Sequence[LabelledSentence]) -> Iterator[list[list[str]]]:
    """The features of each sentence as CRFsuite takes them, with what it cannot hold escaped."""
    sentences = [item.sentence for item in labelled]
    for sentence, rows in zip(sentences, features.extract_all(sentences), strict=True):
        text = "".join((sentence.heading, sentence.line_prefix, *sentence.words))
        yield rows if holdable(text) == text else [[holdable(name) for name in row] for row in rows]


def _trainer(total: int, on_progress: OnProgress | None) -> type[Any]:
    """CRFsuite's trainer, which tells of each iteration."""

    import pycrfsuite  # noqa: PLC0415

    class Trainer(pycrfsuite.Trainer):
        def message(self, message: str) -> None:
            event = self.logparser.feed(message)
            if on_progress is not None and event == "iteration":
                on_progress(FitProgress(step=self.logparser.last_iteration["num"], total=total))

    return Trainer

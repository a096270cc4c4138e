"""CRF settings, and training with CRFsuite: from tagged sentences to weights."""

from __future__ import annotations

import dataclasses
import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from tempfile import TemporaryFile, gettempdir
from typing import Any

from crfdeid.crf.weights import CrfWeights, escape_for_crfsuite, read_crfsuite_model
from crfdeid.documents import LabelledSentence
from crfdeid.errors import WriteError
from crfdeid.tagger import FitProgress, OnProgress
from crfdeid.validation import require_choice, require_counts, require_flags, require_number
from features.columns import Extractor
from features.extractor import FEATURE_SETS
from features.pos import POS_BACKENDS

_MOST = 2**31 - 1  # CRFsuite's integers have 32 bits


@dataclass(frozen=True, slots=True)
class CrfSettings:
    """Settings of a CRF and its training.

    Args:
        features: a key of `features.FEATURE_SETS`.
        pos: a key of `features.POS_BACKENDS`; "none": no part-of-speech and chunk features.
        c1: weight of the L1 penalty; above 0 it sets most weights to zero, which makes a small model.
        c2: weight of the squared L2 penalty.
        max_iterations: limit of L-BFGS iterations.
        min_freq: least count of a feature in training; rarer ones are dropped.
        min_documents: least number of training documents with a feature; drops words of a single patient's notes.
        all_possible_states: also weigh pairs of feature and tag that do not occur in training.
        all_possible_transitions: also weigh pairs of tags that do not occur in training.
        num_memories: gradients that L-BFGS stores, 16 bytes per weight each.

    Raises:
        UsageError: a value is out of range.
    """

    features: str = "strong"
    pos: str = "none"
    c1: float = 0.02
    c2: float = 0.02
    max_iterations: int = 100
    min_freq: int = 0
    min_documents: int = 1
    all_possible_states: bool = False
    all_possible_transitions: bool = True
    num_memories: int = 6

    def __post_init__(self) -> None:
        require_choice(self, "features", FEATURE_SETS)
        require_choice(self, "pos", POS_BACKENDS)
        for name in ("c1", "c2"):
            require_number(name, getattr(self, name), "a number of 0 or more", lambda v: v >= 0)
        require_counts(self, "max_iterations", "num_memories", most=_MOST)
        require_counts(self, "min_documents")
        require_counts(self, "min_freq", least=0, most=_MOST)
        require_flags(self, "all_possible_states", "all_possible_transitions")


def train_weights(
    labelled: Sequence[LabelledSentence],
    features: Extractor,
    settings: CrfSettings,
    *,
    on_progress: OnProgress | None = None,
) -> CrfWeights:
    """Train with CRFsuite, and return the weights.

    Args:
        labelled: tagged sentences of one token or more.
        features: the feature extractor.
        settings: the training settings.
        on_progress: called after each iteration.

    Raises:
        DataError: the temporary folder has no room for CRFsuite's file.
    """
    from sklearn_crfsuite import CRF  # noqa: PLC0415  Imports scikit-learn, which only training needs.

    options = dataclasses.asdict(settings)
    for name in ("features", "pos", "min_documents"):
        del options[name]
    # CRFsuite writes to a named file, with words of the notes. A file without a directory entry, opened through its
    # descriptor, is gone after any end of the training, crashes included.
    with TemporaryFile() as file:
        crf = CRF(
            algorithm="lbfgs",
            model_filename=f"/dev/fd/{file.fileno()}",
            trainer_cls=_trainer(settings.max_iterations, on_progress),
            **options,
        )
        # A generator: only a few sentences at a time are strings, the others are CRFsuite's integers.
        crf.fit(_rows(labelled, features, settings.min_documents), (item.tags for item in labelled))
        file.seek(0)
        try:
            return read_crfsuite_model(file.read())
        except (OSError, ValueError, struct.error):
            problem = "CRFsuite could not write its model: make room there, or set TMPDIR to a folder with room"
            raise WriteError(problem, path=gettempdir()) from None


def _rows(labelled: Sequence[LabelledSentence], features: Extractor, least: int) -> Iterator[list[list[str]]]:
    """Feature strings of each sentence, without the features of fewer than ``least`` documents."""
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
    """Feature strings of each sentence, escaped for CRFsuite."""
    sentences = [item.sentence for item in labelled]
    for sentence, rows in zip(sentences, features.extract_all(sentences), strict=True):
        text = "".join((sentence.heading, sentence.line_prefix, *sentence.words))
        clean = escape_for_crfsuite(text) == text
        yield rows if clean else [[escape_for_crfsuite(name) for name in row] for row in rows]


def _trainer(total: int, on_progress: OnProgress | None) -> type[Any]:
    """CRFsuite's trainer class, reporting each iteration."""
    import pycrfsuite  # noqa: PLC0415

    class Trainer(pycrfsuite.Trainer):
        def message(self, message: str) -> None:
            event = self.logparser.feed(message)
            if on_progress is not None and event == "iteration":
                on_progress(FitProgress(step=self.logparser.last_iteration["num"], total=total))

    return Trainer

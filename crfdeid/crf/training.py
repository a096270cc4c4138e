"""CRF settings, training with CRFsuite, and the learned weights: from CRFsuite's model file, and in a saved model.

CRFsuite's own dump prints six digits, so its binary file is parsed. Only a file that CRFsuite has just written is
parsed; a saved model holds plain arrays. All numbers are little-endian. A header holds the offsets of three parts:

- "FEAT": one record per weight: kind (0: attribute and label, 1: label and label), source, destination, weight;
- two "CQDB" tables, the names of the labels and of the attributes, each with a list of offsets by number.
"""

from __future__ import annotations

import dataclasses
import itertools
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile, gettempdir
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from crfdeid.documents import LabelledSentence
from crfdeid.errors import WriteError
from crfdeid.secrets import hash_word, require_same_key
from crfdeid.tagger import FitProgress, OnProgress
from crfdeid.validation import require_choice, require_counts, require_flags, require_language, require_number
from features.columns import Extractor
from features.extractor import FEATURE_SETS, escape_for_crfsuite
from features.languages import AUTO
from features.pos import POS_BACKENDS

WITHOUT_WEIGHT = "\ufdd0"
"""Before a feature of weight 0: CRFsuite weighs it with the tag of its token, which it does not describe there."""

_DESCRIPTORS = Path("/dev/fd")
_MOST = 2**31 - 1  # CRFsuite's integers have 32 bits
_HEADER = struct.Struct("<4sI4sI8I")
_CHUNK = struct.Struct("<4sII")
_TABLE = struct.Struct("<4s5I")
_RECORD = np.dtype([("kind", "<u4"), ("source", "<u4"), ("destination", "<u4"), ("weight", "<f8")])
_VERSION = 100
_TRANSITION = 1


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
        min_weight: least size of a weight; training drops smaller ones and rounds the others to half precision, for a
            model of a few megabytes. 0 for all weights, unrounded.
        language: codes of the notes' languages, joined by "+", for lexicon features; "auto" for those of the training
            notes.

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
    min_weight: float = 0.0
    language: str = AUTO

    def __post_init__(self) -> None:
        require_choice(self, "features", FEATURE_SETS)
        require_choice(self, "pos", POS_BACKENDS)
        for name in ("c1", "c2", "min_weight"):
            require_number(name, getattr(self, name), "a number of 0 or more", lambda v: v >= 0)
        require_counts(self, "max_iterations", "num_memories", most=_MOST)
        require_counts(self, "min_documents")
        require_counts(self, "min_freq", least=0, most=_MOST)
        require_flags(self, "all_possible_states", "all_possible_transitions")
        require_language(self.language)


def train_weights(
    labelled: Sequence[LabelledSentence],
    features: Extractor,
    settings: CrfSettings,
    *,
    on_progress: OnProgress | None = None,
) -> CrfWeights:
    """Train with CRFsuite, and return the weights.

    Args:
        labelled: tagged sentences with one certain token or more. Those in doubt have no term in the likelihood.
        features: the feature extractor.
        settings: the training settings.
        on_progress: called after each iteration.

    Raises:
        DataError: the temporary folder has no room for CRFsuite's file.
    """
    from sklearn_crfsuite import CRF  # noqa: PLC0415  Imports scikit-learn, which only training needs.

    options = dataclasses.asdict(settings)
    for name in ("features", "pos", "min_documents", "min_weight", "language"):
        del options[name]
    with _temporary_file() as (file, name):
        crf = CRF(
            algorithm="lbfgs",
            model_filename=name,
            trainer_cls=_trainer(settings.max_iterations, on_progress),
            **options,
        )
        # A generator: only a few sentences at a time are strings, the others are CRFsuite's integers.
        rows = _rows(labelled, features, settings.min_documents)
        crf.fit(
            _stretches(rows, labelled), (item.tags[at.start : at.stop] for item in labelled for at in item.certain())
        )
        file.seek(0)
        try:
            weights = read_crfsuite_model(file.read())
        except (OSError, ValueError, struct.error):
            problem = "CRFsuite could not write its model: make room there, or set TMPDIR to a folder with room"
            raise WriteError(problem, path=gettempdir()) from None
    return weights.without_small(settings.min_weight) if settings.min_weight else weights


@contextmanager
def _temporary_file() -> Iterator[tuple[IO[bytes], str]]:
    """A file to read from the beginning, and its name for CRFsuite, which writes words of the notes to it.

    Opened through its descriptor, it needs no directory entry, and is gone after any end of the training. On Windows, a
    crash can leave it in the temporary folder.
    """
    if _DESCRIPTORS.is_dir():
        with TemporaryFile() as file:
            yield file, str(_DESCRIPTORS / str(file.fileno()))
    else:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            path.touch()
            with path.open("rb") as file:
                yield file, str(path)


def _stretches(rows: Iterable[Any], labelled: Sequence[LabelledSentence]) -> Iterator[Any]:
    """The rows of each sentence, as one sequence, or as several between its tokens in doubt."""
    for item, own in zip(labelled, rows, strict=True):
        for at in item.certain():
            yield own[at.start : at.stop]


def _rows(labelled: Sequence[LabelledSentence], features: Extractor, least: int) -> Iterator[Any]:
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


def _extract(features: Extractor, labelled: Sequence[LabelledSentence]) -> Iterator[Any]:
    """Feature strings of each token of each sentence, escaped for CRFsuite, or a dict with their weights."""
    sentences = [item.sentence for item in labelled]
    for sentence, rows in zip(sentences, features.extract_all(sentences), strict=True):
        text = "".join((sentence.heading, sentence.line_prefix, *sentence.words))
        clean = escape_for_crfsuite(text) == text
        found = rows if clean else [[escape_for_crfsuite(name) for name in row] for row in rows]
        yield found if WITHOUT_WEIGHT not in text else [_weighted(row) for row in found]


def _weighted(row: Sequence[str]) -> dict[str, int]:
    """Features of a token with their weights, the number of times that each is repeated."""
    weights: dict[str, int] = {}
    for name in row:
        plain = name.removeprefix(WITHOUT_WEIGHT)
        weights[plain] = weights.get(plain, 0) + (plain == name)
    return weights


def _trainer(total: int, on_progress: OnProgress | None) -> type[Any]:
    """CRFsuite's trainer class, reporting each iteration."""
    import pycrfsuite  # noqa: PLC0415

    class Trainer(pycrfsuite.Trainer):
        def message(self, message: str) -> None:
            event = self.logparser.feed(message)
            if on_progress is not None and event == "iteration":
                on_progress(FitProgress(step=self.logparser.last_iteration["num"], total=total))

    return Trainer


class CrfWeights(NamedTuple):
    """Learned weights of a CRF.

    Attributes:
        tags: K, sorted.
        names: the F feature strings with weights, or their hashes.
        state: weight of each feature with each tag, 0 for pairs without one: [F, K].
        transitions: weight of each tag followed by each tag: [K, K].
        key: key of the hashes; None for plain feature strings.
    """

    tags: tuple[str, ...]
    names: tuple[str, ...]
    state: np.ndarray
    transitions: np.ndarray
    key: bytes | None = None

    @classmethod
    def read(cls, tags: Sequence[str], arrays: Mapping[str, np.ndarray], key: bytes | None) -> CrfWeights:
        """Read the arrays of a saved model.

        Raises:
            ValueError: the arrays do not fit together.
            KeyError: an array is missing.
        """
        content, lengths, counts = arrays["names"].tobytes(), arrays["lengths"], arrays["counts"]
        columns, values, transitions = arrays["columns"], arrays["values"], arrays["transitions"]
        if any(one.ndim != 1 or one.dtype.kind != "u" for one in (lengths, counts, columns)):
            raise ValueError("lengths, counts or columns are no numbers of 0 or more")
        ends = np.cumsum(lengths, dtype=np.int64).tolist()
        if (ends[-1] if ends else 0) != len(content):
            raise ValueError("the names are truncated")
        names = [content[start:end].decode() for start, end in itertools.pairwise([0, *ends])]
        found = (len(names), int(counts.sum()), len(columns), transitions.shape)
        if found != (len(counts), len(values), len(values), (len(tags), len(tags))) or columns.max(initial=0) >= len(
            tags
        ):
            raise ValueError("the arrays do not fit together")
        state = np.zeros((len(names), len(tags)))
        state[np.repeat(np.arange(len(names)), counts), columns] = values
        transitions = transitions.astype(float)
        if not (np.isfinite(state).all() and np.isfinite(transitions).all()):
            raise ValueError("weights that are not finite")
        return cls(tuple(map(str, tags)), tuple(names), state, transitions, key)

    def arrays(self, key: bytes | None) -> dict[str, np.ndarray]:
        """All but the tags, as arrays for `read`.

        Args:
            key: hash the feature strings with this key; None: store them in the clear.

        Raises:
            UsageError: the names are hashes already, under another key.
        """
        require_same_key(self.key, key)
        unchanged = key is None or self.key is not None
        names = self.names if key is None or unchanged else tuple(hash_word(name, key) for name in self.names)
        # Hashes are sorted: the order of the features would reveal which were seen first.
        order = np.arange(len(names)) if unchanged else np.argsort(names)
        encoded = [names[i].encode() for i in order]
        state = self.state[order]
        rows, columns = state.nonzero()
        values = state[rows, columns]
        halves = values.astype(np.float16)
        return {
            "names": np.frombuffer(b"".join(encoded), np.uint8),
            "lengths": _smallest([len(name) for name in encoded]),
            "counts": _smallest(np.bincount(rows, minlength=len(names))),
            "columns": _smallest(columns),
            "values": halves if (halves == values).all() else values,
            "transitions": self.transitions,
        }

    def without_small(self, least: float) -> CrfWeights:
        """The same without weights below a size, and the others rounded to half precision."""
        state = np.where(np.abs(self.state) < least, 0, self.state).astype(np.float16).astype(float)
        kept = np.flatnonzero(state.any(axis=1))
        return self._replace(names=tuple(self.names[row] for row in kept), state=state[kept])


def _smallest(numbers: ArrayLike) -> np.ndarray:
    """Numbers of 0 or more in as few bytes each as the largest needs."""
    array = np.asarray(numbers, np.int64)
    return array.astype(np.min_scalar_type(array.max(initial=0)))


def read_crfsuite_model(content: bytes) -> CrfWeights:
    """Read the weights of a CRFsuite model file.

    Args:
        content: the whole file.

    Raises:
        ValueError: the content is no CRFsuite model, or of an unsupported version.
    """
    magic, _, kind, version, _, _, _, features, labels, attributes, _, _ = _HEADER.unpack_from(content)
    if (magic, kind, version) != (b"lCRF", b"FOMC", _VERSION):
        raise ValueError("no CRFsuite model, or of an unsupported version")
    _, _, count = _CHUNK.unpack_from(content, features)
    records = np.frombuffer(content, _RECORD, count, features + _CHUNK.size)
    tags, names = _names(content, labels), _names(content, attributes)
    state, transitions = np.zeros((len(names), len(tags))), np.zeros((len(tags), len(tags)))
    is_transition = records["kind"] == _TRANSITION
    for weights, chosen in ((transitions, records[is_transition]), (state, records[~is_transition])):
        weights[chosen["source"], chosen["destination"]] = chosen["weight"]
    order = sorted(range(len(tags)), key=tags.__getitem__)
    return CrfWeights(tuple(tags[k] for k in order), tuple(names), state[:, order], transitions[np.ix_(order, order)])


def _names(content: bytes, start: int) -> list[str]:
    """The names of a table, by number. A record is the number, the size of the name with its final NUL, the name."""
    _, _, _, _, count, offsets = _TABLE.unpack_from(content, start)
    names = []
    for offset in np.frombuffer(content, "<u4", count, start + offsets).tolist():
        _, size = struct.unpack_from("<II", content, start + offset)
        name = start + offset + 8
        names.append(content[name : name + size - 1].decode())
    return names

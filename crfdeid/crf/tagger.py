"""The conditional random field: sklearn-crfsuite behind the `Tagger` contract.

A linear-chain CRF scores a tag sequence y of a sentence x by the weights of its features,

    p(y | x) = exp(score(y, x)) / sum over y' of exp(score(y', x)),
    score(y, x) = sum over t of [sum over features f of x at t of w[f, y_t]] + sum over t > 0 of w[y_(t-1), y_t].

CRFsuite's L-BFGS minimises, over the training sentences (x, y),

    -sum log p(y | x) + c1 ||w||_1 + c2 ||w||_2^2.

CRF++, which yadav2016 ran with its default settings, minimises ``-sum log p(y | x) + ||w||_2^2 / (2 C)`` with C = 1:
the profile "yadav2016" is therefore c1 = 0 and c2 = 1 / (2 C) = 0.5, with a weight for every feature and tag whether
or not they meet in training (CRF++ expands each template for every tag), every transition, and no frequency cut-off.

CRFsuite trains; its weights are then read out (`crfdeid.crf.crfsuite`), and tags and marginals are computed from them
in NumPy (`crfdeid.crf.inference`). A saved model is therefore plain arrays, several threads can use one model, and
feature strings can be stored as hashes.

Reference:
    yadav2016, sections 3.8 and 4; Lafferty et al. (2001).
"""

from __future__ import annotations

import dataclasses
import struct
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile, gettempdir
from typing import Any, ClassVar, Self

import numpy as np

from crfdeid.crf.crfsuite import read_weights
from crfdeid.crf.feature_index import holdable
from crfdeid.crf.inference import best_paths, marginals
from crfdeid.crf.weights import CrfWeights
from crfdeid.documents import LabelledSentence
from crfdeid.errors import DataError, UsageError
from crfdeid.saving import ModelFiles, pack_arrays
from crfdeid.settings import require, require_choice, require_counts, require_flags
from crfdeid.tagger import FitProgress, OnProgress, Tagger, Traits
from features.extractor import FEATURE_SETS, FeatureSet, feature_set
from features.pos import POS_BACKENDS, PosUnavailable
from features.tokens import Sentence

# Raised whenever the feature strings or the files change, so that a model never meets features it was not trained on.
_SCHEMA = 2
_FILES = ModelFiles("crf", _SCHEMA, "weights.npz", ("python-crfsuite", "sklearn-crfsuite", "numpy"))
_MOST = 2**31 - 1  # CRFsuite's whole numbers have 32 bits
_WORD_HEADS = tuple(f"{kind}[{place}]=" for kind in ("w", "lower") for place in range(-3, 4))  # of `ContextWords`
_SENTENCES_AT_ONCE = 512  # whose features are in memory together


@dataclass(frozen=True, slots=True)
class CrfSettings:
    """What a CRF is trained with.

    Args:
        features: a key of `features.FEATURE_SETS`.
        pos: a key of `features.POS_BACKENDS`; "none" leaves part-of-speech and chunk features out.
        c1: weight of the L1 penalty; above 0 it sets most weights to zero, which makes a small model.
        c2: weight of the squared L2 penalty.
        max_iterations: L-BFGS iterations at most.
        min_freq: a feature seen less often in training is dropped.
        min_documents: a feature that fewer training documents have is dropped: what only one patient's notes hold.
        all_possible_states: whether feature and tag pairs that never meet in training get a weight too.
        all_possible_transitions: the same for pairs of tags.
        num_memories: gradients that L-BFGS remembers; each costs 16 bytes per weight.

    Raises:
        UsageError: a value cannot work.
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
            require(name, getattr(self, name), "a number of 0 or more", lambda v: v >= 0)
        require_counts(self, "max_iterations", "num_memories", most=_MOST)
        require_counts(self, "min_documents")
        require_counts(self, "min_freq", least=0, most=_MOST)
        require_flags(self, "all_possible_states", "all_possible_transitions")


class CrfTagger(Tagger):
    """A linear-chain conditional random field over the feature strings of `features`.

    L-BFGS starts from zero weights, so the seed changes nothing: the same sentences give the same model, byte for byte.

    Example:
        >>> from crfdeid.documents import LabelledSentence
        >>> sentence = Sentence.from_words(["Dr", "Doe"])
        >>> tagger = CrfTagger(CrfSettings(max_iterations=10))
        >>> tagger.fit([LabelledSentence(sentence, ("O", "B-DOCTOR"))], [])
        >>> tagger.predict([sentence])
        [['O', 'B-DOCTOR']]
    """

    settings_class: ClassVar[type[CrfSettings]] = CrfSettings

    def __init__(self, settings: CrfSettings | None = None, *, seed: int = 0) -> None:
        self._settings = settings if settings is not None else CrfSettings()
        self._seed = seed
        try:
            self._features = feature_set(self._settings.features, pos=self._settings.pos)
        except PosUnavailable as problem:
            raise UsageError(str(problem)) from problem
        self._learned: CrfWeights | None = None

    @classmethod
    def profiles(cls) -> Mapping[str, CrfSettings]:
        """Settings by profile name: "default" is tuned, "yadav2016" is CRF++'s default over the paper's features.

        A weight for every feature and tag is many: 15 million on 270,000 tokens with 15 tags. To save memory, the
        latter remembers three gradients only, which changes the way to the optimum but not the optimum.
        """
        paper = CrfSettings(
            features="paper",
            pos="textblob",
            c1=0.0,
            c2=0.5,
            max_iterations=1000,
            all_possible_states=True,
            num_memories=3,
        )
        return {"default": CrfSettings(), "yadav2016": paper}

    @classmethod
    def traits(cls, settings: CrfSettings) -> Traits:
        """What the model needs and can do: its training starts from zero weights, and has nothing random in it."""
        return Traits(uses_seed=False, memorises=True, accelerated=False, takes_vectors=False, public_vocabulary=False)

    @property
    def settings(self) -> CrfSettings:
        """The settings this tagger was built with."""
        return self._settings

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags this tagger can give, sorted: the columns of `marginals`. Empty before `fit`."""
        return () if self._learned is None else self._learned.tags

    @property
    def features(self) -> FeatureSet:
        """The features it looks at; ``features.describe_each()`` lists them."""
        return self._features

    @property
    def learned(self) -> CrfWeights:
        """The weights that it has learned, for those who look inside.

        Raises:
            UsageError: it is not trained.
        """
        return self._trained()

    def fit(
        self,
        train: Sequence[LabelledSentence],
        dev: Sequence[LabelledSentence],
        *,
        on_progress: OnProgress | None = None,
    ) -> None:
        """Train from scratch. ``dev`` is not looked at: L-BFGS goes on until it converges or runs out of iterations.

        Raises:
            DataError: ``train`` holds no tokens.
        """
        from sklearn_crfsuite import CRF  # noqa: PLC0415  Imports scikit-learn: only training waits for it.

        labelled = [item for item in train if item.tags]
        if not labelled:
            raise DataError("there is nothing to train on: the training set holds no tokens")
        options = dataclasses.asdict(self._settings)
        for name in ("features", "pos", "min_documents"):
            del options[name]
        rows = self._rows(labelled)
        # CRFsuite writes to a file by name. This one has none in any folder, only that of its descriptor, so that a
        # training leaves nothing behind, whatever ends it: the file holds words of the notes.
        with TemporaryFile() as file:
            crf = CRF(
                algorithm="lbfgs",
                model_filename=f"/dev/fd/{file.fileno()}",
                trainer_cls=_trainer(self._settings.max_iterations, on_progress),
                **options,
            )
            # A generator: the features of one sentence at a time are strings, the rest are CRFsuite's integers.
            crf.fit(rows, (item.tags for item in labelled))
            file.seek(0)
            try:
                self._learned = CrfWeights.of_crfsuite(read_weights(file.read()))
            except (OSError, ValueError, struct.error):
                problem = "CRFsuite could not write its model: make room there, or set TMPDIR to a folder with room"
                raise DataError(problem, path=gettempdir()) from None

    def predict(self, sentences: Sequence[Sentence]) -> list[list[str]]:
        """One tag per token, for each sentence: the most probable sequence (Viterbi)."""
        names = np.array(self.tags, object)
        return [
            names[path].tolist()
            for emissions, lengths, transitions in self._emissions(sentences)
            for path in best_paths(emissions, lengths, transitions)
        ]

    def marginals(self, sentences: Sequence[Sentence]) -> list[np.ndarray]:
        """The probability of each tag at each token, for each sentence: [T, K], rows sum to 1."""
        return [
            table
            for emissions, lengths, transitions in self._emissions(sentences)
            for table in marginals(emissions, lengths, transitions)
        ]

    def _emissions(self, sentences: Sequence[Sentence]) -> Iterator[tuple[np.ndarray, list[int], np.ndarray]]:
        """Some sentences at a time: the sums of the weights of their features, [N, K]; lengths; transitions."""
        learned = self._trained()
        for first in range(0, len(sentences), _SENTENCES_AT_ONCE):
            some = sentences[first : first + _SENTENCES_AT_ONCE]
            lengths = [len(sentence.tokens) for sentence in some]
            columns = (self._features.columns(sentence) for sentence in some)
            matrix = learned.features.matrix(zip(lengths, columns, strict=True))
            yield matrix @ learned.state, lengths, learned.transitions

    def holds(self, words: Sequence[str]) -> list[bool]:
        """Whether a feature is stored that is the word, as it is or in small letters, at any place of a window."""
        asked = ((1, [(_WORD_HEADS, [w] * len(_WORD_HEADS)) for w in (word, word.lower())]) for word in words)
        counts = self._trained().features.matrix(asked).sum(axis=1)
        return [bool(count) for count in counts]

    def save(self, folder: Path, *, key: bytes | None = None) -> None:
        """Write ``model.json`` (settings, tags, versions, checksum) and ``weights.npz``.

        Without a key, the weights' file holds the features' names, words of the training notes among them: it is as
        confidential as the notes are.
        """
        learned = self._trained()
        weights = pack_arrays(learned.arrays(key))
        _FILES.save(folder, weights, settings=self._settings, seed=self._seed, key=key, tags=learned.tags)

    @classmethod
    def load(cls, folder: Path, *, key: bytes | None = None) -> Self:
        """Read a model that `save` wrote.

        Raises:
            DataError: the folder holds no such model, one of another version, or a damaged one.
            UsageError: its features are hashed, and the key is missing or another one.
        """
        saved = _FILES.load(folder, key=key)
        tagger = cls(saved.settings(CrfSettings), seed=saved.seed)
        with saved.refusing_damage():
            tagger._learned = CrfWeights.read(saved.names("tags"), saved.arrays(), saved.key)
        return tagger

    def _rows(self, labelled: Sequence[LabelledSentence]) -> Iterator[list[list[str]]]:
        """The features of each sentence as CRFsuite takes them, without those that too few documents have."""
        least = self._settings.min_documents
        if least == 1:
            yield from (self._extract(item.sentence) for item in labelled)
            return
        documents: dict[str, set[str]] = {}
        for item in labelled:
            for row in self._extract(item.sentence):
                documents.setdefault(item.document, set()).update(row)
        counts = Counter(name for names in documents.values() for name in names)
        for item in labelled:
            yield [[name for name in row if counts[name] >= least] for row in self._extract(item.sentence)]

    def _extract(self, sentence: Sentence) -> list[list[str]]:
        """The features of a sentence as CRFsuite takes them, with what it cannot hold escaped."""
        rows = self._features.extract(sentence)
        text = "".join((sentence.heading, sentence.line_prefix, *sentence.words))
        return rows if holdable(text) == text else [[holdable(name) for name in row] for row in rows]

    def _trained(self) -> CrfWeights:
        if self._learned is None:
            raise UsageError("this CRF is not trained: call fit, or load a saved one")
        return self._learned


def _trainer(total: int, on_progress: OnProgress | None) -> type[Any]:
    """CRFsuite's trainer, which tells of each iteration."""

    import pycrfsuite  # noqa: PLC0415

    class Trainer(pycrfsuite.Trainer):
        def message(self, message: str) -> None:
            event = self.logparser.feed(message)
            if on_progress is not None and event == "iteration":
                on_progress(FitProgress(step=self.logparser.last_iteration["num"], total=total))

    return Trainer

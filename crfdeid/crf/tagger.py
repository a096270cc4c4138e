"""CRF tagger: weights trained by CRFsuite, decoding in NumPy.

A linear-chain CRF scores a tag sequence y of a sentence x by the weights of its features,

    p(y | x) = exp(score(y, x)) / sum over y' of exp(score(y', x)),
    score(y, x) = sum over t of [sum over features f of x at t of w[f, y_t]] + sum over t > 0 of w[y_(t-1), y_t].

CRFsuite's L-BFGS minimises, over the training sentences (x, y),

    -sum log p(y | x) + c1 ||w||_1 + c2 ||w||_2^2.

CRF++, which yadav2016 ran with its default settings, minimises ``-sum log p(y | x) + ||w||_2^2 / (2 C)`` with C = 1:
the profile "yadav2016" is therefore c1 = 0 and c2 = 1 / (2 C) = 0.5, with a weight for every feature and tag, also
pairs that do not occur in training (CRF++ expands each template for every tag), every transition, and no frequency
cut-off.

CRFsuite trains. Its weights are then read (`crfdeid.crf.training`), and tags and marginals are computed from them in
NumPy (`crfdeid.crf.decoding`). A saved model is therefore plain arrays, a model is thread-safe, and feature strings can
be stored as hashes.

Reference:
    yadav2016, sections 3.8 and 4; Lafferty et al. (2001).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from crfdeid.crf.decoding import best_paths, chain_marginals
from crfdeid.crf.feature_index import FeatureIndex
from crfdeid.crf.training import CrfSettings, CrfWeights, train_weights
from crfdeid.documents import LabelledSentence
from crfdeid.errors import EmptyInputError, MissingExtraError, NotTrainedError
from crfdeid.secrets import hash_word
from crfdeid.serialization import ModelFiles, ModelFolder, pack_arrays
from crfdeid.tagger import OnProgress, Tagger, Traits, learnable, told_language
from features.extractor import FeatureSet, feature_set
from features.languages import AUTO, language_codes
from features.pos import PosUnavailable
from features.tokens import Sentence

# Incremented when feature strings or files change: a model must not see features that it was not trained on.
_FORMAT_VERSION = 5
_FILES = ModelFiles("crf", _FORMAT_VERSION, "weights.npz", ("python-crfsuite", "sklearn-crfsuite", "numpy"))
_WORD_HEADS = tuple(f"{kind}[{place}]=" for kind in ("w", "lower") for place in range(-3, 4))  # of `ContextWords`
# Sentences whose features are in memory together. The number decides the last digit of a marginal, by the order of the
# sums in a matrix product, and thresholds of saved models depend on it.
_TAGGED_AT_ONCE, _WEIGHED_AT_ONCE = 1024, 512


class CrfTagger(Tagger):
    """Linear-chain conditional random field over the feature strings of `features`.

    L-BFGS starts from zero weights, so the seed has no effect: the same sentences give the same model, byte for byte.

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
        self.settings = settings if settings is not None else CrfSettings()
        self.seed = seed
        try:
            found = feature_set(self.settings.features, pos=self.settings.pos)
        except PosUnavailable as problem:
            raise MissingExtraError(str(problem)) from problem
        self._features = found.with_languages(language_codes(self.settings.language))
        self._learned: CrfWeights | None = None
        self._index: FeatureIndex | None = None

    @classmethod
    def profiles(cls) -> Mapping[str, CrfSettings]:
        """Settings by profile name: "default" is tuned, "yadav2016" is CRF++'s default over the paper's features.

        A weight for every feature and tag needs much memory. "yadav2016" therefore stores three gradients, which
        changes the path to the optimum but not the optimum.
        """
        paper = CrfSettings(
            features="paper",
            language=AUTO,
            pos="textblob",
            c1=0.0,
            c2=0.5,
            max_iterations=1000,
            min_freq=0,
            min_documents=1,
            all_possible_states=True,
            all_possible_transitions=True,
            num_memories=3,
            min_weight=0.0,
        )
        return {"default": CrfSettings(), "yadav2016": paper}

    @classmethod
    def traits(cls, settings: CrfSettings) -> Traits:
        """Traits of a CRF: its training is deterministic."""
        return Traits(uses_seed=False, is_trained=True, accelerated=False, takes_vectors=False, public_vocabulary=False)

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags this tagger can give, sorted: the columns of `marginals`. Empty before `fit`."""
        return () if self._learned is None else self._learned.tags

    @property
    def features(self) -> FeatureSet:
        """The feature extractor; `features.extractor.FeatureSet.describe_each` lists its features."""
        return self._features

    @property
    def learned(self) -> CrfWeights:
        """The learned weights.

        Raises:
            NotTrainedError: the model is not trained.
        """
        return self._trained()[0]

    @property
    def index(self) -> FeatureIndex:
        """The index from feature strings to rows of the weights.

        Raises:
            NotTrainedError: the model is not trained.
        """
        return self._trained()[1]

    def fit(
        self,
        train: Sequence[LabelledSentence],
        dev: Sequence[LabelledSentence],
        *,
        on_progress: OnProgress | None = None,
    ) -> None:
        """Train from scratch, until L-BFGS converges or reaches its limit of iterations. ``dev`` is not used.

        Raises:
            DataError: ``train`` holds no tokens with annotation of PHI.
        """
        labelled = learnable(train, cuts=True)
        if not labelled:
            raise EmptyInputError("there is nothing to train on: the training set holds no tokens")
        self.settings = replace(self.settings, language=told_language(self.settings.language, labelled))
        self._features = self._features.with_languages(language_codes(self.settings.language))
        self._take(train_weights(labelled, self._features, self.settings, on_progress=on_progress))

    def predict(self, sentences: Sequence[Sentence]) -> list[list[str]]:
        """One tag per token, for each sentence: the most probable sequence (Viterbi)."""
        return [row for batch in self._emissions(sentences, _TAGGED_AT_ONCE) for row in self._best_tags(*batch)]

    def marginals(self, sentences: Sequence[Sentence]) -> list[np.ndarray]:
        """The probability of each tag at each token, for each sentence: [T, K], rows sum to 1."""
        return [
            table
            for emissions, lengths, transitions in self._emissions(sentences, _WEIGHED_AT_ONCE)
            for table in chain_marginals(emissions, lengths, transitions)
        ]

    def predict_with_marginals(self, sentences: Sequence[Sentence]) -> tuple[list[list[str]], list[np.ndarray]]:
        """The results of `predict` and of `marginals`, from the same emissions."""
        rows: list[list[str]] = []
        tables: list[np.ndarray] = []
        for batch in self._emissions(sentences, _WEIGHED_AT_ONCE):
            rows += self._best_tags(*batch)
            tables += chain_marginals(*batch)
        return rows, tables

    def _best_tags(self, emissions: np.ndarray, lengths: Sequence[int], transitions: np.ndarray) -> list[list[str]]:
        names = np.array(self.tags, object)
        tags = iter(names[np.concatenate(best_paths(emissions, lengths, transitions))].tolist())
        return [[*islice(tags, length)] for length in lengths]

    def _emissions(
        self, sentences: Sequence[Sentence], at_once: int
    ) -> Iterator[tuple[np.ndarray, list[int], np.ndarray]]:
        """Emissions [N, K], sentence lengths and transitions of ``at_once`` sentences at a time."""
        learned, index = self._trained()
        for first in range(0, len(sentences), at_once):
            some = sentences[first : first + at_once]
            lengths = [len(sentence.tokens) for sentence in some]
            yield index.matrix(some) @ learned.state, lengths, learned.transitions

    def stores(self, words: Sequence[str]) -> list[bool]:
        """For each word, True if a feature string with the word or its lower case is stored, at any window offset."""
        forms = ({word, word.lower()} for word in words)
        return [any(self.index.row(head + form) is not None for head in _WORD_HEADS for form in own) for own in forms]

    def save(self, folder: Path, *, key: bytes | None = None) -> None:
        """Write ``model.json`` (settings, tags, versions, checksum) and ``weights.npz``.

        Without a key, ``weights.npz`` holds feature strings with words of the training notes: it is as confidential as
        the notes.
        """
        learned = self.learned
        weights = pack_arrays(learned.arrays(key))
        _FILES.save(
            folder,
            weights,
            settings=self.settings,
            seed=self.seed,
            key=key,
            languages=self.languages,
            tags=learned.tags,
        )

    @classmethod
    def load(cls, folder: Path | ModelFolder, *, key: bytes | None = None) -> Self:
        """Read a model that `save` wrote.

        Raises:
            DataError: the folder holds no such model, one of another version, or a damaged one.
            UsageError: its features are hashed, and the key is missing or wrong.
        """
        saved = _FILES.load(folder, key=key)
        tagger = cls(saved.settings(CrfSettings), seed=saved.seed)
        with saved.refusing_damage():
            tagger._take(CrfWeights.read(saved.tags, saved.arrays(), saved.key))
        return tagger

    def _take(self, weights: CrfWeights) -> None:
        stored = None if weights.key is None else partial(hash_word, key=weights.key)
        rows = {name: row for row, name in enumerate(weights.names)}
        self._learned, self._index = weights, FeatureIndex(self._features, rows, stored)

    def _trained(self) -> tuple[CrfWeights, FeatureIndex]:
        if self._learned is None or self._index is None:
            raise NotTrainedError("this CRF is not trained: call fit, or load a saved one")
        return self._learned, self._index

"""Estimator for scikit-learn: `SequenceTagger` trains any model of `crfdeid.MODELS` on sentences and their tags.

Its methods are those of sklearn-crfsuite's ``CRF``, so that it can take the place of one.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import numpy as np
from pycrfsuite import ItemSequence
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from crfdeid.bio import is_tag
from crfdeid.crf import CrfTagger
from crfdeid.crf.training import WITHOUT_WEIGHT, CrfWeights
from crfdeid.documents import LabelledSentence
from crfdeid.errors import FormatError, MismatchError, OptionConflictError, SettingError
from crfdeid.evaluation import count_tags
from crfdeid.integrations.common import IntegratedModel
from crfdeid.redaction.redactor import Redactor
from crfdeid.registry import create
from crfdeid.secrets import read_vocabulary_key
from crfdeid.tagger import FitProgress, Tagger
from features.columns import Column, Extractor, SentenceBatch
from features.extractor import FeatureSet, add_feature_set, escape_for_crfsuite
from features.tokens import Sentence, Token

__all__ = ["SequenceTagger"]

_log = logging.getLogger("crfdeid")
_DICTS = "dicts"  # among `features.FEATURE_SETS`, once an estimator has been trained on feature dicts
_WEIGHTS = range(101)  # of a feature in a dict: it is repeated so often


class SequenceTagger(BaseEstimator):
    """Tagger of sentences that scikit-learn can clone, search and cross-validate.

    ``X`` is a sequence of sentences. A sentence is a `features.Sentence`, or a list of words, of `features.Token`, or
    of the feature dicts that sklearn-crfsuite takes. The weights in feature dicts are whole numbers from 0 to 100, and
    only the model "crf" can use them. ``y`` has a list of IOB2 tags for each sentence.

    Args:
        model: a key of `crfdeid.MODELS`.
        profile: the settings to start from, as for `crfdeid.create`.
        random_state: seed of the model.
        algorithm: "lbfgs", as CRFs are trained; sklearn-crfsuite's others are not there.
        verbose: log each step of the training, by the logger "crfdeid" at the level INFO.
        private_vocabulary: keep words of training sentences only as keyed hashes. The key is derived from the secret in
            ``CRFDEID_SECRET``, which training, pickling and unpickling read; no pickle has it.
        settings: settings of the model that differ from the profile's, such as ``c1=0.1``; they are parameters too.

    Attributes:
        tagger_: the trained model; ``crfdeid.Deidentifier(estimator.tagger_)`` marks PHI in text.

    Example:
        >>> estimator = SequenceTagger("crf", max_iterations=10)
        >>> estimator.fit([["Dr", "Doe"]], [["O", "B-DOCTOR"]]).predict_single(["Dr", "Doe"])
        ['O', 'B-DOCTOR']
    """

    def __init__(
        self,
        model: str = "crf",
        *,
        profile: str = "default",
        random_state: int = 0,
        algorithm: str = "lbfgs",
        verbose: bool = False,
        private_vocabulary: bool = False,
        **settings: Any,
    ) -> None:
        self.model = model
        self.profile = profile
        self.random_state = random_state
        self.algorithm = algorithm
        self.verbose = verbose
        self.private_vocabulary = private_vocabulary
        self.__dict__.update(settings)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, the model's settings among them.

        Args:
            deep: without effect, since no parameter is an estimator.
        """
        return {
            name: value for name, value in self.__dict__.items() if not (name.startswith("_") or name.endswith("_"))
        }

    def set_params(self, **params: Any) -> Self:
        """Change parameters; `fit` checks them."""
        self.__dict__.update(params)
        return self

    def fit(
        self,
        X: Iterable[Any],
        y: Iterable[Sequence[str]],
        X_dev: Iterable[Any] | None = None,
        y_dev: Iterable[Sequence[str]] | None = None,
    ) -> Self:
        """Train from scratch.

        Args:
            X: the training sentences.
            y: their tags.
            X_dev: development sentences, by which a network chooses its best epoch.
            y_dev: their tags.

        Raises:
            DataError: there is no token, or sentences and tags are malformed or do not fit together.
            UsageError: an unknown model, profile or setting, an invalid value, or a missing secret.
        """
        if (X_dev is None) != (y_dev is None):
            raise OptionConflictError("development sentences without tags, or tags without sentences: give both")
        sentences, dicts = _read_sentences(X)
        train = _labelled(sentences, y)
        dev = [] if X_dev is None else _labelled(self._sentences(X_dev, dicts), y_dev)
        if self.algorithm != "lbfgs":
            raise SettingError(f"algorithm is {self.algorithm}: give lbfgs, by which a CRF is trained here")
        own = self._get_param_names()
        params = {name: _plain(value) for name, value in self.get_params().items()}
        settings = {name: value for name, value in params.items() if name not in own}
        if dicts:
            if self.model != "crf":
                raise OptionConflictError(f"the model '{self.model}' reads words: give words, or choose the model crf")
            _add_dicts()
            settings |= {"features": _DICTS, "pos": "none"}
        self._key()  # a missing secret is reported before the training
        tagger = create(self.model, profile=self.profile, seed=params["random_state"], overrides=settings)
        tagger.fit(train, dev, on_progress=_log_step if self.verbose else None)
        self.tagger_ = _unpack(self._pack(tagger)) if self.private_vocabulary else tagger
        return self

    def predict(self, X: Iterable[Any]) -> np.ndarray:
        """Return a list of tags for each sentence: an array of lists.

        Raises:
            NotFittedError: the model is not trained.
            DataError: the sentences are malformed, or of feature dicts where those of the training were not.
        """
        return _array(self._trained().predict(self._sentences(X)))

    def predict_single(self, xseq: Any) -> list[str]:
        """Return the tags of one sentence."""
        return self.predict([xseq])[0]

    def predict_marginals(self, X: Iterable[Any]) -> np.ndarray:
        """Return the probability of each tag, by tag, for each token of each sentence: an array of lists of dicts."""
        tags, tables = self.classes_, self._trained().marginals(self._sentences(X))
        return _array([[dict(zip(tags, row, strict=True)) for row in table.tolist()] for table in tables])

    def predict_marginals_single(self, xseq: Any) -> list[dict[str, float]]:
        """Return the probability of each tag, by tag, for each token of one sentence; errors as for `predict`."""
        return self.predict_marginals([xseq])[0]

    def score(self, X: Iterable[Any], y: Iterable[Sequence[str]]) -> float:
        """Return the micro-averaged F of entities, with strict matching of type and both boundaries."""
        sentences = self._sentences(X)
        gold = [item.tags for item in _labelled(sentences, y)]
        return count_tags(gold, self._trained().predict(sentences)).micro.f1

    @property
    def classes_(self) -> list[str]:
        """Tags that the model can give, sorted."""
        return list(self._trained().tags)

    @property
    def attributes_(self) -> list[str]:
        """Features of a CRF, or their hashes, in the order of the training sentences."""
        return list(self._weights().names)

    @property
    def size_(self) -> int:
        """Bytes of the model's files."""
        return sum(map(len, self._pack(self._trained()).values()))

    @property
    def transition_features_(self) -> dict[tuple[str, str], float]:
        """Weights of a CRF for each tag and the following tag, without zeros."""
        learned = self._weights()
        return _nonzero(learned.tags, learned.tags, learned.transitions)

    @property
    def state_features_(self) -> dict[tuple[str, str], float]:
        """Weights of a CRF for each feature, or its hash, and each tag, without zeros."""
        learned = self._weights()
        return _nonzero(learned.names, learned.tags, learned.state)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        if "tagger_" in state:
            state["tagger_"] = self._pack(self.tagger_)
        return state

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)
        if "tagger_" in state:
            self.tagger_ = _unpack(state["tagger_"])

    def _trained(self) -> Tagger:
        check_is_fitted(self)
        return self.tagger_

    def _weights(self) -> CrfWeights:
        tagger = self._trained()
        if not isinstance(tagger, CrfTagger):
            raise AttributeError(f"the model '{self.model}' has no weights of features: train the model crf")
        return tagger.learned

    def _sentences(self, X: Iterable[Any], dicts: bool | None = None) -> list[Sentence]:
        """Read sentences, which must have feature dicts just if the model was trained on some."""
        if dicts is None:
            dicts = getattr(self._trained().settings, "features", None) == _DICTS
        sentences, given = _read_sentences(X)
        if given != dicts and any(sentence.tokens for sentence in sentences):
            raise MismatchError("sentences of words or tokens, and others of feature dicts: give one kind to all calls")
        return sentences

    def _key(self) -> bytes | None:
        return read_vocabulary_key() if self.private_vocabulary else None

    def _pack(self, tagger: Tagger) -> Mapping[str, bytes]:
        with TemporaryDirectory(prefix="crfdeid-model-") as folder:
            tagger.save(Path(folder), key=self._key())
            return IntegratedModel(Redactor(Path(folder))).pack()


def _log_step(progress: FitProgress) -> None:
    _log.info("training: step %d of %d", progress.step, progress.total)


def _unpack(files: Mapping[str, bytes]) -> Tagger:
    _add_dicts()
    return IntegratedModel(Redactor(""), files).deidentifier.tagger


@dataclass(frozen=True)
class _OwnFeatures(Extractor):
    """Features that the caller computed: the text of a token is a JSON list of them."""

    def columns(self, batch: SentenceBatch) -> list[Column]:
        """The first feature of each token, the second one, and so on."""
        rows = chain.from_iterable(batch.each(_own_features))
        return [Column(("",), values) for values in zip_longest(*rows)]

    def describe(self) -> str:
        """A one-line description of the features."""
        return "features in dicts"


def _own_features(word: str) -> list[str]:
    try:
        names = json.loads(word)
    except ValueError:
        names = None
    if not isinstance(names, list):
        raise MismatchError("a model of feature dicts cannot read text: train on words, or give the estimator dicts")
    return names


def _add_dicts() -> None:
    add_feature_set(FeatureSet(_DICTS, (_OwnFeatures(),)))


def _read_sentences(X: Iterable[Any]) -> tuple[list[Sentence], bool]:
    """Return sentences, and True if they have feature dicts."""
    read = [_read_sentence(row, f"sentence {number}") for number, row in enumerate(X, start=1)]
    kinds = {dicts for sentence, dicts in read if sentence.tokens}
    if len(kinds) > 1:
        raise MismatchError("some sentences have feature dicts, and others do not: give all of them one kind")
    return [sentence for sentence, _ in read], True in kinds


def _read_sentence(row: Any, place: str) -> tuple[Sentence, bool]:
    """Return a sentence, and True if it has feature dicts."""
    if isinstance(row, Sentence):
        return row, False
    items: list[Any] = list(row) if isinstance(row, Iterable) and not isinstance(row, str | Mapping) else [None]
    if all(isinstance(item, str) and item for item in items):
        return Sentence.from_words(list(map(str, items))), False
    if all(isinstance(item, Token) for item in items):
        return Sentence(tuple(items)), False
    if all(isinstance(item, Mapping) for item in items):
        rows = (json.dumps(names, ensure_ascii=False) for names in _feature_names(items, place))
        return Sentence(tuple(Token(row, i, i + 1) for i, row in enumerate(rows))), True
    raise FormatError("neither words, nor tokens, nor feature dicts: give a list of one of these", path=place)


def _feature_names(items: Sequence[Mapping[str, Any]], place: str) -> Iterable[list[str]]:
    """Return the features of each token of a sentence, repeated by their weights."""
    try:
        entries = [list(_entries(item)) for item in items]
        found = iter(ItemSequence(list(chain.from_iterable(entries))).items())
    except Exception:  # CRFsuite's wrapper raises SystemError
        raise FormatError("no feature dicts: give names with texts, numbers, or True and False", path=place) from None
    for number, row in enumerate(entries, start=1):
        weights = [pair for entry in islice(found, len(row)) for pair in entry.items()]
        if any(weight not in _WEIGHTS for _, weight in weights):
            problem = f"token {number} has a weight that is no whole number from 0 to 100: give the feature as text"
            raise FormatError(problem, path=place)
        parts = ([name] * int(weight) or [WITHOUT_WEIGHT + name] for name, weight in weights)
        yield list(chain.from_iterable(parts))


def _entries(item: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Split a feature dict into dicts of one feature; `ItemSequence.items` would count equal ones of a token once."""
    for name, value in item.items():
        key = escape_for_crfsuite(name)
        if isinstance(value, Mapping):
            yield from ({key: entry} for entry in _entries(value))
        elif isinstance(value, list | set):
            yield from ({key: [escape_for_crfsuite(one)]} for one in value)
        else:
            yield {key: escape_for_crfsuite(value) if isinstance(value, str) else value}


def _labelled(sentences: Sequence[Sentence], y: Iterable[Sequence[str]] | None) -> list[LabelledSentence]:
    """Return sentences with their tags."""
    rows = [] if y is None else list(y)
    if len(rows) != len(sentences):
        raise MismatchError(f"{len(rows)} lists of tags for {len(sentences)} sentences: give one for each")
    return [_tagged(*pair, f"sentence {number}") for number, pair in enumerate(zip(sentences, rows, strict=True), 1)]


def _tagged(sentence: Sentence, row: Any, place: str) -> LabelledSentence:
    tags = list(row) if isinstance(row, Iterable) and not isinstance(row, str) else [None]
    if not all(isinstance(tag, str) and is_tag(tag) for tag in tags):
        raise FormatError("no IOB2 tags: give a list of B-TYPE, I-TYPE and O", path=place)
    if not "".join(map(str, tags)).isprintable():  # CRFsuite ends a name at NUL, and UTF-8 has no lone surrogate
        raise FormatError("a tag with a control character or half a character: give printable names", path=place)
    if len(tags) != len(sentence.tokens):
        raise MismatchError(f"{len(tags)} tags for {len(sentence.tokens)} tokens: give one for each", path=place)
    return LabelledSentence(sentence, tuple(map(str, tags)))


def _plain(value: Any) -> Any:
    """Return a setting; a grid of `numpy.arange` or `numpy.linspace` has NumPy's numbers."""
    return value.item() if isinstance(value, np.generic) else value


def _array(rows: Sequence[Any]) -> np.ndarray:
    """Return an array of lists; `np.array` makes a table of lists of one length."""
    return np.fromiter(rows, object, len(rows))


def _nonzero(rows: Sequence[str], columns: Sequence[str], table: np.ndarray) -> dict[tuple[str, str], float]:
    return {(rows[i], columns[k]): float(table[i, k]) for i, k in np.argwhere(table)}

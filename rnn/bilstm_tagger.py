"""Base of taggers whose BiLSTM layers read words, casing, characters and features."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import jax
import numpy as np
from flax import nnx

from crfdeid.documents import LabelledSentence
from crfdeid.explain.data import TagMatrix, WeightNorm
from crfdeid.validation import require_choice, require_counts, require_number, require_shares
from features import FEATURE_SETS, feature_set
from features.tokens import Sentence
from rnn.interpret import token_norms, token_sizes, transitions
from rnn.layers.lstm import dropout_rates
from rnn.layers.recurrence import uniform
from rnn.processors.inputs import Characters, Features
from rnn.processors.words import WordProcessor
from rnn.settings import WordSettings
from rnn.training.phases import Phase, Schedule, early_stopping, reduce_lr_on_plateau
from rnn.word_tagger import WordTagger


@dataclass(frozen=True, kw_only=True)
class BilstmSettings(WordSettings):
    """Settings of networks over BiLSTM layers.

    Args:
        hidden: units of an LSTM layer in each direction, H.
        layers: LSTM layers, one upon the other.
        features: hand-made features: "casing" for the casing class alone (friedrich2019), "none", or a set of
            `features` ("form") with learned vectors, in addition to the casing class.
        feature_dim: size of a feature's vector.
        feature_min_count: occurrences in training below which a feature has no vector.
        char_dim: size of a character's vector; 0 for no characters.
        char_filters: filters over the characters.
        context: words of the note before and after the sentence that the LSTMs read too, at most 1,000.
        input_dropout: dropout rate of a token's inputs.
        variational_dropout: dropout rate of the inputs and hidden units of an LSTM layer, with one mask a sentence.
        output_dropout: dropout rate of the last layer's states, before the CRF.
        batch: sentences an update.
        optimiser: "nadam", or "sgd" for plain stochastic gradient descent.
        halve_after: epochs without a better F on dev after which the learning rate is halved; None to let it fall
            linearly to ``final_lr``.
        patience: epochs without a better F on dev after which training ends; None for never.
        average: decay of the moving average of the weights, such as 0.999; the average is used for tagging. 0 for none.

    Raises:
        UsageError: a value cannot work.
    """

    epochs: int = 12
    lr: float = 0.002
    final_lr: float = 0.05
    max_norm: float | None = 1.0
    word_dropout: float = 0.5
    hidden: int = 160
    layers: int = 1
    features: str = "form"
    feature_dim: int = 50
    feature_min_count: int = 3
    char_dim: int = 25
    char_filters: int = 50
    context: int = 0
    input_dropout: float = 0.1
    variational_dropout: float = 0.25
    output_dropout: float = 0.5
    batch: int = 32
    optimiser: str = "nadam"
    halve_after: int | None = None
    patience: int | None = 6
    average: float = 0.998

    def __post_init__(self) -> None:
        super().__post_init__()
        require_counts(self, "hidden", "layers", "feature_dim", "feature_min_count", "char_filters", "batch")
        require_shares(self, "input_dropout", "variational_dropout", "output_dropout", "average")
        require_counts(self, "char_dim", least=0)
        most = 1000  # words: every sentence is padded by all of them
        what = f"a whole number from 0 to {most}"
        require_number("context", self.context, what, lambda v: isinstance(v, int) and 0 <= v <= most)
        require_choice(self, "optimiser", OPTIMISERS)
        for name in ("patience", "halve_after"):
            if getattr(self, name) is not None:
                require_counts(self, name)
        require_choice(self, "features", _FEATURES)


OPTIMISERS = ("nadam", "sgd")
_FEATURES = ("casing", "none", *FEATURE_SETS)


LANGE2020: Mapping[str, Any] = MappingProxyType(
    {
        "epochs": 100,
        "lr": 0.1,
        "final_lr": 0.05,  # not used: the learning rate is halved
        "max_norm": 5.0,
        "decoding": "valid",
        "embedding_dim": 100,
        "embedding_range": 0.25,
        "freeze_embeddings": False,
        "fold_digits": False,
        "min_count": 1,
        "min_documents": 1,
        "word_dropout": 0.0,
        "hidden": 256,
        "layers": 1,
        "features": "none",
        "feature_dim": 50,  # not used without features, nor is the next
        "feature_min_count": 3,
        "char_dim": 25,
        "char_filters": 50,
        "context": 0,
        "input_dropout": 0.1,
        "variational_dropout": 0.25,
        "output_dropout": 0.5,
        "batch": 32,
        "optimiser": "sgd",
        "halve_after": 3,
        "patience": 12,
        "average": 0.0,
    }
)
"""Training by section 4.1 of lange2020, the same for all its models, with every setting written out.

The paper gives neither dropout, nor the number of epochs, nor the patience of early stopping, nor a bound on gradients:
these, and the word vectors and characters, are the library's. The paper's inputs are byte pairs, fastText, FLAIR and
BERT.
"""


class BilstmTagger(WordTagger):
    """Base class of taggers on networks over BiLSTM layers."""

    _settings: BilstmSettings

    def blank_processor(self) -> WordProcessor:
        """Processor without words."""
        settings = self._settings
        wanted = settings.features in FEATURE_SETS
        return WordProcessor(
            self.blank_vocabulary(),
            {},
            margin=settings.context,
            note=True,
            casing=settings.features != "none",
            characters=Characters(()) if settings.char_dim else None,
            features=Features(feature_set(settings.features, pos="none"), ()) if wanted else None,
        )

    def filled(self, blank: WordProcessor, train: Sequence[LabelledSentence]) -> WordProcessor:
        """Add the words, characters, features and tags of sentences to a processor."""
        processor, sentences = super().filled(blank, train), [item.sentence for item in train]
        if processor.characters is not None:
            known = Characters.build(word for sentence in sentences for word in sentence.words)
            processor = dataclasses.replace(processor, characters=known)
        if processor.features is not None:
            features = Features.build(
                processor.features.extracted,
                train,
                min_count=self._settings.feature_min_count,
                min_documents=self._settings.min_documents,
            )
            width = features.rows(sentences, 0)[0].shape[1]
            processor = dataclasses.replace(processor, features=features, width=width)
        return processor

    def tables(self, processor: Any, rngs: nnx.Rngs) -> dict[str, jax.Array]:
        """Initial vectors of words, and of characters and features if the settings ask for them."""
        found = super().tables(processor, rngs)
        if processor.characters is not None:
            shape = (len(processor.characters), self._settings.char_dim)
            bound = (3.0 / shape[1]) ** 0.5  # as Ma and Hovy (2016, section 3.1)
            found["characters"] = uniform(rngs.params(), shape, bound)
        if processor.features is not None:
            shape = (len(processor.features.names) + 1, self._settings.feature_dim)
            found["features"] = uniform(rngs.params(), shape, 0.05)
        return found

    def input_norms(self, arrays: Mapping[str, np.ndarray]) -> Iterable[WeightNorm]:
        """Norms of the first layer's weights for each input of a token, in the part that finds PHI."""
        name = _of_phi(arrays, "bilstm.layers.0.W")
        sizes = token_sizes(**self.sizes(self.word_processor(self._trained().processor)))
        return token_norms(name, arrays[name], sizes)

    def tag_matrices(self, arrays: Mapping[str, np.ndarray], sentences: Sequence[Sentence]) -> Iterable[TagMatrix]:
        """Transitions of the CRF layer that finds PHI."""
        return [transitions(self.tags, arrays[_of_phi(arrays, "crf.A")])]

    def sizes(self, processor: WordProcessor) -> dict[str, Any]:
        """Arguments of `rnn.layers.tokens.TokenInputs`."""
        settings = self._settings
        return {
            "dim": settings.embedding_dim,
            "casing": processor.casing,
            "char_dim": settings.char_dim,
            "char_filters": settings.char_filters,
            "feature_dim": 0 if processor.features is None else settings.feature_dim,
        }

    def rates(self) -> dict[str, float]:
        """Dropout rates by the names of the masks of `rnn.models.bilstm_crf.BilstmCrf`."""
        settings = self._settings
        return dropout_rates(
            settings.layers,
            inputs=settings.input_dropout,
            variational=settings.variational_dropout,
            output=settings.output_dropout,
        )

    def epochs(self, phase_of: Callable[[int, float], Phase]) -> Schedule:
        """One phase an epoch with a falling learning rate, until F on dev stops rising."""
        settings = self._settings
        limits: dict[str, Any] = {"epochs": settings.epochs, "patience": settings.patience}
        if settings.halve_after is not None:
            return reduce_lr_on_plateau(phase_of, rate=settings.lr, after=settings.halve_after, **limits)
        return early_stopping(lambda epoch: phase_of(epoch, settings.rate(epoch)), **limits)


def _of_phi(arrays: Mapping[str, np.ndarray], end: str) -> str:
    """Name of the array with this ending outside the part that finds concepts."""
    (name,) = (name for name in arrays if name.endswith(end) and not name.startswith("network.concept."))
    return name

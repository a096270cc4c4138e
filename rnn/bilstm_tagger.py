"""What all taggers share that read words, casing, characters and features by BiLSTM layers."""

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
    """The settings of networks over BiLSTM layers.

    Args:
        hidden: units of an LSTM layer in each direction, H.
        layers: LSTM layers, one upon the other.
        features: hand-made features beside the word vectors: "casing" for the casing class alone (friedrich2019),
            "none", or a set of `features` ("form"), whose features get vectors that are learned, beside the casing.
        feature_dim: the size of a feature's vector.
        feature_min_count: a feature seen less often in training has none.
        char_dim: the size of a character's vector; 0 for a network that reads no characters.
        char_filters: filters over the characters.
        context: words of the note before and after the sentence that the LSTMs read too, at most 1,000.
        input_dropout: the probability with which a number of a token's input is left out.
        variational_dropout: that of an input or a hidden unit of an LSTM layer, for a whole sentence.
        output_dropout: that of a number of the last layer's states, before the CRF.
        batch: sentences an update.
        optimiser: "nadam", or "sgd" for plain stochastic gradient descent.
        halve_after: the learning rate is halved after each so many epochs without a better F on dev; None for one that
            falls as ``final_lr`` says.
        patience: training ends when so many epochs brought no better F on dev; None for never.
        average: the share of the average of the weights that each update keeps, such as 0.999; what is used is then
            the average. 0 for none.

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
        most = 1000  # words: room is made for all of them around every sentence
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
        "optimiser": "sgd",
        "lr": 0.1,
        "halve_after": 3,
        "patience": 12,
        "batch": 32,
        "max_norm": 5.0,
        "hidden": 256,
        "features": "none",
        "average": 0.0,
        "word_dropout": 0.0,
        "min_count": 1,
        "fold_digits": False,
    }
)
"""What section 4.1 of lange2020 says of training, the same for all its models.

It gives neither dropout, which is ours here, nor the number of epochs, nor when early stopping ends training, nor a
bound on gradients. Word vectors and characters are ours too: it has byte pairs, fastText, FLAIR and BERT.
"""


class BilstmTagger(WordTagger):
    """A tagger on a network over BiLSTM layers."""

    _settings: BilstmSettings

    def blank_processor(self) -> WordProcessor:
        """A processor that knows no words yet."""
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
        """A processor that knows the words, characters and features of some sentences, and their tags."""
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
        """The initial vectors of words, and where they are wanted of characters and features."""
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
        """How large the weights of each input of a token are, where PHI is found."""
        name = _of_phi(arrays, "bilstm.layers.0.W")
        sizes = token_sizes(**self.sizes(self.word_processor(self._trained().processor)))
        return token_norms(name, arrays[name], sizes)

    def tag_matrices(self, arrays: Mapping[str, np.ndarray], sentences: Sequence[Sentence]) -> Iterable[TagMatrix]:
        """The transitions of the CRF layer that finds PHI."""
        return [transitions(self.tags, arrays[_of_phi(arrays, "crf.A")])]

    def sizes(self, processor: WordProcessor) -> dict[str, Any]:
        """What `rnn.layers.tokens.TokenInputs` is told."""
        settings = self._settings
        return {
            "dim": settings.embedding_dim,
            "casing": processor.casing,
            "char_dim": settings.char_dim,
            "char_filters": settings.char_filters,
            "feature_dim": 0 if processor.features is None else settings.feature_dim,
        }

    def rates(self) -> dict[str, float]:
        """The rates of dropping, by the names of the draws of `rnn.models.bilstm_crf.BilstmCrf`."""
        settings = self._settings
        return dropout_rates(
            settings.layers,
            inputs=settings.input_dropout,
            variational=settings.variational_dropout,
            output=settings.output_dropout,
        )

    def epochs(self, phase_of: Callable[[int, float], Phase]) -> Schedule:
        """A phase an epoch, by its number from 0 and a learning rate that falls, until dev shows no progress."""
        settings = self._settings
        limits: dict[str, Any] = {"epochs": settings.epochs, "patience": settings.patience}
        if settings.halve_after is not None:
            return reduce_lr_on_plateau(phase_of, rate=settings.lr, after=settings.halve_after, **limits)
        return early_stopping(lambda epoch: phase_of(epoch, settings.rate(epoch)), **limits)


def _of_phi(arrays: Mapping[str, np.ndarray], end: str) -> str:
    """The name of the array that ends so and is not of the part that finds concepts."""
    (name,) = (name for name in arrays if name.endswith(end) and not name.startswith("network.concept."))
    return name

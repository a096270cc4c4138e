"""A Transformer-CRF on hand-made features as a researcher would add it; it is no part of the library."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import jax.numpy as jnp
import optax
from flax import nnx

from crfdeid.documents import PHI
from features import feature_set
from rnn.inputs import Features, TokenProcessor
from rnn.layers.crf import CrfOutput
from rnn.layers.dropout import dropout, split_key
from rnn.layers.transformer import Linear, TransformerEncoder
from rnn.network import uniform
from rnn.pretrained.config import EncoderConfig
from rnn.settings import WordSettings
from rnn.tagger import NetworkTagger
from rnn.training.minibatches import optimiser, per_sentences
from rnn.training.schedules import falling_rate
from rnn.vocab import Vocabulary
from rnn.words import fit_words, word_phase


class TransformerCrf(nnx.Module):
    """Sum of a token's feature vectors -> linear map -> transformer -> CRF."""

    tables: ClassVar = {"features": "features"}

    def __init__(self, dim, config, tags, *, dropout, rngs):
        self.into = Linear(dim, config.hidden, rngs=rngs)
        self.encoder = TransformerEncoder(config, dropout=dropout, rngs=rngs)
        self.crf = CrfOutput(config.hidden, tags, rngs=rngs)

    def scores(self, vectors, inputs, length, key=None):
        """Emissions and transitions."""
        inner, outer = split_key(key, 2)
        known = (inputs["features"] > 0)[:, :, None]
        real = jnp.arange(known.shape[0]) < length
        states = self.encoder(self.into(jnp.sum(vectors["features"], axis=1, where=known)), real, inner)
        return {PHI: self.crf(dropout(states, self.encoder.dropout, outer))}


@dataclass(frozen=True, kw_only=True)
class TransformerCrfSettings(WordSettings):
    """Settings of the Transformer-CRF."""

    lr: float = 0.005
    max_norm: float | None = 5.0
    features: str = "form"
    hidden: int = 16
    heads: int = 2
    dropout: float = 0.1
    batch: int = 8
    longest: int = 256


class TransformerCrfTagger(NetworkTagger):
    """Tagger with the Transformer-CRF."""

    model = "transformer-crf"
    settings_class = TransformerCrfSettings

    @classmethod
    def profiles(cls) -> Mapping[str, TransformerCrfSettings]:
        """Settings by profile name."""
        return {"default": TransformerCrfSettings()}

    def _blank(self):
        found = Features(feature_set(self.settings.features, pos="none"), ())
        return TokenProcessor(Vocabulary((), self.settings.fold_digits), {}, features=found)

    def processor(self, train):
        """Build the processor for training sentences."""
        words = fit_words(self._blank(), train, self.settings, None)
        features = Features.build(words.features.extracted, train, min_count=self.settings.min_count)
        width = features.rows([item.sentence for item in train], 0)[0].shape[1]
        return replace(words, features=features, width=width)

    def saved_processor(self, described, arrays, key):
        """Restore the processor of a saved model."""
        return self._blank().read(described, arrays, key)

    def tables(self, processor, rngs):
        """Initial vectors of the features."""
        shape = (len(processor.features.names) + 1, self.settings.embedding_dim)
        return {"features": uniform(rngs.params(), shape, self.settings.embedding_range)}

    def network(self, processor, rngs):
        """Create the network."""
        settings = self.settings
        config = EncoderConfig(
            family="bert",
            pieces=1,
            hidden=settings.hidden,
            layers=1,
            heads=settings.heads,
            intermediate=2 * settings.hidden,
            positions=settings.longest,
            first=0,
            activation="relu",
            epsilon=1e-5,
        )
        tags = len(processor.tags[PHI])
        return TransformerCrf(settings.embedding_dim, config, tags, dropout=settings.dropout, rngs=rngs)

    def schedule(self, processor, rows):
        """Adam on minibatches, with a falling learning rate."""
        updates = per_sentences(self.settings.batch, optimiser(optax.adam))
        phase = word_phase(self.model, self.settings, rows, updates, {})
        return falling_rate(lambda epoch: phase, self.settings)

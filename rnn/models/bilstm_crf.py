"""The BiLSTM-CRF (friedrich2019, section 3 and Table 1): bidirectional LSTM layers and a linear-chain CRF."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import jax
from flax import nnx

from crfdeid.documents import PHI
from rnn.batching import Row
from rnn.bilstm_tagger import LANGE2020, BilstmSettings, BilstmTagger
from rnn.layers.crf import CrfOutput
from rnn.layers.lstm import BiLstms
from rnn.layers.tokens import TokenInputs
from rnn.network import Draw, Scores
from rnn.processors.words import WordProcessor
from rnn.training.phases import Schedule, optimiser, per_sentences
from rnn.vocab import PAD


class BilstmCrf(nnx.Module):
    """Word vectors, casing, characters and features -> BiLSTM layers -> emissions of a CRF.

    Args:
        dim: size of a word vector, D.
        hidden: units of a layer in each direction, H.
        layers: LSTM layers, L.
        tags: number of tags, K.
        rngs: source of the initial weights.
        casing: whether the one-hot casing class is among the inputs.
        char_dim: size of a character's vector; 0 for no characters.
        char_filters: filters over the characters.
        feature_dim: size of the vector of a hand-made feature, which are summed over a token; 0 for none.
        context: words of the note before and after the sentence that the LSTMs read too.
    """

    def __init__(
        self,
        *,
        dim: int,
        hidden: int,
        layers: int,
        tags: int,
        rngs: nnx.Rngs,
        casing: bool = True,
        char_dim: int = 0,
        char_filters: int = 0,
        feature_dim: int = 0,
        context: int = 0,
    ) -> None:
        self.context = context
        self.tokens = TokenInputs(
            dim=dim,
            casing=casing,
            char_dim=char_dim,
            char_filters=char_filters,
            feature_dim=feature_dim,
            rngs=rngs,
        )
        self.bilstm = BiLstms(self.tokens.size, hidden, layers=layers, rngs=rngs)
        self.crf = CrfOutput(2 * hidden, tags, rngs=rngs)

    @property
    def tables(self) -> dict[str, str]:
        """Tables of words, and of characters and features if they are inputs."""
        return self.tokens.tables

    def draws(self, length: int) -> dict[str, Draw]:
        """Dropout masks of the BiLSTM layers and of their last states."""
        found = self.bilstm.draws(length + 2 * self.context)
        output = Draw("keep", (length, 2 * self.bilstm.hidden))
        return {"input": found["input"], "output": output, **found}  # the order decides which numbers are drawn

    def scores(
        self,
        vectors: Mapping[str, jax.Array],
        inputs: Mapping[str, jax.Array],
        length: jax.Array,
        draws: Mapping[str, jax.Array],
    ) -> dict[str, Scores]:
        """Emissions of the sentence's tokens, [T, K], and transitions, [K, K]."""
        real = inputs["words"] != PAD  # [P], P = T + 2 * context
        states = self.bilstm(self.tokens(vectors, inputs), real, draws)  # [P, 2H]
        own = states[self.context : states.shape[0] - self.context] * draws["output"]  # [T, 2H]
        return {PHI: self.crf(own)}


@dataclass(frozen=True, kw_only=True)
class BilstmCrfSettings(BilstmSettings):
    """Settings of the BiLSTM-CRF: exactly those of networks over BiLSTM layers."""


@final
class BilstmCrfTagger(BilstmTagger):
    """Tagger with the BiLSTM-CRF."""

    model = "bilstm-crf"
    settings_class = BilstmCrfSettings
    _settings: BilstmCrfSettings

    @classmethod
    def profiles(cls) -> Mapping[str, BilstmCrfSettings]:
        """Settings by profile name: "friedrich2019" is Table 1, "lange2020" a half of the pipeline (section 4.1).

        Friedrich et al. give neither the learning rate nor the number of epochs: 0.002 is the rate of Keras's Nadam,
        whose momentum schedule optax's lacks. The authors' code trains the CRF by its marginals; here the likelihood of
        the path is trained, as the paper says.
        """
        paper = BilstmCrfSettings(
            epochs=40,
            lr=0.002,
            final_lr=1.0,
            max_norm=1.0,
            decoding="valid",
            embedding_dim=100,
            embedding_range=0.25,
            freeze_embeddings=False,
            fold_digits=False,
            min_count=1,
            min_documents=1,
            word_dropout=0.0,
            hidden=128,
            layers=2,
            features="casing",
            feature_dim=50,  # not used by "casing", nor is the next
            feature_min_count=3,
            char_dim=0,
            char_filters=50,  # not used without characters
            context=0,
            input_dropout=0.1,
            variational_dropout=0.25,
            output_dropout=0.5,
            batch=32,
            optimiser="nadam",
            halve_after=None,
            patience=8,
            average=0.0,
        )
        return {
            "default": BilstmCrfSettings(),
            "friedrich2019": paper,
            "lange2020": BilstmCrfSettings(**LANGE2020),
        }

    def network(self, processor: WordProcessor, rngs: nnx.Rngs) -> BilstmCrf:
        """Create the network."""
        settings = self._settings
        return BilstmCrf(
            **self.sizes(processor),
            hidden=settings.hidden,
            layers=settings.layers,
            tags=len(processor.tags[PHI]),
            context=settings.context,
            rngs=rngs,
        )

    def schedule(self, processor: WordProcessor, rows: Sequence[Row]) -> Schedule:
        """Train by minibatches of about one length, until F on dev stops rising."""
        settings = self._settings
        updates = per_sentences(settings.batch, optimiser(settings.optimiser))
        return self.supervised(processor, rows, updates, self.rates(), average=settings.average)

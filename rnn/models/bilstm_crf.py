"""The BiLSTM-CRF (friedrich2019, section 3 and Table 1): bidirectional LSTM layers under a linear-chain CRF."""

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
    """Word vectors, casing, characters and features -> BiLSTM layers -> emissions, beside learned transitions.

    Args:
        dim: the size of a word vector, D.
        hidden: units of a layer in each direction, H.
        layers: LSTM layers, L.
        tags: the number of tags, K.
        rngs: where the initial weights come from.
        casing: whether the casing class is among the inputs, one-hot.
        char_dim: the size of a character's vector; 0 for no characters.
        char_filters: filters over them.
        feature_dim: the size of the vector of a hand-made feature; 0 for none. A token has the sum of its features'.
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
        """Words, and where they are wanted characters and features."""
        return self.tokens.tables

    def draws(self, length: int) -> dict[str, Draw]:
        """Dropout: that of the BiLSTM layers, and of their last states."""
        found = self.bilstm.draws(length + 2 * self.context)
        output = Draw("keep", (length, 2 * self.bilstm.hidden))
        return {"input": found["input"], "output": output, **found}  # in another order, other numbers are drawn

    def scores(
        self,
        vectors: Mapping[str, jax.Array],
        inputs: Mapping[str, jax.Array],
        length: jax.Array,
        draws: Mapping[str, jax.Array],
    ) -> dict[str, Scores]:
        """The emissions of the sentence's tokens, [T, K], and the transitions, [K, K]."""
        real = inputs["words"] != PAD  # with the words around the sentence, P = T + 2 * context places
        states = self.bilstm(self.tokens(vectors, inputs), real, draws)  # [P, 2H]
        own = states[self.context : states.shape[0] - self.context] * draws["output"]  # [T, 2H]
        return {PHI: self.crf(own)}


@dataclass(frozen=True, kw_only=True)
class BilstmCrfSettings(BilstmSettings):
    """The BiLSTM-CRF's settings: all that a network over BiLSTM layers can be told, and nothing else."""


@final
class BilstmCrfTagger(BilstmTagger):
    """A tagger on the BiLSTM-CRF."""

    model = "bilstm-crf"
    settings_class = BilstmCrfSettings
    _settings: BilstmCrfSettings

    @classmethod
    def profiles(cls) -> Mapping[str, BilstmCrfSettings]:
        """Settings by profile name: "friedrich2019" is Table 1, "lange2020" a half of the pipeline (section 4.1).

        The former paper gives neither the learning rate nor the number of epochs: 0.002 is the rate of Keras's Nadam,
        whose momentum schedule optax's lacks. The authors' code trains the CRF by its marginals; here the paper's words
        are followed, and the likelihood of the path is trained.
        """
        paper = BilstmCrfSettings(
            epochs=40,
            final_lr=1.0,
            patience=8,
            layers=2,
            hidden=128,
            features="casing",
            char_dim=0,
            average=0.0,
            word_dropout=0.0,
            min_count=1,
            fold_digits=False,
        )
        return {
            "default": BilstmCrfSettings(),
            "friedrich2019": paper,
            "lange2020": BilstmCrfSettings(**LANGE2020),
        }

    def network(self, processor: WordProcessor, rngs: nnx.Rngs) -> BilstmCrf:
        """A new network."""
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
        """One update for some sentences of about one length, until dev shows no progress."""
        settings = self._settings
        updates = per_sentences(settings.batch, optimiser(settings.optimiser))
        return self.supervised(processor, rows, updates, self.rates(), average=settings.average)

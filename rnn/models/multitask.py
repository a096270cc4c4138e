"""The multitask model (lange2020, section 3.3.1): one BiLSTM, then a hidden layer and a CRF for each task.

    words, casing, characters, features -> BiLSTM layers -+-> hidden layer -> CRF: PHI
                                                          +-> hidden layer -> CRF: concepts

The part that tags concepts reads the text with its PHI.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import jax
import jax.numpy as jnp
from flax import nnx

from crfdeid.documents import CONCEPT, PHI
from crfdeid.tagger import LayeredTagger
from crfdeid.validation import require_counts
from rnn.batching import Row
from rnn.inputs import TokenInputs, TokenProcessor
from rnn.interfaces import Arrays
from rnn.layers.crf import CrfOutput, CrfScores
from rnn.layers.dropout import WordDropout, dropout, split_key
from rnn.layers.lstm import BiLstms
from rnn.models.bilstm_crf import bilstm_sizes, input_sizes
from rnn.models.joint import JointSettings, TagsConcepts, lange2020_joint
from rnn.network import uniform
from rnn.tagger import NetworkTagger
from rnn.vocab import PAD
from rnn.words import word_dropout


class TaskOutput(nnx.Module):
    """ReLU(W h + b) -> CRF.

    Args:
        inputs: size of a state h.
        hidden: units of the hidden layer.
        tags: number of tags, K.
        rngs: source of the initial weights.
    """

    def __init__(self, inputs: int, hidden: int, tags: int, *, rngs: nnx.Rngs) -> None:
        self.W = nnx.Param(uniform(rngs.params(), (hidden, inputs), None))
        self.b = nnx.Param(jnp.zeros(hidden))
        self.crf = CrfOutput(hidden, tags, rngs=rngs)

    def __call__(self, states: jax.Array) -> CrfScores:
        """Scores of T tokens from their states, [T, inputs]."""
        return self.crf(jax.nn.relu(states @ self.W[...].T + self.b[...][None]))


class Multitask(nnx.Module):
    """Network of shared BiLSTM layers and one output for each task.

    Args:
        tokens: arguments of `TokenInputs`.
        bilstm: arguments of `BiLstms`.
        task_hidden: units of each task's hidden layer.
        tags: number of tags of each annotation layer.
        context: words of the note before and after the sentence that the LSTMs read too.
        output_dropout: dropout rate of the last layer's states.
        rngs: source of the initial weights.
    """

    def __init__(
        self,
        tokens: Mapping[str, Any],
        bilstm: Mapping[str, Any],
        *,
        task_hidden: int,
        tags: Mapping[str, int],
        context: int,
        output_dropout: float = 0.0,
        rngs: nnx.Rngs,
    ) -> None:
        self.context, self.output_dropout = context, output_dropout
        self.tokens = TokenInputs(**tokens, rngs=rngs)
        self.bilstm = BiLstms(self.tokens.size, **bilstm, rngs=rngs)
        hidden = self.bilstm.hidden
        self.phi = TaskOutput(2 * hidden, task_hidden, tags[PHI], rngs=rngs)
        self.concept = TaskOutput(2 * hidden, task_hidden, tags[CONCEPT], rngs=rngs)

    @property
    def tables(self) -> dict[str, str]:
        """Tables of words, and of characters and features if they are inputs."""
        return self.tokens.tables

    def scores(
        self, vectors: Arrays, inputs: Arrays, length: jax.Array, key: jax.Array | None = None
    ) -> dict[str, CrfScores]:
        """Scores of PHI and of concepts."""
        layers_key, output_key = split_key(key, 2)
        real = inputs["words"] != PAD
        states = self.bilstm(self.tokens(vectors, inputs), real, layers_key)  # [P, 2H]
        own = states[self.context : states.shape[0] - self.context]
        own = dropout(own, self.output_dropout, output_key)  # [T, 2H]
        return {PHI: self.phi(own), CONCEPT: self.concept(own)}


@dataclass(frozen=True, kw_only=True)
class MultitaskSettings(JointSettings):
    """Settings of the multitask model.

    Args:
        task_hidden: units of each task's hidden layer.

    Raises:
        UsageError: a value cannot work.
    """

    task_hidden: int = 128

    def __post_init__(self) -> None:
        super().__post_init__()
        require_counts(self, "task_hidden")


@final
class MultitaskTagger(TagsConcepts, NetworkTagger, LayeredTagger):
    """Tagger with the multitask network."""

    model = "multitask"
    settings_class = MultitaskSettings
    settings: MultitaskSettings

    @classmethod
    def profiles(cls) -> Mapping[str, MultitaskSettings]:
        """Settings by profile name: "lange2020" is section 4.1, with the library's word vectors and characters."""
        return {"default": MultitaskSettings(), "lange2020": MultitaskSettings(**lange2020_joint(), task_hidden=128)}

    def network(self, processor: TokenProcessor, rngs: nnx.Rngs) -> Multitask:
        """Create the network."""
        settings = self.settings
        return Multitask(
            input_sizes(settings, processor),
            bilstm_sizes(settings),
            task_hidden=settings.task_hidden,
            tags={layer: len(names) for layer, names in processor.tags.items()},
            context=settings.context,
            output_dropout=settings.output_dropout,
            rngs=rngs,
        )

    def dropped(self, processor: TokenProcessor, rows: Sequence[Row]) -> Mapping[str, WordDropout]:
        """Word dropout, the same for both tasks."""
        return word_dropout(processor, rows, self.settings)

    def phi_output(self, network: Multitask) -> CrfOutput:
        """CRF layer that finds PHI."""
        return network.phi.crf

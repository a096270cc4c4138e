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
from crfdeid.validation import require_counts
from rnn.batching import Row
from rnn.joint_tagger import LANGE2020_JOINT, JointSettings, JointTagger
from rnn.layers.crf import CrfOutput
from rnn.layers.lstm import BiLstms
from rnn.layers.recurrence import uniform
from rnn.layers.tokens import TokenInputs
from rnn.network import Draw, Scores
from rnn.processors.words import WordProcessor
from rnn.training.draws import WordDropout
from rnn.vocab import PAD


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

    def __call__(self, states: jax.Array) -> Scores:
        """Scores of T tokens from their states, [T, inputs]."""
        return self.crf(jax.nn.relu(states @ self.W[...].T + self.b[...][None]))


class Multitask(nnx.Module):
    """Network of shared BiLSTM layers and one output for each task.

    Args:
        tokens: arguments of `TokenInputs`.
        hidden: units of an LSTM layer in each direction, H.
        layers: LSTM layers.
        task_hidden: units of each task's hidden layer.
        tags: number of tags of each annotation layer.
        context: words of the note before and after the sentence that the LSTMs read too.
        rngs: source of the initial weights.
    """

    def __init__(
        self,
        tokens: Mapping[str, Any],
        *,
        hidden: int,
        layers: int,
        task_hidden: int,
        tags: Mapping[str, int],
        context: int,
        rngs: nnx.Rngs,
    ) -> None:
        self.context = context
        self.tokens = TokenInputs(**tokens, rngs=rngs)
        self.bilstm = BiLstms(self.tokens.size, hidden, layers=layers, rngs=rngs)
        self.phi = TaskOutput(2 * hidden, task_hidden, tags[PHI], rngs=rngs)
        self.concept = TaskOutput(2 * hidden, task_hidden, tags[CONCEPT], rngs=rngs)

    @property
    def tables(self) -> dict[str, str]:
        """Tables of words, and of characters and features if they are inputs."""
        return self.tokens.tables

    def draws(self, length: int) -> dict[str, Draw]:
        """Dropout masks of the BiLSTM layers and of their last states."""
        output = Draw("keep", (length, 2 * self.bilstm.hidden))
        return self.bilstm.draws(length + 2 * self.context) | {"output": output}

    def scores(
        self,
        vectors: Mapping[str, jax.Array],
        inputs: Mapping[str, jax.Array],
        length: jax.Array,
        draws: Mapping[str, jax.Array],
    ) -> dict[str, Scores]:
        """Scores of PHI and of concepts."""
        real = inputs["words"] != PAD
        states = self.bilstm(self.tokens(vectors, inputs), real, draws)  # [P, 2H]
        own = states[self.context : states.shape[0] - self.context] * draws["output"]  # [T, 2H]
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
class MultitaskTagger(JointTagger):
    """Tagger with the multitask network."""

    model = "multitask"
    settings_class = MultitaskSettings
    _settings: MultitaskSettings

    @classmethod
    def profiles(cls) -> Mapping[str, MultitaskSettings]:
        """Settings by profile name: "lange2020" is section 4.1, with the library's word vectors and characters."""
        return {"default": MultitaskSettings(), "lange2020": MultitaskSettings(**LANGE2020_JOINT, task_hidden=128)}

    def network(self, processor: WordProcessor, rngs: nnx.Rngs) -> Multitask:
        """Create the network."""
        settings = self._settings
        return Multitask(
            self.sizes(processor),
            hidden=settings.hidden,
            layers=settings.layers,
            task_hidden=settings.task_hidden,
            tags={layer: len(names) for layer, names in processor.tags.items()},
            context=settings.context,
            rngs=rngs,
        )

    def dropped(self, processor: WordProcessor, rows: Sequence[Row]) -> Mapping[str, WordDropout]:
        """Word dropout, the same for both tasks."""
        return self.word_dropout(processor, rows)

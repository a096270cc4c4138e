"""Representation, tagger and adversaries as one network, and the losses of each part of training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from flax import nnx

from crfdeid.documents import PHI
from rnn.layers.crf import CrfScores
from rnn.layers.dropout import split_key
from rnn.layers.representation import Representation, reverse_gradient
from rnn.models.bilstm_crf import BilstmCrf
from rnn.network import Arrays
from rnn.privacy.adversaries import LOG_2, TASKS, Adversaries, PairIndex, losses
from rnn.vocab import PAD


class PrivateNetwork(nnx.Module):
    """Representation, with a tagger and adversaries that read it.

    A row is a sentence, "words" [T], or a quadruple, "words" [T, 2], of the sentence and its copy. The tagger reads the
    sentence of either.

    Args:
        representation: the representation.
        tagger: reads representation and casing.
        adversaries: both adversaries.
    """

    tables: ClassVar[Mapping[str, str]] = {"words": "words"}

    def __init__(self, *, representation: Representation, tagger: BilstmCrf, adversaries: Adversaries) -> None:
        self.representation, self.tagger, self.adversaries = representation, tagger, adversaries

    def scores(
        self, vectors: Arrays, inputs: Arrays, length: jax.Array, key: jax.Array | None = None, *, dropout: bool = True
    ) -> dict[str, CrfScores]:
        """Scores of a sentence by the tagger.

        Args:
            vectors: see `rnn.network.Network.scores`, also for the next three.
            inputs: inputs of the row.
            length: number of real tokens.
            key: source of noise and dropout; None for neither.
            dropout: False for noise alone.
        """
        noise_key, tagger_key = split_key(key, 2)
        words = inputs["words"]
        encoded = self._encode(vectors["words"][None], words != PAD, noise_key)[0]
        return self.tags(encoded, words, inputs, length, tagger_key if dropout else None)

    def tags(
        self, encoded: jax.Array, words: jax.Array, inputs: Arrays, length: jax.Array, key: jax.Array | None
    ) -> dict[str, CrfScores]:
        """Scores of a sentence by the tagger, from its representation [T, S]; the key is for dropout."""
        return self.tagger.scores({"words": encoded}, {**inputs, "words": words}, length, key)

    def encoded(self, vectors: jax.Array, inputs: Arrays, key: jax.Array | None) -> jax.Array:
        """Representations of a quadruple, [4, T, S]: x twice, then x' twice.

        Args:
            vectors: word vectors of x and x', [2, T, D].
            inputs: inputs of the row.
            key: source of the noise; None for none.
        """
        return self._encode(jnp.repeat(vectors, 2, axis=0), inputs["words"][:, 0] != PAD, key)

    def _encode(self, vectors: jax.Array, real: jax.Array, key: jax.Array | None) -> jax.Array:
        """Representations with independent noise, [E, T, S], of vectors [E, T, D]."""
        noises = (self.representation.input_noise, self.representation.output_noise)
        shapes = [(*vectors.shape[:2], noise.s[...].shape[0]) for noise in noises]
        keys = split_key(key, 2)
        normal = [
            jnp.zeros(shape) if one is None else jax.random.normal(one, shape)
            for one, shape in zip(keys, shapes, strict=True)
        ]
        found: jax.Array = jax.vmap(self.representation, in_axes=(0, None, 0, 0))(vectors, real, *normal)
        return found


class AttackNetwork(nnx.Module):
    """Adversaries on representations that are inputs of the row: "encoded", [T, 4, S].

    Args:
        adversaries: both adversaries.
    """

    tables: ClassVar[Mapping[str, str]] = {"words": "words"}

    def __init__(self, adversaries: Adversaries) -> None:
        self.adversaries = adversaries

    def encoded(self, vectors: jax.Array, inputs: Arrays, key: jax.Array | None) -> jax.Array:
        """Representations from the inputs, [4, T, S]; they have noise already."""
        return jnp.moveaxis(inputs["encoded"], 1, 0)


def pair_logits(
    network: Any, vectors: Arrays, inputs: Arrays, length: jax.Array, key: jax.Array | None, shown: PairIndex
) -> jax.Array:
    """Logits of the adversaries for the pairs of one quadruple, [P, 2]."""
    words = jnp.moveaxis(vectors["words"], 1, 0)  # [2, T, D]
    found: jax.Array = network.adversaries(network.encoded(words, inputs, key), words, length, shown)
    return found


@dataclass(frozen=True)
class TaggingLoss:
    """l_deid: the negative log-likelihood of a sentence's tags under the CRF over its representation, in nats.

    Like all losses here hashable: JAX compiles once for equal ones.

    Args:
        dropout: whether the tagger has dropout; False for held-out rows.
    """

    dropout: bool = True

    def __call__(
        self, network: Any, vectors: Arrays, *, inputs: Arrays, targets: Arrays, length: jax.Array, key: Any
    ) -> jax.Array:
        """Compute the loss of a sentence."""
        scores: CrfScores = network.scores(vectors, inputs, length, key, dropout=self.dropout)[PHI]
        return scores.loss(targets[PHI], length)


@dataclass(frozen=True)
class AdversaryLoss:
    """l_adv: loss of the adversaries on a quadruple.

    Args:
        pairs: the pair scheme (`PrivateSettings.pairs`).
        together: combination of their losses (`PrivateSettings.losses`).
    """

    pairs: str
    together: str

    def __call__(
        self, network: Any, vectors: Arrays, *, inputs: Arrays, targets: Arrays, length: jax.Array, key: Any
    ) -> jax.Array:
        """Compute the loss of a quadruple."""
        shown = PairIndex.of(self.pairs)
        logits = pair_logits(network, vectors, inputs, length, key, shown)
        return jnp.mean(losses(logits, shown.sign, self.together))


@dataclass(frozen=True)
class TaggingAndAdversaryLoss:
    """Vector [l_deid, l_adv, ...] that `ConfusionObjective` reduces; with "each", one l_adv per adversary.

    A sentence without a pair has log 2 instead, the loss of a guess.

    Args:
        pairs: the pair scheme (`PrivateSettings.pairs`).
        together: combination of the adversaries' losses (`PrivateSettings.losses`).
        dropout: see `TaggingLoss`.
    """

    pairs: str
    together: str
    dropout: bool = True

    def __call__(
        self, network: Any, vectors: Arrays, *, inputs: Arrays, targets: Arrays, length: jax.Array, key: Any
    ) -> jax.Array:
        """Compute the losses of a sentence or a quadruple."""
        row = {"inputs": inputs, "targets": targets, "length": length, "key": key}
        if inputs["words"].ndim == 1:
            lost = TaggingLoss(self.dropout)(network, vectors, **row)
            return jnp.concatenate([lost[None], jnp.full(len(TASKS) if self.together == "each" else 1, LOG_2)])
        shown = PairIndex.of(self.pairs)
        lost, encoded, words = _tagging_of_pair(network, vectors, **row, dropout=self.dropout)
        apart = losses(network.adversaries(encoded, words, length, shown), shown.sign, self.together)
        return jnp.concatenate([lost[None], apart])


@dataclass(frozen=True)
class ConfusionObjective:
    """l_deid + lambda |l_adv - log 2|, equation 2, of mean losses; with two adversaries, the mean of both |...|.

    The absolute value is taken of means: of one sentence's loss, it would penalise noise, which makes that loss vary.

    Args:
        weight: lambda.
    """

    weight: float

    def __call__(self, means: jax.Array) -> jax.Array:
        """Reduce the mean losses, [parts]."""
        return means[0] + self.weight * jnp.mean(jnp.abs(means[1:] - LOG_2))


@dataclass(frozen=True)
class DannLoss:
    """l_deid + l_adv with the adversaries' gradient reversed on its way to the representation (Ganin et al. 2016).

    Args:
        pairs: the pair scheme (`PrivateSettings.pairs`).
        together: combination of the adversaries' losses (`PrivateSettings.losses`).
        weight: factor of the reversed gradient, lambda.
        dropout: see `TaggingLoss`.
    """

    pairs: str
    together: str
    weight: float
    dropout: bool = True

    def __call__(
        self, network: Any, vectors: Arrays, *, inputs: Arrays, targets: Arrays, length: jax.Array, key: Any
    ) -> jax.Array:
        """Compute the loss of a sentence or a quadruple."""
        row = {"inputs": inputs, "targets": targets, "length": length, "key": key}
        if inputs["words"].ndim == 1:
            return TaggingLoss(self.dropout)(network, vectors, **row)
        shown = PairIndex.of(self.pairs)
        lost, encoded, words = _tagging_of_pair(network, vectors, **row, dropout=self.dropout)
        logits = network.adversaries(reverse_gradient(encoded, self.weight), words, length, shown)
        return lost + jnp.mean(losses(logits, shown.sign, self.together))


def _tagging_of_pair(
    network: Any,
    vectors: Arrays,
    *,
    inputs: Arrays,
    targets: Arrays,
    length: jax.Array,
    key: Any,
    dropout: bool,
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """l_deid of a quadruple's sentence, the four representations, and its word vectors, [2, T, D]."""
    noise_key, tagger_key = split_key(key, 2)
    words = jnp.moveaxis(vectors["words"], 1, 0)
    encoded = network.encoded(words, inputs, noise_key)
    scores = network.tags(encoded[0], inputs["words"][:, 0], inputs, length, tagger_key if dropout else None)[PHI]
    return scores.loss(targets[PHI], length), encoded, words

"""Representation, tagger and adversaries as one network, and the losses of each part of training."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from flax import nnx

from crfdeid.documents import PHI
from rnn.layers import crf
from rnn.layers.lstm import dropout_rates
from rnn.layers.representation import Representation
from rnn.layers.reversal import reverse_gradient
from rnn.models.bilstm_crf import BilstmCrf
from rnn.network import Draw, Scores
from rnn.privacy.adversaries import ENCODINGS, LOG_2, TASKS, Adversaries, PairIndex, losses
from rnn.privacy.settings import PrivateSettings
from rnn.training.phases import Arrays, Loss
from rnn.vocab import PAD

NOISE = ("input noise", "output noise")
"""Names of the noise of a representation, which applies in training and in measurements."""

_TAGGER = "tagger "  # prefix of the names of its masks


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

    def draws(self, length: int) -> dict[str, Draw]:
        """Noise of four encodings, and the tagger's dropout masks."""
        sizes = [noise.s[...].shape[0] for noise in (self.representation.input_noise, self.representation.output_noise)]
        noise = {name: Draw("normal", (ENCODINGS, length, size)) for name, size in zip(NOISE, sizes, strict=True)}
        return noise | {_TAGGER + name: draw for name, draw in self.tagger.draws(length).items()}

    def scores(self, vectors: Arrays, inputs: Arrays, length: jax.Array, draws: Arrays) -> dict[str, Scores]:
        """Scores of a sentence by the tagger."""
        words = inputs["words"]
        real = words != PAD
        return self.tags(
            self.representation(vectors["words"], real, *(draws[name][0] for name in NOISE)),
            words,
            inputs,
            length,
            draws,
        )

    def tags(
        self, encoded: jax.Array, words: jax.Array, inputs: Arrays, length: jax.Array, draws: Arrays
    ) -> dict[str, Scores]:
        """Scores of a sentence by the tagger, from its representation [T, S]."""
        own = {name.removeprefix(_TAGGER): array for name, array in draws.items() if name.startswith(_TAGGER)}
        return self.tagger.scores({"words": encoded}, {**inputs, "words": words}, length, own)

    def encoded(self, vectors: jax.Array, inputs: Arrays, draws: Arrays) -> jax.Array:
        """Representations of a quadruple, [4, T, S]: x twice, then x' twice.

        Args:
            vectors: word vectors of x and x', [2, T, D].
            inputs: inputs of the row.
            draws: noise, see `draws`.
        """
        real = inputs["words"][:, 0] != PAD
        encode = jax.vmap(self.representation, in_axes=(0, None, 0, 0))
        found: jax.Array = encode(jnp.repeat(vectors, 2, axis=0), real, *(draws[name] for name in NOISE))
        return found


class AttackNetwork(nnx.Module):
    """Adversaries on representations that are inputs of the row: "encoded", [T, 4, S].

    Args:
        adversaries: both adversaries.
    """

    tables: ClassVar[Mapping[str, str]] = {"words": "words"}

    def __init__(self, adversaries: Adversaries) -> None:
        self.adversaries = adversaries

    def draws(self, length: int) -> dict[str, Draw]:
        """Return nothing: the inputs have noise already."""
        return {}

    def encoded(self, vectors: jax.Array, inputs: Arrays, draws: Arrays) -> jax.Array:
        """Representations from the inputs, [4, T, S]."""
        return jnp.moveaxis(inputs["encoded"], 1, 0)


def tagger_dropout(settings: PrivateSettings) -> dict[str, float]:
    """Dropout rates by the names of the masks of `PrivateNetwork`."""
    rates = dropout_rates(
        settings.layers,
        inputs=settings.input_dropout,
        variational=settings.variational_dropout,
        output=settings.output_dropout,
    )
    return {_TAGGER + name: rate for name, rate in rates.items()}


def pair_logits(
    network: Any, vectors: Arrays, inputs: Arrays, length: jax.Array, draws: Arrays, shown: PairIndex
) -> jax.Array:
    """Logits of the adversaries for the pairs of one quadruple, [P, 2]."""
    words = jnp.moveaxis(vectors["words"], 1, 0)  # [2, T, D]
    found: jax.Array = network.adversaries(network.encoded(words, inputs, draws), words, length, shown)
    return found


def tagging_loss(
    network: Any, vectors: Arrays, inputs: Arrays, targets: Arrays, length: jax.Array, draws: Arrays
) -> jax.Array:
    """l_deid: the negative log-likelihood of a sentence's tags under the CRF over its representation, in nats."""
    scores = network.scores(vectors, inputs, length, draws)[PHI]
    return crf.negative_log_likelihood(scores.emissions, scores.transitions, targets[PHI], length)


@cache  # one function for one setting: JAX compiles anew for another
def adversary_loss(pairs: str, together: str) -> Loss:
    """l_adv: loss of the adversaries on a quadruple.

    Args:
        pairs: the pair scheme (`PrivateSettings.pairs`).
        together: combination of their losses (`PrivateSettings.losses`).
    """
    shown = PairIndex.of(pairs)

    def loss(
        network: Any, vectors: Arrays, inputs: Arrays, targets: Arrays, length: jax.Array, draws: Arrays
    ) -> jax.Array:
        return jnp.mean(losses(pair_logits(network, vectors, inputs, length, draws, shown), shown.sign, together))

    return loss


@cache
def tagging_and_adversary_losses(pairs: str, together: str) -> Loss:
    """Vector [l_deid, l_adv, ...] that `confusion_objective` reduces; with "each", one l_adv per adversary.

    A sentence without a pair has log 2 instead, the loss of a guess.
    """
    shown = PairIndex.of(pairs)
    parts = len(TASKS) if together == "each" else 1

    def loss(
        network: Any, vectors: Arrays, inputs: Arrays, targets: Arrays, length: jax.Array, draws: Arrays
    ) -> jax.Array:
        if inputs["words"].ndim == 1:
            lost = tagging_loss(network, vectors, inputs, targets, length, draws)
            return jnp.concatenate([lost[None], jnp.full(parts, LOG_2)])
        lost, encoded, words = _tagging_of_pair(network, vectors, inputs, targets, length, draws)
        apart = losses(network.adversaries(encoded, words, length, shown), shown.sign, together)
        return jnp.concatenate([lost[None], apart])

    return loss


@cache
def confusion_objective(weight: float) -> Callable[[jax.Array], jax.Array]:
    """l_deid + lambda |l_adv - log 2|, equation 2, of mean losses; with two adversaries, the mean of both |...|.

    The absolute value is taken of means: of one sentence's loss, it would penalise noise, which makes that loss vary.
    """

    def whole(means: jax.Array) -> jax.Array:
        return means[0] + weight * jnp.mean(jnp.abs(means[1:] - LOG_2))

    return whole


@cache
def dann_loss(pairs: str, together: str, weight: float) -> Loss:
    """l_deid + l_adv with the adversaries' gradient reversed on its way to the representation (Ganin et al. 2016)."""
    shown = PairIndex.of(pairs)

    def loss(
        network: Any, vectors: Arrays, inputs: Arrays, targets: Arrays, length: jax.Array, draws: Arrays
    ) -> jax.Array:
        if inputs["words"].ndim == 1:
            return tagging_loss(network, vectors, inputs, targets, length, draws)
        lost, encoded, words = _tagging_of_pair(network, vectors, inputs, targets, length, draws)
        logits = network.adversaries(reverse_gradient(encoded, weight), words, length, shown)
        return lost + jnp.mean(losses(logits, shown.sign, together))

    return loss


def _tagging_of_pair(
    network: Any, vectors: Arrays, inputs: Arrays, targets: Arrays, length: jax.Array, draws: Arrays
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """l_deid of a quadruple's sentence, the four representations, and its word vectors, [2, T, D]."""
    words = jnp.moveaxis(vectors["words"], 1, 0)
    encoded = network.encoded(words, inputs, draws)
    scores = network.tags(encoded[0], inputs["words"][:, 0], inputs, length, draws)[PHI]
    lost = crf.negative_log_likelihood(scores.emissions, scores.transitions, targets[PHI], length)
    return lost, encoded, words

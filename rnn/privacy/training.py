"""Training of a private representation: in three parts (Feutry et al. 2018), or all at once (DANN, Ganin et al. 2016).

Friedrich et al. (2019), section 5.4:

    P1  representation and tagger are trained by l_deid
    P2  the adversaries are trained by l_adv on the frozen representation
    P3  in turn, an epoch each: (a) tagger and adversaries by their own losses, the representation frozen; (b) the
        representation by l_deid + lambda |l_adv - log 2| (equation 2), the others frozen

The loss on held-out sentences ends each part and selects its weights. Pairs are drawn anew for every epoch. In P3b,
sentences without PHI, which make no fake pair, count for l_deid alone. As its authors' code does, the profile of the
paper takes as many of them as others in the third part, and the mean of |l_adv - log 2| over pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

from crfdeid.documents import PHI, LabelledSentence
from crfdeid.errors import SettingError
from crfdeid.utils.process import keep_freed_memory
from rnn.batching import Row
from rnn.compile_cache import keep_compiled
from rnn.embeddings.vectors import WordVectors
from rnn.inputs import TokenProcessor
from rnn.interfaces import Arrays, Params
from rnn.layers.crf import CrfScores
from rnn.layers.dropout import split_key
from rnn.models.bilstm_crf import BilstmCrf, bilstm_sizes
from rnn.network import Structure
from rnn.privacy.adversaries import (
    LOG_2,
    TASKS,
    Adversaries,
    PairIndex,
    PairVocabulary,
    Replaceable,
    both,
    losses,
    pair_losses,
)
from rnn.privacy.representation import Representation, RepresentationModel, new_representation, reverse_gradient
from rnn.privacy.settings import PrivateSettings
from rnn.training.loop import start_training, train
from rnn.training.minibatches import optimiser, per_sentences
from rnn.training.schedules import BatchingSpec, EvalResult, Phase, Schedule, identity
from rnn.vocab import PAD
from rnn.words import tags_of

_COMPILING = 40_000  # padded tokens of quadruples that are trained on in the time of compiling one more length


class PrivateNetwork(nnx.Module):
    """Representation, with a tagger and adversaries that read it.

    A row is a sentence, "words" [T], or a quadruple, "words" [T, 2], of the sentence and its copy. The tagger reads the
    sentence of either.

    Args:
        dim: size of a word vector, D.
        tags: number of tags.
        settings: sizes of all parts.
        rngs: source of the initial weights.
    """

    tables: ClassVar[Mapping[str, str]] = {"words": "words"}

    def __init__(self, dim: int, tags: int, settings: PrivateSettings, rngs: nnx.Rngs) -> None:
        size = settings.size
        dropout = settings.output_dropout
        tokens = {"dim": size}
        self.tagger = BilstmCrf(tokens, bilstm_sizes(settings), tags=tags, output_dropout=dropout, rngs=rngs)  # first
        self.representation: Representation = new_representation(dim, settings, rngs)
        self.adversaries = Adversaries(dim=dim, size=size, hidden=settings.adversary, rngs=rngs)

    def scores(
        self, vectors: Arrays, inputs: Arrays, length: jax.Array, key: jax.Array | None = None, *, dropout: bool = True
    ) -> dict[str, CrfScores]:
        """Scores of a sentence by the tagger; see `rnn.interfaces.Network.scores`. Without dropout, noise alone."""
        noise_key, tagger_key = split_key(key, 2)
        encoded = self.encode(vectors["words"][None], inputs["words"] != PAD, noise_key)[0]
        return self.tagger.scores({"words": encoded}, inputs, length, tagger_key if dropout else None)

    def encoded(self, vectors: jax.Array, inputs: Arrays, key: jax.Array | None) -> jax.Array:
        """Representations of a quadruple, [4, T, S]: x twice, then x' twice.

        Args:
            vectors: word vectors of x and x', [2, T, D].
            inputs: inputs of the row.
            key: source of the noise; None for none.
        """
        return self.encode(jnp.repeat(vectors, 2, axis=0), inputs["words"][:, 0] != PAD, key)

    def encode(self, vectors: jax.Array, real: jax.Array, key: jax.Array | None) -> jax.Array:
        """Representations with independent noise, [E, T, S], of vectors [E, T, D]."""
        noises = (self.representation.input_noise, self.representation.output_noise)
        shapes = [(*vectors.shape[:2], noise.s[...].shape[0]) for noise in noises]
        normal = [
            jnp.zeros(shape) if one is None else jax.random.normal(one, shape)
            for one, shape in zip(split_key(key, 2), shapes, strict=True)
        ]
        found: jax.Array = jax.vmap(self.representation, in_axes=(0, None, 0, 0))(vectors, real, *normal)
        return found


TAGGING, ADVERSARIES, CONFUSION, REVERSED = "tagging", "adversaries", "confusion", "reversed"


@dataclass(frozen=True)
class PrivateLoss:
    """Loss of a row in nats. Hashable: JAX compiles once for equal ones.

    With l_deid, the negative log-likelihood of a sentence's tags under the CRF over its representation, or its mean
    over tokens, and l_adv, the loss of the adversaries on a quadruple, the kinds are

        "tagging"      l_deid
        "adversaries"  l_adv
        "confusion"    the vector [l_deid, l_adv, ...], with one l_adv per adversary if their losses are "each"; a
                       sentence without a pair has log 2 instead, the loss of a guess. With the distance "pair", the
                       mean over pairs of |l_adv - log 2| in the place of l_adv, and 0 without a pair
        "reversed"     l_deid + l_adv with the adversaries' gradient reversed on its way to the representation (DANN)

    Args:
        kind: the loss.
        pairs: the pair scheme (`PrivateSettings.pairs`).
        together: combination of the adversaries' losses (`PrivateSettings.losses`).
        tagging: scale of l_deid (`PrivateSettings.tagging_loss`).
        weight: factor of the reversed gradient, lambda.
        distance: of the confusion from a guess (`PrivateSettings.distance`).
        dropout: whether the tagger has dropout; False for held-out rows.
    """

    kind: str
    pairs: str
    together: str
    tagging: str = "sum"
    weight: float = 0.0
    distance: str = "mean"
    dropout: bool = True

    def __call__(
        self, network: Any, vectors: Arrays, *, inputs: Arrays, targets: Arrays, length: jax.Array, key: Any
    ) -> jax.Array:
        """Compute the loss of a sentence or a quadruple."""
        if inputs["words"].ndim == 1:
            scores: CrfScores = network.scores(vectors, inputs, length, key, dropout=self.dropout)[PHI]
            lost = self._scaled(scores.loss(targets[PHI], length), length)
            if self.kind != CONFUSION:
                return lost
            guess = 0.0 if self.distance == "pair" else LOG_2
            return jnp.concatenate([lost[None], jnp.full(len(TASKS) if self.together == "each" else 1, guess)])
        shown, words = PairIndex.of(self.pairs), jnp.moveaxis(vectors["words"], 1, 0)  # [2, T, D]
        if self.kind == ADVERSARIES:
            logits = network.adversaries(network.encoded(words, inputs, key), words, length, shown)
            return jnp.mean(losses(logits, shown.sign, self.together))
        noise_key, tagger_key = split_key(key, 2)
        encoded = network.encoded(words, inputs, noise_key)
        sentence = {**inputs, "words": inputs["words"][:, 0]}
        key = tagger_key if self.dropout else None
        scores = network.tagger.scores({"words": encoded[0]}, sentence, length, key)[PHI]
        lost = self._scaled(scores.loss(targets[PHI], length), length)
        read = reverse_gradient(encoded, self.weight) if self.kind == REVERSED else encoded
        of_pairs = pair_losses(network.adversaries(read, words, length, shown), shown.sign, self.together)
        if self.kind == REVERSED:
            return lost + jnp.mean(of_pairs)
        if self.distance == "pair":
            of_pairs = jnp.abs(of_pairs - LOG_2)
        return jnp.concatenate([lost[None], jnp.mean(of_pairs, axis=0)])

    def _scaled(self, lost: jax.Array, length: jax.Array) -> jax.Array:
        """The tagger's loss of a sentence, or its mean over tokens; a row of padding has length 0."""
        return lost / jnp.maximum(length, 1) if self.tagging == "mean" else lost


@dataclass(frozen=True)
class ConfusionObjective:
    """l_deid + lambda |l_adv - log 2|, equation 2, of mean losses; with two adversaries, the mean of both |...|.

    With the distance "mean", the absolute value is taken of means: of one pair's loss, it would penalise noise, which
    makes that loss vary. With "pair", the means are of such values (`PrivateLoss`).

    Args:
        weight: lambda.
        distance: `PrivateSettings.distance`.
    """

    weight: float
    distance: str = "mean"

    def __call__(self, means: jax.Array) -> jax.Array:
        """Reduce the mean losses, [parts]."""
        apart = means[1:] if self.distance == "pair" else jnp.abs(means[1:] - LOG_2)
        return means[0] + self.weight * jnp.mean(apart)


class Rows(NamedTuple):
    """Rows of some sentences and of their quadruples.

    Attributes:
        plain: one row a sentence.
        replaceable: the sentences that make quadruples.
        drawn: fixed quadruples; empty to draw them anew each time.
    """

    plain: Sequence[Row]
    replaceable: Replaceable
    drawn: Sequence[Row] = ()

    def quadruples(self, random: np.random.Generator) -> Sequence[Row]:
        """Draw a quadruple of each replaceable sentence."""
        return self.drawn or [
            row._replace(inputs={**row.inputs, "words": both(row.inputs["words"], drawn)})
            for drawn in self.replaceable.draw(random)
            for row in [self.plain[self.replaceable.numbers[drawn.sentence]]]
        ]

    def of(self, kind: str, random: np.random.Generator, *, balanced: bool = False) -> Sequence[Row]:
        """Rows for a loss: sentences for "tagging", quadruples for "adversaries", else quadruples and the others.

        Args:
            kind: the loss.
            random: draws quadruples, and balanced sentences.
            balanced: leave rows out, such that there are as many with a replaceable token as without.
        """
        if kind == TAGGING and not balanced:
            return self.plain  # the same object, which is batched once
        numbers = set(self.replaceable.numbers)
        phi = [self.plain[number] for number in sorted(numbers)] if kind == TAGGING else self.quadruples(random)
        if kind == ADVERSARIES:
            return phi
        others = [row for number, row in enumerate(self.plain) if number not in numbers]
        if balanced and others:
            count = min(len(phi), len(others))
            phi, others = ([rows[i] for i in random.permutation(len(rows))[:count]] for rows in (phi, others))
        return [*phi, *others]


PHASES: dict[str, tuple[str, tuple[str, ...]]] = {
    "P1": (TAGGING, ("representation", "tagger")),
    "P2": (ADVERSARIES, ("adversaries",)),
    "P3a tagger": (TAGGING, ("tagger",)),
    "P3a adversaries": (ADVERSARIES, ("adversaries",)),
    "P3b": (CONFUSION, ("representation",)),
    "DANN": (REVERSED, ("representation", "tagger", "adversaries")),
}
"""Loss of each phase, and the parts that it trains; all others, and the word vectors, stay bit for bit."""

THIRD_PART = ("P3a tagger", "P3a adversaries", "P3b")


def phases(
    names: Sequence[str],
    train: Rows,
    held_out: Rows,
    settings: PrivateSettings,
    random: np.random.Generator,
    *,
    most: int,
    patience: int,
) -> Schedule:
    """Repeat some phases until the held-out loss of the last one has not fallen for ``patience`` turns.

    Args:
        names: phases of a turn, keys of `PHASES`.
        train: training sentences; quadruples are drawn anew for each phase.
        held_out: held-out sentences, with fixed quadruples.
        settings: settings of the representation.
        random: draws quadruples.
        most: largest number of turns.
        patience: turns without a lower loss before training ends.
    """
    balanced = settings.balanced and tuple(names) == THIRD_PART
    judged = {kind: held_out.of(kind, random, balanced=balanced) for kind, _ in map(PHASES.__getitem__, names)}
    lowest, since = np.inf, 0
    for _ in range(most):
        measured = EvalResult(None, None)
        for name in names:
            kind, parts = PHASES[name]
            how = (settings.pairs, settings.losses, settings.tagging_loss, settings.weight, settings.distance)
            loss = PrivateLoss(kind, *how)
            measured = yield Phase(
                name,
                train.of(kind, random, balanced=balanced),
                updates(settings, most),
                settings.lr,
                loss=loss,
                reduce=ConfusionObjective(settings.weight, settings.distance) if kind == CONFUSION else identity,
                max_norm=settings.max_norm,
                trains=_within(parts),
                held_out=judged[kind],
                held_out_loss=replace(loss, dropout=False),
            )
        if measured.loss is None:
            raise ValueError("a phase without a held-out loss: give held-out sentences")
        lowest, since = (measured.loss, 0) if measured.loss < lowest else (lowest, since + 1)
        if since >= patience:
            return


def _within(parts: Sequence[str]) -> Callable[[str], bool]:
    prefixes = tuple(f"network.{part}." for part in parts)
    return lambda parameter: parameter.startswith(prefixes)


def updates(settings: PrivateSettings, epochs: int) -> BatchingSpec:
    """Division of rows into updates, the same for all phases.

    Args:
        settings: settings of the representation.
        epochs: epochs that use the compiled programs; the more, the more padded lengths are worth compiling.
    """
    nadam = optimiser(noise_rate_nadam, faster=settings.noise_lr / settings.lr)
    return per_sentences(settings.batch, nadam)._replace(bucket_cost=_COMPILING // epochs)


def noise_rate_nadam(learning_rate: float, *, faster: float) -> optax.GradientTransformation:
    """Nadam with ``faster`` times the learning rate for the deviations of the noise."""
    steps = {"noise": optax.nadam(learning_rate * faster), "others": optax.nadam(learning_rate)}
    return optax.multi_transform(
        steps, lambda parameters: {name: "noise" if "_noise." in name else "others" for name in parameters}
    )


class Epoch(NamedTuple):
    """One epoch of training.

    Attributes:
        phase: name of the phase.
        loss: mean training loss a row, in nats; the tagger's part is scaled by `PrivateSettings.tagging_loss`.
        held_out: loss on held-out sentences afterwards, with noise.
        input_deviation: mean standard deviation of the noise of the inputs; that of word vectors is 1.
        output_deviation: mean standard deviation of the noise of the outputs, which are between -1 and 1.
    """

    phase: str
    loss: float
    held_out: float
    input_deviation: float
    output_deviation: float


@dataclass(frozen=True, eq=False)
class TrainedRepresentation:
    """Result of training.

    Args:
        model: the representation.
        pretrained: the representation after P1, before adversarial training; None for DANN.
        adversaries: parameters of the adversaries.
        history: every epoch.
    """

    model: RepresentationModel
    pretrained: RepresentationModel | None
    adversaries: Params
    history: tuple[Epoch, ...]


def train_representation(
    train_sentences: Sequence[LabelledSentence],
    held_out: Sequence[LabelledSentence],
    vectors: WordVectors,
    settings: PrivateSettings,
    *,
    seed: int,
    on_progress: Callable[[Epoch], None] = lambda epoch: None,
) -> TrainedRepresentation:
    """Train a private representation with its tagger and adversaries. The result is deterministic.

    Args:
        train_sentences: training sentences.
        held_out: sentences of other documents, which end parts and select weights.
        vectors: the word vectors, which must be public; they are not trained.
        settings: settings of the representation.
        seed: seed of all random numbers.
        on_progress: called after each epoch.

    Raises:
        EmptyInputError: there is no PHI token that could be replaced.
        SettingError: training diverged.
    """
    keep_compiled()
    keep_freed_memory()
    every = [*train_sentences, *held_out]
    words, tags = PairVocabulary.of(every, vectors, settings.neighbours), tags_of(every)
    processor = TokenProcessor(words.vocabulary, {PHI: tags}, casing=True)
    pairs_seed, *seeds = np.random.SeedSequence(seed).generate_state(4).tolist()
    random = np.random.default_rng(pairs_seed)
    rows, judged = (
        Rows(processor.rows([item.sentence for item in some], some), Replaceable.of(some, words))
        for some in (train_sentences, held_out)
    )
    judged = judged._replace(drawn=judged.quadruples(random))
    structure, params = Structure.split(PrivateNetwork(vectors.dim, len(tags), settings, nnx.Rngs(seed)))
    params["tables.words"] = jnp.asarray(words.table)
    history: list[Epoch] = []

    def record(phase: Phase, loss: float, held: EvalResult, params: Params) -> None:
        noises = [params[f"network.representation.{side}_noise.s"] for side in ("input", "output")]
        deviations = [float(jax.nn.softplus(noise).mean()) for noise in noises]
        history.append(Epoch(phase.name, loss, np.nan if held.loss is None else held.loss, *deviations))
        on_progress(history[-1])

    def learn(params: Params, *names: str, most: int, patience: int, lowest: str | None) -> Params:
        schedule = phases(names, rows, judged, settings, random, most=most, patience=patience)
        epochs, seed = most * len(names), seeds.pop(0)
        return train(start_training(structure, params, schedule, seed=seed, epochs=epochs, lowest=lowest, watch=record))

    def model(params: Params) -> RepresentationModel:
        prefix = "network.representation."
        found = {name.removeprefix(prefix): np.array(a) for name, a in params.items() if name.startswith(prefix)}
        if not all(np.isfinite(array).all() for array in found.values()):
            raise SettingError("training diverged: train the representation with a lower learning rate")
        return RepresentationModel(settings, seed, vectors, found)

    pretrained, patience = None, settings.patience
    if settings.procedure == "dann":  # its loss falls with the adversaries', so it does not measure privacy
        params = learn(params, "DANN", most=settings.epochs, patience=settings.epochs, lowest=None)
    else:
        params = learn(params, "P1", most=settings.epochs, patience=patience, lowest="P1")
        pretrained = model(params)
        params = learn(params, "P2", most=settings.adversary_epochs, patience=patience, lowest="P2")
        params = learn(params, *THIRD_PART, most=settings.rounds, patience=patience, lowest="P3b")
    adversaries = {name: np.array(a) for name, a in params.items() if name.startswith("network.adversaries.")}
    return TrainedRepresentation(model(params), pretrained, adversaries, tuple(history))

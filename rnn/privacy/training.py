"""Training a private representation: in three parts (Feutry et al. 2018), or all at once (DANN, Ganin et al. 2016).

Friedrich et al. (2019), section 5.4:

    P1  representation and tagger are trained by l_deid
    P2  the adversaries are trained by l_adv on the frozen representation
    P3  in turn, an epoch each: (a) tagger and adversaries by their own losses, the representation frozen; (b) the
        representation by l_deid + lambda |l_adv - log 2| (equation 2), the others frozen

What moves a part on, and which of its weights are kept, is always the loss on held-out sentences. Pairs are drawn anew
for every epoch. In P3b the sentences without PHI, which make no fake pair, count for l_deid alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from crfdeid.documents import PHI, LabelledSentence
from crfdeid.errors import SettingError
from crfdeid.utils.process import keep_freed_memory
from features.tokens import Sentence
from rnn.batching import batches
from rnn.compile_cache import keep_compiled
from rnn.decode import iob_constraints
from rnn.embeddings.vectors import WordVectors
from rnn.inference import best_tags
from rnn.models.bilstm_crf import BilstmCrf
from rnn.network import Weights
from rnn.privacy.adversaries import Adversaries
from rnn.privacy.network import PrivateNetwork
from rnn.privacy.pairs import Words
from rnn.privacy.representation import RepresentationModel, new_representation, parameters
from rnn.privacy.schedule import P1, P2, P3B, Phases, Quadruples
from rnn.privacy.settings import PrivateSettings
from rnn.processors.words import WordCodec, tags_of
from rnn.training.loop import train
from rnn.training.phases import HeldOut, Phase, Schedule
from rnn.vocab import FIRST_WORD, Vocabulary


class Epoch(NamedTuple):
    """One epoch of training.

    Attributes:
        phase: which.
        loss: the phase's mean loss a sentence, in nats, while it was trained.
        held_out: that on held-out sentences after it, with noise.
        input_deviation: the mean standard deviation of the noise of the inputs; the word vectors' own is 1.
        output_deviation: that of the outputs, which lie between -1 and 1 without it.
    """

    phase: str
    loss: float
    held_out: float
    input_deviation: float
    output_deviation: float


@dataclass(frozen=True, eq=False)
class TrainedRepresentation:
    """What training gives.

    Args:
        model: the representation.
        pretrained: the representation after P1, before any adversary; None where there was no P1.
        graph: the structure of the whole network.
        network: the parameters of the whole network.
        tags: those that the tagger can give.
        history: every epoch.
    """

    model: RepresentationModel
    pretrained: RepresentationModel | None
    graph: nnx.GraphDef[Any]
    network: Any
    tags: tuple[str, ...]
    history: tuple[Epoch, ...]

    @property
    def adversaries(self) -> Any:
        """The parameters of the adversaries that it grew up with."""
        return self.network["adversaries"]

    def predict(self, sentences: Sequence[Sentence]) -> list[list[str]]:
        """One tag a token from the tagger it grew up with, the noise off: the best path that is valid IOB2."""
        known = sorted({word for sentence in sentences for word in sentence.words})
        codec = WordCodec(Vocabulary(tuple(known), fold_digits=False), {PHI: self.tags}, casing=True)
        table = np.concatenate([np.zeros((FIRST_WORD, self.model.vectors.dim), np.float32), self.model.lookup(known)])
        weights = jax.tree.map(lambda array: jnp.asarray(array)[None], Weights({"words": table}, self.network))
        begins, names = iob_constraints(self.tags, "valid"), np.array(self.tags, object)
        rows = codec.rows(sentences)
        found: list[list[str]] = [[] for _ in rows]
        for members, batch in batches(rows):
            ids = np.asarray(best_tags(self.graph, weights, batch, begins=begins, layer=PHI))[0]
            for i, row in zip(members, ids, strict=False):
                found[i] = names[row[: rows[i].length]].tolist()
        return found


def train_representation(
    train: Sequence[LabelledSentence],
    held_out: Sequence[LabelledSentence],
    vectors: WordVectors,
    settings: PrivateSettings,
    *,
    seed: int,
    on_progress: Callable[[Epoch], None] | None = None,
) -> TrainedRepresentation:
    """Train a private representation, with the tagger and the adversaries that it takes.

    The same inputs give the same weights.

    Args:
        train: what is learned from.
        held_out: sentences of other documents, by which parts end and weights are chosen.
        vectors: the word vectors, which must be public; they are not trained.
        settings: how.
        seed: of the initial weights, the pairs, the noise and all else that is drawn.
        on_progress: is told of each epoch.

    Raises:
        DataError: either has no PHI token that could be replaced.
        UsageError: what was learned is no number any more.
    """
    keep_compiled()
    keep_freed_memory()
    words = Words.of([*train, *held_out], vectors, settings.neighbours)
    tags = tags_of([*train, *held_out])
    codec = WordCodec(words.vocabulary, {PHI: tags}, casing=True)
    pairs, *seeds = np.random.SeedSequence(seed).generate_state(4).tolist()
    random = np.random.default_rng(pairs)
    phases = Phases(
        settings,
        Quadruples.of(train, words, codec),
        Quadruples.of(held_out, words, codec).fixed(random),
        random,
    )
    graph, state = nnx.split(new_network(vectors.dim, len(tags), settings, nnx.Rngs(seed)))
    weights = jax.tree.map(lambda array: jnp.asarray(array)[None], Weights({"words": words.table}, state))
    return _Training(settings, seed, vectors, tags, phases, graph, weights, seeds, on_progress).run()


@dataclass
class _Training:
    """What training goes through."""

    settings: PrivateSettings
    seed: int
    vectors: WordVectors
    tags: tuple[str, ...]
    phases: Phases
    graph: nnx.GraphDef[Any]
    weights: Weights
    seeds: list[int]
    on_progress: Callable[[Epoch], None] | None
    history: list[Epoch] = field(default_factory=list)

    def run(self) -> TrainedRepresentation:
        settings, phases, pretrained = self.settings, self.phases, None
        if settings.procedure == "dann":
            self._learn(phases.conjoint(), settings.epochs, None)
        else:
            self._learn(phases.pretraining(), settings.epochs, P1)
            pretrained = self._model()
            self._learn(phases.adversary(), settings.adversary_epochs, P2)
            self._learn(phases.alternating(), 3 * settings.rounds, P3B)
        network = jax.tree.map(lambda array: np.array(array[0]), self.weights.network)
        return TrainedRepresentation(self._model(), pretrained, self.graph, network, self.tags, tuple(self.history))

    def _learn(self, schedule: Schedule, epochs: int, lowest: str | None) -> None:
        self.weights = train(
            self.graph,
            self.weights,
            [schedule],
            seeds=[self.seeds.pop(0)],
            epochs=epochs,
            lowest=lowest,
            watch=self._note,
        )

    def _note(self, phases: Sequence[Phase], losses: np.ndarray, told: Sequence[HeldOut], weights: Weights) -> None:
        representation = weights.network["representation"]
        deviations = [
            float(jax.nn.softplus(representation[f"{place}_noise"]["s"][...]).mean()) for place in ("input", "output")
        ]
        held_out = told[0].loss
        epoch = Epoch(phases[0].name, float(losses[0]), np.nan if held_out is None else held_out, *deviations)
        self.history.append(epoch)
        if self.on_progress is not None:
            self.on_progress(epoch)

    def _model(self) -> RepresentationModel:
        found = parameters(jax.tree.map(lambda array: array[0], self.weights.network["representation"]))
        if not all(np.isfinite(array).all() for array in found.values()):
            raise SettingError("the representation is no number any more: train it with a lower learning rate")
        return RepresentationModel(self.settings, self.seed, self.vectors, found)


def new_network(dim: int, tags: int, settings: PrivateSettings, rngs: nnx.Rngs) -> PrivateNetwork:
    """A network for word vectors of a size and a number of tags."""
    tagger = BilstmCrf(dim=settings.size, hidden=settings.hidden, layers=settings.layers, tags=tags, rngs=rngs)
    return PrivateNetwork(
        representation=new_representation(dim, settings, rngs),
        tagger=tagger,
        adversaries=Adversaries(dim=dim, size=settings.size, hidden=settings.adversary, rngs=rngs),
    )

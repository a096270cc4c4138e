"""Training of a private representation: in three parts (Feutry et al. 2018), or all at once (DANN, Ganin et al. 2016).

Friedrich et al. (2019), section 5.4:

    P1  representation and tagger are trained by l_deid
    P2  the adversaries are trained by l_adv on the frozen representation
    P3  in turn, an epoch each: (a) tagger and adversaries by their own losses, the representation frozen; (b) the
        representation by l_deid + lambda |l_adv - log 2| (equation 2), the others frozen

The loss on held-out sentences ends each part and selects its weights. Pairs are drawn anew for every epoch. In P3b,
sentences without PHI, which make no fake pair, count for l_deid alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

from crfdeid.documents import PHI, LabelledSentence
from crfdeid.errors import SettingError
from crfdeid.utils.process import keep_freed_memory
from features.tokens import Sentence
from rnn.batching import Row, batches
from rnn.compile_cache import keep_compiled
from rnn.decode import best_tags, iob_constraints
from rnn.embeddings.vectors import WordVectors
from rnn.models.bilstm_crf import BilstmCrf, bilstm_sizes
from rnn.network import Params, Structure
from rnn.privacy.adversaries import Adversaries, PairVocabulary, Replaceable, both
from rnn.privacy.network import (
    AdversaryLoss,
    ConfusionObjective,
    DannLoss,
    PrivateNetwork,
    TaggingAndAdversaryLoss,
    TaggingLoss,
)
from rnn.privacy.representation import RepresentationModel, new_representation
from rnn.privacy.settings import PrivateSettings
from rnn.training.loop import start_training, train
from rnn.training.schedules import HeldOut, Phase, Schedule, Updates, optimiser, per_sentences
from rnn.vocab import FIRST_WORD, Vocabulary
from rnn.words import WordProcessor, tags_of

PrivateLoss = TaggingLoss | AdversaryLoss | TaggingAndAdversaryLoss | DannLoss

P1, P2, P3A_TAGGER, P3A_ADVERSARIES, P3B, DANN = "P1", "P2", "P3a tagger", "P3a adversaries", "P3b", "DANN"
TRAINED_PARTS = {
    P1: ("representation", "tagger"),
    P2: ("adversaries",),
    P3A_TAGGER: ("tagger",),
    P3A_ADVERSARIES: ("adversaries",),
    P3B: ("representation",),
    DANN: ("representation", "tagger", "adversaries"),
}
"""Parts of the network that a phase trains; all others, and the word vectors, stay bit for bit."""

_COMPILING = 40_000  # padded tokens of quadruples that are trained on in the time of compiling one more length


@dataclass(frozen=True, eq=False)
class Quadruples:
    """Rows of sentences and of their quadruples.

    Args:
        plain: one row a sentence.
        replaceable: the sentences that make quadruples.
        drawn: fixed quadruples of these; empty to draw them anew.
    """

    plain: Sequence[Row]
    replaceable: Replaceable
    drawn: Sequence[Row] = ()

    @classmethod
    def of(cls, sentences: Sequence[LabelledSentence], words: PairVocabulary, processor: WordProcessor) -> Self:
        """Make the rows of tagged sentences.

        Raises:
            EmptyInputError: no sentence makes a quadruple.
        """
        rows = processor.rows([item.sentence for item in sentences], sentences)
        return cls(rows, Replaceable.of(sentences, words))

    def pairs(self, random: np.random.Generator) -> Sequence[Row]:
        """Draw a quadruple of each replaceable sentence."""
        return self.drawn or [
            row._replace(inputs={**row.inputs, "words": both(row.inputs["words"], drawn)})
            for drawn in self.replaceable.draw(random)
            for row in [self.plain[self.replaceable.numbers[drawn.sentence]]]
        ]

    def all(self, random: np.random.Generator) -> Sequence[Row]:
        """Rows of all sentences: quadruples of replaceable ones, plain rows of others."""
        numbers = set(self.replaceable.numbers)
        return [*self.pairs(random), *(row for number, row in enumerate(self.plain) if number not in numbers)]

    def fixed(self, random: np.random.Generator) -> Self:
        """Draw quadruples once and for all."""
        return replace(self, drawn=self.pairs(random))


@dataclass(frozen=True, eq=False)
class Phases:
    """Phases of training.

    Args:
        settings: settings of the representation.
        train: training sentences; pairs are drawn anew for each phase.
        held_out: held-out sentences with fixed pairs.
        random: draws pairs.
    """

    settings: PrivateSettings
    train: Quadruples
    held_out: Quadruples
    random: np.random.Generator

    def pretraining(self) -> Schedule:
        """P1, until the tagger's held-out loss stops falling."""
        epochs = self.settings.epochs
        return until_no_lower(lambda: [self._tagging(P1, epochs)], epochs, self.settings.patience)

    def adversary(self) -> Schedule:
        """P2, until the adversaries' held-out loss stops falling."""
        epochs = self.settings.adversary_epochs
        return until_no_lower(lambda: [self._pairs(P2, epochs)], epochs, self.settings.patience)

    def alternating(self) -> Schedule:
        """P3, until the combined held-out loss of P3b stops falling."""
        rounds = self.settings.rounds

        def turn() -> Iterable[Phase]:
            yield self._tagging(P3A_TAGGER, rounds)
            yield self._pairs(P3A_ADVERSARIES, rounds)
            loss = TaggingAndAdversaryLoss(self.settings.pairs, self.settings.losses)
            yield self._all(P3B, loss, rounds)._replace(reduce=ConfusionObjective(self.settings.weight))

        return until_no_lower(turn, rounds, self.settings.patience)

    def conjoint(self) -> Schedule:
        """DANN for all epochs: its loss falls with the adversaries', so it does not measure privacy."""
        settings, epochs = self.settings, self.settings.epochs
        loss = DannLoss(settings.pairs, settings.losses, settings.weight)
        return until_no_lower(lambda: [self._all(DANN, loss, epochs)], epochs, epochs)

    def _tagging(self, name: str, epochs: int) -> Phase:
        return self._phase(name, self.train.plain, self.held_out.plain, TaggingLoss(), epochs)

    def _pairs(self, name: str, epochs: int) -> Phase:
        loss = AdversaryLoss(self.settings.pairs, self.settings.losses)
        return self._phase(name, self.train.pairs(self.random), self.held_out.pairs(self.random), loss, epochs)

    def _all(self, name: str, loss: PrivateLoss, epochs: int) -> Phase:
        return self._phase(name, self.train.all(self.random), self.held_out.all(self.random), loss, epochs)

    def _phase(self, name: str, rows: Sequence[Row], held_out: Sequence[Row], loss: PrivateLoss, epochs: int) -> Phase:
        settings = self.settings
        places = tuple(f"network.{part}." for part in TRAINED_PARTS[name])
        return Phase(
            name,
            rows,
            updates(settings, epochs),
            settings.lr,
            loss=loss,
            max_norm=settings.max_norm,
            trains=lambda parameter: parameter.startswith(places),
            held_out=held_out,
            held_out_loss=loss if isinstance(loss, AdversaryLoss) else replace(loss, dropout=False),
        )


def until_no_lower(turn: Callable[[], Iterable[Phase]], most: int, patience: int) -> Schedule:
    """Repeat turns of phases, until the held-out loss of a turn's last phase has not fallen for ``patience`` turns.

    Args:
        turn: yields the phases of a turn, one or more.
        most: largest number of turns.
        patience: turns without a lower loss before training ends.
    """
    lowest, since = np.inf, 0
    for _ in range(most):
        loss = None
        for phase in turn():
            loss = (yield phase).loss
        if loss is None:
            raise ValueError("a turn without a held-out loss: give its last phase held-out rows")
        lowest, since = (loss, 0) if loss < lowest else (lowest, since + 1)
        if since >= patience:
            return


def updates(settings: PrivateSettings, epochs: int) -> Updates:
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
    return optax.multi_transform(steps, _noise_or_other)


def _noise_or_other(parameters: Mapping[str, Any]) -> dict[str, str]:
    return {name: "noise" if "_noise." in name else "others" for name in parameters}


class Epoch(NamedTuple):
    """One epoch of training.

    Attributes:
        phase: name of the phase.
        loss: mean training loss a sentence, in nats.
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
        structure: structure of the whole network.
        params: parameters of the whole network.
        tags: tags of the tagger.
        history: every epoch.
    """

    model: RepresentationModel
    pretrained: RepresentationModel | None
    structure: Structure
    params: Params
    tags: tuple[str, ...]
    history: tuple[Epoch, ...]

    @property
    def adversaries(self) -> Params:
        """Parameters of the adversaries."""
        return {name: array for name, array in self.params.items() if name.startswith("network.adversaries.")}

    def predict(self, sentences: Sequence[Sentence]) -> list[list[str]]:
        """Tag sentences by the network's tagger without noise, by the best valid IOB2 path."""
        known = sorted({word for sentence in sentences for word in sentence.words})
        processor = WordProcessor(Vocabulary(tuple(known), fold_digits=False), {PHI: self.tags}, casing=True)
        table = np.concatenate([np.zeros((FIRST_WORD, self.model.vectors.dim), np.float32), self.model.lookup(known)])
        params = {**self.params, "tables.words": table}
        begins, names = {PHI: iob_constraints(self.tags, "valid")}, np.array(self.tags, object)
        rows = processor.rows(sentences)
        found: list[list[str]] = [[] for _ in rows]
        for members, batch in batches(rows):
            ids = np.asarray(best_tags(self.structure, params, batch, begins=begins)[PHI])
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
    """Train a private representation with its tagger and adversaries. The result is deterministic.

    Args:
        train: training sentences.
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
    words = PairVocabulary.of([*train, *held_out], vectors, settings.neighbours)
    tags = tags_of([*train, *held_out])
    processor = WordProcessor(words.vocabulary, {PHI: tags}, casing=True)
    pairs, *seeds = np.random.SeedSequence(seed).generate_state(4).tolist()
    random = np.random.default_rng(pairs)
    phases = Phases(
        settings,
        Quadruples.of(train, words, processor),
        Quadruples.of(held_out, words, processor).fixed(random),
        random,
    )
    structure, params = Structure.split(new_network(vectors.dim, len(tags), settings, nnx.Rngs(seed)))
    params["tables.words"] = jnp.asarray(words.table)
    return _Training(settings, seed, vectors, tags, phases, structure, params, seeds, on_progress).run()


@dataclass
class _Training:
    """State of training."""

    settings: PrivateSettings
    seed: int
    vectors: WordVectors
    tags: tuple[str, ...]
    phases: Phases
    structure: Structure
    params: Params
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
        params = {name: np.array(array) for name, array in self.params.items() if name.startswith("network.")}
        return TrainedRepresentation(self._model(), pretrained, self.structure, params, self.tags, tuple(self.history))

    def _learn(self, schedule: Schedule, epochs: int, lowest: str | None) -> None:
        training = start_training(
            self.structure,
            self.params,
            schedule,
            seed=self.seeds.pop(0),
            epochs=epochs,
            lowest=lowest,
            watch=self._record,
        )
        self.params = train(training)

    def _record(self, phase: Phase, loss: float, held: HeldOut, params: Params) -> None:
        deviations = [
            float(jax.nn.softplus(params[f"network.representation.{place}_noise.s"]).mean())
            for place in ("input", "output")
        ]
        epoch = Epoch(phase.name, loss, np.nan if held.loss is None else held.loss, *deviations)
        self.history.append(epoch)
        if self.on_progress is not None:
            self.on_progress(epoch)

    def _model(self) -> RepresentationModel:
        prefix = "network.representation."
        found = {name.removeprefix(prefix): np.array(a) for name, a in self.params.items() if name.startswith(prefix)}
        if not all(np.isfinite(array).all() for array in found.values()):
            raise SettingError("training diverged: train the representation with a lower learning rate")
        return RepresentationModel(self.settings, self.seed, self.vectors, found)


def new_network(dim: int, tags: int, settings: PrivateSettings, rngs: nnx.Rngs) -> PrivateNetwork:
    """Create the network for word vectors of size ``dim`` and a number of tags."""
    tagger = BilstmCrf(dim=settings.size, tags=tags, **bilstm_sizes(settings), rngs=rngs)
    return PrivateNetwork(
        representation=new_representation(dim, settings, rngs),
        tagger=tagger,
        adversaries=Adversaries(dim=dim, size=settings.size, hidden=settings.adversary, rngs=rngs),
    )

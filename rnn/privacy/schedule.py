"""The phases of training a private representation: what each trains, on which rows, and when a part ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Self

import numpy as np
import optax

from crfdeid.documents import LabelledSentence
from rnn.batching import Row
from rnn.privacy.network import (
    NOISE,
    adversary_loss,
    beside_telling_apart,
    confusion_objective,
    dann_loss,
    tagger_dropout,
    tagging,
)
from rnn.privacy.pairs import Replaceable, Words, both
from rnn.privacy.settings import PrivateSettings
from rnn.processors.words import WordCodec
from rnn.training.phases import Loss, Phase, Schedule, Updates, per_sentences

P1, P2, P3A_TAGGER, P3A_ADVERSARIES, P3B, DANN = "P1", "P2", "P3a tagger", "P3a adversaries", "P3b", "DANN"
PARTS = {
    P1: ("representation", "tagger"),
    P2: ("adversaries",),
    P3A_TAGGER: ("tagger",),
    P3A_ADVERSARIES: ("adversaries",),
    P3B: ("representation",),
    DANN: ("representation", "tagger", "adversaries"),
}
"""Which parts of the network a phase trains, by its name; all others stay, bit for bit, as the word vectors do."""

_COMPILING = 40_000  # padded tokens of quadruples that are trained on while a program for one more length is compiled


@dataclass(frozen=True, eq=False)
class Quadruples:
    """The rows of some sentences, and those of their quadruples.

    Args:
        plain: a row for each sentence.
        replaceable: the sentences that make quadruples.
        drawn: a quadruple for each of these, where they are always the same.
    """

    plain: Sequence[Row]
    replaceable: Replaceable
    drawn: Sequence[Row] = ()

    @classmethod
    def of(cls, sentences: Sequence[LabelledSentence], words: Words, codec: WordCodec) -> Self:
        """Those of tagged sentences.

        Raises:
            DataError: none makes a quadruple.
        """
        rows = codec.rows([item.sentence for item in sentences], sentences)
        return cls(rows, Replaceable.of(sentences, words))

    def pairs(self, random: np.random.Generator) -> Sequence[Row]:
        """A quadruple of each sentence that makes one."""
        return self.drawn or [
            row._replace(inputs={**row.inputs, "words": both(row.inputs["words"], drawn)})
            for drawn in self.replaceable.draw(random)
            for row in [self.plain[self.replaceable.numbers[drawn.sentence]]]
        ]

    def all(self, random: np.random.Generator) -> Sequence[Row]:
        """The rows of all sentences, with a quadruple in those that make one."""
        numbers = set(self.replaceable.numbers)
        return [*self.pairs(random), *(row for number, row in enumerate(self.plain) if number not in numbers)]

    def fixed(self, random: np.random.Generator) -> Self:
        """The same with quadruples that are drawn once, now."""
        return replace(self, drawn=self.pairs(random))


@dataclass(frozen=True, eq=False)
class Phases:
    """The phases of training.

    Args:
        settings: how.
        train: what is learned from; its pairs are drawn anew for each phase.
        held_out: what decides; its pairs stay the same.
        random: draws pairs.
    """

    settings: PrivateSettings
    train: Quadruples
    held_out: Quadruples
    random: np.random.Generator

    def pretraining(self) -> Schedule:
        """P1, until the tagger's loss on held-out sentences does not fall."""
        epochs = self.settings.epochs
        return until_no_lower(lambda: [self._tagging(P1, epochs)], epochs, self.settings.patience)

    def adversary(self) -> Schedule:
        """P2, until the adversaries' does not."""
        epochs = self.settings.adversary_epochs
        return until_no_lower(lambda: [self._pairs(P2, epochs)], epochs, self.settings.patience)

    def alternating(self) -> Schedule:
        """P3, until the combined loss of P3b does not."""

        rounds = self.settings.rounds

        def turn() -> Iterable[Phase]:
            yield self._tagging(P3A_TAGGER, rounds)
            yield self._pairs(P3A_ADVERSARIES, rounds)
            loss = beside_telling_apart(self.settings.pairs, self.settings.losses)
            yield self._all(P3B, loss, rounds)._replace(whole=confusion_objective(self.settings.weight))

        return until_no_lower(turn, rounds, self.settings.patience)

    def conjoint(self) -> Schedule:
        """DANN, for as many epochs as there may be: a loss in which the adversaries' falls says nothing of privacy."""
        settings, epochs = self.settings, self.settings.epochs
        loss = dann_loss(settings.pairs, settings.losses, settings.weight)
        return until_no_lower(lambda: [self._all(DANN, loss, epochs)], epochs, epochs)

    def _tagging(self, name: str, epochs: int) -> Phase:
        return self._phase(name, self.train.plain, self.held_out.plain, tagging, epochs)

    def _pairs(self, name: str, epochs: int) -> Phase:
        loss = adversary_loss(self.settings.pairs, self.settings.losses)
        return self._phase(name, self.train.pairs(self.random), self.held_out.pairs(self.random), loss, epochs)

    def _all(self, name: str, loss: Loss, epochs: int) -> Phase:
        return self._phase(name, self.train.all(self.random), self.held_out.all(self.random), loss, epochs)

    def _phase(self, name: str, rows: Sequence[Row], held_out: Sequence[Row], loss: Loss, epochs: int) -> Phase:
        settings = self.settings
        places = tuple(f"network.{part}." for part in PARTS[name])
        return Phase(
            name,
            rows,
            updates(settings, epochs),
            settings.lr,
            loss=loss,
            rates=tagger_dropout(settings),
            max_norm=settings.max_norm,
            trains=lambda parameter: parameter.startswith(places),
            held_out=held_out,
            noisy=NOISE,
        )


def until_no_lower(turn: Callable[[], Iterable[Phase]], most: int, patience: int) -> Schedule:
    """Turns of phases, until the held-out loss of a turn's last phase has not fallen for ``patience`` turns.

    Args:
        turn: draws up the phases of a turn, one or more, each when its time has come.
        most: turns there may be.
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
    """How rows are cut into updates, whatever they train.

    Args:
        settings: say how many sentences an update has.
        epochs: in which the compiled programs are used; the more, the more padded lengths are worth compiling for.
    """
    cut = per_sentences(settings.batch, optimiser(settings.noise_lr / settings.lr))
    return cut._replace(bucket_cost=_COMPILING // epochs)


@cache  # one object for one program: JAX compiles anew for another
def optimiser(faster: float) -> optax.GradientTransformation:
    """Nadam at a learning rate of 1, with steps that are ``faster`` times as long for the deviations of the noise."""
    steps = {"noise": optax.chain(optax.nadam(1.0), optax.scale(faster)), "others": optax.nadam(1.0)}
    return optax.multi_transform(steps, _kinds)


def _kinds(parameters: Mapping[str, Any]) -> dict[str, str]:
    return {name: "noise" if "_noise." in name else "others" for name in parameters}

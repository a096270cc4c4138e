"""The attack that a private representation is trained against, on the frozen one: is a pair of the same sentence?

Chance is an accuracy of one half. The result is valid with two controls (`rnn.privacy.attacks.encoders`): with a
representation of zeros (`ZeroBaseline`) no adversary can beat chance (`rnn.privacy.adversaries`),
and without noise, before adversarial training (`NoiselessBaseline` of the representation after P1), the same
adversaries must be far better.

Reference:
    Friedrich et al. (2019), sections 5.3 and 7.3; Elazar and Goldberg (2018), EMNLP, for continued training after
    freezing. Fresh adversaries are not in the paper: a representation can fool the ones that it was trained with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from flax import nnx

from crfdeid.documents import LabelledSentence
from crfdeid.evaluation.tokens import Proportion
from crfdeid.utils.process import keep_freed_memory
from rnn.batching import Batch, Row
from rnn.compile_cache import keep_compiled
from rnn.embeddings.vectors import WordVectors
from rnn.interfaces import Arrays, Params
from rnn.network import Structure, embedding_lookup, full_precision
from rnn.privacy.adversaries import TASKS, Adversaries, PairIndex, PairVocabulary, Replaceable, both
from rnn.privacy.attacks.encoders import SentenceEncoder
from rnn.privacy.settings import PrivateSettings
from rnn.privacy.training import ADVERSARIES, PrivateLoss, updates
from rnn.training.loop import start_training, train
from rnn.training.minibatches import even_batches
from rnn.training.schedules import EvalResult, Phase, Schedule

AVERAGE = "average"
_EPOCHS = 20  # assumed for compilation: long attacks and short controls share programs


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


@dataclass(frozen=True, slots=True)
class AttackOutcome:
    """Accuracy of an adversary on pairs from documents outside its training set.

    One half of the pairs chooses among adversaries, the other scores the chosen one, so that its interval holds
    whatever the number of adversaries.

    Args:
        seed: its seed.
        epochs: training epochs on the frozen representation.
        adversary: "T1", "T2", or "average" for the mean of their probabilities.
        choice: pairs classified right of those that choose.
        correct: number of scored pairs classified right.
        total: number of scored pairs, one a sentence.
    """

    seed: int
    epochs: int
    adversary: str
    choice: Proportion
    correct: int
    total: int

    @property
    def share(self) -> Proportion:
        """Share of scored pairs classified right, or wrong for an adversary below chance on the pairs that choose."""
        inverted = 2 * self.choice.count < self.choice.total
        return Proportion(self.total - self.correct if inverted else self.correct, self.total)

    @property
    def accuracy(self) -> float:
        """The share as a fraction."""
        return self.share.fraction


def worst(outcomes: Iterable[AttackOutcome]) -> AttackOutcome:
    """Return the adversary that is the most accurate on the pairs that choose, the first of equals.

    Example:
        >>> right = enumerate(((52, 60), (41, 45), (55, 50)))
        >>> some = [AttackOutcome(seed, 20, "T1", Proportion(a, 100), b, 100) for seed, (a, b) in right]
        >>> worst(some).seed, worst(some).accuracy
        (1, 0.55)
    """
    return max(outcomes, key=lambda outcome: abs(outcome.choice.fraction - 0.5))


def scored_half(documents: Sequence[str], random: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Divide sentences into those whose pairs choose an adversary, the first half of a random order of documents, and
    those whose pairs score it.

    Args:
        documents: the document of each sentence, [N].
        random: source of the order.

    Returns:
        True for sentences that score, [N]; one more where N is odd.
    """
    _, numbers = np.unique(np.array(documents), return_inverse=True)
    order = np.argsort(random.permutation(len(documents))[numbers], kind="stable")
    scored = np.ones(len(documents), bool)
    scored[order[: len(documents) // 2]] = False
    return scored


@dataclass(frozen=True)
class _PairAttack:
    """Training and test of adversaries on an encoder; see `attack_pairs`."""

    encoder: SentenceEncoder
    words: PairVocabulary
    train: Replaceable
    held_out: Replaceable
    scored: npt.NDArray[np.bool_]  # of the held-out sentences
    settings: PrivateSettings

    def run(self, seed: int, known: Params | None, on_epoch: Callable[[int], None]) -> list[AttackOutcome]:
        """Train two adversaries and test them after each number of ``settings.attack_epochs``."""
        settings, random = self.settings, np.random.default_rng(seed)
        dim, size = self.words.table.shape[1], self.encoder.size
        adversaries = Adversaries(dim=dim, size=size, hidden=settings.adversary, rngs=nnx.Rngs(seed))
        structure, params = Structure.split(AttackNetwork(adversaries))
        params |= jax.tree.map(jnp.asarray, {**(known or {}), "tables.words": self.words.table})
        tried = self._rows(self.held_out, random)
        chosen = random.integers(len(PairIndex.of(settings.pairs).sign), size=len(tried))
        found: list[AttackOutcome] = []
        last = max(settings.attack_epochs)
        epochs = iter(range(1, last + 1))

        def watch(phase: Phase, loss: float, measured: EvalResult, params: Params) -> None:
            epoch = next(epochs)
            if epoch in settings.attack_epochs:
                right = self._correct(structure, params, tried, chosen)
                for name, hits in right.items():
                    choosing, scoring = hits[~self.scored], hits[self.scored]
                    choice = Proportion(int(choosing.sum()), choosing.size)
                    found.append(AttackOutcome(seed, epoch, name, choice, int(scoring.sum()), scoring.size))
            on_epoch(epoch)

        train(start_training(structure, params, self._schedule(random), seed=seed, epochs=last, watch=watch))
        return found

    def _schedule(self, random: np.random.Generator) -> Schedule:
        """Yield phases without end, each with newly drawn pairs."""
        settings = self.settings
        loss = PrivateLoss(ADVERSARIES, settings.pairs, "each")
        while True:
            yield Phase(
                "attack",
                self._rows(self.train, random),
                updates(settings, _EPOCHS),
                settings.lr,
                loss=loss,
                max_norm=settings.max_norm,
                trains=lambda name: name.startswith("network."),
            )

    def _rows(self, source: Replaceable, random: np.random.Generator) -> list[Row]:
        """Draw and encode a quadruple of each sentence."""
        drawn = source.draw(random)
        sentences = [item.sentence for item in source.sentences]
        copies = [source.replaced(one, self.words) for one in drawn]
        encoded = [self.encoder.encode(some, random) for some in (sentences, sentences, copies, copies)]
        ids = [np.array(self.words.vocabulary.ids(sentence.words), np.int32) for sentence in sentences]
        return [
            Row(
                {"words": both(ids[i], one), "encoded": np.stack([some[i] for some in encoded], axis=1)},
                {},
                len(ids[i]),
            )
            for i, one in enumerate(drawn)
        ]

    def _correct(
        self, structure: Structure, params: Params, rows: Sequence[Row], chosen: np.ndarray
    ) -> dict[str, npt.NDArray[np.bool_]]:
        """Find the pairs that each adversary, and their average, classifies right, [N]."""
        sign = PairIndex.of(self.settings.pairs).sign > 0
        numbered = [row._replace(targets={"number": np.full(row.length, i)}) for i, row in enumerate(rows)]
        right = {name: np.zeros(len(rows), bool) for name in (*TASKS, AVERAGE)}
        for batch in even_batches(numbered, buckets=4, cost=20_000):
            logits = np.asarray(_batch_logits(structure, params, batch._replace(targets={}), self.settings.pairs))
            for row in np.flatnonzero(batch.lengths):
                number = batch.targets["number"][row, 0]
                kind = chosen[number]
                probable = 1 / (1 + np.exp(-logits[row, kind].astype(float)))
                for name, probability in zip(right, (*probable, probable.mean()), strict=True):
                    right[name][number] = (probability > 0.5) == sign[kind]
        return right


@partial(jax.jit, static_argnames=("structure", "pairs"))
@full_precision
def _batch_logits(structure: Structure, params: Params, batch: Batch, pairs: str) -> jax.Array:
    """Logits of the adversaries for every pair of some quadruples, [B, P, 2]."""
    batch, shown = jax.tree.map(jnp.asarray, batch), PairIndex.of(pairs)
    network = structure.network(params)

    def logits(vectors: Arrays, inputs: Arrays, length: jax.Array) -> jax.Array:
        words = jnp.moveaxis(vectors["words"], 1, 0)  # [2, T, D]
        found: jax.Array = network.adversaries(network.encoded(words, inputs, None), words, length, shown)
        return found

    return jax.vmap(logits)(embedding_lookup(network, params, batch.inputs), dict(batch.inputs), batch.lengths)


def attack_pairs(
    encoder: SentenceEncoder,
    train: Sequence[LabelledSentence],
    held_out: Sequence[LabelledSentence],
    vectors: WordVectors,
    settings: PrivateSettings,
    *,
    seed: int,
    known: Params | None = None,
    on_progress: Callable[[int, int], None] = lambda *_: None,
) -> list[AttackOutcome]:
    """Train adversaries on encoded sentences, and test them on others.

    Each adversary is trained by its own loss on pairs that are drawn and encoded anew for every epoch, and tested on
    one pair of each held-out sentence with PHI, half of which choose among adversaries (`worst`).

    Args:
        encoder: the attacked encoder.
        train: training sentences of the adversaries.
        held_out: sentences of other documents.
        vectors: the public word vectors, which T1 reads and which define neighbours.
        settings: number of neighbours, pairs, size, epochs and number of the adversaries.
        seed: seed of all random numbers.
        known: parameters of adversaries (`TrainedRepresentation.adversaries`) for one run of continued training; None
            for ``settings.attack_seeds`` runs of fresh ones.
        on_progress: called after each epoch with the numbers of epochs done and in all.

    Returns:
        Accuracy of T1, T2 and their average, for each run, after each number of ``settings.attack_epochs``.

    Raises:
        EmptyInputError: there is no PHI token that could be replaced.
    """
    keep_compiled()
    keep_freed_memory()
    words = PairVocabulary.of([*train, *held_out], vectors, settings.neighbours)
    tried = Replaceable.of(held_out, words)
    scored = scored_half([item.document for item in tried.sentences], np.random.default_rng(seed))
    attack = _PairAttack(encoder, words, Replaceable.of(train, words), tried, scored, settings)
    runs, last = settings.attack_seeds if known is None else 1, max(settings.attack_epochs)
    found: list[AttackOutcome] = []

    def report(run: int, epoch: int) -> None:
        on_progress(run * last + epoch, runs * last)

    for run in range(runs):
        found += attack.run(seed + run, known, partial(report, run))
    return found

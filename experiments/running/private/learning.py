"""What each system learns from, and how: the notes as they are, pseudonyms, or private representations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from crfdeid.corpora.splits import Corpus, Split
from crfdeid.documents import LabelledSentence
from crfdeid.registry import create, model_settings, require_known, select, setting_names
from crfdeid.tagger import FitProgress, Tagger
from experiments.running.private.systems import DANN, Sizes, neighbours_of
from experiments.running.settings import Point
from experiments.running.systems import Cell, System

if TYPE_CHECKING:  # Importing these takes JAX.
    from rnn.embeddings import WordVectors
    from rnn.models.private import PrivateTagger
    from rnn.privacy.representation import RepresentationModel
    from rnn.privacy.settings import PrivateSettings
    from rnn.privacy.substitution import Pseudonymised
    from rnn.privacy.training import Epoch, TrainedRepresentation

TAGGER, PRIVATE_TAGGER, PROFILE = "bilstm-crf", "private", "friedrich2019"

OnEpoch = Callable[[FitProgress], None]


@dataclass(frozen=True)
class Recipe:
    """How all of them learn.

    Args:
        profile: of the representation's settings.
        sizes: how much of everything there is.
        neighbours: N of Table 2, among which the attacks look for a word where a system has none.
        tagger: settings of the tagger that replace the profile's.
        representation: settings of the representation that replace the profile's.
        vectors: word vectors by embedding.
        parts: the training documents of the provider and the hospitals, where they are pooled.
    """

    profile: str
    sizes: Sizes
    neighbours: int
    tagger: Point
    representation: Point
    vectors: Mapping[str, WordVectors]
    parts: Mapping[str, Split]

    def vectors_of(self, system: System) -> WordVectors:
        """The word vectors of a system."""
        return self.vectors[system.embedding or ""]

    def tagger_settings(self, model: str) -> dict[str, Any]:
        """What replaces the settings of a tagger's profile: those of them that it has.

        Raises:
            UsageError: there is one that neither tagger has.
        """
        known = setting_names(TAGGER) | setting_names(PRIVATE_TAGGER)
        require_known(dict(self.tagger), known, of="the taggers")
        return select(model, {**self.sizes.tagger, **dict(self.tagger)})

    def new_tagger(self, cell: Cell) -> Tagger:
        """An untrained BiLSTM-CRF of Table 1, which reads words by a cell's vectors, casing, and nothing else.

        Digits of words are folded where those of the vectors are.
        """
        vectors = self.vectors_of(cell.system)
        settings = {"fold_digits": vectors.folds_digits, **self.tagger_settings(TAGGER)}
        return create(TAGGER, profile=PROFILE, seed=cell.seed, overrides=settings, vectors=vectors)

    def new_private_tagger(self, cell: Cell, representation: RepresentationModel) -> PrivateTagger:
        """An untrained BiLSTM-CRF of Table 1 that reads representations and casing."""
        from rnn.models.private import PrivateTagger  # noqa: PLC0415

        settings = model_settings(PRIVATE_TAGGER, profile=PROFILE, overrides=self.tagger_settings(PRIVATE_TAGGER))
        return PrivateTagger(settings, seed=cell.seed, representation=representation)

    def private_settings(self, system: System) -> PrivateSettings:
        """The settings of a system's representation.

        Raises:
            UsageError: there is no such setting, or a value is refused.
        """
        from rnn.privacy.settings import settings_of as representation_settings  # noqa: PLC0415

        given = {**self.sizes.representation, **dict(self.representation), **dict(system.settings)}
        return representation_settings(self.profile, given | ({"procedure": "dann"} if system.model == DANN else {}))


class Learned(NamedTuple):
    """What a system's training gave.

    Attributes:
        tagger: what is scored.
        sentences: what it learned from.
        trained: the private representation, where it is to be attacked.
        attacked: whose training sentences the attackers have, and whose scored ones they attack; None for the corpus's.
        facts: what else belongs into the run's record.
    """

    tagger: Tagger
    sentences: Sequence[LabelledSentence]
    trained: TrainedRepresentation | None = None
    attacked: Corpus | None = None
    facts: Mapping[str, Any] = {}


def learn_raw(recipe: Recipe, cell: Cell, corpus: Corpus, on_epoch: OnEpoch) -> Learned:
    """From the notes as they are."""
    return fitted(recipe, cell, corpus, corpus.train.sentences, on_epoch)


def learn_pseudonyms(recipe: Recipe, cell: Cell, corpus: Corpus, on_epoch: OnEpoch) -> Learned:
    """From shuffled sentences with pseudonyms."""
    from rnn.privacy.substitution import pseudonymise  # noqa: PLC0415

    vectors = recipe.vectors_of(cell.system)
    made = pseudonymise(corpus.train, vectors, count=neighbours_of(cell.system) or 1, seed=cell.seed)
    return fitted(recipe, cell, corpus, made.sentences, on_epoch)._replace(facts={"remains": _remains(made)})


def learn_representation(recipe: Recipe, cell: Cell, corpus: Corpus, on_epoch: OnEpoch) -> Learned:
    """The representation first; then a tagger, from what is published with it."""
    trained, history = trained_representation(recipe, cell, corpus.train, corpus.dev, on_epoch)
    tagger = recipe.new_private_tagger(cell, trained.model)
    tagger.fit(corpus.train.sentences, corpus.dev.sentences)
    return Learned(tagger, corpus.train.sentences, trained, facts={"history": history})


def trained_representation(
    recipe: Recipe, cell: Cell, train: Split, held_out: Split, on_epoch: OnEpoch
) -> tuple[TrainedRepresentation, list[dict[str, Any]]]:
    """A private representation, and what was told of every epoch of its training."""
    from rnn.privacy.training import train_representation  # noqa: PLC0415

    settings, history = recipe.private_settings(cell.system), list[dict[str, Any]]()
    most = settings.epochs + settings.adversary_epochs + 3 * settings.rounds

    def follow(epoch: Epoch) -> None:
        history.append(epoch._asdict())
        on_epoch(FitProgress(len(history), most, epoch.loss))

    vectors = recipe.vectors_of(cell.system)
    trained = train_representation(
        train.sentences, held_out.sentences, vectors, settings, seed=cell.seed, on_progress=follow
    )
    return trained, history


def fitted(
    recipe: Recipe, cell: Cell, corpus: Corpus, sentences: Sequence[LabelledSentence], on_epoch: OnEpoch
) -> Learned:
    """A tagger over word vectors that learned from some sentences."""
    tagger = recipe.new_tagger(cell)
    tagger.fit(sentences, corpus.dev.sentences, on_progress=on_epoch)
    return Learned(tagger, sentences)


def _remains(made: Pseudonymised) -> dict[str, float]:
    """What pseudonyms leave: two shares of the tokens of PHI, and how many neighbours of a word hold it."""
    tokens = max(made.remains.tokens, 1)
    return {
        "unchanged": made.remains.unchanged / tokens,
        "containing": made.remains.containing / tokens,
        "neighbours_that_contain": made.containing,
    }

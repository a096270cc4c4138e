"""Training of each kind of system: on unchanged notes, pseudonyms, or private representations, alone or pooled.

For pooling, the training documents are divided among a provider, whose notes are public, and two hospitals that pool
data without sharing text: a third each, by a fixed seed. Word vectors, their neighbours, the vocabulary and the
representation are learned from the provider's part alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import TYPE_CHECKING, Any, NamedTuple

from crfdeid.corpora.partition import linked
from crfdeid.corpora.splits import Corpus, Split
from crfdeid.documents import LabelledSentence
from crfdeid.errors import EmptyInputError
from crfdeid.registry import create, model_settings, require_known, select, setting_names
from crfdeid.tagger import FitProgress, Tagger
from experiments.core.systems import Cell, Point, System
from experiments.private.options import DANN, HOSPITALS, PARTS, PROVIDER, RAW, Sizes, neighbours_of
from experiments.results.measurements import Row, measure_rows

if TYPE_CHECKING:  # Importing these takes JAX.
    from rnn.embeddings import WordVectors
    from rnn.models.private import PrivateTagger
    from rnn.privacy.representation import RepresentationModel
    from rnn.privacy.settings import PrivateSettings
    from rnn.privacy.substitution import Pseudonymised
    from rnn.privacy.training import Epoch, TrainedRepresentation

TAGGER, PRIVATE_TAGGER, PROFILE = "bilstm-crf", "private", "friedrich2019"

SPLIT_SEED = 0

OnEpoch = Callable[[FitProgress], None]


@dataclass(frozen=True)
class Recipe:
    """Settings and data that the training of all systems shares.

    Args:
        profile: of the representation's settings.
        sizes: amounts of the profile.
        neighbours: N of Table 2; for a system without neighbours, the number that attacks search.
        tagger: settings of the tagger that replace the profile's.
        representation: settings of the representation that replace the profile's.
        vectors: word vectors by embedding.
        parts: the training documents of the provider and the hospitals, for pooling.
    """

    profile: str
    sizes: Sizes
    neighbours: int
    tagger: Point
    representation: Point
    vectors: Mapping[str, WordVectors]
    parts: Mapping[str, Split]

    def vectors_of(self, system: System) -> WordVectors:
        """Word vectors of a system."""
        return self.vectors[system.embedding or ""]

    def tagger_settings(self, model: str) -> dict[str, Any]:
        """Settings that replace those of a tagger's profile and that the tagger has.

        Raises:
            UsageError: a setting that no tagger here has.
        """
        known = setting_names(TAGGER) | setting_names(PRIVATE_TAGGER)
        require_known(dict(self.tagger), known, of="the taggers")
        return select(model, {**self.sizes.tagger, **dict(self.tagger)})

    def new_tagger(self, cell: Cell) -> Tagger:
        """An untrained BiLSTM-CRF of Table 1 that reads a cell's word vectors and casing.

        Digits of words are folded if those of the vectors are.
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
        """Settings of a system's representation.

        Raises:
            UsageError: an unknown setting, or an invalid value.
        """
        from rnn.privacy.settings import settings_of as representation_settings  # noqa: PLC0415

        overrides = {**self.sizes.representation, **dict(self.representation), **dict(system.settings)}
        return representation_settings(
            self.profile, overrides | ({"procedure": "dann"} if system.model == DANN else {})
        )


class Learned(NamedTuple):
    """Result of a system's training.

    Attributes:
        tagger: the tagger to score.
        sentences: its training sentences.
        trained: the private representation, if there is one to attack.
        attacked: the corpus whose training sentences the attackers have, and whose scored ones they attack; None for
            the experiment's.
        rows: further measurements.
        facts: further entries of the run's record.
    """

    tagger: Tagger
    sentences: Sequence[LabelledSentence]
    trained: TrainedRepresentation | None = None
    attacked: Corpus | None = None
    rows: Sequence[Row] = ()
    facts: Mapping[str, Any] = {}


def learn_text(recipe: Recipe, cell: Cell, corpus: Corpus, on_epoch: OnEpoch) -> Learned:
    """Train on unchanged notes: all, one part's, or those of both hospitals as if they could be shared."""
    if cell.system.model == RAW:
        return fitted(recipe, cell, corpus, corpus.train.sentences, on_epoch)
    part = dict(cell.system.settings).get("part")
    owners = HOSPITALS if part is None else (part,)
    return fitted(recipe, cell, corpus, _sentences_of(recipe, owners), on_epoch)


def learn_pseudonyms(recipe: Recipe, cell: Cell, corpus: Corpus, on_epoch: OnEpoch) -> Learned:
    """Train on shuffled sentences with pseudonyms, of all notes."""
    made = _pseudonymised(recipe, cell, corpus.train, seed=cell.seed)
    tokens = max(made.remains.tokens, 1)
    # PHI that pseudonyms leave: two shares of its tokens, and the number of a word's neighbours that contain it.
    shares = {"unchanged": made.remains.unchanged / tokens, "containing": made.remains.containing / tokens}
    rows = measure_rows("remains", {**shares, "neighbours_that_contain": made.containing})
    return fitted(recipe, cell, corpus, made.sentences, on_epoch)._replace(rows=list(rows))


def learn_pooled_pseudonyms(recipe: Recipe, cell: Cell, corpus: Corpus, on_epoch: OnEpoch) -> Learned:
    """Train on the pseudonyms of both hospitals."""
    made = [
        _pseudonymised(recipe, cell, recipe.parts[name], seed=2 * cell.seed + number).sentences
        for number, name in enumerate(HOSPITALS)
    ]
    return fitted(recipe, cell, corpus, list(chain.from_iterable(made)), on_epoch)


def _pseudonymised(recipe: Recipe, cell: Cell, split: Split, *, seed: int) -> Pseudonymised:
    from rnn.privacy.substitution import pseudonymise  # noqa: PLC0415

    count = neighbours_of(cell.system) or 1
    return pseudonymise(split, recipe.vectors_of(cell.system), count=count, seed=seed)


def learn_representation(recipe: Recipe, cell: Cell, corpus: Corpus, on_epoch: OnEpoch) -> Learned:
    """Train the representation, then a tagger on the data that is published with it."""
    trained = trained_representation(recipe, cell, corpus.train, corpus.dev, on_epoch)
    tagger = recipe.new_private_tagger(cell, trained.model)
    tagger.fit(corpus.train.sentences, corpus.dev.sentences)
    return Learned(tagger, corpus.train.sentences, trained, facts=history_of(trained))


def trained_representation(
    recipe: Recipe, cell: Cell, train: Split, held_out: Split, on_epoch: OnEpoch
) -> TrainedRepresentation:
    """Train a private representation."""
    from rnn.privacy.training import train_representation  # noqa: PLC0415

    settings, steps = recipe.private_settings(cell.system), count(1)
    most = settings.epochs + settings.adversary_epochs + 3 * settings.rounds

    def follow(_: Epoch) -> None:  # its losses are of several kinds: `history_of` has them
        on_epoch(FitProgress(next(steps), most))

    vectors = recipe.vectors_of(cell.system)
    return train_representation(
        train.sentences, held_out.sentences, vectors, settings, seed=cell.seed, on_progress=follow
    )


def history_of(trained: TrainedRepresentation) -> dict[str, Any]:
    """The figures of every epoch, as an entry of the run's record."""
    return {"history": [epoch._asdict() for epoch in trained.history]}


def fitted(
    recipe: Recipe, cell: Cell, corpus: Corpus, sentences: Sequence[LabelledSentence], on_epoch: OnEpoch
) -> Learned:
    """Train a tagger over word vectors on some sentences."""
    tagger = recipe.new_tagger(cell)
    tagger.fit(sentences, corpus.dev.sentences, on_progress=on_epoch)
    return Learned(tagger, sentences)


def shared_out(train: Split) -> dict[str, Split]:
    """Divide the documents among `PARTS` at random with a fixed seed, those of a patient and equal texts together.

    The next documents go to the smallest part. Sizes differ by one at most if no documents belong together.

    Raises:
        DataError: there are too few documents of different patients and texts.
    """
    order = list(range(len(train.documents)))
    random.Random(SPLIT_SEED).shuffle(order)
    indices: dict[str, list[int]] = {part: [] for part in PARTS}
    for group in linked([train.documents[index] for index in order]):
        smallest = min(PARTS, key=lambda part: len(indices[part]))
        indices[smallest] = sorted([*indices[smallest], *(order[index] for index in group)])
    if not all(indices.values()):
        raise EmptyInputError(
            f"{len(train.documents)} training documents cannot be shared among {len(PARTS)} by patient and equal text: "
            "give more"
        )
    return {
        part: Split(tuple(train.documents[i] for i in chosen), tuple(train.encoded[i] for i in chosen))
        for part, chosen in indices.items()
    }


def learn_pooled_representations(recipe: Recipe, cell: Cell, corpus: Corpus, on_epoch: OnEpoch) -> Learned:
    """Train on the vectors that both hospitals publish, made by the provider's representation.

    The attackers have the provider's notes as text, and attack these vectors.
    """
    from rnn.privacy.release import encode_notes  # noqa: PLC0415
    from rnn.privacy.substitution import shareable  # noqa: PLC0415

    trained = trained_representation(recipe, cell, recipe.parts[PROVIDER], corpus.dev, on_epoch)
    shared = [
        encode_notes(shareable(recipe.parts[name].encoded), trained.model, seed=2 * cell.seed + number)
        for number, name in enumerate(HOSPITALS)
    ]
    tagger = recipe.new_private_tagger(cell, trained.model)
    tagger.fit_shared(shared, corpus.dev.sentences, on_progress=on_epoch)
    attacked = replace(corpus, train=recipe.parts[PROVIDER], test=_joined(recipe.parts[name] for name in HOSPITALS))
    return Learned(tagger, _sentences_of(recipe, HOSPITALS), trained, attacked, facts=history_of(trained))


def _sentences_of(recipe: Recipe, owners: Sequence[str]) -> Sequence[LabelledSentence]:
    return [sentence for name in owners for sentence in recipe.parts[name].sentences]


def _joined(parts: Iterable[Split]) -> Split:
    documents, encoded = zip(*((part.documents, part.encoded) for part in parts), strict=True)
    return Split(tuple(chain.from_iterable(documents)), tuple(chain.from_iterable(encoded)))

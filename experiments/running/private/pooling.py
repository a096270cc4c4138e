"""Pooling: a provider whose notes are public, and two hospitals that pool data without sharing text.

The training documents are divided among the three, a third each, by a fixed seed. Word vectors, their neighbours, the
vocabulary and the representation are learned from the provider's part alone.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from crfdeid.corpora.splits import Corpus, Split
from crfdeid.documents import LabelledSentence
from crfdeid.errors import EmptyInputError
from experiments.running.private.learning import Learned, OnEpoch, Recipe, fitted, history_of, trained_representation
from experiments.running.private.systems import HOSPITALS, PARTS, PROVIDER, neighbours_of
from experiments.running.systems import Cell

SPLIT_SEED = 0


def shared_out(train: Split) -> dict[str, Split]:
    """Divide the documents among `PARTS` at random with a fixed seed; sizes differ by one at most.

    Raises:
        DataError: there are too few documents.
    """
    if len(train.documents) < len(PARTS):
        raise EmptyInputError(
            f"{len(train.documents)} training documents cannot be shared among {len(PARTS)}: give more"
        )
    order = list(range(len(train.documents)))
    random.Random(SPLIT_SEED).shuffle(order)
    indices = {part: sorted(order[number :: len(PARTS)]) for number, part in enumerate(PARTS)}
    return {
        part: Split(tuple(train.documents[i] for i in chosen), tuple(train.encoded[i] for i in chosen))
        for part, chosen in indices.items()
    }


def learn_alone(recipe: Recipe, cell: Cell, corpus: Corpus, on_epoch: OnEpoch) -> Learned:
    """Train on one part's unchanged notes."""
    part = recipe.parts[dict(cell.system.settings)["part"]]
    return fitted(recipe, cell, corpus, part.sentences, on_epoch)


def learn_pooled_raw(recipe: Recipe, cell: Cell, corpus: Corpus, on_epoch: OnEpoch) -> Learned:
    """Train on the notes of both hospitals, as if they could be shared: the upper bound."""
    return fitted(recipe, cell, corpus, _of_hospitals(recipe.parts), on_epoch)


def learn_pooled_pseudonyms(recipe: Recipe, cell: Cell, corpus: Corpus, on_epoch: OnEpoch) -> Learned:
    """Train on the pseudonyms of both hospitals."""
    from rnn.privacy.substitution import pseudonymise  # noqa: PLC0415

    vectors, count = recipe.vectors_of(cell.system), neighbours_of(cell.system) or 1
    made = [
        pseudonymise(recipe.parts[name], vectors, count=count, seed=2 * cell.seed + number).sentences
        for number, name in enumerate(HOSPITALS)
    ]
    return fitted(recipe, cell, corpus, [sentence for part in made for sentence in part], on_epoch)


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
    return Learned(tagger, _of_hospitals(recipe.parts), trained, attacked, history_of(trained))


def _of_hospitals(parts: Mapping[str, Split]) -> Sequence[LabelledSentence]:
    return [sentence for name in HOSPITALS for sentence in parts[name].sentences]


def _joined(parts: Iterable[Split]) -> Split:
    documents, encoded = zip(*((part.documents, part.encoded) for part in parts), strict=True)
    return Split(tuple(chain.from_iterable(documents)), tuple(chain.from_iterable(encoded)))

"""The BiLSTM-CRF over a private representation (friedrich2019, section 5).

    words -> word vectors -> representation, frozen (`rnn.privacy.representation`) --+
                                                                                     +-> BiLSTM layers -> CRF
    words -> casing -----------------------------------------------------------------+

Training data are annotated notes, encoded with the noise of a shared file, or vectors of shared files
(`rnn.privacy.shared_file.SharedNotes`). Text to tag is encoded without noise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from crfdeid.documents import PHI, LabelledSentence
from crfdeid.errors import OptionConflictError, SettingError
from crfdeid.serialization import PUBLIC, distinct_tags
from crfdeid.tagger import OnProgress, Traits
from crfdeid.validation import require_choice, require_counts, require_shares
from features.tokens import Sentence
from rnn.batching import Row
from rnn.inputs import casing
from rnn.interfaces import Arrays
from rnn.layers.crf import CrfScores
from rnn.models.bilstm_crf import BilstmCrf, bilstm_sizes
from rnn.privacy.representation import RepresentationModel
from rnn.privacy.shared_file import SharedNotes
from rnn.saving import PublicWords
from rnn.settings import TAGGING_LOSSES, TrainingSettings, paper_settings
from rnn.tagger import NetworkTagger
from rnn.training.losses import tagging_loss
from rnn.training.minibatches import OPTIMISERS, optimiser, per_sentences
from rnn.training.schedules import Phase, Schedule, falling_rate
from rnn.words import SentenceRows, tags_of

VECTORS, CASING = "vectors", "casing"
"""Inputs of a row: each token's representation, [T, D], and its casing class, [T]."""


@dataclass(frozen=True)
class PrivateProcessor(SentenceRows, PublicWords):
    """Converts sentences to rows of representations and casing, one row a sentence.

    Args:
        representation: makes the vectors.
        tags: tags of each annotation layer.
        seed: seed of the noise in the vectors of training sentences.
    """

    representation: RepresentationModel
    tags: Mapping[str, tuple[str, ...]]
    seed: int = 0

    def rows(self, sentences: Sequence[Sentence], targets: Sequence[LabelledSentence] | None = None) -> list[Row]:
        """Make one row a sentence, in training with noise, as in shared files."""
        random = None if targets is None else np.random.default_rng(self.seed)
        vectors = self.representation.encode(sentences, random)
        classes = [np.array([casing(word) for word in sentence.words], np.int32) for sentence in sentences]
        inputs = [{VECTORS: v, CASING: c} for v, c in zip(vectors, classes, strict=True)]
        if targets is None:
            return [Row(given, {}, len(given[CASING])) for given in inputs]
        number = {tag: k for k, tag in enumerate(self.tags[PHI])}
        ids = [np.array([number[tag] for tag in item.tags], np.int32) for item in targets]
        return [Row(given, {PHI: row}, len(row)) for given, row in zip(inputs, ids, strict=True)]

    def shared_rows(self, shared: SharedNotes) -> list[Row]:
        """Make one row a shared sentence; its tags must be among this processor's."""
        number = {tag: k for k, tag in enumerate(self.tags[PHI])}
        ids = np.array([number[name] for name in shared.names], np.int32)[shared.tags]
        arrays = (shared.vectors.astype(np.float32), shared.casing.astype(np.int32), ids)
        parts = [np.split(array, shared.starts[1:-1]) for array in arrays]
        return [Row({VECTORS: v, CASING: c}, {PHI: t}, len(t)) for v, c, t in zip(*parts, strict=True)]

    def describe(self) -> dict[str, Any]:
        """Return tags and representation as JSON data."""
        return {"tags": list(self.tags[PHI]), "representation": self.representation.describe()}

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays of the representation."""
        return self.representation.arrays()


class PrivateBilstmCrf(nnx.Module):
    """Vectors of a representation and casing -> BiLSTM layers -> emissions of a CRF.

    Args:
        tagger: reads the vectors and the casing class.
    """

    tables: Mapping[str, str] = {}  # none: the representation's vectors are an input

    def __init__(self, tagger: BilstmCrf) -> None:
        self.tagger = tagger

    def scores(
        self, vectors: Arrays, inputs: Arrays, length: jax.Array, key: jax.Array | None = None
    ) -> dict[str, CrfScores]:
        """Emissions of the sentence's tokens, [T, K], and transitions, [K, K]."""
        encoded = inputs[VECTORS]
        # The network reads word ids only to tell words from padding.
        real = (jnp.arange(encoded.shape[0]) < length).astype(jnp.int32)
        return self.tagger.scores({"words": encoded}, {"words": real, CASING: inputs[CASING]}, length, key)


@dataclass(frozen=True, kw_only=True)
class PrivateTaggerSettings(TrainingSettings):
    """Settings of the tagger over a representation.

    Args:
        representation: folder of the representation, from ``crfdeid share train``; "" if it is an argument of the
            tagger or part of a saved model.
        hidden: units of an LSTM layer in each direction, H.
        layers: stacked LSTM layers.
        input_dropout: see `rnn.BilstmCrfSettings`, also for the following settings.
        variational_dropout: of the LSTM layers.
        output_dropout: before the CRF.
        batch: sentences an update.
        tagging_loss: see `rnn.BilstmCrfSettings`.
        patience: epochs without a better F on dev.
        average: decay of the moving average of the weights.

    Raises:
        UsageError: a value cannot work.
    """

    representation: str = ""
    epochs: int = 30
    lr: float = 0.002
    final_lr: float = 0.05
    max_norm: float | None = 1.0
    hidden: int = 128
    layers: int = 2
    input_dropout: float = 0.1
    variational_dropout: float = 0.25
    output_dropout: float = 0.5
    batch: int = 32
    tagging_loss: str = "sum"
    patience: int | None = 8
    average: float = 0.998

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.representation, str):
            raise SettingError(f"representation is {self.representation}: give the folder of one")
        require_counts(self, "hidden", "layers", "batch")
        require_choice(self, "tagging_loss", TAGGING_LOSSES)
        require_shares(self, "input_dropout", "variational_dropout", "output_dropout", "average")
        if self.patience is not None:
            require_counts(self, "patience")


@final
class PrivateTagger(NetworkTagger):
    """Tagger with the BiLSTM-CRF over a private representation.

    Args:
        settings: the tagger's settings; None for its defaults.
        seed: seed of the initial weights, the order of the sentences, dropout, and the noise in training notes.
        representation: the representation; None for that of the settings or of a saved model.
    """

    model = "private"
    settings_class = PrivateTaggerSettings
    words_are = PUBLIC
    settings: PrivateTaggerSettings

    def __init__(
        self,
        settings: PrivateTaggerSettings | None = None,
        *,
        seed: int = 0,
        representation: RepresentationModel | None = None,
    ) -> None:
        super().__init__(settings, seed=seed)
        self._representation = representation

    @classmethod
    def profiles(cls) -> Mapping[str, PrivateTaggerSettings]:
        """Settings by profile name: "friedrich2019" is Table 1, as in `rnn.BilstmCrfTagger.profiles`."""
        paper = PrivateTaggerSettings(**paper_settings("friedrich2019", "private"))
        return {"default": PrivateTaggerSettings(), "friedrich2019": paper}

    @classmethod
    def traits(cls, settings: PrivateTaggerSettings) -> Traits:
        """Return the traits of a `Tagger`: the vocabulary is public."""
        return super().traits(settings)._replace(public_vocabulary=True, requires=("a private representation",))

    @property
    def representation(self) -> RepresentationModel:
        """The representation, loaded on first use.

        Raises:
            DataError: the folder of the settings holds no representation.
            OptionConflictError: there is no representation.
        """
        if self._representation is None:
            if not self.settings.representation:
                raise OptionConflictError(
                    "the model 'private' reads by a representation: crfdeid share train makes one; give its folder "
                    "with --representation, or the setting of that name"
                )
            self._representation = RepresentationModel.load(Path(self.settings.representation))
        return self._representation

    def known_words(self) -> tuple[str, ...]:
        """Return the public words with vectors in the representation."""
        return self.representation.vectors.words

    def fit_shared(
        self,
        shared: Sequence[SharedNotes],
        dev: Sequence[LabelledSentence],
        *,
        on_progress: OnProgress | None = None,
    ) -> None:
        """Train from scratch on shared notes, and keep the best epoch on ``dev``, as `fit` does.

        Args:
            shared: files of one or several hospitals.
            dev: sentences with their text.
            on_progress: called after each epoch.

        Raises:
            UsageError: there is no representation, or another one made a file.
        """
        representation = self.representation
        if any(part.representation != representation.digest for part in shared):
            raise OptionConflictError(
                "another representation made some of the shared notes: give files of one representation, and name it"
            )
        tags = tuple(sorted({name for part in shared for name in part.names}))
        processor = PrivateProcessor(representation, {PHI: tags}, self.seed)
        rows = [row for part in shared for row in processor.shared_rows(part)]
        self.fit_rows(processor, rows, dev, on_progress=on_progress)

    def processor(self, train: Sequence[LabelledSentence]) -> PrivateProcessor:
        """Build the processor for training sentences."""
        return PrivateProcessor(self.representation, {PHI: tags_of(train)}, self.seed)

    def saved_processor(
        self, described: Mapping[str, Any], arrays: Mapping[str, np.ndarray], key: bytes | None
    ) -> PrivateProcessor:
        """Restore the processor of a saved model, and use its representation from now on."""
        self._representation = RepresentationModel.read(described["representation"], arrays)
        tags = distinct_tags(described["tags"])
        if not tags:
            raise ValueError("no tags")
        return PrivateProcessor(self._representation, {PHI: tags}, self.seed)

    def tables(self, processor: PrivateProcessor, rngs: nnx.Rngs) -> dict[str, jax.Array]:
        """Return no tables: the vectors are inputs."""
        return {}

    def network(self, processor: PrivateProcessor, rngs: nnx.Rngs) -> PrivateBilstmCrf:
        """Create the network."""
        settings, tags = self.settings, len(processor.tags[PHI])
        tokens = {"dim": processor.representation.size}
        dropout = settings.output_dropout
        return PrivateBilstmCrf(BilstmCrf(tokens, bilstm_sizes(settings), tags=tags, output_dropout=dropout, rngs=rngs))

    def schedule(self, processor: PrivateProcessor, rows: Sequence[Row]) -> Schedule:
        """Train by minibatches of about one length, until F on dev stops rising."""
        settings = self.settings
        phase = Phase(
            self.model,
            rows,
            per_sentences(settings.batch, optimiser(OPTIMISERS["nadam"])),
            settings.lr,
            loss=tagging_loss(settings.tagging_loss),
            max_norm=settings.max_norm,
            average=settings.average,
        )
        return falling_rate(lambda epoch: phase, settings, patience=settings.patience)

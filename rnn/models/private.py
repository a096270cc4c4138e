"""The BiLSTM-CRF over a private representation (friedrich2019, section 5).

    words -> word vectors -> representation, frozen (`rnn.privacy.representation`) --+
                                                                                     +-> BiLSTM layers -> CRF
    words -> casing -----------------------------------------------------------------+

It learns from annotated notes with text, encoded with noise as who shares notes encodes them, or from vectors that
others shared (`rnn.privacy.shared_file.SharedNotes`), with the noise that these have. Text that is to be tagged is
encoded without noise.
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
from crfdeid.errors import OptionConflictError, SettingError, UsageError
from crfdeid.serialization import PUBLIC, distinct_names
from crfdeid.tagger import OnProgress, Traits
from crfdeid.validation import require_counts, require_shares
from rnn.batching import Row
from rnn.layers.lstm import dropout_rates
from rnn.models.bilstm_crf import BilstmCrf
from rnn.network import Draw, Scores
from rnn.privacy.processor import CASING, VECTORS, PrivateProcessor
from rnn.privacy.representation import RepresentationModel
from rnn.privacy.shared_file import SharedNotes
from rnn.processors.words import tags_of
from rnn.settings import TrainingSettings
from rnn.tagger import NetworkTagger
from rnn.training.phases import Phase, Schedule, early_stopping, nadam, per_sentences
from rnn.training.replicates import fit_rows


class PrivateBilstmCrf(nnx.Module):
    """Given vectors and casing -> BiLSTM layers -> emissions, beside learned transitions.

    Args:
        tagger: reads what is given, and casing alone beside it.
    """

    tables: Mapping[str, str] = {}  # none: the representation's vectors are an input

    def __init__(self, tagger: BilstmCrf) -> None:
        self.tagger = tagger

    def draws(self, length: int) -> dict[str, Draw]:
        """Dropout, as of `BilstmCrf`."""
        return self.tagger.draws(length)

    def scores(
        self,
        vectors: Mapping[str, jax.Array],
        inputs: Mapping[str, jax.Array],
        length: jax.Array,
        draws: Mapping[str, jax.Array],
    ) -> dict[str, Scores]:
        """The emissions of the sentence's tokens, [T, K], and the transitions, [K, K]."""
        given = inputs[VECTORS]
        # All that the network asks of the words' numbers is where there are words: anything but padding.
        real = (jnp.arange(given.shape[0]) < length).astype(jnp.int32)
        return self.tagger.scores({"words": given}, {"words": real, CASING: inputs[CASING]}, length, draws)


@dataclass(frozen=True, kw_only=True)
class PrivateTaggerSettings(TrainingSettings):
    """The settings of the tagger; those of the representation are its own.

    Args:
        representation: the folder of the representation, from ``crfdeid share train``; "" where it is given otherwise,
            as in a saved model.
        hidden: units of an LSTM layer in each direction, H.
        layers: LSTM layers, one upon the other.
        input_dropout: as of `rnn.BilstmCrfSettings`, and so are the others.
        variational_dropout: of the LSTM layers.
        output_dropout: before the CRF.
        batch: sentences an update.
        patience: of epochs without a better F on dev.
        average: of the weights.

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
    patience: int | None = 8
    average: float = 0.998

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.representation, str):
            raise SettingError(f"representation is {self.representation}: give the folder of one")
        require_counts(self, "hidden", "layers", "batch")
        require_shares(self, "input_dropout", "variational_dropout", "output_dropout", "average")
        if self.patience is not None:
            require_counts(self, "patience")


@final
class PrivateTagger(NetworkTagger):
    """A tagger on the BiLSTM-CRF over a private representation.

    Args:
        settings: the tagger's settings; None for its defaults.
        seed: of the initial weights, the order of the sentences, dropout, and the noise in notes that it is fitted on.
        representation: what it reads by; None for the one that the settings name, or that a saved model holds.
    """

    model = "private"
    settings_class = PrivateTaggerSettings
    words_are = PUBLIC
    _settings: PrivateTaggerSettings

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
        paper = PrivateTaggerSettings(epochs=40, final_lr=1.0, patience=8, layers=2, hidden=128, average=0.0)
        return {"default": PrivateTaggerSettings(), "friedrich2019": paper}

    @classmethod
    def traits(cls, settings: PrivateTaggerSettings) -> Traits:
        """What the model needs and can do."""
        return super().traits(settings)._replace(public_vocabulary=True, requires=("a private representation",))

    @property
    def representation(self) -> RepresentationModel:
        """What it reads by.

        Raises:
            DataError: the folder that the settings name holds none.
            UsageError: it has none.
        """
        if self._representation is None:
            if not self._settings.representation:
                problem = "the model 'private' reads by a representation: crfdeid share train makes one"
                raise UsageError(f"{problem}; give its folder with --representation, or the setting of that name")
            self._representation = RepresentationModel.load(Path(self._settings.representation))
        return self._representation

    def known_words(self) -> tuple[str, ...]:
        """The words that the representation has vectors for; they are public."""
        return self.representation.vectors.words

    def fit_shared(
        self,
        shared: Sequence[SharedNotes],
        dev: Sequence[LabelledSentence],
        *,
        on_progress: OnProgress | None = None,
    ) -> None:
        """Train from scratch on notes that others shared, and keep the epoch that is best on ``dev``, as `fit` does.

        Args:
            shared: files of one or of several houses.
            dev: sentences with their text.
            on_progress: is told of each epoch.

        Raises:
            UsageError: there is no representation, or some were made by another one.
        """
        representation = self.representation
        if any(part.representation != representation.digest for part in shared):
            raise OptionConflictError(
                "shared notes that another representation made: give the one that they were made by"
            )
        tags = tuple(sorted({name for part in shared for name in part.names}))
        processor = PrivateProcessor(representation, {PHI: tags}, self._seed)
        rows = [row for part in shared for row in processor.shared_rows(part)]
        fit_rows([self], processor, rows, dev, on_progress=on_progress and (lambda _, progress: on_progress(progress)))

    def processor(self, train: Sequence[LabelledSentence]) -> PrivateProcessor:
        """The processor for some training sentences."""
        return PrivateProcessor(self.representation, {PHI: tags_of(train)}, self._seed)

    def saved_processor(
        self, described: Mapping[str, Any], arrays: Mapping[str, np.ndarray], key: bytes | None
    ) -> PrivateProcessor:
        """The processor of a saved model; the tagger reads by its representation from now on."""
        self._representation = RepresentationModel.read(described["representation"], arrays)
        tags = distinct_names(described["tags"])
        if not tags:
            raise ValueError("no tags")
        return PrivateProcessor(self._representation, {PHI: tags}, self._seed)

    def tables(self, processor: PrivateProcessor, rngs: nnx.Rngs) -> dict[str, jax.Array]:
        """None: vectors are given."""
        return {}

    def network(self, processor: PrivateProcessor, rngs: nnx.Rngs) -> PrivateBilstmCrf:
        """A new network."""
        settings, tags = self._settings, len(processor.tags[PHI])
        return PrivateBilstmCrf(
            BilstmCrf(
                dim=processor.representation.size, hidden=settings.hidden, layers=settings.layers, tags=tags, rngs=rngs
            )
        )

    def schedule(self, processor: PrivateProcessor, rows: Sequence[Row]) -> Schedule:
        """One update for some sentences of about one length, until dev shows no progress."""
        settings = self._settings
        phase = Phase(
            self.model,
            rows,
            per_sentences(settings.batch, nadam()),
            settings.lr,
            rates=dropout_rates(
                settings.layers,
                inputs=settings.input_dropout,
                variational=settings.variational_dropout,
                output=settings.output_dropout,
            ),
            max_norm=settings.longest_gradient,
            average=settings.average,
        )
        return early_stopping(
            lambda epoch: phase._replace(rate=settings.rate(epoch)), epochs=settings.epochs, patience=settings.patience
        )

"""The stacked model (lange2020, section 3.3.2): concepts are read off text in which the PHI that was found is hidden.

    words, casing, characters, features -> BiLSTM layers -> CRF: PHI
                                                             |
                                                             v a tag for each token
    words, casing, characters ----------------------> masked embedding layer -> BiLSTM layers -> CRF: concepts

In training the tags are drawn by a Gumbel softmax over the emissions, and the gradient of the concepts' loss passes
through them. In prediction they are the PHI tags that are reported. The concept part has tables of its own, made of
tokens that are not PHI by the gold annotation; it reads neither words around the sentence nor hand-made features, which
look at a token's neighbours.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from crfdeid.documents import CONCEPT, PHI, LabelledSentence
from crfdeid.tagger import Traits
from crfdeid.validation import require_number
from rnn.batching import Row
from rnn.joint_tagger import LANGE2020_JOINT, JointSettings, JointTagger
from rnn.layers.crf import CrfOutput
from rnn.layers.lstm import BiLstms
from rnn.layers.masked import MaskedEmbedding, gumbel_softmax
from rnn.layers.tokens import TokenInputs
from rnn.models.bilstm_crf import BilstmCrf
from rnn.network import PHI_TAG_IDS, Draw, Scores
from rnn.processors.inputs import Characters
from rnn.processors.stacked import StackedProcessor, add_prefix, exclude_phi_words, strip_prefix, without_phi
from rnn.processors.words import WordProcessor, tags_of
from rnn.settings import WordSettings
from rnn.training.draws import WordDropout
from rnn.vocab import FIRST_WORD, PAD


class ConceptPart(nnx.Module):
    """Token inputs, PHI replaced -> BiLSTM layers -> CRF.

    Args:
        tokens: what `TokenInputs` is told.
        hidden: units of an LSTM layer in each direction, H.
        layers: LSTM layers.
        tags: the number of concept tags.
        phi_tags: the PHI tags.
        rngs: where the initial weights come from.
    """

    def __init__(
        self,
        tokens: Mapping[str, Any],
        *,
        hidden: int,
        layers: int,
        tags: int,
        phi_tags: Sequence[str],
        rngs: nnx.Rngs,
    ) -> None:
        self.tokens = TokenInputs(**tokens, rngs=rngs)
        self.masked = MaskedEmbedding(phi_tags, self.tokens.size, rngs=rngs)
        self.bilstm = BiLstms(self.tokens.size, hidden, layers=layers, rngs=rngs)
        self.crf = CrfOutput(2 * hidden, tags, rngs=rngs)

    def draws(self, length: int) -> dict[str, Draw]:
        """Dropout, as of `BilstmCrf`."""
        return self.bilstm.draws(length) | {"output": Draw("keep", (length, 2 * self.bilstm.hidden))}

    def __call__(
        self,
        vectors: Mapping[str, jax.Array],
        inputs: Mapping[str, jax.Array],
        draws: Mapping[str, jax.Array],
        *,
        decided: jax.Array,
        soft: jax.Array,
    ) -> Scores:
        """The scores of a sentence's concepts, of its PHI tags' ids, [T], and how probable each tag is, [T, K]."""
        read = self.masked(self.tokens(vectors, inputs), decided, soft)
        states = self.bilstm(read, inputs["words"] != PAD, draws)
        return self.crf(states * draws["output"])


class Stacked(nnx.Module):
    """The network.

    Args:
        phi: finds PHI.
        concept: reads what is left.
        temperature: of the Gumbel softmax.
    """

    def __init__(self, phi: BilstmCrf, concept: ConceptPart, *, temperature: float) -> None:
        self.phi, self.concept, self.temperature = phi, concept, temperature

    @property
    def tables(self) -> dict[str, str]:
        """The tables of both parts, of which each has its own."""
        return self.phi.tables | {name: name for name in add_prefix(self.concept.tokens.tables)}

    def draws(self, length: int) -> dict[str, Draw]:
        """Dropout of both parts, and the noise of the Gumbel softmax."""
        tags = self.phi.crf.c[...].shape[0]
        return (
            self.phi.draws(length) | add_prefix(self.concept.draws(length)) | {"gumbel": Draw("gumbel", (length, tags))}
        )

    def scores(
        self,
        vectors: Mapping[str, jax.Array],
        inputs: Mapping[str, jax.Array],
        length: jax.Array,
        draws: Mapping[str, jax.Array],
    ) -> dict[str, Scores]:
        """The scores of PHI, and those of concepts where the PHI is hidden that is decided, or else drawn."""
        phi = self.phi.scores(vectors, inputs, length, draws)[PHI]
        soft = gumbel_softmax(phi.emissions, draws["gumbel"], self.temperature)
        decided = inputs[PHI_TAG_IDS] if PHI_TAG_IDS in inputs else jnp.argmax(phi.emissions + draws["gumbel"], axis=1)
        concept = self.concept(
            strip_prefix(vectors), strip_prefix(inputs), strip_prefix(draws), decided=decided, soft=soft
        )
        return {PHI: phi, CONCEPT: concept}


@dataclass(frozen=True, kw_only=True)
class StackedSettings(JointSettings):
    """The stacked model's settings; ``features`` and ``context`` are for the part that finds PHI alone.

    Args:
        temperature: of the Gumbel softmax: the lower, the nearer what the gradient sees is to what is decided.

    Raises:
        UsageError: a value cannot work.
    """

    concept_rate: float = 2.0
    temperature: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number("temperature", self.temperature, "a number from 0.01 to 100", lambda v: 0.01 <= v <= 100)


@final
class StackedTagger(JointTagger):
    """A tagger on the stacked network."""

    model = "stacked"
    settings_class = StackedSettings
    _settings: StackedSettings

    @classmethod
    def profiles(cls) -> Mapping[str, StackedSettings]:
        """Settings by profile name: "lange2020" is section 4.1; the paper gives no temperature."""
        return {"default": StackedSettings(), "lange2020": StackedSettings(**LANGE2020_JOINT)}

    @classmethod
    def traits(cls, settings: WordSettings) -> Traits:
        """What the model needs and can do."""
        return super().traits(settings)._replace(hides_phi=True)

    def _concept_blank_processor(self) -> WordProcessor:
        """The concept part's, before it knows any word."""
        characters = Characters(()) if self._settings.char_dim else None
        return WordProcessor(
            self.blank_vocabulary(), {}, casing=self._settings.features != "none", characters=characters
        )

    def processor(self, train: Sequence[LabelledSentence]) -> StackedProcessor:
        """The processor for some training sentences."""
        phi = dataclasses.replace(self.filled(self.blank_processor(), train), tags={PHI: tags_of(train, PHI)})
        concept = self.filled(self._concept_blank_processor(), without_phi(train))
        vocabulary = exclude_phi_words(concept.vocabulary, train)
        return StackedProcessor(
            phi, dataclasses.replace(concept, vocabulary=vocabulary, tags={CONCEPT: tags_of(train, CONCEPT)})
        )

    def saved_processor(
        self, described: Mapping[str, Any], arrays: Mapping[str, np.ndarray], key: bytes | None
    ) -> StackedProcessor:
        """The processor of a saved model."""
        return StackedProcessor(self.blank_processor(), self._concept_blank_processor()).read(described, arrays, key)

    def tables(self, processor: StackedProcessor, rngs: nnx.Rngs) -> dict[str, jax.Array]:
        """The initial vectors of both parts."""
        return super().tables(processor.phi, rngs) | add_prefix(super().tables(processor.concept, rngs))

    def network(self, processor: StackedProcessor, rngs: nnx.Rngs) -> Stacked:
        """A new network."""
        settings = self._settings
        sizes: dict[str, Any] = {"hidden": settings.hidden, "layers": settings.layers, "rngs": rngs}
        phi_tags, concept_tags = processor.tags[PHI], processor.tags[CONCEPT]
        phi = BilstmCrf(**self.sizes(processor.phi), **sizes, tags=len(phi_tags), context=settings.context)
        tokens = self.sizes(processor.concept)
        concept = ConceptPart(tokens, **sizes, tags=len(concept_tags), phi_tags=phi_tags)
        return Stacked(phi, concept, temperature=settings.temperature)

    def rates(self) -> dict[str, float]:
        """The rates of dropping of both parts."""
        return super().rates() | add_prefix(super().rates())

    def dropped(self, processor: StackedProcessor, rows: Sequence[Row]) -> Mapping[str, WordDropout]:
        """Rare words, drawn for each part by itself."""
        (words,) = add_prefix({"words": None})
        return self.word_dropout(processor.phi, rows) | self.word_dropout(processor.concept, rows, name=words)

    def word_processor(self, processor: StackedProcessor) -> WordProcessor:
        """How the part reads that finds PHI."""
        return processor.phi

    def stores(self, words: Sequence[str]) -> list[bool]:
        """Whether the concept part has a vector of its own for each word."""
        processor: Any = self._trained().processor
        return [number >= FIRST_WORD for number in processor.concept.vocabulary.ids(words)]

"""The stacked model (lange2020, section 3.3.2): it finds PHI, hides it, and tags concepts in the remaining text.

    words, casing, characters, features -> BiLSTM layers -> CRF: PHI
                                                             |
                                                             v a tag for each token
    words, casing, characters ----------------------> masked embedding layer -> BiLSTM layers -> CRF: concepts

In training the tags are sampled by a Gumbel softmax over the emissions, and the gradient of the concepts' loss passes
through them. In prediction they are the reported PHI tags. The concept part has separate tables, made of tokens that
are not PHI by the gold annotation; it reads neither words around the sentence nor hand-made features, which would
reveal a token's neighbours.
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
        tokens: arguments of `TokenInputs`.
        hidden: units of an LSTM layer in each direction, H.
        layers: LSTM layers.
        tags: number of concept tags.
        phi_tags: the PHI tags.
        rngs: source of the initial weights.
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
        """Dropout masks, see `BilstmCrf`."""
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
        """Scores of a sentence's concepts, from the ids of its PHI tags, [T], and each tag's probability, [T, K]."""
        read = self.masked(self.tokens(vectors, inputs), decided, soft)
        states = self.bilstm(read, inputs["words"] != PAD, draws)
        return self.crf(states * draws["output"])


class Stacked(nnx.Module):
    """Network of a part that finds PHI and a part that tags concepts without it.

    Args:
        phi: finds PHI.
        concept: tags concepts in text with PHI hidden.
        temperature: temperature of the Gumbel softmax.
    """

    def __init__(self, phi: BilstmCrf, concept: ConceptPart, *, temperature: float) -> None:
        self.phi, self.concept, self.temperature = phi, concept, temperature

    @property
    def tables(self) -> dict[str, str]:
        """Tables of both parts."""
        return self.phi.tables | {name: name for name in add_prefix(self.concept.tokens.tables)}

    def draws(self, length: int) -> dict[str, Draw]:
        """Dropout masks of both parts, and noise of the Gumbel softmax."""
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
        """Scores of PHI, and of concepts with the decided PHI hidden, else PHI sampled from the scores."""
        phi = self.phi.scores(vectors, inputs, length, draws)[PHI]
        soft = gumbel_softmax(phi.emissions, draws["gumbel"], self.temperature)
        decided = inputs[PHI_TAG_IDS] if PHI_TAG_IDS in inputs else jnp.argmax(phi.emissions + draws["gumbel"], axis=1)
        concept = self.concept(
            strip_prefix(vectors), strip_prefix(inputs), strip_prefix(draws), decided=decided, soft=soft
        )
        return {PHI: phi, CONCEPT: concept}


@dataclass(frozen=True, kw_only=True)
class StackedSettings(JointSettings):
    """Settings of the stacked model; ``features`` and ``context`` apply to the part that finds PHI.

    Args:
        temperature: temperature of the Gumbel softmax: the lower, the nearer the soft tags of the gradient are to the
            sampled ones.

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
    """Tagger with the stacked network."""

    model = "stacked"
    settings_class = StackedSettings
    _settings: StackedSettings

    @classmethod
    def profiles(cls) -> Mapping[str, StackedSettings]:
        """Settings by profile name: "lange2020" is section 4.1; the paper gives no temperature."""
        return {"default": StackedSettings(), "lange2020": StackedSettings(**LANGE2020_JOINT, temperature=1.0)}

    @classmethod
    def traits(cls, settings: WordSettings) -> Traits:
        """Return the traits of a `Tagger`: the concept part does not see PHI."""
        return super().traits(settings)._replace(hides_phi=True)

    def _concept_blank_processor(self) -> WordProcessor:
        """Processor of the concept part, without words."""
        characters = Characters(()) if self._settings.char_dim else None
        return WordProcessor(
            self.blank_vocabulary(), {}, casing=self._settings.features != "none", characters=characters
        )

    def processor(self, train: Sequence[LabelledSentence]) -> StackedProcessor:
        """Build the processor for training sentences."""
        phi = dataclasses.replace(self.filled(self.blank_processor(), train), tags={PHI: tags_of(train, PHI)})
        concept = self.filled(self._concept_blank_processor(), without_phi(train))
        vocabulary = exclude_phi_words(concept.vocabulary, train)
        return StackedProcessor(
            phi, dataclasses.replace(concept, vocabulary=vocabulary, tags={CONCEPT: tags_of(train, CONCEPT)})
        )

    def saved_processor(
        self, described: Mapping[str, Any], arrays: Mapping[str, np.ndarray], key: bytes | None
    ) -> StackedProcessor:
        """Restore the processor of a saved model."""
        return StackedProcessor(self.blank_processor(), self._concept_blank_processor()).read(described, arrays, key)

    def tables(self, processor: StackedProcessor, rngs: nnx.Rngs) -> dict[str, jax.Array]:
        """Initial vectors of both parts."""
        return super().tables(processor.phi, rngs) | add_prefix(super().tables(processor.concept, rngs))

    def network(self, processor: StackedProcessor, rngs: nnx.Rngs) -> Stacked:
        """Create the network."""
        settings = self._settings
        sizes: dict[str, Any] = {"hidden": settings.hidden, "layers": settings.layers, "rngs": rngs}
        phi_tags, concept_tags = processor.tags[PHI], processor.tags[CONCEPT]
        phi = BilstmCrf(**self.sizes(processor.phi), **sizes, tags=len(phi_tags), context=settings.context)
        tokens = self.sizes(processor.concept)
        concept = ConceptPart(tokens, **sizes, tags=len(concept_tags), phi_tags=phi_tags)
        return Stacked(phi, concept, temperature=settings.temperature)

    def rates(self) -> dict[str, float]:
        """Dropout rates of both parts."""
        return super().rates() | add_prefix(super().rates())

    def dropped(self, processor: StackedProcessor, rows: Sequence[Row]) -> Mapping[str, WordDropout]:
        """Word dropout, independent for each part."""
        (words,) = add_prefix({"words": None})
        return self.word_dropout(processor.phi, rows) | self.word_dropout(processor.concept, rows, name=words)

    def word_processor(self, processor: StackedProcessor) -> WordProcessor:
        """Processor of the part that finds PHI."""
        return processor.phi

    def stores(self, words: Sequence[str]) -> list[bool]:
        """Report for each word whether the concept part's vocabulary has it."""
        processor: Any = self._trained().processor
        return [number >= FIRST_WORD for number in processor.concept.vocabulary.ids(words)]

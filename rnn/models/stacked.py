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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from crfdeid.bio import OUTSIDE
from crfdeid.documents import CONCEPT, PHI, LabelledSentence
from crfdeid.tagger import LayeredTagger, Traits
from crfdeid.validation import require_number
from features.tokens import Sentence
from rnn.batching import Row
from rnn.inputs import Characters, TokenInputs, TokenProcessor
from rnn.interfaces import Arrays
from rnn.layers.crf import CrfOutput, CrfScores
from rnn.layers.dropout import WordDropout, dropout, split_key
from rnn.layers.lstm import BiLstms
from rnn.models.bilstm_crf import BilstmCrf, bilstm_sizes, fit_inputs, input_sizes
from rnn.models.joint import JointSettings, TagsConcepts, lange2020_joint
from rnn.network import PHI_TAG_IDS, uniform
from rnn.settings import WordSettings
from rnn.tagger import NetworkTagger
from rnn.vocab import FIRST_WORD, PAD, Vocabulary, zero_digits
from rnn.words import SentenceRows, tags_of, word_dropout

CONCEPT_PREFIX = "concept "
"""Prefix of the names of the concept part's inputs and tables."""


def strip_prefix(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Select the arrays of the concept part, without the prefix."""
    return {
        name.removeprefix(CONCEPT_PREFIX): array for name, array in arrays.items() if name.startswith(CONCEPT_PREFIX)
    }


def add_prefix(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Add the prefix of the concept part to names.

    Example:
        >>> add_prefix({"words": 1})
        {'concept words': 1}
    """
    return {CONCEPT_PREFIX + name: array for name, array in arrays.items()}


@dataclass(frozen=True)
class StackedProcessor(SentenceRows):
    """Sentences to rows with the inputs and targets of both parts of a stacked model.

    Args:
        phi: processor of the part that finds PHI.
        concept: processor of the part that tags concepts. Every input depends on its token alone, so that replacing
            a token's inputs removes all trace of it.

    Raises:
        ValueError: the concept part reads words around a sentence or hand-made features.
    """

    phi: TokenProcessor
    concept: TokenProcessor

    def __post_init__(self) -> None:
        if self.concept.margin or self.concept.note or self.concept.features is not None:
            raise ValueError("words around a sentence and features of neighbours would reveal hidden PHI")

    @property
    def tags(self) -> dict[str, tuple[str, ...]]:
        """Tags of each annotation layer, PHI first."""
        return {**self.phi.tags, **self.concept.tags}

    @property
    def key(self) -> bytes | None:
        """Key of hashed words and features; None for readable ones."""
        return self.phi.key

    def rows(self, sentences: Sequence[Sentence], targets: Sequence[LabelledSentence] | None = None) -> list[Row]:
        """Make one row a sentence; see `TokenProcessor.rows`."""
        pairs = zip(self.phi.rows(sentences, targets), self.concept.rows(sentences, targets), strict=True)
        return [Row({**a.inputs, **add_prefix(b.inputs)}, {**a.targets, **b.targets}, a.length) for a, b in pairs]

    def hashed(self, key: bytes) -> tuple[StackedProcessor, dict[str, np.ndarray]]:
        """Hash words and features of both parts; see `TokenProcessor.hashed`."""
        phi, moved = self.phi.hashed(key)
        concept, own_moved = self.concept.hashed(key)
        return StackedProcessor(phi, concept), {**moved, **add_prefix(own_moved)}

    def describe(self) -> dict[str, Any]:
        """Return both parts as JSON data, for `read`."""
        return {"phi": self.phi.describe(), "concept": self.concept.describe()}

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays of both parts, for `read`."""
        return {**self.phi.arrays(), **add_prefix(self.concept.arrays())}

    def read(
        self, described: Mapping[str, Any], arrays: Mapping[str, np.ndarray], key: bytes | None
    ) -> StackedProcessor:
        """Restore a processor from `describe` and `arrays`, with this one's settings; see `TokenProcessor.read`."""
        shared = {name: array for name, array in arrays.items() if not name.startswith(CONCEPT_PREFIX)}
        return replace(
            self,
            phi=self.phi.read(described["phi"], shared, key),
            concept=self.concept.read(described["concept"], strip_prefix(arrays), key, layer=CONCEPT),
        )


def without_phi(sentences: Iterable[LabelledSentence]) -> list[LabelledSentence]:
    """Remove the tokens of gold PHI from sentences, to learn words from the remainder.

    Text without PHI annotation is unchanged.
    """
    found = []
    for item in sentences:
        tokens = tuple(token for token, tag in zip(item.sentence.tokens, item.tags, strict=True) if tag == OUTSIDE)
        if tokens:
            found.append(LabelledSentence(Sentence(tokens), (OUTSIDE,) * len(tokens), item.document))
    return found


def exclude_phi_words(vocabulary: Vocabulary, sentences: Sequence[LabelledSentence]) -> Vocabulary:
    """Remove words that occur as PHI only, in their spelling or in lower case, from a vocabulary.

    Pretrained word vectors bring such words into a vocabulary.
    """
    read = zero_digits if vocabulary.fold_digits else str
    seen = {read(word) for item in without_phi(sentences) for word in item.sentence.words}
    hidden = {
        read(word)
        for item in sentences
        for word, tag in zip(item.sentence.words, item.tags, strict=True)  # all "O" without PHI annotation
        if tag != OUTSIDE
    } - seen
    small = {word.lower() for word in hidden} - {word.lower() for word in seen}
    return replace(vocabulary, words=tuple(w for w in vocabulary.words if w not in hidden and w.lower() not in small))


def gumbel_softmax(scores: jax.Array, gumbel: jax.Array, temperature: float) -> jax.Array:
    """y_k = exp((log a_k + G_k) / t) / sum over i of exp((log a_i + G_i) / t): equation 1, [T, K].

    Args:
        scores: log a_k, the score of each tag, [T, K].
        gumbel: G_k, samples of Gumbel(0, 1), [T, K]; zeros for no noise.
        temperature: t; the nearer it is to 0, the nearer y is to a single 1.
    """
    return jax.nn.softmax((scores + gumbel) / temperature, axis=1)


class MaskedEmbedding(nnx.Module):
    """Replaces the inputs of tokens with a PHI tag by a trained vector of the PHI type.

    The output is sum over k of y_k v_k with y one-hot at the decided tag: v_k is the token's input for the tag O, and
    the vector of the tag's type for others. The gradient goes straight through to the soft y (Jang et al. 2017, section
    2.2).

    Args:
        tags: the PHI tags, K.
        size: size of an input, D.
        rngs: source of the initial vectors.
    """

    def __init__(self, tags: Sequence[str], size: int, *, rngs: nnx.Rngs) -> None:
        types = sorted({tag[2:] for tag in tags if tag != OUTSIDE})
        # Tuples, since the structure of a network is compared and hashed.
        self.rows = tuple(0 if tag == OUTSIDE else types.index(tag[2:]) for tag in tags)  # [K]
        self.hides = tuple(tag != OUTSIDE for tag in tags)  # [K]
        self.E = nnx.Param(uniform(rngs.params(), (max(len(types), 1), size), 0.25))  # [types, D]

    def __call__(self, inputs: jax.Array, decided: jax.Array, soft: jax.Array) -> jax.Array:
        """Inputs with PHI replaced, [T, D].

        Args:
            inputs: [T, D].
            decided: id of each token's tag, [T].
            soft: probability of each tag, [T, K], for the gradient alone.
        """
        vectors = self.E[...][np.array(self.rows)]  # [K, D]
        return _masked(inputs, vectors, decided, soft, jnp.array(self.hides))


@jax.custom_vjp
def _masked(inputs: jax.Array, vectors: jax.Array, decided: jax.Array, soft: jax.Array, hides: jax.Array) -> jax.Array:
    # A choice instead of a sum: 0 * x would let infinities, and the sign of zero, through.
    return jnp.where(hides[decided][:, None], vectors[decided], inputs)


def _forward(
    inputs: jax.Array, vectors: jax.Array, decided: jax.Array, soft: jax.Array, hides: jax.Array
) -> tuple[jax.Array, tuple[jax.Array, ...]]:
    return _masked(inputs, vectors, decided, soft, hides), (inputs, vectors, decided, hides)


def _backward(kept: tuple[jax.Array, ...], gradient: jax.Array) -> tuple[jax.Array, jax.Array, None, jax.Array, None]:
    inputs, vectors, decided, hides = kept
    hidden = hides[decided][:, None]
    of_vectors = jnp.zeros_like(vectors).at[decided].add(jnp.where(hidden, gradient, 0.0))
    own = jnp.sum(gradient * inputs, axis=1)[:, None]  # for the tag O
    of_soft = jnp.where(hides[None], gradient @ vectors.T, own)
    return jnp.where(hidden, 0.0, gradient), of_vectors, None, of_soft, None


_masked.defvjp(_forward, _backward)


class ConceptPart(nnx.Module):
    """Token inputs, PHI replaced -> BiLSTM layers -> CRF.

    Args:
        tokens: arguments of `TokenInputs`.
        bilstm: arguments of `BiLstms`.
        tags: number of concept tags.
        phi_tags: the PHI tags.
        output_dropout: dropout rate of the last layer's states, before the CRF.
        rngs: source of the initial weights.
    """

    def __init__(
        self,
        tokens: Mapping[str, Any],
        bilstm: Mapping[str, Any],
        *,
        tags: int,
        phi_tags: Sequence[str],
        output_dropout: float = 0.0,
        rngs: nnx.Rngs,
    ) -> None:
        self.tokens = TokenInputs(**tokens, rngs=rngs)
        self.masked = MaskedEmbedding(phi_tags, self.tokens.size, rngs=rngs)
        self.bilstm = BiLstms(self.tokens.size, **bilstm, rngs=rngs)
        self.output_dropout = output_dropout
        self.crf = CrfOutput(2 * self.bilstm.hidden, tags, rngs=rngs)

    def __call__(
        self, vectors: Arrays, inputs: Arrays, *, decided: jax.Array, soft: jax.Array, key: jax.Array | None = None
    ) -> CrfScores:
        """Scores of a sentence's concepts, from the ids of its PHI tags, [T], and each tag's probability, [T, K]."""
        layers_key, output_key = split_key(key, 2)
        read = self.masked(self.tokens(vectors, inputs), decided, soft)
        states = self.bilstm(read, inputs["words"] != PAD, layers_key)
        return self.crf(dropout(states, self.output_dropout, output_key))


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

    def scores(
        self, vectors: Arrays, inputs: Arrays, length: jax.Array, key: jax.Array | None = None
    ) -> dict[str, CrfScores]:
        """Scores of PHI, and of concepts with the decided PHI hidden, else PHI sampled from the scores."""
        phi_key, concept_key, gumbel_key = split_key(key, 3)
        phi = self.phi.scores(vectors, inputs, length, phi_key)[PHI]
        shape = phi.emissions.shape
        gumbel = jnp.zeros(shape) if gumbel_key is None else jax.random.gumbel(gumbel_key, shape)
        soft = gumbel_softmax(phi.emissions, gumbel, self.temperature)
        decided = inputs[PHI_TAG_IDS] if PHI_TAG_IDS in inputs else jnp.argmax(phi.emissions + gumbel, axis=1)
        concept = self.concept(strip_prefix(vectors), strip_prefix(inputs), decided=decided, soft=soft, key=concept_key)
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
class StackedTagger(TagsConcepts, NetworkTagger, LayeredTagger):
    """Tagger with the stacked network."""

    model = "stacked"
    settings_class = StackedSettings
    settings: StackedSettings

    @classmethod
    def profiles(cls) -> Mapping[str, StackedSettings]:
        """Settings by profile name: "lange2020" is section 4.1; the temperature is of its authors' code."""
        return {"default": StackedSettings(), "lange2020": StackedSettings(**lange2020_joint(), temperature=0.5)}

    @classmethod
    def traits(cls, settings: WordSettings) -> Traits:
        """Return the traits of a `Tagger`: the concept part does not see PHI."""
        return super().traits(settings)._replace(hides_phi=True)

    def _concept_blank_processor(self) -> TokenProcessor:
        """Processor of the concept part, without words."""
        characters = Characters(()) if self.settings.char_dim else None
        return TokenProcessor(
            Vocabulary((), self.settings.fold_digits),
            {},
            casing=self.settings.features != "none",
            characters=characters,
        )

    def processor(self, train: Sequence[LabelledSentence]) -> StackedProcessor:
        """Build the processor for training sentences."""
        self.tell_language(train)
        settings, vectors = self.settings, self.vectors
        phi = fit_inputs(super().blank_processor(), train, settings, vectors, (PHI,))
        concept = fit_inputs(self._concept_blank_processor(), without_phi(train), settings, vectors, ())
        vocabulary = exclude_phi_words(concept.vocabulary, train)
        return StackedProcessor(
            phi, dataclasses.replace(concept, vocabulary=vocabulary, tags={CONCEPT: tags_of(train, CONCEPT)})
        )

    def blank_processor(self) -> StackedProcessor:
        """Processor without words."""
        return StackedProcessor(super().blank_processor(), self._concept_blank_processor())

    def tables(self, processor: StackedProcessor, rngs: nnx.Rngs) -> dict[str, jax.Array]:
        """Initial vectors of both parts."""
        return super().tables(processor.phi, rngs) | add_prefix(super().tables(processor.concept, rngs))

    def network(self, processor: StackedProcessor, rngs: nnx.Rngs) -> Stacked:
        """Create the network."""
        settings = self.settings
        bilstm, phi_tags = bilstm_sizes(settings), processor.tags[PHI]
        more: dict[str, Any] = {"output_dropout": settings.output_dropout, "rngs": rngs}
        tokens = input_sizes(settings, processor.phi)
        phi = BilstmCrf(tokens, bilstm, tags=len(phi_tags), context=settings.context, **more)
        tokens = input_sizes(settings, processor.concept)
        concept = ConceptPart(tokens, bilstm, tags=len(processor.tags[CONCEPT]), phi_tags=phi_tags, **more)
        return Stacked(phi, concept, temperature=settings.temperature)

    def dropped(self, processor: StackedProcessor, rows: Sequence[Row]) -> Mapping[str, WordDropout]:
        """Word dropout, independent for each part."""
        (words,) = add_prefix({"words": None})
        settings = self.settings
        return word_dropout(processor.phi, rows, settings) | word_dropout(processor.concept, rows, settings, name=words)

    def phi_processor(self, processor: StackedProcessor) -> TokenProcessor:
        """Processor of the part that finds PHI."""
        return processor.phi

    def stores(self, words: Sequence[str]) -> list[bool]:
        """Report for each word whether the concept part's vocabulary has it."""
        processor: Any = self.trained().processor
        return [number >= FIRST_WORD for number in processor.concept.vocabulary.ids(words)]

    def phi_part(self, network: Stacked) -> BilstmCrf:
        """Part of the network that finds PHI."""
        return network.phi

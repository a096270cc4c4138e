"""The BiLSTM-CRF (friedrich2019, section 3 and Table 1): bidirectional LSTM layers and a linear-chain CRF.

Its settings and parts are also those of the joint models, `rnn.models.multitask` and `rnn.models.stacked`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import jax
from flax import nnx

from crfdeid.documents import PHI, LabelledSentence
from crfdeid.explain.data import TagMatrix, WeightNorm
from crfdeid.tagger import told_language
from crfdeid.validation import require_choice, require_counts, require_language, require_number, require_shares
from features import FEATURE_SETS, feature_set
from features.languages import AUTO, language_codes
from features.tokens import Sentence
from rnn.batching import Row
from rnn.embeddings.vectors import WordVectors
from rnn.inputs import Characters, Features, TokenInputs, TokenProcessor
from rnn.interfaces import Arrays
from rnn.interpret import token_norms, transitions
from rnn.layers.crf import CrfOutput, CrfScores
from rnn.layers.dropout import dropout, split_key
from rnn.layers.lstm import BiLstms
from rnn.network import uniform
from rnn.settings import TAGGING_LOSSES, WordSettings, paper_settings
from rnn.tagger import NetworkTagger
from rnn.training.losses import tagging_loss
from rnn.training.minibatches import OPTIMISERS, optimiser, per_sentences
from rnn.training.schedules import Phase, Schedule, early_stopping, falling_rate
from rnn.vocab import PAD, Vocabulary
from rnn.words import ReadsWords, fit_words, word_dropout, word_phase


class BilstmCrf(nnx.Module):
    """Word vectors, casing, characters and features -> BiLSTM layers -> emissions of a CRF.

    Args:
        tokens: arguments of `TokenInputs`.
        bilstm: arguments of `BiLstms`.
        tags: number of tags, K.
        context: words of the note before and after the sentence that the LSTMs read too.
        output_dropout: dropout rate of the last layer's states, before the CRF.
        rngs: source of the initial weights.
    """

    def __init__(
        self,
        tokens: Mapping[str, Any],
        bilstm: Mapping[str, Any],
        *,
        tags: int,
        context: int = 0,
        output_dropout: float = 0.0,
        rngs: nnx.Rngs,
    ) -> None:
        self.context, self.output_dropout = context, output_dropout
        self.tokens = TokenInputs(**tokens, rngs=rngs)
        self.bilstm = BiLstms(self.tokens.size, **bilstm, rngs=rngs)
        self.crf = CrfOutput(2 * self.bilstm.hidden, tags, rngs=rngs)

    @property
    def tables(self) -> dict[str, str]:
        """Tables of words, and of characters and features if they are inputs."""
        return self.tokens.tables

    def scores(
        self, vectors: Arrays, inputs: Arrays, length: jax.Array, key: jax.Array | None = None
    ) -> dict[str, CrfScores]:
        """Emissions of the sentence's tokens, [T, K], and transitions, [K, K]."""
        layers_key, output_key = split_key(key, 2)
        real = inputs["words"] != PAD  # [P], P = T + 2 * context
        states = self.bilstm(self.tokens(vectors, inputs), real, layers_key)  # [P, 2H]
        own = states[self.context : states.shape[0] - self.context]  # [T, 2H]
        return {PHI: self.crf(dropout(own, self.output_dropout, output_key))}


@dataclass(frozen=True, kw_only=True)
class BilstmCrfSettings(WordSettings):
    """Settings of the BiLSTM-CRF, and of all networks over BiLSTM layers.

    Args:
        hidden: units of an LSTM layer in each direction, H.
        layers: LSTM layers, one upon the other.
        features: hand-made features: "casing" for the casing class alone (friedrich2019), "none", or a set of
            `features` ("form") with learned vectors, in addition to the casing class.
        feature_dim: size of a feature's vector.
        feature_min_count: occurrences in training below which a feature has no vector.
        char_dim: size of a character's vector; 0 for no characters.
        char_filters: filters over the characters.
        context: words of the note before and after the sentence that the LSTMs read too, at most 1,000.
        input_dropout: dropout rate of a token's inputs.
        variational_dropout: dropout rate of the inputs and hidden units of an LSTM layer, with one mask a sentence.
        output_dropout: dropout rate of the last layer's states, before the CRF.
        batch: sentences an update.
        tagging_loss: "sum" for the loss of a whole sentence, "mean" for its mean over tokens; max_norm bounds its
            gradient.
        optimiser: "nadam", or "sgd" for plain stochastic gradient descent.
        halve_after: epochs without a better F on dev after which the learning rate is halved; None to let it fall
            linearly to ``final_lr``.
        patience: epochs without a better F on dev after which training ends; None for never.
        average: decay of the moving average of the weights, such as 0.999; the average is used for tagging. 0 for none.
        language: codes of the notes' languages, joined by "+", for lexicon features; "auto" for those of the training
            notes.

    Raises:
        UsageError: a value cannot work.
    """

    epochs: int = 12
    lr: float = 0.002
    final_lr: float = 0.05
    max_norm: float | None = 1.0
    word_dropout: float = 0.5
    hidden: int = 160
    layers: int = 1
    features: str = "form"
    feature_dim: int = 50
    feature_min_count: int = 3
    char_dim: int = 25
    char_filters: int = 50
    context: int = 0
    input_dropout: float = 0.1
    variational_dropout: float = 0.25
    output_dropout: float = 0.5
    batch: int = 32
    tagging_loss: str = "sum"
    optimiser: str = "nadam"
    halve_after: int | None = None
    patience: int | None = 6
    average: float = 0.998
    language: str = AUTO

    def __post_init__(self) -> None:
        super().__post_init__()
        require_counts(self, "hidden", "layers", "feature_dim", "feature_min_count", "char_filters", "batch")
        require_shares(self, "input_dropout", "variational_dropout", "output_dropout", "average")
        require_counts(self, "char_dim", least=0)
        most = 1000  # words: every sentence is padded by all of them
        what = f"a whole number from 0 to {most}"
        require_number("context", self.context, what, lambda v: isinstance(v, int) and 0 <= v <= most)
        require_choice(self, "optimiser", tuple(OPTIMISERS))
        require_choice(self, "tagging_loss", TAGGING_LOSSES)
        for name in ("patience", "halve_after"):
            if getattr(self, name) is not None:
                require_counts(self, name)
        require_choice(self, "features", _FEATURES)
        require_language(self.language)


_FEATURES = ("casing", "none", *FEATURE_SETS)


def fit_inputs(
    blank: TokenProcessor,
    train: Sequence[LabelledSentence],
    settings: BilstmCrfSettings,
    vectors: WordVectors | None,
    layers: Sequence[str],
) -> TokenProcessor:
    """Add the words, characters, features and tags of sentences to a processor; see `fit_words`."""
    processor, sentences = fit_words(blank, train, settings, vectors, layers=layers), [item.sentence for item in train]
    if processor.characters is not None:
        known = Characters.build(word for sentence in sentences for word in sentence.words)
        processor = dataclasses.replace(processor, characters=known)
    if processor.features is not None:
        features = Features.build(
            processor.features.extracted,
            train,
            min_count=settings.feature_min_count,
            min_documents=settings.min_documents,
        )
        width = features.rows(sentences, 0)[0].shape[1]
        processor = dataclasses.replace(processor, features=features, width=width)
    return processor


def input_sizes(settings: BilstmCrfSettings, processor: TokenProcessor) -> dict[str, Any]:
    """Arguments of `rnn.inputs.TokenInputs`."""
    return {
        "dim": settings.embedding_dim,
        "casing": processor.casing,
        "char_dim": settings.char_dim,
        "char_filters": settings.char_filters,
        "feature_dim": 0 if processor.features is None else settings.feature_dim,
    }


def bilstm_sizes(settings: Any) -> dict[str, Any]:
    """Arguments of `BiLstms`, from settings with these names."""
    names = ("hidden", "layers", "input_dropout", "variational_dropout")
    return {name: getattr(settings, name) for name in names}


def bilstm_schedule(settings: BilstmCrfSettings, phase_of: Callable[[int], Phase], *, not_counted: int = 0) -> Schedule:
    """One phase an epoch with a falling or halved learning rate, until F on dev stops rising.

    The F of the first ``not_counted`` epochs counts neither as better nor as worse.
    """
    if settings.halve_after is None:
        return falling_rate(phase_of, settings, patience=settings.patience, not_counted=not_counted)
    plateau = {"patience": settings.patience, "halve_after": settings.halve_after}
    return early_stopping(phase_of, epochs=settings.epochs, not_counted=not_counted, **plateau)


class ReadsInputs(ReadsWords):
    """Mixin of `rnn.tagger.NetworkTagger` for networks over BiLSTM layers."""

    settings: BilstmCrfSettings

    def tell_language(self, train: Sequence[LabelledSentence]) -> None:
        """Make the language of training sentences the setting if that is "auto"."""
        self.settings = dataclasses.replace(self.settings, language=told_language(self.settings.language, train))

    def blank_processor(self) -> Any:
        """Processor without words."""
        settings = self.settings
        found = None
        if settings.features in FEATURE_SETS:
            found = feature_set(settings.features, pos="none").with_languages(language_codes(settings.language))
        return TokenProcessor(
            Vocabulary((), settings.fold_digits),
            {},
            margin=settings.context,
            note=True,
            casing=settings.features != "none",
            characters=Characters(()) if settings.char_dim else None,
            features=Features(found, ()) if found else None,
        )

    def processor(self, train: Sequence[LabelledSentence]) -> Any:
        """Build the processor for training sentences."""
        self.tell_language(train)
        layers = self.traits(self.settings).layers
        return fit_inputs(self.blank_processor(), train, self.settings, self.vectors, layers)

    def tables(self, processor: Any, rngs: nnx.Rngs) -> dict[str, jax.Array]:
        """Initial vectors of words, and of characters and features if the settings ask for them."""
        found, settings = super().tables(processor, rngs), self.settings
        if processor.characters is not None:
            shape = (len(processor.characters), settings.char_dim)
            bound = (3.0 / shape[1]) ** 0.5  # as Ma and Hovy (2016, section 3.1)
            found["characters"] = uniform(rngs.params(), shape, bound)
        if processor.features is not None:
            shape = (len(processor.features.names) + 1, settings.feature_dim)
            found["features"] = uniform(rngs.params(), shape, 0.05)
        return found

    def phi_part(self, network: Any) -> Any:
        """Part of the network that finds PHI, with its ``bilstm``."""
        return network

    def phi_output(self, network: Any) -> CrfOutput:
        """CRF layer that finds PHI."""
        found: CrfOutput = self.phi_part(network).crf
        return found

    def input_norms(self, network: Any) -> Iterable[WeightNorm]:
        """Norms of the first layer's weights for each input of a token, in the part that finds PHI."""
        part = self.phi_part(network)
        name = "network.bilstm.layers.0.W" if part is network else "network.phi.bilstm.layers.0.W"
        return token_norms(name, part.bilstm.layers[0].W[...], part.tokens.sizes)

    def tag_matrices(self, network: Any, sentences: Sequence[Sentence]) -> Iterable[TagMatrix]:
        """Transitions of the CRF layer that finds PHI."""
        return [transitions(self.trained().processor.tags[PHI], self.phi_output(network).A[...])]


@final
class BilstmCrfTagger(ReadsInputs, NetworkTagger):
    """Tagger with the BiLSTM-CRF."""

    model = "bilstm-crf"
    settings_class = BilstmCrfSettings

    @classmethod
    def profiles(cls) -> Mapping[str, BilstmCrfSettings]:
        """Settings by profile name: "friedrich2019" is Table 1, "lange2020" a half of the pipeline (section 4.1).

        Friedrich et al. give neither the learning rate nor the number of epochs: 0.002 is the rate of Keras's Nadam,
        whose momentum schedule optax's lacks. The authors' code trains the CRF by its marginals; here the likelihood of
        the path is trained, as the paper says. That the loss is a mean over tokens is from the code.

        Lange et al. give neither dropout, nor the number of epochs, nor the patience of early stopping, nor a bound on
        gradients. The paper's inputs are byte pairs, fastText, FLAIR and BERT; here they are the library's word vectors
        and characters.
        """
        papers = {
            "friedrich2019": paper_settings("friedrich2019", "bilstm-crf"),
            "lange2020": paper_settings("lange2020", "bilstm"),
        }
        return {"default": BilstmCrfSettings(), **{name: BilstmCrfSettings(**own) for name, own in papers.items()}}

    def network(self, processor: TokenProcessor, rngs: nnx.Rngs) -> BilstmCrf:
        """Create the network."""
        settings = self.settings
        return BilstmCrf(
            input_sizes(settings, processor),
            bilstm_sizes(settings),
            tags=len(processor.tags[PHI]),
            context=settings.context,
            output_dropout=settings.output_dropout,
            rngs=rngs,
        )

    def schedule(self, processor: TokenProcessor, rows: Sequence[Row]) -> Schedule:
        """Train by minibatches of about one length, until F on dev stops rising."""
        settings = self.settings
        updates = per_sentences(settings.batch, optimiser(OPTIMISERS[settings.optimiser]))
        phase = word_phase(self.model, settings, rows, updates, word_dropout(processor, rows, settings))
        phase = phase._replace(average=settings.average, loss=tagging_loss(settings.tagging_loss))
        return bilstm_schedule(settings, lambda epoch: phase)

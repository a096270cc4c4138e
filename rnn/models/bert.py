"""BERT as a tagger (johnson2020): a pretrained encoder and a linear map to tags, fine-tuned together."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar, final

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

from crfdeid.bio import OUTSIDE
from crfdeid.crf.decoding import best_valid_tags
from crfdeid.documents import PHI, LabelledSentence
from crfdeid.errors import OptionConflictError, SettingError
from crfdeid.evaluation import count_tags
from crfdeid.serialization import PUBLIC
from crfdeid.tagger import OnProgress, Traits, learnable
from crfdeid.validation import require_choice, require_counts, require_flags, require_number, require_shares
from features.tokens import Sentence
from rnn import gpu
from rnn.batching import PaddingPolicy, Row, rows_by_length
from rnn.decode import posteriors, run_batches
from rnn.interfaces import Arrays, Network, Params
from rnn.layers.dropout import dropout, split_key
from rnn.layers.softmax import SoftmaxScores
from rnn.layers.transformer import Linear, TransformerEncoder
from rnn.network import Structure, TrainedModel
from rnn.pretrained.config import SCHEMES, EncoderConfig, Head, read_renamed
from rnn.pretrained.hub import (
    DISTRIBUTION,
    LICENCE,
    PretrainedEncoder,
    read_classifier,
    read_encoder,
    small_encoder,
)
from rnn.pretrained.subwords import NOT_COUNTED, PIECES, SubwordProcessor
from rnn.pretrained.text import TextProcessor
from rnn.saving import expected_shapes, params_from, require_known_tags
from rnn.settings import TrainingSettings, paper_settings
from rnn.tagger import NetworkTagger
from rnn.training.minibatches import optimiser, per_sentences
from rnn.training.schedules import Phase, Schedule, early_stopping
from rnn.words import tags_of

_log = logging.getLogger("crfdeid")
_LAYER = re.compile(r"network\.encoder\.layers\.(\d+)\.")  # in the name of an array
_BEST, _LAST = _KEPT = ("best", "last")
_SPECIAL = 2  # special pieces of a window, at its start and end
_NEVER = -1e9  # score of an output that is another tag's; finite, so that its gradient is a number
_STEP = 16  # windows are padded to multiples of it, or to the longest window: each length is compiled once
# Padded tokens in a batch of windows: larger batches gain nothing on a CPU, and the last one is half empty.
_TOKENS = 512


class Bert(nnx.Module):
    """Vectors of word pieces -> transformer -> score of each tag at each piece.

    Args:
        encoder: the encoder's sizes.
        tags: number of tags, K.
        dropout: dropout rate of all layers.
        rngs: source of the initial weights.
        outputs: tag of each output of the linear map, whose probabilities are added by tag; () for an output a tag.
        largest: take the largest probability by tag in place of the sum, for `TextProcessor.most_probable_labels`.
    """

    tables: Mapping[str, str] = {"pieces": PIECES}

    def __init__(
        self,
        encoder: EncoderConfig,
        tags: int,
        *,
        dropout: float = 0.0,
        rngs: nnx.Rngs,
        outputs: tuple[int, ...] = (),
        largest: bool = False,
    ) -> None:
        self.tags, self.outputs, self.largest = tags, outputs, largest
        self.encoder = TransformerEncoder(encoder, dropout=dropout, rngs=rngs)
        self.head = Linear(encoder.hidden, len(outputs) or tags, rngs=rngs)

    def scores(
        self, vectors: Arrays, inputs: Arrays, length: jax.Array, key: jax.Array | None = None
    ) -> dict[str, SoftmaxScores]:
        """Scores of a window's pieces, [L, K]; a word has those of its first piece."""
        encoder_key, output_key = split_key(key, 2)
        real = jnp.arange(inputs[PIECES].shape[0]) < length
        states = self.encoder(vectors["pieces"], real, encoder_key)  # [L, H]
        found = self.head(dropout(states, self.encoder.dropout, output_key))
        if self.outputs not in ((), (*range(self.tags),)):
            others = np.array(self.outputs)[:, None] != np.arange(self.tags)  # [outputs, K]
            by_tag = jnp.where(others[None], _NEVER, found[:, :, None])
            found = by_tag.max(axis=1) if self.largest else jax.nn.logsumexp(by_tag, axis=1)
        return {PHI: SoftmaxScores(found)}


def first_pieces_loss(
    network: Network, vectors: Arrays, *, inputs: Arrays, targets: Arrays, length: jax.Array, key: jax.Array | None
) -> jax.Array:
    """Negative log-likelihood of a window's words in nats, each by its first piece (johnson2020, section 3.4)."""
    tags = targets[PHI]
    counted = (jnp.arange(tags.shape[0]) < length) & (tags != NOT_COUNTED)
    scores: Any = network.scores(vectors, inputs, length, key)[PHI]
    losses = jax.nn.logsumexp(scores.emissions, axis=1) - gpu.pick(scores.emissions, jnp.maximum(tags, 0))  # [L]
    return jnp.sum(losses, where=counted)


def warmup_linear_decay(rate: float, *, updates: int, warm: int, last: float) -> optax.Schedule:
    """Learning rate that rises linearly to ``rate``, then falls linearly to ``last`` times it.

    Args:
        rate: the highest learning rate.
        updates: number of updates in the whole training.
        warm: number of updates of the rise.
        last: share of the rate at the last update.
    """
    rise = optax.linear_schedule(rate / (warm + 1), rate, max(warm, 1))
    fall = optax.linear_schedule(rate, rate * last, max(updates - 1 - warm, 1))
    return optax.join_schedules([rise, fall], [warm])


def chosen_tags(
    tables: Sequence[np.ndarray], tags: Sequence[str], *, decoding: str, boundaries: bool
) -> list[list[str]]:
    """Choose the tags of sentences from probabilities that were merged from several rows.

    Args:
        tables: for each sentence, the probability of each tag at each token, [T, K].
        tags: tag of each column.
        decoding: "valid" or "argmax", see `rnn.settings.TrainingSettings`.
        boundaries: see `BertSettings`.
    """
    if decoding == "valid" and boundaries:
        return best_valid_tags(tables, tags)
    names = np.array(tags, object)
    found = [names[table.argmax(axis=1)].tolist() for table in tables]
    return found if boundaries else [_joined(row) for row in found]


def _type_class(tag: str) -> str:
    """Class of a tag without boundaries: every token of an entity has the tag that its inside has."""
    return tag if tag == OUTSIDE else f"I-{tag[2:]}"


def _joined(classes: Sequence[str]) -> list[str]:
    """IOB2 tags of a sentence's classes (`_type_class`): adjacent tokens of one class are one entity."""
    before = (OUTSIDE, *classes)
    return [f"B-{tag[2:]}" if tag not in (OUTSIDE, last) else tag for tag, last in zip(classes, before, strict=False)]


@dataclass(frozen=True)
class DevNotes:
    """Development sentences as a `rnn.interfaces.DevMetric`: windows are merged before words are tagged.

    Args:
        sentences: the sentences with gold tags.
        processor: makes the windows.
        choose: probabilities and the tags of their columns -> tags, as `BertTagger.choose_tags`.
        padding: padded lengths and batch sizes of the windows.
    """

    sentences: Sequence[LabelledSentence]
    processor: SubwordProcessor
    choose: Callable[[Sequence[np.ndarray], Sequence[str]], list[list[str]]]
    padding: PaddingPolicy

    @cached_property
    def _rows(self) -> list[Row]:
        return self.processor.rows([item.sentence for item in self.sentences])

    def f1(self, structure: Structure, params: Params) -> float:
        """Strict entity micro F."""
        tags = self.processor.tags[PHI]
        ask = partial(posteriors, structure, params, layer=PHI)
        found = run_batches(self._rows, ask, nothing=np.empty((0, len(tags)), np.float32), padding=self.padding)
        tables = self.processor.scatter_to_tokens(self._rows, found, [item.sentence for item in self.sentences])
        gold = [item.tags for item in self.sentences]
        return count_tags(gold, self.choose(tables, tags)).micro.f1


@dataclass(frozen=True, kw_only=True)
class BertSettings(TrainingSettings):
    """Settings of BERT as a tagger.

    Args:
        encoder: folder of a pretrained encoder in the Hugging Face hub's layout, BERT, RoBERTa or DistilBERT; "" for
            the small English one that ``python -m rnn.fetch_encoder`` fetches.
        checkpoint: folder of a finished token classifier in the same layout, in place of an encoder; "" for none. Its
            labels are kept, and with ``epochs=0`` its weights.
        labels: other names of its labels or types, such as "PER=PATIENT,MISC=O".
        scheme: reading of its labels, "iob2", or "iob1" where an entity can begin with I.
        window: word pieces in a window.
        overlap: largest number of pieces that two neighbouring windows share, less than ``window``.
        warmup: share of the updates over which the learning rate rises; it then falls linearly to ``final_lr`` of its
            maximum.
        dropout: dropout rate of all layers.
        batch: windows an update.
        boundaries: whether tags mark where an entity begins (IOB2); else there is one class a type, and adjacent tokens
            of one type are one entity.
        keep: kept epoch: "best" by F on dev, or "last".

    Raises:
        UsageError: a value cannot work.
    """

    least_epochs: ClassVar[int] = 0

    epochs: int = 6
    lr: float = 1.5e-4
    final_lr: float = 0.0
    max_norm: float | None = 40.0
    encoder: str = ""
    checkpoint: str = ""
    labels: str = ""
    scheme: str = "iob2"
    window: int = 100
    overlap: int = 40
    warmup: float = 0.1
    dropout: float = 0.1
    batch: int = 8
    boundaries: bool = True
    keep: str = _BEST

    def __post_init__(self) -> None:
        super().__post_init__()
        require_counts(self, "window", "batch")
        require_flags(self, "boundaries")
        require_choice(self, "keep", _KEPT)
        require_shares(self, "warmup", "dropout")
        less = f"a whole number from 0 to below the window, {self.window}"
        require_number("overlap", self.overlap, less, lambda v: isinstance(v, int) and 0 <= v < self.window)
        for name in ("encoder", "checkpoint", "labels"):
            if not isinstance(getattr(self, name), str):
                raise SettingError(f"{name} is {getattr(self, name)}: give a text")
        require_choice(self, "scheme", SCHEMES)
        read_renamed(self.labels)
        if self.encoder and self.checkpoint:
            raise OptionConflictError("encoder and checkpoint: give one of them, as a checkpoint has its encoder")
        if self.checkpoint and not self.boundaries:
            raise OptionConflictError(
                "boundaries and checkpoint: a checkpoint has its own labels; leave boundaries out"
            )


@final
class BertTagger(NetworkTagger):
    """Tagger with a pretrained encoder.

    Its files hold the fine-tuned encoder and the tokenizer, all that loading needs. The setting ``encoder`` of a loaded
    tagger is "".
    """

    model = "bert"
    settings_class = BertSettings
    words_are = PUBLIC
    settings: BertSettings

    @classmethod
    def profiles(cls) -> Mapping[str, BertSettings]:
        """Settings by profile name: "default" is tuned for the small encoder, "johnson2020" is section 3.4.

        The paper gives neither the batch size, which is here that of the authors' library at the time, nor the learning
        rate after warmup. Its classes are the types, without beginnings, and it keeps the last epoch.
        """
        paper = BertSettings(**paper_settings("johnson2020", "bert"))
        return {"default": BertSettings(), "johnson2020": paper}

    @classmethod
    def traits(cls, settings: BertSettings) -> Traits:
        """Return the traits of a `Tagger`: the vocabulary is public."""
        return super().traits(settings)._replace(public_vocabulary=True, requires=("a pretrained encoder",))

    def processor(self, train: Sequence[LabelledSentence]) -> SubwordProcessor:
        """Build the processor from the encoder's pieces and the tags of training sentences, or of the checkpoint.

        Raises:
            DataError: the encoder cannot be read.
            UsageError: there is no encoder, it reads less than a window, or the checkpoint lacks a tag.
        """
        encoder, head = self._source()
        cuts = self.settings.window, self.settings.overlap
        if head is None:
            if not self.settings.encoder:
                _log.info("bert starts from %s, in %s (%s)", DISTRIBUTION, encoder.folder, LICENCE)
            return SubwordProcessor(encoder.config, encoder.pieces, {PHI: tags_of(train)}, *cuts)
        processor = TextProcessor(encoder.config, encoder.pieces, {PHI: head.tags}, *cuts, head.labels)
        require_known_tags(processor, train)
        return processor

    def fit_rows(
        self,
        processor: Any,
        rows: Sequence[Row],
        dev: Sequence[LabelledSentence],
        *,
        on_progress: OnProgress | None = None,
    ) -> None:
        """Train on rows; a finished classifier stays unchanged, with a warning of types that no dev note has."""
        if dev and not (self.settings.epochs or self.settings.labels):
            types = {tag[2:] for tag in processor.tags[PHI] if tag != OUTSIDE}
            found = {tag[2:] for item in dev if PHI in item.annotated for tag in item.tags if tag != OUTSIDE}
            if others := sorted(types - found):
                _log.warning(
                    "no note has the checkpoint's types %s: rename those of the notes, or switch them off "
                    "(--set labels=%s=TYPE or =O)",
                    ", ".join(others),
                    others[0],
                )
        super().fit_rows(processor, rows, () if self.settings.keep == _LAST else dev, on_progress=on_progress)

    def require_sources(self) -> None:
        """Check the encoder, or the checkpoint, against its settings, and the header of its weights against these."""
        self._source()

    def describe_encoder(self) -> str:
        """Name of the encoder's folder, and its size, which tables need where others are printed."""
        encoder, _ = self._source()
        return f"{encoder.folder.resolve().name}, {encoder.size / 1e6:.3g} million weights"

    def _source(self) -> tuple[PretrainedEncoder, Head | None]:
        """Encoder and, of a finished token classifier, its last layer."""
        settings, head = self.settings, None
        if settings.checkpoint:
            encoder, head = self._classifier()
        elif settings.epochs:
            encoder = read_encoder(self._folder())
        else:
            raise SettingError("epochs is 0: give 1 or more, or a finished token classifier (checkpoint)")
        if settings.window + _SPECIAL > encoder.config.max_length:
            most = encoder.config.max_length - _SPECIAL
            raise SettingError(f"window is {settings.window}: the encoder reads {most} at most")
        return encoder, head

    def _classifier(self) -> tuple[PretrainedEncoder, Head]:
        settings = self.settings
        return read_classifier(Path(settings.checkpoint), labels=settings.labels, scheme=settings.scheme)

    def prepare(self, train: Sequence[LabelledSentence]) -> tuple[SubwordProcessor, list[Row]]:
        """Processor and rows of training sentences; without rows if it is not trained."""
        if not self.settings.epochs:
            if self._checkpoint is not None:
                raise SettingError("epochs is 0: give the number of further ones, such as epochs=3")
            return self.processor(()), []
        if not self.settings.boundaries:
            train = [replace(item, tags=tuple(map(_type_class, item.tags))) for item in train]
        processor, rows = super().prepare(train)
        if isinstance(processor, TextProcessor):
            processor = processor.trained()
            if self._checkpoint is not None:
                self._checkpoint = self._checkpoint._replace(processor=processor)
        return processor, rows

    def saved_processor(
        self, described: Mapping[str, Any], arrays: Mapping[str, np.ndarray], key: bytes | None
    ) -> SubwordProcessor:
        """Restore the processor of a saved model."""
        kind = TextProcessor if "outputs" in described else SubwordProcessor
        return kind.read(described, arrays, window=self.settings.window, overlap=self.settings.overlap)

    def require_structure(self, processor: SubwordProcessor, names: Collection[str]) -> None:
        """Check the number of layers, each of which takes its time to make, and that a window fits the positions."""
        layers = {found[1] for found in map(_LAYER.match, names) if found}
        if len(layers) != processor.encoder.layers:
            raise ValueError("another number of layers")
        if processor.window + _SPECIAL > processor.encoder.max_length:
            raise ValueError("a window of more pieces than there are positions")

    def tables(self, processor: SubwordProcessor, rngs: nnx.Rngs) -> dict[str, jax.Array]:
        """Zeros in place of the encoder's vectors of word pieces; `initial` sets these."""
        return {"pieces": jnp.zeros((processor.encoder.pieces, processor.encoder.hidden))}

    def network(self, processor: SubwordProcessor, rngs: nnx.Rngs) -> Bert:
        """Create the network with random weights; `initial` sets those of the encoder."""
        outputs = processor.labels.outputs if isinstance(processor, TextProcessor) else ()
        tags = len(processor.tags[PHI])
        return Bert(processor.encoder, tags, dropout=self.settings.dropout, rngs=rngs, outputs=outputs)

    def initial(self, processor: SubwordProcessor) -> TrainedModel:
        """Weights of the encoder, and random ones of the map to tags; or all weights of the checkpoint."""
        structure, shapes = expected_shapes(self, processor)
        if self.settings.checkpoint:
            encoder, last = self._classifier()
            read = encoder.classifier(last.known)
            matrix, bias = last.weights(read["head.W"], read["head.b"])
            arrays: dict[str, Any] = {"network.head.W": matrix, "network.head.b": bias}
        else:
            encoder = PretrainedEncoder(self._folder(), processor.encoder, processor.pieces)
            head = Linear(processor.encoder.hidden, len(processor.tags[PHI]), rngs=nnx.Rngs(self.seed))
            found = Structure.split(head)[1].items()
            arrays = {f"network.head.{name.removeprefix('network.')}": array for name, array in found}
        for name, array in encoder.weights().items():
            arrays["tables.pieces" if name == "pieces" else f"network.encoder.{name}"] = array
        return TrainedModel(processor, structure, params_from(shapes, list(arrays), arrays.pop))

    def schedule(self, processor: SubwordProcessor, rows: Sequence[Row]) -> Schedule:
        """Train on the same windows in every epoch, with a learning rate by the update."""
        settings = self.settings
        cut = per_sentences(settings.batch, optimiser(optax.adam))
        buckets = rows_by_length(rows, buckets=cut.buckets, cost=cut.bucket_cost)
        updates = settings.epochs * sum(-(-len(some) // settings.batch) for some, _ in buckets)
        warm = round(settings.warmup * updates)
        phase = Phase(
            self.model,
            rows,
            cut,
            gpu.on_host(warmup_linear_decay(settings.lr, updates=updates, warm=warm, last=settings.final_lr)),
            loss=first_pieces_loss,
            max_norm=settings.max_norm,
        )
        return early_stopping(lambda epoch: phase, epochs=settings.epochs, patience=None)

    def dev_metric(self, processor: SubwordProcessor, dev: Sequence[LabelledSentence]) -> DevNotes:
        """F on the development notes, which are read by windows."""
        return DevNotes(tuple(learnable(dev)), processor, self.choose_tags, self.padding)

    @property
    def padding(self) -> PaddingPolicy:
        """Padded lengths for windows, most of which have the full length."""
        longest = self.settings.window + _SPECIAL
        return PaddingPolicy(lambda length: min(-(-length // _STEP) * _STEP, longest), _TOKENS)

    def predict(self, sentences: Sequence[Sentence]) -> list[list[str]]:
        """Tag sentences, one tag a token, with the setting ``decoding``.

        "argmax" of a finished classifier takes the most probable label of a word, as the pipeline of transformers does.
        """
        processor = self.trained().processor
        if self.settings.decoding != "argmax" or self.settings.epochs or not isinstance(processor, TextProcessor):
            return self.choose_tags(self.marginals(sentences), self.tags)
        outputs, tags = processor.labels.outputs, processor.tags[PHI]
        network = nnx.eval_shape(
            lambda: Bert(processor.encoder, len(tags), rngs=nnx.Rngs(0), outputs=outputs, largest=True)
        )
        ask = partial(posteriors, Structure.split(network)[0], self.trained().params, layer=PHI)
        rows, nothing = processor.rows(sentences), np.empty((0, len(tags)), np.float32)
        found = run_batches(rows, ask, nothing=nothing, padding=self.padding)
        return processor.most_probable_labels(rows, found, sentences)

    def choose_tags(self, tables: Sequence[np.ndarray], tags: Sequence[str]) -> list[list[str]]:
        """Choose the tags of sentences by the settings; see `chosen_tags`."""
        return chosen_tags(tables, tags, decoding=self.settings.decoding, boundaries=self.settings.boundaries)

    def _folder(self) -> Path:
        return Path(self.settings.encoder) if self.settings.encoder else small_encoder()

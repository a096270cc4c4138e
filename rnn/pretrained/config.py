"""Content of ``config.json``: sizes of a pretrained encoder, and labels of a finished token classifier as IOB2 tags.

The labels may be of any of these schemes; every entity becomes one of IOB2.

- IOB2: B-X begins an entity, I-X continues it. An I-X after O is read as B-X.
- BIOES, BILOU (BMES): S and U are read as B; E, L and M as I.
- Types without prefix: neighbouring words of one type are one entity.
- IOB1: likewise, and B-X begins another entity of its neighbour's type. So are read the types without a B, and all
  types with ``scheme="iob1"``, as the labels do not tell whether an entity may begin with I-X.

A type of which the classifier knows only beginnings, or only insides, gets an output for the other ones with a
hundredth of the probability, from which training can start.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from reprlib import repr as shortened
from typing import Any, NamedTuple, Self

import numpy as np

from crfdeid.bio import OUTSIDE
from crfdeid.errors import SettingError, shorten_list

# Families of encoders, each with the first part of the names of its classes in `architectures`.
FAMILIES = {"bert": "Bert", "roberta": "Roberta", "distilbert": "DistilBert"}
_CLASS = re.compile(rf"({'|'.join(FAMILIES.values())})(?:For|Model)")
ACTIVATIONS = ("gelu", "gelu_new", "relu")
# Fields that change what an encoder computes, and are not implemented; each is refused unless it is empty or false.
_NOT_IMPLEMENTED = ("is_decoder", "add_cross_attention", "pruned_heads", "quantization_config", "auto_map")
# Names of DistilBERT's fields, by BERT's.
_DISTILBERT = {
    "hidden_size": "dim",
    "num_hidden_layers": "n_layers",
    "num_attention_heads": "n_heads",
    "intermediate_size": "hidden_dim",
    "hidden_act": "activation",
}
_MOST = 1 << 20
# Sizes: the name of each in ``config.json``, its least and its largest value. A larger one means a damaged file, and
# would be allocated, or compiled layer by layer.
_SIZES = {
    "pieces": ("vocab_size", 1, _MOST),
    "hidden": ("hidden_size", 1, _MOST),
    "layers": ("num_hidden_layers", 1, 256),
    "heads": ("num_attention_heads", 1, _MOST),
    "intermediate": ("intermediate_size", 1, _MOST),
    "positions": ("max_position_embeddings", 1, _MOST),
    "first": ("pad_token_id", 0, _MOST),
}


@dataclass(frozen=True, kw_only=True)
class EncoderConfig:
    """Family and sizes of an encoder.

    BioBERT, SciBERT, ClinicalBERT, multilingual BERT, BETO and MiniLM are of the family "bert"; bsc-bio and
    RoBERTa-large are of "roberta", with another first position and pieces of bytes. "distilbert" is BERT without
    segments.

    Args:
        family: "bert", "roberta" or "distilbert".
        pieces: word pieces with a vector, V.
        hidden: size of a vector and of a state, H; a multiple of ``heads``.
        layers: transformer layers.
        heads: attention heads of a layer.
        intermediate: hidden units of a layer's feed-forward network.
        positions: rows of the table of positions.
        first: row of the first piece's position: 0 in BERT, 2 in RoBERTa, which reserves rows for padding.
        activation: of the feed-forward networks: "gelu" (exact), "gelu_new" (by tanh) or "relu".
        epsilon: addend of the variance in layer normalisation.

    Raises:
        ValueError: a value is invalid; the message says which.
    """

    family: str
    pieces: int
    hidden: int
    layers: int
    heads: int
    intermediate: int
    positions: int
    first: int
    activation: str
    epsilon: float

    def __post_init__(self) -> None:
        if not isinstance(self.family, str) or self.family not in FAMILIES:
            raise ValueError(f"an encoder of the kind {shortened(self.family)}: there are {', '.join(FAMILIES)}")
        if self.activation not in ACTIVATIONS:
            raise ValueError(f"the activation {shortened(self.activation)}: there are {', '.join(ACTIVATIONS)}")
        for name, (there, least, most) in _SIZES.items():
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= most:
                raise ValueError(f"'{there}' is no whole number from {least} to {most}")
        if self.hidden % self.heads:
            raise ValueError(f"states of {self.hidden} numbers, which {self.heads} heads cannot share")
        if type(self.epsilon) not in (int, float) or not 0 < self.epsilon < 1:
            raise ValueError("an epsilon that is no number from 0 to 1")
        if self.max_length < 1:
            raise ValueError("too few positions")

    @property
    def max_length(self) -> int:
        """Largest number of pieces in a window, special ones included."""
        return self.positions - self.first

    @classmethod
    def of_hub(cls, config: Mapping[str, Any]) -> Self:
        """Read the content of ``config.json``.

        Raises:
            ValueError: an encoder of another kind, or a missing or invalid size; the message says which.
        """
        family = config.get("model_type", "bert")  # BioBERT and SciBERT are older than this field
        kind = config.get("position_embedding_type", "absolute")
        if kind != "absolute":
            raise ValueError(f"positions of the kind {shortened(kind)}: there are absolute ones")
        for name in _NOT_IMPLEMENTED:
            if config.get(name):
                raise ValueError(f"'{name}' is not implemented")
        for found in filter(None, map(_CLASS.match, _architectures(config))):
            if found[1] not in ("Bert", FAMILIES.get(str(family))):  # classes of one's own are often named after BERT
                raise ValueError(f"'architectures' has a {found[1]}, where 'model_type' is {shortened(family)}")
        if family == "distilbert":
            config = {**config, "layer_norm_eps": 1e-12}
            config |= {name: config[own] for name, own in _DISTILBERT.items() if own in config}
        padding = config.get("pad_token_id", 1)
        try:
            return cls(
                family=family,
                pieces=config["vocab_size"],
                hidden=config["hidden_size"],
                layers=config["num_hidden_layers"],
                heads=config["num_attention_heads"],
                intermediate=config["intermediate_size"],
                positions=config["max_position_embeddings"],
                first=0 if family != "roberta" else padding + 1 if type(padding) is int else padding,
                activation=config.get("hidden_act", "gelu"),
                epsilon=config.get("layer_norm_eps", 1e-12),
            )
        except KeyError as missing:
            raise ValueError(f"no field {missing}") from None

    def to_hub(self) -> dict[str, Any]:
        """Return the content of ``config.json``, as `of_hub` and the library transformers read it."""
        sizes = {there: getattr(self, name) for name, (there, *_) in _SIZES.items() if name != "first"}
        sizes |= {"hidden_act": self.activation, "pad_token_id": max(0, self.first - 1)}
        if self.family == "distilbert":
            sizes = {_DISTILBERT.get(name, name): value for name, value in sizes.items()}
        else:
            sizes |= {"layer_norm_eps": self.epsilon, "type_vocab_size": 1}
        return {"model_type": self.family, **sizes}

    def describe(self) -> dict[str, Any]:
        """Return JSON data for ``EncoderConfig(**described)``."""
        return dataclasses.asdict(self)


def _architectures(config: Mapping[str, Any]) -> list[str]:
    """Names of the classes that a checkpoint was saved from; old ones have none.

    Raises:
        ValueError: it is no list of names.
    """
    found = config.get("architectures") or []
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        raise ValueError("'architectures' is no list of names")
    return found


SCHEMES = ("iob2", "iob1")
_PREFIXED = re.compile(r"([BIMESLU])[-_](.+)")
_BEGIN = "BSU"
_UNNAMED = re.compile(r"LABEL_\d+")
_TASK = "ForTokenClassification"
MOST_LABELS = 1000
"""Largest number of a classifier's labels: each output is compared with each tag."""
_LONGEST = 100  # characters of a label
_SHARES = (math.log(0.99), math.log(0.01))  # of an output, and of the one that a type lacks


class Labels(NamedTuple):
    """Outputs of a network as tags.

    Attributes:
        outputs: number of the tag of each output.
        iob1: types of which an entity can begin with I.
        copied: types of which each label has two outputs, since the checkpoint has none that begins, or none inside.
    """

    outputs: tuple[int, ...]
    iob1: tuple[str, ...]
    copied: tuple[str, ...] = ()


class Head(NamedTuple):
    """Last layer of a classifier.

    Attributes:
        tags: its tags, sorted.
        labels: its outputs as tags.
        known: number of the classifier's labels.
        sources: label of each output.
        shifts: what is added to each output: the logarithm of its share of its label's probability.
    """

    tags: tuple[str, ...]
    labels: Labels
    known: int
    sources: tuple[int, ...]
    shifts: tuple[float, ...]

    def weights(self, matrix: np.ndarray, bias: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the weights of the outputs from those of the labels, [H, labels] and [labels]."""
        chosen = list(self.sources)
        return matrix[:, chosen], bias[chosen] + np.array(self.shifts, np.float32)


def iob2_tags(types: Iterable[str]) -> tuple[str, ...]:
    """Return the tags of some types, sorted: all that begin entities, all inside of them, and O."""
    return (*sorted(f"{prefix}-{name}" for prefix in "BI" for name in set(types)), OUTSIDE)


def read_renamed(text: str) -> dict[str, str]:
    """Read the setting ``labels``: other names of labels or types, "PER=PATIENT,MISC=O".

    Raises:
        SettingError: it is not of this form.
    """
    pairs = [part.strip().partition("=") for part in text.split(",")] if text else []
    if any(not (old and new) for old, _, new in pairs):
        raise SettingError(
            f"labels is {text}: give names of the checkpoint's labels or types, such as PER=PATIENT,MISC=O"
        )
    return {old: new for old, _, new in pairs}


def read_head(config: Mapping[str, Any], *, renamed: Mapping[str, str], scheme: str) -> Head:
    """Read the labels of a checkpoint.

    Args:
        config: the content of ``config.json``.
        renamed: other names of whole labels ("LABEL_1": "B-ID") or of types ("PER": "PATIENT"); "O" for no PHI.
        scheme: "iob2", or "iob1" where B-X only separates entities of one type.

    Raises:
        ValueError: it is no token classifier, or its labels cannot be read; the message says why.
        SettingError: a name in ``renamed`` is none of its labels or types.
    """
    kinds = _architectures(config) or [_TASK]
    if not any(kind.endswith(_TASK) for kind in kinds):
        raise ValueError(f"a {shortened(kinds[0])}: give a token classifier")
    names = _label_names(config.get("id2label"))
    parsed = _parse([_rename(name, renamed) for name in names])
    known = {*names, *(found[2] for found in map(_PREFIXED.fullmatch, names) if found)}
    if unknown := sorted(renamed.keys() - known):
        raise SettingError(f"labels: the checkpoint has no label or type '{unknown[0]}': it has {shorten_list(names)}")
    if OUTSIDE not in {name for _, name in parsed}:
        raise ValueError("no label O, for words that are no PHI: name it with --set labels=NAME=O")
    return _head(parsed, scheme)


def _label_names(found: Any) -> list[str]:
    """Names of the labels by number."""
    if isinstance(found, Mapping) and len(found) > MOST_LABELS:
        raise ValueError(f"'id2label' has more than {MOST_LABELS} labels")
    if not isinstance(found, Mapping) or sorted(found) != sorted(map(str, range(len(found)))):
        raise ValueError("no 'id2label' with a name for each number from 0")
    names = [found[str(number)] for number in range(len(found))]
    if not all(isinstance(name, str) and name.isprintable() and 0 < len(name) <= _LONGEST for name in names):
        raise ValueError(f"'id2label' has a name that is not of 1 to {_LONGEST} printable characters")
    return names


def _rename(name: str, renamed: Mapping[str, str]) -> str:
    found = _PREFIXED.fullmatch(name)
    if name in renamed or found is None or found[2] not in renamed:
        return renamed.get(name, name)
    other = renamed[found[2]]
    return other if other == OUTSIDE else f"{found[1]}-{other}"


def _parse(names: Sequence[str]) -> list[tuple[str, str]]:
    """Prefix and type of each label; ("", "O") for O, and "I" for types without prefix.

    Prefixes are read if a label has B or I, so that the type E-MAIL stays one.
    """
    prefixed = any(name[:2] in ("B-", "I-", "B_", "I_") for name in names)
    parsed = []
    for name in names:
        found = _PREFIXED.fullmatch(name)
        if any(map(str.isspace, name)):
            raise ValueError(f"the label '{name}', with white space: rename it, --set 'labels={name}=NAME'")
        if _UNNAMED.fullmatch(name):
            raise ValueError(f"the label {name}, which has no name: give all of them, --set labels={name}=B-ID,...")
        if name == OUTSIDE:
            parsed.append(("", OUTSIDE))
        elif not prefixed:
            parsed.append(("I", name))
        elif found is None:
            raise ValueError(f"the label {name} among labels with prefixes: rename it, such as --set labels={name}=O")
        else:
            parsed.append((found[1], found[2]))
    return parsed


def _head(parsed: Sequence[tuple[str, str]], scheme: str) -> Head:
    """Outputs for the labels, in the order of their tags."""
    types = sorted({name for _, name in parsed} - {OUTSIDE})
    if not types:
        raise ValueError("no label but O")
    tags = iob2_tags(types)
    outputs = [(len(tags) - 1, k, 0.0) for k, (_, name) in enumerate(parsed) if name == OUTSIDE]
    iob1, copied = [], []
    for number, name in enumerate(types):
        parts: list[list[int]] = [[], []]  # labels that begin an entity, and those inside
        for k, (prefix, other) in enumerate(parsed):
            if other == name:
                parts[prefix not in _BEGIN].append(k)
        both = all(parts)
        for place, (own, others) in enumerate((parts, parts[::-1])):
            tag, shares = number + place * len(types), (0.0, 0.0) if both else _SHARES
            outputs += [(tag, k, shares[0] if own else shares[1]) for k in own or others]
        if scheme == "iob1" or not both:
            iob1.append(name)
        if not both:
            copied.append(name)
    columns, sources, shifts = zip(*sorted(outputs), strict=True)
    return Head(tags, Labels(columns, tuple(iob1), tuple(copied)), len(parsed), sources, shifts)

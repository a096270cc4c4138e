"""A trained BERT as a token classifier for the library transformers: a folder in the layout of the Hugging Face hub.

Pieces and scores are those of the model. transformers has its own words, decoding and windows, and neither rules,
thresholds nor document consistency; ``README.md`` in the folder says so.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save
from tokenizers import Tokenizer, processors

from crfdeid.documents import PHI
from crfdeid.errors import OptionConflictError
from crfdeid.utils.files import write_files
from crfdeid.utils.folders import write_folder
from rnn.models.bert import BertTagger
from rnn.pretrained.config import FAMILIES, EncoderConfig
from rnn.pretrained.hub import (
    _CONFIG,
    _SETTINGS,
    _SPECIAL,
    _TOKENIZER,
    _WEIGHTS,
    WordpieceTokenizer,
    _expected,
    _of_head,
)
from rnn.pretrained.text import TextProcessor

_PADDING = {"bert": ("[PAD]", "[MASK]"), "roberta": ("<pad>", "<mask>"), "distilbert": ("[PAD]", "[MASK]")}


def export_classifier(tagger: BertTagger, folder: Path, *, readme: str) -> None:
    """Write a trained model as a token classifier.

    Args:
        tagger: the model.
        folder: the new folder; it appears whole.
        readme: content of its ``README.md``.

    Raises:
        OptionConflictError: the model keeps a checkpoint's labels that are not IOB2.
        WriteError: the folder cannot be written.
    """
    processor = tagger.trained().processor
    tags = processor.tags[PHI]
    if isinstance(processor, TextProcessor) and (
        processor.labels.copied or processor.labels.iob1 or processor.labels.outputs != (*range(len(tags)),)
    ):
        raise OptionConflictError("the model keeps its checkpoint's labels, which are not IOB2: export the checkpoint")
    config: EncoderConfig = processor.encoder
    content = config.to_hub() | {
        "architectures": [f"{FAMILIES[config.family]}ForTokenClassification"],
        "id2label": dict(enumerate(tags)),
        "label2id": {tag: number for number, tag in enumerate(tags)},
    }
    tokenizer, settings = _tokenizer(processor.pieces)
    files: dict[str, str | bytes] = {
        _CONFIG: json.dumps(content, indent=1),
        # transformers refuses a file that does not say whose layout it has.
        _WEIGHTS: save(_arrays(tagger.trained().params, config, len(tags)), metadata={"format": "pt"}),
        _TOKENIZER: tokenizer,
        _SETTINGS: json.dumps(settings, indent=1),
        "README.md": readme,
    }
    write_folder(folder, lambda partial: write_files({partial / name: text for name, text in files.items()}))


def _arrays(params: Any, config: EncoderConfig, tags: int) -> dict[str, np.ndarray]:
    """All weights, under the names and in the layout of PyTorch."""
    encoder = {("tables." if one.here == "pieces" else "network.encoder.") + one.here: one for one in _expected(config)}
    head = {f"network.{one.here}": one for one in _of_head(config, tags)}
    found = {}
    for name, one in (encoder | head).items():
        array = np.asarray(params[name], np.float32)
        if one.here == "positions" and config.family == "distilbert":
            array = array + np.asarray(params["network.encoder.segment"])  # DistilBERT has no segments
        array = array[None] if one.here == "segment" else array.T if one.here.endswith(".W") else array
        found[one.there if name in head else f"{config.family}.{one.there}"] = np.ascontiguousarray(array)
    return found


def _tokenizer(pieces: WordpieceTokenizer) -> tuple[str, dict[str, Any]]:
    """Content of ``tokenizer.json`` and ``tokenizer_config.json``.

    There is no ``model_max_length``: with it, pipelines would cut a long text off without a word, and its PHI would
    stay. Without it, they fail.
    """
    tokenizer: Any = Tokenizer.from_str(pieces.json)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    first, last, unknown = _SPECIAL[pieces.family]
    if tokenizer.encode("a").ids[0] != pieces.special[0]:
        ends = [(first, pieces.special[0]), (last, pieces.special[1])]
        tokenizer.post_processor = processors.TemplateProcessing(single=f"{first} $A {last}", special_tokens=ends)
    special = {"cls_token": first, "sep_token": last, "unk_token": unknown}
    for name, piece in zip(("pad_token", "mask_token"), _PADDING[pieces.family], strict=True):
        if tokenizer.token_to_id(piece) is not None:
            special[name] = piece
    inputs = ["input_ids", "attention_mask"]
    return tokenizer.to_str(), {"tokenizer_class": "PreTrainedTokenizerFast", "model_input_names": inputs, **special}

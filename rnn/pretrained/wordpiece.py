"""Tokenizers of pretrained encoders: words to the ids of their pieces."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from tokenizers import BertWordPieceTokenizer, ByteLevelBPETokenizer, Tokenizer

from crfdeid.errors import FormatError, NotFoundError, ReadError

TOKENIZER = "tokenizer.json"
_VOCABULARY, _SETTINGS = "vocab.txt", "tokenizer_config.json"
_BYTE_VOCABULARY, _MERGES = "vocab.json", "merges.txt"
# The pieces at the start and the end of a text, and the unknown piece.
_BERT = ("[CLS]", "[SEP]", "[UNK]")
_SPECIAL = {"bert": _BERT, "roberta": ("<s>", "</s>", "<unk>"), "distilbert": _BERT}
_NAMES = re.compile(r"\[[^\]]*\]|<[^>]*>")  # pieces such as [UNK] and <mask>, which are no text
_MOST_REMEMBERED = 1 << 16  # cached words
_AT_ONCE = 1 << 16  # characters that are read together: the library takes hundreds of bytes for each
_CUT = re.compile(r"\S(?= )")  # the end of a word: pieces of bytes hold the space before theirs


@dataclass(frozen=True)
class WordpieceTokenizer:
    """Tokenizer that splits each word by itself into pieces.

    So pieces are aligned with words without matching text: words that a tokenizer normalises (lower case, no accents)
    or drops (marks, control characters) cannot shift the others.

    Args:
        json: content of ``tokenizer.json``.
        family: family of the encoder (`rnn.pretrained.config.FAMILIES`).

    Attributes:
        special: ids of the pieces at the start and the end of a text, and of the unknown piece.

    Raises:
        ValueError: the content is no tokenizer, or one of another family.
    """

    json: str
    family: str
    special: tuple[int, int, int] = field(init=False, compare=False)
    _known: dict[tuple[str, bool], tuple[int, ...]] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        try:
            tokenizer: Any = Tokenizer.from_str(self.json)
        except Exception:  # the library raises this class itself
            raise ValueError("not a tokenizer") from None
        tokenizer.no_truncation()  # a file may ask to truncate or pad texts to one length
        tokenizer.no_padding()
        special = [tokenizer.token_to_id(name) for name in _SPECIAL[self.family]]
        if None in special:
            raise ValueError(f"a tokenizer without the pieces {', '.join(_SPECIAL[self.family])}")
        object.__setattr__(self, "_tokenizer", tokenizer)
        object.__setattr__(self, "special", tuple(special))

    @classmethod
    def of(cls, tokenizer: Any, family: str) -> Self:
        """Wrap a tokenizer of the library `tokenizers`."""
        return cls(tokenizer.to_str(), family)

    @property
    def count(self) -> int:
        """Largest id of a piece plus 1."""
        vocabulary: dict[str, int] = self._tokenizer.get_vocab(with_added_tokens=True)  # type: ignore[attr-defined]
        return max(vocabulary.values()) + 1

    def __call__(self, word: str, *, spaced: bool) -> tuple[int, ...]:
        """Ids of a word's pieces, at least one.

        Args:
            word: at least one character.
            spaced: whether the word follows white space, which changes pieces of bytes.

        Example:
            >>> pieces("Quillfeather", spaced=True)  # doctest: +SKIP
            (21864, 3363, 7959, 8988, 2121)
        """
        spaced = spaced and self.family == "roberta"
        found = self._known.get((word, spaced))
        if found is None:
            text = f" {word}" if spaced else word
            # The tokenizer reads UTF-8, which cannot encode a lone surrogate.
            text = text.encode("utf-8", "replace").decode("utf-8")
            ids = self._tokenizer.encode(text, add_special_tokens=False).ids  # type: ignore[attr-defined]
            found = tuple(ids) or self.special[2:]
            if len(self._known) < _MOST_REMEMBERED:
                self._known[word, spaced] = found
        return found

    def read(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        """Divide a text into words and pieces as the tokenizer does by itself.

        Returns:
            The pieces' ids, [P], and for each piece its start and end in the text and the number of its word, [P, 3].
        """
        ids, places = [np.empty(0, np.int32)], [np.empty((0, 3), int)]
        start = word = 0
        while start < len(text):
            cut = _CUT.search(text, start + _AT_ONCE, start + 2 * _AT_ONCE)
            end = cut.start() + 1 if cut else min(start + 2 * _AT_ONCE, len(text))
            part = text[start:end].encode("utf-8", "replace").decode("utf-8")
            found = self._tokenizer.encode(part, add_special_tokens=False)  # type: ignore[attr-defined]
            if found.ids:
                ids.append(np.array(found.ids, np.int32))
                places.append(np.column_stack([np.array(found.offsets) + start, np.array(found.word_ids) + word]))
                word = int(places[-1][-1, 2]) + 1
            start = end
        return np.concatenate(ids), np.concatenate(places)


def read_pieces(folder: Path, family: str) -> WordpieceTokenizer:
    """Read the tokenizer of an encoder's folder.

    Args:
        folder: with ``tokenizer.json``; else, for BERT, ``vocab.txt``, or for RoBERTa, ``vocab.json`` and
            ``merges.txt``.
        family: family of the encoder.

    Raises:
        DataError: the tokenizer is missing, damaged, or of another family.
    """
    plain = folder / (_BYTE_VOCABULARY if family == "roberta" else _VOCABULARY)
    path = next((path for path in (folder / TOKENIZER, plain) if path.is_file()), None)
    if path is None:
        raise NotFoundError(f"no tokenizer: it should hold {TOKENIZER} or {plain.name}", path=folder)
    try:
        if path != plain:
            return WordpieceTokenizer(path.read_text("utf-8"), family)
        if family == "roberta":
            return WordpieceTokenizer.of(ByteLevelBPETokenizer(str(path), str(folder / _MERGES)), family)
        return WordpieceTokenizer.of(_word_pieces(path), family)
    except OSError as error:
        raise ReadError(f"cannot be read ({error.strerror})", path=path) from None
    except Exception as error:  # the tokenizers library raises this class itself
        reason = str(error) if isinstance(error, ValueError) and str(error).startswith("a tokenizer") else "damaged"
        raise FormatError(f"not a tokenizer that can be read: {reason}", path=path) from None


def _word_pieces(path: Path) -> Any:
    """Make BERT's tokenizer from a list of pieces, one a line."""
    pieces = path.read_text("utf-8").split("\n")
    lower = _do_lower_case(path.with_name(_SETTINGS))
    if lower is None:  # BioBERT and SciBERT come without settings: a cased vocabulary has capitals
        lower = not any(piece != piece.lower() for piece in pieces if not _NAMES.fullmatch(piece))
    return BertWordPieceTokenizer({piece: i for i, piece in enumerate(pieces) if piece}, lowercase=lower)


def _do_lower_case(path: Path) -> bool | None:
    """Read the setting for lower case; None without one."""
    if not path.is_file():
        return None
    found = json.loads(path.read_text("utf-8")).get("do_lower_case")
    return found if isinstance(found, bool) else None

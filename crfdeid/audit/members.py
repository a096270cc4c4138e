"""Membership of notes by their loss, and words of the training notes in a model's files.

Reference:
    Yeom et al. (2018), Privacy risk in machine learning: analyzing the connection to overfitting, section 3.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crfdeid.bio import OUTSIDE, phi_probabilities
from crfdeid.corpora.splits import Split
from crfdeid.evaluation.tokens import Proportion
from crfdeid.known_phi.folding import fold_to_alnum
from crfdeid.known_phi.names import is_common_word
from crfdeid.tagger import Tagger
from crfdeid.utils.files import read_bytes
from features.languages import ALL_LANGUAGES, LANGUAGES
from features.lexicons import fold_word, name_lists, place_kind

_LEAST_CHARACTERS = 4  # of a word in a file: fewer occur in binary data by chance
_BETWEEN_WORDS = re.compile(r'[\s"=|]+')  # in JSON, and in the CRF's feature strings, such as "w[0]=Quill"
_TINY = 1e-12


def note_losses(tagger: Tagger, split: Split) -> NDArray[np.float64]:
    """Return the loss of each note: the mean over its tokens of -log P(gold tag), [N].

    For a gold tag that the model does not have, P is the probability that the token is PHI.

    Args:
        tagger: a trained model.
        split: the notes; the loss of one without tokens is 0.
    """
    tables = iter(tagger.marginals([item.sentence for item in split.sentences]))
    column = {tag: k for k, tag in enumerate(tagger.tags)}
    losses = []
    for encoded in split.encoded:
        found: list[float] = []
        for item in encoded.sentences:
            table = next(tables)
            is_phi = phi_probabilities(table, tagger.tags)
            probable = (
                table[t, column[tag]] if tag in column else is_phi[t] if tag != OUTSIDE else 1 - is_phi[t]
                for t, tag in enumerate(item.tags)
            )
            found += (-np.log(max(float(p), _TINY)) for p in probable)
        losses.append(np.mean(found or [0.0]))
    return np.array(losses, float)


def words_of_phi(split: Split, *, secret: bool = True) -> list[str]:
    """Return the words of PHI in some notes, sorted.

    Args:
        split: the notes.
        secret: only words that say something about the notes. Left out are words of fewer than four letters or digits,
            names and places of the language packs, ordinary words, and words that the notes also have outside of PHI.
    """
    inside, outside = set[str](), set[str]()
    for item in split.sentences:
        for word, tag in zip(item.sentence.words, item.tags, strict=True):
            (outside if tag == OUTSIDE else inside).add(word)
    usual = {fold_word(word) for word in outside}
    return sorted(
        word
        for word in inside
        if not secret or (sum(map(str.isalnum, word)) >= _LEAST_CHARACTERS and not _is_known(word, usual))
    )


def _is_known(word: str, usual: set[str]) -> bool:
    plain = fold_word(word)
    listed = any(plain in names for names in name_lists(ALL_LANGUAGES).values())
    common = any(word.lower() in pack.common for pack in LANGUAGES.values()) or is_common_word(fold_to_alnum(word))
    return plain in usual or listed or common or place_kind(word) is not None


def stored_words(folder: Path, words: Iterable[str]) -> list[str]:
    """Return those words that a model's files hold as whole words, in their own or in small letters.

    The files are read as by somebody without the model's secret.

    Args:
        folder: the model's folder.
        words: words as in text.
    """
    held = set[str]()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            for text in _texts(read_bytes(path)):
                held.update(_BETWEEN_WORDS.split(text))
    return [word for word in words if word in held or word.lower() in held]


def count_stored_words(folder: Path, split: Split) -> Proportion:
    """Count the words of `words_of_phi` that a model's files hold."""
    words = words_of_phi(split)
    return Proportion(len(stored_words(folder, words)), len(words))


def _texts(content: bytes) -> Iterator[str]:
    """Yield the texts of a file; an archive's members one by one, and lists of names with a line each."""
    if not zipfile.is_zipfile(BytesIO(content)):
        yield content.decode("utf-8", errors="replace")
        return
    with zipfile.ZipFile(BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    if {"names.npy", "ends.npy"} <= parts.keys():  # `crfdeid.crf.training.CrfWeights.arrays`
        names, ends = (np.load(BytesIO(parts.pop(f"{name}.npy"))) for name in ("names", "ends"))
        yield "\n".join(names[start:end].tobytes().decode() for start, end in pairwise([0, *ends.tolist()]))
    for part in parts.values():
        yield from _texts(part)

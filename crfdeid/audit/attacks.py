"""Attacks on a finished model: membership of notes by their loss, words in its files, and the time of its answers.

An answer that takes longer for a word that the model knows tells which words are in the training notes, even where the
answer itself is secret.

Reference:
    Yeom et al. (2018), Privacy risk in machine learning: analyzing the connection to overfitting, section 3.
"""

from __future__ import annotations

import re
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crfdeid.audit.measures import roc_area
from crfdeid.bio import OUTSIDE, phi_probabilities
from crfdeid.corpora.splits import Split
from crfdeid.evaluation.tokens import Proportion
from crfdeid.known_phi.folding import fold_to_alnum
from crfdeid.known_phi.names import is_common_word
from crfdeid.tagger import Tagger
from crfdeid.utils.files import read_bytes
from features.languages import DEFAULT_LANGUAGES, packs
from features.lexicons import fold_word, name_lists, place_kind

_LEAST_CHARACTERS = 4  # of a word in a file: fewer occur in binary data by chance
_BETWEEN_WORDS = re.compile(r'[\s"=|]+')  # in JSON, and in the CRF's feature strings, such as "w[0]=Quill"
_TINY = 1e-12
_DEFAULT_ROUNDS = 5
_SHORTEST_NAME = 4
_CONFIDENCE = 0.999  # time is measured on a busy machine, and two intervals are compared with chance
_FRAME = "the note mentions {} and the plan is to review the results tomorrow"


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
        surprises: list[float] = []
        for item in encoded.sentences:
            table = next(tables)
            is_phi = phi_probabilities(table, tagger.tags)
            probable = (
                table[t, column[tag]] if tag in column else is_phi[t] if tag != OUTSIDE else 1 - is_phi[t]
                for t, tag in enumerate(item.tags)
            )
            surprises += (-np.log(max(float(p), _TINY)) for p in probable)
        losses.append(np.mean(surprises or [0.0]))
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
    listed = any(plain in names for names in name_lists(DEFAULT_LANGUAGES).values())
    common = any(word.lower() in pack.common for pack in packs()) or is_common_word(fold_to_alnum(word))
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


def time_answers(
    answer: Callable[[str], object],
    known: Sequence[str],
    unknown: Sequence[str],
    *,
    random: np.random.Generator,
    rounds: int = _DEFAULT_ROUNDS,
    clock: Callable[[], int] = time.perf_counter_ns,
) -> dict[str, Any]:
    """Time answers to the same sentence with known and unknown words, in random order.

    Args:
        answer: answers a text, such as `crfdeid.pipeline.Deidentifier.annotate`.
        known: words of the training notes.
        unknown: words that occur in no note, about as long.
        random: the generator of the order.
        rounds: number of answers for each word. The first one can be slower, as it fills caches.
        clock: time in nanoseconds.

    Returns:
        "first": how well the time of the first answer tells known words; "repeated": how well the shortest time of the
        other answers does. Each has "auc" with its 99.9 % interval, the median times in microseconds, and "found":
        whether the interval excludes chance, 0.5.

    Raises:
        EmptyInputError: there are no words of one kind.
    """
    words = [*known, *unknown]
    answer(_FRAME.format("nothing"))
    times = np.empty((rounds, len(words)))
    for row in times:
        for i in random.permutation(len(words)).tolist():
            text = _FRAME.format(words[i])
            began = clock()
            answer(text)
            row[i] = clock() - began
    parts = {"first": times[0], "repeated": times[1:].min(axis=0)}
    return {name: _compared(found[: len(known)], found[len(known) :]) for name, found in parts.items()}


def _compared(known: np.ndarray, unknown: np.ndarray) -> dict[str, Any]:
    area = roc_area(known, unknown, confidence=_CONFIDENCE)
    return {
        "auc": area._asdict(),
        "known_us": float(np.median(known)) / 1000,
        "unknown_us": float(np.median(unknown)) / 1000,
        "found": not area.low <= 0.5 <= area.high,
    }


def words_to_time(words: Sequence[str], count: int, *, random: np.random.Generator) -> list[str]:
    """Draw words of letters, at least four, at most ``count``.

    Digits of numbers are often folded, and a number's form decides the time of rules.

    Args:
        words: different words.
        count: number of words.
        random: the generator.
    """
    fitting = [word for word in words if word.isalpha() and len(word) >= _SHORTEST_NAME]
    return [fitting[i] for i in random.permutation(len(fitting))[:count].tolist()]

"""Whether notes are like those a model was trained on: five measures of a note, and a profile to hold them against.

A model's scores promise nothing for notes of another language, hospital or kind. What can be seen without annotations
is measured on the development notes when a model is trained, and on each note that is redacted later:

- the share of words that fewer than two training notes have, and of characters;
- the share of words with a capital;
- how much was found, in spans per 1,000 words;
- the length, as the logarithm of the number of words.

The profile holds no word: known words are bits of a table, at places given by a hash of the word (in a model with a
private vocabulary under its key), which different words share.

Reference:
    Bloom (1970), Space/time trade-offs in hash coding with allowable errors, with one hash.
"""

from __future__ import annotations

import base64
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from statistics import fmean, pstdev
from typing import NamedTuple, TypedDict

from crfdeid.documents import Document
from crfdeid.secrets import hash_word
from features.normal import normal_form

_WORD = re.compile(r"[^\W\d_]{2,}")
_LEAST_NOTES = 2  # A word or character of one training note alone may be a patient's name, and says little.
_BITS_A_WORD = 16  # One word in sixteen that is unknown counts as known.
_WORDS_KEPT = 1 << 16
_LONGEST_KEPT = 64
# Fewer development notes say too little of how much notes of the same kind differ.
_LEAST_PROFILED = 10
# Notes are said to be unlike where a mean is further from the development notes' than so many standard errors and this
# much more. So chosen that halves of MEDDOCAN dev, ASQ-PHI dev and synthetic dev are never unlike the other half.
_STANDARD_ERRORS = 3
_SLACK = {"unknown": 0.1, "unusual": 0.005, "capitals": 0.1, "length": math.log(2)}
_SLACK_OF_FOUND = 0.5  # of what was found in the development notes


class Measures(NamedTuple):
    """What is measured of a note; see the module."""

    unknown: float
    unusual: float
    capitals: float
    found: float
    length: float


_NAMES = Measures._fields


class ProfilePart(TypedDict):
    """The profile as it stands in a model's card."""

    words: str
    characters: str
    notes: int
    mean: list[float]
    deviation: list[float]


class NoteReader:
    """Measures notes by what the training notes had.

    Args:
        words: the table of known words.
        characters: those that training notes had.
        key: of a private vocabulary.
    """

    def __init__(self, words: bytes, characters: str, key: bytes | None) -> None:
        bits = 8 * len(words)

        def is_known(word: str) -> bool:
            place = _place(word, bits, key)
            return bool(words[place >> 3] >> (place & 7) & 1)

        self.words, self.characters = words, characters
        kept = lru_cache(maxsize=_WORDS_KEPT)(is_known)

        def look_up(word: str) -> bool:
            return kept(word) if len(word) <= _LONGEST_KEPT else is_known(word)

        self._is_known: Callable[[str], bool] = look_up
        self._unusual = re.compile(f"[^\\s{re.escape(characters)}]")

    @classmethod
    def of(cls, part: ProfilePart, key: bytes | None) -> NoteReader:
        """The reader that belongs to a profile."""
        return cls(base64.b64decode(part["words"]), part["characters"], key)

    @classmethod
    def learn(cls, texts: Iterable[str], key: bytes | None) -> NoteReader:
        """What training notes have."""
        words: Counter[str] = Counter()
        characters: Counter[str] = Counter()
        for text in map(_read, texts):
            words.update({word.lower() for word in _WORD.findall(text)})
            characters.update(set(text))
        usual = {c for c, count in characters.items() if count >= _LEAST_NOTES}
        return cls._knowing([word for word, count in words.items() if count >= _LEAST_NOTES], usual, key)

    @classmethod
    def knowing(cls, words: Iterable[str]) -> NoteReader:
        """A reader that knows given words, where a model was trained on no text: those that it has vectors for."""
        text = _read(" ".join(words))
        usual = {*text, *text.lower(), *text.upper(), *"0123456789"}  # vectors may know no capitals and one digit
        return cls._knowing(sorted({word.lower() for word in _WORD.findall(text)}), usual, None)

    @classmethod
    def _knowing(cls, known: Sequence[str], usual: Iterable[str], key: bytes | None) -> NoteReader:
        table = bytearray(_BITS_A_WORD // 8 * max(len(known), 1))
        for word in known:
            place = _place(word, 8 * len(table), key)
            table[place >> 3] |= 1 << (place & 7)
        return cls(bytes(table), "".join(sorted(c for c in usual if not c.isspace())), key)

    def measure(self, text: str, spans: int) -> Measures | None:
        """The measures of a note in which so many spans were found; None where it has no words."""
        text = _read(text)
        count = unknown = capitals = 0
        for found in _WORD.finditer(text):  # one by one: a list of all words takes many times the memory of a long note
            word = found[0]
            count += 1
            unknown += not self._is_known(word.lower())
            capitals += word[0].isupper()
        if not count:
            return None
        return Measures(
            unknown=unknown / count,
            unusual=sum(1 for _ in self._unusual.finditer(text)) / len(text),
            capitals=capitals / count,
            found=1000 * spans / count,
            length=math.log(count),
        )


class Likeness:
    """Holds notes against a profile: add the measures of each, in any order, then ask what differs.

    Args:
        part: the profile in the model's card; None where it has no card, so that nothing can be said.
        raised: whether more is hidden than the model's most probable tags; what is found then says less.
    """

    def __init__(self, part: ProfilePart | None, *, raised: bool = False) -> None:
        self._part, self._raised = part, raised
        self._sums = [0.0] * len(_NAMES)
        self._count = 0

    def add(self, measures: Measures | None) -> None:
        """Count a note in; one without words is left out."""
        if measures is not None:
            self._sums = [a + b for a, b in zip(self._sums, measures, strict=True)]
            self._count += 1

    def differences(self) -> list[str]:
        """What differs from the development notes, in words; nothing where the notes are like them."""
        part = self._part
        if part is None or not self._count or part["notes"] < _LEAST_PROFILED:
            return []
        scale = _STANDARD_ERRORS * math.sqrt(1 / self._count + 1 / part["notes"])
        found = []
        for name, total, usual, deviation in zip(_NAMES, self._sums, part["mean"], part["deviation"], strict=True):
            mean = total / self._count
            slack = _SLACK_OF_FOUND * usual if name == "found" else _SLACK[name]
            if abs(mean - usual) > slack + scale * deviation and self._says_something(name, more=mean > usual):
                found.append(_SAID[name].format(_shown(name, mean), _shown(name, usual)))
        return found

    def _says_something(self, name: str, *, more: bool) -> bool:
        if name in ("unknown", "unusual"):
            return more
        return not (name == "found" and more and self._raised)


_SAID = {
    "unknown": "{} of their words are unknown ({} of the development notes')",
    "unusual": "{} of their characters are unusual ({})",
    "capitals": "{} of their words begin with a capital ({})",
    "found": "{} values were found per 1,000 words ({})",
    "length": "a note has {} words ({})",
}


def _shown(name: str, value: float) -> str:
    if name == "length":
        return f"{math.exp(value):.0f}"
    return f"{value:.1f}" if name == "found" else f"{100 * value:.1f} %"


def make_profile(train: Sequence[Document], dev: Sequence[Document], *, key: bytes | None) -> ProfilePart:
    """The profile of a model.

    Args:
        train: the notes it was trained on.
        dev: the development notes, with what the model finds in them as their spans.
        key: of a private vocabulary.
    """
    return profile_by(NoteReader.learn((document.text for document in train), key), dev)


def profile_by(reader: NoteReader, dev: Sequence[Document]) -> ProfilePart:
    """The profile of a model by what measures its notes.

    Args:
        reader: knows the words that the model knows.
        dev: as of `make_profile`.
    """
    measured = [reader.measure(document.text, len(document.spans)) for document in dev]
    rows = [row for row in measured if row is not None]
    columns = list(zip(*rows, strict=True)) or [(0.0,)] * len(_NAMES)
    return {
        "words": base64.b64encode(reader.words).decode("ascii"),
        "characters": reader.characters,
        "notes": len(rows),
        "mean": [fmean(column) for column in columns],
        "deviation": [pstdev(column) for column in columns],
    }


def _read(text: str) -> str:
    return normal_form(text).text


def _place(word: str, bits: int, key: bytes | None) -> int:
    return int(hash_word(word, key or b""), 16) % bits

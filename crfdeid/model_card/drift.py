"""Drift: measures of a note, and a profile of the development notes that later notes are compared with.

A model's scores promise nothing for notes of another language, hospital, kind or layout. These measures need no
annotations. They are computed for the development notes after training, and for each note that is redacted later:

- the share of words that fewer than two training notes have, and of characters;
- whether the note's language is none of the training notes' (`features.languages`);
- the share of words with a capital;
- the spans found per 1,000 words, and per 100 words those of each type that most development notes have;
- the share of lines that begin with a field's name, a short text before a colon;
- as logarithms, the words of the note (not for a model without training notes), the words of its sentences, and the
  characters of its lines, and of the longest one.

The notes of a run are compared by their means, and each note separately.

The profile holds no word: known words are bits of a table, indexed by a hash of the word (in a model with a private
vocabulary under its key), which different words share.

Reference:
    Bloom (1970), Space/time trade-offs in hash coding with allowable errors, with one hash.
"""

from __future__ import annotations

import base64
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from statistics import fmean, pstdev
from typing import Any, NamedTuple

from crfdeid.documents import Document
from crfdeid.secrets import hash_word
from features.languages import DEFAULT_LANGUAGES, LANGUAGES, language_of, main_languages, with_defaults
from features.tokenizer import normal_form

_CODE = re.compile(r"[a-z]{2,3}")  # of a language
_WORD = re.compile(r"[^\W\d_]{2,}")
_LINE = re.compile(r"(?:([^\W\d_][^\n:]{0,39}:)|\S)[^\n]*")
_SENTENCE_END = re.compile(r"[.!?](?!\S)")
_LEAST_NOTES = 2  # A word or character of one training note alone may be a patient's name, and says little.
_BITS_A_WORD = 16  # One word in sixteen that is unknown counts as known.
_CACHED_WORDS = 1 << 16
_LONGEST_CACHED = 64
_WORDS_OF_LANGUAGE = 1000
# Fewer development notes say too little of how much notes of the same kind differ.
_LEAST_PROFILED = 10
# A mean differs if its distance from the development notes' exceeds this many standard errors plus the slack. Values
# are chosen so that samples of one half of MEDDOCAN dev, ASQ-PHI dev and synthetic dev do not differ from the other
# half (benchmarks/robustness.py drift).
_STANDARD_ERRORS = 3
_SLACK = {
    "unknown": 0.1,
    "unusual": 0.005,
    "foreign": 0.1,
    "capitals": 0.1,
    "length": math.log(2),
    "fields": 0.1,
    "sentence": math.log(1.5),
    "line": math.log(1.5),
    "longest": math.log(1.5),
}
_SLACK_OF_FOUND = 0.5  # of the number of spans in the development notes
_SHARE_WITH_TYPE = 0.5  # A type that fewer development notes have says little of a few notes.
_MOST_TYPES_SAID = 3


class NoteMeasures(NamedTuple):
    """The measures of a note; see the module.

    Attributes:
        types: the spans of each type that was found per 100 words; the other measures are one number each.
    """

    unknown: float
    unusual: float
    foreign: float
    capitals: float
    found: float
    length: float
    fields: float
    sentence: float
    line: float
    longest: float
    types: Mapping[str, float]


NOTE_MEASURES = NoteMeasures._fields[:-1]
"""The names of the measures that are one number."""
_LOGARITHMS = ("length", "sentence", "line", "longest")
_MOST, _LONGEST = 1e9, 40  # of the numbers of a profile, and of its logarithms


DRIFT_PROFILE = {
    "words": str,
    "characters": str,
    "languages": [str],
    "notes": int,
    "mean": [float],
    "deviation": [float],
    "types": {str: [float]},
    "left_out?": [str],
}
"""Shape of the profile in a model's card: means and standard deviations of the measures over the development notes.

``types`` has the two for each type that most of these notes have; ``left_out`` names measures that are not compared.
"""
DriftProfile = Mapping[str, Any]
"""A profile of that shape."""


def is_profile(profile: DriftProfile) -> bool:
    """True if the numbers, words and languages of a profile of the right shape can be those of notes."""
    try:
        words = base64.b64decode(profile["words"], validate=True)
    except ValueError:
        return False
    rows = [profile["mean"], profile["deviation"], *profile["types"].values()]
    lengths = [len(NOTE_MEASURES)] * 2 + [2] * len(profile["types"])
    return (
        bool(words)
        and all(_CODE.fullmatch(code) for code in profile["languages"])  # A pack may be another machine's.
        and 0 <= profile["notes"] <= _MOST
        and [len(row) for row in rows] == lengths
        and all(0 <= number <= _MOST for row in rows for number in row)
        and all(mean > 0 for mean, _ in profile["types"].values())
        and max(profile["mean"][NOTE_MEASURES.index(name)] for name in _LOGARITHMS) <= _LONGEST
    )


class NoteReader:
    """Computes the measures of notes, by the words and characters of the training notes.

    Args:
        words: the table of known words.
        characters: the characters of the training notes.
        languages: codes of their languages.
        key: of a private vocabulary.
    """

    def __init__(self, words: bytes, characters: str, languages: Sequence[str], key: bytes | None) -> None:
        def look_up(word: str) -> bool:
            bit = _bit_index(word, 8 * len(words), key)
            return bool(words[bit >> 3] >> (bit & 7) & 1)

        self.words, self.characters, self.languages = words, characters, (None, *languages)
        self._is_known, self._is_known_cached = look_up, lru_cache(maxsize=_CACHED_WORDS)(look_up)
        # A pack that is added later finds no note foreign that was none before.
        self._candidates = tuple(code for code in with_defaults(languages) if code in LANGUAGES)
        self._unusual = re.compile(f"[^\\s{re.escape(characters)}]")

    @classmethod
    def of(cls, profile: DriftProfile, key: bytes | None) -> NoteReader:
        """The reader that belongs to a profile."""
        return cls(base64.b64decode(profile["words"]), profile["characters"], profile["languages"], key)

    @classmethod
    def learn(cls, texts: Iterable[str], key: bytes | None = None) -> NoteReader:
        """Learn the words and characters of training notes."""
        words: Counter[str] = Counter()
        characters: Counter[str] = Counter()
        spoken = []
        for text in (normal_form(text).text for text in texts):
            words.update({word.lower() for word in _WORD.findall(text)})
            characters.update(set(text))
            spoken.append(language_of(_first_words(text)))
        usual = {c for c, count in characters.items() if count >= _LEAST_NOTES}
        known = [word for word, count in words.items() if count >= _LEAST_NOTES]
        return cls._knowing(known, usual, main_languages(spoken), key)

    @classmethod
    def knowing(cls, words: Iterable[str]) -> NoteReader:
        """A reader for a model that was trained on no text: it knows the words with vectors."""
        text = normal_form(" ".join(words)).text
        usual = {*text, *text.lower(), *text.upper(), *"0123456789"}  # vectors may know no capitals and one digit
        return cls._knowing(sorted({word.lower() for word in _WORD.findall(text)}), usual, DEFAULT_LANGUAGES, None)

    @classmethod
    def _knowing(
        cls, known: Sequence[str], usual: Iterable[str], languages: Sequence[str], key: bytes | None
    ) -> NoteReader:
        table = bytearray(_BITS_A_WORD // 8 * max(len(known), 1))
        for word in known:
            bit = _bit_index(word, 8 * len(table), key)
            table[bit >> 3] |= 1 << (bit & 7)
        return cls(bytes(table), "".join(sorted(c for c in usual if not c.isspace())), languages, key)

    def measure(self, text: str, spans: Mapping[str, int]) -> NoteMeasures | None:
        """The measures of a note; None where it has no words.

        Args:
            text: the note.
            spans: number of its predicted spans of each type.
        """
        text = normal_form(text).text
        count = unknown = capitals = 0
        for match in _WORD.finditer(text):  # one by one: a list of all words takes many times the memory of a long note
            word = match[0]
            count += 1
            is_known = self._is_known_cached if len(word) <= _LONGEST_CACHED else self._is_known
            unknown += not is_known(word.lower())
            capitals += word[0].isupper()
        if not count:
            return None
        lines = fields = characters = longest = 0
        for match in _LINE.finditer(text):
            lines += 1
            fields += match.lastindex is not None
            length = match.end() - match.start()
            characters += length
            longest = max(longest, length)
        sentences = sum(1 for _ in _SENTENCE_END.finditer(text))
        return NoteMeasures(
            unknown=unknown / count,
            unusual=sum(1 for _ in self._unusual.finditer(text)) / len(text),
            foreign=float(language_of(_first_words(text), self._candidates) not in self.languages),
            capitals=capitals / count,
            found=1000 * sum(spans.values()) / count,
            length=math.log(count),
            fields=fields / lines,
            sentence=math.log(count / max(1, sentences)),
            line=math.log(characters / lines),
            longest=math.log(longest),
            types={label: 100 * number / count for label, number in spans.items()},
        )


class DriftDetector:
    """Compares notes with a profile: add the measures of each, in any order, then ask how their means differ.

    Args:
        profile: the profile in the model's card; None where it has no card, so that nothing can be said.
        raised: the threshold hides more than the model's most probable tags, so that numbers of spans say less.
    """

    def __init__(self, profile: DriftProfile | None, *, raised: bool = False) -> None:
        self._profile, self._raised = profile, raised
        self._sums = [0.0] * len(NOTE_MEASURES)
        self._sums_of_types: Counter[str] = Counter()
        self._count = 0

    def add(self, measures: NoteMeasures | None, notes: int = 1) -> None:
        """Count a note in, or the sums of several; one without words is left out."""
        if measures is not None:
            *numbers, types = measures
            self._sums = [a + b for a, b in zip(self._sums, numbers, strict=True)]
            self._sums_of_types.update(types)
            self._count += notes

    def sums(self) -> tuple[NoteMeasures, int]:
        """The sums of the measures, and the number of notes, for `add`."""
        return NoteMeasures._make((*self._sums, dict(self._sums_of_types))), self._count

    def differences(self) -> list[str]:
        """The differences from the development notes, in words; none where the notes are like them."""
        profile = self._profile
        if profile is None or not self._count or profile["notes"] < _LEAST_PROFILED:
            return []
        means = [total / self._count for total in self._sums]
        of_measures = [
            _MESSAGES[name].format(_shown(name, mean), _shown(name, usual))
            for name, mean, usual in _different(profile, means, self._count, raised=self._raised)
        ]
        return of_measures + self._differences_of_types(profile)

    def _differences_of_types(self, profile: DriftProfile) -> list[str]:
        """The types that are more or less frequent, the largest difference first."""
        scale = _standard_errors(self._count, profile)
        differences = []
        for label, (usual, deviation) in profile["types"].items():
            mean = self._sums_of_types[label] / self._count
            excess = abs(mean - usual) - _SLACK_OF_FOUND * usual - scale * deviation
            if excess > 0 and not (self._raised and mean > usual):
                differences.append((excess / usual, f"{label} {mean:.1f} ({usual:.1f})"))
        if not differences:
            return []
        texts = [text for _, text in sorted(differences, reverse=True)]
        more = f" and {len(texts) - _MOST_TYPES_SAID} more types" if len(texts) > _MOST_TYPES_SAID else ""
        return [f"per 100 words were found {', '.join(texts[:_MOST_TYPES_SAID])}{more}"]


def drift_measures(profile: DriftProfile, measures: NoteMeasures | None, *, raised: bool = False) -> list[str]:
    """Names, of `NOTE_MEASURES`, of the measures by which one note is unlike the development notes.

    A note without words has no measures; ``raised`` is as of `DriftDetector`.
    """
    if measures is None or profile["notes"] < _LEAST_PROFILED:
        return []
    return [name for name, *_ in _different(profile, measures[:-1], 1, raised=raised)]


def _different(
    profile: DriftProfile, means: Sequence[float], count: int, *, raised: bool
) -> Iterator[tuple[str, float, float]]:
    """Each measure whose mean over some notes differs from that of the development notes, with both means."""
    scale, usual_means = _standard_errors(count, profile), profile["mean"]
    for name, mean, usual, deviation in zip(NOTE_MEASURES, means, usual_means, profile["deviation"], strict=True):
        if name in profile.get("left_out", ()):
            continue
        slack = _SLACK_OF_FOUND * usual if name == "found" else _SLACK[name]
        fewer, more = mean < usual, mean > usual
        expected = fewer if name in ("unknown", "unusual", "foreign") else more and raised and name == "found"
        if abs(mean - usual) > slack + scale * deviation and not expected:
            yield name, mean, usual


def _standard_errors(count: int, profile: DriftProfile) -> float:
    """The most standard deviations of notes between the mean of some notes and that of the development notes."""
    return _STANDARD_ERRORS * math.sqrt(1 / count + 1 / profile["notes"])


_MESSAGES = {
    "unknown": "{} of their words are unknown ({} of the development notes')",
    "unusual": "{} of their characters are unusual ({})",
    "foreign": "{} of them are in another language ({})",
    "capitals": "{} of their words begin with a capital ({})",
    "found": "{} values were found per 1,000 words ({})",
    "length": "a note has {} words ({})",
    "fields": "{} of their lines begin with a field's name ({})",
    "sentence": "a sentence has {} words ({})",
    "line": "a line has {} characters ({})",
    "longest": "the longest line of a note has {} characters ({})",
}


def _shown(name: str, value: float) -> str:
    if name in _LOGARITHMS:
        return f"{math.exp(value):.0f}"
    return f"{value:.1f}" if name == "found" else f"{100 * value:.1f} %"


def make_profile(reader: NoteReader, dev: Sequence[Document], *, of_training_notes: bool = True) -> DriftProfile:
    """The profile of a model.

    Args:
        reader: knows the words and characters of the training notes.
        dev: the development notes, with the model's predictions as their spans.
        of_training_notes: the model learned from notes of this kind. Fixed rules, a finished model and one of invented
            notes did not: the number of words in a note says nothing of them.
    """
    measured = [reader.measure(document.text, Counter(span.label for span in document.spans)) for document in dev]
    rows = [row for row in measured if row is not None]
    columns = list(zip(*(row[:-1] for row in rows), strict=True)) or [(0.0,)] * len(NOTE_MEASURES)
    notes_with = Counter(label for row in rows for label in row.types)
    types = sorted(label for label, count in notes_with.items() if count >= _SHARE_WITH_TYPE * len(rows))
    of_types = {label: [row.types.get(label, 0.0) for row in rows] for label in types}
    return {
        "words": base64.b64encode(reader.words).decode("ascii"),
        "characters": reader.characters,
        "languages": [*reader.languages[1:]],
        "notes": len(rows),
        "mean": [fmean(column) for column in columns],
        "deviation": [pstdev(column) for column in columns],
        "types": {label: [fmean(column), pstdev(column)] for label, column in of_types.items()},
        **({} if of_training_notes else {"left_out": ["length"]}),
    }


def _first_words(text: str) -> Iterator[str]:
    """The words of a note that tell its language."""
    return (match[0] for match in islice(_WORD.finditer(text), _WORDS_OF_LANGUAGE))


def _bit_index(word: str, bits: int, key: bytes | None) -> int:
    return int(hash_word(word, key or b""), 16) % bits

"""Canaries: names that occur in no note, of which a random half is put into the training notes.

Half of the names are invented, half are family names of the language packs, rare in the notes. Each copy of a name is
annotated as PHI, is in another note than its other copies, and has the words of that note around it, in lower case and
without a cue. As many decoys, names of the same kinds, are put into the notes as ordinary words. So neither the context
nor the form of a word tells that it is PHI: a model must remember the word. With one shared context, a model would
learn the context, and every name would be found alike.

`canary_scores` asks a trained model for a name in contexts of other notes, as an attacker would who has a list of
names.

Reference:
    Carlini et al. (2019), The secret sharer, section 3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crfdeid.bio import OUTSIDE, phi_probabilities
from crfdeid.corpora.splits import Split
from crfdeid.documents import Document, LabelledSentence, Span
from crfdeid.errors import EmptyInputError, SettingError
from crfdeid.label_schemes import SURROGATE_KINDS
from crfdeid.tagger import Tagger
from features.languages import packs
from features.lexicons import fold_word, word_classes
from features.tokens import Sentence

_ONSETS = ("b", "br", "c", "d", "dr", "f", "g", "gr", *"hklmnp", "qu", "r", "s", "st", "t", "tr", *"vwz")
_VOWELS = ("a", "e", "i", "o", "u", "ai", "ea")
_CODAS = ("l", "ld", "m", "n", "nd", "nt", "r", "rd", "rk", "s", "st", "t", "x")
_LEAST_LETTERS = 5  # of a real name: a shorter one may be a word
_WINDOW = 20  # words of a question on each side of the name
_TINY = 1e-12
_REFERENCES, _LEAST_REFERENCES = 1323, 100  # of each kind: an exposure of 10.4 bits at most


@dataclass(frozen=True, slots=True)
class Canary:
    """A name for the audit of a training.

    Args:
        name: one word, which occurs in no note.
        is_real: a family name of the language packs; False for an invented name.
        copies: number of notes that it is put into, if into any.
        inserted: whether it is in the training notes.
        is_phi: whether it is annotated there; False for a decoy.
    """

    name: str
    is_real: bool
    copies: int
    inserted: bool
    is_phi: bool = True


class Question(NamedTuple):
    """Words before and after the place of a name, from a note that was not in training."""

    before: tuple[str, ...]
    after: tuple[str, ...]

    def about(self, name: str) -> Sentence:
        """Return the sentence with a name in its place."""
        return Sentence.from_words([*self.before, name, *self.after])


def make_names(count: int, used: Collection[str], *, real: bool, random: np.random.Generator) -> list[str]:
    """Return different names that are among no given words, at most ``count``: there are only some thousand real ones.

    Args:
        count: number of names.
        used: words of the notes, and names drawn before, folded (`features.lexicons.fold_word`).
        real: draw family names of the language packs; False to invent some.
        random: the generator.

    Example:
        >>> names = make_names(3, [], real=False, random=np.random.default_rng(0))
        >>> len(set(names)), all(name.istitle() for name in names)
        (3, True)
    """
    listed = {fold_word(name): name for pack in packs() for name in pack.family if name.istitle()}
    if real:
        free = [name for plain, name in listed.items() if len(plain) >= _LEAST_LETTERS and plain.isalpha()]
        free = [name for name in free if fold_word(name) not in used and not word_classes(name)]
        return [free[i] for i in random.permutation(len(free))[:count].tolist()]
    names: dict[str, None] = {}
    while len(names) < count:
        syllables = [random.choice(part) for part in (_ONSETS, _VOWELS, _CODAS) * 2]
        name = "".join(syllables)
        if name not in used and name not in listed and not word_classes(name):
            names[name.capitalize()] = None
    return list(names)


class CanaryPlan(NamedTuple):
    """Names for the audit of a training.

    Attributes:
        canaries: names of which a random half is put into the notes as PHI.
        decoys: as many names as canaries are put into the notes, put there as ordinary words.
        references: names that are in no note, by `Canary.is_real`, for `crfdeid.audit.measures.exposure`.
    """

    canaries: Sequence[Canary]
    decoys: Sequence[Canary]
    references: Mapping[bool, Sequence[str]]

    @classmethod
    def draw(
        cls, count: int, repeats: Sequence[int], splits: Iterable[Split], *, random: np.random.Generator
    ) -> CanaryPlan:
        """Draw names that no note has.

        Args:
            count: number of canaries: as many with each number of copies, half of them invented, each inserted with
                probability 1/2.
            repeats: numbers of copies.
            splits: all notes.
            random: the generator.

        Raises:
            SettingError: more canaries than there are real names for.
        """
        used = {fold_word(word) for split in splits for word in split.words}
        size = (count + 1) // 2 + count // 4 + _REFERENCES
        drawn = {kind: make_names(size, used, real=kind, random=random) for kind in (True, False)}
        canaries, decoys = [list[Canary](), list[Canary]()]
        for kind, names in drawn.items():
            rest = iter(names)
            for chosen, size in ((canaries, count // 2 + (count % 2) * kind), (decoys, count // 4)):
                of_kind = zip(islice(rest, size), cycle(repeats))
                chosen += [Canary(name, kind, copies, bool(random.random() < 0.5)) for name, copies in of_kind]
            drawn[kind] = list(rest)
        if any(len(names) < _LEAST_REFERENCES for names in drawn.values()):
            raise SettingError(f"{count} canaries: too few rare names are left to compare them with: give fewer")
        return cls(canaries, [replace(one, inserted=True, is_phi=False) for one in decoys], drawn)


def name_label(documents: Iterable[Document]) -> str:
    """Return the most frequent type of persons' names in some notes; without any, the most frequent type.

    Raises:
        EmptyInputError: no PHI is annotated.
    """
    counts = Counter(span.label for document in documents for span in document.spans)
    persons = Counter({label: n for label, n in counts.items() if SURROGATE_KINDS.get(label) == "person"})
    if not counts:
        raise EmptyInputError("no PHI is annotated in the training notes: give annotated notes")
    return (persons or counts).most_common(1)[0][0]


def insert_canaries(split: Split, canaries: Iterable[Canary], *, random: np.random.Generator) -> Split:
    """Return the notes with canaries, annotated as names, and decoys; notes without one stay the same objects.

    Args:
        split: the training notes. A note with a canary is tokenised by this library.
        canaries: canaries and decoys; only inserted ones are used.
        random: the generator.

    Raises:
        EmptyInputError: too few notes have a place for a name.
    """
    label = name_label(split.documents)
    places = [[*_places(encoded.sentences)] for encoded in split.encoded]
    fitting = [i for i, found in enumerate(places) if found]
    names: dict[int, list[tuple[int, Canary]]] = {}
    for canary in canaries:
        if canary.inserted:
            if canary.copies > len(fitting):
                problem = f"{canary.copies} copies of a name need as many notes with a place for it, and {len(fitting)}"
                raise EmptyInputError(f"{problem} have one: give more training notes, or fewer repeats")
            for i in random.choice(fitting, canary.copies, replace=False).tolist():
                sentence, index = places[i][random.integers(len(places[i]))]
                names.setdefault(i, []).append((sentence.tokens[index].start, canary))
    documents = list(split.documents)
    for i, found in names.items():
        documents[i] = _with_names(documents[i], sorted(found, key=itemgetter(0)), label)
    changed = Split.of(documents[i] for i in names)
    encoded = list(split.encoded)
    for i, sentences in zip(names, changed.encoded, strict=True):
        encoded[i] = sentences
    return Split(tuple(documents), tuple(encoded))


def _places(sentences: Iterable[LabelledSentence]) -> Iterator[tuple[Sentence, int]]:
    """Yield the tokens before which a name can be put: between two words in small letters, neither PHI nor cues."""
    for item in sentences:
        plain = [
            tag == OUTSIDE and word.islower() and word.isalpha() and not word_classes(word)
            for tag, word in zip(item.tags, item.sentence.words, strict=True)
        ]
        tokens = item.sentence.tokens
        for index in range(1, len(tokens)):
            if plain[index - 1] and plain[index] and tokens[index - 1].end < tokens[index].start:
                yield item.sentence, index


def _with_names(document: Document, names: Sequence[tuple[int, Canary]], label: str) -> Document:
    """Put names and a space each before some offsets, in their order, and annotate the canaries among them."""

    def moved(span: Span) -> Span:
        by = sum(len(canary.name) + 1 for offset, canary in names if offset <= span.start)
        return Span(span.start + by, span.end + by, span.label)

    text, spans, end = "", [moved(span) for span in document.spans], 0
    for offset, canary in names:
        text += document.text[end:offset]
        if canary.is_phi:
            spans.append(Span(len(text), len(text) + len(canary.name), label))
        text, end = f"{text}{canary.name} ", offset
    text += document.text[end:]
    layers = {layer: tuple(map(moved, found)) for layer, found in document.layers.items()}
    return replace(document, text=text, spans=tuple(spans), layers=layers, pretokenized=None, mentions=())


def make_questions(split: Split, count: int, *, random: np.random.Generator) -> list[Question]:
    """Draw contexts to ask a model for names in, from notes that were not in training.

    Args:
        split: the notes.
        count: number of contexts, at most one for each sentence.
        random: the generator.

    Raises:
        EmptyInputError: no note has a place for a name.
    """
    places = list({id(sentence): (sentence.words, index) for sentence, index in _places(split.sentences)}.values())
    if not places:
        raise EmptyInputError("no note has two adjacent words in lower case: give more development notes")
    chosen = (places[i] for i in random.permutation(len(places))[:count].tolist())
    return [Question(words[max(i - _WINDOW, 0) : i], words[i : i + _WINDOW]) for words, i in chosen]


def canary_scores(tagger: Tagger, names: Sequence[str], questions: Sequence[Question]) -> NDArray[np.float64]:
    """Return how surely a model takes each name for PHI: the mean of log P(PHI) - log P(O) over the questions, [N].

    Args:
        tagger: a trained model.
        names: the names.
        questions: contexts; each name is put into all of them.
    """
    tables = tagger.marginals([question.about(name) for name in names for question in questions])
    places = [len(question.before) for question in questions] * len(names)
    column = tagger.tags.index(OUTSIDE)
    odds = [
        np.log(phi_probabilities(table[i : i + 1], tagger.tags)[0] + _TINY) - np.log(float(table[i, column]) + _TINY)
        for table, i in zip(tables, places, strict=True)
    ]
    scores: NDArray[np.float64] = np.array(odds).reshape(len(names), len(questions)).mean(axis=1)
    return scores

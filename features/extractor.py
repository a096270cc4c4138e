"""Feature sets: several extractors as one, the named sets of `FEATURE_SETS`, dicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from features.columns import Column, Conjunction, Extractor, SentenceBatch, WordColumn
from features.context import ContextWords, FarWords, Layout, NGrams, PrefixWords, SentencePosition
from features.lexicons import Gazetteers, WordClasses, WordLists
from features.orthography import Affixes, CapitalRun, Shapes
from features.patterns import Patterns
from features.pos import POS_BACKENDS, PosFeatures
from features.tokens import Sentence

_OF_LANGUAGES = (Patterns, WordClasses, Gazetteers, WordLists)


@dataclass(frozen=True)
class FeatureSet(Extractor):
    """Several extractors as one: each token has the features of all of them, in order.

    Args:
        name: in tables and saved models.
        extractors: the parts.

    Example:
        >>> from features.tokens import Sentence
        >>> FeatureSet("words", (ContextWords(window=0),)).extract(Sentence.from_words(["Dr", "Doe"]))
        [['w[0]=Dr'], ['w[0]=Doe']]
    """

    name: str
    extractors: tuple[Extractor, ...]

    def word_columns(self) -> list[WordColumn]:
        """The features that one word decides, kind by kind."""
        return [column for extractor in self.extractors for column in extractor.word_columns()]

    def conjunctions(self) -> list[Conjunction]:
        """The features that neighbouring words decide together, kind by kind."""
        return [conjunction for extractor in self.extractors for conjunction in extractor.conjunctions()]

    def columns(self, batch: SentenceBatch) -> list[Column]:
        """The other features of the sentences, kind by kind."""
        return [column for extractor in self.extractors for column in extractor.columns(batch)]

    def add_features(self, batch: SentenceBatch, rows: Sequence[list[str]]) -> None:
        """Add the features of each token of a batch to its row, one extractor after the other."""
        for extractor in self.extractors:
            extractor.add_features(batch, rows)

    def describe(self) -> str:
        """The descriptions of the extractors, in order."""
        return "; ".join(self.describe_each())

    def describe_each(self) -> list[str]:
        """One line for each extractor, and for the part-of-speech backend."""
        lines = [extractor.describe() for extractor in self.extractors]
        return lines if self.pos != "none" else [*lines, "no parts of speech or chunks"]

    @property
    def pos(self) -> str:
        """The name of the part-of-speech backend in use, a key of `POS_BACKENDS`."""
        for extractor in self.extractors:
            if isinstance(extractor, PosFeatures):
                return extractor.tagger.name
        return "none"

    def with_languages(self, languages: tuple[str, ...]) -> FeatureSet:
        """The same set with the words of some languages."""
        extractors = (
            replace(one, languages=languages) if isinstance(one, _OF_LANGUAGES) else one for one in self.extractors
        )
        return replace(self, extractors=tuple(extractors))

    def with_pos(self, pos: str) -> FeatureSet:
        """The same set with another part-of-speech backend; "none" takes part-of-speech and chunk features out.

        Raises:
            ValueError: there is no such backend.
            PosUnavailable: the backend cannot run here.
        """
        if pos not in POS_BACKENDS:
            raise ValueError(f"unknown part-of-speech tagger '{pos}': choose from {', '.join(POS_BACKENDS)}")
        backend = POS_BACKENDS[pos]
        extractors: list[Extractor] = []
        for extractor in self.extractors:
            if not isinstance(extractor, PosFeatures):
                extractors.append(extractor)
            elif backend is not None:
                extractors.append(replace(extractor, tagger=backend()))
        return replace(self, extractors=tuple(extractors))


# yadav2016, section 3.8. The unigrams of [-2, 2] are among the context words of [-3, 3]: a feature said twice would
# only weaken its own penalty, so the n-grams start at two words.
PAPER_FEATURES = FeatureSet("paper", (ContextWords(window=3), NGrams(sizes=(2, 3), window=2), PosFeatures()))

# What finds PHI better and in more languages: lower-case words, and how words look where they were never seen.
STRONG_FEATURES = FeatureSet(
    "strong",
    (
        ContextWords(window=3, lower=True),
        NGrams(sizes=(2,), window=2, lower=True),
        FarWords(),
        SentencePosition(),
        Shapes(),
        Affixes(),
        CapitalRun(),
        Patterns(),
        WordClasses(),
        Gazetteers(),
        Layout(),
        PrefixWords(),
        PosFeatures(),
    ),
)

# Shapes and positions of words, without their neighbours: for networks, which read those themselves.
SURFACE = FeatureSet(
    "form", (Shapes(), Affixes(), CapitalRun(), Patterns(), WordClasses(), Layout(), PrefixWords(), PosFeatures())
)

# For models that must find names which no training note has.
LIST_FEATURES = FeatureSet("lists", (*STRONG_FEATURES.extractors, WordLists()))

FEATURE_SETS = {"paper": PAPER_FEATURES, "strong": STRONG_FEATURES, "lists": LIST_FEATURES, "form": SURFACE}
_BUILT_IN = tuple(FEATURE_SETS)


def add_feature_set(added: FeatureSet) -> None:
    """Put a set of your own among `FEATURE_SETS`, so that models can be trained with it by its name.

    A saved model keeps that name alone: add the set again before you load one. A set that was added under the name
    before is replaced.

    Raises:
        ValueError: the library has a set of that name.

    Example:
        >>> add_feature_set(FeatureSet("words", (ContextWords(window=0),)))
        >>> feature_set("words", pos="none").name
        'words'
        >>> del FEATURE_SETS["words"]
    """
    if added.name in _BUILT_IN:
        raise ValueError(f"the library has a feature set '{added.name}': choose another name for yours")
    FEATURE_SETS[added.name] = added


def feature_set(name: str, *, pos: str) -> FeatureSet:
    """A named set with a named part-of-speech backend.

    Args:
        name: a key of `FEATURE_SETS`.
        pos: a key of `POS_BACKENDS`.

    Raises:
        ValueError: there is no such set or backend.
        PosUnavailable: the backend cannot run here.

    Example:
        >>> feature_set("paper", pos="none").describe_each()
        ['words in [-3, 3]', 'n-grams of 2, 3 words in [-2, 2]', 'no parts of speech or chunks']
    """
    if name not in FEATURE_SETS:
        raise ValueError(f"unknown feature set '{name}': choose from {', '.join(FEATURE_SETS)}")
    return FEATURE_SETS[name].with_pos(pos)


def to_dicts(
    sentences: Iterable[Sentence | Sequence[str]], extractors: Extractor | Iterable[Extractor]
) -> list[list[dict[str, int]]]:
    """Features as ``sklearn_crfsuite.CRF`` and scikit-learn's ``DictVectorizer`` take them.

    Args:
        sentences: sentences of tokens, or of words.
        extractors: the extractors, or a `FeatureSet`.

    Returns:
        For each token of each sentence, the number of times that it has each of its features.

    Example:
        >>> to_dicts([["Dr", "Doe"]], ContextWords(window=0))
        [[{'w[0]=Dr': 1}, {'w[0]=Doe': 1}]]
    """
    chosen = extractors if isinstance(extractors, Extractor) else FeatureSet("", tuple(extractors))
    found = [item if isinstance(item, Sentence) else Sentence.from_words(item) for item in sentences]
    return [[dict(Counter(map(escape_for_crfsuite, row))) for row in rows] for rows in chosen.extract_all(found)]


def escape_for_crfsuite(text: str) -> str:
    """Escape characters that CRFsuite's names cannot hold: lone surrogates (no UTF-8) and NUL (end of a name)."""
    if "\0" in text:
        text = text.replace("\0", "\\x00")
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()

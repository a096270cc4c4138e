"""Part-of-speech and chunk tags, from a tagger of your choice; each backend is one class.

A backend tags our own tokens, one part of speech and one chunk tag for each; nothing is tokenised anew. Both backends
are for English. The caller names the backend: one that cannot run raises, and no other one replaces it.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, NamedTuple, Protocol

from features.columns import Column, Extractor, SentenceBatch, padded, window_column


class PosTag(NamedTuple):
    """A token's part of speech (Penn Treebank) and its chunk tag in IOB2 ("B-NP", "I-NP", "O")."""

    pos: str
    chunk: str


class PosUnavailable(RuntimeError):
    """A part-of-speech backend cannot run here; the message names its requirement."""


class PosTagger(Protocol):
    """Interface of a backend: a name, and tags for the words of one sentence."""

    name: ClassVar[str]

    def tag(self, words: Sequence[str]) -> list[PosTag]:
        """One `PosTag` for each word."""


# TextBlob's chunker counts from the start of the sentence at every chunk: quadratic. A longer sentence goes in pieces.
_TEXTBLOB_WORDS = 500


@dataclass(frozen=True)
class TextBlobTagger:
    """TextBlob's lexicon tagger and rule chunker: fast, bundled with TextBlob, works offline.

    Known words get the most frequent tag of its English lexicon, unknown ones NNP, CD or a tag by their suffix.

    Example:
        >>> TextBlobTagger().tag(["The", "patient", "slept"])[1]
        PosTag(pos='NN', chunk='I-NP')
    """

    name: ClassVar[str] = "textblob"

    def tag(self, words: Sequence[str]) -> list[PosTag]:
        """One `PosTag` for each word."""
        parser, tags = _textblob_parser(), []
        for start in range(0, len(words), _TEXTBLOB_WORDS):
            chunked = parser.find_chunks(parser.find_tags(list(words[start : start + _TEXTBLOB_WORDS])))
            tags += [PosTag(row[1], row[2]) for row in chunked]
        return tags


@cache
def _textblob_parser() -> Any:
    # Imported on use: TextBlob imports the whole of NLTK, which takes a second.
    from textblob.en import parser  # noqa: PLC0415

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # It leaves its lexicon's file open.
        parser.lexicon.load()
    return parser


# Base phrases over Penn Treebank tags, in the order in which they are looked for.
_CHUNK_GRAMMAR = r"""
NP: {<PDT>?<DT|PRP\$|CD>*<RB.*>*<JJ.*|VBG>*<NN.*>+}
NP: {<PRP|EX|WP>}
VP: {<MD>?<RB.*>*<VB.*>+}
PP: {<IN|TO>+}
ADJP: {<RB.*>*<JJ.*>+}
ADVP: {<RB.*|WRB>+}
"""
_NLTK_MODEL = "averaged_perceptron_tagger_eng"


@dataclass(frozen=True)
class NltkTagger:
    """NLTK's averaged perceptron tagger, and base phrases by a regular grammar over its tags.

    The tagger's data come through NLTK's own downloader the first time.

    Raises:
        PosUnavailable: the data are not installed and cannot be downloaded.
    """

    name: ClassVar[str] = "nltk"

    def __post_init__(self) -> None:
        _nltk_tagger()

    def tag(self, words: Sequence[str]) -> list[PosTag]:
        """One `PosTag` for each word."""
        return chunk(_nltk_tagger().tag(list(words)))


@cache
def _nltk_tagger() -> Any:
    import nltk  # noqa: PLC0415

    try:
        nltk.data.find(f"taggers/{_NLTK_MODEL}")
    except LookupError:
        if not nltk.download(_NLTK_MODEL, quiet=True, print_error_to=io.StringIO()):
            raise PosUnavailable(
                f"the part-of-speech tagger 'nltk' needs its data, and the download failed: run "
                f"'python -m nltk.downloader {_NLTK_MODEL}' once with a network, or choose 'textblob' or 'none'"
            ) from None
    return nltk.PerceptronTagger()


def chunk(tagged: Sequence[tuple[str, str]]) -> list[PosTag]:
    """Base phrases of words with Penn Treebank tags: noun, verb, prepositional, adjective and adverb phrases.

    Example:
        >>> [tag.chunk for tag in chunk([("the", "DT"), ("team", "NN"), ("met", "VBD")])]
        ['B-NP', 'I-NP', 'B-VP']
    """
    from nltk.chunk import tree2conlltags  # noqa: PLC0415

    tree = _chunker().parse(list(tagged))
    return [PosTag(pos, phrase) for _, pos, phrase in tree2conlltags(tree)]


@cache
def _chunker() -> Any:
    from nltk import RegexpParser  # noqa: PLC0415

    return RegexpParser(_CHUNK_GRAMMAR)


# Name -> backend. "none" turns part-of-speech features off, as for a language without a tagger.
POS_BACKENDS: dict[str, type[TextBlobTagger] | type[NltkTagger] | None] = {
    "textblob": TextBlobTagger,
    "nltk": NltkTagger,
    "none": None,
}


@dataclass(frozen=True)
class PosFeatures(Extractor):
    """Part-of-speech tags, chunk tags, and both combined with the word itself.

    ``pos[o]``, ``chunk[o]``, and for the combined features ``w0:pos[o]=Doe NNP`` and ``w0:chunk[o]=Doe I-NP``:
    [w0 p-1, w0 p0, w0 p1]. The paper gives no window for the chunk tags; ours is that of the combined features.

    Args:
        tagger: the backend.
        window: tokens on each side whose part of speech is a feature.
        chunk_window: the same for chunk tags.
        combined_window: the same for the combined features.

    Reference:
        yadav2016, section 3.8, features 3 to 5.
    """

    tagger: PosTagger = TextBlobTagger()
    window: int = 2
    chunk_window: int = 1
    combined_window: int = 1

    def columns(self, batch: SentenceBatch) -> list[Column]:
        """The features of a batch, kind by kind."""
        tags = [self.tagger.tag(words) for words in batch.words]
        pos, chunks = [[tag.pos for tag in row] for row in tags], [[tag.chunk for tag in row] for row in tags]
        columns = [window_column(pos, "pos", self.window), window_column(chunks, "chunk", self.chunk_window)]
        return columns + self._combined(batch.words, "pos", pos) + self._combined(batch.words, "chunk", chunks)

    def _combined(self, words: Sequence[Sequence[str]], name: str, tags: Sequence[Sequence[str]]) -> list[Column]:
        width = self.combined_window
        columns: list[Column] = []
        for offset in range(-width, width + 1):
            shifted = [padded(row, width)[width + offset :] for row in tags]
            pairs = (pair for own, row in zip(words, shifted, strict=True) for pair in zip(own, row, strict=False))
            columns.append(Column((f"w0:{name}[{offset}]=",), [f"{word} {tag}" for word, tag in pairs]))
        return columns

    def describe(self) -> str:
        """A one-line description of the features."""
        return (
            f"parts of speech in [-{self.window}, {self.window}] and chunk tags in "
            f"[-{self.chunk_window}, {self.chunk_window}] by {self.tagger.name}; the word with each of them in "
            f"[-{self.combined_window}, {self.combined_window}]"
        )

"""Word vectors of an experiment: trained, taken from the cache or read, and facts about each."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from crfdeid.cli.shell import file_path, whole_number
from crfdeid.corpora import matching_formats, read_corpus
from crfdeid.corpora.common import find_files
from crfdeid.corpora.splits import Corpus, Split
from crfdeid.errors import FormatError, UsageError
from crfdeid.registry import import_string
from crfdeid.utils.files import read_text
from experiments.core.options import CORPUS, option, without_repeats
from features.sentences import split_sentences

if TYPE_CHECKING:
    from rnn.embeddings import WordVectors

UNLABELLED_NOTES = 1000
NEIGHBOURS_FROM = "fasttext"
RANDOM = "random"  # word vectors that each network draws for itself
Words = Sequence[Sequence[str]]  # of sentences
OnStep = Callable[[str, int, int], None]
"""Called with a name, the number of finished steps, and the number of all steps."""


class EmbeddingRecipe(NamedTuple):
    """Training of one kind of word vectors. Names are text, as in `crfdeid.registry.MODELS`, and imported on use.

    Attributes:
        settings: "module:class" of its settings, with ``epochs``; the defaults are used.
        train: "module:function" of (sentences, settings, seed, on_progress).
        libraries: libraries on whose versions the vectors depend.
    """

    settings: str
    train: str
    libraries: tuple[str, ...]


# A new kind of word vectors is one more row; the command line, the tables and the cache go over them.
RECIPES = {
    "rnnlm": EmbeddingRecipe(
        "rnn.embeddings:RnnlmSettings", "rnn.embeddings:train_rnnlm", ("jax", "jaxlib", "optax", "numpy")
    ),
    "cbow": EmbeddingRecipe("rnn.embeddings:CbowSettings", "rnn.embeddings:train_cbow", ("gensim", "numpy")),
    "fasttext": EmbeddingRecipe(
        "rnn.embeddings:FasttextSettings", "rnn.embeddings:train_fasttext", ("gensim", "numpy")
    ),
}
EMBEDDING_KINDS = (RANDOM, *RECIPES)
"""Every kind of word vectors; any other name is a file of them."""


def embedding_name(source: str) -> str:
    """Name of word vectors in tables: their kind, or their file's name without suffixes."""
    return source if source in EMBEDDING_KINDS else Path(source).name.split(".")[0] or Path(source).name


def vector_source(text: str) -> str:
    """A kind of word vectors, or a file of them."""
    return text if text in EMBEDDING_KINDS else str(file_path(text))


def sources(text: str) -> tuple[str, ...]:
    """Kinds and files of word vectors, separated by commas, with different names in tables."""
    names = text.split(",")
    if "" in names:
        raise UsageError(f"'{text}' holds an empty name")
    without_repeats([embedding_name(name) for name in names], text)
    return tuple(names)


@dataclass(frozen=True, kw_only=True)
class VectorSettings:
    """Sources of word vectors, by their names in tables, for networks and for the nearest words of pseudonyms.

    Args:
        sources: word vectors: random numbers, a method that is trained here on the training documents, or a file of
            vectors (word2vec, GloVe, fastText); several, separated by commas, are compared; kinds
        unlabelled: more text to train word vectors on: text files, or a corpus in any format
        unlabelled_notes: generated notes to train them on, of the synthetic corpus
        neighbours_from: word vectors for the nearest words of --pseudonymise: a kind that is trained here, or a file
    """

    sources: Mapping[str, str] = option(
        (RANDOM,),
        sources,
        factory=lambda: {RANDOM: RANDOM},
        name="--embeddings",
        metavar="NAMES|PATHS",
        known=EMBEDDING_KINDS,
        to=lambda names: {embedding_name(name): name for name in names},
    )
    unlabelled: tuple[Path, ...] = option((), file_path, several=True)
    unlabelled_notes: int = option(UNLABELLED_NOTES, whole_number(0), unset=True)
    neighbours_from: str = option(NEIGHBOURS_FROM, vector_source, metavar="NAME|PATH", section=CORPUS, unset=True)


@dataclass(frozen=True)
class Embeddings:
    """Every embedding of an experiment, by name.

    Args:
        vectors: name and share of the training documents -> word vectors for networks trained on that share. Random
            ones have none: each network draws its own.
        facts: kind, size, shares of words without a vector, time, and a hash: the ``embeddings`` part of results.json.
            For vectors trained here, the facts are those of all training documents.
        neighbours: for a few words, the nearest others. Words of the notes are PHI.
    """

    vectors: Mapping[tuple[str, float], WordVectors] = field(default_factory=dict)
    facts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    neighbours: Mapping[str, Mapping[str, Sequence[tuple[str, float]]]] = field(default_factory=dict)


def prepare_embeddings(
    used: Iterable[str | None],
    corpus: Corpus,
    settings: VectorSettings,
    *,
    seed: int = 0,
    training_seed: int = 0,
    fractions: Iterable[float] = (),
    joined: str | None = None,
    on_step: OnStep,
) -> Embeddings:
    """Make, read or load every embedding in use.

    Args:
        used: names in ``settings.sources``; others are not prepared.
        corpus: vectors are trained on its training texts; other splits are only checked for unknown words.
        settings: sources of vectors.
        seed: of the generated notes, for a synthetic corpus.
        training_seed: of vectors that are trained here.
        fractions: further shares of the training documents that networks are trained on. Vectors are trained anew on
            the text of each share; otherwise a learning curve would use text that its networks may not know.
        joined: the name in ``used`` of all vectors but random ones, concatenated, for the words of the corpus; None
            for no such vectors.
        on_step: called for each epoch of training.

    Raises:
        DataError: text or vectors that cannot be read, or too little text to learn from.
        UsageError: unlabelled text in several formats at once.
    """
    wanted = set(used)
    sources = {name: source for name, source in settings.sources.items() if name in wanted}
    if not sources:
        return Embeddings()
    trained = any(source in RECIPES for source in sources.values())
    unlabelled = list(_unlabelled(corpus, settings, seed)) if trained else []
    shares = (1.0, *sorted({*fractions} - {1.0}, reverse=True))
    counts = {split: Counter(word for words in _words(part) for word in words) for split, part in corpus.splits.items()}
    vectors: dict[tuple[str, float], WordVectors] = {}
    facts, neighbours = {}, {}
    for name, source in sources.items():
        started = time.perf_counter()
        if source == RANDOM:
            facts[name] = _facts(source, _words_of_training(counts["train"]), counts)
        else:
            made = _make(name, source, corpus, unlabelled, shares, training_seed, on_step)
            vectors |= {(name, share): found for share, found in made.items()}
            facts[name] = {**_facts(source, made[1.0], counts), "sha256": _hash(made[1.0])}
            neighbours[name] = _neighbours(made[1.0], counts["train"])
        facts[name]["fit_seconds"] = time.perf_counter() - started
        if source in RECIPES:
            facts[name]["text_words"] = sum(map(len, (*_words(corpus.train), *unlabelled)))
    if joined is not None and joined in wanted:
        from rnn.embeddings import concatenate  # noqa: PLC0415

        together = concatenate(list(vectors.values()), (word for known in counts.values() for word in known))
        vectors[joined, 1.0] = together
        facts[joined] = {**_facts(joined, together, counts), "sha256": _hash(together), "fit_seconds": 0.0}
    return Embeddings(vectors, facts, neighbours)


def _make(
    name: str, source: str, corpus: Corpus, unlabelled: Words, shares: Iterable[float], seed: int, on_step: OnStep
) -> dict[float, WordVectors]:
    """Vectors of each share; those of a file are the same for all."""
    if source not in RECIPES:
        from rnn.embeddings import read_vectors  # noqa: PLC0415

        return dict.fromkeys(shares, read_vectors(Path(source)))
    found = {}
    for share in shares:
        what = f"{name} vectors" if share == 1.0 else f"{name} vectors of {share:g} of the text"
        found[share] = _train(source, [*_words(corpus.part(share)), *unlabelled], what, seed, on_step)
    return found


def _train(kind: str, text: Words, what: str, seed: int, on_step: OnStep) -> WordVectors:
    from rnn.embeddings import cached  # noqa: PLC0415

    recipe = RECIPES[kind]
    settings = import_string(recipe.settings)()
    train = import_string(recipe.train)

    def make() -> WordVectors:
        return train(text, settings, seed=seed, on_progress=lambda done, *_: on_step(what, done, settings.epochs))

    return cached(kind, [settings, seed, text], make, libraries=recipe.libraries)


def _facts(source: str, vectors: WordVectors, counts: Mapping[str, Counter[str]]) -> dict[str, Any]:
    from rnn.embeddings import out_of_vocabulary  # noqa: PLC0415

    return {
        "kind": "pretrained" if source not in EMBEDDING_KINDS and Path(source).exists() else source,
        "words": len(vectors),
        "dim": vectors.dim,
        "subword_buckets": 0 if vectors.subwords is None else len(vectors.subwords),
        "out_of_vocabulary": {split: out_of_vocabulary(words, vectors) for split, words in counts.items()},
        "notices": list(vectors.notices),
    }


def _neighbours(vectors: WordVectors, counts: Counter[str]) -> dict[str, list[tuple[str, float]]]:
    from rnn.embeddings import nearest, probe_words  # noqa: PLC0415

    return {word: nearest(vectors, word) for word in probe_words(counts, vectors)}


def _hash(vectors: WordVectors) -> str:
    digest = hashlib.sha256(json.dumps(vectors.words).encode())
    digest.update(vectors.table.tobytes())
    if vectors.subwords is not None:
        digest.update(vectors.subwords.buckets.tobytes())
    return digest.hexdigest()


def _words_of_training(counts: Counter[str]) -> WordVectors:
    """Words that a network without pretrained vectors learns a vector for."""
    from rnn.embeddings import random_vectors  # noqa: PLC0415
    from rnn.vocab import Vocabulary  # noqa: PLC0415

    return random_vectors(Vocabulary.build([list(counts.elements())]).words)


def _words(split: Split) -> Iterator[Sequence[str]]:
    return (labelled.sentence.words for labelled in split.sentences)


def _unlabelled(corpus: Corpus, settings: VectorSettings, seed: int) -> Iterator[Sequence[str]]:
    """Sentences of the unlabelled text."""
    if corpus.is_synthetic:
        from crfdeid.corpora.synthetic import generate_notes  # noqa: PLC0415  Faker takes long to import.

        # Notes like those for training, and names from the training lists: nothing of the scored notes.
        documents = generate_notes(settings.unlabelled_notes, seed=seed)
        yield from (sentence.words for document in documents for sentence in document.sentences())
    for path in settings.unlabelled:
        yield from _sentences_of(path)


def _sentences_of(path: Path) -> Iterator[Sequence[str]]:
    """Sentences of text files, or of a corpus in any format."""
    if matching_formats(path):
        for document in read_corpus(path):
            yield from (sentence.words for sentence in document.sentences())
        return
    files = find_files(path, ".txt")
    if not files:
        raise FormatError("neither text files (.txt) nor a corpus in a known format", path=path)
    for file in files:
        yield from (sentence.words for sentence in split_sentences(read_text(file)))

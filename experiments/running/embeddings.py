"""The word vectors of an experiment: trained, taken from the cache or read, and what is to be known of each."""

from __future__ import annotations

import hashlib
import json
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crfdeid.corpora import FORMATS, read_corpus
from crfdeid.corpora.files import find_files, read_text
from crfdeid.corpora.splits import Corpus
from crfdeid.documents import LabelledSentence
from crfdeid.errors import DataError
from crfdeid.system.progress import bar
from experiments.options import KINDS, UNLABELLED_NOTES, embedding_name
from experiments.running.systems import System
from features.tokens import split_sentences

if TYPE_CHECKING:
    from rnn.embeddings import WordVectors

Words = Sequence[Sequence[str]]  # of sentences
SEED = 0  # of vectors trained here: the same for every seed of the networks that start from them


@dataclass(frozen=True)
class Embeddings:
    """Every embedding of an experiment, by name.

    Args:
        vectors: the word vectors; of random ones there are none, each network draws its own.
        facts: kind, size, shares of words without a vector, time, and a hash: the ``embeddings`` part of results.json.
        neighbours: for a few words, the nearest others. Words of the notes are PHI.
    """

    vectors: dict[str, WordVectors] = field(default_factory=dict)
    facts: dict[str, dict[str, Any]] = field(default_factory=dict)
    neighbours: dict[str, dict[str, list[tuple[str, float]]]] = field(default_factory=dict)


def prepare(systems: Sequence[System], corpus: Corpus, options: Namespace) -> Embeddings:
    """Every embedding that the systems start from, with progress bars for what is trained.

    Args:
        systems: what is compared.
        corpus: its training texts are learned from; the other splits only tell how many of their words are known.
        options: ``embeddings``, ``unlabelled``, ``unlabelled_notes`` and ``corpus_seed`` (`experiments.options`).

    Raises:
        DataError: text or vectors that cannot be read, or too little text to learn from.
        UsageError: unlabelled text in several formats at once.
    """
    used = {system.embedding for system in systems}
    sources = {name: source for source in options.embeddings if (name := embedding_name(source)) in used}
    found = Embeddings()
    if not sources:
        return found
    learned = {"rnnlm", "cbow"} & set(sources.values())
    text = [*_words(corpus.train.sentences), *_unlabelled(corpus, options)] if learned else []
    counts = {
        split: Counter(word for words in _words(part.sentences) for word in words)
        for split, part in corpus.splits.items()
    }
    for name, source in sources.items():
        started = time.perf_counter()
        if source == "random":
            _describe(found, name, source, _words_of_training(counts["train"]), counts, own=False)
        else:
            vectors = _TRAINERS[source](text) if source in _TRAINERS else _read(Path(source))
            _describe(found, name, source, vectors, counts, own=True)
        found.facts[name]["fit_seconds"] = time.perf_counter() - started
    for name in learned:
        found.facts[name]["text_words"] = sum(map(len, text))
    return found


def _describe(
    found: Embeddings,
    name: str,
    source: str,
    vectors: WordVectors,
    counts: Mapping[str, Counter[str]],
    *,
    own: bool,
) -> None:
    """Add an embedding; ``own`` where the networks start from just these vectors, not from random ones of their own."""
    from rnn.embeddings import nearest, out_of_vocabulary, probe_words  # noqa: PLC0415

    found.facts[name] = {
        "kind": source if source in KINDS else "pretrained",
        "words": len(vectors),
        "dim": vectors.dim,
        "out_of_vocabulary": {split: out_of_vocabulary(words, vectors) for split, words in counts.items()},
    }
    if own:
        digest = hashlib.sha256(json.dumps(vectors.words).encode())
        digest.update(vectors.table.tobytes())
        found.facts[name]["sha256"] = digest.hexdigest()
        found.vectors[name] = vectors
        found.neighbours[name] = {word: nearest(vectors, word) for word in probe_words(counts["train"], vectors)}


def _words_of_training(counts: Counter[str]) -> WordVectors:
    """The words that a network without given vectors learns one for."""
    from rnn.batches import Vocabulary  # noqa: PLC0415
    from rnn.embeddings import random_vectors  # noqa: PLC0415

    words = Vocabulary.build([list(counts.elements())]).words
    return random_vectors(words)


def _words(sentences: Iterable[LabelledSentence]) -> Iterator[Sequence[str]]:
    return (labelled.sentence.words for labelled in sentences)


def _unlabelled(corpus: Corpus, options: Namespace) -> Iterator[Sequence[str]]:
    """The sentences of the text beside the training documents."""
    if corpus.is_synthetic:
        from crfdeid.corpora.synthetic import generate_notes  # noqa: PLC0415  Faker takes long to import.

        count = UNLABELLED_NOTES if options.unlabelled_notes is None else options.unlabelled_notes
        # Notes like those for training, and names from the training lists: nothing of the scored notes.
        documents = generate_notes(count, seed=options.corpus_seed or 0)
        yield from (sentence.words for document in documents for sentence in document.sentences())
    for path in options.unlabelled:
        yield from _sentences_of(path)


def _sentences_of(path: Path) -> Iterator[Sequence[str]]:
    """The sentences of text files, or of a corpus in any format."""
    if any(format.recognises(path) for format in FORMATS.values()):
        for document in read_corpus(path):
            yield from (sentence.words for sentence in document.sentences())
        return
    files = find_files(path, ".txt")
    if not files:
        raise DataError("neither text files (.txt) nor a corpus in a known format", path=path)
    for file in files:
        yield from (sentence.words for sentence in split_sentences(read_text(file)))


def _cbow(text: Words) -> WordVectors:
    from rnn.embeddings import CbowSettings, cached, train_cbow  # noqa: PLC0415

    settings = CbowSettings()
    with bar("cbow vectors", settings.epochs) as step:
        return cached(
            "cbow",
            [settings, SEED, text],
            lambda: train_cbow(text, settings, seed=SEED, on_progress=lambda done, _: step(done)),
            libraries=("gensim", "numpy"),
        )


def _rnnlm(text: Words) -> WordVectors:
    from rnn.embeddings import RnnlmSettings, cached, train_rnnlm  # noqa: PLC0415

    settings = RnnlmSettings()
    with bar("rnnlm vectors", settings.epochs) as step:
        return cached(
            "rnnlm",
            [settings, SEED, text],
            lambda: train_rnnlm(text, settings, seed=SEED, on_progress=lambda done, *_: step(done)),
            libraries=("jax", "jaxlib", "optax", "numpy"),
        )


_TRAINERS: dict[str, Callable[[Words], WordVectors]] = {"rnnlm": _rnnlm, "cbow": _cbow}


def _read(path: Path) -> WordVectors:
    from rnn.embeddings import read_vectors  # noqa: PLC0415

    return read_vectors(path)

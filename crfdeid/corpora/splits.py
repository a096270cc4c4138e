"""The training, development and test parts of a corpus, read or generated, encoded once for every model."""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from crfdeid.bio import Encoded, encode
from crfdeid.corpora import read_corpus, recognise
from crfdeid.documents import Document, LabelledSentence
from crfdeid.errors import DataError
from crfdeid.labels import in_order, map_types

DEV_SHARE = 0.1
DEV_SEED = 0
PART_SEED = 0


@dataclass(frozen=True)
class Split:
    """Documents and their sentences, tagged where the spans fit the tokens.

    Args:
        documents: the documents with their gold spans.
        encoded: sentences, tags and unaligned spans, one entry per document.
    """

    documents: tuple[Document, ...]
    encoded: tuple[Encoded, ...]

    @classmethod
    def of(cls, documents: Iterable[Document]) -> Split:
        """The split of these documents."""
        documents = tuple(documents)
        return cls(documents, tuple(encode(document) for document in documents))

    @property
    def sentences(self) -> list[LabelledSentence]:
        """Every tagged sentence, in document order."""
        return [sentence for encoded in self.encoded for sentence in encoded.sentences]

    @property
    def words(self) -> frozenset[str]:
        """Every word form that occurs."""
        return frozenset(word for labelled in self.sentences for word in labelled.sentence.words)

    def statistics(self) -> dict[str, Any]:
        """Counts of documents, sentences, tokens, spans, spans of each type and unaligned spans."""
        sentences = self.sentences
        by_type = Counter(span.label for document in self.documents for span in document.spans)
        return {
            "documents": len(self.documents),
            "sentences": len(sentences),
            "tokens": sum(len(labelled.tags) for labelled in sentences),
            "spans": by_type.total(),
            "spans_by_type": dict(sorted(by_type.items())),
            "unaligned": sum(len(encoded.unaligned) for encoded in self.encoded),
        }


@dataclass(frozen=True)
class Corpus:
    """What models are compared on.

    Args:
        name: how tables call it.
        format: the format it was read in, or several where its parts differ; "synthetic" where it was generated.
        type_map: the type map's name: "seven", "all" or "binary".
        train: what models learn from.
        dev: what chooses a network's best epoch.
        test: what is scored; None where there is none, and ``dev`` is scored.
        notices: what a reader of the results must know about the splits, one sentence each.
    """

    name: str
    format: str
    type_map: str
    train: Split
    dev: Split
    test: Split | None
    notices: tuple[str, ...] = ()

    @property
    def scored(self) -> Split:
        """The split that models are scored on."""
        return self.dev if self.test is None else self.test

    @property
    def scored_name(self) -> str:
        """ "test", or "dev" where there is no test split."""
        return "dev" if self.test is None else "test"

    def part(self, fraction: float) -> Split:
        """A share of the training documents, at least one; a smaller share is part of a larger one."""
        if fraction == 1.0:
            return self.train
        order = list(range(len(self.train.documents)))
        random.Random(PART_SEED).shuffle(order)
        chosen = sorted(order[: max(1, round(fraction * len(order)))])
        return Split(tuple(self.train.documents[i] for i in chosen), tuple(self.train.encoded[i] for i in chosen))

    @property
    def is_synthetic(self) -> bool:
        """Whether every text is invented, so that it may be shown."""
        return self.format == "synthetic"

    @cached_property
    def splits(self) -> dict[str, Split]:
        """The splits there are, by name."""
        found = {"train": self.train, "dev": self.dev, "test": self.test}
        return {name: split for name, split in found.items() if split is not None}

    def statistics(self) -> dict[str, Any]:
        """Name, types, counts by split and a hash of the content: the ``corpus`` part of results.json."""
        splits = {name: split.statistics() for name, split in self.splits.items()}
        return {
            "name": self.name,
            "format": self.format,
            "type_map": self.type_map,
            "types": self.types,
            "test": self.scored_name,
            "notices": list(self.notices),
            "splits": splits,
            "sha256": self.sha256(),
        }

    @property
    def types(self) -> list[str]:
        """The types marked in any split: in the order of the seven subtypes, then by name."""
        found = {
            span.label for split in self.splits.values() for document in split.documents for span in document.spans
        }
        return in_order(found)

    def sha256(self) -> str:
        """A hash of every split's names, texts and annotations, in order."""
        digest = hashlib.sha256()
        for name, split in self.splits.items():
            for document in split.documents:
                further = [dict(document.layers)] if document.layers else []
                digest.update(json.dumps([name, document.id, document.text, document.spans, *further]).encode())
        return digest.hexdigest()


def read_splits(
    train: Path, dev: Path | None, test: Path | None, *, corpus_format: str = "auto", types: str = "seven"
) -> Corpus:
    """A corpus from the user's folders or files; with the format "auto", each may be in one of its own.

    Without ``dev``, the last tenth (`DEV_SHARE`) of the training documents becomes it, after a shuffle with a fixed
    seed (`DEV_SEED`): models are never tuned on what they learnt from.

    Raises:
        DataError: a file that cannot be read, a split without documents, or too few documents to share.
        UsageError: an unknown format, or types that the corpus cannot be mapped to.
    """
    paths = {name: path for name, path in (("train", train), ("dev", dev), ("test", test)) if path is not None}
    formats = {name: recognise(path) if corpus_format == "auto" else corpus_format for name, path in paths.items()}
    read = {name: _read(path, formats[name], types) for name, path in paths.items()}
    notices = []
    if dev is None:
        read["train"], read["dev"] = _share(read["train"], path=train)
        notices.append(
            f"No --dev: {len(read['dev'])} of the training documents, drawn with a fixed seed, are the development set "
            "and not trained on."
        )
    notices += _overlap_notice(read)
    splits = {name: Split.of(documents) for name, documents in read.items()}
    return Corpus(
        str(train),
        ", ".join(dict.fromkeys(formats.values())),
        types,
        splits["train"],
        splits["dev"],
        splits.get("test"),
        tuple(notices),
    )


def read_held_out(name: str, dev: Path, test: Path | None, corpus_format: str, types: str) -> Corpus:
    """A corpus whose training part is not there as text.

    Args:
        name: how tables call it.
        dev: a folder or file.
        test: likewise; None where there is none.
        corpus_format: as of `read_splits`, and so are ``types`` and errors.
        types: the types.
    """
    paths = {"dev": dev} if test is None else {"dev": dev, "test": test}
    formats = {part: recognise(path) if corpus_format == "auto" else corpus_format for part, path in paths.items()}
    splits = {part: Split.of(_read(path, formats[part], types)) for part, path in paths.items()}
    whole = ", ".join(dict.fromkeys(formats.values()))
    return Corpus(name, whole, types, Split((), ()), splits["dev"], splits.get("test"))


def generate_corpus(profile: str, *, seed: int = 0, types: str = "seven") -> Corpus:
    """The built-in synthetic corpus, the same for the same seed.

    With "seven" or "binary": invented discharge summaries and clinic notes. With "all": notes, messages, queries, forms
    and general sentences with the types of i2b2 2014 (`generate_all_types`).
    """
    from crfdeid.corpora.synthetic import generate, generate_all_types  # noqa: PLC0415  Faker takes long to import.

    splits = generate_all_types(profile, seed=seed) if types == "all" else generate(profile, seed=seed)
    train, dev, test = (Split.of(map_types(part, types)) for part in splits)
    return Corpus(f"synthetic ({profile}, seed {seed})", "synthetic", types, train, dev, test)


def _read(path: Path, corpus_format: str, types: str) -> list[Document]:
    return map_types(read_corpus(path, format=corpus_format), types)


def _share(documents: Sequence[Document], *, path: Path) -> tuple[list[Document], list[Document]]:
    if len(documents) < 2:
        raise DataError("one document alone cannot be shared into training and development: give --dev", path=path)
    shuffled = list(documents)
    random.Random(DEV_SEED).shuffle(shuffled)
    kept = len(shuffled) - max(1, round(DEV_SHARE * len(shuffled)))
    return shuffled[:kept], shuffled[kept:]


def _overlap_notice(splits: dict[str, list[Document]]) -> list[str]:
    known = {document.text for document in splits["train"]}
    notices = []
    for name in ("dev", "test"):
        shared = sum(document.text in known for document in splits.get(name, []))
        if shared:
            notices.append(f"{shared} of the {len(splits[name])} {name} documents stand in the training set too.")
    return notices

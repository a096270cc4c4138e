"""Training, development and test parts of a corpus, as documents and as tagged sentences."""

from __future__ import annotations

import hashlib
import json
import logging
import random
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from crfdeid.bio import Encoded, encode
from crfdeid.corpora import read_corpus, recognise
from crfdeid.corpora.layers import ConceptPaths, concat_corpora, join_layers, read_concepts
from crfdeid.corpora.partition import describe_division, describe_overlap, divide
from crfdeid.documents import PHI, Document, LabelledSentence
from crfdeid.errors import EmptyInputError, OptionConflictError
from crfdeid.label_schemes import in_order, map_types
from features.languages import DEFAULT_LANGUAGES, with_defaults

_DEV_SHARE = 0.1
_DEV_SEED = _PART_SEED = 0
_Read = dict[str, list[Document]]
_log = logging.getLogger(__name__)


class CorpusParts(NamedTuple):
    """Documents of a corpus, by part.

    Attributes:
        documents: the documents of "train" and "dev", and of "test" where there is one.
        formats: the formats of the parts, separated by commas.
        notices: sentences about the parts, for readers of the results.
    """

    documents: dict[str, list[Document]]
    formats: str
    notices: list[str]


def read_parts(
    train: Path,
    dev: Path | None,
    test: Path | None,
    *,
    corpus_format: str,
    types: str,
    concepts: ConceptPaths | None,
    dev_option: str = "--dev",
    patient_column: str | None = None,
) -> CorpusParts:
    """Training, development and test documents; arguments and errors are those of `splits.read_splits`.

    ``dev_option`` names the option for development documents in the notice that there are none. Parts that share
    patients or texts are a notice and a warning.
    """
    paths = _given(train, dev, test)
    read, formats = read_phi(paths, corpus_format=corpus_format, types=types, patient_column=patient_column)
    notices: list[str] = []
    if concepts is not None:
        read, notices = _with_concepts(read, concepts, train)
    notices += _with_dev(read, train, option=dev_option)
    return CorpusParts(read, formats, notices + _overlap_notices(read))


def read_phi(
    paths: Mapping[str, Path], *, corpus_format: str, types: str, patient_column: str | None = None
) -> tuple[_Read, str]:
    """The documents of each part with its PHI, and the formats they are in."""
    formats = {part: recognise(path) if corpus_format == "auto" else corpus_format for part, path in paths.items()}
    documents = {
        part: read_corpus(path, format=formats[part], patient_column=patient_column) for part, path in paths.items()
    }
    read = {part: map_types(found, types) for part, found in documents.items()}
    return read, ", ".join(dict.fromkeys(formats.values()))


def _given(train: Path, dev: Path | None, test: Path | None) -> dict[str, Path]:
    return {name: path for name, path in (("train", train), ("dev", dev), ("test", test)) if path is not None}


def _with_concepts(phi: _Read, where: ConceptPaths, train: Path) -> tuple[_Read, list[str]]:
    """The splits, each with its concepts, and notices."""
    paths = _given(where.train, where.dev, where.test)
    _require_both(phi, paths, disjoint=where.disjoint)
    read, ignored = {}, 0
    for name, path in paths.items():
        read[name], count = read_concepts(path, format=where.format, ignored_types=where.ignored_types)
        ignored += count
    notices = [f"{ignored} concepts of types that are left out: {', '.join(where.ignored_types)}."] if ignored else []
    if not where.disjoint:
        return {name: join_layers(phi[name], read[name]) for name in phi}, notices
    notices += [*_with_dev(phi, train), *_with_dev(read, where.train, option="--dev-concepts")]
    return {name: concat_corpora(phi[name], read[name]) for name in phi}, notices


def _require_both(phi: Iterable[str], concepts: Iterable[str], *, disjoint: bool) -> None:
    """Refuse splits with one of the layers alone; of two corpora, each may have development documents or not."""
    for name in sorted(set(phi).symmetric_difference(concepts)):
        if not (disjoint and name == "dev"):
            raise OptionConflictError(f"--{name} and --{name}-concepts go together: give both, or neither")


def _with_dev(read: _Read, train: Path, *, option: str = "--dev") -> list[str]:
    """Move a share of the training documents to missing development documents; returns notices."""
    if "dev" in read:
        return []
    count = len(read["train"])
    dev_count = max(1, round(_DEV_SHARE * count))
    parts = divide(read["train"], (count - dev_count, dev_count), seed=_DEV_SEED)
    if not all(parts):
        problem = (
            "splitting off development documents needs training documents of two patients (first-level subfolders) and "
            f"of two texts: give {option}"
        )
        raise EmptyInputError(problem, path=train)
    read["train"], read["dev"] = parts
    shared = f"{len(read['dev'])} of the training documents, drawn with a fixed seed"
    return [
        f"No {option}: {shared}, are the development set and not trained on.",
        f"{describe_division({part: read[part] for part in ('train', 'dev')})}.",
    ]


def _overlap_notices(read: _Read) -> list[str]:
    """Warn of patients and texts that parts share; returns the same as a notice."""
    overlap = describe_overlap(read)
    if overlap is None:
        return []
    _log.warning("%s", overlap)
    return [f"{overlap}."]


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
        """All word forms."""
        return frozenset(word for labelled in self.sentences for word in labelled.sentence.words)

    @property
    def layers(self) -> tuple[str, ...]:
        """The layers in which any document is annotated, `PHI` first."""
        found = {name for document in self.documents for name in document.annotated}
        return tuple(sorted(found, key=lambda name: (name != PHI, name)))

    def annotated(self, layer: str) -> Split:
        """The documents that are annotated in a layer."""
        chosen = [pair for pair in zip(self.documents, self.encoded, strict=True) if layer in pair[0].annotated]
        return Split(tuple(document for document, _ in chosen), tuple(encoded for _, encoded in chosen))

    def statistics(self) -> dict[str, Any]:
        """Counts of documents, sentences, tokens, spans, spans of each type and unaligned spans.

        The spans are those of PHI; those of further annotation layers are under "layers".
        """
        sentences = self.sentences
        further = {name: self._counts(name) for name in self.layers if name != PHI}
        phi = self._counts(PHI)
        documents = phi.pop("documents")
        if documents < len(self.documents):
            further = {PHI: {"documents": documents}, **further}
        return {
            "documents": len(self.documents),
            "sentences": len(sentences),
            "tokens": sum(len(labelled.tags) for labelled in sentences),
            **phi,
            **({"layers": further} if further else {}),
        }

    def _counts(self, layer: str) -> dict[str, Any]:
        """Counts of the spans of a layer, and of the documents that are annotated in it."""
        split = self.annotated(layer)
        by_type = Counter(span.label for document in split.documents for span in document.layer(layer))
        return {
            "documents": len(split.documents),
            "spans": by_type.total(),
            "spans_by_type": dict(sorted(by_type.items())),
            "unaligned": sum(len(encoded.left_over(layer)) for encoded in split.encoded),
        }


@dataclass(frozen=True)
class Corpus:
    """Named train, dev and test splits with their types.

    Args:
        name: its name in tables.
        format: the formats of its parts, separated by commas; "synthetic" for a generated corpus.
        type_map: the type map's name: "seven", "all" or "binary".
        train: the training split.
        dev: the split that chooses a network's best epoch.
        test: the scored split; None to score ``dev``.
        notices: sentences about the splits, for readers of the results.
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
        random.Random(_PART_SEED).shuffle(order)
        chosen = sorted(order[: max(1, round(fraction * len(order)))])
        return Split(tuple(self.train.documents[i] for i in chosen), tuple(self.train.encoded[i] for i in chosen))

    def divided_anew(self, seed: int) -> Corpus:
        """The same test documents, and the others divided anew into as many to train on and for development.

        The corpus is unchanged for the seed 0, which draws nothing, and without test documents, as it is then scored on
        its development documents.
        """
        if seed == 0 or self.test is None:
            return self
        sizes = (len(self.train.documents), len(self.dev.documents))
        train, dev = divide((*self.train.documents, *self.dev.documents), sizes, seed=seed)
        return replace(self, train=Split.of(train), dev=Split.of(dev))

    def in_languages(self, languages: Iterable[str]) -> Corpus:
        """The same corpus with the sentences of some languages (`Document.languages`)."""
        if with_defaults(languages) == DEFAULT_LANGUAGES:
            return self
        splits: dict[str, Any] = {
            name: Split.of(document.in_languages(languages) for document in split.documents)
            for name, split in self.splits.items()
        }
        return replace(self, **splits)

    def with_silver(self, silver: Iterable[Document], *, weight: int) -> Corpus:
        """The corpus with silver annotations for training; its own training documents then count several times.

        Args:
            silver: notes that `crfdeid annotate silver` labelled; those with a text of the corpus, or with a patient of
                its development and test documents, are left out.
            weight: how often each training document counts.
        """
        texts = {document.text for split in self.splits.values() for document in split.documents}
        scored = (document for split in (self.dev, self.test) if split is not None for document in split.documents)
        patients = {document.patient for document in scored} - {None}
        added = [one for one in silver if one.text not in texts and one.patient not in patients]
        gold = self.train
        part = Split.of(added)
        train = Split(part.documents + gold.documents * weight, part.encoded + gold.encoded * weight)
        notice = (
            f"{len(added)} of the training documents were labelled by models and records, not by people; the "
            f"{len(gold.documents)} that people annotated count {weight} times."
        )
        return replace(self, train=train, notices=(*self.notices, notice))

    @property
    def is_synthetic(self) -> bool:
        """True for a corpus of invented texts, which may be shown."""
        return self.format == "synthetic"

    @cached_property
    def splits(self) -> dict[str, Split]:
        """The splits there are, by name."""
        found = {"train": self.train, "dev": self.dev, "test": self.test}
        return {name: split for name, split in found.items() if split is not None}

    def statistics(self) -> dict[str, Any]:
        """Name, types, counts by split and a hash of the content: the ``corpus`` part of results.json."""
        return {
            "name": self.name,
            "format": self.format,
            "type_map": self.type_map,
            "types": self.types,
            "test": self.scored_name,
            "notices": list(self.notices),
            "splits": {name: split.statistics() for name, split in self.splits.items()},
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
                further: list[Any] = [dict(document.layers)] if document.layers else []
                further += [] if document.phi_annotated else [f"no {PHI}"]
                digest.update(json.dumps([name, document.id, document.text, document.spans, *further]).encode())
        return digest.hexdigest()


def read_splits(
    train: Path,
    dev: Path | None,
    test: Path | None,
    *,
    corpus_format: str = "auto",
    types: str = "seven",
    concepts: ConceptPaths | None = None,
    patient_column: str | None = None,
) -> Corpus:
    """A corpus from the user's folders or files; with the format "auto", each may be in another format.

    Without ``dev``, about a tenth of the training documents becomes it, drawn with a fixed seed by patient and equal
    text (`crfdeid.corpora.partition`): models are never tuned on their training documents.

    Args:
        train: the training documents.
        dev: the development documents.
        test: the test documents.
        corpus_format: the format of all of them, or "auto".
        types: the type map of their PHI; see `map_types`.
        concepts: paths of annotated concepts, in the same documents or in others; None for PHI alone. Of two corpora
            that share no text, each without development documents gives up a tenth.
        patient_column: as of `read_corpus`.

    Raises:
        DataError: a file that cannot be read, a split without documents, too few documents to share, or documents with
            PHI and with concepts that are not the same.
        UsageError: an unknown format, types that the corpus cannot be mapped to, or splits of which one has PHI and no
            concepts, or concepts and no PHI.
    """
    documents, formats, notices = read_parts(
        train, dev, test, corpus_format=corpus_format, types=types, concepts=concepts, patient_column=patient_column
    )
    splits = {name: Split.of(read) for name, read in documents.items()}
    return Corpus(str(train), formats, types, splits["train"], splits["dev"], splits.get("test"), tuple(notices))


def read_held_out(name: str, dev: Path, test: Path | None, corpus_format: str, types: str) -> Corpus:
    """A corpus without training texts.

    Args:
        name: its name in tables.
        dev: a folder or file.
        test: likewise; None where there is none.
        corpus_format: as of `read_splits`, and so are ``types`` and errors.
        types: the types.
    """
    paths = {"dev": dev} if test is None else {"dev": dev, "test": test}
    documents, formats = read_phi(paths, corpus_format=corpus_format, types=types)
    splits = {part: Split.of(read) for part, read in documents.items()}
    notices = _overlap_notices(documents)
    return Corpus(name, formats, types, Split((), ()), splits["dev"], splits.get("test"), tuple(notices))


def generate_corpus(profile: str, *, seed: int = 0, types: str = "seven", concepts: bool = False) -> Corpus:
    """The built-in synthetic corpus, the same for the same seed.

    With "seven" or "binary": invented discharge summaries and clinic notes. With "all": notes, messages, queries, forms
    and general sentences with the types of i2b2 2014 (`generate_all_types`). With concepts: other
    notes, with concepts in a second layer and PHI of any of these types (`generate_concepts`).
    """
    # Faker takes long to import.
    from crfdeid.corpora.synthetic import generate, generate_all_types, generate_concepts  # noqa: PLC0415

    if concepts:
        splits = generate_concepts(profile, seed=seed, fine=types == "all")
    else:
        splits = generate_all_types(profile, seed=seed) if types == "all" else generate(profile, seed=seed)
    train, dev, test = (Split.of(map_types(part, types)) for part in splits)
    name = f"synthetic ({profile}{', with concepts' * concepts}, seed {seed})"
    return Corpus(name, "synthetic", types, train, dev, test)

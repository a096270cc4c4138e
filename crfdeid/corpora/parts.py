"""The parts of a corpus as documents: read from the user's files, with concepts where there are any, shared out."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from crfdeid.corpora import read_corpus, recognise
from crfdeid.corpora.layers import ConceptPaths, join_layers, read_concepts, set_side_by_side
from crfdeid.documents import Document
from crfdeid.errors import DataError, UsageError
from crfdeid.label_schemes import map_types

DEV_SHARE = 0.1
DEV_SEED = 0
_Read = dict[str, list[Document]]


class Parts(NamedTuple):
    """A corpus as it was read.

    Attributes:
        documents: those of "train" and "dev", and of "test" where there is one.
        formats: the format they were read in, or several, separated by commas.
        notices: what a reader of the results must know, one sentence each.
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
) -> Parts:
    """Training, development and test documents; arguments and errors are those of `splits.read_splits`.

    ``dev_option`` is what a notice calls the development documents where there are none.
    """
    read, formats = read_phi(_given(train, dev, test), corpus_format=corpus_format, types=types)
    notices: list[str] = []
    if concepts is not None:
        read, notices = _with_concepts(read, concepts, train)
    notices += _with_dev(read, train, option=dev_option)
    return Parts(read, formats, notices + _overlap_notice(read))


def read_phi(paths: Mapping[str, Path], *, corpus_format: str, types: str) -> tuple[_Read, str]:
    """The documents of each part with its PHI, and the formats they are in."""
    formats = {part: recognise(path) if corpus_format == "auto" else corpus_format for part, path in paths.items()}
    read = {part: map_types(read_corpus(path, format=formats[part]), types) for part, path in paths.items()}
    return read, ", ".join(dict.fromkeys(formats.values()))


def _given(train: Path, dev: Path | None, test: Path | None) -> dict[str, Path]:
    return {name: path for name, path in (("train", train), ("dev", dev), ("test", test)) if path is not None}


def _with_concepts(phi: _Read, where: ConceptPaths, train: Path) -> tuple[_Read, list[str]]:
    """The splits, each with its concepts, and notices."""
    paths = _given(where.train, where.dev, where.test)
    _require_both(phi, paths, apart=where.apart)
    read, left_out = {}, 0
    for name, path in paths.items():
        read[name], count = read_concepts(path, format=where.format, left_out=where.left_out)
        left_out += count
    notices = [f"{left_out} concepts of types that are left out: {', '.join(where.left_out)}."] if left_out else []
    if not where.apart:
        return {name: join_layers(phi[name], read[name]) for name in phi}, notices
    notices += [*_with_dev(phi, train), *_with_dev(read, where.train, option="--dev-concepts")]
    return {name: set_side_by_side(phi[name], read[name]) for name in phi}, notices


def _require_both(phi: Iterable[str], concepts: Iterable[str], *, apart: bool) -> None:
    """Refuse splits with one of the layers alone; of two corpora, each may have development documents or not."""
    for name in sorted(set(phi).symmetric_difference(concepts)):
        if not (apart and name == "dev"):
            raise UsageError(f"--{name} and --{name}-concepts go together: give both, or neither")


def _with_dev(read: _Read, train: Path, *, option: str = "--dev") -> list[str]:
    """Share training documents out where there are no development documents; gives notices."""
    if "dev" in read:
        return []
    read["train"], read["dev"] = _share(read["train"], path=train)
    shared = f"{len(read['dev'])} of the training documents, drawn with a fixed seed"
    return [f"No {option}: {shared}, are the development set and not trained on."]


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

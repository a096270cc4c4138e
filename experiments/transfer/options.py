"""Settings and options of ``python -m experiments.transfer``, and the corpora that they name, in shared types."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import click

from crfdeid.cli import shell
from crfdeid.cli.shell import fraction, whole_number
from crfdeid.corpora import CORPUS_FORMATS
from crfdeid.corpora.splits import Corpus, CorpusParts, Split, read_parts
from crfdeid.errors import SettingError, UnknownNameError, UsageError
from crfdeid.label_schemes import to_groups
from crfdeid.model_card.training import require_phi
from crfdeid.validation import MOST_SEED
from experiments.core.experiment import shared
from experiments.core.options import folders, option, phi_model_names, phi_models
from experiments.core.settings import CommonSettings, check_work, options_of, settings_of
from experiments.core.systems import Point

DESCRIPTION = """\
Train each model on each corpus and test it on all of them: Tables 2 to 6 of johnson2020. What the corpora call their
PHI becomes seven categories that they share: age, contact, date, ID, location, name, profession."""
EXAMPLES = """\
examples:
  python -m experiments.transfer --output results/
      on two built-in corpora that differ in their kinds of text and in what is annotated, in some two minutes
  python -m experiments.transfer --corpora wards=notes/wards icu=notes/icu --models crf,bilstm-crf --output results/
      on corpora of your own: each folder holds train and test (or dev), as folders or as files
  python -m experiments.transfer --corpora es=meddocan:brat en=train.txt,dev.txt synthetic-texts --types categories
      a format that has to be named; two files; a built-in corpus

exit codes: 0 done, 1 unreadable data, 2 invalid option, 130 interrupted"""

BUILT_IN: Mapping[str, int] = {"synthetic-notes": 0, "synthetic-texts": 1}
"""Built-in corpora, and the default seed of each: they share no lists of names."""

FORMS = f"give NAME=DIR, NAME=TRAIN,TEST, or one of {', '.join(BUILT_IN)}"

_WORDS = {
    "train": {"train", "training"},
    "dev": {"dev", "development", "valid", "validation"},
    "test": {"test", "testing"},
}
_NAME = re.compile(r"\w[\w.+-]*")

BINARY, CATEGORIES, NAME = "binary", "categories", "name"
COMPARED_TYPES = (BINARY, CATEGORIES, NAME)
"""Compared types: PHI or not; PHI of the right category; names alone."""

DEFAULT = "default"
"""Operating point of the most probable tags, without a threshold."""

MODELS = ("crf",)
"""Default models."""

SAMPLES = 10_000
"""Corpora drawn for an interval."""

LEVEL = 0.05
"""1 minus the probability that an interval holds."""


class Source(NamedTuple):
    """Origin of a corpus.

    Attributes:
        name: in tables.
        train: the training documents; None for a built-in corpus.
        dev: documents that choose a network's best epoch; None for a tenth of the training documents.
        test: the documents to score; None for a built-in corpus.
        format: a name in `crfdeid.corpora.CORPUS_FORMATS`, or "auto"; of a built-in corpus, its kind.
        seed: of a built-in corpus; None for one that is read.
    """

    name: str
    train: Path | None = None
    dev: Path | None = None
    test: Path | None = None
    format: str = "auto"
    seed: int | None = None

    @property
    def paths(self) -> tuple[Path, ...]:
        """Files and folders to read."""
        return tuple(path for path in (self.train, self.dev, self.test) if path is not None)


_CORPORA = "Corpora"


@dataclass(frozen=True, kw_only=True)
class TransferArguments(CommonSettings):
    """Settings of ``experiments.transfer``.

    Args:
        models: the models, separated by commas, from
        encoders: folders of pretrained encoders, separated by commas: bert is trained from each of them
        changes: settings that replace the profile's, such as epochs=10
        samples: corpora drawn for each confidence interval
        sources: the corpora: NAME=DIR, a folder that holds train and test (or, without test, dev, which is then
            scored), as folders or files; NAME=TRAIN,TEST, two files or folders; both with :FORMAT for a format that
            cannot be guessed; or a built-in one, with :SEED
        types: types that Table 4 compares: PHI or not, PHI of the right category, or names alone
        share: the share of each corpus's training documents to learn from
    """

    models: tuple[str, ...] = option(MODELS, phi_models, metavar="NAMES", known=phi_model_names())
    encoders: tuple[Path, ...] = option(
        (), folders, metavar="DIRS", usual="the one that python -m rnn.fetch_encoder fetches"
    )
    changes: Point = option((), shell.setting, name="--set", several=True, metavar="NAME=VALUE")
    samples: int = option(SAMPLES, whole_number(1))
    sources: tuple[Source, ...] = option(
        (),
        str,
        name="--corpora",
        several=True,
        metavar="NAME=DIR[:FORMAT]",
        section=_CORPORA,
        usual=" ".join(BUILT_IN),
    )
    types: str = option(BINARY, COMPARED_TYPES, section=_CORPORA)
    share: float = option(1.0, fraction, metavar="X", section=_CORPORA, usual="all")


def options() -> list[click.Parameter]:
    """Options of the command."""
    profile = "settings that the models start from: default, or johnson2020 in every model that has it"
    return options_of(TransferArguments, profile={"help": profile})


def read_settings(options: SimpleNamespace) -> TransferArguments:
    """Settings from the options; check each and their combinations."""
    options.corpora = options.corpora or tuple(BUILT_IN)
    sources = tuple(map(source_of, options.corpora))
    names = [source.name for source in sources]
    for name in names:
        if names.count(name) > 1:
            raise SettingError(f"--corpora: two are called {name}: give each another name")
    check_work(options, [("--corpora", path) for source in sources for path in source.paths])
    return settings_of(TransferArguments, options, sources=sources)


def source_of(text: str) -> Source:
    """The corpus that an option's value names.

    Args:
        text: ``NAME=DIR[:FORMAT]``, where DIR has a file or folder of each of the names train and test (or dev);
            ``NAME=TRAIN,TEST[:FORMAT]``; or one of `BUILT_IN`, with ``:SEED`` for another seed than the default.

    Raises:
        UsageError: it is none of these, or it is ambiguous.
    """
    name, equals, value = text.partition("=")
    kind, _, seed = (value or name).partition(":")
    if kind not in BUILT_IN and not (equals and value):
        raise SettingError(f"--corpora {text}: {FORMS}")
    name = name if equals else kind
    if not _NAME.fullmatch(name):  # It is also a folder's.
        raise SettingError(
            f"--corpora {text}: '{name}' is no name for a corpus: use letters, digits, '-', '_', '+', '.'"
        )
    if kind not in BUILT_IN:
        where, corpus_format = _format(value, text)
        return Source(name, *_parts(where, name), corpus_format)
    # Its length first: Python refuses to read thousands of digits.
    if seed and (not seed.isdecimal() or len(seed) > len(str(MOST_SEED)) or int(seed) > MOST_SEED):
        raise SettingError(f"--corpora {text}: '{seed}' is no seed: give a whole number up to {MOST_SEED}")
    return Source(name, format=kind, seed=int(seed or BUILT_IN[kind]))


def _format(value: str, text: str) -> tuple[str, str]:
    """The path and the format that follows it."""
    where, colon, last = value.rpartition(":")
    if not colon or os.path.exists(value):  # noqa: PTH110  Path.exists raises for a name that is too long.
        return value, "auto"
    if last not in (*CORPUS_FORMATS, "auto"):
        raise UnknownNameError(
            f"--corpora {text}: unknown format '{last}': choose from auto, {', '.join(CORPUS_FORMATS)}"
        )
    return where, last


def _parts(where: str, name: str) -> tuple[Path, Path | None, Path]:
    """Training documents, development documents (None for a part of the former), and test documents."""
    if os.path.isdir(where):  # noqa: PTH112
        return _parts_within(Path(where), name)
    train, comma, test = where.partition(",")
    for path in (train, test) if comma else (train,):
        if not os.path.exists(path):  # noqa: PTH110
            raise UnknownNameError(f"--corpora {name}: no such file or folder: {path}")
    if not comma:
        raise SettingError(f"--corpora {name}: {where} is one file: give {name}=TRAIN,TEST")
    return Path(train), None, Path(test)


def _parts_within(folder: Path, name: str) -> tuple[Path, Path | None, Path]:
    found = {part: _entries(folder, words) for part, words in _WORDS.items()}
    for part, entries in found.items():
        if len(entries) > 1:
            several = f"{len(entries)} entries that could be {part}, by their names"
            raise SettingError(f"--corpora {name}: {folder} has {several}: give {name}=TRAIN,TEST")
    train, dev, test = (entries[0] if entries else None for entries in found.values())
    if test is None:
        dev, test = None, dev
    if train is None or test is None:
        raise UnknownNameError(f"--corpora {name}: {folder} holds no train and test (or dev): give {name}=TRAIN,TEST")
    return train, dev, test


def _entries(folder: Path, words: set[str]) -> list[Path]:
    """Files and folders in a folder with one of some words in the name: train.txt, training-set1, notes_test_v2."""
    there = (entry for entry in folder.iterdir() if not entry.name.startswith("."))
    return sorted(entry for entry in there if words.intersection(re.split(r"[-_. ]", entry.name.lower())))


def read(source: Source, *, keep_unknown: bool, share: float = 1.0) -> Corpus:
    """Read a corpus with the groups of johnson2020 as its types; its documents are named ``CORPUS/ID``.

    Args:
        source: of the corpus.
        keep_unknown: accept types of no known scheme as PHI of no category.
        share: the share of the training documents to use.

    Raises:
        DataError: it cannot be read, or a part of it holds no PHI.
        UsageError: a type of no known scheme.
    """
    parts = _read_parts(source)
    try:
        documents = {part: to_groups(read, keep_unknown=keep_unknown) for part, read in parts.documents.items()}
    except UsageError as refused:
        raise type(refused)(f"--corpora {source.name}: {refused}") from None
    splits = {
        part: Split.of(replace(document, id=f"{source.name}/{document.id}") for document in some)
        for part, some in documents.items()
    }
    require_phi(splits)
    made = Corpus(source.name, parts.formats, "categories", **splits, notices=tuple(parts.notices))
    return shared(made, share)


def _read_parts(source: Source) -> CorpusParts:
    if source.seed is not None:
        from crfdeid.corpora.synthetic import generate, generate_all_types  # noqa: PLC0415  Faker takes long to import.

        make = generate if source.format == "synthetic-notes" else generate_all_types
        return CorpusParts(make(seed=source.seed)._asdict(), "synthetic", [])
    train, test = source.train, source.test
    if train is None or test is None:
        raise SettingError(f"--corpora {source.name}: {FORMS}")
    form = source.format
    try:
        return read_parts(train, source.dev, test, corpus_format=form, types="all", concepts=None, dev_option="dev")
    except UsageError as refused:
        hint = f"the format follows the corpus: {source.name}=DIR:brat"
        raise type(refused)(f"--corpora {source.name}: {refused}; {hint}") from None


def joined(corpora: Sequence[Corpus], *, types: str) -> Corpus:
    """All corpora as one, to tag and to browse.

    Args:
        corpora: with documents of different names.
        types: the compared types.
    """
    splits = {
        part: Split(
            tuple(document for corpus in corpora for document in corpus.splits[part].documents),
            tuple(encoded for corpus in corpora for encoded in corpus.splits[part].encoded),
        )
        for part in ("train", "dev", "test")
    }
    notices = tuple(f"{corpus.name}: {notice}" for corpus in corpora for notice in corpus.notices)
    formats = ", ".join(dict.fromkeys(corpus.format for corpus in corpora))
    return Corpus(", ".join(corpus.name for corpus in corpora), formats, types, **splits, notices=notices)

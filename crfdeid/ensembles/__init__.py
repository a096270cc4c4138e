"""Models composed of other models: `CombinedTagger`, with members in one file and marginals over the joint tags.

hybrid.py      `HybridTagger`: a statistical model, with the rules' matches added
ensemble.py    `EnsembleTagger`: union, majority vote, or mean probability of several models
cascade.py     `CascadeTagger`: a model of PHI, and a model of concepts on the masked text

Import a class from its module: loading one model then executes no other.
"""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, ClassVar, Self

import numpy as np

from crfdeid.bio import OUTSIDE, decode
from crfdeid.documents import Span
from crfdeid.errors import NotTrainedError
from crfdeid.registry import load_tagger, member_settings, profile_name, tagger_class
from crfdeid.serialization import MappedFile, ModelFiles, ModelFolder
from crfdeid.tagger import CombinedSettings, MemberTagger, RuleMatch, RuleMatcher, Tagger, Traits
from features.tokens import Sentence

__all__ = ["CombinedTagger", "align_columns", "create_members", "normalise_settings"]

_EARLIEST = (1980, 1, 1, 0, 0, 0)  # that a zip file can hold: the same members are the same bytes at any time


class CombinedTagger(Tagger):
    """Base of taggers composed of member taggers, which are saved in one file.

    Args:
        settings: its settings; None for its defaults.
        seed: of all members.
    """

    model: ClassVar[str]
    settings_class: ClassVar[type[CombinedSettings]]
    settings: CombinedSettings

    def __init__(self, settings: Any = None, *, seed: int = 0) -> None:
        self.settings = settings if settings is not None else self.settings_class()
        self.seed = seed
        self._members: Sequence[Tagger] = ()

    @classmethod
    def profiles(cls) -> Mapping[str, CombinedSettings]:
        """Settings by profile name, for the default members; other members must all have a profile."""
        make: Any = cls.settings_class
        known = [tagger_class(name).profiles() for name, _ in make().parts]
        return {name: make(profile=name) for name in known[0] if all(name in other for other in known)}

    @classmethod
    def traits(cls, settings: Any) -> Traits:
        """Traits of all members together: the requirements of any, the abilities of all."""
        members = [tagger_class(name).traits(own) for name, own in member_settings(settings)]
        return Traits(
            uses_seed=any(traits.uses_seed for traits in members),
            is_trained=all(traits.is_trained for traits in members),
            accelerated=any(traits.accelerated for traits in members),
            takes_vectors=False,
            public_vocabulary=any(traits.public_vocabulary for traits in members),
            requires=tuple(dict.fromkeys(what for traits in members for what in traits.requires)),
            per_sentence={traits.per_sentence for traits in members if traits.accelerated} == {True},
        )

    def require_sources(self) -> None:
        """Check the folders that the members' settings name."""
        for member in create_members(self.settings, seed=self.seed):
            member.require_sources()

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags that any member can give and `OUTSIDE`, sorted: the columns of `marginals`. Empty before `fit`."""
        tags = {tag for member in self._members for tag in member.tags}
        return tuple(sorted(tags | {OUTSIDE})) if tags else ()

    @property
    def languages(self) -> tuple[str, ...]:
        """Codes of the languages of all members, sorted; none before `fit`."""
        return tuple(sorted({code for member in self._members for code in member.languages}))

    @property
    def members(self) -> tuple[Tagger, ...]:
        """The trained members; empty before `fit`."""
        return tuple(self._members)

    @property
    def phi_members(self) -> tuple[Tagger, ...]:
        """The trained members that predict PHI."""
        return self.members

    def rule_matches(self, sentences: Sequence[Sentence]) -> Iterator[list[RuleMatch]]:
        """Return the matches of the rules of all members that predict PHI, in each sentence."""
        matches = [member.rule_matches(sentences) for member in self.phi_members if isinstance(member, RuleMatcher)]
        return (list(chain.from_iterable(own)) for own in zip(repeat((), len(sentences)), *matches, strict=True))

    def member_spans(self, sentences: Sequence[Sentence]) -> list[list[Span]]:
        """Return the PHI that any member marks by itself in each sentence."""
        rows: list[list[Span]] = [[] for _ in sentences]
        for member in self.phi_members:
            if isinstance(member, MemberTagger):
                spans = member.member_spans(sentences)
            else:
                spans = [decode(*pair) for pair in zip(sentences, member.predict(sentences), strict=True)]
            for all_spans, own in zip(rows, spans, strict=True):
                all_spans.extend(own)
        return rows

    def save(self, folder: Path, *, key: bytes | None = None) -> None:
        """Write ``model.json`` and ``members.zip``, with the files of all members."""
        weights = partial(_pack, self._trained(), key=key)
        facts = {"languages": self.languages, **self._facts()}
        self._files().save(folder, weights, settings=self.settings, seed=self.seed, key=key, **facts)

    @classmethod
    def load(cls, folder: Path | ModelFolder, *, key: bytes | None = None) -> Self:
        """Read a model that `save` wrote.

        Raises:
            DataError: the folder holds no such model, one of another version, or a damaged one.
            UsageError: its words are hashed, and the key is missing or another one.
        """
        saved = cls._files().load(folder, key=key)
        tagger = cls(saved.settings(cls.settings_class), seed=saved.seed)
        with saved.refusing_damage():
            members = _unpack(saved.weights, len(tagger.settings.parts), key=saved.key)
            tagger._accept(members, saved.description)
        return tagger

    @classmethod
    def _files(cls) -> ModelFiles:
        return ModelFiles(cls.model, schema=3, file="members.zip")

    def _facts(self) -> dict[str, Any]:
        """Facts that training learned in addition to the members, as JSON data."""
        return {}

    def _accept(self, members: Sequence[Tagger], facts: Mapping[str, Any]) -> None:
        """Take loaded members and a description with `_facts`; ValueError if they do not fit."""
        self._members = members

    def _trained(self) -> Sequence[Tagger]:
        if not self._members:
            raise NotTrainedError(f"this {self.model} is not trained: call fit, or load a saved one")
        return self._members


def normalise_settings(settings: CombinedSettings) -> None:
    """Normalise settings, in their ``__post_init__``, to the form in which a saved model has them, and validate them.

    Raises:
        UsageError: an option that no member has, or a value or profile that one refuses.
    """
    object.__setattr__(settings, "profile", profile_name(settings.profile))
    object.__setattr__(settings, "options", json.loads(json.dumps(dict(settings.options))))
    member_settings(settings)


def create_members(settings: CombinedSettings, *, seed: int) -> list[Tagger]:
    """Create untrained members; several of one model have the seeds that follow."""
    members = member_settings(settings)
    names = [name for name, _ in members]
    return [tagger_class(name)(own, seed=seed + names[:i].count(name)) for i, (name, own) in enumerate(members)]


def _pack(members: Sequence[Tagger], stream: BinaryIO, *, key: bytes | None) -> None:
    """Write trained members into one uncompressed zip file."""
    with TemporaryDirectory() as folder, zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as packed:
        for number, member in enumerate(members):
            path = Path(folder) / str(number)
            member.save(path, key=key)
            for file in sorted(path.iterdir()):
                part = zipfile.ZipInfo(f"{number}/{file.name}", _EARLIEST)
                part.file_size = file.stat().st_size  # which it must know beforehand of a file of gigabytes
                with file.open("rb") as own, packed.open(part, "w") as place_in_it:
                    shutil.copyfileobj(own, place_in_it)


def _unpack(content: MappedFile, count: int, *, key: bytes | None) -> list[Tagger]:
    """Read the members that `_pack` wrote."""
    stream: Any = content
    with zipfile.ZipFile(stream) as packed, TemporaryDirectory() as folder:
        packed.extractall(folder)
        return [load_tagger(Path(folder, str(number)), key=key) for number in range(count)]


def align_columns(table: np.ndarray, own: Sequence[str], joint: Sequence[str]) -> np.ndarray:
    """A member's marginals with a column for each joint tag, 0 for tags that it lacks: [T, K]."""
    column = {tag: k for k, tag in enumerate(joint)}
    wide = np.zeros((len(table), len(joint)))
    wide[:, [column[tag] for tag in own]] = table
    return wide

"""Every model there is, one line each; the command line, the contract suite, the tables and the plots go over it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from crfdeid.errors import DataError, UsageError
from crfdeid.saving import DESCRIPTION, read_description
from crfdeid.tagger import Tagger

# Name -> "module:class". Text, so that no model's libraries are imported before it is used, and no import points up.
MODELS = {
    "crf": "crfdeid.crf:CrfTagger",
    "elman": "rnn.tagger:ElmanTagger",
    "jordan": "rnn.tagger:JordanTagger",
    "rules": "crfdeid.rules:RulesTagger",
    "hybrid": "crfdeid.combined.hybrid:HybridTagger",
    "ensemble": "crfdeid.combined.ensemble:EnsembleTagger",
}


def tagger_class(name: str) -> type[Tagger]:
    """The class behind a model's name.

    Raises:
        UsageError: there is no such model.
    """
    if name not in MODELS:
        raise UsageError(f"unknown model '{name}': choose from {', '.join(MODELS)}")
    module, attribute = MODELS[name].split(":")
    found: type[Tagger] = getattr(import_module(module), attribute)
    return found


def create(
    name: str,
    *,
    profile: str = "default",
    seed: int = 0,
    overrides: Mapping[str, Any] | None = None,
    vectors: Any = None,
) -> Tagger:
    """A new, untrained tagger.

    Args:
        name: a key of `MODELS`.
        profile: "default" or "paper".
        seed: the seed of everything random in the model.
        overrides: settings that differ from the profile's; those the model does not have are left out, so that one
            set of options can serve several models. A model made of models hands them on to its members.
        vectors: the word vectors a network starts from, an `rnn.embeddings.WordVectors`; None for random ones.

    Raises:
        UsageError: unknown model or profile, a value the model refuses, or vectors for a model that has none.
    """
    cls: Any = tagger_class(name)
    profiles = cls.profiles()
    if profile not in profiles:
        raise UsageError(f"unknown profile '{profile}' of {name}: choose from {', '.join(profiles)}")
    known = {field.name for field in dataclasses.fields(cls.settings_class)}
    changes = {key: value for key, value in (overrides or {}).items() if key in known}
    if "options" in known:
        changes["options"] = {key: value for key, value in (overrides or {}).items() if key not in known}
    settings = dataclasses.replace(profiles[profile], **changes)
    if vectors is None:
        return cls(settings, seed=seed)
    if "embedding_dim" not in known:
        raise UsageError(f"the model '{name}' has no word vectors: leave them out, or choose a network")
    return cls(settings, seed=seed, vectors=vectors)


def load_tagger(folder: Path | str, *, key: bytes | None = None) -> Tagger:
    """A trained tagger from the folder `Tagger.save` wrote, whatever its model.

    Args:
        folder: the model's.
        key: what its words were hashed with; not needed where they can be read.

    Raises:
        DataError: the folder holds no model, or one of an unknown kind.
        UsageError: its words are hashed, and the key is missing or another one.
    """
    return tagger_class(model_name(Path(folder))).load(Path(folder), key=key)


def model_name(folder: Path) -> str:
    """The name in `MODELS` of the model saved in a folder.

    Raises:
        DataError: the folder holds no model, or one of an unknown kind.
    """
    name: str = read_description(folder)["model"]
    if name not in MODELS:
        problem = f"a model of an unknown kind; this version knows {', '.join(MODELS)}"
        raise DataError(problem, path=folder / DESCRIPTION)
    return name

"""Registry of models by name: create, load and fine-tune them."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

from crfdeid.errors import DataError, UsageError
from crfdeid.serialization import MODEL_FILE, read_description, read_settings
from crfdeid.tagger import CombinedSettings, Finetunable, Tagger, Traits
from crfdeid.validation import FOLDER_SETTINGS, require_seed


def import_string(place: str) -> Any:
    """What a text names; its module is imported now.

    Args:
        place: "module:attribute".

    Example:
        >>> named("math:factorial")(4)
        24
    """
    module, _, attribute = place.partition(":")
    return getattr(import_module(module), attribute)


# Name -> "module:class". Text, so that no model's libraries are imported before it is used, and no import points up.
MODELS = {
    "crf": "crfdeid.crf:CrfTagger",
    "elman": "rnn.models.elman:ElmanTagger",
    "jordan": "rnn.models.jordan:JordanTagger",
    "bilstm-crf": "rnn.models.bilstm_crf:BilstmCrfTagger",
    "bert": "rnn.models.bert:BertTagger",
    "multitask": "rnn.models.multitask:MultitaskTagger",
    "stacked": "rnn.models.stacked:StackedTagger",
    "private": "rnn.models.private:PrivateTagger",
    "pipeline": "crfdeid.ensembles.cascade:CascadeTagger",
    "rules": "crfdeid.rules:RulesTagger",
    "hybrid": "crfdeid.ensembles.hybrid:HybridTagger",
    "ensemble": "crfdeid.ensembles.ensemble:EnsembleTagger",
}


def tagger_class(name: str) -> type[Tagger]:
    """The class behind a model's name.

    Raises:
        UsageError: there is no such model.
    """
    if name not in MODELS:
        raise UsageError(f"unknown model '{name}': choose from {', '.join(MODELS)}")
    found: type[Tagger] = import_string(MODELS[name])
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
        profile: where its settings start: "default", or a paper's, such as "yadav2016".
        seed: the seed of everything random in the model.
        overrides: settings that differ from the profile's. A model made of models hands on to them what is not its own.
        vectors: the word vectors a network starts from, an `rnn.embeddings.WordVectors`; None for random ones.

    Raises:
        UsageError: unknown model, profile or setting, a value or seed that is refused, or vectors for a model that has
            none.

    Example:
        >>> create("crf", overrides={"max_iterations": 5}).settings.max_iterations
        5
    """
    require_seed(seed)
    cls: Any = tagger_class(name)
    settings = model_settings(name, profile=profile, overrides=overrides)
    if vectors is None:
        return cls(settings, seed=seed)
    if not cls.traits(settings).takes_vectors:
        raise UsageError(f"the model '{name}' has no word vectors: leave them out, or choose a network")
    return cls(settings, seed=seed, vectors=vectors)


def model_settings(name: str, *, profile: str = "default", overrides: Mapping[str, Any] | None = None) -> Any:
    """The settings of a new tagger, an instance of its class's ``settings_class``; arguments and errors of `create`."""
    cls = tagger_class(name)
    profile, changes = profile_name(profile), dict(overrides or {})
    if issubclass(cls.settings_class, CombinedSettings):
        return _combined(cls.settings_class, changes, profile)
    profiles = cls.profiles()
    if profile not in profiles:
        raise UsageError(f"unknown profile '{profile}' of {name}: choose from {', '.join(profiles)}")
    require_known(changes, setting_names(name), of=name)
    return dataclasses.replace(profiles[profile], **changes)


def setting_names(name: str, overrides: Mapping[str, Any] | None = None) -> frozenset[str]:
    """The settings a model has; those of the models that it is made of are among them.

    Args:
        name: a key of `MODELS`.
        overrides: settings that may say what it is made of.

    Raises:
        UsageError: unknown model, or a value that says what it is made of and cannot work.
    """
    settings_class = tagger_class(name).settings_class
    own = _own_names(settings_class)
    if not issubclass(settings_class, CombinedSettings):
        return own
    chosen = settings_class(**{key: value for key, value in (overrides or {}).items() if key in own})
    return own.union(*(setting_names(part, overrides) for part, _ in chosen.parts))


def _own_names(settings_class: Any) -> frozenset[str]:
    """The settings that a model has itself, and not from the models that it is made of."""
    return frozenset(field.name for field in dataclasses.fields(settings_class)) - {"profile", "options"}


def _combined(settings_class: Any, changes: Mapping[str, Any], profile: str) -> CombinedSettings:
    own = _own_names(settings_class)
    chosen = {key: value for key, value in changes.items() if key in own}
    handed_on = {key: value for key, value in changes.items() if key not in own}
    made: CombinedSettings = settings_class(**chosen, profile=profile, options=handed_on)
    return made


def select(name: str, overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Of settings that are meant for several models, those that one has; arguments and errors of `setting_names`."""
    known = setting_names(name, overrides)
    return {key: value for key, value in overrides.items() if key in known}


def require_known(given: Iterable[str], known: Collection[str], *, of: str) -> None:
    """Refuse settings that a model does not have, which could only be passed over.

    Args:
        given: the settings' names.
        known: what there is.
        of: the model, or several, for the message.

    Raises:
        UsageError: one is not known; the message has the nearest name and all there are.
    """
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, n=1, cutoff=0.75)
            hint = f"did you mean '{near[0]}'? " if near else ""
            raise UsageError(f"no setting '{name}' in {of}: {hint}there are {', '.join(sorted(known))}")


def profile_name(name: str) -> str:
    """A profile's own name, for that or a synonym: "yadav2016" for "paper"."""
    return "yadav2016" if name == "paper" else name


def member_settings(settings: CombinedSettings) -> list[tuple[str, Any]]:
    """The models that a model is made of, and the settings of each.

    Of the options, each takes those that it has, and then its own, which stand under its name.

    Raises:
        UsageError: an option that none of them has, or a value or profile that one refuses.
    """
    names = [part for part, _ in settings.parts]
    shared = {key: value for key, value in settings.options.items() if key not in names}
    known = {name for part in names for name in setting_names(part, shared)}
    require_known(shared, known | _own_names(settings), of=" + ".join(names))
    return [
        (part, model_settings(part, profile=profile, overrides=select(part, shared) | _options_of(part, settings)))
        for part, profile in settings.parts
    ]


def _options_of(part: str, settings: CombinedSettings) -> dict[str, Any]:
    found = settings.options.get(part, {})
    if not isinstance(found, Mapping):
        raise UsageError(f"{part} is {found}: give settings of this model by their names")
    return dict(found)


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


def saved_traits(folder: Path) -> Traits:
    """What the model saved in a folder needs and can do.

    Raises:
        DataError: the folder holds no model, or one of an unknown kind, or a damaged one.
    """
    cls = tagger_class(model_name(folder))
    return cls.traits(read_settings(folder, read_description(folder), cls.settings_class))


def model_name(folder: Path) -> str:
    """The name in `MODELS` of the model saved in a folder.

    Raises:
        DataError: the folder holds no model, or one of an unknown kind.
    """
    name: str = read_description(folder)["model"]
    if name not in MODELS:
        problem = f"a model of an unknown kind; this version knows {', '.join(MODELS)}"
        raise DataError(problem, path=folder / MODEL_FILE)
    return name


def load_for_finetuning(
    folder: Path, *, seed: int = 0, overrides: Mapping[str, Any] | None = None, key: bytes | None = None
) -> Finetunable:
    """A tagger whose `fit` begins with what a saved network learned.

    It keeps that one's settings, tags, and vocabulary with all vectors: a word that only the new notes have is read as
    an unknown one, and trains the vector of those. Word pieces can spell every word.

    Args:
        folder: the saved model's.
        seed: of the order of the notes and all else that is drawn.
        overrides: settings of training that differ, such as ``{"epochs": 3, "lr": 0.0005}``.
        key: what its words are hashed with, and those of what is trained will be; not needed where they can be read.

    Raises:
        DataError: the folder holds no model, or a damaged one.
        UsageError: the model is no network, its words are hashed and the key is missing or another one, or a setting is
            unknown, refused, or changes the network.

    Example:
        Three more epochs on one's own notes, ``train`` and ``dev`` being tagged sentences::

            tagger = going_on(Path("model/"), overrides={"epochs": 3})
            tagger.fit(train, dev)
    """
    require_seed(seed)
    name, changes = model_name(folder), dict(overrides or {})
    before = load_tagger(folder, key=key)
    if not isinstance(before, Finetunable):
        raise UsageError(f"{folder}: a {name} is always trained from scratch; only networks go on from a trained one")
    require_known(changes, setting_names(name), of=name)
    if named := sorted(FOLDER_SETTINGS.intersection(changes)):
        raise UsageError(f"{named[0]} cannot be changed here: a {name} goes on with the one that it learned with")
    tagger: Any = tagger_class(name)(dataclasses.replace(before.settings, **changes), seed=seed)
    tagger.init_from(before)
    going: Finetunable = tagger
    return going

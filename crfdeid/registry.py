"""Registry of models by name: create, load and fine-tune them."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from crfdeid.errors import OptionConflictError, SettingError, UnknownNameError, VersionError, missing_extra
from crfdeid.serialization import MODEL_FILE, ModelFolder, open_model, read_settings
from crfdeid.tagger import CombinedSettings, Finetunable, Tagger, Traits
from crfdeid.validation import FOLDER_SETTINGS, require_seed, suggestion

# Name -> "module:class". Text, so that a model's libraries are imported only for use, and no import points up.
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


def import_string(path: str) -> Any:
    """Import a module and return an attribute of it.

    Args:
        path: "module:attribute".

    Raises:
        MissingExtraError: an optional library is not installed.

    Example:
        >>> import_string("math:factorial")(4)
        24
    """
    module, _, attribute = path.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        raise missing_extra(error) from None


def tagger_class(name: str) -> type[Tagger]:
    """Return the class of a model.

    Raises:
        UnknownNameError: there is no such model.
    """
    if name not in MODELS:
        raise UnknownNameError(f"unknown model '{name}': {suggestion(name, MODELS)}choose from {', '.join(MODELS)}")
    return import_string(MODELS[name])


def create(
    name: str,
    *,
    profile: str = "default",
    seed: int = 0,
    overrides: Mapping[str, Any] | None = None,
    vectors: Any = None,
) -> Tagger:
    """Create an untrained tagger.

    Args:
        name: a key of `MODELS`.
        profile: the settings to start from: "default", or a paper's, such as "yadav2016".
        seed: the seed of everything random in the model.
        overrides: settings that differ from the profile's. A model made of models passes settings on to its members.
        vectors: initial word vectors of a network, an `rnn.embeddings.WordVectors`; None for random ones.

    Raises:
        UsageError: unknown model, profile or setting, an invalid value or seed, or vectors for a model without any.

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
        raise OptionConflictError(f"the model '{name}' has no word vectors: leave them out, or choose a network")
    return cls(settings, seed=seed, vectors=vectors)


def model_settings(name: str, *, profile: str = "default", overrides: Mapping[str, Any] | None = None) -> Any:
    """Return the settings of a tagger that `create` makes with these arguments."""
    cls = tagger_class(name)
    make: Any = cls.settings_class
    profile, changes = profile_name(profile), dict(overrides or {})
    if issubclass(cls.settings_class, CombinedSettings):
        chosen = {key: changes.pop(key) for key in _own_names(make).intersection(changes)}
        return make(**chosen, profile=profile, options=changes)
    profiles = cls.profiles()
    if profile not in profiles:
        raise UnknownNameError(f"unknown profile '{profile}' of {name}: choose from {', '.join(profiles)}")
    require_known(changes, setting_names(name), of=name)
    return dataclasses.replace(profiles[profile], **changes)


def setting_names(name: str, overrides: Mapping[str, Any] | None = None) -> frozenset[str]:
    """Return the names of a model's settings, including those of its members.

    Args:
        name: a key of `MODELS`.
        overrides: settings that may choose the members.

    Raises:
        UsageError: unknown model, or an invalid choice of members.
    """
    settings_class = tagger_class(name).settings_class
    own = _own_names(settings_class)
    if not issubclass(settings_class, CombinedSettings):
        return own
    chosen = settings_class(**{key: value for key, value in (overrides or {}).items() if key in own})
    return own.union(*(setting_names(part, overrides) for part, _ in chosen.parts))


def _own_names(settings_class: Any) -> frozenset[str]:
    """Return the names of a model's settings without those of its members."""
    return frozenset(field.name for field in dataclasses.fields(settings_class)) - {"profile", "options"}


def select(name: str, overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the settings that a model has, by `setting_names`."""
    known = setting_names(name, overrides)
    return {key: value for key, value in overrides.items() if key in known}


def require_known(names: Iterable[str], known: Collection[str], *, of: str) -> None:
    """Check that settings of a model, or of several, exist.

    Raises:
        UnknownNameError: one does not exist; the message has the nearest name and all existing ones.
    """
    for name in names:
        if name not in known:
            raise UnknownNameError(
                f"no setting '{name}' in {of}: {suggestion(name, known)}there are {', '.join(sorted(known))}"
            )


def profile_name(name: str) -> str:
    """Return a profile's canonical name: "yadav2016" for "paper"."""
    return "yadav2016" if name == "paper" else name


def member_settings(settings: CombinedSettings) -> list[tuple[str, Any]]:
    """Return the members of a model made of models, each with its settings.

    A member takes the options that it has, and then those under its name.

    Raises:
        UsageError: an option that no member has, or an invalid value or profile.
    """
    names = [part for part, _ in settings.parts]
    shared = {key: value for key, value in settings.options.items() if key not in names}
    known = {name for part in names for name in setting_names(part, shared)}
    require_known(shared, known | _own_names(settings), of=" + ".join(names))
    members = []
    for part, profile in settings.parts:
        own = settings.options.get(part, {})
        if not isinstance(own, Mapping):
            raise SettingError(f"{part} is {own}: give settings of this model by their names")
        members.append((part, model_settings(part, profile=profile, overrides={**select(part, shared), **own})))
    return members


def load_tagger(folder: Path | str | ModelFolder, *, key: bytes | None = None) -> Tagger:
    """Load a trained tagger of any model from the folder that `Tagger.save` wrote.

    Args:
        folder: the model's folder.
        key: the key of its hashed words; not needed for readable ones.

    Raises:
        DataError: the folder has no model, or one of an unknown kind.
        SecretError: its words are hashed, and the key is missing or wrong.
    """
    model = open_model(folder)
    return tagger_class(model_name(model)).load(model, key=key)


def saved_traits(folder: Path | ModelFolder) -> Traits:
    """Return the traits of a saved model.

    Raises:
        DataError: the folder has no model, one of an unknown kind, or a damaged one.
    """
    model = open_model(folder)
    cls = tagger_class(model_name(model))
    return cls.traits(read_settings(model.path, model.description, cls.settings_class))


def model_name(folder: Path | ModelFolder) -> str:
    """Return the name in `MODELS` of a saved model.

    Raises:
        DataError: the folder has no model.
        VersionError: this version does not have the model.
    """
    model = open_model(folder)
    name: str = model.description["model"]
    if name not in MODELS:
        problem = f"a model of an unknown kind; this version knows {', '.join(MODELS)}"
        raise VersionError(problem, path=model.path / MODEL_FILE)
    return name


def load_for_finetuning(
    folder: Path, *, seed: int = 0, overrides: Mapping[str, Any] | None = None, key: bytes | None = None
) -> Finetunable:
    """Return a tagger whose `fit` starts from the weights of a saved network: the "reuse" of johnson2020.

    It keeps the settings, tags, vocabulary and all vectors of the network: a word that only the new notes have is read
    as an unknown one, and trains the vector of those. Word pieces can spell every word.

    Args:
        folder: the folder of the saved model.
        seed: the seed of training.
        overrides: settings of training that differ, such as ``{"epochs": 3, "lr": 0.0005}``.
        key: the key of its hashed words, also for those of the new model; not needed for readable ones.

    Raises:
        DataError: the folder has no model, or a damaged one.
        UsageError: the model is not a network, its key is missing or wrong, or a setting is unknown, invalid, or
            changes the network.

    Example:
        Three more epochs on one's own notes, ``train`` and ``dev`` being tagged sentences::

            tagger = load_for_finetuning(Path("model/"), overrides={"epochs": 3})
            tagger.fit(train, dev)
    """
    require_seed(seed)
    name, changes = model_name(folder), dict(overrides or {})
    trained = load_tagger(folder, key=key)
    if not isinstance(trained, Finetunable):
        raise OptionConflictError(f"{folder}: a {name} is always trained from scratch; only networks can be fine-tuned")
    require_known(changes, setting_names(name), of=name)
    if fixed := sorted(FOLDER_SETTINGS.intersection(changes)):
        raise OptionConflictError(f"{fixed[0]} cannot be changed here: a {name} keeps the one it was trained with")
    tagger: Any = tagger_class(name)(dataclasses.replace(trained.settings, **changes), seed=seed)
    tagger.init_from(trained)
    return tagger

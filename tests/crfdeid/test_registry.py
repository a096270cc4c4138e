"""Making taggers by name: profiles, settings that are refused, and what a model made of models is asked and told."""

import sys
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest

from crfdeid.documents import LabelledSentence
from crfdeid.ensembles.ensemble import EnsembleSettings, EnsembleTagger
from crfdeid.ensembles.hybrid import HybridSettings, HybridTagger
from crfdeid.errors import OptionConflictError, UnknownNameError, UsageError
from crfdeid.registry import (
    MODELS,
    create,
    member_settings,
    model_settings,
    profile_name,
    select,
    setting_names,
    tagger_class,
)
from crfdeid.tagger import FitProgress, Tagger, Traits
from features.tokens import Sentence


@dataclass(frozen=True)
class InventedSettings:
    width: int = 1
    paths: int = 2


class InventedTagger(Tagger):
    """Knows a paper of its own, needs an encoder, and writes down what it is asked to learn."""

    settings_class = InventedSettings

    def __init__(self, settings: InventedSettings | None = None, *, seed: int = 0) -> None:
        self.given = settings
        self.seen: list[Any] = []

    @classmethod
    def profiles(cls) -> dict[str, InventedSettings]:
        return {"default": InventedSettings(), "doe1999": InventedSettings(width=5)}

    @classmethod
    def traits(cls, settings: InventedSettings) -> Traits:
        return Traits(
            uses_seed=settings.width > 1,
            is_trained=settings.paths > 1,
            accelerated=True,
            takes_vectors=True,
            public_vocabulary=True,
            layers=("phi", "concept"),
            requires=("an encoder",),
        )

    def fit(self, train, dev, *, on_progress=None) -> None:
        self.seen.append((train, dev))
        for step in (1, 2):
            if on_progress is not None:
                on_progress(FitProgress(step, 2))


@pytest.fixture
def invented(monkeypatch):
    module = ModuleType("invented_model")
    module.InventedTagger = InventedTagger
    monkeypatch.setitem(sys.modules, "invented_model", module)
    monkeypatch.setitem(MODELS, "invented", "invented_model:InventedTagger")


@pytest.mark.parametrize(
    ("name", "overrides", "message"),
    [
        ("crf", {"max_iteration": 3}, "no setting 'max_iteration' in crf: did you mean 'max_iterations'"),
        ("crf", {"c1": 0.1, "colour": 3}, "no setting 'colour' in crf: there are all_possible_states, .* pos$"),
        ("elman", {"epohcs": 3}, "no setting 'epohcs' in elman: did you mean 'epochs'"),
        ("hybrid", {"epochs": 3}, r"no setting 'epochs' in crf \+ rules: "),
        ("hybrid", {"member": "elman", "epohcs": 3}, r"'epohcs' in elman \+ rules: did you mean 'epochs'"),
        ("hybrid", {"membre": "elman"}, "did you mean 'member'"),
        ("hybrid", {"options": {"c1": 0.1}}, "no setting 'options'"),
        ("ensemble", {"members": ("crf", "rules"), "epochs": 3}, "no setting 'epochs'"),
        ("ensemble", {"members": ("crf", "hybrid"), "presicion": 1}, "did you mean 'precision'"),
        ("ensemble", {"members": ("crf", "hybrid"), "c1": -1.0}, "c1 is -1.0"),
    ],
)
def test_a_setting_that_no_part_of_the_model_has_is_refused(name, overrides, message):
    with pytest.raises(UsageError, match=message):
        create(name, overrides=overrides)


def test_settings_go_to_the_parts_that_have_them():
    hybrid = create("hybrid", overrides={"member": "elman", "epochs": 3, "precision": 0.5})
    assert hybrid.settings == HybridSettings(member="elman", options={"epochs": 3, "precision": 0.5})
    ensemble = create("ensemble", overrides={"members": ("crf", "hybrid"), "precision": 0.5, "c1": 0.1})
    assert ensemble.settings == EnsembleSettings(("crf", "hybrid"), options={"precision": 0.5, "c1": 0.1})


def test_settings_under_a_parts_name_are_for_that_part_alone():
    options = {"epochs": 5, "hidden": 10, "elman": {"hidden": 7}}
    settings = model_settings("ensemble", overrides={"members": ("crf", "elman", "jordan"), **options})
    assert settings.options == options
    own = dict(member_settings(settings))
    assert (own["elman"].hidden, own["jordan"].hidden) == (7, 10)
    assert (own["elman"].epochs, own["jordan"].epochs) == (5, 5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"elman": {"c1": 0.5}}, "no setting 'c1' in elman"),
        ({"elman": 3}, "elman is 3: give settings of this model by their names"),
        ({"rules": {}}, r"no setting 'rules' in crf \+ elman"),
    ],
)
def test_settings_under_a_parts_name_are_refused_like_others(options, message):
    with pytest.raises(UsageError, match=message):
        model_settings("ensemble", overrides={"members": ("crf", "elman"), **options})


@pytest.mark.parametrize("settings_class", [HybridSettings, EnsembleSettings])
def test_settings_made_by_hand_are_refused_too(settings_class):
    with pytest.raises(UnknownNameError):
        settings_class(options={"max_iteration": 3})
    with pytest.raises(UnknownNameError):
        settings_class(profile="doe1999")


def test_the_settings_of_a_model_made_of_models_are_its_own_and_those_of_its_parts():
    own, rules = {"member", "miss_cost"}, {"precision", "keep_untried", "language"}
    assert setting_names("hybrid") == own | rules | setting_names("crf")
    assert setting_names("hybrid", {"member": "jordan", "lr": 0.1}) == own | rules | setting_names("jordan")
    parts = {"members": ("rules", "hybrid"), "member": "elman"}
    assert setting_names("ensemble", parts) == {"members", "combine"} | own | rules | setting_names("elman")


def test_of_settings_for_several_models_each_takes_those_it_has():
    given = {"epochs": 3, "c1": 0.1, "member": "elman", "colour": 1}
    assert select("crf", given) == {"c1": 0.1}
    assert select("elman", given) == {"epochs": 3}
    assert select("hybrid", given) == {"epochs": 3, "member": "elman"}


def test_paper_is_another_name_for_the_first_papers_profile():
    assert profile_name("paper") == profile_name("yadav2016") == "yadav2016"
    for name in (name for name in MODELS if "yadav2016" in tagger_class(name).profiles()):
        assert model_settings(name, profile="paper") == model_settings(name, profile="yadav2016")
    assert create("hybrid", profile="paper").settings.profile == "yadav2016"
    assert create("crf", profile="paper").settings != create("crf").settings


def test_a_profile_that_a_model_lacks_is_refused_with_its_own(invented):
    with pytest.raises(UnknownNameError):
        create("invented", profile="paper")
    with pytest.raises(UnknownNameError):
        create("crf", profile="doe1999")


def test_a_model_made_of_models_knows_the_profiles_that_its_members_know(invented):
    assert set(HybridTagger.profiles()) == set(EnsembleTagger.profiles()) == {"default", "yadav2016"}
    hybrid = create("hybrid", profile="doe1999", overrides={"member": "invented"})
    assert (hybrid.settings.member, hybrid.settings.profile) == ("invented", "doe1999")
    with pytest.raises(UnknownNameError):
        create("ensemble", profile="paper", overrides={"members": ("crf", "invented")})


def test_a_hybrids_traits_are_its_members_but_for_vectors_and_layers(invented):
    for width, paths in ((1, 1), (1, 2), (5, 1)):
        settings = model_settings("hybrid", overrides={"member": "invented", "width": width, "paths": paths})
        own = InventedTagger.traits(InventedSettings(width, paths))
        assert HybridTagger.traits(settings) == own._replace(takes_vectors=False, layers=("phi",))


def test_an_ensemble_needs_what_any_member_needs_and_can_what_all_can(invented):
    def traits(*members: str, **settings: Any) -> Traits:
        return EnsembleTagger.traits(model_settings("ensemble", overrides={"members": members, **settings}))

    nothing = Traits(uses_seed=False, is_trained=True, accelerated=False, takes_vectors=False, public_vocabulary=False)
    assert traits("crf", "crf") == nothing
    assert traits("crf", "rules") == nothing, "the rules are added, as in a hybrid"
    found = traits("crf", "invented")
    assert found == nothing._replace(accelerated=True, public_vocabulary=True, requires=("an encoder",))
    assert traits("crf", "invented", width=2).uses_seed


def test_vectors_are_for_models_that_take_them():
    with pytest.raises(OptionConflictError):
        create("hybrid", overrides={"member": "elman"}, vectors=object())


def test_many_are_trained_one_after_the_other_and_each_tells_its_place():
    taggers = [InventedTagger() for _ in range(3)]
    train = [LabelledSentence(Sentence.from_words(["Dr"]), ("O",))]
    told: list[tuple[int, int]] = []
    InventedTagger.fit_many(taggers, train, [], on_progress=lambda place, progress: told.append((place, progress.step)))
    assert [tagger.seen for tagger in taggers] == [[(train, [])]] * 3
    assert told == [(place, step) for place in range(3) for step in (1, 2)]
    InventedTagger.fit_many(taggers[:1], train, train)
    assert taggers[0].seen[1:] == [(train, train)]


def test_every_model_names_the_protocol_as_its_base():
    for name in MODELS:
        assert Tagger in tagger_class(name).__mro__

"""Profiles of papers: every setting is written out, and those that a paper prints are the paper's."""

from collections.abc import Mapping
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from crfdeid.registry import tagger_class
from rnn.privacy import settings as representation

# The printed figures by our names of the settings.
YADAV2016_ALL = {"lr": 0.01, "dropout": 0.5, "epochs": 25, "init_range": 1.0}  # Table 3 and section 3.5
FRIEDRICH2019_TABLE_1 = {
    "batch": 32,
    "layers": 2,
    "hidden": 128,
    "input_dropout": 0.1,
    "variational_dropout": 0.25,
    "output_dropout": 0.5,
    "max_norm": 1.0,
    "tagging_loss": "mean",  # of the authors' code, to which the norm is relative
}
LANGE2020 = {"hidden": 256, "optimiser": "sgd", "lr": 0.1, "batch": 32, "halve_after": 3}  # section 4.1
LANGE2020_JOINT = {**LANGE2020, "phi_first": 3, "concept_rate": 2.0}  # a learning rate of 0.2 for concepts
# "CRF++ with default parameter settings" (section 3.8): its L2 penalty with C = 1 is c2 = 1 / (2 C).
CRFPP = {"c1": 0.0, "c2": 0.5, "min_freq": 0, "features": "paper"}
PRINTED: dict[tuple[str, str], Mapping[str, Any]] = {
    ("crf", "yadav2016"): CRFPP,
    ("elman", "yadav2016"): {**YADAV2016_ALL, "hidden": 100, "window": 11},
    ("jordan", "yadav2016"): {**YADAV2016_ALL, "hidden": 150, "window": 9},
    ("bilstm-crf", "friedrich2019"): {
        **FRIEDRICH2019_TABLE_1,
        "features": "casing",
        "optimiser": "nadam",
        "char_dim": 0,
    },
    ("private", "friedrich2019"): FRIEDRICH2019_TABLE_1,
    ("bilstm-crf", "lange2020"): LANGE2020,
    ("multitask", "lange2020"): {**LANGE2020_JOINT, "task_hidden": 128},
    ("stacked", "lange2020"): LANGE2020_JOINT,
    # Sections 3.3 and 3.4: eight classes, and no choice of an epoch.
    ("bert", "johnson2020"): {
        "lr": 5e-5,
        "warmup": 0.4,
        "epochs": 3,
        "dropout": 0.1,
        "boundaries": False,
        "keep": "last",
        "window": 100,
        "overlap": 40,
    },
}
MODELS = sorted({model for model, _ in PRINTED})


@pytest.mark.parametrize(("model", "profile"), PRINTED)
def test_a_profile_has_the_papers_printed_settings(model: str, profile: str) -> None:
    settings = tagger_class(model).profiles()[profile]
    assert {name: getattr(settings, name) for name in PRINTED[model, profile]} == PRINTED[model, profile]


@pytest.mark.parametrize("model", MODELS)
def test_a_papers_profile_takes_nothing_from_the_defaults(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cls: Any = tagger_class(model)
    settings_class, given = cls.settings_class, []

    def record(**settings: Any) -> Any:
        given.append(set(settings))
        return settings_class(**settings)

    monkeypatch.setattr(import_module(cls.__module__), settings_class.__name__, record)
    papers = set(cls.profiles()) - {"default"}
    assert papers == {profile for name, profile in PRINTED if name == model}
    names = {field.name for field in fields(settings_class)}
    assert given.count(set()) == 1
    assert [names - chosen for chosen in given if chosen] == [set()] * len(papers)


def test_the_representation_of_friedrich2019_has_its_printed_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    # Of Table 2; the paper also tries sizes of 100 and 300, and up to 1,000 neighbours.
    printed = {**FRIEDRICH2019_TABLE_1, "size": 50, "neighbours": 100}
    printed |= {"losses": "average", "pairs": "one-sided", "procedure": "three-part"}  # sections 5.3 and 5.4
    given: list[dict[str, Any]] = []
    settings_class = representation.PrivateSettings
    monkeypatch.setattr(representation, "PrivateSettings", lambda **settings: given.append(settings))
    representation.profiles()
    (paper,) = filter(None, given)
    assert {name: paper[name] for name in printed} == printed
    assert set(paper) == {field.name for field in fields(settings_class)}


PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "papers.md"
DESCRIBED = {
    "yadav2016": ("elman",),
    "friedrich2019": ("",),
    "lange2020": ("multitask", "stacked"),
    "johnson2020": ("bert",),
}
"""Paper -> the models whose profiles its table on the page describes, the first that has a setting; "" for the
representation."""


@pytest.mark.parametrize("paper", DESCRIBED)
def test_the_page_has_the_settings_of_profile_and_default(paper: str) -> None:
    section = PAGE.read_text(encoding="utf-8").partition(f"## {paper}\n")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|`")]
    assert len(rows) >= 4
    described: list[Any] = [tagger_class(name) if name else representation for name in DESCRIBED[paper]]
    for name, *_, own, usual in rows:
        profiles = next(p for cls in described if hasattr((p := cls.profiles())[paper], name.split("`")[1]))
        for cell, profile in ((own, paper), (usual, "default")):
            value = str(getattr(profiles[profile], name.split("`")[1]))
            assert cell.removeprefix("\N{NOT EQUAL TO} ").split("`")[1] == value, f"{name} of {profile}"

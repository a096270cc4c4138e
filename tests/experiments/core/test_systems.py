"""Which systems and cells an experiment has, and what a sweep chooses."""

from __future__ import annotations

from typing import Any

import pytest

from crfdeid.errors import UnknownNameError
from crfdeid.registry import member_settings
from experiments.core.systems import (
    Cell,
    System,
    Variant,
    cell_traits,
    choose,
    make_ensemble,
    make_systems,
    make_tagger,
    make_variants,
    plain_cells,
    same_shape,
    settle,
    sweep_cells,
)

CRF, ELMAN, JORDAN = (System(name, name, None if name == "crf" else "random") for name in ("crf", "elman", "jordan"))


def test_one_embedding_leaves_the_names_alone() -> None:
    assert make_systems(["crf", "elman"], ["random"], {}) == [CRF, ELMAN]


def test_several_embeddings_are_in_the_names_of_what_takes_them() -> None:
    found = make_systems(["crf", "elman"], ["random", "cbow"], {})
    assert [(s.name, s.model, s.embedding) for s in found] == [
        ("crf", "crf", None),
        ("elman-random", "elman", "random"),
        ("elman-cbow", "elman", "cbow"),
    ]


def test_settings_go_to_the_models_that_have_them() -> None:
    crf, elman = make_systems(["crf", "elman"], ["random"], {"window": 5, "pos": "none"})
    assert crf.settings == (("pos", "none"),)
    assert elman.settings == (("window", 5),)


def test_a_setting_that_no_model_has_is_refused() -> None:
    with pytest.raises(UnknownNameError):
        make_systems(["crf"], ["random"], {"freeze_embeddings": True})


def test_a_model_without_anything_random_is_trained_once() -> None:
    assert plain_cells([CRF, ELMAN], [3, 1]) == [Cell(CRF, 3), Cell(ELMAN, 3), Cell(ELMAN, 1)]


def test_shares_of_the_training_documents_come_after_the_whole() -> None:
    assert plain_cells([ELMAN], [0], [0.5, 1.0, 0.1]) == [Cell(ELMAN, 0, share) for share in (1.0, 0.5, 0.1)]


def test_a_cells_name_is_its_seed_and_what_sets_it_apart() -> None:
    assert Cell(ELMAN, 3).name == "3"
    assert Cell(ELMAN, 3, 0.25).name == "3,fraction=0.25"
    assert Cell(ELMAN, 3, point=(("window", 7), ("hidden", 50))).name == "3,window=7,hidden=50"
    assert [cell.is_plain for cell in (Cell(ELMAN, 3), Cell(ELMAN, 3, 0.5), Cell(ELMAN, 3, point=(("lr", 1),)))] == [
        *(True, False, False)
    ]


def test_a_sweep_tries_every_combination_that_a_model_has() -> None:
    cells = sweep_cells([CRF, ELMAN], [0, 1], {"window": [7, 9], "hidden": [5, 6], "c1": [0.5]})
    assert [cell for cell in cells if cell.system == CRF] == [Cell(CRF, 0, point=(("c1", 0.5),))]
    tried = {(dict(c.point)["window"], dict(c.point)["hidden"], c.seed) for c in cells if c.system == ELMAN}
    assert tried == {(w, h, s) for w in (7, 9) for h in (5, 6) for s in (0, 1)}
    assert len(cells) == 9
    assert [cell for cell in sweep_cells([CRF, ELMAN], [0], {"hidden": [5]}) if cell.system == CRF] == []
    assert sweep_cells([CRF], [0], {}) == []


def test_a_sweep_over_what_no_model_has_is_refused() -> None:
    with pytest.raises(UnknownNameError):
        sweep_cells([CRF, ELMAN], [0], {"window": [7], "colour": ["red"]})


def test_the_best_mean_on_dev_is_chosen_and_the_first_of_equals() -> None:
    a, b, c = ((("window", w),) for w in (7, 9, 11))
    tried = {a: (0.9, 0.1), b: (0.6, 0.6), c: (0.6, 0.6)}
    scores = {Cell(ELMAN, seed, point=point): pair[seed] for point, pair in tried.items() for seed in (0, 1)}
    assert choose(scores) == {ELMAN: b}


def test_what_was_chosen_replaces_the_settings() -> None:
    given = System("elman", "elman", "random", (("window", 5), ("lr", 0.1)))
    settled = settle([CRF, given], {given: (("window", 9),)})
    assert settled == [CRF, System("elman", "elman", "random", (("window", 9), ("lr", 0.1)))]


def test_seeds_of_one_network_train_together() -> None:
    cells = plain_cells([CRF, ELMAN, JORDAN], [0, 1])
    assert same_shape(cells, cell_traits) == [
        [Cell(CRF, 0)],
        [Cell(ELMAN, 0), Cell(ELMAN, 1)],
        [Cell(JORDAN, 0), Cell(JORDAN, 1)],
    ]


def test_points_of_a_sweep_train_together_if_they_differ_in_numbers_that_a_step_reads() -> None:
    grid = {"lr": [0.1, 0.2], "max_norm": [1.0, None], "hidden": [5, 6], "c1": [0.1]}
    found = same_shape(sweep_cells([CRF, ELMAN, JORDAN], [0, 1], grid), cell_traits)
    assert [len(group) for group in found] == [1, 8, 8, 8, 8]
    assert all(len({(cell.system, dict(cell.point).get("hidden")) for cell in group}) == 1 for group in found)


def test_variants_train_together_unless_their_networks_or_vectors_differ() -> None:
    slow, wide = Variant("slow", "elman", (("lr", 0.01),)), Variant("wide", "elman", (("window", 13),))
    systems = make_variants([Variant("elman", "elman"), slow, wide], ["random", "cbow"], {})
    found = same_shape(plain_cells(systems, [0]), cell_traits)
    assert [[cell.system.name for cell in group] for group in found] == [
        ["elman-random", "slow-random"],
        ["elman-cbow", "slow-cbow"],
        ["wide-random"],
        ["wide-cbow"],
    ]


def test_a_model_made_of_a_network_is_trained_alone() -> None:
    cells = plain_cells([ELMAN, System("hybrid", "hybrid", None, (("member", "elman"),))], [0, 1])
    assert same_shape(cells, cell_traits) == [cells[::2], [cells[1]], [cells[3]]]


def test_what_learns_from_other_documents_is_never_trained_in_one_go() -> None:
    found = same_shape(plain_cells([ELMAN], [0, 1], [0.5]), cell_traits)
    assert [[(cell.fraction, cell.seed) for cell in group] for group in found] == [
        [(1.0, 0), (1.0, 1)],
        [(0.5, 0), (0.5, 1)],
    ]


def test_an_ensemble_hands_settings_on_to_its_members():
    system = make_ensemble(["crf", "elman"], "vote", {"epochs": 3, "pos": "none"})
    assert (system.name, system.model) == ("vote", "ensemble")
    settings = make_tagger(Cell(system, 0), "paper", {}).settings
    assert (settings.members, settings.combine, settings.profile) == (("crf", "elman"), "vote", "yadav2016")
    assert settings.options == {"epochs": 3, "pos": "none"}


def test_members_take_what_a_sweep_chose_for_their_models() -> None:
    settings: dict[str, Any] = {"epochs": 3}
    vote = make_ensemble(["crf", "elman", "jordan"], "vote", settings)
    random, cbow = (System(f"elman-{name}", "elman", name, (("epochs", 3),)) for name in ("random", "cbow"))
    cells = sweep_cells([CRF, cbow, random, vote], [0], {"hidden": [5, 6], "c1": [0.5]})
    assert {cell.system for cell in cells} == {CRF, cbow, random}
    chosen = {CRF: (("c1", 0.5),), cbow: (("hidden", 5),), random: (("hidden", 6),)}
    *_, settled = settle([CRF, cbow, random, vote], chosen)
    found = make_tagger(Cell(settled, 0), "default", {}).settings
    own = dict(member_settings(found))
    assert (own["crf"].c1, own["elman"].hidden, own["elman"].epochs) == (0.5, 6, 3)
    assert own["jordan"].hidden == make_tagger(Cell(JORDAN, 0), "default", {}).settings.hidden
    *_, settled = settle([cbow, vote], {cbow: (("hidden", 5),)})
    assert dict(member_settings(make_tagger(Cell(settled, 0), "default", {}).settings))["elman"].hidden == 5


def test_a_variants_own_settings_take_precedence_over_the_shared_ones() -> None:
    variants = [Variant("wide", "elman", (("window", 11),)), Variant("usual", "elman"), Variant("plain", "crf")]
    found = make_variants(variants, ["random", "cbow"], {"window": 7})
    assert {system.name: dict(system.settings) for system in found} == {
        "wide-random": {"window": 11},
        "wide-cbow": {"window": 11},
        "usual-random": {"window": 7},
        "usual-cbow": {"window": 7},
        "plain": {},
    }

"""The report's sentences, against numbers set by hand."""

from __future__ import annotations

import copy
import shlex
from typing import Any

import pytest
from samples import as_results, as_view, rich_view

from experiments.core.command import parse
from experiments.reporting.files import command_line, provenance
from experiments.reporting.findings import cautions, probability, ranking, sentences

SAMPLE = rich_view(("crf", "elman-random", "elman-cbow", "jordan-cbow"), (0, 1))


@pytest.fixture
def view() -> dict[str, Any]:
    """Four systems with these F: crf 0.90, elman-random 0.80, elman-cbow 0.85, jordan-cbow 0.88; no pair holds."""
    found = copy.deepcopy(SAMPLE)
    for system, f1 in {"crf": 0.90, "elman-random": 0.80, "elman-cbow": 0.85, "jordan-cbow": 0.88}.items():
        for run in found["systems"][system]["runs"]:
            run["scores"]["entity_strict"]["micro"]["f1"] = f1
            run["scores"]["token_binary"]["micro"]["recall"] = f1 + (0.09 if system == "elman-cbow" else 0)
    for pair in found["comparison"]["pairs"]:
        pair["p_holm"] = 0.2
    found["comparison"]["intervals"]["crf"]["Overall"] = {"f1": 0.9, "low": 0.87654, "high": 0.92}
    return found


def set_p(view: dict[str, Any], p: float, *systems: str) -> None:
    for pair in view["comparison"]["pairs"]:
        if pair["category"] == "Overall" and {pair["a"], pair["b"]} == set(systems):
            pair["p_holm"] = p


def test_the_best_is_first_with_its_interval(view):
    assert [standing.system for standing in ranking(as_view(view))] == [
        "crf",
        "jordan-cbow",
        "elman-cbow",
        "elman-random",
    ]
    assert "Best overall: crf, strict entity F 90.00 % (95 % interval 87.65 to 92.00)." in sentences(as_view(view))
    assert ranking(as_view(view))[2].behind == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("held", "said"),
    [
        ([], "Its lead over jordan-cbow, elman-cbow and elman-random may be chance: the data do not decide"),
        (["elman-random"], "Its lead over elman-random holds; over jordan-cbow and elman-cbow it may be chance (appr"),
        (
            ["elman-random", "elman-cbow", "jordan-cbow"],
            "Its lead over every one of jordan-cbow, elman-cbow and elman-",
        ),
    ],
)
def test_only_a_difference_that_the_test_bears_out_is_said_to_hold(view, held, said):
    for system in held:
        set_p(view, 0.05, "crf", system)  # at the level: holds
    assert any(sentence.startswith(said) for sentence in sentences(as_view(view)))


def test_a_difference_in_one_type_alone_is_not_a_lead(view):
    for pair in view["comparison"]["pairs"]:
        if pair["category"] != "Overall":
            pair["p_holm"] = 0.0
    assert all(standing.holds in (False, None) for standing in ranking(as_view(view)))


def test_the_paper_s_order_is_held_against_ours_each_model_with_its_best_embedding_on_dev(view):
    set_p(view, 0.01, "elman-random", "elman-cbow")
    for system, f1 in {"elman-random": 0.7, "elman-cbow": 0.8}.items():
        for run in view["systems"][system]["runs"]:
            run["dev_f1"] = f1
    said = sentences(as_view(view))
    assert (
        "The order of models in yadav2016, crf < elman < jordan, is not the same here: "
        "crf > elman-cbow (may be chance), elman-cbow < jordan-cbow (may be chance)." in said
    )
    assert (
        "The order of embeddings for elman in yadav2016, random < cbow, is the same here: "
        "elman-random < elman-cbow (holds)." in said
    )
    assert not any("embeddings for jordan" in sentence for sentence in said)
    for run in view["systems"]["elman-cbow"]["runs"]:
        run["dev_f1"] = 0.6
    chosen_on_dev = "crf > elman-random (may be chance), elman-random < jordan-cbow (may be chance)."
    assert any(sentence.endswith(chosen_on_dev) for sentence in sentences(as_view(view)))


def test_what_would_leak_is_said_of_the_best_and_of_the_safest(view):
    assert (
        "What would leak: crf leaves 10.00 % of the PHI's tokens unmarked; elman-cbow leaves the least, 6.00 %."
        in sentences(as_view(view))
    )


def test_one_system_without_a_test_has_no_lead(view):
    view |= {"systems": {"crf": view["systems"]["crf"]}, "comparison": None}
    said = sentences(as_view(view))
    assert said[0].startswith("1 system was scored on the test split of invented: 60 documents with 1,234 marked")
    assert not any("lead" in sentence or "order" in sentence for sentence in said)
    assert "What would leak: crf leaves 10.00 % of the PHI's tokens unmarked." in said


def test_a_type_that_gold_lacks_is_not_called_the_hardest(view):
    del view["dataset"]["splits"]["test"]["spans_by_type"]["PHONE"]
    for run in view["systems"]["crf"]["runs"]:
        run["scores"]["entity_strict"]["by_type"]["PHONE"]["f1"] = 0.0
        run["scores"]["entity_strict"]["by_type"]["LOCATION"]["f1"] = 0.01
    assert any(
        sentence.startswith("Hardest type for crf: LOCATION (F 1.00 %)") for sentence in sentences(as_view(view))
    )


def test_cautions_name_synthetic_text_notices_lost_entities_and_single_runs(view):
    view["dataset"]["notices"] = ["No --test: all scores are on the development set."]
    said = " ".join(cautions(as_results(view)))
    assert "all scores are on the development set" in said
    assert "2 of the scored entities fit no tokens" in said
    assert "synthetic" not in said
    assert "trained once" not in said
    view["dataset"]["format"] = "synthetic"
    for system in view["systems"].values():
        del system["runs"][1:]
    said = " ".join(cautions(as_results(view)))
    assert "The corpus is synthetic" in said
    assert "trained once" in said


@pytest.mark.parametrize(("p", "text"), [(0.0, "< 0.001"), (0.00099, "< 0.001"), (0.0314, "0.031"), (1.0, "1.000")])
def test_p_values_are_never_rounded_to_nothing(p, text):
    assert probability(p) == text


def test_the_command_can_be_typed_again(view):
    command = {
        "models": ["crf", "elman"],
        "seeds": [0],
        "train": "my notes/train",
        "dev": None,
        "window": 0,
        "freeze_embeddings": True,
        "fractions": [],
        "sweep": [["window", [7, 9]], ["hidden", [50]]],
        "unlabelled": ["a.txt", "b.txt"],
    }
    assert command_line(command, "compare") == (
        "python -m experiments.compare --models crf,elman --seeds 0, --train 'my notes/train' --window 0 "
        "--freeze-embeddings --sweep window=7,9 hidden=50 --unlabelled a.txt b.txt"
    )
    view["command"] = command | {"seeds": [0, 1]}
    facts = dict(provenance(as_results(view)))
    assert facts["Commit"] == view["environment"]["commit"]
    assert facts["Corpus hash (SHA-256)"] == "ab" * 32
    assert "jax 0.6.0" in facts["Packages"]


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--models", "elman", "--seeds", "3,", "--sweep", "window=7,9", "hidden=50", "--freeze-embeddings"],
        ["--sweep", "fold_digits=true,false", "max_norm=null,5", "--set", "decoding=argmax", "word_dropout=1.5"],
        ["--profile", "paper", "--models", "crf,elman", "--combine", "vote"],
        [
            "--embeddings",
            "random,cbow",
            "--seeds",
            "4",
            "--fractions",
            "0.1,0.5",
            "--corpus-seed",
            "0",
            "--window",
            "0",
        ],
    ],
)
def test_the_command_s_options_read_back_as_they_were(words):
    asked = parse("compare", words)
    assert parse("compare", shlex.split(command_line(asked.command, "compare"))[3:]) == asked

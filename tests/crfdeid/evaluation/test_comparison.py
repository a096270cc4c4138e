import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from crfdeid.documents import Document, Span
from crfdeid.errors import DataError, UnknownNameError, UsageError
from crfdeid.evaluation import (
    bootstrap_f1,
    document_counts,
    holm,
    percentile_interval,
    randomisation_test,
    score_entities,
)
from crfdeid.evaluation.significance import compare_counts, compare_systems

TEXT = "x" * 40
LABELS = ("DATE", "PATIENT", "AGE", "DOCTOR", "ZIP")
FEW = {"permutations": 200, "samples": 200}


def corpus(documents=20, seed=0):
    rng = np.random.default_rng(seed)
    return [
        Document(f"n{i}", TEXT, tuple(Span(5 * k, 5 * k + 4, str(rng.choice(LABELS))) for k in range(6)))
        for i in range(documents)
    ]


def run(gold, seed, miss=0.3):
    """One training: some spans missed, some a character short, some of a type that gold does not have."""
    rng = np.random.default_rng(seed)
    return {
        document.id: [
            Span(span.start, span.end - (rng.random() < miss / 2), "NEW" if rng.random() < 0.05 else span.label)
            for span in document.spans
            if rng.random() > miss
        ]
        for document in gold
    }


GOLD = corpus()
SYSTEMS = {
    "crf": [run(GOLD, 1, 0.2)],
    "elman": [run(GOLD, seed, 0.4) for seed in (2, 3, 4)],
    "jordan": [run(GOLD, seed, 0.35) for seed in (5, 6)],
}


@pytest.fixture(scope="module")
def found():
    return compare_systems(GOLD, SYSTEMS, **FEW)


def test_it_is_plain_data_with_everything_that_the_test_and_the_intervals_depend_on(found):
    assert found.keys() == {
        *("test", "permutations", "samples", "seed", "level", "measure", "pairs", "intervals"),
    }
    assert list(found["pairs"][0]) == [
        *("a", "b", "category", "f1_a", "f1_b", "difference", "low", "high", "p", "p_holm"),
    ]
    assert list(found["intervals"]["crf"]["Overall"]) == ["f1", "low", "high"]
    assert (found["permutations"], found["samples"], found["level"], found["seed"]) == (200, 200, 0.05, 0)
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_all_pairs_in_the_order_of_the_systems_for_each_category(found):
    categories = ["Overall", "PATIENT", "DOCTOR", "DATE", "AGE", "ZIP"]
    pairs = [(pair["category"], pair["a"], pair["b"]) for pair in found["pairs"]]
    assert pairs == [
        (category, *names) for category in categories for names in itertools.combinations(("crf", "elman", "jordan"), 2)
    ]
    assert {name: list(values) for name, values in found["intervals"].items()} == dict.fromkeys(SYSTEMS, categories)


def test_f_of_one_run_is_the_score(found):
    scores = score_entities(GOLD, SYSTEMS["crf"][0])
    f1 = {"Overall": scores.micro.f1} | {label: scores.by_type[label].f1 for label in LABELS}
    assert {name: value["f1"] for name, value in found["intervals"]["crf"].items()} == f1
    assert all(pair["f1_a"] == f1[pair["category"]] for pair in found["pairs"] if pair["a"] == "crf")


def test_f_of_several_runs_is_that_of_their_averaged_counts(found):
    micro = [score_entities(GOLD, predicted).micro for predicted in SYSTEMS["elman"]]
    tp, fp, fn = (np.mean([getattr(counts, name) for counts in micro]) for name in ("tp", "fp", "fn"))
    assert found["intervals"]["elman"]["Overall"]["f1"] == pytest.approx(2 * tp / (2 * tp + fp + fn))


def test_pairs_and_intervals_agree_with_each_other(found):
    for pair in found["pairs"]:
        a, b = (found["intervals"][pair[side]][pair["category"]] for side in "ab")
        assert (pair["f1_a"], pair["f1_b"]) == (a["f1"], b["f1"])
        assert pair["difference"] == b["f1"] - a["f1"]
        assert pair["low"] <= pair["high"]


def test_numbers_are_those_of_the_averaged_counts(found):
    types = ["PATIENT", "DOCTOR", "DATE", "AGE", "ZIP"]
    means = {
        name: np.mean([document_counts(GOLD, predicted, types) for predicted in runs], axis=0)
        for name, runs in SYSTEMS.items()
    }
    for a, b in itertools.combinations(SYSTEMS, 2):
        rows = [pair for pair in found["pairs"] if (pair["a"], pair["b"]) == (a, b)]
        p = randomisation_test(means[a], means[b], permutations=200)
        resampled = [bootstrap_f1(means[name], samples=200) for name in (a, b)]
        low, high = percentile_interval(resampled[1] - resampled[0])
        assert [row["p"] for row in rows] == p.tolist()
        # The bootstrap of documents alone; seeds make an interval wider.
        widths = np.array([row["high"] - row["low"] for row in rows])
        assert (widths >= 0.9 * (high - low)).all() and widths.sum() > (high - low).sum()


def test_an_interval_of_one_run_is_the_bootstraps():
    counts = document_counts(GOLD, SYSTEMS["crf"][0], ["DATE"])
    found = compare_systems(GOLD, {"crf": SYSTEMS["crf"]}, **FEW)["intervals"]["crf"]["Overall"]
    low, high = percentile_interval(bootstrap_f1(counts, samples=200))
    assert (found["low"], found["high"]) == (low[0], high[0])


def simulated(rng, seeds, notes=100, entities=10):
    """Runs of a model whose F is 0.8 on average over seeds and notes: as many false alarms as misses are expected."""
    of_note = rng.uniform(-0.1, 0.1, notes)
    runs = []
    for of_seed in rng.normal(0.0, 0.02, seeds):
        p = 0.8 + of_seed + of_note
        hits, alarms = rng.binomial(entities, p), rng.binomial(entities, 1 - p)
        runs.append(np.stack([hits, alarms, entities - hits], axis=1)[:, None])
    return runs


@pytest.mark.parametrize("seeds", [3, 5])
def test_intervals_cover_seeds_and_notes(seeds):
    """Of 400 simulated experiments; the bootstrap of notes alone covers far fewer."""
    rng, covered, by_notes = np.random.default_rng(0), [], []
    for _ in range(400):
        runs = simulated(rng, seeds)
        found = compare_counts({"it": runs}, samples=400)["intervals"]["it"]["Overall"]
        low, high = percentile_interval(bootstrap_f1(sum(runs), samples=400))
        covered.append(found["low"] <= 0.8 <= found["high"])
        by_notes.append(low[0] <= 0.8 <= high[0])
    assert np.mean(covered) >= 0.93
    assert np.mean(by_notes) <= 0.85


def test_holms_family_is_the_pairs_of_one_category(found):
    for _, rows in itertools.groupby(found["pairs"], key=lambda pair: pair["category"]):
        family = list(rows)
        assert [row["p_holm"] for row in family] == holm([row["p"] for row in family]).tolist()
        assert len(family) == 3


def without_family(pairs):
    return [{name: value for name, value in pair.items() if name != "p_holm"} for pair in pairs]


def test_a_pair_does_not_depend_on_the_other_systems(found):
    # Without the system of three runs, or with one of five more, the averages have other denominators.
    more = {"five": [run(GOLD, seed) for seed in range(5)], **SYSTEMS}
    for systems in ({name: SYSTEMS[name] for name in ("crf", "jordan")}, more):
        pairs = compare_systems(GOLD, systems, **FEW)["pairs"]
        assert without_family(pair for pair in pairs if (pair["a"], pair["b"]) == ("crf", "jordan")) == without_family(
            pair for pair in found["pairs"] if (pair["a"], pair["b"]) == ("crf", "jordan")
        )


def test_the_other_way_round_only_signs_change(found):
    turned = compare_systems(GOLD, dict(reversed(SYSTEMS.items())), **FEW)
    mirror = {(pair["a"], pair["b"], pair["category"]): pair for pair in turned["pairs"]}
    for pair in found["pairs"]:
        other = mirror[pair["b"], pair["a"], pair["category"]]
        assert other["p"] == pair["p"]
        assert other["difference"] == -pair["difference"]
        assert (other["low"], other["high"]) == pytest.approx((-pair["high"], -pair["low"]))
    assert {name: turned["intervals"][name] for name in SYSTEMS} == found["intervals"]


def test_twice_the_same_and_another_seed_another_draw(found):
    assert compare_systems(GOLD, SYSTEMS, **FEW) == found
    other = compare_systems(GOLD, SYSTEMS, **FEW, seed=1)
    assert other["intervals"] != found["intervals"]
    assert [pair["p"] for pair in other["pairs"]] != [pair["p"] for pair in found["pairs"]]


def test_the_order_of_runs_changes_nothing(found):
    turned = {name: runs[::-1] for name, runs in SYSTEMS.items()}
    assert compare_systems(GOLD, turned, **FEW) == found


@hypothesis_settings(max_examples=20)
@given(st.integers(1, 6), st.integers(0, 9))
def test_the_same_output_under_two_names_never_differs(documents, seed):
    gold = corpus(documents, seed)
    found = compare_systems(gold, {"a": [run(gold, seed)], "b": [run(gold, seed)] * 2}, permutations=20, samples=20)
    for pair in found["pairs"]:
        assert (pair["difference"], pair["low"], pair["high"], pair["p"], pair["p_holm"]) == (0, 0, 0, 1, 1)


def test_a_better_system_is_told_from_a_worse_one():
    found = compare_systems(GOLD, {"good": [run(GOLD, 1, 0.05)], "bad": [run(GOLD, 2, 0.7)]}, samples=200)
    overall = found["pairs"][0]
    assert overall["p"] < 0.001
    assert overall["low"] < overall["difference"] < overall["high"] < 0


def test_one_system_has_intervals_and_no_pairs():
    found = compare_systems(GOLD, {"crf": SYSTEMS["crf"]}, **FEW)
    assert found["pairs"] == []
    assert list(found["intervals"]) == ["crf"]


def test_gold_without_entities_has_one_category():
    gold = [Document("n1", TEXT)]
    found = compare_systems(gold, {"quiet": [{"n1": []}], "loud": [{"n1": [Span(0, 3, "DATE")]}]}, **FEW)
    assert [pair["category"] for pair in found["pairs"]] == ["Overall"]
    assert found["intervals"]["loud"] == {"Overall": {"f1": 0.0, "low": 0.0, "high": 0.0}}


def test_a_wider_level_gives_narrower_intervals(found):
    narrow = compare_systems(GOLD, SYSTEMS, **FEW, level=0.5)
    for inner, outer in (
        (narrow["intervals"]["elman"]["Overall"], found["intervals"]["elman"]["Overall"]),
        (narrow["pairs"][0], found["pairs"][0]),
    ):
        assert outer["low"] < inner["low"] < inner["high"] < outer["high"]


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(UnknownNameError):
        compare_systems(GOLD, {**SYSTEMS, "elman": []}, **FEW)
    with pytest.raises(DataError, match="no prediction for this document"):
        compare_systems(GOLD, {"crf": [{}]}, **FEW)
    with pytest.raises(DataError, match="no documents"):
        compare_systems([], {"crf": [{}]}, **FEW)
    with pytest.raises(UsageError, match="permutations 0"):
        compare_systems(GOLD, SYSTEMS, permutations=0, samples=20)
    with pytest.raises(UsageError, match="level 5"):
        compare_systems(GOLD, SYSTEMS, **FEW, level=5)

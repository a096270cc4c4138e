import doctest
import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from crfdeid.documents import Document, Span
from crfdeid.errors import DataError, EmptyInputError, SettingError
from crfdeid.evaluation import (
    Counts,
    bootstrap_f1,
    document_counts,
    f1_scores,
    holm,
    percentile_interval,
    randomisation_test,
    score_entities,
    significance,
)

TEXT = "x" * 24
TYPES = ("DATE", "DOCTOR", "ID")

spans = st.builds(
    lambda start, size, label: Span(start, min(len(TEXT), start + size), label),
    st.integers(0, len(TEXT) - 1),
    st.integers(1, 4),
    st.sampled_from(TYPES),
)
corpora = st.lists(st.tuples(st.lists(spans, max_size=6), st.lists(spans, max_size=6)), max_size=5)


def count_arrays(max_documents=7, categories=2, min_documents=1):
    """Pairs of systems' counts on the same documents."""
    return st.integers(min_documents, max_documents).flatmap(
        lambda n: st.tuples(*[arrays(np.int64, (n, categories, 3), elements=st.integers(0, 3))] * 2)
    )


def some_counts(documents, *, miss=0.3, categories=1, seed=0):
    """A system that finds most of four entities a document, and some that are not there."""
    rng = np.random.default_rng(seed)
    tp = rng.binomial(4, 1 - miss, (documents, categories))
    return np.stack([tp, rng.binomial(2, miss, tp.shape), 4 - tp], axis=-1)


def exact_f1(rows):
    """F of counts added up, as a fraction."""
    tp, fp, fn = (sum(column) for column in zip(*rows, strict=True))
    whole = 2 * tp + fp + fn
    return Fraction(2 * tp, whole) if whole else Fraction(0)


def enumerated_p(a, b):
    """p of one category by trying every exchange, in exact arithmetic."""
    a, b = ([tuple(int(value) for value in row) for row in counts] for counts in (a, b))
    observed = abs(exact_f1(a) - exact_f1(b))
    extreme = total = 0
    for exchanged in itertools.product([False, True], repeat=len(a)):
        first = [y if swap else x for x, y, swap in zip(a, b, exchanged, strict=True)]
        second = [x if swap else y for x, y, swap in zip(a, b, exchanged, strict=True)]
        extreme += abs(exact_f1(first) - exact_f1(second)) >= observed
        total += 1
    return extreme / total


# Counts of documents


def as_corpus(pairs):
    gold = [Document(f"n{i}", TEXT, tuple(marked)) for i, (marked, _) in enumerate(pairs)]
    return gold, {f"n{i}": found for i, (_, found) in enumerate(pairs)}


@given(corpora)
def test_the_documents_counts_add_up_to_the_score(pairs):
    gold, predicted = as_corpus(pairs)
    counts = document_counts(gold, predicted, TYPES)
    scores = score_entities(gold, predicted)
    expected = [scores.micro, *(scores.by_type.get(label, Counts()) for label in TYPES)]
    assert counts.sum(axis=0).tolist() == [[c.tp, c.fp, c.fn] for c in expected]
    assert f1_scores(counts.sum(axis=0)).tolist() == [c.f1 for c in expected]


def test_rows_follow_gold_and_types_their_order():
    gold = [Document("n1", TEXT, (Span(0, 2, "ID"),)), Document("n2", TEXT, (Span(3, 4, "DATE"), Span(5, 6, "ID")))]
    predicted = {"n2": [Span(3, 4, "DATE"), Span(5, 7, "ID")], "n1": []}
    assert document_counts(gold, predicted, ["ID", "DATE"]).tolist() == [
        [[0, 0, 1], [0, 0, 1], [0, 0, 0]],
        [[1, 1, 1], [0, 1, 1], [1, 0, 0]],
    ]


def test_a_type_that_is_not_asked_for_counts_overall():
    counts = document_counts([Document("n1", TEXT)], {"n1": [Span(0, 2, "ID")]}, ["DATE"])
    assert counts.tolist() == [[[0, 1, 0], [0, 0, 0]]]


@pytest.mark.parametrize("predicted", [{}, {"n1": [], "n2": []}, {"n1": [Span(0, 99, "ID")]}])
def test_predictions_for_other_documents_or_texts_are_refused(predicted):
    with pytest.raises(DataError):
        document_counts([Document("n1", TEXT)], predicted, TYPES)


# The test of a difference


@given(count_arrays())
def test_few_documents_give_the_exact_p(pair):
    a, b = pair
    assert randomisation_test(a, b, permutations=128).tolist() == [enumerated_p(a[:, c], b[:, c]) for c in range(2)]


@given(count_arrays(min_documents=2, max_documents=6, categories=1))
def test_exact_p_agrees_with_scipy(pair):
    a, b = pair
    both = np.concatenate([a[:, 0], b[:, 0]])

    def difference(rows, others):
        return abs(f1_scores(both[rows.astype(int)].sum(axis=0)) - f1_scores(both[others.astype(int)].sum(axis=0)))

    rows = np.arange(len(a))  # scipy exchanges single numbers, so give it those of the rows
    expected = stats.permutation_test(
        (rows, rows + len(a)),
        difference,
        permutation_type="samples",
        vectorized=False,
        n_resamples=np.inf,
        alternative="greater",
    )
    assert randomisation_test(a, b).item() == pytest.approx(expected.pvalue)


@pytest.mark.parametrize(("miss", "documents"), [(0.32, 15), (0.45, 15)])
def test_drawn_exchanges_come_near_the_exact_p(miss, documents):
    a, b = some_counts(documents), some_counts(documents, miss=miss, seed=1)
    exact = enumerated_p(a[:, 0], b[:, 0])
    drawn = randomisation_test(a, b, permutations=4_000).item()
    assert drawn * 4_001 == pytest.approx(round(drawn * 4_001))  # drawn, not enumerated
    assert abs(drawn - exact) < 4 * (exact * (1 - exact) / 4_000) ** 0.5 + 1 / 4_000


def test_enumeration_begins_where_it_costs_no_more_than_drawing():
    a, b = some_counts(10), some_counts(10, miss=0.6, seed=1)
    changed = int((f1_terms(a) != f1_terms(b)).any(axis=(1, 2)).sum())
    exact = enumerated_p(a[:, 0], b[:, 0])
    assert randomisation_test(a, b, permutations=2**changed).item() == exact
    drawn = randomisation_test(a, b, permutations=2**changed - 1).item() * 2**changed
    assert drawn == round(drawn) >= 1


def f1_terms(counts):
    return np.stack([counts[..., 0], counts[..., 1] + counts[..., 2]], axis=-1)


def test_a_clear_difference_is_as_significant_as_draws_can_show():
    right, wrong = np.array([[[3, 0, 0]]] * 40), np.array([[[0, 3, 3]]] * 40)
    assert randomisation_test(right, wrong, permutations=999).item() == 1 / 1000


@pytest.mark.parametrize(("won", "lost"), [(9, 3), (40, 16)])
def test_one_entity_a_document_is_the_sign_test(won, lost):
    # Each is found by one system or by the other: F differs by the number of documents won alone.
    a = np.array([[[1, 0, 0]]] * won + [[[0, 1, 1]]] * lost)
    b = np.array([[[0, 1, 1]]] * won + [[[1, 0, 0]]] * lost)
    p = randomisation_test(a, b, permutations=20_000).item()
    assert p == pytest.approx(stats.binomtest(won, won + lost).pvalue, abs=0.0012)  # 4 deviations of the draws


@given(count_arrays(max_documents=12), st.integers(1, 200), st.integers(0, 3))
def test_p_is_a_probability_and_does_not_depend_on_the_order_of_the_systems(pair, permutations, seed):
    a, b = pair
    p = randomisation_test(a, b, permutations=permutations, seed=seed)
    assert ((p > 0) & (p <= 1)).all()
    assert p.tolist() == randomisation_test(b, a, permutations=permutations, seed=seed).tolist()
    assert p.tolist() == randomisation_test(2 * a, 2 * b, permutations=permutations, seed=seed).tolist()
    assert randomisation_test(a, a, permutations=permutations, seed=seed).tolist() == [1.0, 1.0]


@given(count_arrays(max_documents=12), st.integers(1, 3))
def test_documents_that_both_systems_treat_alike_change_no_draw(pair, alike):
    a, b = (np.concatenate([counts, np.zeros((alike, 2, 3), int)]) for counts in pair)
    assert randomisation_test(a, b, permutations=50).tolist() == randomisation_test(*pair, permutations=50).tolist()


def test_equal_differences_count_as_equal():
    # Thirds, as means over three trainings give them: added up in another order they differ in the last digit.
    a, b = some_counts(9), some_counts(9, miss=0.5, seed=1)
    expected = enumerated_p(a[:, 0], b[:, 0])
    assert randomisation_test(a / 3, b / 3).item() == expected
    assert randomisation_test(a / 7, b / 7).item() == expected


def test_what_rounding_leaves_over_is_no_entity():
    left_over = 0.1 + 0.2 - 0.3
    assert left_over > 0
    assert f1_scores(np.array([left_over, 0, 0])) == 0


def test_the_same_seed_gives_the_same_p_and_another_seed_another():
    a, b = some_counts(30), some_counts(30, miss=0.35, seed=1)
    by_seed = [randomisation_test(a, b, permutations=500, seed=seed).item() for seed in (0, 0, 1, 2, 3)]
    assert by_seed[0] == by_seed[1]
    assert len(set(by_seed)) > 1


def test_a_category_does_not_depend_on_the_others():
    a, b = some_counts(30, categories=3), some_counts(30, miss=0.35, categories=3, seed=1)
    together = randomisation_test(a, b, permutations=500)
    assert randomisation_test(a[:, 2:], b[:, 2:], permutations=500).item() == together[2]


def test_small_pieces_give_the_same_numbers(monkeypatch):
    a, b = some_counts(30, categories=2), some_counts(30, miss=0.35, categories=2, seed=1)
    few = a[:8], b[:8]

    def all_numbers():
        tests = randomisation_test(a, b, permutations=500), randomisation_test(*few)
        return [found.tolist() for found in (*tests, bootstrap_f1(a, samples=500))]

    whole = all_numbers()
    monkeypatch.setattr(significance, "_MAX_CELLS", 100)
    assert all_numbers() == whole


# Intervals


@hypothesis_settings(max_examples=25)
@given(count_arrays(), st.integers(0, 3))
def test_the_bootstrap_agrees_with_a_plain_loop(pair, seed):
    systems = np.stack(pair, axis=1)  # [N, 2 systems, 2 categories, 3]
    drawn = np.random.default_rng(seed).integers(len(systems), size=(20, len(systems)))
    found = bootstrap_f1(systems, samples=20, seed=seed)
    for row, indices in zip(found, drawn.tolist(), strict=True):
        for s, c in itertools.product(range(2), range(2)):
            assert row[s, c] == float(exact_f1([systems[i, s, c].tolist() for i in indices]))


def test_systems_on_the_same_documents_get_the_same_resamples():
    a, b = some_counts(30), some_counts(30, miss=0.35, seed=1)
    together = bootstrap_f1(np.stack([a, b], axis=1), samples=200)
    assert (together[:, 0] == bootstrap_f1(a, samples=200)).all()
    assert (together[:, 1] == bootstrap_f1(b, samples=200)).all()


def test_the_bootstrap_agrees_with_scipys_percentiles():
    counts = some_counts(40)[:, 0]
    found = percentile_interval(bootstrap_f1(counts, samples=9_000), level=0.1)
    expected = stats.bootstrap(
        (np.arange(40),),
        lambda rows: f1_scores(counts[rows].sum(axis=0)),
        vectorized=False,
        method="percentile",
        confidence_level=0.9,
        n_resamples=3_000,
        rng=np.random.default_rng(5),
    ).confidence_interval
    assert found == pytest.approx((expected.low, expected.high), abs=0.005)


@given(count_arrays(), st.sampled_from([0.01, 0.05, 0.5]))
def test_an_interval_lies_among_what_can_happen(pair, level):
    a, _ = pair
    found = bootstrap_f1(a, samples=60)
    low, high = percentile_interval(found, level=level)
    assert ((low >= 0) & (low <= high) & (high <= 1)).all()
    assert ((low <= np.median(found, axis=0)) & (np.median(found, axis=0) <= high)).all()
    # F of many documents is no better than the best of them.
    for c in range(2):
        assert found[:, c].max() <= f1_scores(a[:, c]).max() + 1e-12


@given(count_arrays())
def test_a_system_does_not_differ_from_itself(pair):
    a, _ = pair
    low, high = percentile_interval(bootstrap_f1(a, samples=40) - bootstrap_f1(a, samples=40))
    assert (low == 0).all()
    assert (high == 0).all()


def test_one_document_leaves_nothing_to_draw():
    counts = np.array([[[2, 1, 1]]])
    low, high = percentile_interval(bootstrap_f1(counts, samples=50))
    assert low == high == f1_scores(counts[0])


def test_intervals_of_new_corpora_hold_the_truth_about_as_often_as_they_say():
    truth = f1_scores(some_counts(20_000, seed=99).sum(axis=0)).item()
    held = 0
    for seed in range(200):
        low, high = percentile_interval(bootstrap_f1(some_counts(60, seed=seed), samples=400, seed=seed), level=0.1)
        held += low.item() <= truth <= high.item()
    assert 165 <= held <= 195  # 180 are expected, with a standard deviation of 4.2


def test_p_of_systems_that_do_not_differ_is_small_as_often_as_it_says():
    p = np.array(
        [
            randomisation_test(some_counts(40, seed=2 * k), some_counts(40, seed=2 * k + 1), permutations=199).item()
            for k in range(400)
        ]
    )
    assert 5 <= np.count_nonzero(p <= 0.05) <= 35  # 20 are expected, with a standard deviation of 4.4
    assert 160 <= np.count_nonzero(p <= 0.5) <= 240  # 200, 10


# Holm's correction


def test_holm_on_a_worked_example():
    # 4 x 0.005, 3 x 0.01, 2 x 0.03, 1 x 0.04 raised to the one before.
    assert holm([0.01, 0.04, 0.03, 0.005]).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.7, 0.9]).tolist() == [1, 1]


@given(st.lists(st.floats(0.0001, 1), max_size=8))
def test_holm_rejects_step_by_step(p):
    corrected = holm(p)
    assert corrected.shape == (len(p),)
    for alpha in (0.01, 0.05, 0.2):
        rejected = set()
        for rank, i in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
            if p[i] * (len(p) - rank) > alpha:
                break
            rejected.add(i)
        assert {i for i, value in enumerate(corrected) if value <= alpha} == rejected


# What is refused


def test_numbers_that_make_no_sense_are_refused():
    a = some_counts(3)
    with pytest.raises(SettingError):
        randomisation_test(a, a, permutations=0)
    with pytest.raises(SettingError):
        bootstrap_f1(a, samples=0)
    with pytest.raises(EmptyInputError):
        bootstrap_f1(a[:0])
    with pytest.raises(ValueError, match="same documents"):
        randomisation_test(a, a[:2])


@pytest.mark.parametrize("level", [0, 1, 5, -0.1, float("nan")])
def test_a_level_is_a_share(level):
    with pytest.raises(SettingError):
        percentile_interval(np.zeros(3), level=level)


def test_docstring_examples_run():
    failed, tried = doctest.testmod(significance)
    assert tried > 0
    assert failed == 0

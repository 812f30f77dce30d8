"""What holds for the scores whatever the labels."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from manyviews.metrics import evaluate, nmi_score, purity_score
from manyviews.metrics.contingency import contingency_table
from manyviews.metrics.matching import _solve_sparse, _take_dominant, matched_count

AVERAGES = ("geometric", "max", "arithmetic", "min")


@st.composite
def labellings(draw):
    n = draw(st.integers(1, 40))
    column = st.lists(st.integers(-3, draw(st.integers(-3, 8))), min_size=n, max_size=n)
    return np.array(draw(column)), np.array(draw(column))


@given(labellings())
def test_bounds(pair):
    scores = evaluate(*pair)
    assert -0.5 - 1e-12 <= scores.pop("ari") <= 1
    assert all(0 <= score <= 1 for score in scores.values())
    assert 0 < scores["acc"] <= scores["purity"]


@given(labellings(), st.permutations(range(-3, 9)))
def test_names_of_labels_do_not_matter(pair, names):
    true, pred = pair
    renamed = [names[label + 3] for label in pred]
    text = [f"class {label}" for label in true]
    assert evaluate(text, renamed) == pytest.approx(evaluate(true, pred), abs=1e-12)


@given(labellings(), st.randoms(use_true_random=False))
def test_order_of_samples_does_not_matter(pair, random):
    order = list(range(pair[0].size))
    random.shuffle(order)
    assert evaluate(pair[0][order], pair[1][order]) == pytest.approx(evaluate(*pair), abs=1e-12)


@given(labellings())
def test_symmetry_except_purity(pair):
    forward, backward = evaluate(*pair), evaluate(*pair[::-1])
    forward.pop("purity")
    backward.pop("purity")
    assert forward == pytest.approx(backward, abs=1e-12)


@given(labellings())
def test_same_partition_scores_one(pair):
    assert set(evaluate(pair[0], -7 * pair[0]).values()) == {1.0}


@given(labellings(), st.integers(2, 3))
def test_repeating_every_sample_keeps_shares(pair, times):
    once, many = evaluate(*pair), evaluate(np.repeat(pair[0], times), np.repeat(pair[1], times))
    for name in ("acc", "purity", "nmi", "nmi_max"):
        assert many[name] == pytest.approx(once[name], abs=1e-12)


@given(labellings())
def test_agreement_with_scikit_learn(pair):
    scores = evaluate(*pair)
    assert scores["ari"] == pytest.approx(sk.adjusted_rand_score(*pair), abs=1e-12)
    assert scores["ri"] == pytest.approx(sk.rand_score(*pair), abs=1e-12)
    for average in AVERAGES:
        expected = sk.normalized_mutual_info_score(*pair, average_method=average)
        assert nmi_score(*pair, average_method=average) == pytest.approx(expected, abs=1e-9)


@given(labellings())
def test_averages_are_ordered(pair):
    values = [nmi_score(*pair, average_method=average) for average in ("max", "arithmetic", "geometric", "min")]
    assert all(low <= high + 1e-12 for low, high in pairwise(values))


@given(labellings())
def test_splitting_a_cluster_never_lowers_purity(pair):
    true, pred = pair
    split = [(label, i % 2) for i, label in enumerate(pred.tolist())]
    assert purity_score(true, split) >= purity_score(true, pred)


@given(labellings())
def test_simplified_matching_is_the_best_one(pair):
    table = contingency_table(*pair)
    cells = (table.rows, table.cols, table.counts)
    assert _solve_sparse(*cells) == matched_count(table)
    taken, *left = _take_dominant(*cells)
    assert taken + (_solve_sparse(*left) if left[0].size else 0) == matched_count(table)

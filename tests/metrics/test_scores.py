import math
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from manyviews.metrics import (
    adjusted_rand_index,
    clustering_accuracy,
    evaluate,
    nmi_score,
    pairwise_f_score,
    purity_score,
    rand_index,
)
from manyviews.metrics.contingency import contingency_table
from manyviews.metrics.matching import matched_count
from manyviews.metrics.pairs import count_pairs

# Table [[2, 1], [0, 3]]: of 15 pairs 4 are together in both, 6 in the classes, 7 in the clusters.
TRUE = ["a", "a", "a", "b", "b", "b"]
PRED = [5, 5, -1, -1, -1, -1]


def test_by_hand():
    scores = evaluate(TRUE, PRED)
    assert list(scores) == ["acc", "nmi", "nmi_max", "ari", "purity", "ri", "f_score"]
    assert all(type(score) is float for score in scores.values())
    assert scores["acc"] == pytest.approx(5 / 6)
    assert scores["purity"] == pytest.approx(5 / 6)
    assert scores["ri"] == pytest.approx((4 + 15 - 6 - 7 + 4) / 15)
    assert scores["ari"] == pytest.approx((4 - 6 * 7 / 15) / ((6 + 7) / 2 - 6 * 7 / 15))
    assert scores["f_score"] == pytest.approx(2 * (4 / 7) * (4 / 6) / (4 / 7 + 4 / 6))
    h_true, h_pred = math.log(2), -(math.log(1 / 3) / 3 + math.log(2 / 3) * 2 / 3)
    shared = math.log(2 * 6 / (3 * 2)) / 3 + math.log(1 * 6 / (3 * 4)) / 6 + math.log(3 * 6 / (3 * 4)) / 2
    assert scores["nmi"] == pytest.approx(shared / math.sqrt(h_true * h_pred))
    assert scores["nmi_max"] == pytest.approx(shared / h_true)
    assert nmi_score(TRUE, PRED, average_method="min") == pytest.approx(shared / h_pred)
    assert nmi_score(TRUE, PRED, average_method="arithmetic") == pytest.approx(2 * shared / (h_true + h_pred))


def test_evaluate_is_made_of_the_single_scores():
    assert evaluate(TRUE, PRED) == {
        "acc": clustering_accuracy(TRUE, PRED),
        "nmi": nmi_score(TRUE, PRED),
        "nmi_max": nmi_score(TRUE, PRED, average_method="max"),
        "ari": adjusted_rand_index(TRUE, PRED),
        "purity": purity_score(TRUE, PRED),
        "ri": rand_index(TRUE, PRED),
        "f_score": pairwise_f_score(TRUE, PRED),
    }


def test_accuracy_needs_the_best_map_not_the_greedy_one():
    # Table [[3, 2], [2, 0]]: taking the 3 first leaves 0; the best map matches 2 + 2.
    true, pred = [0] * 5 + [1] * 2, [0, 0, 0, 1, 1, 0, 0]
    assert clustering_accuracy(true, pred) == pytest.approx(4 / 7)
    assert purity_score(true, pred) == pytest.approx(5 / 7)


@pytest.mark.parametrize("n_clusters", [1, 2, 7])
def test_more_and_fewer_clusters_than_classes(n_clusters):
    true = np.repeat([0, 1, 2], 4)
    pred = np.arange(12) % n_clusters
    assert clustering_accuracy(true, pred) == clustering_accuracy(pred, true)
    assert 1 / max(3, n_clusters) <= clustering_accuracy(true, pred) <= purity_score(true, pred)


@pytest.mark.parametrize("average", ["geometric", "max", "arithmetic", "min"])
def test_degenerate_partitions(average):
    one, each = [0] * 4, [0, 1, 2, 3]
    assert nmi_score(one, ["x"] * 4, average_method=average) == 1.0
    assert nmi_score(one, each, average_method=average) == 0.0
    assert nmi_score(each, one, average_method=average) == 0.0
    assert nmi_score(each, each[::-1], average_method=average) == 1.0


def test_degenerate_pairs():
    one, each = [0] * 4, [0, 1, 2, 3]
    assert adjusted_rand_index(one, one) == adjusted_rand_index(each, each) == 1.0
    assert adjusted_rand_index(one, each) == adjusted_rand_index(each, one) == 0.0
    assert rand_index(one, each) == 0.0
    assert pairwise_f_score(one, each) == 0.0
    assert pairwise_f_score(each, each) == 1.0


def test_single_sample():
    assert set(evaluate(["a"], [3]).values()) == {1.0}


def test_unknown_average():
    with pytest.raises(ValueError, match="geometric, max, arithmetic, min; got 'sqrt'"):
        nmi_score(TRUE, PRED, average_method="sqrt")


def test_small_integer_types_do_not_overflow():
    true = np.repeat(np.arange(2, dtype=np.int8), 150_000)
    pred = np.tile(np.arange(2, dtype=np.int16), 150_000)
    wide = evaluate(true.astype(np.int64), pred.astype(np.int64))
    assert evaluate(true, pred) == wide
    assert wide["ri"] == pytest.approx(0.5, abs=1e-5)
    assert wide["ari"] == pytest.approx(0.0, abs=1e-5)


def test_pair_counts_beyond_int64():
    table = contingency_table([0, 1], [0, 1])
    half = np.array([2 * 10**9, 10**9])
    big = replace(table, counts=half, row_sums=half, col_sums=half, n_samples=3 * 10**9)
    assert count_pairs(big).adjusted_rand() == 1.0
    assert count_pairs(big).rand() == 1.0


@pytest.mark.parametrize("labelling", ["all distinct", "one cluster", "random"])
def test_very_many_labels_take_memory_in_proportion_to_n(labelling):
    n = 100_000
    rng = np.random.default_rng(0)
    true = rng.permutation(n)
    pred = {
        "all distinct": rng.permutation(n),
        "one cluster": np.zeros(n, dtype=int),
        "random": rng.integers(0, n // 2, n),
    }[labelling]
    tracemalloc.start()
    scores = evaluate(true, pred)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6
    if labelling == "all distinct":
        assert set(scores.values()) == {1.0}
    else:
        assert scores["acc"] == np.unique(pred).size / n


@pytest.mark.parametrize(
    ("n", "k", "agreement"),
    [(6000, 600, 0.0), (6000, 600, 0.7), (60_000, 700, 0.0), (2000, 1900, 0.3), (3000, 3000, 0.0)],
)
def test_sparse_matching_equals_the_dense_one(n, k, agreement):
    rng = np.random.default_rng(7)
    true, other = rng.integers(0, k, n), rng.integers(0, k + 50, n)
    pred = np.where(rng.random(n) < agreement, true, other)
    table = contingency_table(true, pred)
    dense = np.zeros((table.row_sums.size, table.col_sums.size), dtype=int)
    dense[table.rows, table.cols] = table.counts
    assert dense.size > 250_000
    best = dense[linear_sum_assignment(dense, maximize=True)].sum()
    assert matched_count(table) == best
    assert matched_count(contingency_table(pred, true)) == best

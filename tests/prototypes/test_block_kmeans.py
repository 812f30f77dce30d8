import numpy as np
import pytest
from scipy import sparse

from manyviews.linalg.blocks import unit_rows
from manyviews.prototypes.anchors import anchor_regions, hybrid_anchors
from manyviews.prototypes.block_kmeans import (
    assign_rows,
    block_kmeans,
    coincident,
    count_distinct,
    similarity_blocks,
)

STAGES = {
    "euc_it5": 5,
    "euc_it100": 100,
    "euc_empty_it3": 3,
    "euc_empty_it1": 1,
    "cos_it5": 5,
    "cos_it100": 100,
    "cos_empty_it4": 4,
    "cos_empty_it1": 1,
}


@pytest.mark.parametrize("stage", STAGES)
def test_released_code_from_given_starts(reference, stage):
    ref = reference("litekmeans/litekmeans_stage.npz")
    X, metric = (ref["Xn"], "cosine") if stage.startswith("cos") else (ref["X"], "euclidean")
    start = ref[f"{stage}_start"]
    found = block_kmeans(X, 5, np.random.default_rng(0), metric=metric, max_iter=STAGES[stage], start=start)
    np.testing.assert_array_equal(found.labels, ref[f"{stage}_labels"])
    np.testing.assert_allclose(found.centers, ref[f"{stage}_centers"], atol=1e-14)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_labels_follow_their_rule_and_every_cluster_has_a_row(metric):
    rng = np.random.default_rng(0)
    X = unit_rows(rng.normal(size=(300, 4))[rng.integers(300, size=900)])
    found = block_kmeans(X, 40, rng, metric=metric, max_iter=6)
    assert (assign_rows(X, found.rule, metric)[0] == found.labels).mean() > 0.98
    assert np.bincount(found.labels, minlength=40).min() > 0
    assert np.isfinite(found.centers).all()


def test_more_clusters_than_distinct_rows_leave_no_nan():
    X = np.repeat(np.arange(3.0), 7)[:, None]
    found = block_kmeans(X, 10, np.random.default_rng(1), max_iter=4)
    assert np.isfinite(found.centers).all()
    assert set(np.unique(found.centers)) == {0.0, 1.0, 2.0}
    assert np.unique(found.labels).size == 10


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_sparse_rows_give_what_dense_ones_give(metric):
    rng = np.random.default_rng(2)
    X = unit_rows(rng.random((200, 30)) * (rng.random((200, 30)) < 0.2) + np.eye(200, 30))
    dense = block_kmeans(X, 7, np.random.default_rng(3), metric=metric, max_iter=20, n_init=3)
    thin = block_kmeans(sparse.csr_array(X), 7, np.random.default_rng(3), metric=metric, max_iter=20, n_init=3)
    np.testing.assert_array_equal(thin.labels, dense.labels)
    np.testing.assert_allclose(thin.centers, dense.centers, atol=1e-12)
    assert thin.score == pytest.approx(dense.score)


def test_the_objective_falls_with_the_iterations_and_more_starts_are_no_worse():
    X = np.random.default_rng(4).normal(size=(500, 3))

    def inertia(found):
        return np.square(X - found.centers[found.labels]).sum()

    values = [inertia(block_kmeans(X, 8, np.random.default_rng(0), max_iter=t)) for t in range(1, 12)]
    assert (np.diff(values) <= 1e-9).all()
    one = block_kmeans(X, 8, np.random.default_rng(0), max_iter=50)
    five = block_kmeans(X, 8, np.random.default_rng(0), max_iter=50, n_init=5)
    assert five.score <= one.score


def test_anchors_are_distinct_and_regions_cover_them():
    rng = np.random.default_rng(5)
    X = rng.integers(3, size=(400, 2)).astype(float)
    anchors = hybrid_anchors(X, 50, rng, "euclidean")
    assert anchors.shape == (9, 2)
    assert np.unique(anchors, axis=0).shape == (9, 2)
    regions = anchor_regions(anchors, rng, "euclidean")
    assert regions.labels.shape == (9,)
    assert regions.centers.shape == (3, 2)


def test_anchors_of_sparse_rows_stay_sparse():
    rng = np.random.default_rng(6)
    X = sparse.csr_array(sparse.random(300, 400, density=0.01, random_state=0)) + sparse.csr_array(np.eye(300, 400))
    anchors = hybrid_anchors(unit_rows(sparse.csr_array(X)), 60, rng, "cosine")
    assert sparse.issparse(anchors)
    np.testing.assert_allclose(np.sqrt(anchors.multiply(anchors).sum(axis=1)), 1.0)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("k", [3, 30])  # fewer and more centres than columns
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_similarities_of_blocks(metric, k, kind):
    rng = np.random.default_rng(0)
    X, C = rng.normal(size=(50, 8)).astype(np.float32), rng.normal(size=(k, 8)).astype(np.float32)
    S = np.vstack([block.copy() for _, block in similarity_blocks(kind(X), C, metric, 16)])
    expected = X @ C.T - (0.5 * np.square(C).sum(axis=1) if metric == "euclidean" else 0)
    assert S.dtype == np.float32
    np.testing.assert_allclose(S, expected, atol=1e-5)
    assert not list(similarity_blocks(X[:0], C, metric, 16))


def test_starts_are_distinct_where_most_rows_are_copies():
    X = np.r_[np.zeros((200, 2)), np.arange(1.0, 7).reshape(3, 2)[np.arange(90) % 3]]
    for seed in range(20):
        found = block_kmeans(X, 4, np.random.default_rng(seed), max_iter=2, distinct=True)
        assert np.unique(X[np.unique(found.labels, return_index=True)[1]], axis=0).shape[0] == 4


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_that_differ_by_rounding_only_are_one(dtype):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(5, 6)).astype(dtype)
    twins = np.vstack([X, X * dtype(1 + 2 * np.finfo(dtype).eps), X])
    np.testing.assert_array_equal(coincident(twins), np.arange(15) % 5)
    assert count_distinct(np.repeat(twins, 40, axis=0), 9) == 5
    assert count_distinct(twins, 3) == 3
    assert count_distinct(np.zeros((4, 2), dtype), 3) == 1

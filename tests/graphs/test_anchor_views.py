import numpy as np
import pytest
from scipy import sparse

from manyviews.graphs import anchor_views
from manyviews.graphs.anchor_views import AnchorViews, squared_lengths
from manyviews.linalg.balance import apply_balanced, fit_balanced
from manyviews.linalg.scaling import Scaling, apply_scaling, fit_scaling


@pytest.fixture
def views(three_views):
    dense, counts, third = three_views[0]
    return dense, sparse.csr_array(np.maximum(np.round(counts), 0)), third


def test_products_are_those_of_the_scaled_views(views):
    scalings = tuple(map(fit_scaling, views, ("minmax", "tfidf", None)))
    read = AnchorViews(views, scalings)
    anchors = [np.random.default_rng(0).normal(size=(4, X.shape[1])) for X in views]
    for X, scaling, A, found in zip(views, scalings, anchors, read.products(anchors), strict=True):
        Y = apply_scaling(X, scaling)
        Y = Y.toarray() if sparse.issparse(Y) else Y
        np.testing.assert_allclose(found.cross, Y @ A.T)
        np.testing.assert_allclose(found.squares, np.square(Y).sum(axis=1))
        np.testing.assert_allclose(found.distances, np.square(Y[:, None] - A).sum(axis=2), atol=1e-10)


def test_blocks_are_scaled_rows_with_zeros_where_nothing_was_observed(three_views):
    views = [X.copy() for X in three_views[0]]
    observed = np.ones((60, 3), dtype=bool)
    observed[[2, 7], 1] = False
    views[1][[2, 7]] = np.nan
    balanced = tuple(fit_balanced(X, "standard") for X in views)
    read = AnchorViews(tuple(views), balanced, observed)
    block = read.block(1, slice(0, 10))
    np.testing.assert_array_equal(block, apply_balanced(views[1][:10], balanced[1]))
    assert not block[[2, 7]].any()
    assert not np.isnan(block).any()
    np.testing.assert_array_equal(read.seen(1, slice(0, 10)), observed[:10, 1])
    assert read.seen(0) is None
    assert read.seen(1, slice(10, 20)) is None
    minmax = AnchorViews((views[1],), (fit_scaling(views[1], "minmax"),), observed[:, [1]])
    assert not minmax.block(0, slice(0, 10))[[2, 7]].any()


def test_own_anchors_are_centres_of_observed_rows(three_views):
    X, labels = three_views[0][0].copy(), three_views[1]
    X[::5] = np.nan
    observed = ~np.isnan(X[:, [0]])
    found = AnchorViews((X,), (Scaling(None),), observed).own_anchors(0, 3, np.random.default_rng(0), n_init=5)
    means = np.stack([X[(labels == j) & observed[:, 0]].mean(axis=0) for j in range(3)])
    order = np.argsort(means[:, 0])
    np.testing.assert_allclose(found[np.argsort(found[:, 0])], means[order])


def test_shared_anchors_stand_for_the_same_samples(three_views):
    views, labels = three_views
    read = AnchorViews(tuple(views), (Scaling(None),) * 3)
    found = read.shared_anchors(3, np.random.default_rng(0), space="balanced", n_directions=6, n_init=5)
    order = [np.square(views[0][labels == j].mean(axis=0) - found[0]).sum(axis=1).argmin() for j in range(3)]
    for X, A in zip(views, found, strict=True):
        np.testing.assert_allclose(A[order], [X[labels == j].mean(axis=0) for j in range(3)])


def test_the_nearest_anchor_counts_all_views_by_their_size(three_views):
    views = [X.copy() for X in three_views[0]]
    observed = np.ones((60, 3), dtype=bool)
    observed[5, 1] = False
    views[1][5] = np.nan
    read = AnchorViews(tuple(views), (Scaling(None),) * 3, observed)
    anchors = [X[[0, 25, 50]] for X in views]
    filled = [np.nan_to_num(X) for X in views]
    np.testing.assert_allclose(read.total_squares(), [np.square(X).sum() for X in filled])
    D = [np.square(X[:, None] - A).sum(axis=2) / np.square(X).sum() for X, A in zip(filled, anchors, strict=True)]
    D[1][5] = 0.0
    np.testing.assert_array_equal(read.nearest_anchors(anchors), np.sum(D, axis=0).argmin(axis=1))


def test_anchors_are_chosen_from_some_of_very_many_rows(monkeypatch):
    monkeypatch.setattr(anchor_views, "ANCHOR_ROWS", 20)
    X = np.arange(100.0)[:, None]
    read = AnchorViews((X,), (Scaling(None),))
    found = read.own_anchors(0, 20, np.random.default_rng(0), n_init=1)
    assert np.unique(found).size == 20
    assert set(found.ravel()) <= set(X.ravel())


def test_squared_lengths_of_dense_and_sparse_rows():
    X = np.array([[3.0, 4.0], [0.0, 2.0]])
    np.testing.assert_array_equal(squared_lengths(X), [25, 4])
    np.testing.assert_array_equal(squared_lengths(sparse.csr_array(X)), [25, 4])

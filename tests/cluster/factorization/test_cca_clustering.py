from contextlib import nullcontext

import numpy as np
import pytest
from scipy import sparse

from manyviews import CCAClustering
from manyviews.cluster.factorization.cca_clustering import canonical_directions, maxvar_directions
from manyviews.metrics import adjusted_rand_index, clustering_accuracy


def first_positive(A, B):
    signs = np.sign(A[np.abs(A).argmax(axis=0), np.arange(A.shape[1])])
    return A * signs, B * signs


@pytest.mark.parametrize(("stored", "ridge"), [("reg0", 0.0), ("reg01", 0.1)])
def test_correlations_directions_and_variates_as_stored(reference, stored, ridge):
    ref = reference("cca_clustering/small.npz")
    X, Y = ref["X0"], ref["X1"]
    rng = np.random.default_rng(0)
    every = canonical_directions((X, Y), 8, (ridge, ridge), rng)
    np.testing.assert_allclose(every.correlations, ref[f"corr_{stored}"], atol=1e-8)
    found = canonical_directions((X, Y), 2, (ridge, ridge), rng)
    A, B = first_positive(*found.projections)
    np.testing.assert_allclose(A, ref[f"A_{stored}"], atol=1e-8)
    np.testing.assert_allclose(B, ref[f"B_{stored}"], atol=1e-8)
    np.testing.assert_allclose((X - found.means[0]) @ A, ref[f"variates0_{stored}"], atol=1e-8)
    np.testing.assert_allclose((Y - found.means[1]) @ B, ref[f"variates1_{stored}"], atol=1e-8)


def test_stored_labels(reference):
    ref = reference("cca_clustering/small.npz")
    views = [ref["X0"], ref["X1"]]
    model = CCAClustering(3, regularization=0, side="view", view="view_0", scaling=None, random_state=0).fit(views)
    assert adjusted_rand_index(ref["labels_reg0"], model.labels_) == 1.0
    assert clustering_accuracy(ref["y"], model.labels_) == pytest.approx(0.995)


def test_invertible_maps_of_a_view_change_nothing(reference):
    ref = reference("cca_clustering/small.npz")
    X, Y = ref["X0"], ref["X1"]
    turn = np.random.default_rng(0).normal(size=(8, 8))
    plain = CCAClustering(3, regularization=0, scaling=None, random_state=0).fit([X, Y])
    turned = CCAClustering(3, regularization=0, scaling=None, random_state=0).fit([X @ turn + 5, Y])
    np.testing.assert_allclose(turned.correlations_, plain.correlations_)
    assert adjusted_rand_index(plain.labels_, turned.labels_) == 1.0


def test_maxvar_spans_the_directions_of_two_views(reference):
    ref = reference("cca_clustering/small.npz")
    X, Y = ref["X0"], ref["X1"]
    rng = np.random.default_rng(0)
    pair = canonical_directions((X, Y), 2, (0.0, 0.0), rng)
    many = maxvar_directions((X, Y), 2, (0.0, 0.0), rng)
    np.testing.assert_allclose(many.correlations, (1 + pair.correlations) / 2)
    for A, B in zip(pair.projections, many.projections, strict=True):
        qa, qb = np.linalg.qr(A)[0], np.linalg.qr(B)[0]
        np.testing.assert_allclose(qa @ qa.T, qb @ qb.T, atol=1e-8)


def test_wide_and_sparse_views_equal_dense_ones():
    rng = np.random.default_rng(0)
    labels = np.arange(40) % 3
    X = rng.normal(size=(3, 90))[labels] + 0.3 * rng.normal(size=(40, 90))
    Y = rng.poisson(0.3 + 2 * np.kron(np.eye(3), np.ones(8))[labels]).astype(float)
    dense = CCAClustering(3, scaling=None, random_state=0).fit([X, Y])
    thin = CCAClustering(3, scaling=None, random_state=0).fit([X, sparse.csr_matrix(Y)])
    assert adjusted_rand_index(labels, dense.labels_) == 1.0
    np.testing.assert_allclose(thin.correlations_, dense.correlations_, atol=0.02)
    np.testing.assert_array_equal(thin.labels_, dense.labels_)


@pytest.mark.parametrize("side", ["concat", "sum", "view"])
def test_every_side_separates_and_predicts(three_views, side):
    views, labels = three_views
    view = "view_1" if side == "view" else None
    model = CCAClustering(3, side=side, view=view, random_state=0).fit(views[:2])
    assert adjusted_rand_index(labels, model.labels_) == 1.0
    np.testing.assert_array_equal(model.predict(views[:2]), model.labels_)
    assert model.embedding_.shape == (60, 4 if side == "concat" else 2)


@pytest.mark.filterwarnings("ignore:view .* is constant")
def test_deficient_constant_and_single_views(three_views):
    views, labels = three_views
    doubled = np.hstack([views[0], views[0], np.ones((60, 1))])
    for X in ([doubled, views[1]], [doubled, views[1], np.ones((60, 3))], [views[0]]):
        with pytest.warns(UserWarning, match="'view_2' is constant") if len(X) == 3 else nullcontext():
            model = CCAClustering(3, regularization=0.0 if len(X) == 2 else 0.1, random_state=0).fit(X)
        assert np.isfinite(model.embedding_).all()
        assert adjusted_rand_index(labels, model.labels_) == 1.0
    assert not CCAClustering(1).fit(views).labels_.any()
    assert CCAClustering(2, random_state=0).fit([np.eye(2), np.eye(2)]).labels_.tolist() == [0, 1]


@pytest.mark.filterwarnings("ignore:view .* is constant")
def test_an_empty_sparse_view_changes_nothing(three_views):
    views, labels = three_views
    with pytest.warns(UserWarning, match="'view_2' is constant"):
        model = CCAClustering(3, random_state=0).fit([views[0], views[1], sparse.csr_matrix((60, 5))])
    assert adjusted_rand_index(labels, model.labels_) == 1.0


def test_a_view_may_be_called_like_a_side(three_views):
    """The word for the sum of all projections must not hide a view, nor the other way round."""
    views, _ = three_views
    named = {"first": views[0], "sum": views[1]}
    total = CCAClustering(3, side="sum", random_state=0).fit(named)
    alone = CCAClustering(3, side="view", view="sum", random_state=0).fit(named)
    np.testing.assert_allclose(
        total.embedding_, alone.embedding_ + CCAClustering(3, side="view", random_state=0).fit(named).embedding_
    )
    with pytest.raises(ValueError, match="view='sum' has no meaning with side='concat'"):
        CCAClustering(3, view="sum").fit(named)
    with pytest.raises(ValueError, match=r"no view 'third'; the views are \['first', 'sum'\]"):
        CCAClustering(3, side="view", view="third").fit(named)

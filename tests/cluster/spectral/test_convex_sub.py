"""ConvexSub against optima confirmed by a semidefinite program, and what its solution keeps."""

import numpy as np
import pytest
from scipy import sparse

from manyviews import ConvexSub
from manyviews.cluster.spectral.convex_sub import joined_views, null_weight, solve_convex_sub
from manyviews.metrics import adjusted_rand_index


@pytest.fixture
def ref(reference):
    return reference("convexsub/small.npz")


@pytest.fixture
def data(ref):
    return joined_views([ref["X0"], ref["X1"]])


@pytest.mark.parametrize("case", [0, 1, 2])
def test_the_optimum(ref, data, case):
    found = solve_convex_sub(data, float(ref["gammas"][case]), tol=1e-8)
    assert found.history.converged
    assert found.history.objective[-1] == pytest.approx(float(ref[f"g{case}_value"]), rel=1e-7)
    if np.isfinite(ref["sdp_dual_value"][case]):
        assert found.history.objective[-1] == pytest.approx(float(ref["sdp_dual_value"][case]), rel=1e-6)
    np.testing.assert_allclose(found.eta, ref[f"g{case}_eta"], atol=1e-3)
    np.testing.assert_allclose(found.M, np.hstack([ref[f"g{case}_M0"], ref[f"g{case}_M1"]]), atol=1e-4)
    np.testing.assert_allclose(found.values, ref[f"g{case}_sv"][: found.values.size], atol=1e-3)


def test_the_gap_bounds_the_distance_to_the_optimum_and_the_bound_never_rises(ref, data):
    best = float(ref["g1_value"])
    for turns in (1, 2, 5):
        found = solve_convex_sub(data, 2.0, tol=1e-12, max_iter=turns, n_steps=10)
        assert best <= found.history.objective[-1] * (1 + 1e-9)
        assert found.history.objective[-1] - best <= found.gap * found.history.objective[-1] * (1 + 1e-9)
        assert (np.diff(found.history.objective) <= 0).all()


def test_a_large_weight_leaves_nothing(data):
    found = solve_convex_sub(data, 2.1 * null_weight(data))
    assert found.values.size == 0
    assert not found.M.any()
    assert found.history.converged
    assert solve_convex_sub(data, 0.9 * null_weight(data)).values.size > 0


def test_only_inner_products_of_rows_matter(three_views):
    views, labels = three_views
    turned = [X @ np.linalg.qr(np.random.default_rng(v).normal(size=(X.shape[1],) * 2))[0] for v, X in enumerate(views)]
    wide = [np.hstack([X / np.sqrt(40)] * 40) for X in views]  # more columns than samples
    expected = ConvexSub(3, scaling=None, random_state=0).fit(views)
    for given in (turned, wide, [sparse.csr_array(X) for X in views], [sparse.csr_array(X) for X in wide]):
        found = ConvexSub(3, scaling=None, random_state=0).fit(given)
        assert found.history_.objective[-1] == pytest.approx(expected.history_.objective[-1], rel=1e-6)
        np.testing.assert_allclose(found.view_weights_, expected.view_weights_, atol=1e-5)
        np.testing.assert_array_equal(found.labels_, expected.labels_)
    assert adjusted_rand_index(labels, expected.labels_) == 1.0


def test_more_shrinkage_leaves_fewer_directions(three_views):
    models = [ConvexSub(3, shrinkage=share, random_state=0).fit(three_views[0]) for share in (0.05, 0.3, 0.9)]
    ranks = [model.embedding_.shape[1] for model in models]
    assert ranks == sorted(ranks, reverse=True)
    assert ranks[0] > ranks[-1]


def test_what_is_not_observed_has_no_say(three_views):
    views, labels = [X.copy() for X in three_views[0]], three_views[1]
    gone = np.zeros((60, 3), bool)
    gone[::5, 0], gone[1::5, 1] = True, True
    for X, rows in zip(views, gone.T, strict=True):
        X[rows] = np.nan
    model = ConvexSub(3, random_state=0).fit(views)
    assert adjusted_rand_index(labels, model.labels_) == 1.0
    full = joined_views([np.nan_to_num(X) for X in views], ~gone)
    other = joined_views([np.where(np.isnan(X), 77.0, X) for X in views], ~gone)
    np.testing.assert_array_equal(solve_convex_sub(full, 5.0).M, solve_convex_sub(other, 5.0).M)

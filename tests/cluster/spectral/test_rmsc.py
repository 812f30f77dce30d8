"""RMSC against the released code, and what its solution keeps."""

import numpy as np
import pytest

from manyviews import RMSC
from manyviews.cluster.spectral.rmsc import RMSCState, solve_rmsc, stationary_affinity
from manyviews.graphs.neighbors import gaussian_affinity
from manyviews.linalg.shrinkage import singular_value_threshold
from manyviews.metrics import adjusted_rand_index
from manyviews.optim.alm import Penalty


@pytest.fixture
def ref(reference):
    return reference("rmsc/small.npz")


def test_the_transitions_of_the_released_code(ref):
    for v in range(3):
        K = gaussian_affinity(ref[f"X{v}"])
        np.testing.assert_allclose(K / K.sum(axis=1, keepdims=True), ref["T"][v], atol=1e-15)


def test_the_first_iterations_of_the_released_code(ref):
    state = RMSCState(list(ref["T"]), float(ref["lam"]), singular_value_threshold)
    mu = float(ref["mu0"])
    for t in (1, 2, 3):
        state.iterate(mu, mu * float(ref["rho"]))
        np.testing.assert_allclose(state.P, ref[f"it{t}_P"], atol=1e-13)
        np.testing.assert_allclose((state.Q.U * state.Q.values) @ state.Q.V.T, ref[f"it{t}_Q"], atol=1e-13)
        mu *= float(ref["rho"])


@pytest.mark.parametrize("svd", ["full", "partial"])
def test_the_solution_of_the_released_code(ref, svd):
    penalty = Penalty(float(ref["mu0"]), float(ref["rho"]))
    found = solve_rmsc(
        list(ref["T"]), noise_weight=float(ref["lam"]), penalty=penalty, svd=svd, rng=np.random.default_rng(0)
    )
    assert found.history.n_iter == int(ref["n_steps"]) - 1  # its record begins with the start
    atol = 1e-14
    np.testing.assert_allclose(found.P, ref["P"], atol=atol)
    np.testing.assert_allclose((found.Q.U * found.Q.values) @ found.Q.V.T, ref["Q"], atol=atol)
    np.testing.assert_allclose(found.history.residual, ref["inf_norm_history"][1:], rtol=1e-8)
    np.testing.assert_allclose(found.P.sum(axis=1), 1, atol=1e-12)
    assert found.P.min() >= 0


def test_one_view_without_room_for_errors_is_kept(ref):
    T = ref["T"][0]
    found = solve_rmsc([T], noise_weight=1e3, max_iter=60, rng=np.random.default_rng(0))
    np.testing.assert_allclose(found.P, T, atol=1e-5)


def test_single_precision_stays_single_and_near(ref):
    penalty = Penalty(float(ref["mu0"]), float(ref["rho"]))
    single = [T.astype(np.float32) for T in ref["T"]]
    found = solve_rmsc(single, noise_weight=float(ref["lam"]), penalty=penalty, rng=np.random.default_rng(0))
    assert found.P.dtype == np.float32
    assert found.history.converged
    np.testing.assert_allclose(found.P, ref["P"], atol=1e-5)


def test_both_walks_cut_clear_clusters(three_views):
    views, labels = three_views
    for walk in ("symmetric", "stationary"):
        model = RMSC(3, walk=walk, random_state=0).fit(views)
        assert adjusted_rand_index(labels, model.labels_) == 1.0
        np.testing.assert_allclose(model.transition_.sum(axis=1), 1, atol=1e-10)


def test_the_stationary_walk():
    rng = np.random.default_rng(0)
    P = rng.uniform(size=(6, 6))
    P /= P.sum(axis=1, keepdims=True)
    values, left = np.linalg.eig(P.T)
    pi = left[:, np.abs(values - 1).argmin()].real
    root = np.sqrt(pi / pi.sum())
    B = root[:, None] * P / root
    np.testing.assert_allclose(stationary_affinity(P), (B + B.T) / 2, atol=1e-12)
    assert stationary_affinity(np.array([[1.0, 0.0], [1.0, 0.0]])) is None  # the second is never visited
    assert stationary_affinity(np.eye(2)) is None  # two walks that never meet

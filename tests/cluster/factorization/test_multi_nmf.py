"""MultiNMF against public code of its updates, and what its rounds keep."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from manyviews import MultiNMF
from manyviews.cluster.factorization.multi_nmf import (
    Factors,
    consensus_of,
    coupled_sweep,
    joint_objective,
    normalized,
    plain_nmf,
    solve_multi_nmf,
    squared_error,
)
from manyviews.metrics import adjusted_rand_index

EVERY = [np.arange(45)] * 2


@pytest.fixture
def ref(reference):
    return reference("multinmf/small.npz")


def start(ref, v):
    return Factors(ref[f"U{v}_start"], ref[f"V{v}_start"])


def assert_equal(found, U, V):
    np.testing.assert_allclose(found.U, U, atol=1e-14)
    np.testing.assert_allclose(found.V, V, atol=1e-15)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_sweeps_of_the_public_code(ref, form):
    X = form(ref["X0"])
    found = normalized(start(ref, 0))
    for sweep in range(1, 21):
        found = coupled_sweep(X, X.T, found, ref["Vstar"], 0.01)
        if sweep in (1, 20):
            assert_equal(found, ref[f"perview{sweep}_U"], ref[f"perview{sweep}_V"])
    assert_equal(plain_nmf(X, start(ref, 0), 20), ref["nmf20_U"], ref["nmf20_V"])


def test_the_start_of_the_public_code(ref):
    V = ref["V0_start"]
    for _ in range(3):
        for v in range(2):
            found = plain_nmf(ref[f"X{v}"], Factors(ref[f"U{v}_start"], V), 30)
            V = found.V
    assert_equal(found, ref["init_U1"], ref["init_V1"])


def test_the_rounds_of_the_public_code(ref):
    views = [ref["X0"], ref["X1"]]
    begin = [Factors(ref[f"init_U{v}"], ref[f"init_V{v}"]) for v in range(2)]
    assert joint_objective(views, EVERY, begin, begin[0].V, 0.01) == pytest.approx(ref["objective"][0], rel=1e-12)
    found = solve_multi_nmf(views, EVERY, begin, 45, n_sweeps=30, tol=0.0, max_iter=5)
    np.testing.assert_allclose(found.history.objective[:4], ref["objective"][1:], rtol=1e-12)
    for v in range(2):
        assert_equal(found.views[v], ref[f"final_U{v}"], ref[f"final_V{v}"])
    before = solve_multi_nmf(views, EVERY, begin, 45, n_sweeps=30, tol=0.0, max_iter=4)
    np.testing.assert_allclose(before.consensus, ref["last_centroid"], atol=1e-15)


def test_no_sweep_and_no_round_raises_the_objective(ref):
    X, found, goal = ref["X0"], normalized(start(ref, 0)), ref["Vstar"]
    last = np.inf
    for _ in range(40):
        found = coupled_sweep(X, X.T, found, goal, 0.01)
        value = squared_error(X, found) + 0.01 * np.square(found.V - goal).sum()
        assert value <= last * (1 + 1e-12)
        last = value
    begin = [Factors(ref[f"init_U{v}"], ref[f"init_V{v}"]) for v in range(2)]
    joint = solve_multi_nmf([X, ref["X1"]], EVERY, begin, 45, n_sweeps=5, tol=0.0, max_iter=30)
    assert (np.diff(joint.history.objective) <= 1e-15).all()


def test_sparse_views_stay_sparse():
    n, d = 150, 100_000
    rng = np.random.default_rng(0)
    views = [sparse.random(n, d, 2e-4, format="csr", random_state=rng, data_rvs=np.ones) for _ in range(2)]
    tracemalloc.start()
    MultiNMF(3, n_starts=1, n_sweeps=3, max_iter=3, tol=10.0, random_state=0).fit(views)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < n * d * 8 / 2


def test_columns_of_both_signs_become_two(three_views):
    views, labels = three_views
    model = MultiNMF(3, scaling="standard", random_state=0).fit(views)
    assert [U.shape for U in model.components_.values()] == [(10, 3), (6, 3), (8, 3)]
    assert adjusted_rand_index(labels, model.labels_) == 1.0
    for U in model.components_.values():
        np.testing.assert_allclose(U.sum(axis=0), 1)
        assert U.min() >= 0


def test_single_precision_stays_single_and_the_objective_never_rises(three_views):
    model = MultiNMF(3, tol=1e-5, random_state=0).fit([X.astype(np.float32) for X in three_views[0]])
    assert model.embedding_.dtype == np.float32
    assert (np.diff(model.history_.objective) <= 1e-5 * model.history_.objective[0]).all()


def test_the_consensus_is_the_mean_of_the_views_that_have_a_sample(three_views):
    views = [X.copy() for X in three_views[0]]
    views[0][:10], views[1][10:20] = np.nan, np.nan
    model = MultiNMF(3, random_state=0).fit(views)
    assert adjusted_rand_index(three_views[1], model.labels_) == 1.0
    found = [Factors(np.ones((1, 1)), np.full((2, 1), 2.0)), Factors(np.ones((1, 1)), np.full((3, 1), 5.0))]
    rows = [np.array([0, 2]), np.array([0, 1, 2])]
    np.testing.assert_array_equal(consensus_of(found, rows, 3), [[3.5], [5.0], [3.5]])

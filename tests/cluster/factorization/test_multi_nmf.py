"""MultiNMF against public code of its updates, and what its rounds keep."""

import numpy as np
import pytest
from scipy import sparse

from manyviews.cluster.factorization.multi_nmf import (
    Factors,
    coupled_sweep,
    joint_objective,
    normalized,
    plain_nmf,
    solve_multi_nmf,
    squared_error,
)

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
        found = coupled_sweep(X, found, ref["Vstar"], 0.01)
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
        found = coupled_sweep(X, found, goal, 0.01)
        value = squared_error(X, found) + 0.01 * np.square(found.V - goal).sum()
        assert value <= last * (1 + 1e-12)
        last = value
    begin = [Factors(ref[f"init_U{v}"], ref[f"init_V{v}"]) for v in range(2)]
    joint = solve_multi_nmf([X, ref["X1"]], EVERY, begin, 45, n_sweeps=5, tol=0.0, max_iter=30)
    assert (np.diff(joint.history.objective) <= 1e-15).all()

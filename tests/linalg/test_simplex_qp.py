import numpy as np
import pytest
from scipy.optimize import minimize

from manyviews.linalg.simplex_qp import _active_set, solve_simplex_qp


def gap(H, F, Z):
    """Duality gap of every row, relative to the size of its linear term."""
    g = Z @ H + F
    return ((g * Z).sum(axis=1) - g.min(axis=1)) / (1 + np.abs(F).max(axis=1))


def from_anchors(rng, n, m, d, ridge):
    A = rng.random((m, d))
    X = rng.random((n, d))
    return 2 * A @ A.T + 2 * ridge * np.eye(m), -2 * X @ A.T


@pytest.mark.parametrize("case", ["ridge1e-3", "ridge1", "rankdef"])
def test_reference(reference, case):
    ref = reference("simplex/simplex_projection_and_qp.npz")
    H, F, expected = (ref[f"qp_{case}_{name}"] for name in "HFZ")
    Z = solve_simplex_qp(H, F)
    np.testing.assert_allclose(Z, expected, atol=1e-10)
    assert gap(H, F, Z).max() <= 1e-12


@pytest.mark.parametrize("ridge", [1e-6, 1e-3, 1.0, 30.0])
@pytest.mark.parametrize(("m", "d"), [(1, 3), (2, 3), (7, 3), (40, 5), (40, 60)])
def test_solutions_are_feasible_and_have_no_gap(m, d, ridge):
    H, F = from_anchors(np.random.default_rng(m + d), 300, m, d, ridge)
    Z = solve_simplex_qp(H, F)
    assert (Z >= 0).all()
    np.testing.assert_allclose(Z.sum(axis=1), 1, atol=1e-12)
    assert gap(H, F, Z).max() <= 1e-12


def test_both_stages_reach_the_same_points():
    H, F = from_anchors(np.random.default_rng(3), 200, 25, 8, 1e-3)
    vertices = np.eye(25)[(0.5 * np.diag(H) + F).argmin(axis=1)]
    np.testing.assert_allclose(_active_set(H, F, vertices), solve_simplex_qp(H, F), atol=1e-10)


def test_a_start_changes_nothing_but_the_time():
    rng = np.random.default_rng(4)
    H, F = from_anchors(rng, 200, 12, 6, 1e-3)
    expected = solve_simplex_qp(H, F)
    for start in (np.zeros_like(F), np.ones_like(F), expected, rng.random(F.shape) * (rng.random(F.shape) < 0.4)):
        np.testing.assert_allclose(solve_simplex_qp(H, F, start=start), expected, atol=1e-10)


def test_general_solver_agrees():
    H, F = from_anchors(np.random.default_rng(5), 3, 5, 4, 0.1)
    for f, z in zip(F, solve_simplex_qp(H, F), strict=True):
        found = minimize(
            lambda x, f=f: 0.5 * x @ H @ x + f @ x,
            np.full(5, 0.2),
            jac=lambda x, f=f: H @ x + f,
            bounds=[(0, 1)] * 5,
            constraints={"type": "eq", "fun": lambda x: x.sum() - 1, "jac": lambda x: np.ones(5)},
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 300},
        )
        np.testing.assert_allclose(z, found.x, atol=1e-5)


def test_equal_columns_share_evenly():
    H, F = from_anchors(np.random.default_rng(6), 50, 6, 4, 0.1)
    twice = np.r_[0:6, 0:6]
    H2 = (H - 0.2 * np.eye(6))[np.ix_(twice, twice)] + 0.2 * np.eye(12)
    Z = solve_simplex_qp(H2, F[:, twice])
    np.testing.assert_allclose(Z[:, :6], Z[:, 6:], atol=1e-10)


def test_rows_are_solved_alone():
    H, F = from_anchors(np.random.default_rng(7), 60, 15, 6, 1e-3)
    Z = solve_simplex_qp(H, F)
    for i in range(0, 60, 7):
        np.testing.assert_allclose(solve_simplex_qp(H, F[[i]])[0], Z[i], atol=1e-12)

import numpy as np
import pytest

from manyviews.cluster.multiple_kernel.base import shares
from manyviews.cluster.multiple_kernel.smkkm import point_at, solve_smkkm
from manyviews.kernels.kernel_set import ExactKernels

CASES = [("synth140", 4), ("digits300", 10)]


@pytest.mark.parametrize(("case", "k"), CASES)
def test_the_optimum_is_reached(reference, stored_kernels, same_subspace, case, k):
    ref = reference(f"smkkm/{case}.npz")
    found = solve_smkkm(stored_kernels(case), k)
    assert found.history.objective[-1] <= ref["J_opt"] * (1 + 1e-8)
    assert found.history.objective[-1] <= ref["J_at_final_gamma"]
    np.testing.assert_allclose(found.weights, ref["gamma_opt"], atol=1e-4)
    same_subspace(found.partition.vectors, ref["H_opt"], atol=1e-5)
    assert found.history.n_iter < ref["n_eig_calls"] / 10
    assert (np.diff(found.history.objective) <= 0).all()


@pytest.mark.parametrize(("case", "k"), CASES)
def test_gradients_are_equal_where_weights_are_positive(stored_kernels, case, k):
    kernels = stored_kernels(case)
    found = solve_smkkm(kernels, k, tol=1e-8)
    gradient = point_at(kernels, found.weights, k).gradient
    assert np.ptp(gradient[found.weights > 0]) < 1e-4 * gradient.max()


def test_the_gradient_is_that_of_the_objective(stored_kernels):
    kernels = stored_kernels("synth140")
    gamma, h = np.array([0.2, 0.5, 0.3]), 1e-5
    differences = [
        (point_at(kernels, gamma + h * e, 4).objective - point_at(kernels, gamma - h * e, 4).objective) / (2 * h)
        for e in np.eye(3)
    ]
    np.testing.assert_allclose(point_at(kernels, gamma, 4).gradient, differences, rtol=1e-6)


def test_kernels_of_one_direction_by_hand():
    # with K_p = a_p e eᵀ the objective is the sum of γ² a, least where weights are as 1 / a
    e = np.full((4, 1), 0.5)
    found = solve_smkkm(ExactKernels((1.0 * e @ e.T, 3.0 * e @ e.T)), 1, tol=1e-9)
    np.testing.assert_allclose(found.weights, [0.75, 0.25], atol=1e-7)


def test_equal_kernels_keep_equal_weights(stored_kernels):
    K = stored_kernels("synth140").kernels[0]
    found = solve_smkkm(ExactKernels((K, K, K)), 4)
    np.testing.assert_allclose(found.weights, shares(ExactKernels((K, K, K))), atol=1e-8)


def test_many_kernels_settle_in_few_steps():
    rng = np.random.default_rng(0)
    # what all kernels share keeps the third eigenvalue apart from the fourth, where the objective is smooth
    factors = rng.normal(size=(60, 40, 6)) * rng.uniform(0.5, 2.0, (60, 1, 1)) + 5 * rng.normal(size=(40, 3)) @ np.eye(
        3, 6
    )
    kernels = ExactKernels(tuple(Z @ Z.T for Z in factors))
    found = solve_smkkm(kernels, 3)
    assert found.history.converged
    gradient = point_at(kernels, found.weights, 3).gradient
    used = found.weights > 1e-6
    assert gradient[used].max() <= gradient.min() * (1 + 1e-2)

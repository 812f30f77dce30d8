import numpy as np
import pytest

from manyviews import MKKM
from manyviews.cluster.multiple_kernel.mkkm import solve_mkkm
from manyviews.kernels.kernel_set import ExactKernels

CASES = [("synth140", 4), ("digits300", 10)]


@pytest.mark.parametrize(("case", "k"), CASES)
def test_each_iteration_of_the_released_code(reference, stored_kernels, same_subspace, case, k):
    ref, kernels = reference(f"mkkm/{case}.npz"), stored_kernels(case)
    found = solve_mkkm(kernels, k, tol=1e-4, max_iter=50)
    np.testing.assert_allclose(found.history.objective, ref["obj"], rtol=1e-9)
    np.testing.assert_allclose(found.weights, ref["gamma"], atol=1e-9)
    # the release returns the partition before the last update of the weights
    before = solve_mkkm(kernels, k, tol=0.0, max_iter=len(ref["obj"]) - 1)
    same_subspace(before.partition.vectors, ref["H"])


@pytest.mark.parametrize(("case", "k"), CASES)
def test_the_quadratic_program_of_another_code_gives_the_same_weights(reference, stored_kernels, case, k):
    ref, kernels = reference(f"mkkm/{case}.npz"), stored_kernels(case)
    found = solve_mkkm(kernels, k, tol=0.0, max_iter=10)
    np.testing.assert_allclose(found.history.objective, ref["obj_qp_10_iterations"], rtol=1e-9)
    np.testing.assert_allclose(found.weights, ref["gamma_qp_10_iterations"], atol=1e-9)


@pytest.mark.parametrize("exponent", [1.5, 2.0, 4.0])
def test_the_objective_never_rises_and_weights_are_on_the_simplex(stored_kernels, exponent):
    found = solve_mkkm(stored_kernels("synth140"), 4, exponent=exponent)
    assert (np.diff(found.history.objective) <= 1e-9).all()
    assert found.weights.min() >= 0
    assert found.weights.sum() == pytest.approx(1)


def test_a_larger_exponent_makes_weights_more_equal(stored_kernels):
    kernels = stored_kernels("synth140")
    spreads = [np.ptp(solve_mkkm(kernels, 4, exponent=q).weights) for q in (1.5, 2.0, 4.0)]
    assert spreads == sorted(spreads, reverse=True)


def test_two_orthogonal_kernels_by_hand():
    # K = diag(2, 1) and diag(1, 2) with k = 1: equal weights tie, and the eigenvector taken decides for one of them
    kernels = ExactKernels((np.diag([4.0, 1.0, 0.0]), np.diag([3.0, 0.0, 3.0])))
    found = solve_mkkm(kernels, 1, tol=0.0, max_iter=1)
    # H = e1 leaves 1 and 3, so that weights are as 3 to 1
    np.testing.assert_allclose(found.weights, [0.75, 0.25])
    assert found.history.objective[-1] == pytest.approx(1 / (1 / 1 + 1 / 3))


def test_a_view_of_few_directions_takes_all_and_is_named(three_views):
    views = {"wide": three_views[0][0], "narrow": three_views[0][1]}
    with pytest.warns(UserWarning, match="view 'narrow' has all the weight"):
        model = MKKM(3, kernel="linear", random_state=0).fit(views)
    np.testing.assert_allclose(model.view_weights_, [0, 1], atol=1e-6)


def test_a_constant_view_gets_no_weight(three_views):
    views, _ = three_views
    alone = MKKM(3, random_state=0).fit(views)
    with pytest.warns(UserWarning, match="view_1' is constant"):
        model = MKKM(3, random_state=0).fit([views[0], np.ones((60, 2)), *views[1:]])
    np.testing.assert_allclose(model.view_weights_, np.insert(alone.view_weights_, 1, 0.0))
    np.testing.assert_array_equal(model.labels_, alone.labels_)

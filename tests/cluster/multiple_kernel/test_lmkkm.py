import numpy as np
import pytest

from manyviews import LMKKM
from manyviews.cluster.multiple_kernel.lmkkm import localized, solve_lmkkm
from manyviews.kernels.kernel_set import ExactKernels

CASES = [("synth140", 4), ("digits300", 10)]


@pytest.mark.parametrize(("case", "k"), CASES)
def test_each_of_the_ten_iterations_of_the_released_code(reference, stored_kernels, same_subspace, case, k):
    ref, kernels = reference(f"lmkkm/{case}.npz"), stored_kernels(case)
    found = solve_lmkkm(kernels, k, tol=0.0, max_iter=10)
    np.testing.assert_allclose(found.history.objective, ref["obj"], rtol=1e-6)
    np.testing.assert_allclose(found.theta, ref["Theta"], atol=1e-6)
    before = solve_lmkkm(kernels, k, tol=0.0, max_iter=9)
    same_subspace(before.partition.vectors, ref["H"])


def test_the_objective_never_rises_and_rows_are_on_the_simplex(stored_kernels):
    found = solve_lmkkm(stored_kernels("synth140"), 4)
    assert found.history.converged
    assert (np.diff(found.history.objective) <= 1e-9).all()
    np.testing.assert_allclose(found.theta.sum(axis=1), 1, atol=1e-10)
    assert found.theta.min() >= 0


def test_the_localized_kernel_and_its_objective_entry_by_entry(stored_kernels):
    kernels = stored_kernels("synth140")
    found = solve_lmkkm(kernels, 4, tol=0.0, max_iter=2)
    expected = sum(np.outer(t, t) * K for t, K in zip(found.theta.T, kernels.kernels, strict=True))
    np.testing.assert_allclose(localized(kernels, found.theta), expected, atol=1e-14)
    H = solve_lmkkm(kernels, 4, tol=0.0, max_iter=1).partition.vectors
    left = np.trace(expected) - np.trace(H.T @ expected @ H)
    assert found.history.objective[-1] == pytest.approx(left)


def test_samples_trust_the_view_that_tells_of_them():
    # two views, each with two groups in its own half of the samples and nothing but noise in the other
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1, 2, 3], 20)
    first = np.where(groups[:, None] < 2, np.eye(4)[groups] * 4, 0) + rng.normal(0, 1, (80, 4)) * (groups[:, None] > 1)
    second = np.where(groups[:, None] > 1, np.eye(4)[groups] * 4, 0) + rng.normal(0, 1, (80, 4)) * (groups[:, None] < 2)
    first, second = first + rng.normal(0, 0.1, (80, 4)), second + rng.normal(0, 0.1, (80, 4))
    model = LMKKM(4, kernel="cosine", scaling=None, random_state=0).fit([first, second])
    weights = model.sample_view_weights_
    assert weights.shape == (80, 2)
    np.testing.assert_allclose(model.view_weights_, weights.mean(axis=0))
    assert weights[groups < 2, 0].mean() > weights[groups > 1, 0].mean()


def test_a_constant_view_gets_no_weight_from_any_sample(three_views):
    with pytest.warns(UserWarning, match="view_1' is constant"):
        model = LMKKM(3, random_state=0).fit([three_views[0][0], np.ones((60, 1)), three_views[0][1]])
    assert not model.sample_view_weights_[:, 1].any()
    np.testing.assert_allclose(model.sample_view_weights_.sum(axis=1), 1)


def test_one_kernel_is_kernel_k_means(stored_kernels, same_subspace):
    K = stored_kernels("synth140").kernels[0]
    found = solve_lmkkm(ExactKernels((K,)), 4)
    same_subspace(found.partition.vectors, ExactKernels((K,)).leading(np.ones(1), 4).vectors)

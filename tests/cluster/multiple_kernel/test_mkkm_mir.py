import numpy as np
import pytest

from manyviews import MKKMMiR
from manyviews.cluster.multiple_kernel.mkkm import solve_mkkm
from manyviews.cluster.multiple_kernel.mkkm_mir import solve_mkkm_mir
from manyviews.kernels.kernel_set import ExactKernels

CASES = [("synth140", 4), ("digits300", 10)]


@pytest.mark.parametrize(("case", "k"), CASES)
@pytest.mark.parametrize("i", range(4))
def test_each_iteration_as_released(reference, stored_kernels, same_directions, case, k, i):
    ref, kernels = reference(f"mkkm_mir/{case}.npz"), stored_kernels(case)
    options = {"regularization": float(ref["lambdas"][i]), "combination": "released"}
    found = solve_mkkm_mir(kernels, k, **options)
    np.testing.assert_allclose(found.history.objective, ref[f"code{i}_obj"], rtol=1e-9)
    np.testing.assert_allclose(found.weights, ref[f"code{i}_gamma"], atol=1e-9)
    before = solve_mkkm_mir(kernels, k, **options, tol=0.0, max_iter=found.history.n_iter - 1)
    same_directions(before.partition.vectors, ref[f"code{i}_H_rownorm"])


@pytest.mark.parametrize(("case", "k"), CASES)
@pytest.mark.parametrize("i", range(4))
def test_each_iteration_as_printed(reference, stored_kernels, same_subspace, case, k, i):
    ref, kernels = reference(f"mkkm_mir/{case}.npz"), stored_kernels(case)
    lam = float(ref["lambdas"][i])
    found = solve_mkkm_mir(kernels, k, regularization=lam)
    np.testing.assert_allclose(found.history.objective, ref[f"paper{i}_obj"], rtol=1e-9)
    np.testing.assert_allclose(found.weights, ref[f"paper{i}_gamma"], atol=1e-9)
    before = solve_mkkm_mir(kernels, k, regularization=lam, tol=0.0, max_iter=found.history.n_iter - 1)
    same_subspace(before.partition.vectors, ref[f"paper{i}_H"])
    assert (np.diff(found.history.objective) <= 1e-9).all()
    assert found.history.objective[-1] <= ref[f"code{i}_obj"][-1]


@pytest.mark.parametrize("case", ["synth140", "digits300"])
def test_products_of_kernels(reference, stored_kernels, case):
    np.testing.assert_allclose(stored_kernels(case).products(), reference(f"mkkm_mir/{case}.npz")["M"], rtol=1e-9)


def test_without_regularization_it_is_mkkm(stored_kernels):
    kernels = stored_kernels("synth140")
    plain = solve_mkkm(kernels, 4, tol=0.0, max_iter=40)
    found = solve_mkkm_mir(kernels, 4, regularization=0.0, tol=0.0, max_iter=40)
    np.testing.assert_allclose(found.weights, plain.weights, atol=1e-8)


def test_a_kernel_given_twice_shares_its_weight(stored_kernels):
    one, two, _ = stored_kernels("synth140").kernels
    single = solve_mkkm_mir(ExactKernels((one, two)), 4, regularization=8.0).weights
    double = solve_mkkm_mir(ExactKernels((one, one, two)), 4, regularization=8.0).weights
    # the copies together count about as much as the one did, far less than two thirds of all
    assert double[0] == pytest.approx(double[1], abs=1e-6)
    assert double[:2].sum() < single[0] + 0.1


def test_both_forms_are_to_be_had(three_views):
    views, _ = three_views
    printed = MKKMMiR(3, random_state=0).fit(views)
    released = MKKMMiR(3, combination="released", random_state=0).fit(views)
    assert not np.array_equal(printed.view_weights_, released.view_weights_)
    np.testing.assert_array_equal(printed.labels_, released.labels_)

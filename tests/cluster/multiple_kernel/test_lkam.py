import numpy as np
import pytest

from manyviews import LKAM
from manyviews.cluster.multiple_kernel.base import shares
from manyviews.cluster.multiple_kernel.lkam import local_kernels, neighbourhood_counts, solve_lkam
from manyviews.cluster.multiple_kernel.mkkm_mir import solve_mkkm_mir

CASES = [("synth140", 4), ("digits300", 10)]
RELEASES = [("v1", "released"), ("v2", "paper")]


@pytest.mark.parametrize(("case", "k"), CASES)
@pytest.mark.parametrize(("release", "combination"), RELEASES)
@pytest.mark.parametrize("i", range(3))
def test_each_iteration_of_both_releases(reference, stored_kernels, same_directions, case, k, release, combination, i):
    ref = reference(f"lkam/{case}.npz")
    tau, lam = map(float, ref["tau_lambda"][i])
    options = {"neighborhood": tau, "regularization": lam, "include_self": False, "combination": combination}
    found = solve_lkam(stored_kernels(case), k, **options)
    np.testing.assert_allclose(found.history.objective, ref[f"{release}_{i}_obj"], rtol=1e-9)
    np.testing.assert_allclose(found.weights, ref[f"{release}_{i}_gamma"], atol=1e-9)
    before = solve_lkam(stored_kernels(case), k, **options, tol=0.0, max_iter=found.history.n_iter - 1)
    same_directions(before.partition.vectors, ref[f"{release}_{i}_H_rownorm"])
    if combination == "paper":
        assert (np.diff(found.history.objective) <= 1e-9).all()


@pytest.mark.parametrize(("case", "k"), CASES)
@pytest.mark.parametrize("i", range(3))
def test_shared_neighbourhoods_and_products_within_them(reference, stored_kernels, case, k, i):
    ref, kernels = reference(f"lkam/{case}.npz"), stored_kernels(case)
    average, n = kernels.combination(shares(kernels)), len(kernels.kernels[0])
    A = neighbourhood_counts(average, float(ref["tau_lambda"][i, 0]), include_self=False)
    np.testing.assert_array_equal(A.diagonal(), ref[f"A0_diag_{i}"])
    np.testing.assert_array_equal(A[0], ref[f"A0_row0_{i}"])
    assert A.diagonal().sum() == n * round(float(ref["tau_lambda"][i, 0]) * n)
    masks = [A * K / n for K in kernels.kernels]
    local, products = local_kernels(kernels, A)
    np.testing.assert_allclose(products, ref[f"HE_{i}"], rtol=1e-9)
    for masked, K in zip(masks, local.kernels, strict=True):
        np.testing.assert_allclose(K, masked, atol=1e-15)


def test_neighbours_are_the_most_similar_the_first_of_equal_ones():
    K = np.array([[9.0, 1, 1, 0], [1, 9, 0, 2], [1, 0, 9, 0], [0, 2, 0, 9]])
    # one neighbour each: 1 (before 2, as similar), 3, 0, 1
    expected = np.zeros((4, 4))
    for sample, neighbour in enumerate([1, 3, 0, 1]):
        expected[neighbour, neighbour] += 1
        assert K[sample, neighbour] == np.delete(K[sample], sample).max()
    np.testing.assert_array_equal(neighbourhood_counts(K, 0.25, include_self=False), expected)


def test_neighbourhoods_of_all_samples_are_mkkm_mir(stored_kernels):
    kernels = stored_kernels("synth140")
    whole = solve_mkkm_mir(kernels, 4, regularization=1.0)
    found = solve_lkam(kernels, 4, neighborhood=1.0, regularization=1.0)
    np.testing.assert_allclose(found.weights, whole.weights, atol=1e-9)
    np.testing.assert_allclose(found.history.objective, whole.history.objective, rtol=1e-9)


def test_samples_in_nobodys_neighbourhood_have_no_place_but_by_their_own(reference, stored_kernels):
    alone = solve_lkam(stored_kernels("synth140"), 4, neighborhood=0.02, include_self=False)
    assert (~alone.partition.vectors.any(axis=1)).sum() == 13
    assert solve_lkam(stored_kernels("synth140"), 4, neighborhood=0.02).partition.vectors.any(axis=1).all()


def test_it_says_what_it_cannot_do(three_views):
    model = LKAM(3, random_state=0).fit(three_views[0])
    assert not hasattr(model, "predict")
    assert "n_landmarks" not in model.get_params()

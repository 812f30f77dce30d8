import numpy as np
import pytest

from manyviews import ONKC
from manyviews.cluster.multiple_kernel.onkc import solve_onkc
from manyviews.linalg.eigen import eigenpairs_above


@pytest.mark.parametrize(("case", "k"), [("synth140", 4), ("digits300", 10)])
@pytest.mark.parametrize("i", range(3))
def test_each_iteration_of_the_released_code(reference, stored_kernels, same_directions, case, k, i):
    ref, kernels = reference(f"onkc/{case}.npz"), stored_kernels(case)
    rho, lam = ref["rho_lambda"][i]
    options = {"closeness": float(rho), "regularization": float(lam)}
    found, factor = solve_onkc(kernels, k, **options, tol=1e-3)
    G = factor @ factor.T
    np.testing.assert_allclose(found.history.objective, ref[f"code{i}_obj"], rtol=1e-9)
    np.testing.assert_allclose(found.weights, ref[f"code{i}_gamma"], atol=1e-9)
    np.testing.assert_allclose(G[:8, :8], ref[f"code{i}_G_block"], atol=1e-9)
    np.testing.assert_allclose([np.trace(G), np.linalg.norm(G)], ref[f"code{i}_G_trace_fro"], rtol=1e-9)
    assert factor.shape[1] >= k
    assert (np.diff(found.history.objective) <= 1e-9 * found.history.objective[0]).all()
    # the release returns the partition that its last neighbourhood kernel was made from
    before, _ = solve_onkc(kernels, k, **options, tol=0.0, max_iter=found.history.n_iter - 1)
    same_directions(before.partition.vectors, ref[f"code{i}_H_rownorm"])


@pytest.mark.parametrize("case", ["synth140", "digits300"])
def test_products_of_kernels(reference, stored_kernels, case):
    np.testing.assert_allclose(stored_kernels(case).products(), reference(f"onkc/{case}.npz")["M"], rtol=1e-9)


def test_eigenpairs_above_a_threshold_of_a_large_matrix():
    rng = np.random.default_rng(0)
    values = np.concatenate([np.linspace(5, 2, 40), np.linspace(0.9, 0, 560)])
    Q = np.linalg.qr(rng.normal(size=(600, 600)))[0]
    for guess in (5, 35, 600):  # too few, few enough for Lanczos iterations, and all
        found, vectors = eigenpairs_above((Q * values) @ Q.T, 1.0, 3, guess)
        np.testing.assert_allclose(found, values[:40], atol=1e-9)
        np.testing.assert_allclose(vectors @ vectors.T, Q[:, :40] @ Q[:, :40].T, atol=1e-7)
    # no more than asked for at least where none is above
    assert eigenpairs_above((Q * values) @ Q.T, 6.0, 3, 600)[0].shape == (3,)


def test_a_small_closeness_cuts_the_rank_to_the_number_of_clusters(three_views):
    views, _ = three_views
    ranks = [ONKC(3, closeness=rho, random_state=0).fit(views).rank_ for rho in (1e-3, 1.0, 4.0)]
    assert ranks[0] == 3
    assert ranks == sorted(ranks)
    assert ranks[-1] > ranks[0]

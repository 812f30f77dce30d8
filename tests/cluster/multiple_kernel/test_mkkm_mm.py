import numpy as np
import pytest

from manyviews import MKKMMM, AverageKKM
from manyviews.cluster.multiple_kernel.mkkm_mm import solve_mkkm_mm
from manyviews.kernels.kernel_set import ExactKernels
from manyviews.kernels.kernels import center_and_normalize, fit_kernel, gram


@pytest.mark.parametrize(("case", "k"), [("synth140", 4), ("digits300", 10)])
def test_the_weights_of_each_iteration(reference, stored_kernels, same_subspace, case, k):
    ref = reference(f"mkkm_mm/{case}.npz")
    found, trace = solve_mkkm_mm(stored_kernels(case), k, tol=1e-4)
    np.testing.assert_allclose(trace, ref["theta_per_iter"], atol=1e-10)
    np.testing.assert_allclose(found.weights, ref["theta"], atol=1e-10)
    same_subspace(found.partition.vectors, ref["H"])


def test_the_trace_printed_in_the_read_me_of_the_authors_package(shared_arrays):
    ref = shared_arrays("reference/mkkm_mm/readme_simB.npz")
    kernels = []
    for view in ("view1", "view2"):
        kernels.append(gram(fit_kernel(ref[view], "rbf_meandist", gamma=float(ref["rbf_gamma"])), ref[view]))
        center_and_normalize(kernels[-1], unit=False)
    _, trace = solve_mkkm_mm(ExactKernels(tuple(kernels)), int(ref["k"]), tol=1e-4, max_iter=10)
    printed = ref["theta_per_iter_printed"]
    np.testing.assert_allclose(trace[: len(printed)], printed, atol=6e-8)
    views = [ref["view1"], ref["view2"]]
    model = MKKMMM(3, gamma=float(ref["rbf_gamma"]), scaling=None, tol=1e-4, max_iter=10, random_state=0).fit(views)
    np.testing.assert_allclose(model.view_weights_, printed[-1] / printed[-1].sum(), atol=6e-8)


def test_at_the_end_weights_follow_what_the_partition_leaves(stored_kernels):
    kernels = stored_kernels("synth140")
    found, _ = solve_mkkm_mm(kernels, 4, tol=1e-10, max_iter=200)
    assert found.history.converged
    assert np.linalg.norm(found.weights) == pytest.approx(1)
    left = kernels.own_traces - kernels.traces(found.partition.vectors)
    np.testing.assert_allclose(found.weights, left / np.linalg.norm(left), atol=1e-8)


def test_no_other_weights_leave_more(stored_kernels):
    kernels = stored_kernels("synth140")
    found, _ = solve_mkkm_mm(kernels, 4, tol=1e-10, max_iter=200)
    for theta in np.abs(np.random.default_rng(0).normal(size=(30, 3))):
        other = theta / np.linalg.norm(theta)
        left = kernels.own_traces - kernels.traces(kernels.leading(other, 4).vectors)
        assert other @ left <= found.history.objective[-1] + 1e-9


def test_where_best_answers_go_round_the_objective_is_climbed():
    # H holds one of two kernels of rank one whole, whichever weighs more, and the other gets all the weight next
    first, second = np.diag([1.0, 0.0, 0.1]), np.diag([0.0, 1.0, 0.1])
    found, trace = solve_mkkm_mm(ExactKernels((first, second)), 1)
    assert found.history.converged
    assert found.history.n_iter < 50
    assert found.history.objective[-1] == max(found.history.objective[len(trace) // 2 :])


def test_kernels_of_equal_trace_come_to_the_average(three_views):
    views, _ = three_views
    model = MKKMMM(3, normalization="cosine", random_state=0).fit(views)
    np.testing.assert_array_equal(model.labels_, AverageKKM(3, random_state=0).fit(views).labels_)

"""SwMC against the released code, and what its searches keep."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from manyviews import SwMC
from manyviews.cluster.spectral.swmc import solve_swmc
from manyviews.graphs.adaptive_neighbors import adaptive_graph
from manyviews.metrics import adjusted_rand_index


@pytest.mark.parametrize("case", [1, 2])
@pytest.mark.parametrize("rule", ["released", "components"])
def test_every_iteration_of_the_released_code(reference, case, rule):
    ref = reference(f"swmc/swmc_small_cfg{case}.npz")
    graphs = [sparse.csr_array(ref[f"W{v}"]) for v in range(3)]
    k, n_iter = int(ref["n_clusters"]), len(ref["objective"])
    found = solve_swmc(graphs, k, alpha=ref["alpha_init"], rank_rule=rule, tol=0.0, max_iter=n_iter)
    np.testing.assert_allclose(found.history.objective, ref["objective"], rtol=1e-10)
    np.testing.assert_allclose(found.alpha, ref["view_weights"][-1], rtol=1e-8)
    np.testing.assert_allclose(found.graph.S.toarray(), ref["S"], atol=1e-9)
    assert adjusted_rand_index(ref["labels"], found.graph.components) == 1.0
    assert found.graph.n_components == k


def test_the_graph_of_the_solution(reference):
    z = reference("small_3view/small_3view.npz")
    graphs = [adaptive_graph(z[f"view{v}"], 5) for v in range(3)]
    found = solve_swmc(graphs, 3)
    S = found.graph.S.toarray()
    np.testing.assert_allclose(S.sum(axis=1), 1, atol=1e-12)
    assert S.min() >= 0
    assert not S[sum(graphs).toarray() == 0].any()
    assert sparse.csgraph.connected_components(found.graph.S, directed=False)[0] == 3
    distances = [np.linalg.norm(S - A.toarray()) for A in graphs]
    np.testing.assert_allclose(found.alpha, 0.5 / np.array(distances), rtol=1e-10)
    assert found.history.objective[-1] == pytest.approx(sum(distances))
    assert (np.diff(found.history.objective[1:]) <= 1e-9).all()


def test_more_samples_than_are_worth_the_wait_are_refused_and_others_named(three_views):
    views, labels = three_views
    with pytest.raises(
        ValueError, match=r"SwMC would take hours for 60 samples.*max_samples=59; .*parameters (?!SwMC)"
    ):
        SwMC(3, max_samples=59).fit(views)
    model = SwMC(3, max_samples=60).fit(views)
    assert adjusted_rand_index(labels, model.labels_) == 1.0
    assert model.n_components_ == 3
    assert model.confidence_.min() > 0.5


def test_without_a_penalty_that_fits_k_means_decides_and_says_so():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    with pytest.warns(ConvergenceWarning, match=r"1 connected components instead of 4.*k-means on its embedding"):
        model = SwMC(4, max_passes=1, max_iter=3, random_state=0).fit([X, X])
    assert not model.converged_
    assert set(model.labels_) == {0, 1, 2, 3}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert SwMC(4, random_state=0).fit([X, X]).n_components_ == 4

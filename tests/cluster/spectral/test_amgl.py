"""AMGL against the released code, and what its iterations keep."""

import numpy as np
import pytest
from scipy import sparse

from manyviews.cluster.spectral.amgl import solve_amgl
from manyviews.graphs.adaptive_neighbors import adaptive_graph
from manyviews.graphs.laplacian import normalized_adjacency


@pytest.fixture
def views(reference):
    z = reference("small_3view/small_3view.npz")
    return [z[f"view{v}"] for v in range(3)]


def test_the_graphs_of_the_released_code(views, reference):
    ref = reference("amgl/amgl_small.npz")
    for v, X in enumerate(views):
        np.testing.assert_allclose(adaptive_graph(X, 5).toarray(), ref[f"W{v}"], atol=1e-13)


def test_every_iteration_of_the_released_code(reference):
    ref = reference("amgl/amgl_small.npz")
    found = solve_amgl([sparse.csr_array(ref[f"W{v}"]) for v in range(3)], 3)
    assert found.history.n_iter == len(ref["objective"])
    assert found.history.converged
    np.testing.assert_allclose(found.history.objective, ref["objective"], rtol=1e-12)
    np.testing.assert_allclose(found.alpha, ref["view_weights"][-1], rtol=1e-10)
    np.testing.assert_allclose(found.F @ found.F.T, ref["F"] @ ref["F"].T, atol=1e-10)
    L = sum(a * (np.eye(90) - normalized_adjacency(ref[f"W{v}"])) for v, a in enumerate(ref["view_weights"][-1]))
    np.testing.assert_allclose(np.trace(found.F.T @ L @ found.F), ref["smallest_eigenvalues"][:3].sum(), rtol=1e-6)

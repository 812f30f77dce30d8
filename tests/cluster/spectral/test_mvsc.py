"""MVSC against the released code and the consistent weight rule, and what its iterations keep."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from manyviews.cluster.spectral.mvsc import neighbor_links, normalize_columns, solve_mvsc
from manyviews.graphs.anchor_graph import build_index, find_anchors
from manyviews.linalg.scaling import unit_rows


def graphs(reference, ref):
    views = reference("small_3view/small_3view.npz")
    found = []
    for v in range(3):
        squares = cdist(views[f"view{v}"], ref[f"marks{v}"], "sqeuclidean")
        near = find_anchors(build_index(ref[f"marks{v}"], "euclidean", int(ref["K"])), views[f"view{v}"], int(ref["K"]))
        Z = neighbor_links(near, squares.shape[1], squares.mean())
        found.append(normalize_columns(Z, np.asarray(Z.sum(axis=0)).ravel()))
    return found


@pytest.mark.parametrize("case", [1, 2, 3])
def test_the_iterations_of_the_released_code(reference, case):
    ref = reference(f"mvsc/mvsc_small_cfg{case}.npz")
    Z = graphs(reference, ref)
    np.testing.assert_allclose([view.toarray() for view in Z], ref["Zhat"], atol=1e-14)
    for t in range(1, len(ref["objective"]) + 1):
        found = solve_mvsc(Z, 3, exponent=float(ref["r"]), weight_rule="released", tol=0.0, max_iter=t)
        np.testing.assert_allclose(found.alpha, ref["view_weights"][t - 1], rtol=1e-10)
        np.testing.assert_allclose(found.embedding.values, ref["singular_values"][t - 1][1:], rtol=1e-10)
    np.testing.assert_allclose(found.history.objective, ref["objective"], rtol=1e-10)
    rows = np.vstack([unit_rows(found.embedding.U), unit_rows(found.embedding.W)])
    expected = np.vstack([ref["U"], ref["V"]])
    np.testing.assert_allclose(rows @ rows.T, expected @ expected.T, atol=1e-10)


@pytest.mark.parametrize("case", [1, 2])
def test_the_consistent_rule(reference, case):
    ref = reference(f"mvsc/mvsc_small_cfg{case}_bipartite_rule.npz")
    n_iter = len(ref["objective"])
    found = solve_mvsc(graphs(reference, ref), 3, exponent=float(ref["r"]), tol=0.0, max_iter=n_iter)
    np.testing.assert_allclose(found.history.objective, ref["objective"], rtol=1e-10)
    np.testing.assert_allclose(found.alpha, ref["view_weights"][-1], rtol=1e-8)
    rows, expected = unit_rows(found.embedding.U), unit_rows(ref["U"])
    np.testing.assert_allclose(rows @ rows.T, expected @ expected.T, atol=1e-9)
    assert (np.diff(found.history.objective) <= 1e-12).all()

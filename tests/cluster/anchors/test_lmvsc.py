"""LMVSC against the released code, and what it keeps."""

import numpy as np
import pytest

from manyviews.cluster.anchors.lmvsc import solve_lmvsc, subspace_coordinates
from manyviews.graphs.anchor_views import AnchorViews
from manyviews.linalg.scaling import Scaling
from manyviews.linalg.simplex_qp import solve_simplex_qp

CASES = [f"m{m}_alpha{alpha}" for m in (3, 8) for alpha in ("0.01", "1", "100")]


def plain(views, observed=None):
    return AnchorViews(tuple(views), (Scaling(None),) * len(views), observed)


@pytest.fixture
def small(reference):
    z = reference("small_3view/small_3view.npz")
    return [z[f"view{v}"] for v in range(3)], z["y"]


@pytest.mark.parametrize("case", CASES)
def test_the_released_code(reference, small, case):
    ref, (views, _) = reference(f"lmvsc/lmvsc_small_{case}.npz"), small
    anchors = [ref[f"H{v}"] for v in range(3)]
    result = solve_lmvsc(plain(views), anchors, 3, alpha=float(ref["alpha"]))
    coordinates, _ = subspace_coordinates(plain(views), anchors, float(ref["alpha"]), slice(0, 90))
    Z = np.split(coordinates * np.sqrt(3), 3, axis=1)
    np.testing.assert_allclose(Z, ref["Z"], atol=1e-9)
    U = result.embedding
    np.testing.assert_allclose(U, coordinates @ result.rotation, atol=1e-13)
    np.testing.assert_allclose(U @ U.T, ref["U"] @ ref["U"].T, atol=1e-11)
    np.testing.assert_allclose(U.T @ U, np.eye(3), atol=1e-9)
    assert (result.singular_values > 0).all()
    residual = [np.square(X - z @ H).sum() for X, z, H in zip(views, Z, anchors, strict=True)]
    expected = residual + float(ref["alpha"]) * np.square(Z).sum(axis=(1, 2))
    np.testing.assert_allclose(result.objective, expected, rtol=1e-10)

"""Co-regularised spectral clustering against the released code, and what its sweeps keep."""

import numpy as np
import pytest

from manyviews.cluster.spectral.coreg import solve_coreg
from manyviews.graphs.laplacian import normalized_adjacency
from manyviews.graphs.neighbors import gaussian_affinity
from manyviews.linalg.scaling import unit_rows


@pytest.fixture
def ref(reference):
    return reference("coreg_spectral/small.npz")


@pytest.fixture
def adjacencies(ref):
    return [normalized_adjacency(gaussian_affinity(ref[f"X{v}"])) for v in range(3)]


def test_the_pairwise_sweeps_of_the_released_code(ref, adjacencies):
    found = solve_coreg(adjacencies, 3, coupling=0.5, tol=0.0, max_iter=5)
    for U, expected in zip(found.U, ref["pairwise_projectors"], strict=True):
        np.testing.assert_allclose(U @ U.T, expected, atol=1e-12)
    for sweeps in range(1, 6):
        U = solve_coreg(adjacencies, 3, coupling=0.5, tol=0.0, max_iter=sweeps).U
        modified = adjacencies[0] + 0.5 * (U[1] @ U[1].T + U[2] @ U[2].T)  # view 0 comes last in a sweep
        assert np.trace(U[0].T @ modified @ U[0]) == pytest.approx(ref["pairwise_objective"][0, sweeps], rel=1e-12)


def test_the_centroid_passes_of_the_released_code(ref, adjacencies):
    # the sixth pass is the last common embedding
    found = solve_coreg(adjacencies, 3, scheme="centroid", coupling=0.5, tol=0.0, max_iter=5)
    rows = unit_rows(found.centroid)
    np.testing.assert_allclose(rows @ rows.T, ref["centroid_rownorm_gram"], atol=1e-12)


@pytest.mark.parametrize("scheme", ["pairwise", "centroid"])
def test_the_objective_never_falls(adjacencies, scheme):
    for coupling in (0.01, 0.5, 3.0):
        objective = solve_coreg(
            adjacencies, 3, scheme=scheme, coupling=coupling, tol=0.0, max_iter=15
        ).history.objective
        assert (np.diff(objective) >= -1e-12).all()

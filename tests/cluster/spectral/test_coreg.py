"""Co-regularised spectral clustering against the released code, and what its sweeps keep."""

import numpy as np
import pytest

from manyviews import CoRegSpectral
from manyviews.cluster.spectral import coreg
from manyviews.cluster.spectral.coreg import solve_coreg
from manyviews.datasets import make_blobs_views
from manyviews.graphs.laplacian import normalized_adjacency
from manyviews.graphs.neighbors import gaussian_affinity, neighbor_graph
from manyviews.linalg.blocks import unit_rows
from manyviews.metrics import adjusted_rand_index


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


def test_without_coupling_every_view_keeps_its_own_embedding(adjacencies):
    found = solve_coreg(adjacencies, 3, coupling=0.0)
    for U, N in zip(found.U, adjacencies, strict=True):
        own = np.linalg.eigh(N)[1][:, -3:]
        np.testing.assert_allclose(U @ U.T, own @ own.T, atol=1e-10)


@pytest.mark.parametrize("scheme", ["pairwise", "centroid"])
def test_iterations_for_many_samples_find_what_decompositions_find(scheme, monkeypatch):
    data = make_blobs_views(n_samples=600, n_features=(5, 4), n_clusters=3, random_state=0)
    graphs = [normalized_adjacency(neighbor_graph(X, 10)) for X in data.views.arrays]
    iterated = solve_coreg(graphs, 3, scheme=scheme, max_iter=3)
    monkeypatch.setattr(coreg, "DENSE_LIMIT", 1000)
    exact = solve_coreg(graphs, 3, scheme=scheme, max_iter=3)
    np.testing.assert_allclose(iterated.history.objective, exact.history.objective, rtol=1e-8)
    for a, b in zip(iterated.U, exact.U, strict=True):
        np.testing.assert_allclose(a @ a.T, b @ b.T, atol=1e-4)


def test_what_is_grouped(three_views):
    views, labels = three_views
    model = CoRegSpectral(3, random_state=0).fit(dict(zip("abc", views, strict=True)))
    np.testing.assert_array_equal(model.embedding_, np.hstack(list(model.view_embeddings_.values())))
    one = CoRegSpectral(3, cluster_view="b", random_state=0).fit(dict(zip("abc", views, strict=True)))
    np.testing.assert_array_equal(one.embedding_, one.view_embeddings_["b"])
    common = CoRegSpectral(3, scheme="centroid", affinity="gaussian", random_state=0).fit(views)
    assert common.embedding_.shape == (60, 3)
    for found in (model, one, common):
        assert adjusted_rand_index(labels, found.labels_) == 1.0


@pytest.mark.parametrize("parameters", [{"cluster_view": "d"}, {"cluster_view": "a", "scheme": "centroid"}])
def test_a_view_that_cannot_be_grouped_is_refused(three_views, parameters):
    with pytest.raises(ValueError, match=r"'cluster_view' must be None, or .*\['a', 'b', 'c'\]"):
        CoRegSpectral(3, **parameters).fit(dict(zip("abc", three_views[0], strict=True)))

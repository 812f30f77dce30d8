"""AMGL against the released code, and what its iterations keep."""

import numpy as np
import pytest
from scipy import sparse

from manyviews import AMGL
from manyviews.cluster.spectral.amgl import solve_amgl
from manyviews.datasets import make_blobs_views
from manyviews.graphs.adaptive_neighbors import adaptive_graph
from manyviews.graphs.laplacian import normalized_adjacency
from manyviews.metrics import adjusted_rand_index


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


def test_the_objective_never_rises_and_weights_follow_it(views):
    graphs = [adaptive_graph(X, 5) for X in views]
    found = solve_amgl(graphs, 3, tol=0.0, max_iter=30)
    assert (np.diff(found.history.objective) <= 1e-12).all()
    np.testing.assert_allclose(found.F.T @ found.F, np.eye(3), atol=1e-10)
    losses = [3 - np.trace(found.F.T @ normalized_adjacency(graph) @ found.F) for graph in graphs]
    np.testing.assert_allclose(found.alpha, 0.5 / np.sqrt(losses), rtol=1e-6)


def test_far_pairs_of_samples_get_more_neighbours():
    rng = np.random.default_rng(0)
    near = np.vstack([rng.normal(0, 1, (30, 2)), rng.normal(9, 1, (30, 2))])
    far = np.repeat(rng.normal(0, 200, (4, 2)), 3, axis=0) + rng.normal(0, 0.1, (12, 2))
    X = np.vstack([near, far])
    joined = AMGL(2, n_neighbors=2, scaling=None, random_state=0).fit([X, X])
    released = AMGL(2, n_neighbors=2, scaling=None, graph_rule="released", random_state=0).fit([X, X])
    assert released.n_neighbors_ == 2
    assert joined.n_neighbors_ > 2
    # with more components than vectors, the samples of the others all lie at the origin
    assert not np.abs(released.embedding_[60:]).sum(axis=1).all()
    assert np.abs(joined.embedding_).sum(axis=1).all()


def test_a_view_of_noise_counts_less():
    data = make_blobs_views(n_samples=150, n_features=(5, 4), n_clusters=3, random_state=0)
    noise = np.random.default_rng(1).normal(size=(150, 4))
    model = AMGL(3, random_state=0).fit([*data.views.arrays, noise])
    assert model.view_weights_.argmin() == 2
    assert adjusted_rand_index(data.labels, model.labels_) > 0.9

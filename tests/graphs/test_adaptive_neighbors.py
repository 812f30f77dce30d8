"""Graphs of adaptive neighbours, and Laplacians of graphs with several components."""

import numpy as np
import pytest
from scipy import sparse

from manyviews.graphs.adaptive_neighbors import adaptive_graph
from manyviews.graphs.laplacian import component_indicators, normalized_adjacency, smallest_laplacian_vectors


@pytest.fixture
def samples():
    return np.random.default_rng(0).normal(size=(40, 3))


def test_weights_of_a_row_by_hand():
    # from 0 the others lie at the squared distances 1, 4, 25: with K = 2 the weights are (25 - 1, 25 - 4) / (50 - 5)
    graph = adaptive_graph(np.array([[0.0], [1.0], [2.0], [5.0]]), 2).toarray()
    assert graph[0, 1] == pytest.approx((24 / 45 + graph_row(1)[0]) / 2)
    assert graph[0, 3] == pytest.approx(graph_row(3)[0] / 2)
    assert graph.sum() == pytest.approx(4)


def graph_row(i):
    x = np.array([0.0, 1.0, 2.0, 5.0])
    d = (x - x[i]) ** 2
    d[i] = np.inf
    order = np.argsort(d)
    weights = np.zeros(4)
    weights[order[:2]] = (d[order[2]] - d[order[:2]]) / (2 * d[order[2]] - d[order[:2]].sum())
    return weights


def test_scale_place_and_form_of_the_data_do_not_matter(samples):
    X = samples
    graph = adaptive_graph(X, 4).toarray()
    for other in (7 * X, X + 3, X @ np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]):
        np.testing.assert_allclose(adaptive_graph(other, 4).toarray(), graph, atol=1e-9)
    np.testing.assert_allclose(adaptive_graph(sparse.csr_array(X), 4).toarray(), graph, atol=1e-9)
    np.testing.assert_array_equal(graph, graph.T)
    assert not graph.diagonal().any()


def test_copies_are_neighbours_of_equal_weight():
    X = np.repeat([[0.0, 0.0], [9.0, 1.0]], 4, axis=0)
    graph = adaptive_graph(X, 2).toarray()
    assert not graph[:4, 4:].any()
    assert set(np.unique(graph)) <= {0.0, 0.25, 0.5}
    assert (graph.sum(axis=1) > 0).all()


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_samples(n):
    graph = adaptive_graph(np.arange(n, dtype=float)[:, None], 5)
    assert graph.shape == (n, n)
    assert graph.sum() == pytest.approx(n if n > 1 else 0)


def blocks(sizes, seed=0):
    rng = np.random.default_rng(seed)
    return sparse.csr_array(sparse.block_diag([adaptive_graph(rng.normal(size=(m, 2)), 12) for m in sizes]))


@pytest.mark.parametrize("sizes", [(60, 30, 40), (300, 250, 200)])
def test_the_smallest_eigenvectors_of_a_laplacian(sizes):
    graph = blocks(sizes)
    k = 5
    F, components = smallest_laplacian_vectors(graph, k)
    dense = np.diag(graph.toarray().sum(axis=0)) - graph.toarray()
    values, vectors = np.linalg.eigh(dense)
    assert values[k] - values[k - 1] > 1e-6
    np.testing.assert_allclose(F.T @ F, np.eye(k), atol=1e-9)
    np.testing.assert_allclose(F @ F.T, vectors[:, :k] @ vectors[:, :k].T, atol=1e-7)
    assert components.max() == 2
    two, _ = smallest_laplacian_vectors(graph, 2)
    np.testing.assert_array_equal(two, component_indicators(components, 2))
    assert (np.count_nonzero(two, axis=0) == sorted(sizes)[:0:-1]).all()


def test_the_normalised_adjacency_of_a_graph_with_a_lonely_sample():
    W = np.array([[0.0, 2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    expected = [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    np.testing.assert_allclose(normalized_adjacency(W), expected)
    np.testing.assert_allclose(normalized_adjacency(sparse.csr_array(W)).toarray(), expected)

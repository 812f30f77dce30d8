import numpy as np
import pytest
from scipy import sparse

from manyviews.graphs.components import bipartite_components


@pytest.mark.parametrize("seed", range(5))
def test_blocks_are_found_in_the_order_of_their_first_sample(seed):
    rng = np.random.default_rng(seed)
    samples, anchors = rng.integers(4, size=60), np.arange(8) % 4
    P = (samples[:, None] == anchors) * rng.random((60, 8))
    found = bipartite_components(P)
    first = list(dict.fromkeys(samples.tolist()))
    assert found.n_found == 4
    assert [first[c] for c in found.samples] == samples.tolist()
    assert [first[c] for c in found.anchors] == anchors.tolist()


def test_anchors_and_samples_without_edges():
    P = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.5]])
    found = bipartite_components(P)
    assert found.n_found == 2
    assert found.samples.tolist() == [0, 1, 0]
    assert found.anchors.tolist() == [0, -1, 0]


def test_stored_zeros_are_no_edges_and_stay_stored():
    P = sparse.csr_array((np.array([1.0, 0.0, 1.0]), np.array([0, 1, 1]), np.array([0, 2, 3])), shape=(2, 2))
    assert bipartite_components(P).n_found == 2
    assert P.nnz == 3


def test_one_edge_joins_two_components():
    P = np.kron(np.eye(2), np.ones((5, 2)))
    assert bipartite_components(P).n_found == 2
    P[0, 3] = 1e-12
    assert bipartite_components(P).n_found == 1

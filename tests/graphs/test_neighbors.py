"""The graph of nearest neighbours, block by block."""

from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import kneighbors_graph

from manyviews.cluster.parallel import in_threads
from manyviews.graphs import neighbors
from manyviews.graphs.neighbors import neighbor_graph
from manyviews.linalg.blocks import row_blocks


@pytest.mark.parametrize("made", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("run", [None, partial(in_threads, n_jobs=2)])
def test_blocks_of_rows_make_the_graph_of_all(monkeypatch, made, run):
    X = made(np.random.default_rng(0).normal(size=(70, 5)))
    whole = kneighbors_graph(X, 6, include_self=True)
    monkeypatch.setattr(neighbors, "row_blocks", lambda n: row_blocks(n, 16))
    found = neighbor_graph(X, 6) if run is None else neighbor_graph(X, 6, run)
    np.testing.assert_array_equal(found.toarray(), 0.5 * (whole + whole.T).toarray())


def test_wide_rows_have_the_neighbours_that_their_distances_say():
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(60, 2_500)) + 0.2 * rng.normal(size=(3, 2_500)).repeat(20, axis=0)).astype(np.float32)
    assert neighbors._is_wide(X)
    found = neighbor_graph(X, 7)
    wanted = kneighbors_graph(X.astype(np.float64), 7, include_self=True)
    assert np.array_equal(found.toarray(), (0.5 * (wanted + wanted.T)).toarray())


def test_all_distances_are_taken_only_where_they_are_smaller_than_copies_of_rows():
    few, many = np.zeros((60, 2_500), np.float32), np.zeros((900, 2_500), np.float32)
    assert neighbors._is_wide(few)
    assert 8 * 2 * 60**2 < neighbors.neighbor_bytes(few) <= 8 * 2 * 256 * 2_500
    for X in (many, few.astype(np.float64), few[:, :2_000], sparse.csr_array(few)):  # double precision is not copied
        assert not neighbors._is_wide(X)
    assert neighbors.neighbor_bytes(many) == 0

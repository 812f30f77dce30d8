import numpy as np
import pytest
from scipy import sparse

from manyviews.linalg.blocks import unit_rows
from manyviews.partitions.basic import cluster_numbers, distinct_rows, random_partition
from manyviews.prototypes.block_kmeans import RowSteps, assign_rows, row_kmeans


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_released_kmeans_from_given_rows(reference, metric, form):
    ref = reference("basic_partitions/small.npz")
    name = "euclidean" if metric == "euclidean" else "cosine"
    X = ref["X"] if metric == "euclidean" else unit_rows(ref["X"])
    found = row_kmeans(form(X), X[ref["seeds"]], metric)
    np.testing.assert_array_equal(found.labels, ref[f"labels_{name}"])
    np.testing.assert_allclose(found.centers, ref[f"centers_{name}"], atol=1e-12)


def test_an_emptied_cluster_gets_the_sample_that_fits_worst():
    X = np.array([[0.0], [0.1], [10.0], [30.0]])
    found = row_kmeans(X, np.array([[0.0], [10.0], [1e6]]), "euclidean")
    assert len(set(found.labels.tolist())) == 3
    assert found.labels[0] == found.labels[1]


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_labels_are_those_of_the_centers_returned_and_the_losses_are_what_they_say(metric):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    X = unit_rows(X) if metric == "cosine" else X
    found = random_partition(X, 6, rng, candidates=np.arange(80), metric=metric, max_iter=2)
    labels, gaps = assign_rows(X, found.centers, metric)
    np.testing.assert_array_equal(labels, found.labels)
    if metric == "cosine":
        expected = 1 - (X @ found.centers.T).max(axis=1)
    else:
        expected = ((X[:, None] - found.centers) ** 2).sum(axis=2).min(axis=1)
    np.testing.assert_allclose(RowSteps(X, metric).losses(gaps), expected, atol=1e-12)


def test_numbers_of_clusters_cover_the_range_and_collapse_where_it_is_empty():
    numbers = cluster_numbers(500, 3, 7, np.random.default_rng(0))
    assert set(numbers.tolist()) == {3, 4, 5, 6, 7}
    assert set(cluster_numbers(20, 5, 3, np.random.default_rng(0)).tolist()) == {5}


def test_equal_rows_are_found_in_dense_and_sparse_form():
    X = np.array([[1.0, 2], [0, 0], [1, 2], [-0.0, 0], [2, 1]])
    np.testing.assert_array_equal(distinct_rows(X), [0, 1, 4])
    stored = sparse.csr_array(X)
    np.testing.assert_array_equal(distinct_rows(stored), [0, 1, 4])
    explicit = sparse.csr_array((np.array([0.0, 1, 2, 2, 1]), np.array([0, 0, 1, 1, 0]), np.array([0, 1, 3, 5])))
    np.testing.assert_array_equal(distinct_rows(explicit), [0, 1])

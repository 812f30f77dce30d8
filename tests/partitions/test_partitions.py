import numpy as np
import pytest

from manyviews.kernels.embedding import common_projection, factor_partition, spectral_partition
from manyviews.linalg.blocks import unit_rows
from manyviews.partitions.discretize import center_confidence, direction_confidence, kmeans_rows
from manyviews.partitions.onehot import cluster_order, cluster_sums


def test_cluster_sums_equal_dense_membership_products():
    rng = np.random.default_rng(0)
    labels, X = rng.integers(4, size=(3, 50)), rng.normal(size=(50, 5))
    expected = [np.eye(4)[row].T @ X for row in labels]
    np.testing.assert_allclose(cluster_sums(labels, X, 4), expected, atol=1e-12)
    assert not cluster_sums(np.zeros((1, 50), int), X, 2)[0, 1].any()


def test_clusters_are_numbered_by_size_then_first_appearance():
    labels = np.array([4, 2, 2, 4, 0, 2])
    np.testing.assert_array_equal(cluster_order(labels, 5)[labels], [1, 0, 0, 1, 2, 0])
    tied = np.array([3, 1, 1, 3])
    np.testing.assert_array_equal(cluster_order(tied, 4)[tied], [0, 1, 1, 0])


def test_a_factor_gives_the_partition_of_its_kernel():
    Z = np.random.default_rng(0).normal(size=(40, 6)) * [9, 7, 5, 1, 1, 1]
    values, projection = factor_partition(Z.T @ Z, 3)
    exact = spectral_partition(Z @ Z.T, 3)
    np.testing.assert_allclose(values, exact.values)
    H = Z @ projection
    np.testing.assert_allclose(H.T @ H, np.eye(3), atol=1e-10)
    np.testing.assert_allclose(H @ H.T, exact.vectors @ exact.vectors.T, atol=1e-8)


def test_directions_beyond_the_rank_are_zero():
    Z = np.outer(np.arange(5.0), [1.0, 2.0])
    values, projection = factor_partition(Z.T @ Z, 4)
    assert np.count_nonzero(np.abs(projection).sum(axis=0)) == 1
    assert values.shape == (4,)


def test_the_common_partition_of_equal_partitions_is_theirs_whatever_their_rotation():
    rng = np.random.default_rng(0)
    H = np.linalg.qr(rng.normal(size=(30, 3)))[0]
    Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    stacked = np.hstack([H, H @ Q])
    common = stacked @ common_projection(stacked, 3)
    np.testing.assert_allclose(common @ common.T, H @ H.T, atol=1e-10)


def test_kmeans_on_unit_rows():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 10)
    H = np.eye(2)[labels] * rng.uniform(0.1, 9, (20, 1))
    result = kmeans_rows(H, 2, rng)
    assert len(set(zip(labels, result.labels, strict=True))) == 2
    assert result.inertia == pytest.approx(0, abs=1e-12)


def test_confidences_by_hand():
    np.testing.assert_allclose(center_confidence(np.array([[1.0, 4], [2, 2], [0, 3]])), [0.75, 0, 1])
    np.testing.assert_allclose(center_confidence(np.ones((2, 1))), 1)
    R = np.array([[5.0, 0], [1, 1], [-1, 0]])
    np.testing.assert_allclose(direction_confidence(R, np.eye(2)), [1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(unit_rows(R), axis=1), 1)

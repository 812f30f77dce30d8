import numpy as np

from manyviews.metrics import adjusted_rand_index
from manyviews.prototypes.binary_codes import (
    CodeClusters,
    CodeRule,
    assign_codes,
    cluster_codes,
    nearest_codes,
    signs,
    start_clusters,
)


def test_empty_clusters_take_the_farthest_code_or_remain():
    codes = np.array([[1] * 8] * 5 + [[0] * 8] * 4 + [[1, 1, 1, 0, 0, 0, 0, 0]], dtype=np.uint8)
    bits = np.packbits(codes, axis=1)
    centers = np.where(np.array([[1] * 8, [0] * 8, [0] * 8]) > 0, 1.0, -1.0).astype(np.float32)
    start = assign_codes(bits, centers)
    assert set(start.labels) == {0, 1}
    filled = cluster_codes(bits, start, CodeRule(refill=True))
    assert filled.labels[-1] == 2
    np.testing.assert_array_equal(np.bincount(filled.labels), [5, 4, 1])
    released = cluster_codes(bits, start, CodeRule(refill=False))
    assert set(released.labels) == {0, 1}
    np.testing.assert_array_equal(released.centers[2], np.ones(8))


def test_equal_codes_are_not_parted_to_fill_a_cluster():
    bits = np.zeros((6, 1), dtype=np.uint8)
    start = CodeClusters(-np.ones((2, 8), np.float32), np.zeros(6, np.int64), np.zeros(6, np.float32))
    assert not cluster_codes(bits, start, CodeRule(refill=True)).labels.any()


def test_starts_far_apart_and_from_distinct_codes_find_the_groups():
    rng = np.random.default_rng(0)
    centers = rng.random((5, 64)) > 0.5
    labels = rng.integers(5, size=300)
    codes = centers[labels] ^ (rng.random((300, 64)) < 0.1)
    bits = np.packbits(codes, axis=1)
    for spread, n_init in ((True, 5), (False, 10)):
        found = start_clusters(bits, 5, 64, CodeRule(), np.random.default_rng(0), n_init=n_init, spread=spread)
        assert adjusted_rand_index(labels, found.labels) == 1.0
        np.testing.assert_array_equal(found.distances, (found.centers[found.labels] > 0).__xor__(codes).sum(axis=1))


def test_hamming_distances_and_ties():
    bits = np.packbits(np.array([[1, 1, 1, 0, 0, 0, 0, 0, 1, 0], [0] * 10], dtype=np.uint8), axis=1)
    centers = np.array([[1] * 10, [-1] * 10, [-1] * 10], dtype=np.float32)
    labels, distances = nearest_codes(bits, centers)
    np.testing.assert_array_equal(distances, [[6, 4, 4], [10, 0, 0]])
    np.testing.assert_array_equal(labels, [1, 1])
    np.testing.assert_array_equal(signs(bits, 10)[0], [1, 1, 1, -1, -1, -1, -1, -1, 1, -1])

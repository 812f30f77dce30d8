import numpy as np

from manyviews.prototypes.binary_codes import CodeClusters, CodeRule, assign_codes, cluster_codes


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

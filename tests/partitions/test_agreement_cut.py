import numpy as np
import pytest

from manyviews.metrics import adjusted_rand_index
from manyviews.partitions.agreement_cut import fit_agreement_cut


def base_clusterings(seed, n=300, k=4, M=20, noise=0.2, missing=0.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    sizes = rng.integers(k, 2 * k, size=M, endpoint=True)
    labels = np.empty((n, M), dtype=np.int32)
    for m, size in enumerate(sizes):
        split = y + k * rng.integers(2, size=n)
        labels[:, m] = np.where(rng.random(n) < noise, rng.integers(size, size=n), split % size if size < k else split)
        labels[:, m] %= size
    labels[rng.random((n, M)) < missing] = -1
    return labels, sizes.astype(np.int64), y


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_groups_in_noisy_base_clusterings_are_found_and_predicted(seed, missing):
    labels, sizes, y = base_clusterings(seed, missing=missing)
    found, cut = fit_agreement_cut(labels, sizes, 4, np.random.default_rng(0))
    assert adjusted_rand_index(y, found) > 0.9
    np.testing.assert_array_equal(cut.predict(labels), found)
    confidence = cut.confidence(labels, found)
    assert (confidence >= 0).all()
    assert (confidence <= 1 + 1e-12).all()


def test_more_samples_than_the_starts_see():
    labels, sizes, y = base_clusterings(0, n=6000)
    found, cut = fit_agreement_cut(labels, sizes, 4, np.random.default_rng(0))
    assert adjusted_rand_index(y, found) > 0.9
    np.testing.assert_array_equal(cut.predict(labels), found)


def test_weights_decide_between_two_stories():
    rng = np.random.default_rng(0)
    a, b = rng.integers(2, size=(2, 200))
    labels, sizes = np.column_stack([a, a, b, b, b]).astype(np.int32), np.full(5, 2)
    for weights, winner in ((np.ones(5), b), (np.array([9.0, 9, 1, 1, 1]), a)):
        found = fit_agreement_cut(labels, sizes, 2, np.random.default_rng(0), weights=weights)[0]
        assert adjusted_rand_index(winner, found) == 1.0


def test_samples_without_base_labels_stay_without():
    labels, sizes, y = base_clusterings(1)
    labels[:5] = -1
    found, cut = fit_agreement_cut(labels, sizes, 4, np.random.default_rng(0))
    np.testing.assert_array_equal(found[:5], -1)
    assert adjusted_rand_index(y[5:], found[5:]) > 0.9
    assert not cut.confidence(labels, found)[:5].any()
    nobody = fit_agreement_cut(np.full((4, 2), -1), np.array([1, 1]), 2, np.random.default_rng(0))[0]
    np.testing.assert_array_equal(nobody, -1)


def test_one_cluster_one_sample_and_fewer_distinct_samples_than_clusters():
    one = np.zeros((1, 3), dtype=np.int32)
    assert fit_agreement_cut(one, np.ones(3, dtype=np.int64), 1, np.random.default_rng(0))[0].tolist() == [0]
    pairs = np.repeat([[0, 1], [1, 0]], 5, axis=0)
    found = fit_agreement_cut(pairs, np.array([2, 2]), 3, np.random.default_rng(0))[0]
    assert np.unique(found).size == 2
    assert adjusted_rand_index(np.repeat([0, 1], 5), found) == 1.0

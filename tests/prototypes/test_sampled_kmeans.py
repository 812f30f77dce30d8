import numpy as np

from manyviews.metrics import adjusted_rand_index
from manyviews.prototypes import sampled_kmeans as module
from manyviews.prototypes.sampled_kmeans import sampled_kmeans


def test_few_and_very_many_rows_are_grouped_alike(monkeypatch):
    rng = np.random.default_rng(0)
    labels = rng.integers(4, size=500)
    X = 10 * np.eye(4)[labels] + rng.normal(size=(500, 4))
    whole = sampled_kmeans(X, 4, np.random.default_rng(1))
    monkeypatch.setattr(module, "START_ROWS", 100)
    sampled = sampled_kmeans(X, 4, np.random.default_rng(1))
    assert adjusted_rand_index(labels, whole.labels) == adjusted_rand_index(labels, sampled.labels) == 1.0
    for found in (whole, sampled):
        nearest = np.square(X[:, None] - found.centers).sum(axis=2).argmin(axis=1)
        np.testing.assert_array_equal(nearest, found.labels)

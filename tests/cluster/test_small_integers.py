"""Integers of few bits mean the same as Python's, in every method and in the metrics."""

import numpy as np
import pytest

from few_members import few_votes, quick
from manyviews import datasets
from manyviews.cluster.registry import METHODS
from manyviews.metrics import match_labels

VIEWS = datasets.make_blobs_views(90, (5, 4), n_clusters=3, random_state=0).views


@pytest.mark.parametrize("row", METHODS, ids=lambda row: row.name)
def test_number_of_clusters(row, monkeypatch):
    few_votes(monkeypatch)
    expected = quick(row, random_state=0).fit(VIEWS).labels_
    for dtype in (np.int8, np.uint8, np.int32):
        k = dtype(3)
        model = quick(row, k, random_state=0).fit(VIEWS)
        assert model.n_clusters is k
        np.testing.assert_array_equal(model.labels_, expected, err_msg=str(dtype))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint64])
def test_labels_that_are_matched(dtype):
    labels = np.arange(100) % 20
    np.testing.assert_array_equal(match_labels(labels.astype(dtype), (labels + 5) % 20), (labels + 5) % 20)


def test_matching_takes_memory_for_the_clusters_not_for_their_numbers():
    labels = np.array([0, 0, 30_000_000, 30_000_000, 5])
    assert match_labels(labels, [30_000_000, 30_000_000, 7, 7, 7]).tolist()[:4] == [30_000_000] * 2 + [7] * 2
    assert match_labels(labels, [-1, -1, -1, -1, 5]).tolist() == [0, 0, 30_000_000, 30_000_000, 5]

"""Clusters by the shares that they have in base clusters."""

import pickle

import numpy as np
import skops.io

from manyviews.partitions.consensus_vote import ShareVote


def test_the_largest_share_wins_and_unknown_base_clusters_say_nothing():
    base_labels = np.array([[0, 0], [0, 0], [0, 1], [1, 1], [1, 1], [1, -1]])
    vote = ShareVote(base_labels, np.array([0, 0, 1, 1, 1, 1]), 2)
    assert vote(base_labels).tolist() == [0, 0, 1, 1, 1, 1]
    assert vote(np.array([[0, 7], [-1, 1], [9, 0]])).tolist() == [0, 1, 0]


def test_a_cluster_that_shares_its_base_clusters_with_larger_ones_keeps_its_samples():
    # the third cluster is outvoted in both partitions
    base_labels = np.array([[0, 0]] * 8 + [[0, 1]] + [[1, 1]] * 8)
    labels = np.array([0] * 8 + [2] + [1] * 8)
    vote = ShareVote(base_labels, labels, 3)
    assert vote(base_labels).tolist() == labels.tolist()
    assert vote(np.array([[0, 1], [0, -1], [5, 1]], dtype=np.int32)).tolist() == [2, 0, 1]


def test_the_clusters_that_lose_all_to_one_that_is_restored_are_restored_too():
    rng = np.random.default_rng(0)
    for _ in range(100):
        rows = np.column_stack([rng.integers(0, 3, 8), rng.integers(-1, 3, 8)])
        given = rng.integers(0, 5, 8)
        distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
        labels = given[: len(distinct)][inverse.ravel()]
        vote = ShareVote(rows, labels, 5)
        assert set(vote(rows).tolist()) == set(labels.tolist())
        assert np.array_equal(vote(distinct)[inverse.ravel()], vote(rows))


def test_the_table_of_kept_rows_is_made_once_and_not_stored():
    base_labels = np.array([[0, 0]] * 8 + [[0, 1]] + [[1, 1]] * 8)
    vote = ShareVote(base_labels, np.array([0] * 8 + [2] + [1] * 8), 3)
    unused, before = pickle.dumps(vote), sorted(vote.__getstate__())
    first = vote(base_labels)
    table = vote._by_row
    assert list(table.values()) == [2]
    np.testing.assert_array_equal(vote(base_labels[8:]), first[8:])
    assert vote._by_row is table
    assert pickle.dumps(vote) == unused
    content = skops.io.dumps(vote)
    loaded = skops.io.loads(content, trusted=skops.io.get_untrusted_types(data=content))
    assert sorted(loaded.__dict__) == before
    np.testing.assert_array_equal(loaded(base_labels), first)

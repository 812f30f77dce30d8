import numpy as np
import pytest

from manyviews.prototypes.lloyd import fill_empty, lloyd


def steps(X):
    """One-dimensional k-means, spelled out."""

    def assign(centers):
        distances = (X[:, None] - centers) ** 2
        return distances.argmin(axis=1), distances.min(axis=1)

    def update(labels, previous):
        return np.array([X[labels == j].mean() if (labels == j).any() else c for j, c in enumerate(previous)])

    return assign, update


def test_empty_clusters_take_the_samples_of_largest_loss():
    labels = np.array([0, 0, 0, 1, 1])
    assert fill_empty(labels, np.array([1.0, 5, 2, 9, 0]), 4)
    assert labels.tolist() == [0, 3, 0, 2, 1]
    assert not fill_empty(np.zeros(3, dtype=int), np.zeros(3), 2)


def test_a_sample_that_is_alone_in_its_cluster_stays():
    labels = np.array([0, 1, 1])
    assert fill_empty(labels, np.array([9.0, 1.0, 2.0]), 3)
    assert labels.tolist() == [0, 1, 2]


def test_samples_without_loss_move_where_no_cluster_may_stay_empty():
    labels = np.zeros(3, dtype=int)
    assert fill_empty(labels, np.zeros(3), 2, fill_all=True)
    assert labels.tolist() == [1, 0, 0]


def test_labels_belong_to_the_centers_and_the_objective_is_recorded_from_the_start():
    X = np.array([0.0, 1.0, 10.0, 11.0])
    run = lloyd(*steps(X), np.array([0.0, 1.0]), 2, max_iter=20)
    assert run.converged
    assert run.labels.tolist() == [0, 0, 1, 1]
    assert run.centers.tolist() == [0.5, 10.5]
    assert run.objective[0] == 181.0
    assert run.objective[-1] == 1.0
    assert run.n_iter == run.objective.size - 1
    assert (np.diff(run.objective) <= 0).all()


def test_an_emptied_cluster_starts_again_and_the_run_rests_once_that_holds():
    X = np.array([0.0, 0.1, 10.0, 30.0])
    run = lloyd(*steps(X), np.array([0.0, 10.0, 1e6]), 3, max_iter=50)
    assert run.converged
    assert run.n_iter <= 3
    assert len(set(run.labels.tolist())) == 3


def test_fewer_distinct_samples_than_clusters_come_to_rest():
    X = np.repeat([0.0, 1.0], 5)
    run = lloyd(*steps(X), np.array([0.0, 1.0, 7.0]), 3, max_iter=50)
    assert run.converged
    assert set(run.labels.tolist()) == {0, 1}


@pytest.mark.parametrize("max_iter", [0, 1, 2])
def test_without_iterations_left_it_says_so(max_iter):
    X = np.arange(40.0)
    run = lloyd(*steps(X), np.array([0.0, 1.0, 2.0]), 3, max_iter=max_iter)
    assert not run.converged
    assert run.n_iter == max_iter
    np.testing.assert_array_equal(run.labels, steps(X)[0](run.centers)[0])


def test_an_objective_that_settled_ends_the_run():
    X = np.random.default_rng(0).normal(size=400)
    start = np.array([-0.1, 0.0, 0.1, 0.2])
    early = lloyd(*steps(X), start, 4, max_iter=200, settled=lambda last, now: last - now < 0.05 * last)
    full = lloyd(*steps(X), start, 4, max_iter=200)
    assert early.converged
    assert full.converged
    assert early.n_iter < full.n_iter

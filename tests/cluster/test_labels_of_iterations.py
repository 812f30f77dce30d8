"""``keep_labels``: what each iteration said, and when MSPL let each sample in."""

import numpy as np
import pytest

from manyviews import MSPL, MVEC, OPLFMVC, UDBGL, datasets

N = 60


@pytest.fixture(scope="module")
def data():
    return datasets.make_blobs_views(N, (5, 4), 3, view_noise=0.5, random_state=0)


@pytest.mark.parametrize("system", [MSPL, MVEC, OPLFMVC, UDBGL])
def test_labels_of_every_iteration_are_kept_on_request_and_change_nothing(data, system):
    plain = system(3, random_state=0).fit(data.views)
    kept = system(3, random_state=0, keep_labels=True).fit(data.views)
    assert plain.history_.labels.size == 0
    np.testing.assert_array_equal(kept.labels_, plain.labels_)
    assert kept.history_.labels.shape == (kept.n_iter_, N)
    assert kept.history_.labels.dtype == np.int64
    assert set(np.unique(kept.history_.labels)) <= {0, 1, 2}
    # numbered after the result, so the iterations come closer to it
    apart = (kept.history_.labels != kept.labels_).mean(axis=1)
    assert apart[-1] <= 0.1
    assert apart[-1] <= apart[0]


@pytest.mark.parametrize("pacing", ["smooth", "hard", "none"])
def test_sweeps_of_mspl_end_with_its_labels(data, pacing):
    model = MSPL(3, pacing=pacing, n_init=3, keep_labels=True, random_state=0).fit(data.views)
    np.testing.assert_array_equal(model.history_.labels[-1], model.labels_)


def test_samples_come_in_by_their_losses(data):
    model = MSPL(3, pacing="hard", n_init=1, random_state=0).fit(data.views)
    order, n_paced = model.selection_order_, int(np.isfinite(model.history_.pace).sum())
    assert order.shape == (2, N)
    assert order.min() == 1
    assert order.max() <= n_paced + 1
    # the first sweep takes the share that was asked for
    assert (order == 1).mean() == pytest.approx(model.initial_share, abs=0.02)
    # those that came first lie nearer to their centres than those that came last
    assert model.sample_weights_[order == 1].mean() > model.sample_weights_[order >= n_paced // 2].mean()
    assert (MSPL(3, pacing="none", random_state=0).fit(data.views).selection_order_ == 1).all()


def test_pairs_that_were_not_observed_never_come_in(data):
    views = [view.copy() for view in data.views.arrays]
    views[0][:7] = np.nan
    order = MSPL(3, random_state=0).fit(views).selection_order_
    assert (order[0, :7] == 0).all()
    assert (order[0, 7:] > 0).all()
    assert (order[1] > 0).all()


def test_the_easy_view_of_a_cluster_comes_first():
    """The toy example of the paper: each of three clusters is easy in one view."""
    noise = [[0.05 if v == cluster else 0.5 for cluster in range(3)] for v in range(3)]
    made = datasets.make_blobs_views(300, (2, 2, 2), 3, view_noise=noise, random_state=1)
    order = MSPL(3, random_state=0).fit(made.views).selection_order_
    means = np.array([order[:, made.labels == cluster].mean(axis=1) for cluster in range(3)])
    np.testing.assert_array_equal(means.argmin(axis=1), [0, 1, 2])

import numpy as np
import pytest

from manyviews import MVEC, Views
from manyviews.cluster import memory
from manyviews.metrics import adjusted_rand_index, nmi_score


def noisy_partitions(seed, n=60, k=3, r=10, m=2, noise=0.25):
    rng = np.random.default_rng(seed)
    truth = rng.integers(k, size=n)
    views = []
    for _ in range(m):
        labels = np.tile(truth[:, None], (1, r)) * 2 + rng.integers(2, size=(n, r))
        wrong = rng.random((n, r)) < noise
        labels[wrong] = rng.integers(2 * k, size=wrong.sum())
        views.append(labels)
    return views, truth


@pytest.mark.parametrize(("name", "nmi", "rn"), [("3sources", 0.770, 0.704), ("bbcsport", 0.913, 0.923)])
def test_stored_partitions_of_real_data(reference, name, nmi, rn):
    ref = reference(f"mvec/mvec_{name}.npz")
    model = MVEC(int(ref["K"]), base="labels", simplex="alm", random_state=0).fit(list(ref["P"].astype(float)))
    assert nmi_score(ref["y"], model.labels_) == pytest.approx(nmi, abs=0.02)
    assert adjusted_rand_index(ref["y"], model.labels_) == pytest.approx(rn, abs=0.02)
    np.testing.assert_array_equal(model.predict(list(ref["P"].astype(float))), model.labels_)


def test_missing_samples_take_part_through_the_other_view():
    labels, truth = noisy_partitions(7, n=80, noise=0.1)
    given = [part.astype(float) for part in labels]
    given[0][:10] = np.nan
    given[1][20:25] = -1
    model = MVEC(3, base="labels", random_state=0).fit(given)
    assert adjusted_rand_index(truth, model.labels_) > 0.9
    assert (model.base_labels_[:10, :10] == -1).all()
    np.testing.assert_array_equal(model.predict(given), model.labels_)


def test_new_samples_and_unknown_labels():
    labels, truth = noisy_partitions(8, n=90, noise=0.1)
    given = [part.astype(float) for part in labels]
    model = MVEC(3, base="labels", random_state=0).fit([part[:60] for part in given])
    found = model.predict([part[60:] for part in given])
    assert adjusted_rand_index(truth[60:], found) > 0.9
    strange = [part[60:] + 100.0 * (np.arange(10) == 3) for part in given]
    assert adjusted_rand_index(truth[60:], model.predict(strange)) > 0.9


def test_groups_of_similar_samples_come_close():
    labels, truth = noisy_partitions(9, n=400, r=12, noise=0.1)
    views = [part.astype(float) for part in labels]
    model = MVEC(3, base="labels", max_groups=60, random_state=0).fit(views)
    assert model.affinity_.shape[0] <= 60
    assert adjusted_rand_index(truth, model.labels_) > 0.85
    # samples of several clusters can be in one group: all are labelled by the vote that new samples get
    np.testing.assert_array_equal(model.predict(views), model.labels_)


def test_the_vote_of_samples_in_mixed_groups_leaves_no_cluster_out():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 6, 300)
    views = [3 * rng.normal(size=(6, d))[truth] + 4 * rng.normal(size=(300, d)) for d in (4, 6)]
    model = MVEC(6, max_groups=30, n_base_clusterings=8, max_iter=10, tol=1.0, random_state=0).fit(views)
    assert len(np.unique(model.labels_)) == 6
    np.testing.assert_array_equal(model.predict(views), model.labels_)


@pytest.mark.parametrize("final", ["lrr", "spectral", "kmeans_h"])
def test_final_steps(three_views, final):
    views, y = three_views
    model = MVEC(3, final=final, random_state=0).fit(views)
    assert adjusted_rand_index(y, model.labels_) == 1.0
    assert model.embedding_.shape == (60, 3)


def test_too_few_iterations_are_reported_and_still_give_labels(three_views):
    with pytest.warns(UserWarning, match="stopped after 3 iterations"):
        model = MVEC(3, max_iter=3, random_state=0).fit(three_views[0])
    assert not model.converged_
    assert adjusted_rand_index(three_views[1], model.labels_) > 0.9


def test_memory_is_that_of_the_groups(three_views, monkeypatch):
    views = Views([np.vstack([X] * 20) for X in three_views[0]])
    whole = MVEC(3, laplacian="unnormalized", precision="double")._memory_estimate(views)
    merged = MVEC(3, precision="double")._memory_estimate(views)
    fewer = MVEC(3, max_groups=20, precision="double")._memory_estimate(views)
    assert whole - merged == int(13.75 * 8 * 1200**2) - int(13.75 * 8 * 60**2)
    assert merged - fewer == int(13.75 * 8 * 60**2) - int(13.75 * 8 * 20**2)
    monkeypatch.setattr(memory, "machine_memory", lambda: (10_000, None))
    with pytest.raises(ValueError, match=r"MVEC needs about .* MB .*; set max_groups, .* or use fewer samples"):
        MVEC(3, random_state=0).fit(views)


def test_degenerate_sizes(three_views):
    views, _ = three_views
    assert not MVEC(1, random_state=0).fit(views).labels_.any()
    assert sorted(MVEC(8, random_state=0).fit([X[:8] for X in views]).labels_) == list(range(8))
    assert MVEC(1, random_state=0).fit([np.ones((1, 2))]).labels_.tolist() == [0]
    # rows that differ in length only are one direction for the cosine
    with pytest.raises(ValueError, match="alike in every view"):
        MVEC(2, metric="cosine", scaling=None).fit([np.outer(np.arange(1.0, 10.0), [1.0, 2.0])])


def test_a_constant_view_and_empty_rows_change_nothing(three_views):
    views, y = three_views
    with pytest.warns(UserWarning, match="'view_3' is constant"):
        model = MVEC(3, random_state=0).fit([*views, np.full((60, 2), 3.0)])
    assert adjusted_rand_index(y, model.labels_) == 1.0
    blank = [X.copy() for X in views]
    blank[0][4] = 0
    assert adjusted_rand_index(y, MVEC(3, random_state=0).fit(blank).labels_) == 1.0


def test_what_is_no_partition_is_refused(three_views):
    with pytest.raises(ValueError, match="integer labels"):
        MVEC(3, base="labels").fit(three_views[0])
    with pytest.raises(ValueError, match="1 sample"):
        MVEC(2, base="labels").fit([np.array([[0.0], [1], [-1], [0]])])
    with pytest.raises(ValueError, match="2 <= low <= high"):
        MVEC(3, base_cluster_range=(5, 3)).fit(three_views[0])


def test_the_stop_of_the_paper_waits_for_all_constraints():
    labels, _ = noisy_partitions(3)
    given = [part.astype(float) for part in labels]
    early = MVEC(3, base="labels", random_state=0).fit(given)
    late = MVEC(3, base="labels", stop="paper", simplex="alm", max_iter=300, random_state=0).fit(given)
    assert early.converged_
    assert late.converged_
    assert late.n_iter_ > early.n_iter_
    assert late.history_.residual[early.n_iter_ - 1] > 10 * early.history_.residual[-1]
    assert late.history_.residual[-1] < 1e-4

import numpy as np
import pytest
from scipy import sparse

from manyviews import MSPL
from manyviews.cluster.kmeans.mspl import paced_sweep, self_paced_kmeans
from manyviews.metrics import adjusted_rand_index, evaluate
from manyviews.optim.self_paced import paced_losses, paced_weights
from manyviews.partitions.spectral_start import spectral_start
from manyviews.prototypes.pacing import Pacing
from manyviews.prototypes.weighted import assign, make_stack, stack_kmeans


def test_weights_and_losses_as_stored(reference):
    ref = reference("mspl/weights.npz")
    losses = ref["loss"]
    for i, a in enumerate(ref["inv_lambda"]):
        w = paced_weights(losses, a, "smooth")
        np.testing.assert_allclose(w, ref["w_smooth"][:, i], atol=1e-12)
        np.testing.assert_array_equal(paced_weights(losses, a, "hard"), ref["w_hard"][:, i])
        # the stored regulariser is known up to a constant: what the loss counts, less w times it
        f = paced_losses(losses, a, "smooth") - w * losses
        shift = (ref["f_w"][:, i] - f)[0]
        np.testing.assert_allclose(f + shift, ref["f_w"][:, i], atol=1e-9 * max(1, a))


def test_weights_minimise_the_self_paced_problem():
    grid = np.linspace(1e-6, 1 - 1e-6, 20001)
    for a in (0.5, 2.0, 6.0):
        A = 1 + np.exp(-a)
        f = (A - grid) * np.log(A - grid) + grid * np.log(grid) - a * grid
        for loss in (0.1, 1.0, a, 2 * a):
            best = grid[np.argmin(grid * loss + f)]
            assert paced_weights(np.array([loss]), a, "smooth")[0] == pytest.approx(best, abs=1e-4)


def test_weights_grow_with_the_pace_and_survive_extremes():
    losses = np.array([0.0, 1e-300, 1.0, 50.0, 1e4, 1e300])
    last = np.zeros(6)
    for a in (0.1, 1.0, 30.0, 800.0, 2e4):
        w = paced_weights(losses, a, "smooth")
        assert ((w >= last - 1e-12) & (w <= 1 + 1e-12)).all()
        counted = paced_losses(losses, a, "smooth")
        assert np.isfinite(counted).all()
        assert (np.diff(counted) >= -1e-12 * counted.max()).all()
        last = w
    np.testing.assert_allclose(paced_losses(losses[:4], 1e4, "smooth"), losses[:4])


@pytest.mark.parametrize("kind", ["smooth", "hard"])
def test_reference_stage_by_stage(reference, kind):
    ref = reference("mspl/small.npz")
    stack = make_stack((ref["X0"], ref["X1"]))
    centers = [ref["C0_0"], ref["C0_1"]]
    current = assign(stack, centers)
    for t, pace in enumerate(ref[f"{kind}_inv_lambda"]):
        weights, centers, current = paced_sweep(stack, centers, current, pace, kind)
        np.testing.assert_allclose(weights, ref[f"{kind}_W"][t], atol=1e-10)
        np.testing.assert_allclose(centers[0], ref[f"{kind}_C0"][t], atol=1e-10)
        np.testing.assert_allclose(centers[1], ref[f"{kind}_C1"][t], atol=1e-10)
        np.testing.assert_array_equal(current.labels, ref[f"{kind}_labels"][t])
        np.testing.assert_allclose(current.losses, ref[f"{kind}_loss"][t], atol=1e-10)


@pytest.mark.parametrize("kind", ["smooth", "hard", "none"])
def test_reference_end_to_end(reference, kind):
    ref = reference("mspl/small.npz")
    stack, start = make_stack((ref["X0"], ref["X1"])), [ref["C0_0"], ref["C0_1"]]
    pacing = Pacing(kind, float(ref["quantile"]), float(ref["growth"]), 1, 1.0)
    run = self_paced_kmeans(stack, start, pacing)
    stored = "naive" if kind == "none" else kind
    np.testing.assert_array_equal(run.assignment.labels, ref[f"{stored}_final_labels"])
    if kind == "none":
        np.testing.assert_allclose(run.centers[1], ref["naive_C1"], atol=1e-12)
    else:
        paces = run.history.pace
        np.testing.assert_allclose(paces[np.isfinite(paces)], ref[f"{kind}_inv_lambda"])
        means = ref[f"{kind}_W"].mean(axis=(1, 2))
        np.testing.assert_allclose(run.history.mean_weight[: means.size], means)


def noisy_views(seed, n=150, k=4, noise=1.0):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % k
    return tuple(rng.normal(0, 2, (k, d))[labels] + rng.normal(0, noise, (n, d)) for d in (3, 5)), labels


@pytest.mark.parametrize("kind", ["smooth", "hard", "none"])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("unit", [False, True])
def test_objective_never_rises_at_a_fixed_pace(kind, gaps, unit):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        views, _ = noisy_views(seed, noise=2.0)
        if unit:
            views = tuple(X / np.linalg.norm(X, axis=1, keepdims=True) for X in views)
        observed = np.ones((2, 150), dtype=bool)
        if gaps:
            observed[0, ::3] = False
            views = (views[0] * observed[0][:, None], views[1])
        stack = make_stack(views, observed, (1.0, 1.0) if unit else None)
        centers = [X[rng.choice(150, 4, replace=False)] for X in views]
        current = assign(stack, centers)
        pace = float(np.median(current.losses))
        values = []
        for _ in range(12):
            _, centers, current = paced_sweep(stack, centers, current, pace, kind)
            values.append(paced_losses(current.losses, pace, kind).sum())
        assert (np.diff(values) <= 1e-9).all()
        assert values[-1] < values[0]


def test_hard_weights_do_not_depend_on_the_unit_of_the_data():
    views, _ = noisy_views(3)
    starts = [X[[0, 1, 2, 3]] for X in views]
    pacing = Pacing("hard", 0.55, 1.1)
    run = self_paced_kmeans(make_stack(views), starts, pacing)
    scaled = self_paced_kmeans(make_stack(tuple(8 * X for X in views)), [8 * C for C in starts], pacing)
    np.testing.assert_array_equal(run.assignment.labels, scaled.assignment.labels)
    np.testing.assert_allclose(run.history.mean_weight, scaled.history.mean_weight)


def test_mean_weight_grows_and_more_than_half_start():
    views, _ = noisy_views(5)
    model = MSPL(4, random_state=0, n_init=1).fit(views)
    finite = np.isfinite(model.history_.pace)
    assert model.history_.mean_weight[0] >= 0.5
    assert model.history_.mean_weight[finite][-1] > 0.999
    assert (np.diff(model.history_.pace[finite]) > 0).all()
    assert model.history_.objective.shape == model.history_.pace.shape == (model.n_iter_,)


def test_hard_samples_and_noisy_views_weigh_less(three_views):
    views, labels = three_views
    rng = np.random.default_rng(0)
    views = [*views, rng.normal(size=(60, 4))]
    views[0] = views[0].copy()
    views[0][7] += 3
    model = MSPL(3, random_state=0).fit(views)
    assert adjusted_rand_index(labels, model.labels_) == 1.0
    assert model.view_weights_.argmin() == 3
    assert model.sample_weights_[0, 7] == model.sample_weights_[0].min()
    assert model.sample_weights_.shape == (4, 60)


def test_none_is_the_best_k_means_of_the_same_starts():
    from sklearn.cluster import KMeans

    views, _ = noisy_views(1)
    model = MSPL(4, pacing="none", scaling=None, balance_views=False, random_state=0, n_init=20).fit(views)
    expected = KMeans(4, n_init=20, random_state=0).fit(np.hstack(views))
    assert model.inertia_ == pytest.approx(expected.inertia_, rel=1e-6)
    assert adjusted_rand_index(expected.labels_, model.labels_) > 0.99


def test_centres_are_means_in_units_of_the_data(three_views):
    views, _ = three_views
    model = MSPL(3, random_state=0).fit(dict(zip("abc", views, strict=True)))
    for name, X in zip("abc", views, strict=True):
        for j in range(3):
            np.testing.assert_allclose(model.cluster_centers_[name][j], X[model.labels_ == j].mean(axis=0))


@pytest.mark.parametrize("kind", ["smooth", "hard"])
def test_training_samples_predict_their_labels(kind):
    views, _ = noisy_views(2, noise=2.0)
    model = MSPL(4, pacing=kind, random_state=0).fit(views)
    np.testing.assert_array_equal(model.predict(views), model.labels_)
    np.testing.assert_array_equal(model.predict([X[3:9] for X in views]), model.labels_[3:9])


def text_views(seed):
    rng = np.random.default_rng(seed)
    labels = np.arange(150) % 3
    topics = np.kron(np.eye(3), np.ones(12))[labels]
    return [sparse.csr_matrix(rng.poisson(0.1 + 0.8 * topics).astype(float)) for _ in range(2)], labels


def test_sparse_and_dense_text_give_the_same_clusters():
    views, labels = text_views(0)
    found = MSPL(3, random_state=0).fit(views)
    dense = MSPL(3, scaling="tfidf", random_state=0).fit([X.toarray() for X in views])
    np.testing.assert_array_equal(found.labels_, dense.labels_)
    assert adjusted_rand_index(labels, found.labels_) > 0.9
    np.testing.assert_array_equal(found.predict(views), found.labels_)


def test_documents_without_words_and_duplicates():
    views, _ = text_views(1)
    views = [sparse.vstack([X, X[:5], sparse.csr_matrix((2, X.shape[1]))], format="csr") for X in views]
    model = MSPL(3, random_state=0).fit(views)
    np.testing.assert_array_equal(model.labels_[:5], model.labels_[150:155])
    assert np.isfinite(model.confidence_).all()


def with_gaps(views, share, seed):
    rng = np.random.default_rng(seed)
    lost = rng.random((len(views), len(views[0]))) < share
    lost[rng.integers(len(views), size=lost.shape[1]), np.arange(lost.shape[1])] = False
    return [np.where(gone[:, None], np.nan, X) for X, gone in zip(views, lost, strict=True)], lost


def test_unobserved_pairs_have_no_weight_and_samples_go_by_the_views_they_have():
    views, labels = noisy_views(4, noise=0.5)
    holes, lost = with_gaps(views, 0.3, 0)
    model = MSPL(4, random_state=0).fit(dict(zip("ab", holes, strict=True)))
    assert not model.sample_weights_[lost].any()
    assert adjusted_rand_index(labels, model.labels_) > 0.95
    np.testing.assert_array_equal(model.predict(dict(zip("ab", holes, strict=True))), model.labels_)
    with pytest.warns(UserWarning, match=r"\['a'\] are not given"):
        alone = model.predict({"b": views[1]})
    assert adjusted_rand_index(labels, alone) > 0.9


@pytest.mark.parametrize("k", [1, 12])
def test_one_cluster_and_one_sample_per_cluster(k):
    views, _ = noisy_views(0, n=12)
    model = MSPL(k, random_state=0).fit(views)
    assert np.unique(model.labels_).size == k
    np.testing.assert_array_equal(model.predict(views), model.labels_)


def test_constant_views_change_nothing(three_views):
    views, labels = three_views
    with pytest.warns(UserWarning, match="'view_3' is constant"):
        model = MSPL(3, random_state=0).fit([*views, np.full((60, 2), 7.0)])
    assert adjusted_rand_index(labels, model.labels_) == 1.0
    assert MSPL(1).fit([np.ones((3, 2))]).labels_.tolist() == [0, 0, 0]
    empty = sparse.csr_matrix((60, 5))
    with pytest.warns(UserWarning, match="'view_1' is constant"):
        model = MSPL(3, random_state=0).fit([views[0], empty])
    assert adjusted_rand_index(labels, model.labels_) == 1.0
    assert MSPL(1, init="relaxed").fit([empty]).labels_.sum() == 0


def test_cosine_geometry_needs_unit_rows(three_views):
    with pytest.raises(ValueError, match="rows of equal length, which the views"):
        MSPL(3, geometry="cosine").fit(three_views[0])
    MSPL(3, geometry="cosine", scaling="unit", random_state=0).fit(three_views[0])


def test_running_out_of_sweeps_is_reported():
    from sklearn.exceptions import ConvergenceWarning

    views, _ = noisy_views(0, noise=5.0)
    with pytest.warns(ConvergenceWarning, match="MSPL stopped after"):
        model = MSPL(4, pacing="none", init="random", n_init=1, tol=0, max_iter=1, random_state=0).fit(views)
    assert not model.converged_


def test_centres_settle_before_the_final_k_means_changes_anything():
    views, _ = noisy_views(7, noise=2.0)
    model = MSPL(4, random_state=0, n_init=3, tol=0).fit(views)
    stack = model._stack(model._check_views(views, reset=False))
    assert stack_kmeans(stack, model._centers).losses.sum() == pytest.approx(model.inertia_)


def test_digits(shared_data):
    views, labels = shared_data("mfeat")
    scores = [
        evaluate(labels, MSPL(10, init="random", n_init=1, random_state=s).fit(views).labels_)["nmi"] for s in range(5)
    ]
    assert 0.82 <= np.mean(scores) <= 0.92
    best = evaluate(labels, MSPL(10, random_state=0).fit(views).labels_)
    assert best["nmi"] >= 0.91
    assert best["acc"] >= 0.95


def test_digits_with_a_third_of_the_pairs_missing(shared_data):
    views, labels = shared_data("mfeat")
    holes, _ = with_gaps(list(views.values()), 0.3, 0)
    assert evaluate(labels, MSPL(10, random_state=0).fit(holes).labels_)["nmi"] >= 0.86


@pytest.mark.parametrize(("name", "nmi"), [("3sources", 0.70), ("bbcsport", 0.86), ("newsgroups_ngs", 0.95)])
def test_text_by_cosine_geometry_and_better_starts(shared_data, name, nmi):
    views, labels = shared_data(name)
    counts = [sparse.csr_matrix(X) for X in views.values()]
    model = MSPL(labels.max() + 1, random_state=0).fit(counts)
    assert evaluate(labels, model.labels_)["nmi"] >= nmi


@pytest.mark.parametrize("init", ["auto", "k-means++", "random", "relaxed", "spectral"])
def test_every_start_finds_clear_clusters_of_any_kind_of_view(three_views, init):
    views, labels = three_views
    assert adjusted_rand_index(labels, MSPL(3, init=init, random_state=0).fit(views).labels_) == 1.0
    texts, topics = text_views(2)
    assert adjusted_rand_index(topics, MSPL(3, init=init, random_state=0).fit(texts).labels_) > 0.9
    mixed = [views[0], texts[0][np.argsort(topics, kind="stable")[np.r_[0:20, 50:70, 100:120]]]]
    assert adjusted_rand_index(labels, MSPL(3, init=init, random_state=0).fit(mixed).labels_) == 1.0


def test_spectral_starts_of_many_samples_look_at_some():
    rng = np.random.default_rng(0)
    labels = np.arange(2500) % 3
    views = tuple(rng.normal(0, 3, (3, 2))[labels] + 0.3 * rng.normal(size=(2500, 2)) for _ in range(2))
    start = spectral_start(make_stack(views), 3, rng, n_neighbors=10)
    assert adjusted_rand_index(labels, assign(make_stack(views), start).labels) == 1.0


def test_fewer_samples_than_a_start_would_like():
    views, _ = noisy_views(0, n=7, k=3)
    for init in ("auto", "relaxed", "spectral", "random"):
        for scaling in ("auto", "unit"):
            model = MSPL(5, init=init, scaling=scaling, n_init=3, random_state=0).fit(views)
            assert np.unique(model.labels_).size == 5


def test_single_precision_is_kept_and_agrees():
    views, _ = noisy_views(6)
    model = MSPL(4, random_state=0).fit([X.astype(np.float32) for X in views])
    assert all(C.dtype == np.float32 for C in model._centers)
    assert adjusted_rand_index(model.labels_, MSPL(4, random_state=0).fit(views).labels_) > 0.98

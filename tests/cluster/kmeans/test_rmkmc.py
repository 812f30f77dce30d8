import numpy as np
import pytest
from scipy import sparse

from manyviews import RMKMC
from manyviews.cluster.kmeans.rmkmc import solve_rmkmc
from manyviews.metrics import adjusted_rand_index, evaluate
from manyviews.prototypes.weighted import make_stack


def stored_case(ref):
    return make_stack(tuple(ref[f"X{v}"] for v in range(3))), ref["G0"].astype(np.int64), float(ref["gamma"])


@pytest.mark.parametrize("iterations", [1, 2, 3])
def test_released_code_iteration_by_iteration(reference, iterations):
    ref = reference("rmkmc/small.npz")
    stack, labels, gamma = stored_case(ref)
    run = solve_rmkmc(stack, labels, 3, gamma, np.ones(3, dtype=bool), tol=0, max_iter=iterations)
    np.testing.assert_array_equal(run.state.labels, ref[f"it{iterations}_labels"])
    np.testing.assert_allclose(run.state.alpha, ref[f"it{iterations}_alpha"], atol=1e-12)
    np.testing.assert_allclose(run.state.centers[0], ref[f"it{iterations}_F0"], atol=1e-12)
    np.testing.assert_allclose(run.history.objective, np.ravel(ref[f"it{iterations}_objective"]), rtol=1e-12)


def test_released_code_end_to_end(reference):
    ref = reference("rmkmc/small.npz")
    stack, labels, gamma = stored_case(ref)
    run = solve_rmkmc(stack, labels, 3, gamma, np.ones(3, dtype=bool), tol=0, max_iter=12)
    np.testing.assert_allclose(run.history.objective, ref["objective"], rtol=1e-12)
    np.testing.assert_array_equal(run.state.labels, ref["labels"])
    np.testing.assert_allclose(run.state.alpha, ref["alpha"], atol=1e-12)
    for v in range(3):
        np.testing.assert_allclose(run.state.centers[v], ref[f"F{v}"], atol=1e-12)


def noisy_views(seed, n=120, k=4):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % k
    return tuple(rng.normal(0, 2, (k, d))[labels] + rng.normal(0, 1.5, (n, d)) for d in (3, 5, 4)), labels


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("gamma", [1.5, 5.0, 80.0])
def test_objective_never_rises_and_weights_sum_to_one(gaps, gamma):
    for seed in range(4):
        views, _ = noisy_views(seed)
        observed = np.ones((3, 120), dtype=bool)
        observed[1, ::4] = not gaps
        stack = make_stack((views[0], views[1] * observed[1][:, None], views[2]), observed)
        start = np.random.default_rng(seed).integers(4, size=120)
        run = solve_rmkmc(stack, start, 4, gamma, np.ones(3, dtype=bool), tol=0, max_iter=15)
        assert (np.diff(run.history.objective) <= 1e-9 * run.history.objective[:-1]).all()
        assert run.state.alpha.sum() == pytest.approx(1)


def test_objective_is_what_it_says():
    views, _ = noisy_views(0)
    run = solve_rmkmc(make_stack(views), np.arange(120) % 4, 4, 3.0, np.ones(3, dtype=bool), tol=0, max_iter=5)
    labels, centers, alpha, _ = run.state
    lengths = [np.linalg.norm(X - C[labels], axis=1).sum() for X, C in zip(views, centers, strict=True)]
    assert run.history.objective[-1] == pytest.approx((alpha**3.0 * lengths).sum())


def test_one_view_gets_all_the_weight_and_outliers_pull_little():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, 0.1, (30, 2)), rng.normal(3, 0.1, (30, 2)), [[0.0, 9.0]]]
    model = RMKMC(2, scaling=None, random_state=0).fit([X])
    np.testing.assert_allclose(model.view_weights_, [1.0])
    assert adjusted_rand_index(np.repeat([0, 1], 30), model.labels_[:60]) == 1.0


def test_views_that_fit_better_weigh_more():
    views, labels = noisy_views(2)
    views = [*views, np.random.default_rng(0).normal(size=(120, 4))]
    model = RMKMC(4, random_state=0).fit(views)
    assert model.view_weights_.argmin() == 3
    assert adjusted_rand_index(labels, model.labels_) > 0.8


def test_constant_views_get_no_weight(three_views):
    views, labels = three_views
    with pytest.warns(UserWarning, match="'view_3' is constant"):
        model = RMKMC(3, random_state=0).fit([*views, np.full((60, 2), 7.0)])
    assert model.view_weights_[3] == 0
    assert adjusted_rand_index(labels, model.labels_) == 1.0


def test_duplicates_and_perfect_fits_stay_finite():
    X = np.repeat([[0.0, 0.0], [5.0, 1.0], [9.0, 3.0]], 4, axis=0)
    model = RMKMC(3, random_state=0).fit([X, X[:, ::-1] + 1])
    np.testing.assert_array_equal(np.bincount(model.labels_), [4, 4, 4])
    assert np.isfinite(model.history_.objective).all()
    np.testing.assert_allclose(model.view_weights_.sum(), 1)


def test_gaps_and_part_of_the_views(three_views):
    views, labels = [X.copy() for X in three_views[0]], three_views[1]
    views[0][::3] = np.nan
    views[2][1::3] = np.nan
    model = RMKMC(3, random_state=0).fit(dict(zip("abc", views, strict=True)))
    assert adjusted_rand_index(labels, model.labels_) == 1.0
    with pytest.warns(UserWarning, match=r"\['a', 'c'\] are not given"):
        np.testing.assert_array_equal(model.predict({"b": views[1]}), model.labels_)


@pytest.mark.parametrize("init", ["labels", "random", "k-means++"])
def test_every_start_finds_clear_clusters(three_views, init):
    views, labels = three_views
    model = RMKMC(3, init=init, random_state=0).fit(views)
    assert adjusted_rand_index(labels, model.labels_) == 1.0


def test_sparse_views_equal_dense_ones():
    rng = np.random.default_rng(0)
    topics = np.kron(np.eye(3), np.ones(12))[np.arange(90) % 3]
    views = [sparse.csr_matrix(rng.poisson(0.1 + topics).astype(float)) for _ in range(2)]
    found = RMKMC(3, random_state=0).fit(views)
    dense = RMKMC(3, scaling="tfidf", random_state=0).fit([X.toarray() for X in views])
    np.testing.assert_array_equal(found.labels_, dense.labels_)


def test_exponents_without_a_minimum_are_refused(three_views):
    with pytest.raises(ValueError, match="'weight_exponent'"):
        RMKMC(3, weight_exponent=1.0).fit(three_views[0])


def test_digits(shared_data):
    views, labels = shared_data("mfeat")
    paper = [
        evaluate(labels, RMKMC(10, init="labels", n_init=1, balance_views=False, random_state=s).fit(views).labels_)
        for s in range(5)
    ]
    assert 0.75 <= np.mean([score["nmi"] for score in paper]) <= 0.86
    assert evaluate(labels, RMKMC(10, random_state=0).fit(views).labels_)["nmi"] >= 0.85

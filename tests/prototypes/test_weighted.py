import numpy as np
import pytest
from scipy import sparse

from manyviews.linalg.balance import apply_balanced, fit_balanced
from manyviews.prototypes.starts import leading_directions, relaxed_start, sampled_start
from manyviews.prototypes.weighted import assign, center_distances, centroids, make_stack, stack_kmeans


@pytest.fixture
def case():
    rng = np.random.default_rng(0)
    views = tuple(rng.normal(size=(50, d)) for d in (4, 7))
    observed = rng.random((2, 50)) < 0.7
    observed[0] |= ~observed.any(axis=0)
    centers = [rng.normal(size=(5, d)) for d in (4, 7)]
    return views, observed, centers, rng.random((2, 50))


def blanked(views, observed):
    return tuple(X * seen[:, None] for X, seen in zip(views, observed, strict=True))


def brute_losses(views, centers):
    return np.stack([((X[:, None] - C[None]) ** 2).sum(axis=2) for X, C in zip(views, centers, strict=True)])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_assignment_equals_brute_force_dense_and_sparse(case, kind):
    views, observed, centers, weights = case
    stack = make_stack(tuple(map(kind, blanked(views, observed))), observed)
    every = brute_losses(views, centers)
    weights = weights * observed
    found = assign(stack, centers, weights)
    labels = np.einsum("vn,vnk->nk", weights, every).argmin(axis=1)
    np.testing.assert_array_equal(found.labels, labels)
    own = np.take_along_axis(every, labels[None, :, None], axis=2)[:, :, 0] * observed
    np.testing.assert_allclose(found.losses, own, atol=1e-12)
    np.testing.assert_array_equal(
        assign(stack, centers).labels, np.einsum("vn,vnk->nk", observed.astype(float), every).argmin(axis=1)
    )


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_centres_are_weighted_means_and_idle_clusters_keep_theirs(case, kind):
    views, observed, centers, weights = case
    labels = np.random.default_rng(1).integers(4, size=50)
    found = centroids(make_stack(tuple(map(kind, views)), observed), labels, weights, centers)
    for v, X in enumerate(views):
        for j in range(4):
            mine = labels == j
            np.testing.assert_allclose(found[v][j], np.average(X[mine], axis=0, weights=weights[v, mine]))
        np.testing.assert_array_equal(found[v][4], centers[v][4])


def test_centres_of_fixed_length_are_the_best_ones(case):
    views, _, centers, weights = case
    labels = np.random.default_rng(1).integers(5, size=50)
    radius = 2.0
    rows = tuple(radius * X / np.linalg.norm(X, axis=1, keepdims=True) for X in views)
    stack = make_stack(rows, None, (radius, radius))
    found = centroids(stack, labels, weights, centers)
    rng = np.random.default_rng(2)
    for v, X in enumerate(rows):
        np.testing.assert_allclose(np.linalg.norm(found[v], axis=1), radius)

        def cost(C, v=v, X=X):
            return (weights[v] * ((X - C[labels]) ** 2).sum(axis=1)).sum()

        for _ in range(20):
            other = found[v] + rng.normal(0, 0.1, found[v].shape)
            other *= radius / np.linalg.norm(other, axis=1, keepdims=True)
            assert cost(other) >= cost(found[v])


def test_samples_without_any_weight_are_assigned_as_if_all_weighed_one(case):
    views, observed, centers, weights = case
    stack = make_stack(blanked(views, observed), observed)
    weights = weights * observed
    weights[:, :10] = 0
    np.testing.assert_array_equal(assign(stack, centers, weights).labels[:10], assign(stack, centers).labels[:10])


def test_ties_go_to_the_first_cluster():
    stack = make_stack((np.zeros((3, 2)),))
    assert assign(stack, [np.array([[1.0, 0], [0, 1], [-1, 0]])]).labels.tolist() == [0, 0, 0]


def test_weight_one_is_k_means_on_the_views_side_by_side(case):
    from sklearn.cluster import KMeans

    views, _, centers, _ = case
    found, labels, _, objective, converged = stack_kmeans(make_stack(views), centers)
    expected = KMeans(5, init=np.hstack(centers), n_init=1, tol=0).fit(np.hstack(views))
    np.testing.assert_array_equal(labels, expected.labels_)
    np.testing.assert_allclose(np.hstack(found), expected.cluster_centers_)
    assert objective[-1] == pytest.approx(expected.inertia_)
    assert converged
    assert (np.diff(objective) <= 1e-9).all()


def test_k_means_fills_every_cluster_where_points_allow(case):
    views, _, _, _ = case
    far = [np.full((5, d), 100.0) for d in (4, 7)]
    far = [C + np.arange(5)[:, None] for C in far]
    assert np.unique(stack_kmeans(make_stack(views), far).labels).size == 5


def test_distances_to_all_centres(case):
    views, observed, centers, _ = case
    stack = make_stack(blanked(views, observed), observed)
    every = brute_losses(views, centers) * observed[:, :, None]
    np.testing.assert_allclose(center_distances(stack, centers, slice(5, 20)), np.sqrt(every.sum(axis=0))[5:20])
    factors = np.array([0.3, 2.0])
    np.testing.assert_allclose(
        center_distances(stack, centers, slice(5, 20), factors), np.einsum("v,vnk->nk", factors, np.sqrt(every))[5:20]
    )


def test_single_precision_stays_single_and_comes_close(case):
    views, observed, centers, weights = case
    single = tuple(X.astype(np.float32) for X in blanked(views, observed))
    found = centroids(make_stack(single, observed), np.arange(50) % 5, weights * observed, centers)
    assert all(C.dtype == np.float32 for C in found)
    expected = centroids(make_stack(blanked(views, observed), observed), np.arange(50) % 5, weights * observed, centers)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)


@pytest.mark.parametrize("spread", [True, False])
def test_sampled_starts_cluster_a_sample(case, spread):
    views = case[0]
    start = sampled_start(make_stack(views), 3, np.random.default_rng(0), fraction=0.2, spread=spread)
    assert [C.shape for C in start] == [(3, 4), (3, 7)]
    again = sampled_start(make_stack(views), 3, np.random.default_rng(0), fraction=0.2, spread=spread)
    np.testing.assert_array_equal(start[0], again[0])


def test_leading_directions_equal_those_of_the_views_side_by_side(case):
    views = case[0]
    U, s, _ = np.linalg.svd(np.hstack(views))
    rows = U[:, :3] * s[:3]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    stack = make_stack(tuple(map(sparse.csr_matrix, views)))
    found = leading_directions(stack, 3, np.random.default_rng(0))
    np.testing.assert_allclose(found @ found.T, rows @ rows.T, atol=1e-8)
    assert relaxed_start(stack, found, 3, np.random.default_rng(0))[1].shape == (3, 7)


@pytest.mark.parametrize("kind", ["standard", "minmax", "unit", None])
def test_balanced_views_have_variance_one_wherever_they_are(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(1e3, 5, (200, 6)) * [1, 10, 0.1, 3, 7, 0]
    balanced = fit_balanced(X, kind)
    Z = apply_balanced(X, balanced)
    assert ((Z - Z.mean(axis=0)) ** 2).sum() / 200 == pytest.approx(1)
    if kind != "unit":
        np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-9)
    holes = X.copy()
    holes[::4] = np.nan
    seen = ~np.isnan(holes[:, 0])
    part = fit_balanced(X[seen], kind)
    np.testing.assert_allclose(apply_balanced(holes, fit_balanced(holes, kind))[seen], apply_balanced(X[seen], part))
    assert not apply_balanced(holes, part)[~seen].any()
    assert np.isnan(holes[0, 0])


def test_balanced_sparse_rows_lie_on_a_sphere():
    X = sparse.random(60, 30, 0.3, random_state=0, format="csr")
    balanced = fit_balanced(X, "tfidf")
    Z = apply_balanced(X, balanced).toarray()
    np.testing.assert_allclose(np.linalg.norm(Z, axis=1), balanced.radius)
    assert ((Z - Z.mean(axis=0)) ** 2).sum() / 60 == pytest.approx(1)


@pytest.mark.parametrize("kind", ["standard", "minmax", None, "unit"])
def test_constant_views_are_known_as_such(kind):
    balanced = fit_balanced(np.full((9, 3), 7.3, dtype=np.float32), kind)
    assert balanced.constant
    assert np.isfinite(apply_balanced(np.full((2, 3), 7.3, dtype=np.float32), balanced)).all()

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans

from manyviews import BestSingleView, ConcatKMeans, ConcatSpectral, SumSpectral
from manyviews.graphs.neighbors import gaussian_affinity, median_distance, neighbor_graph
from manyviews.graphs.normalized_cut import normalized_cut
from manyviews.linalg.blocks import unit_rows
from manyviews.metrics import adjusted_rand_index, evaluate


def projector(vectors):
    return vectors @ vectors.T


def test_gaussians_and_cuts_as_stored(reference):
    ref = reference("simple_baselines/small.npz")
    views, k = [ref[f"X{v}"] for v in range(3)], int(ref["K"])
    kernels = [gaussian_affinity(X) for X in views]
    np.testing.assert_allclose(kernels[0], ref["kernel0"], atol=1e-10)
    np.testing.assert_allclose(
        projector(normalized_cut(kernels[0], k)[1]), ref["laplacian_top_projector_view0"], atol=1e-8
    )
    np.testing.assert_allclose(projector(normalized_cut(sum(kernels), k)[1]), ref["sum_affinity_projector"], atol=1e-8)
    joined = np.hstack(views)
    np.testing.assert_allclose(
        projector(normalized_cut(gaussian_affinity(joined), k)[1]), ref["concat_projector"], atol=1e-8
    )


def test_estimators_give_the_stored_cuts(reference):
    ref = reference("simple_baselines/small.npz")
    views, k = [ref[f"X{v}"] for v in range(3)], int(ref["K"])
    plain = {"affinity": "gaussian", "scaling": None, "balance_views": False, "random_state": 0}
    for method, stored in ((ConcatSpectral, "concat_projector"), (SumSpectral, "sum_affinity_projector")):
        model = method(k, **plain).fit(views)
        np.testing.assert_allclose(projector(model.embedding_), ref[stored], atol=1e-8)


def test_median_distance_counts_the_diagonal_and_survives_duplicates():
    assert median_distance(np.array([[0.0, 3.0], [3.0, 0.0]])) == 1.5
    X = np.r_[np.zeros((9, 1)), np.ones((1, 1))]
    distances = np.abs(X - X.T)
    assert median_distance(distances) == 1.0
    assert median_distance(np.zeros((4, 4))) == 1.0


def test_sparse_and_dense_cuts_agree():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 3)) + 3 * (np.arange(700) % 4)[:, None]
    graph = neighbor_graph(X, 15)
    assert (graph != graph.T).nnz == 0
    values, vectors = normalized_cut(graph, 5)
    dense_values, dense_vectors = normalized_cut(graph.toarray(), 5)
    np.testing.assert_allclose(values, dense_values, atol=1e-8)
    np.testing.assert_allclose(projector(vectors), projector(dense_vectors), atol=1e-6)


def test_separate_components_are_told_apart_whatever_their_number():
    labels = np.arange(600) % 6
    X = 100.0 * labels[:, None] + np.random.default_rng(0).normal(size=(600, 2))
    model = ConcatSpectral(6, random_state=0).fit([X])
    assert adjusted_rand_index(labels, model.labels_) == 1.0
    np.testing.assert_allclose(model.eigenvalues_, 1.0)


def test_concatenated_k_means_is_k_means_on_balanced_views(three_views):
    views, _ = three_views
    noise = [np.random.default_rng(0).normal(0, 50, (60, 3))]
    model = ConcatKMeans(3, random_state=0).fit([*views, *noise])
    standard = [(X - X.mean(axis=0)) / X.std(axis=0) / X.shape[1] ** 0.5 for X in [*views, *noise]]
    expected = KMeans(3, n_init=10, random_state=0).fit(np.hstack(standard))
    assert adjusted_rand_index(expected.labels_, model.labels_) == 1.0
    assert model.inertia_ == pytest.approx(expected.inertia_)
    np.testing.assert_array_equal(model.predict([*views, *noise]), model.labels_)
    for j in range(3):
        np.testing.assert_allclose(model.cluster_centers_["view_3"][j], noise[0][model.labels_ == j].mean(axis=0))


def test_the_papers_concatenation_is_selectable(three_views):
    views, _ = three_views
    model = ConcatKMeans(3, scaling="minmax", balance_views=False, random_state=0).fit(views)
    scaled = np.hstack([(X - X.min(axis=0)) / np.ptp(X, axis=0) for X in views])
    assert model.inertia_ == pytest.approx(KMeans(3, n_init=10, random_state=0).fit(scaled).inertia_)


@pytest.mark.parametrize("criterion", ["stability", "silhouette"])
def test_the_view_with_clusters_is_chosen_without_labels(three_views, criterion):
    views, labels = three_views
    rng = np.random.default_rng(1)
    noisy = {"a": rng.normal(size=(60, 5)), "b": views[0], "c": np.ones((60, 2)), "d": rng.normal(size=(60, 4))}
    with pytest.warns(UserWarning, match="'c' is constant"):
        model = BestSingleView(3, criterion=criterion, random_state=0).fit(noisy)
    assert model.view_ == "b"
    assert adjusted_rand_index(labels, model.labels_) == 1.0
    assert model.view_weights_.tolist() == [0, 1, 0, 0]
    assert model.base_labels_.shape == (60, 4)
    np.testing.assert_array_equal(model.predict(noisy), model.labels_)
    np.testing.assert_array_equal(model.predict(noisy | {"a": noisy["a"] * 9}), model.labels_)


def test_a_view_can_be_named_and_must_exist(three_views):
    views, _ = three_views
    assert BestSingleView(3, view="view_2", random_state=0).fit(views).view_ == "view_2"
    with pytest.raises(ValueError, match=r"there is no view 'text'; the views are \['view_0'"):
        BestSingleView(3, view="text").fit(views)


@pytest.mark.parametrize("method", [ConcatKMeans, ConcatSpectral, SumSpectral, BestSingleView])
def test_hard_shapes(method):
    X = np.random.default_rng(0).normal(size=(6, 3))
    assert np.unique(method(6, random_state=0).fit([X, X]).labels_).size == 6
    with pytest.warns(UserWarning, match="'view_1' is constant"):
        assert not method(1, random_state=0).fit([X, np.ones((6, 2))]).labels_.any()
    assert method(1).fit([X[:1]]).labels_.tolist() == [0]
    with_blank = sparse.csr_matrix(np.r_[np.eye(3), np.eye(3), np.zeros((1, 3))])
    assert method(3, random_state=0).fit([with_blank, with_blank]).labels_.shape == (7,)


def test_digits(shared_data):
    views, labels = shared_data("mfeat")
    kmeans = evaluate(labels, ConcatKMeans(10, random_state=0).fit(views).labels_)
    spectral = ConcatSpectral(10, random_state=0).fit(views)
    assert kmeans["acc"] >= 0.955
    assert evaluate(labels, spectral.labels_)["acc"] >= 0.97
    assert evaluate(labels, spectral.labels_)["nmi"] >= 0.94
    rows = unit_rows(spectral.embedding_)
    assert spectral.inertia_ <= KMeans(10, n_init=1, random_state=1).fit(rows).inertia_ * 1.001


def test_two_groups_of_equal_samples_are_not_drowned_in_neighbours():
    X = sparse.csr_matrix(np.r_[np.ones((5, 1)), np.zeros((5, 1))])
    for method in (ConcatSpectral, SumSpectral):
        assert method(2, random_state=0).fit([X, X]).labels_.tolist() == [0] * 5 + [1] * 5

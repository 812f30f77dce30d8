import numpy as np
import pytest
from scipy import sparse

from manyviews.graphs.anchor_graph import (
    affinities,
    bipartite_block,
    build_index,
    cheaper_search,
    find_anchors,
    recall,
)
from manyviews.linalg.blocks import unit_rows
from manyviews.prototypes.anchors import AnchorRegions, anchor_regions, hybrid_anchors

CASES = ["affinity_p31_K3_euclid", "affinity_p120_K2_euclid", "affinity_p120_K2_cosine"]


def stored_graph(ref, shape):
    return sparse.csr_array((ref["B_val"], (ref["B_row"], ref["B_col"])), shape=shape)


@pytest.mark.parametrize("case", CASES)
def test_released_fastmice_graph_of_two_views(reference, case):
    ref, metric = reference(f"fastmice/{case}.npz"), "cosine" if "cosine" in case else "euclidean"
    K, neighbors, weights, sizes = int(ref["K"]), [], [], []
    for v in "01":
        regions = AnchorRegions(ref[f"rep_label{v}"], ref[f"rep_center{v}"])
        index = build_index(ref[f"anchors{v}"], metric, K, regions)
        found = find_anchors(index, ref[f"X{v}"], K)
        np.testing.assert_array_equal(found.index, ref[f"knn_idx{v}"])
        np.testing.assert_allclose(found.distance, ref[f"knn_dist{v}"], atol=1e-6)
        sigma = found.distance.mean() + 2.2e-16
        neighbors.append(found.index)
        weights.append(affinities(found.distance, metric, sigma))
        sizes.append(len(ref[f"anchors{v}"]))
    B = bipartite_block(neighbors, weights, sizes, [None, None])
    assert abs(B - stored_graph(ref, tuple(ref["B_shape"]))).max() < 1e-9
    np.testing.assert_allclose(np.sqrt(B.multiply(B).sum(axis=1)), np.sqrt(2))
    np.testing.assert_array_equal(np.diff(B.indptr), 2 * K)


def test_released_uspec_graph(reference):
    ref = reference("uspec_usenc/uspec_affinity_small.npz")
    index = build_index(ref["anchors"], "euclidean", 3, AnchorRegions(ref["rep_label"], ref["rep_center"]))
    found = find_anchors(index, ref["X"], 3)
    np.testing.assert_array_equal(found.index, ref["knn_idx"])
    np.testing.assert_allclose(found.distance, ref["knn_dist"], atol=1e-6)
    B = bipartite_block(
        [found.index], [affinities(found.distance, "euclidean", found.distance.mean(), unit=False)], [120], [None]
    )
    assert abs(B - stored_graph(ref, (400, 120))).max() < 1e-9
    assert B.data.min() > 0
    assert B.data.max() <= 1


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("K", [1, 4, 20])
def test_exact_search_is_exact(metric, dtype, K):
    rng = np.random.default_rng(0)
    X, R = (unit_rows(rng.normal(size=(n, 6)).astype(dtype)) for n in (700, 90))
    found = find_anchors(build_index(R, metric, K), X, K)
    D = np.linalg.norm(X[:, None].astype(float) - R[None], axis=2) if metric == "euclidean" else 1 - X @ R.T
    np.testing.assert_allclose(np.sort(D, axis=1)[:, :K], found.distance, atol=1e-3 if dtype == np.float32 else 1e-7)
    assert (np.argsort(D, axis=1)[:, :K] == found.index).mean() > 0.999
    assert found.distance.dtype == dtype
    assert (np.diff(found.distance, axis=1) >= 0).all()


def test_recall_of_the_approximate_search():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(8000, 30)).astype(np.float32) + 3 * rng.normal(size=(10, 30))[rng.integers(10, size=8000)]
    X = X.astype(np.float32)
    for p, K in ((600, 5), (300, 2)):
        R = hybrid_anchors(X[:6000], p, rng, "euclidean")
        index = build_index(R, "euclidean", K, anchor_regions(R, rng, "euclidean"))
        near = find_anchors(index, X, K).index
        exact = find_anchors(build_index(R, "euclidean", K), X, K).index
        found = np.mean([np.isin(a, b).mean() for a, b in zip(near, exact, strict=True)])
        assert found >= 0.97
        np.testing.assert_allclose(recall(index, X, K), found)


def test_with_few_anchors_all_are_candidates():
    rng = np.random.default_rng(2)
    X, R = rng.normal(size=(200, 3)), rng.normal(size=(12, 3))
    index = build_index(R, "euclidean", 5, anchor_regions(R, rng, "euclidean"))
    near, exact = find_anchors(index, X, 5), find_anchors(build_index(R, "euclidean", 5), X, 5)
    np.testing.assert_array_equal(near.index, exact.index)


def test_regions_without_anchors_are_left_out():
    rng = np.random.default_rng(3)
    R = rng.normal(size=(20, 2))
    regions = AnchorRegions(np.repeat([0, 2], 10), np.array([R[:10].mean(0), [0.0, 0.0], R[10:].mean(0)]))
    found = find_anchors(build_index(R, "euclidean", 2, regions), rng.normal(size=(50, 2)), 2)
    assert found.index.min() >= 0
    assert np.isfinite(found.distance).all()


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("approximate", [False, True])
def test_sparse_rows_give_what_dense_ones_give(metric, approximate):
    rng = np.random.default_rng(4)
    X = unit_rows(rng.random((300, 40)) * (rng.random((300, 40)) < 0.2))
    R = hybrid_anchors(X, 60, rng, metric)
    regions = anchor_regions(R, rng, metric) if approximate else None
    expected = find_anchors(build_index(R, metric, 3, regions), X, 3)
    found = find_anchors(build_index(sparse.csr_array(R), metric, 3, regions), sparse.csr_array(X), 3)
    np.testing.assert_allclose(found.distance, expected.distance, atol=1e-7)


def test_affinities_keep_their_pattern():
    far = np.array([[0.0, 1e9], [0.0, 0.0]])
    for metric in ("euclidean", "cosine"):
        for unit in (True, False):
            weights = affinities(far, metric, 1.0, unit=unit)
            assert (weights > 0).all()
            assert np.isfinite(weights).all()


def test_rows_without_links_in_a_view_have_fewer_entries():
    index = np.zeros((3, 2), np.int32)
    B = bipartite_block([index, index], [np.ones((3, 2))] * 2, [4, 5], [np.array([True, False, True]), None])
    np.testing.assert_array_equal(np.diff(B.indptr), [4, 2, 4])
    assert B.shape == (3, 9)
    assert (B[[1]].indices >= 4).all()


def test_the_search_is_chosen_by_cost():
    assert cheaper_search(334, 40, 2, 1_000_000) == "exact"
    assert cheaper_search(1000, 2000, 5, 1_000_000) == "approximate"
    assert cheaper_search(1000, 2000, 5, 10_000) == "exact"

"""LMVSC against the released code, and what it keeps."""

import numpy as np
import pytest
from scipy import sparse

from manyviews import LMVSC
from manyviews.cluster.anchors.lmvsc import solve_lmvsc, subspace_coordinates
from manyviews.graphs.anchor_views import AnchorViews
from manyviews.linalg.scaling import Scaling
from manyviews.metrics import adjusted_rand_index, nmi_score

CASES = [f"m{m}_alpha{alpha}" for m in (3, 8) for alpha in ("0.01", "1", "100")]


def plain(views, observed=None):
    return AnchorViews(tuple(views), (Scaling(None),) * len(views), observed)


@pytest.fixture
def small(reference):
    z = reference("small_3view/small_3view.npz")
    return [z[f"view{v}"] for v in range(3)], z["y"]


@pytest.mark.parametrize("case", CASES)
def test_the_released_code(reference, small, case):
    ref, (views, _) = reference(f"lmvsc/lmvsc_small_{case}.npz"), small
    anchors, alpha = [ref[f"H{v}"] for v in range(3)], float(ref["alpha"])
    coordinates, _ = subspace_coordinates(plain(views), anchors, alpha, slice(0, 90))
    Z = np.split(coordinates * np.sqrt(3), 3, axis=1)
    np.testing.assert_allclose(Z, ref["Z"], atol=1e-9)
    result = solve_lmvsc(plain(views), anchors, 3, alpha=alpha)
    U = result.embedding
    np.testing.assert_allclose(U @ U.T, ref["U"] @ ref["U"].T, atol=1e-11)
    np.testing.assert_allclose(U, coordinates @ result.rotation, atol=1e-13)
    residual = [np.square(X - z @ H).sum() for X, z, H in zip(views, Z, anchors, strict=True)]
    np.testing.assert_allclose(result.objective, residual + alpha * np.square(Z).sum(axis=(1, 2)), rtol=1e-10)


@pytest.mark.parametrize("case", CASES)
def test_the_labels_of_the_released_code(reference, small, case):
    ref, (views, y) = reference(f"lmvsc/lmvsc_small_{case}.npz"), small
    labels = LMVSC(3, n_anchors=len(ref["H0"]), alpha=float(ref["alpha"]), scaling=None, random_state=0).fit(views)
    # anchors are drawn anew, so that the groups may differ by a few samples
    assert nmi_score(y, labels.labels_) >= nmi_score(y, ref["labels"]) - 0.1


def test_coordinates_are_the_minimisers(small):
    views, _ = small
    rng = np.random.default_rng(0)
    anchors = [X[rng.choice(90, 5, replace=False)] for X in views]
    Z, _ = subspace_coordinates(plain(views), anchors, 0.1, slice(0, 90))
    for X, H, z in zip(views, anchors, np.split(Z * np.sqrt(3), 3, axis=1), strict=True):
        np.testing.assert_allclose(z.sum(axis=1), 1.0)
        assert z.min() >= 0
        gradient = 2 * (z @ H - X) @ H.T + 0.2 * z
        level = (z * gradient).sum(axis=1, keepdims=True)
        assert (gradient - level >= -1e-9 * np.abs(gradient).max()).all()


def test_singular_vectors_are_orthonormal_and_the_spectrum_bounded(three_views):
    model = LMVSC(3, n_anchors=7, random_state=0).fit(three_views[0])
    np.testing.assert_allclose(model.embedding_.T @ model.embedding_, np.eye(3), atol=1e-10)
    assert (np.diff(model.singular_values_) <= 0).all()
    assert 0 < model.singular_values_[-1] <= model.singular_values_[0] <= np.sqrt(60) * (1 + 1e-12)


def test_a_view_with_gaps_leaves_its_coordinates_to_the_others(small):
    views, _ = small
    anchors = [X[:4] for X in views]
    observed = np.ones((90, 3), dtype=bool)
    observed[::7, 1] = False
    gaps = [views[0], np.where(observed[:, [1]], views[1], np.nan), views[2]]
    whole, _ = subspace_coordinates(plain(views), anchors, 0.01, slice(0, 90))
    Z, _ = subspace_coordinates(plain(gaps, observed), anchors, 0.01, slice(0, 90))
    np.testing.assert_array_equal(Z[1], whole[1])
    assert not Z[::7, 4:8].any()
    np.testing.assert_allclose(Z[::7, :4], 1.5 * whole[::7, :4])
    np.testing.assert_allclose(Z.sum(axis=1), np.sqrt(3))


def test_coordinates_of_rank_below_k_are_padded():
    X = np.repeat(np.eye(2), 6, axis=0)
    result = solve_lmvsc(plain([X]), [np.eye(2)], 2, alpha=1e-6)
    assert np.count_nonzero(result.singular_values > 1e-8) == 2
    one = solve_lmvsc(plain([np.ones((6, 2))]), [np.ones((3, 2))], 2, alpha=1.0)
    assert one.singular_values[1] == 0
    assert not one.embedding[:, 1].any()


def test_training_samples_get_their_labels_back(three_views):
    views = [X.astype(np.float32) for X in three_views[0]]
    model = LMVSC(3, random_state=0).fit(views)
    np.testing.assert_array_equal(model.predict(views), model.labels_)
    assert model.embedding_.dtype == np.float32
    text = [sparse.csr_matrix(np.maximum(np.round(X), 0)) for X in three_views[0]]
    model = LMVSC(3, random_state=0).fit(text)
    np.testing.assert_array_equal(model.predict(text), model.labels_)


def test_blocks_of_rows_and_jobs_do_not_matter(three_views):
    views = [np.tile(X, (300, 1)) + np.repeat(np.arange(300.0), 60)[:, None] * 1e-4 for X in three_views[0]]
    alone = LMVSC(3, random_state=0).fit(views)
    together = LMVSC(3, random_state=0, n_jobs=2).fit(views)
    np.testing.assert_array_equal(alone.labels_, together.labels_)
    np.testing.assert_array_equal(alone.embedding_, together.embedding_)
    assert adjusted_rand_index(np.tile(three_views[1], 300), alone.labels_) == 1.0


@pytest.mark.parametrize("m", [2, 61])
def test_impossible_numbers_of_anchors(three_views, m):
    with pytest.raises(ValueError, match=rf"n_anchors={m} must lie between n_clusters=3 and .*n_samples=60"):
        LMVSC(3, n_anchors=m).fit(three_views[0])


def test_the_digits_as_well_as_the_released_code(shared_data):
    views, y = shared_data("mfeat")
    scores = [nmi_score(y, LMVSC(10, random_state=seed).fit(views).labels_) for seed in range(3)]
    assert np.mean(scores) >= 0.83

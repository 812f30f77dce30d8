"""MVSC against the released code and the consistent weight rule, and what its iterations keep."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from manyviews import MVSC
from manyviews.cluster.spectral.mvsc import bipartite_embedding, neighbor_links, normalize_columns, solve_mvsc
from manyviews.datasets import make_blobs_views
from manyviews.graphs.anchor_graph import build_index, find_anchors
from manyviews.linalg.blocks import unit_rows
from manyviews.metrics import adjusted_rand_index


def graphs(reference, ref):
    views = reference("small_3view/small_3view.npz")
    found = []
    for v in range(3):
        squares = cdist(views[f"view{v}"], ref[f"marks{v}"], "sqeuclidean")
        near = find_anchors(build_index(ref[f"marks{v}"], "euclidean", int(ref["K"])), views[f"view{v}"], int(ref["K"]))
        Z = neighbor_links(near, squares.shape[1], squares.mean())
        found.append(normalize_columns(Z, np.asarray(Z.sum(axis=0)).ravel()))
    return found


@pytest.mark.parametrize("case", [1, 2, 3])
def test_the_iterations_of_the_released_code(reference, case):
    ref = reference(f"mvsc/mvsc_small_cfg{case}.npz")
    Z = graphs(reference, ref)
    np.testing.assert_allclose([view.toarray() for view in Z], ref["Zhat"], atol=1e-14)
    for t in range(1, len(ref["objective"]) + 1):
        found = solve_mvsc(Z, 3, exponent=float(ref["r"]), weight_rule="released", tol=0.0, max_iter=t)
        np.testing.assert_allclose(found.alpha, ref["view_weights"][t - 1], rtol=1e-10)
        np.testing.assert_allclose(found.embedding.values, ref["singular_values"][t - 1][1:], rtol=1e-10)
    np.testing.assert_allclose(found.history.objective, ref["objective"], rtol=1e-10)
    rows = np.vstack([unit_rows(found.embedding.U), unit_rows(found.embedding.W)])
    expected = np.vstack([ref["U"], ref["V"]])
    np.testing.assert_allclose(rows @ rows.T, expected @ expected.T, atol=1e-10)


@pytest.mark.parametrize("case", [1, 2])
def test_the_consistent_rule(reference, case):
    ref = reference(f"mvsc/mvsc_small_cfg{case}_bipartite_rule.npz")
    n_iter = len(ref["objective"])
    found = solve_mvsc(graphs(reference, ref), 3, exponent=float(ref["r"]), tol=0.0, max_iter=n_iter)
    np.testing.assert_allclose(found.history.objective, ref["objective"], rtol=1e-10)
    np.testing.assert_allclose(found.alpha, ref["view_weights"][-1], rtol=1e-8)
    rows, expected = unit_rows(found.embedding.U), unit_rows(ref["U"])
    np.testing.assert_allclose(rows @ rows.T, expected @ expected.T, atol=1e-9)
    assert (np.diff(found.history.objective) <= 1e-12).all()


def test_a_view_of_noise_counts_less_by_the_papers_rule(three_views):
    views, labels = three_views
    views = [*views, np.random.default_rng(1).normal(size=(60, 4))]
    model = MVSC(3, random_state=0).fit(views)
    assert model.view_weights_.argmin() == 3
    assert adjusted_rand_index(labels, model.labels_) == 1.0
    assert (np.diff(model.history_.objective) <= 1e-12).all()


def test_the_released_rule_ends_where_its_objective_rises(three_views):
    views = [*three_views[0], np.random.default_rng(1).normal(size=(60, 4))]
    steps = np.diff(MVSC(3, weight_rule="released", random_state=0).fit(views).history_.objective)
    assert (steps[1:-1] < 0).all()
    assert steps[-1] > 0


def test_new_samples_repeat_the_labels_of_equal_training_samples():
    data = make_blobs_views(n_samples=200, n_features=(5, 4), n_clusters=3, random_state=0)
    model = MVSC(3, n_anchors=30, random_state=0).fit(data.views)
    np.testing.assert_array_equal(model.predict(data.views), model.labels_)
    assert model.anchor_labels_.shape == (30,)
    # each anchor stands for some samples, most of them of its cluster
    near = cdist(np.hstack(data.views.arrays), _unscaled(model, data.views)).argmin(axis=1)
    assert (model.anchor_labels_[near] == model.labels_).mean() > 0.9


def _unscaled(model, views):
    low = np.hstack([X.min(axis=0) for X in views.arrays])
    spread = np.hstack([np.ptp(X, axis=0) for X in views.arrays])
    return np.hstack(list(model.anchors_.values())) * spread + low


def test_unobserved_samples_are_linked_by_the_other_views(three_views):
    views, labels = [X.copy() for X in three_views[0]], three_views[1]
    gone = np.random.default_rng(2).permutation(60)[:20]
    views[0][gone[:10]], views[1][gone[10:]] = np.nan, np.nan
    model = MVSC(3, random_state=0).fit(views)
    assert adjusted_rand_index(labels, model.labels_) == 1.0
    np.testing.assert_array_equal(model.predict(views), model.labels_)
    with pytest.raises(ValueError, match=r"n_anchors=50 .*observed in all views, which is 40 of n_samples=60"):
        MVSC(3, n_anchors=50).fit(views)


def test_components_are_told_apart_and_their_vectors_kept():
    Z = sparse.csr_array(np.kron(np.eye(3), np.full((6, 2), 0.5)))
    graph = normalize_columns(Z, np.asarray(Z.sum(axis=0)).ravel())
    found = bipartite_embedding(graph, 3)
    np.testing.assert_allclose(found.values, 1)
    np.testing.assert_allclose(found.U @ found.U.T, np.kron(np.eye(3), np.full((6, 6), 1 / 6)), atol=1e-12)


def test_too_few_anchors_are_refused(three_views):
    with pytest.raises(ValueError, match=r"n_anchors=3 must be more than n_clusters=3"):
        MVSC(3, n_anchors=3).fit(three_views[0])

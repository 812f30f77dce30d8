"""SMVSC and FPMVS-CAG against the released codes, and what they keep."""

from itertools import islice

import numpy as np
import pytest
from scipy import sparse

from manyviews import FPMVSCAG, SMVSC
from manyviews.cluster.anchors.smvsc import coordinate_rows, inverse_shares, smvsc_steps
from manyviews.graphs.anchor_views import AnchorViews
from manyviews.linalg.scaling import Scaling
from manyviews.metrics import nmi_score

CASES = [1, 2, 3, 4, 5]
METHODS = [SMVSC, FPMVSCAG]


def plain(views, observed=None):
    return AnchorViews(tuple(views), (Scaling(None),) * len(views), observed)


def standardised(views):
    """As in the released code: the standard deviation that divides by n - 1."""
    return [(X - X.mean(axis=0)) / X.std(axis=0, ddof=1) for X in views]


@pytest.fixture
def small(reference):
    z = reference("small_3view/small_3view.npz")
    return standardised([z[f"view{v}"] for v in range(3)])


def apart(anchors):
    """What differs between anchors: a common shift moves no coordinate, and is arbitrary where views are centred."""
    return anchors - anchors.mean(axis=1, keepdims=True)


@pytest.mark.parametrize("case", CASES)
def test_every_iteration_of_the_released_code(reference, small, case):
    ref = reference(f"smvsc/smvsc_small_cfg{case}.npz")
    d, m, ridge = int(ref["d"]), int(ref["m"]), float(ref["lam"])
    steps = smvsc_steps(plain(small), np.eye(90, m), None, d=d, ridge=ridge, linear="released")
    for t, step in enumerate(islice(steps, int(ref["n_iter"]))):
        np.testing.assert_allclose(step.Z, ref["Z"][t], atol=1e-13)
        np.testing.assert_allclose(step.alpha, ref["view_weights"][t], atol=1e-14)
        assert step.objective == pytest.approx(ref["objective"][t], rel=1e-13)
    for v in range(3):
        np.testing.assert_allclose(apart(step.W[v] @ step.A), apart(ref[f"W{v}"] @ ref["A"]), atol=1e-11)
    U = np.linalg.svd(step.Z, full_matrices=False)[0]
    np.testing.assert_allclose(U @ U.T, ref["U"] @ ref["U"].T, atol=1e-11)


def test_the_digits_of_the_released_code(shared_arrays, shared_data):
    ref = shared_arrays("reference/digits_end_to_end/official_labels.npz")
    views = list(shared_data("mfeat")[0].values())
    released = {"linear_term": "released", "init": "released", "balance_views": False, "labels_from": "anchors"}
    # the fixture was made from values rounded to five digits
    smvsc = SMVSC(10, **released).fit(views)
    assert nmi_score(ref["smvsc_argmaxZ_m10_lam1"], smvsc.labels_) > 0.97
    fpmvs = FPMVSCAG(10, **released).fit(views)
    assert nmi_score(ref["smvsc_argmaxZ_m10_lam0"], fpmvs.labels_) > 0.97
    assert (
        coordinate_rows(fpmvs._read(fpmvs._check_views(views, reset=False)), fpmvs._coder, slice(0, 200)) > 0.999
    ).any(axis=1).mean() > 0.95


@pytest.mark.parametrize("ridge", [0.0, 1.0, 50.0])
@pytest.mark.parametrize("start", ["released", "k-means"])
@pytest.mark.parametrize("gaps", [False, True])
def test_the_objective_never_rises(ridge, start, gaps):
    rng = np.random.default_rng(1)
    views = standardised([rng.normal(size=(120, d)) @ rng.normal(size=(d, d)) for d in (5, 8, 4)])
    observed = rng.random((120, 3)) > 0.3
    observed[~observed.any(axis=1), 0] = True
    given = [np.where(observed[:, [v]], X, np.nan) for v, X in enumerate(views)]
    read = plain(given, observed) if gaps else plain(views)
    if start == "released":
        Z, A = np.eye(120, 4), None
    else:
        Z, A = np.eye(4)[read.nearest_anchors([X[:4] for X in views])], np.eye(4)
    objective = [step.objective for step in islice(smvsc_steps(read, Z, A, d=4, ridge=ridge, linear="paper"), 25)]
    assert (np.diff(objective) <= 1e-9 * objective[0]).all()
    assert objective[-1] < objective[0]


def test_every_step_is_the_minimiser(small):
    """Compared with many feasible points near by, and with the conditions of the programs."""
    step = next(islice(smvsc_steps(plain(small), np.eye(90, 3), None, d=3, ridge=0.5, linear="paper"), 4, None))
    square = step.coder.square
    np.testing.assert_allclose(step.Z.sum(axis=1), 1.0)
    gradient = step.Z * (square.sum() + 0.5)
    for w, X, H in zip(square, small, step.coder.anchors, strict=True):
        gradient = gradient - w * X @ H
    level = (step.Z * gradient).sum(axis=1, keepdims=True)
    assert (gradient - level >= -1e-10).all()
    np.testing.assert_allclose(step.A.T @ step.A, np.eye(3), atol=1e-12)
    for W in step.W:
        np.testing.assert_allclose(W.T @ W, np.eye(3), atol=1e-12)
    residuals = [np.square(X - step.Z @ H.T).sum() for X, H in zip(small, step.coder.anchors, strict=True)]
    np.testing.assert_allclose(step.alpha, inverse_shares(np.array(residuals)), rtol=1e-9)


def test_views_fitted_perfectly_share_the_weight():
    np.testing.assert_allclose(inverse_shares(np.array([2.0, 0.0, 0.0])), [0.0, 0.5, 0.5])
    np.testing.assert_allclose(inverse_shares(np.array([1.0, 3.0])), [0.75, 0.25])


def test_gaps_leave_out_their_terms(small):
    """A view observed nowhere but in half of the samples counts there as often as the others do."""
    observed = np.ones((90, 3), dtype=bool)
    observed[45:, 2] = False
    gaps = [small[0], small[1], np.where(observed[:, [2]], small[2], np.nan)]
    step = next(
        islice(smvsc_steps(plain(gaps, observed), np.eye(90, 3), None, d=3, ridge=0.5, linear="paper"), 3, None)
    )
    square = step.coder.square
    target = sum(w * X @ H for w, X, H in zip(square[:2], small, step.coder.anchors, strict=False))
    target[:45] += square[2] * small[2][:45] @ step.coder.anchors[2]
    mass = np.r_[np.full(45, square.sum()), np.full(45, square[:2].sum())] + 0.5
    np.testing.assert_allclose(step.Z, coordinate_rows(plain(gaps, observed), step.coder, slice(0, 90)))
    gradient = step.Z * mass[:, None] - target
    assert (gradient - (step.Z * gradient).sum(axis=1, keepdims=True) >= -1e-10).all()
    H = step.coder.anchors
    residuals = np.array(
        [
            np.square(small[0] - step.Z @ H[0].T).sum(),
            np.square(small[1] - step.Z @ H[1].T).sum(),
            2.0 * np.square(small[2][:45] - step.Z[:45] @ H[2].T).sum(),
        ]
    )
    np.testing.assert_allclose(step.alpha, inverse_shares(residuals), rtol=1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("labels_from", ["embedding", "anchors"])
def test_training_samples_get_their_labels_back(three_views, method, labels_from):
    views = [X.astype(np.float32) for X in three_views[0]]
    model = method(3, labels_from=labels_from, random_state=0).fit(views)
    np.testing.assert_array_equal(model.predict(views), model.labels_)
    assert model.embedding_.dtype == np.float32
    assert {name: H.shape for name, H in model.anchors_.items()} == {
        f"view_{v}": (3, d) for v, d in enumerate((5, 3, 4))
    }
    text = [sparse.csr_matrix(np.maximum(np.round(X), 0)) for X in three_views[0]]
    model = method(3, labels_from=labels_from, random_state=0).fit(text)
    np.testing.assert_array_equal(model.predict(text), model.labels_)


@pytest.mark.parametrize("method", METHODS)
def test_blocks_of_rows_and_jobs_do_not_matter(three_views, method):
    views = [np.tile(X, (300, 1)) + np.repeat(np.arange(300.0), 60)[:, None] * 1e-4 for X in three_views[0]]
    alone = method(3, random_state=0).fit(views)
    together = method(3, random_state=0, n_jobs=2).fit(views)
    np.testing.assert_array_equal(alone.labels_, together.labels_)
    np.testing.assert_array_equal(alone.history_.objective, together.history_.objective)


def test_fpmvs_cag_is_smvsc_without_a_ridge(three_views):
    a = FPMVSCAG(3, random_state=0).fit(three_views[0])
    b = SMVSC(3, alpha=0.0, random_state=0).fit(three_views[0])
    np.testing.assert_array_equal(a.labels_, b.labels_)
    np.testing.assert_array_equal(a.history_.objective, b.history_.objective)
    assert {"n_anchors", "n_dimensions", "alpha"}.isdisjoint(a.get_params())


def test_the_scores_of_the_saved_official_run_are_those_of_its_labels(reference):
    """The saved run of FPMVS-CAG: purity of the largest coordinates, with the classes in the order of the file."""
    from manyviews.metrics import purity_score

    ref = reference("fpmvs_cag/caltech101_20_official_run.npz")
    y = np.repeat(np.arange(20), ref["class_sizes"])
    assert purity_score(y, ref["argmax_labels"].astype(np.int64)) == pytest.approx(
        ref["reported_acc_nmi_pur_f_ari"][2], abs=1e-5
    )
    np.testing.assert_allclose(ref["A"].T @ ref["A"], np.eye(20), atol=1e-12)
    assert (ref["z_max"] > 0.999).mean() > 0.999


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"n_anchors": 2}, "n_anchors=2 must lie between n_clusters=3"),
        ({"n_anchors": 5, "n_dimensions": 4}, "n_dimensions=4 must be at least the number of anchors, 5"),
        ({"n_anchors": 5, "labels_from": "anchors"}, "as many anchors as clusters, got n_anchors=5 and n_clusters=3"),
    ],
)
def test_impossible_sizes(three_views, settings, words):
    with pytest.raises(ValueError, match=words):
        SMVSC(3, **settings).fit(three_views[0])


def test_more_dimensions_than_anchors(three_views):
    model = SMVSC(3, n_anchors=4, n_dimensions=5, random_state=0).fit(three_views[0])
    assert model.embedding_.shape == (60, 4)
    assert np.unique(model.labels_).size == 3


def test_the_digits(shared_data):
    views, y = shared_data("mfeat")
    for method, least in ((SMVSC, 0.79), (FPMVSCAG, 0.74)):
        scores = [nmi_score(y, method(10, random_state=seed).fit(views).labels_) for seed in range(3)]
        assert np.mean(scores) >= least

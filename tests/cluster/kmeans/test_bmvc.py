"""BMVC against the released code, and what it keeps."""

from itertools import islice

import numpy as np
import pytest
from scipy import sparse

from manyviews import BMVC
from manyviews.cluster.kmeans.bmvc import CodeSettings, code_steps
from manyviews.graphs.anchor_features import Features
from manyviews.metrics import nmi_score
from manyviews.prototypes.binary_codes import CodeRule, assign_codes, signs


def features_of(K, observed=None):
    grams = [X.T @ X for X in K]
    counts = np.full(len(K), len(K[0])) if observed is None else observed.sum(axis=0)
    return Features(lambda rows: [X[rows] for X in K], grams, counts, len(K[0]))


def small_start(ref):
    bits = np.packbits(ref["B_init"].T > 0, axis=1)
    return bits, assign_codes(bits, ref["C_init"].T.astype(np.float32))


def test_every_iteration_of_the_released_code(reference):
    ref = reference("bmvc/bmvc_small.npz")
    K = [ref[f"K{v}"].T for v in range(3)]
    settings = CodeSettings(
        *(float(ref[name]) for name in ("r", "beta", "gamma", "lam")),
        CodeRule(float(ref["rho"]), float(ref["mu"]), int(ref["n_inner"]), refill=False),
    )
    steps = code_steps(features_of(K), *small_start(ref), settings)
    for t, step in enumerate(islice(steps, int(ref["n_outer"]))):
        np.testing.assert_allclose(step.losses, ref["h"][t], rtol=1e-10)
        np.testing.assert_allclose(step.alpha, ref["view_weights"][t], atol=1e-12)
        np.testing.assert_array_equal(step.clusters.labels, ref["labels_per_iter"][t])
    np.testing.assert_array_equal(signs(step.bits, int(ref["L"])), ref["B"].T)
    np.testing.assert_array_equal(step.clusters.centers, ref["C"].T)
    for v in range(3):
        np.testing.assert_allclose(step.maps[v], ref[f"U{v}"], atol=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_the_objective_never_rises_without_balance(seed):
    rng = np.random.default_rng(seed)
    K = [rng.normal(size=(200, m)) for m in (12, 30)]
    K = [X - X.mean(axis=0) for X in K]
    B = rng.random((200, 24)) > 0.5
    bits = np.packbits(B, axis=1)
    start = assign_codes(bits, np.where(B[:5], 1, -1).astype(np.float32))
    settings = CodeSettings(lam=0.05, rule=CodeRule(rho=0.0))
    steps = islice(code_steps(features_of(K), bits, start, settings), 15)
    objective = [step.objective for step in steps]
    assert (np.diff(objective) <= 1e-9 * objective[0]).all()
    assert objective[-1] < objective[0]


def test_the_objective_is_what_it_says(reference):
    ref = reference("bmvc/bmvc_small.npz")
    K = [ref[f"K{v}"].T for v in range(3)]
    settings = CodeSettings(lam=0.3)
    step = next(islice(code_steps(features_of(K), *small_start(ref), settings), 2, None))
    B = signs(step.bits, 16)
    losses = [
        np.square(B - X @ U.T).sum() - settings.gamma * np.square(X @ U.T).sum() + settings.beta * np.square(U).sum()
        for X, U in zip(K, step.maps, strict=True)
    ]
    np.testing.assert_allclose(step.losses, losses, rtol=1e-9)
    own = np.square(B - step.clusters.centers[step.clusters.labels]).sum()
    assert step.objective == pytest.approx(step.alpha**settings.r @ losses + 0.3 * own, rel=1e-9)
    assert step.alpha.sum() == pytest.approx(1)


def test_unobserved_samples_have_no_say(reference):
    """Their rows of K are zeros: the maps are those of the other samples, and the losses scaled up."""
    ref = reference("bmvc/bmvc_small.npz")
    observed = np.ones((90, 3), dtype=bool)
    observed[60:, 1] = False
    K = [np.where(observed[:, [v]], ref[f"K{v}"].T, 0.0) for v in range(3)]
    settings = CodeSettings()
    bits, start = small_start(ref)
    step = next(iter(code_steps(features_of(K, observed), bits, start, settings)))
    seen, B = K[1][:60], signs(bits, 16)[:60].astype(float)
    inverse = np.linalg.inv((1 - settings.gamma) * seen.T @ seen + settings.beta * np.eye(20))
    np.testing.assert_allclose(step.maps[1], B.T @ seen @ inverse, atol=1e-9)
    after, image = signs(step.bits, 16)[:60], seen @ step.maps[1].T
    loss = np.square(after - image).sum() - settings.gamma * np.square(image).sum()
    loss += settings.beta * np.square(step.maps[1]).sum()
    assert step.losses[1] == pytest.approx(1.5 * loss, rel=1e-9)


def test_codes_are_packed_and_predict_finds_them_again(three_views):
    views, _ = three_views
    model = BMVC(3, n_bits=20, random_state=0).fit(views)
    assert model.codes_.shape == (60, 3)
    assert model.codes_.dtype == np.uint8
    assert not np.unpackbits(model.codes_, axis=1)[:, 20:].any()
    assert model.center_codes_.shape == (3, 3)
    distances = (np.unpackbits(model.codes_, axis=1)[:, None] != np.unpackbits(model.center_codes_, axis=1)).sum(axis=2)
    np.testing.assert_array_equal(distances.argmin(axis=1), model.labels_)
    np.testing.assert_array_equal(model.predict(views), model.labels_)
    text = [sparse.csr_matrix(np.maximum(np.round(X), 0)) for X in views]
    model = BMVC(3, random_state=0).fit(text)
    np.testing.assert_array_equal(model.predict(text), model.labels_)


def test_similarities_kept_or_made_again_and_jobs_give_the_same(three_views, monkeypatch):
    views = [np.tile(X, (150, 1)) + np.repeat(np.arange(150.0), 60)[:, None] * 1e-4 for X in three_views[0]]
    kept = BMVC(3, n_anchors=40, random_state=0).fit(views)
    monkeypatch.setattr("manyviews.graphs.anchor_features.KEPT_BYTES", 0)
    again = BMVC(3, n_anchors=40, random_state=0, n_jobs=2).fit(views)
    np.testing.assert_array_equal(kept.codes_, again.codes_)
    np.testing.assert_array_equal(kept.labels_, again.labels_)


def test_codes_may_start_from_one_view(three_views):
    views = dict(zip("abc", three_views[0], strict=True))
    by_name = BMVC(3, code_view="b", random_state=0).fit(views)
    np.testing.assert_array_equal(by_name.codes_, BMVC(3, code_view=1, random_state=0).fit(views).codes_)
    np.testing.assert_array_equal(by_name.codes_, BMVC(3, code_view=-2, random_state=0).fit(views).codes_)
    for wrong in ("d", 3):
        with pytest.raises(ValueError, match=rf"code_view={wrong!r} is none of the views \['a', 'b', 'c'\]"):
            BMVC(3, code_view=wrong).fit(views)


def test_the_digits(shared_data):
    views, y = shared_data("mfeat")
    scores = [nmi_score(y, BMVC(10, random_state=seed).fit(views).labels_) for seed in range(2)]
    assert np.mean(scores) >= 0.8

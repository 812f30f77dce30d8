import numpy as np
import pytest

from manyviews.graphs.anchor_features import fit_features, principal_maps
from manyviews.graphs.anchor_views import AnchorViews
from manyviews.linalg.scaling import Scaling


def test_the_features_of_the_released_code(reference):
    """But for the width, which counts the nearest anchor that differs."""
    ref, views = reference("bmvc/bmvc_small.npz"), reference("small_3view/small_3view.npz")
    X = views["view0"]
    read = AnchorViews((X,), (Scaling(None),))
    fitted, features = fit_features(read, 20, np.random.default_rng(0))
    D = np.square(X[:, None] - fitted[0].anchors).sum(axis=2)
    assert np.count_nonzero(D.min(axis=1) == 0) == 20
    nearest = np.where(D > 1e-9, D, np.inf).min(axis=1)
    assert fitted[0].width == pytest.approx(2 * np.sqrt(nearest).mean(), rel=1e-6)
    K = features.block(slice(0, 90))[0]
    phi = np.exp(-D / (2 * fitted[0].width ** 2))
    np.testing.assert_allclose(K, phi - phi.mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(features.grams[0], K.T.astype(float) @ K, atol=1e-4)
    released = fitted[0]._replace(anchors=ref["A0"], width=float(ref["sigma"][0]))
    raw = released.of(X, None)
    np.testing.assert_allclose(raw - raw.mean(axis=0), ref["K0"].T, atol=1e-6)


def test_maps_lead_onto_principal_directions_or_mixtures_of_them():
    rng = np.random.default_rng(0)
    sample = [rng.normal(size=(50, m)).astype(np.float32) for m in (4, 6)]
    K = np.hstack(sample).astype(float)
    _, _, Vt = np.linalg.svd(K, full_matrices=False)
    single = np.hstack(principal_maps(sample, 3, rng, mixed=False))
    np.testing.assert_allclose(np.abs(single @ Vt[:3].T), np.eye(3), atol=1e-5)
    mixed = np.hstack(principal_maps(sample, 3, rng, mixed=True))
    np.testing.assert_allclose(mixed @ Vt[3:].T, 0, atol=1e-5)
    more = np.hstack(principal_maps(sample, 14, rng, mixed=False))
    assert more.shape == (14, 10)
    np.testing.assert_allclose(np.abs(more[:10] @ Vt.T), np.eye(10), atol=1e-4)


def test_unobserved_rows_have_features_of_zero_and_do_not_count(three_views):
    X = three_views[0][0].copy()
    X[::4] = np.nan
    observed = ~np.isnan(X[:, [0]])
    _, gaps = fit_features(AnchorViews((X,), (Scaling(None),), observed), 10, np.random.default_rng(0))
    K = gaps.block(slice(0, 60))[0]
    assert not K[::4].any()
    np.testing.assert_allclose(K.mean(axis=0), 0, atol=1e-6)
    assert gaps.observed.tolist() == [45]
    np.testing.assert_allclose(gaps.grams[0], K.T.astype(float) @ K, atol=1e-4)

import numpy as np
import pytest

from manyviews.graphs.anchor_features import fit_features
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

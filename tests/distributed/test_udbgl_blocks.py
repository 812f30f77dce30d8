"""UDBGL over blocks has the labels of UDBGL in memory."""

import numpy as np
import pytest

from manyviews import UDBGL, datasets, distributed

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="sync"):
        yield


def views():
    data = datasets.make_blobs_views(n_samples=120, n_features=(6, 5), n_clusters=3, random_state=0)
    arrays = [np.array(X) for X in data.views.arrays]
    return arrays, [da.from_array(X, chunks=(50, -1)) for X in arrays]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"n_anchors": 6, "max_passes": 3},
        {"projection": "rows", "support": "full", "first_scales": "degrees", "max_passes": 10},
        {"rank_rule": "released", "fallback": False, "max_passes": 6, "max_iter": 3},
    ],
    ids=str,
)
def test_labels_are_those_in_memory(settings):
    arrays, blocks = views()
    own = UDBGL(3, n_init=2, random_state=0, **settings).fit(arrays)
    theirs = distributed.fit(UDBGL(3, n_init=2, random_state=0, **settings), blocks)
    assert np.array_equal(theirs.labels_.compute(), own.labels_)
    assert np.array_equal(theirs.anchor_labels_, own.anchor_labels_)
    assert theirs.n_components_ == own.n_components_
    assert theirs.converged_ == own.converged_
    np.testing.assert_allclose(theirs.graph_.compute(), own.graph_.toarray(), atol=1e-8)
    np.testing.assert_allclose(theirs.view_weights_, own.view_weights_, atol=1e-8)
    np.testing.assert_allclose(theirs.history_.objective, own.history_.objective)
    np.testing.assert_allclose(theirs.confidence_.compute(), own.confidence_, atol=1e-8)
    assert np.array_equal(theirs.predict(arrays), own.predict(arrays))


def test_labels_of_iterations_are_refused():
    with pytest.raises(ValueError, match="leave keep_labels=False"):
        distributed.fit(UDBGL(3, keep_labels=True), views()[1])

"""k-means over blocks has the labels, centres and sums of k-means in memory."""

import numpy as np
import pytest

from manyviews import ConcatKMeans, datasets, distributed

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="sync"):
        yield


def both(model, n, monkeypatch, most=20_000):
    for place in ("manyviews.prototypes.sampled_kmeans", "manyviews.distributed.kmeans"):
        monkeypatch.setattr(f"{place}.START_ROWS", most)
    data = datasets.make_blobs_views(n_samples=n, n_features=(6, 5), n_clusters=3, random_state=0)
    arrays = [np.array(X) for X in data.views.arrays]
    theirs = distributed.fit(model(), [da.from_array(X, chunks=(n // 4, -1)) for X in arrays])
    return arrays, model().fit(arrays), theirs


@pytest.mark.parametrize("most", [20_000, 50], ids=["all in one place", "starts on a sample"])
@pytest.mark.parametrize("scaling", ["auto", "minmax", "unit", None])
def test_concatenation(most, scaling, monkeypatch):
    arrays, own, theirs = both(lambda: ConcatKMeans(3, random_state=0, scaling=scaling), 130, monkeypatch, most)
    assert np.array_equal(theirs.labels_.compute(), own.labels_)
    assert theirs.n_iter_ == own.n_iter_
    np.testing.assert_allclose(theirs.inertia_, own.inertia_)
    np.testing.assert_allclose(theirs.confidence_.compute(), own.confidence_, atol=1e-6)
    for name, centers in own.cluster_centers_.items():
        np.testing.assert_allclose(theirs.cluster_centers_[name], centers)
    assert np.array_equal(theirs.predict(arrays), own.predict(arrays))

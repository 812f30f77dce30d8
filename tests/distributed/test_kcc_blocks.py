"""KCC over blocks has the labels of KCC in memory."""

import numpy as np
import pytest

from manyviews import KCC, datasets, distributed

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="sync"):
        yield


def model(**more):
    return KCC(3, n_base_clusterings=4, base_cluster_range=(3, 5), n_init=2, random_state=0, **more)


@pytest.mark.parametrize(
    ("settings", "gaps"),
    [
        ({}, False),
        ({"utility": "entropy", "normalize_utility": True}, False),
        ({"metric": "cosine", "scaling": None}, True),
    ],
)
def test_labels_are_those_in_memory(settings, gaps):
    data = datasets.make_blobs_views(n_samples=150, n_features=(6, 5), n_clusters=3, random_state=0)
    arrays = [np.array(X) for X in data.views.arrays]
    if gaps:
        arrays[0][:30] = np.nan
        arrays[1][70:80] = 0
    own = model(**settings).fit(arrays)
    theirs = distributed.fit(model(**settings), [da.from_array(X, chunks=(40, -1)) for X in arrays])
    assert np.array_equal(theirs.labels_.compute(), own.labels_)
    assert np.array_equal(theirs.base_labels_.compute(), own.base_labels_)
    np.testing.assert_allclose(theirs.confidence_.compute(), own.confidence_, atol=1e-6)
    np.testing.assert_allclose(theirs.history_.objective, own.history_.objective)
    assert np.array_equal(theirs.predict(arrays), own.predict(arrays))


def test_labels_as_views_are_refused():
    with pytest.raises(ValueError, match="leave base='features'"):
        distributed.fit(model(base="labels"), [da.ones((30, 2), chunks=(10, 2)) * da.arange(30, chunks=10)[:, None]])

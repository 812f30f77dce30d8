"""OP-LFMVC over blocks has the labels of OP-LFMVC by landmarks in memory."""

import numpy as np
import pytest

from manyviews import OPLFMVC, datasets, distributed

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="sync"):
        yield


def views(n=240):
    data = datasets.make_blobs_views(n_samples=n, n_features=(6, 5), n_clusters=3, random_state=0)
    arrays = [np.array(X) for X in data.views.arrays]
    return arrays, [da.from_array(X, chunks=(-(-n // 3), -1)) for X in arrays]


def model(**more):
    return OPLFMVC(3, n_landmarks=20, n_init=5, random_state=0, **{"approximation": "nystrom"} | more)


@pytest.mark.parametrize("settings", [{}, {"kernel": "cosine", "scaling": "minmax"}, {"update_order": "released"}])
def test_labels_are_those_in_memory(settings, monkeypatch):
    for place in ("manyviews.prototypes.sampled_kmeans", "manyviews.distributed.kmeans"):
        monkeypatch.setattr(f"{place}.START_ROWS", 100)
    arrays, blocks = views()
    own, theirs = model(**settings).fit(arrays), distributed.fit(model(**settings), blocks)
    assert np.array_equal(theirs.labels_.compute(), own.labels_)
    np.testing.assert_allclose(theirs.view_weights_, own.view_weights_, rtol=1e-6)
    E = theirs.embedding_.compute()  # known up to a rotation
    np.testing.assert_allclose(E @ E.T, own.embedding_ @ own.embedding_.T, atol=1e-6)
    np.testing.assert_allclose(theirs.confidence_.compute(), own.confidence_, atol=1e-6)
    # of starts that end in the same optimum, rounding decides which is the best
    np.testing.assert_allclose(theirs.history_.objective[-1], own.history_.objective[-1], rtol=1e-8)
    assert np.array_equal(theirs.predict(arrays), own.predict(arrays))


def test_a_view_without_a_word_on_some_samples_warns_as_in_memory():
    arrays, _ = views()
    arrays[0][100:103] = 0
    own = model(scaling="unit", kernel="cosine")
    blocks = [da.from_array(X, chunks=(80, -1)) for X in arrays]
    theirs = distributed.fit(model(scaling="unit", kernel="cosine"), blocks)
    assert np.array_equal(theirs.labels_.compute(), own.fit(arrays).labels_)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"approximation": "auto"}, "n_samples=240 would get: say approximation='nystrom'"),
        ({"init": "released"}, "leave base='features', init='aligned'"),
        ({"keep_labels": True}, "keep_labels=False"),
        ({"n_landmarks": 2}, "n_landmarks=2 cannot tell n_clusters=3 apart"),
    ],
)
def test_what_blocks_cannot_do(settings, words):
    with pytest.raises(ValueError, match=words):
        distributed.fit(model().set_params(**settings), views()[1])

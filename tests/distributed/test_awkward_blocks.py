"""Blocks that are empty, of single rows or of unknown length, views that count differently, frames: as in memory."""

import numpy as np
import pytest

import manyviews
from manyviews import datasets, distributed
from manyviews.distributed.fitting import DRIVERS

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
QUICK = {
    "n_base_clusterings": 3,
    "n_anchors": 20,
    "n_landmarks": 20,
    "n_init": 2,
    "max_passes": 3,
    "base_cluster_range": (3, 5),
    "system_weight": 0.0,
    "approximation": "nystrom",
}


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="sync"):
        yield


@pytest.fixture(scope="module")
def arrays():
    data = datasets.make_blobs_views(n_samples=90, n_features=(6, 5), n_clusters=3, random_state=0)
    return [np.array(X) for X in data.views.arrays]


def model(name, k=3, **more):
    kind = getattr(manyviews, name)
    known = kind().get_params()
    return kind(k, random_state=0, **{key: value for key, value in QUICK.items() if key in known} | more)


def cut(X, lengths, known=True):
    pieces = np.split(X, np.cumsum(lengths)[:-1])
    parts = [
        da.from_delayed(dask.delayed(np.array)(piece), (len(piece) if known else np.nan, X.shape[1]), X.dtype)
        for piece in pieces
    ]
    return da.concatenate(parts, allow_unknown_chunksizes=True)


@pytest.mark.parametrize("name", DRIVERS)
def test_views_count_as_in_memory(name, arrays):
    weights = [1.0, 3.0]
    own = model(name, view_weights=weights).fit(arrays)
    theirs = distributed.fit(model(name, view_weights=weights), [cut(X, (40, 50)) for X in arrays])
    assert np.array_equal(theirs.labels_.compute(), own.labels_)
    if hasattr(own, "view_weights_"):
        np.testing.assert_allclose(theirs.view_weights_, own.view_weights_, rtol=1e-6)
    if hasattr(own, "base_labels_"):
        assert theirs.base_labels_.shape == own.base_labels_.shape


@pytest.mark.parametrize("name", ["ConcatKMeans", "KCC"])
def test_views_that_are_left_out_may_hold_anything(name, arrays):
    views = [arrays[0], np.full((90, 2), "x", dtype=object), arrays[1]]
    weights = [1.0, 0.0, 1.0]
    own = model(name, view_weights=weights).fit(views)
    theirs = distributed.fit(model(name, view_weights=weights), [cut(X, (40, 50)) for X in views])
    assert np.array_equal(theirs.labels_.compute(), own.labels_)
    assert theirs.n_features_in_ == own.n_features_in_ == 13
    assert np.array_equal(theirs.predict(views), own.labels_)
    with pytest.raises(ValueError, match="distinct samples: 1 of n_samples=90"):
        distributed.fit(model(name, view_weights=[0.0, 1.0]), [cut(arrays[0], (90,)), cut(np.ones((90, 2)), (90,))])


@pytest.mark.parametrize("name", DRIVERS)
def test_empty_blocks_and_single_rows(name, arrays):
    known = name == "ConcatKMeans"  # lengths are read in one place for all methods
    theirs = distributed.fit(model(name), [cut(X, (0, 1, 29, 0, 59, 1, 0), known) for X in arrays])
    assert np.array_equal(theirs.labels_.compute(), model(name).fit(arrays).labels_)


def test_a_view_that_says_nothing_in_cosine(arrays):
    views = [arrays[0], np.full((90, 2), 4.0)]
    with pytest.warns(UserWarning, match="view 'view_1' is constant"):
        own = model("KCC", metric="cosine").fit(views)
    with pytest.warns(UserWarning, match="view 'view_1' is constant"):
        theirs = distributed.fit(model("KCC", metric="cosine"), [cut(X, (40, 50)) for X in views])
    assert np.array_equal(theirs.labels_.compute(), own.labels_)


@pytest.mark.parametrize("scaling", ["standard", "unit", None])
def test_scales_are_the_same_to_the_last_bit(arrays, scaling):
    """Otherwise samples at equal distances from two centres, as booleans have them, part otherwise than in memory."""
    whole = [arrays[0] + 1e3, (arrays[1] > 0).astype(float)]
    own = model("ConcatKMeans", scaling=scaling).fit(whole)
    for lengths in ([90], [1, 1, 40, 48], [7] * 12 + [6]):
        theirs = distributed.fit(model("ConcatKMeans", scaling=scaling), [cut(X, lengths) for X in whole])
        for mine, found in zip(own._balanced, theirs._balanced, strict=True):
            assert mine.radius == found.radius
            for given, other in zip(mine.scaling[1:3], found.scaling[1:3], strict=True):
                assert (given is None and other is None) or np.array_equal(given, other)


@pytest.mark.parametrize("seed", range(4))
def test_booleans_have_many_equal_distances(seed):
    rng = np.random.default_rng(seed)
    flags = [rng.normal(size=(90, d)) > 0.3 for d in (4, 3)]
    metric = "cosine" if seed % 2 else "auto"
    own = model("FastMICE", metric=metric).fit(flags)
    theirs = distributed.fit(model("FastMICE", metric=metric), [cut(X, [1, 30, 9, 50]) for X in flags])
    assert np.array_equal(theirs.labels_.compute(), own.labels_)
    assert np.array_equal(theirs.base_labels_.compute(), own.base_labels_)


def test_a_view_that_was_not_observed_in_a_whole_block(arrays):
    holes = [arrays[0], arrays[1].copy()]
    holes[1][20:45] = np.nan
    own = model("KCC").fit(holes)
    theirs = distributed.fit(model("KCC"), [cut(X, [20, 25, 45]) for X in holes])
    assert np.array_equal(theirs.base_labels_.compute(), own.base_labels_)
    assert np.array_equal(theirs.labels_.compute(), own.labels_)

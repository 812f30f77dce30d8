"""FastMICE over blocks has the labels of FastMICE in memory."""

import numpy as np
import pytest

from manyviews import FastMICE, datasets, distributed

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="sync"):
        yield


def blobs(n=300, **more):
    data = datasets.make_blobs_views(n_samples=n, n_features=(6, 5), n_clusters=3, random_state=0, **more)
    return [np.array(X) for X in data.views.arrays]


def in_blocks(arrays, rows=90):
    return [da.from_array(X, chunks=(rows, -1)) for X in arrays]


def model(**more):
    return FastMICE(3, n_base_clusterings=5, n_anchors=40, random_state=1, **more)


@pytest.mark.parametrize("rows", [90, 300])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"metric": "cosine", "weighting": "reliability"},
        {"scaling": "minmax"},
        {"scaling": None},
        {"scaling": "unit"},
        {"search": "approximate"},
    ],
    ids=str,
)
def test_labels_are_those_in_memory(settings, rows):
    arrays = blobs()
    own, theirs = model(**settings).fit(arrays), distributed.fit(model(**settings), in_blocks(arrays, rows))
    assert np.array_equal(theirs.labels_.compute(), own.labels_)
    assert np.array_equal(theirs.base_labels_.compute(), own.base_labels_)
    assert np.array_equal(theirs.n_base_clusters_, own.n_base_clusters_)
    np.testing.assert_allclose(theirs.confidence_.compute(), own.confidence_, rtol=1e-12)
    np.testing.assert_allclose(theirs.history_.objective, own.history_.objective, rtol=1e-12)
    assert theirs.scalings_ == own.scalings_
    assert theirs.n_features_in_ == own.n_features_in_ == 11


def test_more_samples_than_the_starts_of_the_last_cut_compete_on():
    arrays = blobs(1700)
    own, theirs = model().fit(arrays), distributed.fit(model(), in_blocks(arrays, 400))
    assert np.array_equal(theirs.labels_.compute(), own.labels_)


def test_samples_that_are_not_observed_everywhere():
    arrays = blobs()
    arrays[0][:40] = np.nan
    arrays[1][200:250] = np.nan
    own, theirs = model().fit(arrays), distributed.fit(model(), in_blocks(arrays))
    assert (own.base_labels_ < 0).any()
    assert np.array_equal(theirs.labels_.compute(), own.labels_)


def test_frames_and_one_table_are_cut_as_in_memory():
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    table = pd.DataFrame(np.hstack(blobs()), columns=[f"c{j}" for j in range(11)])
    views = {"a": [f"c{j}" for j in range(6)], "b": [f"c{j}" for j in range(6, 11)]}
    own = model(views=views).fit(table)
    theirs = distributed.fit(model(views=views), dd.from_pandas(table, npartitions=3))
    assert np.array_equal(theirs.labels_.compute(), own.labels_)
    assert list(theirs.feature_names_in_) == list(own.feature_names_in_)
    parts = {name: dd.from_pandas(table[columns], npartitions=4) for name, columns in views.items()}
    assert np.array_equal(distributed.fit(model(), parts).labels_.compute(), own.labels_)
    array = da.from_array(table.to_numpy(), chunks=(100, 4))
    assert np.array_equal(distributed.fit(model(views=[6, 5]), array).labels_.compute(), own.labels_)


def test_a_fitted_model_labels_samples_in_memory_and_in_blocks():
    arrays = blobs()
    fitted = distributed.fit(model(), in_blocks(arrays))
    found = distributed.predict(fitted, in_blocks(arrays))
    assert np.array_equal(found.compute(), fitted.labels_.compute())
    assert np.array_equal(fitted.predict(arrays), fitted.labels_.compute())


def test_identical_samples_of_a_block_and_constant_views():
    arrays = blobs()
    arrays[0][10:20], arrays[1][10:20] = arrays[0][9], arrays[1][9]
    arrays.append(np.ones((300, 2)))
    with pytest.warns(UserWarning, match="view 'view_2' is constant"):
        theirs = distributed.fit(model(), in_blocks(arrays))
    assert np.unique(theirs.labels_.compute()[9:20]).size == 1
    assert theirs._told == [0, 1]


def test_an_embedding_with_empty_clusters_is_filled_as_in_memory():
    from manyviews.distributed.grouping import PartRows, row_steps
    from manyviews.distributed.parts import Home, Parts
    from manyviews.prototypes.block_kmeans import RowSteps, last_assigned

    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3)) + np.repeat([0, 9, 18], 30)[:, None]
    start = np.vstack([X[:2], np.full((3, 3), 1e3)])  # nobody is near the last three
    home = Home()
    parts = Parts(
        home.hold([dask.delayed(np.array)(X[rows : rows + 25]) for rows in range(0, 90, 25)]),
        home,
        np.array([25, 25, 25, 15]),
    )
    steps = row_steps(parts, "euclidean")
    own = last_assigned(RowSteps(X, "euclidean"), start, max_iter=4)
    theirs = last_assigned(steps, start, max_iter=4, rows=PartRows(steps))
    np.testing.assert_allclose(theirs.centers, own.centers)
    assert theirs.filled == own.filled
    assert np.array_equal(np.concatenate(theirs.labels.pairs.gather(first_of)), own.labels)


def first_of(pair):
    return pair[0]

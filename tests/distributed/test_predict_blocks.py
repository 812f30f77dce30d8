"""Every fitted method with a rule for new samples labels blocks as it labels samples in memory."""

import warnings

import numpy as np
import pytest

from manyviews import datasets, distributed
from manyviews.cluster.registry import METHODS

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
QUICK = {"n_base_clusterings": 6, "n_init": 2, "max_iter": 20, "n_anchors": 20}


@pytest.mark.parametrize("row", [row for row in METHODS if row.predicts], ids=lambda row: row.name)
def test_labels_of_blocks_are_those_in_memory(row):
    data = datasets.make_blobs_views(n_samples=120, n_features=(5, 4), n_clusters=3, random_state=0)
    arrays = [np.array(X) for X in data.views.arrays]
    known = row.load()().get_params()
    model = row.load()(3, random_state=0, **{name: value for name, value in QUICK.items() if name in known})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit([X[:80] for X in arrays])
    labels = distributed.predict(model, [da.from_array(X, chunks=(50, -1)) for X in arrays])
    with dask.config.set(scheduler="sync"):
        assert np.array_equal(labels.compute(), model.predict(arrays))
    assert labels.chunks == ((50, 50, 20),)


def test_a_method_without_a_rule_says_so():
    from manyviews import AMGL

    data = datasets.make_blobs_views(n_samples=60, n_features=(5, 4), n_clusters=3, random_state=0)
    model = AMGL(3, random_state=0).fit(data.views)
    with pytest.raises(TypeError, match="AMGL gives no labels to new samples"):
        distributed.predict(model, [da.ones((10, 5))])


def test_views_that_do_not_fit_the_model_name_the_block():
    from manyviews import ConcatKMeans

    data = datasets.make_blobs_views(n_samples=60, n_features=(5, 4), n_clusters=3, random_state=0)
    model = ConcatKMeans(3, random_state=0).fit(data.views)
    labels = distributed.predict(model, [da.ones((10, 5)), da.ones((10, 3))])
    with dask.config.set(scheduler="sync"), pytest.raises(ValueError, match="block 0 of the rows"):
        labels.compute()


def test_frames_of_unknown_length():
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    from manyviews import ConcatKMeans

    data = datasets.make_blobs_views(n_samples=60, n_features=(5, 4), n_clusters=3, random_state=0)
    table = pd.DataFrame(np.hstack(data.views.arrays))
    table.columns = [f"c{j}" for j in range(9)]
    model = ConcatKMeans(3, random_state=0, views=[5, 4]).fit(table)
    with dask.config.set(scheduler="sync"):
        labels = distributed.predict(model, dd.from_pandas(table, npartitions=3)).compute()
    assert np.array_equal(labels, model.labels_)

"""MSPL over blocks has the labels of MSPL in memory."""

import numpy as np
import pytest

from manyviews import MSPL, datasets, distributed
from manyviews.distributed.parts import Home, Parts
from manyviews.distributed.quantile import block_quantile
from manyviews.optim.self_paced import counted_quantile

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="sync"):
        yield


def views(gaps=False):
    data = datasets.make_blobs_views(n_samples=130, n_features=(6, 5), n_clusters=3, random_state=0)
    arrays = [np.array(X) for X in data.views.arrays]
    if gaps:
        arrays[0][:30] = np.nan
    return arrays, [da.from_array(X, chunks=(40, -1)) for X in arrays]


@pytest.mark.parametrize(
    ("settings", "gaps"),
    [
        ({}, True),
        ({"pacing": "hard", "n_sweeps": 2, "init": "random"}, False),
        ({"pacing": "none"}, False),
        ({"scaling": "unit", "init": "k-means++"}, False),
    ],
    ids=str,
)
def test_labels_are_those_in_memory(settings, gaps):
    arrays, blocks = views(gaps)
    own = MSPL(3, n_init=2, random_state=0, **settings).fit(arrays)
    theirs = distributed.fit(MSPL(3, n_init=2, random_state=0, **settings), blocks)
    assert np.array_equal(theirs.labels_.compute(), own.labels_)
    np.testing.assert_allclose(theirs.history_.objective, own.history_.objective)
    np.testing.assert_allclose(theirs.history_.mean_weight, own.history_.mean_weight)
    np.testing.assert_allclose(theirs.view_weights_, own.view_weights_)
    np.testing.assert_allclose(theirs.sample_weights_.compute(), own.sample_weights_, atol=1e-9)
    assert np.array_equal(theirs.selection_order_.compute(), own.selection_order_)
    np.testing.assert_allclose(theirs.confidence_.compute(), own.confidence_, atol=1e-9)
    np.testing.assert_allclose(theirs.inertia_, own.inertia_)
    for name, centers in own.cluster_centers_.items():
        np.testing.assert_allclose(theirs.cluster_centers_[name], centers)
    assert np.array_equal(theirs.predict(arrays), own.predict(arrays))


@pytest.mark.parametrize("settings", [{"init": "relaxed"}, {"scaling": "unit"}, {"keep_labels": True}])
def test_what_blocks_cannot_do(settings):
    with pytest.raises(ValueError, match="MSPL over blocks"):
        distributed.fit(MSPL(3, **settings), views()[1])


def given(block, factor):
    return block * factor, None


def weighed(block):
    return block[0], block[1]


@pytest.mark.parametrize("share", [0.0, 0.3, 0.55, 1.0])
@pytest.mark.parametrize(
    "numbers", [[3.0, 0.0, 1e-300, 7.5, 7.5, 1e300, 0.2], [1.0], [2.0, 2.0, 2.0], [0.0, -0.0, 5.0]]
)
def test_quantiles_are_those_of_numpy(numbers, share):
    home = Home()
    parts = Parts(home.hold([dask.delayed(np.array)(numbers[:2]), dask.delayed(np.array)(numbers[2:])]), home)
    found = block_quantile(parts, given, (1.0,), len(numbers), share)
    assert found == np.quantile(numbers, share)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.55, 1.0])
@pytest.mark.parametrize(
    "counts",
    [[0.25, 0.5, 3.0, 1.0, 0.125, 2.5], [0.125] * 6, [2.0, 1.0, 4.0, 1.0, 1.0, 3.0], [3.7, 0.1, 0.2, 0.6, 3.7, 0.1]],
)
def test_quantiles_of_numbers_that_count_differently(counts, share):
    pairs, home = np.array([[3.0, 0.0, 7.5, 7.5, 1e300, 0.2], counts]), Home()
    parts = Parts(home.hold([dask.delayed(np.array)(pairs[:, :2]), dask.delayed(np.array)(pairs[:, 2:])]), home)
    assert block_quantile(parts, weighed, (), sum(counts), share) == counted_quantile(*pairs, share)

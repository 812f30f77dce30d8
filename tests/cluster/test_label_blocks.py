"""New samples are labelled block by block, with the labels that all of them at once would get."""

import numpy as np
import pytest

from manyviews import LMVSC, MSPL, FastMICE, Views, datasets
from manyviews.cluster import predicting
from manyviews.cluster.predicting import label_blocks

N = 9_000


@pytest.fixture(scope="module")
def data():
    return datasets.make_blobs_views(N, n_features=(6, 3), n_clusters=3, view_noise=4.0, random_state=0)


METHODS = {"fastmice": FastMICE(3, n_base_clusterings=3, random_state=0), "mspl": MSPL(3), "lmvsc": LMVSC(3)}


@pytest.mark.parametrize("name", METHODS)
def test_blocks_get_the_labels_of_the_whole(data, name, monkeypatch):
    rows = np.random.default_rng(0).choice(N, 400, replace=False)
    model = METHODS[name].fit(data.views[rows])
    whole = model.predict(data.views)
    monkeypatch.setattr(predicting, "MOST_CELLS", 1)  # the smallest blocks
    blocks = list(label_blocks(model, data.views))
    assert list(map(len, blocks)) == [8_192, N - 8_192]
    assert np.array_equal(np.concatenate(blocks), whole)
    assert np.array_equal(model.predict(data.views), whole)
    assert len(np.unique(whole)) == 3


def test_a_fault_is_told_by_its_row_before_anything_is_labelled(data, monkeypatch):
    monkeypatch.setattr(predicting, "MOST_CELLS", 1)
    model = MSPL(3).fit(data.views[:200])
    X = [array.copy() for array in data.views.arrays]
    X[1][N - 1, 2] = np.nan
    with pytest.raises(ValueError, match="row 8999, column 2"):
        next(label_blocks(model, Views(X, names=data.views.names)))

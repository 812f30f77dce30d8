"""Consensus over blocks has the labels of Consensus in memory."""

import numpy as np
import pytest

from few_members import few_votes
from manyviews import Consensus, datasets, distributed

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")


@pytest.mark.parametrize("settings", [{}, {"system_weight": 0.0}, {"view_weights": [1.0, 2.0]}], ids=str)
def test_labels_and_members_are_those_in_memory(settings, monkeypatch):
    few_votes(monkeypatch)
    n = 60 if not settings else 1700
    data = datasets.make_blobs_views(n_samples=n, n_features=(6, 5), n_clusters=3, random_state=0)
    arrays = [np.array(X) for X in data.views.arrays]
    if settings:
        arrays[1][5:30] = np.nan

    def model():
        return Consensus(3, n_base_clusterings=8, n_anchors=30, random_state=0, **settings)

    own = model().fit(arrays)
    with dask.config.set(scheduler="sync"):
        theirs = distributed.fit(model(), [da.from_array(X, chunks=(-(-n // 3), -1)) for X in arrays])
        labels, base = theirs.labels_.compute(), theirs.base_labels_.compute()
    assert np.array_equal(labels, own.labels_)
    assert np.array_equal(base, own.base_labels_)
    assert theirs.scalings_ == own.scalings_
    np.testing.assert_allclose(theirs.view_weights_, own.view_weights_)
    assert [member[:4] for member in theirs.members_] == [member[:4] for member in own.members_]
    np.testing.assert_allclose([m.agreement for m in theirs.members_], [m.agreement for m in own.members_])
    assert np.array_equal(theirs.predict(arrays), own.predict(arrays))

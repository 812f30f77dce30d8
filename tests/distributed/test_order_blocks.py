"""Small views are fitted in the order of samples that a fit in memory works on, and all comes back as it was given."""

import numpy as np
import pytest
from scipy import sparse

from manyviews import MSPL, UDBGL, ConcatKMeans, FastMICE, datasets, distributed

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")


@pytest.mark.parametrize(
    "model",
    [
        ConcatKMeans(3, n_init=1, random_state=0),
        MSPL(3, n_init=1, random_state=0),
        UDBGL(3, n_init=1, random_state=0, max_passes=5),
        FastMICE(3, n_base_clusterings=3, n_anchors=30, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_labels_are_those_in_memory(model, monkeypatch):
    monkeypatch.setattr("manyviews.cluster.base.MOST_MOVED", 1 << 20)
    data = datasets.make_blobs_views(n_samples=120, n_features=(6, 5), n_clusters=3, random_state=0)
    arrays = [np.array(X) for X in data.views.arrays]
    for X in arrays:
        X[110] = X[35]  # in another block
    own = model.fit(arrays)
    expected = {name: own.__dict__[name] for name in own._sample_axes if own.__dict__.get(name) is not None}
    labels = own.labels_.copy()
    with dask.config.set(scheduler="sync"):
        theirs = distributed.fit(model, [da.from_array(X, chunks=(50, -1)) for X in arrays])
        assert np.array_equal(theirs.labels_.compute(), labels)
        for name, value in expected.items():
            given = value.toarray() if sparse.issparse(value) else value
            np.testing.assert_allclose(theirs.__dict__[name].compute(), given, atol=1e-7)

"""The order of the rows changes nothing: labels and all that is stored of a sample move with it."""

import numpy as np
import pytest
from scipy import sparse

from few_members import quick
from manyviews import Consensus, Views, datasets
from manyviews.cluster.registry import METHODS
from manyviews.metrics import adjusted_rand_index
from manyviews.views.cells import first_equals
from manyviews.views.order import sample_order

N = 61


@pytest.fixture(scope="module")
def overlapping():
    return datasets.make_blobs_views(N, (8, 6), 3, view_noise=0.3, random_state=0).views


@pytest.mark.parametrize("method", METHODS, ids=lambda row: row.name)
def test_a_permutation_of_the_samples_permutes_the_result(method, overlapping):
    given = np.random.default_rng(1).permutation(N)
    first, second = (quick(method, random_state=0).fit(views) for views in (overlapping, overlapping[given]))
    # clusters of equal size are numbered in the order in which they come
    assert adjusted_rand_index(second.labels_, first.labels_[given]) == 1.0
    groups_alone = method.name == "mvec"  # its affinity is one of groups, as many as samples here
    for name, found in vars(first).items():
        if not name.endswith("_") or name == "labels_" or name.startswith("_") or N not in getattr(found, "shape", ()):
            continue
        if groups_alone and name == "affinity_":
            continue
        moved = tuple(given if size == N else np.arange(size) for size in found.shape)
        own, other = (X.toarray() if sparse.issparse(X) else X for X in (found, getattr(second, name)))
        np.testing.assert_array_equal(other, own[np.ix_(*moved)], err_msg=name)


def orders(X, given):
    views = [np.asarray(X), np.asarray(X)[given]]
    found = [sample_order([own], first_equals([own])) for own in views]
    return found[0], given[found[1]]


def test_order_is_one_of_values_not_of_rows():
    rng = np.random.default_rng(0)
    for X in (rng.normal(size=(40, 3)), rng.integers(3, size=(40, 6)).astype(float)):
        first, second = orders(X, rng.permutation(40))
        assert sorted(first.tolist()) == list(range(40))
        np.testing.assert_array_equal(X[first], X[second])
    X = rng.normal(size=(40, 3))
    X[::3] = np.nan
    other = rng.normal(size=(40, 2))
    given = rng.permutation(40)
    first, second = (sample_order(arrays, first_equals(arrays)) for arrays in ([X, other], [X[given], other[given]]))
    np.testing.assert_array_equal(other[first], other[given][second])


def test_order_depends_neither_on_units_nor_on_storage():
    rng = np.random.default_rng(0)
    X = rng.poisson(0.3, size=(60, 30)).astype(float)
    X[5] = X[50]
    first = first_equals([X])
    expected = sample_order([X], first)
    np.testing.assert_array_equal(sample_order([sparse.csr_array(X)], first), expected)
    np.testing.assert_array_equal(sample_order([1000 * X.astype(np.float32)], first), expected)
    assert (np.diff(expected) == 1).mean() < 0.2
    at = np.flatnonzero(np.isin(expected, [5, 50]))
    assert at[1] - at[0] == 1
    assert expected[at[0]] == 5


def test_large_views_stay_where_they_are(monkeypatch, overlapping):
    import manyviews.cluster.base as door

    seen = []
    monkeypatch.setattr(door, "sample_order", lambda arrays, first: seen.append(len(first)) or np.arange(len(first)))
    model = Consensus(3, n_base_clusterings=3, system_weight=0.0, random_state=0)
    model.fit(overlapping)
    monkeypatch.setattr(door, "MOST_MOVED", 100)
    model.fit(Views(list(overlapping.arrays)))
    assert seen == [N]

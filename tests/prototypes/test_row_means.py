import pickle

import numpy as np
import pytest

from few_members import few_votes
from manyviews import USENC, USPEC, Consensus, FastMICE
from manyviews.cluster.anchors import base
from manyviews.graphs.anchor_graph import build_index, find_anchors, nearest_means
from manyviews.metrics import adjusted_rand_index
from manyviews.prototypes.anchors import hybrid_anchors
from manyviews.prototypes.row_means import keep_rows, keeps_rows, mean_anchors, own_anchors, row_products, store_rows
from manyviews.prototypes.sampled_rows import ColumnSample
from manyviews.prototypes.view_treatment import fit_treatment

N, D = 40, 300
COLUMNS = np.arange(3, D, 2)


def wide_view(seed=0):
    rng = np.random.default_rng(seed)
    return (rng.normal(3, 1, (3, D))[np.arange(N) % 3] + rng.normal(0, 2, (N, D))) * rng.uniform(0.1, 9, D)


def kept(metric, scaling="standard"):
    X = wide_view()
    treatment = fit_treatment(X, scaling, metric)
    return X, keep_rows(store_rows(X, np.ones(N, dtype=bool)), treatment), ColumnSample.of(treatment, COLUMNS)


def as_points(means):
    A = np.zeros((means.shape[0], N))
    used = np.flatnonzero(means.member >= 0)
    A[means.member[used], used] = means.weight[used]
    return A @ means.rows.take(means.columns.chosen).T


def test_a_sample_of_columns_is_the_treatment_of_these_columns():
    X = wide_view()
    treatment = fit_treatment(X, "standard", "euclidean")
    sample = ColumnSample.of(treatment, COLUMNS[::-1])
    np.testing.assert_array_equal(sample.chosen, COLUMNS)
    assert (sample.width, sample.metric) == (COLUMNS.size, "euclidean")
    np.testing.assert_allclose(sample.treatment().apply(X), treatment.apply(X)[:, COLUMNS])


@pytest.mark.parametrize("scaling", ["standard", "unit", None])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_anchors_are_those_of_the_rows_themselves(metric, scaling):
    X, rows, columns = kept(metric, scaling)
    T = columns.treatment().apply(X).astype(np.float32)
    for p in (7, 20, N):
        points = hybrid_anchors(T, p, np.random.default_rng(p), metric)
        means = mean_anchors(rows, columns, row_products(rows, columns), np.arange(N), p, np.random.default_rng(p))
        assert means.shape == points.shape
        np.testing.assert_allclose(as_points(means), points, atol=2e-4 * np.abs(points).max())


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_neighbours_are_those_among_the_points_for_rows_of_the_fit_and_for_new_ones(metric):
    X, rows, columns = kept(metric)
    products = row_products(rows, columns)
    means = mean_anchors(rows, columns, products, np.arange(0, N, 2), 9, np.random.default_rng(0))
    index, plain = build_index(means, metric, 3), build_index(as_points(means).astype(np.float32), metric, 3)
    for new in (X, wide_view(1)):
        block = columns.treatment().apply(new).astype(np.float32)
        found, expected = find_anchors(index, block, 3), find_anchors(plain, block, 3)
        np.testing.assert_array_equal(found.index, expected.index)
        np.testing.assert_allclose(found.distance, expected.distance, rtol=1e-3, atol=2e-2)
    own = nearest_means(index, products.G / products.factor, np.diagonal(products.G), 3)
    np.testing.assert_array_equal(own.index, find_anchors(index, columns.treatment().apply(X).astype("f"), 3).index)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_kept_rows_are_anchors_themselves(metric):
    X, rows, _ = kept(metric)
    chosen = np.array([1, 5, 30])
    found = find_anchors(build_index(own_anchors(rows, chosen), metric, 1), rows.treatment.apply(X[chosen]), 1)
    np.testing.assert_array_equal(found.index.ravel(), [0, 1, 2])
    np.testing.assert_allclose(found.distance, 0, atol=2e-2)


def test_equal_rows_make_one_anchor():
    X = np.repeat(wide_view()[:10], 4, axis=0)
    treatment = fit_treatment(X, "standard", "euclidean")
    rows, columns = keep_rows(store_rows(X, np.ones(N, dtype=bool)), treatment), ColumnSample.of(treatment, COLUMNS)
    means = mean_anchors(rows, columns, row_products(rows, columns), np.arange(N), 30, np.random.default_rng(0))
    assert means.shape[0] == 10


def test_only_dense_views_that_are_wide_for_few_samples_keep_rows():
    assert keeps_rows(np.zeros((10, 20)), 10)
    assert not keeps_rows(np.zeros((10, 19)), 10)
    assert not keeps_rows(np.zeros((10, 20)), 9)


def wide_views(n=120):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 4
    views = [rng.normal(size=(4, d))[y] * 0.4 + rng.normal(size=(n, d)) for d in (6000, 2000, 30)]
    return [X.astype(np.float32) for X in views], y


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_fast_mice_finds_the_same_with_rows_as_with_points_and_labels_them_again(metric, monkeypatch):
    views, y = wide_views()
    views[0][:7] = np.nan
    model = FastMICE(4, n_base_clusterings=12, metric=metric, random_state=0).fit(views)
    np.testing.assert_array_equal(model.predict(views), model.labels_)
    monkeypatch.setattr(base, "keeps_rows", lambda X, n_anchors: False)
    points = FastMICE(4, n_base_clusterings=12, metric=metric, random_state=0).fit(views)
    same = [adjusted_rand_index(a, b) for a, b in zip(model.base_labels_.T, points.base_labels_.T, strict=True)]
    # k-means of a few iterations may follow a rounding elsewhere, as single precision does against double
    assert np.median(same) == pytest.approx(1)
    assert np.mean(same) > 0.9
    assert adjusted_rand_index(points.labels_, model.labels_) > 0.99
    assert adjusted_rand_index(y, model.labels_) > 0.9


MODELS = (
    FastMICE(4, n_base_clusterings=12, random_state=0),
    Consensus(4, n_base_clusterings=12, random_state=0),
    USENC(4, n_base_clusterings=5, random_state=0),
    USPEC(4, random_state=0),
)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_model_holds_each_wide_view_once(model, monkeypatch):
    few_votes(monkeypatch)
    views, _ = wide_views()
    model.fit(views)
    assert len(pickle.dumps(model)) < 1.2 * sum(X.nbytes for X in views)
    assert model._memory_estimate(model_views(views)) < 6 * sum(X.nbytes for X in views)


def model_views(views):
    from manyviews.views import Views

    return Views(views)

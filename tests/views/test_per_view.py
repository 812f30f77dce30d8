import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, StandardScaler

from manyviews import OPLFMVC, PerView, Views


def test_each_view_gets_its_own_clone(three_views):
    views, _ = three_views
    scaler = PerView(StandardScaler())
    scaled = scaler.fit_transform(views)
    for before, after in zip(views, scaled.arrays, strict=True):
        np.testing.assert_allclose(after, StandardScaler().fit_transform(before))
    assert list(scaler.transformers_) == ["view_0", "view_1", "view_2"]


def test_a_mapping_leaves_the_other_views_alone(three_views):
    A, B, _ = three_views[0]
    scaled = PerView({"a": StandardScaler()}).fit_transform({"a": A, "b": B})
    np.testing.assert_allclose(scaled.view("a").mean(axis=0), 0, atol=1e-12)
    assert scaled.view("b") is B
    with pytest.raises(ValueError, match=r"names the views \['c'\]"):
        PerView({"c": StandardScaler()}).fit({"a": A})


def test_unobserved_rows_stay_unobserved():
    A = np.random.default_rng(0).normal(size=(6, 2))
    A[2] = np.nan
    scaled = PerView(StandardScaler()).fit_transform([A, np.ones((6, 1))])
    np.testing.assert_array_equal(scaled.observed[:, 0], np.arange(6) != 2)
    np.testing.assert_allclose(np.nanmean(scaled.arrays[0], axis=0), 0, atol=1e-12)


def test_new_samples_are_matched_by_name(three_views):
    A, B, _ = three_views[0]
    scaler = PerView(StandardScaler()).fit({"a": A, "b": B})
    swapped = scaler.transform({"b": B[:4], "a": A[:4]})
    np.testing.assert_allclose(swapped.view("a"), scaler.transform({"a": A, "b": B}).view("a")[:4])


def test_it_works_in_a_pipeline(three_views):
    views, _ = three_views
    pipeline = clone(make_pipeline(PerView(StandardScaler()), OPLFMVC(3, scaling=None, random_state=0)))
    direct = OPLFMVC(3, scaling="standard", random_state=0).fit(Views(views))
    np.testing.assert_array_equal(pipeline.fit(views)[-1].labels_, direct.labels_)
    np.testing.assert_array_equal(pipeline.predict(views), direct.labels_)


def test_results_of_any_kind_keep_unobserved_samples_apart():
    A = np.random.default_rng(0).normal(size=(6, 2))
    A[2] = np.nan
    X = Views({"a": A, "b": np.ones((6, 1))})
    whole = PerView({"a": FunctionTransformer(lambda x: x.astype(int))}).fit_transform(X)
    framed = PerView({"a": StandardScaler().set_output(transform="pandas")}).fit_transform(X)
    sparse_rows = PerView({"a": KBinsDiscretizer(2, encode="onehot", strategy="uniform")}).fit_transform(X)
    for result in (whole, framed, sparse_rows):
        np.testing.assert_array_equal(result.observed, X.observed)
    assert sparse_rows.view("a").shape == (6, 4)
    assert np.isnan(whole.view("a")[2]).all()


def test_new_samples_not_observed_in_a_view_stay_so():
    A = np.random.default_rng(0).normal(size=(6, 2))
    scaler = PerView(StandardScaler()).fit({"a": A, "b": A})
    result = scaler.transform({"a": np.full((3, 2), np.nan), "b": A[:3]})
    np.testing.assert_array_equal(result.observed, [[False, True]] * 3)
    assert result.view("a").shape == (3, 2)


def test_a_target_of_another_length_is_refused():
    with pytest.raises(ValueError, match="one entry per sample"):
        PerView(StandardScaler()).fit([np.ones((3, 2))], [1, 2])

"""Filling in single empty cells."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from manyviews import OPLFMVC, ViewImputer, Views

NAN = np.nan


@pytest.fixture
def holed():
    a = np.array([[1.0, 10.0], [NAN, 20.0], [3.0, 30.0], [NAN, NAN], [5.0, NAN]])
    return Views({"a": a, "b": np.arange(5.0)[:, None]}, sample_names=list("vwxyz"))


def test_the_median_of_the_column(holed):
    before = holed.view("a").copy()
    imputer = ViewImputer().fit(holed)
    filled = imputer.transform(holed)
    np.testing.assert_array_equal(filled.view("a"), [[1, 10], [3, 20], [3, 30], [NAN, NAN], [5, 20]])
    assert imputer.n_filled_ == {"a": 2, "b": 0}
    assert filled.sample_names.tolist() == list("vwxyz")
    assert filled.observed[:, 0].tolist() == [True, True, True, False, True]
    np.testing.assert_array_equal(holed.view("a"), before)


def test_the_nearest_samples():
    X = np.array([[0.0, 0.0], [0.1, 2.0], [9.0, 50.0], [9.1, NAN]])
    filled = ViewImputer("knn", n_neighbors=1).fit_transform([X])
    assert filled.arrays[0][3, 1] == 50.0


def test_new_samples_get_the_numbers_of_the_training_samples(holed):
    imputer = ViewImputer().fit(holed)
    new = imputer.transform({"b": np.ones((1, 1)), "a": np.array([[NAN, 7.0]])})
    assert new.names == ("a", "b")
    assert new.view("a").tolist() == [[3.0, 7.0]]


def test_lacking_views_stay_unobserved(holed):
    with pytest.warns(UserWarning, match=r"views \['b'\] are not given"):
        filled = ViewImputer().fit(holed).transform({"a": np.array([[NAN, 7.0]])})
    assert filled.names == ("a", "b")
    assert filled.observed.tolist() == [[True, False]]
    assert filled.view("a").tolist() == [[3.0, 7.0]]
    with pytest.raises(ValueError, match=r"unknown here: \['c'\]"):
        ViewImputer().fit(holed).transform({"a": np.ones((1, 2)), "c": np.ones((1, 1))})


def test_single_precision_sparse_views_and_empty_columns():
    X = np.array([[1.0, NAN, 3.0], [2.0, NAN, NAN]], np.float32)
    S = sparse.csr_matrix(np.eye(2))
    filled = ViewImputer().fit_transform({"x": X, "s": S})
    assert filled.view("x").dtype == np.float32
    np.testing.assert_array_equal(filled.view("x"), [[1, 0, 3], [2, 0, 3]])
    assert (filled.view("s") != S).nnz == 0


def test_it_works_in_a_pipeline(three_views):
    views, labels = [X.copy() for X in three_views[0]], three_views[1]
    views[0][3, 1] = views[2][40, 0] = NAN
    with pytest.raises(ValueError, match="ViewImputer"):
        OPLFMVC(3).fit(views)
    for strategy in ("median", "knn"):
        model = make_pipeline(ViewImputer(strategy), OPLFMVC(3, random_state=0)).fit(views)
        assert len(set(zip(labels, model[-1].labels_, strict=True))) == 3
        np.testing.assert_array_equal(model.predict(views), model[-1].labels_)


def test_what_cannot_be_filled_is_refused(holed):
    with pytest.raises(ValueError, match=r"'strategy' parameter must be one of \('median', 'knn'\), got 'mode'"):
        ViewImputer("mode").fit(holed)
    with pytest.raises(ValueError, match="infinity: view 'view_0', row 0, column 0"):
        ViewImputer().fit([np.array([[np.inf, 1.0]])])
    with pytest.raises(ValueError, match="view 'a' has 1 features, but was fitted with 2"):
        ViewImputer().fit(holed).transform({"a": np.ones((1, 1)), "b": np.ones((1, 1))})
    assert clone(ViewImputer("knn", n_neighbors=2)).n_neighbors == 2

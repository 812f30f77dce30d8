"""What every method of the registry keeps, whatever it does inside."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, train_test_split

from few_members import quick
from manyviews import Views
from manyviews.cluster.registry import METHODS, find_method
from manyviews.metrics import adjusted_rand_index

PREDICTING = [row for row in METHODS if row.predicts]


def names(rows):
    return [row.name for row in rows]


def same_groups(a, b):
    return adjusted_rand_index(a, b) == 1.0


def test_clear_clusters_are_found_and_numbered_by_size(model, three_views):
    views, labels = three_views
    keep = np.r_[0:20, 20:35, 40:50]
    model.fit([X[keep] for X in views])
    assert same_groups(labels[keep], model.labels_)
    assert model.labels_.dtype == np.int64
    np.testing.assert_array_equal(np.bincount(model.labels_), [20, 15, 10])


def test_common_attributes(fitted):
    model = fitted
    assert model.n_views_in_ == 3
    assert list(model.view_names_in_) == ["a", "b", "c"]
    assert list(model.n_view_features_in_) == [5, 3, 4]
    assert model.n_features_in_ == 12
    assert model.n_iter_ >= 1
    assert isinstance(model.converged_, bool)
    assert model.history_.n_iter == model.n_iter_ or len(model.history_.objective) >= 1
    if hasattr(model, "view_weights_"):
        assert model.view_weights_.shape == (3,)
        assert model.view_weights_.sum() == pytest.approx(1)
    if hasattr(model, "confidence_"):
        assert model.confidence_.shape == (60,)
        assert ((model.confidence_ >= 0) & (model.confidence_ <= 1)).all()


def test_the_four_doors_give_equal_labels(model, fitted, three_views):
    """Those of a mapping, which is what was fitted."""
    views, _ = three_views
    table = np.hstack(views)
    expected = fitted.labels_
    doors = {
        "views": (Views(views), None),
        "list": (views, None),
        "frames": ([pd.DataFrame(X) for X in views], None),
        "table": (table, [5, 3, 4]),
        "frame": (pd.DataFrame(table, columns=[f"c{i}" for i in range(12)]), [5, 3, 4]),
        "named": (table, {"view_0": slice(0, 5), "view_1": [5, 6, 7], "view_2": slice(8, 12)}),
    }
    for door, (X, cut) in doors.items():
        found = clone(model).set_params(views=cut).fit(X).labels_
        np.testing.assert_array_equal(found, expected, err_msg=door)


@pytest.mark.filterwarnings("ignore:view.* constant")
def test_a_constant_view_does_not_matter(model, fitted, three_views):
    views, labels = three_views
    again = model.fit([views[0], np.full((60, 3), 7.3), *views[1:]]).labels_
    assert same_groups(fitted.labels_, again)
    assert same_groups(labels, again)


def test_the_order_of_views_does_not_matter(model, fitted, three_views):
    named = dict(zip("abc", three_views[0], strict=True))
    turned = {name: named[name] for name in "cab"}
    assert same_groups(fitted.labels_, model.fit(turned).labels_)


def test_the_order_of_samples_does_not_matter(model, fitted, three_views):
    views, _ = three_views
    order = np.random.default_rng(0).permutation(60)
    shuffled = model.fit([X[order] for X in views]).labels_
    assert same_groups(fitted.labels_[order], shuffled)


def test_the_same_seed_gives_the_same_labels_for_any_number_of_jobs(model, fitted, three_views):
    views, labels = three_views
    for jobs in (1, 2, -1, 10_000):
        found = clone(model).set_params(n_jobs=jobs).fit(views).labels_
        np.testing.assert_array_equal(found, fitted.labels_, err_msg=f"n_jobs={jobs}")
    assert same_groups(fitted.labels_, labels)


@pytest.mark.parametrize("state", [7, np.random.RandomState(7), np.random.default_rng(7), None])
def test_every_kind_of_random_state_is_taken_and_the_global_one_untouched(model, three_views, state):
    views, labels = three_views
    np.random.seed(3)  # noqa: NPY002 (the very thing a fit must leave alone)
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    assert same_groups(model.set_params(random_state=state).fit(views).labels_, labels)
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002


def test_single_precision_integers_order_and_read_only_maps(model, three_views, tmp_path):
    views, labels = three_views
    rounded = [np.round(X * 8) for X in views]
    expected = clone(model).fit(rounded).labels_
    assert same_groups(expected, labels)
    maps = []
    for i, X in enumerate(rounded):
        np.save(tmp_path / f"{i}.npy", X.astype(np.float32))
        maps.append(np.load(tmp_path / f"{i}.npy", mmap_mode="r"))
    for variant in (
        [X.astype(np.float32) for X in rounded],
        [X.astype(np.int64) for X in rounded],
        [np.asfortranarray(X) for X in rounded],
        maps,
    ):
        assert same_groups(clone(model).fit(variant).labels_, expected)


def test_sparse_views_are_taken_as_declared(row, model):
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 20)
    topics = np.kron(np.eye(3), np.ones(8))[labels]
    views = [sparse.csr_matrix(rng.poisson(0.1 + 2 * topics).astype(float)) for _ in range(2)]
    if not row.sparse:
        with pytest.raises(TypeError, match="sparse"):
            model.fit(views)
        return
    assert same_groups(clone(model).fit(views).labels_, labels)
    assert same_groups(clone(model).fit([views[0], views[1].toarray()]).labels_, labels)


def test_unobserved_samples_are_taken_or_refused_as_declared(row, model, three_views):
    views, labels = [X.copy() for X in three_views[0]], three_views[1]
    views[0][[3, 30]] = np.nan
    views[1][50] = np.nan
    if not row.missing:
        with pytest.raises(ValueError, match=r"view 'view_0' has 2 unobserved"):
            model.fit(views)
        return
    model.fit(views)
    assert same_groups(model.labels_, labels)
    assert model.labels_.shape == (60,)


def test_clone_pickle_and_parameters(row, model, fitted, three_views):
    views = dict(zip("abc", three_views[0], strict=True))
    assert clone(model).get_params() == model.get_params() == fitted.get_params()
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.labels_, fitted.labels_)
    if row.predicts:
        np.testing.assert_array_equal(again.predict(views), fitted.predict(views))


@pytest.mark.parametrize(
    ("k", "words"), [(0, "n_clusters"), (61, "n_samples=60"), (2.5, "n_clusters"), ("3", "n_clusters")]
)
def test_impossible_numbers_of_clusters_are_refused(model, three_views, k, words):
    with pytest.raises((ValueError, TypeError), match=words):
        model.set_params(n_clusters=k).fit(three_views[0])


def test_nan_cells_and_infinities_are_refused_by_place(model, three_views):
    for bad in (np.nan, np.inf):
        views = [X.copy() for X in three_views[0]]
        views[1][7, 2] = bad
        with pytest.raises(ValueError, match=r"view 'view_1', row 7, column 2"):
            model.fit(views)


def test_three_dimensions_are_refused_with_what_to_write(model):
    with pytest.raises(ValueError, match="give one 2-D array per view"):
        model.fit(np.ones((2, 10, 3)))


def test_splitting_and_searching_over_views(row, model, three_views):
    views, labels = three_views
    train, test = train_test_split(Views(views), random_state=0)
    assert (len(train), len(test)) == (45, 15)
    model.fit(train)
    if row.predicts:
        assert model.predict(test).shape == (15,)
        search = GridSearchCV(quick(row, random_state=0), {"n_clusters": [2, 3]}, scoring="adjusted_rand_score", cv=2)
        order = np.random.default_rng(0).permutation(60)
        search.fit(Views(views)[order], labels[order])
        assert search.best_params_ == {"n_clusters": 3}
        by_itself = GridSearchCV(quick(row, random_state=0), {"n_clusters": [1, 3]}, cv=2, refit=False)
        by_itself.fit(Views(views)[order])
        assert by_itself.best_params_ == {"n_clusters": 3}


def test_predict_is_there_as_declared(row, model, three_views):
    views, _ = three_views
    assert hasattr(model, "predict") == hasattr(model, "score") == row.predicts
    if row.predicts:
        with pytest.raises(NotFittedError):
            model.predict(views)
        with pytest.raises(NotFittedError):
            model.score(views)


@pytest.mark.parametrize("row", PREDICTING, ids=names(PREDICTING))
def test_the_score_is_that_of_the_neighbours_in_each_view(row, fitted, three_views):
    views = dict(zip("abc", three_views[0], strict=True))
    assert fitted.score(views) == pytest.approx(1.0)
    noise = np.random.default_rng(0).normal(size=(60, 12))
    assert abs(fitted.score({"a": noise[:, :5], "b": noise[:, 5:8], "c": noise[:, 8:]})) < 0.5
    with pytest.raises(ValueError, match="got 2 samples"):
        fitted.score({name: X[:2] for name, X in views.items()})


@pytest.mark.parametrize("row", PREDICTING, ids=names(PREDICTING))
def test_new_samples_are_matched_by_name(row, fitted, three_views):
    views = dict(zip("abc", three_views[0], strict=True))
    model = fitted
    expected = model.predict(views)
    assert (expected == model.labels_).mean() >= 0.98
    np.testing.assert_array_equal(model.predict({name: views[name] for name in "bca"}), expected)
    np.testing.assert_array_equal(model.predict({name: X[[4, 50]] for name, X in views.items()}), expected[[4, 50]])
    with pytest.warns(UserWarning, match=r"views \['d'\] are left out"):
        np.testing.assert_array_equal(model.predict(views | {"d": views["a"]}), expected)
    with pytest.raises(ValueError, match="unknown here"):
        model.predict({"d": views["a"], "b": views["b"], "c": views["c"]})
    with pytest.raises(ValueError, match=r"view 'a' has 3 features, but was fitted with 5"):
        model.predict(views | {"a": views["b"]})
    if row.missing:
        with pytest.warns(UserWarning, match=r"views \['c'\] are not given"):
            assert model.predict({"a": views["a"], "b": views["b"]}).shape == (60,)
    else:
        with pytest.raises(ValueError, match=r"missing here: \['c'\]"):
            model.predict({"a": views["a"], "b": views["b"]})


@pytest.mark.parametrize("row", PREDICTING, ids=names(PREDICTING))
def test_columns_of_new_frames_are_matched_by_name(row, three_views):
    frames = {name: pd.DataFrame(X).add_prefix("c") for name, X in zip("abc", three_views[0], strict=True)}
    model = quick(row, random_state=0).fit(frames)
    turned = {name: frame[frame.columns[::-1]] for name, frame in frames.items()}
    np.testing.assert_array_equal(model.predict(turned), model.predict(frames))
    with pytest.raises(ValueError, match="view 'a' has other columns"):
        model.predict(frames | {"a": frames["a"].rename(columns={"c0": "d0"})})


def test_masked_tables_and_dates_are_refused(model, three_views):
    table = three_views[0][0]
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.ma.array(table, mask=table < table.mean()))
    with pytest.raises((ValueError, TypeError), match="not numeric"):
        model.fit(np.full((60, 2), np.datetime64("2020-01-01")))


def test_a_named_cut_of_a_table_names_the_views_of_new_samples(row, model, three_views):
    if not row.predicts:
        pytest.skip("has no predict")
    views, _ = three_views
    model.set_params(views={"a": slice(0, 5), "b": slice(5, 8), "c": slice(8, 12)}).fit(np.hstack(views))
    expected = model.predict(np.hstack(views))
    named = {name: views["abc".index(name)] for name in "cab"}
    np.testing.assert_array_equal(model.set_params(views=None).predict(named), expected)


def test_methods_are_found_by_any_spelling_and_close_names_suggested(row):
    for spelling in (row.name, row.class_name, row.name.upper(), row.name.replace("-", "_")):
        assert find_method(spelling) is row
    with pytest.raises(ValueError, match=r"there is no method 'op-lfmv'; did you mean 'op-lfmvc'"):
        find_method("op-lfmv")

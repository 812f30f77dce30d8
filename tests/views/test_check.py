from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from manyviews import Views
from manyviews.views.check import Accepts, check_views, is_table, per_view
from manyviews.views.new_samples import FittedViews, match_views


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        (np.ones((3, 2)), True),
        (sparse.csr_matrix(np.eye(2)), True),
        (sparse.dok_matrix(np.eye(2)), True),
        (pd.DataFrame({"a": [1]}), True),
        (pl.DataFrame({"a": [1]}), True),
        ([[1, 2], [3, 4]], True),
        ([np.ones(2), np.ones(2)], True),
        ([np.ones((3, 2))], False),
        ((np.ones((3, 2)), sparse.csr_array(np.eye(3))), False),
        ([[[1, 2], [3, 4]], [[1], [2]]], False),
        ({"a": np.ones((3, 2))}, False),
        (Views([np.ones((3, 2))]), False),
        (SimpleNamespace(mod={}), False),
    ],
)
def test_tables_are_told_from_several_views(X, expected):
    assert is_table(X) is expected


def test_the_four_doors_give_the_same_views():
    A, B = np.arange(6.0).reshape(3, 2), np.ones((3, 1))
    table = np.hstack([A, B])
    names = {"view_0": [0, 1], "view_1": [2]}
    frame = pd.DataFrame(table, columns=["a", "b", "c"])
    nested = pd.DataFrame(table, columns=pd.MultiIndex.from_tuples([("view_0", "a"), ("view_0", "b"), ("view_1", "c")]))
    doors = [
        check_views(Views([A, B])),
        check_views([A, B]),
        check_views({"view_0": A, "view_1": B}),
        check_views(table, views=[2, 1]),
        check_views(table, views=names),
        check_views(table, views={"view_0": slice(0, 2), "view_1": -1}),
        check_views(frame, views={"view_0": ["a", "b"], "view_1": "c"}),
        check_views(frame, views={"view_0": lambda f: ["a", "b"], "view_1": ["c"]}),
        check_views(pl.from_pandas(frame), views=[2, 1]),
        check_views(nested),
        check_views(
            SimpleNamespace(
                mod={
                    "view_0": SimpleNamespace(X=A, obs_names=["p", "q", "r"]),
                    "view_1": SimpleNamespace(X=B, obs_names=["p", "q", "r"]),
                }
            )
        ),
    ]
    for X in doors:
        assert X.names == ("view_0", "view_1")
        np.testing.assert_array_equal(X.concatenate(), table)


def test_mudata_with_different_samples_is_aligned_and_the_missing_marked():
    part = SimpleNamespace
    data = part(mod={"a": part(X=np.ones((2, 1)), obs_names=["p", "q"]), "b": part(X=np.ones((1, 2)), obs_names=["q"])})
    np.testing.assert_array_equal(check_views(data).observed, [[True, False], [True, True]])


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [("f4", "f4"), ("f8", "f8"), ("i2", "f8"), ("u1", "f8"), ("?", "f8"), ("f2", "f8")],
)
def test_dtypes(dtype, expected):
    assert check_views([np.ones((2, 2), dtype)]).arrays[0].dtype == expected


@pytest.mark.parametrize(
    ("X", "error", "words"),
    [
        ([np.ones((2, 2)) + 1j], ValueError, "'view_0': Complex data not supported"),
        ([np.array([["1", "2"]])], TypeError, "not numeric"),
        ([np.array([[1, "x"]], dtype=object)], TypeError, r"row 0, column 1: 'x'"),
        ([np.ones((2, 2, 2))], ValueError, "3-D array"),
        (np.ones((2, 2, 2)), ValueError, "3-D array"),
        ([np.ones((2, 2)), np.ones(2)], ValueError, r"'view_1' must be 2-D.*reshape"),
        ([np.ones((0, 2))], ValueError, "0 sample"),
        ([np.ones((2, 0))], ValueError, "0 feature"),
        ([np.ones((3, 1)), np.ones((2, 1))], ValueError, "'view_0' has 3, 'view_1' has 2"),
        ([np.array([[1, np.nan], [1, 2]])], ValueError, "NaN: view 'view_0', row 0, column 1"),
        ([np.array([[1, 2], [1, -np.inf]])], ValueError, "infinity: view 'view_0', row 1, column 1"),
        ([np.full((2, 2), np.nan)], ValueError, "observed in no view"),
        ([sparse.csr_array([[0, 1.0], [np.nan, 0]])], ValueError, "row 1, column 0 is nan"),
        ("text", ValueError, "2-D"),
        (5, ValueError, "2-D"),
    ],
)
def test_bad_input_is_explained(X, error, words):
    with pytest.raises(error, match=words):
        check_views(X)


def test_masked_entries_count_as_nan():
    X = np.ma.array(np.ones((3, 2)), mask=[[0, 0], [0, 1], [0, 0]])
    with pytest.raises(ValueError, match="row 1, column 1"):
        check_views([X])


def test_a_cell_far_down_is_found_in_float32_too():
    X = np.ones((40_000, 3), np.float32)
    X[35_000, 2] = np.nan
    with pytest.raises(ValueError, match="row 35000, column 2"):
        check_views([X])
    X[35_000, 2] = 1e14
    assert check_views([X]).arrays[0] is X


def test_unobserved_rows_are_taken_or_refused_with_ids_and_remedy():
    A = np.ones((3, 2))
    A[1] = np.nan
    X = Views({"a": A, "b": np.ones((3, 1))}, sample_names=["p", "q", "r"])
    assert check_views(X).observed.sum() == 5
    refusing = Accepts(missing=False, method="Foo", missing_hint=", or use Bar")
    with pytest.raises(ValueError, match=r"view 'a' has 1 unobserved.*q \(row 1\).*Foo takes complete.*or use Bar"):
        check_views(X, accepts=refusing)


def test_sparse_views_are_refused_not_densified():
    with pytest.raises(TypeError, match="'view_0' is sparse, and Foo"):
        check_views([sparse.csr_array(np.eye(2))], accepts=Accepts(sparse=False, method="Foo"))


@pytest.mark.parametrize(
    ("views", "error", "words"),
    [
        ([1, 1], ValueError, "sum 2, but the table has 3"),
        ([4, -1], ValueError, "must be positive"),
        ([], ValueError, "sum 0"),
        ({"a": [7]}, ValueError, "column 7"),
        ({"a": ["x"]}, ValueError, "an array has no column names"),
        ({"a": []}, ValueError, r"no column for the views \['a'\]"),
        ({"a": lambda frame: [0]}, TypeError, "needs a data frame"),
        (3, TypeError, "list of widths"),
        (["a"], TypeError, "list of widths"),
    ],
)
def test_bad_cuts_of_a_table_are_explained(views, error, words):
    with pytest.raises(error, match=words):
        check_views(np.ones((2, 3)), views=views)


def test_cutting_several_views_is_an_error():
    with pytest.raises(ValueError, match="holds several views already"):
        check_views([np.ones((2, 2))], views=[2])


def test_match_views_by_name_then_by_position():
    A, B = np.ones((2, 3)), np.zeros((2, 1))
    fitted = FittedViews.of(Views({"a": A, "b": B}), named=True)
    assert match_views(Views({"b": B, "a": A}), fitted).names == ("a", "b")
    assert match_views(Views([A, B]), fitted).names == ("view_0", "view_1")
    assert match_views(Views({"x": A, "y": B}), fitted._replace(named=False)).names == ("x", "y")
    with pytest.raises(ValueError, match=r"missing here: \['b'\], unknown here: \['c'\]"):
        match_views(Views({"a": A, "c": B}), fitted)
    with pytest.raises(ValueError, match="fitted on 2 views, got 1"):
        match_views(Views([A]), fitted)
    with pytest.raises(ValueError, match="view 'a' has 1 features, but was fitted with 3"):
        match_views(Views({"a": B, "b": B}), fitted)


def test_columns_of_frames_are_matched_by_name():
    frame = pd.DataFrame(np.arange(6.0).reshape(2, 3), columns=list("xyz"))
    fitted = FittedViews.of(Views({"a": frame}), named=True)
    np.testing.assert_array_equal(match_views(Views({"a": frame[["z", "x", "y"]]}), fitted).view("a"), frame)
    np.testing.assert_array_equal(match_views(Views({"a": frame.to_numpy()}), fitted).view("a"), frame)
    with pytest.raises(ValueError, match=r"other columns.*missing here: \['z'\], unknown here: \['w'\]"):
        match_views(Views({"a": frame.rename(columns={"z": "w"})}), fitted)


def test_a_view_stays_sparse_or_dense():
    A = np.eye(3)
    sparse_fit = FittedViews.of(Views([sparse.csr_matrix(A)]), named=False)
    assert sparse.issparse(match_views(Views([A]), sparse_fit).arrays[0])
    with pytest.raises(TypeError, match="'view_0' is sparse, but was dense"):
        match_views(Views([sparse.csr_matrix(A)]), FittedViews.of(Views([A]), named=False))


def test_lacking_views_count_as_unobserved_where_allowed():
    fitted = FittedViews.of(Views({"a": np.ones((2, 3)), "b": np.zeros((2, 1))}), named=True)
    with pytest.warns(UserWarning, match=r"views \['a'\] are not given"):
        partial = match_views(Views({"b": np.zeros((2, 1))}), fitted, partial=True)
    assert partial.names == ("a", "b")
    np.testing.assert_array_equal(partial.observed, [[False, True]] * 2)
    assert partial.arrays[0].shape == (2, 3)
    with pytest.raises(ValueError, match="missing here"):
        match_views(Views({"c": np.zeros((2, 1))}), fitted, partial=True)


def test_per_view_values():
    assert per_view(2, ["a", "b"], "alpha") == (2, 2)
    assert per_view([1, 2], ["a", "b"], "alpha") == (1, 2)
    assert per_view({"b": 5}, ["a", "b"], "alpha") == (None, 5)
    with pytest.raises(ValueError, match="'alpha' parameter has 1 entries for 2 views"):
        per_view([1], ["a", "b"], "alpha")
    with pytest.raises(ValueError, match=r"'alpha' parameter names the views \['c'\]"):
        per_view({"c": 5}, ["a", "b"], "alpha")

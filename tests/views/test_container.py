import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from manyviews import Views


def two_views(n=5):
    return {"image": np.arange(3.0 * n).reshape(n, 3), "text": np.ones((n, 2), np.float32)}


def test_names_lengths_and_shape():
    X = Views(two_views())
    assert X.names == ("image", "text")
    assert len(X) == 5
    assert X.shape == (5, 5)
    assert dict(X.items()).keys() == {"image", "text"}
    assert Views([np.ones((2, 1))] * 2).names == ("view_0", "view_1")
    assert Views([np.ones((2, 1))], names=["a"]).names == ("a",)
    assert repr(X) == "Views(5 samples; image: 3, text: 2)"


def test_arrays_are_kept_not_copied():
    data = two_views()
    X = Views(data)
    assert X.view("image") is data["image"]
    assert X.select(["text"]).view("text") is data["text"]


@pytest.mark.parametrize(
    "rows", [[0, 3], np.array([3, 0]), slice(1, 4), np.array([True, False, True, False, False]), []]
)
def test_rows_of_every_view(rows):
    data = two_views() | {"sparse": sparse.csr_array(np.eye(5))}
    X = Views(data, sample_names=list("abcde"))[rows]
    index = np.arange(5)[rows] if not isinstance(rows, list) else np.array(rows, dtype=int)
    assert len(X) == len(index)
    np.testing.assert_array_equal(X.view("image"), data["image"][index])
    np.testing.assert_array_equal(X.view("sparse").toarray(), np.eye(5)[index])
    np.testing.assert_array_equal(X.sample_names, np.array(list("abcde"))[index])
    np.testing.assert_array_equal(Views(data)[index, ...].view("image"), data["image"][index])


@pytest.mark.parametrize("wrong", [0, "image", (0, 1)])
def test_other_indexing_says_what_to_write(wrong):
    with pytest.raises(TypeError, match="takes rows only"):
        Views(two_views())[wrong]


def test_it_is_neither_a_list_nor_an_array():
    X = Views(two_views())
    with pytest.raises(TypeError, match=r"X\.items"):
        list(X)
    with pytest.raises(TypeError, match="concatenate"):
        np.asarray(X)
    with pytest.raises(AttributeError, match="frozen"):
        X.names = ("a",)


def test_concatenate_and_map():
    X = Views(two_views())
    np.testing.assert_array_equal(X.concatenate(), np.hstack(X.arrays))
    mixed = Views({"a": sparse.csr_array(np.eye(3)), "b": np.ones((3, 1))}).concatenate()
    assert sparse.issparse(mixed)
    assert mixed.shape == (3, 4)
    doubled = X.map(lambda name, array: array * 2)
    np.testing.assert_array_equal(doubled.view("text"), 2)
    with pytest.raises(ValueError, match="same samples"):
        X.map(lambda name, array: array[:2])


def test_select_keeps_the_order_asked_for_and_names_the_unknown():
    X = Views(two_views())
    assert X.select(["text", "image"]).names == ("text", "image")
    with pytest.raises(ValueError, match=r"no view 'sound'.*image"):
        X.select(["sound"])
    with pytest.raises(ValueError, match="each view once"):
        X.select(["text", "text"])
    with pytest.raises(ValueError, match="no view 'sound'"):
        X.view("sound")


@pytest.mark.parametrize("clone", [copy.copy, copy.deepcopy, lambda X: pickle.loads(pickle.dumps(X))])
def test_copies_and_pickles(clone):
    X = Views(two_views(), sample_names=list("abcde"), observed=np.ones((5, 2), bool))
    new = clone(X)
    assert new.names == X.names
    np.testing.assert_array_equal(new.observed, X.observed)
    np.testing.assert_array_equal(new.view("image"), X.view("image"))


def test_rows_of_nan_are_not_observed():
    data = two_views()
    data["image"] = data["image"].copy()
    data["image"][2] = np.nan
    data["image"][3, 0] = np.nan
    X = Views(data)
    np.testing.assert_array_equal(X.observed[:, 0], [True, True, False, True, True])
    assert X.observed[:, 1].all()
    np.testing.assert_array_equal(X[[2, 0]].observed[:, 0], [False, True])
    np.testing.assert_array_equal(X.select(["text"]).observed, np.ones((5, 1), bool))


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [1, 2], "b": [0.5, np.nan]}),
        pl.DataFrame({"a": [1, 2], "b": [0.5, None]}),
        pa.table({"a": [1, 2], "b": [0.5, None]}),
    ],
)
def test_frames_become_arrays_with_feature_names(frame):
    X = Views({"table": frame})
    np.testing.assert_array_equal(X.view("table"), [[1, 0.5], [2, np.nan]])
    assert X.feature_names == (("a", "b"),)
    assert X.sample_names is None


def test_nullable_and_single_precision_frames():
    frame = pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": [True, False]})
    np.testing.assert_array_equal(Views([frame]).arrays[0], [[1, 1], [np.nan, 0]])
    assert Views([pd.DataFrame({"a": np.ones(2, np.float32)})]).arrays[0].dtype == np.float32


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_text_columns_are_named(make):
    with pytest.raises(ValueError, match=r"view 'table' has 1 column.*'colour'"):
        Views({"table": make({"size": [1, 2], "colour": ["red", "blue"]})})


def test_an_index_gives_the_sample_names():
    frame = pd.DataFrame({"a": [1.0, 2]}, index=["x", "y"])
    np.testing.assert_array_equal(Views([frame, np.ones((2, 1))]).sample_names, ["x", "y"])


def test_differing_indexes_are_not_matched_by_position():
    a, b = pd.DataFrame({"a": [1.0, 2]}, index=["x", "y"]), pd.DataFrame({"b": [1.0, 2]}, index=["y", "x"])
    with pytest.raises(ValueError, match=r"'one' and 'two' differ .*Views\.align"):
        Views({"one": a, "two": b})
    with pytest.raises(ValueError, match="differ"):
        Views({"one": a, "two": b.reset_index(drop=True)})


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        ([], ValueError, "no view"),
        ({}, ValueError, "no view"),
        (np.ones((3, 2)), TypeError, r"Views\(\[table\]\)"),
        ([np.ones((3, 2)), np.ones((4, 2))], ValueError, "'view_0' has 3, 'view_1' has 4"),
        ([np.ones((3, 2, 1))], ValueError, "3-D array of shape"),
        ([np.ones(3)], ValueError, r"reshape\(-1, 1\)"),
        ([[[1, 2], [3]]], ValueError, "differing lengths"),
        ({1: np.ones((3, 2))}, TypeError, "must be strings"),
    ],
)
def test_bad_structure_is_explained(data, error, words):
    with pytest.raises(error, match=words):
        Views(data)


def test_bad_names_ids_and_masks_are_explained():
    views = [np.ones((3, 2))]
    with pytest.raises(ValueError, match="2 names were given for 1 views"):
        Views(views, names=["a", "b"])
    with pytest.raises(ValueError, match="must differ"):
        Views(views * 2, names=["a", "a"])
    with pytest.raises(ValueError, match="1 occur more than once: \\['x'\\]"):
        Views(views, sample_names=["x", "y", "x"])
    with pytest.raises(ValueError, match="one id per sample"):
        Views(views, sample_names=["x"])
    with pytest.raises(ValueError, match="observed must be booleans"):
        Views(views, observed=np.ones((3, 1)))
    assert Views(views, sample_names=np.array([1, "1", 2], dtype=object)).sample_names is not None


def test_sparse_of_any_format_becomes_csr():
    for kind in (sparse.coo_array, sparse.csc_matrix, sparse.dok_matrix):
        assert Views([kind(np.eye(3))]).arrays[0].format == "csr"


class TestAlign:
    a = (["u", "v", "w"], np.array([[1.0], [2], [3]]))
    b = (["w", "x", "u"], np.array([[30], [40], [10]]))

    def test_inner_keeps_common_samples_in_the_order_of_the_first_view(self):
        X = Views.align({"a": self.a, "b": self.b})
        np.testing.assert_array_equal(X.sample_names, ["u", "w"])
        np.testing.assert_array_equal(X.concatenate(), [[1, 10], [3, 30]])
        assert X.observed.all()

    def test_outer_keeps_all_and_marks_the_unobserved(self):
        X = Views.align({"a": self.a, "b": self.b}, how="outer")
        np.testing.assert_array_equal(X.sample_names, ["u", "v", "w", "x"])
        np.testing.assert_array_equal(X.view("b")[:, 0], [10, np.nan, 30, 40])
        np.testing.assert_array_equal(X.observed, [[1, 1], [1, 0], [1, 1], [0, 1]])

    def test_outer_of_sparse_views_is_empty_and_unobserved(self):
        X = Views.align({"a": self.a, "s": (["w", "u"], sparse.csr_array([[0.0, 5], [6, 0]]))}, how="outer")
        np.testing.assert_array_equal(X.view("s").toarray(), [[6, 0], [0, 0], [0, 5]])
        np.testing.assert_array_equal(X.observed[:, 1], [True, False, True])

    def test_frames_with_an_index(self):
        frame = pd.DataFrame({"f": [1.0, 2]}, index=["w", "u"])
        X = Views.align({"a": self.a, "f": frame})
        np.testing.assert_array_equal(X.concatenate(), [[1, 2], [3, 1]])
        assert X.feature_names == (None, ("f",))

    def test_errors(self):
        with pytest.raises(ValueError, match=r"view 'a': .*more than once"):
            Views.align({"a": (["u", "u"], np.ones((2, 1)))})
        with pytest.raises(ValueError, match="in common"):
            Views.align({"a": self.a, "b": (["z"], np.ones((1, 1)))})
        with pytest.raises(TypeError, match="must be a pair"):
            Views.align({"a": np.ones((2, 1))})
        with pytest.raises(ValueError, match="'inner' or 'outer'"):
            Views.align({"a": self.a}, how="left")
        with pytest.raises(TypeError, match="without an index"):
            Views.align({"a": pl.DataFrame({"x": [1]})})

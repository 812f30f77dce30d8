"""Tables of every library, with sparse, nested and categorical columns; damaged matrices; things that are no table."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from manyviews import ConcatKMeans, FastMICE, Views

CLASSES = np.repeat([0, 1, 2], 20)
X = np.random.default_rng(0).normal(size=(60, 4)) + 5 * CLASSES[:, None]
NARROW = X.astype(np.float32)


class Annotated:
    """What an AnnData looks like from outside."""

    def __init__(self, X, obs_names, var_names):
        self.X, self.obs_names, self.var_names = X, pd.Index(obs_names), pd.Index(var_names)

    def __len__(self):
        return len(self.obs_names)

    def __getitem__(self, key):
        return Annotated(self.X[key], self.obs_names[key[0]], self.var_names[key[1]])


def test_sparse_columns_of_pandas():
    S = sparse.random(60, 5, 0.4, format="csr", random_state=0)
    frame = pd.DataFrame.sparse.from_spmatrix(S, columns=list("abcde"))
    views = Views({"s": frame})
    assert sparse.issparse(views.view("s"))
    assert views.feature_names == (tuple("abcde"),)
    np.testing.assert_array_equal(views.view("s").toarray(), S.toarray())
    mixed = pd.DataFrame({"a": pd.arrays.SparseArray(S.toarray()[:, 0]), "b": X[:, 0]})
    np.testing.assert_array_equal(Views([mixed]).arrays[0], np.column_stack([S.toarray()[:, 0], X[:, 0]]))
    assert len(FastMICE(3, random_state=0).fit(frame).labels_) == 60


@pytest.mark.parametrize(
    "table",
    [
        pl.DataFrame({"e": pl.Series(NARROW, dtype=pl.Array(pl.Float32, 4)), "f": NARROW[:, 0]}),
        pl.DataFrame({"e": NARROW.tolist(), "f": NARROW[:, 0]}, schema_overrides={"e": pl.List(pl.Float32)}),
        pa.table({"e": pa.FixedSizeListArray.from_arrays(NARROW.ravel(), 4), "f": NARROW[:, 0]}),
        pa.table({"e": pa.array(list(NARROW)), "f": NARROW[:, 0]}),
        pd.DataFrame({"e": list(NARROW), "f": NARROW[:, 0]}),
    ],
)
def test_lists_of_numbers_are_columns(table):
    views = Views({"text": table})
    assert views.feature_names == (("e[0]", "e[1]", "e[2]", "e[3]", "f"),)
    assert views.view("text").dtype == np.float32
    np.testing.assert_array_equal(views.view("text"), np.column_stack([NARROW, NARROW[:, 0]]))
    labels = ConcatKMeans(3, views={"text": ["e"], "f": ["f"]}, random_state=0).fit(table).labels_
    np.testing.assert_array_equal(labels, ConcatKMeans(3, random_state=0).fit([NARROW, NARROW[:, :1]]).labels_)


def test_lists_of_other_lengths_and_empty_ones():
    with pytest.raises(ValueError, match=r"column 'e' holds lists of different lengths \(1, 2\)"):
        Views([pl.DataFrame({"e": [[1.0], [1.0, 2.0]]})])
    views = Views([pl.DataFrame({"e": [[1.0, 2.0], None]})])
    np.testing.assert_array_equal(views.arrays[0], [[1, 2], [np.nan, np.nan]])


CATEGORIES = ["red", "blue", "red", None]


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"colour": pd.Categorical(CATEGORIES), "size": [1.0, 2, 3, 4]}),
        pl.DataFrame({"colour": pl.Series(CATEGORIES, dtype=pl.Categorical), "size": [1.0, 2, 3, 4]}),
        pa.table({"colour": CATEGORIES, "size": [1.0, 2, 3, 4]}),
    ],
)
def test_categories_become_columns_when_asked_and_only_then(table):
    with pytest.raises(ValueError, match=r"not numeric: 'colour'; .*encode=\['colour'\]"):
        Views({"v": table})
    views = Views({"v": table}, encode=["col*"])
    assert views.feature_names == (("colour=blue", "colour=red", "size"),)
    np.testing.assert_array_equal(views.view("v"), [[0, 1, 1], [1, 0, 2], [0, 1, 3], [np.nan, np.nan, 4]])


def test_new_samples_need_not_have_every_category():
    frame = pd.DataFrame({"colour": np.array(["red", "blue", "green"])[CLASSES], "size": X[:, 0]})
    model = FastMICE(3, random_state=0).fit(Views({"v": frame}, encode=["colour"]))
    few = frame[frame.colour == "green"]
    expected = model.predict(Views({"v": frame}, encode=["colour"]))[few.index]
    np.testing.assert_array_equal(model.predict(Views({"v": few}, encode=["colour"])), expected)


def test_booleans_with_gaps_are_numbers():
    for table in (
        pd.DataFrame({"b": pd.array([True, None, False], dtype="boolean")}),
        pl.DataFrame({"b": [True, None, False]}),
        pa.table({"b": [True, None, False]}),
    ):
        np.testing.assert_array_equal(Views([table]).arrays[0], [[1], [np.nan], [0]])


def test_a_column_of_names_is_not_encoded():
    with pytest.raises(ValueError, match="column 'name', to be encoded, has 60 values in 60 rows"):
        Views([pd.DataFrame({"name": [f"s{i}" for i in range(60)]})], encode=["name"])


@pytest.mark.parametrize("counts", [X, sparse.csr_matrix(X)])
def test_annotated_data_is_a_view(counts):
    rna = Annotated(counts, [f"c{i}" for i in range(60)], list("abcd"))
    views = Views({"rna": rna, "other": X})
    assert views.feature_names[0] == tuple("abcd")
    assert views.sample_names[1] == "c1"
    expected = FastMICE(3, random_state=0).fit([counts]).labels_
    np.testing.assert_array_equal(FastMICE(3, random_state=0).fit(rna).labels_, expected)
    np.testing.assert_array_equal(FastMICE(3, random_state=0).fit([rna]).labels_, expected)
    turned = Views.align(
        {"rna": Annotated(counts.T, list("abcd"), [f"c{i}" for i in range(60)]), "b": (rna.obs_names, X)},
        transpose=["rna"],
    )
    np.testing.assert_array_equal(turned.view("b"), X)


def test_a_cut_table_is_looked_at_only_where_it_is_used():
    frame = pd.DataFrame(X, columns=list("abcd")).assign(brand="x", gap=np.nan)
    model = ConcatKMeans(3, views={"one": ["a", "b"], "two": ["c", "d"]}, random_state=0).fit(frame)
    np.testing.assert_array_equal(model.labels_, ConcatKMeans(3, random_state=0).fit([X[:, :2], X[:, 2:]]).labels_)
    assert model.n_features_in_ == 4
    assert model.feature_names_in_.tolist() == list("abcd")
    np.testing.assert_array_equal(model.predict(frame[["d", "brand", "b", "a", "c"]]), model.predict(frame))


@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
@pytest.mark.parametrize("value", [-1, 10**6])
def test_indices_outside_a_sparse_matrix_are_refused(format, value):
    S = sparse.random(60, 5, 0.4, format=format, random_state=0)
    (S.col if format == "coo" else S.indices)[7] = value
    for X in (S, [S, np.eye(60)], {"s": S}):
        with pytest.raises(ValueError, match="is a damaged sparse matrix: its indices go from"):
            FastMICE(3).fit(X)
    with pytest.raises(ValueError, match="view 's' is a damaged sparse matrix"):
        Views.align({"s": (range(60), S)})


@pytest.mark.parametrize("damage", [(0, 1), (3, 10**6), (3, -5), (-1, 10**6)])
def test_ends_of_rows_outside_a_sparse_matrix_are_refused(damage):
    S = sparse.random(60, 5, 0.4, format="csr", random_state=0)
    S.indptr[damage[0]] = damage[1]
    for X in (S, [S, np.eye(60)]):
        with pytest.raises(ValueError, match="is a damaged sparse matrix: its indptr"):
            FastMICE(3).fit(X)


@pytest.mark.parametrize(
    "X", [None, 5, 5.0, "text", [1, 2, 3], [], np.zeros(3), np.array(3.0), [[1, 2], [3]], {}, [None]]
)
def test_what_is_no_table_is_refused_in_one_line(X):
    with pytest.raises((ValueError, TypeError)) as caught:
        ConcatKMeans(2).fit(X)
    assert "\n" not in str(caught.value)


def test_an_array_of_three_dimensions_says_what_to_write():
    with pytest.raises(ValueError, match=r"samples × times × variables X.reshape\(len\(X\), -1\)"):
        Views([np.zeros((3, 4, 5))])


@pytest.mark.parametrize(
    "table",
    [
        pl.DataFrame({"x": NARROW[:, 0], "none": pl.Series([None] * 60, dtype=pl.Null)}),
        pl.DataFrame({"x": NARROW[:, 0], "none": pl.Series([None] * 60, dtype=pl.List(pl.Float64))}),
        pa.table({"x": NARROW[:, 0], "none": pa.nulls(60)}),
        pa.table({"x": NARROW[:, 0], "none": pa.nulls(60, pa.string())}),
        pa.table({"x": NARROW[:, 0], "none": pa.nulls(60, pa.timestamp("s"))}),
        pd.DataFrame({"x": NARROW[:, 0], "none": [None] * 60}),
        pd.DataFrame({"x": NARROW[:, 0], "none": pd.array([None] * 60, dtype="string")}),
        pd.DataFrame({"x": NARROW[:, 0], "none": pd.array([None] * 60, dtype=pd.ArrowDtype(pa.null()))}),
        pd.DataFrame({"x": NARROW[:, 0], "none": pd.Categorical([None] * 60)}),
    ],
    ids=["Null", "List", "null", "string", "timestamp", "object", "pandas string", "pandas Arrow", "category"],
)
def test_a_column_without_a_value_is_told_to_be_empty_whatever_its_type(table):
    views = Views({"a": table})
    assert views.arrays[0].dtype == np.float32
    with pytest.raises(ValueError, match=r"'none' \(60: every sample\); leave out columns that are empty in every"):
        ConcatKMeans(2).fit(views)
    with pytest.raises(ValueError, match="these are all"):
        ConcatKMeans(2).fit([views.arrays[0][:, 1:]])

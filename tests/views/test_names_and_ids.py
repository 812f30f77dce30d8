"""Names of columns and samples go along everywhere, and what does not belong together is seen."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from manyviews import ConcatKMeans, FastMICE, PerView, ViewImputer, Views

CLASSES = np.repeat([0, 1, 2], 20)
IDS = [f"s{i:02d}" for i in range(60)]


def frames(index=None):
    rng = np.random.default_rng(0)
    a = pd.DataFrame(rng.normal(size=(60, 4)) + 5 * CLASSES[:, None] * [1, -1, 0, 2], columns=list("abcd"), index=index)
    b = pd.DataFrame(rng.normal(size=(60, 3)) - 5 * CLASSES[:, None] * [0, 1, -2], columns=list("xyz"), index=index)
    return a, b


A, B = frames()
OTHER_ORDER = {"b": B[list("zxy")], "a": A[list("dbca")]}


@pytest.mark.parametrize("step", [ViewImputer(), ViewImputer("knn"), PerView(StandardScaler())])
def test_steps_before_a_method_keep_names_and_predict_goes_by_them(step):
    model = make_pipeline(step, FastMICE(3, random_state=0)).fit({"a": A, "b": B})
    assert model[:-1].transform(OTHER_ORDER).feature_names == (tuple("abcd"), tuple("xyz"))
    np.testing.assert_array_equal(model.predict(OTHER_ORDER), model.predict({"a": A, "b": B}))
    with pytest.raises(ValueError, match=r"missing here: \['d'\], unknown here: \['renamed'\]"):
        model.predict({"a": A.rename(columns={"d": "renamed"}), "b": B})


def test_a_transformer_that_makes_new_columns_names_them():
    views = PerView({"a": PCA(2)}).fit_transform({"a": A, "b": B})
    assert views.feature_names == (("pca0", "pca1"), tuple("xyz"))
    assert PerView(PCA(2)).fit_transform([A.to_numpy(), B.to_numpy()]).feature_names == (None, None)
    assert not PerView(StandardScaler()).fit_transform([A.to_numpy(), B.to_numpy()]).has_names


def test_predict_leaves_out_what_the_model_does_not_know_and_says_so():
    model = FastMICE(3, random_state=0).fit({"a": A, "b": B})
    expected = model.predict({"a": A, "b": B})
    with pytest.warns(
        UserWarning, match=r"view 'b': 1 column\(s\) that the model does not know are left out: \['more'\]"
    ):
        np.testing.assert_array_equal(model.predict({"a": A, "b": B.assign(more=1.0)}), expected)
    with pytest.warns(UserWarning, match=r"views \['c'\] are left out"):
        np.testing.assert_array_equal(model.predict({"c": A, "a": A, "b": B}), expected)
    with pytest.raises(ValueError, match=r"missing here: \['b'\], unknown here: \['bb'\] \(is 'bb' meant for 'b'\?\)"):
        model.predict({"a": A, "bb": B})
    with pytest.warns(UserWarning, match=r"views \['b'\] are not given"):
        model.predict({"a": A})


@pytest.mark.parametrize("dtypes", [(np.float32, np.float64), (np.float64, np.float32), (np.float64, np.int64)])
@pytest.mark.parametrize("method", [ConcatKMeans, FastMICE])
def test_predict_takes_numbers_of_another_type_than_the_fit(method, dtypes):
    fit, new = ([np.round(10 * X).to_numpy().astype(dtype) for X in (A, B)] for dtype in dtypes)
    model = method(3, random_state=0).fit(fit)
    np.testing.assert_array_equal(model.predict(new), model.predict(fit))


@pytest.mark.parametrize("library", [lambda frame: frame, pl.from_pandas])
@pytest.mark.parametrize("ids", [np.arange(60) + 100, np.array(IDS)])
def test_a_column_of_ids_in_another_order_is_seen(library, ids):
    a, b = A.assign(patient_id=ids), B.assign(patient_id=ids)
    shuffled = b.sample(frac=1, random_state=0, ignore_index=True)
    match = "column 'patient_id' has the same values in views 'a' and 'b', in another order"
    with pytest.raises(ValueError, match=match):
        Views({"a": library(a), "b": library(shuffled)})
    pairs = {
        "a": (a["patient_id"], a.drop(columns="patient_id")),
        "b": (shuffled.patient_id, shuffled.drop(columns="patient_id")),
    }
    np.testing.assert_array_equal(Views.align(pairs).view("b"), B)
    # most ids the same, and the name says that they are ids
    later = b.assign(patient_id=np.roll(ids, 3) if ids.dtype.kind == "U" else ids + 3)
    with pytest.raises(ValueError, match="patient_id"):
        Views({"a": library(a), "b": library(later)})


def test_ranks_and_measurements_are_no_ids():
    rng = np.random.default_rng(0)
    ranks = [pd.DataFrame({name: rng.permutation(60) for name in "abc"}) for _ in range(2)]
    assert len(Views(ranks)) == 60
    counts = [pd.DataFrame({"x": rng.permutation(1000)[:60], "y": CLASSES}) for _ in range(2)]
    assert len(Views(counts)) == 60


@pytest.mark.parametrize(
    "index",
    [
        pd.date_range("2020-01-01", periods=60),
        pd.MultiIndex.from_product([["p", "q", "r"], range(20)]),
        pd.period_range("2020-01", periods=60, freq="M"),
        pd.CategoricalIndex(IDS),
    ],
)
def test_every_index_of_pandas_matches_rows(index):
    a, b = frames(index)
    views = Views.align({"a": a, "b": b.iloc[::-1]}, how="outer")
    np.testing.assert_array_equal(views.view("b"), b)
    assert list(views.sample_names) == list(np.asarray(index))
    assert list(Views({"a": a, "b": b}).sample_names) == list(np.asarray(index))
    assert views[[1, 0]].sample_names[0] == np.asarray(index)[1]


def test_unpaired_samples_are_refused_and_hardly_paired_ones_said():
    a, b = frames(IDS)
    with pytest.raises(ValueError, match=r"no sample is in two of the views \['a', 'b'\]"):
        Views.align({"a": a, "b": b.set_axis([f"t{i}" for i in range(60)])}, how="outer")
    X = np.full((2, 120, 4), np.nan)
    X[0, :60], X[1, 60:] = A, A
    with pytest.raises(ValueError, match="no sample is in two of the views"):
        FastMICE(3).fit(list(X))
    with pytest.warns(UserWarning, match="only 5 of 115 samples are in two views or more"):
        Views.align({"a": a, "b": b.set_axis(IDS[:5] + [f"t{i}" for i in range(55)])}, how="outer")


def test_samples_in_columns():
    a, b = frames(IDS)
    for given, turned in ({"a": a.T, "b": b.T}, ["a", "b"]), ({"a": a.T, "b": b}, ["a"]):
        with pytest.raises(ValueError, match=rf"samples in columns\? .* give transpose=\[{str(turned)[1:-1]}\]"):
            Views.align(given)
        views = Views.align(given, transpose=turned)
        assert views.feature_names == (tuple("abcd"), tuple("xyz"))
        np.testing.assert_array_equal(views.view("a"), a)
        np.testing.assert_array_equal(views.sample_names, IDS)
    views = Views.align({"a": (IDS, a.to_numpy().T), "b": b}, transpose=["a"])
    np.testing.assert_array_equal(views.view("a"), a)
    with pytest.raises(ValueError, match=r"transpose names the views \['c'\]"):
        Views.align({"a": a}, transpose=["c"])

"""What fits over blocks refuse, and in which words."""

import numpy as np
import pytest

import manyviews
from manyviews import FastMICE, distributed
from manyviews.cluster.registry import METHODS
from manyviews.distributed.fitting import DRIVERS

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="sync"):
        yield


def numbers(*shape):
    return np.random.default_rng(0).normal(size=shape)


def blocks(X, rows=10):
    return da.from_array(X, chunks=(rows, -1))


@pytest.mark.parametrize("row", [row for row in METHODS if row.class_name not in DRIVERS], ids=lambda row: row.name)
def test_methods_without_a_fit_over_blocks_name_one_that_has_it(row):
    with pytest.raises(TypeError, match=rf"{row.class_name} has no fit over Dask collections: take (\w+),") as caught:
        distributed.fit(row.load()(2), [blocks(numbers(20, 3))])
    named = str(caught.value).split("take ")[1].split(",")[0]
    assert named in DRIVERS


def test_something_else_than_a_method():
    from sklearn.cluster import KMeans

    with pytest.raises(TypeError, match="KMeans is no method of manyviews; give one of"):
        distributed.fit(KMeans(2), [blocks(numbers(20, 3))])


@pytest.mark.parametrize("form", [lambda X: X, lambda X: [X], lambda X: {"a": X}])
def test_fit_and_predict_in_memory_say_where_dask_goes(form):
    X = numbers(30, 4)
    with pytest.raises(TypeError, match=r"manyviews\.distributed\.fit\(model, views\)"):
        FastMICE(2).fit(form(blocks(X)))
    fitted = FastMICE(2, n_base_clusterings=2, random_state=0).fit(form(X))
    with pytest.raises(TypeError, match=r"manyviews\.distributed\.predict\(model, views\)"):
        fitted.predict(form(blocks(X)))


@pytest.mark.parametrize(
    ("views", "words"),
    [
        (lambda: [blocks(numbers(30, 4)), numbers(30, 3)], "view 1 is a ndarray, but others are Dask collections"),
        (lambda: {"a": blocks(numbers(30, 4)), "b": None}, "view 'b' is a NoneType"),
        (lambda: [blocks(numbers(30, 4)), blocks(numbers(20, 3))], r"different numbers of samples: \[20, 30\]"),
        (lambda: [da.ones(30, chunks=10)], "2-D"),
        (
            lambda: [blocks(np.where(np.arange(90) == 77, np.inf, 1.0).reshape(30, 3))],
            "block 2 of the rows: .*infinity",
        ),
        (lambda: [blocks(np.full((30, 3), "x", dtype=object))], r"block \d of the rows: .*not numeric"),
        (lambda: [blocks(np.ones((30, 3)))], "n_clusters=2 is more than there are distinct samples: 1 of n_samples=30"),
        (lambda: [blocks(np.full((30, 3), np.nan)), blocks(numbers(30, 3))], "no sample is observed in it"),
        (lambda: [blocks(1e-90 * numbers(30, 3))], "squares of such numbers vanish"),
    ],
)
def test_views_that_cannot_be_clustered(views, words):
    with pytest.raises((ValueError, TypeError), match=words):
        distributed.fit(FastMICE(2, n_base_clusterings=2, random_state=0), views())


def test_frames_in_different_numbers_of_blocks():
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(numbers(30, 3))
    views = [dd.from_pandas(frame, npartitions=3), dd.from_pandas(frame, npartitions=2)]
    with pytest.raises(ValueError, match="different numbers of blocks"):
        distributed.fit(FastMICE(2), views)


def test_counts_of_terms_ask_for_a_decision():
    rng, X = np.random.default_rng(0), np.zeros((60, 400))
    for i, row in enumerate(X):  # two groups with words of their own, so that no last digit moves a sample
        row[rng.choice(12, 5, replace=False) + 12 * (i % 2)] = 1
    with pytest.raises(ValueError, match="view 'view_0' has fewer than 2 % of its numbers above 0"):
        distributed.fit(FastMICE(2), [blocks(X)])
    stated = FastMICE(2, scaling="tfidf", metric="cosine", n_base_clusterings=4, random_state=0)
    found = distributed.fit(stated, [blocks(X)]).labels_.compute()
    assert np.array_equal(found, manyviews.FastMICE(**stated.get_params()).fit([X]).labels_)


@pytest.mark.parametrize("settings", [{"final": "released"}, {"discretization": "paper"}])
def test_parts_of_fastmice_that_blocks_lack(settings):
    with pytest.raises(ValueError, match="last cut by agreement"):
        distributed.fit(FastMICE(2, **settings), [blocks(numbers(30, 3))])

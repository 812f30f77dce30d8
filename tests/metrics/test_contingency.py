import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

from manyviews.metrics import evaluate
from manyviews.metrics.contingency import contingency_table, encode_labels


@pytest.mark.parametrize(
    "labels",
    [
        ["b", "a", "b", "c"],
        [7, -3, 7, 0],
        [2.5, -1.0, 2.5, 0.0],
        [("b", 1), ("a", 1), ("b", 1), "c"],
        [1, "1", 1, 2.5],
        (True, "x", True, None.__class__),
        np.array(["b", "a", "b", "c"]),
        np.array(["b", "a", "b", 3], dtype=object),
        np.array([1, 0, 1, 2], dtype=np.uint8),
        np.array([2**64 - 1, 2**63, 2**64 - 1, 0], dtype=np.uint64),
        np.array([127, -128, 127, 0], dtype=np.int8),
        np.array([10**18, -(10**18), 10**18, 0]),
        [2**63, -1, 2**63, 2**63 + 1],
        [2**70, -1, 2**70, 2**70 + 1],
        [np.int64(4), np.int64(2), np.int64(4), np.int64(3)],
        np.array(["2020-01-02", "2020-01-01", "2020-01-02", "2021-01-01"], dtype="datetime64[D]"),
        pd.Series(["b", "a", "b", "c"]),
        pd.Series(pd.Categorical(["b", "a", "b", "c"])),
        pd.Series([5, 4, 5, 6], index=[9, 8, 7, 6]),
        pl.Series(["b", "a", "b", "c"]),
        ["a\0", "a", "a\0", "b"],
    ],
    ids=lambda labels: f"{type(labels).__name__}-{getattr(labels, 'dtype', '')}",
)
def test_any_hashable_labels(labels):
    codes, k = encode_labels(labels)
    assert k == 3
    assert codes.dtype == np.int64
    assert codes[0] == codes[2]
    assert sorted(set(codes.tolist())) == [0, 1, 2]


def test_booleans():
    assert encode_labels([True, False])[0].tolist() == [1, 0]
    assert encode_labels(np.array([True, True]))[1] == 1


def test_empty_labels_between_used_ones_are_dropped():
    codes, k = encode_labels([10, 30, 10])
    assert codes.tolist() == [0, 1, 0]
    assert k == 2


def test_table_by_hand():
    table = contingency_table([0, 0, 0, 1, 1, 2], ["x", "x", "y", "y", "y", "y"])
    assert table.rows.tolist() == [0, 0, 1, 2]
    assert table.cols.tolist() == [0, 1, 1, 1]
    assert table.counts.tolist() == [2, 1, 2, 1]
    assert table.row_sums.tolist() == [3, 2, 1]
    assert table.col_sums.tolist() == [2, 4]
    assert table.n_samples == 6
    assert not table.is_bijection


def test_sorted_and_counted_tables_are_equal():
    rng = np.random.default_rng(0)
    true, pred = rng.integers(0, 60, 500), rng.integers(0, 60, 500)
    counted = contingency_table(true, pred)
    # One more class and cluster pushes the table over the size up to which it is counted densely.
    far = contingency_table(np.r_[true, 60 + np.arange(40)], np.r_[pred, 60 + np.arange(40)])
    assert far.row_sums.size * far.col_sums.size > 4096 > counted.row_sums.size * counted.col_sums.size
    np.testing.assert_array_equal(far.counts[:-40], counted.counts)
    np.testing.assert_array_equal(far.rows[:-40], counted.rows)
    np.testing.assert_array_equal(far.cols[:-40], counted.cols)


@pytest.mark.parametrize(
    ("true", "pred", "error", "words"),
    [
        ([0, 1], [0, 1, 1], ValueError, "labels_true has 2 labels and labels_pred has 3"),
        ([], [], ValueError, "empty"),
        (np.empty(0, dtype=int), [], ValueError, "empty"),
        ([0.0, float("nan")], [0, 1], ValueError, "labels_true has a missing label .* position 1"),
        ([0, 1], np.array([np.nan, np.nan]), ValueError, r"labels_pred .* position 0 \(2 in all\)"),
        ([0, 1], [0, None], ValueError, "labels_pred has a missing label"),
        (["a", float("nan")], [0, 1], ValueError, "missing label"),
        (pd.Series([1, pd.NA], dtype="Int64"), [0, 1], ValueError, "missing label"),
        (pd.Series(["a", None]), [0, 1], ValueError, "missing label"),
        (pl.Series([1, None]), [0, 1], ValueError, "missing label"),
        (np.array(["2020-01-01", "NaT"], dtype="datetime64[D]"), [0, 1], ValueError, "missing label"),
        (np.ma.masked_array([0, 1], mask=[0, 1]), [0, 1], ValueError, "masked"),
        (np.zeros((2, 1), dtype=int), [0, 1], ValueError, r"shape \(2, 1\).*ravel"),
        ([[0, 1], [1, 0]], [0, 1], ValueError, r"shape \(2, 2\)"),
        ([[0, 1], [1]], [0, 1], TypeError, "list at position 0"),
        ([{}, {}], [0, 1], TypeError, "dict at position 0"),
        ([np.arange(2), "a"], [0, 1], TypeError, "hashable"),
        ("ab", [0, 1], TypeError, "got str"),
        ({0: 1}, [0], TypeError, "got dict"),
        ({0, 1}, [0, 1], TypeError, "got set"),
        (3, [0], TypeError, "got int"),
        (None, [0], TypeError, "got NoneType"),
        ((i for i in range(2)), [0, 1], TypeError, "got generator"),
    ],
)
def test_bad_labels(true, pred, error, words):
    with pytest.raises(error, match=words):
        evaluate(true, pred)


def test_import_is_light():
    code = "import sys, manyviews.metrics; sys.exit(any(m.split('.')[0] in ('scipy', 'sklearn') for m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

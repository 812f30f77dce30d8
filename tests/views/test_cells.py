"""Cells and rows: places named, constants found, distinct rows counted."""

import numpy as np
import pytest
from scipy import sparse

from manyviews import Views
from manyviews.views.cells import constant_columns, distinct_samples, first_equals
from manyviews.views.check import Accepts, check_numbers

REFUSING = Accepts(huge=False)


@pytest.mark.parametrize(
    ("value", "dtype", "match"),
    [
        (np.nan, float, r"NaN: view 'a', row 2, column 1 \(sample 'r'\); fill the cells in \(--impute median or knn"),
        (np.inf, float, r"infinity: view 'a', row 2, column 1 \(sample 'r'\); replace it"),
        (-np.inf, np.float32, r"infinity: view 'a', row 2"),
        (1e200, float, r"too large for float64: view 'a', row 2, column 1 \(sample 'r'\) is 1e\+200.*divide the view"),
        (-1e30, np.float32, r"too large for float32"),
    ],
)
def test_the_place_of_a_bad_cell(value, dtype, match):
    X = np.ones((4, 2), dtype)
    X[2, 1] = value
    with pytest.raises(ValueError, match=match):
        check_numbers(Views({"a": X}, sample_names=list("pqrs")), REFUSING)


def test_empty_cells_are_counted_by_column():
    X = np.ones((9, 5))
    X[[1, 2, 4, 6], 0] = X[3, 2] = X[:, 4] = np.nan
    with pytest.raises(ValueError, match="NaN") as caught:
        check_numbers(Views([X]), REFUSING)
    assert (
        "view 'view_0', row 0, column 4, the first of 14 empty cells in 3 of 5 columns: "
        "column 0 (4: row 1, row 2, row 4, ...), column 2 (1: row 3), column 4 (9: every sample); "
        "leave out columns that are empty in every sample" in str(caught.value)
    )
    passed = check_numbers(Views([X]), Accepts(gaps=True, huge=False))
    assert passed.arrays[0] is X


def test_gaps_may_pass_but_not_infinities_beside_them():
    X = np.array([[np.nan, 1.0], [2.0, np.inf]])
    with pytest.raises(ValueError, match="infinity: view 'view_0', row 1, column 1"):
        check_numbers(Views([X]), Accepts(gaps=True))


def test_huge_numbers_are_a_matter_of_the_method():
    X = np.full((2, 2), 1e200)
    assert check_numbers(Views([X]), Accepts()).arrays[0] is X
    for given in (X, sparse.csr_matrix(X)):
        with pytest.raises(ValueError, match="too large"):
            check_numbers(Views([given]), REFUSING)


def test_constant_columns():
    X = np.array([[1.0, 5.0, np.nan, 0.0], [1.0, 6.0, 2.0, 0.0], [np.nan] * 4, [1.0, 5.0, 2.0, -0.0]])
    assert constant_columns(X, np.array([True, True, False, True])).tolist() == [True, False, True, True]
    S = sparse.csr_matrix([[0, 1, 2], [0, 1, 0]])
    assert constant_columns(S, np.ones(2, bool)).tolist() == [True, True, False]


def test_distinct_samples():
    X = np.array([[0.0, 1.0], [-0.0, 1.0], [2.0, 3.0], [0.0, 1.0]])
    assert distinct_samples([X], 10) == 2
    assert distinct_samples([X, np.arange(4.0)[:, None]], 10) == 4
    assert distinct_samples([X, np.arange(4.0)[:, None]], 3) == 3
    unsorted = sparse.csr_matrix((np.array([1.0, 2, 2, 1, 0]), np.array([0, 1, 1, 0, 2]), np.array([0, 2, 5])), (2, 3))
    assert distinct_samples([unsorted], 5) == 1
    assert unsorted.data.tolist() == [1, 2, 2, 1, 0]
    assert distinct_samples([np.repeat(np.arange(3.0), 9_000)[:, None]], 4) == 3


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, np.float32, np.asfortranarray])
def test_first_equals(form):
    X = np.random.default_rng(0).integers(-1, 2, size=(300, 4)).astype(float)
    X[X == 0] = np.where(np.random.default_rng(1).random((X == 0).sum()) < 0.5, -0.0, 0.0)
    _, first, group = np.unique(X + 0.0, axis=0, return_index=True, return_inverse=True)
    np.testing.assert_array_equal(first_equals([form(X)]), first[group.ravel()])
    np.testing.assert_array_equal(first_equals([form(X), np.arange(300.0)[:, None]]), np.arange(300))


def test_first_equals_of_gaps_and_of_entries_stored_twice():
    gaps = np.array([[1.0, 2.0], [np.nan, np.nan], [1.0, 2.0], [np.nan, np.nan], [np.nan, 2.0]])
    assert first_equals([gaps]).tolist() == [0, 1, 0, 1, 4]
    twice = sparse.csr_matrix((np.array([1.0, 2, 3, 0, 3]), np.array([0, 0, 0, 1, 0]), np.array([0, 2, 4, 5])), (3, 2))
    assert first_equals([twice]).tolist() == [0, 0, 0]
    assert twice.nnz == 5


def test_rows_that_only_share_a_hash_stay_apart(monkeypatch):
    monkeypatch.setattr("manyviews.views.cells._row_hashes", lambda block: np.zeros(block.shape[0], np.uint64))
    assert first_equals([np.array([[1.0], [2.0], [1.0]])]).tolist() == [0, 1, 0]

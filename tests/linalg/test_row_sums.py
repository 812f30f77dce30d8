"""Sums of rows are right to the last bit, and so the same in whatever blocks the rows are read."""

import math

import numpy as np
import pytest

from manyviews.linalg.balance import fit_balanced
from manyviews.linalg.row_sums import no_rows, row_mass, row_sum
from manyviews.linalg.scaling import fit_scaling


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=(700, 3)) * 10.0 ** rng.integers(-9, 9, size=(700, 3))


@pytest.mark.parametrize("cells", [7, 60, 1 << 14])
@pytest.mark.parametrize("cuts", [[], [1, 2, 400], range(1, 700, 3), [0, 5, 5, 700]])
def test_sums_are_rounded_once_whatever_the_blocks(rows, cuts, cells, monkeypatch):
    monkeypatch.setattr("manyviews.linalg.row_sums.CELLS_PER_BLOCK", cells)
    total = sum(map(row_sum, np.split(rows, cuts)), start=no_rows(3))
    assert total.value.tolist() == [math.fsum(column) for column in rows.T]


def test_weights_and_centers(rows):
    weights, center = np.random.default_rng(1).random(700), rows.mean(axis=0)
    found = row_sum(rows, weights, center=center).value
    assert found.tolist() == [math.fsum(weights * column) for column in np.square(rows - center).T]
    assert row_mass(700, weights).value.tolist() == [math.fsum(weights)]
    assert row_mass(700, None).value.tolist() == [700.0]


def test_single_precision_is_added_up_in_double(rows):
    single = rows.astype(np.float32)
    assert row_sum(single).value.tolist() == [math.fsum(column) for column in single.T.astype(float)]


@pytest.mark.parametrize("kind", ["standard", "tfidf", "unit", None])
def test_a_scaling_does_not_depend_on_the_order_of_the_rows(rows, kind):
    counts = np.abs(rows) if kind == "tfidf" else rows
    order = np.random.default_rng(2).permutation(700)
    for fit in (fit_scaling, fit_balanced):
        own, theirs = fit(counts, kind), fit(counts[order], kind)
        assert flat(own) == flat(theirs)


def flat(scaling):
    if isinstance(scaling, tuple):
        return [item for part in scaling for item in flat(part)]
    return scaling.tolist() if isinstance(scaling, np.ndarray) else [scaling]

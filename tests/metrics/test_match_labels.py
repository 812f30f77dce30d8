"""Cluster numbers that stay from one clustering to the next."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyviews.metrics import match_labels

labellings = st.lists(st.tuples(st.integers(0, 5), st.integers(-1, 5)), min_size=1, max_size=40)


@pytest.mark.parametrize(
    ("labels", "reference", "expected"),
    [
        ([0, 0, 1, 1, 2], [2, 2, 0, 0, 1], [2, 2, 0, 0, 1]),
        ([0, 0, 0, 1, 1], [1, 1, 0, 0, 0], [1, 1, 1, 0, 0]),  # four keep theirs, not the three of the other way round
        ([0, 0, 0, 1, 1], [0, 0, 1, 0, 1], [0, 0, 0, 1, 1]),
        ([0, 1, 2, 2], [3, 3, 3, 3], [0, 1, 3, 3]),  # new clusters take numbers that were not used
        ([0, 0, 1, 1, 2, 2], [0, 0, 0, 0, 1, 1], [0, 0, 2, 2, 1, 1]),
        ([0, 1], [-1, -1], [0, 1]),
        ([0, 1, 1], [-1, 0, 0], [1, 0, 0]),
        ([0, 0, 0], [0, 1, 1], [1, 1, 1]),
    ],
)
def test_by_hand(labels, reference, expected):
    assert match_labels(labels, reference).tolist() == expected


@given(labellings)
def test_groups_stay_and_no_other_numbering_keeps_more(pairs):
    labels, reference = np.array(pairs).T
    found = match_labels(labels, reference)
    assert len(set(zip(labels, found, strict=True))) == len(set(labels)) == len(set(found))
    assert (found == reference).sum() >= (labels == reference).sum()
    np.testing.assert_array_equal(match_labels(found, reference), found)


def test_what_is_no_labelling_is_refused():
    for labels in ([0.5, 1.0], [-1, 0], [[0], [1]], ["a", "b"]):
        with pytest.raises(ValueError, match="labels must be one cluster number per sample"):
            match_labels(labels, [0, 1])
    with pytest.raises(ValueError, match=r"reference must hold the earlier cluster of each of the 2 samples"):
        match_labels([0, 1], [0, 1, 2])

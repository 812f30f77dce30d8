"""Labels from a tree of merges."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import cut_tree, linkage

from manyviews.partitions.tree_cut import tree_labels


@pytest.mark.parametrize("kind", ["average", "ward", "complete", "single"])
@pytest.mark.parametrize("digits", [0, 1, 8], ids=lambda digits: f"{digits} digits")
def test_labels_are_those_of_scipy(kind, digits):
    """With few digits many merges are equally high."""
    X = np.random.default_rng(digits).normal(size=(70, 2)).round(digits)
    tree = linkage(X, kind)
    numbers = [1, 2, 3, 7, 30, 69, 70]
    # one by one: of several, SciPy puts the cut into n clusters in the first column
    wanted = np.hstack([cut_tree(tree, [k]) for k in numbers])
    assert np.array_equal(tree_labels(tree, numbers), wanted)


def test_two_rows_make_one_cluster_or_two():
    tree = linkage(np.array([[0.0], [1.0]]))
    assert tree_labels(tree, [1, 2]).T.tolist() == [[0, 0], [0, 1]]

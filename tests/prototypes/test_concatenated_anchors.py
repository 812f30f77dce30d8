import numpy as np
import pytest
from scipy import sparse

from manyviews.prototypes.concatenated_anchors import balanced_directions, concatenated_anchors


def groups(seed=0, n=90):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    return [rng.normal(0, 5, (3, d))[y] + rng.normal(0, 1, (n, d)) for d in (6, 40)], y


@pytest.mark.parametrize("space", ["balanced", "concatenated"])
def test_anchors_are_the_means_of_the_groups_in_every_view(space):
    views, y = groups()
    anchors = concatenated_anchors(views, 3, np.random.default_rng(0), space=space, n_directions=6)
    assert [A.shape for A in anchors] == [(3, 6), (3, 40)]
    order = [
        int(np.square(anchors[0] - X.mean(axis=0)).sum(axis=1).argmin()) for X in (views[0][y == c] for c in range(3))
    ]
    for X, A in zip(views, anchors, strict=True):
        np.testing.assert_allclose(A[order], [X[y == c].mean(axis=0) for c in range(3)], atol=1e-10)


def test_a_loud_view_does_not_drown_the_others_in_the_balanced_space():
    views, _ = groups()
    loud = [views[0], 1e3 * np.random.default_rng(1).normal(size=(90, 30))]
    scores = {}
    for space in ("balanced", "concatenated"):
        A = concatenated_anchors(loud, 3, np.random.default_rng(0), space=space, n_directions=4)[0]
        spread = (
            np.square(A[:, None] - A).sum(axis=2).max() / np.square(views[0] - views[0].mean(axis=0)).sum(axis=1).max()
        )
        scores[space] = spread
    assert scores["balanced"] > 0.5 > 0.3 > scores["concatenated"]


def test_sparse_views_and_mixtures():
    views, _ = groups()
    counts = sparse.csr_array(np.round(np.abs(views[1])))
    for pair in ([counts, counts], [views[0], counts]):
        anchors = concatenated_anchors(pair, 4, np.random.default_rng(0), n_directions=5)
        assert all(isinstance(A, np.ndarray) and A.shape[0] == 4 for A in anchors)


def test_constant_views_and_too_few_distinct_samples():
    views, _ = groups()
    constant = np.full((90, 2), 3.0)
    assert balanced_directions([constant, views[0]], 100, np.random.default_rng(0)).shape == (90, 6)
    assert balanced_directions([constant], 100, np.random.default_rng(0)).shape == (90, 2)
    same = [np.ones((5, 2)), np.zeros((5, 1))]
    anchors = concatenated_anchors(same, 3, np.random.default_rng(0))
    np.testing.assert_allclose(anchors[0], 1)
    np.testing.assert_allclose(anchors[1], 0)


def test_single_precision_is_kept_where_it_is_large():
    views, _ = groups()
    found = balanced_directions([X.astype(np.float32) for X in views], 5, np.random.default_rng(0))
    assert found.dtype == np.float32
    assert found.shape == (90, 5)

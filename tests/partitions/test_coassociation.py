import numpy as np
import pytest

from manyviews.partitions.coassociation import Coassociation, coassociation, indicator_matrix
from manyviews.partitions.merging import group_labels, merge_equal_rows, merge_similar_rows


def nested_labels(seed, n=400, r=21, missing=0.0):
    """Partitions of points on a line at many scales, so that their cells are few, with labels taken out."""
    rng = np.random.default_rng(seed)
    x = rng.random(n)
    labels = np.stack([np.floor(x * k + rng.random()) for k in rng.integers(2, 15, r)], axis=1).astype(np.int64)
    labels[rng.random(labels.shape) < missing] = -1
    return labels


def plain(labels):
    agree = (labels[:, None] == labels[None]) & (labels[:, None] >= 0)
    return agree.mean(axis=2)


def test_released_coassociation(reference):
    ref = reference("basic_partitions/small.npz")
    np.testing.assert_array_equal(coassociation(ref["P"].astype(np.int64)), ref["coassociation"])


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_properties(missing):
    labels = nested_labels(0, missing=missing)
    S = coassociation(labels)
    np.testing.assert_allclose(S, plain(labels))
    np.testing.assert_array_equal(S, S.T)
    np.testing.assert_allclose(np.diagonal(S), (labels >= 0).mean(axis=1))
    assert np.linalg.eigvalsh(S).min() > -1e-12
    assert np.linalg.norm(S, 2) <= len(S)
    if not missing:
        D = (labels.max(axis=0) + 1).sum()
        assert np.linalg.matrix_rank(S) <= D - labels.shape[1] + 1


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("r", [1, 7, 21])
def test_products_equal_those_of_the_dense_matrix(missing, dtype, r):
    labels = nested_labels(1, n=800, r=r, missing=missing)
    labels[labels.max(axis=1) < 0, 0] = 0
    sizes = np.random.default_rng(0).integers(1, 5, 800)
    X = np.random.default_rng(1).normal(size=(800, 33)).astype(dtype)
    operator = Coassociation(labels, sizes, dtype)
    assert operator._dense is None
    expected = plain(labels) @ (sizes[:, None] * X)
    tol = 1e-10 if dtype == np.float64 else 2e-2
    assert (operator @ X).dtype == dtype
    np.testing.assert_allclose(operator @ X, expected, atol=tol)
    out = np.empty_like(X)
    operator.dot(X, out=out)
    np.testing.assert_array_equal(out, operator @ X)
    np.testing.assert_array_equal(operator.counts(), np.rint(plain(labels) * r))


def test_merging_partitions_leaves_less_to_add_up():
    labels = nested_labels(2, n=3000, r=64)
    assert Coassociation(labels).nnz < 0.5 * labels.size


def test_small_matrices_are_dense():
    labels = nested_labels(3, n=60)
    operator = Coassociation(labels)
    assert operator._dense is not None
    np.testing.assert_allclose(operator @ np.eye(60), plain(labels))


def test_numbering_of_the_labels_does_not_matter():
    labels = nested_labels(4)
    rng = np.random.default_rng(0)
    renamed = np.stack([rng.permutation(labels[:, j].max() + 1)[labels[:, j]] for j in range(labels.shape[1])], axis=1)
    np.testing.assert_array_equal(coassociation(renamed), coassociation(labels))


def test_one_hot_rows():
    B = indicator_matrix(np.array([[0, -1], [1, 2]]), n_columns=np.array([2, 3]))
    np.testing.assert_array_equal(B.toarray(), [[1, 0, 0, 0, 0], [0, 1, 0, 0, 1]])


def test_equal_rows_are_merged_in_order():
    labels = np.array([[3, 1], [0, 0], [3, 1], [-1, 0], [0, 0], [3, 1]])
    groups = merge_equal_rows(labels)
    np.testing.assert_array_equal(groups.first, [0, 1, 3])
    np.testing.assert_array_equal(groups.of_sample, [0, 1, 0, 2, 1, 0])
    np.testing.assert_array_equal(groups.sizes, [3, 2, 1])


def test_similar_rows_are_merged_as_finely_as_the_number_allows():
    labels = nested_labels(5, n=500, r=9)
    exact, rng = merge_equal_rows(labels), np.random.default_rng(0)
    all_of_them = merge_similar_rows(labels, len(exact.first), rng)
    np.testing.assert_array_equal(all_of_them.of_sample, exact.of_sample)
    few = merge_similar_rows(labels, 25, rng)
    assert few.sizes.sum() == 500
    assert 20 < len(few.first) <= 25
    np.testing.assert_array_equal(few.of_sample, few.of_sample[exact.first][exact.of_sample])
    together = [np.mean(labels[few.of_sample == g] == labels[few.first[g]]) for g in range(len(few.first))]
    apart = np.mean(labels == labels[np.random.default_rng(1).permutation(500)])
    assert np.average(together, weights=few.sizes) > 2 * apart


def test_a_group_takes_its_most_frequent_labels():
    labels = np.array([[0, 2], [0, 1], [0, 1], [1, -1], [1, 0], [1, -1]])
    groups = merge_equal_rows(labels[:, :1])
    np.testing.assert_array_equal(group_labels(labels, groups), [[0, 1], [1, -1]])

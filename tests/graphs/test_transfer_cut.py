import numpy as np
import pytest
from scipy import sparse

from manyviews.graphs import transfer_cut
from manyviews.graphs.transfer_cut import (
    cut_embedding,
    cut_vectors,
    gram_block,
    lift_block,
    reduced_eigenvectors,
    reduced_graph,
)
from manyviews.metrics import adjusted_rand_index
from manyviews.partitions.discretize import EmbeddingRule, discretize_embedding, embedding_labels

COSINE = EmbeddingRule("cosine", 20, 5)


def products(E):
    return E @ E.T


def solve(B, k, seed=0):
    cut = cut_vectors(B, k, np.random.default_rng(seed))
    return cut, cut_embedding(B, cut.vectors, cut.values)


@pytest.mark.parametrize("case", ["tcut_p62", "tcut_p240", "tcut_p240_cosine"])
@pytest.mark.parametrize("k", [4, 7])
def test_released_code(reference, case, k):
    ref = reference(f"transfer_cut/{case}.npz")
    B = sparse.csr_array((ref["B_val"], (ref["B_row"], ref["B_col"])), shape=tuple(ref["B_shape"]))
    cut, E = solve(B, k)
    np.testing.assert_allclose(cut.values, ref[f"k{k}_eigenvalues"], atol=1e-12)
    np.testing.assert_allclose(products(E), products(ref[f"k{k}_embedding"]), atol=1e-9)
    np.testing.assert_allclose(products(lift_block(B, cut.vectors)), products(ref[f"k{k}_lifted"]), atol=1e-9)
    if k == 4:  # where a gap follows
        labels = discretize_embedding(E, k, np.random.default_rng(0), COSINE).labels
        assert adjusted_rand_index(labels, ref["k4_labels"]) == 1.0


def test_released_consensus(reference):
    ref = reference("transfer_cut/consensus_small.npz")
    B = sparse.csr_array(ref["B"].astype(np.float64))
    cut, E = solve(B, 4)
    np.testing.assert_allclose(cut.values, ref["eigenvalues"], atol=1e-12)
    np.testing.assert_allclose(products(E), products(ref["embedding"]), atol=1e-9)
    labels = discretize_embedding(E, 4, np.random.default_rng(0), COSINE).labels
    assert adjusted_rand_index(labels, ref["labels"]) > 0.95


def test_fewer_anchors_than_clusters(reference):
    ref = reference("transfer_cut/edge_cases.npz")
    B = sparse.csr_array(ref["B_few_columns"])
    cut, E = solve(B, 4)
    np.testing.assert_allclose(cut.values, ref["few_eigenvalues"], atol=1e-12)
    np.testing.assert_allclose(products(E), products(ref["few_embedding"]), atol=1e-9)


def test_a_row_without_links_and_more_components_than_clusters(reference):
    # four components and k = 3: any basis solves the problem, so only what all have in common is compared
    ref = reference("transfer_cut/edge_cases.npz")
    B = sparse.csr_array(ref["B_zero_row"])
    cut, E = solve(B, 3)
    np.testing.assert_allclose(cut.values, ref["zero_eigenvalues"], atol=1e-12)
    np.testing.assert_array_equal(E[8], 0)
    for anchor in range(4):
        members = B.toarray()[:, anchor] > 0
        np.testing.assert_allclose(E[members], np.tile(E[members][:1], (members.sum(), 1)), atol=1e-12)


def random_graph(seed, n=400, q=200, K=3, groups=1):
    rng = np.random.default_rng(seed)
    group = rng.integers(groups, size=n)
    columns = np.array([rng.choice(np.arange(g, q, groups), K, replace=False) for g in group])
    return sparse.csr_array((rng.random(n * K), columns.ravel(), np.arange(0, n * K + 1, K)), shape=(n, q)), group


def test_blocks_add_up_and_lift_alike():
    B, _ = random_graph(0)
    whole = gram_block(B)
    assert abs(whole - (gram_block(B[:150]) + gram_block(B[150:]))).max() < 1e-12
    assert abs(reduced_graph(B) - whole).max() < 1e-12
    np.testing.assert_allclose(whole.sum(axis=1), B.sum(axis=0))
    cut, E = solve(B, 5)
    np.testing.assert_allclose(cut_embedding(B[100:200], cut.vectors, cut.values), E[100:200])


@pytest.mark.parametrize("q", [40, 200, 600])
def test_invariants(q):
    B, _ = random_graph(1, n=1500, q=q, K=4)
    cut, E = solve(B, 6)
    assert cut.values[0] == pytest.approx(1)
    assert (np.diff(cut.values) <= 1e-12).all()
    assert cut.values.min() >= 0
    first = lift_block(B, cut.vectors)[:, 0]
    np.testing.assert_allclose(first, first[0])
    scaled = solve(B * 7.5, 6)[1]
    np.testing.assert_allclose(products(scaled), products(E), atol=1e-6)
    order = np.random.default_rng(0).permutation(1500)
    np.testing.assert_allclose(products(solve(B[order], 6)[1]), products(E)[np.ix_(order, order)], atol=1e-6)


def test_components_are_found_whatever_the_solver_and_their_number():
    for q in (60, 400):
        B, group = random_graph(2, n=900, q=q, groups=3)
        for k in (2, 3, 5):
            cut, E = solve(B, k)
            assert (cut.values[: min(3, k)] > 1 - 1e-12).all()
            assert np.isfinite(E).all()
        labels = discretize_embedding(solve(B, 3)[1], 3, np.random.default_rng(0), COSINE).labels
        assert adjusted_rand_index(labels, group) == 1.0


def test_eigenvalues_of_the_sparse_solver_are_those_of_the_dense_one():
    B, _ = random_graph(3, n=2000, q=500, groups=2)
    W = reduced_graph(B)
    d = np.asarray(W.sum(axis=1)).ravel()
    M = W.toarray() / np.sqrt(np.outer(d, d))
    found = reduced_eigenvectors(W, 8, np.random.default_rng(0)).values
    np.testing.assert_allclose(found, np.linalg.eigvalsh(M)[::-1][:8], atol=1e-8)


def test_scaled_columns_of_the_paper():
    B, _ = random_graph(4)
    cut, _ = solve(B, 4)
    H = lift_block(B, cut.vectors)
    np.testing.assert_allclose(cut_embedding(B, cut.vectors, cut.values, "paper"), H / np.sqrt(cut.values))


def test_pairs_of_links_and_sparse_products_give_the_same_matrix(monkeypatch):
    rng = np.random.default_rng(0)
    B = sparse.csr_array(rng.random((900, 30)) * (rng.random((900, 30)) < 0.15), dtype=np.float32)
    B = sparse.csr_array(sparse.vstack([B, sparse.csr_array((2, 30), dtype=np.float32)]))  # rows without links
    by_pairs = reduced_graph(B)
    monkeypatch.setattr(transfer_cut, "PAIRS_LIMIT", 0)
    np.testing.assert_allclose(by_pairs.toarray(), reduced_graph(B).toarray(), atol=1e-12)


@pytest.mark.parametrize("kind", ["cosine", "kmeans", "paper"])
def test_equal_rows_of_an_embedding_share_a_cluster_and_follow_the_rule(kind):
    rng = np.random.default_rng(0)
    distinct = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    E = distinct[np.arange(60) % 4] * (1 + 1e-15 * rng.normal(size=(60, 1)))
    for seed in range(5):
        found = discretize_embedding(E, 7, np.random.default_rng(seed), EmbeddingRule(kind, 5, 1))
        np.testing.assert_array_equal(found.labels, found.labels[np.arange(60) % 4])
        assert found.rule.shape == (4, 4)
        assert np.unique(found.labels).size == 4
        np.testing.assert_array_equal(embedding_labels(E, found.rule, EmbeddingRule(kind, 5, 1)), found.labels)

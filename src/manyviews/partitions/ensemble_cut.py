"""Consensus of base clusterings: their clusters as one bipartite graph, weighted, cut, and read back for new rows."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.graphs.transfer_cut import cut_embedding, gram_block, reduced_eigenvectors, scaled_rows
from manyviews.linalg.blocks import row_blocks
from manyviews.partitions.discretize import EmbeddingRule, discretize_embedding, embedding_labels

__all__ = [
    "EnsembleCut",
    "Weighting",
    "cluster_reliability",
    "clustering_reliability",
    "ensemble_gram",
    "fit_ensemble_cut",
    "held_part",
    "mean_reliability",
    "part_of",
    "taken_counts",
    "taken_part",
]

Array = NDArray[Any]
Weighting = Literal["reliability", "equal"]
ROWS_PER_BLOCK = 65_536
# influence of disagreement, the published value
THETA = 0.4


class EnsembleCut(NamedTuple):
    """A fitted consensus.

    ``sizes`` are the numbers of clusters of the base clusterings, ``weights`` (Σ sizes,) those of their clusters;
    ``share`` (Σ sizes, k) says which part of a base cluster each final cluster takes.
    """

    sizes: NDArray[np.int64]
    weights: Array
    vectors: Array
    values: Array
    centers: Array
    share: Array
    rule: EmbeddingRule

    @property
    def objective(self) -> float:
        """The relaxed normalised cut."""
        return float((1.0 - self.values).sum())

    def embed(self, base_labels: Array) -> tuple[Array, Array]:
        """Return the embedding (b, k) of samples with base labels (b, M), and whether they have any, (b,)."""
        B = one_hot_block(base_labels, self.sizes, self.weights)
        return cut_embedding(B, self.vectors, self.values, self.rule.embedding), np.diff(B.indptr) > 0

    def predict(self, base_labels: Array) -> NDArray[np.int64]:
        """Return labels (n,) from base labels (n, M); -1 for samples without any."""
        labels = np.full(base_labels.shape[0], -1, dtype=np.int64)
        for rows in row_blocks(labels.size, ROWS_PER_BLOCK):
            E, linked = self.embed(base_labels[rows])
            labels[rows][linked] = embedding_labels(E[linked], self.centers, self.rule)
        return labels

    def confidence(self, base_labels: Array, labels: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return how much of the base clusters of a sample, weighted, its final cluster holds, (n,); 0 without any."""
        return held_part(base_labels, self.sizes, self.weights, self.share, labels)


def held_part(
    base_labels: Array, sizes: NDArray[np.int64], weights: Array, share: Array, labels: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return which part of the base clusters of a sample its final cluster holds, on weighted average, (n,).

    Parameters
    ----------
    base_labels : ndarray of shape (n, M) of int
        Base clusterings; -1 for none. A sample without any gets 0.
    sizes : ndarray of shape (M,)
        Numbers of clusters of the base clusterings.
    weights : ndarray of shape (Σ sizes,)
        Weights of the base clusters.
    share : ndarray of shape (Σ sizes, k)
        Part of each base cluster that each final cluster takes, of ``taken_part``.
    labels : ndarray of shape (n,)
        Final clusters.

    Returns
    -------
    ndarray of shape (n,)
        Between 0 and 1.
    """
    held_of_all = np.zeros(labels.size)
    starts = _starts(sizes)
    for rows in row_blocks(labels.size, ROWS_PER_BLOCK):
        known = base_labels[rows] >= 0
        column = np.where(known, base_labels[rows] + starts, 0)
        weight = np.where(known, weights[column], 0.0)
        total = weight.sum(axis=1)
        held = (weight * share[column, np.maximum(labels[rows], 0)[:, None]]).sum(axis=1)
        held_of_all[rows] = np.divide(held, total, out=np.zeros_like(total), where=total > 0)
    return held_of_all


def fit_ensemble_cut(
    base_labels: Array,
    sizes: NDArray[np.int64],
    k: int,
    rng: np.random.Generator,
    *,
    rule: EmbeddingRule,
    weighting: Weighting = "reliability",
    dtype: Any = np.float64,
    counts: Array | None = None,
) -> tuple[NDArray[np.int64], EnsembleCut]:
    """Cut the graph between samples and base clusters.

    Parameters
    ----------
    base_labels : ndarray of shape (n, M) of int
        Base clusterings; -1 where a sample has no label.
    sizes : ndarray of shape (M,)
        Numbers of clusters of the base clusterings.
    k : int
        Number of clusters.
    rng : Generator
        Source of the starts.
    rule : EmbeddingRule
        How the embedding is cut.
    weighting : {"reliability", "equal"}, default="reliability"
        Weights of the base clusters: see ``cluster_reliability``, or 1 as published.
    dtype : dtype, default=float64
        Of the embedding.
    counts : ndarray of shape (n,), default=None
        How often each sample counts, above 0; once by default.

    Returns
    -------
    labels : ndarray of shape (n,), int64
        Labels; -1 for samples without a base label.
    cut : EnsembleCut
        The rule.
    """
    n = base_labels.shape[0]
    weights = np.ones(int(sizes.sum()))
    W = ensemble_gram(base_labels, sizes, weights, counts)
    if weighting == "reliability":
        weights = cluster_reliability(W, sizes)
        W = ensemble_gram(base_labels, sizes, weights, counts)
    weights = weights.astype(dtype)
    values, vectors = reduced_eigenvectors(W, k, rng)
    cut = EnsembleCut(sizes, weights, vectors, values, np.zeros((k, k)), np.zeros((weights.size, k)), rule)
    E, linked = np.empty((n, k), dtype=dtype), np.empty(n, dtype=bool)
    for rows in row_blocks(n, ROWS_PER_BLOCK):
        E[rows], linked[rows] = cut.embed(base_labels[rows])
    labels = np.full(n, -1, dtype=np.int64)
    if not linked.any():
        return labels, cut
    # where hardly any sample has a base label, there are no k clusters to find
    told, own = (E, counts) if linked.all() else (E[linked], None if counts is None else counts[linked])
    result = discretize_embedding(told, min(k, int(linked.sum())), rng, rule, own)
    labels[linked] = result.labels
    return labels, cut._replace(centers=result.rule, share=taken_part(base_labels, sizes, labels, k, counts))


def cluster_reliability(W: Any, sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    r"""Weigh base clusters by how little the other base clusterings disagree about them.

    .. math:: w_C = \exp\Bigl(-\frac{H(C)}{\theta M}\Bigr), \quad
        H(C) = -\sum_m \sum_{C' \in m} p(C, C') \log_2 p(C, C'), \quad p(C, C') = \frac{|C \cap C'|}{|C|}

    with θ = 0.4: the ensemble-driven cluster index of Huang, Wang and Lai, Locally Weighted Ensemble Clustering, IEEE
    Transactions on Cybernetics 48(5), 2018. A base clustering of noise splits every other cluster evenly and is split
    by them, so its clusters weigh next to nothing.

    Parameters
    ----------
    W : CSR of shape (Σ sizes, Σ sizes)
        Sum of ``gram_block`` over the one-hot graph: the sizes of intersections, up to a factor.
    sizes : ndarray of shape (M,)
        Numbers of clusters of the base clusterings.

    Returns
    -------
    ndarray of shape (Σ sizes,)
        Weights, the largest of them 1.
    """
    counts = W.toarray()
    starts = _starts(sizes)
    totals = np.add.reduceat(counts, starts, axis=1)  # |C| as far as clustering m labels its samples
    part = counts / np.repeat(np.where(totals > 0, totals, 1.0), sizes, axis=1)
    entropy = -(part * np.log2(np.where(part > 0, part, 1.0))).sum(axis=1)
    weights = np.exp(-entropy / (THETA * sizes.size))
    return np.asarray(weights / weights.max())


def clustering_reliability(
    base_labels: Array, sizes: NDArray[np.int64], counts: Array | None = None
) -> NDArray[np.float64]:
    """Return the mean ``cluster_reliability`` (M,) of the clusters of each base clustering."""
    return mean_reliability(ensemble_gram(base_labels, sizes, np.ones(int(sizes.sum())), counts), sizes)


def mean_reliability(W: Any, sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the mean ``cluster_reliability`` (M,) from the ``ensemble_gram`` of weights 1."""
    return np.asarray(np.add.reduceat(cluster_reliability(W, sizes), _starts(sizes)) / sizes)


def one_hot_block(base_labels: Array, sizes: NDArray[np.int64], weights: Array) -> sparse.csr_array:
    """Return the graph (b, Σ sizes) between samples and base clusters; -1 stands for no link."""
    b, M = base_labels.shape
    columns = base_labels + _starts(sizes).astype(base_labels.dtype)
    known = base_labels >= 0
    if known.all():
        columns, indptr = columns.ravel(), np.arange(b + 1) * M
    else:
        columns, indptr = columns[known], np.concatenate([[0], np.cumsum(known.sum(axis=1))])
    return sparse.csr_array((weights[columns], columns, indptr), shape=(b, weights.size))


def _starts(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes)[:-1]])


def ensemble_gram(
    base_labels: Array, sizes: NDArray[np.int64], weights: Array, counts: Array | None = None
) -> sparse.csr_array:
    """Return the sum of ``gram_block`` over the one-hot graph of all samples, as often as they count (n,)."""
    total = sparse.csr_array((weights.size, weights.size))
    for rows in row_blocks(base_labels.shape[0], ROWS_PER_BLOCK):
        block = one_hot_block(base_labels[rows], sizes, weights)
        total = total + gram_block(block if counts is None else scaled_rows(block, counts[rows]))
    return total


def taken_part(
    base_labels: Array, sizes: NDArray[np.int64], labels: NDArray[np.int64], k: int, counts: Array | None = None
) -> Array:
    """Return which part of each base cluster the final clusters take, (Σ sizes, k), samples as often as they count."""
    return part_of(taken_counts(base_labels, sizes, labels, k, counts))


def taken_counts(
    base_labels: Array, sizes: NDArray[np.int64], labels: NDArray[np.int64], k: int, counts: Array | None = None
) -> Array:
    """Return how many samples of each base cluster are in each final cluster, (Σ sizes, k), as often as they count."""
    tables = []
    for m, size in enumerate(sizes):
        known = (base_labels[:, m] >= 0) & (labels >= 0)
        pairs = base_labels[known, m].astype(np.int64) * k + labels[known]
        own = None if counts is None else counts[known]
        tables.append(np.bincount(pairs, own, minlength=size * k).reshape(size, k))
    return np.vstack(tables).astype(np.float64)


def part_of(counts: Array) -> Array:
    """Return the parts (Σ sizes, k) of base clusters that final clusters take, from ``taken_counts``."""
    total = counts.sum(axis=1, keepdims=True)
    return np.asarray(counts / np.where(total > 0, total, 1.0))

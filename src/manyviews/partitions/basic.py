"""Basic partitions by random parameter selection: many k-means runs, each with its own random number of clusters."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.prototypes.block_kmeans import Metric, row_kmeans

__all__ = [
    "METRICS",
    "RUN_ITER",
    "BasicPartition",
    "cluster_numbers",
    "distinct_rows",
    "random_partition",
]

Array = NDArray[Any]
Labels = NDArray[np.int64]
METRICS = ("cosine", "euclidean")
# most iterations of a run of k-means
RUN_ITER = 100


class BasicPartition(NamedTuple):
    """Labels (n,) and centres (K_i, d), dense or CSR like the rows."""

    labels: Labels
    centers: Any


def cluster_numbers(n_base_clusterings: int, low: int, high: int, rng: np.random.Generator) -> Labels:
    """Draw the number of clusters of each partition uniformly from low .. high; ``low`` for all where high <= low."""
    return rng.integers(low, max(low, high), size=n_base_clusterings, endpoint=True, dtype=np.int64)


def distinct_rows(X: Any) -> Labels:
    """Return the index of the first of each set of equal rows of X (n, d), dense or CSR."""
    if sparse.issparse(X):
        X = X.tocsr(copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
        parts = zip(X.indptr[:-1], X.indptr[1:], strict=True)
        first: dict[bytes, int] = {}
        for i, (a, b) in enumerate(parts):
            first.setdefault(X.indices[a:b].tobytes() + X.data[a:b].tobytes(), i)
        return np.fromiter(first.values(), dtype=np.int64)
    seen: dict[bytes, int] = {}
    for i, row in enumerate(X):
        # a digest takes the place of the row; -0.0 and 0.0 are equal
        seen.setdefault(hashlib.blake2b((row + 0.0).tobytes(), digest_size=16).digest(), i)
    return np.fromiter(seen.values(), dtype=np.int64)


def random_partition(
    X: Any,
    k: int,
    rng: np.random.Generator,
    *,
    candidates: Labels,
    metric: Metric,
    max_iter: int = RUN_ITER,
    counts: Array | None = None,
) -> BasicPartition:
    """Run k-means once, from k random rows; the labels are those nearest to the centres.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d)
        Rows; of unit length for the cosine.
    k : int
        Number of clusters, at most the number of candidates.
    rng : Generator
        Draws the start.
    candidates : ndarray of int
        Rows to start from, no two equal.
    metric : {"cosine", "euclidean"}
        Similarity.
    max_iter : int, default=100
        Most iterations.
    counts : ndarray of shape (n,), default=None
        How often each row counts, above 0; once by default.

    Returns
    -------
    BasicPartition
        Labels and centres.
    """
    start = X[rng.choice(candidates, k, replace=False)]
    dense = start.toarray() if sparse.issparse(X) else start
    run = row_kmeans(X, dense, metric, max_iter=max_iter, weights=counts)
    return BasicPartition(run.labels, sparse.csr_array(run.centers) if sparse.issparse(X) else run.centers)

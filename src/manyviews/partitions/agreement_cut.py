r"""Consensus of base clusterings by agreement: the partition that shares most with them, whichever way it was found.

The last cut is the one that minimises, over the samples i and the base clusterings m that label them,

.. math:: \sum_i \sum_m w_m \|b_i^{(m)} - c_{\pi(i)}^{(m)}\|^2

with :math:`b_i^{(m)}` the one-hot label of a sample and :math:`c_k^{(m)}` the shares of the base clusters within final
cluster k. Base clusterings and several cuts of a part of the samples (a normalised cut, linkage, k-means++ starts)
compete as starts, so no single one of them can lose what the ensemble holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.linalg.blocks import row_blocks
from manyviews.partitions.coassociation import OneHotRows, indicator_matrix
from manyviews.partitions.discretize import EmbeddingRule
from manyviews.partitions.ensemble_cut import ROWS_PER_BLOCK, fit_ensemble_cut, held_part, taken_part
from manyviews.partitions.tree_cut import tree_labels
from manyviews.partitions.utility_kmeans import (
    ConsensusRun,
    assign_one_hot,
    block_costs,
    cluster_shares,
    consensus_kmeans,
)

__all__ = [
    "MOST_ITERATIONS",
    "SAMPLE_ROWS",
    "TOLERANCE",
    "AgreementCut",
    "best_start",
    "changed_without",
    "fit_agreement_cut",
    "parted_share",
]

Array = NDArray[Any]
Labels = NDArray[np.int64]
# samples on which starts compete, and how many of them are drawn by k-means++
SAMPLE_ROWS = 1_500
RANDOM_STARTS = 8
# of the base clusterings with as many clusters as are wanted, the last ones, where other methods stand in a consensus
MEMBER_STARTS = 20
MOST_ITERATIONS = 50
TOLERANCE = 1e-9
RULE = EmbeddingRule("cosine", 20, 5)


class AgreementCut(NamedTuple):
    """A fitted consensus.

    ``sizes`` (M,) are the numbers of clusters of the base clusterings, ``weights`` (M,) their weights; ``costs``
    (Σ sizes, k) say what a base cluster adds to the distance of a sample to each final cluster, ``share`` of the same
    shape which part of it each takes; ``objective`` is the mean distance of the samples to their clusters.
    """

    sizes: Labels
    weights: Array
    costs: Array
    share: Array
    objective: float

    def predict(self, base_labels: Array) -> Labels:
        """Return labels (n,) from base labels (n, M); -1 for samples without any."""
        labels = np.full(base_labels.shape[0], -1, dtype=np.int64)
        for rows in row_blocks(labels.size, ROWS_PER_BLOCK):
            known = (base_labels[rows] >= 0).any(axis=1)
            found = assign_one_hot(OneHotRows(base_labels[rows][known], self.sizes), self.costs)[0]
            labels[rows][known] = found
        return labels

    def of_first(self, m: int) -> AgreementCut:
        """Return the rule for samples of which only the first m base clusterings are known."""
        known = int(self.sizes[:m].sum())
        return self._replace(
            sizes=self.sizes[:m], weights=self.weights[:m], costs=self.costs[:known], share=self.share[:known]
        )

    def confidence(self, base_labels: Array, labels: Labels) -> NDArray[np.float64]:
        """Return how much of the base clusters of a sample, weighted, its final cluster holds, (n,); 0 without any."""
        return held_part(base_labels, self.sizes, np.repeat(self.weights, self.sizes), self.share, labels)


def fit_agreement_cut(
    base_labels: Array,
    sizes: Labels,
    k: int,
    rng: np.random.Generator,
    *,
    weights: Array | None = None,
    counts: Array | None = None,
) -> tuple[Labels, AgreementCut]:
    """Find the partition that shares most with the base clusterings.

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
    weights : ndarray of shape (M,), default=None
        What each base clustering counts; 1 by default.
    counts : ndarray of shape (n,), default=None
        How often each sample counts, above 0; once by default.

    Returns
    -------
    labels : ndarray of shape (n,), int64
        Labels; -1 for samples without a base label.
    cut : AgreementCut
        The rule, which gives the same labels.

    Notes
    -----
    O(n M k) time for given k. Starts compete on at most 1500 samples, of which the co-association is written down.
    """
    weights = np.ones(sizes.size) if weights is None else np.asarray(weights, dtype=np.float64)
    linked = np.flatnonzero((base_labels >= 0).any(axis=1))
    labels = np.full(base_labels.shape[0], -1, dtype=np.int64)
    if linked.size == 0:
        blank = np.zeros((int(sizes.sum()), k))
        return labels, AgreementCut(sizes, weights, blank, blank, 0.0)
    part = linked if linked.size <= SAMPLE_ROWS else np.sort(rng.choice(linked, SAMPLE_ROWS, replace=False))
    best = best_start(base_labels[part], sizes, k, weights, rng, None if counts is None else counts[part])
    if part.size < linked.size:
        known = base_labels[linked] if linked.size < labels.size else base_labels
        own = None if counts is None else counts[linked]
        best = _improved(OneHotRows(known, sizes), sizes, best.centers, weights, own)
    costs = block_costs(best.centers, sizes, weights, "categorical", 2.0)
    total = linked.size if counts is None else counts[linked].sum()
    cut = AgreementCut(sizes, weights, costs, costs, float(best.history.objective[-1]) / total)
    labels = cut.predict(base_labels)
    return labels, cut._replace(share=taken_part(base_labels, sizes, labels, k, counts))


def best_start(
    base_labels: Array,
    sizes: Labels,
    k: int,
    weights: Array,
    rng: np.random.Generator,
    counts: Array | None = None,
) -> ConsensusRun:
    """Return the best of all starts, improved, on samples that all have base labels."""
    B = OneHotRows(base_labels, sizes)
    runs = (
        _improved(B, sizes, _means(B, start, sizes, int(start.max()) + 1, counts), weights, counts)
        for start in _starts(base_labels, sizes, k, weights, rng)
    )
    return min(runs, key=lambda run: (-run.centers.shape[0], float(run.history.objective[-1])))


def _means(B: Any, labels: Labels, sizes: Labels, k: int, counts: Array | None = None) -> Array:
    return cluster_shares(B, labels, sizes, np.zeros((k, B.shape[1])), counts)


def _improved(B: Any, sizes: Labels, centers: Array, weights: Array, counts: Array | None = None) -> ConsensusRun:
    options: dict[str, Any] = {"utility": "categorical", "tol": TOLERANCE, "max_iter": MOST_ITERATIONS}
    return consensus_kmeans(B, sizes, centers, weights=weights, counts=counts, **options)


def _starts(base_labels: Array, sizes: Labels, k: int, weights: Array, rng: np.random.Generator) -> Iterator[Labels]:
    """Yield labels of the samples: base clusterings, a normalised cut, two linkages, nearest to k-means++ draws."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    for m in np.flatnonzero(sizes == k)[-MEMBER_STARTS:]:
        if base_labels[:, m].min() >= 0:
            yield base_labels[:, m].astype(np.int64)
    yield fit_ensemble_cut(base_labels, sizes, k, rng, rule=RULE, weighting="equal")[0]
    D = parted_share(base_labels, sizes, weights)
    if D.shape[0] > 1:
        condensed = squareform(D, checks=False)
        for kind, distances in (("ward", np.sqrt(2.0 * condensed)), ("average", condensed)):
            yield tree_labels(linkage(distances, kind), [min(k, D.shape[0])])[:, 0]
    for _ in range(RANDOM_STARTS):
        yield D[:, _spread(D, k, rng)].argmin(axis=1)


def parted_share(base_labels: Array, sizes: Labels, weights: Array) -> Array:
    """Return the weighted share of base clusterings, of those that label both, in which samples are apart, (n, n)."""
    known = (base_labels >= 0).astype(np.float64)
    B = indicator_matrix(base_labels, n_columns=sizes)
    B.data *= np.sqrt(np.broadcast_to(weights, base_labels.shape)[base_labels >= 0])
    together, both = (B @ B.T).toarray(), (known * weights) @ known.T
    D = 1.0 - np.divide(together, both, out=np.zeros_like(together), where=both > 0)
    np.fill_diagonal(D, 0.0)
    return np.asarray(np.maximum(D, 0.0))


def _spread(D: Array, k: int, rng: np.random.Generator) -> Labels:
    """Draw k samples as k-means++ does, from distances that are squares already."""
    chosen = [int(rng.integers(D.shape[0]))]
    nearest = D[chosen[0]].copy()
    while len(chosen) < k and nearest.max() > 0:
        chosen.append(int(rng.choice(nearest.size, p=nearest / nearest.sum())))
        nearest = np.minimum(nearest, D[chosen[-1]])
    return np.array(chosen)


def changed_without(
    base_labels: Array, labels: Labels, cut: AgreementCut, uses: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return, for each view, which part of the samples would move if the base clusterings that use it had no vote.

    Parameters
    ----------
    base_labels : ndarray of shape (n, M) of int
        Base clusterings; -1 for none.
    labels : ndarray of shape (n,)
        The consensus; -1 for samples without base labels.
    cut : AgreementCut
        Its rule.
    uses : ndarray of shape (M, V) of bool
        Which views each base clustering was made from.

    Returns
    -------
    ndarray of shape (V,)
        Between 0 and 1; 1 where every base clustering uses the view. Clusters start from ``labels`` and settle again.
    """
    k, voters = cut.costs.shape[1], np.flatnonzero(labels >= 0)
    rows = voters[:: max(1, voters.size // SAMPLE_ROWS)]
    changed = np.ones(uses.shape[1])
    for v in range(uses.shape[1]):
        rest = np.flatnonzero(~uses[:, v])
        known = base_labels[rows][:, rest] >= 0
        if rest.size == 0 or not known.any():
            continue
        kept = rows[known.any(axis=1)]
        B, sizes = OneHotRows(base_labels[kept][:, rest], cut.sizes[rest]), cut.sizes[rest]
        run = _improved(B, sizes, _means(B, labels[kept], sizes, k), cut.weights[rest])
        changed[v] = 1.0 - float((run.labels == labels[kept]).sum()) / rows.size
    return changed

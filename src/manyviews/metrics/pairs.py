"""Scores that count pairs of samples: Rand, adjusted Rand and pairwise F."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.metrics.contingency import Contingency, contingency_table

__all__ = ["PairCounts", "adjusted_rand_index", "count_pairs", "pairwise_f_score", "rand_index"]


@dataclass(frozen=True)
class PairCounts:
    """Hold exact counts of sample pairs; Python integers, because n^2 and its square outgrow int64.

    Attributes
    ----------
    together : int
        Pairs together in both labellings.
    in_true, in_pred : int
        Pairs together in the classes, in the clusters.
    total : int
        All pairs.
    """

    together: int
    in_true: int
    in_pred: int
    total: int

    def rand(self) -> float:
        """Share of pairs on which the labellings agree; 1 for a single sample."""
        if not self.total:
            return 1.0
        return (self.total + 2 * self.together - self.in_true - self.in_pred) / self.total

    def adjusted_rand(self) -> float:
        """Rand index corrected for chance; 1 where both labellings are trivial and equal."""
        # Expected pairs are in_true * in_pred / total; everything is multiplied by 2 * total to stay integer.
        expected = 2 * self.in_true * self.in_pred
        best = (self.in_true + self.in_pred) * self.total
        if best == expected:
            return 1.0
        return (2 * self.together * self.total - expected) / (best - expected)

    def f_score(self) -> float:
        """Harmonic mean of pair precision and recall; 1 where neither labelling joins any pair."""
        joined = self.in_true + self.in_pred
        return 2 * self.together / joined if joined else 1.0


def count_pairs(table: Contingency) -> PairCounts:
    """Count the pairs of samples that each labelling and both put together.

    Parameters
    ----------
    table : Contingency
        Counts of classes against clusters.

    Returns
    -------
    PairCounts
        Exact counts.
    """
    n = table.n_samples
    return PairCounts(
        together=_pairs_within(table.counts),
        in_true=_pairs_within(table.row_sums),
        in_pred=_pairs_within(table.col_sums),
        total=n * (n - 1) // 2,
    )


def _pairs_within(sizes: NDArray[np.int64]) -> int:
    # Exact in int64 up to three billion samples.
    return int((sizes * (sizes - 1) // 2).sum())


def rand_index(labels_true: Any, labels_pred: Any) -> float:
    """Score a clustering by the share of sample pairs that both labellings treat alike.

    A pair agrees when it is together in both labellings or apart in both. The index is not corrected for
    chance and is close to 1 for any two labellings with many clusters; papers of the late-fusion family that
    print a "Rand index" mean :func:`adjusted_rand_index`. Cost O(n + k^2).

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        Classes: integers, strings or any hashable.
    labels_pred : array-like of shape (n_samples,)
        Cluster labels, of any type and names.

    Returns
    -------
    float
        Rand index in [0, 1], symmetric.

    Raises
    ------
    TypeError
        If a labelling is not a one-dimensional sequence of hashable labels.
    ValueError
        If the lengths differ, there is no sample, or a label is missing.

    Examples
    --------
    >>> from manyviews.metrics import rand_index
    >>> rand_index([0, 0, 1, 1], [0, 0, 0, 1])
    0.5
    """
    return count_pairs(contingency_table(labels_true, labels_pred)).rand()


def adjusted_rand_index(labels_true: Any, labels_pred: Any) -> float:
    r"""Score a clustering by the Rand index corrected for chance (Hubert and Arabie).

    .. math:: \mathrm{ARI} = \frac{\sum_{ij} \binom{n_{ij}}{2} - E}
              {\frac{1}{2}\left(\sum_i \binom{a_i}{2} + \sum_j \binom{b_j}{2}\right) - E}, \quad
              E = \frac{\sum_i \binom{a_i}{2} \sum_j \binom{b_j}{2}}{\binom{n}{2}}

    with the counts :math:`n_{ij}`, class sizes :math:`a_i` and cluster sizes :math:`b_j`. The "normalised
    Rand index" Rn of the ensemble clustering papers is the same number. Cost O(n + k^2).

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        Classes: integers, strings or any hashable.
    labels_pred : array-like of shape (n_samples,)
        Cluster labels, of any type and names.

    Returns
    -------
    float
        Adjusted Rand index: 1 for the same partition, about 0 for random labels, negative below chance. Two
        equal trivial partitions (one cluster, or one per sample) score 1.

    Raises
    ------
    TypeError
        If a labelling is not a one-dimensional sequence of hashable labels.
    ValueError
        If the lengths differ, there is no sample, or a label is missing.

    References
    ----------
    L. Hubert, P. Arabie. Comparing partitions. Journal of Classification 2, 193-218, 1985.
    doi:10.1007/BF01908075

    Examples
    --------
    >>> from manyviews.metrics import adjusted_rand_index
    >>> adjusted_rand_index([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    return count_pairs(contingency_table(labels_true, labels_pred)).adjusted_rand()


def pairwise_f_score(labels_true: Any, labels_pred: Any) -> float:
    """Score a clustering by the F measure over pairs of samples.

    Precision is the share of pairs put together by the clustering that belong together; recall the share of
    pairs that belong together and are put together. Cost O(n + k^2).

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        Classes: integers, strings or any hashable.
    labels_pred : array-like of shape (n_samples,)
        Cluster labels, of any type and names.

    Returns
    -------
    float
        Harmonic mean of pair precision and pair recall in [0, 1], symmetric.

    Raises
    ------
    TypeError
        If a labelling is not a one-dimensional sequence of hashable labels.
    ValueError
        If the lengths differ, there is no sample, or a label is missing.

    Examples
    --------
    >>> from manyviews.metrics import pairwise_f_score
    >>> pairwise_f_score([0, 0, 1, 1], [0, 0, 0, 1])
    0.4
    """
    return count_pairs(contingency_table(labels_true, labels_pred)).f_score()

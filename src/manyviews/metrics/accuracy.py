"""Clustering accuracy: the share of samples right under the best naming of the clusters."""

from __future__ import annotations

from typing import Any

from manyviews.metrics.contingency import contingency_table
from manyviews.metrics.matching import matched_count

__all__ = ["clustering_accuracy"]


def clustering_accuracy(labels_true: Any, labels_pred: Any) -> float:
    r"""Score a clustering by the share of samples a one-to-one map of clusters to classes gets right.

    .. math:: \mathrm{ACC} = \max_{\pi} \frac{1}{n} \sum_{j} n_{\pi(j) j}

    where :math:`n_{ij}` counts samples of class :math:`i` in cluster :math:`j` and :math:`\pi` runs over the
    one-to-one maps (Hungarian method). There may be more clusters than classes or fewer; those without a
    partner count as wrong. Cost O(n + k^2) for the table and O(k^3) for the matching.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        Classes: integers, strings or any hashable.
    labels_pred : array-like of shape (n_samples,)
        Cluster labels, of any type and names.

    Returns
    -------
    float
        Accuracy in (0, 1]. It is symmetric; 1 means the same partition.

    Raises
    ------
    TypeError
        If a labelling is not a one-dimensional sequence of hashable labels.
    ValueError
        If the lengths differ, there is no sample, or a label is missing.

    Examples
    --------
    >>> from manyviews.metrics import clustering_accuracy
    >>> clustering_accuracy(["cat", "cat", "dog", "dog"], [1, 1, 0, 1])
    0.75
    """
    table = contingency_table(labels_true, labels_pred)
    return matched_count(table) / table.n_samples

"""Purity: the share of samples in the majority class of their cluster."""

from __future__ import annotations

from typing import Any

import numpy as np

from manyviews.metrics.contingency import Contingency, contingency_table

__all__ = ["majority_count", "purity_score"]


def purity_score(labels_true: Any, labels_pred: Any) -> float:
    r"""Score a clustering by the share of samples that belong to the majority class of their cluster.

    .. math:: \mathrm{purity} = \frac{1}{n} \sum_{j} \max_{i} n_{ij}

    where :math:`n_{ij}` counts samples of class :math:`i` in cluster :math:`j`. Purity is **not** symmetric
    and does not fall when clusters are split: one cluster per sample has purity 1. Read it beside a score
    that charges for the number of clusters.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        Classes: integers, strings or any hashable.
    labels_pred : array-like of shape (n_samples,)
        Cluster labels, of any type and names.

    Returns
    -------
    float
        Purity in (0, 1], never below :func:`clustering_accuracy`.

    Raises
    ------
    TypeError
        If a labelling is not a one-dimensional sequence of hashable labels.
    ValueError
        If the lengths differ, there is no sample, or a label is missing.

    Examples
    --------
    >>> from manyviews.metrics import purity_score
    >>> purity_score([0, 0, 1, 1], [0, 1, 2, 3])
    1.0
    """
    table = contingency_table(labels_true, labels_pred)
    return majority_count(table) / table.n_samples


def majority_count(table: Contingency) -> int:
    """Return the number of samples in the majority class of their cluster.

    Parameters
    ----------
    table : Contingency
        Counts of classes against clusters.

    Returns
    -------
    int
        Sum over clusters of the largest class count.
    """
    largest = np.zeros_like(table.col_sums)
    np.maximum.at(largest, table.cols, table.counts)
    return int(largest.sum())

"""Normalised mutual information in the four normalisations that papers use."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from manyviews.metrics.contingency import Contingency, contingency_table

__all__ = ["AverageMethod", "nmi_score", "normalized_information"]

AverageMethod = Literal["geometric", "max", "arithmetic", "min"]

_AVERAGES: dict[str, Callable[[float, float], float]] = {
    "geometric": lambda a, b: math.sqrt(a * b),
    "max": max,
    "arithmetic": lambda a, b: (a + b) / 2,
    "min": min,
}


def nmi_score(labels_true: Any, labels_pred: Any, *, average_method: AverageMethod = "geometric") -> float:
    r"""Score a clustering by the information it shares with the classes, normalised to [0, 1].

    .. math:: \mathrm{NMI} = \frac{I(A, B)}{\operatorname{avg}(H(A), H(B))}

    with mutual information :math:`I`, entropy :math:`H` and one of four averages. Two trivial partitions
    (a single cluster each) score 1; where only one of them is trivial the score is 0. No smoothing is applied
    when clusters are missing. Cost O(n + k^2).

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        Classes: integers, strings or any hashable.
    labels_pred : array-like of shape (n_samples,)
        Cluster labels, of any type and names.
    average_method : {"geometric", "max", "arithmetic", "min"}, default="geometric"
        How the two entropies are averaged. ``"geometric"`` is the usage of the ensemble papers, ``"max"`` (the
        lowest value) that of the multiple-kernel papers, ``"arithmetic"`` scikit-learn's default.

    Returns
    -------
    float
        Score in [0, 1], symmetric. "max" <= "arithmetic" <= "geometric" <= "min" in value.

    Raises
    ------
    TypeError
        If a labelling is not a one-dimensional sequence of hashable labels.
    ValueError
        If the lengths differ, there is no sample, a label is missing, or ``average_method`` is unknown.

    Examples
    --------
    >>> from manyviews.metrics import nmi_score
    >>> nmi_score(["a", "a", "b", "b"], [1, 1, 0, 0])
    1.0
    >>> round(nmi_score([0, 0, 1, 1], [0, 1, 2, 2], average_method="max"), 3)
    0.667
    """
    return normalized_information(contingency_table(labels_true, labels_pred), average_method)


def normalized_information(table: Contingency, average_method: str = "geometric") -> float:
    """Return the normalised mutual information of a contingency table.

    Parameters
    ----------
    table : Contingency
        Counts of classes against clusters.
    average_method : {"geometric", "max", "arithmetic", "min"}, default="geometric"
        How the two entropies are averaged.

    Returns
    -------
    float
        Score in [0, 1].

    Raises
    ------
    ValueError
        If ``average_method`` is unknown.
    """
    average = _AVERAGES.get(average_method)
    if average is None:
        raise ValueError(f"average_method must be one of {', '.join(_AVERAGES)}; got {average_method!r}.")
    if table.is_bijection:
        return 1.0
    if min(table.row_sums.size, table.col_sums.size) == 1:
        return 0.0
    n = table.n_samples
    shared = _mutual_information(table) / average(_entropy(table.row_sums, n), _entropy(table.col_sums, n))
    return min(1.0, max(0.0, shared))


def _entropy(sizes: NDArray[np.int64], n_samples: int) -> float:
    share = sizes / n_samples
    return -float(share @ np.log(share))


def _mutual_information(table: Contingency) -> float:
    joint = table.counts / table.n_samples
    apart = (table.row_sums[table.rows] / table.n_samples) * (table.col_sums[table.cols] / table.n_samples)
    return float(joint @ np.log(joint / apart))

"""All external scores at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.metrics.contingency import Contingency, contingency_table
from manyviews.metrics.information import normalized_information
from manyviews.metrics.matching import matched_count
from manyviews.metrics.pairs import count_pairs
from manyviews.metrics.purity import majority_count

__all__ = ["evaluate", "evaluate_known"]


def evaluate(labels_true: Any, labels_pred: Any) -> dict[str, float]:
    """Return all external scores of a clustering from one contingency table.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        Classes: integers, strings or any hashable.
    labels_pred : array-like of shape (n_samples,)
        Cluster labels, of any type and names.

    Returns
    -------
    dict of str to float
        ``acc`` (:func:`clustering_accuracy`), ``nmi`` (geometric) and ``nmi_max`` (:func:`nmi_score`), ``ari``
        (:func:`adjusted_rand_index`), ``purity`` (:func:`purity_score`), ``ri`` (:func:`rand_index`) and
        ``f_score`` (:func:`pairwise_f_score`), in this order.

    Raises
    ------
    TypeError
        If a labelling is not a one-dimensional sequence of hashable labels.
    ValueError
        If the lengths differ, there is no sample, or a label is missing.

    Examples
    --------
    >>> from manyviews.metrics import evaluate
    >>> scores = evaluate(["cat", "cat", "dog", "dog"], [1, 1, 0, 1])
    >>> scores["acc"], scores["purity"], scores["ri"]
    (0.75, 0.75, 0.5)
    """
    table = contingency_table(labels_true, labels_pred)
    return _scores(table)


def evaluate_known(labels_true: NDArray[Any], labels_pred: NDArray[Any]) -> dict[str, float]:
    """Return what ``evaluate`` returns of the samples whose class is known.

    Parameters
    ----------
    labels_true : ndarray of shape (n_samples,)
        Classes; None where one is not known.
    labels_pred : ndarray of shape (n_samples,)
        Cluster labels.

    Returns
    -------
    dict of str to float
        The scores.
    """
    known = np.array([label is not None for label in labels_true.tolist()])
    return evaluate(labels_true[known].tolist(), labels_pred[known])


def _scores(table: Contingency) -> dict[str, float]:
    pairs = count_pairs(table)
    return {
        "acc": matched_count(table) / table.n_samples,
        "nmi": normalized_information(table, "geometric"),
        "nmi_max": normalized_information(table, "max"),
        "ari": pairs.adjusted_rand(),
        "purity": majority_count(table) / table.n_samples,
        "ri": pairs.rand(),
        "f_score": pairs.f_score(),
    }

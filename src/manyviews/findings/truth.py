"""What is known about the samples, held against the clusters: classes, scores, confusion table."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.pages.wording import SCORES, plain

__all__ = ["Classes", "classes_of", "confusion", "is_missing", "scores_against", "scores_listed"]

Array = NDArray[Any]

MAX_CELLS_PER_SIDE = 30


class Classes(NamedTuple):
    """Names of the classes, and the class of each sample: (n,) positions, -1 where it is not known."""

    names: list[str]
    codes: Array


def classes_of(truth: Iterable[Any] | None, n_samples: int) -> Classes | None:
    """Return the classes of the samples; None, NaN and the empty text mean that the class is not known.

    Raises
    ------
    ValueError
        If there is not one entry per sample.
    """
    if truth is None:
        return None
    values = truth.tolist() if isinstance(truth, np.ndarray) else list(truth)
    if len(values) != n_samples:
        raise ValueError(f"truth has {len(values)} entries for {n_samples} samples; give one class per sample")
    known = set(values) - {value for value in set(values) if is_missing(value)}
    numbers = all(isinstance(value, int | float) for value in known)
    ordered = sorted(known, key=None if numbers else _natural)
    code = {value: i for i, value in enumerate(ordered)}
    codes = np.fromiter((code.get(value, -1) for value in values), dtype=np.int64, count=n_samples)
    return Classes([plain(_whole(value), 60) for value in ordered], codes) if ordered else None


def is_missing(value: Any) -> bool:
    """Tell whether an entry is empty: None, NaN, NaT, NA or the empty text."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return bool(value == "" or (isinstance(value, float) and value != value))


def _natural(value: Any) -> tuple[Any, ...]:
    """Sort key that puts class 2 before class 10."""
    parts = re.split(r"([0-9]+)", str(value))
    return (*((0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts), type(value).__name__)


def _whole(value: Any) -> Any:
    """Class numbers often come as 3.0 from tables with gaps."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def scores_against(classes: Classes, labels: Array) -> list[dict[str, Any]]:
    """Return the scores of the labels against the classes, over the samples whose class is known."""
    from manyviews.metrics import evaluate

    known = classes.codes >= 0
    return scores_listed(evaluate(classes.codes[known], labels[known]))


def scores_listed(scores: Any) -> list[dict[str, Any]]:
    """Return scores as entries with name, value and explanation; what is not a finite number is left out."""
    entries = []
    keys = [key for key in SCORES if key in scores] + [key for key in scores if key not in SCORES]
    for key in keys:
        value = scores[key]
        if isinstance(value, int | float | np.number) and np.isfinite(value):
            name, meaning = SCORES.get(key, (plain(key, 40), ""))
            entries.append({"key": plain(key, 40), "name": name, "value": float(value), "meaning": meaning})
    return entries


def confusion(classes: Classes, positions: Array, n_clusters: int) -> dict[str, Any]:
    """Count the samples of each class in each cluster.

    Parameters
    ----------
    classes : Classes
        Known classes.
    positions : ndarray of shape (n,)
        Position of each sample's cluster, 0 .. n_clusters - 1.
    n_clusters : int
        Number of clusters.

    Returns
    -------
    dict
        ``classes`` (names, by row), ``clusters`` (positions, by column), ``counts``, ``totals`` of the rows and
        how many classes and clusters were left out. Clusters stand so that matched pairs lie on the diagonal.
    """
    known = classes.codes >= 0
    counts = np.zeros((len(classes.names), n_clusters), dtype=np.int64)
    np.add.at(counts, (classes.codes[known], positions[known]), 1)
    rows, columns = _diagonal_order(counts)
    # The largest classes are shown where not all fit; the order among them stays.
    largest = np.sort(np.argsort(-counts[rows].sum(axis=1), kind="stable")[:MAX_CELLS_PER_SIDE])
    rows, shown = rows[largest], columns[:MAX_CELLS_PER_SIDE]
    return {
        "classes": [classes.names[row] for row in rows],
        "clusters": shown.tolist(),
        "counts": counts[np.ix_(rows, shown)].tolist(),
        "totals": counts[rows].sum(axis=1).tolist(),
        "n_hidden_classes": len(classes.names) - rows.size,
        "n_hidden_clusters": n_clusters - shown.size,
    }


def _diagonal_order(counts: Array) -> tuple[Array, Array]:
    """Return rows in their order, and columns so that each row's matched column is in its place."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(-counts)
    rest = np.setdiff1d(np.arange(counts.shape[1]), columns)
    unmatched = np.setdiff1d(np.arange(counts.shape[0]), rows)
    return np.concatenate([rows, unmatched]), np.concatenate([columns, rest])

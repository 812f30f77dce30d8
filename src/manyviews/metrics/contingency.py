"""The contingency table two labellings share: every external score is a function of it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Contingency", "contingency_table", "encode_labels"]

IntArray = NDArray[np.int64]

# Below this many cells a dense count is cheaper than sorting, however few samples there are.
_SMALL_TABLE = 4096


@dataclass(frozen=True)
class Contingency:
    """Hold the non-empty cells of a contingency table and its two margins.

    Only cells that hold samples are stored, at most n of them, so two labellings with n distinct labels
    each cost O(n) memory and not O(n^2).

    Attributes
    ----------
    rows, cols : ndarray of shape (n_cells,) of int64
        Class and cluster index of every non-empty cell, ordered by row, then column.
    counts : ndarray of shape (n_cells,) of int64
        Samples in the cell.
    row_sums : ndarray of shape (n_classes,) of int64
        Class sizes, all positive.
    col_sums : ndarray of shape (n_clusters,) of int64
        Cluster sizes, all positive.
    n_samples : int
        Number of samples.
    """

    rows: IntArray
    cols: IntArray
    counts: IntArray
    row_sums: IntArray
    col_sums: IntArray
    n_samples: int

    @property
    def is_bijection(self) -> bool:
        """Whether the two labellings are the same partition under other names."""
        return self.counts.size == self.row_sums.size == self.col_sums.size


def contingency_table(labels_true: Any, labels_pred: Any) -> Contingency:
    """Count how often each class meets each cluster.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Labels: integers, strings or any hashable.

    Returns
    -------
    Contingency
        The non-empty cells and the margins.

    Raises
    ------
    TypeError
        If a labelling is not a one-dimensional sequence of hashable labels.
    ValueError
        If the lengths differ, there is no sample, or a label is missing (NaN, None).

    Examples
    --------
    >>> table = contingency_table(["a", "a", "b"], [1, 1, 1])
    >>> table.counts.tolist(), table.row_sums.tolist(), table.col_sums.tolist()
    ([2, 1], [2, 1], [3])
    """
    true, n_classes = encode_labels(labels_true, "labels_true")
    pred, n_clusters = encode_labels(labels_pred, "labels_pred")
    n = true.size
    if pred.size != n:
        raise ValueError(
            f"labels_true has {n} labels and labels_pred has {pred.size}; both must label the same samples."
        )
    if n == 0:
        raise ValueError("labels_true and labels_pred are empty; a score needs at least one sample.")
    cells = true * n_clusters + pred
    if n_classes * n_clusters <= max(4 * n, _SMALL_TABLE):
        dense = np.bincount(cells, minlength=n_classes * n_clusters)
        occupied = np.flatnonzero(dense)
        counts = dense[occupied]
    else:
        occupied, counts = np.unique(cells, return_counts=True)
    rows, cols = np.divmod(occupied, n_clusters)
    return Contingency(
        rows=rows.astype(np.int64, copy=False),
        cols=cols.astype(np.int64, copy=False),
        counts=counts.astype(np.int64, copy=False),
        row_sums=np.bincount(true, minlength=n_classes).astype(np.int64, copy=False),
        col_sums=np.bincount(pred, minlength=n_clusters).astype(np.int64, copy=False),
        n_samples=n,
    )


def counted_table(counts: NDArray[Any]) -> Contingency:
    """Return the contingency table whose cells, also empty ones, hold such numbers of samples, (classes, clusters)."""
    counts = counts[counts.any(axis=1)][:, counts.any(axis=0)].astype(np.int64)
    rows, cols = np.nonzero(counts)
    return Contingency(rows, cols, counts[rows, cols], counts.sum(axis=1), counts.sum(axis=0), int(counts.sum()))


def encode_labels(labels: Any, name: str = "labels") -> tuple[IntArray, int]:
    """Replace labels by the integers 0 .. k-1, every one of them in use.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        Labels: integers (negative ones too), strings or any hashable. Labels that compare equal, such as
        ``1`` and ``1.0``, are one label.
    name : str, default="labels"
        What error messages call them.

    Returns
    -------
    codes : ndarray of shape (n_samples,) of int64
        The codes.
    k : int
        Number of distinct labels.

    Raises
    ------
    TypeError
        If ``labels`` is not a one-dimensional sequence of hashable labels.
    ValueError
        If ``labels`` has more than one dimension or a label is missing (NaN, None, masked).

    Examples
    --------
    >>> codes, k = encode_labels([-1, 5, -1])
    >>> codes.tolist(), k
    ([0, 1, 0], 2)
    """
    values = _as_vector(labels, name)
    if values.size == 0:
        return np.empty(0, dtype=np.int64), 0
    if values.dtype.kind in "biu":
        return _encode_integers(values)
    if values.dtype.kind in "OTV":
        return _encode_hashables(values.tolist(), name)
    missing = values != values
    if np.any(missing):
        _raise_missing(name, int(np.argmax(missing)), int(np.count_nonzero(missing)))
    distinct, codes = np.unique(values, return_inverse=True)
    return codes.astype(np.int64, copy=False), distinct.size


def _as_vector(labels: Any, name: str) -> NDArray[Any]:
    """One-dimensional array of labels; tuples and mixed types stay whole objects."""
    if isinstance(labels, (str, bytes, Mapping, Set)) or not hasattr(labels, "__len__"):
        raise TypeError(
            f"{name} must be a one-dimensional sequence of labels, one per sample; got {type(labels).__name__}."
        )
    if np.ma.is_masked(labels):
        raise ValueError(f"{name} has masked entries; every sample needs a label.")
    values = _object_vector(labels) if isinstance(labels, (list, tuple)) else np.asarray(labels)
    if values.ndim != 1:
        raise ValueError(
            f"{name} must be one-dimensional, one label per sample; got shape {values.shape}. "
            "Turn a column into labels with .ravel(), one-hot rows with .argmax(axis=1)."
        )
    return values


def _object_vector(labels: list[Any] | tuple[Any, ...]) -> NDArray[Any]:
    """Array of a plain sequence, without NumPy's merging of 1 and "1" into the same text."""
    types = set(map(type, labels))
    if len(types) == 1 and types <= {int, float, bool}:
        typed = np.asarray(labels)
        # Integers too large for one integer type would turn into floats and collide.
        if int not in types or typed.dtype.kind in "iu":
            return typed
    if types and all(issubclass(t, (list, np.ndarray)) for t in types):
        return np.asarray(labels, dtype=object)
    values = np.empty(len(labels), dtype=object)
    values[:] = labels
    return values


def _encode_integers(values: NDArray[Any]) -> tuple[IntArray, int]:
    """Count instead of sort where the labels span a short range, as cluster labels do."""
    if values.dtype.kind == "b":
        values = values.astype(np.int64)
    low, high = int(values.min()), int(values.max())
    if high - low > 4 * values.size + _SMALL_TABLE:
        distinct, codes = np.unique(values, return_inverse=True)
        return codes.astype(np.int64, copy=False), distinct.size
    # Unsigned labels may exceed int64 and small signed types may overflow, so the order of the two steps differs.
    if values.dtype.kind == "u":
        shifted = (values - values.dtype.type(low)).astype(np.int64)
    else:
        shifted = values.astype(np.int64) - low
    present = np.bincount(shifted, minlength=high - low + 1) > 0
    codes = np.cumsum(present) - 1
    return codes[shifted].astype(np.int64, copy=False), int(np.count_nonzero(present))


def _encode_hashables(values: Iterable[Any], name: str) -> tuple[IntArray, int]:
    """Give labels numbers in order of appearance."""
    index: dict[Hashable, int] = {}
    codes = []
    for position, value in enumerate(values):
        if _is_missing(value):
            _raise_missing(name, position, 1)
        try:
            codes.append(index.setdefault(value, len(index)))
        except TypeError:
            raise TypeError(
                f"{name} holds a {type(value).__name__} at position {position}; labels must be hashable "
                "(integers, strings, tuples, ...)."
            ) from None
    return np.asarray(codes, dtype=np.int64), len(index)


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        # pandas.NA has no truth value; arrays have none either and are reported as not hashable.
        return not hasattr(value, "__len__")


def _raise_missing(name: str, position: int, count: int) -> None:
    more = f" ({count} in all)" if count > 1 else ""
    raise ValueError(
        f"{name} has a missing label (NaN or None) at position {position}{more}; drop those samples from both "
        "labellings or give them a label of their own."
    )

"""Check class labels that come from files."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["LABEL_KEYS", "check_labels"]

# What classes are called in files, in lower case, the surest names first.
LABEL_KEYS = ("gt", "y", "truth", "truelabel", "labels", "label", "gnd", "gtruth", "ground_truth", "classes", "class")


def check_labels(values: Any, n: int, where: str) -> NDArray[Any]:
    """Return class labels as a one-dimensional array of int64 or text.

    Parameters
    ----------
    values : array-like of shape (n,), (n, 1), (1, n) or one-hot (n, k)
        Labels as a file holds them.
    n : int
        Number of samples.
    where : str
        File and place in it, for the message.

    Returns
    -------
    ndarray of shape (n,)
        int64 where the labels are whole numbers, else text; objects with None where some labels are missing.

    Raises
    ------
    ValueError
        If there is not exactly one label per sample, or none at all.

    Examples
    --------
    >>> from manyviews.io.labels import check_labels
    >>> check_labels([[1.0], [2.0]], 2, "gt")
    array([1, 2])
    """
    array = np.asarray(values)
    if array.ndim == 2 and 1 in array.shape:
        array = array.ravel()
    elif array.ndim == 2 and array.shape[0] == n and _is_one_hot(array):
        array = array.argmax(axis=1)
    if array.shape != (n,):
        raise ValueError(f"{where} has shape {array.shape} for {n} samples; give one class per sample")
    known = np.array([not (value is None or value != value or value == "") for value in array.tolist()], dtype=bool)
    if not known.all():
        if not known.any():
            raise ValueError(f"{where} has no class for any sample; leave it out")
        labels = np.full(n, None, dtype=object)
        labels[known] = check_labels(np.array(array[known].tolist()), int(known.sum()), where).tolist()
        return labels
    if array.dtype.kind == "f" and not (np.array_equal(array, np.floor(array)) and np.isfinite(array).all()):
        raise ValueError(f"{where} holds fractions; classes are whole numbers or text")
    if array.dtype.kind in "buif":
        return array.astype(np.int64)
    if array.dtype.kind not in "UO":
        raise ValueError(f"{where} holds values of type {array.dtype}; classes are whole numbers or text")
    return np.array([str(value) for value in array.tolist()], dtype=np.str_)


def _is_one_hot(array: NDArray[Any]) -> bool:
    return array.dtype.kind in "buif" and bool(np.isin(array, (0, 1)).all() and (array.sum(axis=1) == 1).all())

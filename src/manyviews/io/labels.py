"""Check class labels that come from files."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["check_labels"]


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
        int64 where the labels are whole numbers, else text.

    Raises
    ------
    ValueError
        If there is not exactly one label per sample, or a label is missing.

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
    if array.dtype.kind == "f":
        if np.isnan(array).any():
            row = int(np.flatnonzero(np.isnan(array))[0])
            raise ValueError(f"{where} has no class for row {row}; scoring needs a class for every sample")
        if not np.array_equal(array, np.floor(array)) or not np.isfinite(array).all():
            raise ValueError(f"{where} holds fractions; classes are whole numbers or text")
    if array.dtype.kind in "buif":
        return array.astype(np.int64)
    if array.dtype.kind not in "UO":
        raise ValueError(f"{where} holds values of type {array.dtype}; classes are whole numbers or text")
    return np.array([str(value) for value in array.tolist()], dtype=np.str_)


def _is_one_hot(array: NDArray[Any]) -> bool:
    return array.dtype.kind in "buif" and bool(np.isin(array, (0, 1)).all() and (array.sum(axis=1) == 1).all())

"""Read classes from a file of their own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.io.files import ARRAYS, TABLES, file_kind, readable, require_file
from manyviews.io.labels import check_labels
from manyviews.io.matching import check_unique
from manyviews.io.tables import read_columns

__all__ = ["read_truth_file"]


def read_truth_file(
    path: str | os.PathLike[str], n: int, ids: Sequence[str] | None, id_column: str | None
) -> NDArray[Any]:
    """Read the classes of n samples from a table with one column, or a .npy file.

    Parameters
    ----------
    path : str or path-like
        A table, or a one-dimensional array.
    n : int
        Number of samples.
    ids : sequence of str or None
        Ids of the samples in their order; the classes are then matched by ``id_column``, if the table has it.
    id_column : str or None
        Name of the id column.

    Returns
    -------
    ndarray of shape (n,)
        Classes, int64 or text; objects with None for samples that the file lacks.

    Raises
    ------
    ValueError
        If the file cannot be read, or does not hold one class per sample.
    """
    given, kind = os.fspath(path), file_kind(path)
    if kind in TABLES:
        return _from_table(given, n, ids, id_column)
    if kind not in ARRAYS[:1]:
        raise ValueError(f"{given}: classes are read from a table with one column or from a .npy file")
    with readable(path, "a .npy file"):
        labels = np.load(require_file(path), allow_pickle=False)
    return check_labels(labels, n, given)


def _from_table(given: str, n: int, ids: Sequence[str] | None, id_column: str | None) -> NDArray[Any]:
    columns = read_columns(given)
    key = None if ids is None else _id_column(read_columns(given, all_text=True), ids, id_column)
    row_ids = None
    if key is not None:
        row_ids = read_columns(given, all_text=True)[key]
        del columns[key]
    if len(columns) != 1:
        raise ValueError(
            f"{given} has the columns {', '.join(map(repr, columns))}; a file of classes has one column, "
            "and the id column where rows are matched by id"
        )
    name, values = next(iter(columns.items()))
    where = f"{given}: column {name!r}"
    labels = check_labels(np.array(values, dtype=object if None in values else None), len(values), where)
    if ids is None or row_ids is None:
        return check_labels(labels, n, where)
    keys = [str(key) for key in row_ids]
    check_unique(keys, given)
    position = {key: row for row, key in enumerate(keys)}
    shared = [key for key in ids if key in position]
    if not shared:
        raise ValueError(
            f"{given} has a class for none of the {len(ids)} samples, such as {', '.join(map(repr, ids[:3]))}; check "
            "that the ids are written alike (leading zeros count)"
        )
    if len(shared) == len(ids):
        return labels[[position[key] for key in ids]]
    some = np.full(len(ids), None, dtype=object)
    some[:] = [labels[position[key]].item() if key in position else None for key in ids]
    return some


def _id_column(columns: dict[str, list[str | None]], ids: Sequence[str], id_column: str | None) -> str | None:
    """Return the column with the ids: the one that is named so, else of two columns the one that holds some."""
    if id_column in columns or len(columns) != 2:
        return id_column if id_column in columns else None
    known = set(ids)
    shares = {name: sum(value in known for value in set(values)) for name, values in columns.items()}
    best = max(shares, key=lambda name: shares[name])
    return best if shares[best] > 0 else None

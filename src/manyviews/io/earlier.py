"""Read the clusters of an earlier run, to keep their numbers."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.io.matching import check_unique
from manyviews.io.tables import read_columns
from manyviews.io.write import LABELS
from manyviews.views import Views

__all__ = ["Earlier", "read_earlier_labels"]


class Earlier(NamedTuple):
    """File that was read, and the earlier cluster of each sample, -1 where there was none."""

    path: str
    labels: NDArray[np.int64]


def read_earlier_labels(path: str | os.PathLike[str], views: Views) -> Earlier:
    """Read a ``labels.csv``, matched to the samples by id.

    Parameters
    ----------
    path : str or path-like
        A table with the columns ``sample`` and ``cluster``, or an output folder that holds one.
    views : Views
        The samples; without ids their row numbers count.

    Returns
    -------
    Earlier
        Path and labels (n,).

    Raises
    ------
    ValueError
        If the file cannot be read, lacks a column, repeats a sample, has other than whole numbers from 0, or shares
        no sample with the views.
    """
    place = os.path.join(path, LABELS) if os.path.isdir(path) else path
    given = os.fspath(place)
    columns = read_columns(place)
    first = next(iter(columns))  # called as the ids were
    if "cluster" not in columns or first == "cluster":
        lacking = "sample" if first == "cluster" else "cluster"
        raise ValueError(f"{given} has no column {lacking!r}; give the labels.csv of an earlier run (--match-to)")
    samples = [str(key) for key in read_columns(place, as_text=(first,))[first]]
    clusters = columns["cluster"]
    check_unique(samples, given)
    for row, cluster in enumerate(clusters):
        if not _is_cluster(cluster):
            raise ValueError(f"{given}: row {row} has the cluster {cluster!r}; clusters are whole numbers from 0")
    ids = range(len(views)) if views.sample_names is None else views.sample_names
    known = dict(zip(samples, map(int, clusters), strict=True))
    labels = np.array([known.get(str(key), -1) for key in ids], dtype=np.int64)
    if (labels < 0).all():
        raise ValueError(f"{given} has none of the samples; check that the ids are written alike (leading zeros count)")
    return Earlier(given, labels)


def _is_cluster(value: Any) -> bool:
    return isinstance(value, int | float) and 0 <= value < 2**31 and value == int(value)

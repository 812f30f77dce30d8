"""Where base labels come from: partitions learned from a view, or columns of labels that the user brings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.linalg.blocks import row_blocks, unit_rows
from manyviews.linalg.scaling import Scaling, apply_scaling
from manyviews.partitions.summed import SummedCenters
from manyviews.prototypes.block_kmeans import assign_rows
from manyviews.views import Views

__all__ = ["GivenPartitions", "LearnedPartitions", "given_partitions", "prepared_rows", "refuse_other_labels"]

Labels = NDArray[np.int64]


@dataclass(frozen=True)
class LearnedPartitions:
    """How new rows of a view get base labels: its scaling and the centres (Σ K_i, d) of all its partitions.

    The centres are an array, dense or CSR, or sums of rows that are kept once.
    """

    scaling: Scaling
    metric: Any
    centers: Any
    widths: tuple[int, ...]

    def labels(self, X: Any, observed: NDArray[np.bool_]) -> Labels:
        """Return labels (n, r), -1 where a sample is not observed."""
        out = np.full((X.shape[0], len(self.widths)), -1, dtype=np.int64)
        seen = np.flatnonzero(observed)
        ends = np.cumsum(self.widths)
        for block in row_blocks(seen.size):
            rows = prepared_rows(X[seen[block]], self.scaling, self.metric)
            near = self.centers.similarities(rows) if isinstance(self.centers, SummedCenters) else None
            for i, (end, width) in enumerate(zip(ends, self.widths, strict=True)):
                own = slice(end - width, end)
                out[seen[block], i] = (
                    assign_rows(rows, self.centers[own], self.metric)[0]
                    if near is None
                    else near[:, own].argmax(axis=1)
                )
        return out


@dataclass(frozen=True)
class GivenPartitions:
    """The columns of a view of labels that tell samples apart, and the labels known in each."""

    columns: Labels
    values: tuple[Labels, ...]

    def labels(self, X: Any, observed: NDArray[np.bool_]) -> Labels:
        """Return labels renumbered from 0, -1 for none and for labels that were not there at fit."""
        out = np.full((X.shape[0], self.columns.size), -1, dtype=np.int64)
        for i, (column, known) in enumerate(zip(self.columns, self.values, strict=True)):
            given = X[observed, column]
            place = np.minimum(np.searchsorted(known, given), known.size - 1)
            out[observed, i] = np.where(known[place] == given, place, -1)
        return out


def prepared_rows(X: Any, scaling: Scaling, metric: str) -> Any:
    """Return scaled rows, for the cosine in single precision and of unit length."""
    X = apply_scaling(X, scaling)
    return unit_rows(X).astype(np.float32) if metric == "cosine" else X


def given_partitions(views: Views, v: int) -> tuple[GivenPartitions, Labels] | None:
    """Return the labels of view v, renumbered, without the partitions that have but one cluster."""
    refuse_other_labels(views)
    X, observed = views.arrays[v], views.observed[:, v]
    known = [np.unique(X[observed, j]) for j in range(X.shape[1])]
    known = [values[values >= 0] for values in known]
    columns = np.array([j for j, values in enumerate(known) if values.size > 1], dtype=np.int64)
    if columns.size == 0:
        return None
    source = GivenPartitions(columns, tuple(known[j] for j in columns))
    return source, source.labels(X, observed)


def refuse_other_labels(views: Views) -> None:
    """Refuse views that are no columns of integer labels."""
    for v, (name, X) in enumerate(views.items()):
        if sparse.issparse(X):
            raise TypeError(f"view {name!r}: partitions must be a dense array of labels; write .toarray()")
        rows = X[views.observed[:, v]]
        if (rows != np.rint(rows)).any() or (rows < -1).any():
            raise ValueError(
                f"view {name!r}: base='labels' takes integer labels, one column per partition, -1 for a sample that "
                "a partition lacks; use base='features' for features"
            )

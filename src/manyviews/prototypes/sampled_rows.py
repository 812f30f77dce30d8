"""Rows of a view as a base clustering sees them: scaled, some of the columns, block by block, never copied whole."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.linalg.blocks import row_blocks, unit_rows
from manyviews.linalg.scaling import Scaling, apply_scaling
from manyviews.prototypes.block_kmeans import Metric

__all__ = ["ColumnSample", "RowBlock", "ViewRows", "ViewTreatment", "speaking_rows"]

Array = NDArray[Any]


class RowBlock(NamedTuple):
    """Treated rows (b, d) and which of them say something, (b,); None where all do."""

    rows: Any
    speaking: NDArray[np.bool_] | None


@dataclass(frozen=True)
class ViewTreatment:
    """What is done to the rows of one view: scaling, choice of columns, unit rows for the cosine metric.

    ``late_columns`` are taken after the scaling, where that needs whole rows; all others before it.
    """

    scaling: Scaling
    metric: Metric
    width: int
    late_columns: NDArray[np.int64] | None = None

    def sample_columns(self, columns: NDArray[np.int64]) -> ViewTreatment:
        """Return the treatment that keeps these columns only."""
        scaling = self.scaling
        if self.metric == "euclidean" and scaling.kind in ("unit", "tfidf"):
            return replace(self, width=columns.size, late_columns=columns)
        kept = columns if scaling.columns is None else scaling.columns[columns]
        shift = None if scaling.shift is None else scaling.shift[columns]
        scale = None if scaling.scale is None else scaling.scale[columns]
        return replace(self, width=columns.size, scaling=Scaling(scaling.kind, shift, scale, kept))

    def apply(self, X: Any) -> Any:
        """Return treated rows."""
        rows = apply_scaling(X, self.scaling)
        if self.late_columns is not None:
            rows = rows[:, self.late_columns]
        if self.metric == "cosine" and self.scaling.kind not in ("unit", "tfidf"):
            rows = unit_rows(rows)
        return rows


@dataclass(frozen=True)
class ColumnSample:
    """Some of the columns of a treated view, as bits: the treatment is shared by all samples of a view."""

    whole: ViewTreatment
    bits: NDArray[np.uint8]

    @classmethod
    def of(cls, whole: ViewTreatment, columns: NDArray[np.int64]) -> ColumnSample:
        """Return the sample of some columns, in ascending order."""
        mask = np.zeros(whole.width, dtype=bool)
        mask[columns] = True
        return cls(whole, np.packbits(mask))

    @property
    def chosen(self) -> NDArray[np.int64]:
        """Positions of the columns among those of the treated view."""
        return np.flatnonzero(np.unpackbits(self.bits, count=self.whole.width))

    @property
    def metric(self) -> Metric:
        """Metric of the view."""
        return self.whole.metric

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(np.unpackbits(self.bits, count=self.whole.width).sum())

    def treatment(self) -> ViewTreatment:
        """Return the treatment that keeps these columns only."""
        return self.whole.sample_columns(self.chosen)


class ViewRows(NamedTuple):
    """A view as given, (n, d), where it was observed, (n,) or None for everywhere, and its treatment."""

    array: Any
    observed: NDArray[np.bool_] | None
    treatment: ViewTreatment

    def read(self, rows: Any) -> RowBlock:
        """Return some rows, by slice or sorted index; those not observed are zeros and do not speak."""
        raw = self.array[rows]
        seen = None if self.observed is None else self.observed[rows]
        if seen is not None and seen.all():
            seen = None
        if seen is not None and not sparse.issparse(raw):
            raw = np.where(seen[:, None], raw, raw.dtype.type(0))
        treated = self.treatment.apply(raw)
        if self.treatment.metric == "cosine":
            speaks = _lengths(treated) > 0  # no direction, no neighbours
            seen = speaks if seen is None else seen & speaks
            if seen.all():
                seen = None
        return RowBlock(treated, seen)


def _lengths(X: Any) -> Array:
    return np.diff(X.indptr) if sparse.issparse(X) else np.einsum("ij,ij->i", X, X)


def speaking_rows(view: ViewRows) -> NDArray[np.int64] | None:
    """Return the rows of a view that say something under its treatment; None where all do."""
    if view.treatment.metric == "euclidean":
        return None if view.observed is None else np.flatnonzero(view.observed)
    n = view.array.shape[0]
    masks = [view.read(rows).speaking for rows in row_blocks(n)]
    if all(mask is None for mask in masks):
        return None
    blocks = zip(row_blocks(n), masks, strict=True)
    return np.concatenate(
        [np.arange(b.start, b.stop) if mask is None else b.start + np.flatnonzero(mask) for b, mask in blocks]
    )

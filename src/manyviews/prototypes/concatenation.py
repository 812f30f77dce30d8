"""Several views as one, side by side and of equal weight, made block by block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from manyviews.linalg.scaling import Scaling
from manyviews.prototypes.block_kmeans import Metric
from manyviews.prototypes.sampled_rows import ViewTreatment
from manyviews.prototypes.view_treatment import auto_metric, fit_treatment

__all__ = ["Concatenation", "SideBySide"]

PROBE_ROWS = 10_000


@dataclass(frozen=True)
class SideBySide:
    """Treated views next to each other: has a shape and rows, and holds no copy of the data."""

    arrays: tuple[Any, ...]
    treatments: tuple[ViewTreatment, ...]
    factors: tuple[float, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples and of columns."""
        return self.arrays[0].shape[0], sum(treatment.width for treatment in self.treatments)

    @property
    def is_dense(self) -> bool:
        """Whether no view is sparse."""
        return not any(map(sparse.issparse, self.arrays))

    @property
    def dtype(self) -> Any:
        """Common dtype of the views."""
        return np.result_type(*(X.dtype for X in self.arrays))

    def __getitem__(self, rows: Any) -> Any:
        """Return rows, CSR if all views are."""
        parts = [
            treatment.apply(X[rows]) * X.dtype.type(factor)
            for X, treatment, factor in zip(self.arrays, self.treatments, self.factors, strict=True)
        ]
        if all(map(sparse.issparse, parts)):
            return sparse.hstack(parts, format="csr")
        return np.hstack([part.toarray() if sparse.issparse(part) else part for part in parts])


@dataclass(frozen=True)
class Concatenation:
    """How views are put side by side: treatments and factors of each, and the treatment of the whole."""

    treatments: tuple[ViewTreatment, ...]
    factors: tuple[float, ...]
    treatment: ViewTreatment
    telling: tuple[int, ...]

    @classmethod
    def fit(
        cls,
        arrays: tuple[Any, ...],
        scalings: Sequence[str | None],
        metric: str,
        telling: Sequence[int] | None = None,
        weights: Sequence[float] | None = None,
    ) -> Concatenation:
        """Learn the scalings and what makes the views weigh alike.

        Parameters
        ----------
        arrays : tuple of ndarray or CSR of shape (n, d_v)
            The views.
        scalings : sequence of str or None
            Scaling of each; see ``fit_treatment``.
        metric : {"auto", "euclidean", "cosine"}
            "auto": cosine where all views are sparse without negative entries, else Euclidean.
        telling : sequence of int, default=None
            Places of the views that are put side by side; all by default.
        weights : sequence of float, default=None
            What the squared distances of each view are multiplied with in the end; 1 by default.

        Returns
        -------
        Concatenation
            With several views, each is divided by the root mean square length of its rows.
        """
        if metric == "auto":
            metric = "cosine" if all(auto_metric(X) == "cosine" for X in arrays) else "euclidean"
        chosen: Metric = metric  # type: ignore[assignment]
        # rows get unit length for the cosine metric when they are side by side, not before
        treatments = tuple(fit_treatment(X, scaling, "euclidean") for X, scaling in zip(arrays, scalings, strict=True))
        told = tuple(range(len(arrays)) if telling is None else telling)
        several = len(told) > 1
        factors = tuple(_inverse_length(X, t) if several else 1.0 for X, t in zip(arrays, treatments, strict=True))
        roots = (1.0,) * len(arrays) if weights is None else tuple(weight**0.5 for weight in weights)
        factors = tuple(factor * root for factor, root in zip(factors, roots, strict=True))
        width = sum(treatments[v].width for v in told)
        return cls(treatments, factors, ViewTreatment(Scaling(None), chosen, width), told)

    @property
    def scalings(self) -> tuple[str | None, ...]:
        """What is done to each view."""
        return tuple(treatment.scaling.kind for treatment in self.treatments)

    def of(self, arrays: tuple[Any, ...]) -> SideBySide:
        """Return the views side by side."""
        chosen = ((arrays[v], self.treatments[v], self.factors[v]) for v in self.telling)
        return SideBySide(*zip(*chosen, strict=True))


def _inverse_length(X: Any, treatment: ViewTreatment) -> float:
    rows = treatment.apply(X[:: max(1, X.shape[0] // PROBE_ROWS)])
    total = rows.multiply(rows).sum() if sparse.issparse(rows) else np.square(rows, dtype=np.float64).sum()
    return float(np.sqrt(rows.shape[0] / total)) if total > 0 else 1.0

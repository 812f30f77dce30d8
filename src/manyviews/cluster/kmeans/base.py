"""What the k-means-like estimators share: scaled and balanced views, centres in units of the data, new samples."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.balanced import BalancedClusterer
from manyviews.cluster.base import PredictMixin
from manyviews.cluster.constraints import one_of
from manyviews.cluster.memory import center_bytes, copy_bytes
from manyviews.cluster.parallel import jobs_at_a_time
from manyviews.cluster.sample_weight import SampleWeightMixin
from manyviews.linalg.blocks import row_blocks
from manyviews.linalg.scaled_rows import ScaledRows, is_on_disk
from manyviews.partitions.discretize import center_confidence
from manyviews.prototypes.weighted import Stack, assign, center_distances, centroids, make_stack
from manyviews.views import Views
from manyviews.views.new_samples import FittedViews

__all__ = ["CentroidClusterer", "MeansMixin"]

Array = NDArray[Any]
# starts look at this share of the samples, and at so many per cluster at least
START_SHARE, START_ROWS = 0.1, 50


def _filled(X: Any) -> Any:
    """Return a dense view with zeros for the rows that are NaN."""

    def zeros_for_nan(rows: Array) -> Array:
        return np.where(np.isnan(rows[:, :1]), rows.dtype.type(0), rows)

    return ScaledRows(X, zeros_for_nan) if is_on_disk(X) else zeros_for_nan(X)


class MeansMixin:
    """Adds the means of the clusters, which ``_keep_means`` stores."""

    _order: NDArray[np.int64]
    _fitted_views: FittedViews

    def _keep_means(self, views: Views, labels: NDArray[np.int64], k: int, weights: Array | None) -> None:
        observed = views.observed.T
        blank = [np.full((k, X.shape[1]), np.nan) for X in views.arrays]
        filled = tuple(X if seen.all() else _filled(X) for X, seen in zip(views.arrays, observed, strict=True))
        self._means = centroids(make_stack(filled, observed, counts=weights), labels, None, blank)

    @property
    def cluster_centers_(self) -> dict[str, Array]:
        """Mean of each cluster in each view, (k, d_v), in units of the data; NaN where no member was observed."""
        inverse = np.argsort(self._order)
        return {str(name): M[inverse] for name, M in zip(self._fitted_views.names, self._means, strict=True)}


class CentroidClusterer(SampleWeightMixin, BalancedClusterer, MeansMixin, PredictMixin):
    """Base of the methods whose clusters are centres in every view."""

    _accepts_missing: ClassVar[bool] = True
    _dense_scaling: ClassVar[str] = "minmax"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = BalancedClusterer._parameter_constraints | {
        "geometry": [one_of("auto", "cosine", "euclidean")],
    }

    geometry: str
    n_init: int
    # factors (V,) of distances that are not squared; None where the squares are summed
    _factors: Array | None = None

    def _memory_estimate(self, views: Views) -> int:
        # per start also a sample of the rows, twice while it is made
        sampled = min(1.0, max(START_SHARE, START_ROWS * self.n_clusters / len(views)))
        starts = int(2 * self._jobs() * sampled * sum(map(copy_bytes, views.arrays)))
        gaps = 0 if views.observed.all() else sum(map(copy_bytes, views.arrays))
        # of each start those before and after an update, and the best; in units of the data at the end
        centers = (1 + 4 * self._jobs()) * center_bytes(views, self.n_clusters)
        return super()._memory_estimate(views) + max(starts, gaps) + centers

    def _kept_numbers(self, views: Views) -> float:
        # losses, weights and distances of every pair of sample and view
        return len(views.names) * (2.0 + 6.0 * self._jobs()) + 4.0

    def _jobs(self) -> int:
        return jobs_at_a_time(self.n_jobs, self.n_init)

    def _fit_stack(self, views: Views, weights: Array | None) -> Stack:
        """Learn the scaling of the views and return them scaled."""
        return self._as_stack(views, self._fit_scaled(views, weights), weights)

    def _stack(self, views: Views) -> Stack:
        return self._as_stack(views, self._scaled(views))

    def _as_stack(self, views: Views, arrays: tuple[Any, ...], weights: Array | None = None) -> Stack:
        return make_stack(arrays, views.observed.T, self._radii(views.names), weights)

    def _radii(self, names: tuple[str, ...]) -> tuple[float | None, ...]:
        """Return the length that the centres of each view are kept to, None where they are free."""
        radii = tuple(balanced.radius for balanced in self._balanced)
        if self.geometry == "euclidean":
            return (None,) * len(radii)
        if self.geometry == "cosine" and None in radii:
            flat = [name for name, radius in zip(names, radii, strict=True) if radius is None]
            raise ValueError(
                f"geometry='cosine' needs rows of equal length, which the views {flat} do not have; scale them "
                "with scaling='unit' or 'tfidf', or leave geometry='auto'"
            )
        return radii

    def _keep_centers(self, views: Views, stack: Stack, centers: list[Array], labels: NDArray[np.int64]) -> None:
        """Store the centres for new samples, the means of the data, and how clearly each sample belongs."""
        self._centers = centers
        self._keep_means(views, labels, self.n_clusters, stack.counts)
        self.confidence_ = self._confidence(stack)

    def _confidence(self, stack: Stack) -> Array:
        distances = (center_distances(stack, self._centers, rows, self._factors) for rows in row_blocks(len(stack)))
        return np.concatenate([center_confidence(block) for block in distances])

    def _found_for(self, views: Views) -> dict[str, Array]:
        return {"confidence_": self._confidence(self._stack(views))}

    def _predict(self, views: Views) -> NDArray[np.int64]:
        return self._nearest(self._stack(views), self._centers)

    def _nearest(self, stack: Stack, centers: list[Array]) -> NDArray[np.int64]:
        if self._factors is None:
            return assign(stack, centers).labels
        distances = (center_distances(stack, centers, rows, self._factors) for rows in row_blocks(len(stack)))
        return np.concatenate([block.argmin(axis=1) for block in distances]).astype(np.int64)

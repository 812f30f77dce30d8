"""What methods that start from kernels share: from checked views to kernels and partitions, and consensus centroids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.cluster.base import MultiViewClusterer, PredictMixin
from manyviews.cluster.base_partitions import BasePartitions, exact_partitions, kernel_numbers, landmark_partitions
from manyviews.cluster.constraints import INT_FROM_TWO, POSITIVE, POSITIVE_INT, one_of
from manyviews.cluster.distances import distance_scalings
from manyviews.cluster.memory import copy_bytes, stored_width
from manyviews.cluster.parallel import jobs_at_a_time
from manyviews.cluster.view_kernels import (
    ViewKernel,
    ViewRecipe,
    check_signal,
    distance_kernels,
    exact_kernels,
    given_kernels,
    landmark_kernels,
    landmark_numbers,
)
from manyviews.kernels.kernel_set import LandmarkKernels
from manyviews.kernels.kernels import KERNELS
from manyviews.linalg.blocks import unit_rows
from manyviews.partitions.discretize import center_confidence, kmeans_rows
from manyviews.prototypes.kmeans import nearest_center_distances
from manyviews.views import Views

__all__ = ["ConsensusClusterer", "LateFusionClusterer"]

Array = NDArray[Any]
# above this many samples approximation="auto" takes landmarks
EXACT_LIMIT = 3_000


class LateFusionClusterer(MultiViewClusterer, PredictMixin):
    """Base of the methods that start from one partition, or kernel, per view."""

    _base_inputs: ClassVar[tuple[str, ...]] = ("features", "kernel", "distance", "embedding")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = MultiViewClusterer._parameter_constraints | {
        "base": [one_of("features", "kernel", "distance", "embedding")],
        "kernel": [one_of("auto", *KERNELS), dict, list, tuple],
        "gamma": [POSITIVE, dict, None],
        "approximation": [one_of("auto", "exact", "nystrom")],
        "n_landmarks": [INT_FROM_TWO],
    }

    base: str
    kernel: Any
    gamma: Any
    approximation: str
    n_landmarks: int

    def _memory_estimate(self, views: Views) -> int:
        n, m, k = len(views), len(views.names), self.n_clusters
        # of the views, side by side, and what the fusion and k-means make of them
        partitions = 8 * n * k * (3 * m + 3)
        # labels of all starts, and the one-hot matrix that they make
        starts = 8 * 4 * n * self._n_starts(n)
        return partitions + max(starts, self._kernel_bytes(views))

    def _kernel_bytes(self, views: Views) -> int:
        """Return the bytes that base partitions take while they are made."""
        n, m, k = len(views), len(views.names), self.n_clusters
        if self.base == "embedding":
            return 0
        if self.base in ("kernel", "distance"):
            return 8 * kernel_numbers(n, k, 1)
        if self._chosen_approximation(n) == "nystrom":
            columns = max(int(stored_width((X,))[1]) for X in views.arrays)
            return 8 * landmark_numbers(m, n, self.n_landmarks, columns)
        jobs = jobs_at_a_time(self.n_jobs, m)
        return sum(map(copy_bytes, views.arrays)) + 8 * kernel_numbers(n, k, jobs)

    def _n_starts(self, n: int) -> int:
        """Return how many starts run side by side; k-means makes its own one after the other."""
        return 0

    def _chosen_approximation(self, n: int) -> str:
        if self.approximation != "auto":
            return self.approximation
        return "exact" if n <= EXACT_LIMIT else "nystrom"

    def _can_predict(self) -> bool:
        return self.base != "kernel"  # rows of a kernel alone do not hold the self-similarity of new samples

    def _base_partitions(self, views: Views, rng: np.random.Generator) -> BasePartitions:
        """Return the partitions of all views and, where they have kernels, of the average kernel."""
        self._choose_kernels(views)
        k, m = self.n_clusters, len(views.names)
        if self.base == "embedding":
            return BasePartitions(self._rooted(_checked_partitions(views, k)), None)
        self._say(f"base partitions of {m} views, {self.approximation_}")
        if self.approximation_ == "exact":
            partitions = exact_partitions(self._exact_kernels(views), k, self._weights.tolist())
        else:
            partitions = landmark_partitions(self._landmark_kernels(views, rng), k, self._weights)
        self._check_signal(views, partitions.silent)
        return partitions

    def _rooted(self, stacked: Array) -> Array:
        """Return partitions side by side (n, m·k), each multiplied by the root of how often its view is there."""
        return np.asarray(stacked * np.sqrt(np.repeat(self._weights, self.n_clusters)))

    def _check_signal(self, views: Views, silent: Sequence[Array]) -> None:
        """Refuse views of which none tells samples apart; warn of those that tell nothing, or nothing of some."""
        as_given = [rows[self._given_place] for rows in silent]
        self._note_constant(views, check_signal(views.names, as_given, self.n_clusters), " to its kernel")

    def _choose_kernels(self, views: Views) -> None:
        """Check what the views are said to be, and choose between exact kernels and landmarks."""
        if self.base not in self._base_inputs:
            raise ValueError(f"{type(self).__name__} takes base={' or '.join(self._base_inputs)}, got {self.base!r}")
        self.scalings_ = (None,) * len(views.names)
        if given := self._given_distances():
            self.scalings_ = distance_scalings(self._scalings(views.names), given)
        n, k = len(views), self.n_clusters
        self.approximation_ = self._chosen_approximation(n) if self.base == "features" else "exact"
        if self.approximation_ == "nystrom" and self.n_landmarks < min(k, n):
            raise ValueError(f"n_landmarks={self.n_landmarks} cannot tell n_clusters={k} apart; give at least {k}")

    def _exact_kernels(self, views: Views) -> Iterator[ViewKernel]:
        """Yield the kernel of every view."""
        if self.base == "kernel":
            return given_kernels(views.arrays, views.names, unit=self._unit_kernels())
        if self.base == "distance":
            return distance_kernels(views.arrays, self._gammas(views.names), unit=self._unit_kernels())
        return exact_kernels(views.arrays, self._recipes(views), self.n_jobs)

    def _landmark_kernels(self, views: Views, rng: np.random.Generator) -> LandmarkKernels:
        recipes = self._recipes(views)
        return landmark_kernels(views.arrays, recipes, n_landmarks=self.n_landmarks, rng=rng, n_jobs=self.n_jobs)

    def _unit_kernels(self) -> bool:
        """Tell whether centred kernels are brought to unit diagonal."""
        return True

    def _recipes(self, views: Views) -> list[ViewRecipe]:
        names = views.names
        kernels = self._of_each(self.kernel, names, "kernel")
        gammas = self._gammas(names)
        unit = self._unit_kernels()
        rows = zip(names, views.arrays, self._choose_scalings(views), kernels, gammas, strict=True)
        return [ViewRecipe(name, kind, _auto_kernel(X, kernel), gamma, unit) for name, X, kind, kernel, gamma in rows]

    def _gammas(self, names: tuple[str, ...]) -> tuple[float | None, ...]:
        """Return the factor of the squared distance that is asked for, per view."""
        gammas = self._of_each(self.gamma, names, "gamma")
        for name, gamma in zip(names, gammas, strict=True):
            if gamma is not None and not (isinstance(gamma, Real) and 0 < float(gamma) < np.inf):
                raise ValueError(f"the 'gamma' parameter of view {name!r} must be a positive number, got {gamma!r}")
        return gammas

    def _given_distances(self) -> str:
        return 'base="distance"' if self.base == "distance" else ""

    def _new_rows(self, views: Views) -> tuple[Array, Array | None]:
        """Return the rows of the stacked and of the average partition for new samples."""
        if self.base == "embedding":
            return self._rooted(np.hstack(views.arrays).astype(np.float64)), None
        return self._partitions.rows(views.arrays)

    def _keep_partitions(self, partitions: BasePartitions) -> None:
        """Store what new samples need, not the partitions of the training samples themselves."""
        empty = np.zeros((0, 0))
        self._partitions = partitions._replace(stacked=empty, average=None, silent=())


class ConsensusClusterer(LateFusionClusterer):
    """Base of the methods that end with k-means on the unit rows of a consensus partition."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = LateFusionClusterer._parameter_constraints | {
        "n_init": [POSITIVE_INT],
    }

    n_init: int

    def _discretize(self, F: Array, rng: np.random.Generator) -> NDArray[np.int64]:
        result = kmeans_rows(F, self.n_clusters, rng, n_init=self.n_init)
        self.embedding_ = F
        self.inertia_ = result.inertia
        self._centers = result.centers
        self.confidence_ = center_confidence(nearest_center_distances(unit_rows(F), result.centers))
        return result.labels

    def _consensus_rows(self, views: Views) -> Array:
        raise TypeError(f"{type(self).__name__} defines no consensus for new samples")

    def _predict(self, views: Views) -> NDArray[np.int64]:
        distances = nearest_center_distances(unit_rows(self._consensus_rows(views)), self._centers)
        return np.asarray(distances.argmin(axis=1), dtype=np.int64)


def _auto_kernel(X: Any, kernel: str | None) -> str:
    if kernel not in ("auto", None):
        return kernel
    return "cosine" if sparse.issparse(X) else "rbf_meandist"


def _checked_partitions(views: Views, k: int) -> Array:
    """Return given partitions side by side (n, m·k)."""
    for name, H in views.items():
        if sparse.issparse(H):
            raise TypeError(f"view {name!r}: a partition must be a dense array; write .toarray()")
        if H.shape[1] != k:
            raise ValueError(
                f"view {name!r}: base='embedding' takes partitions of shape (n, n_clusters={k}), got {H.shape}; "
                "give the leading eigenvectors of each kernel"
            )
        if np.abs(H.T @ H - np.eye(k)).max() > 1e-3:
            raise ValueError(
                f"view {name!r}: base='embedding' takes partitions with orthonormal columns; "
                "orthonormalise them, for instance with numpy.linalg.qr"
            )
    return np.asarray(np.hstack(views.arrays), dtype=np.float64)

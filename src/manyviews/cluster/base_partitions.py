"""From kernels to base partitions: the leading eigenvectors of the kernel of each view, and of their average."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.view_kernels import ViewKernel
from manyviews.kernels.embedding import SpectralPartition
from manyviews.kernels.kernel_set import LandmarkKernels, leading_partition
from manyviews.kernels.view_maps import ViewMap

__all__ = [
    "BasePartitions",
    "exact_partitions",
    "kernel_numbers",
    "landmark_partitions",
    "landmark_projections",
]

Array = NDArray[Any]


class BasePartitions(NamedTuple):
    """Base partitions of all views, and how new samples get their rows.

    ``stacked`` (n, m·k) holds the H_p side by side; ``projections`` has one (q_p, k) array per view. Where kernels are
    known, ``average`` (n, k) is the partition of the average kernel, and ``average_projection`` (Σ q_p, k) what gives
    its rows. ``silent`` (n,) says for each view of which samples it tells nothing.
    """

    stacked: Array
    average: Array | None
    maps: tuple[ViewMap, ...] = ()
    projections: tuple[Array, ...] = ()
    average_projection: Array | None = None
    silent: tuple[Array, ...] = ()

    def rows(self, arrays: Sequence[Any]) -> tuple[Array, Array | None]:
        """Return the rows of the stacked and of the average partition for new samples."""
        features = [view_map.features(X) for view_map, X in zip(self.maps, arrays, strict=True)]
        stacked = np.hstack([F @ P for F, P in zip(features, self.projections, strict=True)])
        average = None if self.average_projection is None else np.hstack(features) @ self.average_projection
        return stacked, average


def exact_partitions(kernels: Iterable[ViewKernel], k: int, weights: Sequence[float] | None = None) -> BasePartitions:
    """Compute base partitions from full kernels, which are taken one at a time and summed up: O(n² k) time each.

    Parameters
    ----------
    kernels : iterable of ViewKernel
        The kernel of each view; they are overwritten.
    k : int
        Number of eigenvectors.
    weights : sequence of float, default=None
        How often each view is there; its partition is multiplied by the root of that. Once by default.

    Returns
    -------
    BasePartitions
        Partitions, with maps where the kernels have them.
    """
    partitions, maps, projections, silent = [], [], [], []
    total: Array | None = None
    times = repeat(1.0) if weights is None else weights
    for (K, view_map, rows), weight in zip(kernels, times, strict=weights is not None):
        found = leading_partition(K, k)
        silent.append(rows)
        partitions.append(weight**0.5 * found.vectors)
        maps.append(view_map)
        projections.append(weight**0.5 * _divided(found))
        np.multiply(K, weight, out=K)
        if total is None:
            total = K
        else:
            total += K
    parts = np.full(len(partitions), 1.0 / len(partitions)) if weights is None else np.divide(weights, sum(weights))
    assert total is not None
    total /= len(partitions) if weights is None else sum(weights)
    average = leading_partition(total, k)
    known = tuple(view_map for view_map in maps if view_map is not None)
    projection = np.vstack([part * _divided(average) for part in parts])
    return BasePartitions(np.hstack(partitions), average.vectors, known, tuple(projections), projection, tuple(silent))


def _divided(found: SpectralPartition) -> Array:
    """Return what the rows of a kernel are multiplied with to give its partition."""
    return np.asarray(found.vectors / np.where(found.values > 0, found.values, 1.0))


def kernel_numbers(n: int, k: int, jobs: int) -> int:
    """Return how many floats the partitions of full kernels need at a time."""
    # a kernel per job, one of the next view and the average; the dense eigensolver works on a copy
    dense = 1 if k > n // 4 else 0
    return (2 + jobs + dense) * n * n


def landmark_partitions(kernels: LandmarkKernels, k: int, weights: Array | None = None) -> BasePartitions:
    """Compute base partitions from landmark features: one more pass over the samples, O(n m k) memory.

    ``weights`` (m,) says how often each view is there; once by default.
    """
    found, H = landmark_projections(kernels, k, weights)
    both, columns = kernels.embedding(H), len(kernels) * k
    stacked, mean = np.ascontiguousarray(both[:, :columns]), np.ascontiguousarray(both[:, columns:])
    return found._replace(stacked=stacked, average=mean)


def landmark_projections(
    kernels: LandmarkKernels, k: int, weights: Array | None = None
) -> tuple[BasePartitions, Array]:
    """Return base partitions without their rows, and what turns features side by side into these, (q, (m + 1) k)."""
    m = len(kernels)
    times = np.ones(m) if weights is None else weights
    views = [root * kernels.leading(one, k).vectors for one, root in zip(np.eye(m), np.sqrt(times), strict=True)]
    average = kernels.leading(times / times.sum(), k).vectors
    projections = tuple(T[part] for T, part in zip(views, kernels.parts, strict=True))
    none = np.zeros((0, 0))
    found = BasePartitions(none, none, kernels.maps, projections, average, tuple(kernels.silent))
    return found, np.hstack([*views, average])

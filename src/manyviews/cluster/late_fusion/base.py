"""What LFMVC and TPLFMVC share: the fusion of base partitions, and its rule for new samples."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.base_partitions import BasePartitions
from manyviews.cluster.constraints import NON_NEGATIVE, POSITIVE_INT, one_of
from manyviews.cluster.kernel_base import ConsensusClusterer
from manyviews.cluster.late_fusion.fusion import aligned_rotations, fuse_partitions
from manyviews.cluster.result import FitResult
from manyviews.kernels.embedding import common_projection
from manyviews.views import Views

__all__ = ["FusionClusterer"]

Array = NDArray[Any]


class FusionClusterer(ConsensusClusterer):
    """Base of LFMVC and TPLFMVC, which differ in λ only."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = ConsensusClusterer._parameter_constraints | {
        "init": [one_of("aligned", "released")],
        "tol": [NON_NEGATIVE],
        "max_iter": [POSITIVE_INT],
    }

    init: str
    tol: float
    max_iter: int

    def _fuse(self, views: Views, rng: np.random.Generator, *, lam: float) -> NDArray[np.int64]:
        partition_rng, start_rng = rng.spawn(2)
        k = self.n_clusters
        partitions = self._base_partitions(views, partition_rng)
        stacked = partitions.stacked
        self._common, H0 = self._average(partitions)
        m = stacked.shape[1] // k
        W = np.tile(np.eye(k), (m, 1, 1)) if self.init == "released" else aligned_rotations(stacked, H0)
        fusion = fuse_partitions(stacked, H0, lam=lam, W=W, tol=self.tol, max_iter=self.max_iter)
        self._T, self.rotations_ = fusion.T, fusion.W
        self._keep_partitions(partitions)
        labels = self._discretize(fusion.F, start_rng)
        return self._record(FitResult(labels, fusion.history, weights=np.sqrt(self._weights) * fusion.beta))

    def _average(self, partitions: BasePartitions) -> tuple[Array | None, Array]:
        """Return the average partition; where only partitions are known, their common one and how to get its rows."""
        if partitions.average is not None:
            return None, partitions.average
        projection = common_projection(partitions.stacked, self.n_clusters)
        return projection, partitions.stacked @ projection

    def _consensus_rows(self, views: Views) -> Array:
        stacked, average = self._new_rows(views)
        if average is None:
            average = stacked @ self._common
        return np.asarray(np.hstack([stacked, average]) @ self._T)

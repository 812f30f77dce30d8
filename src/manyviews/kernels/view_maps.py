"""How rows of a view become what a partition is computed from: kernel rows, or landmark features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from manyviews.kernels.kernels import (
    Centring,
    Kernel,
    center_and_normalize_rows,
    distance_block,
    kernel_block,
    kernel_diagonal,
)
from manyviews.kernels.nystrom import Landmarks, landmark_features
from manyviews.linalg.scaling import Scaling, apply_scaling

__all__ = ["DistanceMap", "ExactMap", "LandmarkMap", "ViewMap"]

Array = NDArray[Any]


class ViewMap(Protocol):
    """Turns rows of a view into the features whose products with a projection are rows of a partition."""

    def features(self, X: Any) -> Array:
        """Return features (b, q) of rows (b, d)."""


@dataclass(frozen=True)
class ExactMap:
    """Kernel rows against all training samples."""

    scaling: Scaling
    kernel: Kernel
    X: Any
    centring: Centring

    def features(self, X: Any) -> Array:
        """Return centred, normalised kernel rows (b, n)."""
        rows = apply_scaling(X, self.scaling)
        block = kernel_block(self.kernel, rows, self.X)
        return center_and_normalize_rows(block, kernel_diagonal(self.kernel, rows), self.centring)


@dataclass(frozen=True)
class DistanceMap:
    """Kernel rows of given distances to all training samples."""

    kernel: Kernel
    centring: Centring

    def features(self, X: Any) -> Array:
        """Return centred, normalised kernel rows (b, n) of distances (b, n)."""
        block = distance_block(self.kernel, X)
        return center_and_normalize_rows(block, np.ones(len(block)), self.centring)


@dataclass(frozen=True)
class LandmarkMap:
    """Nyström features."""

    scaling: Scaling
    landmarks: Landmarks

    def features(self, X: Any) -> Array:
        """Return centred, normalised landmark features (b, r)."""
        return landmark_features(self.landmarks, apply_scaling(X, self.scaling))

    @property
    def size(self) -> int:
        """Number r of features."""
        return int(self.landmarks.transform.shape[1])

"""Base partitions through landmarks, for samples too many for n × n kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.base_partitions import BasePartitions, ViewRecipe, check_signal
from manyviews.cluster.parallel import in_threads
from manyviews.kernels.embedding import factor_partition
from manyviews.kernels.kernels import fit_kernel
from manyviews.kernels.nystrom import Landmarks, fit_landmarks, landmark_features
from manyviews.linalg.blocks import ROWS_PER_BLOCK, row_blocks
from manyviews.linalg.scaling import Scaling, apply_scaling, fit_scaling

__all__ = ["LandmarkMap", "landmark_numbers", "landmark_partitions"]

Array = NDArray[Any]
# rows of which the mean distance of a Gaussian kernel is taken
MEAN_ROWS = 1_000


@dataclass(frozen=True)
class LandmarkMap:
    """Nyström features."""

    scaling: Scaling
    landmarks: Landmarks

    def features(self, X: Any) -> Array:
        """Return centred, normalised landmark features (b, r)."""
        return landmark_features(self.landmarks, apply_scaling(X, self.scaling))


def landmark_numbers(n_views: int, n: int, n_landmarks: int, columns: int) -> int:
    """Return how many floats the landmarks need at a time, for views of up to so many columns (or stored numbers)."""
    width = n_views * min(n_landmarks, n)
    # of a block of rows: features of all views, side by side, and on the way to those of a view its kernel rows and
    # the scaled rows; products of the features
    return min(n, ROWS_PER_BLOCK) * (4 * width + 3 * columns) + 2 * width**2


def landmark_partitions(
    arrays: tuple[Any, ...],
    recipes: list[ViewRecipe],
    k: int,
    *,
    n_landmarks: int,
    rng: np.random.Generator,
    average: bool,
    n_jobs: int | None,
) -> BasePartitions:
    """Compute base partitions through Nyström landmarks: O(n s (d + s)) time per view, no n × n array.

    Parameters
    ----------
    arrays, recipes, k, average, n_jobs
        As in ``exact_partitions``.
    n_landmarks : int
        Landmarks s per view.
    rng : Generator
        Draws the landmarks.

    Returns
    -------
    BasePartitions
        Partitions and maps.
    """
    n = arrays[0].shape[0]
    s = min(n_landmarks, n)

    def one(X: Any, recipe: ViewRecipe, child: np.random.Generator) -> tuple[LandmarkMap, Array, Array]:
        scaling = fit_scaling(X, recipe.scaling)
        pick = np.sort(child.choice(n, s, replace=False))
        sample = apply_scaling(X[np.sort(child.choice(n, min(n, MEAN_ROWS), replace=False))], scaling)
        kernel = fit_kernel(sample, recipe.kernel, gamma=recipe.gamma)
        points = apply_scaling(X[pick], scaling)
        view_map = LandmarkMap(scaling, fit_landmarks(kernel, lambda rows: apply_scaling(X[rows], scaling), n, points))
        products = _landmark_products([view_map], [X], n)
        projection = factor_partition(products, k).vectors
        H = np.vstack([view_map.features(X[rows]) @ projection for rows in row_blocks(n)])
        return view_map, projection, H

    items = zip(arrays, recipes, rng.spawn(len(recipes)), strict=True)
    maps, projections, partitions = zip(*in_threads(one, items, n_jobs), strict=True)
    check_signal([recipe.name for recipe in recipes], [~H.any(axis=1) for H in partitions], k)
    H0 = average_projection = values = None
    if average:
        values, average_projection = factor_partition(_landmark_products(maps, arrays, n), k)
        values = values / len(maps)
        H0 = np.vstack(
            [
                np.hstack([view_map.features(X[rows]) for view_map, X in zip(maps, arrays, strict=True)])
                @ average_projection
                for rows in row_blocks(n)
            ]
        )
    return BasePartitions(np.hstack(partitions), H0, tuple(maps), tuple(projections), average_projection, values)


def _landmark_products(maps: Any, arrays: Any, n: int) -> Array:
    """Return ZᵀZ of the landmark features of the given views side by side."""
    total: Array | float = 0.0
    for rows in row_blocks(n):
        Z = np.hstack([view_map.features(X[rows]) for view_map, X in zip(maps, arrays, strict=True)])
        total = total + Z.T @ Z
    return np.asarray(total)

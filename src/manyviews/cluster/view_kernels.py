"""From views to their kernels: one after the other, or all of them as a set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.cluster.parallel import in_threads
from manyviews.kernels.kernel_set import LandmarkKernels
from manyviews.kernels.kernels import (
    Kernel,
    center_and_normalize,
    distance_block,
    fit_kernel,
    gaussian_of_mean,
    gram,
)
from manyviews.kernels.nystrom import fit_landmarks
from manyviews.kernels.view_maps import DistanceMap, ExactMap, LandmarkMap
from manyviews.linalg.blocks import ROWS_PER_BLOCK, row_blocks
from manyviews.linalg.scaling import apply_scaling, fit_scaling
from manyviews.views.caller import warn_user

__all__ = [
    "MEAN_ROWS",
    "ViewKernel",
    "ViewRecipe",
    "check_signal",
    "check_silent",
    "distance_kernels",
    "exact_kernels",
    "given_kernels",
    "landmark_kernels",
    "landmark_numbers",
]

Array = NDArray[Any]
# rows of which the mean distance of a Gaussian kernel is taken
MEAN_ROWS = 1_000


class ViewRecipe(NamedTuple):
    """What is done to one view: its name, scaling, kernel, a given gamma for Gaussians, and samples of length 1 or not.

    Kernels are centred always; ``unit`` says whether they are brought to unit diagonal as well.
    """

    name: str
    scaling: str | None
    kernel: str
    gamma: float | None
    unit: bool = True


class ViewKernel(NamedTuple):
    """The kernel (n, n) of one view, how new samples get their rows, and the samples (n,) it says nothing of."""

    K: Array
    view_map: ExactMap | DistanceMap | None
    silent: NDArray[np.bool_]


def exact_kernels(arrays: Sequence[Any], recipes: list[ViewRecipe], n_jobs: int | None) -> Iterator[ViewKernel]:
    """Yield the full kernel of every view, O(n² d) time each; ``n_jobs`` of them are made at a time."""

    def one(X: Any, recipe: ViewRecipe) -> ViewKernel:
        scaling = fit_scaling(X, recipe.scaling)
        scaled = apply_scaling(X, scaling)
        kernel = fit_kernel(scaled, recipe.kernel, gamma=recipe.gamma)
        K = gram(kernel, scaled)
        centring = center_and_normalize(K, unit=recipe.unit)
        return ViewKernel(K, ExactMap(scaling, kernel, scaled, centring), centring.degenerate)

    yield from in_threads(one, zip(arrays, recipes, strict=True), n_jobs)


def given_kernels(arrays: Sequence[Any], names: Sequence[str], *, unit: bool = True) -> Iterator[ViewKernel]:
    """Yield given n × n kernels, centred and by default brought to unit diagonal, as copies.

    Raises
    ------
    ValueError
        If a kernel is not square or not symmetric, or a sample has a negative squared length after centring, so that it
        is not positive semi-definite; smaller violations are not looked for.
    """
    for name, K in zip(names, arrays, strict=True):
        own = _checked_kernel(name, K)
        yield ViewKernel(own, None, center_and_normalize(own, unit=unit).degenerate)


def distance_kernels(
    arrays: Sequence[Array], gammas: Sequence[float | None], *, unit: bool = True
) -> Iterator[ViewKernel]:
    """Yield Gaussian kernels of n × n distances, of the width that features get, centred like theirs."""
    for D, gamma in zip(arrays, gammas, strict=True):
        n = len(D)
        mean = float(D.sum(dtype=np.float64)) / max(n * (n - 1), 1)
        kernel = gaussian_of_mean(mean) if gamma is None else Kernel("rbf_meandist", float(gamma))
        K = distance_block(kernel, D)
        centring = center_and_normalize(K, unit=unit)
        yield ViewKernel(K, DistanceMap(kernel, centring), centring.degenerate)


def landmark_kernels(
    arrays: Sequence[Any],
    recipes: list[ViewRecipe],
    *,
    n_landmarks: int,
    rng: np.random.Generator,
    n_jobs: int | None,
) -> LandmarkKernels:
    """Return the kernels of all views through Nyström landmarks: O(n m s (d + m s)) time, no n × n array.

    Parameters
    ----------
    arrays : sequence of ndarray or CSR of shape (n, d_p)
        The views.
    recipes : list of ViewRecipe
        Scaling and kernel of each view.
    n_landmarks : int
        Landmarks s per view.
    rng : Generator
        Draws the landmarks.
    n_jobs : int or None
        Views whose landmarks are fitted at a time.

    Returns
    -------
    LandmarkKernels
        The kernels.
    """
    n = arrays[0].shape[0]
    s = min(n_landmarks, n)

    def one(X: Any, recipe: ViewRecipe, child: np.random.Generator) -> LandmarkMap:
        scaling = fit_scaling(X, recipe.scaling)
        pick = np.sort(child.choice(n, s, replace=False))
        sample = apply_scaling(X[np.sort(child.choice(n, min(n, MEAN_ROWS), replace=False))], scaling)
        kernel = fit_kernel(sample, recipe.kernel, gamma=recipe.gamma)
        points = apply_scaling(X[pick], scaling)
        landmarks = fit_landmarks(kernel, lambda rows: apply_scaling(X[rows], scaling), n, points, unit=recipe.unit)
        return LandmarkMap(scaling, landmarks)

    items = zip(arrays, recipes, rng.spawn(len(recipes)), strict=True)
    return LandmarkKernels.of(tuple(in_threads(one, items, n_jobs)), tuple(arrays))


def landmark_numbers(n_views: int, n: int, n_landmarks: int, columns: int) -> int:
    """Return how many floats the landmarks need at a time, for views of up to so many columns (or stored numbers)."""
    width = n_views * min(n_landmarks, n)
    # of a block of rows: features of all views, side by side, and on the way to those of a view its kernel rows and
    # the scaled rows; products of the features
    return min(n, ROWS_PER_BLOCK) * (4 * width + 3 * columns) + 2 * width**2


def check_signal(names: Sequence[str], silent: Sequence[Array], k: int) -> list[str]:
    """Raise ValueError where no view tells samples apart; warn of samples that a view says nothing about.

    ``silent`` has one mask of shape (n,) per view. Returned are the names of the views that say nothing at all.
    """
    firsts = [int(np.argmax(rows)) for rows in silent]
    return check_silent(names, [int(np.count_nonzero(rows)) for rows in silent], firsts, silent[0].size, k)


def check_silent(names: Sequence[str], counts: Sequence[int], firsts: Sequence[int], n: int, k: int) -> list[str]:
    """Do what ``check_signal`` does, given of how many of n samples each view says nothing, and the first of them."""
    if k > 1 and min(counts) == n:
        raise ValueError(
            f"all {n} samples are alike in every view (n_samples={n}), so there are no {k} clusters to find; "
            "check that the right columns were given"
        )
    for name, count, first in zip(names, counts, firsts, strict=True):
        if 0 < count < n:
            warn_user(
                f"view {name!r}: {count} sample(s) carry no information (empty, or exactly average), "
                f"first at row {first}; the other views decide on them"
            )
    return [name for name, count in zip(names, counts, strict=True) if count == n]


def _checked_kernel(name: str, K: Any) -> Array:
    if sparse.issparse(K):
        raise TypeError(f"view {name!r}: a kernel must be a dense array; write .toarray()")
    n = K.shape[0]
    if K.shape != (n, n):
        raise ValueError(f"view {name!r}: base='kernel' takes n × n kernels, got shape {K.shape}; use base='features'")
    own: Array = np.array(K, dtype=np.float64, order="C")
    scale = max(float(np.abs(own).max()), np.finfo(float).tiny)
    if any(np.abs(own[rows] - own[:, rows].T).max() > 1e-6 * scale for rows in row_blocks(n, 1024)):
        raise ValueError(f"view {name!r}: the kernel is not symmetric; give (K + K.T) / 2 if it should be")
    return own

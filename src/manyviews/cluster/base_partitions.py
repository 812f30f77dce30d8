"""From views to base partitions: per view a kernel, and its leading eigenvectors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.cluster.parallel import in_threads
from manyviews.kernels.embedding import RANK_CUTOFF, spectral_partition
from manyviews.kernels.kernels import (
    Centring,
    Kernel,
    center_and_normalize,
    center_and_normalize_rows,
    fit_kernel,
    gram,
    kernel_block,
    kernel_diagonal,
)
from manyviews.linalg.blocks import row_blocks
from manyviews.linalg.scaling import Scaling, apply_scaling, fit_scaling
from manyviews.views.caller import warn_user

__all__ = [
    "BasePartitions",
    "ViewRecipe",
    "check_signal",
    "exact_partitions",
    "kernel_numbers",
    "kernel_partitions",
]

Array = NDArray[Any]


class ViewRecipe(NamedTuple):
    """What is done to one view: its name, scaling, kernel and, for Gaussians, a given gamma."""

    name: str
    scaling: str | None
    kernel: str
    gamma: float | None


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


class BasePartitions(NamedTuple):
    """Base partitions of all views, and how new samples get their rows.

    ``stacked`` (n, m·k) holds the H_p side by side; ``projections`` has one (q_p, k) array per view. Where asked for,
    ``average`` (n, k) is the partition of the average kernel, ``average_values`` (k,) its eigenvalues and
    ``average_projection`` (Σ q_p, k) what gives its rows.
    """

    stacked: Array
    average: Array | None
    maps: tuple[ViewMap, ...] = ()
    projections: tuple[Array, ...] = ()
    average_projection: Array | None = None
    average_values: Array | None = None

    def rows(self, arrays: tuple[Any, ...]) -> tuple[Array, Array | None]:
        """Return the rows of the stacked and of the average partition for new samples."""
        features = [view_map.features(X) for view_map, X in zip(self.maps, arrays, strict=True)]
        stacked = np.hstack([F @ P for F, P in zip(features, self.projections, strict=True)])
        average = None if self.average_projection is None else np.hstack(features) @ self.average_projection
        return stacked, average


def exact_partitions(
    arrays: tuple[Any, ...], recipes: list[ViewRecipe], k: int, *, average: bool, n_jobs: int | None
) -> BasePartitions:
    """Compute base partitions from the full kernels: O(n² d + n² k) time per view, two n × n arrays at a time.

    Parameters
    ----------
    arrays : tuple of ndarray or CSR of shape (n, d_p)
        The views.
    recipes : list of ViewRecipe
        Scaling and kernel of each view.
    k : int
        Number of eigenvectors.
    average : bool
        Also compute the partition of the average kernel.
    n_jobs : int or None
        Views worked on at a time.

    Returns
    -------
    BasePartitions
        Partitions and maps.
    """

    def one(X: Any, recipe: ViewRecipe) -> tuple[Array, ExactMap]:
        scaling = fit_scaling(X, recipe.scaling)
        scaled = apply_scaling(X, scaling)
        kernel = fit_kernel(scaled, recipe.kernel, gamma=recipe.gamma)
        K = gram(kernel, scaled)
        return K, ExactMap(scaling, kernel, scaled, center_and_normalize(K))

    names = [recipe.name for recipe in recipes]
    results = in_threads(one, zip(arrays, recipes, strict=True), n_jobs)
    kernels_and_maps = ((K, view_map, view_map.centring) for K, view_map in results)
    return _from_kernels(kernels_and_maps, names, k, average=average)


def kernel_numbers(n: int, k: int, jobs: int) -> int:
    """Return how many floats the partitions of full kernels need at a time."""
    # a kernel per job, one of the next view and the average; the dense eigensolver works on a copy
    dense = 1 if k > n // 4 else 0
    return (2 + jobs + dense) * n * n


def kernel_partitions(kernels: tuple[Any, ...], names: list[str], k: int, *, average: bool) -> BasePartitions:
    """Compute base partitions from given n × n kernels, which are centred and normalised first.

    Parameters
    ----------
    kernels : tuple of ndarray of shape (n, n)
        One symmetric positive semi-definite kernel per view.
    names : list of str
        Names of the views, for messages.
    k : int
        Number of eigenvectors.
    average : bool
        Also compute the partition of the average kernel.

    Returns
    -------
    BasePartitions
        Partitions, without maps.

    Raises
    ------
    ValueError
        If a kernel is not square or not symmetric, or a sample has a negative squared length after centring, so that it
        is not positive semi-definite; smaller violations are not looked for.
    """

    def prepared() -> Iterator[tuple[Array, None, Centring]]:
        for name, K in zip(names, kernels, strict=True):
            own = _checked_kernel(name, K)
            yield own, None, center_and_normalize(own)

    return _from_kernels(prepared(), names, k, average=average)


def _from_kernels(prepared: Any, names: list[str], k: int, *, average: bool) -> BasePartitions:
    partitions, maps, projections, silent = [], [], [], []
    total: Array | None = None
    for K, view_map, centring in prepared:
        _, H, projection = _partition_of(K, k, constant=bool(centring.degenerate.all()))
        silent.append(centring.degenerate)
        partitions.append(H)
        maps.append(view_map)
        projections.append(projection)
        if average and total is None:
            total = K
        elif average:
            total += K
    check_signal(names, silent, k)
    H0 = average_projection = values = None
    if total is not None:
        total /= len(names)
        values, H0, projection = _partition_of(total, k, constant=all(map(np.all, silent)))
        average_projection = np.vstack([projection / len(names)] * len(names))
    known = () if None in maps else tuple(maps)
    return BasePartitions(np.hstack(partitions), H0, known, tuple(projections), average_projection, values)


def _partition_of(K: Array, k: int, *, constant: bool) -> tuple[Array, Array, Array]:
    """Return eigenvalues and partition of a kernel, and what its rows are multiplied with to give the partition."""
    if constant:
        return np.zeros(k), np.zeros((K.shape[0], k)), np.zeros((K.shape[0], k))
    values, H = spectral_partition(K, k)
    # beyond the rank of the kernel eigenvectors are arbitrary and would tell identical samples apart
    usable = values > RANK_CUTOFF * max(values[0], np.finfo(float).tiny)
    H = np.where(usable, H, 0.0)
    return values, H, H / np.where(usable, values, 1.0)


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


def check_signal(names: list[str], silent: list[Array], k: int) -> None:
    """Raise ValueError where no view tells samples apart; warn of samples that a view says nothing about.

    ``silent`` has one mask of shape (n,) per view.
    """
    if k > 1 and all(map(np.all, silent)):
        n = silent[0].size
        raise ValueError(
            f"all {n} samples are alike in every view (n_samples={n}), so there are no {k} clusters to find; "
            "check that the right columns were given"
        )
    for name, rows in zip(names, silent, strict=True):
        if rows.all():
            warn_user(f"view {name!r} is constant: it says nothing about the samples and gets no weight")
        elif rows.any():
            warn_user(
                f"view {name!r}: {int(rows.sum())} sample(s) carry no information (empty, or exactly average), "
                f"first at row {int(np.flatnonzero(rows)[0])}; the other views decide on them"
            )

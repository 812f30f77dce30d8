"""The kernels of all views, exact or by landmarks, behind the few operations that multiple-kernel methods are made of.

A method that only combines kernels, takes leading eigenvectors of the combination and asks how much of each kernel
they hold never sees which of the two it works on. By landmarks none of these steps depends on the number of samples.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.kernels.embedding import RANK_CUTOFF, SpectralPartition, factor_partition, spectral_partition
from manyviews.kernels.view_maps import LandmarkMap, ViewMap
from manyviews.linalg.blocks import ROWS_PER_BLOCK, row_blocks

__all__ = ["ExactKernels", "KernelSet", "LandmarkKernels", "leading_partition", "new_rows"]

Array = NDArray[Any]
# rows of a kernel that are combined at a time: few enough to stay in the cache
COMBINED_ROWS = 64


class KernelSet(ABC):
    r"""Kernels :math:`K_1, \dots, K_m` of the same n samples.

    Partitions are handed around by their ``vectors``, which are the set's own: the partition H (n, k) itself where
    kernels are exact, and the T with H = B T where B holds landmark features side by side. ``embedding`` makes H.

    Attributes
    ----------
    maps : tuple of ViewMap
        How new samples get their rows; empty where that is unknown.
    own_traces : ndarray of shape (m,)
        Tr K_p; 0 for the kernel of a view that does not tell samples apart.
    silent : tuple of ndarray of shape (n,), bool
        Samples that each kernel says nothing about: their rows are 0.
    """

    maps: tuple[Any, ...]

    silent: Any

    @property
    @abstractmethod
    def own_traces(self) -> NDArray[np.float64]:
        """Traces of the kernels, (m,)."""

    def __len__(self) -> int:
        """Return the number of kernels."""
        return len(self.own_traces)

    @abstractmethod
    def combination(self, weights: Array) -> Array:
        r"""Return :math:`\sum_p w_p K_p` for weights (m,) >= 0, or the small matrix with the same eigenvalues > 0."""

    @abstractmethod
    def leading(self, weights: Array, k: int) -> SpectralPartition:
        """Return the k largest eigenvalues of a combination and the vectors of its partition.

        Columns beyond the rank of the combination are 0: eigenvectors there would tell identical samples apart.
        """

    @abstractmethod
    def traces(self, H: Array) -> NDArray[np.float64]:
        r"""Return :math:`\operatorname{Tr}(H^\top K_p H)` of each kernel (m,), for the vectors of a partition."""

    @abstractmethod
    def products(self) -> NDArray[np.float64]:
        r"""Return the matrix of :math:`\operatorname{Tr}(K_p K_q)`, (m, m)."""

    @abstractmethod
    def embedding(self, H: Array) -> Array:
        """Return the partition (n, k) that the vectors stand for."""

    @abstractmethod
    def projection(self, weights: Array, found: SpectralPartition) -> Array:
        """Return what the rows of new samples, side by side (b, q), are multiplied with for rows of the partition."""

    @abstractmethod
    def select(self, views: NDArray[np.int64]) -> KernelSet:
        """Return the set of some of the kernels; exact ones are not copied."""

    def rows(self, arrays: Sequence[Any]) -> Array:
        """Return the features of new samples in each view, side by side (b, q): kernel rows, or landmark features."""
        return _side_by_side(self.maps, arrays)


def new_rows(maps: Sequence[ViewMap], arrays: Sequence[Any], projection: Array, size: int = ROWS_PER_BLOCK) -> Array:
    """Return the rows of a partition (b, k) for samples, by blocks of ``size``: no more of their features is held."""
    n = arrays[0].shape[0]
    found = np.empty((n, projection.shape[1]))
    for rows in row_blocks(n, size):
        found[rows] = _side_by_side(maps, [X[rows] for X in arrays]) @ projection
    return found


def _side_by_side(maps: Sequence[ViewMap], arrays: Sequence[Any]) -> Array:
    return np.hstack([view_map.features(X) for view_map, X in zip(maps, arrays, strict=True)])


@dataclass(frozen=True)
class ExactKernels(KernelSet):
    """Full kernels (n, n), each symmetric positive semi-definite: m n² numbers, and n² more for a combination.

    Parameters
    ----------
    kernels : tuple of ndarray of shape (n, n)
        The kernels; kept as they are, not copied.
    maps : tuple of ViewMap, default=()
        How new samples get their kernel rows.
    """

    kernels: tuple[Array, ...]
    maps: tuple[ViewMap, ...] = ()

    @property
    def own_traces(self) -> NDArray[np.float64]:  # noqa: D102
        return np.array([np.trace(K) for K in self.kernels])

    @property
    def silent(self) -> tuple[NDArray[np.bool_], ...]:  # noqa: D102
        return tuple(K.diagonal() <= 0.0 for K in self.kernels)

    def combination(self, weights: Array) -> Array:  # noqa: D102
        used = [(float(w), K) for w, K in zip(weights, self.kernels, strict=True) if w > 0]
        if not used:
            return np.zeros_like(self.kernels[0])
        total = np.empty_like(self.kernels[0])
        for rows in row_blocks(len(total), COMBINED_ROWS):
            block = np.multiply(used[0][1][rows], used[0][0], out=total[rows])
            for w, K in used[1:]:
                block += w * K[rows]
        return total

    def leading(self, weights: Array, k: int) -> SpectralPartition:  # noqa: D102
        return leading_partition(self.combination(weights), k)

    def traces(self, H: Array) -> NDArray[np.float64]:  # noqa: D102
        return np.array([np.vdot(H, K @ H) for K in self.kernels])

    def products(self) -> NDArray[np.float64]:  # noqa: D102
        m = len(self)
        M = np.empty((m, m))
        for p in range(m):
            for q in range(p, m):
                M[p, q] = M[q, p] = np.vdot(self.kernels[p], self.kernels[q])
        return M

    def embedding(self, H: Array) -> Array:  # noqa: D102
        return H

    def projection(self, weights: Array, found: SpectralPartition) -> Array:  # noqa: D102
        # rows of the combination times H / λ, which are the rows of H themselves for the samples it is made of
        scaled = found.vectors / np.where(found.values > 0, found.values, 1.0)
        return np.vstack([w * scaled for w in weights])

    def select(self, views: NDArray[np.int64]) -> ExactKernels:  # noqa: D102
        return ExactKernels(tuple(self.kernels[p] for p in views), tuple(self.maps[p] for p in views if self.maps))


@dataclass(frozen=True)
class LandmarkKernels(KernelSet):
    r"""Kernels :math:`Z_p Z_p^\top` of landmark features: only products of the features are kept.

    With :math:`B = [Z_1 \dots Z_m]` and :math:`\Gamma = B^\top B`, the combination has the eigenvalues of
    :math:`D \Gamma D`, D the roots of the weights, and its partition is :math:`B T, T = D U \lambda^{-1/2}`.
    The features themselves are computed anew by row blocks where they are needed, once for Γ in O(n q²) time and once
    by ``embedding``: nothing of n q numbers is ever held.

    Parameters
    ----------
    maps : tuple of LandmarkMap
        Landmark features of each view, q in all.
    arrays : tuple of ndarray or CSR of shape (n, d_p)
        The views.
    gram : ndarray of shape (q, q)
        The matrix Γ.
    silent : tuple of ndarray of shape (n,), bool
        Samples whose features are 0 in each view.
    """

    maps: tuple[LandmarkMap, ...]
    arrays: tuple[Any, ...]
    gram: Array
    silent: tuple[NDArray[np.bool_], ...]

    @classmethod
    def of(cls, maps: Sequence[LandmarkMap], arrays: Sequence[Any]) -> LandmarkKernels:
        """Return the kernels of some views: one pass over the samples."""
        n, size = arrays[0].shape[0], sum(view_map.size for view_map in maps)
        found = cls(tuple(maps), tuple(arrays), np.zeros((size, size)), tuple(np.zeros(n, bool) for _ in maps))
        for rows in row_blocks(n):
            B = found.rows([X[rows] for X in arrays])
            found.gram[:] += B.T @ B
            for mask, part in zip(found.silent, found.parts, strict=True):
                mask[rows] = ~B[:, part].any(axis=1)
        return found

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of features of each view."""
        return np.array([view_map.size for view_map in self.maps])

    @property
    def own_traces(self) -> NDArray[np.float64]:  # noqa: D102
        return np.array([self.gram.diagonal()[part].sum() for part in self.parts])

    @property
    def parts(self) -> list[slice]:
        """Columns of each view among the features side by side."""
        return [slice(end - size, end) for size, end in zip(self.sizes, np.cumsum(self.sizes), strict=True)]

    def combination(self, weights: Array) -> Array:  # noqa: D102
        root = np.sqrt(np.repeat(weights, self.sizes))
        return np.asarray(root[:, None] * self.gram * root)

    def leading(self, weights: Array, k: int) -> SpectralPartition:  # noqa: D102
        used = np.repeat(weights, self.sizes) > 0
        values, U = factor_partition(self.combination(weights)[np.ix_(used, used)], k)
        T = np.zeros((len(self.gram), k))
        T[used] = np.sqrt(np.repeat(weights, self.sizes))[used, None] * U
        return SpectralPartition(values, T)

    def traces(self, H: Array) -> NDArray[np.float64]:  # noqa: D102
        products = self.gram @ H
        return np.array([np.square(products[part]).sum() for part in self.parts])

    def products(self) -> NDArray[np.float64]:  # noqa: D102
        return np.array([[np.square(self.gram[p, q]).sum() for q in self.parts] for p in self.parts])

    def embedding(self, H: Array) -> Array:  # noqa: D102
        return new_rows(self.maps, self.arrays, H)

    def projection(self, weights: Array, found: SpectralPartition) -> Array:  # noqa: D102
        return found.vectors

    def select(self, views: NDArray[np.int64]) -> LandmarkKernels:  # noqa: D102
        used = np.isin(np.repeat(np.arange(len(self.maps)), self.sizes), views)
        parts = ([of_view[p] for p in views] for of_view in (self.maps, self.arrays, self.silent))
        maps, arrays, silent = map(tuple, parts)
        return LandmarkKernels(maps, arrays, self.gram[np.ix_(used, used)], silent)


def leading_partition(K: Array, k: int) -> SpectralPartition:
    """Return the k leading eigenpairs of a kernel (n, n), those beyond its rank and rows of silent samples 0."""
    told = K.diagonal() > 0
    if not told.any():
        return SpectralPartition(np.zeros(k), np.zeros((len(K), k)))
    values, H = spectral_partition(K, k)
    usable = values > RANK_CUTOFF * max(values[0], np.finfo(float).tiny)
    return SpectralPartition(np.where(usable, values, 0.0), np.where(usable & told[:, None], H, 0.0))

"""The kernels of all views, exact or by landmarks, behind the few operations that multiple-kernel methods are made of.

A method that only combines kernels, takes leading eigenvectors of the combination and asks how much of each kernel
they hold never sees which of the two it works on. By landmarks none of these steps depends on the number of samples.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from manyviews.linalg.eigen import column_signs, top_eigenpairs
from manyviews.linalg.scaling import row_blocks
from manyviews.partition.spectral import RANK_CUTOFF, SpectralPartition, factor_partition

__all__ = ["ExactKernels", "KernelSet", "LandmarkKernels", "ViewMap"]

Array = NDArray[Any]
# rows of a kernel that are combined at a time: few enough to stay in the cache
COMBINED_ROWS = 64


class ViewMap(Protocol):
    """Turns rows of a view into the features whose products with a projection are rows of a partition."""

    def features(self, X: Any) -> Array:
        """Return features (b, q) of rows (b, d)."""


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
    """

    maps: tuple[ViewMap, ...]
    own_traces: NDArray[np.float64]

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
    def select(self, rows: Sequence[int]) -> KernelSet:
        """Return the set of some of the kernels, which are not copied."""

    def rows(self, arrays: Sequence[Any]) -> Array:
        """Return the features of new samples in each view, side by side (b, q): kernel rows, or landmark features."""
        return np.hstack([view_map.features(X) for view_map, X in zip(self.maps, arrays, strict=True)])

    def new_embedding(self, arrays: Sequence[Any], projection: Array) -> Array:
        """Return rows of a partition for new samples, by blocks: no more than a block of kernel rows is held."""
        n = arrays[0].shape[0]
        blocks = [self.rows([X[rows] for X in arrays]) @ projection for rows in row_blocks(n, 1024)]
        return np.vstack(blocks) if blocks else np.zeros((0, projection.shape[1]))


class ExactKernels(KernelSet):
    """Full kernels (n, n), each symmetric positive semi-definite: m n² numbers, and n² more for a combination.

    Parameters
    ----------
    kernels : sequence of ndarray of shape (n, n)
        The kernels; kept as they are, not copied.
    maps : sequence of ViewMap, default=()
        How new samples get their kernel rows.
    """

    def __init__(self, kernels: Sequence[Array], maps: Sequence[ViewMap] = ()) -> None:
        self.kernels = tuple(kernels)
        self.maps = tuple(maps)
        self.own_traces = np.array([np.trace(K) for K in self.kernels])

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

    def select(self, rows: Sequence[int]) -> ExactKernels:  # noqa: D102
        maps = [self.maps[p] for p in rows] if self.maps else []
        return ExactKernels([self.kernels[p] for p in rows], maps)


class LandmarkKernels(KernelSet):
    r"""Kernels :math:`Z_p Z_p^\top` of landmark features: only products of the features are kept.

    With :math:`B = [Z_1 \dots Z_m]` and :math:`\Gamma = B^\top B`, the combination has the eigenvalues of
    :math:`D \Gamma D`, D the roots of the weights, and its partition is :math:`B T, T = D U \lambda^{-1/2}`.

    Parameters
    ----------
    maps : sequence of ViewMap
        Landmark features of each view.
    arrays : sequence of ndarray or CSR of shape (n, d_p)
        The views, whose features are computed anew by row blocks where they are needed: O(n k) memory.
    sizes : sequence of int
        Number of landmark features of each view.
    products : ndarray of shape (q, q), default=None
        The matrix Γ of all features side by side; computed in O(n q²) by default.
    """

    def __init__(
        self, maps: Sequence[ViewMap], arrays: Sequence[Any], sizes: Sequence[int], products: Array | None = None
    ) -> None:
        self.maps, self.arrays = tuple(maps), tuple(arrays)
        self.sizes = np.asarray(sizes)
        self.gram = self._all_products() if products is None else products
        self._parts = [slice(end - size, end) for size, end in zip(self.sizes, np.cumsum(self.sizes), strict=True)]
        diagonal = self.gram.diagonal()
        self.own_traces = np.array([diagonal[part].sum() for part in self._parts])

    def _all_products(self) -> Array:
        total = np.zeros((self.sizes.sum(),) * 2)
        for rows in row_blocks(self.arrays[0].shape[0]):
            B = self.rows([X[rows] for X in self.arrays])
            total += B.T @ B
        return total

    def combination(self, weights: Array) -> Array:  # noqa: D102
        root = np.sqrt(np.repeat(weights, self.sizes))
        return root[:, None] * self.gram * root

    def leading(self, weights: Array, k: int) -> SpectralPartition:  # noqa: D102
        used = np.repeat(weights, self.sizes) > 0
        values, U = factor_partition(self.combination(weights)[np.ix_(used, used)], k)
        T = np.zeros((len(self.gram), k))
        T[used] = np.sqrt(np.repeat(weights, self.sizes))[used, None] * U
        return SpectralPartition(values, T)

    def traces(self, H: Array) -> NDArray[np.float64]:  # noqa: D102
        products = self.gram @ H
        return np.array([np.square(products[part]).sum() for part in self._parts])

    def products(self) -> NDArray[np.float64]:  # noqa: D102
        return np.array([[np.square(self.gram[p, q]).sum() for q in self._parts] for p in self._parts])

    def embedding(self, H: Array) -> Array:  # noqa: D102
        return self.new_embedding(self.arrays, H)

    def projection(self, weights: Array, found: SpectralPartition) -> Array:  # noqa: D102
        return found.vectors

    def select(self, rows: Sequence[int]) -> LandmarkKernels:  # noqa: D102
        used = np.concatenate([np.arange(len(self.gram))[self._parts[p]] for p in rows])
        products = self.gram[np.ix_(used, used)]
        return LandmarkKernels(
            [self.maps[p] for p in rows], [self.arrays[p] for p in rows], self.sizes[list(rows)], products
        )


def leading_partition(K: Array, k: int) -> SpectralPartition:
    """Return the k leading eigenvectors (n, k) of a kernel, those beyond its rank 0, signs fixed."""
    values, H = top_eigenpairs(K, k)
    usable = values > RANK_CUTOFF * max(values[0], np.finfo(float).tiny)
    H = np.where(usable, H, 0.0)
    return SpectralPartition(np.where(usable, values, 0.0), H * column_signs(H))

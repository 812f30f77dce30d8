"""Gram matrices of one view: built, centred in feature space and brought to unit diagonal, in place by row blocks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.linalg.blocks import row_blocks, unit_rows

__all__ = [
    "KERNELS",
    "Centring",
    "Kernel",
    "center_and_normalize",
    "center_and_normalize_rows",
    "distance_block",
    "fit_kernel",
    "gaussian_of_mean",
    "gram",
    "kernel_block",
    "kernel_diagonal",
    "mean_distance",
]

Array = NDArray[Any]
KERNELS = ("rbf_meandist", "rbf_invdim", "cosine", "linear")
# a sample whose centred kernel has less than this share of the raw diagonal sits at the mean and has no direction
DEGENERATE = 1e-12
EXACT_MEAN_ROWS = 10_000


class Kernel(NamedTuple):
    """A kernel function: its name and, for Gaussians, the factor of the squared distance."""

    name: str
    gamma: float | None = None


class Centring(NamedTuple):
    """What centring and normalising learned from the training kernel, needed again for new samples.

    Column means (n,), mean of all entries, squared lengths after centring (n,), 1 where they are kept, which samples
    have none, and whether samples are brought to length 1.
    """

    means: Array
    grand_mean: float
    lengths: Array
    degenerate: Array
    unit: bool = True


def fit_kernel(
    X: Any,
    name: str,
    *,
    gamma: float | None = None,
    rng: np.random.Generator | None = None,
    mean_rows: int | None = None,
) -> Kernel:
    r"""Choose the free parameter of a kernel from the data.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d)
        Scaled view.
    name : {"rbf_meandist", "rbf_invdim", "cosine", "linear"}
        "rbf_meandist": :math:`\exp(-\|x-y\|^2 / 2\sigma^2)` with σ the mean distance between samples. "rbf_invdim":
        :math:`\exp(-\|x-y\|^2 / d)`. "cosine": inner product of unit rows. "linear": inner product.
    gamma : float, default=None
        Factor of the squared distance, instead of the one above.
    rng : Generator, default=None
        Draws the rows of which the mean distance is taken where there are more than ``mean_rows``.
    mean_rows : int, default=10000
        Most rows used for the mean distance.

    Returns
    -------
    Kernel
        The kernel function.
    """
    if name not in KERNELS:
        raise ValueError(f"kernel must be one of {KERNELS} or 'auto', got {name!r}")
    if not name.startswith("rbf"):
        return Kernel(name)
    if gamma is None and name == "rbf_invdim":
        gamma = 1.0 / X.shape[1]
    if gamma is None:
        n, mean_rows = X.shape[0], mean_rows or EXACT_MEAN_ROWS
        if n > mean_rows:
            X = X[np.sort((rng or np.random.default_rng(0)).choice(n, mean_rows, replace=False))]
        return gaussian_of_mean(mean_distance(X))
    return Kernel(name, float(gamma))


def gaussian_of_mean(distance: float) -> Kernel:
    """Return the Gaussian whose width is a mean distance between samples."""
    # squares of distances of 1e-154 and less are lost: such samples are alike
    return Kernel("rbf_meandist", 1.0 / (2.0 * distance**2) if distance**2 > np.finfo(float).tiny else 1.0)


def distance_block(kernel: Kernel, D: Any) -> NDArray[np.float64]:
    """Return a Gaussian kernel (a, b) of given distances (a, b)."""
    assert kernel.gamma is not None
    block = np.square(D, dtype=np.float64)
    block *= -kernel.gamma
    return np.asarray(np.exp(block, out=block))


def mean_distance(X: Any) -> float:
    """Return the mean Euclidean distance between different rows, O(n² d) by row blocks."""
    n = X.shape[0]
    if n < 2:
        return 0.0
    total = 0.0
    squares = _squares(X)
    for rows in row_blocks(n, 512):
        distances = _squared_distances(X[rows], X, squares[rows], squares)
        distances[np.arange(rows.stop - rows.start), np.arange(rows.start, rows.stop)] = 0.0
        total += np.sqrt(distances, out=distances).sum()
    return float(total / (n * (n - 1)))


def kernel_block(kernel: Kernel, A: Any, B: Any) -> NDArray[np.float64]:
    """Return the kernel between the rows of A (a, d) and of B (b, d) as a dense float64 array (a, b)."""
    if kernel.gamma is not None:
        block = _squared_distances(A, B, _squares(A), _squares(B))
        block *= -kernel.gamma
        return np.asarray(np.exp(block, out=block))
    if kernel.name == "cosine":
        A, B = unit_rows(A), unit_rows(B)
    return _products(A, B)


def kernel_diagonal(kernel: Kernel, A: Any) -> NDArray[np.float64]:
    """Return the kernel of every row with itself, shape (a,)."""
    if kernel.gamma is not None:
        return np.ones(A.shape[0])
    squares = _squares(A)
    return np.asarray((squares > 0).astype(np.float64) if kernel.name == "cosine" else squares)


def gram(kernel: Kernel, X: Any) -> NDArray[np.float64]:
    """Return the raw n × n Gram matrix of a view, filled by row blocks."""
    n = X.shape[0]
    K = np.empty((n, n))
    for rows in row_blocks(n, 1024):
        K[rows] = kernel_block(kernel, X[rows], X)
    np.fill_diagonal(K, kernel_diagonal(kernel, X))
    return K


def center_and_normalize(K: NDArray[np.float64], *, unit: bool = True) -> Centring:
    r"""Centre a kernel in feature space, then scale it to unit diagonal; K is overwritten.

    :math:`K \leftarrow K - 1r^\top - r1^\top + g 11^\top` and
    :math:`K_{ij} \leftarrow K_{ij} / \sqrt{K_{ii} K_{jj}}`, in this order. A sample at the mean has no direction
    there: its row and column become 0.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Symmetric positive semi-definite kernel, overwritten.
    unit : bool, default=True
        Whether to scale; False centres alone.

    Returns
    -------
    Centring
        What new samples need.

    Raises
    ------
    ValueError
        If a diagonal entry of the centred kernel is clearly negative: K is not positive semi-definite.
    """
    n = K.shape[0]
    scale = max(float(np.abs(K.diagonal()).max()), np.finfo(float).tiny)
    means = K.mean(axis=0)
    grand_mean = float(means.mean())
    lengths = K.diagonal() - 2.0 * means + grand_mean
    if lengths.min() < -1e-8 * scale:
        raise ValueError(
            f"the kernel is not positive semi-definite: sample {int(lengths.argmin())} has the squared length "
            f"{lengths.min():.3g} after centring; give a kernel such as x·y or exp(-γ‖x-y‖²)"
        )
    degenerate = lengths <= DEGENERATE * scale
    own = np.where(degenerate, 0.0, 1.0 if unit else lengths)
    lengths = np.where(degenerate, 1.0, lengths if unit else 1.0)
    factor = np.where(degenerate, 0.0, 1.0 / np.sqrt(lengths))
    for rows in row_blocks(n, 1024):
        block = K[rows]
        block -= means
        block -= (means[rows] - grand_mean)[:, None]
        block *= factor
        block *= factor[rows, None]
    np.fill_diagonal(K, own)
    return Centring(means, grand_mean, lengths, degenerate, unit)


def center_and_normalize_rows(block: Array, diagonal: Array, centring: Centring) -> Array:
    """Do to kernel rows of new samples (b, n) what was done to the training kernel; overwrites and returns them.

    ``diagonal`` (b,) holds the raw kernel of each new sample with itself.
    """
    row_means = block.mean(axis=1)
    lengths = diagonal - 2.0 * row_means + centring.grand_mean
    degenerate = lengths <= DEGENERATE * np.maximum(np.abs(diagonal), np.finfo(float).tiny)
    lengths = np.where(degenerate, 1.0, lengths if centring.unit else 1.0)
    block -= centring.means
    block -= (row_means - centring.grand_mean)[:, None]
    block *= np.where(centring.degenerate, 0.0, 1.0 / np.sqrt(centring.lengths))
    block *= np.where(degenerate, 0.0, 1.0 / np.sqrt(lengths))[:, None]
    return block


def _squares(X: Any) -> Array:
    if sparse.issparse(X):
        return np.asarray(X.astype(np.float64).multiply(X).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X, dtype=np.float64))


def _products(A: Any, B: Any) -> NDArray[np.float64]:
    if sparse.issparse(A):
        return np.asarray((A.astype(np.float64) @ B.astype(np.float64).T).toarray())
    return np.asarray(A.astype(np.float64, copy=False) @ B.astype(np.float64, copy=False).T)


def _squared_distances(A: Any, B: Any, a: Array, b: Array) -> NDArray[np.float64]:
    block = _products(A, B)
    block *= -2.0
    block += a[:, None]
    block += b
    return np.asarray(np.maximum(block, 0.0, out=block))

"""Orthogonal polar factor: the best rotation onto a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["polar", "random_orthogonal"]

Array = NDArray[np.float64]


def polar(A: NDArray[Any]) -> Array:
    r"""Return the maximiser of :math:`\operatorname{Tr}(Q^\top A)` over :math:`Q^\top Q = I`.

    With the thin SVD :math:`A = U \Sigma V^\top` it is :math:`U V^\top`, and the maximum is the sum of the singular
    values. Where A is rank-deficient the missing directions are completed by some orthonormal ones, still optimal.

    Parameters
    ----------
    A : ndarray of shape (..., n, k) with n >= k
        One matrix or a stack of them.

    Returns
    -------
    ndarray of shape (..., n, k), float64
        Matrices with orthonormal columns.
    """
    U, _, Vt = np.linalg.svd(A, full_matrices=False)
    return np.asarray(U @ Vt)


def random_orthogonal(count: int, k: int, rng: np.random.Generator) -> Array:
    """Return ``count`` orthogonal k × k matrices drawn from the Haar distribution, shape (count, k, k)."""
    Q, R = np.linalg.qr(rng.standard_normal((count, k, k)))
    signs = np.sign(np.diagonal(R, axis1=-2, axis2=-1))
    return np.asarray(Q * np.where(signs == 0, 1.0, signs)[:, None, :])

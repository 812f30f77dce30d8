"""Products that are added to a matrix where it lies, by BLAS and without a temporary of its size."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import get_blas_funcs

__all__ = ["add_product"]

Array = NDArray[Any]


def add_product(block: Array, left: Array, right: Array, factor: float = 1.0) -> None:
    """Add factor · left @ right to a block, in one pass over it.

    Parameters
    ----------
    block : ndarray of shape (b, n)
        Rows that are changed in place, C-contiguous, in single or double precision.
    left : ndarray of shape (b, q)
        In the type of the block.
    right : ndarray of shape (q, n)
        In the type of the block; C-contiguous it is not copied.
    factor : float, default=1.0
        Of the product.
    """
    if not block.size or not left.shape[1]:
        return
    if not block.flags.c_contiguous or not left.dtype == right.dtype == block.dtype:
        raise ValueError(f"blocks are C-contiguous and of one type, got {left.dtype}, {right.dtype}, {block.dtype}")
    gemm = get_blas_funcs("gemm", dtype=block.dtype)
    # BLAS counts by columns: the transpose of the block lies as it wants
    gemm(factor, np.asfortranarray(right.T), np.asfortranarray(left.T), 1.0, block.T, overwrite_c=1)

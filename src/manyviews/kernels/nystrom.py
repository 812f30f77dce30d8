"""Landmark features whose inner products approximate a kernel, with no n × n array anywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.kernels.kernels import DEGENERATE, Kernel, kernel_block, kernel_diagonal
from manyviews.linalg.blocks import row_blocks
from manyviews.linalg.eigen import all_eigenpairs

__all__ = ["Landmarks", "fit_landmarks", "landmark_features", "landmark_sums", "landmarks_of"]

Array = NDArray[Any]
EIGEN_CUTOFF = 1e-10
ROWS_PER_BLOCK = 4_096


class Landmarks(NamedTuple):
    """Feature map of one view: kernel, landmarks (s, d), mean kernel row (s,), transform (s, r), length 1 or kept."""

    kernel: Kernel
    points: Any
    mean: Array
    transform: Array
    unit: bool = True


def fit_landmarks(kernel: Kernel, rows: Callable[[slice], Any], n: int, points: Any, *, unit: bool = True) -> Landmarks:
    r"""Build the Nyström features :math:`Z = E U w^{-1/2}`, centred over all samples.

    With E the kernel between samples and landmarks and :math:`E_{ss} = U w U^\top` among the landmarks,
    :math:`ZZ^\top` approximates the kernel; eigenvalues below 1e-10 of the largest are left out.

    Parameters
    ----------
    kernel : Kernel
        The kernel function.
    rows : callable
        Returns the scaled rows of a slice of the samples.
    n : int
        Number of samples.
    points : ndarray or CSR of shape (s, d)
        Landmarks, scaled.
    unit : bool, default=True
        Whether features are scaled to length 1.

    Returns
    -------
    Landmarks
        The feature map.
    """
    return landmarks_of(kernel, points, landmark_sums(kernel, rows, n, points) / n, unit=unit)


def landmark_sums(kernel: Kernel, rows: Callable[[slice], Any], n: int, points: Any) -> Array:
    """Return the sums of the kernel between n rows and the landmarks, (s,)."""
    total = np.zeros(points.shape[0])
    for block in row_blocks(n, ROWS_PER_BLOCK):
        total += kernel_block(kernel, rows(block), points).sum(axis=0)
    return total


def landmarks_of(kernel: Kernel, points: Any, mean: Array, *, unit: bool = True) -> Landmarks:
    """Return the feature map of landmarks (s, d) to which all samples have such a mean kernel row, (s,)."""
    values, U = all_eigenpairs(kernel_block(kernel, points, points), overwrite=True)
    keep = values > EIGEN_CUTOFF * max(values[0], np.finfo(float).tiny)
    return Landmarks(kernel, points, mean, U[:, keep] / np.sqrt(values[keep]), unit)


def landmark_features(landmarks: Landmarks, X: Any) -> Array:
    """Return the centred features of rows X (b, d), as a rule of length 1; a sample at the mean gets zeros."""
    E = kernel_block(landmarks.kernel, X, landmarks.points)
    E -= landmarks.mean
    Z = E @ landmarks.transform
    lengths = np.einsum("ij,ij->i", Z, Z)
    floor = DEGENERATE * np.maximum(kernel_diagonal(landmarks.kernel, X), np.finfo(float).tiny)
    scaled = 1.0 / np.sqrt(np.maximum(lengths, floor)) if landmarks.unit else 1.0
    factor = np.where(lengths > floor, scaled, 0.0)
    Z *= factor[:, None]
    return np.asarray(Z)

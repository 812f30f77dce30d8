r"""Late fusion of partitions into a consensus partition, with iterations that do not touch the samples.

maximise :math:`\operatorname{Tr}(F^\top \sum_p \beta_p H_p W_p) + \lambda \operatorname{Tr}(F^\top H_0)` over
:math:`F^\top F = I`, :math:`W_p^\top W_p = I`, :math:`\|\beta\|_2 = 1`, :math:`\beta \ge 0`.

Every F has the form B T with :math:`B = [H_1 \dots H_m, H_0]`, so the Gram matrix :math:`G = B^\top B`, formed once,
is all that the iterations need.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.linalg.blocks import unit_rows
from manyviews.linalg.eigen import all_eigenpairs
from manyviews.linalg.polar import polar, random_orthogonal
from manyviews.optim.alternating import alternate
from manyviews.optim.history import History
from manyviews.prototypes.kmeans import kmeans
from manyviews.prototypes.sampled_kmeans import sampled_kmeans

__all__ = [
    "START_ITER",
    "Fusion",
    "Start",
    "aligned_rotations",
    "aligned_start",
    "fuse_partitions",
    "released_start",
    "turned_start",
]

Array = NDArray[Any]
CONDITION_LIMIT = 1e10
SKIP_WEIGHT = 1e-4
# most iterations of the k-means that starts begin with
START_ITER = 300


class Start(NamedTuple):
    """Centroids (R, k, k) of R restarts and the rotations (m, k, k) they share."""

    C: Array
    W: Array


class Fusion(NamedTuple):
    """Consensus F = B T (n, k), the transform T ((m+1)k, k), rotations W (m, k, k), weights β (m,), history."""

    F: Array
    T: Array
    W: Array
    beta: Array
    history: History


class _State(NamedTuple):
    W: Array
    beta: Array
    T: Array | None


def aligned_rotations(stacked: Array, target: Array) -> Array:
    """Return the rotations that bring each partition in ``stacked`` (n, m·k) closest to ``target`` (n, k)."""
    k = target.shape[1]
    return polar((stacked.T @ target).reshape(-1, k, k))


def fuse_partitions(
    stacked: Array, H0: Array, *, lam: float, W: Array, tol: float = 1e-6, max_iter: int = 100
) -> Fusion:
    """Maximise the late-fusion criterion from given rotations and equal weights.

    Parameters
    ----------
    stacked : ndarray of shape (n, m·k)
        Partitions of the views side by side, columns of each orthonormal.
    H0 : ndarray of shape (n, k)
        Partition of the average kernel.
    lam : float
        Pull towards H0; 0 leaves it out.
    W : ndarray of shape (m, k, k)
        Rotations at the start.
    tol : float, default=1e-6
        Relative change of the objective that ends the iterations.
    max_iter : int, default=100
        Most iterations.

    Returns
    -------
    Fusion
        Consensus and what produced it.
    """
    m, k = W.shape[:2]
    B = np.hstack([stacked, H0])
    G = B.T @ B

    def step(state: _State) -> tuple[_State, float]:
        T = _consensus_transform(B, G, _weighted(state, lam, k))  # F-step: F = polar(R + λ H_0) = B T
        P = (G @ T).reshape(m + 1, k, k)  # H_pᵀ F of every view, and H_0ᵀ F
        keep = (state.beta <= SKIP_WEIGHT)[:, None, None]
        W = np.where(keep, state.W, polar(P[:m]))
        alpha = np.maximum(np.einsum("pij,pij->p", P[:m], W), 0.0)
        length = float(np.linalg.norm(alpha))
        beta = alpha / length if length > 0 else np.full(m, m**-0.5)
        return _State(W, beta, T), length + lam * float(np.trace(P[m]))

    state, history = alternate(step, _State(W, np.full(m, m**-0.5), None), tol=tol, max_iter=max_iter)
    assert state.T is not None
    return Fusion(B @ state.T, state.T, state.W, state.beta, history)


def _weighted(state: _State, lam: float, k: int) -> Array:
    return np.vstack([*(state.beta[:, None, None] * state.W), lam * np.eye(k)])


def _consensus_transform(B: Array, G: Array, Z: Array) -> Array:
    """Return T with B T the polar factor of B Z: T = Z (ZᵀGZ)^(-1/2), through the samples where ill-conditioned."""
    values, U = all_eigenpairs(Z.T @ G @ Z)
    if values[-1] > 0 and values[0] < CONDITION_LIMIT * values[-1]:
        return np.asarray(Z @ (U / np.sqrt(values)) @ U.T)
    F = polar(B @ Z)
    return np.asarray(np.linalg.lstsq(B, F, rcond=None)[0])


def aligned_start(stacked: Array, H0: Array, n_init: int, rng: np.random.Generator) -> Start:
    """Return starts that do not depend on the signs and rotations of the partitions.

    Rotations bring every H_p onto H_0; the first centroids are those of k-means on the unit rows of H_0, the others
    these turned by random rotations, so that turning H_0 turns them along.
    """
    centers = sampled_kmeans(unit_rows(H0), H0.shape[1], rng, max_iter=START_ITER).centers
    return turned_start(centers, stacked.T @ H0, n_init, rng)


def turned_start(centers: Array, products: Array, n_init: int, rng: np.random.Generator) -> Start:
    """Return starts from the centres of H_0, (k, k), and its products with the partitions side by side, (m·k, k)."""
    k = len(centers)
    first = polar(centers)
    turned = random_orthogonal(n_init - 1, k, rng) @ first
    return Start(np.concatenate([first[None], turned]), polar(products.reshape(-1, k, k)))


def released_start(m: int, H0: Array, rng: np.random.Generator, *, draw_signs: bool = False) -> Start:
    """Return the start of the released code: W_p = I, C an orthonormal basis of the centroids on H_0.

    It depends on the signs of the eigenvectors, which an eigensolver leaves open: with ``draw_signs`` W_p is a diagonal
    of random signs, which comes to the same as columns of H_p with these signs.
    """
    k = H0.shape[1]
    centers = kmeans(unit_rows(H0), k, rng, n_init=30, max_iter=200).centers
    W = np.tile(np.eye(k), (m, 1, 1))
    if draw_signs:
        W *= rng.choice([-1.0, 1.0], size=(m, 1, k))
    return Start(np.linalg.svd(centers)[0][None], W)

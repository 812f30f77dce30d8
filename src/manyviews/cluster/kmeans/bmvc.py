r"""BMVC: short binary codes of the samples, common to all views, and their k-means in Hamming distance, learned together.

minimise :math:`\sum_v \alpha_v^r \bigl(\|B - K_v U_v^\top\|_F^2 + \beta\|U_v\|_F^2 - \gamma\|K_v U_v^\top\|_F^2\bigr)
+ \lambda\|B - GC\|_F^2` over codes B (n, L) and binary centres C (k, L) of ±1, one-hot G, maps :math:`U_v` (L, m) and
α in the simplex. :math:`K_v` (n, m) are similarities to m anchors, centred. Samples are rows here.

K is made in blocks of rows and B is kept in packed bits: of a block only :math:`B^\top K_v` (L, m) is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.linalg.scaling import row_blocks
from manyviews.optim.history import History

__all__ = ["BinaryCodes", "CodeSettings", "Features", "cluster_codes", "nearest_codes", "solve_bmvc"]

Array = NDArray[Any]
Bits = NDArray[np.uint8]
Blocks = Callable[[Callable[[slice], Any], Iterable[slice]], Iterable[Any]]
ROWS_PER_BLOCK = 4_096
# discrete proximal steps of one update of the centres, as in the released code
PROXIMAL_STEPS = 3
SMALLEST_LOSS = 1e-12


class Features(NamedTuple):
    """Similarities to anchors.

    ``block`` returns K of every view, (b, m_v), for a slice of rows, with zeros where a sample was not observed;
    ``grams`` are KᵀK (m_v, m_v), ``observed`` the numbers of samples observed in each view, ``n`` that of all.
    """

    block: Callable[[slice], list[Array]]
    grams: list[NDArray[np.float64]]
    observed: NDArray[np.int64]
    n: int


class CodeSettings(NamedTuple):
    """Exponent r of the view weights, the weights β, γ, λ, bit balance ρ, its step 1 / μ, iterations, empty clusters."""

    r: float = 5.0
    beta: float = 0.003
    gamma: float = 0.01
    lam: float = 1e-5
    rho: float = 1e-3
    mu: float = 0.01
    n_inner: int = 10
    refill: bool = True


class CodeClusters(NamedTuple):
    """Centres (k, L) of ±1, labels (n,) and Hamming distances (n,) to the own centre."""

    centers: NDArray[np.float32]
    labels: NDArray[np.int64]
    distances: NDArray[np.float32]


class CodeStep(NamedTuple):
    """State after an iteration: packed bits (n, L / 8), clusters, maps U (L, m_v), weights α, losses h, objective.

    ``factors`` (V,) are the α^r with which the codes were made.
    """

    bits: Bits
    clusters: CodeClusters
    maps: list[NDArray[np.float64]]
    alpha: NDArray[np.float64]
    losses: NDArray[np.float64]
    objective: float
    factors: NDArray[np.float64]


class BinaryCodes(NamedTuple):
    """The last state and the history."""

    last: CodeStep
    history: History


def nearest_codes(bits: Bits, centers: NDArray[np.float32]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the nearest centre of every code, the lowest index on ties, and the Hamming distances to all, (b, k)."""
    L = centers.shape[1]
    distances = (L - signs(bits, L) @ centers.T) / 2
    return distances.argmin(axis=1), distances


def signs(bits: Bits, L: int) -> NDArray[np.float32]:
    """Return packed bits (b, L / 8) as ±1, (b, L)."""
    return 2.0 * np.unpackbits(bits, axis=1, count=L).astype(np.float32) - 1.0


def assign_codes(bits: Bits, centers: NDArray[np.float32]) -> CodeClusters:
    """Give every code to its nearest centre."""
    labels, own = np.empty(len(bits), np.int64), np.empty(len(bits), np.float32)
    for rows in row_blocks(len(bits), ROWS_PER_BLOCK):
        labels[rows], distances = nearest_codes(bits[rows], centers)
        own[rows] = distances.min(axis=1)
    return CodeClusters(centers, labels, own)


def cluster_codes(bits: Bits, current: CodeClusters, settings: CodeSettings) -> CodeClusters:
    """Renew centres and labels ``n_inner`` times, or until the labels rest."""
    k, L = current.centers.shape
    for _ in range(settings.n_inner):
        last = current.labels
        if settings.refill:
            last = _refill(current, k)
        sums = _bit_sums(bits, last, k, L)
        C = np.where(sums >= 0, 1.0, -1.0)
        for _ in range(PROXIMAL_STEPS):
            step = -sums + settings.rho * C.sum(axis=1, keepdims=True)
            C = np.where(C - step / settings.mu >= 0, 1.0, -1.0)
        current = assign_codes(bits, C.astype(np.float32))
        if np.array_equal(current.labels, last):
            break
    return current


def solve_bmvc(
    features: Features,
    bits: Bits,
    clusters: CodeClusters,
    settings: CodeSettings,
    *,
    tol: float = 0.0,
    max_iter: int = 10,
    over: Blocks = map,
) -> BinaryCodes:
    """Run the alternating updates.

    Parameters
    ----------
    features : Features
        Similarities to anchors.
    bits : ndarray of shape (n, L / 8), uint8
        Packed codes of the start.
    clusters : CodeClusters
        Clusters of the start; their centres have L columns.
    settings : CodeSettings
        Weights.
    tol : float, default=0.0
        Relative change of the objective that ends the iterations.
    max_iter : int, default=10
        Most iterations.
    over : callable, default=map
        Applies a function to all blocks of rows, in order of the blocks, perhaps several at a time.

    Returns
    -------
    BinaryCodes
        Last state and history.
    """
    objective: list[float] = []
    converged = False
    for step in iterate(features, bits, clusters, settings, over):
        objective.append(step.objective)
        if len(objective) > 1:
            converged = abs(objective[-2] - step.objective) <= tol * abs(step.objective)
        if converged or len(objective) >= max_iter:
            break
    return BinaryCodes(step, History(np.array(objective), len(objective), converged))


def iterate(
    features: Features, bits: Bits, clusters: CodeClusters, settings: CodeSettings, over: Blocks = map
) -> Iterable[CodeStep]:
    """Yield the state after every iteration, without end."""
    V, L = len(features.grams), clusters.centers.shape[1]
    inverses = [np.linalg.inv((1.0 - settings.gamma) * G + settings.beta * np.eye(len(G))) for G in features.grams]
    share = features.n / np.maximum(features.observed, 1)
    alpha = np.full(V, 1.0 / V)
    cross = _renew_bits(features, bits, None, clusters, settings, over)[1]
    while True:
        maps = [S @ inverse for S, inverse in zip(cross, inverses, strict=True)]
        factors = alpha**settings.r
        weighted = [f * U for f, U in zip(factors * share, maps, strict=True)]
        bits, cross = _renew_bits(features, bits, weighted, clusters, settings, over)
        clusters = cluster_codes(bits, clusters, settings)
        losses = share * _losses(features, cross, maps, settings, L)
        alpha = _view_weights(losses, settings.r)
        objective = float(alpha**settings.r @ losses + 4.0 * settings.lam * clusters.distances.sum(dtype=np.float64))
        yield CodeStep(bits, clusters, maps, alpha, losses, objective, factors)


def code_block(K: list[Array], maps: list[Array], pull: Array | float = 0.0) -> Bits:
    """Return the packed bits of a block of rows; 0 becomes -1, as in the released code."""
    S = sum(K_v @ U.T.astype(K_v.dtype) for K_v, U in zip(K, maps, strict=True)) + pull
    return np.packbits(S > 0, axis=1)


def _renew_bits(
    features: Features,
    bits: Bits,
    maps: list[Array] | None,
    clusters: CodeClusters,
    settings: CodeSettings,
    over: Blocks,
) -> tuple[Bits, list[NDArray[np.float64]]]:
    """Return new bits, where there are maps, and their products BᵀK (L, m_v) with the similarities."""
    L = clusters.centers.shape[1]

    def one(rows: slice) -> tuple[Bits, list[Array]]:
        K, part = features.block(rows), bits[rows]
        if maps is not None:
            part = code_block(K, maps, settings.lam * clusters.centers[clusters.labels[rows]])
        B = signs(part, L)
        return part, [B.T @ K_v for K_v in K]

    blocks = list(row_blocks(features.n, ROWS_PER_BLOCK))
    cross = [np.zeros((L, len(G))) for G in features.grams]
    renewed = np.empty_like(bits)
    for rows, (part, products) in zip(blocks, over(one, blocks), strict=True):
        renewed[rows] = part
        for total, product in zip(cross, products, strict=True):
            total += product
    return renewed, cross


def _losses(
    features: Features, cross: list[Array], maps: list[Array], settings: CodeSettings, L: int
) -> NDArray[np.float64]:
    """Return ‖B - KUᵀ‖² - γ‖KUᵀ‖² + β‖U‖² of every view."""
    found = [
        n_v * L - 2.0 * np.vdot(S, U) + (1.0 - settings.gamma) * np.vdot(U @ G, U) + settings.beta * np.vdot(U, U)
        for n_v, S, U, G in zip(features.observed, cross, maps, features.grams, strict=True)
    ]
    return np.maximum(found, SMALLEST_LOSS)


def _view_weights(losses: NDArray[np.float64], r: float) -> NDArray[np.float64]:
    """Return α ∝ h^{1/(1-r)}, of sum 1."""
    powers = (losses / losses.min()) ** (1.0 / (1.0 - r))
    return np.asarray(powers / powers.sum())


def _bit_sums(bits: Bits, labels: NDArray[np.int64], k: int, L: int) -> NDArray[np.float64]:
    """Return the sums of the codes of every cluster, (k, L)."""
    sums = np.zeros((k, L))
    for rows in row_blocks(len(bits), ROWS_PER_BLOCK):
        members = (labels[rows] == np.arange(k)[:, None]).astype(np.float32)
        sums += members @ signs(bits[rows], L)
    return sums


def _refill(current: CodeClusters, k: int) -> NDArray[np.int64]:
    """Return labels with the farthest code of a cluster that can spare it in each empty cluster."""
    labels, sizes = current.labels.copy(), np.bincount(current.labels, minlength=k)
    empty = list(np.flatnonzero(sizes == 0))
    if not empty:
        return current.labels
    for i in np.argsort(-current.distances, kind="stable"):
        if not empty or current.distances[i] <= 0:
            break
        if sizes[labels[i]] > 1:
            sizes[labels[i]] -= 1
            labels[i] = empty.pop(0)
    return labels

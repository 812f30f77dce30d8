"""k-means of binary codes in Hamming distance; the codes are rows of packed bits, the centres rows of ±1."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.linalg.blocks import row_blocks
from manyviews.prototypes.lloyd import fill_empty

__all__ = [
    "Bits",
    "CodeClusters",
    "CodeRule",
    "assign_codes",
    "cluster_codes",
    "nearest_codes",
    "signs",
    "start_clusters",
]

Bits = NDArray[np.uint8]
ROWS_PER_BLOCK = 4_096
# codes on which starts are compared
START_ROWS = 20_000
# discrete proximal steps of one update of the centres, as in the released code of BMVC
PROXIMAL_STEPS = 3


class CodeRule(NamedTuple):
    """Weight ρ of the balance of the bits of a centre, μ of its step 1 / μ, passes, and whether to fill clusters."""

    rho: float = 1e-3
    mu: float = 0.01
    n_passes: int = 10
    refill: bool = True


class CodeClusters(NamedTuple):
    """Centres (k, L) of ±1, labels (n,) and Hamming distances (n,) to the own centre."""

    centers: NDArray[np.float32]
    labels: NDArray[np.int64]
    distances: NDArray[np.float32]


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


def cluster_codes(bits: Bits, current: CodeClusters, rule: CodeRule) -> CodeClusters:
    """Renew centres and labels ``n_passes`` times, or until the labels rest."""
    k, L = current.centers.shape
    for _ in range(rule.n_passes):
        last = current.labels
        if rule.refill:
            last = last.copy()
            fill_empty(last, current.distances, k)
        sums = _bit_sums(bits, last, k, L)
        C = np.where(sums >= 0, 1.0, -1.0)
        for _ in range(PROXIMAL_STEPS):
            step = -sums + rule.rho * C.sum(axis=1, keepdims=True)
            C = np.where(C - step / rule.mu >= 0, 1.0, -1.0)
        current = assign_codes(bits, C.astype(np.float32))
        if np.array_equal(current.labels, last):
            break
    return current


def start_clusters(
    bits: Bits, k: int, L: int, rule: CodeRule, rng: np.random.Generator, *, n_init: int, spread: bool
) -> CodeClusters:
    """Return the best of ``n_init`` clusterings of some of the codes, with all codes assigned.

    With ``spread`` the first centres are drawn far apart, as in k-means++, else anyhow among distinct codes.
    """
    some = bits if len(bits) <= START_ROWS else bits[rng.choice(len(bits), START_ROWS, replace=False)]
    distinct = np.unique(some, axis=0)
    best: CodeClusters | None = None
    for _ in range(n_init):
        if spread or len(distinct) < k:
            centers = _spread_codes(some, k, L, rng)
        else:
            centers = signs(distinct[rng.choice(len(distinct), k, replace=False)], L)
        run = cluster_codes(some, assign_codes(some, centers), rule)
        if best is None or run.distances.sum() < best.distances.sum():
            best = run
    assert best is not None
    return best if some is bits else assign_codes(bits, best.centers)


def _spread_codes(bits: Bits, k: int, L: int, rng: np.random.Generator) -> NDArray[np.float32]:
    chosen = [int(rng.integers(len(bits)))]
    nearest = nearest_codes(bits, signs(bits[chosen], L))[1][:, 0]
    for _ in range(k - 1):
        chances = np.square(nearest, dtype=np.float64)
        total = chances.sum()
        chosen.append(int(rng.choice(len(bits), p=chances / total if total > 0 else None)))
        np.minimum(nearest, nearest_codes(bits, signs(bits[chosen[-1:]], L))[1][:, 0], out=nearest)
    return signs(bits[chosen], L)


def _bit_sums(bits: Bits, labels: NDArray[np.int64], k: int, L: int) -> NDArray[np.float64]:
    """Return the sums of the codes of every cluster, (k, L)."""
    sums = np.zeros((k, L))
    for rows in row_blocks(len(bits), ROWS_PER_BLOCK):
        members = (labels[rows] == np.arange(k)[:, None]).astype(np.float32)
        sums += members @ signs(bits[rows], L)
    return sums

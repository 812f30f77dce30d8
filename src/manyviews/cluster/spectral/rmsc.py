r"""RMSC: the transition probabilities of all views as one low-rank matrix plus sparse errors.

minimise :math:`\|P\|_* + \lambda \sum_v \|E_v\|_1` over P and E with :math:`T_v = P + E_v`, P ≥ 0 and P1 = 1 (eq. 4 of
the paper), by the inexact augmented-Lagrangian method with the split P = Q.

Errors and multipliers of a view follow from one array: with :math:`M = T - P - Y/\mu` the new error is the soft
threshold of M, and the new multiplier :math:`-\mu` times what that cut off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.constraints import ABOVE_ONE, NON_NEGATIVE, POSITIVE, POSITIVE_INT, one_of
from manyviews.cluster.memory import kmeans_bytes
from manyviews.cluster.spectral.base import GraphsClusterer, metric_of
from manyviews.graphs.neighbors import gaussian_affinity
from manyviews.linalg.blocks import row_blocks, unit_rows
from manyviews.linalg.eigen import top_eigenpairs
from manyviews.linalg.shrinkage import LowRank, SingularValueShrinker, singular_value_threshold
from manyviews.linalg.simplex import project_rows
from manyviews.optim.alm import Penalty, augmented_lagrangian
from manyviews.optim.history import History
from manyviews.views import Views

__all__ = ["RMSC", "RMSCResult", "RMSCState", "solve_rmsc", "stationary_affinity"]

Array = NDArray[Any]
ROWS_PER_BLOCK = 64
# a stationary probability below this share of an equal one makes its sample's row meaningless
LEAST_SHARE = 1e-8


class RMSCResult(NamedTuple):
    """Transition probabilities P (n, n), rows of sum 1; their low-rank form Q in factors; residuals."""

    P: Array
    Q: LowRank
    history: History


class RMSCState:
    """Variables of the iterations and the steps that update them in place.

    Parameters
    ----------
    transitions : sequence of ndarray of shape (n, n)
        T of each view, rows of sum 1.
    noise_weight : float
        λ.
    shrink : callable
        Singular value threshold, taking a matrix and a threshold.
    wanted : ndarray of shape (V,), default=None
        How often each view is there; once by default.
    """

    def __init__(
        self,
        transitions: Sequence[Array],
        noise_weight: float,
        shrink: Callable[[Array, float], LowRank],
        wanted: Array | None = None,
    ) -> None:
        self.T, self.noise_weight, self.shrink = transitions, noise_weight, shrink
        self.wanted = [1.0] * len(transitions) if wanted is None else wanted.tolist()
        n, dtype = transitions[0].shape[0], transitions[0].dtype
        self.P = np.zeros((n, n), dtype)
        self.Q = LowRank(np.zeros((n, 0), dtype), np.zeros(0), np.zeros((n, 0), dtype))
        self.Z = np.zeros((n, n), dtype)
        self.Y = [np.zeros((n, n), dtype) for _ in transitions]
        # Σ_v (T_v - E_v) with E = 0, from which the released code departs by random errors
        self.explained = np.array(sum(w * T for w, T in zip(self.wanted, transitions, strict=True)), dtype)

    def iterate(self, mu: float, following: float) -> float:
        """Make one iteration and return the largest row sum of what a view is away from P + E."""
        del following
        self.update_transitions(mu)
        shifted = self.Z
        shifted *= self.P.dtype.type(1 / mu)
        shifted += self.P
        self.Q = self.shrink(shifted, 1 / mu)
        left, right = self.Q.U * self.Q.values.astype(self.P.dtype), self.Q.V.T
        residual = 0.0
        for rows in row_blocks(len(self.P), ROWS_PER_BLOCK):
            shifted[rows] -= left[rows] @ right
            shifted[rows] *= self.P.dtype.type(mu)  # Z + μ(P - Q)
            residual = max(residual, self._update_errors(rows, mu))
        return residual

    def update_transitions(self, mu: float) -> None:
        """P step: the mean of what Q and the views ask for, its rows projected onto the simplex."""
        dtype, V = self.P.dtype.type, sum(self.wanted)
        left, right = self.Q.U * self.Q.values.astype(self.P.dtype), self.Q.V.T
        for rows in row_blocks(len(self.P), ROWS_PER_BLOCK):
            total = self.explained[rows] + left[rows] @ right
            total -= (self.Z[rows] + sum(dtype(w) * Y[rows] for w, Y in zip(self.wanted, self.Y, strict=True))) * dtype(
                1 / mu
            )
            self.P[rows] = project_rows(total * dtype(1 / (V + 1)))

    def _update_errors(self, rows: slice, mu: float) -> float:
        """E and Y steps on some rows; returns the largest row sum of the residual."""
        dtype, bound, residual = self.P.dtype.type, self.noise_weight / mu, 0.0
        P = self.P[rows]
        self.explained[rows] = 0
        for T, Y, w in zip(self.T, self.Y, self.wanted, strict=True):
            old = Y[rows] * dtype(1 / mu)
            new = -np.clip(T[rows] - P - old, dtype(-bound), dtype(bound))
            missed = new - old  # P + E - T
            self.explained[rows] += dtype(w) * (P - missed)
            Y[rows] = new * dtype(mu)
            residual = max(residual, float(np.abs(missed).sum(axis=1).max()))
        return residual


def solve_rmsc(
    transitions: Sequence[Array],
    *,
    noise_weight: float = 0.01,
    penalty: Penalty = Penalty(1e-3, 1.9),  # noqa: B008 (an immutable tuple)
    svd: str = "partial",
    wanted: Array | None = None,
    tol: float = 1e-6,
    max_iter: int = 300,
    rng: np.random.Generator,
) -> RMSCResult:
    """Run the iterations until no row of a view is further than ``tol`` from P + E, in the sum of its entries."""
    shrink = SingularValueShrinker(rng) if svd == "partial" else singular_value_threshold
    state = RMSCState(transitions, noise_weight, shrink, wanted)
    history = augmented_lagrangian(state.iterate, penalty, tol=tol, max_iter=max_iter)
    return RMSCResult(state.P, state.Q, history)


def stationary_affinity(P: Array) -> Array | None:
    r"""Return the symmetric part of :math:`\Pi^{1/2} P \Pi^{-1/2}`, π the stationary distribution of P.

    None where some sample is next to never visited, so that its row means nothing.
    """
    n = len(P)
    # π solves (Pᵀ - I + 1 1ᵀ) π = 1 where the walk reaches every sample from every other
    A = P.T.astype(np.float64) - np.eye(n) + 1.0
    try:
        pi = np.linalg.solve(A, np.ones(n))
    except np.linalg.LinAlgError:
        return None
    if not pi.min() > LEAST_SHARE / n:
        return None
    root = np.sqrt(pi)
    return symmetric(root[:, None] * P / root)


class RMSC(GraphsClusterer):
    r"""Robust multi-view spectral clustering (RMSC, also RMVSC).

    A random walk between similar samples is described in every view by transition probabilities :math:`T_v`. What the
    views share is sought as a low-rank matrix P of transition probabilities, what each has besides as sparse errors:

    .. math:: \min_{P, E_v} \|P\|_* + \lambda \sum_v \|E_v\|_1
              \quad \text{s.t. } T_v = P + E_v,\ P \ge 0,\ P 1 = 1

    Spectral clustering with P gives the clusters.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    noise_weight : float, default=0.1
        Weight λ of the errors. Raising it makes P follow the views more closely. At small values P has rank 1 and tells
        nothing: from how small depends on the number of samples. Mean NMI over 15 real sets: 0.43 at 0.005, as
        released, 0.47 at 0.01, 0.52 at 0.1.
    affinity : {"gaussian", "distance"}, default="gaussian"
        "distance": each view holds the n × n distances between samples, of which the Gaussian is taken.
    width : float, default=None
        σ of the affinity :math:`\exp(-\|x-y\|^2 / 2\sigma^2)`; by default the median distance in each view. Raising
        it blurs small clusters.
    walk : {"symmetric", "stationary"}, default="symmetric"
        What is cut. "symmetric": :math:`(P + P^\top) / 2`, as in the evaluation that comes with the released code.
        "stationary": the normalised matrix of the walk with its stationary distribution, as in the paper; where some
        sample is next to never visited that says nothing, and "symmetric" is used.
    n_init : int, default=10
        Starts of k-means; raising it makes the labels depend less on the seed.
    penalty_start : float, default=1e-3
        Penalty μ of the first iteration. As it grows fast, the result depends on it.
    penalty_growth : float, default=1.9
        Factor by which the penalty grows; lowering it makes the solution more exact and the iterations more.
    tol : float, default=1e-6
        Largest row sum of the moduli of :math:`T_v - P - E_v` that ends the iterations; raising it ends them earlier.
    max_iter : int, default=300
        Most iterations.
    view_weights : mapping or sequence of float, default=None
        What each view counts, relative to the others: 2 counts its errors as if it were given twice; 0 leaves it out.
        Views that a mapping leaves out get 1. By default all alike.
    scaling : {"auto", "standard", "minmax", "unit", "tfidf"}, mapping or None, default="auto"
        What is done to each view first. "auto": standardised if dense, tf-idf and unit rows if sparse.
    views : list of int or mapping, default=None
        How one table is cut into views.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the partial decompositions and of the k-means starts.
    n_jobs : int, default=None
        Affinities made at the same time; the result is the same for any number.
    verbose : int, default=0
        1 prints what is being done.

    Attributes
    ----------
    labels_ : ndarray of shape (n,), int64
        Cluster of each sample, 0 .. k-1, largest cluster first.
    transition_ : ndarray of shape (n, n)
        P, with rows of sum 1; float32 where all views are.
    embedding_ : ndarray of shape (n, k)
        Eigenvectors of the k largest eigenvalues of what is cut.
    inertia_ : float
        Sum of squared distances of the unit rows to the centres of k-means.
    confidence_ : ndarray of shape (n,)
        1 - nearest / second nearest distance to the centres: 0 is a tie.
    history_ : History
        ``residual`` after each iteration: how far the views are from P + E, the largest row sum of moduli. It ends
        below ``tol``, but need not fall in every iteration.
    n_iter_, converged_ : int, bool
        Iterations made, and whether ``tol`` was met.
    scalings_ : tuple of str or None
        What was done to each view first; None for nothing.
    n_views_in_, n_features_in_ : int
        Number of views and of columns in all.
    view_names_in_, n_view_features_in_ : ndarray of shape (V,)
        Names of the views and their numbers of columns.

    See Also
    --------
    MVEC : Low rank and sparse errors for the co-association of ensembles.
    SumSpectral : The added affinities, cut as they are.

    Notes
    -----
    There is no rule for new samples. Cost: O(n² Σ d_v) for the affinities; per iteration, of which there are about 25,
    a singular value decomposition, partial where the rank is low, O(n² rank) to O(n³), and O(V n²); 2V + 4 arrays of
    n × n are kept.

    The errors begin at 0, where the released code draws them, so that the first iteration differs.

    References
    ----------
    R. Xia, Y. Pan, L. Du, J. Yin. Robust Multi-View Spectral Clustering via Low-Rank and Sparse Decomposition.
    AAAI 2014, 2149-2155. https://doi.org/10.1609/aaai.v28i1.8950

    Examples
    --------
    >>> from manyviews import RMSC, datasets
    >>> data = datasets.make_blobs_views(n_samples=90, n_features=(5, 4), n_clusters=3, random_state=0)
    >>> RMSC(n_clusters=3, random_state=0).fit(data.views).transition_.shape
    (90, 90)
    """

    _sample_axes = GraphsClusterer._sample_axes | {"transition_": (0, 1)}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = GraphsClusterer._parameter_constraints | {
        "noise_weight": [POSITIVE],
        "affinity": [one_of("gaussian", "distance")],
        "width": [POSITIVE, None],
        "walk": [one_of("symmetric", "stationary")],
        "penalty_start": [POSITIVE],
        "penalty_growth": [ABOVE_ONE],
        "tol": [NON_NEGATIVE],
        "max_iter": [POSITIVE_INT],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        noise_weight: float = 0.1,
        affinity: str = "gaussian",
        width: float | None = None,
        walk: str = "symmetric",
        n_init: int = 10,
        penalty_start: float = 1e-3,
        penalty_growth: float = 1.9,
        tol: float = 1e-6,
        max_iter: int = 300,
        view_weights: Any = None,
        scaling: Any = "auto",
        views: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_clusters, scaling=scaling, views=views, random_state=random_state, n_jobs=n_jobs, verbose=verbose
        )
        self.view_weights = view_weights
        self.noise_weight = noise_weight
        self.affinity = affinity
        self.width = width
        self.walk = walk
        self.n_init = n_init
        self.penalty_start = penalty_start
        self.penalty_growth = penalty_growth
        self.tol = tol
        self.max_iter = max_iter

    def _memory_estimate(self, views: Views) -> int:
        n, V = len(views), len(views.names)
        itemsize = np.result_type(*(X.dtype for X in views.arrays)).itemsize
        # transitions and multipliers of the views, P, Z, what the views explain, and one decomposition
        iterations = itemsize * (2 * V + 5) * n * n
        making = (itemsize * V + 16 * self._at_once(V)) * n * n + self._scaled_bytes(views)
        return max(iterations, making) + kmeans_bytes(n, self.n_clusters)

    def _fit(self, views: Views, rng: np.random.Generator) -> NDArray[np.int64]:
        shrink_rng, label_rng = rng.spawn(2)
        dtype = np.result_type(*(X.dtype for X in views.arrays))

        def transitions(X: Any) -> Array:
            K = gaussian_affinity(X, self.width, metric=metric_of(self.affinity))
            K /= K.sum(axis=1, keepdims=True)
            return K.astype(dtype, copy=False)

        self._say("making the affinities")
        T = self._per_view(views, transitions)
        self._say("parting what they share from errors")
        found = solve_rmsc(
            T,
            noise_weight=self.noise_weight,
            wanted=self._weights,
            penalty=Penalty(self.penalty_start, self.penalty_growth),
            tol=self.tol,
            max_iter=self.max_iter,
            rng=shrink_rng,
        )
        del T
        self.transition_ = found.P
        A = stationary_affinity(found.P) if self.walk == "stationary" else None
        embedding = top_eigenpairs(symmetric(found.P) if A is None else A, self.n_clusters)[1]
        return self._group(unit_rows(embedding), found.history, label_rng, embedding=embedding)


def symmetric(P: Array) -> Array:
    """Return (P + Pᵀ) / 2."""
    A = P + P.T
    A *= 0.5
    return np.asarray(A)

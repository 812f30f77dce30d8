"""Simple multiple kernel k-means."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from manyviews.cluster.multiple_kernel.base import (
    Array,
    MultipleKernelClusterer,
    WeightedKernels,
    cut_weights,
    mixture_of,
    shares,
    simplex_minimum,
)
from manyviews.kernels.embedding import SpectralPartition
from manyviews.kernels.kernel_set import KernelSet
from manyviews.optim.history import History

__all__ = ["SimpleMKKM", "solve_smkkm"]

# part of the decrease promised by the slope that a step must bring, and how often it is halved for that
SUFFICIENT, HALVINGS = 1e-4, 30
# a promised decrease below this, relative to the objective, is rounding
NO_DECREASE = 1e-12


class Point(NamedTuple):
    """Weights, the objective there, its gradient and the partition that attains it."""

    gamma: Array
    objective: float
    gradient: Array
    partition: SpectralPartition


def solve_smkkm(
    kernels: KernelSet, k: int, *, wanted: Array | None = None, tol: float = 1e-6, max_iter: int = 100
) -> WeightedKernels:
    r"""Minimise the sum of the k largest eigenvalues of :math:`K_\gamma = \sum_p \gamma_p^2 K_p` over the simplex.

    The problem is convex and, where the k-th eigenvalue stands alone, smooth. Each step minimises a quadratic model of
    it over the simplex, whose curvature is learned from the gradients (BFGS), and is halved until the objective falls
    enough: a few eigenproblems in all.

    Parameters
    ----------
    kernels : KernelSet
        Centred kernels on one scale.
    k : int
        Number of clusters.
    tol : float, default=1e-6
        Largest change of a weight that ends the iterations.
    max_iter : int, default=100
        Most iterations.

    Returns
    -------
    WeightedKernels
        Weights and the partition there; the objective never rises.
    """
    point = point_at(kernels, shares(kernels, wanted), k, wanted)
    # the curvature if the partition stayed as it is
    B = np.diag(np.maximum(point.gradient / point.gamma, np.finfo(float).tiny))
    objective, converged = [point.objective], False
    for _ in range(max_iter):
        target = simplex_minimum(B, point.gradient - B @ point.gamma, least=0.0)
        direction = target - point.gamma
        promise = -float(point.gradient @ direction)
        if np.abs(direction).max() < tol or promise <= NO_DECREASE * point.objective:
            converged = True
            break
        following = _line_search(kernels, k, point, direction, promise, wanted)
        if following is None:  # at a kink, where eigenvalues cross: no step along the slope goes down
            converged = True
            break
        B = _updated(B, following.gamma - point.gamma, following.gradient - point.gradient)
        point = following
        objective.append(point.objective)
    history = History(np.array(objective), len(objective), converged)
    return WeightedKernels(point.gamma, mixture_of(point.gamma, 2.0, wanted), point.partition, history)


def point_at(kernels: KernelSet, gamma: Array, k: int, wanted: Array | None = None) -> Point:
    """Return the objective at some weights: one eigenproblem."""
    partition = kernels.leading(mixture_of(gamma, 2.0, wanted), k)
    gradient = 2.0 * gamma / (1.0 if wanted is None else wanted) * kernels.traces(partition.vectors)
    return Point(gamma, float(partition.values.sum()), gradient, partition)


def _line_search(
    kernels: KernelSet, k: int, point: Point, direction: Array, promise: float, wanted: Array | None
) -> Point | None:
    step = 1.0
    for _ in range(HALVINGS):
        trial = point_at(kernels, cut_weights(point.gamma + step * direction, 0.0), k, wanted)
        if trial.objective <= point.objective - SUFFICIENT * step * promise:
            return trial
        step /= 2.0
    return None


def _updated(B: Array, s: Array, y: Array) -> Array:
    """Return the BFGS update of a curvature, damped so that it stays positive definite."""
    Bs = B @ s
    sBs, sy = float(s @ Bs), float(s @ y)
    if sy < 0.2 * sBs:
        theta = 0.8 * sBs / (sBs - sy)
        y = theta * y + (1.0 - theta) * Bs
        sy = float(s @ y)
    return np.asarray(B - np.outer(Bs, Bs) / sBs + np.outer(y, y) / sy)


class SimpleMKKM(MultipleKernelClusterer):
    r"""Simple multiple kernel k-means.

    .. math:: \min_\gamma \max_{H^\top H = I_k} \operatorname{Tr}(H^\top K_\gamma H), \qquad
              K_\gamma = \sum_p \gamma_p^2 K_p, \quad \gamma \ge 0, \quad \sum_p \gamma_p = 1

    then k-means on the unit rows of H. The inner maximum is the sum of the k largest eigenvalues, a convex function of
    the weights, so there is one optimum and nothing to tune.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    base : {"features", "kernel", "distance"}, default="features"
        What each view holds: features (n, d_p), a kernel (n, n), which is centred and normalised, or distances (n, n),
        of which a Gaussian kernel is made.
    kernel : {"auto", "rbf_meandist", "rbf_invdim", "cosine", "linear"}, list or mapping, default="auto"
        Kernel of each view; see ``OPLFMVC``.
    gamma : float or mapping, default=None
        Factor of the squared distance in Gaussian kernels; raising it makes the kernel more local.
    approximation : {"auto", "exact", "nystrom"}, default="auto"
        Full kernels, or landmarks with no n × n array; "auto" is exact up to n = 3000.
    n_landmarks : int, default=200
        Landmarks per view of "nystrom"; more come closer to the exact result, at quadratic cost.
    tol : float, default=1e-6
        Largest change of a weight that ends the iterations; raising it ends them earlier.
    max_iter : int, default=100
        Most iterations; a warning says where they ran out.
    n_init : int, default=10
        Starts of the final k-means; more make its result less a matter of luck.
    view_weights : mapping or sequence of float, default=None
        What each view counts, relative to the others: 2 counts its kernel as if it were given twice, beside the weight
        that is learned; 0 leaves it out. Views that a mapping leaves out get 1. By default all alike.
    scaling : {"auto", "standard", "minmax", "unit", "tfidf"}, mapping or None, default="auto"
        What is done to each view first. "auto": standardised if dense, tf-idf and unit rows if sparse.
    views : list of int or mapping, default=None
        How one table is cut into views.
    random_state : int, RandomState, Generator or None, default=None
        Seed of landmarks and k-means starts.
    n_jobs : int, default=None
        Views whose kernels are computed at a time; -1 uses all cores.
    verbose : int, default=0
        1 prints what is being done.

    Attributes
    ----------
    labels_ : ndarray of shape (n,), int64
        Cluster of each sample, 0 .. k-1, largest cluster first.
    view_weights_ : ndarray of shape (m,)
        Weights of the views, sum 1; mostly close to equal.
    embedding_ : ndarray of shape (n, k)
        Partition H, columns orthonormal.
    inertia_ : float
        Sum of squared distances of its unit rows to the centres of k-means.
    confidence_ : ndarray of shape (n,)
        1 - nearest / second nearest distance to the centres: 0 is a tie.
    history_ : History
        The objective after each step; it never rises.
    n_iter_ : int
        Iterations made.
    converged_ : bool
        Whether the objective settled before they ran out.
    approximation_ : {"exact", "nystrom"}
        What was used.
    scalings_ : tuple of str or None
        What was done to each view first; None for nothing.
    n_views_in_, n_features_in_ : int
        Number of views and of columns in all.
    view_names_in_, n_view_features_in_ : ndarray of shape (m,)
        Names of the views and their numbers of columns.

    See Also
    --------
    MKKM : Minimises over the partition too.
    AverageKKM : Weighs no view.

    Notes
    -----
    Cost: exact O(m n²) per step beside one partial eigenproblem, and (m + 1) n² numbers; landmarks O(n (m s)²) once,
    then nothing per step depends on n. Instead of the reduced gradients of the released code, steps minimise a
    quadratic model with learned curvature over the simplex: on two inputs 6 and 8 objective values were enough for a
    lower objective than the released code reaches with 135 and 367 eigenproblems.

    References
    ----------
    X. Liu, E. Zhu, J. Liu, T. Hospedales, Y. Wang, M. Wang. SimpleMKKM: Simple Multiple Kernel K-means. 2020.
    https://doi.org/10.48550/arXiv.2005.04975

    Examples
    --------
    >>> from manyviews import SimpleMKKM, datasets
    >>> data = datasets.make_blobs_views(n_samples=90, n_features=(5, 4), n_clusters=3, random_state=0)
    >>> SimpleMKKM(n_clusters=3, random_state=0).fit(data.views).labels_.shape
    (90,)
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        base: str = "features",
        kernel: Any = "auto",
        gamma: Any = None,
        approximation: str = "auto",
        n_landmarks: int = 200,
        tol: float = 1e-6,
        max_iter: int = 100,
        n_init: int = 10,
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
        self.base = base
        self.kernel = kernel
        self.gamma = gamma
        self.approximation = approximation
        self.n_landmarks = n_landmarks
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init

    def _solve(self, kernels: KernelSet) -> WeightedKernels:
        return solve_smkkm(kernels, self.n_clusters, wanted=self._wanted, tol=self.tol, max_iter=self.max_iter)

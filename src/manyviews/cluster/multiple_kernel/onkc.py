"""Optimal neighborhood kernel clustering with multiple kernels."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from manyviews.cluster.constraints import NON_NEGATIVE, POSITIVE
from manyviews.cluster.multiple_kernel.base import (
    Array,
    ExactKernelClusterer,
    WeightedKernels,
    shares,
    simplex_minimum,
)
from manyviews.kernels.embedding import SpectralPartition
from manyviews.kernels.kernel_set import ExactKernels
from manyviews.linalg.eigen import eigenpairs_above
from manyviews.optim.alternating import alternate

__all__ = ["ONKC", "solve_onkc"]

LEAST_WEIGHT = 1e-8


class Neighbourhood(NamedTuple):
    """The state: weights, and the eigenpairs of the neighbourhood kernel G, largest first."""

    gamma: Array
    values: Array
    vectors: Array

    @property
    def factor(self) -> Array:
        """The F (n, r) with G = F Fᵀ."""
        return np.asarray(self.vectors * np.sqrt(self.values))


def solve_onkc(
    kernels: ExactKernels,
    k: int,
    *,
    closeness: float = 1.0,
    regularization: float = 1.0,
    tol: float = 1e-4,
    max_iter: int = 50,
) -> tuple[WeightedKernels, Array]:
    r"""Minimise over partition, weights and a neighbourhood kernel G, which is positive semi-definite.

    .. math:: \operatorname{Tr}(G(I - HH^\top)) + \tfrac\rho2\|G - K_\gamma\|_F^2 + \tfrac\lambda2\gamma^\top M\gamma

    Parameters
    ----------
    kernels : ExactKernels
        Centred kernels on one scale.
    k : int
        Number of clusters.
    closeness : float, default=1
        The ρ > 0; raising it keeps G closer to the combined kernel, lowering it cuts the rank of G towards k.
    regularization : float, default=1
        The λ >= 0; raising it lets kernels that resemble others count less.
    tol : float, default=1e-4
        Relative change of the objective that ends the iterations.
    max_iter : int, default=50
        Most iterations.

    Returns
    -------
    result : WeightedKernels
        Weights and the leading eigenvectors of G; the objective never rises.
    factor : ndarray of shape (n, r)
        The F with G = F Fᵀ.
    """
    rho, lam = closeness, regularization
    M = kernels.products()

    def step(state: Neighbourhood) -> tuple[Neighbourhood, float]:
        H = state.vectors[:, :k]  # of the next iteration: G has been decomposed already
        gamma = simplex_minimum((rho + lam) * M, -rho * kernels.traces(state.factor), least=LEAST_WEIGHT)
        state = neighbourhood(kernels, gamma, H, rho, state.vectors.shape[1])
        f = kernels.traces(state.factor)
        distance = np.square(state.values).sum() - 2.0 * f @ gamma + gamma @ M @ gamma
        held = np.square(state.factor.T @ H).sum()
        objective = state.values.sum() - held + 0.5 * rho * distance + 0.5 * lam * gamma @ M @ gamma
        return state, float(objective)

    gamma = shares(kernels)
    H = kernels.leading(gamma, k).vectors
    state = neighbourhood(kernels, gamma, H, rho, len(H))
    state, history = alternate(step, state, tol=tol, max_iter=max_iter)
    partition = SpectralPartition(state.values[:k], state.vectors[:, :k])
    return WeightedKernels(state.gamma, state.gamma, partition, history), state.factor


def neighbourhood(kernels: ExactKernels, gamma: Array, H: Array, rho: float, guess: int) -> Neighbourhood:
    r"""Return the positive part of :math:`K_\gamma - (I - HH^\top)/\rho`.

    Its eigenvectors are those of :math:`K_\gamma + HH^\top/\rho` with an eigenvalue above 1/ρ, of which there are at
    least k: only these are computed. ``guess`` says about how many there are.
    """
    S = kernels.combination(gamma)
    S += (H / rho) @ H.T
    values, vectors = eigenpairs_above(S, 1.0 / rho, H.shape[1], guess)
    return Neighbourhood(gamma, np.maximum(values - 1.0 / rho, 0.0), vectors)


class ONKC(ExactKernelClusterer):
    r"""Optimal neighborhood kernel clustering with multiple kernels.

    .. math:: \min_{H, \gamma, G} \operatorname{Tr}\bigl(G (I - HH^\top)\bigr) + \frac\rho2 \|G - K_\gamma\|_F^2
              + \frac\lambda2 \gamma^\top M \gamma, \qquad K_\gamma = \sum_p \gamma_p K_p, \quad
              M_{pq} = \operatorname{Tr}(K_p K_q)

    over :math:`H^\top H = I_k`, weights γ on the simplex and positive semi-definite G; then k-means on the unit rows of
    H. The kernel that is clustered need not be a combination of those given, only lie near one.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    closeness : float, default=1
        The ρ; raising it keeps G closer to the combined kernel, lowering it cuts the rank of G towards k. With kernels
        of unit diagonal 1 keeps the eigenvalues above their mean.
    regularization : float, default=1
        The λ; raising it lets views that resemble others count less.
    base : {"features", "kernel", "distance"}, default="features"
        What each view holds: features (n, d_p), a kernel (n, n), which is centred and normalised, or distances (n, n),
        of which a Gaussian kernel is made.
    kernel : {"auto", "rbf_meandist", "rbf_invdim", "cosine", "linear"}, list or mapping, default="auto"
        Kernel of each view; see ``OPLFMVC``.
    gamma : float or mapping, default=None
        Factor of the squared distance in Gaussian kernels; raising it makes the kernel more local.
    tol : float, default=1e-4
        Relative change of the objective that ends the iterations; raising it ends them earlier.
    max_iter : int, default=50
        Most iterations; a warning says where they ran out.
    n_init : int, default=10
        Starts of the final k-means; more make its result less a matter of luck.
    view_weights : mapping or sequence of float, default=None
        0 leaves a view out; only 0 and equal ones: a kernel given twice changes nothing here. Views that a mapping
        leaves out get 1. By default all alike.
    scaling : {"auto", "standard", "minmax", "unit", "tfidf"}, mapping or None, default="auto"
        What is done to each view first. "auto": standardised if dense, tf-idf and unit rows if sparse.
    views : list of int or mapping, default=None
        How one table is cut into views.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the k-means starts.
    n_jobs : int, default=None
        Views whose kernels are computed at a time; -1 uses all cores.
    verbose : int, default=0
        1 prints what is being done.

    Attributes
    ----------
    labels_ : ndarray of shape (n,), int64
        Cluster of each sample, 0 .. k-1, largest cluster first.
    view_weights_ : ndarray of shape (m,)
        Weights of the views, sum 1; exact zeros for views that others make redundant.
    rank_ : int
        Rank of G.
    embedding_ : ndarray of shape (n, k)
        Partition H, columns orthonormal.
    inertia_ : float
        Sum of squared distances of its unit rows to the centres of k-means.
    confidence_ : ndarray of shape (n,)
        1 - nearest / second nearest distance to the centres: 0 is a tie.
    history_ : History
        The objective after each iteration; it never rises.
    n_iter_ : int
        Iterations made.
    converged_ : bool
        Whether the objective settled before they ran out.
    approximation_ : {"exact"}
        What was used.
    scalings_ : tuple of str or None
        What was done to each view first; None for nothing.
    n_views_in_, n_features_in_ : int
        Number of views and of columns in all.
    view_names_in_, n_view_features_in_ : ndarray of shape (m,)
        Names of the views and their numbers of columns.

    See Also
    --------
    MKKMMiR : Clusters the combination itself; takes landmarks.

    Notes
    -----
    Cost: O(m² n²) once, then O(n² r) per iteration for the r eigenpairs of G, n³ where r is above n / 8; (m + 3) n²
    numbers. G is the positive part of :math:`K_\gamma - (I - HH^\top)/\rho`, whose eigenpairs are those of
    :math:`K_\gamma + HH^\top/\rho` above 1/ρ.

    References
    ----------
    X. Liu, S. Zhou, Y. Wang, M. Li, Y. Dou, E. Zhu, J. Yin. Optimal Neighborhood Kernel Clustering with Multiple
    Kernels. AAAI 2017, 2266-2272. https://doi.org/10.1609/aaai.v31i1.10895

    Examples
    --------
    >>> from manyviews import ONKC, datasets
    >>> data = datasets.make_blobs_views(n_samples=90, n_features=(5, 4), n_clusters=3, random_state=0)
    >>> ONKC(n_clusters=3, random_state=0).fit(data.views).labels_.shape
    (90,)
    """

    _weightless: ClassVar[str] = "a kernel given twice changes nothing in it"
    # the dense solver holds the eigenvectors beside its copy of the matrix
    _work_arrays: ClassVar[int] = 3
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = ExactKernelClusterer._parameter_constraints | {
        "closeness": [POSITIVE],
        "regularization": [NON_NEGATIVE],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        closeness: float = 1.0,
        regularization: float = 1.0,
        base: str = "features",
        kernel: Any = "auto",
        gamma: Any = None,
        tol: float = 1e-4,
        max_iter: int = 50,
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
        self.closeness = closeness
        self.regularization = regularization
        self.base = base
        self.kernel = kernel
        self.gamma = gamma
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init

    def _solve(self, kernels: ExactKernels) -> WeightedKernels:
        result, factor = solve_onkc(
            kernels,
            self.n_clusters,
            closeness=self.closeness,
            regularization=self.regularization,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        self.rank_ = factor.shape[1]
        return result

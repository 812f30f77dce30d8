"""Multiple kernel k-means with matrix-induced regularization."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from manyviews.cluster.constraints import NON_NEGATIVE, one_of
from manyviews.cluster.multiple_kernel.base import (
    Array,
    MultipleKernelClusterer,
    WeightedKernels,
    mixture_of,
    residual_traces,
    settle,
    simplex_minimum,
)
from manyviews.kernels.kernel_set import KernelSet

__all__ = ["Combination", "MKKMMiR", "solve_mkkm_mir"]

Combination = Literal["paper", "released"]
# power of the weights with which the kernels are combined for the partition
POWER = {"paper": 2.0, "released": 1.0}
LEAST_WEIGHT = 1e-6


def solve_mkkm_mir(
    kernels: KernelSet,
    k: int,
    *,
    regularization: float = 0.5,
    products: Array | None = None,
    combination: Combination = "paper",
    wanted: Array | None = None,
    tol: float = 1e-6,
    max_iter: int = 100,
) -> WeightedKernels:
    r"""Minimise :math:`\operatorname{Tr}(K_\gamma (I - HH^\top)) + \tfrac\lambda2 \gamma^\top M \gamma`.

    Parameters
    ----------
    kernels : KernelSet
        Centred kernels on one scale.
    k : int
        Number of clusters.
    regularization : float, default=0.5
        The λ >= 0; raising it lets kernels that resemble others count less.
    products : ndarray of shape (m, m), default=None
        The matrix M; by default :math:`\operatorname{Tr}(K_p K_q)`.
    combination : {"paper", "released"}, default="paper"
        Squared weights in the combination whose eigenvectors are taken, or plain ones.
    tol : float, default=1e-6
        Relative change of the objective that ends the iterations.
    max_iter : int, default=100
        Most iterations.

    Returns
    -------
    WeightedKernels
        Weights, the partition at these weights, and the objective before each update of the weights, as the released
        code records it; with squared weights it never rises.
    """
    penalty = regularization * (kernels.products() if products is None else products)
    power, times = POWER[combination], 1.0 if wanted is None else wanted

    def step(gamma: Array) -> tuple[Array, float]:
        H = kernels.leading(mixture_of(gamma, power, wanted), k).vectors
        A = penalty + 2.0 * np.diag(residual_traces(kernels, H) / times)
        objective = 0.5 * float(gamma @ A @ gamma)
        return simplex_minimum(A, np.zeros(len(A)), least=LEAST_WEIGHT), objective

    return settle(kernels, k, step, power=power, wanted=wanted, tol=tol, max_iter=max_iter)


class MKKMMiR(MultipleKernelClusterer):
    r"""Multiple kernel k-means with matrix-induced regularization.

    .. math:: \min_{H, \gamma} \operatorname{Tr}\bigl(K_\gamma (I - HH^\top)\bigr)
              + \frac\lambda2 \gamma^\top M \gamma, \qquad K_\gamma = \sum_p \gamma_p^2 K_p, \quad
              M_{pq} = \operatorname{Tr}(K_p K_q)

    over :math:`H^\top H = I_k` and weights γ on the simplex; then k-means on the unit rows of H. Views that resemble
    each other share what they count.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    regularization : float, default=0.5
        The λ; raising it lets views that resemble others count less. Entries of M grow with n², so that even 0.1 lets M
        decide on the weights nearly alone; 0 is MKKM.
    combination : {"paper", "released"}, default="paper"
        Squared weights in :math:`K_\gamma` as printed, or plain ones as in the released code, whose objective can rise.
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
        Relative change of the objective that ends the iterations; raising it ends them earlier.
    max_iter : int, default=100
        Most iterations; a warning says where they ran out.
    n_init : int, default=10
        Starts of the final k-means; more make its result less a matter of luck.
    view_weights : mapping or sequence of float, default=None
        What each view counts, relative to the others: 2 counts its kernel as if it were given twice, which the price of
        kernels that are alike takes back in part; 0 leaves it out. Views that a mapping leaves out get 1. By default
        all alike.
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
        Weights of the views, sum 1; exact zeros for views that others make redundant.
    embedding_ : ndarray of shape (n, k)
        Partition H, columns orthonormal.
    inertia_ : float
        Sum of squared distances of its unit rows to the centres of k-means.
    confidence_ : ndarray of shape (n,)
        1 - nearest / second nearest distance to the centres: 0 is a tie.
    history_ : History
        The objective before each update of the weights, as the released code records it; it never rises with "paper".
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
    MKKM : The same without M.
    LKAM : The same on the neighbourhoods of the samples.

    Notes
    -----
    Cost: exact O(m² n²) once for M, then O(m n²) per iteration beside one partial eigenproblem, and (m + 1) n² numbers;
    landmarks O(n (m s)²) once, then nothing per iteration depends on n. The program for γ is solved exactly.

    References
    ----------
    X. Liu, Y. Dou, J. Yin, L. Wang, E. Zhu. Multiple Kernel k-Means Clustering with Matrix-Induced Regularization. AAAI
    2016, 1888-1894. https://doi.org/10.1609/aaai.v30i1.10249

    Examples
    --------
    >>> from manyviews import MKKMMiR, datasets
    >>> data = datasets.make_blobs_views(n_samples=90, n_features=(5, 4), n_clusters=3, random_state=0)
    >>> MKKMMiR(n_clusters=3, random_state=0).fit(data.views).labels_.shape
    (90,)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = MultipleKernelClusterer._parameter_constraints | {
        "regularization": [NON_NEGATIVE],
        "combination": [one_of("paper", "released")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        regularization: float = 0.5,
        combination: Any = "paper",
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
        self.regularization = regularization
        self.combination = combination
        self.base = base
        self.kernel = kernel
        self.gamma = gamma
        self.approximation = approximation
        self.n_landmarks = n_landmarks
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init

    def _solve(self, kernels: KernelSet) -> WeightedKernels:
        return solve_mkkm_mir(
            kernels,
            self.n_clusters,
            regularization=self.regularization,
            combination=self.combination,
            wanted=self._wanted,
            tol=self.tol,
            max_iter=self.max_iter,
        )

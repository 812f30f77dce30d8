"""Multiple kernel clustering with local kernel alignment maximization."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from manyviews.cluster.constraints import NON_NEGATIVE, SHARE_ABOVE_ZERO, one_of
from manyviews.cluster.multiple_kernel.base import Array, ExactKernelClusterer, WeightedKernels, shares
from manyviews.cluster.multiple_kernel.mkkm_mir import Combination, solve_mkkm_mir
from manyviews.kernels.kernel_set import ExactKernels
from manyviews.linalg.blocks import row_blocks

__all__ = ["LKAM", "local_kernels", "neighbourhood_counts", "solve_lkam"]


def solve_lkam(
    kernels: ExactKernels,
    k: int,
    *,
    neighborhood: float = 0.1,
    regularization: float = 1.0,
    include_self: bool = True,
    combination: Combination = "paper",
    wanted: Array | None = None,
    tol: float = 1e-6,
    max_iter: int = 50,
) -> WeightedKernels:
    r"""Align each kernel with the partition on the neighbourhoods of the samples alone.

    Parameters
    ----------
    kernels : ExactKernels
        Centred kernels on one scale; their arrays are overwritten.
    k : int
        Number of clusters.
    neighborhood : float, default=0.1
        The τ: part of the samples that make a neighbourhood; 1 with ``include_self`` is MKKM-MiR.
    regularization : float, default=1
        The λ >= 0; raising it lets kernels that resemble others count less.
    include_self : bool, default=True
        Whether a sample belongs to its own neighbourhood; False as released.
    combination : {"paper", "released"}, default="paper"
        Squared weights in the combination whose eigenvectors are taken, or plain ones.
    tol : float, default=1e-6
        Relative change of the objective that ends the iterations.
    max_iter : int, default=50
        Most iterations.

    Returns
    -------
    WeightedKernels
        As ``solve_mkkm_mir``, of which this is the case of masked kernels.
    """
    average = kernels.combination(shares(kernels, wanted))
    A = neighbourhood_counts(average, neighborhood, include_self=include_self)
    del average
    local, products = local_kernels(kernels, A)
    del A
    return solve_mkkm_mir(
        local,
        k,
        regularization=regularization,
        products=products,
        combination=combination,
        wanted=wanted,
        tol=tol,
        max_iter=max_iter,
    )


def neighbourhood_counts(average: Array, tau: float, *, include_self: bool) -> Array:
    """Return how many neighbourhoods hold both samples, (n, n).

    The neighbourhood of a sample are the τ n samples most similar to it, the first of equal ones.
    """
    n = len(average)
    size = min(int(np.floor(tau * n + 0.5)), n - 1)
    # counts below 2^24 are exact in single precision, and products of rows fast
    N = np.zeros((n, n), dtype=np.float32)
    for rows in row_blocks(n, 256):
        block = -average[rows]
        own = np.arange(rows.start, rows.stop)
        block[np.arange(len(own)), own] = np.inf
        nearest = np.argsort(block, axis=1, kind="stable")[:, :size]
        np.put_along_axis(N[rows], nearest, 1.0, axis=1)
        if include_self:
            N[own, own] = 1.0
    return N.T @ N


def local_kernels(kernels: ExactKernels, A: Array) -> tuple[ExactKernels, Array]:
    r"""Return the kernels masked to :math:`A \circ K_p / n`, in place, and the products that regularise their weights.

    These are the means over the neighbourhoods, and of the products of kernels within them:
    :math:`\bar M_{pq} = \frac1n \sum_{ab} A_{ab} K_p(a,b) K_q(a,b)`.
    """
    n, m = len(A), len(kernels)
    M = np.zeros((m, m))
    for rows in row_blocks(n, 64):
        for p, K in enumerate(kernels.kernels):
            masked = A[rows] * K[rows]
            for q in range(p, m):
                M[p, q] += np.vdot(masked, kernels.kernels[q][rows])
            # needed no more: products with the kernels before p are done
            K[rows] = masked / n
    M = np.triu(M) + np.triu(M, 1).T
    return ExactKernels(kernels.kernels), M / n


class LKAM(ExactKernelClusterer):
    r"""Multiple kernel clustering with local kernel alignment maximization.

    .. math:: \min_{H, \gamma} \frac1n \sum_i \operatorname{Tr}\bigl(K_\gamma^{(i)} (I - H^{(i)} H^{(i)\top})\bigr)
              + \frac\lambda2 \gamma^\top M^{(i)} \gamma, \qquad K_\gamma = \sum_p \gamma_p^2 K_p

    where (i) means the rows and columns of the τ n samples most similar to sample i in the average kernel; over
    :math:`H^\top H = I_k` and weights γ on the simplex; then k-means on the unit rows of H. Only similarities within
    neighbourhoods are aligned, so that far-away samples do not blur the clusters.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    neighborhood : float, default=0.1
        The τ: part of the samples that make the neighbourhood of each; raising it makes the alignment less local.
    regularization : float, default=1
        The λ; raising it lets views that resemble others count less.
    include_self : bool, default=True
        Whether a sample belongs to its own neighbourhood. False as released, where a sample that is in no neighbourhood
        has no place in H.
    combination : {"paper", "released"}, default="paper"
        Squared weights in :math:`K_\gamma` as printed and in the later release, or plain ones as in the first, whose
        objective can rise.
    base : {"features", "kernel", "distance"}, default="features"
        What each view holds: features (n, d_p), a kernel (n, n), which is centred and normalised, or distances (n, n),
        of which a Gaussian kernel is made.
    kernel : {"auto", "rbf_meandist", "rbf_invdim", "cosine", "linear"}, list or mapping, default="auto"
        Kernel of each view; see ``OPLFMVC``.
    gamma : float or mapping, default=None
        Factor of the squared distance in Gaussian kernels; raising it makes the kernel more local.
    tol : float, default=1e-6
        Relative change of the objective that ends the iterations; raising it ends them earlier.
    max_iter : int, default=50
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
    embedding_ : ndarray of shape (n, k)
        Partition H, columns orthonormal.
    inertia_ : float
        Sum of squared distances of its unit rows to the centres of k-means.
    confidence_ : ndarray of shape (n,)
        1 - nearest / second nearest distance to the centres: 0 is a tie.
    history_ : History
        The objective before each update of the weights, as the released codes record it; it never rises with "paper".
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
    MKKMMiR : The same on all samples at once; takes landmarks.

    Notes
    -----
    Cost: O(n³) once in single precision for the number A of neighbourhoods that two samples share, O(m² n²) once, then
    O(m n²) per iteration beside one partial eigenproblem; (m + 1.5) n² numbers. The sum over neighbourhoods is MKKM-MiR
    on the masked kernels :math:`A \circ K_p / n`.

    References
    ----------
    M. Li, X. Liu, L. Wang, Y. Dou, J. Yin, E. Zhu. Multiple Kernel Clustering with Local Kernel Alignment Maximization.
    IJCAI 2016, 1704-1710. https://www.ijcai.org/Proceedings/16/Papers/244.pdf

    Examples
    --------
    >>> from manyviews import LKAM, datasets
    >>> data = datasets.make_blobs_views(n_samples=90, n_features=(5, 4), n_clusters=3, random_state=0)
    >>> LKAM(n_clusters=3, random_state=0).fit(data.views).labels_.shape
    (90,)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = ExactKernelClusterer._parameter_constraints | {
        "neighborhood": [SHARE_ABOVE_ZERO],
        "regularization": [NON_NEGATIVE],
        "include_self": ["boolean"],
        "combination": [one_of("paper", "released")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        neighborhood: float = 0.1,
        regularization: float = 1.0,
        include_self: bool = True,
        combination: Any = "paper",
        base: str = "features",
        kernel: Any = "auto",
        gamma: Any = None,
        tol: float = 1e-6,
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
        self.neighborhood = neighborhood
        self.regularization = regularization
        self.include_self = include_self
        self.combination = combination
        self.base = base
        self.kernel = kernel
        self.gamma = gamma
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init

    def _solve(self, kernels: ExactKernels) -> WeightedKernels:
        return solve_lkam(
            kernels,
            self.n_clusters,
            neighborhood=self.neighborhood,
            regularization=self.regularization,
            include_self=self.include_self,
            combination=self.combination,
            wanted=self._wanted,
            tol=self.tol,
            max_iter=self.max_iter,
        )

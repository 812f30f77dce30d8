"""Multiple kernel k-means."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from manyviews.cluster.constraints import ABOVE_ONE
from manyviews.cluster.multiple_kernel.base import (
    Array,
    MultipleKernelClusterer,
    WeightedKernels,
    mixture_of,
    residual_traces,
    settle,
)
from manyviews.kernels.kernel_set import KernelSet
from manyviews.views.caller import warn_user

__all__ = ["MKKM", "solve_mkkm"]

# a kernel whose trace is held by H but for this part would get all the weight
LEAST_RESIDUAL = 1e-12
ALL_WEIGHT = 1.0 - 1e-6


def solve_mkkm(
    kernels: KernelSet,
    k: int,
    *,
    exponent: float = 2.0,
    wanted: Array | None = None,
    tol: float = 1e-6,
    max_iter: int = 100,
) -> WeightedKernels:
    r"""Minimise :math:`\operatorname{Tr}(K_\gamma (I - HH^\top))` with :math:`K_\gamma = \sum_p \gamma_p^q K_p`.

    Parameters
    ----------
    kernels : KernelSet
        Centred kernels on one scale.
    k : int
        Number of clusters.
    exponent : float, default=2
        The q > 1; raising it makes the weights more equal.
    tol : float, default=1e-6
        Relative change of the objective that ends the iterations.
    max_iter : int, default=100
        Most iterations.

    Returns
    -------
    WeightedKernels
        Weights and the partition at these weights; the objective never rises.
    """
    floor = np.maximum(LEAST_RESIDUAL * kernels.own_traces, np.finfo(float).tiny)

    def step(gamma: Array) -> tuple[Array, float]:
        H = kernels.leading(mixture_of(gamma, exponent, wanted), k).vectors
        a = np.maximum(residual_traces(kernels, H), floor)
        gamma = (a.min() / a) ** (1.0 / (exponent - 1.0))
        gamma *= 1.0 if wanted is None else wanted
        gamma /= gamma.sum()
        gamma[gamma < np.finfo(float).eps] = 0.0
        gamma /= gamma.sum()
        return gamma, float(mixture_of(gamma, exponent, wanted) @ a)

    return settle(kernels, k, step, power=exponent, wanted=wanted, tol=tol, max_iter=max_iter)


class MKKM(MultipleKernelClusterer):
    r"""Multiple kernel k-means.

    .. math:: \min_{H, \gamma} \operatorname{Tr}\bigl(K_\gamma (I - HH^\top)\bigr), \qquad
              K_\gamma = \sum_p \gamma_p^q K_p, \quad H^\top H = I_k, \quad \gamma \ge 0, \quad \sum_p \gamma_p = 1

    with the centred, normalised kernels :math:`K_p` of the views and q = 2; then k-means on the unit rows of H. The
    relaxation that later papers call MKKM. It favours the smoothest kernel, not the one that tells most: a view of few
    columns can take nearly all the weight. On the 2000 digits of mfeat its accuracy is far below that of the average
    kernel.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    exponent : float, default=2
        The q > 1 of the weights; raising it makes them more equal.
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
        Weights of the views, sum 1.
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
    AverageKKM : Weighs no view.
    MKKMMiR : Lets views that resemble others count less.

    Notes
    -----
    Cost: exact O(m n²) per iteration beside one partial eigenproblem, and (m + 1) n² numbers; landmarks O(n (m s)²)
    once, then nothing per iteration depends on n. H belongs to the weights returned, where the released codes return
    the one before the last update.

    References
    ----------
    H.-C. Huang, Y.-Y. Chuang, C.-S. Chen. Multiple Kernel Fuzzy Clustering. IEEE Transactions on Fuzzy Systems 20(1),
    2012, 120-134. https://doi.org/10.1109/TFUZZ.2011.2170175

    Examples
    --------
    >>> from manyviews import MKKM, datasets
    >>> data = datasets.make_blobs_views(n_samples=90, n_features=(5, 4), n_clusters=3, random_state=0)
    >>> MKKM(n_clusters=3, random_state=0).fit(data.views).labels_.shape
    (90,)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = MultipleKernelClusterer._parameter_constraints | {
        "exponent": [ABOVE_ONE],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        exponent: float = 2.0,
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
        self.exponent = exponent
        self.base = base
        self.kernel = kernel
        self.gamma = gamma
        self.approximation = approximation
        self.n_landmarks = n_landmarks
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init

    def _solve(self, kernels: KernelSet) -> WeightedKernels:
        k = self.n_clusters
        result = solve_mkkm(
            kernels, k, exponent=self.exponent, wanted=self._wanted, tol=self.tol, max_iter=self.max_iter
        )
        if len(kernels) > 1 and result.weights.max() > ALL_WEIGHT:
            view = str(self._fitted_views.names[self._live[int(result.weights.argmax())]])
            warn_user(
                f"view {view!r} has all the weight: its kernel has no more than {k} directions, so the other views "
                "count nothing; try another kernel or gamma for it, or MKKMMiR"
            )
        return result

"""Localized multiple kernel k-means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from manyviews.cluster.multiple_kernel.base import Array, ExactKernelClusterer, WeightedKernels, shares
from manyviews.kernels.kernel_set import ExactKernels, KernelSet, leading_partition
from manyviews.linalg.blocks import row_blocks
from manyviews.linalg.simplex import project_rows
from manyviews.optim.alternating import alternate

__all__ = ["LMKKM", "LocalWeights", "solve_lmkkm"]

MAX_INNER = 500


@dataclass(frozen=True)
class LocalWeights(WeightedKernels):
    """What the solver finds: beside the mean weights, theta (n, m) of every sample."""

    theta: Array


def solve_lmkkm(
    kernels: ExactKernels,
    k: int,
    *,
    wanted: Array | None = None,
    tol: float = 1e-4,
    max_iter: int = 50,
    inner_tol: float = 1e-8,
) -> LocalWeights:
    r"""Minimise :math:`\operatorname{Tr}(K_\Theta (I - HH^\top))` over the partition and weights of every sample.

    Here :math:`K_\Theta = \sum_p (\theta_p\theta_p^\top) \circ K_p`.

    Parameters
    ----------
    kernels : ExactKernels
        Centred kernels on one scale.
    k : int
        Number of clusters.
    tol : float, default=1e-4
        Change of the objective, relative to the mean trace of the kernels, that ends the iterations.
    max_iter : int, default=50
        Most iterations.
    inner_tol : float, default=1e-8
        Largest change of a weight that ends the steps on the weights within an iteration.

    Returns
    -------
    LocalWeights
        Weights of every sample, rows of sum 1; the objective never rises.
    """
    n = len(kernels.kernels[0])
    for K, times in zip(kernels.kernels, () if wanted is None else wanted, strict=wanted is not None):
        np.divide(K, times, out=K)  # copies of a kernel would share its weight, which is squared
    # no eigenvalue of a kernel masked by a projector is above its largest diagonal entry
    bound = max(np.finfo(float).tiny, *(float(K.diagonal().max()) for K in kernels.kernels))

    def step(theta: Array) -> tuple[Array, float]:
        H = leading_partition(localized(kernels, theta), k).vectors
        theta = _weights_step(kernels, H, theta, 0.5 / bound, inner_tol)
        return theta, float(np.vdot(theta, _products(kernels, H, theta)))

    # H may come to hold the kernels whole, where they have few directions: then the objective falls for ever
    scale = float(kernels.own_traces.mean())
    start = np.tile(shares(kernels, wanted), (n, 1))
    theta, history = alternate(step, start, tol=tol, max_iter=max_iter, scale=scale)
    weights = theta.mean(axis=0)
    return LocalWeights(weights, weights, leading_partition(localized(kernels, theta), k), history, theta)


def localized(kernels: ExactKernels, theta: Array) -> Array:
    """Return the kernel of locally weighted samples, (n, n)."""
    total = np.zeros_like(kernels.kernels[0])
    for rows in row_blocks(len(total), 64):
        for K, weights in zip(kernels.kernels, theta.T, strict=True):
            block = K[rows] * weights
            block *= weights[rows, None]
            total[rows] += block
    return total


def _weights_step(kernels: ExactKernels, H: Array, theta: Array, step: float, tol: float) -> Array:
    """Minimise over the weights for a fixed partition: accelerated projected gradients, restarted at an overshoot."""
    ahead, momentum = theta, 1.0
    for _ in range(MAX_INNER):
        gradient = 2.0 * _products(kernels, H, ahead)
        following = project_rows(ahead - step * gradient)
        change = following - theta
        largest = float(np.abs(change).max())
        if np.vdot(ahead - following, change) > 0.0:
            momentum = 1.0
        later = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        ahead = following + (momentum - 1.0) / later * change
        theta, momentum = following, later
        if largest < tol:
            break
    return theta


def _products(kernels: ExactKernels, H: Array, theta: Array) -> Array:
    r"""Return :math:`((I - HH^\top) \circ K_p)\,\theta_p` as columns (n, m), without forming a masked kernel."""
    columns = []
    for K, weights in zip(kernels.kernels, theta.T, strict=True):
        # the identity keeps the diagonal of the kernel alone
        columns.append(K.diagonal() * weights - np.einsum("ij,ij->i", H, K @ (H * weights[:, None])))
    return np.column_stack(columns)


class LMKKM(ExactKernelClusterer):
    r"""Localized multiple kernel k-means.

    .. math:: \min_{H, \Theta} \operatorname{Tr}\bigl(K_\Theta (I - HH^\top)\bigr), \qquad
              K_\Theta = \sum_p (\theta_p \theta_p^\top) \circ K_p, \quad H^\top H = I_k, \quad \Theta \ge 0, \quad
              \Theta 1 = 1

    then k-means on the unit rows of H. Every sample has its own weights of the views, row i of Θ.

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
    tol : float, default=1e-4
        Change of the objective, relative to the mean trace of the kernels, that ends the iterations; raising it ends
        them earlier.
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
        Mean over the samples of their weights, sum 1.
    sample_view_weights_ : ndarray of shape (n, m)
        Weights of the views for each sample, rows of sum 1.
    embedding_ : ndarray of shape (n, k)
        Partition H, columns orthonormal.
    inertia_ : float
        Sum of squared distances of its unit rows to the centres of k-means.
    confidence_ : ndarray of shape (n,)
        1 - nearest / second nearest distance to the centres: 0 is a tie.
    history_ : History
        The objective after each update of the weights; it never rises.
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
    MKKM : One weight per view; takes landmarks.

    Notes
    -----
    Cost: O(m n² k) per step on the weights, up to about 30 of them per iteration, beside one partial eigenproblem, and
    (m + 1) n² numbers. The program of n m weights, which the released code hands to a general solver at (n m)² memory,
    is solved by accelerated projected gradients.

    References
    ----------
    M. Gönen, A. A. Margolin. Localized Data Fusion for Kernel k-Means Clustering with Application to Cancer Biology.
    NIPS 2014, 1305-1313. https://papers.nips.cc/paper/5236-localized-data-fusion-for-kernel-k-means-clustering-with-application-to-cancer-biology

    Examples
    --------
    >>> from manyviews import LMKKM, datasets
    >>> data = datasets.make_blobs_views(n_samples=90, n_features=(5, 4), n_clusters=3, random_state=0)
    >>> LMKKM(n_clusters=3, random_state=0).fit(data.views).labels_.shape
    (90,)
    """

    _sample_axes = ExactKernelClusterer._sample_axes | {"sample_view_weights_": (0,)}

    def __init__(
        self,
        n_clusters: int = 8,
        *,
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
        self.base = base
        self.kernel = kernel
        self.gamma = gamma
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init

    def _solve(self, kernels: ExactKernels) -> LocalWeights:
        return solve_lmkkm(kernels, self.n_clusters, wanted=self._wanted, tol=self.tol, max_iter=self.max_iter)

    def _keep_rule(self, kernels: KernelSet, result: LocalWeights) -> None:
        self.sample_view_weights_ = np.zeros((len(result.theta), self.n_views_in_))
        self.sample_view_weights_[:, self._counted[self._live]] = result.theta

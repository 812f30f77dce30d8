"""Robust multiple kernel k-means by min-max optimization."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from manyviews.cluster.constraints import one_of
from manyviews.cluster.multiple_kernel.base import (
    Array,
    MultipleKernelClusterer,
    WeightedKernels,
    residual_traces,
    shares,
)
from manyviews.kernels.embedding import SpectralPartition
from manyviews.kernels.kernel_set import KernelSet
from manyviews.optim.history import History

__all__ = ["MKKMMM", "solve_mkkm_mm"]

# steps within which the change of the weights must halve, else answers are only followed as far as they help
PATIENCE = 3
HALVINGS = 20


class Answer(NamedTuple):
    """Weights, the partition there, what each kernel keeps beside it, and the objective."""

    theta: Array
    partition: SpectralPartition
    w: Array
    objective: float


def solve_mkkm_mm(
    kernels: KernelSet, k: int, *, wanted: Array | None = None, tol: float = 1e-6, max_iter: int = 100
) -> tuple[WeightedKernels, Array]:
    r"""Solve :math:`\min_H \max_\theta \operatorname{Tr}(K_\theta (I - HH^\top))` over :math:`\|\theta\|_2 \le 1`.

    Parameters
    ----------
    kernels : KernelSet
        Centred kernels, each of which is divided by its trace here.
    k : int
        Number of clusters.
    tol : float, default=1e-6
        Change of the weights that ends the iterations.
    max_iter : int, default=100
        Most iterations.

    Returns
    -------
    result : WeightedKernels
        Weights of Euclidean length 1 and the partition at these weights.
    trace : ndarray of shape (n_iter, m)
        Weights of each iteration, the equal ones first.
    """
    # copies of a kernel would share its weight, of which the squares have the sum 1
    root = np.ones(len(kernels)) if wanted is None else np.sqrt(wanted)
    scale = root * _scale(kernels)
    point = _answer(kernels, root * shares(kernels), k, scale)
    passed, changes, careful, converged = [point], [np.inf], False, False
    while len(passed) < max_iter and not converged:
        length = float(np.linalg.norm(point.w))
        if length == 0.0:  # H holds every kernel: all weights are as good
            converged = True
            break
        best = point.w / length
        following = _ascent(kernels, k, point, best, scale) if careful else _answer(kernels, best, k, scale)
        if following is None:
            converged = True
            break
        changes.append(float(np.linalg.norm(following.theta - point.theta)))
        point = following
        passed.append(point)
        converged = changes[-1] < tol
        careful = careful or _stuck(changes)
    objective = np.array([answer.objective for answer in passed])
    result = WeightedKernels(
        root * point.theta, scale * point.theta, point.partition, History(objective, len(passed), converged)
    )
    return result, np.array([answer.theta for answer in passed])


def _scale(kernels: KernelSet) -> Array:
    """Return what brings kernels to one trace; those of unit diagonal have it, but for samples they say nothing of."""
    return np.asarray(kernels.own_traces.mean() / np.maximum(kernels.own_traces, np.finfo(float).tiny))


def _answer(kernels: KernelSet, theta: Array, k: int, scale: Array) -> Answer:
    partition = kernels.leading(scale * theta, k)
    w = scale * residual_traces(kernels, partition.vectors)
    return Answer(theta, partition, w, float(theta @ w))


def _ascent(kernels: KernelSet, k: int, point: Answer, best: Array, scale: Array) -> Answer | None:
    """Return the first of ever smaller steps towards the best answer that raises the objective, if there is one."""
    step = 0.5
    for _ in range(HALVINGS):
        theta = point.theta + step * (best - point.theta)
        trial = _answer(kernels, theta / np.linalg.norm(theta), k, scale)
        if trial.objective > point.objective:
            return trial
        step /= 2.0
    return None


def _stuck(changes: list[float]) -> bool:
    """Tell whether best answers go round in a circle: their changes hardly shrink."""
    return len(changes) > 2 * PATIENCE and min(changes[-PATIENCE:]) > 0.5 * min(changes[:-PATIENCE])


class MKKMMM(MultipleKernelClusterer):
    r"""Robust multiple kernel k-means by min-max optimization.

    .. math:: \min_H \max_\theta \operatorname{Tr}\bigl(K_\theta (I - HH^\top)\bigr), \qquad
              K_\theta = \sum_p \theta_p K_p, \quad H^\top H = I_k, \quad \theta \ge 0, \quad \|\theta\|_2 \le 1

    then k-means on the unit rows of H. The weights raise the views that H explains worst, the opposite of MKKM. Where
    kernels have equal traces and many directions the weights are almost equal, and the result is that of
    ``AverageKKM``.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    normalization : {"trace", "cosine"}, default="trace"
        What is done to each centred kernel: divided by its trace as in the authors' package, or brought to unit
        diagonal as the other methods of the family do, and the comparisons of later papers.
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
        Change of the weights that ends the iterations; raising it ends them earlier.
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
        Weights of the views, scaled to sum 1.
    embedding_ : ndarray of shape (n, k)
        Partition H, columns orthonormal.
    inertia_ : float
        Sum of squared distances of its unit rows to the centres of k-means.
    confidence_ : ndarray of shape (n,)
        1 - nearest / second nearest distance to the centres: 0 is a tie.
    history_ : History
        The objective at the weights of each iteration; it need not rise or fall.
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
    AverageKKM : What it comes to where kernels are alike.
    MKKM : The weights minimise instead.

    Notes
    -----
    Cost: exact O(m n²) per iteration beside one partial eigenproblem, and (m + 1) n² numbers; landmarks O(n (m s)²)
    once, then nothing per iteration depends on n. The alternation of best answers is not proved to settle: where
    their changes stop shrinking, they are followed only as far as the objective, concave in the weights, rises.

    References
    ----------
    S. Bang, Y.-L. Yu, W. Wu. Robust Multiple Kernel k-means Clustering using Min-Max Optimization. 2018.
    https://doi.org/10.48550/arXiv.1803.02458

    Examples
    --------
    >>> from manyviews import MKKMMM, datasets
    >>> data = datasets.make_blobs_views(n_samples=90, n_features=(5, 4), n_clusters=3, random_state=0)
    >>> MKKMMM(n_clusters=3, random_state=0).fit(data.views).labels_.shape
    (90,)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = MultipleKernelClusterer._parameter_constraints | {
        "normalization": [one_of("trace", "cosine")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        normalization: Any = "trace",
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
        self.normalization = normalization
        self.base = base
        self.kernel = kernel
        self.gamma = gamma
        self.approximation = approximation
        self.n_landmarks = n_landmarks
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init

    def _unit_kernels(self) -> bool:
        return bool(self.normalization == "cosine")

    def _solve(self, kernels: KernelSet) -> WeightedKernels:
        return solve_mkkm_mm(kernels, self.n_clusters, wanted=self._wanted, tol=self.tol, max_iter=self.max_iter)[0]

r"""One-pass late fusion: labels, rotations and view weights learned together from base partitions.

maximise :math:`J = \operatorname{Tr}(C^\top Y^\top R)`, :math:`R = \sum_p \beta_p H_p W_p`, over one-hot Y,
:math:`C^\top C = I_k`, :math:`W_p^\top W_p = I_k`, :math:`\|\beta\|_2 = 1`, :math:`\beta \ge 0` (eq. 7 of the paper).
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.constraints import NON_NEGATIVE, POSITIVE_INT, one_of
from manyviews.cluster.kernel_base import LateFusionClusterer
from manyviews.cluster.late_fusion.fusion import aligned_start, released_start
from manyviews.cluster.published import PublishedRecipes
from manyviews.cluster.result import FitResult
from manyviews.kernels.embedding import common_projection
from manyviews.linalg.blocks import row_blocks
from manyviews.linalg.polar import polar
from manyviews.optim.history import History
from manyviews.optim.restarts import best_restart
from manyviews.partitions.discretize import direction_confidence
from manyviews.partitions.onehot import cluster_sums
from manyviews.views import Views

__all__ = ["OPLFMVC", "OnePass", "consensus_rows", "fusion_update", "rotated_labels", "solve_op_lfmvc", "update_runs"]

Array = NDArray[Any]
ROWS_PER_BLOCK = 2_048
# n_init="auto" starts so often that starts times samples come to this
STARTED_ROWS = 50_000
UpdateOrder = Literal["paper", "released"]


class OnePass(NamedTuple):
    """Labels (n,), centroids C (k, k), rotations W (m, k, k), weights β (m,), history and which restart won."""

    labels: NDArray[np.int64]
    C: Array
    W: Array
    beta: Array
    history: History
    restart: int


def rotated_labels(stacked: Array, C: Array, W: Array, beta: Array) -> NDArray[np.int64]:
    """Label step: the cluster j with the largest entry of row i of R Cᵀ, for every restart, shape (R, n)."""
    R, m, k, _ = W.shape
    M = np.einsum("rp,rpab,rcb->parc", beta, W, C).reshape(m * k, R * k)
    labels = np.empty((R, stacked.shape[0]), dtype=np.int64)
    for rows in row_blocks(stacked.shape[0], ROWS_PER_BLOCK):
        labels[:, rows] = (stacked[rows] @ M).reshape(-1, R, k).argmax(axis=2).T
    return labels


def solve_op_lfmvc(
    stacked: Array,
    C0: Array,
    W0: Array,
    *,
    order: UpdateOrder = "paper",
    tol: float = 1e-4,
    max_iter: int = 100,
    keep_labels: bool = False,
) -> OnePass:
    """Maximise J from one or several starts and keep the best.

    Parameters
    ----------
    stacked : ndarray of shape (n, m·k)
        Base partitions side by side.
    C0 : ndarray of shape (R, k, k)
        Orthogonal centroids of R starts.
    W0 : ndarray of shape (m, k, k)
        Rotations at the start, shared by all.
    order : {"paper", "released"}, default="paper"
        Rotations before weights, or weights before rotations as in the released code.
    tol : float, default=1e-4
        Relative change of J that ends a run, tested from the third iteration on.
    max_iter : int, default=100
        Most iterations of a run.
    keep_labels : bool, default=False
        Whether the history holds the labels of each iteration.

    Returns
    -------
    OnePass
        The run with the largest J; the first one where several tie.
    """
    R, m = C0.shape[0], W0.shape[0]
    start = (np.zeros((R, len(stacked)), np.int64), C0, np.tile(W0, (R, 1, 1, 1)), np.full((R, m), m**-0.5))
    best = best_restart(
        lambda runs: update_runs(stacked, runs, order), start, tol=tol, max_iter=max_iter, keep_labels=keep_labels
    )
    labels, C, W, beta = best.variables
    return OnePass(labels, C, W, beta, best.history, best.restart)


def update_runs(stacked: Array, runs: tuple[Array, ...], order: UpdateOrder) -> tuple[tuple[Array, ...], Array]:
    """One iteration of R runs (labels, C, W, β): labels, centroids, then rotations and weights in the order given."""
    _, C, W, beta = runs
    labels = rotated_labels(stacked, C, W, beta)
    (C, W, beta), objective = fusion_update(cluster_sums(labels, stacked, C.shape[1]), W, beta, order)
    return (labels, C, W, beta), objective


def fusion_update(sums: Array, W: Array, beta: Array, order: UpdateOrder) -> tuple[tuple[Array, ...], Array]:
    """Update C, W and β of R runs from the sums of the partitions side by side in their clusters, (R, k, m·k)."""
    R, m, k, _ = W.shape
    S = sums.reshape(R, k, m, k).transpose(0, 2, 1, 3)  # Yᵀ H_p
    C = polar(np.einsum("rp,rpcb,rpbd->rcd", beta, S, W))  # eq. 11: A = Yᵀ R
    B = S.transpose(0, 1, 3, 2) @ C[:, None]  # H_pᵀ Y C
    if order == "released":
        beta = _weights(np.einsum("rpab,rpab->rp", B, W))
        W = polar(B)
    else:
        W = polar(B)  # eq. 13
        beta = _weights(np.einsum("rpab,rpab->rp", B, W))  # eq. 15
    return (C, W, beta), np.einsum("rp,rpab,rpab->r", beta, B, W)


def consensus_rows(stacked: Array, beta: Array, W: Array) -> Array:
    """Return the rows of R = Σ β_p H_p W_p, (n, k), of partitions side by side."""
    return np.asarray(stacked @ (beta[:, None, None] * W).reshape(stacked.shape[1], -1))


def _weights(alpha: Array) -> Array:
    """Return α / ‖α‖ with negative entries set to 0; equal weights where nothing is left."""
    alpha = np.maximum(alpha, 0.0)
    length = np.linalg.norm(alpha, axis=1, keepdims=True)
    equal = np.full_like(alpha, alpha.shape[1] ** -0.5)
    return np.where(length > 0, alpha / np.where(length > 0, length, 1.0), equal)


class OPLFMVC(LateFusionClusterer, PublishedRecipes):
    r"""One-pass late fusion multi-view clustering (OP-LFMVC).

    Each view is reduced to a base partition :math:`H_p` (n, k), the leading eigenvectors of its kernel. Labels are then
    learned directly, without a final k-means, by

    .. math:: \max_{Y, C, W_p, \beta} \operatorname{Tr}\bigl(C^\top Y^\top \sum_p \beta_p H_p W_p\bigr)

    with one-hot labels Y, orthogonal centroids C and rotations :math:`W_p`, and :math:`\|\beta\|_2 = 1, \beta \ge 0`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    base : {"features", "kernel", "distance", "embedding"}, default="features"
        What each view holds: features (n, d_p), a kernel (n, n), distances (n, n), of which a Gaussian kernel is made,
        or a partition (n, k) with orthonormal columns.
    kernel : {"auto", "rbf_meandist", "rbf_invdim", "cosine", "linear"}, list or mapping, default="auto"
        Kernel of each view. "auto": "rbf_meandist" for dense, "cosine" for sparse views. "rbf_meandist":
        :math:`\exp(-\|x-y\|^2 / 2\sigma^2)` with σ the mean distance. "rbf_invdim":
        :math:`\exp(-\|x-y\|^2 / d)`, which reproduces the paper's 3Sources row.
    gamma : float or mapping, default=None
        Factor of the squared distance in Gaussian kernels; raising it makes the kernel more local.
    approximation : {"auto", "exact", "nystrom"}, default="auto"
        How the partitions are computed: from full kernels, or from landmarks with no n × n array. "auto" is exact up
        to n = 3000.
    n_landmarks : int, default=200
        Landmarks per view of "nystrom"; more of them come closer to the exact partition, at quadratic cost.
    init : {"aligned", "released", "released_signs"}, default="aligned"
        "aligned": rotations onto the average partition and ``n_init`` starts of the centroids. "released": the released
        code's single start, which depends on the arbitrary signs of eigenvectors; "released_signs" draws these signs.
    n_init : int or "auto", default="auto"
        Starts of which the one with the largest objective is kept; more of them find a larger one. "auto": 50 000 / n,
        but 20 to 300, as small data have many local optima and cheap starts. "released" has one.
    update_order : {"paper", "released"}, default="paper"
        Order of the updates of rotations and weights; the released code updates the weights first.
    tol : float, default=1e-6
        Relative change of the objective that ends the iterations. The paper stops at 1e-3, the released code at 1e-4;
        starts are compared more fairly when they have come to rest.
    max_iter : int, default=100
        Most iterations of a start.
    keep_labels : bool, default=False
        Whether ``history_.labels`` holds the labels Y of each iteration, at the memory of n numbers for each iteration
        and start; it changes nothing else.
    view_weights : mapping or sequence of float, default=None
        What each view counts, relative to the others: 2 counts its partition as if it were given twice; 0 leaves it
        out. Views that a mapping leaves out get 1. By default all alike.
    scaling : {"auto", "standard", "minmax", "unit", "tfidf"}, mapping or None, default="auto"
        What is done to each view first. "auto": standardised if dense, tf-idf and unit rows if sparse.
    views : list of int or mapping, default=None
        How one table is cut into views.
    random_state : int, RandomState, Generator or None, default=None
        Seed of landmarks and starts.
    n_jobs : int, default=None
        Views whose partitions are computed at a time; -1 uses all cores.
    verbose : int, default=0
        1 prints what is being done.

    Attributes
    ----------
    labels_ : ndarray of shape (n,), int64
        Cluster of each sample, 0 .. k-1, largest cluster first.
    view_weights_ : ndarray of shape (m,)
        Weights β of the views, scaled to sum 1.
    embedding_ : ndarray of shape (n, k)
        Consensus :math:`R = \sum_p \beta_p H_p W_p`.
    cluster_centers_ : ndarray of shape (k, k)
        Orthogonal centroids C in the space of the embedding, in the order of the labels.
    rotations_ : ndarray of shape (m, k, k)
        Rotations :math:`W_p`.
    confidence_ : ndarray of shape (n,)
        Between 0 (two centroids fit the sample alike) and 1 (it points exactly at its centroid).
    history_ : History
        Objective after each iteration of the best start, and with ``keep_labels`` the labels that it made, which the
        update of centroids, rotations and weights of the same iteration followed; ``labels_`` come one step later.
    n_iter_, converged_ : int, bool
        Iterations of the best start, and whether it met ``tol``.
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
    LFMVC : Consensus partition first, labels by k-means after.
    AverageKKM : k-means on the average kernel.

    Notes
    -----
    Cost: exact partitions O(n² Σ d_p + n² m k) time and two n × n arrays; landmarks O(n m s²) time and O(n m k)
    memory. The fusion is O(n m k²) per iteration and start. After the last iteration the labels are assigned once
    more, so that ``predict`` on the training samples gives ``labels_``. A constant view gets weight 0. On the 2000
    digits of mfeat k-means on the average kernel is better (accuracy 0.95 against 0.92); see ``AverageKKM``.

    New samples: :math:`h_p(x) = \Lambda_p^{-1} H_p^\top \tilde\kappa_p(x)` with the kernel row centred and normalised
    as in training, then the label step. With ``base="kernel"`` there is no ``predict``.

    ``OPLFMVC.as_published(k)`` is the released code: its single start with the signs of the eigenvectors drawn, weights
    before rotations, a tolerance of 1e-4. ``OPLFMVC.as_printed(k)`` has the order and the tolerance of the text, 1e-3.
    The kernel of both is the one that gives the printed 3Sources row, as the paper names none.

    References
    ----------
    X. Liu, L. Liu, Q. Liao, S. Wang, Y. Zhang, W. Tu, C. Tang, J. Liu, E. Zhu. One Pass Late Fusion Multi-view
    Clustering. ICML 2021, PMLR 139:6850-6859. https://proceedings.mlr.press/v139/liu21l.html

    Examples
    --------
    >>> from manyviews import OPLFMVC, datasets
    >>> data = datasets.make_blobs_views(n_samples=90, n_features=(5, 4), n_clusters=3, random_state=0)
    >>> OPLFMVC(n_clusters=3, random_state=0).fit(data.views).labels_.shape
    (90,)
    """

    _published: ClassVar[dict[str, Any]] = {
        "kernel": "rbf_invdim",
        "approximation": "exact",
        "init": "released_signs",
        "update_order": "released",
        "tol": 1e-4,
    }
    _printed: ClassVar[dict[str, Any]] = {
        "kernel": "rbf_invdim",
        "approximation": "exact",
        "init": "released",
        "update_order": "paper",
        "tol": 1e-3,
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = LateFusionClusterer._parameter_constraints | {
        "init": [one_of("aligned", "released", "released_signs")],
        "n_init": [POSITIVE_INT, one_of("auto")],
        "update_order": [one_of("paper", "released")],
        "tol": [NON_NEGATIVE],
        "max_iter": [POSITIVE_INT],
        "keep_labels": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        base: str = "features",
        kernel: Any = "auto",
        gamma: Any = None,
        approximation: str = "auto",
        n_landmarks: int = 200,
        init: str = "aligned",
        n_init: int | Literal["auto"] = "auto",
        update_order: UpdateOrder = "paper",
        tol: float = 1e-6,
        max_iter: int = 100,
        keep_labels: bool = False,
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
        self.init = init
        self.n_init = n_init
        self.update_order = update_order
        self.tol = tol
        self.max_iter = max_iter
        self.keep_labels = keep_labels

    def _fit(self, views: Views, rng: np.random.Generator) -> NDArray[np.int64]:
        partition_rng, start_rng = rng.spawn(2)
        partitions = self._base_partitions(views, partition_rng)
        stacked, k = partitions.stacked, self.n_clusters
        H0 = stacked @ common_projection(stacked, k) if partitions.average is None else partitions.average
        if self.init != "aligned":
            start = released_start(stacked.shape[1] // k, H0, start_rng, draw_signs=self.init == "released_signs")
        else:
            start = aligned_start(stacked, H0, self._n_starts(len(views)), start_rng)
        self._say(f"fusion from {start.C.shape[0]} start(s)")
        result = solve_op_lfmvc(
            stacked,
            *start,
            order=self.update_order,
            tol=self.tol,
            max_iter=self.max_iter,
            keep_labels=self.keep_labels,
        )
        self._keep_partitions(partitions)
        return self._store(result, stacked)

    def _n_starts(self, n: int) -> int:
        return int(np.clip(STARTED_ROWS // n, 20, 300)) if self.n_init == "auto" else self.n_init

    def _store(self, result: OnePass, stacked: Array) -> NDArray[np.int64]:
        self._C, self.rotations_, self._beta = result.C, result.W, result.beta
        embedding = consensus_rows(stacked, result.beta, result.W)
        confidence = direction_confidence(embedding, result.C)
        weights = np.sqrt(self._weights) * result.beta
        return self._record(FitResult(self._assign(stacked), result.history, weights, embedding, confidence))

    def _assign(self, stacked: Array) -> NDArray[np.int64]:
        labels: NDArray[np.int64] = rotated_labels(stacked, self._C[None], self.rotations_[None], self._beta[None])[0]
        return labels

    @property
    def cluster_centers_(self) -> Array:
        """Centroids in the order of the labels, shape (k, k)."""
        centers = np.empty_like(self._C)
        centers[self._order] = self._C
        return centers

    def _predict(self, views: Views) -> NDArray[np.int64]:
        return self._assign(self._new_rows(views)[0])

r"""Two-pass late fusion: the late-fusion criterion without labels, then k-means.

The solver is ``fusion.fuse_partitions`` with :math:`\lambda = 0`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.late_fusion.base import FusionClusterer
from manyviews.views import Views

__all__ = ["TPLFMVC"]


class TPLFMVC(FusionClusterer):
    r"""Two-pass late fusion multi-view clustering (TP-LFMVC), the ablation of OP-LFMVC.

    .. math:: \max_{F, W_p, \beta} \operatorname{Tr}\bigl(F^\top \sum_p \beta_p H_p W_p\bigr)

    over :math:`F^\top F = I_k`, rotations :math:`W_p` and :math:`\|\beta\|_2 = 1, \beta \ge 0`, with the base
    partitions :math:`H_p`; then k-means on the unit rows of F.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    base : {"features", "kernel", "distance", "embedding"}, default="features"
        What each view holds: features (n, d_p), a kernel (n, n), distances (n, n), of which a Gaussian kernel is made,
        or a partition (n, k) with orthonormal columns.
    kernel : {"auto", "rbf_meandist", "rbf_invdim", "cosine", "linear"}, list or mapping, default="auto"
        Kernel of each view; see ``OPLFMVC``.
    gamma : float or mapping, default=None
        Factor of the squared distance in Gaussian kernels; raising it makes the kernel more local.
    approximation : {"auto", "exact", "nystrom"}, default="auto"
        Full kernels, or landmarks with no n × n array; "auto" is exact up to n = 3000.
    n_landmarks : int, default=200
        Landmarks per view of "nystrom"; more come closer to the exact result, at quadratic cost.
    init : {"aligned", "released"}, default="aligned"
        Rotations at the start: onto the partition of the average kernel, which does not depend on the signs of
        eigenvectors, or the identity, as in the released code.
    n_init : int, default=10
        Starts of the final k-means.
    tol : float, default=1e-6
        Relative change of the objective that ends the iterations.
    max_iter : int, default=100
        Most iterations.
    view_weights : mapping or sequence of float, default=None
        What each view counts, relative to the others: 2 counts its partition as if it were given twice; 0 leaves it
        out. Views that a mapping leaves out get 1. By default all alike.
    scaling : {"auto", "standard", "minmax", "unit", "tfidf"}, mapping or None, default="auto"
        What is done to each view first. "auto": standardised if dense, tf-idf and unit rows if sparse.
    views : list of int or mapping, default=None
        How one table is cut into views.
    random_state : int, RandomState, Generator or None, default=None
        Seed of landmarks and k-means starts.
    n_jobs : int, default=None
        Views whose partitions are computed at a time; -1 uses all cores.
    verbose : int, default=0
        1 prints what is being done.

    Attributes
    ----------
    labels_ : ndarray of shape (n,), int64
        Cluster of each sample, 0 .. k-1, largest cluster first.
    embedding_ : ndarray of shape (n, k)
        Consensus partition, columns orthonormal.
    inertia_ : float
        Sum of squared distances of its unit rows to the centres of k-means.
    confidence_ : ndarray of shape (n,)
        1 - nearest / second nearest distance to the centres: 0 is a tie.
    history_ : History
        Objective after each iteration.
    n_iter_ : int
        Iterations made.
    converged_ : bool
        Whether ``tol`` was met.
    approximation_ : {"exact", "nystrom"}
        What was used.
    scalings_ : tuple of str or None
        What was done to each view first; None for nothing.
    n_views_in_, n_features_in_ : int
        Number of views and of columns in all.
    view_names_in_, n_view_features_in_ : ndarray of shape (m,)
        Names of the views and their numbers of columns.
    view_weights_ : ndarray of shape (m,)
        Weights β of the views, scaled to sum 1.
    rotations_ : ndarray of shape (m, k, k)
        Rotations :math:`W_p`.

    See Also
    --------
    OPLFMVC : Learns the labels in one pass.
    LFMVC : Adds a pull towards the partition of the average kernel.

    Notes
    -----
    The iterations work on a Gram matrix of the partitions and cost nothing in n. The paper stops at a relative change
    of 1e-3; progress is slow near the optimum, so the default is 1e-6. The figures the paper prints for this ablation
    are, digit for digit, those it prints for LF-MVC.

    References
    ----------
    X. Liu, L. Liu, Q. Liao, S. Wang, Y. Zhang, W. Tu, C. Tang, J. Liu, E. Zhu. One Pass Late Fusion Multi-view
    Clustering, section 5.2. ICML 2021, PMLR 139:6850-6859. https://proceedings.mlr.press/v139/liu21l.html

    Examples
    --------
    >>> from manyviews import TPLFMVC, datasets
    >>> data = datasets.make_blobs_views(n_samples=90, n_features=(5, 4), n_clusters=3, random_state=0)
    >>> TPLFMVC(n_clusters=3, random_state=0).fit(data.views).labels_.shape
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
        init: str = "aligned",
        n_init: int = 10,
        tol: float = 1e-6,
        max_iter: int = 100,
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
        self.tol = tol
        self.max_iter = max_iter

    def _fit(self, views: Views, rng: np.random.Generator) -> NDArray[np.int64]:
        return self._fuse(views, rng, lam=0.0)

r"""FPMVS-CAG: SMVSC without a ridge, with as many anchors and dimensions as clusters, and so without parameters.

The released solver cannot be read. What is here is the objective of the paper by the steps of SMVSC, which is by the
same authors, with λ = 0 and m = d = k, the values that the released driver passes.
"""

from __future__ import annotations

from typing import Any, ClassVar

from manyviews.cluster.anchors.checks import anchor_count
from manyviews.cluster.anchors.smvsc import SMVSC, LinearTerm

__all__ = ["FPMVSCAG"]
# parameters of SMVSC that this method fixes
FIXED = ("n_anchors", "n_dimensions", "alpha")


class FPMVSCAG(SMVSC):
    r"""Fast parameter-free multi-view subspace clustering with consensus anchor guidance (FPMVS-CAG).

    .. math:: \min_{W, A, Z, \alpha} \sum_v \alpha_v^2 \|X_v - Z A^\top W_v^\top\|_F^2

    over :math:`W_v^\top W_v = I`, :math:`A^\top A = I` (k, k), :math:`Z \ge 0`, :math:`Z \mathbf 1 = \mathbf 1` and
    α in the simplex. k-means of the left singular vectors of Z, brought to unit rows, gives the clusters.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k, of anchors and of dimensions of their space.
    linear_term : {"paper", "released"}, default="paper"
        How views count in the linear term of the quadratic programs for Z. "paper": by :math:`\alpha_v^2`, which
        minimises the objective. "released": all alike, as in the released code of SMVSC, and most likely in that of
        this method: in the one run of it that can be seen 2385 of 2386 rows of Z are one-hot, which comes out so.
        Over 19 real sets the mean NMI is alike, 0.52 against 0.54.
    init : {"k-means", "released"}, default="k-means"
        Start. "k-means": every sample on the nearest of k anchors that k-means finds in all views together.
        "released": the first k samples on anchors of their own and all others on none, which depends on the order of
        the samples.
    labels_from : {"embedding", "anchors"}, default="embedding"
        "anchors": the anchor on which a sample has the largest coordinate.
    n_init : int, default=10
        Starts of every k-means, of which the best is kept; raising it makes results depend less on the seed.
    balance_views : bool, default=True
        Bring all views to total variance 1. False is the released form, with which a view of few columns has the
        largest weight and one of many decides the linear term.
    tol : float, default=1e-3
        Relative change of the objective that ends the iterations, tested from the tenth on.
    max_iter : int, default=51
        Most iterations.
    view_weights : mapping or sequence of float, default=None
        What each view counts, relative to the others: 2 counts its errors as if it were given twice; 0 leaves it out.
        Views that a mapping leaves out get 1. By default all alike.
    scaling : {"auto", "standard", "minmax", "unit", "tfidf"}, mapping or None, default="auto"
        What is done to each view before it is balanced. "auto": "standard" if dense, tf-idf and unit rows if sparse.
        Dense views are centred.
    views : list of int or mapping, default=None
        How one table is cut into views.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the start and of the last k-means.
    n_jobs : int, default=None
        Blocks of samples worked on at a time; -1 uses all cores. Results do not depend on it.
    verbose : int, default=0
        1 prints what is being done.

    Attributes
    ----------
    labels_ : ndarray of shape (n,), int64
        Cluster of each sample, 0 .. k-1, largest cluster first.
    view_weights_ : ndarray of shape (V,)
        Weights α, which sum to 1.
    anchors_ : dict of str to ndarray of shape (k, d_v)
        The anchors as each view sees them, :math:`A^\top W_v^\top`, in the scaled features.
    embedding_ : ndarray of shape (n, k)
        Left singular vectors of the coordinates, rows of unit length. Columns beyond their rank are zeros.
    confidence_ : ndarray of shape (n,)
        1 - nearest / second nearest distance to the centres in the embedding: 0 is a tie.
    history_ : History
        Objective after each iteration. It cannot rise with ``linear_term="paper"`` where every view has k columns or
        more.
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
    SMVSC : The same with a ridge, and with more anchors than clusters.

    Notes
    -----
    **A derivation, not the authors' code**: their solver is released in encrypted form. The objective is the paper's,
    and the steps are those of SMVSC, of the same group and with the same names of variables, at λ = 0, whose code gives
    the fixture of the tests. From the authors there is one saved run (Caltech101-20, 2386 samples): its α are nearly
    proportional to 1 / d_v, as they must be where features are standardised, and its printed scores are those of the
    largest coordinate of every sample.

    Cost: O(n k (Σ d_v + log k)) per iteration, with the data read once; O(n k) memory besides the views. Views with
    gaps, views of fewer than k columns and new samples are treated as by ``SMVSC``.

    References
    ----------
    S. Wang, X. Liu, X. Zhu, P. Zhang, Y. Zhang, F. Gao, E. Zhu. Fast Parameter-Free Multi-View Subspace Clustering With
    Consensus Anchor Guidance. IEEE Transactions on Image Processing 31, 2022, 556-568.
    https://doi.org/10.1109/TIP.2021.3131941

    Examples
    --------
    >>> from manyviews import FPMVSCAG, datasets
    >>> data = datasets.make_blobs_views(n_samples=90, n_features=(5, 4), n_clusters=3, random_state=0)
    >>> FPMVSCAG(n_clusters=3, random_state=0).fit(data.views).embedding_.shape
    (90, 3)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        name: allowed for name, allowed in SMVSC._parameter_constraints.items() if name not in FIXED
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        linear_term: LinearTerm = "paper",
        init: str = "k-means",
        labels_from: str = "embedding",
        n_init: int = 10,
        balance_views: bool = True,
        tol: float = 1e-3,
        max_iter: int = 51,
        view_weights: Any = None,
        scaling: Any = "auto",
        views: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        # not that of SMVSC, whose further parameters are fixed here
        super(SMVSC, self).__init__(
            n_clusters, scaling=scaling, views=views, random_state=random_state, n_jobs=n_jobs, verbose=verbose
        )
        self.view_weights = view_weights
        self.linear_term = linear_term
        self.init = init
        self.labels_from = labels_from
        self.n_init = n_init
        self.balance_views = balance_views
        self.tol = tol
        self.max_iter = max_iter

    def _sizes(self, n: int) -> tuple[int, int, float]:
        k = anchor_count(None, self.n_clusters, n)
        return k, k, 0.0

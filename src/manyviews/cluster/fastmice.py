r"""FastMICE: base clusterings of random views, columns and anchors, each the cut of a sparse graph, and their consensus.

Each graph B joins samples to anchors; its cut, and that of the graph between samples and base clusters, minimises the
normalised cut of a bipartite graph: :math:`L f = \gamma D f` with
:math:`E = \bigl[\begin{smallmatrix} 0 & B \\ B^\top & 0 \end{smallmatrix}\bigr]` (eq. 6-8 of the paper).
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from manyviews.cluster.anchor_cut import CutRecipe, SearchChoice
from manyviews.cluster.anchor_ensemble import draw_groups
from manyviews.cluster.ensemble_clusterer import EnsembleClusterer, EnsembleSettings, as_fitted, checked_range
from manyviews.cluster.ensemble_cut import Weighting
from manyviews.cluster.view_treatment import as_sparse_if_so, fit_treatment
from manyviews.partition.discretize import EmbeddingRule
from manyviews.validation import per_view
from manyviews.views import Views

__all__ = ["FastMICE"]

POSITIVE = Interval(Integral, 1, None, closed="left")


class FastMICE(EnsembleClusterer):
    r"""Fast multi-view clustering via ensembles (FastMICE).

    DOCSTRING
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = EnsembleClusterer._parameter_constraints | {
        "n_base_clusterings": [POSITIVE],
        "n_anchors": [POSITIVE],
        "n_neighbors": [POSITIVE],
        "column_fraction": [tuple, list],
        "cluster_range": [tuple, list, None],
        "view_range": [tuple, list, None],
        "metric": [StrOptions({"auto", "euclidean", "cosine"}), dict, list, tuple],
        "search": [StrOptions({"auto", "exact", "approximate"})],
        "discretization": [StrOptions({"cosine", "paper"})],
        "weighting": [StrOptions({"reliability", "equal"})],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_base_clusterings: int = 20,
        n_anchors: int = 1000,
        n_neighbors: int = 5,
        column_fraction: tuple[float, float] = (0.2, 0.8),
        cluster_range: tuple[int, int] | None = None,
        view_range: tuple[int, int] | None = None,
        metric: Any = "auto",
        search: SearchChoice = "auto",
        discretization: str = "cosine",
        weighting: Weighting = "equal",
        scaling: Any = "auto",
        views: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_clusters, scaling=scaling, views=views, random_state=random_state, n_jobs=n_jobs, verbose=verbose
        )
        self.n_base_clusterings = n_base_clusterings
        self.n_anchors = n_anchors
        self.n_neighbors = n_neighbors
        self.column_fraction = column_fraction
        self.cluster_range = cluster_range
        self.view_range = view_range
        self.metric = metric
        self.search = search
        self.discretization = discretization
        self.weighting = weighting

    def _fit(self, views: Views, rng: np.random.Generator) -> NDArray[np.int64]:
        draw_rng, fit_rng = rng.spawn(2)
        arrays = tuple(map(as_sparse_if_so, views.arrays))
        self._sparse_views = tuple(not isinstance(X, np.ndarray) for X in arrays)
        metrics = per_view(self.metric, views.names, "metric")
        scalings = self._scalings(views.names)
        treatments = [
            fit_treatment(X, scaling, metric or "auto")
            for X, scaling, metric in zip(arrays, scalings, metrics, strict=True)
        ]
        n, k, V = len(views), self.n_clusters, len(arrays)
        draws = draw_groups(
            self.n_base_clusterings,
            V,
            checked_range(self.cluster_range, (k, 2 * k), (1, max(1, n - 1)), "cluster_range"),
            checked_range(self.view_range, (1, V), (1, V), "view_range"),
            self._fractions(),
            draw_rng,
        )
        base_rule = EmbeddingRule(self.discretization, 5, 1)  # type: ignore[arg-type]
        recipe = CutRecipe(k, self.n_anchors, self.n_neighbors, self.search, base_rule)
        consensus = EmbeddingRule(self.discretization, 20, 5)  # type: ignore[arg-type]
        settings = EnsembleSettings(recipe, draws, consensus, self.weighting)
        return self._fit_ensemble(arrays, views.observed, treatments, settings, fit_rng)

    def _fractions(self) -> tuple[float, float]:
        low, high = self.column_fraction
        if not (isinstance(low, Real) and isinstance(high, Real) and 0 < low <= high <= 1):
            raise ValueError(
                f"the 'column_fraction' parameter must be two numbers with 0 < low <= high <= 1, "
                f"got {self.column_fraction!r}"
            )
        return float(low), float(high)

    def _sources(self, views: Views) -> tuple[tuple[Any, ...], NDArray[np.bool_]]:
        return as_fitted(views.arrays, self._sparse_views), views.observed

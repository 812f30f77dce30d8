r"""Consensus: the partition that shares most with the base clusterings and partitions of many methods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.cluster.anchors.base import (
    AnchorEnsembleClusterer,
    Ensemble,
    fit_ensemble,
    wide_rows,
)
from manyviews.cluster.anchors.checks import as_fitted
from manyviews.cluster.anchors.groups import GroupDraws, draw_groups
from manyviews.cluster.consensus_members import SYSTEMS, Member, Treatment, treatments_of, view_treatments, votes
from manyviews.cluster.constraints import POSITIVE_INT, SHARE_BELOW_ONE, one_of
from manyviews.cluster.memory import copy_bytes
from manyviews.cluster.parallel import one_blas_thread
from manyviews.cluster.result import FitResult
from manyviews.cluster.sample_weight import SampleWeightMixin
from manyviews.metrics import nmi_score
from manyviews.partitions.agreement_cut import AgreementCut, changed_without, fit_agreement_cut
from manyviews.partitions.discretize import EmbeddingRule
from manyviews.partitions.fallback import fit_fallback
from manyviews.partitions.view_links import CutRecipe
from manyviews.prototypes.row_means import keeps_rows, kept_bytes
from manyviews.prototypes.view_treatment import as_sparse_if_so
from manyviews.views import Views

__all__ = ["Ballot", "Consensus", "make_ballot", "vote_columns"]

Array = NDArray[Any]
Labels = NDArray[np.int64]
# n_base_clusterings="auto" makes so many base clusterings that these times samples come to this
CLUSTERED_ROWS = 120_000
FEWEST, MOST = 20, 100
FRACTIONS = (0.2, 0.8)
# where hardly a sample moves without one view or the other, which of them it is says nothing
LEAST_CHANGE = 0.01
# copies of all views that the methods make which put them side by side
SIDE_BY_SIDE = 4
BASE_RULE = EmbeddingRule("cosine", 5, 1)


class Ballot(NamedTuple):
    """Sizes, weights and views (M, V) of all partitions, and where each came from."""

    sizes: Labels
    weights: Array
    uses: NDArray[np.bool_]
    origins: list[tuple[str, str]]


class Consensus(SampleWeightMixin, AnchorEnsembleClusterer):
    r"""Consensus of many methods, the default.

    Base clusterings of random groups of views, columns, anchors and treatments (standardised or as given, Euclidean or
    cosine; for text tf-idf or unit rows), as in ``FastMICE``, and the partitions of other methods that can afford the
    number of samples, make one ballot. The result is the partition π that shares most with it,

    .. math:: \min_\pi \sum_i \sum_m w_m \|b_i^{(m)} - c_{\pi(i)}^{(m)}\|^2

    with :math:`b_i^{(m)}` the one-hot label of sample i in member m and :math:`c_k^{(m)}` the mean of cluster k. So no
    choice of a scaling, a metric or a method has to be right for the data at hand; nothing needs tuning.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    n_base_clusterings : int or "auto", default="auto"
        Base clusterings on anchors; more of them make the result steadier, at proportional cost. "auto": 120 000 / n,
        but 20 to 100.
    system_weight : float, default=0.2
        Weight of the partitions of other methods, of 1 in all; raising it trusts them more against the base
        clusterings, 0 makes none of them.
    n_anchors : int, default=1000
        Anchors of a base clustering, shared evenly by its views, at most n; more of them follow finer shapes.
    n_neighbors : int, default=5
        Links of a sample in a base clustering, shared evenly by its views; more of them blur.
    view_weights : mapping or sequence of float, default=None
        What each view counts, relative to the others: how often it is drawn, and what it counts in the methods that
        take part; 0 leaves it out. Views that a mapping leaves out get 1. By default all alike.
    scaling : {"auto", "standard", "minmax", "unit", "tfidf"}, mapping or None, default="auto"
        What is done to each view first. "auto": each treatment in turn. Anything else holds for all members.
    views : list of int or mapping, default=None
        How one table is cut into views.
    random_state : int, RandomState, Generator or None, default=None
        Seed of every draw; one child generator per member.
    n_jobs : int, default=None
        Base clusterings made at a time, in threads; -1 uses all cores. The labels do not depend on it.
    verbose : int, default=0
        1 prints what is being done.

    Attributes
    ----------
    labels_ : ndarray of shape (n,), int64
        Cluster of each sample, 0 .. k-1, largest cluster first.
    confidence_ : ndarray of shape (n,)
        Which part of the clusters that the members put a sample in shares its label, on weighted average.
    view_weights_ : ndarray of shape (V,)
        What leaving a view out changes: 0.01 and the part of the samples that move when the members that use it have
        no vote, in proportion, with the sum 1; 0 for views that are left out.
    members_ : list of Member
        Method, treatment, views, number of clusters, weight and agreement with the result of each partition.
    base_labels_ : ndarray of shape (n, M), int32
        The partitions; -1 where a member cannot tell.
    n_base_clusters_ : ndarray of shape (M,)
        Their numbers of clusters.
    history_ : History
        Mean distance of the samples to their clusters; there are no iterations of its own to follow.
    n_iter_, converged_ : int, bool
        1 and True.
    scalings_ : tuple of str or None
        What was done to each view in the first treatment.
    n_views_in_, n_features_in_ : int
        Number of views and of columns in all.
    view_names_in_, n_view_features_in_ : ndarray of shape (V,)
        Names of the views and their numbers of columns.

    Raises
    ------
    ValueError
        For weights of views that are none, next to the errors of every method.

    See Also
    --------
    FastMICE : Its base clusterings under one treatment, with the parameters of the paper.

    Notes
    -----
    Other methods take part up to a number of samples: MVEC 700, OP-LFMVC 2500, spectral clustering of the balanced
    concatenation and of summed graphs and UDBGL 5000, MSPL 20 000, k-means of the balanced concatenation 100 000. Above
    that the method is linear in n, at about the cost of ``FastMICE``; ``members_`` says which took part.

    Views may have unobserved samples (rows of NaN); methods that take none see the complete samples. A constant view is
    left out. ``predict`` lets the base clusterings on anchors vote alone, as several of the other methods have no rule
    for new samples: training samples between clusters may get another label than in ``labels_``.

    Rules and weights were compared on 22 data sets, each left out in turn: the mean is as good where other methods
    weigh 0 to 0.2 in all, and falls beyond; ``benchmarks/quality.py`` has the figures.

    References
    ----------
    D. Huang, C.-D. Wang, J.-H. Lai. Fast Multi-view Clustering via Ensembles: Towards Scalability, Superiority, and
    Simplicity. IEEE Transactions on Knowledge and Data Engineering 35(11), 2023, 11388-11402.
    https://doi.org/10.1109/TKDE.2023.3236698

    J. Wu, H. Liu, H. Xiong, J. Cao, J. Chen. K-means-based Consensus Clustering: A Unified View. IEEE Transactions on
    Knowledge and Data Engineering 27(1), 2015, 155-169. https://doi.org/10.1109/TKDE.2014.2316512

    Examples
    --------
    >>> from manyviews import Consensus, datasets
    >>> data = datasets.make_blobs_views(n_samples=90, n_features=(5, 4), n_clusters=3, random_state=0)
    >>> model = Consensus(n_clusters=3, random_state=0).fit(data.views)
    >>> model.labels_.shape, model.view_weights_.shape
    ((90,), (2,))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = AnchorEnsembleClusterer._parameter_constraints | {
        "n_base_clusterings": [POSITIVE_INT, one_of("auto")],
        "system_weight": [SHARE_BELOW_ONE],
        "n_anchors": [POSITIVE_INT],
        "n_neighbors": [POSITIVE_INT],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_base_clusterings: int | Literal["auto"] = "auto",
        system_weight: float = 0.2,
        n_anchors: int = 1000,
        n_neighbors: int = 5,
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
        self.n_base_clusterings = n_base_clusterings
        self.system_weight = system_weight
        self.n_anchors = n_anchors
        self.n_neighbors = n_neighbors

    def _memory_estimate(self, views: Views) -> int:
        n = len(views)
        ensemble = self._anchored_bytes(views, self._ensemble_size(n), 2 * self.n_clusters, FRACTIONS, "auto")
        # what stays of the anchors while other methods put the views side by side, with copies
        kept = kept_bytes(n, [X.shape[1] for X in views.arrays if keeps_rows(X, self.n_anchors)], 0.0, 0)
        others = SIDE_BY_SIDE * sum(map(copy_bytes, views.arrays)) if n <= SYSTEMS[0].most_samples else 0
        return max(ensemble, kept + others)

    def _ensemble_size(self, n: int) -> int:
        if self.n_base_clusterings == "auto":
            return int(np.clip(CLUSTERED_ROWS // n, FEWEST, MOST))
        return self.n_base_clusterings

    def _fit(self, views: Views, rng: np.random.Generator, counts: Array | None = None) -> Labels:
        anchor_rng, system_rng, cut_rng, fallback_rng = rng.spawn(4)
        self._told = self._telling(views)
        scalings = self._scalings(views.names)
        arrays = tuple(map(as_sparse_if_so, views.arrays))
        self._sparse_views = tuple(not isinstance(X, np.ndarray) for X in arrays)
        told = tuple(arrays[v] for v in self._told)
        chosen = [scalings[v] for v in self._told]
        observed, chances = views.observed[:, self._told], self._weights[self._told] / self._weights[self._told].sum()
        treatments = treatments_of(told, chosen)
        first = view_treatments(told, chosen, treatments[0], counts)
        kinds = {v: treatment.scaling.kind for v, treatment in zip(self._told, first, strict=True)}
        self.scalings_ = tuple(kinds.get(v) for v in range(len(arrays)))
        ensembles = self._anchored(told, observed, treatments, chosen, chances, anchor_rng, counts)
        self._cuts = tuple(cut for ensemble in ensembles for cut in ensemble.cuts)
        asked = self.system_weight != 0 and self.n_clusters > 1
        part = views.select([views.names[v] for v in self._told])
        weights = self._weights[self._told]
        found = list(votes(part, self.n_clusters, chosen, system_rng, weights, counts)) if asked else []
        sizes, uses = [ensemble.sizes for ensemble in ensembles], [e.uses(len(self._told)) for e in ensembles]
        ballot = make_ballot(sizes, uses, treatments, found, self.system_weight)
        labels = np.hstack([ensemble.labels for ensemble in ensembles] + vote_columns(found))
        self._say(f"{ballot.sizes.size} partitions, {len(found)} of other methods")
        sources = (told, observed, first, ensembles[0].kept)
        with one_blas_thread():
            return self._elect(views, labels, ballot, sources, (cut_rng, fallback_rng), counts)

    def _anchored(
        self,
        arrays: tuple[Any, ...],
        observed: Array,
        treatments: tuple[Treatment, ...],
        scalings: list[str | None],
        chances: Array,
        rng: np.random.Generator,
        counts: Array | None,
    ) -> list[Ensemble]:
        """Return the base clusterings on anchors, a like number of each treatment."""
        n, V = observed.shape[0], len(arrays)
        ensembles: list[Ensemble] = []
        stored: Any = None
        for treatment, draws, recipe, child in self._draws(n, V, treatments, rng):
            learned = view_treatments(arrays, scalings, treatment, counts)
            stored = wide_rows(arrays, observed, recipe) if stored is None else stored
            jobs = {"n_jobs": self.n_jobs, "chances": chances, "stored": stored, "counts": counts}
            ensembles.append(fit_ensemble(arrays, observed, learned, draws, recipe, child, **jobs))
        return ensembles

    def _draws(
        self, n: int, V: int, treatments: tuple[Treatment, ...], rng: np.random.Generator
    ) -> Iterator[tuple[Treatment, GroupDraws, CutRecipe, np.random.Generator]]:
        """Yield each treatment with the groups drawn for it, the recipe of their cuts and a generator."""
        k, M = self.n_clusters, -(-self._ensemble_size(n) // len(treatments))
        largest = max(k, min(2 * k, n - 1))
        recipe = CutRecipe(k, max(self.n_anchors, k), self.n_neighbors, "auto", BASE_RULE)
        for treatment, child in zip(treatments, rng.spawn(len(treatments)), strict=True):
            draw_rng, fit_rng = child.spawn(2)
            self._say(f"{M} base clusterings, {treatment.name}")
            yield treatment, draw_groups(M, V, (k, largest), (1, V), FRACTIONS, draw_rng), recipe, fit_rng

    def _elect(
        self,
        views: Views,
        base_labels: Array,
        ballot: Ballot,
        sources: Any,
        rngs: tuple[Any, Any],
        counts: Array | None,
    ) -> Labels:
        told, observed, treatments, kept = sources
        options = {"weights": ballot.weights, "counts": counts}
        labels, cut = fit_agreement_cut(base_labels, ballot.sizes, self.n_clusters, rngs[0], **options)
        confidence = cut.confidence(base_labels, labels)
        self._fallback = fit_fallback(told, observed, treatments, labels, self.n_clusters, rngs[1], kept)
        changed = changed_without(base_labels, labels, cut, ballot.uses)
        self.base_labels_ = base_labels
        weights = self._keep(cut, ballot, [_agreement(labels, column) for column in base_labels.T], changed)
        labels = self._complete(labels, told, observed)
        found = FitResult.of_one_step(labels, cut.objective, confidence=confidence, weights=weights)
        return self._record(found)

    def _keep(self, cut: AgreementCut, ballot: Ballot, agreements: list[float], changed: Array) -> Array:
        """Store the rule and the members, whose agreements with the result are given; return weights of the views."""
        self._consensus: AgreementCut = cut.of_first(len(self._cuts))
        self.n_base_clusters_ = ballot.sizes
        names = [self._fitted_views.names[v] for v in self._told]
        shares = ballot.weights / ballot.weights.sum()
        self.members_ = [
            Member(
                *origin,
                tuple(name for name, used in zip(names, uses, strict=True) if used),
                int(size),
                float(weight),
                agreement,
            )
            for origin, uses, size, weight, agreement in zip(
                ballot.origins, ballot.uses, ballot.sizes, shares, agreements, strict=True
            )
        ]
        weights = np.zeros(len(self._fitted_views.names))
        weights[self._told] = LEAST_CHANGE + changed
        return weights

    def _sources(self, views: Views) -> tuple[tuple[Any, ...], NDArray[np.bool_]]:
        arrays = as_fitted(views.arrays, self._sparse_views)
        return tuple(arrays[v] for v in self._told), views.observed[:, self._told]


def make_ballot(
    sizes: list[Labels],
    uses: list[NDArray[np.bool_]],
    treatments: tuple[Treatment, ...],
    found: list[tuple[str, str, Labels]],
    system_weight: float,
) -> Ballot:
    """Say what counts for the partitions of each treatment and those of other methods, with weights of mean 1."""
    sizes, uses = list(sizes), list(uses)
    V = uses[0].shape[1]
    origins = [("anchor cut", treatment.name) for treatment, made in zip(treatments, sizes, strict=True) for _ in made]
    M = len(origins)
    share = system_weight if found else 0.0
    weights = np.full(M, (1.0 - share) / M)
    if found:
        sizes.append(np.array([int(column.max()) + 1 for *_, column in found]))
        uses.append(np.ones((len(found), V), dtype=bool))
        origins += [(method, scaling) for method, scaling, _ in found]
        weights = np.concatenate([weights, np.full(len(found), share / len(found))])
    stacked = np.concatenate(sizes).astype(np.int64)
    return Ballot(stacked, weights / weights.mean(), np.vstack(uses), origins)


def vote_columns(found: list[tuple[str, str, Labels]]) -> list[NDArray[np.int32]]:
    """Return the partitions of other methods side by side, or nothing where there are none."""
    return [np.column_stack([column for *_, column in found]).astype(np.int32)] if found else []


def _agreement(labels: Labels, column: Array) -> float:
    known = (column >= 0) & (labels >= 0)
    return float(nmi_score(labels[known], column[known])) if known.any() else 0.0

"""What all methods share: checked input, numbered clusters, the common attributes; nothing method-specific."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Never, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning

from manyviews.cluster.constraints import POSITIVE_INT, one_of
from manyviews.cluster.distances import check_distances, distance_scalings
from manyviews.cluster.fitted_table import fitted_table
from manyviews.cluster.memory import check_memory, copy_bytes
from manyviews.cluster.parameters import child_rng, plain_integers
from manyviews.cluster.predicting import PredictMixin
from manyviews.cluster.reading import ViewsReader
from manyviews.cluster.result import Solved
from manyviews.cluster.sample_weight import (
    checked_sample_weight,
    distinct_starts,
    earlier_numbers,
    samples_that_count,
    why_refused,
)
from manyviews.linalg.scaling import SCALINGS, is_constant, usual_scaling
from manyviews.metrics.renumbering import matched_numbers
from manyviews.optim.history import History
from manyviews.partitions.onehot import cluster_order
from manyviews.views import Views
from manyviews.views.caller import warn_user
from manyviews.views.order import put_back, sample_order

__all__ = ["MultiViewClusterer", "PredictMixin"]


# views of up to so many bytes are copied to be fitted in an order of the samples that is not that of their rows
MOST_MOVED = 1 << 26


class MultiViewClusterer(ClusterMixin, ViewsReader):
    """Base of the multi-view clusterers.

    A subclass implements ``_fit(views, rng)``, which ends with ``return self._record(result)``; where it holds other
    than the usual arrays also ``_memory_estimate(views)``, the bytes that this takes. Where the method has a rule for
    new samples it also inherits ``PredictMixin`` and implements ``_predict(views)``.
    """

    # axes of the attributes that have an entry for each sample
    _sample_axes: ClassVar[dict[str, tuple[int, ...]]] = dict.fromkeys(
        ("confidence_", "embedding_", "base_labels_", "graph_"), (0,)
    )
    # while samples are fitted in an order of their own: where each row as given is in it
    _given_place: Any = slice(None)
    # what "auto" does to dense views
    _dense_scaling: ClassVar[str] = "standard"
    # what to change where memory is short, besides the method
    _memory_hint: ClassVar[str] = ""
    # why views cannot count differently, where that is so
    _weightless: ClassVar[str] = ""
    # power of n with which the memory grows, where that is known
    _memory_order: ClassVar[int | None] = None
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [POSITIVE_INT],
        "view_weights": [dict, "array-like", None],
        "scaling": [one_of("auto", *SCALINGS), dict, None],
        "views": ["array-like", dict, None],
        "random_state": ["random_state", np.random.Generator],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    labels_: NDArray[np.int64]
    history_: History
    n_iter_: int
    converged_: bool
    scalings_: tuple[str | None, ...]
    view_weights_: NDArray[np.float64]

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        scaling: Any = "auto",
        views: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.scaling = scaling
        self.views = views
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, match_to: Any = None, **refused: Never) -> Self:
        """Cluster the samples.

        Parameters
        ----------
        X : Views, sequence, mapping or table
            ``Views``; a sequence of 2-D arrays, CSR matrices or frames, one of shape (n, d_v) per view; a mapping of
            view names to such; or one table, cut by the ``views`` parameter.
        y : None
            Ignored.
        match_to : array-like of shape (n,) of int, default=None
            Labels of an earlier run, whose cluster numbers are kept: they are matched one to one so that as many
            samples as possible keep theirs; -1 for samples that the earlier run did not have. It changes the numbers,
            never the groups. By default clusters are numbered by size, largest first.
        **refused : None
            Nothing else is taken. ``sample_weight`` is taken by the methods that have a weighted form; the error names
            them.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError, TypeError
            If the data or a parameter does not fit, there are fewer distinct samples than clusters, or the machine has
            too little memory, or for an argument that the method does not take; the message says what to change.

        Warns
        -----
        ConvergenceWarning
            Once, if the iterations ran out or fewer clusters were found than asked for.

        Notes
        -----
        Identical samples, equal in every view, always share a cluster. Views of up to 64 MiB are worked on in an order
        of the samples that their values decide, so that the order of the rows does not matter; larger ones as they are.

        A CSR view gives the labels of the same numbers in a dense array where ``scaling``, and ``kernel`` or ``metric``
        where there is one, are stated, and ``scaling`` is "unit", "tfidf" or None. What "auto" chooses differs: sparse
        views are taken for counts of terms. "standard" and "minmax" divide sparse columns but do not shift them, which
        would fill the view.
        """
        if refused:
            raise TypeError(self._why_refused(next(iter(refused))))
        with plain_integers(self):
            self._fit_checked(X, match_to)
        return self

    def _why_refused(self, argument: str) -> str:
        return why_refused(type(self).__name__, argument, self._alternatives().takers_of_sample_weight)

    @_fit_context(prefer_skip_nested_validation=True)  # untyped, so on ``fit`` it would hide its type from checkers
    def _fit_checked(self, X: Any, match_to: Any, sample_weight: Any = None) -> None:
        views = self._check_views(X, reset=True)
        self._check_weights()
        if given := self._given_distances():
            check_distances(views, given, square=True)
        weights = None if sample_weight is None else checked_sample_weight(sample_weight, len(views))
        first = distinct_starts(views.arrays, self.n_clusters, weights)
        earlier = None if match_to is None else earlier_numbers(match_to, len(views), self.n_clusters)
        check_memory(self, views)
        self._constant: tuple[str, ...] = ()
        counted = samples_that_count(views, weights)
        self._note_constant(views, [name for name, X in counted.items() if is_constant(X)])
        # rounding may part copies of a sample that lies halfway between clusters
        raw = self._fit_weighted(views, first, weights, counted)[first]
        self._spread()
        self._order = cluster_order(raw, self.n_clusters)
        found = int(self._order[raw].max()) + 1
        if earlier is not None:
            self._order = matched_numbers(self._order[raw], earlier, self.n_clusters)[self._order]
        self.labels_ = self._order[raw]
        self._number_history(first)
        self._warn_of_shortfalls(found)

    def _warn_of_shortfalls(self, found: int) -> None:
        """Warn once where iterations ran out or fewer clusters were found than asked for."""
        shortfalls = filter(None, [self._why_unconverged(), self._why_fewer(found)])
        if text := ". It ".join(shortfalls):
            warn_user(f"{type(self).__name__} {text}", ConvergenceWarning)

    def _given_distances(self) -> str:
        """Return which parameter says that the views hold distances, or nothing where they do not."""
        return 'affinity="distance"' if getattr(self, "affinity", None) == "distance" else ""

    def _fit_weighted(self, views: Views, first: NDArray[np.int64], weights: Any, counted: Views) -> NDArray[np.int64]:
        return self._fit_in_order(views, first)

    def _fit_in_order(
        self, views: Views, first: NDArray[np.int64], weights: NDArray[Any] | None = None
    ) -> NDArray[np.int64]:
        """Fit the samples in an order of their own where that costs little, and store what belongs to each as given."""
        rng = child_rng(self.random_state)
        # only methods that weigh samples take a third argument
        fit: Any = self._fit
        if not self._moves_samples(sum(map(copy_bytes, views.arrays))):
            return np.asarray(fit(views, rng) if weights is None else fit(views, rng, weights))
        order = sample_order(views.arrays, first)
        self._given_place = np.argsort(order)
        earlier = {name: self.__dict__.get(name) for name in self._sample_axes}
        try:
            labels = fit(views[order], rng) if weights is None else fit(views[order], rng, weights[order])
        finally:
            given: NDArray[np.int64] = self.__dict__.pop("_given_place")
        for name, axes in self._sample_axes.items():
            found = self.__dict__.get(name)
            if found is not None and found is not earlier[name]:
                self.__dict__[name] = put_back(found, axes, given)
        kept: NDArray[np.int64] = self.history_.labels if hasattr(self, "history_") else np.empty(0, dtype=np.int64)
        if kept.size:
            self.history_ = replace(self.history_, labels=kept[:, given])
        return np.asarray(labels[given])

    def _moves_samples(self, n_bytes: float) -> bool:
        """Return whether samples of so many bytes are fitted in an order of their own, in memory as over blocks."""
        return self._may_move_samples() and n_bytes <= MOST_MOVED

    def _may_move_samples(self) -> bool:
        """Return whether samples may be fitted in another order; not where columns stand for samples, as in kernels."""
        return getattr(self, "base", "features") == "features" and not self._given_distances()

    def _fit(self, views: Views, rng: np.random.Generator) -> NDArray[np.int64]:
        raise TypeError(f"{type(self).__name__} defines no solver")

    def _record(self, result: Solved) -> NDArray[np.int64]:
        """Store what a solver found as the attributes that all methods share, and return its labels.

        ``labels`` and ``history`` are what every result has; ``weights``, ``embedding`` and ``confidence`` are stored
        where it has them. ``fit`` numbers the labels, and warns once where ``history`` says that the iterations ran
        out.
        """
        self.history_ = result.history
        self.n_iter_, self.converged_ = result.history.n_iter, result.history.converged
        for word in ("embedding", "confidence"):
            if (found := getattr(result, word, None)) is not None:
                setattr(self, f"{word}_", found)
        if (weights := getattr(result, "weights", None)) is not None:
            self.view_weights_ = weights / weights.sum()
        return result.labels

    def _check_weights(self) -> None:
        """Refuse weights that differ in a method whose steps have no place for them."""
        if self._weightless and np.ptp(self._weights) > 0:
            raise ValueError(
                f"{type(self).__name__} has no place for view_weights other than 0 and equal ones, because "
                f"{self._weightless}; use {self._alternatives().takers_of_weights()}"
            )

    def _spread(self) -> None:
        """Give attributes with one entry per view those of the views that were left out: weight 0, no scaling."""
        V, counted = self.n_views_in_, self._counted
        if counted.size == V:
            return
        if hasattr(self, "scalings_"):
            kinds = dict(zip(counted.tolist(), self.scalings_, strict=True))
            self.scalings_ = tuple(kinds.get(v) for v in range(V))
        if hasattr(self, "view_weights_"):
            weights = np.zeros(V)
            weights[counted] = self.view_weights_
            self.view_weights_ = weights

    def _number_history(self, first: NDArray[np.intp]) -> None:
        """Match the numbers in the labels of the iterations, where they were kept, to those of the result."""
        history = getattr(self, "history_", None)  # a method from outside may store nothing but its labels
        if history is not None and history.labels.size:
            rows = history.labels[:, first]
            matched = [matched_numbers(row, self.labels_, self.n_clusters)[row] for row in rows]
            self.history_ = replace(history, labels=np.array(matched))

    def _note_constant(self, views: Views, names: list[str], seen: str = "") -> None:
        """Warn of constant views, of each once; ``seen`` says how they are seen, where not as they were given.

        If all are, there is no other view to decide, and a method has refused them or was asked for one cluster.
        """
        new = tuple(name for name in names if name not in self._constant)
        self._constant += new
        if new and len(self._constant) < len(views.names):
            listed = ", ".join(map(repr, new))
            kind, rest = ("view", "is") if len(new) == 1 else ("views", "are")
            says = "it says" if len(new) == 1 else "they say"
            warn_user(f"{kind} {listed} {rest} constant{seen}: {says} nothing about the samples")

    def _why_unconverged(self) -> str:
        """Say what did not come to its end in the fit and what to change, or nothing."""
        if getattr(self, "converged_", True):  # a method from outside may store nothing but its labels
            return ""
        remedy = " or ".join(name for name in ("max_iter", "tol") if hasattr(self, name))
        iterations = "1 iteration" if self.n_iter_ == 1 else f"{self.n_iter_} iterations"
        return f"stopped after {iterations} before it converged" + (f"; raise {remedy}" if remedy else "")

    def _why_fewer(self, found: int) -> str:
        if found == self.n_clusters:
            return ""
        return (
            f"found {'1 cluster' if found == 1 else f'{found} clusters'} instead of the {self.n_clusters} asked for; "
            "the samples may have no more distinct groups: lower n_clusters, or try another scaling or random_state"
        )

    def _needed_bytes(self, views: Views) -> int:
        """Return about how many bytes a fit needs at its peak: of ``_fit`` and a copy of samples that it moves."""
        moved = sum(map(copy_bytes, views.arrays))
        return self._memory_estimate(views) + (moved if self._moves_samples(moved) else 0)

    def _memory_estimate(self, views: Views) -> int:
        """Return about how many bytes ``_fit`` needs at its peak, beyond the views that it is given.

        These are the scaled views and what is kept of each sample; a method overrides it where it holds n × n arrays or
        reads its views otherwise.
        """
        return self._scaled_bytes(views) + int(8 * len(views) * self._kept_numbers(views))

    def _scaled_bytes(self, views: Views) -> int:
        """Return the bytes of the scaled views, and of a second copy of the largest while they are made."""
        copies = [copy_bytes(X) for X in views.arrays]
        return sum(copies) + max(copies)

    def _kept_numbers(self, views: Views) -> float:
        """Return how many numbers are held of each sample: an embedding, k-means on a copy of it, distances, labels."""
        return 4.0 * self.n_clusters + 5.0

    def _most_samples(self) -> int | None:
        """Return the most samples for which a fit is started, None where memory alone decides."""
        return None

    def _scalings(self, names: tuple[str, ...]) -> tuple[str | None, ...]:
        """Return the scaling of each view; views that a mapping leaves out get "auto"."""
        scaling = self.scaling
        if isinstance(scaling, dict):
            scaling = dict.fromkeys(getattr(self, "view_names_in_", names), "auto") | scaling
        chosen = self._of_each(scaling, names, "scaling")
        bad = [kind for kind in chosen if kind not in ("auto", None, *SCALINGS)]
        if bad:
            raise ValueError(f"the 'scaling' parameter must be 'auto', None or one of {SCALINGS}, got {bad[0]!r}")
        return chosen

    def _choose_scalings(self, views: Views) -> tuple[str | None, ...]:
        """Return the scaling of each view, that for "auto" chosen by the look of its numbers, and remember them."""
        scalings = self._scalings(views.names)
        if given := self._given_distances():
            scalings = distance_scalings(scalings, given)
        asked = zip(views.arrays, scalings, strict=True)
        self.scalings_ = tuple(self._auto_scaling(X) if kind == "auto" else kind for X, kind in asked)
        return self.scalings_

    def _auto_scaling(self, X: Any) -> str | None:
        return usual_scaling(X, self._dense_scaling)

    def _telling(self, views: Views) -> list[int]:
        """Return the places of the views that are not constant; of all if all are."""
        telling = [v for v, name in enumerate(views.names) if name not in self._constant]
        return telling or list(range(len(views.names)))

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + fitted_table(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += fitted_table(self)
        return bundle

    def _say(self, message: str) -> None:
        if self.verbose:
            print(f"[{type(self).__name__}] {message}")

"""What all methods share: checked input, numbered clusters, the common attributes; nothing method-specific."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Never, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from manyviews.cluster.constraints import POSITIVE_INT, one_of
from manyviews.cluster.distances import check_distances, distance_scalings
from manyviews.cluster.memory import check_memory, copy_bytes
from manyviews.cluster.parameters import child_rng, plain_integers
from manyviews.cluster.reading import ViewsReader
from manyviews.cluster.result import Solved
from manyviews.cluster.sample_weight import checked_sample_weight, first_counted
from manyviews.linalg.scaling import SCALINGS, is_constant, usual_scaling
from manyviews.metrics.renumbering import check_reference, matched_numbers
from manyviews.optim.history import History
from manyviews.partitions.onehot import cluster_order
from manyviews.views import Views
from manyviews.views.caller import warn_user
from manyviews.views.cells import first_equals
from manyviews.views.check import per_view

__all__ = ["MultiViewClusterer", "PredictMixin"]


class MultiViewClusterer(ClusterMixin, ViewsReader):
    """Base of the multi-view clusterers.

    A subclass implements ``_fit(views, rng)``, which ends with ``return self._record(result)``; where it holds other
    than the usual arrays also ``_memory_estimate(views)``, the bytes that this takes. Where the method has a rule for
    new samples it also inherits ``PredictMixin`` and implements ``_predict(views)``.
    """

    # what "auto" does to dense views
    _dense_scaling: ClassVar[str] = "standard"
    # what to change where memory is short, besides the method
    _memory_hint: ClassVar[str] = ""
    # power of n with which the memory grows, where that is known
    _memory_order: ClassVar[int | None] = None
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [POSITIVE_INT],
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
        Identical samples, equal in every view, always share a cluster.

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
        name = type(self).__name__
        if argument != "sample_weight":
            return f"{name}.fit() got an unexpected keyword argument {argument!r}; leave it out"
        return (
            f"{name} has no form in which samples weigh differently, so fit takes no sample_weight; leave it out, or "
            f"use {self._alternatives().takers_of_weights()}"
        )

    @_fit_context(prefer_skip_nested_validation=True)  # untyped, so on ``fit`` it would hide its type from checkers
    def _fit_checked(self, X: Any, match_to: Any, sample_weight: Any = None) -> None:
        views = self._check_views(X, reset=True)
        if given := self._given_distances():
            check_distances(views, given, square=True)
        weights = None if sample_weight is None else checked_sample_weight(sample_weight, len(views))
        first = self._first_equals(views, weights)
        earlier = None if match_to is None else self._check_earlier(match_to, len(views))
        check_memory(self, views)
        self._constant: tuple[str, ...] = ()
        counted = views if weights is None or weights.all() else views[weights > 0]
        self._note_constant(views, [name for name, X in counted.items() if is_constant(X)])
        rng = child_rng(self.random_state)
        # rounding may part copies of a sample that lies halfway between clusters
        raw = (self._fit(views, rng) if weights is None else self._fit_weighted(views, rng, weights))[first]
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

    def _fit(self, views: Views, rng: np.random.Generator) -> NDArray[np.int64]:
        raise TypeError(f"{type(self).__name__} defines no solver")

    def _fit_weighted(self, views: Views, rng: np.random.Generator, weights: NDArray[Any]) -> NDArray[np.int64]:
        raise TypeError(f"{type(self).__name__} defines no weighted solver")

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
        return f"stopped after {self.n_iter_} iterations before it converged" + (f"; raise {remedy}" if remedy else "")

    def _why_fewer(self, found: int) -> str:
        if found == self.n_clusters:
            return ""
        return (
            f"found {found} clusters instead of the {self.n_clusters} asked for; the samples may have no more distinct "
            "groups: lower n_clusters, or try another scaling or random_state"
        )

    def _memory_estimate(self, views: Views) -> int:
        """Return about how many bytes ``_fit`` needs at its peak, beyond the views themselves.

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

    def _first_equals(self, views: Views, weights: NDArray[Any] | None = None) -> NDArray[np.int64]:
        """Return the first sample that equals each, (n,), of those that count; refuse too few distinct ones."""
        n, k = len(views), self.n_clusters
        if k > n:
            raise ValueError(f"n_clusters={k} must lie between 1 and the number of samples, got n_samples={n}")
        first = first_equals(views.arrays)
        if weights is not None:
            first = first_counted(first, weights)
        distinct = np.unique(first if weights is None else first[weights > 0]).size
        if k > distinct:
            raise ValueError(
                f"n_clusters={k} is more than there are distinct samples: {distinct} of n_samples={n}, and identical "
                f"ones share a cluster; give n_clusters={distinct} at most, or check that the right columns were given"
            )
        return first

    def _check_earlier(self, match_to: Any, n: int) -> NDArray[np.int64]:
        earlier = check_reference(match_to, n, "match_to")
        largest = int(earlier.max(initial=-1))
        if largest >= self.n_clusters:
            raise ValueError(
                f"match_to has a cluster {largest}, which cannot keep its number among n_clusters={self.n_clusters}; "
                f"give n_clusters={largest + 1} at least, or compare with manyviews.metrics.match_labels afterwards"
            )
        return earlier

    def _scalings(self, names: tuple[str, ...]) -> tuple[str | None, ...]:
        """Return the scaling of each view; views that a mapping leaves out get "auto"."""
        scaling = self.scaling
        if isinstance(scaling, dict):
            scaling = dict.fromkeys(names, "auto") | scaling
        chosen = per_view(scaling, names, "scaling")
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

    def _say(self, message: str) -> None:
        if self.verbose:
            print(f"[{type(self).__name__}] {message}")


class PredictMixin:
    """Adds ``predict`` to a method that has a rule for new samples, ``_predict(views)``, giving labels as ``_fit``."""

    def _can_predict(self) -> bool:
        return True

    @available_if(lambda self: self._can_predict())
    def predict(self: Any, X: Any) -> NDArray[np.int64]:
        """Return the clusters of new samples.

        Parameters
        ----------
        X : Views, sequence, mapping or table
            The same views of new samples, matched by name where both sides have names.

        Returns
        -------
        ndarray of shape (n_new,), int64
            Labels, numbered as ``labels_``.

        Raises
        ------
        ValueError
            If views are missing, unknown or of another width.
        """
        check_is_fitted(self)
        with plain_integers(self):
            views = self._check_views(X, reset=False)
            if given := self._given_distances():
                check_distances(views, given, square=False)
            labels: NDArray[np.int64] = self._order[self._predict(views)]
        return labels

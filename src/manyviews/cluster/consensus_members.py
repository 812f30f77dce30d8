"""What ``Consensus`` is made of: treatments of the views, and other systems with their weights and largest n."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.cluster.parallel import one_blas_thread
from manyviews.cluster.registry import find_method
from manyviews.cluster.sample_weight import SampleWeightMixin
from manyviews.prototypes.sampled_rows import ViewTreatment
from manyviews.prototypes.view_treatment import auto_metric, fit_treatment
from manyviews.views import Views

__all__ = [
    "SYSTEMS",
    "Member",
    "System",
    "Treatment",
    "treated_as",
    "treatments_of",
    "view_treatments",
    "votes",
]

Array = NDArray[Any]
Labels = NDArray[np.int64]


class Treatment(NamedTuple):
    """How the views are seen by a base clustering: scaling of dense and of text views, metric of dense ones."""

    name: str
    dense: str | None
    text: str
    metric: str


class System(NamedTuple):
    """Another method whose partition takes part.

    ``method`` is its name in the registry, ``settings`` what differs from its defaults; it takes part up to
    ``most_samples``, as its cost demands, once for each of ``scalings``.
    """

    method: str
    most_samples: int
    scalings: tuple[str | None, ...]
    settings: dict[str, Any]


class Member(NamedTuple):
    """One partition of a ``Consensus``.

    ``method`` and ``treatment`` say how it was made and from which views; ``weight`` is its part of the total of 1;
    ``agreement`` is its normalised mutual information with the result, over the samples that it labels.
    """

    method: str
    treatment: str
    views: tuple[str, ...]
    n_clusters: int
    weight: float
    agreement: float


TREATMENTS = (
    Treatment("standardised", "standard", "tfidf", "euclidean"),
    Treatment("standardised, cosine", "standard", "unit", "cosine"),
    Treatment("as given", None, "tfidf", "euclidean"),
    Treatment("as given, cosine", None, "unit", "cosine"),
)
# as chosen, as given, and rows of unit length, which is the cosine for methods that know Euclidean distances only
EVERY_SCALING = ("auto", None, "unit")
SYSTEMS = (
    System("concat-kmeans", 100_000, EVERY_SCALING, {"n_init": 5}),
    System("concat-spectral", 5_000, EVERY_SCALING, {}),
    System("sum-spectral", 5_000, EVERY_SCALING, {}),
    System("op-lfmvc", 2_500, ("auto",), {}),  # its cost is that of all others together
    System("mspl", 20_000, ("auto",), {}),
    System("udbgl", 5_000, ("auto",), {}),
    System("mvec", 700, ("auto",), {}),
)


def is_text(X: Any) -> bool:
    """Return whether a view looks like counts or weights of terms: sparse, without negative entries."""
    return sparse.issparse(X) and auto_metric(X) == "cosine"


def treatments_of(arrays: Sequence[Any], scalings: Sequence[str | None]) -> tuple[Treatment, ...]:
    """Return the treatments that differ for these views, given the scalings asked for ("auto": one's own)."""
    seen: dict[tuple[Any, ...], Treatment] = {}
    for treatment in TREATMENTS:
        effect = tuple(_treated(X, scaling, treatment) for X, scaling in zip(arrays, scalings, strict=True))
        seen.setdefault(effect, treatment)
    return tuple(seen.values())


def view_treatments(
    arrays: Sequence[Any], scalings: Sequence[str | None], treatment: Treatment, counts: Array | None = None
) -> list[ViewTreatment]:
    """Learn one treatment of all views, from samples that count so often (n,)."""
    effects = treated_as(arrays, scalings, treatment)
    return [fit_treatment(X, scaling, metric, counts) for X, (scaling, metric) in zip(arrays, effects, strict=True)]


def treated_as(
    arrays: Sequence[Any], scalings: Sequence[str | None], treatment: Treatment
) -> list[tuple[str | None, str]]:
    """Return scaling and metric of each view under a treatment, given the scalings asked for ("auto": one's own)."""
    return [_treated(X, scaling, treatment) for X, scaling in zip(arrays, scalings, strict=True)]


def _treated(X: Any, scaling: str | None, treatment: Treatment) -> tuple[str | None, str]:
    if is_text(X):
        return (treatment.text if scaling == "auto" else scaling), "cosine"
    return (treatment.dense if scaling == "auto" else scaling), treatment.metric


def votes(
    views: Views,
    k: int,
    scalings: Sequence[str | None],
    rng: np.random.Generator,
    weights: Array,
    counts: Array | None = None,
) -> Iterator[tuple[str, str, Labels]]:
    """Yield method, scaling and labels (n,) of every system that can afford the samples.

    Parameters
    ----------
    views : Views
        Checked views.
    k : int
        Number of clusters.
    scalings : sequence of str or None
        What the user asked for, per view.
    rng : Generator
        Parent of the generators of the systems.
    weights : ndarray of shape (V,)
        What each view counts.
    counts : ndarray of shape (n,), default=None
        How often each sample counts, for the systems that have a form for it; once by default.

    Yields
    ------
    method, scaling : str
        Which system, and how it treats the views.
    labels : ndarray of shape (n,)
        Its partition; -1 for samples with a gap in some view, where the system takes none.
    """
    whole = np.flatnonzero(views.observed.all(axis=1))
    for system in SYSTEMS:
        row = find_method(system.method)
        rows = np.arange(len(views)) if row.missing or whole.size == len(views) else whole
        children = rng.spawn(len(system.scalings))  # also of those that stay away, so that none depends on another
        if rows.size > system.most_samples or rows.size < 2 * k:
            continue
        part = views if rows.size == len(views) else views[rows]
        for scaling, child in zip(system.scalings, children, strict=True):
            chosen = {name: scaling if own == "auto" else own for name, own in zip(views.names, scalings, strict=True)}
            if scaling != "auto" and "auto" not in scalings:
                continue  # the user decides on all views: once is enough
            model = row.load()(k, view_weights=weights, scaling=chosen, random_state=child, **system.settings)
            found = _labels(model, part, None if counts is None else counts[rows])
            if found is not None:
                labels = np.full(len(views), -1, dtype=np.int64)
                labels[rows] = found
                yield system.method, str(scaling or "as given"), labels


def _labels(model: Any, views: Views, counts: Array | None) -> Labels | None:
    """Return the labels of a fit; None where the method cannot be used on these views."""
    with warnings.catch_warnings(), one_blas_thread():
        # what a single member warns of (few iterations, fewer clusters) is not news about the consensus
        warnings.simplefilter("ignore")
        try:
            weighted = counts is not None and isinstance(model, SampleWeightMixin)
            labels: Labels = model.fit(views, **({"sample_weight": counts} if weighted else {})).labels_
        except (ValueError, TypeError, np.linalg.LinAlgError):
            return None
    return labels

"""The numbers in which samples are compared: views scaled as the model scaled them, or the model's embedding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.linalg.balance import joined
from manyviews.linalg.coordinates import has_few_rows, row_coordinates
from manyviews.linalg.scaling import apply_scaling, fit_scaling, usual_scaling
from manyviews.views import Views

__all__ = ["SCALED", "compact", "directions", "embedding_of", "narrow", "scaled", "scalings_of", "side_by_side"]

Array = NDArray[Any]

# Enough to tell groups apart, and quick.
MAX_DIRECTIONS = 50

# What was done to a view first, in words.
SCALED = {
    "standard": "columns standardised",
    "minmax": "columns brought to the same range",
    "unit": "rows brought to length 1",
    "tfidf": "tf-idf weights",
    "tfidf_plain": "tf-idf weights, terms that all samples have left out",
    None: "numbers as given",
}


def scalings_of(model: Any, views: Views) -> list[str | None]:
    """Return the scaling of each view: what the model did to it, else the usual one."""
    chosen = getattr(model, "scalings_", None)
    known = [str(name) for name in getattr(model, "view_names_in_", views.names)]
    if chosen is not None and len(chosen) == len(known) and all(kind in SCALED for kind in chosen):
        kinds = dict(zip(known, chosen, strict=True))  # of views that were left out too
        if len(known) == len(views.names):
            return list(chosen)
        if all(name in kinds for name in views.names):
            return [kinds[name] for name in views.names]
    return [usual_scaling(array) for array in views.arrays]


def embedding_of(model: Any, n_samples: int) -> Array | None:
    """Return the model's embedding as float64, None where it has none that can be used."""
    embedding = getattr(model, "embedding_", None)
    if embedding is None or np.ndim(embedding) != 2 or np.shape(embedding)[0] != n_samples or not np.size(embedding):
        return None
    embedding = np.asarray(embedding, dtype=np.float64)
    return embedding if np.isfinite(embedding).all() else None


def narrow(array: Any) -> Any:
    """Bring the largest entry to 1, so that squares neither overflow nor vanish; float64."""
    array = array.astype(np.float64)
    largest = max(float(array.max()), -float(array.min())) if min(array.shape) else 0.0
    if largest > 0:
        array /= largest
    return array


def scaled(array: Any, kind: str | None) -> Any:
    """Return observed rows of a view, scaled; float64, CSR stays CSR."""
    array = narrow(array)
    return apply_scaling(array, fit_scaling(array, kind), overwrite=True)


def side_by_side(views: Views, scalings: Sequence[str | None]) -> Any:
    """Return the scaled views as one table; a sample that a view did not observe counts as average there.

    Of dense views that have many more columns than there are samples, the columns are coordinates that keep distances.
    """
    parts = (
        _filled(array, observed, kind)
        for array, observed, kind in zip(views.arrays, views.observed.T, scalings, strict=True)
        if observed.any()
    )
    if any(map(sparse.issparse, views.arrays)):
        return sparse.csr_matrix(sparse.hstack(list(parts)))
    # where constant columns are dropped, a view may come below twice as many columns as rows
    width = sum(min(X.shape[1], 2 * len(views)) if has_few_rows(X) else X.shape[1] for X in views.arrays)
    return joined(map(compact, parts), (len(views), width), np.float64)


def compact(table: Array) -> Array:
    """Return rows with the same distances, in coordinates where there are many more columns than rows."""
    return row_coordinates(table) if has_few_rows(table) else table


def _filled(array: Any, observed: Array, kind: str | None) -> Any:
    """Return a view scaled, with the mean in place of what was not observed."""
    if sparse.issparse(array) or observed.all():
        return scaled(array, kind)
    known = scaled(array[observed], kind)
    filled = np.tile(known.mean(axis=0), (observed.size, 1))
    filled[observed] = known
    return filled


def directions(table: Any, random_state: int) -> Array:
    """Return a dense table of at most 50 columns, the principal components where there are more; ``table`` is lost."""
    from sklearn.decomposition import PCA, TruncatedSVD

    if not _varies(table):
        return np.zeros((table.shape[0], 1))
    table = table if sparse.issparse(table) else compact(table)
    size = min(MAX_DIRECTIONS, *table.shape)
    if sparse.issparse(table):
        if min(table.shape) <= 2:
            return np.asarray(table.toarray(), dtype=np.float64)
        return np.asarray(TruncatedSVD(size, random_state=random_state).fit_transform(table), dtype=np.float64)
    if table.shape[1] <= MAX_DIRECTIONS:
        return np.asarray(table, dtype=np.float64)
    return np.asarray(PCA(size, copy=False, random_state=random_state).fit_transform(table), dtype=np.float64)


def _varies(table: Any) -> bool:
    """Return whether any two rows differ; rows that do not have no directions to be found."""
    top, low = table.max(axis=0), table.min(axis=0)
    return bool((top != low).sum())

"""Flat maps of the samples: each view, and all views together, brought down to two coordinates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.cluster.parallel import one_blas_thread
from manyviews.findings.result import GroupedResult
from manyviews.findings.spaces import SCALED, compact, directions, narrow, scaled, side_by_side
from manyviews.linalg.blocks import row_blocks
from manyviews.pages.wording import amount, count
from manyviews.views import Views

__all__ = ["MAX_POINTS", "consensus_map", "neighbor_map", "points_per_map", "view_map"]

Array = NDArray[Any]

# Per map, and over all maps of a page: what a browser draws at once, and what a file can hold.
MAX_POINTS, MAX_POINTS_IN_ALL = 4000, 60_000

# What is smaller than this, against the largest thing of its kind, is taken for a rounding error.
NEGLIGIBLE = 1e-12
# whose variances are computed at a time
COLUMNS_PER_BLOCK = 2_048

SVD_DIRECTIONS = 10

METHODS_OF_NEIGHBORS = {"tsne": "t-SNE", "umap": "UMAP"}
# Of fewer samples nothing can be said of neighbours.
LEAST_FOR_NEIGHBORS = 8


class Flat(NamedTuple):
    """Coordinates (m, 2), the share of the spread on each axis, and how many axes mean something (0, 1 or 2)."""

    xy: Array
    shares: tuple[float, float]  # NaN where the axes mean nothing by themselves
    n_axes: int


def points_per_map(n_maps: int) -> int:
    """Return how many samples a map shows at most."""
    return min(MAX_POINTS, max(1000, MAX_POINTS_IN_ALL // n_maps))


def view_map(
    views: Views, position: int, scaling: str | None, order: Array, limit: int, random_state: int
) -> dict[str, Any]:
    """Return the map of one view: the first ``limit`` observed samples in ``order``."""
    name, array = views.names[position], views.arrays[position]
    observed = views.observed[:, position]
    rows = np.sort(order[observed[order]][:limit])
    flat = flatten_rows(scaled(array[rows], scaling) if rows.size else array[rows], random_state)
    notes = [_subset_note(rows.size, int(observed.sum()), "observed " if not observed.all() else "")]
    if not observed.all():
        notes.append(f"{amount(int((~observed).sum()), 'sample')} not observed in this view.")
    how = "Truncated SVD, principal components" if sparse.issparse(array) else "Principal components"
    return _as_map(name, "view", rows, flat, notes, f"{how}; {SCALED[scaling]}.")


def consensus_map(
    views: Views, embedding: Array | None, scalings: Sequence[str | None], order: Array, limit: int, random_state: int
) -> dict[str, Any]:
    """Return the map of all views together: of the model's embedding, else of the views side by side."""
    rows = np.sort(order[:limit])
    notes = [_subset_note(rows.size, len(views), "")]
    if embedding is not None:
        flat = flatten_rows(narrow(embedding[rows]), random_state)
        how = "Principal components of the embedding that the method made from all views."
    else:
        flat = flatten_rows(side_by_side(views[rows], scalings), random_state)
        how = "Principal components of all views side by side, scaled as in the maps of the views."
        if not views.observed.all():
            notes.append("A view in which a sample was not observed counts as average for it.")
    return _as_map("All views together", "consensus", rows, flat, notes, how)


def neighbor_map(
    grouped: GroupedResult, embedding: Array | None, order: Array, *, kind: str = "tsne", limit: int, random_state: int
) -> dict[str, Any] | None:
    """Return a map of all views together in which nearest neighbours stay near: t-SNE or UMAP.

    Parameters
    ----------
    grouped : GroupedResult
        What was clustered and how.
    embedding : ndarray of shape (n, c) or None
        That of the model, drawn where it has one; else the views side by side.
    order : ndarray of shape (n,)
        Random order of the samples, of which the first are taken.
    kind : {"tsne", "umap"}, default="tsne"
        "umap" needs the package umap-learn.
    limit : int
        Samples at most. t-SNE takes seconds for 600.
    random_state : int
        Seed.

    Returns
    -------
    dict or None
        As ``consensus_map``; the axes mean nothing by themselves. None for fewer than 8 samples, or all the same.

    Raises
    ------
    ImportError
        If umap-learn is asked for and not installed.
    """
    rows = np.sort(order[:limit])
    views = grouped.views
    table = side_by_side(views[rows], grouped.scalings) if embedding is None else narrow(embedding[rows])
    table = directions(table, random_state)
    notes = [_subset_note(rows.size, len(views), "")]
    of = "all views side by side" if embedding is None else "the embedding that the method made from all views"
    how = f"{METHODS_OF_NEIGHBORS[kind]} of {of}: groups that lie apart are apart, how far says little."
    if rows.size < LEAST_FOR_NEIGHBORS or _spread(table) == 0:
        return None
    xy = (_tsne if kind == "tsne" else _umap)(table, random_state)
    flat = Flat(xy.astype(np.float64), (float("nan"), float("nan")), 2)
    return _as_map("All views together, by neighbours", "neighbors", rows, flat, notes, how)


def _tsne(table: Array, random_state: int) -> Array:
    from sklearn.manifold import TSNE

    perplexity = min(30.0, (table.shape[0] - 1) / 3)
    solver = TSNE(
        perplexity=perplexity, init="pca" if table.shape[1] > 1 else "random", max_iter=500, random_state=random_state
    )
    # sums of many threads depend on their number, and with them the picture
    with one_blas_thread():
        return np.asarray(solver.fit_transform(table))


def _umap(table: Array, random_state: int) -> Array:
    try:
        from umap import UMAP
    except ImportError as error:
        raise ImportError("this map needs umap-learn; install it by: pip install umap-learn, or take tsne") from error
    n_neighbors = min(15, table.shape[0] - 1)
    return np.asarray(UMAP(n_neighbors=n_neighbors, random_state=random_state, n_jobs=1).fit_transform(table))


def flatten_rows(table: Any, random_state: int) -> Flat:
    """Return the rows of a table in two coordinates: principal components, by way of a truncated SVD if it is sparse.

    The table is lost: it is centred where it is.

    Parameters
    ----------
    table : ndarray or CSR of shape (m, d)
        Finite numbers.
    random_state : int
        Seed of the randomised solvers, and of the vertical scatter where there is one axis only.

    Returns
    -------
    Flat
        Coordinates; all zero where every row is the same.
    """
    m, d = table.shape
    if sparse.issparse(table) and min(m, d) <= 2:
        table = table.toarray()
    spread = _spread(table) if m > 1 else 0.0
    if spread == 0:
        return Flat(np.zeros((m, 2)), (0.0, 0.0), 0)
    scores, variances = _leading(table, random_state)
    shares = np.zeros(2)
    shares[: variances.size] = np.minimum(variances / spread, 1.0)
    if shares[1] > NEGLIGIBLE * shares[0]:
        return Flat(scores, (float(shares[0]), float(shares[1])), 2)
    # One axis: points would lie on top of each other on a line, so they are scattered across it.
    across = np.random.default_rng(random_state).uniform(-1.0, 1.0, m)
    return Flat(np.column_stack([scores[:, 0], across]), (float(shares[0]), 0.0), 1)


def _leading(table: Any, random_state: int) -> tuple[Array, Array]:
    from sklearn.decomposition import PCA, TruncatedSVD

    if sparse.issparse(table):
        # It does not centre, so its first direction may be little more than the mean; a few more hold the rest.
        table = TruncatedSVD(min(SVD_DIRECTIONS, *table.shape), random_state=random_state).fit_transform(table)
    else:
        table = compact(table)
    scores = PCA(min(2, *table.shape), copy=False, random_state=random_state).fit_transform(table)
    return np.asarray(scores, dtype=np.float64), np.var(scores, axis=0, dtype=np.float64)


def _spread(table: Any) -> float:
    """Return the total variance of the columns; 0 where they are constant but for rounding."""
    if sparse.issparse(table):
        means = np.asarray(table.mean(axis=0)).ravel()
        squares = np.asarray(table.multiply(table).mean(axis=0)).ravel()
        total, scale = float((squares - means**2).sum()), float(squares.sum())
    else:
        blocks = [table[:, columns] for columns in row_blocks(table.shape[1], COLUMNS_PER_BLOCK)]
        total = float(np.concatenate([block.var(axis=0, dtype=np.float64) for block in blocks]).sum())
        scale = float(np.einsum("ij,ij->", table, table, dtype=np.float64)) / table.size
    return total if total > NEGLIGIBLE * scale else 0.0


def _subset_note(shown: int, of: int, kind: str) -> str:
    return "" if shown == of else f"A random {count(shown)} of the {count(of)} {kind}samples."


def _as_map(name: str, kind: str, rows: Array, flat: Flat, notes: list[str], how: str) -> dict[str, Any]:
    """Return a map as plain data, coordinates rounded to four digits of their range."""
    if flat.n_axes == 0:
        what = (
            "has one sample"
            if rows.size == 1
            else "shows no sample"
            if rows.size == 0
            else "is the same for every sample"
        )
        notes.append(f"The data {what}.")
    if flat.n_axes == 1:
        notes.append("Only the horizontal position means something; points are scattered vertically to be seen.")
    return {
        "name": name,
        "kind": kind,
        "rows": rows.tolist(),
        "x": _rounded(flat.xy[:, 0]),
        "y": _rounded(flat.xy[:, 1]),
        "shares": [share if math.isfinite(share) else None for share in flat.shares],
        "n_axes": flat.n_axes,
        "how": how,
        "notes": [note for note in notes if note],
    }


def _rounded(values: Array) -> list[float]:
    largest = float(np.max(np.abs(values), initial=0.0))
    digits = 0 if largest == 0 else 3 - math.floor(math.log10(largest))
    return [float(value) for value in np.round(values, digits)]

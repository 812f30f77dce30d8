"""Which columns set a cluster apart: the standardised difference between its samples and all others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.linalg.blocks import row_blocks
from manyviews.pages.wording import plain
from manyviews.views import Views

__all__ = ["MAX_EFFECT", "column_name", "telling_features"]

Array = NDArray[Any]
# numbers of a block of rows in double precision
CELLS_PER_BLOCK = 1 << 20

# Shown as "more than": a column that is constant inside the cluster and outside has an infinite effect.
MAX_EFFECT = 99.0
# An effect below this is called small by convention (Cohen, 1988), and is not worth a line.
MIN_EFFECT = 0.2
# A difference, or a spread, smaller than this against the column's size is a rounding error.
ROUNDING = 1e-12


class _Sums(NamedTuple):
    """Counts (k,), and per cluster the sums and sums of squares of each column: (k, d), dense or sparse.

    Dense columns are shifted by ``shift`` first, so that squares of large numbers do not drown their differences.
    """

    counts: Array
    sums: Any
    squares: Any
    shift: Array


def telling_features(
    views: Views, positions: Array, n_clusters: int, *, n_shown: int, n_features: int
) -> list[list[dict[str, Any]]]:
    r"""Return, per cluster and view, the columns that set the cluster apart most.

    The effect size is Cohen's :math:`d = (\bar x_{in} - \bar x_{out}) / s`, with s the pooled standard deviation
    inside and outside the cluster. Numbers are taken as given, before any scaling; standardising would not change d.

    Parameters
    ----------
    views : Views
        What was clustered; sparse views stay sparse.
    positions : ndarray of shape (n,)
        Cluster of each sample, 0 .. n_clusters - 1.
    n_clusters : int
        Number of clusters.
    n_shown : int
        For how many clusters, from the first.
    n_features : int
        Columns per cluster and view at most.

    Returns
    -------
    list of list of dict
        Per shown cluster the views with at least one column of some effect: ``view`` (its position) and
        ``features``: ``name`` and position of the ``column``, ``effect`` and its ``text``, ``inside`` and ``outside``
        (the means).
    """
    found: list[list[dict[str, Any]]] = [[] for _ in range(n_shown)]
    if n_clusters < 2:
        return found
    for position, (array, observed) in enumerate(zip(views.arrays, views.observed.T, strict=True)):
        names = views.feature_names[position]
        with np.errstate(all="ignore"):
            sums = _sums(array, observed, positions, n_clusters)
            rows = list(_leading(sums, n_shown, n_features))
        for cluster, features in enumerate(rows):
            named = [
                {"name": column_name(names, column), "column": column, "text": _signed(numbers["effect"])} | numbers
                for column, numbers in features
            ]
            if named:
                found[cluster].append({"view": position, "features": named})
    return found


def column_name(names: tuple[str, ...] | None, column: int) -> str:
    """Return the name of a column as text; its number, counted from 0, where it has none."""
    return f"column {column}" if names is None else plain(names[column], 60) or f"column {column}"


def _signed(effect: float) -> str:
    text = f"{effect:+.1f}" if abs(effect) < MAX_EFFECT else f"over {effect:+.0f}"
    return text.replace("-", "\u2212")


def _sums(array: Any, observed: Array, positions: Array, k: int) -> _Sums:
    known = np.flatnonzero(observed)
    counts = np.bincount(positions[known], minlength=k).astype(np.float64)
    d = array.shape[1]
    if sparse.issparse(array):
        Y = _members(positions[known], k)
        rows = array[known].astype(np.float64)
        return _Sums(counts, (Y @ rows).tocsr(), (Y @ rows.multiply(rows)).tocsr(), np.zeros(d))
    shift = array[known[:1]].astype(np.float64).sum(axis=0)
    sums, squares = np.zeros((k, d)), np.zeros((k, d))
    for part in row_blocks(known.size, max(16, CELLS_PER_BLOCK // d)):
        Y, block = _members(positions[known[part]], k), array[known[part]].astype(np.float64) - shift
        sums += Y @ block
        squares += Y @ np.square(block)
    return _Sums(counts, sums, squares, shift)


def _members(labels: Array, k: int) -> Any:
    m = labels.size
    return sparse.csc_matrix((np.ones(m), labels, np.arange(m + 1)), shape=(k, m))


def _leading(sums: _Sums, n_shown: int, n_features: int) -> Iterator[list[tuple[int, dict[str, float]]]]:
    """Yield per cluster its columns of largest effect; one dense row of numbers at a time."""
    total, total_squares = _row_total(sums.sums), _row_total(sums.squares)
    n = sums.counts.sum()
    for cluster in range(n_shown):
        inside, inside_squares = _row(sums.sums, cluster), _row(sums.squares, cluster)
        m = sums.counts[cluster]
        if m < 1 or n - m < 1 or n < 3:
            yield []
            continue
        means = inside / m, (total - inside) / (n - m)
        within = (inside_squares - m * means[0] ** 2) + (total_squares - inside_squares - (n - m) * means[1] ** 2)
        effect = _effect(means[0] - means[1], np.maximum(within, 0.0) / (n - 2), total_squares / n, sums.shift)
        yield [
            (column, {"effect": value, "inside": float(a), "outside": float(b)})
            for column, value in _largest(effect, n_features)
            for a, b in [[float(mean[column] + sums.shift[column]) for mean in means]]
            if np.isfinite([a, b]).all()
        ]


def _effect(difference: Array, variance: Array, size: Array, shift: Array) -> Array:
    """Return d, capped; 0 where the means differ by rounding only."""
    same = np.abs(difference) <= ROUNDING * np.maximum(np.sqrt(size), np.abs(shift))
    spread = np.sqrt(np.where(variance <= ROUNDING * size, 0.0, variance))
    effect = np.clip(np.where(same, 0.0, difference / np.where(same, 1.0, spread)), -MAX_EFFECT, MAX_EFFECT)
    return np.where(np.isfinite(effect), effect, 0.0)


def _largest(effect: Array, n_features: int) -> list[tuple[int, float]]:
    leading = np.argpartition(-np.abs(effect), min(n_features, effect.size) - 1)[:n_features]
    leading = leading[np.lexsort((leading, -np.abs(effect[leading])))]
    return [(int(column), float(effect[column])) for column in leading if abs(effect[column]) >= MIN_EFFECT]


def _row(table: Any, i: int) -> Array:
    return np.asarray(table[[i]].todense() if sparse.issparse(table) else table[i], dtype=np.float64).ravel()


def _row_total(table: Any) -> Array:
    return np.asarray(table.sum(axis=0), dtype=np.float64).ravel()

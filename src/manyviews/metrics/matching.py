"""Maximum-weight one-to-one matching of classes and clusters, for two or for a hundred thousand of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyviews.metrics.contingency import Contingency

__all__ = ["matched_count"]

IntArray = NDArray[np.int64]

# A dense table of this many cells is solved faster than it is simplified.
_DENSE_CELLS = 250_000


def matched_count(table: Contingency) -> int:
    """Return the largest number of samples a one-to-one map of clusters to classes can match.

    Small tables go to the Hungarian solver as they are. Large ones are sparse (at most n non-empty cells):
    cells that belong to some best matching for sure are taken first, the rest goes to a sparse solver, and
    no dense table is made.

    Parameters
    ----------
    table : Contingency
        Counts of classes against clusters, of any rectangular shape.

    Returns
    -------
    int
        Matched samples.
    """
    n_rows, n_cols = table.row_sums.size, table.col_sums.size
    if n_rows * n_cols <= _DENSE_CELLS:
        return _solve_dense(table)
    taken, rows, cols, counts = _take_dominant(table.rows, table.cols, table.counts)
    return taken + (_solve_sparse(rows, cols, counts) if counts.size else 0)


def _solve_dense(table: Contingency) -> int:
    from scipy.optimize import linear_sum_assignment

    dense = np.zeros((table.row_sums.size, table.col_sums.size), dtype=np.int64)
    dense[table.rows, table.cols] = table.counts
    rows, cols = linear_sum_assignment(dense, maximize=True)
    return int(dense[rows, cols].sum())


def _take_dominant(rows: IntArray, cols: IntArray, counts: IntArray) -> tuple[int, IntArray, IntArray, IntArray]:
    """Match every cell at least as heavy as the best rival in its row plus the best rival in its column.

    A matching without such a cell loses nothing by taking it in place of those rivals, so some best matching
    holds it. Repeats until no cell qualifies; returns the matched count and the cells left.
    """
    taken = 0
    while counts.size:
        sure = np.flatnonzero(counts >= _best_rival(rows, counts) + _best_rival(cols, counts))
        if not sure.size:
            break
        # Ties can qualify two cells of one row or column; the first one stands for both.
        sure = sure[np.unique(rows[sure], return_index=True)[1]]
        sure = sure[np.unique(cols[sure], return_index=True)[1]]
        taken += int(counts[sure].sum())
        left = ~(_contained(rows, rows[sure]) | _contained(cols, cols[sure]))
        rows, cols, counts = rows[left], cols[left], counts[left]
    return taken, rows, cols, counts


def _best_rival(line: IntArray, counts: IntArray) -> IntArray:
    """Largest count among the other cells of the same line, 0 where there is none."""
    order = np.lexsort((-counts, line))
    line, counts = line[order], counts[order]
    first = np.flatnonzero(np.r_[True, line[1:] != line[:-1]])
    length = np.diff(np.r_[first, line.size])
    rival = np.repeat(counts[first], length)
    runner_up = counts[np.minimum(first + 1, line.size - 1)]
    rival[first] = np.where(length > 1, runner_up, 0)
    out = np.empty_like(rival)
    out[order] = rival
    return out


def _contained(values: IntArray, chosen: IntArray) -> NDArray[np.bool_]:
    flags = np.zeros(int(values.max()) + 1, dtype=bool)
    flags[chosen] = True
    result: NDArray[np.bool_] = flags[values]
    return result


def _solve_sparse(rows: IntArray, cols: IntArray, counts: IntArray) -> int:
    """Best matching of a sparse table, where a row may stay unmatched.

    Every row gets a private empty column, so that a matching of all rows exists; costs are counted down from
    above the largest count because the solver takes a stored zero for a missing cell.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    row_ids, rows = _renumber(rows)
    col_ids, cols = _renumber(cols)
    if row_ids > col_ids:
        rows, cols, row_ids, col_ids = cols, rows, col_ids, row_ids
    ceiling = int(counts.max()) + 1
    idle = np.arange(row_ids)
    cost: NDArray[Any] = np.r_[ceiling - counts, np.full(row_ids, ceiling)].astype(np.float64)
    shape = (row_ids, col_ids + row_ids)
    graph = csr_matrix((cost, (np.r_[rows, idle], np.r_[cols, col_ids + idle])), shape=shape)
    matched = graph[min_weight_full_bipartite_matching(graph)]
    return ceiling * row_ids - round(float(matched.sum()))


def _renumber(ids: IntArray) -> tuple[int, IntArray]:
    distinct, codes = np.unique(ids, return_inverse=True)
    return distinct.size, codes

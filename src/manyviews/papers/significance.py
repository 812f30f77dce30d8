"""Which differences between our own rows may be chance: the mark papers set in bold, and how far ranks must differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from manyviews.papers.verdict import Cell

__all__ = ["LEADING_RULE", "LEVEL", "Sample", "critical_difference", "leading", "welch"]

LEVEL = 0.05
LEADING_RULE = (
    "Of our own figures in a column, the highest and those that Welch's t-test does not tell from it at 5 % are marked."
)


class Sample(NamedTuple):
    """Mean and deviation of so many runs; no deviation of a single one."""

    mean: float
    deviation: float | None
    n_runs: int


def welch(one: Sample, other: Sample) -> float | None:
    """Return the p-value of Welch's t-test of two means; None where there is no chance in them, or none to be seen."""
    if min(one.n_runs, other.n_runs) < 2 or not (one.deviation or other.deviation):
        return None
    from scipy.stats import ttest_ind_from_stats

    sides = [(side.mean, side.deviation or 0.0, side.n_runs) for side in (one, other)]
    return float(ttest_ind_from_stats(*sides[0], *sides[1], equal_var=False).pvalue)


def leading(cells: Sequence[Cell]) -> frozenset[int]:
    """Return the ``id`` of the cells that are the best of their column of a table, or not to be told from it.

    Parameters
    ----------
    cells : sequence of Cell
        Cells of one or several tables. A column is a table and a data set; rows that do not follow the paper, and
        processor times, are left out.

    Returns
    -------
    frozenset of int
        None where a column has one row only.
    """
    found: set[int] = set()
    scored = [cell for cell in cells if cell.mean is not None and not cell.variant and cell.table.metric != "seconds"]
    for column in dict.fromkeys((id(cell.table), cell.dataset) for cell in scored):
        held = [cell for cell in scored if (id(cell.table), cell.dataset) == column]
        if len(held) > 1:
            best = max(held, key=lambda cell: cell.mean if cell.mean is not None else -np.inf)
            found |= {id(cell) for cell in held if cell is best or not _worse(cell, best)}
    return frozenset(found)


def _worse(cell: Cell, best: Cell) -> bool:
    """Tell whether a mean is significantly below another."""
    p_value = welch(*(Sample(each.mean or 0.0, each.deviation, each.n_runs) for each in (cell, best)))
    return cell.mean != best.mean if p_value is None else p_value < LEVEL


def critical_difference(n_rows: int, n_blocks: int) -> float:
    r"""Return the difference of mean ranks above which two rows differ, by Nemenyi's test at 5 %.

    .. math:: q_{0.05} \sqrt{\frac{k (k + 1)}{6 N}}

    for k rows on N independent blocks, with :math:`q` the studentised range of k values over the root of 2.

    Examples
    --------
    >>> from manyviews.papers.significance import critical_difference
    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    from scipy.stats import studentized_range

    q = studentized_range.ppf(1.0 - LEVEL, n_rows, np.inf) / np.sqrt(2.0)
    return float(q * np.sqrt(n_rows * (n_rows + 1) / (6.0 * n_blocks)))

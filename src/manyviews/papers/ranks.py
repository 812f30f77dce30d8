"""Average ranks of rows over data sets, where there are no printed figures to compare with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from manyviews.papers.verdict import Cell

__all__ = ["AverageRank", "average_ranks"]


@dataclass(frozen=True)
class AverageRank:
    """Mean rank of a row, 1 the best, over so many data sets, of which it was not done on ``n_lost``."""

    name: str
    rank: float
    n_datasets: int
    n_lost: int


def average_ranks(cells: Sequence[Cell]) -> list[AverageRank]:
    """Rank the rows of one table on every data set and average.

    Parameters
    ----------
    cells : sequence of Cell
        All cells of a table. Rows that were not done on a data set share the place behind all that were, as in the
        paper of FastMICE; equal figures share the mean of their places.

    Returns
    -------
    list of AverageRank
        The best first.
    """
    names = list(dict.fromkeys(cell.name for cell in cells if cell.method))
    datasets = list(dict.fromkeys(cell.dataset for cell in cells))
    means = {(cell.name, cell.dataset): cell.mean for cell in cells}
    ranks, lost = np.zeros((len(names), len(datasets))), np.zeros(len(names), dtype=int)
    for j, dataset in enumerate(datasets):
        found = [means.get((name, dataset)) for name in names]
        done = np.array([value is not None for value in found])
        values = np.array([0.0 if value is None else value for value in found])
        better = values if cells[0].table.metric == "seconds" else -values
        ranks[done, j] = rankdata(better[done])
        ranks[~done, j] = done.sum() + 1
        lost += ~done
    rows = [AverageRank(name, float(ranks[i].mean()), len(datasets), int(lost[i])) for i, name in enumerate(names)]
    return sorted(rows, key=lambda row: row.rank)

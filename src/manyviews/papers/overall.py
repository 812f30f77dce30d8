"""What a paper says of a whole table: scores over all data sets, and whether its own method leads beyond chance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from manyviews.papers.paper import PublishedTable
from manyviews.papers.significance import LEVEL, Sample, welch
from manyviews.papers.verdict import Cell

__all__ = ["Lead", "Leads", "RowScore", "Stars", "leads", "published_score", "scores", "stars"]


@dataclass(frozen=True)
class RowScore:
    r"""The score of a row over the data sets that were run.

    .. math:: \operatorname{score}(A_i) = \sum_j f(A_i, D_j) / \max_i f(A_i, D_j)

    Attributes
    ----------
    name : str
        The row.
    ours : float or None
        Of our means; the maximum is over the rows that follow the paper and were run, so that a row made otherwise may
        get more than 1 from a data set. None where the row was not run, or nowhere beside one that follows the paper.
    published : float or None
        Of the printed figures on the same data sets, the maximum over all rows of the table.
    printed : float or None
        As printed, over all data sets of the table.
    n_lost : int
        Data sets on which the row was not done, which add nothing to ours.
    """

    name: str
    ours: float | None
    published: float | None
    printed: float | None
    n_lost: int


@dataclass(frozen=True)
class Lead:
    """How far the paper's own method is above the best other row on one data set.

    Attributes
    ----------
    rival : str
        The best other row.
    difference : float
        Own minus rival; negative where the rival is ahead.
    p_value : float or None
        Of Welch's t-test; None where neither side has a deviation, or one has a single run.
    tells : bool
        Whether the difference is told from chance at 5 %. Means of several runs without any deviation have no chance
        in them.
    """

    rival: str
    difference: float
    p_value: float | None
    tells: bool

    @property
    def starred(self) -> bool:
        """Whether the paper's asterisk is due: the own method is ahead, and by more than chance."""
        return self.difference > 0 and self.tells


@dataclass(frozen=True)
class Leads:
    """The lead of one own row on a data set, None where there is no rival.

    Attributes
    ----------
    name, dataset : str
        Which one.
    published, ours : Lead or None
        By the printed figures, and by ours over the rows that follow the paper.
    any_row : Lead or None
        By ours over all rows of other methods, those made otherwise too.
    """

    name: str
    dataset: str
    published: Lead | None
    ours: Lead | None
    any_row: Lead | None

    @property
    def outcome(self) -> str:
        """What became of the printed lead, in words; empty where there is nothing to compare."""
        if self.ours is None:
            return ""
        if self.published is None or self.published.difference <= 0:
            return "none printed, significant here" if self.ours.starred else "none printed"
        text = "holds" if self.ours.starred else _lost(self.ours)
        if self.any_row is None or self.any_row.starred:
            return text
        if self.ours.starred:
            return f"{text}, but {_lost(self.any_row)}"
        taken = self.ours.difference > 0 >= self.any_row.difference
        return f"{text}; {_lost(self.any_row)}" if taken else text


class Stars(NamedTuple):
    """The ``id`` of the cells whose printed figure, and of those whose mean of ours, is due an asterisk."""

    printed: frozenset[int]
    ours: frozenset[int]


def scores(table: PublishedTable, cells: Sequence[Cell]) -> list[RowScore]:
    """Return the scores of all rows of a table.

    Parameters
    ----------
    table : PublishedTable
        What is printed.
    cells : sequence of Cell
        All cells of that table.

    Returns
    -------
    list of RowScore
        In the order of the cells; empty where the paper prints no scores.
    """
    if not table.scores:
        return []
    datasets = tuple(dict.fromkeys(cell.dataset for cell in cells))
    highest = {name: max(_means(cells, name), default=0.0) for name in datasets}
    found = []
    for name in dict.fromkeys(cell.name for cell in cells):
        held = [cell for cell in cells if cell.name == name]
        done = [(cell.mean, highest[cell.dataset]) for cell in held if cell.mean is not None]
        shares = [mean / best for mean, best in done if best > 0]
        ours = sum(shares) if shares else None
        row, follows = held[0].row, not held[0].variant
        published = published_score(table, row, datasets) if follows else None
        found.append(RowScore(name, ours, published, table.scores.get(row) if follows else None, len(held) - len(done)))
    return found


def published_score(table: PublishedTable, row: str, datasets: Iterable[str]) -> float | None:
    """Return the score of a row by the printed figures on some data sets; None where one is not printed."""
    total = 0.0
    for dataset in datasets:
        own = table.figure(row, dataset)
        if own is None:
            return None
        column = (table.figure(name, dataset) for name in table.figures)
        total += own.mean / max(figure.mean for figure in column if figure is not None)
    return total


def leads(table: PublishedTable, cells: Sequence[Cell], method: str) -> list[Leads]:
    """Return the leads of the own method over the best other row, data set by data set.

    Parameters
    ----------
    table : PublishedTable
        What is printed.
    cells : sequence of Cell
        All cells of that table.
    method : str
        The paper's own method.

    Returns
    -------
    list of Leads
        One for each cell of the own method, those of rows made otherwise too.
    """
    found = []
    for own in _own(cells, method):
        others = [cell for cell in cells if cell.dataset == own.dataset and cell.row != own.row]
        every = {cell.name: _sample(cell) for cell in others}
        following = {cell.name: _sample(cell) for cell in others if not cell.variant}
        printed = {row: _printed(table, row, own.dataset) for row in table.figures}
        mine = printed.pop(own.row)
        ours = (_lead(_sample(own), rivals) for rivals in (following, every))
        found.append(Leads(own.name, own.dataset, _lead(mine, printed), *ours))
    return found


def stars(cells: Sequence[Cell], method: str) -> Stars:
    """Return where asterisks are due, in tables with printed scores: the own method leads by more than chance."""
    printed: set[int] = set()
    ours: set[int] = set()
    for table in {id(cell.table): cell.table for cell in cells if cell.table.scores}.values():
        held = [cell for cell in cells if cell.table is table]
        for cell, lead in zip(_own(held, method), leads(table, held, method), strict=True):
            printed |= {id(cell)} if lead.published is not None and lead.published.starred else set()
            ours |= {id(cell)} if lead.ours is not None and lead.ours.starred else set()
    return Stars(frozenset(printed), frozenset(ours))


def _lost(lead: Lead) -> str:
    if lead.difference > 0:
        return f"is not told from chance over {lead.rival}"
    if lead.difference == 0:
        return f"vanishes: {lead.rival} is level"
    return f"vanishes: {lead.rival} is {'significantly ' if lead.tells else ''}ahead"


def _own(cells: Iterable[Cell], method: str) -> list[Cell]:
    return [cell for cell in cells if cell.method == method]


def _means(cells: Sequence[Cell], dataset: str) -> list[float]:
    return [cell.mean for cell in cells if cell.dataset == dataset and cell.mean is not None and not cell.variant]


def _sample(cell: Cell) -> Sample | None:
    return None if cell.mean is None else Sample(cell.mean, cell.deviation, cell.n_runs)


def _printed(table: PublishedTable, row: str, dataset: str) -> Sample | None:
    figure = table.figure(row, dataset)
    return None if figure is None else Sample(figure.mean, figure.deviation, table.runs or 1)


def _lead(own: Sample | None, others: dict[str, Sample | None]) -> Lead | None:
    done = {row: sample for row, sample in others.items() if sample is not None}
    if own is None or not done:
        return None
    # of rivals that are level the one that is hardest to tell from
    rival = max(done, key=lambda row: (done[row].mean, done[row].deviation or 0.0, -done[row].n_runs))
    difference, p_value = own.mean - done[rival].mean, welch(own, done[rival])
    repeated = min(own.n_runs, done[rival].n_runs) > 1
    exact = repeated and p_value is None and difference != 0
    return Lead(rival, difference, p_value, exact if p_value is None else p_value < LEVEL)

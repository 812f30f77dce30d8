"""What stands below a table: average ranks, scores over all data sets, and what became of the printed leads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from manyviews.pages.wording import amount
from manyviews.papers.overall import Lead, Leads, leads, scores
from manyviews.papers.paper import Paper, PublishedTable
from manyviews.papers.ranks import average_ranks
from manyviews.papers.verdict import Cell

__all__ = ["STAR_RULE", "Summary", "summaries"]

STAR_RULE = (
    "* the paper's method is ahead of the best other row by more than chance: Welch's t-test at 5 %, by printed means, "
    "deviations and runs and by ours. The paper says t-test and no level. Other rows are those that follow the paper; "
    "where one in brackets takes the lead away, the last column says so."
)
RANK_HEADER = ("row", "average rank", "data sets", "not done")
SCORE_HEADER = ("row", "paper, as printed", "paper, these sets", "ours, these sets", "not done")
LEAD_HEADER = ("row", "data", "paper", "over", "p", "ours", "over", "p", "the printed lead")


@dataclass(frozen=True)
class Summary:
    """A small table with its title, and what there is to know of it."""

    title: str
    note: str
    header: tuple[str, ...]
    rows: list[tuple[str, ...]]


def summaries(paper: Paper, table: PublishedTable, cells: Sequence[Cell]) -> list[Summary]:
    """Return what stands below a table.

    Parameters
    ----------
    paper : Paper
        The paper, whose own method has its name.
    table : PublishedTable
        The table.
    cells : sequence of Cell
        All cells of the table.

    Returns
    -------
    list of Summary
        Average ranks where nothing is printed; scores and leads where the paper prints scores; none otherwise.
    """
    if table.origin == "ours":
        header = (*RANK_HEADER, *(f"paper: {title}" for title in table.elsewhere))
        return [Summary(f"Average ranks, {table.shown_as}", "", header, _rank_rows(table, cells))]
    if not table.scores:
        return []
    led = leads(table, cells, paper.name)
    found = [Summary(f"Score, {table.shown_as}", _score_note(table, cells), SCORE_HEADER, _score_rows(table, cells))]
    if led:
        rows = [_lead_row(each, table.decimals) for each in led]
        found.append(Summary(f"Lead of {led[0].name}, {table.shown_as}", STAR_RULE, LEAD_HEADER, rows))
    return found


def _rank_rows(table: PublishedTable, cells: Sequence[Cell]) -> list[tuple[str, ...]]:
    rows = []
    for row in average_ranks(cells):
        printed = (_figure(figures.get(row.name)) for figures in table.elsewhere.values())
        rows.append((row.name, f"{row.rank:.2f}", str(row.n_datasets), str(row.n_lost), *printed))
    return rows


def _score_note(table: PublishedTable, cells: Sequence[Cell]) -> str:
    there = [name for name in table.datasets if any(cell.dataset == name for cell in cells)]
    lacking = [name for name in table.datasets if name not in there]
    text = (
        "The score of a row is the sum over data sets of its figure divided by the highest in the column, ours by the "
        "highest of the rows that were run and follow the paper. "
    )
    if not lacking:
        return f"{text}All {len(there)} data sets of the paper are there."
    return (
        f"{text}Over {len(there)} of the paper's {amount(len(table.datasets), 'data set')} ({', '.join(there)}), so at "
        f"most {len(there)}: not to be compared with the printed score, which has {', '.join(lacking)} too, but with "
        "that of the printed figures on these sets."
    )


def _score_rows(table: PublishedTable, cells: Sequence[Cell]) -> list[tuple[str, ...]]:
    return [
        (row.name, *(_figure(value) for value in (row.printed, row.published, row.ours)), str(row.n_lost))
        for row in scores(table, cells)
        if row.ours is not None
    ]


def _lead_row(each: Leads, decimals: int) -> tuple[str, ...]:
    return (each.name, each.dataset, *_lead(each.published, decimals), *_lead(each.ours, decimals), each.outcome)


def _lead(lead: Lead | None, decimals: int) -> tuple[str, str, str]:
    if lead is None:
        return "-", "-", "-"
    p_value = "-" if lead.p_value is None else f"{lead.p_value:.2g}"
    return f"{lead.difference:+.{decimals}f}{' *' if lead.starred else ''}", lead.rival, p_value


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"

"""What was measured beside what was published, cell by cell, with a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from manyviews.papers.paper import Figure, Paper, PublishedTable
from manyviews.papers.plan import Measured, Planned, measure
from manyviews.papers.setup import Setup
from manyviews.runs.outcomes import Outcome

__all__ = ["RULE", "VERDICTS", "Cell", "Reproduction", "judge", "reproduction_of"]

Verdict = Literal["reproduced", "better", "worse", "not comparable"]
VERDICTS: tuple[Verdict, ...] = ("reproduced", "better", "worse", "not comparable")
RULE = (
    "A cell is reproduced where our mean is at most one published deviation away from the published mean, otherwise "
    "better or worse. Where the published deviation is 0 or missing, our own deviation takes its place. In any case a "
    "difference below half a unit of the last printed digit is none. p is that of Welch's t-test of the two means, "
    "where both deviations and numbers of runs are known."
)


@dataclass(frozen=True)
class Cell:
    """One figure of a published table and ours.

    Attributes
    ----------
    table : PublishedTable
        The table.
    dataset, row, variant : str
        Which cell, and what is different in how ours came about; empty where it follows the paper.
    method : str
        Our method; empty where none was run.
    published : Figure or None
        What is printed.
    mean, deviation : float or None
        Ours, in the unit of the paper.
    n_runs : int
        Runs behind our mean.
    choice : str
        Which of several settings or views ours is.
    verdict : {"reproduced", "better", "worse", "not comparable"}
        See ``RULE``.
    reason : str
        Why it is not comparable, or what the verdict rests on where that is not the published deviation.
    p_value : float or None
        Of Welch's t-test.
    cpu_seconds : float or None
        Mean processor time of one of our fits.
    peak_bytes : int
        Most memory that one of our processes held, libraries and data included; 0 where none was run.
    """

    table: PublishedTable
    dataset: str
    row: str
    variant: str
    method: str
    published: Figure | None
    mean: float | None
    deviation: float | None
    n_runs: int
    choice: str
    verdict: Verdict
    reason: str
    p_value: float | None
    cpu_seconds: float | None = None
    peak_bytes: int = 0

    @property
    def name(self) -> str:
        """The row, with what is different about it."""
        return f"{self.row} ({self.variant})" if self.variant else self.row

    @property
    def difference(self) -> float | None:
        """Ours minus published."""
        return None if self.mean is None or self.published is None else self.mean - self.published.mean


@dataclass(frozen=True)
class Reproduction:
    """All cells of a paper on the data sets that were run.

    Attributes
    ----------
    paper : Paper
        The paper.
    cells : tuple of Cell
        In the order of tables, rows and data sets.
    n_seeds : int
        Runs of each setting.
    absent : tuple of str
        Data sets of the paper that were not run.
    """

    paper: Paper
    cells: tuple[Cell, ...]
    n_seeds: int
    absent: tuple[str, ...] = ()

    def counts(self, *, variants: bool = False) -> dict[Verdict, int]:
        """Return how many cells of methods that were run have which verdict.

        Parameters
        ----------
        variants : bool, default=False
            Count the rows that do not follow the paper instead of those that do.

        Returns
        -------
        dict of str to int
            One entry per verdict.
        """
        chosen = [cell.verdict for cell in self.cells if cell.method and bool(cell.variant) == variants]
        return {verdict: chosen.count(verdict) for verdict in VERDICTS}

    @property
    def n_not_run(self) -> int:
        """Number of printed figures of rows that were not run."""
        return sum(not cell.method for cell in self.cells)

    @property
    def n_absent(self) -> int:
        """Number of printed figures on data sets that were not run."""
        return sum(_printed(table, self.absent) for table in self.paper.tables)


def _printed(table: PublishedTable, datasets: Sequence[str]) -> int:
    """Return how many figures a table has on these data sets."""
    return sum(table.figure(row, name) is not None for row in table.figures for name in datasets)


def reproduction_of(
    paper: Paper,
    plan: Sequence[Planned],
    outcomes: Mapping[int, Outcome],
    known: Iterable[Setup],
    datasets: Sequence[str],
    n_seeds: int,
) -> Reproduction:
    """Put what was measured beside what was published.

    Parameters
    ----------
    paper : Paper
        Its tables.
    plan : sequence of Planned
        What was fitted.
    outcomes : mapping of int to Outcome
        What came out, by ``id`` of the run.
    known : iterable of Setup
        All setups of the paper's protocol, also those that were not wanted.
    datasets : sequence of str
        Data sets that were run; cells of others are left out.
    n_seeds : int
        Runs of each setting.

    Returns
    -------
    Reproduction
        One cell for each printed figure, and more where a row was made in several ways.
    """
    made = {row: [setup for setup in known if setup.row == row] for row in paper.rows}
    cells = []
    for table in paper.tables:
        for row in table.figures:
            for dataset in (name for name in table.datasets if name in datasets):
                ours = [each for each in plan if each.setup.row == row and each.dataset == dataset]
                cells += [_compared(paper, table, each, outcomes) for each in ours]
                if not ours:
                    reason = "not asked for" if made[row] else "the method is not in this library"
                    cells.append(_not_run(table, row, dataset, reason))
    absent = tuple(name for name in paper.datasets if name not in datasets)
    return Reproduction(paper, tuple(cells), n_seeds, absent)


def judge(published: Figure, mean: float, deviation: float | None, decimals: int) -> tuple[Verdict, str]:
    """Return the verdict on a mean and what it rests on where that is not the published deviation; see ``RULE``.

    Parameters
    ----------
    published : Figure
        What is printed.
    mean, deviation : float
        Ours, in the same unit; the deviation of a single run is None.
    decimals : int
        Printed digits behind the point.

    Returns
    -------
    tuple of (str, str)
        Verdict and reason.

    Examples
    --------
    >>> from manyviews.papers.verdict import judge
    >>> from manyviews.papers.paper import Figure
    >>> judge(Figure(60.8, 5.3), 55.0, 2.0, 1)
    ('worse', '')
    >>> judge(Figure(75.69, 0.0), 73.0, 4.0, 2)
    ('reproduced', 'by our deviation: the published one is 0')
    """
    reason, allowed = "", published.deviation
    if not allowed:
        state = "missing" if published.deviation is None else "0"
        reason, allowed = f"by our deviation: the published one is {state}", deviation or 0.0
        if deviation is None:
            reason = f"by the printed digits: the published deviation is {state}, and ours is of one run"
    difference = mean - published.mean
    # the last term is for figures that are exactly on the border as they are printed
    if abs(difference) <= max(allowed, 0.5 * 10.0**-decimals) + 1e-9:
        return "reproduced", reason
    return ("better" if difference > 0 else "worse"), reason


def _compared(paper: Paper, table: PublishedTable, planned: Planned, outcomes: Mapping[int, Outcome]) -> Cell:
    setup, found = planned.setup, measure(planned.candidates, outcomes, table)
    published = table.figure(setup.row, planned.dataset)
    factor = 100.0 if paper.unit == "percent" and table.metric != "seconds" else 1.0
    mean, deviation = _times(found.mean, factor), _times(found.deviation, factor)
    verdict, reason = _verdict(table, published, found, mean, deviation)
    return Cell(
        table=table,
        dataset=planned.dataset,
        row=setup.row,
        variant=setup.variant,
        method=setup.method,
        published=published,
        mean=mean,
        deviation=deviation,
        n_runs=found.n_runs,
        choice=found.choice,
        verdict=verdict,
        reason=reason,
        p_value=None if verdict == "not comparable" else _p_value(table, published, mean, deviation, found.n_runs),
        cpu_seconds=found.cpu_seconds,
        peak_bytes=found.peak_bytes,
    )


def _verdict(
    table: PublishedTable, published: Figure | None, found: Measured, mean: float | None, deviation: float | None
) -> tuple[Verdict, str]:
    lost = f"{found.n_lost} of {found.n_lost + found.n_runs} runs not done ({found.message})" if found.n_lost else ""
    if mean is None:
        return "not comparable", lost or "nothing was run"
    if published is None:
        return "not comparable", "the paper prints no figure"
    if table.metric == "seconds":
        return "not comparable", "another machine; ours are processor seconds of one thread"
    verdict, reason = judge(published, mean, deviation, table.decimals)
    return verdict, "; ".join(filter(None, [reason, lost]))


def _not_run(table: PublishedTable, row: str, dataset: str, reason: str) -> Cell:
    nothing: dict[str, Any] = {"mean": None, "deviation": None, "n_runs": 0, "choice": "", "p_value": None}
    return Cell(
        table=table,
        dataset=dataset,
        row=row,
        variant="",
        method="",
        published=table.figure(row, dataset),
        verdict="not comparable",
        reason=reason,
        **nothing,
    )


def _times(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def _p_value(
    table: PublishedTable, published: Figure | None, mean: float | None, deviation: float | None, n_runs: int
) -> float | None:
    if published is None or not published.deviation or not table.runs or table.runs < 2:
        return None
    if mean is None or not deviation or n_runs < 2:
        return None
    from scipy.stats import ttest_ind_from_stats

    theirs = (published.mean, published.deviation, table.runs)
    return float(ttest_ind_from_stats(mean, deviation, n_runs, *theirs, equal_var=False).pvalue)

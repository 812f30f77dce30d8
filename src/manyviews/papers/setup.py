"""How a paper makes its tables, and how one of their rows is made with a method of this library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["Given", "Parameters", "Protocol", "Setup"]

Given = Literal["features", "dense", "kernels", "weighted"]
Parameters = Mapping[str, Any]


@dataclass(frozen=True)
class Setup:
    """How one row of a paper's tables is made with a method of this library.

    Attributes
    ----------
    row : str
        Row of the tables.
    method : str
        Name of the method in the registry.
    parameters : mapping
        Parameters of the estimator, beside those of the grid.
    grid, full_grid : tuple of mapping
        Settings of which the best by the classes counts, for each metric, as in the papers: some of them, and all
        that the paper lists. One empty setting where nothing is tuned.
    given : {"features", "dense", "kernels", "weighted"}
        What the method is given: views as stored, the same as dense arrays, kernels as in ``Protocol.kernel``, or views
        as stored but for the sets of ``Protocol.weighted``.
    each_view : bool
        Whether the row is the best of the single views, by the classes, for each metric, as in the papers.
    view : mapping of str to str
        Where the row is one view: its name in each data set that has it.
    variant : str
        Empty where it follows the paper; else what is different.
    note : str
        How it is made, for the reader of the table.
    """

    row: str
    method: str
    parameters: Parameters = field(default_factory=dict)
    grid: tuple[Parameters, ...] = ({},)
    full_grid: tuple[Parameters, ...] = ()
    given: Given = "features"
    each_view: bool = False
    view: Mapping[str, str] = field(default_factory=dict)
    variant: str = ""
    note: str = ""

    @property
    def name(self) -> str:
        """The row, with what is different about it."""
        return f"{self.row} ({self.variant})" if self.variant else self.row

    def settings(self, *, full: bool) -> tuple[dict[str, Any], ...]:
        """Return the parameters of each setting of the grid."""
        grid = (self.full_grid or self.grid) if full else self.grid
        return tuple({**self.parameters, **point} for point in grid)


@dataclass(frozen=True)
class Protocol:
    """How a paper makes its tables.

    Attributes
    ----------
    setups : tuple of Setup
        The rows that this library can make.
    repeats, quick_repeats : int
        Runs of the paper, and runs that are made unless asked otherwise.
    recipe : str
        What is done to the data, where that is known from, and which metrics are meant.
    kernel : str
        Kernel of each standardised view, for what is given kernels.
    views : mapping of str to tuple of str
        Views that the paper uses of a data set, where it does not use all.
    weighted : tuple of str
        Data sets of which the papers' copy has tf-idf weights where the public one has counts.
    """

    setups: tuple[Setup, ...]
    repeats: int
    quick_repeats: int
    recipe: str
    kernel: str = "rbf_invdim"
    views: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    weighted: tuple[str, ...] = ()

"""Options of all commands that fit: which columns are kept, and how empty cells are filled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from cyclopts import Parameter

from manyviews.cli.console import UsageError, user_input
from manyviews.cli.inputs import fill_cells
from manyviews.cli.layout import Several

if TYPE_CHECKING:
    from manyviews.io import LoadedViews

__all__ = ["Prepared", "Preparing", "fills"]


class Prepared(NamedTuple):
    """What was done to the data before the fit and has to be done to new samples: imputer and kept columns, or None."""

    imputer: Any = None
    kept: dict[str, Any] | None = None


@Parameter(name="*")
@dataclass(frozen=True)
class Preparing:
    """What is done to the views before a fit.

    Parameters
    ----------
    top_variance
        Columns to keep in each view, those of largest variance: a number, or VIEW=NUMBER, repeated. The model knows
        them, so new samples are given with all columns.
    impute
        Fill single empty cells: median of the column, or knn, the mean of the 5 nearest samples. Rows that are empty
        as a whole stay missing. predict fills cells of new samples alike; with knn the model keeps all rows for that.
    """

    top_variance: Several = None
    impute: Literal["median", "knn"] | None = None

    def words(self) -> list[str]:
        """Return the arguments that do the same again."""
        words = [word for value in self.top_variance or () for word in ("--top-variance", value)]
        return words + ([] if self.impute is None else ["--impute", self.impute])

    def applied(self, data: LoadedViews) -> tuple[LoadedViews, Prepared]:
        """Return the data as they are clustered, and what was done to them."""
        # before cells are filled, which is dear where there are many columns
        data, kept = _most_variable(data, self.top_variance or ())
        data, imputer = fill_cells(data, self.impute)
        return data, Prepared(imputer, kept)


def fills(preparing: Preparing | None) -> bool:
    """Tell whether empty cells are filled, so that they may be read."""
    return preparing is not None and preparing.impute is not None


def _most_variable(data: LoadedViews, given: Sequence[str]) -> tuple[LoadedViews, dict[str, Any] | None]:
    """Return the data cut to the columns of largest variance, as --top-variance asks for it."""
    if not given:
        return data, None
    from manyviews.io.selection import keep_most_variable

    numbers = _numbers_of_columns(given, data.views.names)
    with user_input():
        views, kept = keep_most_variable(data.views, numbers)
    notes = [
        f"view {name!r}: of {own.n_given} columns {len(own.positions)} of largest variance are kept (--top-variance)"
        for name, own in kept.items()
    ]
    return replace(data, views=views, notes=(*data.notes, *notes)), kept


def _numbers_of_columns(given: Sequence[str], names: Sequence[str]) -> dict[str, int]:
    """Return how many columns to keep by view, from one number for all or VIEW=NUMBER once per view."""
    numbers: dict[str, int] = {}
    for pair in given:
        view, mark, text = pair.rpartition("=")
        if not (text.isascii() and text.isdigit() and int(text) > 0):
            raise UsageError(f"--top-variance {pair}: give a whole number of columns, or VIEW=NUMBER once per view")
        if mark and view not in names:
            raise UsageError(f"--top-variance {pair}: there is no such view; the views are {', '.join(names)}")
        if view in numbers or (not mark and len(given) > 1):
            raise UsageError(f"--top-variance {pair}: give one number for all views, or VIEW=NUMBER once per view")
        numbers |= {view: int(text)} if mark else dict.fromkeys(names, int(text))
    return numbers

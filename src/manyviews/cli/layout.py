"""Options of all commands that read tables: which columns, where the samples are, what stands for a missing number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from cyclopts import Parameter

from manyviews.cli.console import UsageError

__all__ = ["Layout", "split_list"]

Several = Annotated[list[str] | None, Parameter(negative=(), show_default=False)]


@Parameter(name="*")
@dataclass(frozen=True)
class Layout:
    """Options of all commands that read tables.

    Parameters
    ----------
    columns
        Columns of the one table given that are features: names, patterns (text_*), ranges (first..last, 0..63), with
        commas between them. For one of several views: --view NAME=FILE:COLUMNS.
    drop
        Columns of any table to leave out: names and patterns, with commas between them.
    transpose
        A view whose file has the samples as columns; may be repeated, * for all.
    missing_values
        What stands for a missing number besides NA and the like, with commas between: .,<0.05,99; VIEW=CODES for one
        view.
    encode
        Columns of categories to make columns of 0 and 1 of: names and patterns, with commas between them.
    ids
        A file that lists the ids of the rows of those views that have none, as .npy files.
    """

    columns: Several = None
    drop: Several = None
    transpose: Several = None
    missing_values: Several = None
    encode: Several = None
    ids: str | None = None

    def words(self) -> list[str]:
        """Return the arguments that give the same again."""
        words = [] if self.ids is None else ["--ids", self.ids]
        for name in ("columns", "drop", "transpose", "missing_values", "encode"):
            for value in getattr(self, name) or ():
                words += [f"--{name.replace('_', '-')}", value]
        return words

    def options(self) -> dict[str, Any]:
        """Return what ``read_views`` takes."""
        return {
            "columns": None if self.columns is None else split_list(self.columns),
            "drop": split_list(self.drop),
            "transpose": split_list(self.transpose),
            "missing_values": _codes(self.missing_values or ()),
            "encode": split_list(self.encode),
            "ids": self.ids,
        }


def split_list(values: Sequence[str] | None) -> list[str]:
    """Return what stands between commas; one in a name is written twice."""
    parts = [part for value in values or () for part in value.replace(",,", "\0").split(",")]
    return [part.replace("\0", ",").strip() for part in parts if part.strip()]


def _codes(values: Sequence[str]) -> list[str] | dict[str, list[str]]:
    """Return codes of missing values for all views, or by view where VIEW= stands before them."""
    named = [value.partition("=") for value in values]
    if not any(mark and name and name[0] not in "<>" for name, mark, _ in named):
        return split_list(values)
    if not all(mark for _, mark, _ in named):
        raise UsageError("--missing-values: write codes for all views, or VIEW=CODES for each")
    return {name: split_list([codes]) for name, _, codes in named}

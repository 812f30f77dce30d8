"""The papers' figures, read from ``published/*.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cache
from importlib import resources
from typing import Any, Literal

__all__ = ["PAPERS", "Figure", "Paper", "PublishedTable", "closest", "paper"]

PAPERS = ("fastmice", "op-lfmvc", "mvec", "mspl", "udbgl")


@dataclass(frozen=True)
class Figure:
    """A printed mean and its deviation, None where none is printed."""

    mean: float
    deviation: float | None = None


@dataclass(frozen=True)
class PublishedTable:
    """One table of a paper for one metric.

    Attributes
    ----------
    number : str
        Number of the table, or what stands in its place.
    metric : str
        Key of :func:`manyviews.metrics.evaluate`, or "seconds".
    shown_as : str
        What the paper calls the metric.
    origin : {"published", "measured", "ours"}
        Printed in the paper, or measured for this project with the authors' code; or without figures to compare with.
    decimals : int
        Digits that are printed behind the point.
    datasets : tuple of str
        Names in the registry of data sets. None at all where the table is open: made of all sets that are there.
    figures : mapping of str to tuple of Figure or None
        A row of the table by its name, one entry per data set; None where the paper prints none.
    runs : int or None
        Runs behind a mean, None where the paper does not say.
    scores : mapping of str to float
        What the paper prints as the score of a row over all data sets of the table; empty where it prints none.
    elsewhere : mapping of str to mapping of str to float
        What the paper prints of rows on data that are not here, by what it is: shown beside the average ranks.
    note : str
        What else there is to know.
    """

    number: str
    metric: str
    shown_as: str
    origin: Literal["published", "measured", "ours"]
    decimals: int
    datasets: tuple[str, ...]
    figures: Mapping[str, tuple[Figure | None, ...]]
    runs: int | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    elsewhere: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    note: str = ""

    @property
    def title(self) -> str:
        """What a reader knows the table by."""
        name = {"published": f"Table {self.number}", "measured": f"measured, {self.number}", "ours": self.number}
        return f"{name[self.origin]}, {self.shown_as}"

    def on(self, datasets: Sequence[str]) -> PublishedTable:
        """Return an open table with these data sets; any other as it is."""
        if self.datasets:
            return self
        blank = (None,) * len(datasets)
        return replace(self, datasets=tuple(datasets), figures=dict.fromkeys(self.figures, blank))

    def figure(self, row: str, dataset: str) -> Figure | None:
        """Return the figure of a row and data set, None where there is none."""
        if row not in self.figures or dataset not in self.datasets:
            return None
        return self.figures[row][self.datasets.index(dataset)]


@dataclass(frozen=True)
class Paper:
    """What a paper reports.

    Attributes
    ----------
    name, title, citation, link : str
        Name on the command line, and where it was published; the link is empty where there is none.
    unit : {"percent", "fraction"}
        How scores are printed.
    tables : tuple of PublishedTable
        One per table and metric.
    """

    name: str
    title: str
    citation: str
    link: str
    unit: Literal["percent", "fraction"]
    tables: tuple[PublishedTable, ...]

    @property
    def is_open(self) -> bool:
        """Whether there is a table that takes any data set."""
        return any(not table.datasets for table in self.tables)

    def on(self, datasets: Sequence[str]) -> Paper:
        """Return the paper with its open tables made of these data sets."""
        return replace(self, tables=tuple(table.on(datasets) for table in self.tables))

    @property
    def datasets(self) -> tuple[str, ...]:
        """All data sets of the tables, in the order of the paper."""
        return tuple(dict.fromkeys(name for table in self.tables for name in table.datasets))

    @property
    def rows(self) -> tuple[str, ...]:
        """All rows of the tables, in the order of the paper."""
        return tuple(dict.fromkeys(row for table in self.tables for row in table.figures))


def paper(name: str) -> Paper:
    """Return the figures of a paper.

    Parameters
    ----------
    name : str
        One of ``PAPERS``; case, hyphens and underscores do not matter.

    Returns
    -------
    Paper
        Its tables.

    Raises
    ------
    ValueError
        If there is no such paper; names the closest and all.

    Examples
    --------
    >>> from manyviews.papers.paper import paper
    >>> paper("OP-LFMVC").tables[0].figure("OP-LFMVC", "3sources")
    Figure(mean=60.8, deviation=5.3)
    """
    return _read(closest(name, {known: known for known in PAPERS}, "paper"))


def closest(name: str, known: Mapping[str, str], noun: str) -> str:
    """Return the value of the key that ``name`` means.

    Parameters
    ----------
    name : str
        What the user wrote; case, hyphens, underscores and blanks do not matter.
    known : mapping of str to str
        Names and what they stand for.
    noun : str
        What it is, for the error.

    Returns
    -------
    str
        The value.

    Raises
    ------
    ValueError
        If nothing is called so; suggests a close name.
    """
    keys = {_key(key): key for key in known}
    if _key(name) in keys:
        return known[keys[_key(name)]]
    close = get_close_matches(_key(name), keys, n=1)
    hint = f"did you mean {keys[close[0]]!r}? " if close else ""
    raise ValueError(f"there is no {noun} {name!r} here; {hint}known are {', '.join(known)}")


def _key(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter not in "-_ ")


@cache
def _read(name: str) -> Paper:
    text = resources.files("manyviews.papers").joinpath(f"published/{name}.toml").read_text(encoding="utf-8")
    content = tomllib.loads(text)
    tables = tuple(_table(entry) for entry in content.pop("table"))
    return Paper(tables=tables, **content)


def _table(entry: dict[str, Any]) -> PublishedTable:
    figures = entry.pop("figures", None) or dict.fromkeys(entry.pop("rows", ()), ())
    rows = {row: tuple(map(_figure, cells)) for row, cells in figures.items()}
    return PublishedTable(**(entry | {"datasets": tuple(entry["datasets"]), "figures": rows}))


def _figure(cell: Sequence[float]) -> Figure | None:
    return Figure(*cell) if cell else None

"""Facts about every benchmark set of the papers: size, views, publisher, licence, how to get it."""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

__all__ = ["DatasetInfo", "available", "find", "info", "names"]


@dataclass(frozen=True)
class DatasetInfo:
    """Hold the facts about one data set.

    Attributes
    ----------
    name : str
        Name that :func:`manyviews.datasets.load` and the command line take.
    title : str
        One line that says what the samples and the views are.
    n_samples, n_views, n_clusters : int
        Numbers of samples, views and classes.
    views : tuple of (str, int)
        Name and number of features of each view; empty where the papers state only how many views there are.
    source : str
        Who publishes the data.
    licence : str
        Licence of the data; "unknown" where the publisher states none.
    get : str
        What to get from where.
    used_in : tuple of str
        Papers among those of this library that use the set.
    notes : str
        Preprocessing already applied, and peculiarities.
    aliases : tuple of str
        Other names the literature uses.
    bundled : bool
        Whether the data come with this package.
    sha256 : str or None
        Checksum of the ``.npz`` file of this set in the uniform layout.
    original_sha256 : str or None
        Checksum of the published file that ``get`` names.
    """

    name: str
    title: str
    n_samples: int
    n_views: int
    n_clusters: int
    views: tuple[tuple[str, int], ...]
    source: str
    licence: str
    get: str
    used_in: tuple[str, ...] = ()
    notes: str = ""
    aliases: tuple[str, ...] = ()
    bundled: bool = False
    sha256: str | None = None
    original_sha256: str | None = None

    @property
    def file(self) -> str:
        """Name of the set's file in the uniform layout."""
        return f"{self.name}.npz"

    def how_to_load(self) -> str:
        """Say what to get, from where, and how to load it.

        Returns
        -------
        str
            Two sentences, or one for a bundled set.
        """
        if self.bundled:
            return f"{self.get} Load it with datasets.load({self.name!r})."
        return (
            f"{self.get} Then load the file by its path, wherever it lies: datasets.load('path/to/{self.file}') in the "
            "uniform layout, or a .mat file as published."
        )


def available() -> tuple[DatasetInfo, ...]:
    """Return the facts about all registered sets, bundled ones first, then by name.

    Returns
    -------
    tuple of DatasetInfo
        One entry per set.

    Examples
    --------
    >>> from manyviews import datasets
    >>> [entry.name for entry in datasets.available() if entry.bundled]
    ['mfeat']
    """
    return tuple(sorted(_entries(), key=lambda entry: (not entry.bundled, entry.name)))


def names() -> tuple[str, ...]:
    """Return the names of all registered sets, bundled ones first.

    Returns
    -------
    tuple of str
        Names that :func:`info` knows.

    Examples
    --------
    >>> from manyviews import datasets
    >>> "3sources" in datasets.names()
    True
    """
    return tuple(entry.name for entry in available())


def info(name: str) -> DatasetInfo:
    """Return the facts about one set.

    Parameters
    ----------
    name : str
        Name or alias; case, hyphens, underscores and blanks do not matter.

    Returns
    -------
    DatasetInfo
        Its entry.

    Raises
    ------
    ValueError
        If there is no such set; the message names the closest ones.

    Examples
    --------
    >>> from manyviews import datasets
    >>> datasets.info("mfeat").n_samples
    2000
    """
    entry = find(name)
    if entry is None:
        raise ValueError(f"no data set is called {name!r}.{_suggestion(name)} Known sets: {', '.join(names())}.")
    return entry


def find(name: str) -> DatasetInfo | None:
    """Return the entry of a name or alias, or None.

    Parameters
    ----------
    name : str
        Name or alias; case, hyphens, underscores and blanks do not matter.

    Returns
    -------
    DatasetInfo or None
        The entry, if there is one.
    """
    return _by_key().get(_key(name))


def _key(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter not in "-_ ")


def _suggestion(name: str) -> str:
    close = difflib.get_close_matches(_key(name), _by_key(), n=3, cutoff=0.6)
    found = dict.fromkeys(_by_key()[key].name for key in close)
    return f" Did you mean {' or '.join(map(repr, found))}?" if found else ""


@cache
def _by_key() -> dict[str, DatasetInfo]:
    return {_key(name): entry for entry in _entries() for name in (entry.name, *entry.aliases)}


@cache
def _entries() -> tuple[DatasetInfo, ...]:
    text = resources.files("manyviews.datasets").joinpath("data/registry.toml").read_text(encoding="utf-8")
    return tuple(_entry(name, facts) for name, facts in tomllib.loads(text).items())


def _entry(name: str, facts: dict[str, Any]) -> DatasetInfo:
    views = tuple((str(view), int(width)) for view, width in facts.pop("views", ()))
    return DatasetInfo(
        name=name,
        views=views,
        n_views=facts.pop("n_views", len(views)),
        aliases=tuple(facts.pop("aliases", ())),
        used_in=tuple(facts.pop("used_in", ())),
        **facts,
    )

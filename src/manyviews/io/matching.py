"""Bring the rows of several files into one order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Presence", "check_same_counts", "check_shared", "check_unique", "row_orders", "who_is_where"]


class Presence(NamedTuple):
    """Samples that the same views have: names of these views, ids in order of appearance."""

    views: tuple[str, ...]
    ids: list[str]


def who_is_where(ids: Mapping[str, Sequence[str]]) -> list[Presence]:
    """Return which samples are in which views: those in all views first, then the largest groups.

    Parameters
    ----------
    ids : mapping of str to sequence of str
        Unique ids of the rows of each view.

    Returns
    -------
    list of Presence
        One entry per combination of views that occurs.
    """
    groups: dict[tuple[str, ...], list[str]] = {}
    sets = {name: set(view) for name, view in ids.items()}
    for key in dict.fromkeys(key for view in ids.values() for key in view):
        groups.setdefault(tuple(name for name, have in sets.items() if key in have), []).append(key)
    rows = [Presence(views, keys) for views, keys in groups.items()]
    return sorted(rows, key=lambda row: (len(row.views) < len(ids), -len(row.ids)))


def check_unique(ids: Sequence[str], where: str) -> None:
    """Raise ValueError where an id occurs more than once."""
    repeated = [(key, count) for key, count in Counter(ids).items() if count > 1]
    if repeated:
        key, count = repeated[0]
        raise ValueError(
            f"{where}: {len(repeated)} id(s) occur more than once, first {key!r} ({count} times); "
            "every row needs an id of its own"
        )


def check_same_counts(counts: Mapping[str, int], hint: str = "") -> None:
    """Raise ValueError where files that are matched by position have different numbers of rows."""
    if len(set(counts.values())) > 1:
        shown = ", ".join(f"{name!r} has {count} rows" for name, count in counts.items())
        raise ValueError(
            f"the views have different numbers of rows: {shown}; rows are matched by position, so either give the same "
            f"samples in the same order, or name a column of ids that all tables have with --id (id_column){hint}"
        )


def check_shared(ids: Mapping[str, Sequence[str]], hint: str = "") -> None:
    """Raise ValueError where several views have ids, but none of them is in two views.

    Parameters
    ----------
    ids : mapping of str to sequence of str
        Ids of the rows of each view.
    hint : str, default=""
        What else may be the matter.
    """
    counts = Counter(key for view in ids.values() for key in view)
    if len(ids) < 2 or max(counts.values(), default=0) > 1:
        return
    such = "; ".join(f"view {name!r} has {', '.join(map(repr, list(view)[:2]))}" for name, view in ids.items())
    alike = Counter(_bare(key) for view in ids.values() for key in {_bare(key): key for key in view}.values())
    why = "check that the ids are written alike and name the same samples"
    if max(alike.values(), default=0) > 1:
        why, hint = "they agree but for capitals, blanks, marks or leading zeros, which count; write them alike", ""
    raise ValueError(f"no id is in two views: {such}; {why}{hint}")


def _bare(key: str) -> str:
    return "".join(mark for mark in key.lower() if mark.isalnum()).lstrip("0")


def row_orders(ids: Mapping[str, Sequence[str]], hint: str = "") -> dict[str, NDArray[np.intp]]:
    """Return, for each view, the rows that follow the order of the first view.

    Parameters
    ----------
    ids : mapping of str to sequence of str
        Unique ids of the rows of each view; every view must have the same ids.
    hint : str, default=""
        What else may be the matter where they have not.

    Returns
    -------
    dict of str to ndarray of shape (n,)
        Row numbers.

    Raises
    ------
    ValueError
        If a view lacks ids that another one has; nothing is dropped silently.
    """
    first = next(iter(ids))
    every = dict.fromkeys(key for view in ids.values() for key in view)
    sets = {name: set(view) for name, view in ids.items()}
    lacking = {name: [key for key in every if key not in have] for name, have in sets.items()}
    gaps = [
        f"view {name!r} lacks {len(keys)}, such as {', '.join(map(repr, keys[:3]))}"
        for name, keys in lacking.items()
        if keys
    ]
    if gaps:
        raise ValueError(
            f"the views do not have the same ids: of {len(every)} ids, {'; '.join(gaps)}; check that the ids are "
            "written alike (leading zeros count), or choose the samples that every view has with --missing "
            f"intersection, or all of them with --missing union (missing){hint}"
        )
    position = {name: {key: row for row, key in enumerate(view)} for name, view in ids.items()}
    return {name: np.array([rows[key] for key in ids[first]], dtype=np.intp) for name, rows in position.items()}

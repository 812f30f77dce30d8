"""Bring the rows of several files into one order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["check_same_counts", "check_unique", "row_orders"]


def check_unique(ids: Sequence[str], where: str) -> None:
    """Raise ValueError where an id occurs more than once."""
    repeated = [(key, count) for key, count in Counter(ids).items() if count > 1]
    if repeated:
        key, count = repeated[0]
        raise ValueError(
            f"{where}: {len(repeated)} id(s) occur more than once, first {key!r} ({count} times); "
            "every row needs an id of its own"
        )


def check_same_counts(counts: Mapping[str, int]) -> None:
    """Raise ValueError where files that are matched by position have different numbers of rows."""
    if len(set(counts.values())) > 1:
        shown = ", ".join(f"{name!r} has {count} rows" for name, count in counts.items())
        raise ValueError(
            f"the views have different numbers of rows: {shown}; rows are matched by position, so either give the same "
            "samples in the same order, or name a column of ids that all tables have with --id (id_column)"
        )


def row_orders(ids: Mapping[str, Sequence[str]]) -> dict[str, NDArray[np.intp]]:
    """Return, for each view, the rows that follow the order of the first view.

    Parameters
    ----------
    ids : mapping of str to sequence of str
        Unique ids of the rows of each view; every view must have the same ids.

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
            f"the views do not have the same ids: of {len(every)} ids, {'; '.join(gaps)}; give each file the same "
            "samples, or check that the ids are written alike (leading zeros count)"
        )
    position = {name: {key: row for row, key in enumerate(view)} for name, view in ids.items()}
    return {name: np.array([rows[key] for key in ids[first]], dtype=np.intp) for name, rows in position.items()}

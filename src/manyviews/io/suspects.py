"""Numbers that rather stand for a missing one."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from manyviews.io.choosing import Caution
from manyviews.views import Views
from manyviews.views.cells import column_extremes

__all__ = ["code_notes"]

_CODES = np.array([-1.0, -9.0, -99.0, -999.0, -9999.0, 9.0, 99.0, 999.0, 9999.0])
# A code lies this many times the range of the other numbers away from them.
_FAR = 2.0
_MOST_COLUMNS = 1000


def code_notes(views: Views) -> list[Caution]:
    """Say which columns hold 99, -999 or the like far away from all their other numbers.

    Parameters
    ----------
    views : Views
        The views; sparse ones are not looked at.

    Returns
    -------
    list of Caution
        One per view at most.
    """
    notes = []
    for position, (name, array) in enumerate(views.items()):
        if sparse.issparse(array):
            continue
        low, high = column_extremes(array)
        found = [
            (column, code)
            for extreme in (high, low)
            for column in np.flatnonzero(np.isin(extreme, _CODES))[:_MOST_COLUMNS].tolist()
            if _is_far(array[:, column], code := float(extreme[column]))
        ]
        if found:
            columns = views.feature_names[position]
            column, code = found[0]
            shown = repr(columns[column]) if columns else str(column)
            more = f" and {len(found) - 1} more" if len(found) > 1 else ""
            notes.append(
                Caution(
                    f"view {name!r}: column {shown}{more} has {code:g} far from all other numbers; if it stands for a "
                    f"missing one, give --missing-values {code:g}"
                )
            )
    return notes


def _is_far(column: np.ndarray, code: float) -> bool:
    others = column[(column != code) & ~np.isnan(column)]
    if others.size < 3:
        return False
    low, high = float(others.min()), float(others.max())
    return low < high and min(abs(code - low), abs(code - high)) > _FAR * (high - low)

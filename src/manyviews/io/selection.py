"""The columns of each view that a model keeps of those it is given, and how new samples are cut to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from manyviews.views import Views
from manyviews.views.top_variance import TopVariance

__all__ = ["Kept", "keep_most_variable", "take_kept"]


class Kept(NamedTuple):
    """Columns of one view: how many there were, their names if they have some, and the positions of those kept."""

    n_given: int
    given: tuple[str, ...] | None
    positions: list[int]


def keep_most_variable(views: Views, numbers: Mapping[str, int]) -> tuple[Views, dict[str, Kept]]:
    """Cut views to their columns of largest variance.

    Parameters
    ----------
    views : Views
        All columns.
    numbers : mapping of str to int
        How many to keep in which view; others stay as they are.

    Returns
    -------
    Views
        The same samples.
    dict of str to Kept
        What was kept in views that are narrower now.
    """
    arrays, columns, kept = list(views.arrays), list(views.feature_names), {}
    for i, name in enumerate(views.names):
        if name not in numbers or arrays[i].shape[1] <= numbers[name]:
            continue
        seen = views.observed[:, i]
        chosen = TopVariance(numbers[name]).fit(arrays[i] if seen.all() else arrays[i][seen])
        positions = chosen.get_support(indices=True).tolist()
        kept[name] = Kept(arrays[i].shape[1], columns[i], positions)
        arrays[i] = arrays[i][:, positions]
        own = columns[i]
        columns[i] = None if own is None else tuple(own[j] for j in positions)
    return views.replace_arrays(arrays, columns), kept


def take_kept(views: Views, kept: Mapping[str, Kept]) -> Views:
    """Return the views of new samples without the columns that the fit left out.

    Parameters
    ----------
    views : Views
        New samples, with all columns or those kept only; columns that the fit did not see stay.
    kept : mapping of str to Kept
        What the fit kept.

    Returns
    -------
    Views
        The same samples.

    Raises
    ------
    ValueError
        If a view without names has another number of columns.
    """
    arrays, columns = list(views.arrays), list(views.feature_names)
    for i, name in enumerate(views.names):
        if name in kept:
            positions = _places(kept[name], arrays[i].shape[1], columns[i], name)
            own = columns[i]
            arrays[i] = arrays[i][:, positions]
            columns[i] = None if own is None else tuple(own[j] for j in positions)
    return views.replace_arrays(arrays, columns)


def _places(kept: Kept, width: int, own: Sequence[str] | None, name: str) -> list[int]:
    if own is not None and kept.given is not None:
        left_out = set(kept.given) - {kept.given[j] for j in kept.positions}
        return [j for j, column in enumerate(own) if column not in left_out]
    if width == kept.n_given:
        return kept.positions
    if width != len(kept.positions):
        raise ValueError(
            f"view {name!r} has {width} features; the model was given {kept.n_given} and keeps {len(kept.positions)} "
            "of them: give all of these, or those that are kept"
        )
    return list(range(width))

"""Join the parts that files hold: rows in one order, samples that some view lacks, one class per sample."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.io.choosing import Caution
from manyviews.io.matching import Presence, check_same_counts, check_shared, row_orders, who_is_where
from manyviews.io.parts import Part
from manyviews.views import Views
from manyviews.views.frames import is_frame
from manyviews.views.shuffled import shuffled_column

__all__ = ["Joined", "join_parts"]

# What columns are called that have no name.
_NO_NAME = re.compile(r"column_\d+|\d+")
# Fewer columns of the same names may well be the same measurements in two tables.
_MANY_COLUMNS = 10


class Joined(NamedTuple):
    """Views with matched rows, their classes where a file has some, what was decided, and who is where.

    ``about`` has the columns that describe the samples.
    """

    views: Views
    truth: NDArray[Any] | None
    notes: tuple[str, ...]
    presence: tuple[Presence, ...] = ()
    about: dict[str, NDArray[Any]] = {}  # noqa: RUF012 (never changed)


def join_parts(parts: Sequence[Part], missing: str | None) -> Joined:
    """Bring the rows of all parts into one order, that of the first.

    Parameters
    ----------
    parts : sequence of Part
        At least one.
    missing : {"union", "intersection"} or None
        What becomes of ids that some part lacks; None refuses them.

    Returns
    -------
    Joined
        The views, not yet checked cell by cell.

    Raises
    ------
    ValueError
        If rows cannot be matched, or the files disagree about a class.
    """
    notes = tuple(note for part in parts for note in part.notes)
    names = ["/".join(part.views) for part in parts]
    if any(part.ids is None for part in parts):
        check_same_counts({name: len(part) for name, part in zip(names, parts, strict=True)}, _turned(parts))
        _check_order(parts)
        more = (*_one_sided(parts), *_same_columns(parts))
        return Joined(_side_by_side(parts), _agreed_truth(parts), (*notes, *more), about=_agreed_about(parts))
    ids = {name: part.ids or [] for name, part in zip(names, parts, strict=True)}
    check_shared(ids, _turned(parts))
    if missing is not None and len({frozenset(view) for view in ids.values()}) > 1:
        return _join_different(parts, ids, missing, notes)
    ordered = []
    shared, every = set.intersection(*map(set, ids.values())), set().union(*ids.values())
    hint = _turned(parts) if 2 * len(shared) < len(every) else ""
    for part, (name, order) in zip(parts, row_orders(ids, hint).items(), strict=True):
        moved = not np.array_equal(order, np.arange(len(order)))
        ordered.append(part.take(order) if moved else part)
        if moved:
            notes += (f"view {name!r} has its rows in another order than {names[0]!r}; they were matched by id",)
    notes += tuple(_same_columns(parts))
    return Joined(_side_by_side(ordered), _agreed_truth(ordered), notes, about=_agreed_about(ordered))


def _columns(part: Part) -> list[set[str]]:
    """Return the names of the columns of each view; those that nobody gave do not count."""
    named = [part.names_of(view) or () for view in part.views]
    return [{name for name in names if not _NO_NAME.fullmatch(name)} for names in named]


def _turned(parts: Sequence[Part]) -> str:
    """Say that samples may be columns, where names or numbers of columns are those of samples elsewhere."""
    columns = {view: names for part in parts for view, names in zip(part.views, _columns(part), strict=True)}
    widths = {view: array.shape[1] for part in parts for view, array in part.views.items()}
    ids = {view: set(part.ids or ()) for part in parts for view in part.views}
    heights = {view: array.shape[0] for part in parts for view, array in part.views.items()}
    every = [names for names in columns.values() if names]
    if len(columns) > 1 and len(every) == len(columns) and 2 * len(set.intersection(*every)) > min(map(len, every)):
        turned = list(columns)
    else:
        others = {view: [other for other in columns if other != view] for view in columns}
        turned = [view for view in columns if any(columns[view] & ids[other] for other in others[view])]
        # the other way round than all others: as many columns as they have rows
        rows = {view: {heights[other] for other in others[view]} for view in columns}
        turned = turned or [
            view for view in columns if rows[view] == {widths[view]} and widths[view] != heights[view] and not ids[view]
        ]
    if not turned:
        return ""
    options = " ".join(f"--transpose {name}" for name in turned)
    return f". Samples in columns? Their names or number agree: {options} (transpose)"


def _check_order(parts: Sequence[Part]) -> None:
    """Raise ValueError where a column of ids shows that rows matched by position are not the same samples."""
    tables = {name: view for part in parts if part.ids is None for name, view in part.views.items() if is_frame(view)}
    found = shuffled_column(tables)
    if found is not None:
        raise ValueError(
            f"column {found.column!r} has the same values in views {found.first!r} and {found.second!r}, in another "
            f"order, so that the rows are not of the same samples; match them by it with --id {found.column} "
            "(id_column), or leave it out with --drop (drop) if it is a measurement and the rows are in order"
        )


def _one_sided(parts: Sequence[Part]) -> list[str]:
    """Say that ids were of no use, where only some of the files have them."""
    without = [view for part in parts if part.ids is None for view in part.views]
    if len(without) == sum(len(part.views) for part in parts):
        return []
    named = ", ".join(map(repr, without))
    return [Caution(f"rows are matched by position, because the views {named} have no ids (--id, --ids)")]


def _same_columns(parts: Sequence[Part]) -> list[str]:
    """Say that the columns of all tables have the same names, as where samples are columns."""
    every = [names for part in parts for names in _columns(part)]
    shapes = {view.shape for part in parts for view in part.views.values()}
    if len(every) > 1 and len(shapes) == 1 and not any(every) and (shape := shapes.pop())[1] > shape[0]:
        note = f"all views have {shape[1]} columns and {shape[0]} rows; if the columns are samples, give --transpose"
        return [Caution(note)]
    if len(every) < 2 or len(every[0]) < _MANY_COLUMNS or any(names != every[0] for names in every):
        return []
    names = ", ".join(map(repr, sorted(every[0])[:2]))
    return [
        Caution(f"all views have columns of the same names, such as {names}; if these are samples, give --transpose")
    ]


def _side_by_side(parts: Sequence[Part]) -> Views:
    ids = next((part.ids for part in parts if part.ids is not None), None)
    data = {view: array for part in parts for view, array in part.views.items()}
    return _named(Views(data, sample_names=None if ids is None else np.array(ids)), parts)


def _named(views: Views, parts: Sequence[Part]) -> Views:
    """Return the views with the names of columns that files hold beside the numbers."""
    columns = {view: names for part in parts for view, names in part.columns.items()}
    known = [columns.get(name, own) for name, own in zip(views.names, views.feature_names, strict=True)]
    return views.replace_arrays(views.arrays, known) if columns else views


def _agreed_truth(parts: Sequence[Part]) -> NDArray[Any] | None:
    return _agreed([(part.path, part.truth) for part in parts if part.truth is not None], "the classes")


def _agreed_about(parts: Sequence[Part]) -> dict[str, NDArray[Any]]:
    """Return the columns that describe the samples, each from all files that have it."""
    names = dict.fromkeys(name for part in parts for name in part.about)
    found = {name: [(part.path, part.about[name]) for part in parts if name in part.about] for name in names}
    together = {name: _agreed(columns, f"column {name!r}") for name, columns in found.items()}
    return {name: column for name, column in together.items() if column is not None}


def _agreed(found: Sequence[tuple[str, NDArray[Any]]], what: str) -> NDArray[Any] | None:
    """Return one entry per sample from files that have the same rows; raise ValueError where two contradict."""
    if not found:
        return None
    together = found[0][1]
    for path, labels in found[1:]:
        both = [(a, b) for a, b in zip(together.tolist(), labels.tolist(), strict=True) if None not in (a, b)]
        if any(a != b for a, b in both):
            raise ValueError(_disagreement(found[0][0], path, what))
        known = np.array([label is not None for label in together.tolist()])
        together = together if known.all() else np.where(known, together, labels)
    return together


def _disagreement(one: str, other: str, what: str) -> str:
    return f"{one} and {other} disagree about {what}; keep one of the two"


def _join_different(
    parts: Sequence[Part], ids: Mapping[str, Sequence[str]], missing: str, notes: tuple[str, ...]
) -> Joined:
    tables = {
        view: (np.array(ids[name]), array)
        for name, part in zip(ids, parts, strict=True)
        for view, array in part.views.items()
    }
    views = _named(Views.align(tables, how="outer" if missing == "union" else "inner"), parts)
    presence = tuple(who_is_where(ids))
    total, common = (
        sum(len(row.ids) for row in presence),
        sum(len(row.ids) for row in presence if len(row.views) == len(ids)),
    )
    verb = "kept, as missing in some views" if missing == "union" else "left out"
    note = f"of {total} ids {common} are in every view; the other {total - common} are {verb} (--missing {missing})"
    truth = _gathered([(part, part.truth) for part in parts], views, "the classes")
    names = dict.fromkeys(name for part in parts for name in part.about)
    gathered = {name: _gathered([(p, p.about.get(name)) for p in parts], views, f"column {name!r}") for name in names}
    about = {name: column for name, column in gathered.items() if column is not None}
    return Joined(views, truth, (*notes, note), presence, about)


def _gathered(columns: Sequence[tuple[Part, NDArray[Any] | None]], views: Views, what: str) -> NDArray[Any] | None:
    """Return one entry for each of the samples that are left, each from any file that has the sample."""
    found: dict[str, tuple[str, Any]] = {}
    for part, column in columns:
        if column is None or part.ids is None:
            continue
        for key, label in zip(part.ids, column.tolist(), strict=True):
            if label is None:
                continue
            path, earlier = found.setdefault(key, (part.path, label))
            if earlier != label:
                raise ValueError(_disagreement(path, part.path, what))
    if not found:
        return None
    assert views.sample_names is not None
    keys = views.sample_names.tolist()
    if all(key in found for key in keys):
        return np.array([found[key][1] for key in keys])
    some = np.full(len(keys), None, dtype=object)
    some[:] = [found[key][1] if key in found else None for key in keys]
    return some

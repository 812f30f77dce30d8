"""Join the parts that files hold: rows in one order, samples that some view lacks, one class per sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.io.matching import Presence, check_same_counts, row_orders, who_is_where
from manyviews.io.parts import Part
from manyviews.views import Views

__all__ = ["Joined", "join_parts"]


class Joined(NamedTuple):
    """Views with matched rows, their classes where a file has some, what was decided, and who is where."""

    views: Views
    truth: NDArray[Any] | None
    notes: tuple[str, ...]
    presence: tuple[Presence, ...] = ()


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
        check_same_counts({name: len(part) for name, part in zip(names, parts, strict=True)})
        return Joined(_side_by_side(parts), _agreed_truth(parts), notes)
    ids = {name: part.ids or [] for name, part in zip(names, parts, strict=True)}
    if missing is not None and len({frozenset(view) for view in ids.values()}) > 1:
        return _join_different(parts, ids, missing, notes)
    ordered = []
    for part, (name, order) in zip(parts, row_orders(ids).items(), strict=True):
        moved = not np.array_equal(order, np.arange(len(order)))
        ordered.append(part.take(order) if moved else part)
        if moved:
            notes += (f"view {name!r} has its rows in another order than {names[0]!r}; they were matched by id",)
    return Joined(_side_by_side(ordered), _agreed_truth(ordered), notes)


def _side_by_side(parts: Sequence[Part]) -> Views:
    ids = parts[0].ids
    data = {view: array for part in parts for view, array in part.views.items()}
    return Views(data, sample_names=None if ids is None else np.array(ids))


def _agreed_truth(parts: Sequence[Part]) -> NDArray[Any] | None:
    found = [(part.path, part.truth) for part in parts if part.truth is not None]
    for path, labels in found[1:]:
        if labels.tolist() != found[0][1].tolist():
            raise ValueError(_disagreement(found[0][0], path))
    return found[0][1] if found else None


def _disagreement(one: str, other: str) -> str:
    return f"{one} and {other} disagree about the classes; keep them in one of the files"


def _join_different(
    parts: Sequence[Part], ids: Mapping[str, Sequence[str]], missing: str, notes: tuple[str, ...]
) -> Joined:
    tables = {
        name: (np.array(ids[name]), next(iter(part.views.values()))) for name, part in zip(ids, parts, strict=True)
    }
    views = Views.align(tables, how="outer" if missing == "union" else "inner")
    presence = tuple(who_is_where(ids))
    total, common = (
        sum(len(row.ids) for row in presence),
        sum(len(row.ids) for row in presence if row.views == views.names),
    )
    verb = "kept, as missing in some views" if missing == "union" else "left out"
    note = f"of {total} ids {common} are in every view; the other {total - common} are {verb} (--missing {missing})"
    return Joined(views, _gathered_truth(parts, views), (*notes, note), presence)


def _gathered_truth(parts: Sequence[Part], views: Views) -> NDArray[Any] | None:
    """Return the classes of the samples that are left, each from any file that has the sample."""
    found: dict[str, tuple[str, Any]] = {}
    for part in parts:
        if part.truth is None or part.ids is None:
            continue
        for key, label in zip(part.ids, part.truth.tolist(), strict=True):
            path, earlier = found.setdefault(key, (part.path, label))
            if earlier != label:
                raise ValueError(_disagreement(path, part.path))
    if not found:
        return None
    assert views.sample_names is not None
    keys = views.sample_names.tolist()
    lacking = [key for key in keys if key not in found]
    if lacking:
        raise ValueError(
            f"{len(lacking)} samples have no class, such as {', '.join(map(repr, lacking[:3]))}, because the table "
            "with the classes lacks them; give the classes of all samples in a file of their own (--truth FILE)"
        )
    return np.array([found[key][1] for key in keys])

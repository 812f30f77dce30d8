"""Turn anything a user may give into checked ``Views``, or say what is wrong and what to change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manyviews.views import frames
from manyviews.views.cells import Labelled, check_dense_cells, check_sparse_cells, first_text
from manyviews.views.columns import column_groups, cut_columns
from manyviews.views.container import Views
from manyviews.views.mapped import read_from_disk
from manyviews.views.stored import arrays_of_group, is_group, is_stored
from manyviews.views.structure import as_2d, check_sparse_parts, telling_index

__all__ = [
    "Accepts",
    "as_views",
    "check_kind",
    "check_numbers",
    "check_table",
    "check_views",
    "cut_frame",
    "cut_views",
    "is_table",
    "per_view",
]


class Accepts(NamedTuple):
    """What a method takes: sparse views, unobserved samples, NaN cells, huge numbers; and its name for messages."""

    sparse: bool = True
    missing: bool = True
    method: str = "this method"
    missing_hint: str = ""
    gaps: bool = False
    huge: bool = True


def check_views(X: Any, *, views: Any = None, accepts: Accepts = Accepts()) -> Views:  # noqa: B008 (immutable)
    """Return the input as checked ``Views``.

    Parameters
    ----------
    X : Views, sequence, mapping, table or MuData
        Views; a sequence or mapping of 2-D arrays, CSR matrices or frames; or one 2-D table.
    views : None, list of int or mapping, default=None
        How to cut one table into views: None (one view), widths, or view name to columns.
    accepts : Accepts
        Whether sparse views and unobserved samples are taken.

    Returns
    -------
    Views
        float32 and float64 arrays as given, other real dtypes as float64.

    Raises
    ------
    ValueError
        For 3-D input, no samples, differing rows or indexes, NaN cells, infinities, text or complex numbers.
    TypeError
        For things that are not tables, or kinds of views the method does not take.

    Examples
    --------
    >>> import numpy as np
    >>> from manyviews.views.check import check_views
    >>> check_views(np.ones((3, 5)), views=[2, 3])
    Views(3 samples; view_0: 2, view_1: 3)
    """
    return check_numbers(cut_views(X, views), accepts)


def cut_views(X: Any, views: Any) -> Views:
    """Return the input as ``Views``, one table cut into them, without looking at the numbers."""
    return _cut(X, views) if is_table(X) else as_views(X, views)


def check_table(X: Any) -> None:
    """Raise ValueError or TypeError in one line where what was given as one table has not two dimensions."""
    if sparse.issparse(X):
        check_sparse_parts(X, "X")
        return
    if X is None or isinstance(X, str | bytes):
        raise ValueError(f"X must be 2-D (samples × features) or several views, got {X!r}")
    if isinstance(X, list | tuple) and len(X) == 0:
        raise ValueError("no view was given: X is empty; give at least one 2-D array (samples × features)")
    shape = getattr(X, "shape", None)
    if isinstance(X, list | tuple | int | float | complex | np.generic):
        try:
            shape = np.shape(X)
        except ValueError as error:
            raise ValueError(f"X has rows of differing lengths: {' '.join(str(error).split())}") from error
    if isinstance(shape, tuple) and len(shape) in (0, 1):
        what = "a single number" if not shape else f"a 1-D array of shape {shape}"
        raise ValueError(
            f"Expected 2D array: X must be 2-D (samples × features) or several views, got {what}. Reshape your data: "
            "X.reshape(-1, 1) for a single feature, X.reshape(1, -1) for a single sample"
        )


def is_table(X: Any) -> bool:
    """Tell whether ``X`` is one table, the fourth door, rather than several views."""
    if isinstance(X, Views) or is_group(X) or isinstance(getattr(X, "mod", None), Mapping):
        return False
    if sparse.issparse(X) or frames.is_frame(X):
        return True
    if isinstance(X, Mapping):
        return False
    return not (isinstance(X, list | tuple) and any(map(_is_a_view, X)))


def as_views(X: Any, views: Any = None) -> Views:
    """Return several views, given in any of the first three doors, as ``Views`` without looking at the numbers."""
    if views is not None:
        raise ValueError("the 'views' parameter cuts one table into views, but X holds several views already")
    if isinstance(X, Views):
        return X
    if is_group(X):
        return Views(_matrices(X))
    if isinstance(getattr(X, "mod", None), Mapping):
        parts = {str(name): part for name, part in X.mod.items()}
        pairs = {name: (np.asarray(part.obs_names), part.X) for name, part in parts.items()}
        views = Views.align(parts if all(map(frames.is_frame, parts.values())) else pairs, how="outer")
        return _in_order(views, getattr(X, "obs_names", None))
    return Views(X)


def _matrices(group: Any) -> dict[str, Any]:
    """Return the arrays of a zarr group that may be views."""
    arrays = arrays_of_group(group)
    views = {name: array for name, array in arrays.items() if len(array.shape) == 2}
    if not views:
        raise ValueError(
            f"the group holds no two-dimensional array ({', '.join(arrays) or 'nothing'}); save each view as one"
        )
    return views


def _in_order(views: Views, wanted: Any) -> Views:
    """Return the samples in the order that a MuData has them, so that labels can be written to its ``obs``."""
    if wanted is None or views.sample_names is None:
        return views
    place = {key: row for row, key in enumerate(views.sample_names.tolist())}
    rows = [place.get(key, -1) for key in wanted]
    return views[rows] if len(rows) == len(place) and -1 not in rows else views


def _is_a_view(item: Any) -> bool:
    """Tell a view from a row of a table; arrays of too many dimensions count as views, which are refused by name."""
    if sparse.issparse(item) or frames.is_frame(item) or is_stored(item):
        return True
    if isinstance(item, list | tuple):
        return len(item) > 0 and isinstance(item[0], list | tuple | np.ndarray) and np.ndim(item[0]) == 1
    return getattr(item, "ndim", 0) >= 2


def cut_frame(table: Any, views: Any) -> Views:
    """Return the views of a frame, whose columns belong to them by ``views``; other columns are not looked at."""
    groups = column_groups(table, views)
    parts = {name: frames.take_columns(table, positions) for name, positions in groups.items()}
    return Views(parts, sample_names=telling_index(table))


def _cut(X: Any, views: Any) -> Views:
    if frames.is_frame(X):
        return cut_frame(X, views)
    check_table(X)
    table = as_2d(X, "X")
    return Views(cut_columns(table, column_groups(table, views)))


def check_numbers(views: Views, accepts: Accepts) -> Views:
    """Check the entries of every view; see ``check_views``."""
    if len(views) == 0:
        raise ValueError("Found 0 sample(s) (the views have no rows) while a minimum of 1 is required.")
    checked = views.map(lambda name, array: _check_array(name, array, accepts))
    observed = checked.observed
    for i, (name, array) in enumerate(checked.items()):
        view = Labelled(name, array, checked.sample_names, checked.feature_names[i])
        if sparse.issparse(array):
            check_sparse_cells(view, huge=accepts.huge)
        else:
            check_dense_cells(view, observed[:, i], gaps=accepts.gaps, huge=accepts.huge)
    nowhere = np.flatnonzero(~observed.any(axis=1))
    if nowhere.size:
        raise ValueError(
            f"Input contains NaN: {nowhere.size} sample(s) are observed in no view (all NaN), "
            f"first {_samples(checked, nowhere)}; "
            + ("these are all, so that there is nothing to cluster" if nowhere.size == len(views) else "drop them")
        )
    if not accepts.missing and not observed.all():
        i = int(np.flatnonzero(~observed.all(axis=0))[0])
        rows = np.flatnonzero(~observed[:, i])
        raise ValueError(
            f"view {checked.names[i]!r} has {rows.size} unobserved sample(s) (rows of NaN), first "
            f"{_samples(checked, rows)}; {accepts.method} takes complete views only: fill them or drop the "
            "samples (--missing intersection keeps those that every view has)" + accepts.missing_hint
        )
    return checked


def _samples(views: Views, rows: NDArray[Any]) -> str:
    names = views.sample_names
    return ", ".join(f"row {row}" if names is None else f"{names[row]!s} (row {row})" for row in rows[:3])


def _check_array(name: str, array: Any, accepts: Accepts) -> Any:
    if array.shape[1] == 0:
        raise ValueError(f"view {name!r}: 0 feature(s) (shape={array.shape}) while a minimum of 1 is required.")
    if sparse.issparse(array) and not accepts.sparse:
        raise TypeError(
            f"view {name!r} is sparse, and {accepts.method} takes dense views only; "
            "write .toarray() if it fits in memory"
        )
    check_kind(name, array)
    if array.dtype in (np.float32, np.float64):
        return read_from_disk(array)
    with np.errstate(over="ignore"):  # extended precision may become infinite, which is refused with its place
        return array.astype(np.float64)


def check_kind(name: str, array: Any) -> Any:
    """Return the array; raise ValueError or TypeError where it does not hold real numbers."""
    kind = array.dtype.kind
    if kind == "c":
        raise ValueError(f"view {name!r}: Complex data not supported; give real and imaginary part as two columns")
    if kind not in "buif":
        raise TypeError(
            f"view {name!r} has dtype {array.dtype}, which is not numeric{first_text(array)}; "
            "convert it with array.astype(float) or drop the columns that are not numbers"
        )
    return array


def per_view(value: Any, names: Sequence[str], parameter: str) -> tuple[Any, ...]:
    """Return one value per view from a value for all, a list in order, or a mapping by name.

    Parameters
    ----------
    value : scalar, list, tuple or mapping
        A mapping may leave views out; these get None.
    names : sequence of str
        Names of the views.
    parameter : str
        Name of the parameter, for error messages.

    Returns
    -------
    tuple
        One value per view.

    Raises
    ------
    ValueError
        If a list has another length or a mapping names an unknown view.
    """
    if isinstance(value, Mapping):
        unknown = [name for name in value if name not in names]
        if unknown:
            raise ValueError(f"the {parameter!r} parameter names the views {unknown}; the views are {list(names)}")
        return tuple(value.get(name) for name in names)
    if isinstance(value, list | tuple):
        if len(value) != len(names):
            raise ValueError(
                f"the {parameter!r} parameter has {len(value)} entries for {len(names)} views {list(names)}"
            )
        return tuple(value)
    return (value,) * len(names)

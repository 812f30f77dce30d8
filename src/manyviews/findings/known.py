"""What is known of the samples besides their views: times to an event, covariates, a batch, checked and in order."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyviews.findings.truth import is_missing
from manyviews.views import Views
from manyviews.views.frames import column_values, frame_columns, frame_height, is_frame, telling_names

__all__ = ["Clinical", "TimesToEvent", "clinical_of", "outcome_of", "require_lifelines"]

Array = NDArray[Any]
_EVENTS = {"0": False, "1": True, "false": False, "true": True, "0.0": False, "1.0": True}


class TimesToEvent(NamedTuple):
    """Time to an event of n samples (NaN where not known), whether it was seen, and what the two are called."""

    time: NDArray[np.float64]
    event: NDArray[np.bool_]
    time_name: str = "time"
    event_name: str = "event"


class Clinical(NamedTuple):
    """Times to an event, covariates by name and batch of n samples, each None where there is none.

    Columns are arrays of objects.
    """

    outcome: TimesToEvent | None
    covariates: dict[str, Array] | None
    batch: Array | None
    batch_name: str = "batch"


def require_lifelines() -> Any:
    """Return the package that draws survival curves, or say what to install."""
    try:
        import lifelines
    except ImportError as error:
        raise ImportError('survival needs lifelines; install it by: pip install "manyviews[omics]"') from error
    return lifelines


def clinical_of(outcome: Any, covariates: Any, batch: Any, views: Views) -> Clinical | None:
    """Return what was given beside the views, checked; None where nothing was.

    Parameters
    ----------
    outcome, covariates, batch
        As for ``manyviews.report``.
    views : Views
        The samples.

    Returns
    -------
    Clinical or None
        Each in the order of the samples.

    Raises
    ------
    ValueError
        If ids or lengths do not match, or times or events are none.
    ImportError
        If there is an outcome and lifelines is not installed.
    """
    if outcome is None and covariates is None and batch is None:
        return None
    if outcome is not None:
        require_lifelines()
    found, name = None, "batch"
    if batch is not None:
        columns = _columns_of(batch, "batch", views)
        if len(columns) != 1:
            raise ValueError(f"batch must be one column, got {len(columns)}: {list(columns)[:5]}")
        name, found = next(iter(columns.items()))
    checked = outcome if outcome is None or isinstance(outcome, TimesToEvent) else outcome_of(outcome, views)
    return Clinical(checked, None if covariates is None else _columns_of(covariates, "covariates", views), found, name)


def outcome_of(outcome: Any, views: Views, names: tuple[str, str] = ("time", "event")) -> TimesToEvent:
    """Return times and events, checked.

    Parameters
    ----------
    outcome : mapping or frame with the columns ``time`` and ``event``, or pair of arrays
        One entry per sample; missing ones are let pass.
    views : Views
        The samples.
    names : tuple of str
        What the columns are called in messages and on the page.

    Returns
    -------
    TimesToEvent
        In the order of the samples.

    Raises
    ------
    ValueError
        If a column lacks, a time is no number of 0 or more, or an event is not 0 or 1.
    """
    if isinstance(outcome, tuple | list) and len(outcome) == 2:
        outcome = dict(zip(("time", "event"), outcome, strict=True))
    if not (isinstance(outcome, Mapping) or is_frame(outcome)):
        raise ValueError("outcome must have the columns 'time' and 'event', or be a pair of them")
    given = list(outcome) if isinstance(outcome, Mapping) else [str(name) for name in frame_columns(outcome)]
    lacking = [name for name in ("time", "event") if name not in given]
    if lacking:
        raise ValueError(f"outcome has no column {lacking[0]!r}; name its columns 'time' and 'event', got {given[:6]}")
    columns = _columns_of(outcome, "outcome", views)
    time = _each(columns["time"], _time, f"outcome: column {names[0]!r}", views, math.nan)
    event = _each(columns["event"], _event, f"outcome: column {names[1]!r}", views, None)
    unknown = np.array([value is None for value in event])
    times = np.where(unknown, np.nan, np.array(time, dtype=np.float64))
    if np.isnan(times).all():
        raise ValueError(
            f"outcome: no sample has both {names[0]!r} and {names[1]!r}; check that the right ones are meant"
        )
    return TimesToEvent(times, np.array([bool(value) for value in event]), *names)


def _each(values: Array, read: Callable[[Any], Any], where: str, views: Views, missing: Any) -> list[Any]:
    found = []
    for row, value in enumerate(values.tolist()):
        try:
            found.append(missing if is_missing(value) else read(value))
        except ValueError as error:
            sample = f"row {row}" if views.sample_names is None else f"sample {views.sample_names[row]!s}"
            raise ValueError(f"{where} has {str(value)[:40]!r} for {sample}; {error}") from None
    return found


def _time(value: Any) -> float:
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not (math.isfinite(number) and number >= 0):
        raise ValueError("a time is a number of 0 or more (leave it empty where it is not known)")
    return number


def _event(value: Any) -> bool:
    text = str(value).strip().lower()
    if text not in _EVENTS:
        raise ValueError("write 1 where the event was seen and 0 where the sample was censored")
    return _EVENTS[text]


def _columns_of(given: Any, what: str, views: Views) -> dict[str, Array]:
    """Return columns as objects in the order of the samples: by the names of rows where both have some."""
    index = telling_names(given)
    if is_frame(given):
        names = [str(name) for name in frame_columns(given)]
        columns = {name: column_values(given, i).astype(object) for i, name in enumerate(names)}
        height = frame_height(given)
    else:
        whole = given if isinstance(given, Mapping) else {str(getattr(given, "name", None) or what): given}
        columns = {str(name): _objects(values, f"{what}: {name!r}") for name, values in whole.items()}
        heights = {len(column) for column in columns.values()}
        height = heights.pop() if len(heights) == 1 else -1
        parts = [telling_names(values) for values in whole.values()]
        index = next((part for part in parts if part is not None), None) if height >= 0 else None
    if not columns:
        raise ValueError(f"{what} has no column")
    if index is not None and views.sample_names is not None:
        return _by_names(columns, index, what, views.sample_names.tolist())
    if height != len(views):
        sizes = ", ".join(f"{name!r} {len(column)}" for name, column in list(columns.items())[:4])
        raise ValueError(f"{what} has other numbers of entries ({sizes}) than there are samples, {len(views)}")
    return columns


def _objects(values: Any, where: str) -> Array:
    listed = list(values) if not isinstance(values, str) else [values]
    if np.ndim(values) > 1:
        raise ValueError(f"{where} must be one-dimensional, one entry per sample")
    array = np.empty(len(listed), dtype=object)
    array[:] = [value.item() if isinstance(value, np.generic) else value for value in listed]
    return array


def _by_names(columns: dict[str, Array], index: Sequence[Any], what: str, wanted: list[Any]) -> dict[str, Array]:
    place = {str(key): row for row, key in enumerate(index)}
    if len(place) < len(index):
        raise ValueError(f"{what}: names of samples occur more than once in its index; keep one row of each")
    rows = np.array([place.get(str(key), -1) for key in wanted], dtype=np.intp)
    if (rows < 0).all():
        raise ValueError(
            f"{what}: its index has none of the samples, such as {str(wanted[0])!r}; check that the ids are written "
            "alike, or give columns without an index in the order of the samples"
        )
    found = {name: column[rows] for name, column in columns.items()}
    for column in found.values():
        column[rows < 0] = None
    return found

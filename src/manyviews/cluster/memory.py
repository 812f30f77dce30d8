"""Refuse a fit that the memory of the machine cannot hold, before it starts, and name a method that fits."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

from scipy import sparse

from manyviews.cluster.registry import METHODS, MethodInfo
from manyviews.views import Views

__all__ = ["check_memory", "machine_memory", "require_memory"]

_CONTROL_GROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def machine_memory() -> tuple[int | None, int | None]:
    """Return the bytes of memory that a process may use in all, and those free now; None where they are unknown."""
    total = None
    if hasattr(os, "sysconf") and {"SC_PHYS_PAGES", "SC_PAGE_SIZE"} <= os.sysconf_names.keys():
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for place in _CONTROL_GROUPS:  # a container may be allowed less than the machine has
        limit = _read(place).strip()
        if limit.isdigit() and total is not None:
            total = min(total, int(limit))
    lines = (line.split() for line in _read("/proc/meminfo").splitlines())
    free = next((int(words[1]) * 1024 for words in lines if words[0] == "MemAvailable:"), None)
    return total, free if free is None or total is None else min(free, total)


def _read(place: str) -> str:
    try:
        return Path(place).read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""


def check_memory(estimator: Any, views: Views) -> None:
    """Compare what a fit needs, by the estimator's ``_memory_estimate``, with what there is.

    Parameters
    ----------
    estimator : MultiViewClusterer
        About to be fitted.
    views : Views
        Checked views.

    Raises
    ------
    ValueError
        If more is needed than the machine has; the text has both numbers and the methods that would fit.

    Warns
    -----
    UserWarning
        If more is needed than is free at the moment.
    """
    needed = estimator._memory_estimate(views)
    total, free = machine_memory()
    name = type(estimator).__name__
    if total is not None and needed > total:
        raise ValueError(
            f"{name} needs about {_size(needed)} of memory for {len(views)} samples, more than the {_size(total)} of "
            f"this machine; {_remedy(estimator, views, total)}"
        )
    if free is not None and needed > free:
        warnings.warn(
            f"{name} needs about {_size(needed)} of memory and {_size(free)} are free: it may become slow or be "
            "ended by the system; close other programs, or use fewer samples",
            stacklevel=3,
        )


def require_memory(needed: float, what: str, advice: str) -> None:
    """Refuse a step of a fit whose size shows only on the way.

    Parameters
    ----------
    needed : float
        Bytes that will be used.
    what : str
        What needs them, for the message.
    advice : str
        What to do instead.

    Raises
    ------
    ValueError
        If more is needed than the machine has; the text has both numbers and the advice.
    """
    total, _ = machine_memory()
    if total is not None and needed > total:
        raise ValueError(f"{what} needs about {_size(needed)} of memory, more than the {_size(total)} here; {advice}")


def _remedy(estimator: Any, views: Views, total: int) -> str:
    """Name the methods that would fit with their default parameters, the one at hand first."""
    own = type(estimator).__name__
    fitting = [row for row in METHODS if _takes(row, views) and 0 < _needs(row, estimator, views) <= total]
    fitting.sort(key=lambda row: (row.class_name != own, _needs(row, estimator, views)))
    if not fitting:
        return "use fewer samples"
    best = fitting[0]
    others = ", ".join(f"{row.class_name} ({row.name})" for row in fitting[1:4])
    what = f"{best.class_name} ({best.name})" if best.class_name != own else f"{own} ({best.name})"
    return f"{what} with default parameters needs about {_size(_needs(best, estimator, views))}" + (
        f"; others that would fit: {others}" if others else ""
    )


def _takes(row: MethodInfo, views: Views) -> bool:
    if not row.sparse and any(map(sparse.issparse, views.arrays)):
        return False
    return row.missing or bool(views.observed.all())


def _needs(row: MethodInfo, estimator: Any, views: Views) -> int:
    """Return the estimate of a method with default parameters; 0 where it has none."""
    return int(row.load()(n_clusters=estimator.n_clusters)._memory_estimate(views))


def _size(n_bytes: float) -> str:
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e8 else f"{n_bytes / 1e6:.1f} MB"
